"""docs/charts.py: equal charts for equal input, gaps where nothing is known, everything where its axis says."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

SVG = "{http://www.w3.org/2000/svg}"
PATH = Path(__file__).resolve().parent.parent / "docs" / "charts.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_charts", PATH)
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
    assert not re.search(r"[\" ]-?inf[\" \n]", svg)
    return ET.fromstring(svg)  # noqa: S314


def words(root: ET.Element) -> dict[str, tuple[float, float]]:
    """Every text of the chart and where it stands."""
    return {str(text.text): (float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(f"{SVG}text")}


def paths(root: ET.Element, colour: str, of: str = "axes_1") -> list[list[tuple[float, float]]]:
    """The pieces of the lines that have a colour, as points in pixels."""
    group = next(group for group in root.iter(f"{SVG}g") if group.attrib.get("id") == of)
    found = [path.attrib["d"] for path in group.iter(f"{SVG}path") if f"stroke: {colour}" in path.attrib["style"]]
    pieces = [piece for path in found for piece in path.split("M")[1:]]
    numbers = [[float(number) for number in re.findall(r"-?[\d.]+", piece)] for piece in pieces]
    return [list(zip(piece[::2], piece[1::2], strict=True)) for piece in numbers]


def dots(root: ET.Element, colour: str) -> list[tuple[float, float]]:
    """Where the dots of a colour are; the legend's come last."""
    marks = [
        mark.attrib for mark in root.iter(f"{SVG}use") if f"fill: {colour}; stroke: #ffffff" in mark.attrib["style"]
    ]
    return [(float(mark["x"]), float(mark["y"])) for mark in marks]


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


def one_line(x: list[float], y: list[float], **options: bool) -> str:
    """A chart of one line in the colour #123456."""
    svg: str = charts.chart([charts.Panel("t", "x", "y", [charts.Line("a", x, y)], **options)], 1, {"a": "#123456"})
    return svg


def test_a_chart_has_its_words_and_one_legend_for_all_panels() -> None:
    svg = charts.chart([PANEL, PANEL], 2)
    text = words(drawn(svg))
    assert {"Regret & <rate>", "evaluations n", "regret", "n^(-1/2)", "one", "two", "three"} <= set(text)
    assert not {"empty", "unknown"} & set(text), "a line without data is not in the legend"
    assert svg.count(">one</text>") == 1


def test_a_chart_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    root = drawn(charts.chart([PANEL], 1, title='Regret of "one" & others'))
    assert root.attrib["aria-label"] == root.findtext(f"{SVG}title") == 'Regret of "one" & others'
    assert root.attrib["role"] == "img"
    assert drawn(charts.chart([PANEL, replace(PANEL, title="b")], 1)).attrib["aria-label"] == "Regret & <rate>; b"


def test_equal_input_gives_equal_output_whatever_the_settings_of_matplotlib() -> None:
    import matplotlib as mpl

    svg = charts.chart([PANEL], 1)
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "svg.hashsalt": None}):
        assert charts.chart([PANEL], 1) == svg
        assert mpl.rcParams["font.size"] == 30
    assert "<metadata" not in svg, "neither a date nor a version"
    code = f"import runpy; c = runpy.run_path({str(PATH)!r}); L, P = c['Line'], c['Panel']"
    code += "; print(c['chart']([P('t', 'x', 'y', [L('a', [1, 2], [3, 4], [2, 3], [4, 5])])], 1), end='')"
    outputs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    assert b"</svg>" in outputs[0]


def test_matplotlib_is_loaded_only_to_draw() -> None:
    code = f"import runpy, sys; runpy.run_path({str(PATH)!r}); assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_log_axis_is_spaced_by_decades() -> None:
    text = words(drawn(charts.chart([PANEL], 1)))
    first, second, third = (text[label][0] for label in ("10", "100", "1,000"))
    assert third - second == pytest.approx(second - first, abs=0.2)
    assert text["0.02"][1] - text["0.2"][1] == pytest.approx(text["0.2"][1] - text["2"][1], abs=0.2)
    assert text["0.02"][1] > text["0.2"][1], "larger values stand higher"


def test_lines_are_where_the_axes_say() -> None:
    root = drawn(one_line([1, 10, 100, 1000], [1e-5, 1e-4, 1e-3, 1e-2], log_x=True, log_y=True))
    ((first, second, third, last),) = paths(root, "#123456")
    text = words(root)
    assert [second[0], third[0]] == pytest.approx([text["10"][0], text["100"][0]], abs=0.1)
    assert second[0] - first[0] == pytest.approx(last[0] - third[0], abs=0.1)
    assert first[1] - second[1] == pytest.approx(third[1] - last[1], abs=0.1)
    assert first[1] - second[1] > 30


@pytest.mark.parametrize("missing", [nan, inf, -inf])
def test_what_is_not_finite_leaves_a_gap(missing: float) -> None:
    root = drawn(one_line([0, 1, 2, 3, 4], [1.0, 2.0, missing, 3.0, 4.0]))
    assert [len(piece) for piece in paths(root, "#123456")] == [2, 2]
    assert dots(root, "#123456") == []


