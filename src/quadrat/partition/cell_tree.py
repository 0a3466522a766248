"""The geometry of a growing binary tree of cells: splitting and finding, with no data in it.

Every split is a cut of one leaf at one place of one axis. Splits that make more cells at once (2^D, a grid) are
several cuts in a row. The nodes are flat arrays indexed by node, so that a method can bound all leaves in one
vectorised expression; a `Cell` is made only when somebody asks for one. Nodes are numbered in order of birth, the
root is 0, and siblings are neighbours.

Cost: 40 + 16 D bytes a node, up to twice that while buffers double; a cut takes O(D) and does not depend on the
size of the tree; finding a point takes O(depth).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Growing, Ints
from quadrat.errors import InvalidInput
from quadrat.partition.address import DyadicAddress
from quadrat.partition.cell import Cell
from quadrat.partition.printed import grid_edges
from quadrat.partition.rules import AxisRule, LongestSide
from quadrat.partition.tiling import Partition
from quadrat.partition.unit_cube import MAX_CELLS, TooManyCells, as_count, as_unit_point, as_unit_points

__all__ = ["CellTree"]

_SMALLEST_SIDE = 2.0**-51  # of a cell that may still be halved: beyond it, midpoints near 1 are not exact
_MOST_AXES = 10  # of the 2^D split


class CellTree:
    """A binary tree of cells over [0, 1]^D. See `PartitionTree`, which adds what a method keeps per cell."""

    def __init__(
        self, dimension: int, *, axis_rule: AxisRule | ArrayLike | None = None, max_cells: int = MAX_CELLS
    ) -> None:
        self.dimension = as_count(dimension, name="dimension", at_least=1)
        self.max_cells = as_count(max_cells, name="max_cells", at_least=1)
        self.axis_rule: AxisRule = (
            axis_rule if callable(axis_rule) else LongestSide(1.0 if axis_rule is None else axis_rule)
        )
        self._kinds: set[str] = set()
        self._lower, self._upper = Growing(np.float64, (self.dimension,)), Growing(np.float64, (self.dimension,))
        self._parent, self._first_child = Growing(np.intp), Growing(np.intp)
        self._depth, self._axis, self._cut = Growing(np.intp), Growing(np.intp), Growing(np.float64)
        self._add_node(np.zeros(self.dimension), np.ones(self.dimension), parent=-1, depth=0)
        if not callable(axis_rule):
            self._choose_axis(0)  # the number of weights is checked now rather than at the first split

    # ---- what there is

    @property
    def n_nodes(self) -> int:
        """Nodes ever made, inner ones included."""
        return self._parent.size

    @property
    def n_leaves(self) -> int:
        """Cells of the present partition."""
        return (self.n_nodes + 1) // 2

    @property
    def lower(self) -> Array:
        """Lower corners of all nodes, (n_nodes, D): a read-only view; take it again after a split."""
        return self._lower.view

    @property
    def upper(self) -> Array:
        """Upper corners of all nodes, (n_nodes, D): a read-only view; take it again after a split."""
        return self._upper.view

    @property
    def depths(self) -> Ints:
        """Depth J of all nodes, (n_nodes,): a read-only view; take it again after a split."""
        return self._depth.view

    @property
    def fixed_family(self) -> bool:
        """Whether the cells come from a family known before the data: 2^J cells at depth J.

        True while every split followed the axis rule, or every split was the 2^D one. An axis or a grid chosen
        otherwise may have been chosen by the data, and then the shares of depth J no longer add up to 1.
        """
        return self._kinds <= {"rule"} or self._kinds <= {"all axes"}

    def leaves(self) -> Ints:
        """Return the leaves in order of birth: the cells of P_t. O(n_nodes), vectorised."""
        return np.flatnonzero(self._first_child.view < 0)

    def is_leaf(self, node: int) -> bool:
        """Return whether `node` has not been split."""
        return bool(self._first_child.values.item(self._node(node)) < 0)

    def parent(self, node: int) -> int | None:
        """Return the node that was split to make `node`; None for the root."""
        above = self._parent.values.item(self._node(node))
        return None if above < 0 else above

    def children(self, node: int) -> tuple[int, ...]:
        """Return the two nodes that `node` was split into, lower half first; () for a leaf."""
        first = self._first_child.values.item(self._node(node))
        return () if first < 0 else (first, first + 1)

    def depth(self, node: int) -> int:
        """Return J, the number of cuts between the root and `node`; D of them for one 2^D split."""
        return self._depth.values.item(self._node(node))

    def cell(self, node: int) -> Cell:
        """Return the box of `node`."""
        node = self._node(node)
        return Cell(self._lower.values[node], self._upper.values[node])

    def dyadic_address(self, node: int) -> DyadicAddress:
        """Return the name of the cell of `node` in the fixed dyadic family: the same for any tree that has this cell.

        Raises
        ------
        NotAvailable
            The cell comes from a grid whose side is no power of two.
        """
        node = self._node(node)
        return DyadicAddress.of_box(self._lower.values[node], self._upper.values[node])

    def partition(self) -> Partition:
        """Return the leaves as a frozen value, labelled by node."""
        leaves = self.leaves()
        return Partition(self.lower[leaves], self.upper[leaves], Cell.unit(self.dimension), leaves)

    # ---- finding

    def locate(self, point: ArrayLike) -> int:
        """Return the one leaf that holds `point` (D,). O(depth)."""
        return self._descend(as_unit_point(point, dimension=self.dimension))

    def locate_many(self, points: ArrayLike) -> Ints:
        """Return the leaf that holds each of `points` (n, D), (n,). O(n depth), vectorised over the points."""
        return self._descend_many(as_unit_points(points, dimension=self.dimension))

    # ---- splitting

    def split(self, node: int, axis: int | None = None) -> tuple[int, int]:
        """Halve a leaf and return its two children, lower half first.

        Parameters
        ----------
        node
            A leaf.
        axis
            The axis to halve; None asks the axis rule, which keeps the family of cells fixed.

        Raises
        ------
        InvalidInput
            Not a node, not a leaf, no such axis, or a side too short to be halved exactly.
        TooManyCells
            The tree is at its cap.
        """
        node = self._leaf(node)
        ruled = self._choose_axis(node)
        axis = ruled if axis is None else as_count(axis, name="axis", at_least=0, at_most=self.dimension - 1)
        self._require_room(1)
        middle = self._middle(node, axis)
        self._kinds.add("rule" if axis == ruled else "chosen")
        return self._cut_leaf(node, axis, middle)

    def split_all_axes(self, node: int) -> Ints:
        """Halve a leaf along every axis, as Partition(E, r_E / 2) in ExpandAndBound; return the 2^D leaves made.

        It is D rounds of cuts, axis 0 first, so 2^D - 2 inner nodes lie between. Leaves are in lexicographic order.

        Raises
        ------
        InvalidInput
            More than 10 dimensions, not a node, not a leaf, or a side too short to be halved exactly.
        TooManyCells
            The 2^D cells would pass the cap of the tree.
        """
        node = self._leaf(node)
        if self.dimension > _MOST_AXES:
            raise InvalidInput(
                f"split_all_axes: expected at most {_MOST_AXES} dimensions, got {self.dimension}, which would make "
                f"2^{self.dimension} cells at once; use split, which halves one axis at a time"
            )
        self._require_room(2**self.dimension - 1)
        cuts = [[self._middle(node, axis)] for axis in range(self.dimension)]
        return self._cut_grid(node, cuts)

    def split_grid(self, node: int, side: float) -> Ints:
        """Replace a leaf by the printed Partition(E, r) with r = `side`; return the leaves made.

        The flag 2 branch of Algorithm 2. It is a binary tree of cuts, so inner nodes lie between. Leaves are in the
        order of `printed_partition`.

        Raises
        ------
        InvalidInput
            Not a node, not a leaf, or a side that is not positive or not smaller than the cell.
        TooManyCells
            The grid would pass the cap of the tree.
        """
        node = self._leaf(node)
        edges = grid_edges(self.cell(node), side, max_cells=self.max_cells - self.n_leaves + 1)
        return self._cut_grid(node, [ends[1:-1].tolist() for ends in edges])

    def _cut_grid(self, node: int, cuts: Sequence[Sequence[float]]) -> Ints:
        halved = all(len(places) == 1 and places[0] == self._middle(node, axis) for axis, places in enumerate(cuts))
        self._kinds.add(("rule" if self.dimension == 1 else "all axes") if halved else "chosen")
        parts = [node]
        for axis, places in enumerate(cuts):
            parts = [piece for part in parts for piece in self._cut_at(part, axis, places)]
        return np.array(parts, dtype=np.intp)

    def _cut_at(self, node: int, axis: int, places: Sequence[float]) -> list[int]:
        """Cut a leaf at several places, middle first, so that the tree stays shallow."""
        if not places:
            return [node]
        i = len(places) // 2
        left, right = self._cut_leaf(node, axis, places[i])
        return self._cut_at(left, axis, places[:i]) + self._cut_at(right, axis, places[i + 1 :])

    def _cut_leaf(self, node: int, axis: int, place: float) -> tuple[int, int]:
        lower, upper = self._lower.values[node].copy(), self._upper.values[node].copy()
        depth, first = self._depth.values.item(node) + 1, self.n_nodes
        middle_low, middle_up = lower.copy(), upper.copy()
        middle_low[axis] = middle_up[axis] = place
        self._add_node(lower, middle_up, parent=node, depth=depth)
        self._add_node(middle_low, upper, parent=node, depth=depth)
        self._first_child.values[node] = first
        self._axis.values[node], self._cut.values[node] = axis, place
        return first, first + 1

    def _add_node(self, lower: Array, upper: Array, *, parent: int, depth: int) -> None:
        self._lower.append(lower)
        self._upper.append(upper)
        self._parent.append(parent)
        self._depth.append(depth)
        self._first_child.append(-1)
        self._axis.append(-1)
        self._cut.append(np.nan)

    def _choose_axis(self, node: int) -> int:
        axis = self.axis_rule(self._upper.values[node] - self._lower.values[node])
        return as_count(axis, name="axis_rule", at_least=0, at_most=self.dimension - 1)

    def _middle(self, node: int, axis: int) -> float:
        low, high = self._lower.values.item(node, axis), self._upper.values.item(node, axis)
        if high - low < _SMALLEST_SIDE:
            raise InvalidInput(
                f"split: expected a side of at least 2^-51, got {high - low:g} on axis {axis} of node {node}: its "
                "middle is not exact in floating point"
            )
        return 0.5 * (low + high)

    def _descend(self, point: Array) -> int:
        first_child, axis, cut = self._first_child.values, self._axis.values, self._cut.values
        x, node = point.tolist(), 0
        while (first := first_child.item(node)) >= 0:
            node = first + (x[axis.item(node)] >= cut.item(node))  # the cut belongs to the upper half
        return node

    def _descend_many(self, points: Array) -> Ints:
        first_child, axis, cut = self._first_child.values, self._axis.values, self._cut.values
        found = np.zeros(len(points), dtype=np.intp)
        rows = np.arange(len(points)) if first_child[0] >= 0 else np.empty(0, dtype=np.intp)
        while len(rows):
            nodes = found[rows]
            nodes = first_child[nodes] + (points[rows, axis[nodes]] >= cut[nodes])
            found[rows] = nodes
            rows = rows[first_child[nodes] >= 0]
        return found

    # ---- checks

    def _node(self, node: int) -> int:
        return as_count(node, name="node", at_least=0, at_most=self.n_nodes - 1)

    def _leaf(self, node: int) -> int:
        node = self._node(node)
        if (first := self._first_child.values.item(node)) >= 0:
            raise InvalidInput(
                f"node: expected a leaf, got node {node}, which is split already into nodes {first} and {first + 1}"
            )
        return node

    def _require_room(self, more: int) -> None:
        if self.n_leaves + more > self.max_cells:
            raise TooManyCells(
                f"split: expected at most {self.max_cells:,} cells, got {self.n_leaves + more:,}; evaluate instead of "
                "splitting, or allow more with max_cells"
            )
