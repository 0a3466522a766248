"""A level-set report in a notebook: shares, the largest cells, and what holds."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from quadrat.optimizer import LevelSetReport
from quadrat.optimizer.level_sets import CellReport
from quadrat.space import Float, Space

EVIL = "<script>alert(1)</script>"


def report(reason: str | None = None, cells: int = 3, dimension: int = 1) -> LevelSetReport:
    space = Space.from_dict({EVIL: Float(0, 1)} | {f"y{i}": Float(0, 1) for i in range(dimension - 1)})
    labels = ("above", "undecided", "below")
    ranges = dict.fromkeys(space, (0.25, 1 / 3))
    made = tuple(
        CellReport(ranges, labels[i % 3], (-0.5, i / 7), [0.25, 0.125, 0.625][i % 3])  # type: ignore[arg-type]
        for i in range(cells)
    )
    return LevelSetReport(0.5, 0.1, 0.05, reason, None, made, space)


def rows_of(html: str) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in ET.fromstring(html).iter("tr")]  # noqa: S314


def test_shares_and_cells_the_largest_first() -> None:
    html = report()._repr_html_()
    assert "<b>Level set: threshold 0.5</b>" in html
    rows = rows_of(html)
    assert rows[1][1].endswith("25 % above, 62.5 % below, 12.5 % undecided")
    assert rows[2] == ["cells", "3, the 3 largest:"]
    assert rows[3] == ["label", "objective", "share", EVIL]
    assert rows[4] == ["below", "-0.5 to 0.285714", "62.5 %", "0.25 to 0.333333"]
    assert [row[0] for row in rows[4:]] == ["below", "above", "undecided"]
    assert "all labels are right with probability 0.95 under the stated assumptions" in html
    assert "<script" not in html


def test_why_nothing_holds_is_said_as_in_the_repr() -> None:
    found = report("standard errors were told & used")
    assert "nothing is guaranteed: standard errors were told &amp; used" in found._repr_html_()
    assert repr(found).endswith("nothing is guaranteed: standard errors were told & used>")


def test_many_cells_and_parameters_stay_small() -> None:
    html = report(cells=4096, dimension=30)._repr_html_()
    assert len(rows_of(html)) == 3 + 1 + 8
    assert "... and 22 more parameters" in html
    assert rows_of(report(cells=0)._repr_html_())[-1] == ["cells", "0"]
