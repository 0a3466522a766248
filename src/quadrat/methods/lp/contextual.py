"""LP-GP-UCB in contexts: cells of actions and contexts together; in a context z, those that z passes through compete.

The bounds stored with a cell E hold for all of E, actions and contexts, as without contexts (`methods.lp_cells`). To
choose in z, the slice of E at z is bounded too: by the band at the centres of the slice's parts plus the variation over
half a part, along the actions alone. That is sharper, as nothing is added for contexts other than z, and it says
nothing of the rest of E: it is never stored. The index is the smaller of both. The point evaluated has exactly the
coordinates of z, so that every observation is one of f itself, also where only a few contexts exist at all, such as
those of a categorical: f is then any function of the ball that has the right values there.

Why certificates hold in all contexts at once. Everything rests on events over the joint cube: the band
(`confidence.contextual_band`) holds at all points and all times, and the bounds of averages and polynomials for all
cells of the fixed family at all times, with probability 1 - delta together. In that event, for every z and every time,
max_x f(x, z) is at most the largest index of the cells that z passes through, and at most what a branch and bound over
the slice finds; and f at the point that is recommended in z is at least its lower bound. No further share of delta is
spent, however many contexts are asked about, and whether they were seen before or not.

The contexts may be chosen by anybody who knows the past, as long as z_t does not depend on the noise to come.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat.confidence import Assumptions, Certificate, CertifiedGap, certified_gap
from quadrat.confidence.certificate import Thoroughness, certificate_at
from quadrat.confidence.slices import SliceAssumptions, SliceBand
from quadrat.errors import InvalidInput
from quadrat.methods.base import Domain
from quadrat.methods.lp.cells import CellBounds, Look, Sharper, parts_of
from quadrat.methods.lp.search import EFFORT, CellLoop, CellOptions, CertifiedSearch
from quadrat.methods.ucb.cgp_ucb import require_free_axis
from quadrat.partition.cell import contained

__all__ = ["ContextualLPSearch"]

_BATCH = 8  # cells whose slices are bounded at a time


class Slices:
    """The slices of cells at contexts: which cells a context passes through, and bounds of f over their slices.

    Parameters
    ----------
    cells
        The partition with its bounds.
    free
        Which axes are chosen, shape (D,).
    """

    def __init__(self, cells: CellBounds, free: Bools) -> None:
        self.cells = cells
        self.free = free
        self._given = SliceAssumptions.of(cells.assumptions, free)
        self._divided: dict[int, tuple[Array, float]] = {}

    def leaves(self, context: Array) -> Ints:
        """Return the leaves that a context passes through, in order of birth."""
        tree, leaves = self.cells.tree, self.cells.tree.leaves()
        fixed = ~self.free
        lower, upper = tree.lower[leaves][:, fixed], tree.upper[leaves][:, fixed]
        return np.asarray(leaves[contained(context[fixed], lower, upper)])

    def at(self, points: Array, context: Array) -> Array:
        """Return points (m, D) moved into a context."""
        return np.where(self.free, points, context)

    def parts(self, node: int, context: Array) -> Array:
        """Return the centres of the parts of a cell's slice, shape (S, D): where it is bounded and evaluated."""
        tree = self.cells.tree
        lower, upper = tree.lower[node], tree.upper[node]
        points = np.repeat(context[None, :], len(self._parts(node)[0]), axis=0)
        points[:, self.free] = lower[self.free] + self._parts(node)[0] * (upper - lower)[self.free]
        return points

    def bounds(self, nodes: Ints, context: Array) -> tuple[Array, int]:
        """Bound f over the slices of cells (m,): the band at the centres of their parts plus omega of half a part.

        Also returns how many posteriors were evaluated.
        """
        points = np.concatenate([self.parts(node, context) for node in nodes.tolist()])
        upper = self.cells.band.quick_upper(points).reshape(len(nodes), -1)
        return np.asarray(upper.max(1) + [self._parts(node)[1] for node in nodes.tolist()]), upper.size

    def look(self, context: Array, pending: Array) -> Look:
        """Find the leaf with the largest index in a context, of several the oldest; store nothing.

        The index is min(U_E, bound over the slice); where points are pending, the latter counts them as observed. U_E
        never does. Both are found only for leaves that could still win, U_E with the data as they are first.
        """
        cells, leaves = self.cells, self.leaves(context)
        index = cells.upper[leaves].copy()
        known = np.zeros(len(leaves), dtype=np.bool_)
        fresh = np.zeros(len(leaves), dtype=np.bool_)
        found: list[Sharper] = []
        of_slices = 0
        while not known[top := int(np.argmax(index))]:
            best = float(index[known].max()) if known.any() else -np.inf
            order = np.argsort(-np.where(known, -np.inf, index), kind="stable")[:_BATCH]
            order = order[~known[order] & (index[order] >= best)]
            stale = order[~fresh[order]]
            if len(stale):
                found.append(cells.sharper(leaves[stale]))
                rows = stale[np.isin(leaves[stale], found[-1].nodes)]
                index[rows], fresh[stale] = np.minimum(index[rows], found[-1].bounds), True
                continue
            with self.counting(pending):
                bounds, posteriors = self.bounds(leaves[order], context)
            index[order], known[order] = np.minimum(index[order], bounds), True
            of_slices += posteriors
        posteriors = of_slices + sum(each.posteriors for each in found)
        return Look(int(leaves[top]), float(index[top]), tuple(found), posteriors)

    def counting(self, pending: Array) -> AbstractContextManager[None]:
        """Within the block the band counts pending points (p, D) as observed."""
        return self.cells.band.pending(pending) if len(pending) else nullcontext()

    def _parts(self, node: int) -> tuple[Array, float]:
        """Centres of the parts of a slice, in its own coordinates (S, d), and omega of half a part; by depth."""
        depth = self.cells.tree.depth(node)
        if depth not in self._divided:
            self._divided[depth] = parts_of(self.cells.tree.cell(node).sides[self.free], self._given)
        return self._divided[depth]


