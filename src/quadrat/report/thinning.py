"""Figures with fewer points, so that they stay below a size: lines keep their corners, marks their extremes."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from quadrat._core.arrays import Bools, Ints
from quadrat.plots.style import graph_objects

__all__ = ["Thinned", "thinned"]

Trace: TypeAlias = dict[str, Any]

_LINES = 800  # of parallel coordinates: more are a blur, and slow without a graphics card
_FEWEST = 40  # points of a trace below which nothing is dropped
_NESTED = (
    *(("marker", inner) for inner in ("color", "size", "opacity", "symbol")),
    ("line", "color"),
    *((outer, inner) for outer in ("error_x", "error_y") for inner in ("array", "arrayminus")),
)
_ARRAYS = ("x", "y", "text", "hovertext", "customdata", "ids")
_TITLED, _LINE = 36, 20  # pixels that a title takes, and each line below it
_WEBGL = 3000  # points up to which a browser draws them without a graphics card just as well


@dataclass(frozen=True)
class Thinned:
    """A figure as JSON that plotly reads, and how many points are left of how many in the traces with the most."""

    json: str
    shown: int
    total: int

    @property
    def remark(self) -> str:
        """One sentence on points that were dropped; empty where none were."""
        return "" if self.shown == self.total else f"Of {self.total:,} points {self.shown:,} are drawn."

    def titled(self, title: str, highest: int, said: Sequence[str] = ()) -> str:
        """Return the JSON with a title, the remark and lines `said` in the figure, at most `highest` pixels high."""
        drawn = json.loads(self.json)
        layout = drawn["layout"]
        lines = [*said, *([self.remark] if self.remark else [])]
        below = "".join(f'<br><span style="font-size:12px">{line}</span>' for line in lines)
        layout["title"] = {"text": f"{title}{below}", "font": {"size": 15}, "x": 0.02, "xanchor": "left"}
        margin = layout.get("margin", {})
        layout["margin"] = {**margin, "t": _TITLED + _LINE * len(said) + margin.get("t", 0)}
        layout["height"] = min(layout.get("height", highest), highest)
        return json.dumps(drawn, separators=(",", ":"))


def thinned(figure: Any, limit: int) -> Thinned:
    """Return a figure of at most `limit` characters of JSON, if dropping points gets it there.

    First the hovers of traces go that are not shown at first (earlier steps of a slider). Then points are dropped
    evenly, from traces with many first. The first, the last, the lowest and the highest stay, of lines the places where
    they bend, and of lines with gaps whole pieces; hovers are dropped last of all. The figure stays as it is.
    """
    drawn = figure.to_plotly_json()
    whole = [_decoded(trace) for trace in drawn["data"]]
    layout = {name: part for name, part in drawn["layout"].items() if name != "template"}
    total = max((_length(trace) for trace in whole), default=0)
    if len(_json(whole, layout)) > limit:
        whole = [_without_hovers(trace) if trace.get("visible") is False else trace for trace in whole]
    most = total
    while True:
        traces = [_thin(trace, most) for trace in whole]
        text = _json(traces, layout)
        shown = max((_length(trace) for trace in traces), default=0)
        if len(text) <= limit or most <= _FEWEST:
            break
        # Bytes shrink about as points do; a little more, so that few rounds are needed.
        most = max(_FEWEST, min(int(0.95 * most * limit / len(text)), most - 1))
    if len(text) > limit:
        text = _json([_without_hovers(trace) for trace in traces], layout)
    return Thinned(text, shown, total)


def _json(traces: list[Trace], layout: dict[str, Any]) -> str:
    text: str = graph_objects().Figure(traces, layout, skip_invalid=False).to_json()
    # Without a template of its own, plotly's default one comes along: 7 kB of colours that nothing here uses.
    plain = json.loads(text)
    plain["layout"].pop("template", None)
    return json.dumps(plain, separators=(",", ":"))


def _decoded(part: Any) -> Any:
    """Return a part of a figure with its arrays as arrays: plotly from 6 on hands them out as text."""
    if isinstance(part, dict):
        if set(part) <= {"dtype", "bdata", "shape"} and "bdata" in part:
            found = np.frombuffer(base64.b64decode(part["bdata"]), dtype=np.dtype(f"<{part['dtype']}"))
            return found.reshape([int(side) for side in str(part["shape"]).split(",")]) if "shape" in part else found
        return {name: _decoded(inner) for name, inner in part.items()}
    return [_decoded(inner) for inner in part] if isinstance(part, list | tuple) else part


def _length(trace: Trace) -> int:
    """How many points a trace has."""
    if "dimensions" in trace:
        return max((len(dimension.get("values", ())) for dimension in trace["dimensions"]), default=0)
    found = trace.get("x", trace.get("y"))
    return 0 if found is None or "z" in trace else len(found)


def _thin(trace: Trace, most: int) -> Trace:
    count = _length(trace)
    most = min(most, _LINES) if "dimensions" in trace else most
    fewer = dict(trace)
    if trace["type"] == "scattergl" and min(count, most) <= _WEBGL:
        fewer["type"] = "scatter"
    if count <= max(most, _FEWEST) or trace.get("fill") == "toself":
        return fewer
    kept = _kept(trace, count, most)
    if "dimensions" in trace:
        fewer["dimensions"] = [{**one, "values": _at(one["values"], kept)} for one in trace["dimensions"]]
    for name in _ARRAYS:
        if _is_array(trace.get(name), count):
            fewer[name] = _at(trace[name], kept)
    for outer, inner in _NESTED:
        if _is_array(trace.get(outer, {}).get(inner), count):
            fewer[outer] = {**fewer[outer], inner: _at(trace[outer][inner], kept)}
    return fewer


def _kept(trace: Trace, count: int, most: int) -> Ints:
    """Places of the points that stay, ascending."""
    places = np.arange(count)
    y = None if "y" not in trace else np.asarray(trace["y"])
    if y is not None and np.issubdtype(y.dtype, np.number):
        if "lines" in str(trace.get("mode", "")) and np.isnan(y).any():
            return _whole_pieces(np.isnan(y), most)
        if "lines" in str(trace.get("mode", "")):
            bends = np.flatnonzero((y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])) + 1
            places = np.concatenate([[0], bends, [count - 1]])
        extremes = [int(np.nanargmin(y)), int(np.nanargmax(y))] if np.isfinite(y).any() else []
    else:
        extremes = []
    if len(places) > most:
        places = places[np.linspace(0, len(places) - 1, max(most - len(extremes), 2)).astype(np.intp)]
    return np.unique(np.concatenate([places, np.array(extremes, dtype=np.intp)]).astype(np.intp))


def _whole_pieces(gap: Bools, most: int) -> Ints:
    """Places of a line's pieces, each whole, evenly chosen: half of an outline would join what is apart."""
    piece = np.concatenate([[0], np.cumsum(gap)[:-1]])  # a gap ends its piece
    pieces = int(piece[-1]) + 1
    kept = np.unique(np.linspace(0, pieces - 1, max(1, pieces * most // len(gap))).astype(np.intp))
    return np.flatnonzero(np.isin(piece, kept))


def _without_hovers(trace: Trace) -> Trace:
    return {name: part for name, part in trace.items() if name not in ("hovertext", "customdata", "hoverinfo")}


def _is_array(value: object, count: int) -> bool:
    return isinstance(value, np.ndarray | list | tuple) and len(value) == count


def _at(values: Any, kept: Ints) -> Any:
    return values[kept] if isinstance(values, np.ndarray) else [values[i] for i in kept.tolist()]
