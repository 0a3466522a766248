"""One budget of delta: everything adds up to at most delta."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import DeltaBudget
from quadrat.errors import InvalidInput


@pytest.mark.parametrize("degrees", [(), (0,), (1,), (0, 1, 2)])
def test_everything_adds_up_to_at_most_delta(degrees: tuple[int, ...]) -> None:
    """All 2^J cells at every depth J, averages and every degree, and the band; the tail is about 6/(pi^2 J)."""
    budget = DeltaBudget(0.1, degrees)
    deepest = 901
    total = budget.band
    for depth in range(deepest):
        cells = 2.0**depth
        total += cells * budget.average(depth)
        total += sum(cells * budget.polynomial(degree, depth) for degree in degrees)
    tail = 6 / np.pi**2 / deepest * (0.05 if degrees else 0.025)
    assert total <= 0.1
    assert total + tail == pytest.approx(0.1, abs=1e-6), "and none of it is left"


def test_printed_splits_fit_in_the_binary_shares() -> None:
    """A 2^D split is D halvings: its cells are among those of the binary family, so their shares are in the sum."""
    budget = DeltaBudget(0.1)
    dimension = 3
    total = sum(2.0 ** (dimension * level) * budget.average(dimension * level) for level in range(300))
    assert total <= 0.025


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_delta_is_a_probability(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta: expected"):
        DeltaBudget(delta)


def test_other_bad_input() -> None:
    with pytest.raises(InvalidInput, match="degrees: expected distinct"):
        DeltaBudget(0.1, (1, 1))
    with pytest.raises(InvalidInput, match=r"degree: expected one of the budget's degrees \(1,\), got 2"):
        DeltaBudget(0.1, (1,)).polynomial(2, 0)
    with pytest.raises(InvalidInput, match="depth: expected"):
        DeltaBudget(0.1).average(-1)
    with pytest.raises(InvalidInput, match="depth: expected a number of halvings from 0 to 900, got 1100"):
        DeltaBudget(0.1).average(1100)
    with pytest.raises(InvalidInput, match="degrees: expected a tuple"):
        DeltaBudget(0.1, 3)  # type: ignore[arg-type]
