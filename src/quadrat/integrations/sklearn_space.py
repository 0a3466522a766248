"""Search spaces of RandomizedSearchCV (lists of choices, SciPy's distributions) and BayesSearchCV as a `Space`.

A list of dictionaries is a choice among them: a parameter of the space says which one, and what only some of them have
exists under that condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed, Float, Int, Space
from quadrat.space.constraint import listed_settings
from quadrat.space.parameter import Parameter

__all__ = ["CandidateSpace"]

_TAIL = 1e-3  # probability that is left out at either end of a distribution without finite support
_MOST_LISTED = 10_000  # integers between the ends of a distribution that are looked at one by one
_LONGEST = 60  # characters of the text that a choice is called by
_PRIORS = {"uniform": False, "log-uniform": True}
_EXPECTED = (
    "a parameter such as Float(1e-3, 1e3, log=True), a list of choices, a dictionary from names to choices, a tuple"
    ' (low, high) or (low, high, "log-uniform"), or a frozen distribution of scipy.stats'
)


@dataclass(frozen=True)
class _Axis:
    """A parameter that is searched, and the meaning of its values; None: themselves."""

    parameter: Parameter
    shown: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class CandidateSpace:
    """A space, and the candidates that its parameters stand for.

    `shown` maps, by name, a value in the space to the value that an estimator gets; others are the same. `names` has
    the estimator's names of parameters where they differ, None for one that the estimator does not have.

    Examples
    --------
    >>> wanted = CandidateSpace.of({"C": (0.1, 10.0, "log-uniform"), "size": [(10,), (10, 10)]})
    >>> wanted.space
    Space(C=Float(0.1, 10.0, log=True), size=Categorical(('(10,)', '(10, 10)')))
    >>> wanted.candidate({"C": 1.0, "size": "(10, 10)"})
    {'C': 1.0, 'size': (10, 10)}
    >>> cases = CandidateSpace.of([{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": (0.1, 1.0)}])
    >>> cases.candidate({"case": 1, "kernel@1": "rbf", "gamma": 0.5})
    {'kernel': 'rbf', 'gamma': 0.5}
    """

    space: Space
    shown: Mapping[str, Callable[[Any], Any]]
    names: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, given: object) -> CandidateSpace:
        """Return the space that a user means.

        `given` is a `Space`, or a mapping from names to: parameters; lists and other sequences of choices, which may be
        any objects; tuples (low, high) or (low, high, prior), prior "uniform" or "log-uniform", of integers or floats,
        both bounds included; frozen distributions of scipy.stats. Or a list of such mappings, of which each candidate
        is of one. Three or more numbers in a list that rise or fall throughout are ordered choices. A choice that a
        space cannot hold, such as an estimator, is called by its text there, or by its place in the list where texts
        are long or equal; a mapping from names to choices gives them names. A distribution that is neither uniform nor
        log-uniform is searched along its quantiles, so that its likely values have more room; tails of 0.1 % are left
        out if it is unbounded. One of integers is searched from the least to the largest, without those in between that
        it cannot have.
        """
        if isinstance(given, Space):
            _refuse_outside_choices(given)
            return cls(given, {})
        if isinstance(given, list | tuple) and given:
            return _choice_of_cases(given) if len(given) > 1 else cls.of(_as_case(given[0], "[0]"))
        if not isinstance(given, Mapping) or not given:
            raise InvalidInput(
                "search_spaces: expected a Space, a dictionary from names of parameters to what to search, or a list of"
                f" such dictionaries, got {given!r:.80}"
            )
        axes = _axes(given, "search_spaces")
        space = Space.from_dict({name: axis.parameter for name, axis in axes.items()}, source="search_spaces")
        _refuse_outside_choices(space)
        return cls(space, {name: axis.shown for name, axis in axes.items() if axis.shown is not None})

    def candidate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as an estimator gets them."""
        called = {name: self.names.get(name, name) for name in params}
        return {
            call: self.shown[name](params[name]) if name in self.shown else params[name]
            for name, call in called.items()
            if call is not None
        }

    def all_params(self, at_most: int) -> list[dict[str, Any]] | None:
        """Return all parameters of the space where there are so few, in the order of the space; None elsewhere."""
        listed = listed_settings(self.space)
        if listed is None:
            return None
        allowed = listed[self.space.allowed(listed)]
        return self.space.from_units(allowed) if len(allowed) <= at_most else None


def _refuse_outside_choices(space: Space) -> None:
    outside = [*space.contexts, *([] if space.fidelity is None else [space.fidelity])]
    if outside:
        raise InvalidInput(
            f"search_spaces: expected parameters that a cross-validated search may choose, got {', '.join(outside)},"
            " which is a Context or Fidelity; use qd.Optimizer for those"
        )


def _axes(given: Mapping[Any, object], source: str) -> dict[str, _Axis]:
    axes = {}
    for name, one in given.items():
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"{source}: expected names of parameters as strings, got {name!r}")
        try:
            axes[name] = _axis(one)
        except InvalidInput as error:
            raise InvalidInput(f"{source}: {name!r}: {error}") from None
    return axes


def _as_case(given: object, place: str) -> Mapping[Any, object]:
    if isinstance(given, Mapping) and not isinstance(given, Space):
        return given
    raise InvalidInput(
        f"search_spaces: expected a list of dictionaries, of which a candidate is of one, got {given!r:.80} at {place}"
    )


def _choice_of_cases(given: Sequence[object]) -> CandidateSpace:
    """Return the space in which a parameter chooses one of several dictionaries, all alike likely in a design.

    What several of them say alike is one parameter, so that a model learns of it from all of these.
    """
    cases = [_as_case(one, f"[{i}]") for i, one in enumerate(given)]
    variants: dict[str, list[tuple[_Axis, object, list[int]]]] = {}
    for i, case in enumerate(cases):
        for name, axis in _axes(case, f"search_spaces[{i}]").items():
            if axis.parameter.when is not None:
                raise InvalidInput(
                    f"search_spaces[{i}]: {name!r}: expected a parameter without when=, since the dictionary is its"
                    " condition, got one with; use one Space for conditions within a case"
                )
            known = variants.setdefault(name, [])
            same = [one for one in known if one[1] is case[name] or (one[0] == axis and axis.shown is None)]
            if same:
                same[0][2].append(i)
            else:
                known.append((axis, case[name], [i]))
    if not variants:
        raise InvalidInput("search_spaces: expected something to search in some dictionary, got empty ones alone")
    switch = "case"
    while switch in variants:
        switch += "_"
    parameters: dict[str, Parameter] = {switch: Categorical(range(len(cases)))}
    shown, names = dict[str, Callable[[Any], Any]](), dict[str, str | None]({switch: None})
    for name, found in variants.items():
        for axis, _, where in found:
            call = name if len(found) == 1 else f"{name}@{where[0]}"
            when = None if len(where) == len(cases) else {switch: where}
            parameters[call] = replace(axis.parameter, when=when)
            names[call] = name
            if axis.shown is not None:
                shown[call] = axis.shown
    space = Space.from_dict(parameters, source="search_spaces")
    _refuse_outside_choices(space)
    return CandidateSpace(space, shown, names)


def _axis(given: object) -> _Axis:
    if isinstance(given, Parameter):
        return _Axis(given)
    if isinstance(given, tuple) and _is_range(given):
        return _Axis(_range(given))
    if getattr(given, "ndim", None) == 1 and hasattr(given, "tolist"):  # an array, or a column of a table
        return _choices(given.tolist())
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return _choices(list(given))
    if isinstance(given, Mapping) and given and "type" not in given:
        parameter = Categorical(list(given)) if len(given) > 1 else Fixed(next(iter(given)))
        return _Axis(parameter, dict(given).__getitem__)
    if all(hasattr(given, name) for name in ("rvs", "ppf", "support")):
        return _distribution(given)
    raise InvalidInput(f"expected {_EXPECTED}, got {given!r:.80}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_range(given: tuple[object, ...]) -> bool:
    """Whether a tuple is bounds, perhaps with more: two numbers, or two numbers and a word."""
    return len(given) >= 2 and all(map(_is_number, given[:2])) and (len(given) == 2 or isinstance(given[2], str))


def _range(given: tuple[Any, ...]) -> Parameter:
    low, high, *more = given
    prior = more[0] if more else "uniform"
    if len(more) > 1 or prior not in _PRIORS:
        raise InvalidInput(f'expected (low, high), (low, high, "uniform") or (low, high, "log-uniform"), got {given!r}')
    log = _PRIORS[prior]
    if isinstance(low, Integral) and isinstance(high, Integral):
        return Int(int(low), int(high), log=log)
    return Float(float(low), float(high), log=log)


def _choices(values: list[Any]) -> _Axis:
    """Return a list as an axis: as it is where a space can hold it, else by the index of a choice."""
    if not values:
        raise InvalidInput("expected at least one choice, got an empty list")
    if len(values) > 2 and all(map(_is_number, values)):
        steps = np.sign(np.diff(np.array(values, dtype=np.float64)))
        if abs(steps.sum()) == len(steps):
            try:
                return _Axis(Categorical(values, ordered=True))
            except InvalidInput:  # such as fractions
                return _Axis(Int(0, len(values) - 1), values.__getitem__)
    try:
        return _Axis(Categorical(values) if len(values) > 1 else Fixed(values[0]))
    except InvalidInput:  # objects, or several that are equal
        called = _descriptions(values)
        chosen = Categorical(called) if len(values) > 1 else Fixed(called[0])
        return _Axis(chosen, dict(zip(called, values, strict=True)).__getitem__)


def _descriptions(values: Sequence[Any]) -> list[Any]:
    """Return what to call choices in a space: their texts where these are short and differ, else their places."""
    texts = [value if isinstance(value, str) else " ".join(repr(value).split()) for value in values]
    if len(set(texts)) < len(texts) or any(len(text) > _LONGEST or " at 0x" in text for text in texts):
        return list(range(len(values)))
    return texts


def _distribution(given: Any) -> _Axis:
    """Return a frozen distribution of SciPy's as an axis."""
    name = getattr(getattr(given, "dist", None), "name", "")
    low, high = (float(end) for end in given.support())
    if name in ("uniform", "loguniform", "reciprocal"):
        return _Axis(Float(low, high, log=name != "uniform"))
    if hasattr(given, "pmf"):  # integers
        low, high = (
            end if np.isfinite(end) else float(given.ppf(tail))
            for end, tail in ((low, _TAIL), (high, 1 - _TAIL))
        )  # fmt: skip
        if low < high <= low + _MOST_LISTED:
            values = np.arange(int(low), int(high) + 1)
            possible = values[np.asarray(given.pmf(values)) > 0]
            if 0 < len(possible) < len(values):
                return _choices(possible.tolist())
        return _Axis(Int(int(low), int(high)) if low < high else Fixed(int(low)))
    ends = [0.0 if np.isfinite(low) else _TAIL, 1.0 if np.isfinite(high) else 1 - _TAIL]
    return _Axis(Float(*ends), _Quantile(given))


@dataclass(frozen=True)
class _Quantile:
    """From a probability to the quantile of a distribution; a class, so that it can be pickled."""

    distribution: Any

    def __call__(self, probability: float) -> float:
        return float(self.distribution.ppf(probability))
