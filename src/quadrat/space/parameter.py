"""Parameters: how they are read, coded and shown, and when they exist; and choices, in order or without one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput

if TYPE_CHECKING:
    from quadrat._core.arrays import Array

__all__ = [
    "Bins",
    "Categorical",
    "Fixed",
    "Grid",
    "Linear",
    "LogBins",
    "Logarithmic",
    "Parameter",
    "Scale",
    "Value",
    "When",
    "as_value",
    "round_decimal",
]

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

    Of `x`, shape (n,), 1e-300 <= |x| <= 1e300 or 0, at most `digits` <= 15 significant digits and `decimals` places
    behind the decimal point are kept; negative places count before it.

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
    """The numbers first + k step, k < count; each owns a bin of width 1 / count, closed on the left."""

    count: int
    first: float = 0
    step: float = 1

    def decode(self, u: Array) -> Array:
        """Return first + floor(u count) step, the last value at u = 1."""
        indices: Array = np.minimum(np.floor(u * self.count), self.count - 1)
        return self.first + indices * self.step

    def encode(self, values: Array) -> Array:
        """Return the centres of the bins, (k + 1/2) / count."""
        return ((values - self.first) / self.step + 0.5) / self.count


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


Value: TypeAlias = str | int | float | bool | None


class When(Mapping[str, tuple[Value, ...]]):
    """The condition of a parameter: parent name -> the values, one of which that parent must have.

    All parents must agree, and a parent that does not exist itself never does. Immutable and hashable; equal
    conditions are those that allow the same values, in any order.

    Examples
    --------
    >>> When({"booster": "gbtree", "depth": [1, 2]})
    {'booster': 'gbtree', 'depth': [1, 2]}
    """

    __slots__ = ("_allowed",)
    _allowed: Mapping[str, tuple[Value, ...]]

    def __init__(self, conditions: Mapping[str, object]) -> None:
        if not isinstance(conditions, Mapping) or not conditions:
            raise InvalidInput(
                "when: expected the parents' names with the values that they must have, such as"
                f' {{"booster": "gbtree"}} or {{"booster": ["gbtree", "dart"]}}, got {conditions!r}'
            )
        self._allowed = {parent: _allowed_values(parent, values) for parent, values in conditions.items()}

    def __getitem__(self, parent: str) -> tuple[Value, ...]:
        return self._allowed[parent]

    def __iter__(self) -> Iterator[str]:
        return iter(self._allowed)

    def __len__(self) -> int:
        return len(self._allowed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, When) and self._as_sets() == other._as_sets()

    def __hash__(self) -> int:
        return hash(frozenset(self._as_sets().items()))

    def __repr__(self) -> str:
        return repr(self.to_dict())

    def __str__(self) -> str:
        """Return the condition in words."""
        return " and ".join(
            f"{parent} = {' or '.join(repr(value) for value in values)}" for parent, values in self.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: one value as it is, several as a list."""
        return {parent: values[0] if len(values) == 1 else list(values) for parent, values in self._allowed.items()}

    def _as_sets(self) -> dict[str, frozenset[Value]]:
        return {parent: frozenset(values) for parent, values in self._allowed.items()}


def as_value(value: object, *, name: str) -> Value:
    """Return `value`, a str, int, float, bool or None, as it is, and a NumPy scalar as Python's own."""
    plain: object = value.item() if isinstance(value, np.generic) else value
    if plain is not None and not isinstance(plain, str | int | float):
        raise InvalidInput(
            f"{name}: expected a str, int, float, bool or None, got {value!r}; name it with a string and look the"
            " object up in the objective"
        )
    if plain != plain:
        raise InvalidInput(f"{name}: expected a value that equals itself, got {value!r}; use None or a string")
    return plain


def _allowed_values(parent: object, values: object) -> tuple[Value, ...]:
    if not isinstance(parent, str):
        raise InvalidInput(f"when: expected the name of a parent parameter, got {parent!r}")
    if isinstance(values, Set):
        values = sorted(values, key=repr)  # sets have no order of their own that a file could keep
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        values = [values]
    allowed = tuple(dict.fromkeys(as_value(value, name=f"when, value of {parent!r:.80}") for value in values))
    if not allowed:
        raise InvalidInput(f"when: expected at least one value of {parent!r}, got none: it could never exist")
    return allowed


