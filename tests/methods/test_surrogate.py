"""What methods with a model share: start, learning, units, replicates, pending points, recommendation, replay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess, LogPosterior, Observations, Priors
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.design import RandomSearch
from quadrat.methods.surrogate import Learned, ModelSearch, Surrogate, learn_kernel
from quadrat.methods.ucb.improvement import ExpectedImprovement


def objective(x: Array) -> float:
    return float(np.sin(5 * x[0]) + x[-1])


def told(number: int, x: Array, *values: float, variance: float | None = None) -> Observation:
    return Observation(number, x, np.array(values), variance)


def run(
    method: ExpectedImprovement, n: int, dimension: int = 2, seed: int = 0
) -> tuple[ModelSearch, list[Observation]]:
    search, history = method.start(Domain.cube(dimension), seed), []
    for number in range(n):
        x = search.ask(number, np.empty((0, dimension))).x
        history.append(told(number, x, objective(x)))
        search.tell(history[-1])
    return search, history


# --- start and learning


def test_the_first_points_are_those_of_random_search() -> None:
    """Uniform, drawn from (seed, number): with one seed, all methods begin alike, and comparisons are paired."""
    _, history = run(ExpectedImprovement(n_initial=4), 5)
    uniform = RandomSearch().start(Domain.cube(2), 0)
    same = [np.array_equal(uniform.ask(i, np.empty((0, 2))).x, history[i].x) for i in range(5)]
    assert same == [True] * 4 + [False]


def test_points_stay_uniform_until_the_initial_trials_are_told() -> None:
    search = ExpectedImprovement().start(Domain.cube(2), 0)
    proposals = [search.ask(number, np.empty((0, 2))) for number in range(7)]
    assert all("0 of 5" in proposal.why for proposal in proposals)
    assert len({proposal.x.tobytes() for proposal in proposals}) == 7


def test_length_scale_is_the_maximum_likelihood_one_of_the_first_five_only() -> None:
    """Within 1 % of the best of a grid of 400; later trials do not change it (appendix "Details of Experiments")."""
    search, history = run(ExpectedImprovement(), 8)
    y = np.array([trial.values[0] for trial in history[:5]])
    x = np.array([trial.x for trial in history[:5]])
    data = Observations.merge(x, (y - y.mean()) / y.std(), (0.1 / y.std()) ** 2)
    likelihood = LogPosterior(
        Matern(2.5, 1.0), data, noise_variance=0.0, mean=0.0, priors=Priors.flat(), standardise=False
    )
    grid = np.geomspace(0.1, 2.0, 400)
    best = grid[int(np.argmax([likelihood.evaluate(np.array([np.log(scale), 0.0]))[0] for scale in grid]))]
    kernel = search.model.frame.kernel
    assert isinstance(kernel, Matern)
    assert kernel.amplitude == 1.0
    assert kernel.lengthscales == pytest.approx(best, rel=0.01)


def test_a_given_kernel_is_kept() -> None:
    kernel = Matern(1.5, (0.2, 0.4), amplitude=2.0)
    search, _ = run(ExpectedImprovement(kernel=kernel, standardise=False), 6)
    assert search.model.frame.kernel == kernel
    assert (search.model.frame.shift, search.model.frame.scale) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("every", "times"), [(None, [5]), (3, [5, 8, 11, 14, 17, 20]), ("doubling", [5, 10, 20])], ids=str
)
def test_schedule(every: Any, times: list[int]) -> None:
    form = Learned(refit_every=every)
    assert [trials for trials in range(1, 21) if form.due(trials, 5)] == times


def test_refits_start_from_the_fit_before_and_change_the_kernel() -> None:
    form = Learned(refit_every="doubling")
    search, history = run(ExpectedImprovement(kernel=form), 10)
    early, _ = run(ExpectedImprovement(kernel=form), 9)
    assert early.model.frame.kernel != search.model.frame.kernel
    frame = search.model.frame
    y = np.array([trial.values[0] for trial in history])
    assert frame.shift == pytest.approx(y.mean())
    assert frame.scale == pytest.approx(y.std())
    data = Observations.merge([trial.x for trial in history], frame.to_model(y), (0.1 / frame.scale) ** 2)
    again = learn_kernel(form, data, early.model.frame.kernel)
    assert again.hyperparameters == pytest.approx(frame.kernel.hyperparameters, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 0.0}, "noise: expected a finite number > 0"),
        ({"n_initial": 0}, "n_initial: expected an integer >= 1"),
        ({"kernel": 0.3}, "kernel: expected a kernel such as"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ExpectedImprovement(**options)


@pytest.mark.parametrize("options", [{"lengthscales": (2.0, 1.0)}, {"refit_every": 0}, {"refit_every": "often"}])
def test_wrong_learning(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        Learned(**options)


def test_a_kernel_of_another_dimension_is_refused_at_the_start() -> None:
    with pytest.raises(InvalidInput, match="expected points with 2 columns"):
        ExpectedImprovement(kernel=Matern(2.5, (0.2, 0.3))).start(Domain.cube(3), 0)


# --- what enters the posterior


def settled(*trials: Observation, noise: float = 0.1) -> Surrogate:
    method = ExpectedImprovement(kernel=Matern(2.5, 0.3), noise=noise, n_initial=1, standardise=False)
    model = Surrogate(method, 1)
    for trial in trials:
        model.tell(trial)
    return model


def test_replicates_count_one_by_one() -> None:
    x, z = np.array([0.2]), np.array([0.7])
    together = settled(told(0, x, 1.0, 1.4, 0.9), told(1, z, 0.0))
    apart = settled(told(0, x, 1.0), told(1, x, 1.4), told(2, z, 0.0), told(3, x, 0.9))
    grid = np.linspace(0, 1, 5)[:, None]
    for name in ("mean", "deviation"):
        assert getattr(together.gp.predict(grid), name) == pytest.approx(getattr(apart.gp.predict(grid), name))
    assert together.gp.noise_variances[0] == pytest.approx(0.01 / 3)


def test_a_told_standard_error_replaces_the_noise() -> None:
    model = settled(told(0, np.array([0.2]), 1.0, 3.0, variance=0.25))
    assert model.gp.noise_variances.tolist() == [0.25]
    assert model.y.tolist() == [2.0]


def test_a_standard_error_of_zero_is_taken() -> None:
    trials = [told(i, np.array([0.5]), 1.0, variance=0.0) for i in range(2)]
    model = settled(*trials)
    assert np.isfinite(model.gain)
    assert model.best_mean() == pytest.approx(1.0, abs=1e-4)


def test_the_posterior_grows_and_equals_one_built_at_once() -> None:
    search, history = run(ExpectedImprovement(), 9)
    grown = search.model.gp
    search.tell(told(9, np.array([0.4, 0.6]), 1.0))
    assert search.model.gp is grown
    frame = search.model.frame
    fresh = GaussianProcess(frame.kernel, noise_variance=(0.1 / frame.scale) ** 2)
    fresh.add(search.model.x, search.model.y)
    grid = np.random.default_rng(0).random((7, 2))
    assert grown.predict(grid).mean == pytest.approx(fresh.predict(grid).mean, abs=1e-9)
    assert len(history) == 9


def test_pending_points_are_not_asked_again_and_leave_no_trace() -> None:
    search, _ = run(ExpectedImprovement(), 8)
    first = search.ask(8, np.empty((0, 2))).x
    second = search.ask(9, first[None, :]).x
    assert np.linalg.norm(first - second) > 1e-3
    assert np.array_equal(search.ask(8, np.empty((0, 2))).x, first)


# --- answers


def test_recommendation_is_the_evaluated_point_of_highest_mean() -> None:
    search, history = run(ExpectedImprovement(), 12)
    incumbent = search.recommend()
    x = np.array([trial.x for trial in history])
    means = search.model.posterior.predict(x)
    best = int(np.argmax(means.mean))
    assert np.array_equal(incumbent.x, x[best])
    frame = search.model.frame
    assert incumbent.value == pytest.approx(frame.shift + frame.scale * means.mean[best])
    assert incumbent.interval is not None
    assert incumbent.interval[1] - incumbent.interval[0] == pytest.approx(
        2 * 1.6449 * frame.scale * means.deviation[best], 1e-4
    )
    assert not incumbent.certified
    assert incumbent.gain is not None
    assert incumbent.gain.mean >= 0
    again = search.recommend()
    assert (again.value, again.gain) == (incumbent.value, incumbent.gain)


def test_one_trial_is_enough_to_recommend() -> None:
    search, history = run(ExpectedImprovement(), 1)
    assert np.array_equal(search.recommend().x, history[0].x)
    assert isinstance(search.certificate(search.recommend().x), str)


def test_credible_interval_is_about_as_wide_as_it_says() -> None:
    """f drawn from the very process: the 90 % interval at the recommended point holds in 60 to 100 % of 40 runs.

    Loose on purpose: the point is chosen for its mean, and the upper end suffers from that.
    """
    kernel, hits = Matern(2.5, 0.3), 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.random((15, 1))
        f = np.linalg.cholesky(kernel(x) + 1e-10 * np.eye(15)) @ rng.standard_normal(15)
        method = ExpectedImprovement(kernel=kernel, standardise=False)
        search = method.start(Domain.cube(1), seed)
        for i in range(15):
            search.tell(told(i, x[i], f[i] + 0.1 * rng.standard_normal()))
        incumbent = search.recommend()
        truth = f[int(np.argmin(np.abs(x[:, 0] - incumbent.x[0])))]
        assert incumbent.interval is not None
        hits += incumbent.interval[0] <= truth <= incumbent.interval[1]
    assert 24 <= hits <= 40


def test_shifting_and_scaling_values_changes_nothing_but_units() -> None:
    """With standardise, y -> 100 y + 7 (and its noise) leads to the same points, up to rounding."""
    plain, history = run(ExpectedImprovement(), 8)
    scaled = ExpectedImprovement(noise=10.0).start(Domain.cube(2), 0)
    for trial in history:
        scaled.tell(told(trial.number, trial.x, 100 * trial.values[0] + 7))
    one, other = plain.recommend(), scaled.recommend()
    assert np.array_equal(one.x, other.x)
    assert other.value == pytest.approx(100 * one.value + 7, rel=1e-4)
    assert plain.ask(8, np.empty((0, 2))).x == pytest.approx(scaled.ask(8, np.empty((0, 2))).x, abs=1e-3)


def test_replay_is_bit_identical() -> None:
    method = ExpectedImprovement(kernel=Learned(refit_every="doubling"))
    search, history = run(method, 11)
    replayed = method.start(Domain.cube(2), 0)
    for trial in history:  # no asks in between: whether there were any must not matter
        replayed.tell(trial)
    assert np.array_equal(search.ask(11, np.empty((0, 2))).x, replayed.ask(11, np.empty((0, 2))).x)
    one, other = search.recommend(), replayed.recommend()
    assert (one.value, one.interval, one.gain) == (other.value, other.interval, other.gain)


def test_explain_is_plain_data() -> None:
    search, _ = run(ExpectedImprovement(), 6)
    facts = search.explain()
    assert facts["trials"] == 6
    assert facts["initial design complete"] is True
    assert "Matern" in str(facts["kernel"])
    assert ExpectedImprovement().start(Domain.cube(1), 0).explain() == {"trials": 0}
