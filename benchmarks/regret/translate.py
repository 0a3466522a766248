"""Spaces for methods that know less than ours: without conditions, or only a cube."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.space import Categorical, Float, Int, Space
from quadrat.space.parameter import Parameter
from regret.task import Params

__all__ = ["OneHotCube", "exists", "valid"]


def exists(parameter: Parameter, chosen: Mapping[str, Any]) -> bool:
    """Whether a parameter exists, given the values of those declared before it."""
    return all(chosen.get(parent, _ABSENT) in allowed for parent, allowed in (parameter.when or {}).items())


_ABSENT = object()


def valid(space: Space, flat: Mapping[str, Any]) -> Params:
    """Return the parameters that exist among values for all of them, numbers moved into their bounds.

    For methods without conditions: they see a space in which every parameter exists always, and those that do not
    count are left out of what is evaluated.
    """
    params: Params = {}
    for name, parameter in space.items():
        if not exists(parameter, params):
            continue
        value = flat[name]
        if isinstance(parameter, Float):
            value = min(max(float(value), parameter.low), parameter.high)
        elif isinstance(parameter, Int):
            value = min(max(round(value), parameter.low), parameter.high)
        params[name] = value
    return params


class OneHotCube:
    """A space as the unit cube for methods that know nothing else.

    A number has one coordinate, on its own scale (logarithms, bins of integers); a categorical has one for each choice,
    and the largest of them wins. `point` is the rounded place of parameters: what a model should see.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.widths = [_width(space[name]) for name in space.axes]
        self.starts = np.cumsum([0, *self.widths[:-1]]).tolist()
        self.dimension = sum(self.widths)

    def params(self, x: Array) -> Params:
        """Return the parameters at a point, shape (dimension,), of the cube; outside it, at the nearest."""
        inside = np.clip(np.asarray(x, dtype=np.float64), 0.0, 1.0)
        u = [
            inside[start] if width == 1 else (np.argmax(inside[start : start + width]) + 0.5) / width
            for start, width in zip(self.starts, self.widths, strict=True)
        ]
        return self.space.from_unit(np.array(u))

    def point(self, params: Params) -> Array:
        """Return the point of parameters, shape (dimension,); a categorical that does not exist is shared evenly."""
        x = np.zeros(self.dimension)
        u = self.space.to_unit(params)
        for name, coordinate, start, width in zip(self.space.axes, u, self.starts, self.widths, strict=True):
            if width == 1:
                x[start] = coordinate
            elif name in params:
                x[start + int(coordinate * width)] = 1.0
            else:
                x[start : start + width] = 1 / width
        return x


def _width(parameter: Parameter) -> int:
    return len(parameter.choices) if isinstance(parameter, Categorical) else 1
