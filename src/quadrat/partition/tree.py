"""The partition that a method grows: a binary tree of cells, the observations in each, and frozen models.

Every split halves one leaf along one axis. The nodes are flat arrays indexed by node, so that a method can bound all
leaves in one vectorised expression; a `Cell` is made only when somebody asks for one. Nodes are numbered in order of
birth, the root is 0, and siblings are neighbours. Every split follows the axis rule, so that the cells of depth J are
2^J boxes known before the data: each may have its share of an error probability.
"""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Growing, Ints
from quadrat.errors import InvalidInput
from quadrat.partition.cell import Cell
from quadrat.partition.ledger import Ledger
from quadrat.partition.rules import AxisRule, LongestSide
from quadrat.partition.unit_cube import MAX_CELLS, TooManyCells, as_count, as_unit_point, as_unit_points

__all__ = ["PartitionTree"]

_SMALLEST_SIDE = 2.0**-51  # of a cell that may still be halved: beyond it, midpoints near 1 are not exact


class PartitionTree:
    """The partition P_t of Algorithm 1 with its history, as a binary tree over the unit cube.

    What is kept for each node and what it costs, for n observations and m nodes:

    - `count` is O(1) to ask and O(depth) to keep for each observation; finding the leaf of a point is O(depth).
    - `observations` of a leaf is O(1); of an inner node it is gathered from the leaves below.
    - Splitting a leaf that holds h observations is O(D + h), whatever the size of the tree.
    - `nearest_model` is O(1): children inherit it at the split.
    - Memory is O(n + m): 56 + 16 D bytes a node, up to twice that while buffers double.

    Parameters
    ----------
    dimension
        D.
    axis_rule
        Which axis a split halves: a function of the sides (D,). None halves the longest side.
    max_cells
        Cap on the number of leaves.

    Examples
    --------
    >>> tree = PartitionTree(2)
    >>> tree.add_many([[0.2, 0.9], [0.7, 0.1]])
    >>> left, right = tree.split(0)
    >>> str(tree.cell(left)), tree.observations(left).tolist(), tree.count(right)
    ('[0, 0.5) x [0, 1]', [0], 1)
    >>> tree.attach(right, "a model"); lower, upper = tree.split(right)
    >>> tree.nearest_model(upper), tree.nearest_model(left)
    ('a model', None)
    >>> tree.locate([0.7, 0.1]) == lower, tree.depth(lower)
    (True, 2)
    """

    def __init__(self, dimension: int, *, axis_rule: AxisRule | None = None, max_cells: int = MAX_CELLS) -> None:
        self.dimension = as_count(dimension, name="dimension", at_least=1)
        self.max_cells = as_count(max_cells, name="max_cells", at_least=1)
        self.axis_rule: AxisRule = LongestSide() if axis_rule is None else axis_rule
        self._lower, self._upper = Growing(np.float64, (self.dimension,)), Growing(np.float64, (self.dimension,))
        self._parent, self._first_child = Growing(np.intp), Growing(np.intp)
        self._depth, self._axis, self._cut = Growing(np.intp), Growing(np.intp), Growing(np.float64)
        self._count, self._owner = Growing(np.intp), Growing(np.intp)
        self._ledger = Ledger(self.dimension)
        self._models: dict[int, object] = {}
        self._add_node(np.zeros(self.dimension), np.ones(self.dimension), parent=-1, depth=0, count=0, owner=-1)

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

    def leaves(self) -> Ints:
        """Return the leaves in order of birth: the cells of P_t. O(n_nodes), vectorised."""
        return np.flatnonzero(self._first_child.view < 0)

    def parent(self, node: int) -> int | None:
        """Return the node that was split to make `node`; None for the root."""
        above = self._parent.values.item(self._node(node))
        return None if above < 0 else above

    def children(self, node: int) -> tuple[int, ...]:
        """Return the two nodes that `node` was split into, lower half first; () for a leaf."""
        first = self._first_child.values.item(self._node(node))
        return () if first < 0 else (first, first + 1)

    def depth(self, node: int) -> int:
        """Return J, the number of cuts between the root and `node`."""
        return self._depth.values.item(self._node(node))

    def cell(self, node: int) -> Cell:
        """Return the box of `node`."""
        node = self._node(node)
        return Cell(self._lower.values[node], self._upper.values[node])

    # ---- finding

    def locate(self, point: ArrayLike) -> int:
        """Return the one leaf that holds `point` (D,). O(depth)."""
        x, node = as_unit_point(point, dimension=self.dimension).tolist(), 0
        first_child, axis, cut = self._first_child.values, self._axis.values, self._cut.values
        while (first := first_child.item(node)) >= 0:
            node = first + (x[axis.item(node)] >= cut.item(node))  # the cut belongs to the upper half
        return node

    def locate_many(self, points: ArrayLike) -> Ints:
        """Return the leaf that holds each of `points` (n, D), (n,). O(n depth), vectorised over the points."""
        return self._descend_many(as_unit_points(points, dimension=self.dimension))

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

    # ---- splitting

    def split(self, node: int) -> tuple[int, int]:
        """Halve `node`, a leaf, along the axis that the rule says; return its two children, lower half first.

        Raises
        ------
        InvalidInput
            Not a node, not a leaf, or a side too short to be halved exactly.
        TooManyCells
            The tree is at its cap.
        """
        node = self._leaf(node)
        axis = self.axis_rule(self._upper.values[node] - self._lower.values[node])
        axis = as_count(axis, name="axis_rule", at_least=0, at_most=self.dimension - 1)
        if self.n_leaves + 1 > self.max_cells:
            raise TooManyCells(
                f"split: expected at most {self.max_cells:,} cells, got {self.n_leaves + 1:,}; evaluate instead of "
                "splitting, or allow more with max_cells"
            )
        place = self._middle(node, axis)
        lower, upper = self._lower.values[node].copy(), self._upper.values[node].copy()
        middle_low, middle_up = lower.copy(), upper.copy()
        middle_low[axis] = middle_up[axis] = place
        depth, owner, left = self._depth.values.item(node) + 1, self._owner.values.item(node), self.n_nodes
        below, above = self._ledger.divide(node, left, left + 1, axis=axis, cut=place)
        self._add_node(lower, middle_up, parent=node, depth=depth, count=below, owner=owner)
        self._add_node(middle_low, upper, parent=node, depth=depth, count=above, owner=owner)
        self._first_child.values[node] = left
        self._axis.values[node], self._cut.values[node] = axis, place
        return left, left + 1

    def _add_node(self, lower: Array, upper: Array, *, parent: int, depth: int, count: int, owner: int) -> None:
        self._lower.append(lower)
        self._upper.append(upper)
        self._parent.append(parent)
        self._depth.append(depth)
        self._first_child.append(-1)
        self._axis.append(-1)
        self._cut.append(np.nan)
        self._count.append(count)
        self._owner.append(owner)

    def _middle(self, node: int, axis: int) -> float:
        low, high = self._lower.values.item(node, axis), self._upper.values.item(node, axis)
        if high - low < _SMALLEST_SIDE:
            raise InvalidInput(
                f"split: expected a side of at least 2^-51, got {high - low:g} on axis {axis} of node {node}: its "
                "middle is not exact in floating point"
            )
        return 0.5 * (low + high)

    # ---- observations

    @property
    def points(self) -> Array:
        """The points told so far, in order, (n, D), read-only."""
        return self._ledger.points.view

    def add_many(self, points: ArrayLike) -> None:
        """Tell observations at `points` (n, D). Vectorised over points and leaves."""
        matrix = as_unit_points(points, dimension=self.dimension)
        nodes, more = self._ledger.record_many(self._descend_many(matrix), matrix)
        while len(nodes):
            np.add.at(self._count.values, nodes, more)
            nodes = self._parent.values[nodes]
            more, nodes = more[nodes >= 0], nodes[nodes >= 0]

    def count(self, node: int) -> int:
        """Return N_F, the observations that lie in the cell of `node`, those told before it existed included. O(1)."""
        return self._count.values.item(self._node(node))

    def observations(self, node: int) -> Ints:
        """Return the indices of the observations that lie in the cell of `node`, in the order told, (N_F,).

        It is a snapshot: later observations do not change it.
        """
        node = self._node(node)
        if self._first_child.values.item(node) < 0:
            return self._ledger.held(node)
        pieces, pending = [], [node]
        while pending:
            some = pending.pop()
            first = self._first_child.values.item(some)
            if self._count.values.item(some) and first >= 0:
                pending += (first, first + 1)
            elif first < 0:
                pieces.append(self._ledger.held(some))
        return np.sort(np.concatenate(pieces)) if pieces else np.empty(0, dtype=np.intp)

    # ---- frozen models

    def attach(self, node: int, model: object) -> None:
        """Attach a model to `node`, a leaf, for it and its descendants down to any that have their own. O(1).

        The tree never looks inside. A method freezes a model of a leaf before it splits the leaf.

        Raises
        ------
        InvalidInput
            Not a leaf, or None in place of a model.
        """
        node = self._leaf(node)
        if model is None:
            raise InvalidInput("model: expected any object but None, which stands for no model, got None")
        self._models[node] = model
        self._owner.values[node] = node

    def nearest_model(self, node: int) -> object | None:
        """Return the model of the nearest ancestor-or-self of `node` that has one, None if none has. O(1)."""
        return self._models.get(self._owner.values.item(self._node(node)))

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
