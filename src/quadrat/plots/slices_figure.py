"""Predictions along every parameter, through the recommended point."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, did_you_mean
from quadrat.plots.parameter_axis import ParameterAxis
from quadrat.plots.run_view import Kind, Predictions, RunView, Source, trial_text
from quadrat.plots.style import (
    BEST,
    CERTIFIED,
    DATA,
    FITTED,
    band,
    error_bars,
    finish,
    number,
    plain,
    scatter,
    subplots,
    tinted,
)

__all__ = ["chosen_parameters", "slices"]

_COLUMNS = 3
_MOST_MARKS = 3000  # trials that are drawn, in all slices together: the nearest to each
_NEAR = 0.25  # of the cube's side: how far a trial may be from the slice and still be drawn strongly
_NAMES: dict[Kind | None, str] = {
    "credible 90 %": "90 % credible interval of the fitted model",
    "certified": "certified interval, under the stated assumptions",
}


def slices(run: Source, *, parameters: Sequence[str] | None = None, points: int = 61) -> Any:
    """Draw the predictions of the method along each parameter, all others as recommended, with the trials.

    The legend names the band: a 90 % credible interval of a fitted model, or certified bounds. Trials are drawn the
    stronger the nearer their other parameters are to the slice.

    Parameters
    ----------
    run
        Any `Source`: an optimizer, a result, a study or a view.
    parameters, points
        Names of the parameters, by default all that exist at the recommended point, and the points along each.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10, method="Auto")
    >>> figure = slices(run, points=5)
    >>> figure.layout.xaxis.title.text, figure.layout.xaxis2.title.text
    ('x', 'y')
    """
    view = RunView.of(run)
    there = np.ones(len(view.axes), dtype=np.bool_)
    if any(parameter.when is not None for parameter in view.space.values()):
        there = view.space.exists(view.point[None, :])[0]
    wanted = chosen_parameters(view, parameters)
    axes = [axis for axis in wanted if there[axis.index]]
    absent = [axis for axis in wanted if not there[axis.index]]
    if not axes:
        names = ", ".join(repr(axis.name) for axis in absent)
        raise InvalidInput(f"parameters: expected some that exist at the recommended point, got {names}, which do not")
    columns = min(_COLUMNS, len(axes))
    rows = ceil(len(axes) / columns)
    height = 150 + 270 * rows if rows > 1 else 470
    figure = subplots(
        rows=rows,
        cols=columns,
        shared_yaxes=True,
        horizontal_spacing=0.035,
        vertical_spacing=min(0.3, 78 / (height - 150)),
    )
    grids = [axis.grid(points) for axis in axes]
    predictions = _all_predictions(view, axes, grids)
    for i, (axis, grid, found) in enumerate(zip(axes, grids, predictions, strict=True)):
        place = {"row": i // columns + 1, "col": i % columns + 1}
        for trace in _slice(view, axis, grid, found):
            figure.add_trace(trace, **place)
        figure.update_xaxes(**axis.layout(), **place)
        if i % columns == 0:
            figure.update_yaxes(title_text="value", **place)
    figure.update_yaxes(range=_range(view, predictions))
    _name_once(figure)
    return finish(
        figure, f"{plain(view.method)}: one parameter at a time", _said(view, predictions, absent), height=height
    )


def chosen_parameters(view: RunView, names: Sequence[str] | None) -> list[ParameterAxis]:
    """Return the axes of these parameters, in this order; all of them by default."""
    if names is None:
        return list(view.axes)
    known = {axis.name: axis for axis in view.axes}
    for name in names:
        if name not in known:
            raise InvalidInput(
                f"parameters: expected names among {', '.join(map(repr, known))}, got"
                f" {name!r:.60}{did_you_mean(str(name), known)}"
            )
    if isinstance(names, str) or not names or len(set(names)) < len(names):
        raise InvalidInput(f"parameters: expected a list of one or more names that differ, got {names!r:.80}")
    return [known[name] for name in names]


def _said(view: RunView, predictions: Sequence[Predictions], absent: Sequence[ParameterAxis]) -> str:
    kind = predictions[0].kind
    words = "All other parameters are as recommended (star). "
    if kind == "credible 90 %":
        words += "The band is the fitted model's: it believes with 90 % that the objective lies in it, point by point. "
    elif kind == "certified":
        words += "The band is certified: under the stated assumptions it holds everywhere at once. "
    else:
        reason = view.certificate.reason
        words += f"No band: nothing is certified{f' ({plain(reason, 160)})' if reason else ''}. "
    if view.believes_locally:
        words += "In a run this long the model is of the trials around the best place alone. "
    if len(view.axes) > 1:
        words += "Trials are drawn the stronger the nearer they are to the slice. "
    if absent:
        listed = ", ".join(plain(axis.name, 30) for axis in absent)
        words += f"Not part of the recommended point: {listed}."
    return words


def _all_predictions(view: RunView, axes: Sequence[ParameterAxis], grids: Sequence[Array]) -> list[Predictions]:
    """What is believed along each axis: asked for once, for all of them together."""
    points = np.repeat(view.point[None, :], sum(map(len, grids)), axis=0)
    ends = np.cumsum([0, *map(len, grids)])
    for axis, grid, start, end in zip(axes, grids, ends[:-1], ends[1:], strict=True):
        points[start:end, axis.index] = grid
    found = view.predictions(points)
    return [
        Predictions(found.value[a:b], found.low[a:b], found.high[a:b], found.kind) for a, b in pairwise(ends.tolist())
    ]


def _slice(view: RunView, axis: ParameterAxis, grid: Array, found: Predictions) -> list[Any]:
    x = axis.at(grid)
    colour = CERTIFIED if found.kind == "certified" else FITTED
    traces = []
    if found.kind is not None and not axis.is_unordered:
        traces.append(band(x, found.low, found.high, _NAMES[found.kind], tinted(colour, 0.2), legendgroup="band"))
    traces += _marks(view, axis)
    look = {"color": tinted(colour, 0.7), "thickness": 2, "width": 7}
    bars = found.kind is not None and axis.is_unordered
    traces.append(
        scatter(
            [_text(axis, found, i, place) for i, place in enumerate(x.tolist())],
            x=x,
            y=found.value,
            name=_mean_name(found.kind, bars=bars),
            legendgroup="choices" if axis.is_unordered else "mean",
            mode="markers" if axis.is_unordered else "lines+markers" if axis.is_discrete else "lines",
            line={"color": colour, "width": 2.2},
            marker={"color": colour, "size": 9 if axis.is_unordered else 4},
            error_y={**error_bars(found.value, found.low, found.high), **look} if bars else None,
        )
    )
    recommended = view.recommendation
    assert recommended is not None
    place = axis.at(view.point[[axis.index]])
    star = {"symbol": "star", "size": 13, "color": BEST, "line": {"color": "#1f2933", "width": 1}}
    label = {"name": "recommended", "legendgroup": "recommended"}
    hover = [f"recommended: {axis.text(float(place[0]))}"]
    traces.append(scatter(hover, x=place, y=[recommended.value], **label, mode="markers", marker=star))
    return traces


def _mean_name(kind: Kind | None, *, bars: bool) -> str:
    name = "estimate within the bounds" if kind == "certified" else "mean of the model"
    return f"{name}, with its interval" if bars else name


def _name_once(figure: Any) -> None:
    """Leave one entry of each kind in the legend."""
    known: set[str] = set()
    for trace in figure.data:
        trace.showlegend = trace.legendgroup not in known
        known.add(trace.legendgroup)


def _text(axis: ParameterAxis, found: Predictions, i: int, place: float) -> str:
    lines = [f"{plain(axis.name, 40)} = {axis.text(place)}", f"<b>{number(float(found.value[i]), 5)}</b>"]
    if found.kind is not None:
        lines.append(f"{found.kind}: {number(float(found.low[i]))} to {number(float(found.high[i]))}")
    return "<br>".join(lines)


def _marks(view: RunView, axis: ParameterAxis) -> list[Any]:
    """Complete trials, stronger where the other parameters are near to the recommended ones."""
    complete = np.flatnonzero(~np.isnan(view.values) & ~np.isnan(view.units[:, axis.index]))
    if not len(complete):
        return []
    others = [i for i in range(len(view.axes)) if i != axis.index]
    apart = np.abs(view.units[complete][:, others] - view.point[others])
    # What does not exist there is elsewhere; and choices have no distances, only another one is another place.
    apart = np.where(np.isnan(apart), 1.0, apart)
    choices = np.array([view.axes[i].is_unordered for i in others], dtype=np.bool_)
    apart[:, choices] = np.where(apart[:, choices] > 1e-9, 1.0, 0.0)
    distance = np.sqrt((apart**2).mean(axis=1)) if others else np.zeros(len(complete))
    nearest = np.sort(np.argsort(distance, kind="stable")[: max(_MOST_MARKS // len(view.axes), 100)])
    rows, distance = complete[nearest], distance[nearest]
    x, y = axis.at(view.units[rows, axis.index]), view.values[rows]
    look = {"color": DATA, "size": 5, "opacity": 0.12 + 0.78 * np.exp(-((distance / _NEAR) ** 2))}
    hover = [trial_text(view.records[i], 12) for i in rows]
    return [scatter(hover, x=x, y=y, name="trials", legendgroup="trials", mode="markers", marker=look)]


def _range(view: RunView, predictions: Sequence[Predictions]) -> list[float]:
    """The range of values: all that is believed, and the trials unless some lie far off on the bad side."""
    parts = [part[np.isfinite(part)] for one in predictions for part in (one.value, one.low, one.high)]
    inner = np.concatenate(parts)
    values = view.values[~np.isnan(view.values)]
    low, high = float(inner.min()), float(inner.max())
    reach = max(high - low, 1e-300)
    near = values[(values >= low - reach) & (values <= high + reach)]
    if len(near):
        low, high = min(low, float(near.min())), max(high, float(near.max()))
    room = 0.05 * (high - low) or 0.5 * abs(high) or 1.0
    return [low - room, high + room]
