"""Evidence and its gradient, and what the fit does with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import sklearn.gaussian_process as skgp
import sklearn.gaussian_process.kernels as sk

import quadrat.gp.fit as module
from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import Bounds, GaussianProcess, LogNormal, LogPosterior, Observations, Priors, fit_map
from quadrat.gp.ensemble import Ensemble
from quadrat.kernels import (
    Kernel,
    Matern,
    OnAxes,
    PiecewisePolynomial,
    Product,
    RationalQuadratic,
    SquaredExponential,
    Tied,
)
from quadrat.kernels.stationary import Stationary

RNG = np.random.default_rng(8)
X = RNG.random((25, 2))
Y = 3 + 2 * (np.sin(5 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=25))
REPLICATED = Observations.merge(X[RNG.integers(0, 12, 25)], Y)
MIXED = REPLICATED + Observations.merge(X[:5], Y[:5], RNG.uniform(0.01, 0.1, 5))
SPOILED = MIXED.with_extra(np.array([1, len(MIXED) - 1]), np.array([3.0, 2.0]))
KERNELS: list[Kernel] = [
    Matern(2.5, (0.3, 0.8)),
    Matern(0.5, 0.5, amplitude=2.0),
    RationalQuadratic(2.0, (0.3, 0.8)),
    Matern(1.5, 0.4) + OnAxes(SquaredExponential(0.6), [1]),
    Matern(2.5, 0.4) * SquaredExponential((0.9, 1.1)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    "data", [Observations.merge(X, Y), REPLICATED, MIXED, SPOILED], ids=["plain", "replicated", "mixed", "outliers"]
)
@pytest.mark.parametrize("options", [{}, {"noise_variance": 0.2}, {"mean": 2.5}, {"standardise": False}], ids=str)
def test_gradient_equals_finite_differences(kernel: Kernel, data: Observations, options: dict[str, float]) -> None:
    objective = LogPosterior(kernel, data, **options)  # type: ignore[arg-type]
    at = objective.start() + 0.1
    value, gradient = objective(at)
    assert np.isfinite(value)
    for i in range(len(at)):
        step = np.zeros(len(at))
        step[i] = 1e-5
        numeric = (objective(at + step)[0] - objective(at - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(numeric, rel=1e-5, abs=1e-5), objective.names[i]


PREPARED: list[Kernel] = [
    Matern(0.5, (0.3, 0.8)),
    Matern(1.5, (0.3, 0.8)),
    Matern(2.5, (0.3, 0.8)),
    SquaredExponential((0.3, 0.8)),
    Matern(0.5, 0.4),
    Matern(1.5, 0.4),
    Matern(2.5, 0.4, amplitude=2.0),
    SquaredExponential(0.4),
    Tied(Matern(0.5, (0.4, 0.4)), (0, 0)),
    Tied(Matern(2.5, (0.4, 0.7)), (1, 0)),
    Tied(SquaredExponential((0.4, 0.4)), (0, 0)),
    RationalQuadratic(2.0, (0.3, 0.8), amplitude=1.5),
    RationalQuadratic(0.7, 0.4),
    PiecewisePolynomial(2, 2, (1.3, 1.7)),
]


@pytest.mark.parametrize("kernel", PREPARED, ids=repr)
def test_squared_differences_worked_out_once_change_nothing(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence, gradient and mean are those of the objective that works them out each time."""
    for data in (Observations.merge(X[:1], Y[:1]), Observations.merge(X[:2], Y[:2]), Observations.merge(X, Y), MIXED):
        prepared = LogPosterior(kernel, data)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_MANY", 0)
            plain = LogPosterior(kernel, data)
        assert prepared._squares is not None
        assert plain._squares is None
        for shift in (-0.3, 0.2):
            at = prepared.start() + shift
            (value, gradient, mean), (other_value, other_gradient, other_mean) = (
                objective.evaluate(at) for objective in (prepared, plain)
            )
            assert value == pytest.approx(other_value, rel=1e-9, abs=1e-9)
            assert mean == pytest.approx(other_mean, rel=1e-9, abs=1e-9)
            np.testing.assert_allclose(gradient, other_gradient, rtol=1e-7, atol=1e-7)


