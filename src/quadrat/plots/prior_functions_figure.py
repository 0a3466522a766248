"""Functions that stated assumptions allow, along every parameter, before any data."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.plots.parameter_axis import axes_of
from quadrat.plots.style import CERTIFIED, DATA, PALETTE, finish, number, scatter, subplots, tinted
from quadrat.problems.prior_draws import PriorCheck

__all__ = ["prior_functions"]

_COLUMNS = 3
_MOST_LINES = 12  # draws in each figure: more are a tangle


def prior_functions(check: PriorCheck, *, points: int = 121) -> Any:
    """Draw functions of exactly the stated norm along each parameter, all others in the middle of their ranges.

    Solid lines spend their norm on a few hills, dotted ones in every direction alike. Dashed lines are what no function
    of the ball exceeds.

    Parameters
    ----------
    check
        What `quadrat.problems.prior_check` returned.
    points
        Along each parameter.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> from quadrat.problems import prior_check
    >>> space = qd.Space(x=qd.Float(0, 1))
    >>> stated = qd.RunAssumptions(
    ...     kernel=qd.Matern(2.5), lengthscales={"x": 0.4}, norm_bound=1.0, offset=0.0, noise=0.1
    ... )
    >>> figure = prior_functions(prior_check(stated, space, n=4), points=11)
    >>> len(figure.data), figure.layout.xaxis.title.text
    (6, 'x')
    """
    if not isinstance(check, PriorCheck):
        raise InvalidInput(f"check: expected what quadrat.problems.prior_check returned, got {check!r:.80}")
    axes = axes_of(check.space)
    columns = min(_COLUMNS, len(axes))
    rows = ceil(len(axes) / columns)
    figure = subplots(rows=rows, cols=columns, shared_yaxes=True, horizontal_spacing=0.035)
    top = check.assumptions.on(check.space).ceiling
    middle = check.assumptions.centre
    for i, axis in enumerate(axes):
        place = {"row": i // columns + 1, "col": i % columns + 1}
        grid = axis.grid(points)
        at = np.full((len(grid), len(axes)), 0.5)
        at[:, axis.index] = grid
        x = axis.at(grid)
        for k, values in enumerate(check.values(at)[:_MOST_LINES]):
            style = "bumpy" if k % 2 == 0 else "rough"
            line = {"color": tinted(PALETTE[k % len(PALETTE)], 0.9), "width": 1.6, "dash": ("solid", "dot")[k % 2]}
            name = {"bumpy": "a few hills", "rough": "every direction alike"}[style]
            figure.add_trace(
                scatter(None, x=x, y=values, name=name, mode="lines", line=line, legendgroup=style,
                        showlegend=i == 0 and k < 2),
                **place,
            )  # fmt: skip
        for end in (middle - top, middle + top):
            figure.add_trace(
                scatter(None, x=x[[0, -1]], y=[end, end], name="no function of the ball exceeds it", mode="lines",
                        line={"color": CERTIFIED, "dash": "dash", "width": 1}, legendgroup="ball",
                        showlegend=i == 0 and end > middle),
                **place,
            )  # fmt: skip
        figure.add_hline(y=middle, line={"color": DATA, "width": 1}, **place)
        figure.update_xaxes(**axis.layout(), **place)
        if i % columns == 0:
            figure.update_yaxes(title_text="objective", **place)
    said = (
        f"Norm {number(check.assumptions.norm_bound)} about {number(middle)}. Do you believe that your objective may"
        " look like these, and like nothing wilder? Nothing was fitted: no data are in it."
    )
    return finish(figure, "Functions of the stated norm", said, height=150 + 320 * rows)
