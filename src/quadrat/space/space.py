"""The search space: an ordered set of named parameters, and its map to the unit cube."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from quadrat._core.arrays import as_points, as_vector
from quadrat.errors import InvalidInput, did_you_mean, shortened
from quadrat.space.constraint import Feasible, check_picklable, feasible_points, passes
from quadrat.space.fidelity import Fidelity
from quadrat.space.files import parameter_from_table, read_json, read_toml
from quadrat.space.numeric import Float
from quadrat.space.parameter import Parameter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from quadrat._core.arrays import Array, ArrayLike, Bools
    from quadrat.space.parameter import Parameter

__all__ = [
    "ABSENT",
    "NEUTRAL",
    "Coding",
    "Context",
    "Requirements",
    "Space",
    "context_of",
    "context_point",
    "parents_first",
    "requirements",
]


Requirements: TypeAlias = "dict[str, tuple[tuple[str, Array], ...]]"
"""Name -> its parents, each with the codes, one of which the parent must have; empty where it always exists."""


def requirements(parameters: Mapping[str, Parameter]) -> Requirements:
    """Return the codes that each parameter requires of its parents."""
    return {
        name: tuple(
            (parent, _required_codes(name, parent, allowed, parameters))
            for parent, allowed in (parameter.when or {}).items()
        )
        for name, parameter in parameters.items()
    }


def parents_first(required: Requirements) -> tuple[str, ...]:
    """Return the names in an order that puts every parent before its children.

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


def _axes_of(parameters: Mapping[str, Parameter]) -> list[str]:
    """Return the names of the parameters with an axis: contexts, and those that can vary.

    Where none can vary, parameters of a single value keep their axes: a search needs one.
    """
    able = {name: parameter for name, parameter in parameters.items() if parameter.has_axis}
    return [name for name, parameter in able.items() if parameter.context or not parameter.is_single] or [*able]


class Coding:
    """The coding of a set of parameters.

    A parameter reads a value into a code, which is NaN where it cannot take the value, and encodes the code as a
    coordinate in [0, 1]; decoding goes back. Conditions are about codes of parents, so all of it goes parents first.
    `axis` is the axis of each parameter that has one, by name, in order; `parents` are in some condition.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._parameters = parameters
        self.axis = {name: axis for axis, name in enumerate(_axes_of(parameters))}
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

    def decode(self, units: Array, *, all_of_them: bool = True) -> tuple[dict[str, Array], dict[str, Bools]]:
        """Return for each parameter its codes and where it exists, each of shape (n,); or codes of parents alone."""
        codes: dict[str, Array] = {}
        exists: dict[str, Bools] = {}
        for name in self._order:
            if all_of_them or name in self.parents:
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


P = TypeVar("P", bound=Parameter)


def Context(parameter: P) -> P:  # reads as what it makes: site=Context(Categorical([...]))
    """Return the parameter marked as a context: given with every `ask`, never chosen.

    In a file it is written ``context = true``.

    Parameters
    ----------
    parameter
        A Float, Int or Categorical.

    Returns
    -------
    Parameter

    Examples
    --------
    >>> from quadrat.space import Categorical
    >>> Context(Categorical(["north", "south"]))
    Categorical(('north', 'south'), context=True)
    """
    if not isinstance(parameter, Parameter):
        raise InvalidInput(
            f"Context: expected a parameter, such as Context(Categorical(['north', 'south'])), got {parameter!r:.80}"
        )
    return replace(parameter, context=True)


def context_of(space: Space, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context among parameters of the space."""
    return {name: params[name] for name in space.contexts}


