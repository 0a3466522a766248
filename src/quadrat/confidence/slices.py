"""A band with some axes fixed: what it says of f in one context.

With the axes of the context at z, x -> f(x, z) is a function on the cube of the other axes. The band bounds it at every
point, and its modulus is that of f for differences that are 0 along the context. So whatever is computed from a band
and its assumptions, such as a certified maximum, can be computed on the slice; and as the band holds at all points of
the joint cube and all times at once, with probability 1 - delta, so do all of these, for all z at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Bools, as_points
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.bands import Band
from quadrat.confidence.interval import Interval
from quadrat.errors import InvalidInput

__all__ = ["SliceAssumptions", "SliceBand"]


@dataclass(frozen=True)
class SliceAssumptions(Assumptions):
    """What the assumptions on f say of a slice of it: `free` tells which axes are left, one entry for each."""

    free: tuple[bool, ...] = ()

    @classmethod
    def of(cls, given: Assumptions, free: Bools) -> SliceAssumptions:
        """Return those of the slices of f with these axes free, shape (D,)."""
        return cls(given.kernel, given.norm_bound, given.noise, given.holder, tuple(free.tolist()))

    def variation(self, offsets: ArrayLike) -> Array:
        """Bound |f(x, z) - f(x', z)| for differences x - x' of shape (..., d), d the number of free axes."""
        return super().variation(self._joint(offsets))

    def interpolation_error(self, sides: ArrayLike) -> Array:
        """As of `Assumptions`, over boxes of the free axes with `sides` (..., d): along the others they are points."""
        return super().interpolation_error(self._joint(sides))

    def _joint(self, offsets: ArrayLike) -> Array:
        """Return differences on the joint cube, shape (..., D), from those of free coordinates, shape (..., d)."""
        within = np.asarray(offsets, dtype=np.float64)
        joint = np.zeros((*within.shape[:-1], len(self.free)))
        joint[..., list(self.free)] = within
        return joint


class SliceBand:
    """A band seen in one context: points have the free coordinates alone.

    Parameters
    ----------
    band
        Of f on the joint cube.
    context
        Shape (D,): coordinates of the context, NaN on the free axes, of which there is at least one.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, certified_maximum
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.3), 1.0, 0.1), 0.05)
    >>> band.add([[0.2, 0.5], [0.8, 0.5]], [0.1, 0.4])
    >>> slice_of_band = SliceBand(band, np.array([np.nan, 0.5]))
    >>> bool(certified_maximum(slice_of_band, dimension=1).value <= 1.0)
    True
    """

    def __init__(self, band: Band, context: Array) -> None:
        self.band = band
        self.context = np.asarray(context, dtype=np.float64)
        self.free: Bools = np.isnan(self.context)
        if not self.free.any():
            raise InvalidInput("context: expected at least one axis that is free (NaN), got none")
        self.assumptions: Assumptions = SliceAssumptions.of(band.assumptions, self.free)
        self.delta = band.delta

    def joint(self, X: ArrayLike) -> Array:
        """Return the points of the joint cube (m, D) with these free coordinates (m, d)."""
        within = as_points(X, dimension=int(self.free.sum()), name="X")
        points = np.repeat(self.context[None, :], len(within), axis=0)
        points[:, self.free] = within
        return points

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), in this context, at free coordinates X, shape (k, d)."""
        self.band.add(self.joint(X), y)

    def interval(self, X: ArrayLike) -> Interval:
        """Return bounds on f(., z) at free coordinates X, shape (m, d)."""
        return self.band.interval(self.joint(X))

    def compare(self, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
        """As of the band, at free coordinates X, shape (m, d), and z, shape (d,)."""
        return self.band.compare(self.joint(X), self.joint(np.asarray(z)[None])[0])

    @property
    def x(self) -> Array:
        """Free coordinates of the distinct points observed in exactly this context, shape (n, d)."""
        points = self.band.x.reshape(-1, len(self.context))
        here = (points == self.context)[:, ~self.free].all(axis=1)
        return np.asarray(points[here][:, self.free])

    @property
    def rejection(self) -> str | None:
        """Why the data reject the assumptions, or None."""
        return self.band.rejection

    @property
    def is_hallucinating(self) -> bool:
        """Whether pending points count as observed just now."""
        return self.band.is_hallucinating

    def rejected_because(self, why: str, level: float | None = None) -> str | None:
        """As of the band: `why`, at its own `level` or another."""
        return self.band.rejected_because(why, level)
