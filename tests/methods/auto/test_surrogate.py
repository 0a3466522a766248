"""Trials that say the same, averaged: sums kept, cells where values differ divided, against loops over cells."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.arrays import Array
from quadrat.methods.auto.surrogate import LEVELS, WIDEST, Averages, averages

CENTRE = np.array([0.4, 0.6])
SMOOTH = np.array([True, True])


def trials(n: int, slope: float = 0.0, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    points = np.clip(CENTRE + 0.2 * rng.normal(size=(n, 2)), 0, 1)
    variances = noise**2 * rng.uniform(0.5, 2.0, n)
    return points, slope * points[:, 0] + np.sqrt(variances) * rng.normal(size=n), variances


def by_hand(points: Array, values: Array, variances: Array) -> list[tuple[list[float], float, float]]:
    """Cell by cell, with the definition."""
    found = []
    left = list(range(len(points)))
    for level in range(LEVELS):
        side = WIDEST / 2**level
        cells: dict[tuple[int, ...], list[int]] = {}
        for i in left:
            key = tuple(int(np.floor((points[i, d] - CENTRE[d]) / side + 0.5)) for d in range(2))
            cells.setdefault(key, []).append(i)
        left = []
        for members in cells.values():
            weights = 1 / variances[members]
            mean = float(np.sum(weights * values[members]) / weights.sum())
            spread = float(np.sum(weights * (values[members] - mean) ** 2))
            free = len(members) - 1
            if spread <= free + 2 * np.sqrt(2 * free) or level == LEVELS - 1:
                place = (weights[:, None] * points[members]).sum(axis=0) / weights.sum()
                found.append((place.tolist(), mean, float(1 / weights.sum())))
            else:
                left.extend(members)
    return sorted(found)


def listed(found: Averages) -> list[tuple[list[float], float, float]]:
    each = zip(found.points.tolist(), found.values.tolist(), found.variances.tolist(), strict=True)
    return sorted((place, value, variance) for place, value, variance in each)


@pytest.mark.parametrize("slope", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("n", [1, 5, 300])
def test_averages_are_those_of_the_definition(slope: float, n: int) -> None:
    given = trials(n, slope)
    found = listed(averages(*given, CENTRE, SMOOTH))
    wanted = by_hand(*given)
    assert len(found) == len(wanted)
    for (place, value, variance), (a, b, c) in zip(found, wanted, strict=True):
        assert place == pytest.approx(a, abs=1e-12)
        assert value == pytest.approx(b, abs=1e-9)
        assert variance == pytest.approx(c, rel=1e-9)


def test_nothing_is_lost() -> None:
    """Weights, and sums weighted by them, are the same before and after."""
    points, values, variances = trials(500, slope=5.0)
    found = averages(points, values, variances, CENTRE, SMOOTH)
    weight = 1 / found.variances
    assert weight.sum() == pytest.approx((1 / variances).sum())
    assert (weight * found.values).sum() == pytest.approx((values / variances).sum())
    assert weight @ found.points == pytest.approx((1 / variances) @ points)


def test_where_f_is_flat_many_become_few_and_where_it_is_not_they_stay_apart() -> None:
    flat = averages(*trials(2000), CENTRE, SMOOTH)
    steep = averages(*trials(2000, slope=30.0), CENTRE, SMOOTH)
    assert len(flat.values) < 250
    assert len(steep.values) > 2 * len(flat.values)


def test_averages_are_nearly_as_exact_as_they_say() -> None:
    """Of a constant, squares in units of their own variances are 1.25 on average.

    Cells with extreme values are divided, and those values then stand alone.
    """
    squares = []
    for seed in range(40):
        found = averages(*trials(400, seed=seed), CENTRE, SMOOTH)
        squares.extend((found.values**2 / found.variances).tolist())
    assert 1.0 < np.mean(squares) < 1.4


def test_trials_with_other_choices_are_not_averaged() -> None:
    points = np.array([[0.25, 0.5], [0.75, 0.5], [0.25, 0.5], [0.75, 0.5]])
    found = averages(points, np.array([0.0, 1.0, 0.2, 1.2]), np.ones(4), np.array([0.5, 0.5]), np.array([False, True]))
    assert found.points.tolist() == [[0.25, 0.5], [0.75, 0.5]]
    assert found.values == pytest.approx([0.1, 1.1])
    assert found.variances == pytest.approx([0.5, 0.5])
