from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.gp.splitting import SplittingRule
from quadrat.kernels import Matern, PiecewisePolynomial


@pytest.mark.parametrize(("dimension", "nu"), [(1, 0.5), (2, 1.5), (2, 2.5), (3, 2.5)])
def test_the_printed_limit(dimension: int, nu: float) -> None:
    """[JBG20, algorithm 1]: a cube of side rho is split when rho^(-1/b) <= N + 1, b = (d + 1)/(d + 2 nu)."""
    rule = SplittingRule(Matern(nu, 0.3), dimension, nu)
    b = (dimension + 1) / (dimension + 2 * nu)
    for level in range(5):
        rho = 0.5**level
        for count in range(1, 400):
            assert rule.due(count, level * dimension) == (rho ** (-1 / b) <= (count + 1) * (1 + 1e-12))


def test_capacity_multiplies_and_an_empty_cell_stays() -> None:
    rule, printed = (SplittingRule(Matern(1.5, 0.3), 2, 1.5, capacity) for capacity in (16.0, 1.0))
    assert [rule.limit(depth) / printed.limit(depth) for depth in range(5)] == [16.0] * 5
    assert [rule.due(count, 0) for count in (14, 15)] == [False, True]
    assert not printed.due(0, 0)


def test_axes_that_are_alike_take_turns() -> None:
    rule = SplittingRule(Matern(2.5, 0.3), 3, 2.5)
    assert [rule.axes(depth) for depth in range(7)] == [(0,), (1,), (2,), (0,), (1,), (2,), (0,)]
    assert rule.axes(2) == (2,)  # whatever was asked for before


def test_the_axis_that_matters_is_halved_first() -> None:
    rule = SplittingRule(Matern(2.5, (0.8, 0.1)), 2, 2.5)
    assert [rule.axes(depth) for depth in range(6)] == [(1,), (1,), (1,), (0,), (1,), (0,)]


def test_far_ends_of_a_kernel_of_bounded_range_take_turns() -> None:
    """Its modulus is the same at every distance above its range, which says nothing about axes."""
    rule = SplittingRule(PiecewisePolynomial(1, 2, 0.2), 2, 1.5)
    assert [rule.axes(depth) for depth in range(4)] == [(0,), (1,), (0,), (1,)]


def test_all_axes_at_once() -> None:
    assert SplittingRule(Matern(1.5, 0.3), 3, 1.5, all_axes=True).axes(3) == (0, 1, 2)
    with pytest.raises(InvalidInput, match="at most 10 dimensions"):
        SplittingRule(Matern(1.5, 0.3), 11, 1.5, all_axes=True)


@pytest.mark.parametrize(("name", "value"), [("smoothness", 0.0), ("capacity", 0.5), ("capacity", np.nan)])
def test_wrong_options(name: str, value: float) -> None:
    options: dict[str, Any] = {"smoothness": 1.5, name: value}
    with pytest.raises(InvalidInput, match=f"{name}: expected"):
        SplittingRule(Matern(1.5, 0.3), 2, **options)
