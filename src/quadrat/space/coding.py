"""How the points of a space are coded: values as codes, codes as coordinates, and which parameters exist where.

Conditions are checked against their parents here, and parents put first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from quadrat.arrays import as_points
from quadrat.errors import InvalidInput
from quadrat.space.numeric import Float

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quadrat.arrays import Array, ArrayLike, Bools
    from quadrat.space.parameter import Parameter

__all__ = ["ABSENT", "NEUTRAL", "Coding", "Requirements", "did_you_mean", "parents_first", "requirements"]

_LONGEST = 200  # characters of a word that somebody mistyped; comparing takes their square


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return " (did you mean '...'?)" with the nearest known word, or "" where none is near.

    Examples
    --------
    >>> did_you_mean("hihg", ["low", "high"])
    " (did you mean 'high'?)"
    >>> did_you_mean("zzz", ["low", "high"])
    ''
    """
    import difflib

    text = str(word)
    near = difflib.get_close_matches(text, list(known), n=1) if len(text) <= _LONGEST else []
    return f" (did you mean {near[0]!r}?)" if near else ""


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


ABSENT = object()  # in the place of a value that does not exist
NEUTRAL = 0.5  # the coordinate of a parameter that does not exist: the same for all, so that it tells nothing


class Coding:
    """The coding of a set of parameters.

    A parameter reads a value into a code, which is NaN where it cannot take the value, and encodes the code as a
    coordinate in [0, 1]; decoding goes back. Conditions are about codes of parents, so all of it goes parents first.

    Parameters
    ----------
    parameters
        By name.

    Attributes
    ----------
    axis
        The axis of each parameter that has one, by name, in order.
    parents
        Names of the parameters that conditions are about.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._parameters = parameters
        axes = [name for name, parameter in parameters.items() if parameter.has_axis]
        self.axis = {name: axis for axis, name in enumerate(axes)}
        self._required = requirements(parameters)
        self._order = parents_first(self._required)
        self.parents = frozenset(parent for required in self._required.values() for parent, _ in required)

    def checked(self, u: ArrayLike) -> Array:
        """Return points of the unit cube, shape (n, D), or raise InvalidInput."""
        units = as_points(u, dimension=len(self.axis), name="u")
        outside = (units < 0) | (units > 1)
        if outside.any():
            row, axis = (int(i) for i in np.argwhere(outside)[0])
            raise InvalidInput(
                f"u: expected coordinates in [0, 1], got {units[row, axis]!s} in row {row} on axis {axis}"
                f" ({tuple(self.axis)[axis]!r}); clip them first"
            )
        return units

    def _existence(self, name: str, codes: Mapping[str, Array], exists: Mapping[str, Bools], n: int) -> Bools:
        """Return where `name` exists, shape (n,), given codes and existence of its parents."""
        there = np.ones(n, dtype=np.bool_)
        for parent, allowed in self._required[name]:
            there &= exists[parent] & np.isin(codes[parent], allowed)
        return there

    def decode(self, units: Array) -> tuple[dict[str, Array], dict[str, Bools]]:
        """Return for each parameter its codes and where it exists, each of shape (n,)."""
        codes: dict[str, Array] = {}
        exists: dict[str, Bools] = {}
        for name in self._order:
            axis = self.axis.get(name)
            # Contiguous, so that NumPy takes the same path, to the last bit, for one point as for many.
            column = np.zeros(len(units)) if axis is None else np.ascontiguousarray(units[:, axis])
            codes[name] = self._parameters[name].decode(column)
            exists[name] = self._existence(name, codes, exists, len(units))
        return codes, exists

    def encode(self, points: Sequence[Mapping[str, object]], label: str) -> Array:
        """Return the unit points of `points`; errors call point i `label`, with i in the place of {}."""
        for i, point in enumerate(points):
            if not isinstance(point, Mapping):
                raise InvalidInput(f"{label.format(i)}: expected a mapping from names to values, got {point!r:.80}")
            if not point.keys() <= self._parameters.keys():
                unknown = next(name for name in point if name not in self._parameters)
                raise InvalidInput(
                    f"{label.format(i)}: unknown parameter {unknown!r}{did_you_mean(unknown, self._parameters)}; the"
                    f" space has {', '.join(self._parameters)}"
                )
        units = np.full((len(points), len(self.axis)), NEUTRAL)
        codes: dict[str, Array] = {}
        exists: dict[str, Bools] = {}
        for name in self._order:
            there = exists[name] = self._existence(name, codes, exists, len(points))
            column = [point.get(name, ABSENT) for point in points]
            given = np.array([value is not ABSENT for value in column], dtype=np.bool_)
            if (given != there).any():
                i = int(np.argmax(given != there))
                refuse = self.missing if there[i] else self._superfluous
                raise refuse(name, points[i], label.format(i))
            rows = np.flatnonzero(there)
            values = column if len(rows) == len(column) else [column[i] for i in rows]
            read = self._parameters[name].read(values)
            if np.isnan(read).any():
                i = int(np.argmax(np.isnan(read)))
                raise self._invalid(name, values[i], label.format(rows[i]))
            codes[name] = np.full(len(points), np.nan)
            codes[name][rows] = read
            if name in self.axis:
                units[rows, self.axis[name]] = self._parameters[name].encode(read)
        return units

    def _invalid(self, name: str, value: object, label: str) -> InvalidInput:
        return InvalidInput(
            f"{label}: parameter {name!r}: expected {self._parameters[name].expected}, got {value!r:.80}"
        )

    def missing(self, name: str, point: Mapping[str, object], label: str) -> InvalidInput:
        """Return the error that a parameter exists and was not given."""
        came = f"only {', '.join(map(str, point))}" if point else "nothing"
        return InvalidInput(f"{label}: expected a value for {name!r}, {self._parameters[name].expected}, got {came}")

    def _superfluous(self, name: str, point: Mapping[str, object], label: str) -> InvalidInput:
        when = self._parameters[name].when
        parents = ", ".join(
            f"{parent} = {point[parent]!r}" if parent in point else f"no {parent}" for parent in when or ()
        )
        return InvalidInput(f"{label}: {name!r} exists only when {when!s}, got {parents}; leave {name!r} out")

    def existing(self, value_of: Callable[[str], list[object]]) -> tuple[str, ...]:
        """Return the names of the parameters that exist, in order; `value_of` gives one value, or none to go by."""
        codes: dict[str, Array] = {}
        exists: dict[str, Bools] = {}
        for name in self._order:
            exists[name] = self._existence(name, codes, exists, 1)
            values = value_of(name) if exists[name][0] else []
            codes[name] = self._parameters[name].read(values) if values else np.full(1, np.nan)
            if values and np.isnan(codes[name][0]):
                raise self._invalid(name, values[0], "params")
        return tuple(name for name in self._parameters if exists[name][0])