@dataclass(frozen=True, repr=False)
class Parameter(ABC):
    """The base of all parameters: the condition under which they exist, and who chooses them.

    Parameters
    ----------
    context
        Whether its value is given from outside, trial by trial, instead of chosen: see `quadrat.space.Context`.
    when
        The parents' names, each with the value, or the collection of values, that it must have for this
        parameter to exist: ``{"booster": "gbtree"}``, ``{"booster": ["gbtree", "dart"], "depth": 3}``. None:
        it always exists. Parents are Categorical, Int or Fixed.

    Examples
    --------
    >>> from quadrat.space import Float
    >>> momentum = Float(0, 1, when={"optimiser": ["sgd", "rmsprop"]})
    >>> momentum.expected, dict(momentum.when)
    ('a number from 0.0 to 1.0', {'optimiser': ('sgd', 'rmsprop')})
    """

    kind: ClassVar[str]
    has_axis: ClassVar[bool] = True
    may_be_context: ClassVar[bool] = True

    _: KW_ONLY
    context: bool = False
    when: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self._set("when", None if self.when is None else When(self.when))
        if not isinstance(self.context, bool):
            raise InvalidInput(f"{type(self).__name__}: context: expected True or False, got {self.context!r}")
        if self.context and self.when is not None:
            raise InvalidInput(
                f"{type(self).__name__}: expected a context without a condition, got when={self.when!s}: a context is"
                " given in every trial; leave when out"
            )
        if self.context and not self.may_be_context:
            raise InvalidInput(f"context: expected a Float, Int or Categorical, got {type(self).__name__}")

    @property
    def is_single(self) -> bool:
        """Whether there is one value only, such as of Int(3, 3): part of every trial, with nothing to search."""
        return not self.has_axis

    @property
    @abstractmethod
    def expected(self) -> str:
        """What values are valid, in words, for error messages."""

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The map between codes and the unit interval."""

    @abstractmethod
    def read(self, values: Sequence[object]) -> Array:
        """Return the codes of users' `values`, shape (n,), with NaN for those that are not valid."""

    @abstractmethod
    def show(self, codes: Array) -> list[Any]:
        """Return the values that `codes` stand for, as Python objects."""

    def decode(self, u: Array) -> Array:
        """Return the codes at the unit coordinates `u`, shape (n,)."""
        return self.scale.decode(u)

    def encode(self, codes: Array) -> Array:
        """Return the unit coordinates of `codes`, shape (n,), in [0, 1]."""
        return self.scale.encode(codes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as a file holds it: the type, and whatever differs from the defaults."""
        data: dict[str, Any] = {"type": self.kind}
        for name, value, _ in self._stated():
            data[name] = value.to_dict() if isinstance(value, When) else value
            if isinstance(value, tuple):
                data[name] = list(value)
        return data

    def __repr__(self) -> str:
        parts = [f"{name}={value!r}" if named else repr(value) for name, value, named in self._stated()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _stated(self) -> list[tuple[str, Any, bool]]:
        """Return name, value and whether it goes by keyword, of every argument that is not at its default."""
        arguments = [(f.name, getattr(self, f.name), f.kw_only is True, f.default) for f in fields(self) if f.init]
        stated = [(name, value, named) for name, value, named, default in arguments if value is not default]
        shared = {"context": 1, "when": 2}  # what all parameters have comes last
        return sorted(stated, key=lambda argument: (argument[2], shared.get(argument[0], 0)))

    def _set(self, name: str, value: object) -> None:
        """Set a field while a frozen instance is being made."""
        object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class Categorical(Parameter):
    """One of several `choices`, each a str, int, float, bool or None.

    The choices share one axis, in the order given; each of c choices owns a bin of width 1 / c, and its unit
    coordinate is the centre of the bin. What comes back is the object that was given: 1 stays 1, True stays True.

    Choices are told apart by ==, as dictionaries do. So 1, 1.0 and True are one choice, listing two of them is
    refused, and any of them finds the one that is listed.

    Parameters
    ----------
    choices
        A list, tuple or other collection with an order; NumPy scalars become Python's.
    ordered
        Whether neighbours are alike, such as ["small", "medium", "large"]: a model then sees their places in the list,
        at equal distances whatever the choices are. Otherwise any two choices are equally unlike each other.
    context, when
        See `Parameter`.

    Examples
    --------
    >>> Categorical([True, False]).show(np.array([1.0, 0.0]))
    [False, True]
    >>> Categorical(["small", "medium", "large"], ordered=True)
    Categorical(('small', 'medium', 'large'), ordered=True)
    """

    choices: Sequence[Value]
    _: KW_ONLY
    ordered: bool = False
    _types: tuple[type, ...] = field(init=False)  # so that [1, 0] and [True, False] are not equal

    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.choices
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise InvalidInput(f"Categorical: expected choices as a list or tuple, got {given!r}")
        choices = tuple(as_value(choice, name="Categorical: choice") for choice in given)
        if not choices:
            raise InvalidInput("Categorical: expected at least one choice, got none")
        first: dict[Value, int] = {}
        for i, choice in enumerate(choices):
            if first.setdefault(choice, i) < i:
                raise InvalidInput(
                    f"Categorical: expected choices that differ, got {choices[first[choice]]!r} and {choice!r}, which"
                    " are equal in Python; drop one, or use strings"
                )
        if not isinstance(self.ordered, bool):
            raise InvalidInput(f"Categorical: ordered: expected True or False, got {self.ordered!r}")
        self._set("choices", choices)
        self._set("_types", tuple(type(choice) for choice in choices))

    @property
    def is_single(self) -> bool:
        """Whether there is one choice."""
        return len(self.choices) == 1

    @property
    def expected(self) -> str:
        """What values are valid, in words."""
        return "one of " + ", ".join(repr(choice) for choice in self.choices)

    @cached_property
    def scale(self) -> Bins:
        """The map between indices of choices and the unit interval."""
        return Bins(len(self.choices))

    def read(self, values: Sequence[object]) -> Array:
        """Return the indices of the choices `values`, shape (n,), NaN where not a choice."""
        return _look_up(values, self._index)

    def show(self, codes: Array) -> list[Any]:
        """Return the choices as they were given."""
        return [self.choices[i] for i in codes.astype(np.intp).tolist()]

    @cached_property
    def _index(self) -> dict[Value, float]:
        return {choice: float(i) for i, choice in enumerate(self.choices)}


@dataclass(frozen=True, repr=False)
class Fixed(Parameter):
    """A parameter with a single `value`: part of every trial, but no axis of the cube.

    Parameters
    ----------
    value
        A str, int, float, bool or None.
    context, when
        See `Parameter`.

    Examples
    --------
    >>> Fixed("cuda")
    Fixed('cuda')
    """

    value: Value
    _type: type = field(init=False)  # so that 1 and True are not equal

    kind: ClassVar[str] = "fixed"
    has_axis: ClassVar[bool] = False
    may_be_context: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("value", as_value(self.value, name="Fixed: value"))
        self._set("_type", type(self.value))

    @property
    def expected(self) -> str:
        """What value is valid, in words."""
        return repr(self.value)

    @property
    def scale(self) -> Bins:
        """One bin; its unit coordinate is never shown."""
        return Bins(1)

    def read(self, values: Sequence[object]) -> Array:
        """Return 0 for the value, shape (n,), and NaN for anything else."""
        return _look_up(values, {self.value: 0.0})

    def show(self, codes: Array) -> list[Any]:
        """Return the value as often as there are codes."""
        return [self.value] * len(codes)


def _look_up(values: Sequence[object], index: Mapping[Any, float]) -> Array:
    try:
        return np.array([index.get(value, math.nan) for value in values], dtype=np.float64)
    except TypeError:  # something that cannot be hashed, and so cannot be a choice
        hashable = [value if isinstance(value, str | int | float | np.generic | None) else math.nan for value in values]
        return np.array([index.get(value, math.nan) for value in hashable], dtype=np.float64)
