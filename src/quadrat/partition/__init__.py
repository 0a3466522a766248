"""The geometry of cells: boxes, trees of boxes and the observations that lie in them. No statistics here.

A method grows a `PartitionTree` (Algorithms 1 and 2) or takes a `Partition` from a regression tree (Algorithm 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names
from quadrat.partition.cell import Cell
from quadrat.partition.regression_tree import from_regression_tree, from_thresholds
from quadrat.partition.rules import AxisRule, LargestVariation, LongestSide
from quadrat.partition.tiling import Partition
from quadrat.partition.tree import PartitionTree
from quadrat.partition.unit_cube import MAX_CELLS, TooManyCells

if not TYPE_CHECKING:  # names that left the package say where they are
    _, __getattr__, _ = lazy_names(__name__, {})

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
