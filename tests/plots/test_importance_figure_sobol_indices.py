"""Shares of variance, against functions whose shares are known."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.plots.importance_figure import sobol_indices


def ishigami(u: Array) -> Array:
    """sin x1 + 7 sin^2 x2 + x3^4 sin x1 / 10 on [-pi, pi]^3: the usual test of such estimates."""
    x = np.pi * (2 * u - 1)
    return np.asarray(np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))


def test_ishigami_has_its_known_shares() -> None:
    # In closed form: S = (0.314, 0.442, 0), T = (0.558, 0.442, 0.244).
    a, b = 7.0, 0.1
    variance = a**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 0.5
    first = np.array([0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, 0.0]) / variance
    both = 8 * b**2 * np.pi**8 / 225 / variance
    found = sobol_indices(ishigami, 3, 4096)
    assert np.allclose(found.first_order, first, atol=0.02)
    assert np.allclose(found.total, first + np.array([both, 0.0, both]), atol=0.02)


def test_shares_do_not_depend_on_shift_and_scale() -> None:
    one = sobol_indices(ishigami, 3, 256)
    other = sobol_indices(lambda u: 1e6 + 3.0 * ishigami(u), 3, 256)
    assert np.allclose(one.first_order, other.first_order, atol=1e-6)


def test_a_constant_has_no_shares() -> None:
    found = sobol_indices(lambda u: np.full(len(u), 3.7), 2, 64)
    assert found.first_order.tolist() == found.total.tolist() == [0.0, 0.0]


def test_samples_are_a_power_of_two() -> None:
    with pytest.raises(InvalidInput, match="power of two"):
        sobol_indices(ishigami, 3, 100)


def test_values_as_large_as_numbers_are() -> None:
    """A study of 1e308 ended in a traceback: the square of its largest value is no number."""
    found = sobol_indices(lambda x: 1e308 * (0.75 * x[:, 0] + 0.25 * x[:, 1]), 2, 1024)
    same = sobol_indices(lambda x: 0.75 * x[:, 0] + 0.25 * x[:, 1], 2, 1024)
    assert np.allclose(found.first_order, same.first_order, atol=1e-9)
    assert np.allclose(found.total, same.total, atol=1e-9)
