from __future__ import annotations

from collections.abc import Callable

import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.theory import (
    crossover,
    hierarchical_gain_power,
    information_type,
    matern_lower_bound,
    matern_range,
    partitioned_gp_ucb,
    srinivas_gain_power,
)


def test_values_by_hand() -> None:
    assert srinivas_gain_power(1.5, 2) == pytest.approx(6 / 9)
    assert hierarchical_gain_power(2.5, 3) == pytest.approx(18 / 34)
    assert partitioned_gp_ucb(1.5, 1) == pytest.approx((-1 / 3, 2 / 3))
    assert matern_lower_bound(0.5, 1) == pytest.approx((-0.25, 0.75))
    assert [crossover(d) for d in (1, 2, 6)] == [4.5, 6.5, 19.5]


@pytest.mark.parametrize("formula", [srinivas_gain_power, hierarchical_gain_power, partitioned_gp_ucb])
def test_formulas_for_nu_above_one_refuse_the_rest(formula: Callable[[float, int], object]) -> None:
    with pytest.raises(NotAvailable, match="nu > 1 only, got nu = 1"):
        formula(1.0, 2)


@pytest.mark.parametrize("formula", [srinivas_gain_power, partitioned_gp_ucb, matern_lower_bound, matern_range])
def test_bad_smoothness_and_dimension(formula: Callable[[float, int], object]) -> None:
    for nu in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match="nu: expected a finite number > 0"):
            formula(nu, 2)
    with pytest.raises(InvalidInput, match="dimension: expected a whole number >= 1, got 0"):
        formula(1.5, 0)


def test_bad_gain() -> None:
    with pytest.raises(InvalidInput, match="gain_power"):
        information_type(1.1)
