"""The partition that a method grows: cells, the observations in each, refinement targets and frozen models."""

from __future__ import annotations

import math

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Growing, Ints, as_number
from quadrat.errors import InvalidInput
from quadrat.partition.cell_tree import CellTree
from quadrat.partition.ledger import Ledger
from quadrat.partition.rules import AxisRule
from quadrat.partition.unit_cube import MAX_CELLS, as_unit_point, as_unit_points

__all__ = ["PartitionTree"]


class PartitionTree(CellTree):
    """The partition P_t of Algorithm 1 with its history, as a binary tree over the unit cube.

    What is kept for each node and what it costs, for n observations and m nodes:

    - `count` is O(1) to ask and O(depth) to keep for each observation.
    - `observations` of a leaf is O(1); of an inner node it is gathered from the leaves below.
    - Splitting a leaf that holds h observations is O(h).
    - `nearest_model` and `pending_target` are O(1): children inherit both at the split.
    - Memory is O(n + m).

    Parameters
    ----------
    dimension
        D.
    axis_rule
        Which axis a split halves: a function of the sides (D,), or one positive weight for each axis (the largest
        weight times side is halved). None halves the longest side.
    max_cells
        Cap on the number of leaves.

    Examples
    --------
    >>> tree = PartitionTree(2)
    >>> tree.add([0.2, 0.9]), tree.add([0.7, 0.1])
    (0, 1)
    >>> left, right = tree.split(0)
    >>> str(tree.cell(left)), tree.observations(left).tolist(), tree.count(right)
    ('[0, 0.5) x [0, 1]', [0], 1)
    >>> tree.attach(right, "a model"); lower, upper = tree.split(right)
    >>> tree.nearest_model(upper), tree.nearest_model(left)
    ('a model', None)
    >>> tree.locate([0.7, 0.1]) == lower, str(tree.dyadic_address(lower)), tree.depth(lower)
    (True, '1/2 x 0/2', 2)
    """

    def __init__(
        self, dimension: int, *, axis_rule: AxisRule | ArrayLike | None = None, max_cells: int = MAX_CELLS
    ) -> None:
        self._count, self._owner, self._target = Growing(np.intp), Growing(np.intp), Growing(np.float64)
        self._models: dict[int, object] = {}
        super().__init__(dimension, axis_rule=axis_rule, max_cells=max_cells)
        self._ledger = Ledger(self.dimension)

    # ---- observations

    @property
    def points(self) -> Array:
        """The points told so far, in order, (n, D), read-only."""
        return self._ledger.points.view

    @property
    def counts(self) -> Ints:
        """N_F of all nodes, (n_nodes,): a read-only view; take it again after a split."""
        return self._count.view

    def add(self, point: ArrayLike) -> int:
        """Tell one observation at `point` (D,); return its index, counted from 0 in the order told. O(depth)."""
        vector = as_unit_point(point, dimension=self.dimension)
        leaf = node = self._descend(vector)
        count, parent = self._count.values, self._parent.values
        while node >= 0:
            count[node] += 1
            node = parent.item(node)
        return self._ledger.record(leaf, vector)

    def add_many(self, points: ArrayLike) -> Ints:
        """Tell observations at `points` (n, D); return their indices, (n,). Vectorised over points and leaves."""
        matrix = as_unit_points(points, dimension=self.dimension)
        start = self._ledger.points.size
        nodes, more = self._ledger.record_many(self._descend_many(matrix), matrix)
        while len(nodes):
            np.add.at(self._count.values, nodes, more)
            nodes = self._parent.values[nodes]
            more, nodes = more[nodes >= 0], nodes[nodes >= 0]
        return np.arange(start, start + len(matrix))

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

    # ---- refinement targets

    def refine(self, node: int, target_side: float) -> float:
        """Mark a leaf to be halved until no side exceeds `target_side`; return the power of two it is rounded down to.

        The flag 2 branch of Algorithm 2 asks for all cells of side r~ at once, which can be millions. Here the leaf
        only keeps the target, its descendants inherit it, and `pending_target` says which cells are still coarser,
        so that they are split one by one when the method comes to them. A target is never made larger. Splits
        keep to the axis rule, so a cell may pass the target on one axis before it reaches it on the last.

        Raises
        ------
        InvalidInput
            Not a node, not a leaf, or a target that is not positive.
        """
        node = self._leaf(node)
        target_side = as_number(target_side, name="target_side", above=0.0)
        _, exponent = math.frexp(target_side)
        rounded = math.ldexp(0.5, exponent)  # 2^floor(log2 target), with no rounding at exact powers of two
        self._target.values[node] = min(rounded, self._target.values.item(node))
        return self._target.values.item(node)

    def pending_target(self, node: int) -> float | None:
        """Return the side that `node` or an ancestor is to be refined to, None when there is none or it is reached."""
        node = self._node(node)
        target = self._target.values.item(node)
        return target if (self._upper.values[node] - self._lower.values[node]).max() > target else None

    def pending(self) -> Ints:
        """Return the leaves that are coarser than their refinement target. O(n_nodes), vectorised."""
        leaves = self.leaves()
        longest = (self.upper[leaves] - self.lower[leaves]).max(axis=1)
        coarse: Ints = leaves[longest > self._target.view[leaves]]
        return coarse

    # ---- frozen models

    def attach(self, node: int, model: object) -> None:
        """Attach a model to `node`, for it and its descendants down to any that have their own.

        The tree never looks inside. On a leaf, where a method freezes a model before it splits, it is O(1); on an
        inner node O(descendants).

        Raises
        ------
        InvalidInput
            Not a node, or None in place of a model.
        """
        node = self._node(node)
        if model is None:
            raise InvalidInput("model: expected any object but None, which stands for no model, got None")
        self._models[node] = model
        above, owner = self._owner.values.item(node), self._owner.values
        pending = [node]
        while pending:
            some = pending.pop()
            if owner.item(some) == above:  # else it has a nearer model, and so has all below it
                owner[some] = node
                first = self._first_child.values.item(some)
                if first >= 0:
                    pending += (first, first + 1)

    def nearest_model(self, node: int) -> object | None:
        """Return the model of the nearest ancestor-or-self of `node` that has one, None if none has. O(1)."""
        return self._models.get(self._owner.values.item(self._node(node)))

    def model_owner(self, node: int) -> int | None:
        """Return the node that `nearest_model` belongs to, None if there is none. O(1)."""
        owner = self._owner.values.item(self._node(node))
        return None if owner < 0 else owner

    # ---- what a split hands down

    def _cut_leaf(self, node: int, axis: int, place: float) -> tuple[int, int]:
        left, right = super()._cut_leaf(node, axis, place)
        shares = self._ledger.divide(node, left, right, axis=axis, cut=place)
        for child, count in zip((left, right), shares, strict=True):
            self._count.values[child] = count
            self._owner.values[child] = self._owner.values[node]
            self._target.values[child] = self._target.values[node]
        return left, right

    def _add_node(self, lower: Array, upper: Array, *, parent: int, depth: int) -> None:
        super()._add_node(lower, upper, parent=parent, depth=depth)
        self._count.append(0)
        self._owner.append(-1)
        self._target.append(np.inf)