def test_squared_differences_are_kept_while_they_are_few_and_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to n^2 D = _MANY, and not for sums and products, which have no single distance."""
    data = Observations.merge(X, Y)
    for most, kept in ((25**2 * 2, True), (25**2 * 2 - 1, False)):
        with monkeypatch.context() as patch:
            patch.setattr(module, "_MANY", most)
            assert (LogPosterior(Matern(2.5, 0.5), data)._squares is not None) is kept
    assert LogPosterior(Matern(2.5, 0.4) * SquaredExponential(0.9), data)._squares is None
    assert LogPosterior(OnAxes(Matern(2.5, 0.4), [1]), data)._squares is None


def test_a_singular_matrix_is_met_with_jitter_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """25 points that are all alike to the kernel, without noise: what is factored then is the whole matrix anew."""
    data, kernel = Observations.merge(X, Y, 0.0), SquaredExponential((20.0, 20.0))
    prepared = LogPosterior(kernel, data)
    monkeypatch.setattr(module, "_MANY", 0)
    plain = LogPosterior(kernel, data)
    jittered, original = [], LogPosterior._with_jitter

    def recorded(self: LogPosterior, matrix: Array) -> Array:
        jittered.append(self)
        return original(self, matrix)

    monkeypatch.setattr(LogPosterior, "_with_jitter", recorded)
    (value, gradient, _), (other, other_gradient, _) = (each.evaluate(each.start()) for each in (prepared, plain))
    assert jittered == [prepared, plain]
    assert prepared._squares is not None
    assert value == pytest.approx(other, rel=1e-6)
    np.testing.assert_allclose(gradient, other_gradient, rtol=1e-3)


def test_evidence_is_that_of_the_posterior_on_raw_data() -> None:
    """The fit's objective, with replicates merged, equals the density of the raw observations."""
    order = RNG.integers(0, 8, 25)
    data = Observations.merge(X[order], Y)
    kernel = Matern(2.5, (0.3, 0.8), amplitude=1.5)
    objective = LogPosterior(kernel, data, mean=3.0, priors=Priors.flat(), standardise=False)
    gp = GaussianProcess(kernel, noise_variance=0.1, mean=3.0)
    gp.add(X[order], Y)
    assert objective(objective.start())[0] == pytest.approx(gp.log_evidence, abs=1e-9)


def test_profiled_mean_is_the_best_constant() -> None:
    data, kernel = Observations.merge(X, Y), Matern(2.5, 0.5)
    profiled = LogPosterior(kernel, data, priors=Priors.flat(), standardise=False)
    start = profiled.start()
    best, _, mean = profiled.evaluate(start)
    for other in (mean - 0.1, mean + 0.1):
        assert LogPosterior(kernel, data, mean=other, priors=Priors.flat(), standardise=False)(start)[0] < best
    assert LogPosterior(kernel, data, mean=mean, priors=Priors.flat(), standardise=False)(start)[0] == pytest.approx(
        best
    )


def test_maximum_likelihood_is_no_worse_than_scikit_learn() -> None:
    theirs = skgp.GaussianProcessRegressor(
        sk.ConstantKernel(1.0) * sk.Matern([0.5, 0.5], nu=2.5) + sk.WhiteKernel(0.1), random_state=0
    ).fit(X, Y - Y.mean())
    fit = fit_map(
        Matern(2.5, (0.5, 0.5)), Observations.merge(X, Y - Y.mean()), mean=0.0, priors=Priors.flat(), standardise=False
    )
    assert fit.converged
    assert fit.log_evidence >= theirs.log_marginal_likelihood_value_ - 1e-4


def test_priors_pull_and_flat_priors_do_not() -> None:
    data = Observations.merge(X, Y)
    free = fit_map(Matern(2.5, (0.5, 0.5)), data, priors=Priors.flat())
    tight = fit_map(Matern(2.5, (0.5, 0.5)), data, priors=Priors(lengthscale=LogNormal(np.log(0.2), 0.01)))
    np.testing.assert_allclose(np.asarray(tight.kernel.lengthscales), 0.2, rtol=0.05)  # type: ignore[attr-defined]
    assert free.log_evidence > tight.log_evidence


def test_units_of_y_do_not_matter() -> None:
    """Scaling and shifting y scales amplitude, noise and mean, and nothing else."""
    base = fit_map(Matern(2.5, (0.5, 0.5)), Observations.merge(X, Y))
    moved = fit_map(Matern(2.5, (0.5, 0.5), amplitude=1e6), Observations.merge(X, 1e6 * Y - 4e6))
    np.testing.assert_allclose(moved.kernel.hyperparameters[:2], base.kernel.hyperparameters[:2], rtol=1e-3)
    assert moved.kernel.variance == pytest.approx(1e12 * base.kernel.variance, rel=1e-3)
    assert moved.noise_variance == pytest.approx(1e12 * base.noise_variance, rel=1e-3)
    assert moved.mean == pytest.approx(1e6 * base.mean - 4e6, rel=1e-3)


def test_rescaling_reaches_every_part_of_a_composite() -> None:
    kernel = Matern(2.5, 0.4) * SquaredExponential(1.0) + OnAxes(Matern(1.5, 0.5), [0])
    fit = fit_map(kernel, Observations.merge(X, 100 * Y))
    gp = fit.posterior(Observations.merge(X, 100 * Y))
    np.testing.assert_allclose(gp.predict(X).mean, 100 * Y, atol=60)
    assert isinstance(fit.kernel.left, Product)  # type: ignore[attr-defined]
    assert fit.kernel.variance > 1e3


