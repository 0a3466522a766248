"""The partition of a run: cells of LP-GP-UCB or of a search for a level set, coloured by their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrat._core.arrays import Bools
from quadrat.plots.parameter_axis import ParameterAxis
from quadrat.plots.partition_view import Partition
from quadrat.plots.plane_cells import chosen_axes, plane_cells
from quadrat.plots.run_view import RunView, Source, params_text, trial_text
from quadrat.plots.style import (
    BEST,
    FAILED,
    INK,
    RECOMMENDED,
    SCALE,
    SCALE_DOWN,
    finish,
    graph_objects,
    number,
    plain,
    scatter,
)

__all__ = ["cells", "label_axes", "moments", "recommended_mark", "slider", "trial_marks"]


STEPS = 16  # of the slider, where nobody says how many
_BAR = {"thickness": 14, "outlinewidth": 0}  # of colours


def cells(run: Source, *, x: str | None = None, y: str | None = None, steps: int | None = None) -> Any:
    """Draw the cells in the plane of two parameters, coloured by their bounds, with the trials.

    Where there are more parameters, the plane goes through the recommended point. A slider shows how cells were
    divided.

    Parameters
    ----------
    run
        Any `Source` whose method has cells: LPGPUCB, LP0, LevelSet, MultiScaleLevelSet.
    x, y
        Names of the parameters across and up; by default those along which cells are divided most.
    steps
        Of the slider, at most; 1 is only now. None is 16, and 1 in runs of more than 300 trials.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> method = qd.research.LP0(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.05, budget=12)
    >>> run = qd.minimize(lambda p: p["x"] ** 2 / 4, space, n_trials=12, method=method)
    >>> figure = cells(run, x="x", y="y", steps=1)
    >>> figure.layout.xaxis.title.text, figure.layout.yaxis.title.text
    ('x', 'y')
    """
    view = RunView.of(run)
    partitions = view.partitions(moments(view, steps))
    last = partitions[-1]
    axes = chosen_axes(view, x, y, last.lower, last.upper)
    low, high = _range(partitions)
    figure = graph_objects().Figure()
    labels, sizes = [], []
    for partition in partitions:
        traces = _step(view, partition, axes, low, high)
        for trace in traces:
            figure.add_trace(trace.update(visible=partition is last))
        sizes.append(len(traces))
        labels.append(str(partition.finished))
    if len(partitions) > 1:
        slider(figure, labels, sizes)
    label_axes(figure, axes)
    return finish(
        figure, _title(view, axes), _said(view, last, axes), height=640 if len(partitions) > 1 else 560, legend="above"
    )


def label_axes(figure: Any, axes: tuple[ParameterAxis, ...]) -> None:
    """Label the axes across and up; where there is one, values go up."""
    figure.update_xaxes(**axes[0].layout())
    figure.update_yaxes(**(axes[1].layout() if len(axes) == 2 else {"title_text": "value"}))


def moments(view: RunView, steps: int | None) -> int:
    """Return at how many moments of a run its cells are looked at: as asked for, and else not at many of a long one."""
    return (STEPS if view.replays_by_itself else 1) if steps is None else max(steps, 1)


def _title(view: RunView, axes: tuple[ParameterAxis, ...]) -> str:
    return f"Cells of {plain(view.method)} over {' and '.join(plain(axis.name, 30) for axis in axes)}"


def _bound_name(view: RunView, partition: Partition) -> str:
    side = "upper" if view.maximizes else "lower"
    return f"{side} bound (index)" if partition.is_index else f"{side} bound"


def _said(view: RunView, last: Partition, axes: tuple[ParameterAxis, ...]) -> str:
    how = "coloured by" if len(axes) == 2 else "with"
    cells = "1 cell" if len(last) == 1 else f"{len(last)} cells"
    words = f"{cells} after {last.finished} trials, {how} their {_bound_name(view, last)}: "
    if last.is_index:
        words += "of standardised values under a learned kernel, which guides the search and guarantees nothing. "
    elif view.certificate.value is None and "level sets" not in view.optimizer.method.facts.handles:
        words += "what the method believes to be the best possible there. "
    else:
        words += "under the stated assumptions no value there is better. "
    if len(view.axes) > len(axes):
        words += (
            "The other parameters are as recommended: only cells that this slice meets are drawn, and trials in other"
            " cells are open circles."
        )
    return words


def _range(partitions: tuple[Partition, ...]) -> tuple[float, float]:
    """The range of colours: that of the bounds now, since at first all cells have the same, which says nothing."""
    bounds = partitions[-1].bound[~np.isnan(partitions[-1].bound)]
    if not len(bounds):
        return 0.0, 1.0
    low, high = float(bounds.min()), float(bounds.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _step(view: RunView, partition: Partition, axes: tuple[ParameterAxis, ...], low: float, high: float) -> list[Any]:
    """All that is drawn for one moment of the run."""
    free = tuple(axis.index for axis in axes)
    met = np.flatnonzero(partition.holding(view.point, free))
    if len(axes) == 1:
        return [*_line(view, partition, axes[0]), *trial_marks(view, axes, partition.finished)]
    across, up = axes
    plane = plane_cells(partition.lower, partition.upper, met, (across, up))
    texts = {cell: _cell_text(view, partition, cell) for cell in met.tolist()}
    go = graph_objects()
    shown = [
        go.Heatmap(
            x=plane.x,
            y=plane.y,
            z=partition.bound[plane.cell].astype(np.float32),
            zmin=low,
            zmax=high,
            colorscale=SCALE if view.maximizes else SCALE_DOWN,
            colorbar={"title": {"text": _bound_name(view, partition), "side": "right"}, **_BAR},
            hovertext=[[texts[cell] for cell in row] for row in plane.cell.tolist()],
            hoverinfo="text",
            showlegend=False,
        ),
        plane.outline("rgba(255, 255, 255, 0.55)", 0.8),
    ]
    return [*shown, *trial_marks(view, axes, partition.finished, _in_slice(view, partition, free))]


def _in_slice(view: RunView, partition: Partition, free: tuple[int, ...]) -> Bools:
    """Which trials are in cells that the slice meets, shape (n,)."""
    met = np.flatnonzero(partition.holding(view.point, free))
    inside = np.zeros(len(view.records), dtype=np.bool_)
    for cell in met.tolist():
        lower, upper = partition.lower[cell], partition.upper[cell]
        inside |= ((view.units >= lower) & ((view.units < upper) | (upper == 1.0))).all(axis=1)
    return inside


def _line(view: RunView, partition: Partition, axis: ParameterAxis) -> list[Any]:
    """The bounds of cells along one parameter, as steps."""
    order = np.argsort(partition.lower[:, 0])
    left, right = axis.edge(partition.lower[order, 0]), axis.edge(partition.upper[order, 0])
    bound = partition.bound[order]
    x = np.stack([left, right, np.full(len(left), np.nan)], axis=1).ravel()
    hover = [text for cell in order.tolist() for text in [_cell_text(view, partition, cell)] * 3]
    name, line = f"{_bound_name(view, partition)} of each cell", {"color": RECOMMENDED, "width": 2}
    return [scatter(hover, x=x, y=np.repeat(bound, 3), name=name, mode="lines", line=line)]


def _cell_text(view: RunView, partition: Partition, cell: int) -> str:
    bound = float(partition.bound[cell])
    lines = [f"<b>{_bound_name(view, partition)}: {'none yet' if np.isnan(bound) else number(bound, 5)}</b>"]
    if partition.active:
        lines.append(f"given by: {plain(partition.active[cell])}")
    if partition.points:
        lines.append(f"observations: {partition.points[cell]}")
    for axis in view.axes[:12]:
        low, high = axis.edge(np.array([partition.lower[cell, axis.index], partition.upper[cell, axis.index]]))
        whole = partition.lower[cell, axis.index] == 0.0 and partition.upper[cell, axis.index] == 1.0
        where = "anywhere" if whole else f"{number(float(low))} to {number(float(high))}"
        lines.append(f"{plain(axis.name, 40)}: {where}" if not axis.is_choice or whole else _choices(axis, low, high))
    return "<br>".join(lines)


def _choices(axis: ParameterAxis, low: float, high: float) -> str:
    inside = [label for i, label in enumerate(axis.labels) if low < i + 0.5 and i - 0.5 < high]
    return f"{plain(axis.name, 40)}: {plain(', '.join(inside), 60)}"


def trial_marks(view: RunView, axes: tuple[ParameterAxis, ...], finished: int, near: Bools | None = None) -> list[Any]:
    """Return the first `finished` trials as marks in the plane of the axes, and the recommended point.

    Where there is one axis, values go up. Filled circles are the trials in `near`, shape (n,); None is all.
    """
    rows = np.array(view.finished[:finished], dtype=np.intp)
    x = axes[0].at(view.units[rows, axes[0].index])
    complete = ~np.isnan(view.values[rows])
    known = view.values[~np.isnan(view.values)]
    worst = float(known.min() if view.maximizes else known.max()) if len(known) else 0.0
    y = axes[1].at(view.units[rows, axes[1].index]) if len(axes) == 2 else np.where(complete, view.values[rows], worst)
    inside = np.ones(len(rows), dtype=np.bool_) if near is None else near[rows]
    groups = (
        ("trials", complete & inside, {"symbol": "circle", "color": "white", "line": {"color": "#1f2933", "width": 1}}),
        ("trials in other cells", complete & ~inside, {"symbol": "circle-open", "color": "#1f2933", "opacity": 0.35}),
        ("failed", ~complete, {"symbol": "x-thin", "line": {"color": FAILED, "width": 2}}),
    )
    traces = []
    for name, chosen, marker in groups:
        if (chosen & ~np.isnan(x) & ~np.isnan(y)).any():
            hover = [trial_text(view.records[i]) for i in rows[chosen]]
            look = {"size": 6, **marker}
            traces.append(scatter(hover, x=x[chosen], y=y[chosen], name=name, mode="markers", marker=look))
    return [*traces, *recommended_mark(view, axes)]


def recommended_mark(view: RunView, axes: tuple[ParameterAxis, ...]) -> list[Any]:
    """Return the recommended point as a mark."""
    found = view.recommendation
    if found is None:
        return []
    x = axes[0].at(view.point[[axes[0].index]])
    y = axes[1].at(view.point[[axes[1].index]]) if len(axes) == 2 else np.array([found.value])
    hover = [f"<b>recommended: {number(found.value, 6)}</b><br>{params_text(found.params)}"]
    star = {"symbol": "star", "size": 15, "color": BEST, "line": {"color": "#1f2933", "width": 1.2}}
    return [scatter(hover, x=x, y=y, name="recommended now", mode="markers", marker=star)]


def slider(figure: Any, labels: list[str], sizes: list[int]) -> None:
    """Add a slider whose step i shows the i-th group of traces, of the given sizes, and no other; the last is shown."""
    group = [i for i, size in enumerate(sizes) for _ in range(size)]
    steps = [
        {"method": "restyle", "args": [{"visible": [other == i for other in group]}], "label": label}
        for i, label in enumerate(labels)
    ]
    figure.update_layout(
        sliders=[
            {
                "steps": steps,
                "active": len(labels) - 1,
                "currentvalue": {"prefix": "after finished trials: ", "font": {"color": INK}},
                "pad": {"t": 52, "b": 4},
                "font": {"color": INK, "size": 12},
                "bordercolor": INK,
                "bgcolor": "rgba(128, 137, 148, 0.25)",
            }
        ]
    )
