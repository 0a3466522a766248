"""Sketched posteriors: exact with all points, accurate with few, undone bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable, NumericalFailure
from quadrat.gp import GaussianProcess
from quadrat.gp.nystrom import NystromPosterior
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.kernels import Matern, SquaredExponential
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3, amplitude=1.3)
ALL = Sketch(q=1e9)  # whatever is seen is remembered
NOISE = 0.04


def data(n: int, seed: int = 0, dimension: int = 2) -> tuple[Array, Array]:
    rng = generator(seed, 50)
    X = rng.random((n, dimension))
    return X, np.sin(5 * X[:, 0]) + X[:, -1] + 0.2 * rng.standard_normal(n)


def pair(n: int, sketch: Sketch, seed: int = 0) -> tuple[SketchedProcess, GaussianProcess]:
    X, y = data(n, seed)
    sketched = SketchedProcess(KERNEL, noise_variance=NOISE, mean=0.4, sketch=sketch, seed=seed)
    exact = GaussianProcess(KERNEL, noise_variance=NOISE, mean=0.4)
    for gp in (sketched, exact):
        gp.add(X, y)
    return sketched, exact


def ratios(sketched: SketchedProcess, exact: GaussianProcess, seed: int = 0) -> Array:
    """Sketched over exact variances at random points and at the observed ones."""
    points = np.vstack([generator(seed, 51).random((200, 2)), exact.x])
    return np.asarray((sketched.predict(points).deviation / exact.predict(points).deviation) ** 2)


def test_with_every_point_in_the_dictionary_it_is_the_exact_posterior() -> None:
    sketched, exact = pair(60, ALL)
    assert len(sketched.dictionary) == 60
    points = generator(1).random((40, 2))
    got, wanted = sketched.predict_with_gradients(points), exact.predict_with_gradients(points)
    for name in ("mean", "deviation", "mean_gradient", "deviation_gradient"):
        np.testing.assert_allclose(getattr(got, name), getattr(wanted, name), atol=1e-6, err_msg=name)
    np.testing.assert_allclose(sketched.predict_mean(points), exact.predict_mean(points), atol=1e-7)
    np.testing.assert_allclose(sketched.covariance(points, points[:3]), exact.covariance(points, points[:3]), atol=1e-7)
    np.testing.assert_allclose(sketched.predict_from_cross(sketched.cross(points)).mean, got.mean, atol=1e-12)
    for name in ("logdet", "quadratic_form", "log_evidence", "n_observations"):
        assert getattr(sketched, name) == pytest.approx(getattr(exact, name), rel=1e-7), name
    K = KERNEL(exact.x)
    assert sketched.effective_dimension == pytest.approx(np.trace(np.linalg.solve(K + NOISE * np.eye(60), K)), rel=1e-6)
    assert sketched.outside == pytest.approx(0.0, abs=1e-6)


def test_before_any_observation_it_is_the_prior() -> None:
    gp = SketchedProcess(KERNEL, noise_variance=NOISE, mean=2.0)
    at = gp.predict_with_gradients([[0.1, 0.2]])
    assert at.mean == 2.0
    assert at.deviation == pytest.approx(1.3)
    assert not at.mean_gradient.any()  # type: ignore[union-attr]
    assert gp.logdet == gp.effective_dimension == 0.0
    assert len(gp.dictionary) == 0
    with gp.pending([[0.1, 0.2]]):
        assert gp.predict([[0.1, 0.2]]).deviation[0] ** 2 == pytest.approx(1 / (1 / 1.69 + 1 / NOISE))


def test_replicates_are_merged_and_count() -> None:
    X, y = data(12)
    sketched, exact = (
        SketchedProcess(KERNEL, noise_variance=NOISE, sketch=ALL),
        GaussianProcess(KERNEL, noise_variance=NOISE),
    )
    for gp in (sketched, exact):
        for k in (0, 1, 2):  # all points again and again, with other values and variances
            gp.add(X, y + 0.1 * k, NOISE * (1 + k))
    assert len(sketched) == 12
    assert sketched.n_observations == 36
    np.testing.assert_allclose(sketched.counts, 3)
    np.testing.assert_allclose(sketched.noise_variances, exact.noise_variances)
    at, wanted = sketched.predict(X + 0.01), exact.predict(X + 0.01)
    np.testing.assert_allclose(at.mean, wanted.mean, atol=1e-7)
    np.testing.assert_allclose(at.deviation, wanted.deviation, atol=1e-7)
    for name in ("logdet", "quadratic_form", "log_evidence"):
        assert getattr(sketched, name) == pytest.approx(getattr(exact, name), rel=1e-7), name


@pytest.mark.parametrize("kernel", [KERNEL, SquaredExponential(0.4)])
def test_gradients_agree_with_differences_also_among_pending_points(kernel: Matern | SquaredExponential) -> None:
    X, y = data(80)
    gp = SketchedProcess(kernel, noise_variance=NOISE, sketch=Sketch(q=1.0))
    gp.add(X, y)
    assert len(gp.dictionary) < 60
    x, h = np.array([[0.31, 0.62], [0.9, 0.05]]), 1e-6
    with gp.pending([[0.3, 0.5], [0.8, 0.1]]):
        at = gp.predict_with_gradients(x)
        for i in range(2):
            step = h * np.eye(2)[i]
            up, down = gp.predict(x + step), gp.predict(x - step)
            np.testing.assert_allclose(at.mean_gradient[:, i], (up.mean - down.mean) / (2 * h), atol=1e-5)  # type: ignore[index]
            slope = (up.deviation - down.deviation) / (2 * h)
            np.testing.assert_allclose(at.deviation_gradient[:, i], slope, atol=1e-5)  # type: ignore[index]


def test_one_more_inducing_point_is_as_good_as_having_it_from_the_start() -> None:
    X, y = data(50)
    v = np.full(50, NOISE)
    grown = NystromPosterior.prior(KERNEL, 0.4, X[:10]).observing(X, y, v).with_point(X[10:11], X, y, v)
    whole = NystromPosterior.prior(KERNEL, 0.4, X[:11]).observing(X, y, v)
    points = generator(2).random((30, 2))
    np.testing.assert_allclose(grown.predict(points).mean, whole.predict(points).mean, atol=1e-9)
    np.testing.assert_allclose(grown.predict(points).deviation, whole.predict(points).deviation, atol=1e-9)
    np.testing.assert_allclose(grown.mean(points), whole.predict(points).mean, atol=1e-9)
    for name in ("logdet", "outside", "dimension_inside"):
        assert getattr(grown, name) == pytest.approx(getattr(whole, name), rel=1e-9), name
    assert grown.with_point(X[3:4], X, y, v) is grown  # it is there already


def test_one_observation_after_another_is_as_good_as_all_at_once() -> None:
    X, y = data(40)
    v = np.linspace(0.01, 0.1, 40)
    one = NystromPosterior.prior(KERNEL, 0.4, X[:8])
    whole = one.observing(X, y, v)
    for i in range(40):
        one = one.after(one.features(X[i : i + 1])[0], float(y[i]), float(v[i]))
    for name in ("inverse", "weights", "projected", "logdet", "outside"):
        np.testing.assert_allclose(getattr(one, name), getattr(whole, name), rtol=1e-7, atol=1e-10, err_msg=name)


def test_pending_points_shrink_deviations_as_observing_them_would_and_leave_no_trace() -> None:
    sketched, exact = pair(60, ALL)
    few, _ = pair(60, Sketch(q=1.0))
    points, waiting = generator(3).random((20, 2)), np.array([[0.2, 0.9], [0.21, 0.9], [0.2, 0.9]])
    before = few.predict(points), few.posterior
    with sketched.pending(waiting), exact.pending(waiting), few.pending(waiting):
        np.testing.assert_allclose(sketched.predict(points).deviation, exact.predict(points).deviation, atol=1e-7)
        assert (few.predict(waiting).deviation < 0.9 * np.sqrt(NOISE)).all()
        np.testing.assert_allclose(few.predict(points).mean, before[0].mean, atol=1e-12)
        with pytest.raises(InvalidInput, match="leave the `pending` block"):
            few.add(points[:1], [0.0])
    assert few.posterior is before[1]
    assert np.array_equal(few.predict(points).deviation, before[0].deviation)


def test_pending_points_outside_of_the_span_count_too() -> None:
    """The projected process alone would leave K - Q at them, and they would be proposed again and again."""
    gp = SketchedProcess(Matern(2.5, 0.05), noise_variance=NOISE)
    gp.add([[0.1, 0.1]], [0.0])
    with gp.pending([[0.9, 0.9]]):
        assert gp.predict([[0.9, 0.9]]).deviation[0] < 0.2


def test_what_fails_half_way_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    gp, _ = pair(30, Sketch(q=1.0))
    state, x = gp.save(), gp.x.copy()

    def fails(_: SketchedProcess) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(SketchedProcess, "_draw", fails)
    monkeypatch.setattr(gp, "_since", 1e9)
    with pytest.raises(ZeroDivisionError):
        gp.add([[0.123, 0.4], [0.5, 0.5]], [1.0, 2.0])
    monkeypatch.undo()
    assert np.array_equal(gp.x, x)
    assert gp.posterior is state["_posterior"]
    gp.add([[0.123, 0.4]], [1.0])
    assert len(gp) == 31


def test_two_processes_are_equal_bit_for_bit_however_observations_come() -> None:
    X, y = data(120)
    together, apart = (SketchedProcess(KERNEL, noise_variance=NOISE, seed=3) for _ in range(2))
    together.add(X, y)
    for i in range(120):
        apart.add(X[i : i + 1], y[i : i + 1])
        apart.predict(X)
    assert np.array_equal(together.dictionary, apart.dictionary)
    assert np.array_equal(together.predict(X).deviation, apart.predict(X).deviation)
    other = SketchedProcess(KERNEL, noise_variance=NOISE, seed=4)
    other.add(X, y)
    assert not np.array_equal(together.dictionary, other.dictionary)


def test_few_points_are_remembered_and_variances_stay_within_alpha() -> None:
    """The practical default, without a theorem: a factor 3 over ten seeds, and a dictionary of a few times d_eff."""
    for seed in range(10):
        sketched, exact = pair(300, Sketch(), seed)
        K = KERNEL(exact.x)
        effective = float(np.trace(np.linalg.solve(K + NOISE * np.eye(300), K)))
        assert len(sketched.dictionary) < 6 * effective
        assert len(sketched.dictionary) < 250
        assert sketched.effective_dimension == pytest.approx(effective, rel=0.3)
        found = ratios(sketched, exact, seed)
        assert found.min() > 1 / 3
        assert found.max() < 3
        assert sketched.logdet <= exact.logdet
        assert exact.logdet <= sketched.logdet + sketched.outside


def test_a_dictionary_that_is_too_small_is_found_out() -> None:
    """The check above can fail: with a twentieth of the points variances are far from exact."""
    worst = [ratios(*pair(300, Sketch(q=0.15), seed), seed).max() for seed in range(3)]
    assert min(worst) > 3


def test_other_noise_with_the_same_dictionary() -> None:
    X, y = data(50)
    gp = SketchedProcess(KERNEL, noise_variance=0.4, sketch=ALL)
    exact = GaussianProcess(KERNEL, noise_variance=0.04)
    gp.add(np.vstack([X, X[:5]]), np.append(y, y[:5] + 0.1))
    exact.add(np.vstack([X, X[:5]]), np.append(y, y[:5] + 0.1))
    other = gp.with_noise(0.1)
    np.testing.assert_allclose(other.predict(X).mean, exact.predict(X).mean, atol=1e-6)
    assert other.log_evidence == pytest.approx(exact.log_evidence, rel=1e-7)
    assert gp.noise_variance == 0.4
    other.add([[0.1, 0.1]], [0.0])
    assert len(gp) == 50


def test_what_cannot_be() -> None:
    gp, _ = pair(5, Sketch())
    with pytest.raises(InvalidInput, match="expected positive variances"):
        gp.add([[0.1, 0.1]], [0.0], 0.0)
    with pytest.raises(NotAvailable, match="keeps no factor"):
        _ = gp.cholesky
    for options, words in (({"epsilon": 1.0}, "epsilon"), ({"q": 0.0}, "q:"), ({"ratio": 0.5}, "ratio")):
        with pytest.raises(InvalidInput, match=words):
            Sketch(**options)


def test_a_dictionary_without_points_knows_the_prior_alone() -> None:
    """What is seen through noise a billion times the prior's variance is worth no place in the dictionary."""
    X, y = data(12)
    gp = SketchedProcess(KERNEL, noise_variance=1e9, sketch=Sketch(), seed=0)
    for point, value in zip(X, y, strict=True):
        gp.add(point[None], [value])
    at = gp.predict(X)
    assert at.mean == pytest.approx(np.zeros(12), abs=1e-6)
    assert at.deviation == pytest.approx(np.full(12, 1.3), rel=1e-6)


