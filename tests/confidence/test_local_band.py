"""Bands of cells against bands built by hand from what lies near each cell, and what they do at the edges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from quadrat._core.arrays import Array, ArrayLike, Bools
from quadrat.confidence import AdaptiveBand, Assumptions, LocalBand, certify
from quadrat.confidence.budget import cell_share
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern, SquaredExponential
from quadrat.partition import Cell

DELTA = 0.05
GIVEN = Assumptions(Matern(2.5, (0.3, 0.5), amplitude=0.9), norm_bound=2.0, noise=0.1)
STRICT = Assumptions(SquaredExponential(0.5), norm_bound=1.0, noise=0.05)  # 3 is too high, and 3 noises apart too far


def gathered(n: int, dimension: int = 2, seed: int = 4) -> tuple[Array, Array]:
    """Observations half around a point, half anywhere, a fifth of them repeated."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, dimension))
    points[::2] = np.clip(0.45 + 0.1 * rng.normal(size=points[::2].shape), 0, 1)
    points = points[np.sort(rng.integers(0, n - n // 5, n))]
    return points, 0.5 * np.sin(4 * points[:, 0]) + 0.1 * rng.normal(size=n)


X, Y = gathered(40)
QUERY = np.random.default_rng(5).random((80, 2))


def seen_from(cell: Cell, points: Array, surroundings: float) -> Bools:
    """Which points lie in the cell dilated by so many of its sides."""
    around = surroundings * cell.sides
    return np.asarray(((points >= cell.lower - around) & (points <= cell.upper + around)).all(1))


def cells_by_hand(
    points: Array, capacity: int, given: Assumptions = GIVEN, surroundings: float = 0.25
) -> list[tuple[Cell, int]]:
    """The cells, and the halvings that made them: each that sees more than `capacity` distinct points is halved."""
    found = []
    pending = [(Cell.unit(points.shape[1]), 0)]
    while pending:
        cell, depth = pending.pop()
        if len(np.unique(points[seen_from(cell, points, surroundings)], axis=0)) <= capacity:
            found.append((cell, depth))
        else:
            pending += [(half, depth + 1) for half in cell.halves(given.axis_rule()(cell.sides))]
    return found


def band_by_hand(
    cell: Cell, depth: int, points: Array, values: Array, given: Assumptions = GIVEN, surroundings: float = 0.25
) -> AdaptiveBand:
    """What was observed in the cell and around it, with 6 / (pi^2 (J+1)^2) 2^-J of delta."""
    band = AdaptiveBand(given, DELTA * 6 / np.pi**2 / (depth + 1) ** 2 / 2.0**depth)
    rows = seen_from(cell, points, surroundings)
    if rows.any():
        band.add(points[rows], values[rows])
    return band


def grown(n: int = 40) -> LocalBand:
    """A band that was told some of the observations one by one."""
    band = LocalBand(GIVEN, DELTA, 2, capacity=8)
    for x, y in zip(X[:n], Y[:n], strict=True):
        band.add(x[None], [y])
    return band


def boxes(band: LocalBand) -> list[tuple[object, ...]]:
    """The cells, in an order that does not depend on when they were made."""
    leaves = band._tree.leaves()
    return sorted((*band._tree.lower[leaf].tolist(), *band._tree.upper[leaf].tolist()) for leaf in leaves.tolist())


def answers(band: LocalBand | AdaptiveBand, points: ArrayLike = QUERY) -> Array:
    """All that a band says about points, shape (5, m)."""
    interval = band.interval(points)
    return np.array(
        [interval.lower, interval.upper, band.optimism(points), band.quick_upper(points), band.mean(points)]
    )


def agree_with_bands_by_hand(band: LocalBand, points: Array, values: Array) -> None:
    """In each of its cells, whichever these are."""
    for leaf in band._tree.leaves().tolist():
        cell = band._tree.cell(leaf)
        inside = cell.sample(np.random.default_rng(leaf), 3)
        alone = band_by_hand(cell, band._tree.depth(leaf), points, values)
        np.testing.assert_allclose(answers(band, inside), answers(alone, inside), atol=1e-9)


def reason(band: LocalBand) -> str | None:
    """Why the data reject the assumptions by now."""
    return band.rejection


# --- what it is


def test_up_to_the_capacity_it_is_the_adaptive_band_of_the_root() -> None:
    """Bit for bit, with 6 / pi^2 of delta; the point after that divides it."""
    capacity = len(np.unique(X, axis=0))
    local = LocalBand(GIVEN, DELTA, 2, capacity=capacity)
    whole = AdaptiveBand(GIVEN, DELTA * cell_share(0))
    for step in range(40):
        for band in (local, whole):
            band.add(X[step][None], Y[step : step + 1])
        if step % 10 == 0:
            for band in (local, whole):
                band.prefer(X[step][None])
            np.testing.assert_array_equal(answers(local), answers(whole))
    assert local.cells == 1
    np.testing.assert_array_equal(answers(local), answers(whole))
    np.testing.assert_array_equal(local.x, whole.x)
    local.add([[0.123, 0.456]], [0.0])
    assert local.cells > 1


def test_before_any_data_the_norm_is_all_there_is() -> None:
    band = LocalBand(GIVEN, DELTA, 2)
    assert (band.cells, len(band.x), band.rejection) == (1, 0, None)
    np.testing.assert_allclose(band.interval(QUERY).upper, 1.8)
    np.testing.assert_allclose(band.interval(QUERY).lower, -1.8)
    np.testing.assert_array_equal(band.mean(QUERY), 0.0)


@pytest.mark.parametrize("surroundings", [0.0, 0.25, 0.5])
@pytest.mark.parametrize(("dimension", "capacity"), [(1, 5), (2, 6), (2, 10), (3, 8)])
def test_every_answer_is_that_of_the_band_of_its_cell(dimension: int, capacity: int, surroundings: float) -> None:
    """Cells and bands are built by hand; every cell is asked about."""
    given = GIVEN if dimension == 2 else Assumptions(Matern(2.5, 0.4), norm_bound=2.0, noise=0.1)
    points, values = gathered(40, dimension)
    band = LocalBand(given, DELTA, dimension, capacity=capacity, surroundings=surroundings)
    for x, y in zip(points, values, strict=True):
        band.add(x[None], [y])
    cells = cells_by_hand(points, capacity, given, surroundings)
    assert band.cells == len(cells) > 3
    assert max(depth for _, depth in cells) > 1
    for number, (cell, depth) in enumerate(cells):
        inside = np.vstack([cell.centre, cell.lower, cell.sample(np.random.default_rng(number), 6)])
        alone = band_by_hand(cell, depth, points, values, given, surroundings)
        np.testing.assert_allclose(answers(band, inside), answers(alone, inside), atol=1e-9)
        for one in (band, alone):
            one.prefer(inside)
        np.testing.assert_allclose(band.quick_upper(inside), alone.quick_upper(inside), atol=1e-9)
    assert band.rejection is None


def test_the_order_of_questions_does_not_matter() -> None:
    """Points of many cells in one call are the same points one by one; no points give no answers."""
    band = grown()
    together = answers(band)
    alone = np.hstack([answers(band, point[None]) for point in QUERY])
    np.testing.assert_allclose(together, alone, atol=1e-12)
    assert answers(band, np.empty((0, 2))).shape == (5, 0)


def test_shares_add_up_to_at_most_delta() -> None:
    """Sum over J of 2^J 6 / (pi^2 (J+1)^2) 2^-J, down to any depth; and what the cells spend is their share."""
    family = [2.0**depth * cell_share(depth) for depth in range(301)]
    assert 1 - 6 / np.pi**2 / 300 < sum(family) <= 1
    band = grown()
    depths = {leaf: int(band._tree.depth(leaf)) for leaf in band._tree.leaves().tolist()}
    assert max(depths.values()) >= 4
    spent = {leaf: band._band(leaf).delta for leaf in depths}
    assert spent == {leaf: DELTA * cell_share(depth) for leaf, depth in depths.items()}
    assert sum(DELTA * cell_share(int(depth)) for depth in band._tree.depths) <= DELTA  # those that were divided too


# --- data


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_many_at_once_are_one_by_one(steps: int) -> None:
    band = LocalBand(GIVEN, DELTA, 2, capacity=8)
    for rows in np.array_split(np.arange(40), steps):
        band.add(X[rows], Y[rows])
    alone = grown()
    assert boxes(band) == boxes(alone)
    np.testing.assert_array_equal(band.x, alone.x)
    np.testing.assert_allclose(answers(band), answers(alone), atol=1e-9)


def test_which_cells_there_are_depends_on_points_alone() -> None:
    """Not on the values, which the noise is in: whether an observation counts must be settled before it is made."""
    expected = boxes(grown())
    for values in (np.zeros(40), -Y, 0.3 * np.random.default_rng(0).normal(size=40)):
        band = LocalBand(GIVEN, DELTA, 2, capacity=8)
        for x, y in zip(X, values, strict=True):
            band.add(x[None], [y])
            band.interval(QUERY[:5])
        assert boxes(band) == expected
    moved = LocalBand(GIVEN, DELTA, 2, capacity=8)
    moved.add(1 - X, Y)
    assert boxes(moved) != expected


def test_observed_points_are_distinct_and_in_their_order() -> None:
    band = grown()
    _, first = np.unique(X, axis=0, return_index=True)
    assert len(first) < 40
    np.testing.assert_array_equal(band.x, X[np.sort(first)])


def test_replicates_merge() -> None:
    """They take no room, and count one by one; -0.0 is 0.0."""
    points = np.repeat([[0.0, 0.25], [0.5, 0.5], [1.0, 0.75]], 40, axis=0)
    points[:20, 0] = -0.0
    values = 0.1 * np.random.default_rng(1).normal(size=120)
    band = LocalBand(GIVEN, DELTA, 2, capacity=3)
    for rows in np.array_split(np.random.default_rng(2).permutation(120), 9):
        band.add(points[rows], values[rows])
    assert band.cells == 1
    assert len(band.x) == 3
    np.testing.assert_allclose(answers(band), answers(band_by_hand(Cell.unit(2), 0, points, values)), atol=1e-9)
    band.add([[0.75, 0.75]], [0.0])
    assert band.cells > 1
    points, values = np.vstack([points, [[0.75, 0.75]]]), np.append(values, 0.0)
    agree_with_bands_by_hand(band, points, values)


def test_minus_zero_is_zero() -> None:
    band = LocalBand(GIVEN, DELTA, 2)
    band.add([[-0.0, 0.25], [0.0, 0.25], [0.0, -0.0], [0.0, 0.0]], [0.1, 0.2, 0.3, 0.4])
    assert band.x.tolist() == [[0.0, 0.25], [0.0, 0.0]]


def test_points_and_values_may_be_given_as_to_any_band() -> None:
    """A vector is one point, or many points of one dimension; a number is the value of all."""
    band, plain = grown(), grown()
    band.add([0.3, 0.7], 0.2)
    plain.add([[0.3, 0.7]], [0.2])
    np.testing.assert_array_equal(answers(band), answers(plain))
    np.testing.assert_array_equal(answers(band, QUERY[0]), answers(band, QUERY[:1]))
    line = LocalBand(STRICT, DELTA, 1, capacity=2)
    line.add([0.1, 0.2, 0.7, 0.9], 0.5)
    assert line.x.tolist() == [[0.1], [0.2], [0.7], [0.9]]
    np.testing.assert_array_equal(answers(line, [0.3, 0.8]), answers(line, [[0.3], [0.8]]))
    before = answers(band)
    band.add(np.empty((0, 2)), [])
    np.testing.assert_array_equal(answers(band), before)


# --- everywhere in the cube


def test_every_point_of_the_cube_gets_the_answer_of_the_one_cell_that_holds_it() -> None:
    """Corners of the cube, its faces, and the corners of all cells, which lie on cuts."""
    band = grown()
    cells = cells_by_hand(X, 8)
    edges = np.unique([[cell.lower, cell.upper] for cell, _ in cells])
    points = np.array(list(product(edges, edges)))
    assert {(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)} <= {tuple(point) for point in points.tolist()}
    found = answers(band, points)
    homes = np.array([cell.contains(points) for cell, _ in cells])
    assert (homes.sum(0) == 1).all()
    for (cell, depth), inside in zip(cells, homes, strict=True):
        alone = band_by_hand(cell, depth, X, Y)
        np.testing.assert_allclose(found[:, inside], answers(alone, points[inside]), atol=1e-9)
    assert (found[0] <= found[1]).all()


@pytest.mark.parametrize("corner", [*product([0.0, 1.0], repeat=3)])
def test_observations_in_a_corner_divide_towards_it(corner: tuple[float, ...]) -> None:
    rng = np.random.default_rng(6)
    points = np.abs(np.array(corner) - np.vstack([np.zeros(3), 0.02 * rng.random((20, 3))]))
    given = Assumptions(Matern(2.5, 0.4), norm_bound=1.0, noise=0.1)
    band = LocalBand(given, DELTA, 3, capacity=8)
    band.add(points, 0.1 * rng.normal(size=21))
    assert band._tree.depth(band._tree.locate(corner)) > 12
    assert np.isfinite(answers(band, np.array(list(product([0.0, 0.5, 1.0], repeat=3))))).all()
    assert band.interval(points).half_width.max() < 0.9
    assert band.interval([np.full(3, 0.5)]).half_width[0] == pytest.approx(1.0), "no band there saw anything"


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-15])
def test_points_that_nearly_coincide_are_divided_only_so_far(spread: float) -> None:
    """Around a place that no cut separates, and around a corner of cells, where four of them see every point."""
    rng = np.random.default_rng(7)
    for centre in (0.3, 0.5):
        points = np.unique(centre + spread * rng.random((20, 2)), axis=0)
        band = LocalBand(GIVEN, DELTA, 2, capacity=4)
        for point in points:
            band.add(point[None], [0.1 * rng.normal()])
        assert 10 < band._tree.depths.max() <= 101
        assert band.cells <= 1 + 4 * 101
        assert np.isfinite(answers(band, points)).all()
        assert len(band.x) == len(points)
        assert band.rejection is None


def test_neighbours_in_floating_point_are_not_divided_for_ever() -> None:
    """Next to 1, where no more halves can be made; next to 0, where some could be for long; and many equal ones."""
    below_one = 1 - np.arange(30) * 2.0**-53
    above_zero = np.arange(30) * 5e-324
    for points in (below_one, above_zero):
        band = LocalBand(STRICT, DELTA, 1, capacity=2)
        band.add(points, 0.0)
        assert band._tree.depths.max() == 51
        assert len(band.x) == 30
        assert np.isfinite(answers(band, points)).all()
        band.add(points, 0.1)
        assert band._tree.depths.max() == 51
    band = LocalBand(STRICT, DELTA, 1, capacity=2)
    band.add(np.full(2000, 0.3), 0.0)
    assert band.cells == 1


def test_in_many_dimensions_depth_ends_before_shares_do() -> None:
    """Twelve axes could be halved 600 times; 300 are enough, and the share there is still a positive number."""
    points = 1e-200 * np.arange(4)[:, None] * np.ones(12)
    band = LocalBand(Assumptions(SquaredExponential(0.5), 1.0, 0.1), DELTA, 12, capacity=2)
    band.add(points, 0.0)
    leaf = band._tree.locate(points[0])
    assert band._tree.depth(leaf) == 300
    assert 0 < band._band(leaf).delta < 1e-90
    assert len(band._band(leaf).x) == 4
    assert np.isfinite(answers(band, points)).all()


# --- pending points


@pytest.mark.parametrize("where", [[[0.4, 0.4]], [[0.5, 0.5]], [[0.1, 0.9], [0.1, 0.9], [0.46, 0.44]], [[1.0, 0.0]]])
def test_pending_points_narrow_what_is_near_and_nothing_stays(where: list[list[float]]) -> None:
    """In cells that see none of them nothing changes, to the last bit; where one is on a cut, all around see it."""
    band = grown()
    points = np.vstack([QUERY, where])
    before = answers(band, points)
    untouched = np.zeros(len(points), dtype=bool)
    for cell, _ in cells_by_hand(X, 8):
        if not seen_from(cell, np.array(where), 0.25).any():
            untouched |= cell.contains(points)
    hallucinating = [band.is_hallucinating]
    with band.pending(where):
        hallucinating.append(band.is_hallucinating)
        within = answers(band, points)
        width, earlier = within[1] - within[0], before[1] - before[0]
        assert (width <= earlier + 1e-12).all()
        assert (width[-len(where) :] < 0.99 * earlier[-len(where) :]).all()
        assert (within[2] <= before[2] + 1e-12).all()
        np.testing.assert_allclose(within[4], before[4], atol=1e-12)
        np.testing.assert_array_equal(within[:, untouched], before[:, untouched])
        for row in range(len(points)):  # each cell that sees one has it in its own band
            assert untouched[row] or within[2, row] < before[2, row]
    assert untouched.any()
    assert [*hallucinating, band.is_hallucinating] == [False, True, False]
    np.testing.assert_array_equal(answers(band, points), before)


def test_pending_points_are_those_of_bands_built_by_hand() -> None:
    band, where = grown(), np.array([[0.4, 0.5], [0.41, 0.52], [0.9, 0.1]])
    with band.pending(where):
        for cell, depth in cells_by_hand(X, 8):
            alone = band_by_hand(cell, depth, X, Y)
            with alone.pending(where[seen_from(cell, where, 0.25)].reshape(-1, 2)):
                inside = cell.sample(np.random.default_rng(depth), 4)
                np.testing.assert_allclose(answers(band, inside), answers(alone, inside), atol=1e-9)


def test_what_is_raised_while_points_are_pending_leaves_nothing_behind() -> None:
    band = grown()
    before = answers(band)

    def look(at: ArrayLike) -> None:
        with band.pending([[0.4, 0.4]]), band.pending(at):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look([[0.42, 0.4]])
    for wrong in ([[np.nan, 0.4]], [[0.4]], [[0.4, 1.5]]):
        with pytest.raises(InvalidInput, match="X: expected"):
            look(wrong)
    assert not band.is_hallucinating
    np.testing.assert_array_equal(answers(band), before)
    with band.pending(np.empty((0, 2))):
        np.testing.assert_array_equal(answers(band), before)


def test_nothing_is_observed_while_points_are_pending() -> None:
    """Also where another cell than theirs would see it."""
    band = grown()
    before = answers(band)
    with band.pending([[0.4, 0.4]]):
        for point in ([[0.4, 0.4]], [[1.0, 0.0]]):
            with pytest.raises(InvalidInput, match="add: expected no pending points"):
                band.add(point, [0.0])
    np.testing.assert_array_equal(answers(band), before)
    band.add([[1.0, 0.0]], [0.0])
    assert len(band.x) == len(grown().x) + 1


# --- rejection


@pytest.mark.parametrize("corner", [*product([0.05, 0.8], repeat=2)])
def test_a_contradiction_in_any_cell_is_said_and_stays_said(corner: tuple[float, float]) -> None:
    """Values 3 high where |f| <= 1, in one corner; all else is as assumed."""
    rng = np.random.default_rng(8)
    band = LocalBand(STRICT, DELTA, 2, capacity=8)
    band.add(rng.random((40, 2)), 0.05 * rng.normal(size=40))
    assert band.cells > 4
    assert reason(band) is None
    for step in range(8):
        band.add([corner + 0.15 * rng.random(2)], [3.0])
        if step == 0:
            at = band._tree.depth(band._tree.locate(corner))
    first = band.rejection
    assert first is not None
    assert "assumptions rejected by the data at level" in first
    assert at > 0
    band.add(rng.random((5, 2)), np.full(5, -9.0))
    assert band.rejection == first
    assert np.isfinite(answers(band)).all()


@pytest.mark.parametrize("when", ["looked at in between", "not looked at", "all at once"])
def test_what_a_band_rejected_before_it_was_divided_is_not_forgotten(when: str) -> None:
    """Whether somebody looked at it or not. The share of delta is in the reason."""
    points = np.vstack([[[0.1, 0.1], [0.9, 0.9], [0.1, 0.11]], np.random.default_rng(9).random((40, 2))])
    values = np.zeros(43)
    values[2] = 3.0
    band = LocalBand(STRICT, DELTA, 2, capacity=8)
    for rows in np.array_split(np.arange(43), 1 if when == "all at once" else 43):
        band.add(points[rows], values[rows])
        if when == "looked at in between":
            assert (band.rejection is None) == (rows[-1] < 2)
    assert band.cells > 4
    assert band.rejection is not None
    assert f"at level {DELTA * cell_share(0):.6g}:" in band.rejection


def test_a_reason_from_outside_is_said_at_the_level_of_all_bands() -> None:
    band = grown()
    why = "the best value still possible lies below one that is reached"
    assert band.rejected_because(why) == f"assumptions rejected by the data at level 0.05: {why}"
    assert band.rejected_because(why, 0.2) == f"assumptions rejected by the data at level 0.2: {why}"
    assert band.rejection is None


def test_an_empty_interval_in_one_cell_is_said_to_those_who_look_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """And to nobody else: what the band rejects depends on what was added alone."""
    band = grown()
    leaf = band._tree.locate([0.9, 0.1])
    monkeypatch.setattr(band._band(leaf), "_reach", np.full(6, -0.5))
    assert not band.interval([[0.1, 0.9]]).is_empty(GIVEN.ceiling)
    assert band.interval([[0.9, 0.1]]).is_empty(GIVEN.ceiling)
    assert reason(band) is None
    assert "at level 0.05: no value of f is left" in (certify(band, dimension=2).rejection or "")
    assert reason(band) is None


def test_what_is_rejected_does_not_depend_on_who_looked_where() -> None:
    """One band is asked at random places after every observation, the other one only at the end."""
    rng = np.random.default_rng(12)
    points, values = rng.random((60, 2)), 0.05 * rng.normal(size=60)
    values[5:20] += np.where(points[5:20, 0] < 0.5, 0.8, -0.8)
    looked, blind = (LocalBand(STRICT, DELTA, 2, capacity=8) for _ in range(2))
    for row in range(60):
        for band in (looked, blind):
            band.add(points[row : row + 1], values[row : row + 1])
        looked.interval(rng.random((2, 2)))
        looked.optimism(rng.random((1, 2)))
    assert looked.cells > 4
    assert looked.rejection == blind.rejection is not None
    np.testing.assert_array_equal(answers(looked), answers(blind))


def test_pending_points_reject_nothing() -> None:
    band = grown()
    with band.pending(np.repeat(QUERY[:2], 700, axis=0)):
        with band.pending(QUERY[2:3]):
            pass
        band.interval(QUERY)
    assert band.rejection is None


# --- what is refused


WRONG: dict[str, tuple[object, object, str]] = {
    "not a number": ([[0.1, np.nan]], [0.0], "X: expected finite numbers"),
    "infinite value": ([[0.1, 0.2]], [np.inf], "y: expected finite numbers"),
    "text": ([["a", "b"]], [0.0], "X: expected numbers"),
    "text for values": ([[0.1, 0.2]], ["high"], "y: expected numbers"),
    "too few columns": ([[0.1]], [0.0], "X: expected 2 columns"),
    "too many columns": ([[0.1, 0.2, 0.3]], [0.0], "X: expected 2 columns"),
    "too many axes": ([[[0.1, 0.2]]], [0.0], "X: expected a matrix"),
    "too many values": ([[0.1, 0.2]], [0.0, 1.0], "y: expected 1 entries, got 2"),
    "too few values": ([[0.1, 0.2], [0.3, 0.4]], [0.0], "y: expected 2 entries, got 1"),
    "one of two wrong": ([[0.1, 0.2], [0.3, np.inf]], [0.0, 0.0], "X: expected finite numbers"),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_observations_are_refused_as_by_the_adaptive_band(what: str) -> None:
    """And leave everything as it was, to the last bit."""
    points, values, message = WRONG[what]
    band = grown()
    before, cells, known = answers(band), boxes(band), band.x.copy()
    for one in (AdaptiveBand(GIVEN, DELTA), band):
        with pytest.raises(InvalidInput, match=message):
            one.add(points, values)  # type: ignore[arg-type]
    np.testing.assert_array_equal(answers(band), before)
    np.testing.assert_array_equal(band.x, known)
    assert boxes(band) == cells
    untouched = grown()
    for one in (band, untouched):
        one.add(QUERY[:5], np.zeros(5))
    assert boxes(band) == boxes(untouched)
    np.testing.assert_array_equal(answers(band), answers(untouched))


@pytest.mark.parametrize("outside", [[-1e-9, 0.5], [0.5, 1.1], [7.0, 7.0]])
def test_points_outside_the_cube_are_refused(outside: list[float]) -> None:
    """No cell would hold them."""
    band = grown()
    calls: list[Callable[[], object]] = [
        lambda: band.add([outside], [0.0]),
        lambda: band.interval([outside]),
        lambda: band.optimism([outside]),
        lambda: band.quick_upper([outside]),
        lambda: band.mean([outside]),
        lambda: band.prefer([outside]),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match=r"expected points of the unit cube"):
            call()
    assert len(band.x) == len(grown().x)


def test_questions_that_make_no_sense_are_refused() -> None:
    band = grown()
    for wrong in ([[np.nan, 0.5]], [[0.5]], [["a", "b"]]):
        for ask in (band.interval, band.optimism, band.quick_upper, band.mean, band.prefer):
            with pytest.raises(InvalidInput, match="X: expected"):
                ask(wrong)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"delta": 0.0}, "delta: expected"),
        ({"delta": 1.0}, "delta: expected"),
        ({"dimension": 0}, "dimension: expected"),
        ({"capacity": 1}, "capacity: expected an integer >= 2, got 1"),
        ({"capacity": 8.5}, "capacity: expected"),
        ({"capacity": True}, "capacity: expected"),
        ({"surroundings": -0.1}, "surroundings: expected"),
        ({"surroundings": float("nan")}, "surroundings: expected"),
    ],
)
def test_bad_settings(changes: dict[str, object], message: str) -> None:
    settings: dict[str, object] = {"delta": DELTA, "dimension": 2, "capacity": 8}
    with pytest.raises(InvalidInput, match=message):
        LocalBand(GIVEN, **(settings | changes))  # type: ignore[arg-type]


