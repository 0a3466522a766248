"""The geometry of cells: boxes, trees of boxes and the observations that lie in them. No statistics here.

A method grows a `PartitionTree` (Algorithms 1 and 2) or takes a `Partition` from a regression tree (Algorithm 3).
"""

from quadrat.partition.address import DyadicAddress
from quadrat.partition.cell import Cell
from quadrat.partition.drawing import draw
from quadrat.partition.plane import draw_plane
from quadrat.partition.printed import printed_partition
from quadrat.partition.regression_tree import from_regression_tree, from_thresholds
from quadrat.partition.rules import AxisRule, LargestVariation, LongestSide
from quadrat.partition.tiling import Partition
from quadrat.partition.tree import PartitionTree
from quadrat.partition.unit_cube import MAX_CELLS, TooManyCells

__all__ = [
    "MAX_CELLS",
    "AxisRule",
    "Cell",
    "DyadicAddress",
    "LargestVariation",
    "LongestSide",
    "Partition",
    "PartitionTree",
    "TooManyCells",
    "draw",
    "draw_plane",
    "from_regression_tree",
    "from_thresholds",
    "printed_partition",
]
