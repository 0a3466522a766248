"""A cell that zooms: its constants and moves against the tutorial's formulas, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, gamma, inf, log, sqrt

import numpy as np
import pytest

from quadrat._core.arrays import Array, Bools
from quadrat.methods.auto.trust_region import (
    _NARROWEST,
    FIRST_STEP,
    LARGEST_STEP,
    LEVEL,
    SMALLEST_SIDE,
    WINDOW,
    TrustRegion,
    _Rates,
    generation_size,
)


def cell_at(centre: list[float] | Array, choices: list[int] | None = None) -> TrustRegion:
    """A cell; the axes with these numbers are choices."""
    return TrustRegion(np.asarray(centre, dtype=np.float64), np.isin(np.arange(len(centre)), choices or []))


def draw(cell: TrustRegion, *key: int) -> Array:
    """One point of the cell that is neither its centre nor one that differs on one axis alone."""
    return np.asarray(cell.candidates(8, np.random.default_rng(key))[-1])


def reaches(cell: TrustRegion, x: Array) -> bool:
    """Whether a point is one that the cell could have drawn."""
    return bool(cell.look(x[None, :])[0][0])


def state(cell: TrustRegion) -> tuple[bytes, ...]:
    return tuple(part.tobytes() for part in (cell.centre, np.array(cell.step), cell.sides, cell._path, cell._drift))


def tell_generation(cell: TrustRegion, value: Callable[[Array], float] = lambda _: 0.0, seed: int = 0) -> list[Array]:
    """Let it evaluate points of its own until it has moved."""
    points: list[Array] = []
    for number in range(100):
        points.append(draw(cell, seed, number))
        if cell.tell(points[-1], value(points[-1])):
            return points
    pytest.fail("it never moves")


def climb(cell: TrustRegion, value: Callable[[Array], float], n: int) -> None:
    for number in range(n):
        x = draw(cell, number)
        cell.tell(x, value(x))


# --- the formulas


@pytest.mark.parametrize(("dimension", "size"), [(1, 4), (2, 6), (6, 9), (10, 10), (20, 12), (100, 17)])
def test_generation_size(dimension: int, size: int) -> None:
    """4 + floor(3 ln D) [H16, equation 48]."""
    assert generation_size(dimension) == size


@pytest.mark.parametrize("n", [2, 6, 20])
def test_constants_are_those_of_the_tutorial(n: int) -> None:
    """[H16, equations 49 to 58], written out here; rates of the spread times (n + 2) / 3 [RH08, section 3]."""
    size = 4 + int(3 * log(n))
    raw = [log((size + 1) / 2) - log(i) for i in range(1, size // 2 + 1)]
    weights = [one / sum(raw) for one in raw]
    mass = 1 / sum(one**2 for one in weights)
    rates = _Rates.of(n)
    assert rates.weights == pytest.approx(weights, rel=1e-14)
    assert rates.weights.sum() == pytest.approx(1)
    assert (np.diff(rates.weights) < 0).all()
    assert (rates.weights > 0).all()
    c_sigma = (mass + 2) / (n + mass + 5)
    c_1, c_mu = 2 / ((n + 1.3) ** 2 + mass), 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + 2 * mass / 2)
    wanted = {
        "mass": mass,
        "path": c_sigma,
        "damping": 1 + 2 * max(0, sqrt((mass - 1) / (n + 1)) - 1) + c_sigma,
        "drift": (4 + mass / n) / (n + 4 + 2 * mass / n),
        "one": (n + 2) / 3 * c_1,
        "many": min(1 - (n + 2) / 3 * c_1, (n + 2) / 3 * c_mu),
    }
    assert {name: getattr(rates, name) for name in wanted} == pytest.approx(wanted, rel=1e-13)
    length = sqrt(2) * gamma((n + 1) / 2) / gamma(n / 2)  # E |N(0, I)|, of which the tutorial's is the expansion
    assert rates.typical == pytest.approx(length, rel=2e-3)


@pytest.mark.parametrize("dimension", [1, 2, 3, 6, 20, 200])
def test_rates_leave_something_of_what_was_known(dimension: int) -> None:
    rates = _Rates.of(dimension)
    assert 0 < rates.one < 1
    assert 0 < rates.one + rates.many <= 1
    assert 0 < rates.path < 1
    assert 0 < rates.drift <= 1


@pytest.mark.parametrize("dimension", [2, 3, 6])
@pytest.mark.parametrize("slope", [1.0, 100.0], ids=["steady", "in one direction"])
def test_moves_are_those_of_the_tutorial_step_by_step(dimension: int, slope: float) -> None:
    """Four generations by loops over axes and points [H16, equations 41 to 47]; the second slope sets h_sigma to 0."""
    n, rng = dimension, np.random.default_rng(dimension)
    cell, size = cell_at(np.full(n, 0.5)), generation_size(n)
    cell.step = step = 0.01  # far from the faces of the cube
    rates, m, spread = _Rates.of(n), [0.5] * n, [1.0] * n
    p_sigma, p_c, stalled = [0.0] * n, [0.0] * n, 0
    for generation in range(4):
        sides = [step * sqrt(c) for c in spread]
        points = [[m[i] + sides[i] * (rng.normal() + (slope > 1)) for i in range(n)] for _ in range(size)]
        values = [sum(point) + rng.normal() / slope for point in points]
        ended = [cell.tell(np.array(point), value) for point, value in zip(points, values, strict=True)]
        assert ended == [False] * (size - 1) + [True]
        best = sorted(range(size), key=lambda k: -values[k])[: size // 2]
        y = [[(points[k][i] - m[i]) / step for i in range(n)] for k in best]
        y_w = [sum(rates.weights[j] * y[j][i] for j in range(len(best))) for i in range(n)]
        m = [m[i] + step * y_w[i] for i in range(n)]
        grow = sqrt(rates.path * (2 - rates.path) * rates.mass)
        p_sigma = [(1 - rates.path) * p_sigma[i] + grow * y_w[i] / sqrt(spread[i]) for i in range(n)]
        length = sqrt(sum(p * p for p in p_sigma))
        begun = sqrt(1 - (1 - rates.path) ** (2 * (generation + 1)))
        h_sigma = float(length / begun < (1.4 + 2 / (n + 1)) * rates.typical)
        stalled += h_sigma == 0
        grow = sqrt(rates.drift * (2 - rates.drift) * rates.mass)
        p_c = [(1 - rates.drift) * p_c[i] + h_sigma * grow * y_w[i] for i in range(n)]
        delta = (1 - h_sigma) * rates.drift * (2 - rates.drift)
        for i in range(n):
            rank_mu = sum(rates.weights[j] * y[j][i] ** 2 for j in range(len(best)))
            kept = (1 + rates.one * delta - rates.one - rates.many) * spread[i]
            spread[i] = kept + rates.one * p_c[i] ** 2 + rates.many * rank_mu
        step = min(step * exp(min(1.0, rates.path / rates.damping * (length / rates.typical - 1))), LARGEST_STEP)
        assert cell.centre == pytest.approx(m, rel=1e-12)
        assert cell.step == pytest.approx(step, rel=1e-12)
        assert cell.sides == pytest.approx([step * sqrt(c) for c in spread], rel=1e-12)
    assert (stalled > 0) == (slope > 1)


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_reach_is_a_distance_in_units_of_the_sides(dimension: int) -> None:
    cell = cell_at(np.full(dimension, 0.5))
    climb(cell, lambda x: -float(((x - 0.4) ** 2 * np.arange(1, dimension + 1)).sum()), 10 * dimension)
    direction = np.random.default_rng(0).normal(size=dimension)
    direction /= np.linalg.norm(direction)
    far = sqrt(dimension) + 2 * dimension / (dimension + 2)
    assert reaches(cell, cell.centre + 0.999 * far * cell.sides * direction)
    assert not reaches(cell, cell.centre + 1.001 * far * cell.sides * direction)


def around(cell: TrustRegion, n: int, seed: int) -> Array:
    """Points of the cube and around it: draws, the centre, points rounded to it on most axes, and far away ones."""
    rng, d = np.random.default_rng(seed), len(cell.centre)
    away = rng.standard_normal((n, d)) * rng.choice([0.0, 1e-7, 1e-3, 1.0, 3.0], (n, 1))
    away[rng.random((n, d)) < rng.choice([0.0, 0.5, 0.95], (n, 1))] = 0.0
    return np.asarray(cell.centre + cell.sides * away)


def on_the_border(cell: TrustRegion, n: int, seed: int) -> Array:
    """Points that are as far as the cell reaches, up to rounding."""
    d = int((~cell.choices).sum())
    directions = np.where(cell.choices, 0.0, np.random.default_rng(seed).standard_normal((n, len(cell.centre))))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(cell.centre + (sqrt(d) + 2 * d / (d + 2)) * cell.sides * directions)


@pytest.mark.parametrize(("dimension", "choices"), [(1, []), (2, [0]), (3, []), (7, [1, 4]), (20, []), (40, [0])])
def test_many_points_are_looked_at_as_each_of_them_alone(dimension: int, choices: list[int]) -> None:
    """The same to the last bit, also on the border, where a sum of squares in another order would tell otherwise."""
    cell = cell_at(np.linspace(0.3, 0.7, dimension), choices)
    climb(cell, lambda x: -float(((x - 0.4) ** 2 * np.arange(1, dimension + 1)).sum()), 6 * dimension)
    points = np.vstack(
        [around(cell, 300, 0), on_the_border(cell, 300, 1), cell.candidates(100, np.random.default_rng(2))]
    )
    reached, drawn = cell.look(points)
    alone = [cell.look(point[None, :]) for point in points]
    assert reached.tolist() == [bool(one[0][0]) for one in alone] == [reaches(cell, point) for point in points]
    assert drawn.tolist() == [bool(one[1][0]) for one in alone]
    for some in (np.asfortranarray(points), np.repeat(points, 2, axis=0)[::2]):
        assert [one.tolist() for one in cell.look(some)] == [reached.tolist(), drawn.tolist()], "however they are kept"
    assert reached.dtype == drawn.dtype == np.bool_
    for one in (reached, drawn):
        assert 0 < one.sum() < len(points)
    if dimension > 1 + len(choices):
        assert 0 < reached[300:600].sum() < 300, "of those on the border some"


def test_no_points_are_looked_at() -> None:
    reached, drawn = cell_at([0.5, 0.5]).look(np.empty((0, 2)))
    assert reached.shape == drawn.shape == (0,)


def test_a_draw_that_is_known_as_one_counts_as_when_it_is_told() -> None:
    """And where it is said to be none, it is used and moves nothing."""
    told, taken, idle = (cell_at([0.3, 0.6]) for _ in range(3))
    for number in range(60):
        x = draw(told, number)
        value = -float(((x - 0.4) ** 2).sum())
        assert told.tell(x, value) is taken.take(x, value, is_draw=True)
        assert not idle.take(x, value, is_draw=False)
        assert (state(taken), taken.used, taken._idle) == (state(told), told.used, told._idle)
    assert idle.used == told.used == 60
    assert idle.stands_still
    assert state(idle) == state(cell_at([0.3, 0.6])) != state(told)


# --- only the order of values counts


MONOTONE: dict[str, Callable[[float], float]] = {
    "shifted": lambda v: v + 5,
    "scaled": lambda v: 1e200 * v,
    "tiny": lambda v: 1e-200 * v,
    "exponential": lambda v: exp(30 * v),
    "cubed": lambda v: (v - 0.3) ** 3,
}


@pytest.mark.parametrize("kind", MONOTONE)
def test_increasing_functions_of_the_values_change_nothing_bit_for_bit(kind: str) -> None:
    plain, turned = (cell_at([0.3, 0.6, 0.5, 0.2], [3]) for _ in range(2))
    for number in range(80):
        x = draw(plain, number)
        value = -float(((x[:3] - 0.4) ** 2).sum()) + 0.1 * float(x[3] > 0.5)
        plain.tell(x, value)
        turned.tell(x, MONOTONE[kind](value))
        assert state(plain) == state(turned)
    assert len(plain.levels) > 10


def test_equal_values_count_in_their_order() -> None:
    """The first of them are the better half: nothing else tells them apart."""
    cell, other = cell_at([0.5, 0.5]), cell_at([0.5, 0.5])
    points = [draw(cell, k) for k in range(6)]
    for k, x in enumerate(points):
        cell.tell(x, 1.0)
        other.tell(x, -float(k))
    assert state(cell) == state(other)


# --- what it finds


@pytest.mark.parametrize(("condition", "most"), [(1.0, 2000), (1e4, 4000)], ids=["sphere", "ellipsoid"])
def test_it_finds_the_top_in_ten_dimensions(condition: float, most: int) -> None:
    """From its own candidates alone, told one after another; sides become as unlike as the ellipsoid's axes are."""
    weights, top = condition ** (np.arange(10) / 9), np.linspace(0.2, 0.8, 10)
    cell = cell_at(np.full(10, 0.5))
    while cell.sides.max() > 1e-4 and cell.used < most:
        x = draw(cell, cell.used)
        cell.tell(x, -float((weights * (x - top) ** 2).sum()))
    assert cell.sides.max() <= 1e-4
    assert np.abs(cell.centre - top).max() < 1e-3
    ratio = cell.sides[0] / cell.sides[-1]
    assert 0.2 * sqrt(condition) < ratio < 5 * sqrt(condition)


