"""The posterior of hyper-parameters against brute force: integrals by quadrature, densities on a grid, known tails."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, log, pi, sqrt

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import genpareto, invgamma, kstest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import HyperPosterior, HyperPriors, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.gp.fit import LogNormal, Priors
from quadrat.gp.hyper_posterior import _Proposals, pareto_smooth
from quadrat.kernels import Matern, SquaredExponential
from quadrat.kernels.stationary import Stationary

KERNELS: tuple[Stationary, ...] = (Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 1.0), SquaredExponential(1.0))


def observed(n: int, dimension: int, seed: int = 0, *, repeats: int = 0, known: int = 0) -> Observations:
    """Values of a sine with noise; some measured again, some with a variance that is known."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, dimension))
    y = np.sin(4 * x).sum(axis=1) + 0.3 * rng.standard_normal(n)
    rows = np.append(np.arange(n - known), rng.integers(0, n - known, repeats))
    data = Observations.merge(x[rows], y[rows] + 0.2 * rng.standard_normal(len(rows)))
    return data + Observations.merge(x[n - known :], y[n - known :], rng.uniform(0.02, 0.1, known)) if known else data


def parameters_near(posterior: HyperPosterior, seed: int, count: int = 1) -> Array:
    rng = np.random.default_rng([seed, 7])
    return posterior._mean + 0.5 * rng.standard_normal((count, len(posterior.names)))


def of_prior(priors: HyperPriors, log_theta: float | None = None, log_rho: float | None = None) -> float:
    """The log prior density of a length-scale and of the noise ratio, up to a constant."""
    away = 0.0
    if log_theta is not None:
        away += (log_theta - priors.lengthscale.mean) ** 2 / (priors.lengthscale.sd**2 + priors.common_lengthscale**2)
    if log_rho is not None:
        away += (log_rho - priors.noise_ratio.mean) ** 2 / priors.noise_ratio.sd**2
    return -0.5 * away


