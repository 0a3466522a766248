"""The parameters of an Optuna study as axes of figures: choices and integers as the study has them."""

from __future__ import annotations

from dataclasses import replace

from optuna.distributions import CategoricalDistribution, IntDistribution

from quadrat.integrations.distributions import DistributionSpace, Searched
from quadrat.plots.parameter_axis import ParameterAxis, axes_of

__all__ = ["study_axes"]


def study_axes(searched: Searched) -> tuple[ParameterAxis, ...]:
    """Return the axes of what is searched; choices are searched by their place, integers with steps by their step."""
    axes = axes_of(searched.space)
    if not isinstance(searched, DistributionSpace):
        return axes
    return tuple(_shown(axis, searched) for axis in axes)


def _shown(axis: ParameterAxis, searched: DistributionSpace) -> ParameterAxis:
    distribution = searched.distributions[axis.name]
    if isinstance(distribution, CategoricalDistribution):
        return replace(axis, labels=tuple(map(str, distribution.choices)))
    if isinstance(distribution, IntDistribution) and distribution.step > 1:
        return replace(axis, first=float(distribution.low), step=float(distribution.step))
    return axis
