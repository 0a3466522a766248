"""One radius for every norm bound and several kernels: by brute force, its price, coverage of what the data choose."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, SimultaneousBands
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel, Matern, SquaredExponential
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNELS: list[Kernel] = [Matern(2.5, 0.15), Matern(2.5, 0.3, amplitude=2.0), SquaredExponential(0.5)]
LAMBDAS = 16.0 ** np.arange(1, -7, -1)


def data(seed: int, n: int, sigma: float = 0.1) -> tuple[Array, Array]:
    rng = generator(seed, 21)
    X = rng.random((n, 1))
    X[-3:] = X[0]
    return X, np.sin(5 * X[:, 0]) / 3 + sigma * rng.normal(size=n)


def test_the_radius_is_the_formula() -> None:
    X, y = data(1, 20)
    weights = np.array([1.0, 2.0, 5.0])
    bands = SimultaneousBands(KERNELS, noise=0.1, delta=0.05, weights=weights)
    bands.add(X, y)
    total = 0.0
    for kernel, weight in zip(KERNELS, weights / 8, strict=True):
        for lam in LAMBDAS * kernel.variance:
            A = kernel(X) / lam + np.eye(20)
            total += weight / 8 * np.exp(-np.linalg.slogdet(A)[1] / 2 - y @ np.linalg.solve(A, y) / (2 * 0.1**2))
    expected = 2 * 0.1**2 * (np.log(1 / 0.045) - np.log(total))
    assert bands.squared_radius == pytest.approx(expected, rel=1e-6)


def test_it_costs_at_most_the_logarithm_of_a_weight() -> None:
    """Against the radius of any one kernel and regulariser that are in the mixture."""
    X, y = data(2, 40)
    bands = SimultaneousBands(KERNELS, noise=0.1, delta=0.05)
    bands.add(X, y)
    for kernel in KERNELS:
        for lam in LAMBDAS * kernel.variance:
            A = kernel(X) / lam + np.eye(40)
            alone = 0.01 * (2 * np.log(1 / 0.045) + np.linalg.slogdet(A)[1]) + y @ np.linalg.solve(A, y)
            assert bands.squared_radius <= alone + 2 * 0.01 * np.log(3 * len(LAMBDAS)) + 1e-9


def test_a_band_is_that_of_its_kernel_and_norm_bound_with_the_common_radius() -> None:
    X, y = data(3, 15)
    bands = SimultaneousBands(KERNELS, noise=0.1, delta=0.05)
    bands.add(X, y)
    points = np.linspace(0, 1, 9)[:, None]
    for kernel, B in [(KERNELS[0], 1.0), (KERNELS[1], 0.7), (KERNELS[2], 30.0)]:
        at = bands.band(kernel, B).interval(points)
        ceiling = B * np.sqrt(kernel.variance)
        lower, upper = np.full(9, -ceiling), np.full(9, ceiling)
        steps = 4.0 ** np.arange(5, -14, -1)
        first = int(np.argmin(np.abs(np.log(steps) - np.log(64 * 16 * (0.1 / B) ** 2 / kernel.variance))))
        for a in steps[first : first + 6] * kernel.variance:
            inverse = np.linalg.inv(kernel(X) + a * np.eye(15))
            cross = kernel(points, X)
            mean = cross @ inverse @ y
            deviation = np.sqrt(kernel.variance - np.einsum("ij,jk,ik->i", cross, inverse, cross))
            reach = np.sqrt(bands.squared_radius / a + B**2 - y @ inverse @ y) * deviation
            lower, upper = np.maximum(lower, mean - reach), np.minimum(upper, mean + reach)
        assert np.allclose(at.lower, lower, atol=1e-6)
        assert np.allclose(at.upper, upper, atol=1e-6)


def test_no_band_fails_whichever_the_data_choose() -> None:
    """f of norm 1 of the first kernel, sigma = 1: all norm bounds >= 1 of it are asked, at every step."""
    failures = 0
    points = np.linspace(0, 1, 15)[:, None]
    for seed in range(40):
        rng = generator(seed, 22)
        f = draw_rkhs_function(KERNELS[0], 1, norm=1.0, rng=rng)
        truth = f.values(points)
        bands = SimultaneousBands(KERNELS[:2], noise=1.0, delta=0.1)
        failed = False
        for step in range(8):
            pick = int(rng.integers(15)) if step % 2 else seed % 15
            bands.add(points[pick : pick + 1], [truth[pick] + rng.normal()])
            for B in (1.0, 1.7, 5.0):
                at = bands.band(KERNELS[0], B).interval(points)
                failed |= bool(((truth > at.upper + 1e-9) | (truth < at.lower - 1e-9)).any())
        failures += failed
    assert failures <= 0.1 * 40 + 5


def test_norm_bounds_that_are_too_small_are_rejected() -> None:
    X, y = data(4, 40, sigma=0.01)
    bands = SimultaneousBands(KERNELS, noise=0.01, delta=0.05)
    bands.add(X, y)
    assert bands.band(KERNELS[2], 0.02).rejection is not None
    assert bands.band(KERNELS[2], 5.0).rejection is None


def test_refusals() -> None:
    bands = SimultaneousBands(KERNELS, noise=0.1, delta=0.05)
    with pytest.raises(InvalidInput, match="one of the kernels stated"):
        bands.band(Matern(2.5, 0.7), 1.0)
    with pytest.raises(InvalidInput, match="an observation of all bands"):
        bands.band(KERNELS[0], 1.0).add([[0.5]], [0.0])
    for weights in ([1.0, 1.0], [1.0, 0.0, 1.0], [1.0, np.nan, 1.0]):
        with pytest.raises(InvalidInput, match="weights"):
            SimultaneousBands(KERNELS, noise=0.1, delta=0.05, weights=weights)
    with pytest.raises(InvalidInput, match="noise"):
        SimultaneousBands(KERNELS, noise=0.0, delta=0.05)
    assert isinstance(bands.band(KERNELS[0], 1.0), AdaptiveBand)
    assert bands.band(KERNELS[0], 1.0).assumptions == Assumptions(KERNELS[0], 1.0, 0.1)


def test_other_units_are_the_same_problem() -> None:
    X, y = data(5, 12)
    points = np.linspace(0, 1, 5)[:, None]
    uppers = []
    for unit in (1.0, 1024.0):
        bands = SimultaneousBands(KERNELS, noise=0.1 * unit, delta=0.05)
        bands.add(X, y * unit)
        uppers.append(bands.band(KERNELS[0], 2.0 * unit).interval(points).upper / unit)
    assert np.allclose(uppers[0], uppers[1])
