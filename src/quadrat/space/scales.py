"""Maps between values and the unit interval, vectorised, with the rounding that makes them invertible.

A scale has two methods on vectors: `decode` (unit -> value) and `encode` (value -> unit). Discrete scales cut
[0, 1] into bins; `encode` gives the centre of the value's bin, and everything in a bin decodes to its value.

Continuous scales need care. float64 numbers u in [0, 1] are not a finer grid than the values: with
[1e-6, 1] on a log scale there are about 14 floats below 1 for each float u below 1, so no map can return all of
them. Instead `decode` rounds to a decimal grid that is coarser than the rounding error of going there and back.
A value of that grid then always comes back bit for bit, and numbers as people write them, 0.001, are on the
grid. The error bounds, in units of eps = 2^-53, stand where the grids are chosen; the functions log and exp
are allowed 4 units in the last place (8 eps), more than any NumPy build needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from quadrat.arrays import Array

__all__ = ["Bins", "Grid", "Linear", "LogBins", "Logarithmic", "Scale", "round_decimal"]

_EPS = 2.0**-53
_SMALLEST = math.nextafter(0.0, 1.0)
_BELOW_ONE = math.nextafter(1.0, 0.0)

# 15 digits are the most that float64 holds for every decimal number.
_MOST_DIGITS = 15

# 10^0 to 10^22 are exact in float64, so that an integer below 2^53 times or over one of them is rounded once:
# the result is the float nearest to the decimal number, the same that its literal denotes.
_MOST_EXACT = 22
_EXACT_POWERS = np.array([float(f"1e{i}") for i in range(_MOST_EXACT + 1)])
_FIRST_POWER = -300
_POWERS = np.array([float(f"1e{i}") for i in range(_FIRST_POWER, 301)])


class Scale(Protocol):
    """A map between values and [0, 1], on vectors of any length."""

    def decode(self, u: Array) -> Array:
        """Return the values at the unit coordinates `u`."""
        ...

    def encode(self, values: Array) -> Array:
        """Return the unit coordinates of valid `values`."""
        ...


def round_decimal(x: Array, *, digits: int, decimals: int) -> Array:
    """Return the floats nearest to `x` rounded to decimal numbers, each the float that its literal denotes.

    Parameters
    ----------
    x
        Any shape (n,), 1e-300 <= |x| <= 1e300 or 0.
    digits
        The most significant digits to keep, at most 15.
    decimals
        The most places behind the decimal point to keep; negative counts before it.

    Examples
    --------
    >>> round_decimal(np.array([0.1 + 0.2, 1 / 3, 1e-30 / 3]), digits=5, decimals=20).tolist()
    [0.3, 0.33333, 0.0]
    """
    leading = np.searchsorted(_POWERS, np.abs(x), side="right") - 1 + _FIRST_POWER
    places = np.minimum(digits - 1 - leading, decimals)
    up = _EXACT_POWERS[np.clip(places, 0, _MOST_EXACT)]
    down = _EXACT_POWERS[np.clip(-places, 0, _MOST_EXACT)]
    rounded: Array = np.rint(x * up / down) / up * down
    far = np.abs(places) > _MOST_EXACT
    if far.any():  # Python's round is exact at any number of places, one number at a time
        pairs = zip(x[far].tolist(), places[far].tolist(), strict=True)
        rounded[far] = [round(number, place) for number, place in pairs]
    return rounded + 0.0  # -0.0 becomes 0.0


@dataclass(frozen=True)
class Linear:
    """value = low + u (high - low), rounded to a decimal grid; low at u = 0 and high at u = 1.

    With low = 0 and high a power of two the map is exact as it stands, and nothing is rounded.
    """

    low: float
    high: float

    def decode(self, u: Array) -> Array:
        """Return the values at `u`, in [low, high]."""
        values = self.low + u * (self.high - self.low)
        if not self._exact:
            values = round_decimal(values, digits=_MOST_DIGITS, decimals=self._decimals)
        return _pin_values(u, values, self.low, self.high)

    def encode(self, values: Array) -> Array:
        """Return (values - low) / (high - low)."""
        return _pin_units(values, (values - self.low) / (self.high - self.low), self.low, self.high)

    @cached_property
    def _exact(self) -> bool:
        return self.low == 0 and math.frexp(self.high)[0] == 0.5

    @cached_property
    def _decimals(self) -> int:
        if self.low == 0:
            # One division, one product, one step off the end and the product in `round_decimal`: 4 eps relative,
            # under half a unit of the 15th digit (0.44). The limit only keeps clear of subnormal numbers.
            return 120 - math.floor(math.log10(self.high))
        # There and back: 3 eps of value - low and eps of the value; a step off the end: eps of the range;
        # the product in `round_decimal`: eps of the value. Together less than half of 10^-decimals.
        reach = max(abs(self.low), abs(self.high))
        return math.floor(math.log10(0.5 / (_EPS * (4 * (self.high - self.low) + 2 * reach))))


@dataclass(frozen=True)
class Logarithmic:
    """value = low (high / low)^u, rounded to significant digits; low at u = 0 and high at u = 1."""

    low: float
    high: float

    def decode(self, u: Array) -> Array:
        """Return the values at `u`, in [low, high]."""
        values = round_decimal(self.low * np.exp(u * self._length), digits=self._digits, decimals=400)
        return _pin_values(u, values, self.low, self.high)

    def encode(self, values: Array) -> Array:
        """Return log(values / low) / log(high / low)."""
        return _pin_units(values, np.log(values / self.low) / self._length, self.low, self.high)

    @cached_property
    def _length(self) -> float:
        return math.log(self.high / self.low)

    @cached_property
    def _digits(self) -> int:
        # Relative error of the value, with l = log(high / low): the quotient 1, log 8 l, division l, product l,
        # exp 8, product 1, and the product in `round_decimal` 1.
        error = _EPS * (11 + 10 * self._length)
        return min(_MOST_DIGITS, math.floor(math.log10(0.5 / error)))


@dataclass(frozen=True)
class Bins:
    """The integers first, ..., first + count - 1; each owns a bin of width 1 / count, closed on the left."""

    count: int
    first: int = 0

    def decode(self, u: Array) -> Array:
        """Return first + floor(u count), the last value at u = 1."""
        indices: Array = np.minimum(np.floor(u * self.count), self.count - 1)
        return self.first + indices

    def encode(self, values: Array) -> Array:
        """Return the centres of the bins, (k + 1/2) / count."""
        return (values - self.first + 0.5) / self.count


@dataclass(frozen=True)
class LogBins:
    """The integers low, ..., high; v owns the interval from log(v - 1/2) to log(v + 1/2), scaled to [0, 1]."""

    low: int
    high: int

    def decode(self, u: Array) -> Array:
        """Return the integers whose bins hold `u`."""
        values = np.rint((self.low - 0.5) * np.exp(u * self._length))
        return np.clip(values, self.low, self.high)

    def encode(self, values: Array) -> Array:
        """Return the centres of the bins, half-way between their ends in log space."""
        return np.log(np.sqrt((values - 0.5) * (values + 0.5)) / (self.low - 0.5)) / self._length

    @cached_property
    def _length(self) -> float:
        return math.log((self.high + 0.5) / (self.low - 0.5))


@dataclass(frozen=True)
class Grid:
    """The values low + k step up to high, each with a bin of equal width.

    They are rounded to the decimals that `low` and `step` are written with: 0.3, not 0.30000000000000004.
    """

    low: float
    high: float
    step: float

    @cached_property
    def count(self) -> int:
        """The number of values. `high` counts when it is missed by less than a millionth of a step."""
        return math.floor((self.high - self.low) / self.step + 1e-6) + 1

    def nearest(self, values: Array) -> Array:
        """Return the grid values nearest to `values`, which may lie anywhere."""
        return self._at(np.clip(np.rint((values - self.low) / self.step), 0, self.count - 1))

    def decode(self, u: Array) -> Array:
        """Return the values whose bins hold `u`."""
        return self._at(Bins(self.count).decode(u))

    def encode(self, values: Array) -> Array:
        """Return the centres of the bins."""
        return Bins(self.count).encode(np.rint((values - self.low) / self.step))

    def _at(self, index: Array) -> Array:
        values = self.low + index * self.step
        if self._decimals is not None:
            values = round_decimal(values, digits=_MOST_DIGITS, decimals=self._decimals)
        return np.clip(values, self.low, self.high)

    @cached_property
    def _decimals(self) -> int | None:
        from decimal import Decimal

        exponents = (Decimal(repr(number)).as_tuple().exponent for number in (self.low, self.step))
        decimals = max(-exponent for exponent in exponents if isinstance(exponent, int))
        reach = max(abs(self.low), abs(self.high))
        # A step such as 1/3 has no short decimal form: low + k step is then left as float64 gives it.
        return decimals if decimals < math.log10(0.5 / (4 * _EPS * reach)) else None


def _pin_values(u: Array, values: Array, low: float, high: float) -> Array:
    """Return `values` kept inside the bounds, which are hit at 0 and 1 whatever the rounding."""
    values = np.clip(values, low, high)
    values[u == 0] = low
    values[u == 1] = high
    return values


def _pin_units(values: Array, u: Array, low: float, high: float) -> Array:
    """Return `u` with 0 and 1 kept for the bounds alone, so that a value one ulp inside does not become one."""
    u = np.clip(u, _SMALLEST, _BELOW_ONE)
    u[values == low] = 0.0
    u[values == high] = 1.0
    return u
