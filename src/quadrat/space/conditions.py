"""When a conditional parameter exists: what values its parents must have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput

__all__ = ["Value", "When", "as_value"]

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
