"""A series in one line of characters: as wide as it may be, low where numbers are low."""

from __future__ import annotations

import math

import pytest

from quadrat.cli.screen import ASCII, BLOCKS, sparkline


@pytest.mark.parametrize("levels", [BLOCKS, ASCII])
def test_every_level_is_used_in_order(levels: str) -> None:
    assert len(set(levels)) == 8
    assert sparkline([float(i) for i in range(8)], 80, levels) == (levels, False)
    assert sparkline([float(-i) for i in range(8)], 80, levels) == (levels[::-1], False)
    assert levels is BLOCKS or levels.isascii()


@pytest.mark.parametrize("count", [1, 2, 40, 41, 5000])
def test_it_is_never_wider_than_the_room(count: int) -> None:
    line, _ = sparkline([1.0 / (i + 1) for i in range(count)], 40)
    assert len(line) == min(count, 40)
    if count > 1:
        assert (line[0], line[-1]) == ("█", "▁")
        assert list(line) == sorted(line, reverse=True)


def test_decades_are_told_apart() -> None:
    line, log = sparkline([1e4, 1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3], 80)
    assert log
    assert line == BLOCKS[::-1]


def test_what_does_not_change_is_a_line_in_the_middle() -> None:
    assert sparkline([3.0] * 5, 80) == (BLOCKS[4] * 5, False)
    assert sparkline([math.nan, math.inf], 80) == ("", False)