def test_warm_starts_and_restarts() -> None:
    data = Observations.merge(X, Y)
    cold = fit_map(Matern(2.5, (0.5, 0.5)), data, restarts=3, rng=np.random.default_rng(0))
    again = fit_map(Matern(2.5, (0.5, 0.5)), data, restarts=3, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(cold.parameters, again.parameters)
    warm = fit_map(cold.kernel, data, starts=[cold.parameters])
    assert warm.log_posterior >= cold.log_posterior - 1e-6
    assert warm.evaluations < cold.evaluations
    with pytest.raises(InvalidInput, match="rng"):
        fit_map(Matern(2.5, (0.5, 0.5)), data, restarts=1)
    with pytest.raises(InvalidInput, match=r"starts: expected 4 entries"):
        fit_map(Matern(2.5, (0.5, 0.5)), data, starts=[[0.0]])


@pytest.mark.parametrize(
    ("options", "starts"),
    [
        ({"starts": 1}, ["given", "own"]),
        ({"starts": 1, "own_start": True}, ["given", "own"]),
        ({"starts": 1, "own_start": False}, ["given"]),
        ({"restarts": 2, "own_start": False}, ["drawn", "drawn"]),
        ({"starts": 1, "restarts": 1, "own_start": False}, ["given", "drawn"]),
        ({"own_start": False}, ["own"]),
    ],
    ids=str,
)
def test_a_fit_starts_where_it_is_told_to(
    options: dict[str, int], starts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own parameters are left out if there are other starts; the best of all ends is returned."""
    from scipy.optimize import OptimizeResult, minimize

    data, kernel = Observations.merge(X, Y), Matern(2.5, (0.5, 0.5))
    given, own = np.array([-1.0, -0.2, 0.3, -3.0]), LogPosterior(kernel, data).start()
    seen: list[str] = []
    heights: list[float] = []

    def recorded(function: object, start: Array, **how: object) -> OptimizeResult:
        same = [name for name, point in (("given", given), ("own", own)) if np.array_equal(start, point)]
        seen.append(same[0] if same else "drawn")
        result = minimize(function, start, **how)  # type: ignore[call-overload]
        heights.append(-float(result.fun))
        assert isinstance(result, OptimizeResult)
        return result

    monkeypatch.setattr("scipy.optimize.minimize", recorded)
    own_start = {"own_start": bool(options["own_start"])} if "own_start" in options else {}
    fit = fit_map(
        kernel,
        data,
        starts=[given] * options.get("starts", 0),
        restarts=options.get("restarts", 0),
        rng=np.random.default_rng(0),
        **own_start,  # type: ignore[arg-type]
    )
    assert seen == starts
    assert fit.log_posterior == max(heights)


def test_learned_noise_is_about_right() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat(rng.random((40, 1)), 4, axis=0)
    y = np.sin(6 * x[:, 0]) + 0.3 * rng.normal(size=160)
    fit = fit_map(Matern(2.5, 0.5), Observations.merge(x, y))
    assert np.sqrt(fit.noise_variance) == pytest.approx(0.3, rel=0.2)


@pytest.mark.parametrize("y", [np.full(6, 4.0), np.zeros(6), np.array([1e140, -1e140, 1, 2, 3, 4])])
def test_strange_values_do_not_break_the_fit(y: np.ndarray) -> None:
    fit = fit_map(Matern(2.5, (0.5, 0.5)), Observations.merge(X[:6], y))
    assert np.isfinite(fit.parameters).all()
    assert np.isfinite(fit.mean)


def test_one_observation_and_duplicates() -> None:
    fit = fit_map(Matern(2.5, (0.5, 0.5)), Observations.merge(X[:1], [2.0]))
    assert fit.mean == pytest.approx(2.0)
    near = np.vstack([X[:5], X[:5] + 1e-10])
    fit = fit_map(SquaredExponential((0.5, 0.5)), Observations.merge(near, np.tile(Y[:5], 2), 0.0))
    assert np.isfinite(fit.log_posterior)


def test_bounds_are_kept_and_checked() -> None:
    fit = fit_map(Matern(2.5, (0.5, 0.5)), Observations.merge(X, Y), bounds=Bounds(lengthscale=(2.0, 3.0)))
    assert all(2.0 - 1e-9 <= theta <= 3.0 + 1e-9 for theta in fit.kernel.lengthscales)  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="amplitude: expected bounds 0 < low < high"):
        Bounds(amplitude=(1.0, 0.5))
    with pytest.raises(InvalidInput, match="at least one observation"):
        fit_map(Matern(2.5), Observations.merge(np.zeros((0, 2)), []))


def test_a_products_start_is_where_its_last_fit_ended() -> None:
    kernel = Matern(2.5, 0.4) * SquaredExponential(1.0)
    data = Observations.merge(X, 1000 * Y)
    fit = fit_map(kernel, data)
    np.testing.assert_allclose(LogPosterior(fit.kernel, data).start()[:-1], fit.parameters[:-1], atol=1e-9)


def test_noise_that_cannot_be_learned_is_not() -> None:
    known = fit_map(Matern(2.5, (0.5, 0.5)), Observations.merge(X, Y, 0.04))
    assert known.noise_variance == 0.0
    assert len(known.parameters) == 3
    with pytest.raises(InvalidInput, match="noise_variance: expected > 0 for replicated"):
        fit_map(Matern(2.5, (0.5, 0.5)), REPLICATED, noise_variance=0.0)


@pytest.mark.parametrize("kernel", [*KERNELS, Tied(Matern(2.5, (0.4, 0.7)), (1, 0))], ids=repr)
def test_steps_of_a_fit_check_no_kernel(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps there are, kernels are checked where a fit begins and where it ends."""
    checks = 0
    original = Stationary.__post_init__

    def counted(self: Stationary) -> None:
        nonlocal checks
        checks += 1
        original(self)

    monkeypatch.setattr(Stationary, "__post_init__", counted)
    counts = []
    for starts in ([], [LogPosterior(kernel, MIXED).start() + shift for shift in (-0.5, 0.4, 0.8)]):
        checks = 0
        fit = fit_map(kernel, MIXED, starts=starts)
        counts.append((fit.evaluations, checks))
    (few, once), (many, again) = counts
    assert many > 2 * few
    assert once == again <= 10


def test_steps_without_checks_find_what_checked_ones_find(monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel in (*KERNELS, *PREPARED):
        unchecked = fit_map(kernel, MIXED)
        with monkeypatch.context() as patch:
            patch.setattr(LogPosterior, "_accepts", lambda *_: False)
            checked = fit_map(kernel, MIXED)
        np.testing.assert_array_equal(unchecked.parameters, checked.parameters)
        assert (unchecked.kernel, unchecked.mean) == (checked.kernel, checked.mean)
        assert (unchecked.log_posterior, unchecked.evaluations) == (checked.log_posterior, checked.evaluations)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Bounds(lengthscale=(1e-150, 1e-120)), "lengthscales: expected positive numbers"),
        (Bounds(amplitude=(1e160, 1e200)), r"amplitude: expected a finite number > 0 and <= 1e\+150"),
    ],
)
def test_bounds_that_hold_no_kernel_are_refused(bounds: Bounds, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        fit_map(Matern(2.5, 0.5), Observations.merge(X, Y), bounds=bounds)


def test_bounds_wider_than_kernels_allow_do_no_harm_inside() -> None:
    data = Observations.merge(X, Y)
    wide = fit_map(Matern(2.5, 0.5), data, bounds=Bounds(amplitude=(1e-2, 1e200)))
    assert wide.log_posterior == pytest.approx(fit_map(Matern(2.5, 0.5), data).log_posterior, abs=1e-3)


@dataclass(frozen=True)
class Slopeless(SquaredExponential):
    """A broken kernel: its values are numbers, its slopes are not."""

    def profile_and_slope(self, h: Array) -> tuple[Array, Array]:
        return self.profile(h), np.full_like(h, np.nan)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_search_that_asks_for_parameters_that_are_not_numbers_is_stopped() -> None:
    with pytest.raises(InvalidInput, match="hyperparameters: expected finite numbers, got nan"):
        fit_map(Slopeless(0.5), Observations.merge(X, Y))


def test_pairs_are_worked_out_when_the_evidence_is_first_asked_for() -> None:
    """Posteriors of the settings need none of them."""
    objective = LogPosterior(Matern(2.5, 0.5), Observations.merge(X, Y))
    Ensemble(objective, [objective.start()])
    assert "_squares" not in vars(objective)
    objective(objective.start())
    squares = objective._squares
    assert squares is not None
    objective(objective.start() + 0.1)
    assert objective._squares is squares


def test_a_start_given_twice_is_evaluated_twice() -> None:
    """What a fit says of its evaluations does not depend on what other climbs have met."""
    kernel, data = Matern(2.5, 0.5), Observations.merge(X, Y)
    start = LogPosterior(kernel, data).start()
    once = fit_map(kernel, data, starts=[start], own_start=False)
    twice = fit_map(kernel, data, starts=[start, start], own_start=False)
    assert twice.evaluations == 2 * once.evaluations


def test_evaluations_are_counted_one_by_one() -> None:
    objective = LogPosterior(Matern(2.5, 0.5), Observations.merge(X, Y))
    for count in (1, 2, 3):
        objective(objective.start())
        assert objective.evaluations == count
