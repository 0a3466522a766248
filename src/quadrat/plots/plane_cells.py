"""A plane through cells: the boxes that it meets, as a grid of rectangles and as outlines, in the units of two axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, Ints
from quadrat.errors import InvalidInput, did_you_mean
from quadrat.plots.parameter_axis import ParameterAxis
from quadrat.plots.run_view import RunView
from quadrat.plots.style import scatter

__all__ = ["PlaneCells", "chosen_axes", "plane_cells"]

_FINEST = 360  # rectangles along an axis: cells that are narrower are not seen anyway


@dataclass(frozen=True, eq=False)
class PlaneCells:
    """The cells that a plane meets, as rectangles of a grid, in the user's units."""

    x: Array  # edges of the rectangles across, shape (a + 1,)
    y: Array  # and up, shape (b + 1,)
    cell: Ints  # the number of the cell that each rectangle belongs to, shape (b, a)
    outline_x: Array  # the outlines of the cells, one polyline with gaps (NaN)
    outline_y: Array

    def outline(self, colour: str, width: float) -> Any:
        """Return the outlines as a trace."""
        line = {"color": colour, "width": width}
        return scatter(x=self.outline_x, y=self.outline_y, mode="lines", line=line, showlegend=False)


def plane_cells(lower: Array, upper: Array, cells: Ints, axes: tuple[ParameterAxis, ParameterAxis]) -> PlaneCells:
    """Return the numbered `cells` that the plane of two axes meets, together all of it.

    `lower` and `upper` are the corners of all cells on the unit cube, shape (m, D).
    """
    edges = [_edges(lower[cells, axis.index], upper[cells, axis.index]) for axis in axes]
    middles = [(some[1:] + some[:-1]) / 2 for some in edges]
    owner = np.full((len(middles[1]), len(middles[0])), -1, dtype=np.intp)
    for cell in cells.tolist():
        (left, right), (bottom, top) = (
            np.searchsorted(middle, [lower[cell, axis.index], upper[cell, axis.index]])
            for middle, axis in zip(middles, axes, strict=True)
        )
        owner[bottom:top, left:right] = cell
    (x0, x1), (y0, y1) = ((axis.edge(lower[cells, axis.index]), axis.edge(upper[cells, axis.index])) for axis in axes)
    gap = np.full(len(cells), np.nan)
    return PlaneCells(
        axes[0].edge(edges[0]),
        axes[1].edge(edges[1]),
        owner,
        np.stack([x0, x1, x1, x0, x0, gap], axis=1).ravel(),
        np.stack([y0, y0, y1, y1, y0, gap], axis=1).ravel(),
    )


def _edges(lower: Array, upper: Array) -> Array:
    edges = np.unique(np.concatenate([lower, upper]))
    return edges if len(edges) <= _FINEST + 1 else np.linspace(0.0, 1.0, _FINEST + 1)


def chosen_axes(view: RunView, x: str | None, y: str | None, lower: Array, upper: Array) -> tuple[ParameterAxis, ...]:
    """Return the axes across and up, by default those along which cells are divided most; one if there is no other."""
    named = {axis.name: axis for axis in view.axes}
    for label, name in (("x", x), ("y", y)):
        if name is not None and name not in named:
            raise InvalidInput(
                f"{label}: expected one of {', '.join(map(repr, named))}, got {name!r:.60}"
                f"{did_you_mean(str(name), named)}"
            )
    if x is not None and x == y:
        raise InvalidInput(f"y: expected another parameter than x, got {y!r} for both")
    pieces = [len(np.unique(np.concatenate([lower[:, i], upper[:, i]]))) for i in range(lower.shape[1])]
    order = sorted(view.axes, key=lambda axis: (-pieces[axis.index], axis.index))
    free = [axis for axis in order if axis.name not in (x, y)][: (x is None) + (y is None)]
    if x is None and y is None:
        return tuple(sorted(free, key=lambda axis: axis.index))
    across = named[x] if x is not None else free.pop(0)
    rest = [named[y]] if y is not None else free[:1]
    return (across, *rest)
