"""Parameters that are objects of the user's own: Categorical and Fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.space.numeric import Bins
from quadrat.space.parameter import Parameter, Value, as_value

if TYPE_CHECKING:
    from quadrat.arrays import Array

__all__ = ["Categorical", "Fixed"]


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
        A list, tuple or other ordered collection; NumPy scalars become Python's.
    context, when
        See `Parameter`.

    Raises
    ------
    InvalidInput
        No choices, two that are equal, or one of another type.

    Examples
    --------
    >>> Categorical(["adam", "sgd", None])
    Categorical(('adam', 'sgd', None))
    >>> Categorical([True, False]).show(np.array([1.0, 0.0]))
    [False, True]
    """

    choices: Sequence[Value]
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
        self._set("choices", choices)
        self._set("_types", tuple(type(choice) for choice in choices))

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

    Raises
    ------
    InvalidInput
        A value of another type, or `context` where nothing can vary.

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
