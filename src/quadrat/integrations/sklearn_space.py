"""Search spaces of RandomizedSearchCV (lists of choices, SciPy's distributions) and BayesSearchCV as a `Space`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from numbers import Integral, Real
from typing import Any

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed, Float, Int, Space
from quadrat.space.parameter import Parameter

__all__ = ["CandidateSpace"]

_TAIL = 1e-3  # probability that is left out at either end of a distribution without finite support
_PRIORS = {"uniform": False, "log-uniform": True}
_EXPECTED = (
    "a parameter such as Float(1e-3, 1e3, log=True), a list of choices, a tuple (low, high) or"
    ' (low, high, "log-uniform"), or a frozen distribution of scipy.stats'
)


@dataclass(frozen=True)
class _Axis:
    """A parameter that is searched, and the meaning of its values; None: themselves."""

    parameter: Parameter
    shown: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class CandidateSpace:
    """A space, and the candidates that its parameters stand for.

    `shown` maps, by name, a value in the space to the value that an estimator gets; others are the same.

    Examples
    --------
    >>> wanted = CandidateSpace.of({"C": (0.1, 10.0, "log-uniform"), "size": [(10,), (10, 10)]})
    >>> wanted.space
    Space(C=Float(0.1, 10.0, log=True), size=Categorical((0, 1)))
    >>> wanted.candidate({"C": 1.0, "size": 1})
    {'C': 1.0, 'size': (10, 10)}
    """

    space: Space
    shown: Mapping[str, Callable[[Any], Any]]

    @classmethod
    def of(cls, given: object) -> CandidateSpace:
        """Return the space that a user means.

        `given` is a `Space`, or a mapping from names to: parameters; lists and other sequences of choices, which may be
        any objects; tuples (low, high) or (low, high, prior), prior "uniform" or "log-uniform", of integers or floats,
        both bounds included; frozen distributions of scipy.stats. Numbers in a list that rise or fall throughout are
        searched as ordered. A distribution that is neither uniform nor log-uniform is searched along its quantiles, so
        that its likely values have more room; tails of 0.1 % are left out if it is unbounded.
        """
        if isinstance(given, Space):
            _refuse_outside_choices(given)
            return cls(given, {})
        if not isinstance(given, Mapping) or not given:
            hint = "; for several cases use one Space, with when= for what exists in some of them only"
            raise InvalidInput(
                "search_spaces: expected a Space, or a dictionary from names of parameters to what to search, got"
                f" {given!r:.80}{hint if isinstance(given, list | tuple) else ''}"
            )
        axes = {}
        for name, one in given.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"search_spaces: expected names of parameters as strings, got {name!r}")
            try:
                axes[name] = _axis(one)
            except InvalidInput as error:
                raise InvalidInput(f"search_spaces: {name!r}: {error}") from None
        space = Space.from_dict({name: axis.parameter for name, axis in axes.items()}, source="search_spaces")
        _refuse_outside_choices(space)
        return cls(space, {name: axis.shown for name, axis in axes.items() if axis.shown is not None})

    def candidate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as an estimator gets them."""
        return {name: self.shown[name](value) if name in self.shown else value for name, value in params.items()}

    def all_params(self, at_most: int) -> list[dict[str, Any]] | None:
        """Return all parameters of the space where there are so few, in the order of the space; None elsewhere."""
        values = [_values_of(parameter, at_most) for parameter in self.space.values()]
        finite = [some for some in values if some is not None]
        if len(finite) < len(values) or self.space.is_constrained or prod(map(len, finite)) > at_most:
            return None
        return [dict(zip(self.space, chosen, strict=True)) for chosen in product(*finite)]


def _refuse_outside_choices(space: Space) -> None:
    outside = [*space.contexts, *([] if space.fidelity is None else [space.fidelity])]
    if outside:
        raise InvalidInput(
            f"search_spaces: expected parameters that a cross-validated search may choose, got {', '.join(outside)},"
            " which is a Context or Fidelity; use qd.Optimizer for those"
        )


def _values_of(parameter: Parameter, at_most: int) -> list[Any] | None:
    """Return every value of a parameter that always exists; None where there are more, or no end of them."""
    if parameter.when is not None:
        return None
    if isinstance(parameter, Fixed):
        return [parameter.value]
    if isinstance(parameter, Categorical):
        return list(parameter.choices)
    if isinstance(parameter, Int) and parameter.high - parameter.low < at_most:
        return list(range(parameter.low, parameter.high + 1))
    return None


def _axis(given: object) -> _Axis:
    if isinstance(given, Parameter):
        return _Axis(given)
    if isinstance(given, tuple) and _is_range(given):
        return _Axis(_range(given))
    if isinstance(given, np.ndarray) and given.ndim == 1:
        return _choices(given.tolist())
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return _choices(list(given))
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
            return _Axis(Int(0, len(values) - 1), values.__getitem__)
    try:
        return _Axis(Categorical(values) if len(values) > 1 else Fixed(values[0]))
    except InvalidInput:  # objects, or several that are equal
        indices = tuple(range(len(values)))
        return _Axis(Categorical(indices) if len(values) > 1 else Fixed(0), values.__getitem__)


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
        return _Axis(Int(int(low), int(high)) if low < high else Fixed(int(low)))
    ends = [0.0 if np.isfinite(low) else _TAIL, 1.0 if np.isfinite(high) else 1 - _TAIL]
    return _Axis(Float(*ends), _Quantile(given))


@dataclass(frozen=True)
class _Quantile:
    """From a probability to the quantile of a distribution; a class, so that it can be pickled."""

    distribution: Any

    def __call__(self, probability: float) -> float:
        return float(self.distribution.ppf(probability))
