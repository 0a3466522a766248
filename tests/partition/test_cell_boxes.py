from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.partition import Cell
from quadrat.randomness import generator


@st.composite
def dyadic_cells(draw: st.DrawFn) -> Cell:
    levels = draw(st.lists(st.integers(0, 12), min_size=1, max_size=5))
    indices = [draw(st.integers(0, 2**level - 1)) for level in levels]
    places = list(zip(indices, levels, strict=True))
    return Cell([k / 2**level for k, level in places], [(k + 1) / 2**level for k, level in places])


def faces_and_inside(cell: Cell, rng: np.random.Generator) -> Array:
    """Points whose coordinates are each an end of the cell, its middle, just outside it, or 1."""
    ends = np.stack([cell.lower, cell.upper, cell.centre, np.ones(cell.dimension), np.nextafter(cell.upper, 0.0)])
    return ends[rng.integers(0, len(ends), size=(200, cell.dimension)), np.arange(cell.dimension)]


@given(dyadic_cells(), st.integers(0, 4))
def test_halves_tile_the_cell(cell: Cell, axis: int) -> None:
    """Children are disjoint, cover the parent and their volumes add up exactly (volumes here are powers of two)."""
    left, right = cell.halves(axis % cell.dimension)
    assert left.volume + right.volume == cell.volume
    points = faces_and_inside(cell, generator(0))
    np.testing.assert_array_equal(left.contains(points) ^ right.contains(points), cell.contains(points))
    assert not (left.contains(points) & right.contains(points)).any()


def test_only_the_faces_at_one_are_closed() -> None:
    low, high = Cell([0.0, 0.0], [0.5, 1.0]), Cell([0.5, 0.0], [1.0, 1.0])
    points = [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.2, 1.0]]
    assert low.contains(points).tolist() == [True, False, False, True]
    assert high.contains(points).tolist() == [False, True, True, False]
    assert high.contains([[1.1, 0.5], [0.7, -0.1]]).tolist() == [False, False]


def test_measures_of_a_cell() -> None:
    cell = Cell([0.0, 0.25, 0.5], [0.25, 0.75, 1.0])
    assert cell.centre.tolist() == [0.125, 0.5, 0.75]
    assert cell.sides.tolist() == [0.25, 0.5, 0.5]
    assert cell.half_diagonal.tolist() == [0.125, 0.25, 0.25]
    assert (cell.longest_side, cell.volume, cell.dimension) == (0.5, 0.0625, 3)


@given(dyadic_cells())
def test_farthest_offsets_reach_the_farthest_corner(cell: Cell) -> None:
    """The offset's norm is the largest distance to any of the 2^D corners, for points inside and outside."""
    points = generator(1).random((20, cell.dimension))
    corners = np.stack(list(cell.corners()))
    distances = np.linalg.norm(points[:, None, :] - corners, axis=2).max(axis=1)
    np.testing.assert_allclose(np.linalg.norm(cell.farthest_offsets(points), axis=1), distances, rtol=1e-12)


@pytest.mark.parametrize(
    ("dimension", "at_most", "expected"),
    [(1, 64, 2), (6, 64, 64), (7, 64, 64), (3, 8, 8), (3, 1, 1), (9, 100, 100), (70, 64, 64)],
)
def test_corners_are_capped(dimension: int, at_most: int, expected: int) -> None:
    corners = np.stack(list(Cell.unit(dimension).corners(at_most)))
    assert corners.shape == (expected, dimension)
    assert len(np.unique(corners, axis=0)) == expected
    assert np.isin(corners, [0.0, 1.0]).all()


def test_capped_corners_are_spread_over_all_pairs_of_axes() -> None:
    """With 64 of 2^20 corners, each pair of axes shows its four combinations 16 times each."""
    corners = np.stack(list(Cell.unit(20).corners(64))).astype(int)
    for i in range(20):
        for j in range(i):
            assert np.bincount(2 * corners[:, i] + corners[:, j], minlength=4).tolist() == [16] * 4


@given(dyadic_cells(), st.integers(0, 100))
@settings(max_examples=50)
def test_samples_lie_in_the_cell(cell: Cell, seed: int) -> None:
    assert cell.contains(cell.sample(generator(seed), 50)).all()


def test_samples_fill_the_cell_evenly() -> None:
    cell = Cell([0.25, 0.0], [0.5, 1.0])
    points = cell.sample(generator(2), 20_000)
    # Mean of n uniforms on a side s has sd s / sqrt(12 n): five of them.
    margin = 5 * cell.sides / np.sqrt(12 * 20_000)
    assert (np.abs(points.mean(axis=0) - cell.centre) < margin).all()


def test_cells_are_values() -> None:
    corner = np.array([0.0, 0.5])
    cell = Cell(corner, [0.5, 1.0])
    corner[0] = 0.3
    assert cell == Cell([0.0, 0.5], [0.5, 1.0])
    assert hash(cell) == hash(Cell([0.0, 0.5], [0.5, 1.0]))
    assert cell != Cell([0.0, 0.5], [0.5, 0.75])
    assert cell != "cell"
    assert eval(repr(cell)) == cell  # noqa: S307  # the text was written two lines above
    with pytest.raises(ValueError, match="read-only"):
        cell.lower[0] = 0.1


def test_text_shows_which_ends_belong_and_shortens_many_axes() -> None:
    assert str(Cell([0.0, 0.5], [0.125, 1.0])) == "[0, 0.125) x [0.5, 1]"
    assert str(Cell.unit(9)).endswith("x [0, 1] x ... (9 axes)")


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([0.5], [0.5], r"got \[.*0\.5.*, .*0\.5.*\) on axis 0"),
        ([0.0, -0.1], [1.0, 1.0], "on axis 1"),
        ([0.0], [1.5], "expected 0 <= lower < upper <= 1"),
        ([0.0], [np.nan], "expected finite numbers"),
        ([0.0, 0.0], [1.0], "expected 2 entries, got 1"),
        ([], [], "no axis at all"),
    ],
)
def test_impossible_boxes_are_refused(lower: list[float], upper: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Cell(lower, upper)


def test_wrong_arguments_are_named() -> None:
    cell = Cell.unit(2)
    with pytest.raises(InvalidInput, match="axis: expected an integer from 0 to 1, got 2"):
        cell.halves(2)
    with pytest.raises(InvalidInput, match="expected 2 columns"):
        cell.contains([[0.1, 0.2, 0.3]])
    with pytest.raises(InvalidInput, match="n: expected an integer >= 0, got -1"):
        cell.sample(generator(0), -1)
    with pytest.raises(InvalidInput, match="dimension: expected an integer >= 1, got 0"):
        Cell.unit(0)
    with pytest.raises(InvalidInput, match="at_most"):
        list(cell.corners(0))
