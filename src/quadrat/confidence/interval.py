"""Lower and upper bounds side by side."""

from __future__ import annotations

from dataclasses import dataclass

from quadrat._core.arrays import Array
from quadrat._core.printing import printed

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval:
    """lower <= f(x) <= upper at m points, each shape (m,).

    Attributes
    ----------
    lower, upper
        Bounds of f, in the units of the values.

    Examples
    --------
    >>> import numpy as np
    >>> found = Interval(np.array([0.0, 1.0]), np.array([0.5, 3.0]))
    >>> found.centre.tolist(), found.half_width.tolist()
    ([0.25, 2.0], [0.25, 1.0])
    >>> found.is_empty(scale=1.0), Interval(np.array([1.0]), np.array([0.5])).is_empty(scale=1.0)
    (False, True)
    """

    lower: Array
    upper: Array

    __repr__ = printed

    @property
    def centre(self) -> Array:
        """Midpoints, shape (m,)."""
        return (self.lower + self.upper) / 2

    @property
    def half_width(self) -> Array:
        """Half of upper - lower, shape (m,)."""
        return (self.upper - self.lower) / 2

    def is_empty(self, scale: float) -> bool:
        """Return whether no value is left at some point: lower exceeds upper by more than rounding, 1e-9 of `scale`."""
        return bool((self.lower > self.upper + 1e-9 * scale).any())
