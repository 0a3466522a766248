"""How high the one maximiser climbs, against grids and against many starts of L-BFGS-B.

The claim: on random posteriors the value found is, up to a tolerance, no lower than that of a dense grid (D = 1, 2) and
of the search by L-BFGS-B that it replaced (D = 1, 2, 6), which climbs from ten uniform points and from the best of 512
uniform points and of some around the four best observations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import minimize

from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern
from quadrat.methods.acquisition import (
    Acquisition,
    log_expected_improvement,
    log_probability_of_improvement,
    scattered,
    top_points,
    upper_bound,
)
from quadrat.methods.base import Domain


def posteriors(dimension: int, seeds: int) -> Iterator[tuple[int, GaussianProcess]]:
    """Draws of a process at 5, 20 and 80 points, half of them crowded around one, as in a run that nears its end."""
    for n in (5, 20, 80):
        for lengthscale in (0.15, 0.4):
            for seed in range(seeds):
                rng = np.random.default_rng([dimension, n, int(100 * lengthscale), seed])
                kernel, noise = Matern(2.5, lengthscale * dimension**0.5), (0.01, 0.1)[seed % 2]
                x = rng.random((n, dimension))
                x[n - n // 2 :] = np.clip(x[0] + 0.1 * rng.standard_normal((n // 2, dimension)), 0, 1)
                root = np.linalg.cholesky(kernel(x) + (noise**2 + 1e-10) * np.eye(n))
                gp = GaussianProcess(kernel, noise_variance=noise**2)
                gp.add(x, root @ rng.standard_normal(n))
                yield seed, gp


def acquisitions(gp: GaussianProcess, dimension: int) -> Iterator[Acquisition]:
    best = float(gp.predict_mean(gp.x).max())
    scores = upper_bound(2.0), upper_bound(6.0), upper_bound(-2.0)
    for score in (*scores, log_expected_improvement(best), log_probability_of_improvement(best + 0.1)):
        yield Acquisition(gp, score, Domain.cube(dimension))


def former(function: Acquisition, rng: np.random.Generator) -> float:
    """The value that L-BFGS-B finds from its twelve starts."""
    dimension = function.domain.dimension
    near = scattered(top_points(function.gp, dimension), 25, (0.1, 0.01, 0.001), rng)
    batches = [rng.random((512, dimension)), near]
    starts = [*rng.random((10, dimension)), *(batch[int(np.argmax(function.values(batch)))] for batch in batches)]

    def downhill(x: Array) -> tuple[float, Array]:
        value, slope = function.slopes(x[None, :])
        return -float(value[0]), -slope[0]

    bounds = [(0.0, 1.0)] * dimension
    ends = [minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=bounds).x for start in starts]
    return float(function.values(np.clip(ends, 0, 1)).max())


@pytest.mark.parametrize(("dimension", "ticks"), [(1, 4001), (2, 151)])
def test_no_point_of_a_dense_grid_is_higher(dimension: int, ticks: int) -> None:
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, ticks)] * dimension), -1).reshape(-1, dimension)
    for seed, gp in posteriors(dimension, 2):
        for function in acquisitions(gp, dimension):
            _, value = function.maximise(np.random.default_rng(seed))
            assert value >= function.values(grid).max() - 1e-6


@pytest.mark.parametrize(("dimension", "missed"), [(1, 0), (2, 0), (6, 2)])
def test_it_is_as_high_as_many_starts_of_a_peer(dimension: int, missed: int) -> None:
    """60 cases a dimension: lower by more than 1e-4 in `missed` of them at most, and on average not lower."""
    gains = []
    for seed, gp in posteriors(dimension, 2):
        for function in acquisitions(gp, dimension):
            _, value = function.maximise(np.random.default_rng(seed))
            gains.append(value - former(function, np.random.default_rng(seed)))
    assert len(gains) == 60
    assert sum(gain < -1e-4 for gain in gains) <= missed
    assert np.mean(gains) > -1e-6