def test_a_kernel_of_another_dimension_is_refused() -> None:
    with pytest.raises(InvalidInput, match="3"):
        LocalBand(GIVEN, DELTA, 3)


@pytest.mark.parametrize("at", [0, 1, 2, 3, 5, 8])
def test_a_band_that_is_interrupted_while_it_catches_up_goes_on_later(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    band, whole, calls = grown(20), grown(20), 0
    answers(band), answers(whole)
    for one in (band, whole):
        one.add(X[20:], Y[20:])
    plain = AdaptiveBand.add

    def interrupted(self: AdaptiveBand, points: ArrayLike, values: ArrayLike) -> None:
        nonlocal calls
        calls += 1
        if calls > at:
            raise KeyboardInterrupt
        plain(self, points, values)

    with monkeypatch.context() as patch:
        patch.setattr(AdaptiveBand, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            answers(band)
    assert calls == at + 1
    np.testing.assert_array_equal(answers(band), answers(whole))
    agree_with_bands_by_hand(band, X, Y)


@pytest.mark.parametrize("looks", [(), (10, 25), tuple(range(40))], ids=["never", "twice", "always"])
def test_looking_changes_nothing_to_the_last_bit(looks: tuple[int, ...]) -> None:
    """Bands follow when they are asked for, and are then what they would be if they had been asked before."""
    band = LocalBand(GIVEN, DELTA, 2, capacity=8)
    for number, (x, y) in enumerate(zip(X, Y, strict=True)):
        band.add(x[None], [y])
        if number in looks:
            answers(band)
            assert band.rejection is None
    np.testing.assert_array_equal(answers(band), answers(grown()))


def test_cells_that_nobody_asks_about_cost_no_band(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points that gather at a corner of many cells belong to all of them."""
    rng, made = np.random.default_rng(0), 0
    plain = AdaptiveBand.add

    def counted(self: AdaptiveBand, points: ArrayLike, values: ArrayLike) -> None:
        nonlocal made
        made += 1
        plain(self, points, values)

    monkeypatch.setattr(AdaptiveBand, "add", counted)
    band = LocalBand(Assumptions(Matern(2.5, 0.5), 1.0, 0.1), DELTA, 4, capacity=8)
    for point in 0.5 + 0.01 * rng.normal(size=(60, 4)):
        band.add(point[None], [0.0])
    assert band.cells > 100
    assert made == 0
    band.interval(np.full((1, 4), 0.2))
    assert made <= 60


def test_it_is_a_band_to_those_who_certify() -> None:
    """Max f from above and the best point from below, from the bands of all cells; f is known."""

    def f(points: Array) -> Array:
        return np.asarray(GIVEN.kernel(points, [[0.4, 0.6]])[:, 0])

    rng = np.random.default_rng(10)
    points = rng.random((80, 2))
    band = LocalBand(GIVEN, DELTA, 2, capacity=25)
    band.add(points, f(points) + 0.1 * rng.normal(size=80))
    found = certify(band, dimension=2, max_cells=256)
    assert band.cells > 4
    assert found.rejection is None
    assert 0.81 <= found.maximum < 1.8
    assert 0.81 - f(found.point[None])[0] <= found.value
