"""Leave-one-out against leaving out: at fixed hyper-parameters exactly, and with a fit for each; the test of misfit."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import anderson, binom, kstest, norm

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import HyperPosterior, HyperPriors, HyperSamples, LeaveOneOut, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.gp.leave_one_out import FALSE_ALARMS, _distance_from_normal, _weights
from quadrat.kernels import Matern, SquaredExponential
from quadrat.kernels.stationary import Stationary

KERNELS: tuple[Stationary, ...] = (Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 1.0), SquaredExponential(1.0))


def observed(n: int, seed: int, *, repeats: int = 0, known: int = 0) -> Observations:
    """Values of a sine with noise in two columns; some measured again, some with a variance that is known."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2))
    y = 10 + np.sin(4 * x).sum(axis=1) + 0.3 * rng.standard_normal(n)
    rows = np.append(np.arange(n - known), rng.integers(0, n - known, repeats))
    data = Observations.merge(x[rows], y[rows] + 0.2 * rng.standard_normal(len(rows)))
    return data + Observations.merge(x[n - known :], y[n - known :], rng.uniform(0.02, 0.1, known)) if known else data


def samples_of(data: Observations, seed: int, count: int, proposals: int = 160) -> HyperSamples:
    return HyperPosterior(data, KERNELS).sample(count, np.random.default_rng(seed), proposals=proposals)


def left_out(data: Observations, seed: int = 0, count: int = 64) -> LeaveOneOut:
    ensemble = Ensemble.of_samples(data, KERNELS, samples_of(data, seed, count), range(data.x.shape[1]))
    return LeaveOneOut.of(ensemble, np.random.default_rng(seed))


def others(data: Observations, i: int) -> Observations:
    return data.subset(np.delete(np.arange(len(data)), i))


