"""Which parameters matter, by the fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrat.plots.run_view import RunView, Source
from quadrat.plots.sobol_indices import sobol_indices
from quadrat.plots.style import FITTED, finish, graph_objects, plain, tinted

__all__ = ["importance"]


def importance(run: Source, *, samples: int | None = None) -> Any:
    """Draw how much of what the model's mean varies by, over the whole space, is due to each parameter.

    Two shares: alone (first-order Sobol index), and with all interactions (total index), see
    `quadrat.plots.sobol_indices`. They are of the model's mean on the scales that are searched, every part of the space
    counting the same, and not of the neighbourhood of the optimum.

    Parameters
    ----------
    run
        An optimizer, a result of `maximize` or `minimize`, an Optuna study, or a `RunView`.
    samples
        A power of two: the model is asked at (parameters + 2) times as many points. None is 256 up to ten parameters,
        and 128 for more.

    Returns
    -------
    plotly.graph_objects.Figure
        Show it with `.show()`, write it with `.write_html(path)`.

    Raises
    ------
    NotAvailable
        The method has no model, or no trial is complete.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10, method="Auto")
    >>> [trace.name for trace in importance(run, samples=16).data]
    ['with all interactions (total Sobol index)', 'alone (first-order Sobol index)']
    """
    view = RunView.of(run)
    dimension = len(view.axes)
    samples = (256 if dimension <= 10 else 128) if samples is None else samples
    shares = sobol_indices(lambda units: view.believed(units).value, dimension, samples)
    # Bars are drawn from the bottom up: the most important comes last, and is on top.
    order = np.lexsort((-np.arange(dimension), shares.first_order, shares.total))
    names = [plain(view.axes[i].name, 32) for i in order]
    places = list(range(dimension))
    go = graph_objects()
    figure = go.Figure(
        [
            go.Bar(
                x=values[order],
                y=places,
                orientation="h",
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                width=width,
                hovertext=[f"{plain(view.axes[i].name, 60)}<br>{name}: {100 * values[i]:.3g} %" for i in order],
                hoverinfo="text",
                text=[f"{100 * values[i]:.0f} %" for i in order] if labelled else None,
                textposition="outside",
                cliponaxis=False,
            )
            for name, values, colour, width, labelled in (
                ("with all interactions (total Sobol index)", shares.total, tinted(FITTED, 0.35), 0.7, True),
                ("alone (first-order Sobol index)", shares.first_order, FITTED, 0.36, False),
            )
        ]
    )
    figure.update_layout(barmode="overlay", legend_traceorder="normal")
    figure.update_xaxes(
        title_text="share of the mean's variance",
        tickformat=".0%",
        range=[0, 1.08 * _longest(shares.total)],
    )
    figure.update_yaxes(tickmode="array", tickvals=places, ticktext=names, range=[-0.6, dimension - 0.4])
    return finish(
        figure, f"Which parameters matter, by {plain(view.method)}", _said(view, samples), height=190 + 34 * dimension
    )


def _longest(shares: Any) -> float:
    return float(min(1.0, max(0.05, float(np.max(shares)))))


def _said(view: RunView, samples: int) -> str:
    words = (
        f"Sobol indices of the mean of the model, estimated at {samples} × {len(view.axes) + 2} points spread over the"
        " whole space; log parameters count on their log scale. Estimates by a model, not facts about the objective."
    )
    if view.believes_locally:
        words += " In a run this long the model is of the trials around the best place, and says little of the rest."
    return words
