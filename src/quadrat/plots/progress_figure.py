"""The course of a run: values, the best seen, recommendations, and the gain that is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrat._core.printing import at_most
from quadrat.plots.run_view import CHECKPOINTS, LINES, Checkpoint, RunView, Source, params_text, trial_text
from quadrat.plots.style import (
    BEST,
    CERTIFIED,
    DATA,
    FAILED,
    FITTED,
    RECOMMENDED,
    band,
    ends_text,
    error_bars,
    finish,
    graph_objects,
    log_axis,
    number,
    plain,
    scatter,
    subplots,
    tinted,
)

__all__ = ["progress"]

_FULL = 400  # trials up to which their marks are drawn strongly


def progress(run: Source, *, checkpoints: int | None = None) -> Any:
    """Draw values against finished trials: the best seen, the recommended value with its interval, and the gain left.

    The gain, below them, is the certificate where there is one, else the fitted model's estimate.

    Parameters
    ----------
    run
        Any `Source`: an optimizer, a result, a study or a view.
    checkpoints
        Moments of the run whose recommendations are drawn; 1 is only now. None is up to 20, and only now in runs of
        more than 300 trials, because such a run takes as long again as it did.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10, method="RandomSearch")
    >>> sorted({trace.name for trace in progress(run).data if trace.name})
    ['best seen, noise included', 'trials', 'value of the recommended, estimated']
    """
    view = RunView.of(run)
    if checkpoints is None:
        checkpoints = CHECKPOINTS if view.replays_by_itself else 1
    known = view.checkpoints(checkpoints)
    left = _what_is_left(known)
    figure = subplots(
        rows=2 if left else 1,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.07,
        row_heights=[0.68, 0.32] if left else [1.0],
    )
    for trace in (*_trials(view), *_recommended(known), *_best(view)):
        figure.add_trace(trace, row=1, col=1)
    for trace in left:
        figure.add_trace(trace, row=2, col=1)
    _focus(figure, view, known)
    figure.update_yaxes(title_text="value", row=1, col=1)
    figure.update_xaxes(title_text="finished trials", rangemode="tozero", row=2 if left else 1, col=1)
    if left:
        figure.update_yaxes(title_text="still to gain", rangemode="tozero", row=2, col=1)
        gains = [value for trace in left for value in trace.y]
        if min(gains) > 0 and max(gains) > 10 * min(gains):
            figure.update_yaxes(**log_axis(gains), row=2, col=1)
    return finish(figure, _title(view), _said(view, known), height=620 if left else 480)


def _title(view: RunView) -> str:
    study = f" of {plain(view.title)}" if view.title else ""
    return f"Progress{study}: {view.direction} with {plain(view.method)}"


def _said(view: RunView, known: Sequence[Checkpoint]) -> str:
    states = [record.state for record in view.records]
    failed = states.count("failed")
    words = f"{states.count('complete')} complete trials" + (f", {failed} failed" if failed else "")
    best = view.best_so_far
    if best.value:
        words += f"; best seen {number(best.value[-1])} in trial {best.number[-1]}, noise included"
    if known:
        found = known[-1].recommendation
        words += f"; recommended: {number(found.value)}"
        if found.certified_interval is not None:
            low, high = found.certified_interval
            words += f" (certified: {ends_text((low, high), 4, certified=True)})"
        elif found.credible_interval is not None:
            low, high = found.credible_interval
            words += f" (90 % credible: {number(low)} to {number(high)})"
        certificate = known[-1].certificate
        if certificate.value is not None:
            # The certificate is about the point that it names, which may be another one next to the recommended.
            whose = "" if certificate.params == found.params else "a point next to it is "
            words += f"; certificate: {whose}within {at_most(certificate.value, 3)} of the optimum"
            words += " under the stated assumptions"
        elif found.estimated_gain is not None:
            words += f"; estimated gain left {number(found.estimated_gain, 3)}"
    return words + "."


def _trials(view: RunView) -> list[Any]:
    """Every trial as a mark: filled where it counts, open where a constraint is violated or a fidelity is lower."""
    go = graph_objects()
    order = np.array(view.finished, dtype=np.intp)
    if not len(order):
        return []
    place, values, counts = np.arange(1, len(order) + 1), view.values[order], view.counts[order]
    texts = [trial_text(view.records[i], LINES if len(order) <= _FULL else 8) for i in view.finished]
    complete = ~np.isnan(values)
    opacity = 0.75 if len(order) <= _FULL else 0.35
    size = 6 if len(order) <= _FULL else 4
    traces = []
    groups = (
        ("trials", complete & counts, "circle"),
        (_others(view), complete & ~counts, "circle-open"),
    )
    for name, chosen, symbol in groups:
        if chosen.any():
            traces.append(
                # A page holds few WebGL canvases: only crowds are worth one.
                (go.Scatter if len(order) <= _FULL else go.Scattergl)(
                    x=place[chosen],
                    y=values[chosen],
                    name=name,
                    mode="markers",
                    marker={"color": DATA, "size": size, "symbol": symbol, "opacity": opacity},
                    hovertext=[texts[i] for i in np.flatnonzero(chosen)],
                    hoverinfo="text",
                )
            )
    if not complete.all():
        failed = np.flatnonzero(~complete)
        x, y = place[failed], np.zeros(len(failed))  # the edge follows from all that is drawn: see `_focus`
        name, hover = "failed trials (no value: drawn at the edge)", [texts[i] for i in failed]
        cross = {"color": FAILED, "size": 8, "symbol": "x-thin", "line": {"color": FAILED, "width": 1.8}}
        traces.append(scatter(hover, x=x, y=y, name=name, mode="markers", marker=cross, meta="failed"))
    return traces


def _others(view: RunView) -> str:
    return "trials at lower fidelity" if view.space.fidelity is not None else "trials that violate a constraint"


def _best(view: RunView) -> list[Any]:
    best = view.best_so_far
    if not best.value:
        return []
    by_number = {record.number: record for record in view.records}
    # Where it changes, and the end: of thousands of trials that is all there is to see.
    rows = [i for i, value in enumerate(best.value) if i in (0, len(best.value) - 1) or value != best.value[i - 1]]
    x, y = [best.finished[i] for i in rows], [best.value[i] for i in rows]
    hover = [f"best seen<br>{trial_text(by_number[best.number[i]])}" for i in rows]
    line = {"color": BEST, "width": 2.2, "shape": "hv"}
    return [scatter(hover, x=x, y=y, name="best seen, noise included", mode="lines", line=line)]


def _recommended(known: Sequence[Checkpoint]) -> list[Any]:
    """The recommended value with its interval, fitted and certified in their own colours."""
    if not known:
        return []
    traces = []
    for name, colour, intervals in (
        ("90 % credible interval", FITTED, [one.recommendation.credible_interval for one in known]),
        ("certified interval", CERTIFIED, [one.recommendation.certified_interval for one in known]),
    ):
        some = [(one.finished, *ends) for one, ends in zip(known, intervals, strict=True) if ends is not None]
        if len(some) > 1:
            x, low, high = (list(part) for part in zip(*some, strict=True))
            traces.append(band(x, low, high, f"{name} of the recommended", tinted(colour, 0.18)))
    x, y = [one.finished for one in known], [one.recommendation.value for one in known]
    ends = known[-1].interval if len(known) == 1 else None
    traces.append(
        scatter(
            [_recommendation_text(one) for one in known],
            x=x,
            y=y,
            name="value of the recommended, estimated",
            mode="lines+markers",
            line={"color": RECOMMENDED, "width": 2.2},
            marker={"size": [4] * (len(known) - 1) + [9], "symbol": ["circle"] * (len(known) - 1) + ["diamond"]},
            error_y=None if ends is None else error_bars(*(np.array([end]) for end in (y[0], *ends))),
        )
    )
    return traces


def _recommendation_text(one: Checkpoint) -> str:
    found = one.recommendation
    lines = [f"<b>recommended after {one.finished} trials: {number(found.value, 6)}</b>"]
    for name, interval in (("90 % credible", found.credible_interval), ("certified", found.certified_interval)):
        if interval is not None:
            lines.append(f"{name}: {ends_text(interval, 5, certified=name == 'certified')}")
    return "<br>".join([*lines, params_text(found.params)])


def _what_is_left(known: Sequence[Checkpoint]) -> list[Any]:
    """The certificate, where there is one at any time; else the estimated gain."""
    thick: dict[str, Any] = {"mode": "lines+markers", "marker": {"size": 4}}
    certified = [(one.finished, one.certificate.value) for one in known if one.certificate.value is not None]
    if certified:
        x, y = [n for n, _ in certified], [value for _, value in certified]
        hover = [f"after {n} trials: certified within {at_most(value, 5)}" for n, value in certified]
        name, line = "certificate: the optimum is no further than this", {"color": CERTIFIED, "width": 2.2}
        return [scatter(hover, x=x, y=y, name=name, line=line, **thick)]
    estimated = [
        (one.finished, one.recommendation.estimated_gain, one.recommendation.estimated_gain_upper)
        for one in known
        if one.recommendation.estimated_gain is not None
    ]
    if len(estimated) < 2:
        return []
    x, gain, upper = (list(part) for part in zip(*estimated, strict=True))
    hover = [f"after {n} trials: estimated {number(g, 4)}" for n, g in zip(x, gain, strict=True)]
    line = {"color": FITTED, "width": 2.2}
    traces = [scatter(hover, x=x, y=gain, name="estimated gain left", line=line, **thick)]
    if all(value is not None for value in upper):
        hover = [f"after {n} trials: at most {number(u, 4)}, 90 %" for n, u in zip(x, upper, strict=True)]
        line = {"color": FITTED, "width": 1.4, "dash": "dot"}
        traces.append(scatter(hover, x=x, y=upper, name="at most, with 90 % (fitted)", mode="lines", line=line))
    return traces


def _focus(figure: Any, view: RunView, known: Sequence[Checkpoint]) -> None:
    """Let far outliers on the bad side, and wide first intervals, leave the axis of values."""
    values = view.values[~np.isnan(view.values)]
    if not len(values):
        return
    settled = known[len(known) // 4 :]
    ends = [end for one in settled if one.interval is not None for end in one.interval]
    shown = [*values.tolist(), *ends, *(one.recommendation.value for one in known)]
    low, high = min(shown), max(shown)
    good = np.quantile(values, [0.1, 1.0] if view.maximizes else [0.0, 0.9])
    inner = float(good[1] - good[0])
    if inner > 0 and view.maximizes and float(good[0]) - float(values.min()) > 3 * inner:
        low = min([float(good[0]) - 0.5 * inner, *ends])
    if inner > 0 and not view.maximizes and float(values.max()) - float(good[1]) > 3 * inner:
        high = max([float(good[1]) + 0.5 * inner, *ends])
    room = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
    figure.update_yaxes(range=[low - room, high + room], row=1, col=1)
    edge = low - 0.5 * room if view.maximizes else high + 0.5 * room
    figure.for_each_trace(lambda trace: trace.update(y=[edge] * len(trace.x)), selector={"meta": "failed"})
