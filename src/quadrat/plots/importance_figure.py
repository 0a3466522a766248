"""Which parameters matter, by the fitted model: its Sobol indices.

With independent uniform arguments on the unit cube and m = m(x), argument i has the first-order index
S_i = Var(E[m | x_i]) / Var(m), its share alone, and the total index T_i = E[Var(m | all but x_i)] / Var(m), its share
with all interactions. From two sets of points A and B, and A_i, which is A with column i of B, the estimates are

    S_i = mean(m(B) (m(A_i) - m(A))) / Var(m),        T_i = mean((m(A) - m(A_i))^2) / (2 Var(m))

[S10, table 2, lines (b) and (f)], with the mean of m subtracted first, which changes neither and makes S_i less noisy.

[S10]: Saltelli, Annoni, Azzini, Campolongo, Ratto and Tarantola (2010). Variance based sensitivity analysis of model
       output. Computer Physics Communications 181.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput
from quadrat.plots.run_view import RunView, Source
from quadrat.plots.style import FITTED, finish, graph_objects, plain, tinted

__all__ = ["SobolIndices", "importance", "sobol_indices"]

_SQUARABLE = 1e150  # the largest value whose square is a number


def importance(run: Source, *, samples: int | None = None) -> Any:
    """Draw each parameter's share of the variance of the model's mean over the whole space.

    Two shares: alone (first-order Sobol index), and with all interactions (total index). They are of the model's mean
    on the scales that are searched, every part of the space counting the same, and not near the optimum alone.

    Parameters
    ----------
    run
        Any `Source`: an optimizer, a result, a study or a view.
    samples
        A power of two: the model is asked at (parameters + 2) times as many points. None is 256 up to ten parameters,
        and 128 for more.

    Returns
    -------
    plotly.graph_objects.Figure

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
    shares = sobol_indices(lambda units: view.predictions(units).value, dimension, samples)
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
    longest = min(1.0, max(0.05, float(np.max(shares.total))))
    figure.update_xaxes(title_text="share of the mean's variance", tickformat=".0%", range=[0, 1.08 * longest])
    figure.update_yaxes(tickmode="array", tickvals=places, ticktext=names, range=[-0.6, dimension - 0.4])
    return finish(
        figure, f"Which parameters matter, by {plain(view.method)}", _said(view, samples), height=190 + 34 * dimension
    )


def _said(view: RunView, samples: int) -> str:
    words = (
        f"Sobol indices of the mean of the model, estimated at {samples} × {len(view.axes) + 2} points spread over the"
        " whole space; log parameters count on their log scale. Estimates by a model, not facts about the objective."
    )
    if view.believes_locally:
        words += " In a run this long the model is of the trials around the best place, and says little of the rest."
    return words


@dataclass(frozen=True, eq=False)
class SobolIndices:
    """Estimates for each of the D arguments, shape (D,), in [0, 1]; 0 for all where the function is constant."""

    first_order: Array
    total: Array

    __repr__ = printed


def sobol_indices(function: Callable[[Array], Array], dimension: int, samples: int, seed: int = 0) -> SobolIndices:
    """Estimate the indices of a function from points (m, D) to values (m,), with `samples` (D + 2) points.

    A and B are `samples`, a power of two, points of a Sobol sequence in 2 D dimensions that `seed` scrambles. The
    function is called once.

    Examples
    --------
    >>> found = sobol_indices(lambda x: 3 * x[:, 0] + x[:, 1] + 0 * x[:, 2], 3, 1024)
    >>> found.first_order.round(2).tolist(), found.total.round(2).tolist()
    ([0.9, 0.1, 0.0], [0.9, 0.1, 0.0])
    """
    if samples < 2 or samples & (samples - 1):
        raise InvalidInput(f"samples: expected a power of two, at least 2, got {samples!r}")
    from scipy.stats import qmc

    both = qmc.Sobol(2 * dimension, rng=np.random.default_rng(seed)).random(samples)
    a, b = both[:, :dimension], both[:, dimension:]
    mixed = np.repeat(a[None], dimension, axis=0)
    for i in range(dimension):
        mixed[i, :, i] = b[:, i]
    values = function(np.vstack([a, b, mixed.reshape(-1, dimension)]))
    largest = float(np.abs(values).max())
    if largest > _SQUARABLE:
        values = values / largest  # the indices are those of any multiple
    values = values - values[: 2 * samples].mean()
    at_a, at_b, at_mixed = values[:samples], values[samples : 2 * samples], values[2 * samples :].reshape(dimension, -1)
    variance = float(values[: 2 * samples].var())
    if variance <= 1e-24 * max(float(np.abs(values).max()) ** 2, 1e-280):
        return SobolIndices(np.zeros(dimension), np.zeros(dimension))
    first = (at_b * (at_mixed - at_a)).mean(axis=1) / variance
    total = ((at_a - at_mixed) ** 2).mean(axis=1) / (2 * variance)
    return SobolIndices(np.clip(first, 0.0, 1.0), np.clip(total, 0.0, 1.0))
