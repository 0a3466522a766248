"""The partition of a run: cells of LP-GP-UCB or of a search for a level set, coloured by their bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat.errors import InvalidInput, did_you_mean
from quadrat.plots.parameter_axis import ParameterAxis
from quadrat.plots.run_view import PartitionView, RunView, Source, params_text, trial_text
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

__all__ = ["cells", "chosen_axes", "label_axes", "moments", "plane_cells", "trial_marks"]


STEPS = 16  # of the slider, by default
_FINEST = 360  # rectangles along an axis: cells that are narrower are not seen anyway
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
        _slider(figure, labels, sizes)
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


def _bound_name(view: RunView, partition: PartitionView) -> str:
    side = "upper" if view.maximizes else "lower"
    return f"{side} bound (index)" if partition.is_index else f"{side} bound"


def _said(view: RunView, last: PartitionView, axes: tuple[ParameterAxis, ...]) -> str:
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


def _range(partitions: tuple[PartitionView, ...]) -> tuple[float, float]:
    """The range of colours: that of the bounds now, since at first all cells have the same, which says nothing."""
    bounds = partitions[-1].bound[~np.isnan(partitions[-1].bound)]
    if not len(bounds):
        return 0.0, 1.0
    low, high = float(bounds.min()), float(bounds.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _step(
    view: RunView, partition: PartitionView, axes: tuple[ParameterAxis, ...], low: float, high: float
) -> list[Any]:
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


def _in_slice(view: RunView, partition: PartitionView, free: tuple[int, ...]) -> Bools:
    """Which trials are in cells that the slice meets, shape (n,)."""
    met = np.flatnonzero(partition.holding(view.point, free))
    inside = np.zeros(len(view.records), dtype=np.bool_)
    for cell in met.tolist():
        lower, upper = partition.lower[cell], partition.upper[cell]
        inside |= ((view.units >= lower) & ((view.units < upper) | (upper == 1.0))).all(axis=1)
    return inside


def _line(view: RunView, partition: PartitionView, axis: ParameterAxis) -> list[Any]:
    """The bounds of cells along one parameter, as steps."""
    order = np.argsort(partition.lower[:, 0])
    left, right = axis.edge(partition.lower[order, 0]), axis.edge(partition.upper[order, 0])
    bound = partition.bound[order]
    x = np.stack([left, right, np.full(len(left), np.nan)], axis=1).ravel()
    hover = [text for cell in order.tolist() for text in [_cell_text(view, partition, cell)] * 3]
    name, line = f"{_bound_name(view, partition)} of each cell", {"color": RECOMMENDED, "width": 2}
    return [scatter(hover, x=x, y=np.repeat(bound, 3), name=name, mode="lines", line=line)]


def _cell_text(view: RunView, partition: PartitionView, cell: int) -> str:
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
    return [*traces, *_recommended_mark(view, axes)]


def _recommended_mark(view: RunView, axes: tuple[ParameterAxis, ...]) -> list[Any]:
    """Return the recommended point as a mark."""
    found = view.recommendation
    if found is None:
        return []
    x = axes[0].at(view.point[[axes[0].index]])
    y = axes[1].at(view.point[[axes[1].index]]) if len(axes) == 2 else np.array([found.value])
    hover = [f"<b>recommended: {number(found.value, 6)}</b><br>{params_text(found.params)}"]
    star = {"symbol": "star", "size": 15, "color": BEST, "line": {"color": "#1f2933", "width": 1.2}}
    return [scatter(hover, x=x, y=y, name="recommended now", mode="markers", marker=star)]


def _slider(figure: Any, labels: list[str], sizes: list[int]) -> None:
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


@dataclass(frozen=True, eq=False)
class PlaneCells:
    """The cells that a plane meets, as rectangles of a grid, in the user's units."""

    x: Array  # edges of the rectangles across, shape (a + 1,)
    y: Array  # and up, shape (b + 1,)
    cell: Ints  # the number of the cell that each rectangle belongs to, shape (b, a)
    outline_x: Array  # the outlines of the cells, one polyline with gaps (NaN)
    outline_y: Array

    def outline(self, colour: str, width: float) -> Any:
        """Return the outlines as a trace."""
        line = {"color": colour, "width": width}
        return scatter(x=self.outline_x, y=self.outline_y, mode="lines", line=line, showlegend=False)


def plane_cells(lower: Array, upper: Array, cells: Ints, axes: tuple[ParameterAxis, ParameterAxis]) -> PlaneCells:
    """Return the numbered `cells` that the plane of two axes meets, together all of it.

    `lower` and `upper` are the corners of all cells on the unit cube, shape (m, D).
    """
    edges = [_edges(lower[cells, axis.index], upper[cells, axis.index]) for axis in axes]
    middles = [(some[1:] + some[:-1]) / 2 for some in edges]
    owner = np.full((len(middles[1]), len(middles[0])), -1, dtype=np.intp)
    for cell in cells.tolist():
        (left, right), (bottom, top) = (
            np.searchsorted(middle, [lower[cell, axis.index], upper[cell, axis.index]])
            for middle, axis in zip(middles, axes, strict=True)
        )
        owner[bottom:top, left:right] = cell
    (x0, x1), (y0, y1) = ((axis.edge(lower[cells, axis.index]), axis.edge(upper[cells, axis.index])) for axis in axes)
    gap = np.full(len(cells), np.nan)
    return PlaneCells(
        axes[0].edge(edges[0]),
        axes[1].edge(edges[1]),
        owner,
        np.stack([x0, x1, x1, x0, x0, gap], axis=1).ravel(),
        np.stack([y0, y0, y1, y1, y0, gap], axis=1).ravel(),
    )


def _edges(lower: Array, upper: Array) -> Array:
    edges = np.unique(np.concatenate([lower, upper]))
    return edges if len(edges) <= _FINEST + 1 else np.linspace(0.0, 1.0, _FINEST + 1)


def chosen_axes(view: RunView, x: str | None, y: str | None, lower: Array, upper: Array) -> tuple[ParameterAxis, ...]:
    """Return the axes across and up, by default those along which cells are divided most; one if there is no other."""
    named = {axis.name: axis for axis in view.axes}
    for label, name in (("x", x), ("y", y)):
        if name is not None and name not in named:
            raise InvalidInput(
                f"{label}: expected one of {', '.join(map(repr, named))}, got {name!r:.60}"
                f"{did_you_mean(str(name), named)}"
            )
    if x is not None and x == y:
        raise InvalidInput(f"y: expected another parameter than x, got {y!r} for both")
    pieces = [len(np.unique(np.concatenate([lower[:, i], upper[:, i]]))) for i in range(lower.shape[1])]
    order = sorted(view.axes, key=lambda axis: (-pieces[axis.index], axis.index))
    free = [axis for axis in order if axis.name not in (x, y)][: (x is None) + (y is None)]
    if x is None and y is None:
        return tuple(sorted(free, key=lambda axis: axis.index))
    across = named[x] if x is not None else free.pop(0)
    rest = [named[y]] if y is not None else free[:1]
    return (across, *rest)
