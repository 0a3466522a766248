"""Which parameters depend on which: conditions checked against their parents, and parents put first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.space.numeric import Float
from quadrat.space.suggestions import did_you_mean

if TYPE_CHECKING:
    from quadrat.arrays import Array
    from quadrat.space.parameter import Parameter

__all__ = ["Requirements", "parents_first", "requirements"]

Requirements: TypeAlias = "dict[str, tuple[tuple[str, Array], ...]]"
"""Name -> its parents, each with the codes, one of which the parent must have; empty where it always exists."""


def requirements(parameters: Mapping[str, Parameter]) -> Requirements:
    """Return what each parameter requires of its parents.

    Raises
    ------
    InvalidInput
        A parent that is unknown or a Float, or a value that the parent cannot take.
    """
    return {
        name: tuple(
            (parent, _required_codes(name, parent, allowed, parameters))
            for parent, allowed in (parameter.when or {}).items()
        )
        for name, parameter in parameters.items()
    }


def parents_first(required: Requirements) -> tuple[str, ...]:
    """Return the names in an order that puts every parent before its children.

    Raises
    ------
    InvalidInput
        The conditions form a cycle.

    Examples
    --------
    >>> parents_first({"a": (("b", np.zeros(1)),), "b": (), "c": ()})
    ('b', 'a', 'c')
    """
    order: dict[str, None] = {}
    for first in required:
        # Down to the parents, without recursion: chains may be longer than Python lets functions call each other.
        path = {} if first in order else {first: iter(required[first])}
        while path:
            name, parents = next(reversed(path.items()))
            parent = next((parent for parent, _ in parents if parent not in order), None)
            if parent is None:
                order[name] = None
                del path[name]
            elif parent in path:
                names = list(path)
                cycle = " -> ".join((*names[names.index(parent) :], parent))
                raise InvalidInput(f"space: expected conditions without a cycle, got {cycle}; drop one of these")
            else:
                path[parent] = iter(required[parent])
    return tuple(order)


def _required_codes(name: str, parent: str, allowed: tuple[object, ...], parameters: Mapping[str, Parameter]) -> Array:
    where = f"space: parameter {name!r}, when"
    if parent not in parameters:
        raise InvalidInput(
            f"{where}: expected the name of another parameter, got {parent!r}{did_you_mean(parent, parameters)};"
            f" the space has {', '.join(parameters)}"
        )
    if isinstance(parameters[parent], Float):
        raise InvalidInput(
            f"{where}: expected a Categorical, Int or Fixed parent, got {parent!r}, a Float, whose single values"
            " have no width; add a Categorical that switches"
        )
    codes = parameters[parent].read(allowed)
    if np.isnan(codes).any():
        value = allowed[int(np.argmax(np.isnan(codes)))]
        raise InvalidInput(
            f"{where}: expected values that {parent!r} can take, {parameters[parent].expected}, got {value!r}"
        )
    return codes