def test_it_finds_a_top_in_a_corner_and_never_leaves_the_cube() -> None:
    cell = cell_at([0.4, 0.6, 0.5])
    for number in range(1500):
        points = cell.candidates(20, np.random.default_rng(number))
        assert points.min() >= 0
        assert points.max() <= 1
        cell.tell(points[-1], float(points[-1] @ [1.0, -1.0, 2.0]))
        assert (cell.centre >= 0).all()
        assert (cell.centre <= 1).all()
    assert cell.centre == pytest.approx([1.0, 0.0, 1.0], abs=1e-6)


def test_the_step_grows_on_a_slope_up_to_its_limit() -> None:
    cell = cell_at([0.02, 0.5])
    cell.step = 1e-3
    steps = []
    for number in range(200):
        x = draw(cell, number)
        cell.tell(x, float(x[0]))
        steps.append(cell.step)
    assert max(steps) > 50e-3
    assert max(steps) <= LARGEST_STEP


@pytest.mark.parametrize("size", [1.0, 1e200, -1e200])
def test_it_stays_finite(size: float) -> None:
    cell = cell_at([0.3, 0.6])
    climb(cell, lambda x: size * (1 + float(x.sum())), 300)
    assert np.isfinite([*cell.centre, *cell.sides, cell.step, cell.level]).all()
    assert (cell.sides > 0).all()


