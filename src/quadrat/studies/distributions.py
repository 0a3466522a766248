"""Optuna's distributions as a space, and a space as Optuna's distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import BaseTrial

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed, Float, Int, Space
from quadrat.space.parameter import Parameter

__all__ = [
    "DistributionSpace",
    "OwnSpace",
    "Searched",
    "check_distributions",
    "codes_of",
    "distribution_of",
    "hashable",
    "is_of_kind",
    "only_value",
    "parameter_of",
    "searched_value",
    "shown_value",
    "suggest",
]


class Searched(Protocol):
    """What is searched, as Optuna has it, distributions by name, and as a space."""

    distributions: dict[str, BaseDistribution]
    of_axis: dict[str, BaseDistribution]  # by the names of the space

    @property
    def space(self) -> Space:
        """The parameters that are searched."""

    def read(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return parameters of a trial as those of the space; None where one is missing or outside."""

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as those of a trial."""


def parameter_of(distribution: BaseDistribution) -> Parameter | None:
    """Return the parameter that a distribution is searched as; None where there is no such parameter.

    A choice is searched as its index, because Optuna's choices may be equal to each other: see `codes_of`.
    """
    try:
        if isinstance(distribution, FloatDistribution):
            return Float(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        if isinstance(distribution, IntDistribution):
            return Int(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        if isinstance(distribution, CategoricalDistribution):
            return Categorical(codes_of(distribution))
    except InvalidInput:  # such as bounds that no float64 between 0 and 1 tells apart
        return None
    return None


def codes_of(distribution: CategoricalDistribution) -> tuple[int, ...]:
    """Return the indices of the choices that a trial can have.

    Optuna finds the index of a choice by equality: of choices that Python calls equal, such as True and 1, a trial has
    the first, whichever was suggested.

    Examples
    --------
    >>> codes_of(CategoricalDistribution([None, True, "1", 1]))
    (0, 1, 2)
    """
    return tuple(
        code for code, choice in enumerate(distribution.choices) if distribution.to_internal_repr(choice) == code
    )


def distribution_of(parameter: Parameter) -> BaseDistribution:
    """Return the distribution that holds a parameter in a study."""
    if isinstance(parameter, Float):
        return FloatDistribution(parameter.low, _last(parameter), log=parameter.log, step=parameter.step)
    if isinstance(parameter, Int):
        return IntDistribution(parameter.low, parameter.last, log=parameter.log, step=parameter.step)
    if isinstance(parameter, Categorical):
        return CategoricalDistribution(parameter.choices)
    if not isinstance(parameter, Fixed):
        raise InvalidInput(f"space: expected parameters that a study can hold, got {parameter!r}; use qd.Optimizer")
    return CategoricalDistribution([parameter.value])


def _last(parameter: Float) -> float:
    """The largest value: with steps, Optuna warns of a bound that none of them reaches."""
    return parameter.high if parameter.step is None else float(parameter.decode(np.ones(1))[0])


def suggest(trial: BaseTrial, space: Space) -> dict[str, Any]:
    """Return the parameters of a trial of Optuna's in a space, those that exist, in its order.

    So a space, with its conditions, serves an objective of Optuna's:

        def objective(trial):
            return train(**qd.suggest(trial, space))

    Parameters
    ----------
    trial
        A trial of a study.
    space
        Whose parameters are suggested, parents first.

    Returns
    -------
    dict
        From names to values.

    Examples
    --------
    >>> import optuna
    >>> space = Space(kind=Categorical(["linear", "tree"]), depth=Int(1, 9, when={"kind": "tree"}))
    >>> suggest(optuna.trial.FixedTrial({"kind": "tree", "depth": 3}), space)
    {'kind': 'tree', 'depth': 3}
    >>> suggest(optuna.trial.FixedTrial({"kind": "linear"}), space)
    {'kind': 'linear'}
    """

    def chosen(name: str, parameter: Parameter) -> Any:
        if isinstance(parameter, Float):
            return trial.suggest_float(name, parameter.low, _last(parameter), step=parameter.step, log=parameter.log)
        if isinstance(parameter, Int):
            return trial.suggest_int(name, parameter.low, parameter.last, log=parameter.log, step=parameter.step)
        distribution = distribution_of(parameter)
        assert isinstance(distribution, CategoricalDistribution)
        return trial.suggest_categorical(name, distribution.choices)

    return space.choose_each(chosen)


class OwnSpace:
    """A `Space` of ours, in a study, conditions and constraints included."""

    def __init__(self, space: Space) -> None:
        if space.contexts:
            raise InvalidInput(
                f"space: expected parameters that a study chooses, got the contexts {', '.join(space.contexts)};"
                " Optimizer.ask(context=...) takes them"
            )
        self.space = space
        self.distributions = {name: distribution_of(parameter) for name, parameter in space.items()}
        self.of_axis = self.distributions

    def read(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the parameters that are of the space; None where one is missing or outside."""
        known = {name: params[name] for name in self.space if name in params}
        try:
            self.space.to_unit(known)
        except InvalidInput:
            return None
        return known

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return them as they are."""
        return dict(params)


class DistributionSpace:
    """A search space of Optuna's, as a `Space`: distributions by name, those that `parameter_of` knows.

    They are sorted: the order in which they come must not change a suggestion.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = {name: distributions[name] for name in sorted(distributions)}
        self.of_axis = self.distributions
        parameters = {name: parameter_of(distribution) for name, distribution in self.distributions.items()}
        self.space = Space.from_dict({name: parameter for name, parameter in parameters.items() if parameter})

    def read(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return parameters of a trial as those of the space; None where one is missing or outside."""
        found: dict[str, Any] = {}
        for name, distribution in self.distributions.items():
            value = searched_value(distribution, params[name]) if name in params else None
            if value is None:
                return None
            found[name] = value
        return found

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as those of a trial."""
        return {name: shown_value(one, params[name]) for name, one in self.distributions.items()}


def searched_value(distribution: BaseDistribution, value: Any) -> int | float | None:
    """Return a value of a distribution as that of its parameter (`parameter_of`); None where it is outside."""
    try:
        inside = distribution.to_internal_repr(value)
    except (ValueError, TypeError):
        return None
    if not distribution._contains(inside):
        return None
    if isinstance(distribution, CategoricalDistribution):
        return int(inside)
    return round(inside) if isinstance(distribution, IntDistribution) else float(inside)


def is_of_kind(distribution: BaseDistribution, value: Any) -> bool:
    """Return whether a value is one that a distribution of this kind may have: a number, or one of its choices."""
    try:
        distribution.to_internal_repr(value)
    except (ValueError, TypeError):
        return False
    return True


def shown_value(distribution: BaseDistribution, value: Any) -> Any:
    """Return a value of the parameter of a distribution as that of the distribution."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[value]
    if isinstance(distribution, FloatDistribution):
        return min(max(float(value), distribution.low), distribution.high)
    return value


def only_value(distribution: BaseDistribution) -> Any:
    """Return the value of a distribution that has no other."""
    return distribution.choices[0] if isinstance(distribution, CategoricalDistribution) else distribution.low  # type: ignore[attr-defined]


class _OpenChoices(CategoricalDistribution):
    """Choices of which some have no hash, such as lists: Optuna takes these, and cannot look such choices up."""

    def __hash__(self) -> int:
        return hash((CategoricalDistribution, len(self.choices)))


def hashable(distribution: BaseDistribution) -> BaseDistribution:
    """Return an equal distribution that can be a key of a dictionary; the same one where it can.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore")  # Optuna's, about choices that are no text and no number
    >>> hashable(CategoricalDistribution([[8, 8], [16]])) in {hashable(CategoricalDistribution([[8, 8], [16]]))}
    True
    """
    try:
        hash(distribution)
    except TypeError:
        found = object.__new__(_OpenChoices)
        found.__dict__.update(distribution.__dict__)
        return found
    return distribution


def check_distributions(search_space: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """Return a search space that is given as a mapping; refuse whatever is no distribution of Optuna's."""
    for name, distribution in search_space.items():
        if not isinstance(distribution, BaseDistribution):
            raise InvalidInput(
                f"search_space: expected a Space, or distributions of Optuna's, such as FloatDistribution(0, 1), got"
                f" {distribution!r:.80} for {name!r}"
            )
    return dict(search_space)
