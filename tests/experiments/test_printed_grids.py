from __future__ import annotations

import math

import numpy as np
import pytest
from as_printed import printed_partition
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat.errors import InvalidInput
from quadrat.partition import Cell, TooManyCells
from quadrat.randomness import generator


@given(st.integers(1, 3), st.integers(1, 9), st.integers(1, 40), st.integers(0, 3))
@settings(max_examples=80)
def test_counts_and_sides_are_the_printed_ones(dimension: int, parts: int, divisor: int, corner: int) -> None:
    """Definition Partition: ceil(r_E / r)^D cells of side r, the last ones cut off.

    Here r = parts / (parts + divisor) r_E. The fraction is also taken in integers, so
    that a division that comes out even must be seen as even.
    """
    extent = 0.25
    cell = Cell(np.full(dimension, corner * extent), np.full(dimension, (corner + 1) * extent))
    pieces = math.ceil((parts + divisor) / parts)
    if pieces**dimension > 300:
        return
    side = extent * parts / (parts + divisor)
    result = printed_partition(cell, side)
    assert len(result) == pieces**dimension
    assert (result.sides > 0).all()
    assert (result.sides <= side * (1 + 1e-9)).all()
    points = np.vstack([cell.sample(generator(0), 50), result.lower])
    inside = np.stack([part.contains(points) for part in result])
    assert (inside.sum(axis=0) == 1).all()
    np.testing.assert_array_equal(result.locate_many(points), np.argmax(inside, axis=0))


@pytest.mark.parametrize(
    ("side", "count"), [(0.5, 2), (0.1, 10), (0.2, 5), (1 / 3, 3), (0.3, 4), (0.7, 2), (0.01, 100)]
)
def test_no_zero_width_cell_when_r_divides(side: float, count: int) -> None:
    """As printed, l runs to floor(r_E / r): a cell [1, 1] when r divides r_E. Here it does not exist."""
    result = printed_partition(Cell.unit(1), side)
    assert len(result) == count
    assert result.upper[-1, 0] == 1.0
    np.testing.assert_array_equal(result.lower[1:], result.upper[:-1])


def test_rounding_makes_no_sliver() -> None:
    """1.0 - 0.7 is 0.30000000000000004 in doubles: three cells of side 0.1, not a fourth of width 6e-17."""
    result = printed_partition(Cell([0.7], [1.0]), 0.1)
    assert len(result) == 3
    assert result.sides.min() > 0.0999


def test_each_axis_of_a_flat_cell_has_its_own_count() -> None:
    result = printed_partition(Cell([0.0, 0.0], [1.0, 0.2]), 0.3)
    assert len(result) == 4
    assert result[3] == Cell([3 * 0.3, 0.0], [1.0, 0.2])


def test_caps_are_named_with_the_number_asked_for() -> None:
    """r = 1/8 -> 1/64 in 8 dimensions makes 8^8 = 1.7e7 cells."""
    eighth = Cell(np.zeros(8), np.full(8, 1 / 8))
    with pytest.raises(TooManyCells, match=r"at most 100,000 cells, got 16,777,216 from side 0.015625 in 8 dimensions"):
        printed_partition(eighth, 1 / 64)
    with pytest.raises(TooManyCells, match=r"got more than 2\^64"):
        printed_partition(Cell.unit(300), 5e-324)
    assert len(printed_partition(Cell.unit(2), 0.1, max_cells=100)) == 100
    with pytest.raises(TooManyCells, match="at most 99 cells"):
        printed_partition(Cell.unit(2), 0.1, max_cells=99)


@pytest.mark.parametrize("side", [0.5, 0.7, 0.0, -1.0, np.nan])
def test_sides_must_be_positive_and_smaller_than_the_cell(side: float) -> None:
    with pytest.raises(InvalidInput, match="side: expected"):
        printed_partition(Cell([0.0], [0.5]), side)