def test_sides_never_vanish() -> None:
    """At a top in the corner at 0, where numbers become as small as they can, the step has no end of shrinking."""
    cell = cell_at([0.1])
    for number in range(3000):
        x = draw(cell, number)
        if reaches(cell, x):
            cell.tell(x, -float(x[0]))
    assert cell.step < _NARROWEST
    assert cell.sides.min() == _NARROWEST
    assert cell.is_at_its_end


# --- choices


def test_choices_are_those_of_the_best_point() -> None:
    cell = cell_at([0.5, 0.1, 0.5, 0.9], [1, 3])
    points = tell_generation(cell, lambda x: float(np.sin(50 * x[0]) + x[2]))
    best = max(points, key=lambda x: float(np.sin(50 * x[0]) + x[2]))
    assert cell.centre[[1, 3]].tolist() == best[[1, 3]].tolist()
    assert cell.centre[0] != best[0], "a weighted mean"


def test_candidates_have_mostly_the_choices_of_the_centre_and_sometimes_any_other() -> None:
    cell = cell_at([0.5, 0.1, 0.9], [1, 2])
    points = cell.candidates(4000, np.random.default_rng(0))[300:]  # after those that differ on one axis
    same = points[:, 1:] == cell.centre[1:]
    assert same.mean(axis=0) == pytest.approx([0.8, 0.8], abs=0.03)
    assert (same[:, 0] & same[:, 1]).mean() == pytest.approx(0.64, abs=0.03), "independent of each other"
    others = points[~same[:, 0], 1]
    assert np.quantile(others, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.06)
    assert (points[:, 0] != 0.5).all()