def test_points_that_coincide_without_noise_cannot_be_believed_in() -> None:
    nothing = NystromPosterior.prior(KERNEL, 0.0, np.empty((0, 2)))
    with pytest.raises(NumericalFailure, match="cannot be told apart"):
        nothing.believing(np.full((2, 2), 0.5), np.zeros(2))


def test_where_nothing_is_unknown_the_deviation_has_no_slope() -> None:
    known = NystromPosterior.prior(Matern(2.5, 0.3), 0.0, np.empty((0, 1))).believing(np.array([[0.5]]), np.zeros(1))
    at = known.predict_with_gradients(np.array([[0.5], [0.6]]))
    assert at.deviation_gradient is not None
    assert at.deviation[0] == at.deviation_gradient[0, 0] == 0.0
    assert at.deviation_gradient[1, 0] > 0


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("growth", [1.0, 2.5])
def test_the_factor_solves_its_equation(epsilon: float, growth: float) -> None:
    """It is 1 + u with (1 + 1/u) w = u and 1 + w = g/(1 - epsilon)."""
    u = Sketch(epsilon=epsilon).factor(growth) - 1
    assert u > 0
    assert (1 + 1 / u) * (growth / (1 - epsilon) - 1) == pytest.approx(u)


def test_dictionaries_are_drawn_when_what_did_not_enter_passes_the_ratio() -> None:
    """Next to no point enters; each draw comes with the first sum over 3 of variances divided by that of the noise."""
    X, y = data(120)
    gp = SketchedProcess(KERNEL, noise_variance=1.0, sketch=Sketch(q=1e-9, ratio=4.0))
    sums, draws = 0.0, 0
    for point, value in zip(X, y, strict=True):
        sums += float(gp.predict(point[None]).deviation[0] ** 2)
        gp.add(point[None], [value])
        draws, sums = (draws + 1, 0.0) if sums > 3 else (draws, sums)
        assert gp.draws == draws
        assert len(gp.dictionary) == (draws > 0)
    assert draws > 3