@pytest.mark.parametrize("power", [1.0, 0.4])
def test_mean_and_amplitude_are_integrated(power: float) -> None:
    """Both by sums over a fine grid, of the likelihood of three values: log densities differ as these integrals do.

    A power is that of the likelihood without the mean, which is integrated first.
    """
    data, priors = observed(3, 1), HyperPriors(shape=2.0, rate=0.7)
    posterior = HyperPosterior(data, [KERNELS[2]], priors=priors, power=power)
    log_s2 = np.linspace(-9, 9, 1801)
    s2 = np.exp(log_s2)
    means = np.sqrt(s2)[:, None] * np.linspace(-40, 40, 2001)  # in steps of .04 s
    found, wanted = [], []
    for point in parameters_near(posterior, 0, 3):
        theta, rho = np.exp(point)
        A = KERNELS[2].profile(np.abs(data.x - data.x.T) / theta) + rho * np.eye(3)
        off = data.y - means[:, :, None]
        square = np.einsum("abi,ij,abj->ab", off, np.linalg.inv(A), off) / s2[:, None]
        density = np.exp(-0.5 * (3 * np.log(2 * pi * s2)[:, None] + np.linalg.slogdet(A)[1] + square))
        over_means = density.sum(axis=1) * 0.04 * np.sqrt(s2)
        integral = float((over_means**power * invgamma(2.0, scale=0.7).pdf(s2) * s2).sum() * 0.01)
        wanted.append(log(integral) + of_prior(priors, *point.tolist()))
        found.append(posterior.log_density(0, point[None, :])[0][0])
    np.testing.assert_allclose(np.diff(found), np.diff(wanted), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", range(4))
@pytest.mark.parametrize(("repeats", "known"), [(0, 0), (5, 0), (0, 4), (5, 4), (0, 9)])
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_gradients_are_those_of_the_density(kernel: int, repeats: int, known: int, power: float) -> None:
    posterior = HyperPosterior(observed(9, 2, repeats=repeats, known=known), KERNELS, power=power)
    point = parameters_near(posterior, 1)[0]
    value, gradient = posterior.value_and_gradient(kernel, point)
    assert value == pytest.approx(posterior.log_density(kernel, point[None, :])[0][0], rel=1e-9)
    steps = 1e-5 * np.eye(len(point))
    ends = [[posterior.value_and_gradient(kernel, point + side * h)[0] for side in (1, -1)] for h in steps]
    np.testing.assert_allclose(gradient, [(up - down) / 2e-5 for up, down in ends], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", range(4))
@pytest.mark.parametrize(("repeats", "known"), [(0, 0), (5, 0), (5, 4)])
def test_gradients_with_extra_variances(kernel: int, repeats: int, known: int) -> None:
    """An outlier's variance comes on top of the unknown one, or of a known one; the amplitude is a parameter then."""
    data = observed(9, 2, repeats=repeats, known=known).with_extra(np.array([1, 8]), np.array([0.4, 2.0]))
    posterior = HyperPosterior(data, KERNELS)
    assert posterior.names[2:] == ("noise_ratio", "amplitude")
    point = parameters_near(posterior, 1)[0]
    value, gradient = posterior.value_and_gradient(kernel, point)
    assert value == pytest.approx(posterior.log_density(kernel, point[None, :])[0][0], rel=1e-9)
    steps = 1e-5 * np.eye(len(point))
    ends = [[posterior.value_and_gradient(kernel, point + side * h)[0] for side in (1, -1)] for h in steps]
    np.testing.assert_allclose(gradient, [(up - down) / 2e-5 for up, down in ends], rtol=1e-4, atol=1e-5)


def test_an_extra_variance_counts_as_a_larger_noise() -> None:
    """The density with an extra variance is that of known variances which are the sum."""
    data = observed(6, 1)
    extra = np.array([0.0, 0.3, 0.0, 0.0, 1.0, 0.2])
    posterior = HyperPosterior(data.with_extra(np.arange(6), extra), [KERNELS[1]])
    differences = []
    for point in parameters_near(posterior, 3, 4):
        noise = np.exp(point[1] + 2 * point[2])
        summed = HyperPosterior(Observations.merge(data.x, data.y, noise + extra), [KERNELS[1]])
        without_prior = posterior.log_density(0, point[None, :])[0][0] - of_prior(posterior.priors, log_rho=point[1])
        differences.append(without_prior - summed.log_density(0, point[None, [0, 2]])[0][0])
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


@pytest.mark.parametrize(("n", "repeats"), [(12, 0), (25, 0), (15, 8)])
def test_evidences_with_and_without_a_known_part_may_be_compared(n: int, repeats: int) -> None:
    """A known part that is next to nothing changes nothing, although the amplitude is no longer integrated."""
    data = observed(n, 1, repeats=repeats)
    without = HyperPosterior(data, KERNELS)
    almost = without.of(data.with_extra(np.array([0]), np.array([1e-9])))
    assert almost.log_evidence == pytest.approx(without.log_evidence, abs=0.15)


def test_replicates_say_what_all_measurements_say() -> None:
    """Merged and unmerged: the densities differ by a constant. A of all measurements has repeated rows."""
    rng = np.random.default_rng(3)
    x = np.repeat(rng.random((5, 1)), [3, 1, 2, 1, 4], axis=0)
    y = np.sin(5 * x[:, 0]) + 0.3 * rng.standard_normal(len(x))
    posterior = HyperPosterior(Observations.merge(x, y), [KERNELS[1]])
    merged = posterior.log_density(0, points := parameters_near(posterior, 2, 6))[0]
    n, priors, all_of_them = len(x), posterior.priors, []
    for point in points:
        theta, rho = np.exp(point)
        A = KERNELS[1].profile(np.abs(x - x.T) / theta) + rho * np.eye(n)
        inverse, ones = np.linalg.inv(A), np.ones(n)
        u = inverse @ ones
        Q = y @ inverse @ y - (u @ y) ** 2 / u.sum()
        value = -0.5 * np.linalg.slogdet(A)[1] - 0.5 * log(u.sum())
        value -= (priors.shape + (n - 1) / 2) * log(priors.rate + Q / 2)
        all_of_them.append(value + of_prior(priors, *point.tolist()))
    np.testing.assert_allclose(np.diff(merged), np.diff(all_of_them), rtol=1e-6, atol=1e-6)


def test_a_known_variance_counts_as_the_ratio_that_it_is() -> None:
    """With the amplitude at hand, v and rho = v / s^2 are the same noise; only the prior of rho is beside."""
    rng = np.random.default_rng(4)
    x, y, v = rng.random((6, 1)), rng.standard_normal(6), 0.05
    known = HyperPosterior(Observations.merge(x, y, v), [KERNELS[2]])
    unknown = HyperPosterior(Observations.merge(x, y), [KERNELS[2]])
    found, wanted = [], []
    for log_theta, log_s in parameters_near(known, 5, 4):
        s2 = np.exp(2 * log_s)
        found.append(known.log_density(0, np.array([[log_theta, log_s]]))[0][0])
        log_rho = log(v / s2)
        density, (rate,) = unknown.log_density(0, np.array([[log_theta, log_rho]]))
        without_prior = density[0] - of_prior(unknown.priors, log_rho=log_rho)
        # Take s^2 out of the integral again: the density of log s under its conditional posterior.
        shape = 1.0 + 5 / 2
        conditional = shape * log(rate) - lgamma(shape) - 2 * shape * log_s - rate / s2
        wanted.append(without_prior + conditional)
    np.testing.assert_allclose(np.diff(found), np.diff(wanted), rtol=1e-8, atol=1e-8)


def on_a_grid(posterior: HyperPosterior) -> tuple[Array, Array, Array]:
    """Return points of a grid over both parameters, (m, 2), their probabilities and rates under each kernel, (K, m)."""
    axes = [
        np.linspace(m - 4 * d, m + 4 * d, 120)
        for m, d in zip(posterior._mean, np.sqrt(np.diagonal(posterior._covariance)), strict=True)
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    each = [posterior.log_density(k, points) for k in range(len(posterior.kernels))]
    logs = np.stack([log_density for log_density, _ in each])
    weights = np.exp(logs - logs.max())
    return points, weights / weights.sum(), np.stack([rate for _, rate in each])


@pytest.mark.parametrize(("n", "seed"), [(4, 0), (8, 4), (20, 2)])
def test_samples_are_of_the_posterior(n: int, seed: int) -> None:
    """Means and deviations of the logs, probabilities of kernels, mean of log s^2: against sums over a dense grid."""
    posterior = HyperPosterior(observed(n, 1, seed), KERNELS)
    points, weights, rates = on_a_grid(posterior)
    found = posterior.sample(4000, np.random.default_rng(seed), proposals=8000)
    assert found.pareto_shape < 0.7
    marginal = weights.sum(axis=0)
    mean = marginal @ points
    deviation = np.sqrt(marginal @ (points - mean) ** 2)
    logs = np.stack([np.log(found.lengthscales[:, 0]), np.log(found.noise_variance / found.variance)], axis=1)
    np.testing.assert_allclose(logs.mean(axis=0), mean, atol=0.08 * deviation.max())
    np.testing.assert_allclose(logs.std(axis=0), deviation, rtol=0.08)
    np.testing.assert_allclose(found.probabilities, weights.sum(axis=1), atol=0.04)
    shape = 1.0 + (n - 1) / 2
    expected = float((weights * (np.log(rates) - digamma(shape))).sum())
    assert np.log(found.variance).mean() == pytest.approx(expected, abs=0.08)


def test_a_second_mode_is_found() -> None:
    """Values without any pattern are noise or a rough f: both explanations are among few proposals, as often as due."""
    rng = np.random.default_rng(0)
    posterior = HyperPosterior(Observations.merge(rng.random((8, 1)), rng.standard_normal(8)), KERNELS)
    points, weights, _ = on_a_grid(posterior)
    noisy = float(weights[:, points[:, 1] > -1.0].sum())
    assert 0.1 < noisy < 0.9
    found = [posterior.sample(64, np.random.default_rng(seed)) for seed in range(20)]
    share = np.mean([(np.log(one.noise_variance / one.variance) > -1.0).mean() for one in found])
    assert share == pytest.approx(noisy, abs=0.08)


def test_the_same_generator_gives_the_same_samples() -> None:
    data = observed(12, 3)
    one, other = (HyperPosterior(data, KERNELS).sample(8, np.random.default_rng(5)) for _ in range(2))
    for name in ("kernel", "lengthscales", "variance", "noise_variance", "probabilities"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_groups_share_a_length_scale() -> None:
    data = observed(10, 3)
    tied = HyperPosterior(data, KERNELS, groups=(0, 1, 1))
    free = HyperPosterior(data, KERNELS)
    point = parameters_near(tied, 8)[0]
    spread = np.append(point[[0, 1, 1]], point[2])

    def without_prior(posterior: HyperPosterior, at: Array) -> float:
        away = at - posterior._mean
        return float(posterior.log_density(2, at[None, :])[0][0] + 0.5 * away @ posterior._prior_precision @ away)

    assert without_prior(tied, point) == pytest.approx(without_prior(free, spread), rel=1e-9)
    assert tied.names == ("lengthscale[0]", "lengthscale[1]", "noise_ratio")


def test_numbers_share_a_shift_and_choices_another() -> None:
    priors = HyperPriors(
        LogNormal(-1.0, 0.5),
        common_lengthscale=2.0,
        noise_ratio=LogNormal(-3.0, 2.0),
        separate_lengthscales=(1, 3),
        choice_lengthscale=LogNormal(0.25, 1.5),
    )
    mean, covariance = priors.normal(4, noise=True)
    assert mean.tolist() == [-1.0, 0.25, -1.0, 0.25, -3.0]
    wanted = np.array([[4.25, 0, 4, 0, 0], [0, 6.25, 0, 4, 0], [4, 0, 4.25, 0, 0], [0, 4, 0, 6.25, 0], [0, 0, 0, 0, 4]])
    np.testing.assert_allclose(covariance, wanted, rtol=1e-12)


def test_few_of_many_switches_are_found_from_fifty_values() -> None:
    """Twenty switches of which three matter, noise of .3: a length-scale that each learns alone says nothing."""
    rng, away = np.random.default_rng(3), []
    for share in (True, False):
        u = (rng.random((1050, 20)) > 0.5) * 1.0
        f = u[:, 2] - 0.8 * u[:, 7] + 0.6 * u[:, 11]
        f = (f - f.mean()) / f.std()
        priors = HyperPriors(separate_lengthscales=tuple(range(20))) if share else HyperPriors(common_lengthscale=0.0)
        data = Observations.merge(u[:50], f[:50] + 0.3 * rng.standard_normal(50))
        found = HyperPosterior(data, KERNELS, priors=priors).sample(12, np.random.default_rng(0))
        ensemble = Ensemble.of_samples(data, KERNELS, found, list(range(20)))
        away.append(float(np.sqrt(np.mean((ensemble.predict(u[50:]).mean.mean(axis=0) - f[50:]) ** 2))))
    assert away[0] < 0.4
    assert away[1] > 0.8


def test_points_that_coincide_under_long_length_scales_are_no_error() -> None:
    """A is singular for the squared exponential without noise: such parameters have density 0."""
    x = np.linspace(0, 1e-7, 6)[:, None]
    posterior = HyperPosterior(Observations.merge(x, np.arange(6.0)), [SquaredExponential(1.0)])
    found = posterior.sample(8, np.random.default_rng(0))
    assert np.isfinite(found.variance).all()
    assert (found.noise_variance > 0).all()


def test_one_observation_leaves_the_prior() -> None:
    found = HyperPosterior(Observations.merge([[0.5]], [3.0]), [KERNELS[2]]).sample(
        4000, np.random.default_rng(1), proposals=8000
    )
    logs, prior = np.log(found.noise_variance / found.variance), HyperPriors().noise_ratio
    assert logs.mean() == pytest.approx(prior.mean, abs=0.15)
    assert logs.std() == pytest.approx(prior.sd, abs=0.15)


@pytest.mark.parametrize("shape", [0.2, 0.7, 1.2])
def test_the_shape_of_a_known_tail_is_found(shape: float) -> None:
    weights = genpareto(shape).rvs(20_000, random_state=np.random.default_rng(2))
    smoothed, found = pareto_smooth(np.log(weights))
    assert found == pytest.approx(shape, abs=0.12)
    assert smoothed.max() <= 0
    np.testing.assert_array_equal(
        np.argsort(smoothed, kind="stable")[:-500], np.argsort(np.log(weights), kind="stable")[:-500]
    )


def test_equal_weights_stay_equal() -> None:
    smoothed, shape = pareto_smooth(np.zeros(100))
    assert smoothed.tolist() == [0.0] * 100
    assert shape == -np.inf
    assert pareto_smooth(np.array([0.0, 1.0, -np.inf]))[1] == np.inf


def test_bad_input_is_refused() -> None:
    data = observed(4, 2)
    with pytest.raises(InvalidInput, match="kernels: expected at least one"):
        HyperPosterior(data, [])
    with pytest.raises(InvalidInput, match="groups: expected 2 numbers that count 0, 1"):
        HyperPosterior(data, KERNELS, groups=(0, 2))
    with pytest.raises(InvalidInput, match="data: expected at least one observation"):
        HyperPosterior(data.subset(np.array([], dtype=np.intp)), KERNELS)
    with pytest.raises(InvalidInput, match="count: expected a whole number >= 1, got 0"):
        HyperPosterior(data, KERNELS).sample(0, np.random.default_rng(0))


# --- what proposals rest on


@pytest.mark.parametrize("kernel", range(4))
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_the_information_is_that_of_all_measurements_with_the_amplitude_eliminated(kernel: int, power: float) -> None:
    """The Fisher information of length-scales, rho and log s^2, by dense algebra, and its Schur complement."""
    rng = np.random.default_rng(9)
    x = np.repeat(rng.random((4, 2)), [3, 1, 2, 1], axis=0)
    n, priors = len(x), HyperPriors(shape=1.7)
    posterior = HyperPosterior(Observations.merge(x, rng.standard_normal(n)), KERNELS, priors=priors, power=power)
    point = parameters_near(posterior, 3)[0]
    theta, rho = np.exp(point[:2]), float(np.exp(point[2]))

    def covariance(logs: Array) -> Array:
        h = np.sqrt((((x[:, None] - x[None]) / np.exp(logs[:2])) ** 2).sum(axis=2))
        return np.asarray(np.exp(logs[3]) * (KERNELS[kernel].profile(h) + np.exp(logs[2]) * np.eye(n)))

    full = power * fisher(covariance, np.append(np.log([*theta, rho]), 0.0))
    full[3, 3] += 1.7  # of the inverse gamma, in log s^2
    wanted = full[:3, :3] - np.outer(full[:3, 3], full[3, :3]) / full[3, 3] + posterior._prior_precision
    np.testing.assert_allclose(posterior.information(kernel, point), wanted, rtol=1e-4)


def test_the_information_with_known_variances_is_about_the_amplitude_too() -> None:
    rng = np.random.default_rng(10)
    x, v = rng.random((6, 1)), rng.uniform(0.02, 0.3, 6)
    data = Observations.merge(x, rng.standard_normal(6), v) + Observations.merge(
        np.repeat(x[:2], 2, axis=0), rng.standard_normal(4)
    )
    posterior = HyperPosterior(data, KERNELS, priors=HyperPriors(shape=1.3))
    point = parameters_near(posterior, 4)[0]
    every = np.vstack([x, np.repeat(x[:2], 2, axis=0)])

    def covariance(logs: Array) -> Array:
        K = KERNELS[1].profile(np.abs(every - every.T) / np.exp(logs[0]))
        return np.asarray(
            np.exp(2 * logs[2]) * (K + np.exp(logs[1]) * np.diag([0.0] * 6 + [1.0] * 4)) + np.diag([*v, *[0.0] * 4])
        )

    wanted = fisher(covariance, point)
    wanted[:2, :2] += posterior._prior_precision
    wanted[2, 2] += 4 * 1.3
    np.testing.assert_allclose(posterior.information(1, point), wanted, rtol=1e-4)


def fisher(covariance: Callable[[Array], Array], logs: Array) -> Array:
    """tr(C^-1 dC C^-1 dC) / 2 by finite differences of a covariance matrix."""
    inverse = np.linalg.inv(covariance(logs))
    parts = [inverse @ (covariance(logs + h) - covariance(logs - h)) / 2e-5 for h in 1e-5 * np.eye(len(logs))]
    return np.array([[0.5 * np.trace(one @ other) for other in parts] for one in parts])


@pytest.mark.parametrize("kernel", range(4))
def test_laplaces_evidence_is_near_the_integral(kernel: int) -> None:
    """Of the density of one length-scale, where values are exact, by quadrature: up to the constant it leaves out.

    It takes the expected information for the curvature, and what is decided by it are differences of ten.
    """
    x = np.random.default_rng(2).random((12, 1))
    posterior = HyperPosterior(Observations.merge(x, np.sin(7 * x[:, 0]), 0.0), KERNELS)
    assert posterior.names == ("lengthscale[0]",)
    grid = np.linspace(-6, 4, 4001)
    logs = posterior.log_density(kernel, grid[:, None])[0]
    wanted = logs.max() + log(np.exp(logs - logs.max()).sum() * (grid[1] - grid[0]))
    assert posterior.laplace(kernel) + 0.5 * log(2 * pi) == pytest.approx(wanted, abs=0.8)


@pytest.mark.parametrize("kernel", range(4))
def test_the_mode_is_a_maximum(kernel: int) -> None:
    posterior = HyperPosterior(observed(12, 2, 4), KERNELS)
    start = posterior._mean + 2.0
    mode, height = posterior.mode(kernel, [start, posterior._mean])
    assert height == pytest.approx(posterior.log_density(kernel, mode[None, :])[0][0], rel=1e-9)
    around = mode + 0.5 * np.random.default_rng(0).standard_normal((200, len(mode)))
    assert posterior.log_density(kernel, around)[0].max() < height + 0.02
    assert height > posterior.log_density(kernel, start[None, :])[0][0] + 1


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_points_that_nearly_coincide_and_values_of_any_size_have_a_density(size: float) -> None:
    """The matrix is as good as singular, and y' A^-1 y as large as it gets."""
    x = np.append(np.linspace(0, 1e-8, 30), 1.0)[:, None]
    posterior = HyperPosterior(Observations.merge(x, size * np.arange(31) % 2, 1e-30), [SquaredExponential(1.0)])
    points = np.array([[4.0, 0.0], [-4.0, 2.0], [0.0, -3.0]])
    found, rate = posterior.log_density(0, points)
    assert np.isfinite(found).all()
    assert np.isfinite(rate).all()
    for value, point in zip(found, points, strict=True):
        assert posterior.value_and_gradient(0, point)[0] == pytest.approx(value, rel=1e-4)


def test_proposals_are_near_the_posterior() -> None:
    """Of 160 proposals, 40 of which come from the prior, most count; more samples than that are no more than that."""
    posterior = HyperPosterior(observed(30, 2, 1), KERNELS)
    found = [posterior.sample(16, np.random.default_rng(seed)) for seed in range(9)]
    assert 60 < np.median([one.effective for one in found]) < 150
    assert np.median([one.pareto_shape for one in found]) < 0.7


def test_every_kernel_is_tried() -> None:
    """A kernel that explains nothing has a few proposals, and a probability of nearly nothing."""
    x = np.linspace(0, 1, 40)[:, None]
    posterior = HyperPosterior(Observations.merge(x, np.sin(6 * x[:, 0])), KERNELS)
    counted: list[int] = []
    propose = posterior._propose

    def spy(kernel: int, shapes: list[_Proposals], count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        counted.append(count)
        return propose(kernel, shapes, count, rng)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posterior, "_propose", spy)
        found = posterior.sample(8, np.random.default_rng(0))
    assert min(counted) == 4
    assert 150 <= sum(counted) <= 170
    assert found.probabilities[0] < 1e-6


def test_the_prior_among_proposals_has_its_own_density() -> None:
    """The weight of a proposal from the prior is the density of the posterior divided by that of the prior."""
    posterior = HyperPosterior(Observations.merge([[0.5]], [1.0]), [KERNELS[2]])
    shapes = posterior._shapes_of(0)
    parameters, logs, _ = posterior._propose(0, shapes, 1, np.random.default_rng(3))  # one proposal is the prior's
    value = posterior.log_density(0, parameters)[0]
    away = parameters[0] - posterior._mean
    log_prior = -0.5 * (away @ np.linalg.solve(posterior._covariance, away))
    log_prior -= 0.5 * np.linalg.slogdet(2 * pi * posterior._covariance)[1]
    assert logs[0] == pytest.approx(float(value[0] - log_prior), rel=1e-9)


def test_priors_take_numbers_of_numpy_and_refuse_what_is_none() -> None:
    assert repr(HyperPriors(shape=np.float64(2.0)).shape) == "2.0"
    assert repr(Priors(common_lengthscale=np.float64(0.5)).common_lengthscale) == "0.5"
    with pytest.raises(InvalidInput, match="shape: expected"):
        HyperPriors(shape=-1.0)
    with pytest.raises(InvalidInput, match="rate: expected"):
        HyperPriors(rate=0.0)
    with pytest.raises(InvalidInput, match="common_lengthscale: expected"):
        HyperPriors(common_lengthscale=-1.0)


def test_proposals_of_an_amplitude_lie_around_that_of_the_prior() -> None:
    """Where it is a parameter: around s^2 = b / a, whose log has the standard deviation 4."""
    posterior = HyperPosterior(observed(5, 1, known=5), KERNELS, priors=HyperPriors(shape=2.0, rate=8.0))
    assert posterior.names == ("lengthscale[0]", "amplitude")
    assert posterior._mean[-1] == pytest.approx(log(2.0))
    assert posterior._covariance[-1, -1] == 4.0
    found = posterior.sample(16, np.random.default_rng(0))
    assert found.noise_variance.tolist() == [0.0] * 16
    assert np.ptp(np.log(found.variance)) > 0.5


@pytest.mark.parametrize(("repeats", "known"), [(0, 0), (6, 0), (4, 3)])
def test_noise_is_drawn_from_the_whole_likelihood_given_length_scales(repeats: int, known: int) -> None:
    """Of a tempered posterior: the density of rho on the grid is that of `log_density`, and draws have its quantiles.

    Where variances are known the amplitude stays as the tempered posterior has it, and rho is drawn given both.
    """
    data = observed(12, 1, repeats=repeats, known=known)
    whole = HyperPosterior(data, KERNELS)
    (parameters,) = parameters_near(whole, 3)
    fine = np.linspace(whole._mean[1] - 16, whole._mean[1] + 16, 4001)
    for kernel in range(len(KERNELS)):
        points = np.tile(parameters, (len(fine), 1))
        points[:, 1] = fine
        wanted, rates = whole.log_density(kernel, points)
        numbers = np.full(1, kernel)
        spectra = whole._noise_spectra(numbers, parameters[None])
        found, found_rates = whole._along_noise(spectra, parameters[None], fine[None])
        near = wanted > wanted.max() - 30
        np.testing.assert_allclose(found[0][near], wanted[near], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found_rates[0][near], rates[near], rtol=1e-6)
        below = np.cumsum(np.exp(wanted - wanted.max()))
        many = np.tile(parameters, (2000, 1))
        ratio, rate = whole._draw_noise(np.full(2000, kernel), many, np.random.default_rng(0))
        places = np.interp(np.log(ratio), fine, below / below[-1])
        assert kstest(places, "uniform").pvalue > 1e-3
        np.testing.assert_allclose(rate, np.interp(np.log(ratio), fine, rates), rtol=2e-2)


def test_a_tempered_posterior_knows_the_noise() -> None:
    """Forty values around a line with a noise of .3: however little the likelihood counts, the noise is found."""
    rng = np.random.default_rng(0)
    x = rng.random((40, 1))
    data = Observations.merge(x, 3 * x[:, 0] + 0.3 * rng.standard_normal(40))
    found = HyperPosterior(data, KERNELS, power=0.1).sample(400, np.random.default_rng(0))
    usual = HyperPosterior(data, KERNELS).sample(400, np.random.default_rng(0))
    spread = [float(np.log(one.lengthscales).std()) for one in (found, usual)]
    assert spread[0] > 1.2 * spread[1]
    assert np.median(np.sqrt(found.noise_variance)) == pytest.approx(0.3, rel=0.2)
    assert np.log(found.noise_variance).std() < 0.6


def test_a_tempered_posterior_is_less_sure_and_nothing_tempers_more_than_all() -> None:
    data = observed(20, 1)
    sure, less, least = (
        HyperPosterior(data, KERNELS, power=power).sample(2000, np.random.default_rng(0)) for power in (1.0, 0.3, 1e-6)
    )
    spread = [float(np.log(one.lengthscales).std()) for one in (sure, less, least)]
    assert spread[0] < spread[1] < spread[2]
    priors = HyperPriors()
    assert spread[2] == pytest.approx(sqrt(priors.lengthscale.sd**2 + priors.common_lengthscale**2), rel=0.1)
    assert HyperPosterior(data, KERNELS, power=0.3).of(data).power == 0.3
    for wrong in (0.0, 1.5, float("nan")):
        with pytest.raises(InvalidInput, match="power"):
            HyperPosterior(data, KERNELS, power=wrong)