@pytest.mark.parametrize("choices", [[], [1], [0, 2]], ids=len)
def test_the_first_candidate_is_the_centre_and_some_differ_from_it_on_one_axis(choices: list[int]) -> None:
    """On a choice as well; by anything, as far as the axis goes."""
    cell = cell_at([0.5, 0.3, 0.8], choices)
    cell.step = 0.001
    differences, axes, far = [], set(), 0.0
    for seed in range(40):
        points = cell.candidates(64, np.random.default_rng(seed))
        moved = points != cell.centre
        differences.append(moved.sum(axis=1)[:5].tolist())
        axes |= {int(axis) for row in moved[1:5] for axis in np.flatnonzero(row)}
        far = max(far, float(np.abs(points[1:5] - cell.centre).max()))
    assert differences == [[0, 1, 1, 1, 1]] * 40
    assert axes == {0, 1, 2}
    assert far > 0.4


def test_choices_have_no_say_in_the_steps() -> None:
    """With four choices beside two numbers these go the way of two numbers alone."""
    numbers, rng = np.array([False, True, False, False, True, False]), np.random.default_rng(0)
    alone, among = cell_at([0.4, 0.6]), TrustRegion(np.full(6, 0.5), ~numbers)
    among.centre[numbers] = alone.centre
    for number in range(100):
        x, beside = draw(alone, number), rng.random(6)
        beside[numbers] = x
        assert reaches(among, beside) is reaches(alone, x)
        value = -float(((x - 0.3) ** 2).sum())
        assert among.tell(beside, value) is alone.tell(x, value)
        np.testing.assert_allclose(among.centre[numbers], alone.centre, rtol=1e-9)
        np.testing.assert_allclose(among.sides[numbers], alone.sides, rtol=1e-9)
    assert len(alone.levels) > 10