def context_point(space: Space, context: Mapping[str, Any] | None) -> Array | None:
    """Return a context as coordinates, shape (D,), NaN on the axes that are free; None for a space without contexts."""
    if not space.contexts:
        if context is None:
            return None
        raise InvalidInput(
            "context: expected none, because no parameter of the space is marked with Context(...), got"
            f" {context!r:.80}"
        )
    listed = ", ".join(map(repr, space.contexts))
    if context is None:
        raise InvalidInput(f"context: expected values of {listed}, got none; give them as context={{...}}")
    if not isinstance(context, Mapping):
        raise InvalidInput(f"context: expected a mapping with values of {listed}, got {context!r:.80}")
    point = np.full(space.dimension, np.nan)
    for name in context:
        if name not in space.contexts:
            raise InvalidInput(
                f"context: expected values of {listed}, got {name!r}{did_you_mean(name, space.contexts)}, which is no"
                " context"
            )
    for name in space.contexts:
        if name not in context:
            raise InvalidInput(f"context: expected values of {listed}, got none of {name!r}")
        parameter = space[name]
        code = parameter.read([context[name]])
        if np.isnan(code[0]):
            raise InvalidInput(f"context: {name!r}: expected {parameter.expected}, got {context[name]!r:.80}")
        # As it comes back from the cube: a trial in this context has exactly this coordinate, also when it is replayed.
        point[space.axes.index(name)] = parameter.encode(parameter.decode(parameter.encode(code)))[0]
    return point


