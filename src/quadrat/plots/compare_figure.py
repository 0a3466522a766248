"""Several runs side by side: the best seen of each, or how far it is from a known optimum."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from quadrat._core.arrays import as_number
from quadrat.errors import InvalidInput
from quadrat.plots.run_view import RunView, Source, params_text
from quadrat.plots.style import INK, PALETTE, ends_text, finish, graph_objects, log_axis, number, plain, scatter

__all__ = ["compare"]

_DASHES = ("solid", "dash", "dot", "dashdot")


def compare(runs: Mapping[str, Source], *, optimum: float | None = None) -> Any:
    """Draw the best seen of several runs against finished trials; with a known optimum, the distance to it.

    The best seen has the luck of noise in it, and a noisy one may pass the optimum: then nothing is drawn of it on the
    logarithmic axis of distances. Diamonds are the final recommendations.

    Parameters
    ----------
    runs, optimum
        Each a `Source`, by name, all of the same direction; and the best possible value, where it is known.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> runs = {
    ...     name: qd.minimize(lambda p: p["x"] ** 2, space, n_trials=8, method=name)
    ...     for name in ("RandomSearch", "SobolSearch")
    ... }
    >>> sorted({trace.name for trace in compare(runs, optimum=0.0).data if trace.name})
    ['RandomSearch', 'RandomSearch: recommended', 'SobolSearch', 'SobolSearch: recommended']
    """
    if not isinstance(runs, Mapping) or not runs:
        raise InvalidInput(f"runs: expected one or more runs by name, such as {{'Auto': result}}, got {runs!r:.80}")
    views = {name: RunView.of(run) for name, run in runs.items()}
    directions = {name: view.direction for name, view in views.items()}
    if len(set(directions.values())) > 1:
        raise InvalidInput(f"runs: expected one direction, got {directions}; values of both cannot be compared")
    best = None if optimum is None else as_number(optimum, name="optimum")
    figure = graph_objects().Figure()
    colours = cycle(PALETTE)
    for i, (name, view) in enumerate(views.items()):
        style = {"color": next(colours), "width": 2.2, "dash": _DASHES[i // len(PALETTE) % len(_DASHES)]}
        for trace in _run(plain(name, 40), view, style, best):
            figure.add_trace(trace)
    if best is None:
        figure.update_yaxes(title_text="best seen")
    else:
        drawn = [value for trace in figure.data for value in trace.y if value > 0]
        figure.update_yaxes(title_text="distance to the optimum", **log_axis(drawn))
    figure.update_xaxes(title_text="finished trials", rangemode="tozero")
    direction = next(iter(directions.values()))
    better = "higher" if direction == "maximize" else "lower"
    said = (
        f"{direction}: {better} is better; the best seen includes the luck of noise."
        if best is None
        else f"Distance to the known optimum {number(best, 6)}, log scale: lower is better."
    )
    said += " Diamonds: what each run recommends, by its own estimate."
    if best is not None and any(np.isnan(np.asarray(trace.y, dtype=np.float64)).any() for trace in figure.data):
        said += " A line ends where noise takes the best seen past the optimum."
    return finish(figure, f"{len(views)} run{'s' * (len(views) > 1)} compared", said, height=500)


def _run(name: str, view: RunView, style: dict[str, Any], optimum: float | None) -> list[Any]:
    seen = view.best_so_far
    by_number = {record.number: record for record in view.records}

    def shown(values: Any) -> Any:
        if optimum is None:
            return np.asarray(values)
        distance = (optimum - np.asarray(values)) if view.maximizes else (np.asarray(values) - optimum)
        return np.where(distance > 0, distance, np.nan)

    # Where it changes, just before that, and the end: in between it is level.
    changes = [i for i in range(1, len(seen.value)) if seen.value[i] != seen.value[i - 1]]
    rows = sorted({0, *changes, *(i - 1 for i in changes), len(seen.value) - 1}) if seen.value else []
    x, y = [seen.finished[i] for i in rows], shown([seen.value[i] for i in rows])
    hover = [
        f"<b>{name}: {number(seen.value[i], 6)}</b> in trial {seen.number[i]}<br>"
        f"{params_text(by_number[seen.number[i]].params)}"
        for i in rows
    ]
    traces = [scatter(hover, x=x, y=y, name=name, legendgroup=name, mode="lines", line={**style, "shape": "hv"})]
    found = view.recommendation
    if found is not None and not view.space.contexts:
        interval = found.certified_interval or found.credible_interval
        kind = "certified" if found.certified_interval is not None else "90 % credible"
        ends = "" if interval is None else f"<br>{kind}: {ends_text(interval, 4, certified=kind == 'certified')}"
        hover = [f"<b>{name} recommends: {number(found.value, 6)}</b>{ends}<br>{params_text(found.params)}"]
        look = {"symbol": "diamond", "size": 10, "color": style["color"], "line": {"color": INK, "width": 1}}
        label = {"name": f"{name}: recommended", "legendgroup": name, "showlegend": False}
        place = {"x": [len(view.finished)], "y": shown([found.value])}
        traces.append(scatter(hover, **place, **label, mode="markers", marker=look))
    return traces