def test_nothing_but_choices() -> None:
    """The best point is the centre, and the cell comes to an end."""
    cell = cell_at([0.5, 0.5], [0, 1])
    for number in range(400):
        x = draw(cell, number)
        assert reaches(cell, x)
        cell.tell(x, -abs(float(x[0]) - 0.2) - abs(float(x[1]) - 0.7))
        if cell.is_at_its_end:
            break
    assert cell.is_at_its_end
    assert np.isfinite(cell.sides).all()


# --- what does not move it


@pytest.mark.parametrize("dimension", [1, 2, 9, 20])
def test_points_at_the_centre_are_used_and_do_not_move_it(dimension: int) -> None:
    """Nor do those that differ from it on one of many axes."""
    cell, other = cell_at(np.full(dimension, 0.5)), cell_at(np.full(dimension, 0.5))
    for number in range(3 * generation_size(dimension)):
        x = draw(cell, number)
        for one in (cell, other):
            one.tell(x, -float(((x - 0.5) ** 2).sum()))
        assert not cell.tell(cell.centre, 100.0)
        if dimension > 8:
            assert not cell.tell(cell.centre + cell.sides * np.eye(dimension)[number % dimension], 50.0)
        assert state(cell) == state(other)
    assert len(cell.levels) == 3
    assert cell.used > other.used


