"""Every trial as a line across all parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.errors import NotAvailable
from quadrat.plots.parameter_axis import ParameterAxis
from quadrat.plots.run_view import RunView, Source
from quadrat.plots.slices_figure import chosen_parameters
from quadrat.plots.style import FAILED, FONT, INK, finish, graph_objects, number, plain, shortened

__all__ = ["parallel_coordinates"]

# From pale, for the worst, to strong.
_COLOURS: list[list[Any]] = [[0.0, "#d3d8de"], [0.4, "#a9c9e0"], [0.75, "#56B4E9"], [1.0, "#0072B2"]]
_BELOW = 0.12  # of an axis: how far below it those lie for which the parameter does not exist


def parallel_coordinates(run: Source, *, parameters: Sequence[str] | None = None) -> Any:
    """Draw every trial as a line from parameter to parameter, to its value; drag along an axis to choose trials.

    Parameters that do not exist in a trial are at "not there", below their axis, and failed trials at "failed".

    Parameters
    ----------
    run
        Any `Source`: an optimizer, a result, a study or a view.
    parameters
        Names of those to draw, from left to right; by default all.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10, method="RandomSearch")
    >>> [dimension.label for dimension in parallel_coordinates(run).data[0].dimensions]
    ['x', 'y', 'value']
    """
    view = RunView.of(run)
    axes = chosen_parameters(view, parameters)
    if not view.finished:
        raise NotAvailable("parallel_coordinates: expected at least one finished trial, got none; tell a value first")
    rows = np.array(view.finished, dtype=np.intp)
    # The best lines are drawn last, on top of the others; failures first.
    sign = 1.0 if view.maximizes else -1.0
    rows = rows[np.argsort(np.where(np.isnan(view.values[rows]), -np.inf, sign * view.values[rows]), kind="stable")]
    dimensions = [_dimension(view, axis, rows) for axis in axes]
    value, colour = _value(view, rows)
    figure = graph_objects().Figure(
        graph_objects().Parcoords(
            dimensions=[*dimensions, value],
            line=colour,
            labelfont={"family": FONT, "size": 13, "color": INK},
            tickfont={"family": FONT, "size": 11, "color": INK},
            rangefont={"family": FONT, "size": 1, "color": "rgba(0,0,0,0)"},
            unselected={"line": {"color": "#b8bec6", "opacity": 0.12}},
        )
    )
    failed = int(np.isnan(view.values[rows]).sum())
    said = f"{len(rows)} trials; strong blue is best, pale is worst." + (
        f" {failed} failed: in orange, without a value." if failed else ""
    )
    figure = finish(figure, "All trials across all parameters", f"{said} Drag along an axis to choose.", height=500)
    # On a white card: plotly draws these axes in black, and a white shadow around their words, whatever the page.
    return figure.update_layout(margin={"l": 80, "r": 80, "t": 130, "b": 40}, paper_bgcolor="white")


def _dimension(view: RunView, axis: ParameterAxis, rows: Any) -> dict[str, Any]:
    """One axis: log parameters by their logarithms, with ticks in the user's units."""
    places = axis.at(view.units[rows, axis.index])
    low, high = (float(end) for end in axis.edge(np.array([0.0, 1.0])))
    if axis.is_discrete:
        low, high = (float(place) for place in axis.at(np.array([0.0, 1.0])))
    ticks, texts = _ticks(axis, low, high)
    if axis.is_log:
        places, low, high, ticks = np.log10(places), np.log10(low), np.log10(high), np.log10(ticks)
    span = float(high - low) or 1.0
    if np.isnan(places).any():
        absent = float(low) - _BELOW * span
        places = np.where(np.isnan(places), absent, places)
        ticks, texts = np.append(absent, ticks), ["not there", *texts]
        low = absent
    return {
        "label": plain(axis.name, 18),
        "values": places,
        "range": [float(low), float(high) if high > low else float(low) + 1.0],
        "tickvals": np.asarray(ticks).tolist(),
        "ticktext": texts,
    }


def _ticks(axis: ParameterAxis, low: float, high: float) -> tuple[Array, list[str]]:
    if axis.is_choice:
        places = np.arange(len(axis.labels), dtype=np.float64)
        every = max(1, len(places) // 20)
        return places[::every], [shortened(label, 14) for label in axis.labels[::every]]  # these ticks have no tags
    if axis.is_log:
        powers = np.arange(np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9) + 1)
        places = 10.0 ** powers[:: max(1, len(powers) // 8)]
        places = np.unique(np.concatenate([[low], places, [high]])) if len(places) < 3 else places
    elif axis.is_discrete:
        places = np.unique(axis.at(axis.grid(6)))
    else:
        places = np.linspace(low, high, 5)
    return places, [number(float(place)) for place in places]


def _value(view: RunView, rows: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The axis of values, and the colours of lines: by value, failures apart."""
    values = view.values[rows]
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    span = (high - low) or 1.0
    ticks = np.linspace(low, high, 5) if high > low else np.array([low])
    texts = [number(float(tick)) for tick in ticks]
    scale = _COLOURS
    bottom, top = low, high if high > low else low + 1.0
    if np.isnan(values).any():
        # On the bad side of all values.
        edge = low - _BELOW * span if view.maximizes else top + _BELOW * span
        bottom, top = min(bottom, edge), max(top, edge)
        values = np.where(np.isnan(values), edge, values)
        ticks, texts = np.append(edge, ticks), ["failed", *texts]
        share = _BELOW / (1 + _BELOW)
        above = [[share / 2 + (1 - share / 2) * at, colour] for at, colour in scale]
        scale = [[0.0, FAILED], [share / 2, FAILED], *above]
    if not view.maximizes:
        scale = [[1.0 - place, colour] for place, colour in reversed(scale)]
    dimension = {
        "label": "value",
        "values": values,
        "range": [bottom, top],
        "tickvals": ticks.tolist(),
        "ticktext": texts,
    }
    return dimension, {"color": values, "colorscale": scale, "cmin": bottom, "cmax": top}
