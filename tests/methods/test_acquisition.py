"""Scores, their slopes, and the search for their maximum."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern
from quadrat.methods.acquisition import (
    Acquisition,
    Score,
    expected_gain,
    improvement,
    log_expected_improvement,
    log_probability_of_improvement,
    unvisited,
    upper_bound,
)
from quadrat.methods.base import Domain

SCORES: list[Score] = [upper_bound(2.0), log_expected_improvement(0.7), log_probability_of_improvement(0.8)]


def posterior(dimension: int, n: int = 12, noise: float = 0.1) -> GaussianProcess:
    rng = np.random.default_rng(dimension)
    gp = GaussianProcess(Matern(2.5, 0.3 * dimension**0.5), noise_variance=noise**2)
    x = rng.random((n, dimension))
    gp.add(x, np.sin(4 * x.sum(1)))
    return gp


def found(gp: GaussianProcess, score: Score, seed: int, dimension: int) -> tuple[Array, float]:
    return Acquisition(gp, score, Domain.cube(dimension)).maximise(np.random.default_rng(seed))


@pytest.mark.parametrize("z", [5.0, 0.0, -0.9, -1.0, -1.1, -5.0, -40.0, -99.9, -100.1, -1e3, -1e6, -1e9, -1e20])
def test_log_improvement_equals_high_precision(z: float) -> None:
    """log h, Phi/h and phi/h within 1e-10 of 80-digit arithmetic, on both sides of every change of formula."""
    log_h, share, density = (float(value[0]) for value in improvement(np.array([z])))
    with mpmath.workdps(80):
        if z < -1e3:  # the difference itself needs more digits than are worked with; its series does not
            u = mpmath.mpf(z) ** -2
            ratio = u * (1 - 3 * u + 15 * u**2 - 105 * u**3 + 945 * u**4)
            log_phi = -(mpmath.mpf(z) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2
            wanted = (log_phi + mpmath.log(ratio), -(1 - ratio) / mpmath.mpf(z) / ratio, 1 / ratio)
        else:
            mpmath.mp.dps = 80
            phi, below = mpmath.npdf(z), mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2
            h = phi + mpmath.mpf(z) * below
            wanted = (mpmath.log(h), below / h, phi / h)
        assert log_h == pytest.approx(float(wanted[0]), rel=1e-10)
        assert share == pytest.approx(float(wanted[1]), rel=1e-10)
        assert density == pytest.approx(float(wanted[2]), rel=1e-10)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 0.5), (0.9, 0.2), (-1.0, 0.4), (-3.0, 0.1), (-3.0, 0.01)])
def test_slopes_equal_finite_differences(score: Score, mean: float, deviation: float) -> None:
    step = 1e-6
    _, in_mean, in_deviation = score(np.array([mean]), np.array([deviation]))
    means = score(np.array([mean - step, mean + step]), np.full(2, deviation))[0]
    deviations = score(np.full(2, mean), deviation + np.array([-1, 1]) * step * deviation)[0]
    assert in_mean[0] == pytest.approx((means[1] - means[0]) / (2 * step), rel=1e-5)
    assert in_deviation[0] == pytest.approx((deviations[1] - deviations[0]) / (2 * step * deviation), rel=1e-5)


@pytest.mark.parametrize("score", SCORES)
def test_scores_stay_finite_where_f_is_known(score: Score) -> None:
    """A deviation of exactly 0 far below the incumbent: EI and PI themselves are 0 there."""
    parts = score(np.array([-50.0, 50.0]), np.zeros(2))
    assert all(np.isfinite(part).all() for part in parts)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("dimension", [1, 2])
def test_maximum_is_at_least_that_of_a_grid(score: Score, dimension: int) -> None:
    gp = posterior(dimension)
    ticks = np.linspace(0, 1, 2001 if dimension == 1 else 101)
    grid = np.stack(np.meshgrid(*[ticks] * dimension), -1).reshape(-1, dimension)
    at = gp.predict(grid)
    _, value = found(gp, score, 0, dimension)
    assert value >= score(at.mean, at.deviation)[0].max() - 1e-9


@pytest.mark.parametrize("dimension", [1, 2, 50])
@pytest.mark.parametrize("score", SCORES)
def test_points_lie_in_the_cube_and_repeat_with_the_generator(score: Score, dimension: int) -> None:
    gp = posterior(dimension)
    first, value = found(gp, score, 3, dimension)
    again, _ = found(gp, score, 3, dimension)
    assert first.shape == (dimension,)
    assert ((first >= 0) & (first <= 1)).all()
    assert np.isfinite(value)
    assert np.array_equal(first, again)


def flat(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
    return np.zeros_like(mean), np.zeros_like(mean), np.zeros_like(mean)


def broken(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
    return np.where(mean > 0, np.nan, mean), np.full_like(mean, np.inf), deviation


@pytest.mark.parametrize("score", [flat, broken])
def test_a_flat_or_broken_score_still_gives_a_point(score: Score) -> None:
    point, value = found(posterior(2), score, 0, 2)
    assert ((point >= 0) & (point <= 1)).all()
    assert np.isfinite(value)


def test_without_data_any_point_will_do() -> None:
    gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=0.01)
    point, value = found(gp, upper_bound(1.0), 0, 3)
    assert ((point >= 0) & (point <= 1)).all()
    assert value == 1.0


def test_improvement_so_unlikely_that_it_underflows_is_still_climbed() -> None:
    """EI is 0 to double precision at every start; its logarithm leads to the maximum of the mean all the same."""
    gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=1e-4)
    x = np.linspace(0, 1, 60)[:, None]
    gp.add(x, -((x[:, 0] - 0.37) ** 2))
    score = log_expected_improvement(5.0)
    point, value = found(gp, score, 0, 1)
    assert value < -1000
    grid = np.linspace(0, 1, 2001)[:, None]
    at = gp.predict(grid)
    assert value >= score(at.mean, at.deviation)[0].max() - 1e-6 * abs(value)
    assert np.isfinite(point).all()


def test_expected_gain_shrinks_as_f_becomes_known() -> None:
    few, many = posterior(1, n=3), posterior(1, n=200)
    gains = []
    for gp in (few, many):
        best = gp.x[int(np.argmax(gp.predict_mean(gp.x)))]
        gain = expected_gain(gp, best, np.random.default_rng(0))
        assert gain is not None
        gains.append(gain)
    before, after = gains
    assert before.mean > 5 * after.mean >= 0
    assert before.upper > 5 * after.upper
    assert all(gain.mean < gain.upper for gain in gains), "nine draws of ten are below the upper value"


def test_a_point_far_from_all_evaluations_is_unvisited() -> None:
    """Its correlation with f at every evaluation is below a half: a Matérn kernel falls to that at one length-scale."""
    kernel = Matern(2.5, 0.1, amplitude=3.0)
    points = np.array([[0.5], [0.55], [0.9]])
    assert unvisited(kernel, points, np.array([[0.5], [0.0]])).tolist() == [False, False, True]
    assert unvisited(kernel, points, np.empty((0, 1))).all()


def test_an_upper_gain_says_when_it_rests_on_what_nobody_visited() -> None:
    """Three evaluations at one end of the cube leave the other end open; two hundred all over it leave nothing open."""
    kernel = Matern(2.5, 0.1)
    near, all_over = GaussianProcess(kernel, noise_variance=1e-4), GaussianProcess(kernel, noise_variance=1e-4)
    near.add([[0.0], [0.05], [0.1]], [0.0, 0.1, 0.0])
    x = np.linspace(0, 1, 200)[:, None]
    all_over.add(x, np.sin(6 * x[:, 0]))
    shares = []
    for gp in (near, all_over):
        gain = expected_gain(gp, gp.x[int(np.argmax(gp.predict_mean(gp.x)))], np.random.default_rng(0))
        assert gain is not None
        shares.append(gain.unvisited)
    assert shares[0] > 0.9
    assert shares[1] == 0.0
