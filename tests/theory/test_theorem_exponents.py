from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quadrat.errors import InvalidInput
from quadrat.theory import Certainty, theorem_exponents

ALPHA = st.floats(0.01, 1.0)
D = st.integers(1, 12)
GAIN = st.floats(0.0, 1.0)


@given(ALPHA, D, GAIN)
def test_degree_zero_is_the_corollary(alpha: float, dimension: int, gain: float) -> None:
    result = theorem_exponents(0, alpha, dimension, gain)
    assert result.smoothness.simple == pytest.approx(-alpha / (dimension + 2 * alpha))
    assert result.smoothness.cumulative == pytest.approx((alpha + dimension) / (2 * alpha + dimension))
    assert result.proved == result.best
    assert result.information == pytest.approx((gain - 0.5, gain + 0.5))


@given(st.integers(1, 5), ALPHA, D, st.floats(0.5, 1.0))
def test_large_gain(degree: int, alpha: float, dimension: int, gain: float) -> None:
    """gamma_n = Omega(sqrt n): alpha_1 = 1 once k >= 1."""
    result, kappa = theorem_exponents(degree, alpha, dimension, gain), degree + alpha
    assert result.smoothness.simple == pytest.approx(-kappa / (dimension + 2 * kappa))
    assert result.smoothness.cumulative == pytest.approx((2 * kappa - 1 + dimension) / (2 * kappa + dimension))
    assert result.simple_certainty is Certainty.SPARSE


@given(st.integers(1, 5), ALPHA, D, st.floats(0.0, 0.499))
def test_small_gain(degree: int, alpha: float, dimension: int, gain: float) -> None:
    result = theorem_exponents(degree, alpha, dimension, gain)
    assert result.smoothness.simple == pytest.approx(-1 / (dimension + 2))
    assert result.smoothness.cumulative == pytest.approx((1 + dimension) / (2 + dimension))


@given(st.integers(0, 5), ALPHA, D, GAIN)
def test_what_is_proved_is_never_better_than_what_is_stated(
    degree: int, alpha: float, dimension: int, gain: float
) -> None:
    result = theorem_exponents(degree, alpha, dimension, gain)
    assert result.proved.simple >= result.best.simple - 1e-12
    assert result.proved.cumulative >= result.best.cumulative - 1e-12
    if result.cumulative_certainty is Certainty.PROVED:
        assert result.proved.cumulative == pytest.approx(result.best.cumulative)
    if result.simple_certainty is Certainty.PROVED:
        assert result.proved.simple == pytest.approx(result.best.simple)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0.5, 1, 0.5), "degree"),
        ((True, 0.5, 1, 0.5), "degree"),
        ((1.5, 0.5, 1, 0.5), "degree"),
        ((0, 0.0, 1, 0.5), "alpha"),
        ((0, 1.5, 1, 0.5), "alpha"),
        ((0, 0.5, 0, 0.5), "dimension"),
        ((0, 0.5, 1, 1.5), "gain_power"),
        ((0, 0.5, 1, -0.1), "gain_power"),
        ((1, 0.5, 1, None), "only degree 0 needs none"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        theorem_exponents(*arguments)