class ContextLoop(CellLoop):
    """The loop of Algorithm 1 in a context."""

    def __init__(self, cells: CellBounds, seed: int, *, free: Bools, budget: int, threshold: float) -> None:
        super().__init__(cells, seed, budget=budget, threshold=threshold)
        self.slices = Slices(cells, free)

    def _choose(self, pending: Array, context: Array | None) -> int:
        assert context is not None
        return self.cells.keep(self.slices.look(context, pending))

    def _placed(self, points: Array, context: Array | None) -> Array:
        assert context is not None
        return self.slices.at(points, context)

    def _parts(self, node: int, context: Array | None) -> Array:
        assert context is not None
        return self.slices.parts(node, context)


class ContextualLPSearch(CertifiedSearch):
    """LP-GP-UCB under stated assumptions, on actions and contexts.

    Parameters
    ----------
    assumptions, domain, seed, options
        As of `CertifiedSearch`, on the joint cube; n counts evaluations in all contexts.
    """

    loop: ContextLoop

    def __init__(self, assumptions: Assumptions, domain: Domain, seed: int, options: CellOptions) -> None:
        require_free_axis(domain)
        super().__init__(assumptions, domain, seed, options)

    def _loop(self, seed: int, options: CellOptions) -> ContextLoop:
        free = ~np.isin(np.arange(self.domain.dimension), self.domain.context)
        return ContextLoop(self.cells, seed, free=free, budget=options.budget, threshold=options.threshold)

    def _check(self, context: Array | None) -> None:
        """Refuse to choose without a context."""
        if context is None:
            raise InvalidInput("context: expected its coordinates, since the domain has contexts, got None")

    def _tried(self, context: Array | None) -> Array:
        """Return the actions tried in any context, moved to this one, (n, D)."""
        assert context is not None
        return self.loop.slices.at(self.band.x, context)

    def _candidates(self, context: Array | None) -> Array:
        """Return actions tried in any context, moved to this one, and centres of slices, shape (m, D)."""
        assert context is not None
        slices = self.loop.slices
        points = np.vstack([self.band.x, self.cells.centres(slices.leaves(context))])
        return np.unique(slices.at(points, context), axis=0)

    def _highest(self, context: Array | None) -> float:
        """Return the largest index min(U_E, bound over the slice) of the cells that the context passes through."""
        assert context is not None
        return self.loop.slices.look(context, np.empty((0, self.domain.dimension))).index

    def _certificate_at(self, point: Array, known: Any) -> Certificate:
        view = SliceBand(self.band, self._context_of(point))
        return replace(certificate_at(view, point[view.free], EFFORT, **known), point=point)

    def _gap(self, z: Array, effort: Thoroughness) -> CertifiedGap:
        view = SliceBand(self.band, self._context_of(z))
        how: Any = {"max_cells": effort.max_cells, "tolerance": effort.tolerance}
        found = certified_gap(view, z[view.free], dimension=int(view.free.sum()), **how)
        return replace(found, points=view.joint(found.points))

    def _context_of(self, point: Array) -> Array:
        return np.where(self.loop.slices.free, np.nan, point)
