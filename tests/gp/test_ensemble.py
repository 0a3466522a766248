"""An ensemble against one Gaussian process for each setting, against finite differences, and on hard designs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess, HyperSamples, LogPosterior, Observations
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction, _inverse_factor
from quadrat.kernels import Matern, Tied

RNG = np.random.default_rng(12)
X = RNG.random((14, 2))
Y = 3 + 2 * np.sin(5 * X[:, 0]) + X[:, 1]
AGAIN = np.array([0, 0, 0, 3, 3, 7])  # points that were measured more than once
QUERY = RNG.random((6, 2))
KERNEL = Matern(2.5, (0.3, 0.8))
# Raw measurements: points, values, and noise variances, NaN where these are to be learned.
UNKNOWN = (X, Y, np.full(14, np.nan))
REPLICATED = (np.vstack([X, X[AGAIN]]), np.append(Y, Y[AGAIN] + 0.1 * RNG.normal(size=6)), np.full(20, np.nan))
KNOWN = (REPLICATED[0], REPLICATED[1], RNG.uniform(0.01, 0.2, 20))
MIXED = (REPLICATED[0], REPLICATED[1], np.where(np.arange(20) % 3 == 0, KNOWN[2], np.nan))
RAW = {"unknown": UNKNOWN, "replicated": REPLICATED, "known": KNOWN, "mixed": MIXED}


def merged(x: Array, y: Array, v: Array) -> Observations:
    known = ~np.isnan(v)
    parts = [Observations.merge(x[~known], y[~known])] if not known.all() else []
    parts += [Observations.merge(x[known], y[known], v[known])] if known.any() else []
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def settings_of(objective: LogPosterior, count: int = 3) -> Array:
    return objective.start() + 0.3 * np.random.default_rng(0).normal(size=(count, len(objective.names)))


def oracles(objective: LogPosterior, settings: Array, raw: tuple[Array, Array, Array]) -> Iterator[GaussianProcess]:
    """For each setting, the process that saw the raw measurements one by one; its mean by generalised least squares."""
    x, y, v = raw
    standard = (y - objective.shift) / objective.scale
    for parameters in settings:
        kernel, noise = objective.split(parameters)
        variances = np.where(np.isnan(v), noise, v / objective.scale**2)
        A = kernel(x) + np.diag(variances)
        ones = np.ones(len(x))
        gls = (ones @ np.linalg.solve(A, standard)) / (ones @ np.linalg.solve(A, ones))
        mean = float(gls) if objective.fixed_mean is None else objective.fixed_mean
        gp = GaussianProcess(kernel, noise_variance=noise, mean=mean)
        gp.add(x, standard, variances)
        yield gp


@pytest.fixture(params=list(RAW))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("mean", [None, 2.5])
def test_every_member_is_the_process_with_its_setting(name: str, mean: float | None) -> None:
    """Means and deviations equal those of raw, unmerged measurements, with the mean profiled out or known."""
    objective = LogPosterior(KERNEL, merged(*RAW[name]), mean=mean)
    settings = settings_of(objective)
    ensemble = Ensemble(objective, settings)
    assert len(ensemble) == 3
    assert ensemble.dimension == 2
    at = ensemble.predict(QUERY)
    joint_mean, joint = ensemble.covariances(QUERY)
    for i, gp in enumerate(oracles(objective, settings, RAW[name])):
        wanted = gp.predict(QUERY)
        np.testing.assert_allclose(at.mean[i], wanted.mean, atol=1e-9)
        np.testing.assert_allclose(at.deviation[i], wanted.deviation, atol=1e-9)
        np.testing.assert_allclose(joint_mean[i], wanted.mean, atol=1e-9)
        np.testing.assert_allclose(joint[i], gp.covariance(QUERY), atol=1e-9)
    np.testing.assert_allclose(np.diagonal(joint, axis1=1, axis2=2), at.deviation**2, atol=1e-10)


def test_a_known_noise_variance_and_raw_units_are_kept() -> None:
    objective = LogPosterior(KERNEL, merged(*UNKNOWN), noise_variance=0.04, standardise=False)
    settings = settings_of(objective)
    at = Ensemble(objective, settings).predict(QUERY)
    for i, gp in enumerate(oracles(objective, settings, UNKNOWN)):
        np.testing.assert_allclose(at.mean[i], gp.predict(QUERY).mean, atol=1e-9)
        assert gp.noise_variance == 0.04


def test_the_mean_of_a_member_is_the_mean_of_the_fit() -> None:
    objective = LogPosterior(KERNEL, merged(*MIXED))
    settings = settings_of(objective)
    far = np.full((1, 2), 1e6)  # so far from all points that nothing is left but the constant
    constants = [objective.evaluate(parameters)[2] for parameters in settings]
    np.testing.assert_allclose(Ensemble(objective, settings).predict(far).mean[:, 0], constants, atol=1e-9)


@pytest.mark.parametrize("kernel", [KERNEL, Matern(1.5, 0.4), Tied(Matern(2.5, (0.5, 0.5)), (0, 0))], ids=repr)
@pytest.mark.parametrize("pending", [0, 3])
def test_gradients_equal_finite_differences(kernel: Matern, pending: int) -> None:
    objective = LogPosterior(kernel, merged(*REPLICATED))
    ensemble = Ensemble(objective, settings_of(objective)).believing(np.random.default_rng(1).random((pending, 2)))
    exact, plain = ensemble.predict_with_gradients(QUERY), ensemble.predict(QUERY)
    np.testing.assert_allclose(exact.mean, plain.mean, atol=1e-11)
    np.testing.assert_allclose(exact.deviation, plain.deviation, atol=1e-11)
    assert exact.mean_gradient is not None
    assert exact.deviation_gradient is not None
    for axis in range(2):
        step = np.zeros(2)
        step[axis] = 1e-6
        up, down = ensemble.predict(QUERY + step), ensemble.predict(QUERY - step)
        np.testing.assert_allclose(exact.mean_gradient[..., axis], (up.mean - down.mean) / 2e-6, atol=2e-6)
        np.testing.assert_allclose(
            exact.deviation_gradient[..., axis], (up.deviation - down.deviation) / 2e-6, rtol=1e-4, atol=1e-5
        )


def test_believing_is_observing_each_members_own_mean_without_noise(name: str) -> None:
    """Against pending points of the process, and against the process told its own mean; means stay."""
    objective = LogPosterior(KERNEL, merged(*RAW[name]))
    settings = settings_of(objective)
    ensemble = Ensemble(objective, settings)
    points = np.random.default_rng(2).random((3, 2))
    before, believed = ensemble.predict(QUERY), ensemble.believing(points)
    at, there = believed.predict(QUERY), believed.predict(points)
    for i, gp in enumerate(oracles(objective, settings, RAW[name])):
        with gp.pending(points, 0.0):
            np.testing.assert_allclose(at.deviation[i], gp.predict(QUERY).deviation, atol=1e-8)
        own = gp.predict_mean(points)
        gp.add(points, own, 0.0)
        np.testing.assert_allclose(at.mean[i], gp.predict(QUERY).mean, atol=1e-8)
        np.testing.assert_allclose(at.deviation[i], gp.predict(QUERY).deviation, atol=1e-8)
        np.testing.assert_allclose(there.mean[i], own, atol=1e-8)
    np.testing.assert_allclose(at.mean, before.mean, atol=1e-12)
    assert (at.deviation <= before.deviation + 1e-9).all()
    assert there.deviation.max() < 1e-4
    np.testing.assert_array_equal(ensemble.predict(QUERY).deviation, before.deviation, "the original is as it was")


def test_believing_in_turn_is_believing_at_once() -> None:
    objective = LogPosterior(KERNEL, merged(*REPLICATED))
    ensemble = Ensemble(objective, settings_of(objective))
    points = np.random.default_rng(3).random((4, 2))
    in_turn = ensemble.believing(points[:1]).believing(points[1:3]).believing(points[3:])
    at_once = ensemble.believing(points)
    np.testing.assert_allclose(in_turn.predict(QUERY).deviation, at_once.predict(QUERY).deviation, atol=1e-8)
    np.testing.assert_allclose(in_turn.covariances(QUERY)[1], at_once.covariances(QUERY)[1], atol=1e-8)
    assert ensemble.believing(np.empty((0, 2))) is ensemble


def test_the_mixture_has_the_moments_of_its_members() -> None:
    """E f = E m and E f^2 = E (m^2 + s^2), over settings."""
    mean, deviation = RNG.normal(size=(4, 5)), RNG.uniform(0.1, 2, (4, 5))
    got_mean, got_deviation = EnsemblePrediction(mean, deviation).mixture()
    np.testing.assert_allclose(got_mean, mean.mean(axis=0))
    np.testing.assert_allclose(got_deviation**2 + got_mean**2, (mean**2 + deviation**2).mean(axis=0))


def test_wider_means_larger_deviations_with_their_slopes_and_nothing_else() -> None:
    """Values and slopes of the same function, times a factor; without slopes, none come."""
    rng = np.random.default_rng(0)
    mean, deviation, up, along = rng.random((2, 3)), rng.random((2, 3)), rng.random((2, 3, 2)), rng.random((2, 3, 2))
    wider = EnsemblePrediction(mean, deviation, up, along).wider(1.5)
    np.testing.assert_array_equal(wider.mean, mean)
    np.testing.assert_array_equal(wider.deviation, 1.5 * deviation)
    np.testing.assert_array_equal(wider.mean_gradient, up)
    np.testing.assert_array_equal(wider.deviation_gradient, 1.5 * along)
    assert EnsemblePrediction(mean, deviation).wider(1.5).deviation_gradient is None


def test_a_kernel_that_is_no_function_of_one_distance_is_refused() -> None:
    objective = LogPosterior(Matern(2.5, (0.3, 0.8)) + Matern(0.5, (0.3, 0.8)), merged(*UNKNOWN))
    with pytest.raises(InvalidInput, match="expected one of a scaled distance alone"):
        Ensemble(objective, [objective.start()])


@pytest.mark.parametrize("variance", [0.0, 1e-12, 1e-4])
def test_hard_designs_work(variance: float) -> None:
    """Known variances of (nearly) 0 at points 1e-9 and 1e-12 apart; beliefs at observed points and twice at one."""
    base = X[:6]
    design = np.vstack([base, base + 1e-9, base[:2], base + 1e-12])
    y = np.sin(5 * design[:, 0])
    objective = LogPosterior(KERNEL, Observations.merge(design, y, variance))
    ensemble = Ensemble(objective, settings_of(objective))
    means = objective.shift + objective.scale * ensemble.predict(design).mean
    np.testing.assert_allclose(means, np.tile(y, (3, 1)), atol=1e-3)
    places = np.vstack([base, QUERY])
    for other in (ensemble, ensemble.believing(np.vstack([design, QUERY, QUERY, QUERY[:1] + 1e-10]))):
        at = other.predict_with_gradients(places)
        assert at.mean_gradient is not None
        assert at.deviation_gradient is not None
        for part in (at.mean, at.deviation, at.mean_gradient, at.deviation_gradient, *other.covariances(places)):
            assert np.isfinite(part).all()
        assert (at.deviation > 0).all(), "logarithms of it are taken"


def test_deviations_stay_positive_under_many_replicates() -> None:
    objective = LogPosterior(Matern(2.5, 0.5), Observations.merge([[0.5]] * 1000, np.arange(1000.0) % 2))
    setting = objective.start()
    setting[-1] = np.log(1e-8)
    assert Ensemble(objective, [setting]).predict([[0.5]]).deviation[0, 0] > 0


def test_one_observation_is_its_own_mean() -> None:
    objective = LogPosterior(Matern(2.5, 0.3), Observations.merge([[0.4]], [7.0]))
    at = Ensemble(objective, [objective.start()]).predict([[0.4], [0.9]])
    np.testing.assert_allclose(objective.shift + objective.scale * at.mean, 7.0)
    assert at.deviation[0, 0] < at.deviation[0, 1]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda objective: Ensemble(objective, [[0.0, 0.0]]), ["settings", "4 columns"]),
        (lambda objective: Ensemble(objective, [[0.0, 0.0, 0.0, np.nan]]), ["settings", "nan"]),
        (lambda objective: Ensemble(objective, [objective.start()]).predict(X[:, :1]), ["Z", "2 columns"]),
        (lambda objective: Ensemble(objective, [objective.start()]).predict([[0.0, np.inf]]), ["Z", "finite"]),
        (lambda objective: Ensemble(objective, [objective.start()]).covariances([[0.1]]), ["Z", "2 columns"]),
        (lambda objective: Ensemble(objective, [objective.start()]).predict_with_gradients("a"), ["Z"]),
    ],
)
def test_bad_input_says_what_was_expected_and_what_came(act: object, words: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        act(LogPosterior(KERNEL, merged(*UNKNOWN)))  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value)


def test_the_log_of_an_average_is_that_of_a_product_over_settings_also_where_it_underflows() -> None:
    logs = np.array([[-0.3, -800.0], [0.2, -801.0], [-1.0, -5000.0]])
    more = np.array([[0.1, -3.0], [-0.4, -2.0], [0.5, -1.0]])
    at = EnsemblePrediction(logs, np.ones_like(logs))
    value, terms, total = at.log_average(logs, more)
    plain = np.exp(logs[:, 0] + more[:, 0])
    assert value[0] == pytest.approx(np.log(plain.mean()))
    np.testing.assert_allclose(terms[:, 0] / total[0], plain / plain.sum())
    assert value[1] == pytest.approx(-803 + np.log(2 / 3))
    np.testing.assert_allclose(terms[:, 1] / total[1], [0.5, 0.5, 0.0], atol=1e-12)


def test_a_matrix_that_has_a_factor_gets_no_jitter() -> None:
    K = Matern(0.5, 0.2)(X)
    half = _inverse_factor(K, np.full(len(X), 0.3), 1.0)
    np.testing.assert_allclose(half @ (K + 0.3 * np.eye(len(X))) @ half.T, np.eye(len(X)), atol=1e-13)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("negative", "jitter"), [(0.0, 1e-9), (3e-9, 1e-8), (3e-8, 1e-7)])
def test_jitter_is_the_least_power_of_ten_that_makes_a_factor(scale: float, negative: float, jitter: float) -> None:
    """[[1, 1 + n], [1 + n, 1]] has the eigenvalue -n; jitter grows tenfold from 1e-9 of the scale."""
    A = scale * np.array([[1.0, 1.0 + negative], [1.0 + negative, 1.0]])
    L = np.linalg.inv(_inverse_factor(A, np.zeros(2), scale))
    np.testing.assert_allclose(L @ L.T, A + jitter * scale * np.eye(2), rtol=1e-10)


# --- samples of the posterior of hyper-parameters: kernels mixed, the mean uncertain

SAMPLED = (Matern(0.5, 1.0), Matern(2.5, 1.0))


def sampled() -> HyperSamples:
    """Five samples over the three columns of `GROUPED`, not in the order of their kernels."""
    rng = np.random.default_rng(5)
    return HyperSamples(
        np.array([1, 0, 1, 1, 0]),
        rng.uniform(0.2, 1.5, (5, 2)),
        rng.uniform(0.5, 3.0, 5),
        rng.uniform(0.01, 0.5, 5),
        np.array([0.4, 0.6]),
        50.0,
        0.1,
    )


GROUPED = np.hstack([X, RNG.random((14, 1))])
GROUPS = (0, 1, 1)
DATA = Observations.merge(np.vstack([GROUPED, GROUPED[AGAIN]]), REPLICATED[1])
AT = RNG.random((6, 3))


def with_a_wide_mean(data: Observations, points: Array) -> tuple[Array, Array]:
    """Joint mean (M, m) and covariance (M, m, m) by dense algebra, the mean being normal with variance 1e7."""
    samples, means, covariances = sampled(), [], []
    for i in np.argsort(samples.kernel, kind="stable"):
        theta = samples.lengthscales[i][list(GROUPS)]
        every = np.vstack([data.x, points])
        h = np.sqrt((((every[:, None] - every[None]) / theta) ** 2).sum(axis=2))
        K = samples.variance[i] * SAMPLED[samples.kernel[i]].profile(h) + 1e7
        n = len(data)
        A = K[:n, :n] + np.diag(data.noise_variance(samples.noise_variance[i]))
        means.append(K[n:, :n] @ np.linalg.solve(A, data.y))
        covariances.append(K[n:, n:] - K[n:, :n] @ np.linalg.solve(A, K[:n, n:]))
    return np.array(means), np.array(covariances)


def test_the_mean_is_as_uncertain_as_one_with_a_flat_prior() -> None:
    ensemble = Ensemble.of_samples(DATA, SAMPLED, sampled(), GROUPS)
    means, joints = with_a_wide_mean(DATA, AT)
    found = ensemble.predict(AT)
    np.testing.assert_allclose(found.mean, means, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.deviation**2, np.einsum("sii->si", joints), rtol=1e-4)
    joint_means, covariances = ensemble.covariances(AT)
    np.testing.assert_allclose(joint_means, means, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(covariances, joints, rtol=1e-4, atol=1e-5)


def test_gradients_with_an_uncertain_mean_are_those_of_finite_differences() -> None:
    ensemble = Ensemble.of_samples(DATA, SAMPLED, sampled(), GROUPS)
    found = ensemble.predict_with_gradients(AT)
    assert found.mean_gradient is not None
    assert found.deviation_gradient is not None
    for axis, step in enumerate(1e-6 * np.eye(3)):
        up, down = ensemble.predict(AT + step), ensemble.predict(AT - step)
        np.testing.assert_allclose(found.mean_gradient[:, :, axis], (up.mean - down.mean) / 2e-6, rtol=1e-4, atol=1e-5)
        slopes = (up.deviation - down.deviation) / 2e-6
        np.testing.assert_allclose(found.deviation_gradient[:, :, axis], slopes, rtol=1e-4, atol=1e-5)


def test_points_observed_at_their_means_tell_the_mean_too() -> None:
    ensemble = Ensemble.of_samples(DATA, SAMPLED, sampled(), GROUPS)
    pending, query = AT[:2], AT[2:]
    given = ensemble.believing(pending)
    _, joints = with_a_wide_mean(DATA, AT)
    wanted = [J[2:, 2:] - J[2:, :2] @ np.linalg.solve(J[:2, :2], J[:2, 2:]) for J in joints]
    np.testing.assert_allclose(given.covariances(query)[1], wanted, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(given.predict(query).mean, ensemble.predict(query).mean, rtol=1e-9)


def test_quantiles_are_those_of_the_mixture() -> None:
    rng = np.random.default_rng(3)
    at = EnsemblePrediction(rng.normal(size=(5, 4)), rng.uniform(0.1, 2.0, (5, 4)))
    levels = (0.05, 0.5, 0.9)
    draws = at.mean + at.deviation * rng.standard_normal((100_000, 5, 4))
    wanted = np.quantile(draws.reshape(-1, 4), levels, axis=0)
    np.testing.assert_allclose(at.quantiles(levels), wanted, atol=0.03)
    alone = EnsemblePrediction(np.array([[1.0]]), np.array([[2.0]]))
    assert alone.quantiles([0.95])[0, 0] == pytest.approx(1 + 2 * 1.6448536, rel=1e-7)


def test_correlations_are_those_of_the_prior_with_the_nearest_observation() -> None:
    objective = LogPosterior(KERNEL, Observations.merge(X, Y))
    settings = settings_of(objective)
    found = Ensemble(objective, settings).correlations(np.vstack([X[:2], QUERY]))
    for row, parameters in zip(found, settings, strict=True):
        kernel, _ = objective.split(parameters)
        wanted = [max(kernel([z], [x])[0, 0] for x in X) / kernel.variance for z in (*X[:2], *QUERY)]
        np.testing.assert_allclose(row, wanted, rtol=1e-12)
    np.testing.assert_allclose(found[:, :2], 1.0)


def test_draws_have_the_moments_of_the_joint_posterior() -> None:
    """Under each sample, at points told, at others, and at one point twice."""
    ensemble, points = Ensemble.of_samples(DATA, SAMPLED, sampled(), GROUPS), np.vstack([AT, GROUPED[:2], AT[:1]])
    np.testing.assert_array_equal(ensemble.noise_variance, sampled().noise_variance[[1, 4, 0, 2, 3]])
    means, joints = ensemble.covariances(points)
    drawn = ensemble.draws(points, 40_000, np.random.default_rng(0))
    assert drawn.shape == (5, len(points), 40_000)
    for f, mean, joint in zip(drawn, means, joints, strict=True):
        scale = np.sqrt(np.diagonal(joint))
        np.testing.assert_allclose((f.mean(axis=1) - mean) / scale, 0.0, atol=0.03)
        np.testing.assert_allclose(np.cov(f) / np.outer(scale, scale), joint / np.outer(scale, scale), atol=0.04)
        np.testing.assert_allclose(f[0], f[-1], atol=1e-3 * scale[0])
    np.testing.assert_array_equal(drawn, ensemble.draws(points, 40_000, np.random.default_rng(0)))


@pytest.mark.parametrize("kind", ["samples", "settings"])
def test_what_is_left_given_anchors_is_the_conditional_of_the_joint_posterior(kind: str) -> None:
    if kind == "samples":
        ensemble, known, points = (
            Ensemble.of_samples(DATA, SAMPLED, sampled(), GROUPS),
            AT[:3],
            np.vstack([AT[3:], GROUPED[:1]]),
        )
    else:
        objective = LogPosterior(KERNEL, merged(*UNKNOWN))
        ensemble, known, points = Ensemble(objective, settings_of(objective)), QUERY[:3], np.vstack([QUERY[3:], X[:1]])
    k = len(known)
    drawn, found, deviations = ensemble.anchored(known, points, 7, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, ensemble.draws(known, 7, np.random.default_rng(0)))
    assert found.shape == (len(ensemble), len(points), 7)
    for i, (mean, joint) in enumerate(zip(*ensemble.covariances(np.vstack([known, points])), strict=True)):
        weights = np.linalg.solve(joint[:k, :k], joint[:k, k:]).T
        wanted = mean[k:, None] + weights @ (drawn[i] - mean[:k, None])
        scale = np.sqrt(joint.diagonal().max())
        np.testing.assert_allclose(found[i] / scale, wanted / scale, atol=1e-7)
        variance = (joint[k:, k:] - weights @ joint[:k, k:]).diagonal()
        np.testing.assert_allclose(deviations[i] ** 2 / scale**2, np.maximum(variance, 0.0) / scale**2, atol=1e-9)


def test_anchors_that_are_one_point_say_no_more_than_there_is_to_know() -> None:
    """Of points that coincide, nearly or quite, and of exact observations: nothing is amplified."""
    rng = np.random.default_rng(0)
    x = rng.random((30, 2))
    data = Observations.merge(x, np.sin(4 * x[:, 0]), np.zeros(30))
    samples = HyperSamples(
        np.array([0, 1]), np.full((2, 2), 1.5), np.ones(2), np.zeros(2), np.array([0.5, 0.5]), 2.0, 0.0
    )
    ensemble = Ensemble.of_samples(data, (Matern(2.5, 1.0), Matern(1.5, 1.0)), samples, (0, 1))
    once = rng.random((4, 2))
    anchors = np.vstack([once, once, once + 1e-9, x[:3]])
    points = np.vstack([once + 1e-7, rng.random((200, 2)), x])
    drawn, mean, deviation = ensemble.anchored(anchors, points, 20, np.random.default_rng(1))
    alone = ensemble.predict(points)
    assert (np.abs(mean - alone.mean[:, :, None]) <= 5 * alone.deviation[:, :, None] + 1e-9).all()
    assert (deviation <= alone.deviation + 1e-12).all()
    np.testing.assert_allclose(mean[:, :4], drawn[:, :4], atol=1e-3)


def test_distances_of_choices_are_those_of_their_columns() -> None:
    """By brute force from differences of all columns; equal points are at distance 0 exactly."""
    rng, groups = np.random.default_rng(5), [0, 1, 1, 1, 2, 3, 3]

    def points(n: int) -> Array:
        found = np.zeros((n, 7))
        found[:, [0, 4]] = rng.random((n, 2))
        for first, levels in ((1, 3), (5, 2)):
            level = rng.integers(levels + 1, size=n)  # one more: does not exist
            there = np.flatnonzero(level < levels)
            found[there, first + level[there]] = np.sqrt(0.5)
        return found

    x, z = points(9), points(6)
    scales = np.exp(rng.normal(size=(4, 4)))
    kernels = (Matern(0.5, 1.0), Matern(2.5, 1.0))
    samples = HyperSamples(
        np.array([0, 0, 1, 1]), scales, np.ones(4), np.full(4, 0.1), np.full(2, 0.5), effective=4.0, pareto_shape=0.0
    )
    ensemble = Ensemble.of_samples(Observations.merge(x, rng.normal(size=9)), kernels, samples, groups)
    found = ensemble._distances(z, ensemble.x)
    for one, theta in zip(found, scales[:, groups], strict=True):
        wanted = np.sqrt((((z[:, None, :] - ensemble.x[None]) / theta) ** 2).sum(axis=2))
        np.testing.assert_allclose(one, wanted, rtol=1e-12, atol=1e-15)
    assert (np.diagonal(ensemble._distances(z, z), axis1=1, axis2=2) == 0).all()
