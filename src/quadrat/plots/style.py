"""One look for all figures: colours, fonts, traces, and users' words as they wrote them.

Backgrounds are transparent and words, lines and grids of a middle grey, so that a figure reads on light and on dark
pages alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import log10
from typing import Any, Literal

import numpy as np

from quadrat._core.printing import between
from quadrat.errors import NotAvailable

__all__ = [
    "BEST",
    "CERTIFIED",
    "DATA",
    "FAILED",
    "FITTED",
    "FONT",
    "GRID",
    "INK",
    "PALETTE",
    "RECOMMENDED",
    "SCALE",
    "SCALE_DOWN",
    "band",
    "ends_text",
    "error_bars",
    "finish",
    "graph_objects",
    "log_axis",
    "number",
    "plain",
    "scatter",
    "shortened",
    "subplots",
    "tinted",
]


def graph_objects() -> Any:
    """Return the module `plotly.graph_objects`, or raise `NotAvailable` where plotly is not installed."""
    return _loaded("plotly.graph_objects")


def scatter(hover: Sequence[str] | None = None, **options: Any) -> Any:
    """Return a trace of points or lines: texts `hover` at them, none by default, and other options of plotly's."""
    if hover is None:
        return graph_objects().Scatter(hoverinfo="skip", **options)
    return graph_objects().Scatter(hovertext=hover, hoverinfo="text", **options)


def band(x: Any, low: Any, high: Any, name: str, colour: str, **options: Any) -> Any:
    """Return the area between two curves over x as a trace."""
    x, y = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    look = {"fill": "toself", "fillcolor": colour, "line": {"width": 0}, "mode": "lines"}
    return scatter(None, x=x, y=y, name=name, **look, **options)


def error_bars(value: Any, low: Any, high: Any) -> dict[str, Any]:
    """Return the options of bars from `low` to `high` around values."""
    return {"type": "data", "symmetric": False, "array": high - value, "arrayminus": value - low}


def subplots(**options: Any) -> Any:
    """Return an empty figure with subplots; the options of `plotly.subplots.make_subplots`."""
    return _loaded("plotly.subplots").make_subplots(**options)


def _loaded(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise NotAvailable("plots: expected plotly to be installed, got none; pip install 'quadrat[plots]'") from error


# Okabe and Ito's colours, which colour-blind readers tell apart, without black and yellow, which pages swallow.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a929b", "#7f7a1f", "#9467bd")
BEST, RECOMMENDED, DATA, FAILED = "#E69F00", "#0072B2", "#8a929b", "#D55E00"
FITTED, CERTIFIED = "#0072B2", "#009E73"  # estimates and guarantees never look the same
SCALE, SCALE_DOWN = "Viridis", "Viridis_r"  # from low to high, readable without colours too; the best is always bright
INK, GRID = "#737b86", "rgba(128, 137, 148, 0.22)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_SIZE, _TITLE = 13, 17
_CHARACTERS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "\n": " ", "\r": " "}


def plain(text: object, most: int = 60) -> str:
    """Return a user's text so that a figure shows it as it is: no tags, no formulas, one line, at most so long.

    Examples
    --------
    >>> plain("a<b>$x$")
    'a&lt;b&gt;&#36;x&#36;'
    """
    return "".join(_CHARACTERS.get(character, character) for character in shortened(text, most))


def shortened(text: object, most: int) -> str:
    """Return text of at most so many characters; dots stand for the rest."""
    words = str(text)
    return words if len(words) <= most else words[: most - 1] + "…"


def number(value: float, digits: int = 4) -> str:
    """Write a number as people do: 0.0123, 1.5e-07, −2."""
    return f"{value:.{digits}g}".replace("-", "−")


def ends_text(interval: tuple[float, float], digits: int, *, certified: bool) -> str:
    """Write an interval as people do; the ends of a certified one are rounded outwards."""
    if certified:
        return between(interval, digits).replace("-", "−")
    return f"{number(interval[0], digits)} to {number(interval[1], digits)}"


def tinted(colour: str, opacity: float) -> str:
    """Return a colour such as "#0072B2" with this opacity."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """Return the options of a logarithmic axis for positive values: 1, 2, 5 of every power of ten, or powers alone."""
    decades = log10(max(values) / min(values)) if values else 1.0
    if decades > 2.5:
        return {"type": "log", "exponentformat": "e", "dtick": max(1, round(decades / 6)), "tickangle": 0}
    return {"type": "log", "tickformat": "~g", "dtick": "D1" if decades < 0.7 else "D2", "tickangle": 0}


def finish(
    figure: Any, title: str, said: str = "", *, height: int = 480, legend: Literal["below", "above"] = "below"
) -> Any:
    """Give a figure with all its traces its title, the caption `said` below it, and the look of all figures.

    Users' words in both went through `plain`. `height` is in pixels. A legend above has room for one row.
    """
    lines = _wrapped(said)
    top, bottom = 46 + 22 * len(lines) + (22 if legend == "above" else 0), 56
    below_axis = -62 / max(height - top - bottom, 100)  # the legend makes room for itself
    below = "".join(f'<br><span style="font-size:{_SIZE}px">{line}</span>' for line in lines)
    axis = {
        "gridcolor": GRID,
        "zeroline": False,
        "linecolor": GRID,
        "tickcolor": GRID,
        "automargin": True,
        "title_standoff": 8,
    }
    figure.update_layout(
        title={
            "text": f"<b>{title}</b>{below}",
            "font_size": _TITLE,
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "pad": {"l": 16},
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad_t": 14,
        },
        font={"family": FONT, "size": _SIZE, "color": INK},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        colorway=list(PALETTE),
        height=height,
        margin={"l": 64, "r": 24, "t": top, "b": bottom},
        legend={
            "orientation": "h",
            "x": 0,
            "y": below_axis if legend == "below" else 1.0,
            "yanchor": "top" if legend == "below" else "bottom",
            "font_size": 12,
        },
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": GRID, "activecolor": INK},
        hoverlabel={"font": {"family": FONT, "size": 12}, "align": "left"},
        hovermode="closest",
    )
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure


def _wrapped(words: str, width: int = 118) -> list[str]:
    """Break a sentence into lines that fit on a page; a tag or an entity is never broken, since neither has spaces."""
    lines: list[str] = []
    for word in words.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
