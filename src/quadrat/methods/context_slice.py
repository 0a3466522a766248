"""The points of the cube that share one context: drawing them, and climbing among them.

A context fixes some axes. Whatever is chosen in it moves along the other axes alone; the model may see the whole point.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quadrat.arrays import Array, Bools
from quadrat.errors import InvalidInput
from quadrat.methods.acquisition import scattered
from quadrat.methods.ascent import Slope, ascend
from quadrat.methods.domain import Domain

__all__ = ["ContextSlice", "require_free_axis"]

_DRAWS = 256  # uniform points of the slice that are valued before any climb
_NEAR, _SCALES = 12, (0.1, 0.01, 0.001)  # points around each of the centres, and how far from it
_CLIMBS = 4  # of the highest, each followed uphill
_STEPS, _FINE_STEPS = 10, 12  # calls of the function in these climbs, and in the last one from the best end
_TRIES = 8  # batches drawn until one has a point that may be evaluated


def require_free_axis(domain: Domain) -> None:
    """Raise `InvalidInput` where every axis is a context: nothing is left to choose."""
    if len(set(domain.context)) >= domain.dimension:
        raise InvalidInput(
            f"contexts: expected at least one parameter that is not a context, got {domain.dimension} of "
            f"{domain.dimension} that are; without one there is nothing to choose"
        )


class ContextSlice:
    """All points of a domain with the coordinates of one context.

    Parameters
    ----------
    domain
        The cube with what is behind it.
    context
        Shape (D,): coordinates on the axes that are fixed, NaN on those that are free.
    """

    def __init__(self, domain: Domain, context: Array) -> None:
        self.domain = domain
        self.context = context
        self.free: Bools = np.isnan(context)

    def placed(self, points: Array) -> Array:
        """Return points (n, D) moved into the context along the fixed axes, and rounded along the others."""
        moved = np.where(self.free, points, self.context)
        return np.where(self.free, self.domain.rounded(moved), self.context)

    def uniform(self, count: int, rng: np.random.Generator) -> Array:
        """Return `count` random points of the slice, (count, D), whether they may be evaluated or not."""
        return self.placed(rng.random((count, self.domain.dimension)))

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Return up to `count` random points of the slice that may be evaluated, (m, D); any, where none is found."""
        for _ in range(_TRIES):
            points = self.uniform(count, rng)
            allowed = self.domain.allowed(points)
            if allowed.any():
                return np.asarray(points[allowed])
        return points

    def highest(
        self,
        function: Slope,
        rng: np.random.Generator,
        *,
        values: Callable[[Array], Array],
        centres: Array,
        avoided: Array,
    ) -> tuple[Array, float]:
        """Maximise a function of the model over the slice.

        Parameters
        ----------
        function
            From features (m, F) to values (m,) and gradients (m, F); finite.
        rng
            Draws where the search starts.
        values
            The same without gradients, which is cheaper.
        centres
            Points (c, D), of whatever context, around which the slice is looked at closely; c may be 0.
        avoided
            Points (p, D) that are not worth asking again: not returned, unless there is nothing else.

        Returns
        -------
        point
            Shape (D,), in the slice.
        value
            Of the function there.
        """
        starts = self.draw(_DRAWS, rng)
        if len(centres):
            near = self.placed(np.vstack([centres, scattered(centres, _NEAR, _SCALES, rng)]))
            near = near[self.domain.allowed(near)]
            # The best of each batch are climbed: uniform points alone never come near a peak in many dimensions.
            groups = [starts, near] if len(near) else [starts]
        else:
            groups = [starts]
        tops = []
        for group in groups:
            order = np.argsort(-values(self.domain.features(group)), kind="stable")
            tops.append(group[order[: _CLIMBS // len(groups)]])
        top = np.vstack(tops)
        ends = np.vstack([top, self.climb(function, top, _STEPS)])
        ends = np.vstack([ends, self._neighbours(ends[self._best(values, ends)], rng)])
        best = ends[self._best(values, ends)]
        ends = np.vstack([ends, self.climb(function, best[None, :], _FINE_STEPS), *groups])
        ends = ends[self.domain.allowed(ends)] if self.domain.allowed(ends).any() else ends
        fresh = ~(ends[:, None] == avoided[None]).all(axis=2).any(axis=1)
        ends = ends[fresh] if fresh.any() else ends
        found = values(self.domain.features(ends))
        at = int(np.argmax(found))
        return ends[at], float(found[at])

    def climb(self, function: Slope, starts: Array, steps: int) -> Array:
        """Return where ascents from points (s, D) of the slice end, shape (s, D): along smooth free axes alone."""
        axes = np.flatnonzero(self.free & self.domain.smooth)
        if not len(axes):
            return starts

        def within(moved: Array) -> tuple[Array, Array]:
            points = starts.copy()
            points[:, axes] = moved
            found, gradients = function(self.domain.features(points))
            return found, self.domain.slopes(gradients)[:, axes]

        ends = starts.copy()
        ends[:, axes] = ascend(within, starts[:, axes], steps=steps)[0]
        return self.placed(ends)

    def _neighbours(self, point: Array, rng: np.random.Generator) -> Array:
        """Points of the slice that differ from one on a free axis that is not smooth, (m, D)."""
        others = self.domain.neighbours(point, rng)
        return np.asarray(others[(others == self.context)[:, ~self.free].all(axis=1)])

    def _best(self, values: Callable[[Array], Array], points: Array) -> int:
        found = values(self.domain.features(points))
        return int(np.argmax(np.where(self.domain.allowed(points), found, -np.inf)))
