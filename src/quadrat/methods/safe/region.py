"""What is known of whole cells: where every limit is kept, where one is not, and what a safe search could ever reach.

A cell is safe where the lower bounds of all guarded functions over it clear their limits, and unsafe where the upper
bound of one does not reach its limit. Bounds lead from points to cells as in `quadrat.methods.level_sets.cells`, from
the centre by omega, or from the corners by the second-order rule.

Within reach is the closure of what is certified now, the stated points among it, under

    x is reached if for each guarded g a reached x' has g(x') - omega(x - x') >= h.

With upper bounds in the place of g and the least distance between cells in that of x - x', this closure over cells
holds the one of the functions themselves, and with it every closure that asks for more, such as g(x') - epsilon [the
reachable set of Sui et al. 2015, section 3]. So the largest upper bound of the objective over these cells bounds the
best value within reach. Bands know more than omega, and may later certify a place that no such steps lead to: then
more is within reach than before.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat._core.printing import printed
from quadrat.confidence import Assumptions
from quadrat.methods.level_sets.cells import curvature
from quadrat.methods.safe.bounds import SafeBounds
from quadrat.partition import LargestVariation, PartitionTree

__all__ = ["SAFE", "UNKNOWN", "UNSAFE", "SafeRegion", "region_of"]

UNSAFE, UNKNOWN, SAFE = -1, 0, 1
"""The labels of cells."""

_CELLS = 2048  # at most
_FEWEST = 512  # cells at least: a map needs some, decided or not
_MOST_CORNERS = 16  # of a cell: above four dimensions a cell is bounded from its centre alone
_DEEPEST = 40  # halvings
_SHARE = 0.02  # of the width of a cell's bounds: when less is lost for the cell's size, halving it decides nothing
_BLOCK = 128  # cells whose distances to all others are looked at together


@dataclass(frozen=True, eq=False)
class SafeRegion:
    """Cells that tile the cube, and what is known of each; larger values are better.

    Attributes
    ----------
    lower, upper
        Corners of the cells, shape (k, D).
    label
        `SAFE` where every limit is kept everywhere in the cell, `UNSAFE` where one is broken everywhere, else
        `UNKNOWN`; shape (k,).
    low, high
        SafeBounds of the objective over each cell, shape (k,).
    reachable
        Which cells may be within reach, shape (k,): no other is.
    best_reachable
        The objective is at most this over everything reachable; None where nothing is certified.
    delta
        All of it holds with probability at least 1 - delta, where `reason` is None.
    reason
        Why nothing is certified; None where it is.
    rejection
        How the data contradict the assumptions; None where they do not. Then every label is `UNKNOWN`.
    """

    lower: Array
    upper: Array
    label: Ints
    low: Array
    high: Array
    reachable: Bools
    best_reachable: float | None
    delta: float
    reason: str | None = None
    rejection: str | None = None

    __repr__ = printed

    @property
    def volumes(self) -> Array:
        """Volume of each cell, shape (k,); they add up to 1."""
        return np.asarray(np.prod(self.upper - self.lower, axis=1))

    def volume(self, label: int) -> float:
        """Return how much of the cube has this label."""
        return float(self.volumes[self.label == label].sum())

    @property
    def reach(self) -> float:
        """How much of the cube could be reached at most."""
        return float(self.volumes[self.reachable].sum())


def region_of(bounds: SafeBounds, *, reason: str | None = None, rejection: str | None = None) -> SafeRegion:
    """Return what is known of the whole cube; nothing where there is a `reason`, or the data reject the assumptions."""
    cells = _Cells(bounds)
    why = rejection or reason
    if why is not None:
        return cells.unknown(why, rejection)
    cells.refine()
    return cells.region()


class _Cells:
    """A partition of the cube, with bounds of every function over each leaf."""

    def __init__(self, bounds: SafeBounds) -> None:
        self.bounds = bounds
        guards = bounds.guards
        ceilings = [guard.given.ceiling for guard in guards]

        def variation(sides: Array) -> Array:
            along = np.diag(sides)
            each = [guard.given.variation(along) / top for guard, top in zip(guards, ceilings, strict=True)]
            return np.asarray(np.max(each, axis=0))

        self.tree = PartitionTree(bounds.dimension, axis_rule=LargestVariation(variation), max_cells=_CELLS)
        few = 2**bounds.dimension <= _MOST_CORNERS
        self._corners = np.array(list(product((0.0, 1.0), repeat=bounds.dimension))) if few else None
        self._low = -np.tile(ceilings, (1, 1)).astype(np.float64)  # by node, (p, m + 1)
        self._high = -self._low

    def refine(self) -> None:
        """Halve cells, the largest first, where that can decide something, as long as there is room."""
        self._bound(np.array([0]))
        while True:
            leaves = self.tree.leaves()
            due = leaves if self.tree.n_leaves < _FEWEST else leaves[self._is_worth_halving(leaves)]
            due = due[self.tree.depths[due] < _DEEPEST]
            due = due[np.argsort(self.tree.depths[due], kind="stable")[: _CELLS - self.tree.n_leaves]]
            if not len(due):
                return
            children = np.array([child for node in due.tolist() for child in self.tree.split(node)])
            parents = np.repeat(due, 2)
            self._low = np.vstack([self._low, self._low[parents]])
            self._high = np.vstack([self._high, self._high[parents]])
            self._bound(children)

    def _is_worth_halving(self, leaves: Ints) -> Bools:
        """Return of which leaves something is not known for their size: whether they are safe, or how good."""
        label = self.labels(leaves)
        sides = np.asarray(self.tree.upper)[leaves] - np.asarray(self.tree.lower)[leaves]
        width = self._high[leaves] - self._low[leaves]
        coarse = [
            self._lost(guard.given, sides) > _SHARE * width[:, index] for index, guard in enumerate(self.bounds.guards)
        ]
        watched = [coarse[index] for index, guard in enumerate(self.bounds.guards) if guard.limit is not None]
        hopeful = (label != UNSAFE) & (self._high[leaves, 0] > self._low[leaves, 0].max())
        return np.asarray((label == UNKNOWN) & np.logical_or.reduce(watched) | hopeful & coarse[0])

    def _lost(self, given: Assumptions, sides: Array) -> Array:
        """Return what is lost from points to cells with these sides (k, D), shape (k,)."""
        half = given.variation(sides / 2)
        bend = curvature(given) if self._corners is not None else None
        return half if bend is None else np.minimum(half, (bend * sides**2).sum(axis=1))

    def _bound(self, nodes: Ints) -> None:
        """Sharpen the bounds over new nodes by those at their centres and corners."""
        lower, upper = np.asarray(self.tree.lower)[nodes], np.asarray(self.tree.upper)[nodes]
        count, sides = len(nodes), upper - lower
        points = (lower + upper) / 2
        if self._corners is not None:
            corners = np.where(self._corners[None] > 0, upper[:, None, :], lower[:, None, :])
            points = np.vstack([points, corners.reshape(-1, self.bounds.dimension)])
        distinct, where = np.unique(points, axis=0, return_inverse=True)
        where = where.reshape(-1)
        for index, (guard, band) in enumerate(zip(self.bounds.guards, self.bounds.bands, strict=True)):
            at = band.interval(distinct)
            low, high = at.lower[where], at.upper[where]
            half = guard.given.variation(sides / 2)
            lows, highs = [self._low[nodes, index], low[:count] - half], [self._high[nodes, index], high[:count] + half]
            bend = curvature(guard.given) if self._corners is not None else None
            if bend is not None:
                lost = (bend * sides**2).sum(axis=1)
                lows.append(low[count:].reshape(count, -1).min(axis=1) - lost)
                highs.append(high[count:].reshape(count, -1).max(axis=1) + lost)
            self._low[nodes, index], self._high[nodes, index] = np.max(lows, axis=0), np.min(highs, axis=0)

    def labels(self, nodes: Ints) -> Ints:
        """Return what is known of each node."""
        safe, unsafe = np.ones(len(nodes), dtype=np.bool_), np.zeros(len(nodes), dtype=np.bool_)
        for index, guard in enumerate(self.bounds.guards):
            if guard.limit is not None:
                safe &= self._low[nodes, index] >= guard.limit + self.bounds.slack[index]
                unsafe |= self._high[nodes, index] < guard.limit - self.bounds.slack[index]
        return np.where(safe, SAFE, np.where(unsafe, UNSAFE, UNKNOWN))

    def _reachable(self, leaves: Ints, label: Ints) -> Bools:
        """Return which leaves the closure of all that is certified may reach, shape (k,)."""
        bounds = self.bounds
        lower, upper = np.asarray(self.tree.lower)[leaves], np.asarray(self.tree.upper)[leaves]
        inside = (label == SAFE) | np.isin(leaves, self.tree.locate_many(bounds.points[bounds.safe()]))
        limits = [(index, guard) for index, guard in enumerate(bounds.guards) if guard.limit is not None]
        reached = {index: np.zeros(len(leaves), dtype=np.bool_) for index, _ in limits}
        found: Bools = np.array(inside)
        new = np.flatnonzero(inside)
        while len(new):
            block, new = new[:_BLOCK], new[_BLOCK:]
            rest = np.flatnonzero(~found & (label != UNSAFE))
            if not len(rest):
                break
            gap = np.maximum(lower[rest][None] - upper[block][:, None], lower[block][:, None] - upper[rest][None])
            gap = np.maximum(gap, 0.0)
            for index, guard in limits:
                assert guard.limit is not None
                reach = self._high[leaves[block], index][:, None] - guard.given.variation(gap)
                reached[index][rest] |= (reach >= guard.limit - bounds.slack[index]).any(axis=0)
            joined = rest[np.all([reached[index][rest] for index, _ in limits], axis=0)]
            found[joined] = True
            new = np.concatenate([new, joined])
        return found

    def region(self) -> SafeRegion:
        """Return what is known."""
        leaves = self.tree.leaves()
        label = self.labels(leaves)
        reachable = self._reachable(leaves, label)
        high = self._high[leaves, 0]
        return SafeRegion(
            np.array(self.tree.lower[leaves]),
            np.array(self.tree.upper[leaves]),
            label,
            self._low[leaves, 0],
            high,
            reachable,
            float(high[reachable].max()),
            self.bounds.delta,
        )

    def unknown(self, reason: str, rejection: str | None) -> SafeRegion:
        """Return one cell of which nothing is known."""
        return SafeRegion(
            np.array(self.tree.lower[:1]),
            np.array(self.tree.upper[:1]),
            np.array([UNKNOWN]),
            self._low[:1, 0],
            self._high[:1, 0],
            np.ones(1, dtype=np.bool_),
            None,
            self.bounds.delta,
            reason,
            rejection,
        )
