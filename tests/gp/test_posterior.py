"""The posterior against brute force, against scikit-learn, and under everything users do to it."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.gaussian_process as skgp
import sklearn.gaussian_process.kernels as sk
from hypothesis import given
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NumericalFailure
from quadrat.gp import GaussianProcess
from quadrat.kernels import Kernel, Matern, OnAxes, RationalQuadratic, SquaredExponential

RNG = np.random.default_rng(3)
X, Y, V = RNG.random((12, 2)), RNG.normal(size=12), RNG.uniform(0.01, 0.3, 12)
QUERY = RNG.random((6, 2))
KERNEL = Matern(2.5, (0.4, 0.7), amplitude=1.3)


def brute_force(kernel: Kernel, X: Array, y: Array, v: Array, query: Array, m: float = 0.0) -> tuple[Array, Array]:
    A = kernel(X) + np.diag(v)
    k = kernel(X, query)
    mean = m + k.T @ np.linalg.solve(A, y - m)
    return mean, np.sqrt(np.diag(kernel(query) - k.T @ np.linalg.solve(A, k)))


def log_density(kernel: Kernel, X: Array, y: Array, v: Array, m: float = 0.0) -> float:
    A = kernel(X) + np.diag(v)
    return float(-0.5 * ((y - m) @ np.linalg.solve(A, y - m) + np.linalg.slogdet(A)[1] + len(y) * np.log(2 * np.pi)))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_any_way_of_adding_gives_the_exact_posterior(sizes: list[int]) -> None:
    gp = GaussianProcess(KERNEL, noise_variance=1.0, mean=0.4)
    start = 0
    for k in sizes:
        stop = min(start + k, 12)
        gp.add(X[start:stop], Y[start:stop], V[start:stop])
        start = stop
    mean, deviation = brute_force(KERNEL, X[:start], Y[:start], V[:start], QUERY, 0.4)
    prediction = gp.predict(QUERY)
    np.testing.assert_allclose(prediction.mean, mean, atol=1e-11)
    np.testing.assert_allclose(prediction.deviation, deviation, atol=1e-11)
    np.testing.assert_allclose(gp.predict_mean(QUERY), mean, atol=1e-11)
    assert gp.log_evidence == pytest.approx(log_density(KERNEL, X[:start], Y[:start], V[:start], 0.4), abs=1e-9)


def test_posterior_equals_scikit_learn() -> None:
    theirs = skgp.GaussianProcessRegressor(
        sk.ConstantKernel(1.69) * sk.Matern([0.4, 0.7], nu=2.5), alpha=V, optimizer=None
    )
    theirs.fit(X, Y)
    mean, covariance = theirs.predict(QUERY, return_cov=True)
    ours = GaussianProcess(KERNEL, noise_variance=0.0)
    ours.add(X, Y, V)
    np.testing.assert_allclose(ours.predict(QUERY).mean, mean, atol=1e-10)
    np.testing.assert_allclose(ours.covariance(QUERY), covariance, atol=1e-10)
    np.testing.assert_allclose(ours.covariance(QUERY, QUERY[:2]), covariance[:, :2], atol=1e-10)
    assert ours.log_evidence == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        KERNEL,
        SquaredExponential(0.5),
        Matern(1.2, 0.5),
        RationalQuadratic(1.5, 0.4) + OnAxes(Matern(1.5, 0.3), [1]),
        Matern(2.5, 0.4) * SquaredExponential(1.0),
    ],
    ids=repr,
)
def test_gradients_equal_finite_differences(kernel: Kernel) -> None:
    gp = GaussianProcess(kernel, noise_variance=0.05)
    gp.add(X, Y)
    exact = gp.predict_with_gradients(QUERY)
    plain = gp.predict(QUERY)
    np.testing.assert_allclose(exact.mean, plain.mean, atol=1e-12)
    np.testing.assert_allclose(exact.deviation, plain.deviation, atol=1e-12)
    assert exact.mean_gradient is not None
    assert exact.deviation_gradient is not None
    for axis in range(2):
        step = np.zeros(2)
        step[axis] = 1e-6
        up, down = gp.predict(QUERY + step), gp.predict(QUERY - step)
        np.testing.assert_allclose(exact.mean_gradient[:, axis], (up.mean - down.mean) / 2e-6, atol=1e-6)
        np.testing.assert_allclose(exact.deviation_gradient[:, axis], (up.deviation - down.deviation) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("one_by_one", [True, False])
def test_replicates_are_merged_and_nothing_is_lost(one_by_one: bool) -> None:
    """Merged posterior, evidence, log-determinant and quadratic form equal those of the raw observations."""
    order = np.array([0, 1, 0, 2, 3, 1, 0, 4, 2, 0])
    raw_x, raw_y, raw_v = X[order], RNG.normal(size=10), RNG.uniform(0.05, 0.3, 10)
    gp = GaussianProcess(KERNEL, noise_variance=0.1, mean=0.2)
    if one_by_one:
        for x, y, v in zip(raw_x, raw_y, raw_v, strict=True):
            gp.add(x[None], y, v)
    else:
        gp.add(raw_x, raw_y, raw_v)
    assert len(gp) == 5
    assert gp.n_observations == 10
    np.testing.assert_array_equal(gp.counts, [4, 2, 2, 1, 1])
    mean, deviation = brute_force(KERNEL, raw_x, raw_y, raw_v, QUERY, 0.2)
    np.testing.assert_allclose(gp.predict(QUERY).mean, mean, atol=1e-10)
    np.testing.assert_allclose(gp.predict(QUERY).deviation, deviation, atol=1e-10)
    assert gp.log_evidence == pytest.approx(log_density(KERNEL, raw_x, raw_y, raw_v, 0.2), abs=1e-9)
    A = KERNEL(raw_x) + np.diag(raw_v)
    assert gp.logdet == pytest.approx(np.linalg.slogdet(A)[1] - np.log(raw_v).sum(), abs=1e-9)
    assert gp.quadratic_form == pytest.approx((raw_y - 0.2) @ np.linalg.solve(A, raw_y - 0.2), abs=1e-9)


def test_a_thousand_replicates_of_one_point_stay_accurate() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    gp.add(X[:3], Y[:3])
    values = RNG.normal(size=1000)
    for value in values:
        gp.add(X[1:2], value)
    merged = GaussianProcess(KERNEL, noise_variance=0.1)
    merged.add(X[:3], [Y[0], (Y[1] + values.sum()) / 1001, Y[2]], [0.1, 0.1 / 1001, 0.1])
    np.testing.assert_allclose(gp.predict(QUERY).mean, merged.predict(QUERY).mean, atol=1e-10)
    np.testing.assert_allclose(gp.predict(QUERY).deviation, merged.predict(QUERY).deviation, atol=1e-9)


def test_pending_points_shrink_deviations_leave_the_mean_and_undo_bit_for_bit() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    gp.add(X, Y)
    before, factor = gp.predict(QUERY), gp.cholesky.factor.copy()
    pending = np.vstack([QUERY[:2], X[:1]])  # one of them repeats an observed point
    with gp.pending(pending):
        inside = gp.predict(QUERY)
        with gp.pending(QUERY[3:4]):
            assert gp.predict(QUERY[3:4]).deviation < inside.deviation[3]
        np.testing.assert_array_equal(gp.predict(QUERY).deviation, inside.deviation)
        with pytest.raises(InvalidInput, match="pending"):
            gp.add(X[:1], 0.0)
    _, deviation = brute_force(KERNEL, np.vstack([X, pending]), np.zeros(15), np.full(15, 0.1), QUERY)
    np.testing.assert_allclose(inside.deviation, deviation, atol=1e-10)
    np.testing.assert_allclose(inside.mean, before.mean, atol=1e-12)
    np.testing.assert_array_equal(gp.predict(QUERY).deviation, before.deviation)
    np.testing.assert_array_equal(gp.predict(QUERY).mean, before.mean)
    np.testing.assert_array_equal(gp.cholesky.factor, factor)
    assert len(gp) == 12


def test_pending_is_undone_when_the_block_raises() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    gp.add(X, Y)
    with pytest.raises(KeyError), gp.pending(QUERY):
        raise KeyError
    gp.add(QUERY[:1], 0.0)
    assert len(gp) == 13


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-4])
def test_hard_designs_work(noise: float) -> None:
    """Duplicates, points 1e-9 apart, constant y and n = 1 give finite answers that honour the data."""
    base = RNG.random((6, 2))
    design = np.vstack([base, base + 1e-9, base[:2], base + 1e-12])
    gp = GaussianProcess(Matern(2.5, 0.5), noise_variance=noise)
    gp.add(design, np.ones(len(design)))
    prediction = gp.predict(np.vstack([base, QUERY]))
    assert np.isfinite(prediction.mean).all()
    assert np.isfinite(prediction.deviation).all()
    np.testing.assert_allclose(prediction.mean[:6], 1.0, atol=2e-4)
    assert np.isfinite(gp.log_evidence)
    single = GaussianProcess(Matern(2.5, 0.5), noise_variance=noise)
    single.add(base[:1], 2.0)
    assert single.predict(base[:1]).mean == pytest.approx(2.0, rel=2 * noise + 1e-9)


def test_jitter_is_reported_and_can_be_switched_off() -> None:
    design = np.vstack([X, X + 1e-10])
    gp = GaussianProcess(SquaredExponential(1.0), noise_variance=0.0)
    gp.add(design, np.zeros(24))
    assert gp.jitter.max() > 0
    strict = GaussianProcess(SquaredExponential(1.0), noise_variance=0.0, jitter=False)
    strict.add(X[:3], Y[:3])
    expected = strict.predict(QUERY)
    with pytest.raises(NumericalFailure):
        strict.add(design, np.zeros(24))
    assert len(strict) == 3, "a refused addition leaves the process as it was"
    np.testing.assert_array_equal(strict.predict(QUERY).mean, expected.mean)
    strict.add(QUERY[:1], 1.0)
    assert len(strict) == 4


def test_noise_free_values_outweigh_noisy_ones() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    gp.add([X[0], X[0], X[0]], [5.0, 1.0, 2.0], [0.1, 0.0, 0.0])
    assert gp.y[0] == 1.5
    assert gp.noise_variances[0] == 0.0
    gp.add(X[:1], 9.0)
    gp.add(X[:1], 4.5, 0.0)
    assert gp.y[0] == 2.5
    with pytest.raises(InvalidInput, match="positive noise"):
        _ = gp.logdet


def test_prior_before_any_data() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1, mean=0.7)
    prediction = gp.predict_with_gradients(QUERY)
    np.testing.assert_array_equal(prediction.mean, 0.7)
    np.testing.assert_allclose(prediction.deviation, 1.3)
    np.testing.assert_array_equal(prediction.deviation_gradient, np.zeros((6, 2)))
    np.testing.assert_array_equal(gp.predict_mean(QUERY), 0.7)
    np.testing.assert_array_equal(gp.covariance(QUERY), KERNEL(QUERY))
    assert gp.log_evidence == 0.0
    assert len(gp) == 0
    assert gp.x.shape == (0, 2)


def test_minus_zero_is_zero() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    gp.add([[0.0, 0.5], [-0.0, 0.5]], [1.0, 2.0])
    assert len(gp) == 1


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda gp: gp.add(X, Y[:3]), ["y", "12 entries", "3"]),
        (lambda gp: gp.add(X[:, :1], Y), ["X", "2 columns", "(12, 1)"]),
        (lambda gp: gp.add(np.full((1, 2), np.nan), 0.0), ["X", "finite", "nan"]),
        (lambda gp: gp.add(X[:1], np.inf), ["y", "finite", "inf"]),
        (lambda gp: gp.add(X[:1], 0.0, -1.0), ["noise_variance", ">= 0", "-1.0"]),
        (lambda gp: gp.add(X[:2], [0.0, 1.0], [0.1, np.nan]), ["noise_variance", "nan"]),
        (lambda gp: gp.predict([["a", "b"]]), ["X", "numbers"]),
        (lambda _: GaussianProcess(KERNEL, noise_variance=-0.1), ["noise_variance", ">= 0", "-0.1"]),
        (lambda _: GaussianProcess("matern", noise_variance=0.1), ["kernel", "Matern", "matern"]),  # type: ignore[arg-type]
    ],
)
def test_bad_input_says_what_was_expected_and_what_came(act: object, words: list[str]) -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    with pytest.raises(InvalidInput) as caught:
        act(gp)  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value)
    assert len(gp) == 0


def test_a_failed_addition_that_merges_leaves_everything_as_it_was() -> None:
    gp = GaussianProcess(SquaredExponential(0.3), noise_variance=1e-2, jitter=False)
    gp.add([[0.1], [0.5], [0.5 + 1e-12], [0.9]], [1.0, 2.0, 2.0, 0.0])
    before, logdet = gp.predict([[0.3]]), gp.logdet
    with pytest.raises(NumericalFailure):  # two exact values at points that nearly coincide
        gp.add([[0.1], [0.5], [0.5 + 1e-12]], [1.0, 2.0, 2.0], [1e-2, 0.0, 0.0])
    np.testing.assert_allclose(gp.predict([[0.3]]).deviation, before.deviation, rtol=1e-12)
    np.testing.assert_allclose(gp.predict([[0.3]]).mean, before.mean, rtol=1e-12)
    assert gp.logdet == pytest.approx(logdet, rel=1e-12)
    assert gp.n_observations == 4


def test_an_interrupted_addition_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    gp = GaussianProcess(Matern(2.5, 0.5), noise_variance=0.1)
    gp.add([[0.1], [0.9]], [1.0, 0.0])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(gp, "_factor_new_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gp.add([[0.5]], [9.0])
    gp.add([[0.5]], [3.0])
    assert len(gp) == 3
    assert gp.y[2] == 3.0


def test_evidence_with_exact_and_noisy_repeats_is_the_limit_of_small_noise() -> None:
    exact = GaussianProcess(Matern(2.5, 0.5), noise_variance=0.1)
    exact.add([[0.2], [0.2], [0.7]], [1.0, 1.1, 0.3], [0.01, 0.0, 0.01])
    nearly = GaussianProcess(Matern(2.5, 0.5), noise_variance=0.1)
    nearly.add([[0.2], [0.2], [0.7]], [1.0, 1.1, 0.3], [0.01, 1e-12, 0.01])
    assert exact.log_evidence == pytest.approx(nearly.log_evidence, abs=1e-6)


def test_summaries_do_not_count_pending_points() -> None:
    gp = GaussianProcess(KERNEL, noise_variance=0.1)
    gp.add(X, Y)
    logdet, evidence = gp.logdet, gp.log_evidence
    with gp.pending(np.repeat(QUERY[:2], 5000, axis=0)):
        assert gp.cholesky.size == 14, "repeated pending points are merged"
        assert gp.logdet == logdet
        assert gp.log_evidence == evidence
        for told in (gp.x, gp.y, gp.noise_variances, gp.counts, gp.jitter):
            assert len(told) == len(gp) == 12
        assert gp.n_observations == 12


def test_twins_share_covariances_and_agree_with_themselves_alone() -> None:
    one, two, alone = (GaussianProcess(KERNEL, noise_variance=v) for v in (0.1, 0.4, 0.4))
    for rows in ([0, 1, 2], [3], [1, 4, 5], [6]):
        one.add(X[rows], Y[rows])
        two.add(X[rows], Y[rows], like=one)
        alone.add(X[rows], Y[rows])
    np.testing.assert_array_equal(two.predict(QUERY).deviation, alone.predict(QUERY).deviation)
    np.testing.assert_array_equal(two.predict(QUERY).mean, alone.predict(QUERY).mean)


def test_covariances_of_pending_points_are_never_taken_for_those_of_observations() -> None:
    one, two, alone = (GaussianProcess(KERNEL, noise_variance=0.1) for _ in range(3))
    for gp in (one, two, alone):
        gp.add(X[:3], Y[:3])
    with one.pending(QUERY[:1]), two.pending(QUERY[:1]):
        pass
    one.add(X[3:4], Y[3:4], like=one)
    two.add(X[3:4], Y[3:4], like=one)
    alone.add(X[3:4], Y[3:4])
    np.testing.assert_array_equal(one.predict(QUERY).mean, alone.predict(QUERY).mean)
    np.testing.assert_array_equal(two.predict(QUERY).mean, alone.predict(QUERY).mean)
