"""The figures of a report, each below a size, with their titles and captions as text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quadrat.errors import QuadratError
from quadrat.plots import (
    RunView,
    active_bounds,
    calibration,
    cells,
    importance,
    level_set,
    parallel_coordinates,
    predicted_vs_observed,
    progress,
    slices,
)
from quadrat.report.thinning import Thinned, thinned

__all__ = ["ReportFigure", "captioned", "figures_of"]

_MOST_LINES = 14  # parameters across which trials are drawn as lines
_STEPS = 8  # of a slider: each has all cells of its own
_COLUMN, _AXIS = 240, 120  # pixels that a slice and an axis need


@dataclass(frozen=True)
class ReportFigure:
    """A figure with its title and caption, which are text, not HTML."""

    name: str  # one word
    title: str
    caption: str
    drawn: Thinned
    width: int = 0  # pixels below which it cannot be read: a narrower screen scrolls it


def figures_of(
    view: RunView, limit: int, *, only: Sequence[str] | None = None, sliced: int = 12
) -> tuple[ReportFigure, ...]:
    """Return the figures of a run, each of at most `limit` bytes of JSON, in the order in which they are read.

    Figures that a method does not have, such as cells, are left out. `only` names the wanted ones, None is all; slices
    are of the first `sliced` parameters.
    """
    found = []
    for name, draw, width in _drawings(view, sliced):
        if only is not None and name not in only:
            continue
        try:
            figure = draw()
        except QuadratError:  # there is nothing to draw: no model, no cells, no threshold
            continue
        title, caption = captioned(figure)
        drawn = thinned(figure, limit)
        found.append(ReportFigure(name, title, " ".join(filter(None, [caption, drawn.remark])), drawn, width))
    return tuple(found)


def _drawings(view: RunView, sliced: int) -> Sequence[tuple[str, Callable[[], Any], int]]:
    names = [axis.name for axis in view.axes]
    columns = min(3, len(names))
    lines = min(len(names), _MOST_LINES) + 1
    steps = _STEPS if view.replays_by_itself else 1
    return (
        ("progress", lambda: progress(view), 0),
        ("slices", lambda: slices(view, parameters=_first(view, sliced)), columns * _COLUMN),
        *([("importance", lambda: importance(view), 0)] if len(names) > 1 else []),  # one is all that matters
        ("predicted", lambda: predicted_vs_observed(view), 0),
        ("calibration", lambda: calibration(view), 0),
        ("cells", lambda: cells(view, steps=steps), 0),
        ("level-set", lambda: level_set(view), 0),
        ("active-bounds", lambda: active_bounds(view), 0),
        ("parallel", lambda: parallel_coordinates(view, parameters=_first(view, _MOST_LINES)), lines * _AXIS),
    )


def _first(view: RunView, most: int) -> list[str] | None:
    names = [axis.name for axis in view.axes]
    return names[:most] if len(names) > most else None


def captioned(figure: Any) -> tuple[str, str]:
    """Return the title and the line below it as text, and take both out of the figure: a page wraps them, plotly not.

    Titles are HTML whose tags are ours alone: users' words are escaped in them.
    """
    title, _, said = str(figure.layout.title.text or "").partition("<br>")
    # Pixels above the axes: for a legend, or the labels of parallel axes.
    room = 60 if any(trace.type == "parcoords" for trace in figure.data) else 40
    figure.update_layout(title=None, margin_t=room)
    return _text(title), _text(said.replace("<br>", " "))


def _text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).strip()
