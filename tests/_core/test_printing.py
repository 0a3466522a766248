"""Printed bounds: what is printed holds wherever the bound itself does."""

from __future__ import annotations

import math

import pytest

from quadrat._core.printing import at_least, at_most, between
from quadrat.randomness import generator


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_bounds_are_rounded_outwards_and_by_no_more_than_a_digit(digits: int) -> None:
    for i in range(200):
        bound = float(generator(5, i).normal()) * 10.0 ** float(generator(6, i).integers(-9, 9))
        low, high = float(at_least(bound, digits)), float(at_most(bound, digits))
        assert low <= bound <= high
        assert high - low <= 2 * 10.0 ** (math.floor(math.log10(abs(bound))) + 1 - digits)


def test_short_numbers_stay_as_they_are() -> None:
    assert between((-0.5, 0.25)) == "-0.5 to 0.25"
    assert (at_least(0.0), at_most(0.0), at_most(math.inf), at_most(math.nan)) == ("0", "0", "inf", "nan")
