"""Optuna's distributions as a space, and parameters of one as parameters of the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Float, Int, Space
from quadrat.space.parameter import Parameter

__all__ = ["DistributionSpace", "parameter_of"]


def parameter_of(distribution: BaseDistribution) -> Parameter | None:
    """Return the parameter that a distribution is searched as; None where there is no such parameter.

    A choice is searched as its index, because Optuna's choices may be equal to each other; an integer with steps as the
    number of steps.
    """
    try:
        if isinstance(distribution, FloatDistribution):
            return Float(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        if isinstance(distribution, IntDistribution):
            if distribution.step > 1:
                return Int(0, (distribution.high - distribution.low) // distribution.step)
            return Int(distribution.low, distribution.high, log=distribution.log)
        if isinstance(distribution, CategoricalDistribution):
            return Categorical(tuple(range(len(distribution.choices))))
    except InvalidInput:  # such as bounds that no float64 between 0 and 1 tells apart
        return None
    return None


class DistributionSpace:
    """A search space of Optuna's, as a `Space`.

    Parameters
    ----------
    distributions
        By name; those that `parameter_of` knows.

    Attributes
    ----------
    distributions
        By name, sorted: the order in which they come must not change a suggestion.
    space
        The same as a space.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = {name: distributions[name] for name in sorted(distributions)}
        parameters = {name: parameter_of(distribution) for name, distribution in self.distributions.items()}
        self.space = Space.from_dict({name: parameter for name, parameter in parameters.items() if parameter})

    def read(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return parameters of a trial as those of the space; None where one is missing or outside."""
        found: dict[str, Any] = {}
        for name, distribution in self.distributions.items():
            if name not in params:
                return None
            try:
                inside = distribution.to_internal_repr(params[name])
            except (ValueError, TypeError):
                return None
            if not distribution._contains(inside):
                return None
            if isinstance(distribution, CategoricalDistribution):
                found[name] = int(inside)
            elif isinstance(distribution, IntDistribution):
                whole = round(inside)
                found[name] = (whole - distribution.low) // distribution.step if distribution.step > 1 else whole
            else:
                found[name] = float(inside)
        return found

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as those of a trial."""
        shown: dict[str, Any] = {}
        for name, distribution in self.distributions.items():
            value = params[name]
            if isinstance(distribution, CategoricalDistribution):
                shown[name] = distribution.choices[value]
            elif isinstance(distribution, IntDistribution) and distribution.step > 1:
                shown[name] = distribution.low + value * distribution.step
            elif isinstance(distribution, FloatDistribution):
                shown[name] = min(max(float(value), distribution.low), distribution.high)
            else:
                shown[name] = value
        return shown
