"""Whether the model fits: each outcome against its prediction from all others, and how often its intervals hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.gp import LeaveOneOut
from quadrat.plots.run_view import RunView, Source, params_text
from quadrat.plots.style import (
    DATA,
    FAILED,
    FITTED,
    INK,
    band,
    error_bars,
    finish,
    graph_objects,
    number,
    plain,
    scatter,
    tinted,
)

__all__ = ["calibration", "predicted_vs_observed"]

_LEVELS = tuple(level / 100 for level in range(1, 100))
_BAND = 0.95  # of the runs whose model is right have their share in the band, at each level
_LINES = 8  # parameters in a hover


def predicted_vs_observed(run: Source) -> Any:
    """Draw each outcome against its leave-one-out prediction: what a model of all other outcomes expects there.

    Bars are 90 % intervals of the outcome, noise included. Where the model fits, nine in ten of them cross the
    diagonal. Trials at one point are one mark, their mean. Absurd values, and outliers that are far
    from all others, are drawn at the edge.

    Parameters
    ----------
    run
        Any `Source` with a model of all trials: of `Auto`, with 5 to 256 complete trials.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10)
    >>> [trace.name for trace in predicted_vs_observed(run).data][:2]
    ['predicted = observed', 'inside the 90 % interval']
    """
    view = RunView.of(run)
    found = view.leave_one_out
    inside = (found.lower <= found.seen) & (found.seen <= found.upper)
    inside[list(found.outliers)] = False  # their own intervals have the extra variance of outliers
    texts = _texts(view, found)
    seen, lower, upper = _within_sight(found)
    ends = [float(np.min(seen)), float(np.max(seen))]
    figure = graph_objects().Figure(
        [scatter(None, x=ends, y=ends, name="predicted = observed", mode="lines", line={"color": INK, "dash": "dash"})]
    )
    for name, chosen, colour, symbol in (
        ("inside the 90 % interval", inside, FITTED, "circle"),
        ("outside", ~inside, FAILED, "diamond"),
    ):
        if chosen.any():
            bars = error_bars(found.predicted[chosen], lower[chosen], upper[chosen])
            figure.add_trace(
                scatter(
                    [text for text, one in zip(texts, chosen.tolist(), strict=True) if one],
                    x=seen[chosen],
                    y=found.predicted[chosen],
                    error_y={**bars, "color": tinted(colour, 0.55), "thickness": 1.2, "width": 0},
                    name=name,
                    mode="markers",
                    marker={"color": colour, "size": 7, "symbol": symbol},
                )
            )
    figure.update_xaxes(title_text="observed")
    figure.update_yaxes(title_text="predicted from all others")
    return finish(figure, "Predicted against observed, each trial left out", _held(found, inside), height=520)


def _within_sight(found: LeaveOneOut) -> tuple[Array, Array, Array]:
    """Return observations and ends of intervals as they are drawn, each (n,): outliers leave the axes to the others.

    An outlier is drawn no farther from the others than these are from each other.
    """
    outliers = list(found.outliers)
    usual = np.delete(np.stack([found.seen, found.lower, found.upper]), outliers, axis=1)
    if not outliers or not usual.size:
        return found.seen, found.lower, found.upper
    low, high = float(usual.min()), float(usual.max())
    reach = high - low
    seen, lower, upper = (part.copy() for part in (found.seen, found.lower, found.upper))
    for part in (seen, lower, upper):
        part[outliers] = np.clip(part[outliers], low - reach, high + reach)
    return seen, lower, upper


def calibration(run: Source) -> Any:
    """Draw which share of the outcomes lies in their leave-one-out intervals, against the level of the intervals.

    Where the model is right, the line is near the diagonal: at each level within the band with a chance of 95 %, as if
    outcomes were independent. Above it intervals are too wide, below it too narrow.

    Parameters
    ----------
    run
        As of `predicted_vs_observed`.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10)
    >>> [trace.name for trace in calibration(run).data]
    ['95 % band of a right model', 'as it should be', 'share of the outcomes']
    """
    from scipy.stats import binom

    view = RunView.of(run)
    found = view.leave_one_out
    levels = np.array(_LEVELS)
    low, high = (binom.ppf(end, len(found), levels) / len(found) for end in ((1 - _BAND) / 2, (1 + _BAND) / 2))
    shares = found.coverage(_LEVELS)
    hover = [
        f"{100 * level:.0f} % intervals hold {round(share * len(found))} of {len(found)} outcomes ({100 * share:.0f} %)"
        for level, share in zip(_LEVELS, shares.tolist(), strict=True)
    ]
    figure = graph_objects().Figure(
        [
            band(levels, low, high, "95 % band of a right model", tinted(DATA, 0.25)),
            scatter(
                None, x=[0, 1], y=[0, 1], name="as it should be", mode="lines", line={"color": INK, "dash": "dash"}
            ),
            scatter(
                hover,
                x=levels,
                y=shares,
                name="share of the outcomes",
                mode="lines",
                line={"color": FITTED, "width": 2.4, "shape": "hv"},
            ),
        ]
    )
    figure.update_xaxes(title_text="level of the interval", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title_text="share inside", tickformat=".0%", range=[0, 1.02])
    half, most = found.coverage([0.5, 0.9]).tolist()
    said = (
        f"Of {len(found)} outcomes, each predicted from all others, {100 * half:.0f} % lie in their 50 % intervals and"
        f" {100 * most:.0f} % in their 90 % intervals. Above the diagonal intervals are too wide, below it too narrow."
    )
    return finish(figure, f"Calibration of the model of {plain(view.method)}", said, height=480)


def _held(found: LeaveOneOut, inside: Any) -> str:
    said = f"{inside.sum()} of {len(found)} outcomes lie in the 90 % intervals that all others predict, noise included."
    return f"{said} {plain(found.warning, 500)}" if found.warning else f"{said} Nothing says that the model fits badly."


def _texts(view: RunView, found: LeaveOneOut) -> list[str]:
    records = {record.number: record for record in view.records}
    texts = []
    for i, trials in enumerate(found.trials):
        which = f"trial{'s' * (len(trials) > 1)} {', '.join(map(str, trials[:6]))}{', …' if len(trials) > 6 else ''}"
        ends = f"{number(found.lower[i])} to {number(found.upper[i])}"
        texts.append(
            f"<b>{which}: observed {number(found.observed[i])}</b>"
            f"<br>all others predict {number(found.predicted[i])} ({ends}, 90 %)"
            f"<br>{100 * found.noise_share[i]:.0f} % of that variance is noise"
            f"<br>{params_text(records[trials[0]].params, _LINES)}"
        )
    return texts
