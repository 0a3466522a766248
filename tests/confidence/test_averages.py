from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import Assumptions, average_half_width, cell_average
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.partition import Cell

GIVEN = Assumptions(Matern(2.5, (0.3, 0.6)), norm_bound=1.5, noise=0.2)
CELL = Cell([0.25, 0.0], [0.5, 0.5])


def test_the_bound_is_its_formula() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(CELL.lower, CELL.upper, (7, 2))
    y = rng.normal(size=7)
    found = cell_average(CELL, X, y, GIVEN, 0.01)
    b = 0.2 * np.sqrt(8 * (2 * np.log(100) + np.log(8))) / 7
    corners = np.array([[a, c] for a in (0.25, 0.5) for c in (0.0, 0.5)])
    spread = np.mean([max(1.5 * GIVEN.kernel.modulus(x - corner) for corner in corners) for x in X])
    assert found.half_width == pytest.approx(b, rel=1e-12)
    assert found.spread == pytest.approx(spread, rel=1e-12)
    assert found.upper == pytest.approx(y.mean() + b + spread)
    assert found.lower == pytest.approx(y.mean() - b - spread)
    assert average_half_width(7, 0.2, 0.01) == pytest.approx(b)


def test_no_observation_says_nothing() -> None:
    empty = cell_average(CELL, np.zeros((0, 2)), [], GIVEN, 0.01)
    assert empty.upper == np.inf
    assert empty.lower == -np.inf
    assert average_half_width(0, 0.2, 0.01) == np.inf


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="inside the cell"):
        cell_average(CELL, [[0.5, 0.1]], [0.0], GIVEN, 0.01)
    with pytest.raises(InvalidInput, match="y: expected 1 entries, got 2"):
        cell_average(CELL, [[0.3, 0.1]], [0.0, 1.0], GIVEN, 0.01)
    with pytest.raises(InvalidInput, match="count: expected"):
        average_half_width(-1, 0.2, 0.01)


@pytest.mark.parametrize(("count", "delta"), [(3, 2.0), (3, 0.0), (2.5, 0.1), (3, float("nan"))])
def test_a_width_needs_a_probability_and_a_count(count: float, delta: float) -> None:
    with pytest.raises(InvalidInput):
        average_half_width(count, 0.1, delta)  # type: ignore[arg-type]
