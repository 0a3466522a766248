"""Which bound of LP-GP-UCB was the one that counted, over time, and why cells were split."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from quadrat.errors import NotAvailable
from quadrat.methods.lp.cells import BOUNDS
from quadrat.plots.cells_figure import moments
from quadrat.plots.run_view import RoundView, RunView, Source
from quadrat.plots.style import PALETTE, finish, plain, scatter, subplots, tinted

__all__ = ["active_bounds"]

_COLOURS = dict(zip(BOUNDS, ("#8a929b", "#56B4E9", "#0072B2", "#009E73", "#E69F00"), strict=True))
_MEANING = {
    "norm": "norm: B s, before any data",
    "parent": "parent: inherited at a split",
    "posterior": "posterior: Gaussian process",
    "average": "average of the cell",
    "polynomial": "local polynomial",
}


def active_bounds(run: Source, *, steps: int | None = None) -> Any:
    """Draw which of the bounds is the smallest in how many cells over time, and below it the splits by their reason.

    Parameters
    ----------
    run
        Any `Source` whose method is LPGPUCB or LP0.
    steps
        Moments at which cells are looked at, at most. None is 16, and 1 in runs of more than 300 trials.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> method = qd.research.LP0(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.05, budget=12)
    >>> run = qd.minimize(lambda p: p["x"] ** 2 / 4, space, n_trials=12, method=method)
    >>> [trace.name for trace in active_bounds(run, steps=3).data][:3]
    ['norm: B s, before any data', 'parent: inherited at a split', 'posterior: Gaussian process']
    """
    view = RunView.of(run)
    partitions = view.partitions(moments(view, steps))
    if not partitions[-1].active:
        raise NotAvailable(
            f"active_bounds: expected a method with several bounds of each cell, got {plain(view.method)}; LPGPUCB and"
            " LP0 have them"
        )
    figure = subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.2, row_heights=[0.55, 0.45])
    x = [partition.finished for partition in partitions]
    counts = [Counter(partition.active) for partition in partitions]
    for bound in BOUNDS:
        if any(count[bound] for count in counts):
            shares = [count[bound] / len(partition) for count, partition in zip(counts, partitions, strict=True)]
            hover = [
                f"after {n} trials: {_MEANING[bound]}<br>smallest in {count[bound]} of {count.total()} cells"
                for n, count in zip(x, counts, strict=True)
            ]
            look = {"line": {"width": 0.8, "color": _COLOURS[bound]}, "fillcolor": tinted(_COLOURS[bound], 0.65)}
            mode = "lines" if len(x) > 1 else "markers"
            trace = scatter(hover, x=x, y=shares, name=_MEANING[bound], mode=mode, stackgroup="bounds", **look)
            figure.add_trace(trace, row=1, col=1)
    for trace in _splits(partitions[-1].rounds, len(view.records)):
        figure.add_trace(trace, row=2, col=1)
    figure.update_yaxes(title_text="share of cells", tickformat=".0%", range=[0, 1], row=1, col=1)
    figure.update_yaxes(title_text="splits so far", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title_text="trials", row=2, col=1)
    bounded = Counter(partitions[-1].active).most_common(1)[0][0]
    said = (
        f"Above: in which share of the cells each bound is the smallest; now mostly {_MEANING[bounded]}. Below: splits"
        " so far, by the line of Algorithm 1 that asked for them."
    )
    figure = finish(figure, f"Active bounds of {plain(view.method)}", said, height=680)
    between = {"orientation": "h", "x": 0, "y": 0.53, "yanchor": "top", "font_size": 12}  # a legend for each panel
    return figure.update_layout(legend2=figure.layout.legend.to_plotly_json(), legend=between)


def _splits(rounds: tuple[RoundView, ...], trials: int) -> list[Any]:
    """How many splits there were before each trial, by their reason."""
    reasons = sorted({one.condition for one in rounds if one.action == "split"})
    traces = []
    for reason, colour in zip(reasons, (*PALETTE, *PALETTE), strict=False):
        per_trial = np.bincount([one.trial for one in rounds if one.condition == reason], minlength=trials)
        x, y = np.arange(1, len(per_trial) + 1), np.cumsum(per_trial)
        hover = [f"{plain(reason, 80)}<br>{count} splits" for count in y.tolist()]
        line = {"color": colour, "width": 2, "shape": "hv"}
        traces.append(scatter(hover, x=x, y=y, name=plain(reason, 64), legend="legend2", mode="lines", line=line))
    return traces
