"""Partition(E, r) as the paper defines it."""

from __future__ import annotations

import math

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.partition.cell import Cell
from quadrat.partition.tiling import Partition
from quadrat.partition.unit_cube import MAX_CELLS, TooManyCells, as_count

__all__ = ["printed_partition"]

_ROUNDING = 1e-9  # a last cell narrower than this part of r is a division that did not come out even in floats


def printed_partition(cell: Cell, side: float, *, max_cells: int = MAX_CELLS) -> Partition:
    """Return Partition(E, r): a grid of cubes of side r from the lower corner, the last ones cut off at the edge.

    The Definition of Partition counts ceil(r_E / r)^D cells and lets the index of the cubes run from 0 to
    floor(r_E / r), which adds a row of zero-width cells whenever r divides r_E; the count is right, so the index
    here stops at ceil(r_E / r) - 1. When E is no cube, each axis has its own r_E.

    Parameters
    ----------
    cell
        E.
    side
        r, positive and smaller than the longest side of E.
    max_cells
        Cap on the number of cells.

    Returns
    -------
    Partition
        The cubes.

    Raises
    ------
    InvalidInput
        A side that is not positive, or not smaller than E.
    TooManyCells
        More than `max_cells`; the message says how many it would be.

    Examples
    --------
    >>> [str(part) for part in printed_partition(Cell.unit(1), 0.4)]
    ['[0, 0.4)', '[0.4, 0.8)', '[0.8, 1]']
    >>> len(printed_partition(Cell.unit(2), 0.5))
    4
    """
    edges = _grid_edges(cell, side, max_cells=max_cells)
    lower = np.stack(np.meshgrid(*[ends[:-1] for ends in edges], indexing="ij"), axis=-1).reshape(-1, cell.dimension)
    upper = np.stack(np.meshgrid(*[ends[1:] for ends in edges], indexing="ij"), axis=-1).reshape(-1, cell.dimension)
    return Partition(lower, upper, cell, np.arange(len(lower)))


def _grid_edges(cell: Cell, side: float, *, max_cells: int) -> list[Array]:
    """Return for each axis where the cubes begin, and the upper end of E: ceil(r_E / r) + 1 values."""
    side = as_number(side, name="side", above=0.0)
    max_cells = as_count(max_cells, name="max_cells", at_least=1)
    if side >= cell.longest_side:
        raise InvalidInput(
            f"side: expected less than the longest side of the cell, {cell.longest_side:g}, got {side:g}: "
            "there is nothing to divide"
        )
    ratios = [extent / side for extent in cell.sides.tolist()]
    if sum(math.log2(max(1.0, ratio)) for ratio in ratios) < 64:  # else the count itself may not be finite
        counts = [max(1, math.ceil(ratio * (1.0 - _ROUNDING))) for ratio in ratios]
        total = math.prod(counts)
        if total <= max_cells:
            return [
                np.append(low + np.arange(count) * side, high)
                for low, high, count in zip(cell.lower.tolist(), cell.upper.tolist(), counts, strict=True)
            ]
        asked = f"{total:,}"
    else:
        asked = "more than 2^64"
    raise TooManyCells(
        f"side: expected at most {max_cells:,} cells, got {asked} from side {side:g} in {cell.dimension} dimensions; "
        "take a larger side, or halve one axis at a time and only where it pays (PartitionTree.split)"
    )
