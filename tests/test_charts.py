"""docs/charts.py: well-formed, deterministic, and everything where its axis says."""

from __future__ import annotations

import importlib.util
import sys
from math import inf, nan
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

SVG = "{http://www.w3.org/2000/svg}"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "docs_charts", Path(__file__).resolve().parent.parent / "docs" / "charts.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


charts = load()


def drawn(svg: str) -> ET.Element:
    """The parsed chart; no number in it may be NaN or infinite."""
    assert "nan" not in svg.lower()
    assert "inf" not in svg.lower()
    return ET.fromstring(svg)  # noqa: S314


def words(root: ET.Element) -> dict[str, tuple[float, float]]:
    """Every text of the chart and where it stands."""
    return {str(text.text): (float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(f"{SVG}text")}


N = [1.0, 10.0, 100.0, 1000.0]
PANEL = charts.Panel(
    "Regret & <rate>",
    "evaluations n",
    "regret",
    [
        charts.Line("one", N, [1.0, 0.3, 0.1, 0.03], [0.5, 0.2, 0.0, 0.01], [2.0, 0.5, 0.2, 0.05], marks=True),
        charts.Line("two", N, [1.0, nan, 0.2, inf], dashed=True),
        charts.Points("three", N[:2], [0.4, -1.0], [0.2, 0.1], [0.6, 0.2]),
        charts.Line("empty", [], []),
        charts.Line("unknown", N, [nan] * 4, [nan] * 4, [nan] * 4),
    ],
    [charts.slope("n^(-1/2)", -0.5, (1.0, 0.8), 1.0, 1000.0)],
    log_x=True,
    log_y=True,
)


def test_chart_is_well_formed_and_repeats() -> None:
    svg = charts.chart([PANEL, PANEL], 2)
    assert svg == charts.chart([PANEL, PANEL], 2)
    text = words(drawn(svg))
    assert {"Regret & <rate>", "evaluations n", "regret", "n^(-1/2)", "one", "two", "three"} <= set(text)
    assert not {"empty", "unknown"} & set(text), "what has no data is not in the legend"
    assert svg.count(">one</text>") == 1, "one legend for all panels"


def test_a_log_axis_is_spaced_by_decades() -> None:
    axis = charts.Axis(1.0, 1000.0, "log", 100.0, 400.0)
    assert [axis(value) for value in N] == pytest.approx([100, 200, 300, 400])
    text = words(drawn(charts.chart([PANEL], 1)))
    first, second, third = (text[label][0] for label in ("10", "100", "1,000"))
    assert third - second == pytest.approx(second - first, abs=0.2)
    assert text["0.01"][1] > text["0.1"][1], "larger values stand higher"


@pytest.mark.parametrize(
    ("axis", "most", "expected"),
    [
        ((0.0, 1.0, "linear"), 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ((0.0, 210.0, "linear"), 5, [0, 50, 100, 150, 200]),
        ((-0.3, 0.3, "linear"), 4, [-0.2, 0, 0.2]),
        ((10.0, 200.0, "log"), 6, [10, 20, 50, 100, 200]),
        ((1e-3, 1e3, "log"), 8, [1e-3, 1e-2, 0.1, 1, 10, 100, 1000]),
        ((1e-6, 1e6, "log"), 7, [1e-6, 1e-4, 1e-2, 1, 100, 1e4, 1e6]),
        ((0.1, 0.5, "log"), 6, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ((0.0, 1.0, "root"), 8, [0, 0.02, 0.1, 0.2, 0.5, 1]),
    ],
)
def test_ticks(axis: tuple[float, float, str], most: int, expected: list[float]) -> None:
    assert charts.Axis(*axis, 0.0, 400.0).ticks(most) == pytest.approx(expected)


def test_minor_ticks_only_on_log_axes() -> None:
    assert charts.Axis(1.0, 10.0, "log", 0.0, 1.0).minor() == pytest.approx(range(2, 10))
    assert charts.Axis(1.0, 10.0, "linear", 0.0, 1.0).minor() == []


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.0, "0"), (0.02, "0.02"), (0.001, "0.001"), (1.0, "1"), (1e4, "10,000"), (-0.5, "−0.5"), (1e-4, "10⁻⁴"),
        (2e-5, "2·10⁻⁵"), (1e6, "10⁶"), (2.5, "2.5"),
    ],
)  # fmt: skip
def test_labels(value: float, label: str) -> None:
    assert charts.label_of(value) == label


def test_percent_labels() -> None:
    assert [charts.label_of(value, percent=True) for value in (0.0, 0.05, 1.0)] == ["0 %", "5 %", "100 %"]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("lines", [[], [("a", [], [])], [("a", [1.0], [2.0])], [("a", [1.0, 2.0], [0.0, 0.0])]])
def test_little_or_no_data(lines: list[tuple[str, list[float], list[float]]], log: bool) -> None:
    panel = charts.Panel("t", "x", "y", [charts.Line(*line) for line in lines], log_x=log, log_y=log)
    drawn(charts.chart([panel], 3))


def test_no_panels() -> None:
    drawn(charts.chart([], 2))


def test_a_gap_divides_the_path() -> None:
    y = [1.0, 2.0, nan, 3.0, 4.0]
    svg = charts.chart([charts.Panel("t", "x", "y", [charts.Line("a", range(5), y)])], 1, {"a": "#123456"})
    paths = [path for path in drawn(svg).iter(f"{SVG}path") if path.attrib["stroke"] == "#123456"]
    assert len(paths) == 3  # two pieces and the sample in the legend


def test_many_points_make_a_small_file() -> None:
    line = charts.Line("a", range(20_000), [i**0.5 for i in range(20_000)])
    assert len(charts.chart([charts.Panel("t", "x", "y", [line])], 1)) < 30_000


def test_dots_stand_against_the_rule() -> None:
    rows = [
        charts.DotRow("holds", [charts.Dot("a", 0.05, 0.03, 0.08), charts.Dot("b", 0.0, 0.0, 0.01)]),
        charts.DotRow("fails", [charts.Dot("a", 0.9, 0.85, 0.95), charts.Dot("b", nan, nan, nan)]),
    ]
    for root_x in (False, True):
        panel = charts.DotPanel("t", "share", rows, rule=0.1, rule_label="δ", percent=True, root_x=root_x)
        root = drawn(charts.chart([panel], 1, {"a": "#0000aa", "b": "#00aa00"}))
        at = [float(dot.attrib["cx"]) for dot in root.iter(f"{SVG}circle") if dot.attrib["fill"] == "#0000aa"]
        assert at[0] < words(root)["δ"][0] < at[1]
        assert words(root)["holds"][1] < words(root)["fails"][1]


def test_colours_are_those_given_and_the_rest_from_the_palette() -> None:
    assert charts.palette(["x", "y", "x"]) == {"x": charts.PALETTE[0], "y": charts.PALETTE[1]}
    with pytest.raises(ValueError, match="at most"):
        charts.palette(map(str, range(10)))
    svg = charts.chart([PANEL], 1, {"one": charts.PALETTE[0]})
    assert charts.PALETTE[1] in svg
    assert charts.PALETTE[2] in svg
