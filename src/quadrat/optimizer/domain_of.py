"""From a space to what a search may know of it."""

from __future__ import annotations

import numpy as np

from quadrat.methods.domain import Axis, Domain, FidelityAxis, probed
from quadrat.space import Categorical, Fidelity, Space
from quadrat.space.parameter import Parameter

__all__ = ["domain_of"]

_FEW = 32  # values of an ordered axis up to which they are taken one by one


def domain_of(space: Space) -> Domain:
    """Return the space as the cube with what is behind it.

    Examples
    --------
    >>> from quadrat.space import Float, Int
    >>> domain_of(Space(x=Float(0, 1), n=Int(1, 2))).axes
    (Axis(values=None, ordered=True), Axis(values=(0.25, 0.75), ordered=True))
    """
    axes = tuple(_axis(space[name]) for name in space.axes)
    return Domain(
        axes,
        None if space.is_continuous else space.round,
        None if all(parameter.when is None for parameter in space.values()) else space.exists,
        space.allowed if space.is_constrained else None,
        tuple(space.axes.index(name) for name in space.contexts),
        _fidelity(space),
        space.axes,
        tuple(name not in space.discontinuous for name in space.axes),
    )


def _fidelity(space: Space) -> FidelityAxis | None:
    if space.fidelity is None:
        return None
    parameter = space[space.fidelity]
    assert isinstance(parameter, Fidelity)
    coordinates = parameter.encode(np.arange(len(parameter.levels), dtype=np.float64))
    return FidelityAxis(space.axes.index(space.fidelity), tuple(coordinates.tolist()), tuple(parameter.cost))


def _axis(parameter: Parameter) -> Axis:
    if isinstance(parameter, Categorical):
        codes = np.arange(len(parameter.choices), dtype=np.float64)
        return Axis(tuple(parameter.encode(codes).tolist()), ordered=False)
    values, _ = probed(lambda coordinates: parameter.encode(parameter.decode(coordinates)))
    return Axis(tuple(values.tolist())) if len(values) <= _FEW else Axis()