@pytest.mark.parametrize(("repeats", "known"), [(0, 0), (6, 0), (0, 3), (6, 3)])
def test_at_fixed_hyperparameters_each_is_predicted_as_if_it_were_not_there(repeats: int, known: int) -> None:
    """Every observation really left out, under the same members: errors, deviations and shares of noise to 1e-8."""
    data = observed(12, 1, repeats=repeats, known=known)
    samples = samples_of(data, 0, 5)
    ensemble = Ensemble.of_samples(data, KERNELS, samples, (0, 1))
    errors, deviations = ensemble.leave_one_out()
    for i in range(len(data)):
        without = Ensemble.of_samples(others(data, i), KERNELS, samples, (0, 1))
        at = without.predict(data.x[[i]])
        noise = np.array([data.noise_variance(unknown)[i] for unknown in ensemble.noise_variance])
        np.testing.assert_allclose(data.y[i] - errors[:, i], at.mean[:, 0], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(deviations[:, i] ** 2, at.deviation[:, 0] ** 2 + noise, rtol=1e-8, atol=1e-8)
    share = LeaveOneOut.of(ensemble, np.random.default_rng(0)).noise_share
    assert ((share > 0) & (share < 1)).all()


def test_one_member_has_plain_residuals() -> None:
    """Then the mixture is normal: mean, deviation, 90 % interval, residual and transform are those of the formulas."""
    data = observed(10, 2)
    ensemble = Ensemble.of_samples(data, KERNELS, samples_of(data, 0, 1), (0, 1))
    errors, deviations = ensemble.leave_one_out()
    found = LeaveOneOut.of(ensemble, np.random.default_rng(0))
    np.testing.assert_allclose(found.predicted, data.y - errors[0])
    np.testing.assert_allclose(found.deviation, deviations[0])
    np.testing.assert_allclose(found.residuals, errors[0] / deviations[0], rtol=1e-9)
    np.testing.assert_allclose(found.pit, norm.cdf(errors[0] / deviations[0]))
    np.testing.assert_allclose(found.upper, found.predicted + 1.6448536 * deviations[0], rtol=1e-7)
    np.testing.assert_allclose(found.lower, found.predicted - 1.6448536 * deviations[0], rtol=1e-7)
    central = np.abs(errors[0] / deviations[0])
    wanted = [np.mean(central <= norm.ppf(0.75)), np.mean(central <= norm.ppf(0.95))]
    np.testing.assert_allclose(found.coverage([0.5, 0.9]), wanted)


@pytest.mark.parametrize("repeats", [0, 5])
def test_weights_stand_for_a_fit_without_the_observation(repeats: int) -> None:
    """Against samples of the hyper-posterior of all others, fitted for each: weighted members are nearer than plain.

    Summed over eight small runs: the error of the predicted mean and of the log of its deviation, in deviations.
    """
    plain, weighted = np.zeros(2), np.zeros(2)
    for seed in range(8):
        data = observed(7, seed, repeats=repeats)
        ensemble = Ensemble.of_samples(data, KERNELS, samples_of(data, seed, 256, 512), (0, 1))
        found = LeaveOneOut.of(ensemble, np.random.default_rng(seed))
        errors, deviations = ensemble.leave_one_out()
        means = data.y - errors
        mean = means.mean(axis=0)
        deviation = np.sqrt((deviations**2 + (means - mean) ** 2).mean(axis=0))
        for i in range(len(data)):
            rest = others(data, i)
            again = Ensemble.of_samples(rest, KERNELS, refitted := samples_of(rest, seed, 1000, 2000), (0, 1))
            at = again.predict(data.x[[i]])
            noise = np.sort(refitted.noise_variance)  # of each kernel's members; its mean is all that counts
            true_mean = at.mean.mean()
            spread = at.deviation**2 + (at.mean - true_mean) ** 2
            true_deviation = np.sqrt(spread.mean() + noise.mean() / data.count[i])
            for total, one_mean, one_deviation in (
                (plain, mean[i], deviation[i]),
                (weighted, found.predicted[i], found.deviation[i]),
            ):
                total += abs(one_mean - true_mean) / true_deviation, abs(np.log(one_deviation / true_deviation))
    assert (weighted < 0.8 * plain).all(), (plain, weighted)


def test_weights_are_one_over_the_density_of_all_measurements_at_the_point() -> None:
    """Of raw measurements, the mean integrated, by dense algebra: p(all) over p(all but those at a point)."""
    rng = np.random.default_rng(6)
    x = np.repeat(rng.random((6, 2)), [4, 1, 2, 1, 3, 1], axis=0)
    y = np.sin(4 * x[:, 0]) + 0.5 * rng.standard_normal(len(x))
    data = Observations.merge(x, y)
    samples = samples_of(data, 0, 5)
    ensemble = Ensemble.of_samples(data, KERNELS, samples, (0, 1))
    errors, deviations = ensemble.leave_one_out()
    found = _weights(ensemble, errors / deviations, deviations)
    for i, point in enumerate(data.x):
        left = (x != point).any(axis=1)
        logs = []
        for member in np.argsort(samples.kernel, kind="stable"):
            scaled = x / samples.lengthscales[member]
            K = samples.variance[member] * KERNELS[samples.kernel[member]].profile(cdist(scaled, scaled))
            A = K + samples.noise_variance[member] * np.eye(len(x))
            logs.append(with_flat_mean(A, y) - with_flat_mean(A[np.ix_(left, left)], y[left]))
        wanted = np.exp(min(logs) - np.array(logs))
        np.testing.assert_allclose(found[:, i], wanted / wanted.sum(), rtol=1e-6)


def with_flat_mean(A: Array, y: Array) -> float:
    """Log density of y under the covariance A, up to a constant for each number of values."""
    u, v = np.linalg.solve(A, np.ones(len(y))), np.linalg.solve(A, y)
    Q = float(y @ v - (u @ y) ** 2 / u.sum())
    return -0.5 * float(np.linalg.slogdet(A)[1] + np.log(u.sum()) + Q)


# --- the model itself, and others


def drawn(rng: np.random.Generator, n: int, dimension: int) -> Observations:
    """Observations from the priors: kernel, length-scales, noise and f; standardised, as methods do."""
    mean, covariance = HyperPriors().normal(dimension, noise=True)
    *scales, ratio = np.exp(rng.multivariate_normal(mean, covariance))
    x = rng.random((n, dimension))
    K = KERNELS[rng.integers(4)].profile(cdist(x / scales, x / scales)) + 1e-10 * np.eye(n)
    y = np.linalg.cholesky(K) @ rng.standard_normal(n) + np.sqrt(ratio) * rng.standard_normal(n)
    return Observations.merge(x, (y - y.mean()) / y.std())


def test_a_right_model_is_calibrated_and_seldom_warned_of() -> None:
    """150 runs of the model itself, n = 15 and 50: transforms are uniform, intervals hold, few false alarms.

    The bound on alarms is that 3 % of runs at most have one, by a binomial test at the level .01: the rate that is
    stated is 2 %, and the simulated distribution of the statistic leaves out that hyper-parameters are learned.
    """
    rng, pits, alarms, runs = np.random.default_rng(1), [], 0, 150
    for run in range(runs):
        found = left_out(drawn(rng, 50 if run % 3 == 0 else 15, 1 + run % 2), run)
        pits.append(found.pit[rng.integers(len(found))])  # one of each run: those of one run hang together
        alarms += found.warning is not None
    assert kstest(pits, "uniform").pvalue > 0.01
    inside = int(np.sum(np.abs(2 * np.array(pits) - 1) <= 0.9))
    assert binom.ppf(0.005, runs, 0.9) <= inside <= binom.ppf(0.995, runs, 0.9)
    assert alarms <= binom.ppf(0.99, runs, 1.5 * FALSE_ALARMS)


def misfit(kind: str, rng: np.random.Generator, n: int = 50) -> Observations:
    x = rng.random((n, 2))
    y = np.sin(4 * x[:, 0]) + x[:, 1] ** 2 + 0.1 * rng.standard_normal(n)
    if kind == "outliers":
        y[:3] += rng.choice([-1.0, 1.0], 3) * rng.uniform(2, 10, 3)
    elif kind == "hidden choice":  # a parameter that matters is not in the space
        y += 3.0 * (rng.random(n) < 0.3)
    elif kind == "noise that grows":
        y += 10 ** (2 * x[:, 0] - 2) * rng.standard_normal(n)
    elif kind == "Cauchy noise":
        y += 0.1 * rng.standard_cauchy(n)
    return Observations.merge(x, (y - y.mean()) / y.std())


@pytest.mark.parametrize("kind", ["outliers", "hidden choice", "noise that grows", "Cauchy noise"])
def test_a_model_that_fits_badly_is_warned_of(kind: str) -> None:
    """Twenty runs of 50 trials of each kind: at least 18 have a warning; outliers are named."""
    rng = np.random.default_rng(2)
    warned = [left_out(misfit(kind, rng), seed).warning for seed in range(20)]
    assert sum(said is not None for said in warned) >= 18
    if kind == "outliers":
        assert all(said is not None and said.split("trial")[1].split()[0] in ("0", "1", "2") for said in warned)
        assert "Measure there again" in str(warned[0])
        assert sum("as far off" in str(said) for said in warned) >= 10
    if kind == "hidden choice":
        assert any("parameter that matters may be missing" in str(said) for said in warned)


def test_errors_that_do_not_matter_are_no_misfit() -> None:
    """Constant values, and a smooth function without noise whose errors are tiny against its range, and not normal."""
    x = np.linspace(0, 1, 20)[:, None]
    for y in (np.full(20, 3.0), np.sin(3 * x[:, 0])):
        found = left_out(Observations.merge(x, y))
        assert found.p_value == 1.0
        assert found.warning is None


def test_the_statistic_is_that_of_anderson_and_darling() -> None:
    draws = np.random.default_rng(0).standard_t(3, (4, 30))
    for row, found in zip(draws, _distance_from_normal(draws), strict=True):
        with warnings.catch_warnings(action="ignore"):  # of tables of critical values, which are not looked at
            assert found == pytest.approx(anderson(row, "norm").statistic)


# --- units


def some() -> LeaveOneOut:
    return left_out(observed(9, 4, repeats=3))


def test_units_direction_and_numbers_are_the_users() -> None:
    found = some()
    turned = found.turned()
    np.testing.assert_array_equal(turned.observed, -found.observed)
    np.testing.assert_array_equal(turned.lower, -found.upper)
    np.testing.assert_allclose(turned.pit, 1 - found.pit)
    np.testing.assert_array_equal(turned.coverage([0.3, 0.8]), found.coverage([0.3, 0.8]))
    other = found.mapped(lambda values: 2 * values + 1)
    np.testing.assert_allclose(other.predicted, 2 * found.predicted + 1)
    np.testing.assert_allclose(other.upper - other.lower, 2 * (found.upper - found.lower))
    np.testing.assert_allclose(other.deviation, 2 * found.deviation)
    np.testing.assert_array_equal(other.residuals, found.residuals)
    assert found.trials[:2] == ((0,), (1,))
    assert found.renumbered([10 * i for i in range(9)]).trials[:2] == ((0,), (10,))
    assert len(found) == 9


def test_an_outlier_at_any_distance_has_a_residual() -> None:
    """Chances below the smallest float are not 0: residuals stay finite, and the far one is the largest."""
    data = observed(20, 5)
    y: Array = data.y.copy()
    y[7] += 1e4
    found = left_out(Observations.merge(data.x, y))
    assert np.isfinite(found.residuals).all()
    assert np.argmax(np.abs(found.residuals)) == 7
    assert found.warning is not None
    assert "trial 7 gave 1.001e+04" in found.warning
    assert found.warning_of_trials == found.warning
    general = replace(found, residuals=np.full(len(found), 0.5), p_value=0.5 * FALSE_ALARMS, outliers=())
    assert general.warning is not None
    assert general.warning_of_trials is None, "no trial is named"


def test_one_observation_is_refused() -> None:
    data = Observations.merge([[0.1, 0.2]] * 3, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInput, match="at least two observations at different points, got 1"):
        left_out(data)


def test_a_noise_factor_counts_as_that_much_noise() -> None:
    """Four times the variance of samples that have a quarter of it: the same ensemble, and the same left out."""
    data = observed(12, 1, repeats=6)
    samples = samples_of(data, 0, 16)
    quarter = replace(samples, noise_variance=samples.noise_variance / 4)
    factors = data.with_noise_factor(np.full(len(data), 4.0))
    usual, other = (
        Ensemble.of_samples(data, KERNELS, samples, (0, 1)),
        Ensemble.of_samples(factors, KERNELS, quarter, (0, 1)),
    )
    np.testing.assert_allclose(other.predict(data.x).mean, usual.predict(data.x).mean)
    found, wanted = (LeaveOneOut.of(each, np.random.default_rng(0)) for each in (other, usual))
    np.testing.assert_allclose(found.noise_share, wanted.noise_share)
    np.testing.assert_allclose(found.residuals, wanted.residuals)
