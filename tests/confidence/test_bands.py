"""The bands against brute-force computations of their formulas, within 1e-6, far inside the 1 % asked for."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import (
    AdaptiveBand,
    Assumptions,
    ChowdhuryGopalanBand,
    Interval,
    SimpleBand,
    certify,
)
from quadrat.confidence.bands import LADDER, contradiction
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel, Matern, SquaredExponential

RNG = np.random.default_rng(4)
X = RNG.random((25, 2))[RNG.integers(0, 18, 25)]  # with replicates
Y = np.sin(4 * X[:, 0]) * 0.5 + 0.1 * RNG.normal(size=25)
QUERY = RNG.random((40, 2))
KERNEL = Matern(2.5, (0.3, 0.5), amplitude=0.9)
GIVEN = Assumptions(KERNEL, norm_bound=2.0, noise=0.1)
DELTA = 0.05


def ridge(kernel: Kernel, a: float) -> tuple[Array, Array, float, float]:
    """mu_a, sigma_a at the queries, y^T (K + a)^-1 y and log det(I + K/a), all from dense algebra on raw data."""
    A = kernel(X) + a * np.eye(len(X))
    k = kernel(X, QUERY)
    mean = k.T @ np.linalg.solve(A, Y)
    deviation = np.sqrt(kernel.variance - np.einsum("ij,ij->j", k, np.linalg.solve(A, k)))
    return mean, deviation, float(Y @ np.linalg.solve(A, Y)), float(np.linalg.slogdet(A / a)[1])


@pytest.mark.parametrize("steps", [1, 5, 25])
def test_adaptive_band_is_its_formula(steps: int) -> None:
    band = AdaptiveBand(GIVEN, DELTA)
    for rows in np.array_split(np.arange(25), steps):
        band.add(X[rows], Y[rows])
    lam = max(16 * 0.1**2 / 2.0**2, 1e-8 * 0.81)
    assert band.regulariser == pytest.approx(lam)
    _, _, quadratic, logdet = ridge(KERNEL, lam)
    R2 = 0.1**2 * (2 * np.log(1 / (0.9 * DELTA)) + logdet) + lam * quadratic
    lower, upper = np.full(40, -2.0 * 0.9), np.full(40, 2.0 * 0.9)
    for multiple in (1 / 16, 1 / 4, 1, 4, 16, 64):
        a = multiple * lam
        mean, deviation, quadratic, _ = ridge(KERNEL, a)
        half = deviation / np.sqrt(a) * np.sqrt(R2 + a * 2.0**2 - a * quadratic)
        lower, upper = np.maximum(lower, mean - half), np.minimum(upper, mean + half)
    interval = band.interval(QUERY)
    np.testing.assert_allclose(interval.lower, lower, atol=1e-7)
    np.testing.assert_allclose(interval.upper, upper, atol=1e-7)
    np.testing.assert_allclose(interval.half_width, (upper - lower) / 2, rtol=1e-6)
    np.testing.assert_allclose(interval.centre, (upper + lower) / 2, atol=1e-7)
    assert band.rejection is None


@pytest.mark.parametrize("regulariser", [None, 0.5])
def test_simple_band_is_its_formula(regulariser: float | None) -> None:
    band = SimpleBand(GIVEN, DELTA, regulariser=regulariser)
    band.add(X, Y)
    lam = 0.01 if regulariser is None else regulariser
    mean, deviation, _, logdet = ridge(KERNEL, lam)
    beta = np.sqrt(4 + 0.01 / lam * (2 * np.log(1 / DELTA) + logdet))
    assert band.beta == pytest.approx(beta, rel=1e-9)
    interval = band.interval(QUERY)
    np.testing.assert_allclose(interval.upper, np.minimum(mean + beta * deviation, 1.8), atol=1e-9)
    np.testing.assert_allclose(interval.lower, np.maximum(mean - beta * deviation, -1.8), atol=1e-9)


def test_the_adaptive_band_at_a_equal_lambda_is_the_simple_one() -> None:
    """So the adaptive band is never wider than the simple one with the same lambda and share of delta."""
    adaptive = AdaptiveBand(GIVEN, DELTA)
    simple = SimpleBand(GIVEN, adaptive.band_delta, regulariser=adaptive.regulariser)
    adaptive.add(X, Y)
    simple.add(X, Y)
    assert (adaptive.interval(QUERY).half_width <= simple.interval(QUERY).half_width + 1e-9).all()


def test_chowdhury_gopalan_band_is_its_formula() -> None:
    band = ChowdhuryGopalanBand(GIVEN, DELTA, budget=50)
    band.add(X, Y)
    mean, deviation, _, logdet = ridge(KERNEL, 1 + 2 / 50)
    beta = 2.0 + 0.1 * np.sqrt(2 * (logdet / 2 + 1 + np.log(1 / DELTA)))
    assert band.beta == pytest.approx(beta, rel=1e-9)
    np.testing.assert_allclose(band.interval(QUERY).upper, mean + beta * deviation, atol=1e-9)
    assert band.holds
    assert not ChowdhuryGopalanBand(GIVEN, DELTA, budget=50, regulariser=0.01).holds
    given = ChowdhuryGopalanBand(GIVEN, DELTA, budget=50, information_gain=7.0)
    assert given.beta == pytest.approx(2.0 + 0.1 * np.sqrt(2 * (7 + 1 + np.log(1 / DELTA))))
    with pytest.raises(InvalidInput, match=r"K\(x, x\) <= 1.*got 4"):
        ChowdhuryGopalanBand(Assumptions(Matern(amplitude=2.0), 1.0, 0.1), DELTA, budget=5)


@pytest.mark.parametrize("kind", [AdaptiveBand, SimpleBand])
def test_before_any_data_the_norm_is_all_there_is(kind: type[AdaptiveBand] | type[SimpleBand]) -> None:
    band = kind(GIVEN, DELTA)
    np.testing.assert_allclose(band.interval(QUERY).upper, 1.8)
    np.testing.assert_allclose(band.interval(QUERY).lower, -1.8)
    assert band.rejection is None
    assert len(band.x) == 0


def test_a_contradiction_is_said_and_stays_said() -> None:
    band = AdaptiveBand(Assumptions(SquaredExponential(0.5), norm_bound=1.0, noise=0.05), DELTA)
    band.add(np.linspace(0, 1, 12)[:, None], np.full(12, 3.0))
    assert band.rejection is not None
    assert "assumptions rejected by the data at level 0.05" in band.rejection
    assert "norm at most 1" in band.rejection
    first = band.rejection
    band.add([[0.9]], [5.0])
    assert band.rejection == first
    assert np.isfinite(band.interval([[0.5]]).upper).all()


@pytest.mark.filterwarnings("error")
def test_observations_whose_squares_overflow_are_rejected_without_a_warning() -> None:
    band = AdaptiveBand(Assumptions(Matern(2.5, 0.3), norm_bound=1.0, noise=0.1), 0.05)
    band.add([[0.2], [0.5], [0.8]], [0.1, 1e300, 0.3])
    assert band.rejection is not None
    assert "their squares overflow" in band.rejection


def test_noise_stated_too_small_is_noticed() -> None:
    """Two values 6 apart at almost one point: no function explains them, and noise of .05 does not either."""
    band = AdaptiveBand(Assumptions(SquaredExponential(0.5), norm_bound=1.0, noise=0.05), DELTA)
    band.add([[0.2], [0.21], [0.6]], [3.0, -3.0, 0.0])
    assert band.rejection is not None
    assert "sum of squares" in band.rejection


@pytest.mark.parametrize("norm", [1.0, 3.0])
def test_noise_is_rejected_exactly_where_its_bound_is_crossed(norm: float) -> None:
    """y = (c, -c) at what is one point to the kernel: y^T (K + a)^-1 y = 2 c^2 / a, so the residuals are 2 c^2 - a B^2.

    That is largest for the least a = sigma^2/B^2, and the noise allows sigma^2 (4 log(10/delta) + 2 N log 2).
    """
    sigma = 0.05
    edge = sigma**2 * (4 * np.log(10 / DELTA) + 2 * 2 * np.log(2) + 1)
    for share, is_rejected in ((0.98, False), (1.02, True)):
        c = np.sqrt(share * edge / 2)
        band = AdaptiveBand(Assumptions(SquaredExponential(0.5), norm_bound=norm, noise=sigma), DELTA)
        band.add([[0.2], [0.2 + 1e-9]], [c, -c])
        assert (band.rejection is not None) == is_rejected


def test_regularisers_are_four_times_one_another_and_lambda_is_one_of_them() -> None:
    assert (LADDER[0], LADDER[2], len(LADDER)) == (1 / 16, 1.0, 6)
    np.testing.assert_allclose(np.divide(LADDER[1:], LADDER[:-1]), 4.0)


@pytest.mark.parametrize("norm", [1e-6, 1e-3, 0.1])
def test_an_absurdly_small_norm_bound_is_noticed(norm: float) -> None:
    """Its regulariser makes everything noise, which the bound on the noise then contradicts."""
    band = AdaptiveBand(Assumptions(KERNEL, norm_bound=norm, noise=0.1), DELTA)
    band.add(X, 3 + Y)
    assert band.rejection is not None


def test_noise_free_scale_does_not_break_the_factor() -> None:
    """lambda = 1e-8 s^2 at the least keeps six factors regular without jitter, also for repeated points."""
    band = AdaptiveBand(Assumptions(SquaredExponential(0.5), norm_bound=1.0, noise=1e-9), DELTA)
    design = np.linspace(0, 1, 60)[:, None]
    band.add(design, 0.3 * np.exp(-2 * (design[:, 0] - 0.5) ** 2))
    assert band.rejection is None
    assert band.interval([[0.123]]).half_width < 1e-2


@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -1.0])
def test_delta_is_a_probability(delta: float) -> None:
    for build in (AdaptiveBand, SimpleBand):
        with pytest.raises(InvalidInput, match="delta: expected"):
            build(GIVEN, delta)


def test_pending_points_narrow_the_index_and_nothing_stays() -> None:
    band = AdaptiveBand(GIVEN, DELTA)
    band.add(X, Y)
    before = band.interval(QUERY)
    with band.pending(QUERY[:3]):
        assert (band.interval(QUERY).half_width[:3] < before.half_width[:3]).all()
    np.testing.assert_array_equal(band.interval(QUERY).upper, before.upper)
    with band.pending(np.repeat(QUERY[:1], 500, axis=0)):
        band.interval(QUERY)
    assert band.rejection is None, "hallucinated observations reject nothing"
    assert band.counts.sum() == 25
    assert (np.abs(band.mean(QUERY) - before.centre) <= before.half_width + 1e-9).all()


def test_nested_pending_blocks_reject_nothing() -> None:
    band = AdaptiveBand(GIVEN, DELTA)
    band.add(X, Y)
    with band.pending(np.repeat(QUERY[:1], 1500, axis=0)):
        with band.pending(QUERY[1:2]):
            pass
        band.interval(QUERY)
        with pytest.raises(InvalidInput, match="pending"):
            certify(band, dimension=2)
    assert band.rejection is None


def test_bands_of_one_posterior_are_not_certified_with_pending_points_either() -> None:
    simple = SimpleBand(GIVEN, DELTA)
    simple.add(X, Y)
    with simple.pending(QUERY[:2]), pytest.raises(InvalidInput, match="pending"):
        certify(simple, dimension=2)
    assert not simple.is_hallucinating
    assert simple.rejected_because("anything") is None


def test_looking_at_a_point_where_nothing_is_left_is_said_and_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds leave no value at any point: whoever looks is told so, and the next one too."""
    band = AdaptiveBand(GIVEN, DELTA)
    band.add(X, Y)
    monkeypatch.setattr(band, "_reach", np.full(len(LADDER), -0.5))
    at = band.interval(QUERY)
    assert at.is_empty(GIVEN.ceiling)
    assert "no value of f is left at some point" in (contradiction(band, empty=True) or "")
    assert contradiction(band, empty=False) is None
    first, again = certify(band, dimension=2, max_cells=8), certify(band, dimension=2, max_cells=8)
    assert first.rejection is not None
    assert first.rejection == again.rejection == contradiction(band, empty=True)
    assert band.rejection is None


