"""Values as the default method sees them: absurd ones at the edge of the rest, low ones compressed, standardised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from quadrat._core.arrays import Array, Bools

__all__ = ["OutputTransform", "Warp", "Winsorization"]

FAR = 100.0  # ranges of the rest: values of functions with heavy tails, such as Rosenbrock's, stay far below
ABOVE, BELOW = 0.1, 0.25  # shares of all values that may be absurd on either side
ENOUGH = 8  # values
BEYOND = 0.02  # of the range of the rest, that an absurd value is seen outside it
_LEAST_RANGE = 1e-12  # of the largest value: less is rounding


@dataclass(frozen=True)
class Winsorization:
    """Limits within which values are seen."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Array) -> Winsorization | None:
        """Return the fence that these values (N,) need; None where none is absurd, as nearly always.

        Examples
        --------
        >>> Winsorization.around(np.append(np.linspace(0.0, 1.0, 20), -1e6))
        Winsorization(low=-0.02, high=inf)
        >>> Winsorization.around(np.append(np.linspace(0.0, 1.0, 20), -90.0)) is None
        True
        """
        count = len(values)
        if count < ENOUGH:
            return None
        below, above = int(BELOW * count), max(int(ABOVE * count), 1)
        # Halves, so that differences of the largest numbers are numbers. What cannot be is seen without sorting.
        first, core_low, core_high, last = np.partition(0.5 * values, [0, below, count - 1 - above, count - 1])[
            [0, below, count - 1 - above, count - 1]
        ]
        if not last - first > FAR * (core_high - core_low):
            return None
        halves = np.sort(0.5 * values)
        gaps = np.diff(halves)
        differing = np.concatenate([[0], np.cumsum(gaps > 0)])  # gaps that are none, counted from the left
        # The smallest rest that will do: all of its outside is absurd.
        for stop in _ends(halves[::-1], above):
            for start in _ends(halves, below):
                low, high = halves[start], halves[count - 1 - stop]
                reach, inner = high - low, count - 1 - stop - start
                is_gap_below = start == 0 or gaps[start - 1] > FAR * reach
                is_gap_above = stop == 0 or gaps[count - 1 - stop] > FAR * reach
                distinct = 2 * (differing[count - 1 - stop] - differing[start]) >= inner
                differs = distinct and reach > _LEAST_RANGE * max(abs(low), abs(high))
                if is_gap_below and is_gap_above and differs:
                    if start == stop == 0:
                        return None
                    margin = BEYOND * reach
                    return cls(
                        low=-np.inf if start == 0 else float(2 * (low - margin)),
                        high=np.inf if stop == 0 else float(2 * (high + margin)),
                    )
        return None

    def __call__(self, values: Array) -> Array:
        """Return values, of any shape, as they are seen."""
        return np.clip(values, self.low, self.high)

    def is_low(self, values: Array) -> Bools:
        """Return which values, of any shape, are absurdly low."""
        return np.asarray(values < self.low)


def _ends(ordered: Array, most: int) -> list[int]:
    """How many of at most `most` values at the beginning of `ordered` may be absurd, most first, 0 last.

    Those behind which a gap lies of more than `FAR` times what lies between it and the value after `most`, which
    belongs to every rest. Each such gap is `FAR` times the one after it, so that they are few, however many values
    there are.
    """
    reach = np.abs(ordered[most] - ordered[1 : most + 1])
    gap = np.abs(np.diff(ordered[: most + 1]))
    return [*(np.flatnonzero(gap > FAR * reach) + 1)[::-1].tolist(), 0]


LEAST_SPREAD = 1e-13  # of the largest value, below which values count as equal: rounding leaves some 1e-16
_LEAST_WIDTH = 1e-2  # of the standard deviation of all values: where half of them or more are the same
_LARGEST_VARIANCE = 1e100  # in standardised units: such an observation says nothing, and sums stay finite


