"""Numbers as heights: thinned without losing the end, on a scale on which they can be told apart."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from quadrat._core.html import column_heights


@pytest.mark.parametrize("columns", [1, 2, 7, 80])
@pytest.mark.parametrize("count", [1, 2, 3, 79, 80, 81, 5000])
def test_of_many_numbers_the_first_and_the_last_are_kept(count: int, columns: int) -> None:
    values = [float(count - i) for i in range(count)]
    found = column_heights([1e6 + value for value in values], columns).heights  # falls from the first to the last
    assert len(found) == min(count, columns)
    assert list(found) == sorted(found, reverse=True)
    if len(found) > 1:
        assert (found[0], found[-1]) == (1.0, 0.0)
    if count <= columns:
        assert len(set(found)) == count
    gaps = [a - b for a, b in pairwise(found)]
    assert max(gaps, default=0) - min(gaps, default=0) <= 1.01 / max(count - 1, 1)  # evenly spaced, to a number


def test_the_end_of_a_long_series_is_not_thinned_away() -> None:
    assert column_heights([1.0] * 4999 + [0.5], 40).heights == (1.0,) * 39 + (0.0,)
    assert column_heights([1.0, 2.0, 3.0], 1).heights == column_heights([3.0], 1).heights == (0.5,)


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([100.0, 1.0], True),
        ([99.0, 1.0], False),
        ([-1.0, -100.0], True),
        ([-1.0, 1000.0], False),
        ([0.0, 1000.0], False),
        ([5.0, 5.0], False),
    ],
)
def test_the_scale_is_logarithmic_where_sizes_differ_by_a_factor_of_100(values: list[float], log: bool) -> None:
    assert column_heights(values, 10).log is log


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equal_ratios_are_equal_steps_on_a_log_scale(sign: float) -> None:
    found = column_heights([sign * 10.0**power for power in (4, 3, 2, 1, 0)], 10)
    expected = [1, 0.75, 0.5, 0.25, 0] if sign > 0 else [0, 0.25, 0.5, 0.75, 1]
    assert found.heights == pytest.approx(expected)


@pytest.mark.parametrize(
    "values",
    [[1e308, -1e308], [5e-324, 0.0], [1e300, 1e-300], [2.0, 2.0], [-0.0, 0.0], [math.nan, 3.0, math.inf, 1.0]],
)
def test_extreme_numbers_stay_within_the_line(values: list[float]) -> None:
    found = column_heights(values, 10).heights
    assert len(found) == sum(map(math.isfinite, values))
    assert all(0 <= height <= 1 for height in found)


def test_nothing_is_no_height() -> None:
    assert column_heights([], 10).heights == ()
    assert column_heights([math.nan], 10).heights == ()
