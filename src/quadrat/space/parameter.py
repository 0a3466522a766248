"""What every parameter is: how it is read, coded and shown, and when it exists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput

if TYPE_CHECKING:
    from quadrat.arrays import Array
    from quadrat.space.numeric import Scale

__all__ = ["Parameter", "Value", "When", "as_value"]

Value: TypeAlias = str | int | float | bool | None


class When(Mapping[str, tuple[Value, ...]]):
    """The condition of a parameter: parent name -> the values, one of which that parent must have.

    All parents must agree, and a parent that does not exist itself never does. Immutable and hashable; equal
    conditions are those that allow the same values, in any order.

    Examples
    --------
    >>> When({"booster": "gbtree", "depth": [1, 2]})
    {'booster': 'gbtree', 'depth': [1, 2]}
    >>> When({"booster": "gbtree"})["booster"]
    ('gbtree',)
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
    """Return `value`, a str, int, float, bool or None, as it is, and a NumPy scalar as Python's own.

    Raises
    ------
    InvalidInput
        Any other type; or NaN, which equals nothing and so could never be found again.
    """
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
    """What all parameters share: the condition under which they exist, and who chooses them.

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
