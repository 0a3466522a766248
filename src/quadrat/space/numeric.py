"""Numeric parameters, Float and Int, and the scales on which they are searched.

A scale maps values to coordinates in [0, 1] and back: linear or logarithmic, with or without steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from quadrat.arrays import as_number
from quadrat.errors import InvalidInput
from quadrat.space.parameter import Parameter

if TYPE_CHECKING:
    from quadrat.arrays import Array

__all__ = ["Bins", "Float", "Grid", "Int", "Linear", "LogBins", "Logarithmic", "Scale", "round_decimal"]

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


_LARGEST_INT = 10**12  # with a log scale, bins this narrow are still far wider than rounding errors
_LARGEST_FLOAT, _SMALLEST_FLOAT = 1e150, 1e-150  # ratios and products of bounds neither overflow nor underflow
_NARROWEST = 1e-9  # of the larger bound: 10^4 values at the least that decimal rounding can tell apart
_STEP_TOLERANCE = 1e-6  # of a step: 0.1 + 0.2 counts as 0.3


@dataclass(frozen=True, repr=False)
class Float(Parameter):
    """A real number from `low` to `high`, both included.

    The value at unit coordinate u is low + u (high - low), or low (high / low)^u with `log`; u = 0 gives `low`
    and u = 1 gives `high` (with `step`, the last value), exactly. An int or a NumPy scalar is taken as
    the float it equals; a bool is not.

    **What comes back.** Values are rounded to decimal digits, because no float64 u in [0, 1] can tell all
    float64 values apart. At least 13 significant digits are kept, counted from the leading digit of the value
    itself with `log` or `low` = 0, otherwise from that of the larger bound. (11 with `log` and
    high / low > 1e19; all 17 with `low` = 0, `high` a power of two and no `log`.) Then, bit for bit,

    - a value written with no more digits than are kept comes back from the cube as it went in;
    - so do `low`, `high` and every value that ever came from the cube;
    - any other value comes back rounded to the digits kept. Doing it again changes nothing more.

    With `low` = 0 this holds from 1e-100 `high` up; smaller values lose digits and at last become 0.

    **Steps.** With `step`, the values are low, low + step, ..., the last not above `high`, rounded to the
    decimals that `low` and `step` are written with (0.3, not 0.30000000000000004). Each owns a bin of the same
    width, everything in a bin is that value, and its unit coordinate is the centre of the bin. Inputs within a
    millionth of a step of a value are taken as that value.

    Parameters
    ----------
    low, high
        The bounds: zero, or between 1e-150 and 1e150 in size; high - low at least 1e-9 of the larger.
    log
        Whether equal steps on the cube are equal ratios of values; `low` must then be positive.
    step
        The spacing of the values, or None for all; not together with `log`.
    context, when
        See `Parameter`.

    Raises
    ------
    InvalidInput
        Bounds that are not as above, or options that do not go together.

    Examples
    --------
    >>> Float(1e-6, 1, log=True)
    Float(1e-06, 1.0, log=True)
    >>> Float(0, 1, step=0.1).decode(np.array([0.0, 0.3, 1.0])).tolist()
    [0.0, 0.3, 1.0]
    """

    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    step: float | None = None

    kind: ClassVar[str] = "float"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high"):
            bound = as_number(getattr(self, name), name=f"Float: {name}") + 0.0
            if bound and not _SMALLEST_FLOAT <= abs(bound) <= _LARGEST_FLOAT:
                raise InvalidInput(
                    f"Float: expected {name} to be 0 or between {_SMALLEST_FLOAT:g} and {_LARGEST_FLOAT:g} in size,"
                    f" got {bound!r}; use other units"
                )
            self._set(name, bound)
        _check_order(self, "Float")
        reach = max(abs(self.low), abs(self.high))
        if self.high - self.low < _NARROWEST * reach:
            raise InvalidInput(
                f"Float: expected high - low to be at least {_NARROWEST:g} of the larger bound, got"
                f" low={self.low!r}, high={self.high!r}; search over the difference from low instead"
            )
        _check_flag(self.log, "Float: log")
        if self.log and self.low <= 0:
            raise InvalidInput(
                f"Float: expected low > 0 with log=True, got low={self.low!r}; raise low or drop log=True"
            )
        if self.step is not None:
            self._check_step(reach)

    def _check_step(self, reach: float) -> None:
        step = as_number(self.step, name="Float: step", above=0.0)
        if self.log:
            raise InvalidInput("Float: expected step or log=True, got both; drop one of them")
        if step > self.high - self.low:
            raise InvalidInput(
                f"Float: expected step to be at most high - low = {self.high - self.low!r}, got step={step!r};"
                " use Fixed for a single value"
            )
        if step < _NARROWEST * reach:
            raise InvalidInput(
                f"Float: expected step to be at least {_NARROWEST:g} of the larger bound, got step={step!r};"
                " leave step out to allow all values"
            )
        self._set("step", step)

    @property
    def expected(self) -> str:
        """What values are valid, in words."""
        steps = "" if self.step is None else f" in steps of {self.step!r}"
        return f"a number from {self.low!r} to {self.high!r}{steps}"

    @cached_property
    def scale(self) -> Linear | Logarithmic | Grid:
        """The map between values and the unit interval."""
        if self.step is not None:
            return Grid(self.low, self.high, self.step)
        return Logarithmic(self.low, self.high) if self.log else Linear(self.low, self.high)

    def read(self, values: Sequence[object]) -> Array:
        """Return `values` as floats, shape (n,), NaN where not valid."""
        numbers = _as_numbers(values)
        slack = 0.0 if self.step is None else _STEP_TOLERANCE * self.step
        numbers = np.where((numbers >= self.low - slack) & (numbers <= self.high + slack), numbers, np.nan)
        if isinstance(self.scale, Grid):
            nearest = self.scale.nearest(numbers)
            return np.where(np.abs(nearest - numbers) <= slack, nearest, np.nan)
        return numbers

    def show(self, codes: Array) -> list[Any]:
        """Return Python floats."""
        values: list[Any] = codes.tolist()
        return values


@dataclass(frozen=True, repr=False)
class Int(Parameter):
    """An integer from `low` to `high`, both included.

    Each integer owns a bin of the unit axis, everything in a bin is that integer, and its unit coordinate is
    the centre of the bin; so every value comes back exactly. The bins have equal width: the value at u is
    low + floor(u (high - low + 1)). With `log`, v owns the interval from log(v - 1/2) to log(v + 1/2).

    A float with an integral value, 3.0, is taken as 3, since tables and JSON turn integers into such; a bool
    is not.

    Parameters
    ----------
    low, high
        The bounds, at most 10^12 in size.
    log
        Whether the bins lie on a log scale, as above; `low` must then be at least 1.
    context, when
        See `Parameter`.

    Raises
    ------
    InvalidInput
        Bounds that are not as above.

    Examples
    --------
    >>> Int(10, 500)
    Int(10, 500)
    >>> Int(1, 4).encode(np.array([1, 2, 3, 4])).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """

    low: int
    high: int
    _: KW_ONLY
    log: bool = False

    kind: ClassVar[str] = "int"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high"):
            value = getattr(self, name)
            number = float(_as_numbers([value])[0])
            if not (abs(number) <= _LARGEST_INT and number.is_integer()):
                raise InvalidInput(f"Int: expected {name} to be an integer of at most 10^12 in size, got {value!r}")
            self._set(name, int(number))
        _check_order(self, "Int")
        _check_flag(self.log, "Int: log")
        if self.log and self.low < 1:
            raise InvalidInput(f"Int: expected low >= 1 with log=True, got low={self.low}; raise low or drop log=True")

    @property
    def expected(self) -> str:
        """What values are valid, in words."""
        return f"an integer from {self.low} to {self.high}"

    @cached_property
    def scale(self) -> Bins | LogBins:
        """The map between values and the unit interval."""
        return LogBins(self.low, self.high) if self.log else Bins(self.high - self.low + 1, self.low)

    def read(self, values: Sequence[object]) -> Array:
        """Return `values` as integral floats, shape (n,), NaN where not valid."""
        numbers = _as_numbers(values)
        valid = (numbers >= self.low) & (numbers <= self.high) & (numbers == np.rint(numbers))
        return np.where(valid, numbers, np.nan)

    def show(self, codes: Array) -> list[Any]:
        """Return Python ints."""
        values: list[Any] = codes.astype(np.int64).tolist()
        return values


def _check_order(parameter: Float | Int, what: str) -> None:
    low, high = parameter.low, parameter.high
    if low > high:
        raise InvalidInput(f"{what}: expected low < high, got low={low!r}, high={high!r}; swap them")
    if low == high:
        raise InvalidInput(f"{what}: expected low < high, got {low!r} for both; use Fixed({low!r})")


def _check_flag(flag: object, name: str) -> None:
    if not isinstance(flag, bool):
        raise InvalidInput(f"{name}: expected True or False, got {flag!r}")


def _as_numbers(values: Sequence[object]) -> Array:
    """Return real numbers as float64, shape (n,), NaN for bools and whatever is not a number."""
    if set(map(type, values)) <= {float, int}:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:  # an int past 1e308: the slow way finds which
            pass
    return np.array([_as_float(value) for value in values], dtype=np.float64)


def _as_float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int | np.floating | np.integer):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
