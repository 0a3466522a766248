"""Minima over boxes and the points with the best of them, against brute force on fine grids."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern
from quadrat.methods.acquisition import Acquisition
from quadrat.methods.base import Axis, Domain
from quadrat.methods.robust.worst_case import _soft, as_radius, bound, lattice, lowest, most_robust, worst_value


def posterior(dimension: int, seed: int, n: int = 25, scale: float = 0.2) -> GaussianProcess:
    rng = np.random.default_rng(seed)
    gp = GaussianProcess(Matern(2.5, scale), noise_variance=0.01)
    gp.add(rng.random((n, dimension)), rng.standard_normal(n))
    return gp


def grid_of(low: Array, high: Array, count: int) -> Array:
    return np.array(list(product(*[np.linspace(a, b, count) for a, b in zip(low, high, strict=True)])))


def brute_worst(height: Acquisition, point: Array, radius: Array, count: int) -> float:
    box = grid_of(np.maximum(point - radius, 0), np.minimum(point + radius, 1), count)
    return float(height.values(box).min())


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 20, 60])
def test_the_lattice_has_centre_faces_and_corners(dimension: int) -> None:
    shares = lattice(dimension)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (shares[0] == 0.5).all()
    assert len(shares) <= 1 + 32 + 16 + 8
    corners = ((shares == 0) | (shares == 1)).all(axis=1)
    assert min(2**dimension, 8) <= len(np.unique(shares[corners], axis=0)) <= 16
    if dimension in (2, 3, 5):  # both faces of every axis
        assert sum(((shares == 0.5).sum(axis=1) == dimension - 1).tolist()) == 2 * dimension


@pytest.mark.parametrize(("dimension", "count"), [(1, 801), (2, 81)])
@pytest.mark.parametrize("multiplier", [2.0, 0.0, -2.0])
def test_lowest_is_the_minimum_over_the_part_of_the_box_inside_the_cube(
    dimension: int, count: int, multiplier: float
) -> None:
    height = bound(posterior(dimension, 3), multiplier, Domain.cube(dimension))
    radius = np.array([0.12, 0.07])[:dimension]
    points = np.vstack([np.random.default_rng(1).random((12, dimension)), np.zeros(dimension), np.ones(dimension)])
    at, values = lowest(height, points, radius)
    assert ((at >= 0) & (at <= 1) & (np.abs(at - points) <= radius + 1e-12)).all()
    np.testing.assert_allclose(height.values(at), values, atol=1e-9)
    brute = np.array([brute_worst(height, point, radius, count) for point in points])
    assert (values <= brute + 2e-3).all()
    assert (values <= brute + 1e-6).mean() >= 0.9


@pytest.mark.parametrize(("dimension", "seed"), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)])
def test_most_robust_is_the_best_worst_case_of_a_grid(dimension: int, seed: int) -> None:
    """max_x min_d of the bound, both by brute force; the search may not be worse by more than .02 of its range."""
    height = bound(posterior(dimension, seed), 1.0, Domain.cube(dimension))
    radius = np.full(dimension, 0.1)
    centres = height.gp.x[:2]
    found = most_robust(height, radius, np.random.default_rng(seed), centres=centres)
    count = 401 if dimension == 1 else 31
    grid = grid_of(np.zeros(dimension), np.ones(dimension), count)
    heights = height.values(grid)
    near = np.abs(grid[:, None, :] - grid[None, :, :]).max(axis=2) <= 0.1 + 1e-9
    best = float(np.where(near, heights, np.inf).min(axis=1).max())
    assert found.value == pytest.approx(float(height.values(found.worst_at[None, :])[0]))
    assert found.value <= brute_worst(height, found.point, radius, 401 if dimension == 1 else 61) + 1e-3
    assert found.value >= best - 0.02 * float(np.ptp(heights))


def test_the_soft_minimum_is_below_nothing_it_should_not_be_and_has_its_own_gradient() -> None:
    height = bound(posterior(2, 5), 1.0, Domain.cube(2))
    radius, shares = np.array([0.15, 0.1]), lattice(2)
    function = _soft(height, radius, shares, 0.05)
    points = np.array([[0.4, 0.6], [0.05, 0.5], [0.97, 0.02]])  # the last two have boxes that the cube cuts
    values, slopes = function(points)
    for j in range(2):
        step = np.zeros(2)
        step[j] = 1e-6
        numeric = (function(points + step)[0] - function(points - step)[0]) / 2e-6
        np.testing.assert_allclose(slopes[:, j], numeric, rtol=1e-4, atol=1e-6)
    hard = [height.values(_box(point, radius, shares)).min() for point in points]
    assert (values >= hard).all()


def _box(point: Array, radius: Array, shares: Array) -> Array:
    low, high = np.maximum(point - radius, 0), np.minimum(point + radius, 1)
    return np.asarray(low + shares * (high - low))


def test_axes_that_are_not_smooth_are_not_perturbed_and_infeasible_points_not_chosen() -> None:
    axis = Axis((0.25, 0.75), ordered=False)

    def rounded(points: Array) -> Array:
        return np.stack([points[:, 0], np.where(points[:, 1] < 0.5, 0.25, 0.75)], axis=1)

    domain = Domain((Axis(), axis), rounded, feasible=lambda points: points[:, 0] >= 0.5)
    gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=0.01)
    x = rounded(np.random.default_rng(0).random((30, 2)))
    gp.add(domain.features(x), -x[:, 0] + (x[:, 1] == 0.75))
    found = most_robust(bound(gp, 0.0, domain), np.array([0.1, 0.0]), np.random.default_rng(0), centres=x[:1])
    assert found.point[1] == found.worst_at[1] == 0.75
    assert 0.5 <= found.point[0] < 0.52  # f falls along the first axis, and below .5 nothing may be chosen
    assert abs(found.worst_at[0] - found.point[0] - 0.1) < 1e-6


def test_the_worst_value_is_that_of_joint_draws() -> None:
    """Against 4,000 draws on a grid of 400 points: quantiles of the minimum agree, and lie below the lowest mean."""
    gp = posterior(1, 2, n=12)
    point, radius = np.array([0.45]), np.array([0.2])
    worst = worst_value(gp, point, radius, np.random.default_rng(0), domain=Domain.cube(1), also=[])
    grid = np.linspace(0.25, 0.65, 400)[:, None]
    covariance = gp.covariance(grid) + 1e-9 * np.eye(400)
    drawn = np.random.default_rng(1).multivariate_normal(gp.predict_mean(grid), covariance, 4000, method="eigh")
    wanted = np.quantile(drawn.min(axis=1), [0.05, 0.5, 0.95])
    spread = float(wanted[2] - wanted[0])
    np.testing.assert_allclose([worst.interval[0], worst.value, worst.interval[1]], wanted, atol=0.12 * spread)
    assert worst.value < gp.predict_mean(grid).min()
    at = gp.predict(grid)
    assert worst.interval[0] <= (at.mean - 1.6449 * at.deviation).min() + 0.02 * spread
    assert worst.interval[1] >= (at.mean + 1.6449 * at.deviation).min() - 0.02 * spread


@pytest.mark.parametrize("value", [0.0, -0.1, [0.1, -0.1], [0.0, 0.0], [0.1, 0.1, 0.1], "wide", float("nan")])
def test_wrong_radius(value: Any) -> None:
    with pytest.raises(InvalidInput, match="perturbation: expected"):
        as_radius(value, 2)
