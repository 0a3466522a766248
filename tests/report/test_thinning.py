"""Figures with fewer points: below a size, with what matters kept."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from quadrat.report.thinning import thinned

go = pytest.importorskip("plotly.graph_objects", reason="plotly is not installed: pip install 'quadrat[plots]'")


def array(part: Any) -> Any:
    """An array of a figure's JSON."""
    if isinstance(part, dict):
        return np.frombuffer(base64.b64decode(part["bdata"]), dtype=part["dtype"])
    return np.array(part)


def marks(n: int) -> Any:
    y = np.random.default_rng(0).normal(size=n)
    return go.Figure(
        go.Scattergl(
            x=np.arange(n),
            y=y,
            mode="markers",
            marker={"opacity": np.linspace(0, 1, n)},
            hovertext=[f"trial {i}" for i in range(n)],
        )
    )


def test_a_small_figure_keeps_all_its_points() -> None:
    figure = marks(100)
    found = thinned(figure, 100_000)
    [trace] = json.loads(found.json)["data"]
    assert (found.shown, found.total, found.remark) == (100, 100, "")
    assert np.array_equal(array(trace["y"]), figure.data[0].y)
    assert trace["type"] == "scatter", "a browser without a graphics card draws so few"


@pytest.mark.parametrize("limit", [50_000, 20_000, 8_000])
def test_points_are_dropped_until_it_fits(limit: int) -> None:
    figure = marks(5000)
    found = thinned(figure, limit)
    assert len(found.json) <= limit
    assert found.remark == f"Of 5,000 points {found.shown:,} are drawn."
    [trace] = json.loads(found.json)["data"]
    x, y = array(trace["x"]).astype(int), array(trace["y"])
    assert len(x) == found.shown > 0.5 * limit / 60, "no more is dropped than has to be"
    # Every array is of the same trials still, and the ends and extremes are there.
    assert np.array_equal(y, figure.data[0].y[x])
    assert [f"trial {i}" for i in x] == trace["hovertext"]
    assert np.allclose(array(trace["marker"]["opacity"]), x / 4999)
    assert {0, 4999, int(np.argmin(figure.data[0].y)), int(np.argmax(figure.data[0].y))} <= set(x.tolist())
    assert len(figure.data[0].x) == 5000, "the figure itself stays as it is"


def test_lines_keep_the_places_where_they_bend() -> None:
    y = np.repeat([5.0, 4.0, 1.0], [2000, 2500, 500])
    found = thinned(go.Figure(go.Scatter(x=np.arange(5000), y=y, mode="lines")), 3_000)
    [trace] = json.loads(found.json)["data"]
    assert array(trace["x"]).astype(int).tolist() == [0, 1999, 2000, 4499, 4500, 4999]


def test_hovers_of_what_is_not_shown_go_before_points() -> None:
    shown, hidden = marks(400), marks(400)
    figure = go.Figure([*shown.data, *(trace.update(visible=False) for trace in hidden.data)])
    whole = len(thinned(figure, 10**6).json)
    found = thinned(figure, whole - 1)
    first, second = json.loads(found.json)["data"]
    assert found.remark == ""
    assert len(first["hovertext"]) == 400
    assert "hovertext" not in second


def test_outlines_stay_closed_or_go() -> None:
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [np.nan, np.nan]])
    boxes = (corners[None] + 2 * np.arange(500)[:, None, None]).reshape(-1, 2)
    found = thinned(go.Figure(go.Scatter(x=boxes[:, 0], y=boxes[:, 1], mode="lines")), 20_000)
    [trace] = json.loads(found.json)["data"]
    shown = np.stack([array(trace["x"]), array(trace["y"])], axis=1).astype(float).reshape(-1, 6, 2)
    assert 100 < len(shown) < 500
    assert np.array_equal(shown - shown[:, :1], np.broadcast_to(corners, shown.shape), equal_nan=True)
    assert shown[-1, 0, 0] == 998.0


def test_parallel_lines_are_dropped_together() -> None:
    values = np.arange(3000.0)
    figure = go.Figure(
        go.Parcoords(dimensions=[{"values": values}, {"values": -values}], line={"color": values, "cmin": 0})
    )
    found = thinned(figure, 10**6)
    [trace] = json.loads(found.json)["data"]
    first, second = (array(one["values"]) for one in trace["dimensions"])
    assert found.shown == len(first) == 800
    assert np.array_equal(first, -second)
    assert np.array_equal(first, array(trace["line"]["color"]))
    assert first[-1] == 2999.0, "the best, which is drawn last"


def test_a_title_says_what_was_dropped() -> None:
    found = thinned(marks(5000), 20_000)
    layout = json.loads(found.titled("All trials", 300))["layout"]
    assert layout["title"]["text"].startswith("All trials<br>")
    assert found.remark in layout["title"]["text"]
    assert layout["height"] == 300
    warned = json.loads(found.titled("All trials", 300, ["one", "two"]))["layout"]
    assert warned["margin"]["t"] > layout["margin"]["t"]
    assert warned["title"]["text"].index("one") < warned["title"]["text"].index("two")
