"""Numeric parameters, Float and Int, and the scales on which they are searched.

A scale maps values to coordinates in [0, 1] and back: linear or logarithmic, with or without steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from quadrat._core.arrays import as_number
from quadrat.errors import InvalidInput
from quadrat.space.parameter import Bins, Grid, Linear, Logarithmic, LogBins, Parameter

if TYPE_CHECKING:
    from quadrat._core.arrays import Array

__all__ = ["Float", "Int"]


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
        The bounds: zero, or between 1e-150 and 1e150 in size; equal for a single value, or else high - low at least
        1e-9 of the larger.
    log
        Whether equal steps on the cube are equal ratios of values; `low` must then be positive.
    step
        The spacing of the values, or None for all; not together with `log`.
    context, when
        See `Parameter`.

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
        if 0 < self.high - self.low < _NARROWEST * reach:
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
        if step > self.high - self.low and not self.is_single:
            raise InvalidInput(
                f"Float: expected step to be at most high - low = {self.high - self.low!r}, got step={step!r};"
                " make them equal for a single value"
            )
        if step < _NARROWEST * reach:
            raise InvalidInput(
                f"Float: expected step to be at least {_NARROWEST:g} of the larger bound, got step={step!r};"
                " leave step out to allow all values"
            )
        self._set("step", step)

    @property
    def is_single(self) -> bool:
        """Whether the bounds are equal."""
        return self.low == self.high

    @property
    def expected(self) -> str:
        """What values are valid, in words."""
        steps = "" if self.step is None else f" in steps of {self.step!r}"
        return f"a number from {self.low!r} to {self.high!r}{steps}"

    @cached_property
    def scale(self) -> Linear | Logarithmic | Grid | Bins:
        """The map between values and the unit interval."""
        if self.is_single:
            return Bins(1, self.low)
        if self.step is not None:
            return Grid(self.low, self.high, self.step)
        return Logarithmic(self.low, self.high) if self.log else Linear(self.low, self.high)

    def read(self, values: Sequence[object]) -> Array:
        """Return `values` as floats, shape (n,), NaN where not valid."""
        numbers = _as_numbers(values)
        slack = 0.0 if self.step is None or self.is_single else _STEP_TOLERANCE * self.step
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
    low + floor(u (high - low + 1)). With `log`, v owns the interval from log(v - 1/2) to log(v + 1/2). With `step`,
    the integers are low, low + step, ..., and no other is valid.

    A float with an integral value, 3.0, is taken as 3, since tables and JSON turn integers into such; a bool
    is not.

    Parameters
    ----------
    low, high
        The bounds, at most 10^12 in size; equal for a single value.
    log
        Whether the bins lie on a log scale, as above; `low` must then be at least 1.
    step
        The spacing of the values low, low + step, ..., the last not above `high`; more than 1 not together with `log`.
    context, when
        See `Parameter`.

    Examples
    --------
    >>> Int(10, 500)
    Int(10, 500)
    >>> Int(1, 4).encode(np.array([1, 2, 3, 4])).tolist()
    [0.125, 0.375, 0.625, 0.875]
    >>> Int(32, 256, step=32).decode(np.array([0.0, 0.3, 1.0])).tolist()
    [32.0, 96.0, 256.0]
    """

    low: int
    high: int
    _: KW_ONLY
    log: bool = False
    step: int = 1

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
        self._check_step()

    def _check_step(self) -> None:
        step = float(_as_numbers([self.step])[0])
        if not (1 <= step <= _LARGEST_INT and step.is_integer()):
            raise InvalidInput(f"Int: expected step to be an integer from 1 to 10^12, got {self.step!r}")
        if step > 1 and self.log:
            raise InvalidInput("Int: expected step or log=True, got both; drop one of them")
        if step > self.high - self.low and not self.is_single:
            raise InvalidInput(
                f"Int: expected step to be at most high - low = {self.high - self.low}, got step={int(step)}; make low"
                " and high equal for a single value"
            )
        self._set("step", int(step))

    @property
    def is_single(self) -> bool:
        """Whether the bounds are equal."""
        return self.low == self.high

    @property
    def last(self) -> int:
        """The largest value: `high`, or with steps the last one not above it."""
        return self.high - (self.high - self.low) % self.step

    @property
    def expected(self) -> str:
        """What values are valid, in words."""
        steps = "" if self.step == 1 else f" in steps of {self.step}"
        return f"an integer from {self.low} to {self.last}{steps}"

    @cached_property
    def scale(self) -> Bins | LogBins:
        """The map between values and the unit interval."""
        if self.log:
            return LogBins(self.low, self.high)
        return Bins((self.high - self.low) // self.step + 1, self.low, self.step)

    def read(self, values: Sequence[object]) -> Array:
        """Return `values` as integral floats, shape (n,), NaN where not valid."""
        numbers = _as_numbers(values)
        inside = np.where((numbers >= self.low) & (numbers <= self.high), numbers, np.nan)
        return np.where((inside - self.low) % self.step == 0, inside, np.nan)

    def show(self, codes: Array) -> list[Any]:
        """Return Python ints."""
        values: list[Any] = codes.astype(np.int64).tolist()
        return values


def _check_order(parameter: Float | Int, what: str) -> None:
    low, high = parameter.low, parameter.high
    if low > high:
        raise InvalidInput(f"{what}: expected low <= high, got low={low!r}, high={high!r}; swap them")


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