def test_no_point_is_sure_of_its_place_in_a_new_dictionary() -> None:
    """Seven points far apart, each with a chance near a half: the likeliest one is drawn in about half of the draws."""
    X = np.linspace(0, 1, 7)[:, None]
    drawn = []
    for seed in range(30):
        gp = SketchedProcess(Matern(2.5, 0.01), noise_variance=1.0, sketch=Sketch(q=0.5, ratio=1e9), seed=seed)
        gp.add(X, np.zeros(7))
        likeliest = gp.x[int(np.argmax(gp.predict(gp.x).deviation))]
        gp._draw()
        drawn.append((gp.dictionary == likeliest).all(1).any())
    assert 0.25 < np.mean(drawn) < 0.75


def test_what_is_undone_can_be_told_again_and_what_stayed_is_merged() -> None:
    gp, _ = pair(20, Sketch())
    state, first = gp.save(), gp.x[:1].copy()
    gp.add([[0.123, 0.456]], [1.0])
    gp.restore(state)
    gp.add(first, [0.5])
    assert (len(gp), gp.n_observations) == (20, 21)
    gp.add([[0.123, 0.456]], [1.0])
    assert (len(gp), gp.n_observations) == (21, 22)


def test_repeated_pending_points_are_one() -> None:
    gp, exact = pair(20, ALL)
    points = np.array([[0.21, 0.35], [0.8, 0.6]])
    with gp.pending(np.repeat(points, 50, axis=0)), exact.pending(np.repeat(points, 50, axis=0)):
        assert len(gp.dictionary) == 22
        np.testing.assert_allclose(gp.predict(points).deviation, exact.predict(points).deviation, rtol=1e-6)
    assert len(gp.dictionary) == 20
