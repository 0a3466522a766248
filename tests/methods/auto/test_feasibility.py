"""The chance to succeed: against direct formulas, finite differences, and what failures should teach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from quadrat.arrays import Array, Bools, Ints
from quadrat.kernels import Matern
from quadrat.methods.auto.feasibility import Feasibility
from quadrat.nearest import nearest


def learned(points: Array, succeeded: Array | Bools) -> Feasibility:
    feasibility = Feasibility(points.shape[1])
    for point, success in zip(points, succeeded, strict=True):
        feasibility.add(point, bool(success))
    return feasibility


def chance(feasibility: Feasibility, points: Array) -> Array:
    return np.exp(feasibility.log_chance(np.asarray(points, dtype=np.float64))[0])


def points_of(n: int, columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).random((n, columns))


def test_without_failures_the_chance_is_one_everywhere() -> None:
    for feasibility in (Feasibility(2), learned(points_of(6, 2), np.ones(6))):
        assert not feasibility.any_failed
        value, slope = feasibility.log_chance(points_of(4, 2, 1))
        assert value.tolist() == [0.0] * 4
        assert slope.tolist() == [[0.0, 0.0]] * 4


def test_it_is_least_squares_classification_with_the_length_scale_of_best_left_out_labels() -> None:
    """Brute force: for each scale, each label is predicted from all others; then the probit of the blurred mean."""
    points = points_of(20, 2)
    labels = np.where(points[:, 0] + 0.3 * points[:, 1] < 0.8, 1.0, -3.0)

    def posterior(kernel: Matern, X: Array, y: Array, Z: Array) -> tuple[Array, Array]:
        A, k = kernel(X) + 0.1 * np.eye(len(X)), kernel(X, Z)
        return 1 + k.T @ np.linalg.solve(A, y - 1), np.diag(kernel(Z) - k.T @ np.linalg.solve(A, k))

    def left_out(kernel: Matern) -> float:
        total = 0.0
        for i in range(len(points)):
            rest = np.arange(len(points)) != i
            mean, variance = posterior(kernel, points[rest], labels[rest], points[i : i + 1])
            total += norm.logpdf(labels[i], mean[0], np.sqrt(variance[0] + 0.1))
        return total

    best = max((Matern(2.5, scale) for scale in (0.1, 0.2, 0.4, 0.8)), key=left_out)
    query = points_of(7, 2, 1)
    mean, variance = posterior(best, points, labels, query)
    wanted = norm.logcdf(mean / np.sqrt(0.25 + variance))
    got, _ = learned(points, labels > 0).log_chance(query)
    np.testing.assert_allclose(got, wanted, rtol=1e-8)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_gradient_equals_finite_differences(columns: int, share: float) -> None:
    points = points_of(15, columns)
    feasibility = learned(points, np.arange(15) >= 15 * share)
    query, step = points_of(6, columns, 1), 1e-6
    _, slope = feasibility.log_chance(query)
    for axis in range(columns):
        move = step * np.eye(columns)[axis]
        up, down = (feasibility.log_chance(query + side * move)[0] for side in (1, -1))
        np.testing.assert_allclose(slope[:, axis], (up - down) / (2 * step), rtol=1e-5, atol=1e-7)


def test_a_region_that_fails_is_avoided() -> None:
    """A third of the square fails: chances there are below those elsewhere, at 90 % of pairs and on both means."""
    points = points_of(40, 2)
    feasibility = learned(points, points[:, 0] < 0.65)
    query = points_of(300, 2, 1)
    at = chance(feasibility, query)
    good, bad = at[query[:, 0] < 0.65], at[query[:, 0] >= 0.65]
    assert (good[:, None] > bad[None, :]).mean() > 0.9
    assert good.mean() > 0.8
    assert bad.mean() < 0.3


def test_new_outcomes_count_at_once() -> None:
    feasibility, place = learned(points_of(5, 1), np.ones(5)), np.array([[0.5]])
    before = chance(feasibility, place)[0]
    feasibility.add(place[0], False)
    once = chance(feasibility, place)[0]
    feasibility.add(place[0], False)
    twice = chance(feasibility, place)[0]
    feasibility.add(place[0], True)
    assert before == 1.0 > once > twice
    assert chance(feasibility, place)[0] > twice


# --- the chance that a point must have


def test_the_chance_that_is_needed_grows_with_every_failure() -> None:
    """1/2, 3/4, 5/6, 7/8, ...: successes do not count, and where all is safe the space has no say."""
    feasibility, needed = Feasibility(1), []
    for succeeded in (True, False, True, False, False):
        feasibility.add(np.array([0.5]), succeeded)
        needed.append(np.exp(feasibility.least_log_chance(np.zeros(3))))
    assert np.exp(Feasibility(1).least_log_chance(np.zeros(3))) == pytest.approx(1 / 2)
    assert needed == pytest.approx([1 / 2, 3 / 4, 3 / 4, 5 / 6, 7 / 8])


@pytest.mark.parametrize("failures", [0, 1, 4, 50])
@pytest.mark.parametrize("middle", [-8.0, -0.3, -0.01, 0.0])
def test_half_of_the_space_is_always_open(middle: float, failures: int) -> None:
    """No more is needed than the median of the chances all over the space, however often it failed."""
    feasibility = learned(np.full((failures + 1, 1), 0.5), np.arange(failures + 1) == 0)
    rng = np.random.default_rng(failures)
    typical = rng.permutation(np.append(middle - rng.exponential(size=10), middle + (0.0 - middle) * rng.random(10)))
    typical = np.append(typical, middle)
    got = feasibility.least_log_chance(typical)
    assert got == pytest.approx(min(np.log(1 - 0.5 / (1 + failures)), middle))
    assert 2 * (typical >= got).sum() >= len(typical)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_accidents_everywhere_leave_half_of_the_space_open(seed: int) -> None:
    """30 % of 60 trials failed, wherever they were: what the failures alone ask for is met hardly anywhere."""
    failed = np.random.default_rng(seed + 50).random(60) < 0.3
    feasibility = learned(points_of(60, 2, seed), ~failed)
    typical = feasibility.log_chance(points_of(400, 2, 10))[0]
    open_now = typical >= feasibility.least_log_chance(typical)
    assert open_now.mean() == pytest.approx(0.5, abs=0.01)
    assert (typical >= np.log(1 - 0.5 / (1 + failed.sum()))).mean() < 0.2


def test_a_region_that_fails_is_closed_and_most_of_the_rest_is_not() -> None:
    points = points_of(40, 2)
    feasibility = learned(points, points[:, 0] < 0.65)
    query = points_of(400, 2, 1)
    chances = feasibility.log_chance(query)[0]
    open_now = chances >= feasibility.least_log_chance(chances)
    assert open_now[query[:, 0] >= 0.65].mean() < 0.02
    assert open_now[query[:, 0] < 0.65].mean() > 0.6


def test_true_chances_end_with_as_many_failures_as_the_root_of_the_trials() -> None:
    """100 trials, each at the least chance that is allowed: some 10 failures, in the mean of 40 runs."""
    rng, counts = np.random.default_rng(0), []
    for _ in range(40):
        feasibility, failures = Feasibility(1), 0
        for _ in range(100):
            succeeded = rng.random() < np.exp(feasibility.least_log_chance(np.zeros(1)))
            feasibility.add(np.array([0.5]), bool(succeeded))
            failures += not succeeded
        counts.append(failures)
    assert np.mean(counts) == pytest.approx(10, rel=0.2)


# --- one accident


def around_an_accident(n: int, columns: int, seed: int) -> tuple[Array, Ints]:
    """The centre, then n - 1 uniform points; and the numbers of these, from the nearest to the centre outwards."""
    points = points_of(n, columns, seed)
    points[0] = 0.5
    return points, np.argsort(np.linalg.norm(points - 0.5, axis=1))[1:]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_one_accident_among_few_successes_is_avoided_there_and_not_far_away(columns: int, seed: int) -> None:
    """Whether it was one cannot be told from ten trials: the place is left alone, those that succeeded are not."""
    points, order = around_an_accident(10, columns, seed)
    feasibility = learned(points, np.arange(10) > 0)
    assert chance(feasibility, points[:1])[0] < 1e-3
    assert chance(feasibility, points[order]).min() > 0.5
    assert chance(feasibility, points[order[4:]]).min() > 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_accident_with_successes_all_around_is_forgiven(seed: int) -> None:
    """On a line with 39 of them the nearest is close enough to speak for the place."""
    points, order = around_an_accident(40, 1, seed)
    assert chance(learned(points, np.arange(40) > 0), points[np.append(0, order)]).min() > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("columns", [2, 5])
def test_one_accident_in_more_dimensions_rules_out_its_own_place_alone(columns: int, seed: int) -> None:
    """39 successes are not all around there: the place itself is left alone, the nearest that succeeded is not."""
    points, order = around_an_accident(40, columns, seed)
    feasibility = learned(points, np.arange(40) > 0)
    assert chance(feasibility, points[:1])[0] < 1e-3
    assert chance(feasibility, points[order]).min() > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_an_accident_is_forgiven_where_others_succeeded(columns: int, seed: int) -> None:
    """Among 40 trials one success at the same place is enough; among 10 one helps, and two are enough."""
    few, many = around_an_accident(10, columns, seed)[0], around_an_accident(40, columns, seed)[0]
    place = few[:1]

    def with_successes(points: Array, there: int) -> float:
        every = np.vstack([points, np.repeat(place, there, axis=0)])
        return float(chance(learned(every, np.arange(len(every)) > 0), place)[0])

    assert with_successes(many, 1) > 0.6
    never, once, twice = (with_successes(few, there) for there in (0, 1, 2))
    assert never < 1e-3
    assert 0.1 < once < twice
    assert twice > 0.6


def test_an_accident_on_a_line_where_another_succeeded_is_forgiven() -> None:
    line = np.append(np.linspace(0, 1, 11), 0.5)[:, None]
    assert chance(learned(line, np.arange(12) < 11), np.array([[0.5]]))[0] > 0.5


@pytest.mark.parametrize("n", [1, 2, 30])
def test_nothing_but_failures(n: int) -> None:
    """Finite, low where it failed, higher far from there."""
    points = 0.2 * points_of(n, 2)
    feasibility = learned(points, np.zeros(n))
    value, slope = feasibility.log_chance(np.vstack([points, [[1.0, 1.0]]]))
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    assert (value[:-1] < np.log(0.3)).all()
    assert value[-1] > value[:-1].max()


def test_repeated_and_nearly_repeated_points() -> None:
    points = np.vstack([points_of(5, 2)] * 3 + [points_of(5, 2) + 1e-12])
    value, slope = learned(points, np.arange(20) % 2 == 1).log_chance(points)
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()


# --- many at once


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("columns", [1, 3])
def test_many_at_once_are_one_by_one(columns: int, share: float) -> None:
    """All of them, or some at a time with a look in between: chances bit for bit, all over and near a place."""
    points, query = points_of(40, columns), points_of(9, columns, 1)
    succeeded = np.random.default_rng(2).random(40) >= share
    alone, together, some = learned(points, succeeded), Feasibility(columns), Feasibility(columns)
    together.add_many(points, succeeded)
    for part in np.split(np.arange(40), [1, 1, 17]):
        some.add_many(points[part], succeeded[part])
        if len(part):
            some.log_chance(query)
    centre, sides = np.full(columns, 0.4), np.full(columns, 0.2)
    for feasibility in (together, some):
        assert feasibility.any_failed is alone.any_failed is bool(share)
        assert feasibility.least_log_chance(np.zeros(3)) == alone.least_log_chance(np.zeros(3))
        for one, other in ((feasibility, alone), (feasibility.near(centre, sides, 12), alone.near(centre, sides, 12))):
            for got, wanted in zip(one.log_chance(query), other.log_chance(query), strict=True):
                assert got.tobytes() == wanted.tobytes()


# --- near a place


@pytest.mark.parametrize("box", [False, True])
def test_near_a_place_the_nearest_outcomes_count_alone(box: bool) -> None:
    """As if no others had been added; chances, and the number of failures that decides what is needed."""
    points, query = points_of(60, 2), points_of(9, 2, 1)
    succeeded = points[:, 0] + 0.2 * points[:, 1] < 0.6
    every, centre, sides = learned(points, succeeded), np.array([0.5, 0.4]), np.array([0.2, 1.0])
    rows = nearest(points, centre, sides, 20, box=box)
    assert 0 < succeeded[rows].sum() < 20
    near, wanted = every.near(centre, sides, 20, box=box), learned(points[rows], succeeded[rows])
    np.testing.assert_array_equal(near.log_chance(query)[0], wanted.log_chance(query)[0])
    assert near.least_log_chance(np.zeros(3)) == wanted.least_log_chance(np.zeros(3))
    assert near.least_log_chance(np.zeros(3)) < every.least_log_chance(np.zeros(3))
    near.add(centre, False)
    np.testing.assert_array_equal(every.log_chance(query)[0], learned(points, succeeded).log_chance(query)[0])


def test_near_a_place_where_nothing_failed_all_chances_are_one() -> None:
    points = points_of(50, 1)
    near = learned(points, points[:, 0] < 0.7).near(np.array([0.2]), np.ones(1), 10)
    assert not near.any_failed
    assert not near.log_chance(points)[0].any()


def test_of_few_outcomes_all_are_near() -> None:
    feasibility = learned(points_of(20, 2), np.arange(20) % 4 > 0)
    assert feasibility.near(np.zeros(2), np.ones(2), 20) is feasibility
    assert feasibility.near(np.zeros(2), np.ones(2), 19) is not feasibility