def test_what_is_not_positive_leaves_a_gap_on_a_log_axis_alone() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 0.0, 3.0, 4.0]
    assert [len(piece) for piece in paths(drawn(one_line(x, y, log_y=True)), "#123456")] == [2, 2]
    assert [len(piece) for piece in paths(drawn(one_line(x, y)), "#123456")] == [5]


def test_a_point_between_gaps_is_a_dot() -> None:
    assert len(dots(drawn(one_line([0, 1, 2, 3, 4], [1.0, nan, 2.0, nan, 3.0])), "#123456")) == 3 + 1  # the legend's


def test_an_axis_shows_where_nothing_is_known() -> None:
    root = drawn(one_line([1, 10, 100], [nan, 1.0, 2.0], log_x=True))
    assert paths(root, "#123456")[0][0][0] == pytest.approx(words(root)["10"][0], abs=0.1)
    assert "1" in words(root)


def test_a_reference_does_not_widen_the_axes() -> None:
    line = charts.Line("a", [0.0, 1.0], [0.0, 1.0])
    for references in ((), [charts.Reference("r", (0.0, 0.5), (0.0, 100.0))]):
        text = words(drawn(charts.chart([charts.Panel("t", "x", "y", [line], references)], 1)))
        assert {"0", "0.2", "1"} <= set(text)
        assert not {"50", "100"} & set(text)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("lines", [[], [("a", [], [])], [("a", [1.0], [2.0])], [("a", [1.0, 2.0], [0.0, 0.0])]])
def test_little_or_no_data(lines: list[tuple[str, list[float], list[float]]], log: bool) -> None:
    panel = charts.Panel("t", "x", "y", [charts.Line(*line) for line in lines], log_x=log, log_y=log)
    drawn(charts.chart([panel], 3))


def test_no_panels() -> None:
    drawn(charts.chart([], 2))


def test_many_points_make_a_small_file() -> None:
    line = charts.Line("a", range(20_000), [i**0.5 for i in range(20_000)])
    assert len(charts.chart([charts.Panel("t", "x", "y", [line])], 1)) < 30_000


@pytest.mark.parametrize("root_x", [False, True])
def test_dots_stand_against_the_rule(root_x: bool) -> None:
    rows = [
        charts.DotRow("holds", [charts.Dot("a", 0.05, 0.03, 0.08), charts.Dot("b", 0.0, 0.0, 0.01)]),
        charts.DotRow("fails", [charts.Dot("a", 0.9, 0.85, 0.95), charts.Dot("b", nan, nan, nan)]),
    ]
    panel = charts.DotPanel("t", "share", rows, rule=0.1, rule_label="δ", percent=True, root_x=root_x)
    root = drawn(charts.chart([panel], 1, {"a": "#0000aa", "b": "#00aa00"}))
    text, (holds, fails, _) = words(root), dots(root, "#0000aa")
    assert holds[0] < text["δ"][0] < fails[0]
    assert holds[1] < fails[1]
    assert text["holds"][1] < text["fails"][1]
    assert len(dots(root, "#00aa00")) == 1 + 1  # the legend's
    zero, half, most = (text[f"{share} %"][0] for share in ((0, 20, 50) if root_x else (0, 20, 60)))
    assert (half - zero) / (most - zero) == pytest.approx((0.2 / 0.5) ** 0.5 if root_x else 1 / 3, abs=0.01)
    assert dots(root, "#00aa00")[0][0] == pytest.approx(zero, abs=0.1)


def test_colours_are_those_given_and_the_rest_from_the_palette() -> None:
    assert charts.palette(["x", "y", "x"]) == {"x": charts.PALETTE[0], "y": charts.PALETTE[1]}
    with pytest.raises(ValueError, match="at most"):
        charts.palette(map(str, range(10)))
    a, b, c = (charts.Line(name, [0.0, 1.0], [0.0, 1.0]) for name in "abc")
    panels = [charts.Panel("t", "x", "y", lines) for lines in ([a, b], [c, b])]
    root = drawn(charts.chart(panels, 2, {"a": charts.PALETTE[1]}))
    for colour, first, second in ((1, 1, 0), (0, 1, 1), (2, 0, 1)):  # a, b and c in the two panels
        found = [len(paths(root, charts.PALETTE[colour].lower(), axes)) for axes in ("axes_1", "axes_2")]
        assert found == [first, second], "a name has one colour in all panels"


def test_charts_are_alike_when_they_show_the_same() -> None:
    svg = charts.chart([PANEL], 1)
    assert charts.alike(svg, svg)
    assert charts.alike(svg, charts.chart([PANEL], 1, height=212)), "some pixels more or less"
    other = replace(PANEL, lines=[replace(PANEL.lines[0], y=[1.0, 0.3, 0.12, 0.03]), *PANEL.lines[1:]])
    assert not charts.alike(svg, charts.chart([other], 1)), "another value"
    assert not charts.alike(svg, charts.chart([replace(PANEL, title="Regret")], 1)), "another word"
    assert not charts.alike(svg, charts.chart([replace(PANEL, lines=PANEL.lines[:2])], 1)), "a line less"