@dataclass(frozen=True)
class Warp:
    """Warp of standardised values about a knee, standardised again by a shift and a scale of its own."""

    knee: float
    width: float
    shift: float
    scale: float

    @classmethod
    def of(cls, standardised: Array) -> Warp:
        """Return the one for these values (N,), whose mean is 0 and whose standard deviation 1."""
        knee = float(np.median(standardised))
        above = standardised[standardised >= knee] - knee
        bare = cls(knee, max(float(np.sqrt(np.mean(above**2))), _LEAST_WIDTH), 0.0, 1.0)
        warped = bare(standardised)
        return cls(knee, bare.width, float(np.mean(warped)), float(np.std(warped)))

    def __call__(self, standardised: Array) -> Array:
        """Compress values, any shape."""
        below = np.maximum(self.knee - standardised, 0.0) / self.width
        bent = np.where(below > 0, self.knee - self.width * np.log1p(below), standardised)
        return np.asarray((bent - self.shift) / self.scale)

    def undone(self, warped: Array) -> Array:
        """Return the standardised values that compress to these, any shape."""
        bent = self.shift + self.scale * warped
        below = np.maximum(self.knee - bent, 0.0) / self.width
        with np.errstate(over="ignore"):  # what no value can be: minus infinity
            return np.asarray(np.where(below > 0, self.knee - self.width * np.expm1(below), bent))

    def log_slope(self, standardised: Array) -> Array:
        """Return the log of the derivative at values of any shape."""
        below = np.maximum(self.knee - standardised, 0.0) / self.width
        return np.asarray(-np.log1p(below) - np.log(self.scale))


@dataclass(frozen=True)
class OutputTransform:
    """From values as told to values as a model sees them, and back.

    Attributes
    ----------
    shift, scale
        The mean of all values told and their standard deviation; their size where they do not differ.
    warp
        The warp of low standardised values, or None.
    winsorization
        The limits that values are clipped to; None where no value is an outlier.

    Examples
    --------
    >>> values = np.array([-100.0, 0.0, 1.0, 2.0, 3.0])
    >>> transform = OutputTransform.of(values, warped=True)
    >>> transform.apply(values).round(2).tolist()
    [-1.87, -0.02, 0.26, 0.63, 1.01]
    >>> transform.undo(transform.apply(values)).round(9).tolist()
    [-100.0, 0.0, 1.0, 2.0, 3.0]
    """

    shift: float
    scale: float
    warp: Warp | None = None
    winsorization: Winsorization | None = None

    @classmethod
    def of(cls, values: Array, *, warped: bool = False, winsorized: bool = True) -> OutputTransform:
        """Return the transform for these values (N,); `winsorized`: whether outliers are clipped."""
        winsorization = Winsorization.around(values) if winsorized else None
        if winsorization is not None:
            return replace(cls.of(winsorization(values), warped=warped, winsorized=False), winsorization=winsorization)
        largest = float(np.abs(values).max()) or 1.0  # so that squares neither overflow nor vanish
        scaled = values / largest
        spread = float(np.std(scaled))
        differ = spread > LEAST_SPREAD
        scale = max(largest * (spread if differ else 1.0), float(np.finfo(np.float64).tiny))  # half of 5e-324 is 0
        plain = cls(largest * float(np.mean(scaled)), scale)
        return cls(plain.shift, plain.scale, Warp.of(plain.apply(values))) if warped and differ else plain

    @property
    def above(self) -> float:
        """What one unit of the model is in told units, among the upper half of the values."""
        return self.scale if self.warp is None else self.scale * self.warp.scale

    def within(self, outer: OutputTransform) -> OutputTransform:
        """Return these units for values that are told in others, which compress nothing, to the same effect.

        Winsorization is left out: values near a place, or their averages, are seen through both one after the other.
        """
        return OutputTransform(outer.shift + outer.scale * self.shift, outer.scale * self.scale, self.warp)

    def apply(self, values: Array) -> Array:
        """Return told values, of any shape, as the model sees them."""
        standardised = self._standardised(values)
        return standardised if self.warp is None else self.warp(standardised)

    def undo(self, seen: Array) -> Array:
        """Return what was told, for values of any shape as the model sees them."""
        return self.shift + self.scale * (seen if self.warp is None else self.warp.undone(seen))

    def variance(self, variances: Array, values: Array) -> Array:
        """Return variances (N,) of told values (N,) as the model sees them, to first order."""
        with np.errstate(over="ignore"):
            scaled = variances / self.scale / self.scale
            if self.warp is not None:
                scaled = scaled * np.exp(2 * self.log_slope(values))
            scaled = np.minimum(scaled, _LARGEST_VARIANCE)
            return np.where(
                scaled > 0, np.maximum(scaled, 1 / _LARGEST_VARIANCE), scaled
            )  # its inverse is a number too

    def log_slope(self, values: Array) -> Array:
        """Return the log of the derivative of what is seen, in that of the standardised value, at told values (N,)."""
        if self.warp is None:
            return np.zeros_like(values)
        return self.warp.log_slope(self._standardised(values))

    def _standardised(self, values: Array) -> Array:
        within = values if self.winsorization is None else self.winsorization(values)
        return within / self.scale - self.shift / self.scale