class Space(Mapping[str, Parameter]):
    """Named parameters in order, and the map between their values and the unit cube [0, 1]^D.

    Each parameter that can vary owns one axis, in the order given; a Fixed parameter, or one of a single value such as
    Int(3, 3), owns none, and a conditional one keeps its axis whether it exists or not. Three maps work on single
    points and on many:

    - `from_unit` and `from_units` give the parameters at points of the cube. Parameters that do not exist there
      are left out.
    - `to_unit` and `to_units` give the point of parameters, with 0.5 on the axis of any that does not exist: a
      parameter that does not exist in a trial does not count.
    - `round` is one after the other: the point that stands for all points with the same parameters, which is
      what a kernel should see.

    For every point u, ``from_unit(to_unit(from_unit(u)))`` is ``from_unit(u)`` bit for bit. So are
    ``from_unit(to_unit(params))`` and ``params`` for every valid Int, Categorical, Fixed and stepped Float, and
    for a Float without steps as far as 13 significant digits go: `Float` says exactly how far.

    A space is immutable, compares by its parameters and their order, and is a mapping from names to parameters.

    Parameters
    ----------
    by_name
        The parameters by name, in a mapping: names may be any texts. Tables as in files go through `from_dict`.
    **parameters
        The parameters by name, in the place of the mapping.

    Examples
    --------
    >>> from quadrat.space import Categorical, Float, Int
    >>> space = Space(
    ...     booster=Categorical(["gbtree", "linear"]),
    ...     eta=Float(0.001, 1, log=True),
    ...     depth=Int(1, 10, when={"booster": "gbtree"}),
    ... )
    >>> space.axes
    ('booster', 'eta', 'depth')
    >>> space.to_unit({"booster": "linear", "eta": 0.001}).tolist()
    [0.75, 0.0, 0.5]
    >>> space.from_unit([0.25, 1.0, 0.95])
    {'booster': 'gbtree', 'eta': 1.0, 'depth': 10}
    """

    __slots__ = ("_coding", "_feasible", "_parameters")
    _feasible: Feasible | None
    _parameters: dict[str, Parameter]
    _coding: Coding

    def __init__(self, by_name: Mapping[str, Parameter] | None = None, /, **parameters: Parameter) -> None:
        if by_name is not None:
            if (
                not isinstance(by_name, Mapping)
                or parameters
                or not all(type(name) is str and name for name in by_name)
            ):
                raise InvalidInput(
                    "space: expected parameters by keyword, or one mapping with non-empty names and no keywords beside"
                    f" it, got {by_name!r:.200}{' and keywords' if parameters else ''}"
                )
            parameters = dict(by_name)
        for name, parameter in parameters.items():
            if not isinstance(parameter, Parameter):
                raise InvalidInput(
                    f"space: parameter {name!r}: expected a Float, Int, Categorical or Fixed, got {parameter!r}; a"
                    " plain value goes in as Fixed(value), and tables go through Space.from_dict"
                )
        axes = _axes_of(parameters)
        if not axes:
            raise InvalidInput(f"space: expected at least one parameter that can vary, got {parameters!r}")
        if all(parameters[name].context or isinstance(parameters[name], Fidelity) for name in axes):
            raise InvalidInput(
                f"space: expected a parameter to choose beside contexts and fidelity, got {parameters!r}"
            )
        fidelities = [name for name in axes if isinstance(parameters[name], Fidelity)]
        if len(fidelities) > 1:
            raise InvalidInput(
                f"space: expected at most one Fidelity, got {', '.join(fidelities)}; combine their levels"
            )
        store = super().__setattr__
        store("_parameters", dict(parameters))
        store("_coding", Coding(self._parameters))
        store("_feasible", None)

    def subject_to(self, feasible: Feasible) -> Space:
        """Return the same space with a known constraint.

        Parameters
        ----------
        feasible
            A function from params to True where they may be evaluated, else False. It must be quick, is called many
            times for one suggestion, and must always say the same of the same params. It is not part of files.
            Whatever searches the space refuses one that fewer than 1 in 1,000 uniform settings meet, such as an
            equation: solve it for one parameter, so that the others are free. Of a mixture leave out one component,
            compute it in the objective as 1 - a - b, and let a + b be at most 1.

        Examples
        --------
        >>> space = Space(x=Float(0, 1), y=Float(0, 1)).subject_to(lambda p: p["x"] + p["y"] <= 1)
        >>> space.feasible({"x": 0.9, "y": 0.5})
        False
        """
        if not callable(feasible):
            raise InvalidInput(f"feasible: expected a function from params to True or False, got {feasible!r:.80}")
        made = type(self).from_dict(self._parameters)
        object.__setattr__(made, "_feasible", feasible)
        return made

    @property
    def is_constrained(self) -> bool:
        """Whether `subject_to` gave a constraint."""
        return self._feasible is not None

    def feasible(self, params: Mapping[str, Any]) -> bool:
        """Return whether the known constraint, if there is one, lets `params` be evaluated."""
        return self._feasible is None or passes(self._feasible, params)

    def allowed(self, u: ArrayLike) -> Bools:
        """Return where the known constraint lets the rows of `u`, shape (n, D), be evaluated; shape (n,)."""
        units = self._coding.checked(u)
        if self._feasible is None:
            return np.ones(len(units), dtype=np.bool_)
        return np.array([passes(self._feasible, params) for params in self.from_units(units)], dtype=np.bool_)

    @classmethod
    def from_dict(cls, parameters: Mapping[str, Parameter | Mapping[str, Any]], *, source: str = "space") -> Space:
        """Return the space of `parameters`, each a parameter or a table ``{"type": ..., ...}`` as in files.

        Errors call the data `source`.

        Examples
        --------
        >>> Space.from_dict({"batch-size": {"type": "int", "low": 10, "high": 500}, "lr": Float(0, 1)})
        Space.from_dict({'batch-size': Int(10, 500), 'lr': Float(0.0, 1.0)})
        """
        if not isinstance(parameters, Mapping):
            raise InvalidInput(f"{source}: expected a mapping from names to parameters, got {parameters!r:.80}")
        made = {}
        for name, given in parameters.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"{source}: expected non-empty strings as names of parameters, got {name!r}")
            parameter = given if isinstance(given, Parameter) else parameter_from_table(name, given, source=source)
            made[name] = parameter
        try:
            return cls(**made)
        except InvalidInput as error:
            raise InvalidInput(f"{source}: {shortened(str(error).removeprefix('space: '))}") from None

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Space:
        """Return the space in the TOML file `path`, one table a parameter."""
        return cls.from_dict(read_toml(path), source=str(path))

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Space:
        """Return the space in the JSON file `path`, an object with one object a parameter; else as `from_toml`."""
        return cls.from_dict(read_json(path), source=str(path))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Space:
        """Return the space in the file `path`: JSON where its name ends so, else TOML."""
        return cls.from_json(path) if str(path).endswith(".json") else cls.from_toml(path)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain data from which `from_dict` makes an equal space.

        Examples
        --------
        >>> Space(lr=Float(0.1, 1, log=True)).to_dict()
        {'lr': {'type': 'float', 'low': 0.1, 'high': 1.0, 'log': True}}
        """
        return {name: parameter.to_dict() for name, parameter in self.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parameters, in order."""
        return tuple(self._parameters)

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the parameters that own the axes of the cube, in order of the axes."""
        return tuple(self._coding.axis)

    @property
    def dimension(self) -> int:
        """D, the number of axes of the cube."""
        return len(self._coding.axis)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the parameters that are given from outside (`Context`), in order."""
        return tuple(name for name in self._coding.axis if self[name].context)

    @property
    def fidelity(self) -> str | None:
        """The name of the parameter that is a `Fidelity`; None where there is none."""
        return next((name for name in self._coding.axis if isinstance(self[name], Fidelity)), None)

    @property
    def is_continuous(self) -> bool:
        """Whether every axis is a Float without steps or condition, so that all the cube is distinct points."""
        return not self.discontinuous

    @property
    def discontinuous(self) -> tuple[str, ...]:
        """The names of the axes that keep the space from being continuous."""
        return tuple(name for name in self._coding.axis if not _is_continuous(self[name]))

    def active(self, params: Mapping[str, object]) -> tuple[str, ...]:
        """Return the names of the parameters that exist, in order, given the values of the parents in `params`.

        Only parents that exist themselves need to be there; nothing else is looked at.
        """
        parents = self._coding.parents

        def given(name: str) -> list[object]:
            if name in parents and name not in params:
                raise self._coding.missing(name, params, "params")
            return [params[name]] if name in parents else []

        return self._coding.existing(given)

    def choose_each(self, choose: Callable[[str, Parameter], Any]) -> dict[str, Any]:
        """Return parameters that `choose(name, parameter)` chooses one by one, parents first, if they exist then.

        Examples
        --------
        >>> from quadrat.space import Categorical, Int
        >>> space = Space(depth=Int(1, 10, when={"booster": "tree"}), booster=Categorical(["tree", "linear"]))
        >>> space.choose_each(lambda name, _: {"booster": "linear"}[name])
        {'booster': 'linear'}
        """
        chosen: dict[str, Any] = {}

        def choice(name: str) -> list[object]:
            chosen[name] = choose(name, self[name])
            return [chosen[name]]

        return {name: chosen[name] for name in self._coding.existing(choice)}

    def to_unit(self, params: Mapping[str, object]) -> Array:
        """Return the point of `params` in the unit cube, shape (D,)."""
        point: Array = self._coding.encode([params], "params")[0]
        return point

    def to_units(self, params: Iterable[Mapping[str, object]]) -> Array:
        """Return the points of many `params`, shape (n, D); as `to_unit`, and errors say which of them."""
        return self._coding.encode(list(params), "params[{}]")

    def from_unit(self, u: ArrayLike) -> dict[str, Any]:
        """Return the parameters at the point `u`, shape (D,), of the unit cube, those that exist, in order."""
        return self.from_units(as_vector(u, length=self.dimension, name="u")[None, :])[0]

    def from_units(self, u: ArrayLike) -> list[dict[str, Any]]:
        """Return the parameters at each row of `u`, shape (n, D); as `from_unit`."""
        codes, exists = self._coding.decode(self._coding.checked(u))
        columns = []
        for name, parameter in self.items():
            values = parameter.show(codes[name])
            if not exists[name].all():
                pairs = zip(values, exists[name].tolist(), strict=True)
                values = [value if there else ABSENT for value, there in pairs]
            columns.append(values)
        rows = (zip(self._parameters, row, strict=True) for row in zip(*columns, strict=True))
        if all(mask.all() for mask in exists.values()):
            return [dict(row) for row in rows]
        return [{name: value for name, value in row if value is not ABSENT} for row in rows]

    def round(self, u: ArrayLike) -> Array:
        """Return ``to_unit(from_unit(u))`` for a point (D,) or for each row of a matrix (n, D), in the same shape.

        Every coordinate moves to the one that stands for its value, such as the centre of its bin, and to 0.5
        on the axis of a parameter that does not exist there. Rounding again changes nothing.

        Examples
        --------
        >>> from quadrat.space import Float, Int
        >>> Space(x=Float(0, 1), n=Int(1, 2)).round([0.3, 0.9]).tolist()
        [0.3, 0.75]
        """
        units = self._coding.checked(u)
        codes, exists = self._coding.decode(units)
        rounded = np.empty_like(units)
        for name, axis in self._coding.axis.items():
            rounded[:, axis] = np.where(exists[name], self[name].encode(codes[name]), NEUTRAL)
        return rounded.reshape(np.shape(u))

    def exists(self, u: ArrayLike) -> Bools:
        """Return which axes belong to a parameter that exists, shape (n, D), at the rows of `u`, shape (n, D)."""
        _, exists = self._coding.decode(self._coding.checked(u), all_of_them=False)
        return np.stack([exists[name] for name in self._coding.axis], axis=1)

    def sample(self, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Return the parameters at `n` >= 0 independent points that `rng` draws, uniform on the feasible cube.

        Examples
        --------
        >>> from quadrat.randomness import generator
        >>> from quadrat.space import Int
        >>> Space(n=Int(1, 6)).sample(3, generator(0))
        [{'n': 4}, {'n': 2}, {'n': 1}]
        """
        if not isinstance(rng, np.random.Generator):
            raise InvalidInput(f"rng: expected a numpy.random.Generator, got {rng!r}; make one from a seed")
        try:
            count = operator.index(n)
        except TypeError:
            count = -1
        if count < 0:
            raise InvalidInput(f"n: expected a non-negative integer, got {n!r}")
        if self._feasible is not None:
            return self.from_units(feasible_points(self, count, rng))
        return self.from_units(rng.random((count, self.dimension)))

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return False
        return tuple(self.items()) == tuple(other.items()) and self._feasible == other._feasible

    def __hash__(self) -> int:
        return hash((tuple(self.items()), self._feasible))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Space is immutable: cannot set {name!r}; make a new one")

    def __reduce__(self) -> tuple[Any, ...]:
        if self._feasible is not None:
            check_picklable(self._feasible)
        return _remake, (self._parameters, self._feasible)

    def __copy__(self) -> Space:
        return self  # nothing can change it

    def __deepcopy__(self, memo: dict[int, Any]) -> Space:
        return _remake(deepcopy(self._parameters, memo), deepcopy(self._feasible, memo))

    def __repr__(self) -> str:
        constraint = "" if self._feasible is None else f".subject_to({getattr(self._feasible, '__name__', 'feasible')})"
        if all(name.isidentifier() for name in self):
            return f"Space({', '.join(f'{name}={parameter!r}' for name, parameter in self.items())}){constraint}"
        return f"Space.from_dict({self._parameters!r}){constraint}"

    def _repr_html_(self) -> str:
        from quadrat.space.space_html import space_html

        return space_html(self, self._feasible)


def _is_continuous(parameter: Parameter) -> bool:
    shown = isinstance(parameter, Float) and parameter.step is None and parameter.when is None
    return shown and not parameter.is_single


def _remake(parameters: Mapping[str, Parameter], feasible: Feasible | None) -> Space:
    """Return the space of these parameters with this constraint: how a copy is made."""
    space = Space.from_dict(parameters)
    return space if feasible is None else space.subject_to(feasible)
