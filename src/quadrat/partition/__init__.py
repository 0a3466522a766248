"""The geometry of cells: boxes, trees of boxes and the observations that lie in them. No statistics here.

A method grows a `PartitionTree` (Algorithms 1 and 2) or takes a `Partition` from a regression tree (Algorithm 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.moved import AS_PRINTED, refuse_those_that_left
from quadrat.partition.cell import Cell
from quadrat.partition.regression_tree import from_regression_tree, from_thresholds
from quadrat.partition.rules import AxisRule, LargestVariation, LongestSide
from quadrat.partition.tiling import Partition
from quadrat.partition.tree import PartitionTree
from quadrat.partition.unit_cube import MAX_CELLS, TooManyCells

_LEFT = {
    AS_PRINTED: "printed_partition",
    "no longer part of the package; quadrat.plots.cells draws the cells of a run": "draw draw_plane",
    "no longer part of the package; nothing in it used addresses": "DyadicAddress",
}
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = refuse_those_that_left(__name__, _LEFT)

__all__ = [
    "MAX_CELLS",
    "AxisRule",
    "Cell",
    "LargestVariation",
    "LongestSide",
    "Partition",
    "PartitionTree",
    "TooManyCells",
    "from_regression_tree",
    "from_thresholds",
]
