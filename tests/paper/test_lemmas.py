"""Lemmas of the appendix on the theorem: the corrected form holds, the printed one does not. Fixed seeds."""

from __future__ import annotations

from heapq import heappop, heappush
from math import ceil, e, inf, log, sqrt

import numpy as np
import pytest
from as_printed import (
    covering_radius,
    deviation_sum_bound,
    evaluations_per_cell_bound,
    splits_bound,
    uncovered_probability,
)

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel, Matern, SquaredExponential


def deviations(kernel: Kernel, points: Array, noise_variance: float) -> Array:
    """sigma_(t-1)(x_t) for each t, by a solve of its own."""
    matrix = kernel(points)
    result = np.empty(len(points))
    for t in range(len(points)):
        head = matrix[:t, :t] + noise_variance * np.eye(t)
        result[t] = sqrt(matrix[t, t] - matrix[t, :t] @ np.linalg.solve(head, matrix[:t, t]) if t else matrix[t, t])
    return result


# --- sum of deviations: proof of the information-type bound, step (c)


@pytest.mark.parametrize("noise_variance", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(
    "kernel", [Matern(0.5, 0.2), Matern(2.5, 0.5, amplitude=3.0), SquaredExponential(0.1, amplitude=0.2)]
)
def test_sum_of_deviations_stays_below_the_corrected_bound(kernel: Kernel, noise_variance: float) -> None:
    """With the gain of the points themselves, which is at most gamma_n; random points and repeated ones."""
    rng = np.random.default_rng(3)
    for points in (rng.uniform(size=(40, 2)), np.full((40, 2), 0.5), np.repeat(rng.uniform(size=(8, 2)), 5, axis=0)):
        gain = 0.5 * np.linalg.slogdet(np.eye(40) + kernel(points) / noise_variance)[1]
        bound = deviation_sum_bound(40, gain, noise_variance, variance=kernel.variance)
        assert deviations(kernel, points, noise_variance).sum() <= bound * (1 + 1e-9)


@pytest.mark.parametrize("noise_variance", [0.2, 1.0, 1 + 2 / 25])
def test_printed_sum_of_deviations_fails(noise_variance: float) -> None:
    """Far points: every deviation is 1 and gamma_n is n log(1 + 1/lambda)/2, its largest value for any kernel, K <= 1.

    The sum is n and attains the corrected bound; sqrt(n gamma_n) is smaller for lambda > 1/(e^2 - 1).
    """
    n = 25
    points = np.linspace(0, 1, n)[:, None]
    largest_gain = n / 2 * log(1 + 1 / noise_variance)
    total = deviations(Matern(0.5, 1e-4), points, noise_variance).sum()
    assert total == pytest.approx(n)
    assert total > sqrt(n * largest_gain) * 1.01
    assert total == pytest.approx(deviation_sum_bound(n, largest_gain, noise_variance))
    assert noise_variance > 1 / (e**2 - 1)


# --- evaluations per cell


def evaluations_before_split(
    side: float, dimension: int, a: float, constant: float, noise: float, failure: float
) -> int:
    """The loop itself: evaluate while the half-width of the average exceeds the variation over the cell."""
    count, width = 0, inf
    while width > constant * (sqrt(dimension) * side) ** a:
        count += 1
        width = noise * sqrt(2 * log(1 / failure) / count)
    return count


def test_evaluations_per_cell() -> None:
    """The loop never exceeds the bound, is within 1 of it, and exceeds the printed 2 log(1/delta)/(L D r^(2a))."""
    printed_fails = 0
    for dimension in (1, 2, 5):
        for a in (0.5, 1.0, 2.5):
            for constant in (0.4, 1.0, 3.0):
                for noise in (0.1, 1.0, 2.0):
                    side, failure = 0.5, 0.01
                    count = evaluations_before_split(side, dimension, a, constant, noise, failure)
                    bound = evaluations_per_cell_bound(
                        side, dimension=dimension, exponent=a, constant=constant, noise=noise, failure=failure
                    )
                    assert bound - 1 - 1e-9 <= count <= bound
                    printed_fails += count > 2 * log(1 / failure) / (constant * dimension * side ** (2 * a))
    assert printed_fails > 20  # of 81 settings


def test_printed_evaluations_per_cell_by_numbers() -> None:
    """L = 1/2, sigma = 1, D = 1, r = 1/4, a = 1: 590 evaluations, where the printed lemma allows 295 (L^2 became L)."""
    failure = 0.01
    count = evaluations_before_split(0.25, 1, 1.0, 0.5, 1.0, failure)
    assert count == 590
    assert ceil(2 * log(1 / failure) / (0.5 * 0.25**2)) == 295


# --- covering


@pytest.mark.parametrize(("dimension", "radius"), [(1, 0.05), (2, 0.2), (3, 0.3)])
def test_one_draw_misses_a_corner_with_the_corrected_probability(dimension: int, radius: float) -> None:
    """1 - (eps/r)^D, by 200,000 draws, to five standard deviations; for D > 1 the printed 1 - eps is too small."""
    side, draws = 0.5, 200_000
    x = side * np.random.default_rng(5).uniform(size=(draws, dimension))
    missed = float((x.max(axis=1) > radius).mean())
    expected = 1 - (radius / side) ** dimension
    assert abs(missed - expected) < 5 * sqrt(expected * (1 - expected) / draws)
    assert (missed > 1 - radius) == (dimension > 1)


@pytest.mark.parametrize(("dimension", "points", "radius"), [(1, 30, 0.07), (2, 60, 0.15), (2, 40, 0.2), (3, 60, 0.24)])
def test_cells_are_covered(dimension: int, points: int, radius: float) -> None:
    """How often some grid point of the cell is farther than 2 eps from all draws, in 150 runs: at most the bound."""
    side, runs = 0.7, 150
    axis = np.linspace(0, side, {1: 200, 2: 25, 3: 9}[dimension])
    grid = np.stack(np.meshgrid(*[axis] * dimension), axis=-1).reshape(-1, dimension)
    rng = np.random.default_rng(6)
    failures = 0
    for _ in range(runs):
        x = side * rng.uniform(size=(points, dimension))
        farthest = np.abs(grid[:, None] - x).max(axis=2).min(axis=1).max()
        failures += farthest > 2 * radius
    bound = uncovered_probability(points, side=side, radius=radius, dimension=dimension)
    assert 0.0 < bound < 1.0
    assert failures / runs <= bound


@pytest.mark.parametrize(("dimension", "points"), [(1, 50), (2, 400), (2, 5)])
def test_covering_radius(dimension: int, points: int) -> None:
    """A Euclidean cover of the cell in at least 1 - delta of 150 runs; the printed event, covering the cube, never."""
    side, failure, runs = 0.25, 0.2, 150
    radius = covering_radius(points, side=side, dimension=dimension, failure=failure)
    axis = np.linspace(0, side, {1: 100, 2: 12}[dimension])
    grid = np.stack(np.meshgrid(*[axis] * dimension), axis=-1).reshape(-1, dimension)
    corner = np.ones(dimension)
    rng = np.random.default_rng(7)
    failures = 0
    for _ in range(runs):
        x = side * rng.uniform(size=(points, dimension))
        distances = np.linalg.norm(grid[:, None] - x, axis=2).min(axis=1)
        failures += float(distances.max()) > radius
        assert np.linalg.norm(x - corner, axis=1).min() > radius
    assert failures / runs <= failure


# --- number of rounds


def splits_before_the_first_evaluation(budget: int, dimension: int) -> int:
    """Algorithm 1 as printed, alpha_1 = 1, with a Lipschitz constant L that is a valid but generous bound.

    Before any data mu = 0 and sigma = 1 everywhere, the average is infinite, and the rest is beta and L.
    """
    gain = budget / 2 * log(1 + 1 / (1 + 2 / budget))  # the largest possible for K <= 1 and lambda = 1 + 2/n
    beta = 1 + sqrt(2 * (gain + 1 + log(3 / 0.05)))
    constant = (beta * budget) ** 2
    rho_0 = gain / sqrt(constant * budget * dimension)
    splits = 0
    heap = [(-inf, 1.0)]  # minus the cell's u^(0), side
    while True:
        bound, side = heappop(heap)
        upper = min(-bound, beta + constant * sqrt(dimension) * side)
        if heap and -heap[0][0] > upper:  # u^(0) was stale: some other cell has the larger bound
            heappush(heap, (-upper, side))
            continue
        if not (beta < constant * sqrt(dimension) * side and side >= max(rho_0, 1 / budget)):
            return splits
        splits += 1
        for _ in range(2**dimension):
            heappush(heap, (-upper, side / 2))


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("budget", [1, 2, 3, 8, 13, 16])
def test_more_splits_happen_than_the_printed_lemma_allows(budget: int, dimension: int) -> None:
    """t_n <= (n/2)^D + n is false: splits alone exceed (n/2)^D, and n evaluations follow."""
    found = splits_before_the_first_evaluation(budget, dimension)
    assert found == splits_bound(budget, dimension)
    assert found > (budget / 2) ** dimension


def test_splits_by_numbers() -> None:
    """D = 1, n = 16: 31 splits and 16 evaluations are 47 rounds; the lemma says at most 24."""
    assert splits_bound(16, 1) == 31 == 2 * 16 - 1
    assert 16 / 2 + 16 == 24


def test_lemmas_refuse_bad_input() -> None:
    with pytest.raises(InvalidInput, match="noise_variance"):
        deviation_sum_bound(3, 1.0, 0.0)
    with pytest.raises(InvalidInput, match="count"):
        deviation_sum_bound(0, 1.0, 1.0)
    with pytest.raises(InvalidInput, match="failure"):
        evaluations_per_cell_bound(0.5, dimension=1, exponent=1.0, constant=1.0, noise=1.0, failure=0.0)
    with pytest.raises(InvalidInput, match="radius"):
        uncovered_probability(3, side=1.0, radius=0.0, dimension=2)
    with pytest.raises(InvalidInput, match="points"):
        covering_radius(0, side=1.0, dimension=2, failure=0.1)
    with pytest.raises(InvalidInput, match="budget"):
        splits_bound(0, 2)


def test_one_draw_covers_a_cell_no_wider_than_twice_the_radius() -> None:
    assert uncovered_probability(1, side=0.5, radius=0.25, dimension=3) == 0.0
    assert covering_radius(1, side=0.5, dimension=4, failure=0.5) == 1.0
