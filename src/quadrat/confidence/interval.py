"""Lower and upper bounds side by side."""

from __future__ import annotations

from dataclasses import dataclass

from quadrat.arrays import Array

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval:
    """lower <= f(x) <= upper at m points, each shape (m,)."""

    lower: Array
    upper: Array

    @property
    def centre(self) -> Array:
        """Midpoints, shape (m,)."""
        return (self.lower + self.upper) / 2

    @property
    def half_width(self) -> Array:
        """Half of upper - lower, shape (m,)."""
        return (self.upper - self.lower) / 2
