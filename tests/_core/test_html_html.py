"""Pieces of HTML: escaped, well-formed, and nothing in them that runs or is fetched."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from quadrat._core.html import Markup, bar, block, curve, pairs, table

EVIL = "<script>alert(1)</script>\"'&"


def parsed(html: str) -> ET.Element:
    """Every piece is also XML, which shows that tags are closed and quotes escaped."""
    return ET.fromstring(html)  # noqa: S314  # our own text


@pytest.mark.parametrize(
    "html",
    [
        block(EVIL, [EVIL]),
        table([EVIL], [[EVIL]]).html,
        pairs([(EVIL, EVIL)]).html,
        f"<p>{getattr(curve([1.0, 2.0], EVIL), 'html', '')}</p>",
        bar([(EVIL, 0.5)]).html,
    ],
)
def test_text_shows_as_text_wherever_it_stands(html: str) -> None:
    assert "<script" not in html
    found = parsed(html)
    said = "".join(found.itertext()) + "".join(value for one in found.iter() for value in one.attrib.values())
    assert EVIL in said


def test_a_block_is_self_contained() -> None:
    drawn = curve([3.0, 2.0, 1.0], "progress")
    assert drawn is not None
    html = block("title", ["text", table(["a"], [["b"]]), pairs([("a", drawn)]), bar([("x", 0.25), ("y", 0.75)])])
    tags = {one.tag for one in parsed(html).iter()}
    assert tags <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "svg", "path", "rect", "title", "span"}
    assert not re.search(r"https?:|url\(|src=|href=|on\w+=|@import|class=|id=", html)


def test_colours_are_those_of_the_page() -> None:
    html = block("t", [table(["a"], [["b"]]), bar([("x", 1.0)])]) + getattr(curve([1.0, 2.0], "c"), "html", "")
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|(?<!-)\b(white|black)\b", html)
    colours = re.findall(r"(?<![-\w])(?:color|background|stroke|fill)[:=]\"?([^;\"]+)", html)
    assert set(colours) <= {"inherit", "none", "currentColor"}
    assert set(re.findall(r"rgba?\([^)]*\)", html)) == {"rgba(128,128,128,.35)"}


def test_markup_is_kept_and_lines_are_broken() -> None:
    assert pairs([("a", Markup("<b>x</b>"))]).html.count("<b>x</b>") == 1
    assert "one<br>two" in block("t", ["one\ntwo"])


def path_of(values: list[float]) -> tuple[list[float], list[float]]:
    drawn = curve(values, "c")
    assert drawn is not None
    steps = re.findall(r"[ML]([\d.]+) ([\d.]+)H([\d.]+)", drawn.html)
    return [float(y) for _, y, _ in steps], [float(end) for *_, end in steps]


def test_a_curve_falls_where_numbers_fall_and_stays_in_its_frame() -> None:
    ys, ends = path_of([4.0, 3.0, 2.0])
    assert ys == [2.0, 14.0, 26.0]  # down is larger
    assert ends == pytest.approx([60.67, 119.3, 178.0], rel=1e-3)
    ys, ends = path_of([float(i) for i in range(5000)])
    assert len(ys) == 90
    assert min(ys) >= 0
    assert max(ys) <= 28
    assert max(ends) <= 180


def test_fewer_than_two_numbers_are_no_curve() -> None:
    assert curve([], "c") is None
    assert curve([1.0], "c") is None
    assert curve([1.0, float("nan")], "c") is None


def test_a_log_scale_is_said() -> None:
    drawn = curve([1000.0, 1.0], "best seen")
    assert drawn is not None
    assert drawn.html.count("best seen (log scale)") == 2


def test_shares_fill_the_bar() -> None:
    widths = [
        float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', bar([("a", 0.25), ("b", 0.75)]).html)
    ]
    assert widths == [45.0, 135.0]
