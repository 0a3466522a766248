"""A band on actions and contexts that also looks at contexts one by one.

The band of all observations shares what was seen between contexts; its width contains what all of them have gained. The
observations of one context alone make a band too, of f in that context: the points of a context are chosen before their
noise, and which of the contexts, in the order of their first appearance, it is, was known before any of its noise came.
So its supermartingale (`AdaptiveBand`) may skip all other observations. It knows less, and it is narrower once a
context has been seen often. With half of delta for the band of all, and a share of the other half for each of the first
`CONTEXTS` contexts, all hold at once, for all points and times, and so does their intersection.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Bools, Ints, as_points, as_vector
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.bands import AdaptiveBand
from quadrat.confidence.interval import Interval

__all__ = ["CONTEXTS", "ContextualBand"]

CONTEXTS = 16
"""How many contexts have bands of their own: the first ones."""


class ContextualBand(AdaptiveBand):
    """The intersection of a band of all observations with those of single contexts.

    Parameters
    ----------
    assumptions, delta
        As of `SimpleBand`, of f on actions and contexts; any of the bands may fail with probability delta.
    fixed
        Which axes are contexts, shape (D,).
    """

    def __init__(self, assumptions: Assumptions, delta: float, fixed: Bools) -> None:
        super().__init__(assumptions, delta / 2)
        self._fixed = fixed
        self._share = delta / 2 / CONTEXTS
        self._whole = delta
        self._own: dict[bytes, tuple[Array, AdaptiveBand]] = {}  # by context, in the order of first appearance

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D)."""
        points = as_points(X, dimension=len(self._fixed), name="X")
        values = as_vector(y, length=len(points), name="y")
        super().add(points, values)
        for context in points[:, self._fixed] + 0.0:  # + 0.0 turns -0.0 into 0.0
            if len(self._own) < CONTEXTS and context.tobytes() not in self._own:
                self._own[context.tobytes()] = context, AdaptiveBand(self.assumptions, self._share)
        for band, rows in self._of_contexts(points):
            band.add(points[rows], values[rows])

    def _of_contexts(self, points: Array) -> Iterator[tuple[AdaptiveBand, Ints]]:
        """Yield the bands of single contexts that some of the points (m, D) lie in, and which of them do."""
        given = points[:, self._fixed]
        for context, band in self._own.values():
            rows = np.flatnonzero((given == context).all(axis=1))
            if len(rows):
                yield band, rows

    @property
    def rejection(self) -> str | None:
        """Why what was added rejects the assumptions, or None: all bands are asked."""
        of_all = super().rejection
        if of_all is not None:
            return of_all
        found = next((band.rejection for _, band in self._own.values() if band.rejection is not None), None)
        return None if found is None else self.rejected_because(found.partition(": ")[2])

    def rejected_because(self, why: str, level: float | None = None) -> str | None:
        """As of `AdaptiveBand`; together the bands are wrong with the whole of delta, unless a `level` is given."""
        return super().rejected_because(why, self._whole if level is None else level)

    @contextmanager
    def pending(self, X: ArrayLike) -> Iterator[None]:
        """Within the block deviations count these points as observed: good for choosing, not a bound on anything."""
        points = as_points(X, dimension=len(self._fixed), name="X")
        with ExitStack() as stack:
            stack.enter_context(super().pending(points))
            for band, rows in self._of_contexts(points):
                stack.enter_context(band.pending(points[rows]))
            yield

    def prefer(self, X: ArrayLike) -> None:
        """As of `AdaptiveBand`, for the contexts of the rows of X too."""
        points = as_points(X, dimension=len(self._fixed), name="X")
        super().prefer(points)
        for band, rows in self._of_contexts(points):
            band.prefer(points[rows])

    def optimism(self, X: ArrayLike) -> Array:
        """As of `AdaptiveBand`; the smaller of both in contexts that have a band of their own."""
        points = as_points(X, dimension=len(self._fixed), name="X")
        upper = super().optimism(points)
        for band, rows in self._of_contexts(points):
            upper[rows] = np.minimum(upper[rows], band.optimism(points[rows]))
        return upper

    def interval(self, X: ArrayLike) -> Interval:
        """Return the intersection at the rows of X, shape (m, D); where it is empty the data reject the assumptions."""
        points = as_points(X, dimension=len(self._fixed), name="X")
        joint = super().interval(points)
        lower, upper = joint.lower.copy(), joint.upper.copy()
        for band, rows in self._of_contexts(points):
            own = band.interval(points[rows])
            lower[rows], upper[rows] = np.maximum(lower[rows], own.lower), np.minimum(upper[rows], own.upper)
        return Interval(lower, upper)

    def compare(self, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
        """As of `AdaptiveBand`; in the context of z, the smaller of both where that context has a band of its own."""
        points = as_points(X, dimension=len(self._fixed), name="X")
        _, apart = super().compare(points, z)
        at = self.interval(points)
        there = np.asarray(z, dtype=np.float64)
        apart = np.minimum(apart, at.upper - float(self.interval(there[None]).lower[0]))
        same = (points[:, self._fixed] == there[self._fixed]).all(axis=1)
        for band, rows in self._of_contexts(points):
            own = rows[same[rows]]
            if len(own):
                apart[own] = np.minimum(apart[own], band.compare(points[own], there)[1])
        return at, apart