def test_points_that_were_rounded_on_most_axes_count() -> None:
    """Three of four axes have few values: draws differ from the centre on the fourth alone, most of the time."""
    cell = cell_at([0.3, 0.5, 0.5, 0.5])
    for number in range(200):
        x = draw(cell, number)
        x[1:] = np.round(2 * x[1:]) / 2
        cell.tell(x, -abs(float(x[0]) - 0.42) - float(np.abs(x[1:] - 0.5).sum()))
    assert len(cell.levels) > 20
    assert cell.centre == pytest.approx([0.42, 0.5, 0.5, 0.5], abs=0.01)


# --- failures


def test_a_generation_of_failures_halves_the_step_and_moves_nothing_else() -> None:
    cell = cell_at([0.4, 0.6])
    tell_generation(cell, lambda x: float(x[0]))
    centre, step, sides, levels = cell.centre, cell.step, cell.sides, list(cell.levels)
    tell_generation(cell, lambda _: -inf, seed=1)
    assert cell.step == step / 2
    np.testing.assert_array_equal(cell.centre, centre)
    np.testing.assert_array_equal(cell.sides, sides / 2)
    assert cell.levels == levels


def test_failures_come_after_the_worst_value() -> None:
    """And say nothing of how good the cell is."""
    cell, other = cell_at([0.4, 0.6]), cell_at([0.4, 0.6])
    points = [draw(cell, k) for k in range(6)]
    for k, x in enumerate(points):
        cell.tell(x, -inf if k % 2 else float(k))
        other.tell(x, -1e9 - k if k % 2 else float(k))
    assert state(cell) == state(other)
    assert cell.level == 2.0


# --- the end


def generations_until_the_end(values: Callable[[int], float]) -> int:
    """How many generations it lasts when all values of one are the same, and the step does not change."""
    cell, generation = cell_at([0.5, 0.5]), 0
    while not cell.is_at_its_end and generation < 100:
        tell_generation(cell, lambda _, now=generation: values(now), seed=generation)  # type: ignore[misc]
        cell.step = FIRST_STEP
        generation += 1
    return generation


def test_it_ends_when_the_last_generations_were_no_better_than_those_before() -> None:
    """At the earliest when there are twice as many as are compared; never while the values rise."""
    assert generations_until_the_end(lambda _: 1.0) == 2 * WINDOW
    assert generations_until_the_end(lambda generation: -float(generation)) == 2 * WINDOW
    assert generations_until_the_end(float) == 100
    later = generations_until_the_end(lambda generation: float(min(generation, 30)))
    assert 30 + WINDOW // 2 < later <= 30 + 2 * WINDOW


def test_it_ends_when_it_has_no_width() -> None:
    cell = cell_at([0.5, 0.5])
    cell.step = 1.01 * SMALLEST_SIDE
    assert not cell.is_at_its_end
    cell.step = 0.99 * SMALLEST_SIDE
    assert cell.is_at_its_end


def test_it_ends_when_nothing_that_is_evaluated_moves_it() -> None:
    cell = cell_at([0.5, 0.5])
    for _ in range(WINDOW * generation_size(2)):
        assert not cell.is_at_its_end
        cell.tell(cell.centre, 1.0)
    assert cell.is_at_its_end
    tell_generation(cell)
    assert not cell.is_at_its_end


def test_its_level_is_the_mean_of_the_last_generations() -> None:
    cell = cell_at([0.5, 0.5])
    assert cell.level == -inf
    means = []
    for generation in range(LEVEL + 3):
        points = tell_generation(cell, lambda x: float(np.sin(9 * x[0]) + x[1]), seed=generation)
        means.append(np.mean([np.sin(9 * x[0]) + x[1] for x in points]))
        assert cell.level == pytest.approx(np.mean(means[-LEVEL:]))


def test_what_it_is_given_is_not_changed() -> None:
    centre, choices = np.array([0.5, 0.5]), np.zeros(2, dtype=np.bool_)
    before: tuple[Array, Bools] = centre.copy(), choices.copy()
    climb(TrustRegion(centre, choices), lambda x: float(x.sum()), 30)
    np.testing.assert_array_equal(centre, before[0])
    np.testing.assert_array_equal(choices, before[1])
