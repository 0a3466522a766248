"""Where the objective lies above and below a threshold: cells with their labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrat.optimizer import LevelSetReport
from quadrat.plots.cells_figure import chosen_axes, label_axes, plane_cells, trial_marks
from quadrat.plots.parameter_axis import ParameterAxis
from quadrat.plots.run_view import PartitionView, RunView, Source
from quadrat.plots.style import INK, finish, graph_objects, number, plain, scatter, tinted

__all__ = ["level_set"]

# Told apart by everybody, and undecided recedes.
_COLOURS = {"below": "#D55E00", "undecided": "#b8bec6", "above": "#0072B2"}
_CODES = {label: code for code, label in enumerate(_COLOURS)}


def level_set(run: Source, *, x: str | None = None, y: str | None = None) -> Any:
    """Draw which cells are above the threshold, below it or undecided, in the plane of two parameters.

    Where there are more parameters, the plane goes through the recommended point; where there is one, the bounds of
    each cell go up.

    Parameters
    ----------
    run
        Any `Source` whose method is LevelSet or MultiScaleLevelSet.
    x, y
        Names of the parameters across and up; by default those along which cells are divided most.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> method = qd.LevelSet(threshold=0.2, kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.01, cells=16)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> optimizer.add_trials([{"x": i / 40} for i in range(41)], [i / 80 for i in range(41)])
    range(0, 41)
    >>> sorted({trace.name.split(":")[0] for trace in level_set(optimizer).data if trace.name})
    ['above', 'below', 'recommended now', 'trials', 'undecided']
    """
    view = RunView.of(run)
    report = view.optimizer.level_set()
    partition = _as_partition(view, report)
    axes = chosen_axes(view, x, y, partition.lower, partition.upper)
    drawn = _plane(view, report, partition, axes) if len(axes) == 2 else _line(report, partition, axes)
    figure = graph_objects().Figure(drawn)
    for trace in trial_marks(view, axes, len(view.finished)):
        figure.add_trace(trace)
    label_axes(figure, axes)
    if len(axes) == 1:
        figure.add_hline(y=report.threshold, line={"color": INK, "dash": "dash", "width": 1.4})
    title = f"Above and below {number(report.threshold)}: {' and '.join(plain(axis.name, 30) for axis in axes)}"
    return finish(figure, title, _said(view, report, axes), height=560)


def _said(view: RunView, report: LevelSetReport, axes: tuple[ParameterAxis, ...]) -> str:
    shares = ", ".join(f"{100 * report.volume(label):.3g} % {label}" for label in ("above", "below", "undecided"))
    words = f"Of the whole space {shares} (within ±{number(report.accuracy, 3)} either label is right). "
    if report.reason is None:
        words += f"All labels are right at once with probability {1 - report.delta:g} under the stated assumptions. "
    else:
        words += f"Nothing is guaranteed: {plain(report.reason, 200)}. "
    if len(view.axes) > len(axes):
        words += "The other parameters are as recommended."
    return words


def _as_partition(view: RunView, report: LevelSetReport) -> PartitionView:
    """The cells on the unit cube again: bounds of a report are values of the parameters."""
    ends = [
        view.space.to_units(
            [{name: cell.ranges[name][side] for name in view.space.axes} | _fixed(view) for cell in report.cells]
        )
        for side in (0, 1)
    ]
    return PartitionView(len(view.finished), ends[0], ends[1], np.array([cell.interval[1] for cell in report.cells]))


def _fixed(view: RunView) -> dict[str, Any]:
    """Parameters with a single value, which have no axis."""
    some = view.space.from_unit(np.full(view.space.dimension, 0.5))
    return {name: value for name, value in some.items() if name not in view.space.axes}


def _texts(report: LevelSetReport) -> list[str]:
    found = []
    for cell in report.cells:
        where = [f"{plain(name, 40)}: {number(a)} to {number(b)}" for name, (a, b) in list(cell.ranges.items())[:12]]
        bounds = f"between {number(cell.interval[0])} and {number(cell.interval[1])}"
        found.append("<br>".join([f"<b>{cell.label}</b>", bounds, *where]))
    return found


def _plane(
    view: RunView, report: LevelSetReport, partition: PartitionView, axes: tuple[ParameterAxis, ...]
) -> list[Any]:
    go = graph_objects()
    across, up = axes
    met = np.flatnonzero(partition.holding(view.point, (across.index, up.index)))
    plane = plane_cells(partition.lower, partition.upper, met, (across, up))
    codes = np.array([_CODES[cell.label] for cell in report.cells])
    texts = _texts(report)
    colours = [[(i + side) / 3, tinted(colour, 0.75)] for i, colour in enumerate(_COLOURS.values()) for side in (0, 1)]
    return [
        go.Heatmap(
            x=plane.x,
            y=plane.y,
            z=codes[plane.cell],
            zmin=-0.5,
            zmax=2.5,
            colorscale=colours,
            showscale=False,
            hovertext=[[texts[cell] for cell in row] for row in plane.cell.tolist()],
            hoverinfo="text",
        ),
        plane.outline("rgba(255, 255, 255, 0.35)", 0.6),
        *(
            go.Scatter(
                x=[None],
                y=[None],
                name=label,
                mode="markers",
                marker={"symbol": "square", "size": 12, "color": tinted(colour, 0.75)},
            )
            for label, colour in reversed(_COLOURS.items())
        ),
    ]


def _line(report: LevelSetReport, partition: PartitionView, axes: tuple[ParameterAxis, ...]) -> list[Any]:
    """Each cell as a box from its lower to its upper bound."""
    (axis,) = axes
    left, right = axis.edge(partition.lower[:, 0]), axis.edge(partition.upper[:, 0])
    texts = _texts(report)
    traces = []
    for label, colour in reversed(_COLOURS.items()):
        chosen = [i for i, cell in enumerate(report.cells) if cell.label == label]
        if chosen:
            low = np.array([report.cells[i].interval[0] for i in chosen])
            high = np.array([report.cells[i].interval[1] for i in chosen])
            gap = np.full(len(chosen), np.nan)
            x = np.stack([left[chosen], right[chosen], right[chosen], left[chosen], left[chosen], gap], axis=1)
            y = np.stack([low, low, high, high, low, gap], axis=1)
            hover = [texts[i] for i in chosen for _ in range(6)]
            look = {"fillcolor": tinted(colour, 0.45), "line": {"color": tinted(colour, 0.8), "width": 0.5}}
            name = f"{label}: bounds of each cell"
            traces.append(scatter(hover, x=x.ravel(), y=y.ravel(), name=name, mode="lines", fill="toself", **look))
    return traces
