"""The drawing of an interval."""

from __future__ import annotations

import math
import re

from quadrat.report.findings import interval_strip


def test_all_lies_in_order_from_left_to_right() -> None:
    drawn = interval_strip((1.0, 3.0), 2.0, 5.0, "90 % credible")
    [left, width] = map(float, re.findall(r'<rect x="([\d.]+)%" width="([\d.]+)%"', drawn)[0])
    [value] = map(float, re.findall(r'<line x1="([\d.]+)%"', drawn))
    [seen] = map(float, re.findall(r'cx="([\d.]+)%"', drawn))
    assert (left, width, value, seen) == (5.0, 45.0, 27.5, 95.0)
    assert 'aria-label="90 % credible interval from 1 to 3, estimate 2, best seen 5"' in drawn


def test_what_cannot_be_drawn_is_not() -> None:
    assert interval_strip((1.0, 1.0), 1.0, 1.0, "certified") == ""
    assert interval_strip((-math.inf, 1.0), 0.0, 0.5, "certified") == ""
