"""A parameter as an axis of a figure: places and texts of its values, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.plots.style import log_axis, plain
from quadrat.space import Categorical, Fidelity, Space
from quadrat.space.parameter import Bins, Grid, Linear, Logarithmic, LogBins, Parameter

__all__ = ["ParameterAxis", "axes_of"]

_MARGIN = 0.03  # of an axis, so that points at the bounds are seen whole


@dataclass(frozen=True)
class ParameterAxis:
    """One parameter on one axis.

    Numbers lie at their values, on a logarithmic axis where the parameter is one; choices and levels of a fidelity at
    0, 1, 2, ... in the order given, with their labels as ticks.
    """

    name: str
    index: int  # of its axis in the unit cube
    parameter: Parameter
    labels: tuple[str, ...] = ()  # of choices, as the user wrote them; empty for numbers

    @property
    def is_log(self) -> bool:
        """Whether the axis is logarithmic."""
        return isinstance(self.parameter.scale, Logarithmic | LogBins)

    @property
    def is_choice(self) -> bool:
        """Whether the values have labels instead of numbers."""
        return bool(self.labels)

    @property
    def is_unordered(self) -> bool:
        """Whether neighbours have nothing in common, so that no line joins them."""
        return self.is_choice and not (isinstance(self.parameter, Categorical) and self.parameter.ordered)

    @property
    def is_discrete(self) -> bool:
        """Whether many points of the unit axis are one value."""
        return isinstance(self.parameter.scale, Bins | LogBins | Grid)

    def at(self, units: Array) -> Array:
        """Return where values at unit coordinates (n,) lie on the axis; NaN stays NaN."""
        known = ~np.isnan(units)
        places = np.full(len(units), np.nan)
        places[known] = self.parameter.decode(np.asarray(units)[known])
        return places

    def edge(self, units: Array) -> Array:
        """Return where boundaries at unit coordinates (n,) lie: between values where these are discrete."""
        scale, u = self.parameter.scale, np.asarray(units, dtype=np.float64)
        if isinstance(scale, Linear):
            places = scale.low + u * (scale.high - scale.low)
        elif isinstance(scale, Logarithmic):
            places = scale.low * (scale.high / scale.low) ** u
        elif isinstance(scale, LogBins):
            places = (scale.low - 0.5) * ((scale.high + 0.5) / (scale.low - 0.5)) ** u
        elif isinstance(scale, Grid):
            places = scale.low + (u * scale.count - 0.5) * scale.step
        else:
            assert isinstance(scale, Bins)
            places = scale.first - 0.5 * scale.step + u * scale.count * scale.step
        return np.asarray(places)

    def grid(self, count: int) -> Array:
        """Return unit coordinates, ascending, that show the whole axis: all values where these are few."""
        units = np.linspace(0.0, 1.0, count)
        if not self.is_discrete:
            return units
        codes = np.unique(self.parameter.decode(np.linspace(0.0, 1.0, 16 * count)))
        if len(codes) > count:
            codes = codes[np.linspace(0, len(codes) - 1, count).astype(np.intp)]
        return np.asarray(self.parameter.encode(codes))

    def text(self, place: float) -> str:
        """Return the value at a place on the axis, as text that a figure shows as it is."""
        if self.is_choice:
            return plain(self.labels[round(place)], 40)
        return f"{place:.6g}"

    def layout(self, *, title: bool = True, within: tuple[float, float] = (0.0, 1.0)) -> dict[str, Any]:
        """Return the options of a plotly axis; `within` are the unit coordinates that it reaches from and to."""
        low, high = (float(end) for end in self.edge(np.array(within)))
        options: dict[str, Any] = {"title_text": plain(self.name, 40)} if title else {}
        if self.is_log:
            options |= log_axis([low, high])
            low, high = float(np.log10(low)), float(np.log10(high))
        margin = _MARGIN * (high - low) * (not self.is_discrete)
        options["range"] = [low - margin, high + margin]
        if self.is_choice:
            options |= {
                "tickmode": "array",
                "tickvals": list(range(len(self.labels))),
                "ticktext": [plain(label, 24) for label in self.labels],
            }
        elif isinstance(self.parameter.scale, Bins) and self.parameter.scale.count <= 8:
            options |= {"tickmode": "array", "tickvals": self.at(self.grid(8)).tolist()}
        return options


def axes_of(space: Space) -> tuple[ParameterAxis, ...]:
    """Return the axes of a space, in order: parameters with a single value have none."""
    return tuple(ParameterAxis(name, i, space[name], _labels(space[name])) for i, name in enumerate(space.axes))


def _labels(parameter: Parameter) -> tuple[str, ...]:
    if isinstance(parameter, Categorical):
        return tuple(map(str, parameter.choices))
    return tuple(map(str, parameter.levels)) if isinstance(parameter, Fidelity) else ()