@pytest.mark.parametrize("build", [AdaptiveBand, SimpleBand])
def test_rounding_leaves_no_point_empty(build: type[AdaptiveBand | SimpleBand]) -> None:
    band = build(GIVEN, DELTA)
    assert not band.interval(QUERY).is_empty(GIVEN.ceiling)
    assert not Interval(np.array([1.0 + 1e-12]), np.array([1.0])).is_empty(1.0)
    assert Interval(np.array([0.0, 1.0 + 1e-6]), np.array([1.0, 1.0])).is_empty(1.0)


def test_an_interrupted_addition_reaches_all_posteriors_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    band = AdaptiveBand(GIVEN, DELTA)
    band.add(X[:5], Y[:5])
    before = band.interval(QUERY)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(band._posteriors[3], "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        band.add(X[5:], Y[5:])
    np.testing.assert_allclose(band.interval(QUERY).upper, before.upper, rtol=1e-12)
    assert band.counts.sum() == 5


def test_a_simple_band_with_almost_no_noise_does_not_collapse() -> None:
    kernel = SquaredExponential(0.5)
    design = np.random.default_rng(0).random((40, 1))
    query = np.random.default_rng(1).random((500, 1))

    def f(at: Array) -> Array:
        return kernel(at, [[0.4]])[:, 0]

    band = SimpleBand(Assumptions(kernel, 1.0, 3e-8), DELTA)
    band.add(design, f(design))
    interval = band.interval(query)
    assert ((f(query) >= interval.lower) & (f(query) <= interval.upper)).all()
    with pytest.raises(InvalidInput, match="regulariser: expected"):
        SimpleBand(Assumptions(kernel, 1.0, 0.1), DELTA, regulariser=1e-14)


def test_the_quick_upper_bound_is_one_of_those_that_are_intersected() -> None:
    band = AdaptiveBand(GIVEN, DELTA)
    band.add(X, Y)
    assert (band.quick_upper(QUERY) >= band.interval(QUERY).upper - 1e-12).all()
    band.prefer(QUERY[:1])
    assert band.quick_upper(QUERY[:1])[0] == pytest.approx(band.interval(QUERY[:1]).upper[0], abs=1e-9)
