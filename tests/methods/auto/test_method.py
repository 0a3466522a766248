"""The default method: its score against quadrature, its suggestions as a pure function, and its recommendation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import quadrat.methods.auto.acquisition as module
from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, SpaceExhausted
from quadrat.gp import LogPosterior, Observations
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction
from quadrat.kernels import Matern
from quadrat.methods.acquisition import ascend
from quadrat.methods.auto.acquisition import DEVIATION_FACTOR, log_improvement
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.surrogate import STATED
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.design import SobolSearch
from quadrat.optimizer import FAILED, Estimate, Optimizer
from quadrat.optimizer.run import domain_of
from quadrat.space import Categorical, Float, Int, Space

NONE = np.empty((0, 2))
PLANE = Space(x=Float(0, 1), y=Float(0, 1))
MIXED = Space(x=Float(0, 1), n=Int(1, 6), kind=Categorical(["a", "b", "c"]), depth=Int(1, 4, when={"kind": "a"}))


def objective(x: Array) -> float:
    return float(np.sin(5 * x[0]) + x[-1])


def value_of(params: dict[str, Any]) -> float:
    numbers = [float(value) for value in params.values() if not isinstance(value, str)]
    return float(np.sin(sum(numbers)) + 0.3 * (params.get("kind") == "b"))


def told(number: int, x: Array, *values: float, variance: float | None = None) -> Observation:
    return Observation(number, np.asarray(x, dtype=np.float64), np.array(values), variance)


def trials(n: int, noise: float = 0.1) -> list[Observation]:
    """Trials at uniform points."""
    rng = np.random.default_rng(n)
    points = rng.random((n, 2))
    return [told(i, x, objective(x) + noise * rng.normal()) for i, x in enumerate(points)]


def search_after(history: list[Observation], seed: int = 0, **options: Any) -> AutoSearch:
    search = Auto(**options).start(Domain.cube(2), seed)
    for trial in history:
        search.tell(trial)
    return search


def run(search: AutoSearch, n: int, f: Callable[[Array], float] = objective) -> list[Observation]:
    history = []
    for number in range(n):
        x = search.domain.rounded(search.ask(number, np.empty((0, search.domain.dimension))).x[None, :])[0]
        history.append(told(number, x, f(x)))
        search.tell(history[-1])
    return history


# --- the score


def log_of_mean_improvement(z: Array, deviation: Array) -> float:
    """log of the mean of s times the integral of u phi(u - z) over u > 0, by quadrature in 30 digits."""
    with mpmath.workdps(30):
        total = mpmath.mpf(0)
        for one, s in zip(z.tolist(), deviation.tolist(), strict=True):
            width = 1 / max(1.0, abs(one))  # the integrand falls like exp(z u)
            knots = sorted({*(width * k for k in (0, 1, 4, 12, 40, 100)), max(one, 0.0) + 12})
            total += s * mpmath.quad(lambda u, z=one: u * mpmath.npdf(u - z), knots)
        return float(mpmath.log(total / len(z)))


@pytest.mark.parametrize(
    "z",
    [
        (0.3, -0.4, 1.0),
        (3.0, 8.0, 0.0),
        (-4.0, -5.0, -6.0),
        (-30.0, -31.0, -29.5),
        (-60.0, 1.0, -3.0),
        (-90.0, -120.0, -101.0),
    ],
    ids=str,
)
def test_log_improvement_is_the_log_of_the_average_over_settings(z: tuple[float, ...]) -> None:
    """Not the average of logs; also where each term is 0 in double precision, and where one outweighs all others."""
    deviation, target = np.array([0.5, 0.8, 0.3]), np.array([1.0, -2.0, 0.5])
    mean = target + deviation * np.array(z)
    value, slope = log_improvement(EnsemblePrediction(mean[:, None], deviation[:, None]), target)
    assert slope is None
    assert value[0] == pytest.approx(log_of_mean_improvement(np.array(z), deviation), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("target", [-1.0, 1.0, 3.0, 20.0, 300.0])
def test_slope_of_log_improvement_equals_finite_differences(target: float) -> None:
    """Through the ensemble's own gradients; the target from below the mean to far beyond anything possible."""
    x = np.random.default_rng(0).random((8, 2))
    data = LogPosterior(Matern(2.5, (0.4, 0.6)), Observations.merge(x, [objective(row) for row in x]))
    ensemble = Ensemble(data, data.start() + 0.2 * np.random.default_rng(1).normal(size=(3, 4)))
    targets, query, step = target + np.array([0.0, 0.1, -0.1]), np.random.default_rng(2).random((5, 2)), 1e-6
    value, slope = log_improvement(ensemble.predict_with_gradients(query), targets)
    assert slope is not None
    np.testing.assert_allclose(value, log_improvement(ensemble.predict(query), targets)[0], rtol=1e-9)
    for axis in range(2):
        move = step * np.eye(2)[axis]
        up, down = (log_improvement(ensemble.predict(query + side * move), targets)[0] for side in (1, -1))
        np.testing.assert_allclose(slope[:, axis], (up - down) / (2 * step), rtol=1e-4, atol=1e-4)


def test_the_suggestion_scores_at_least_as_high_as_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the score of 101 x 101 points, worked out from the ensemble here."""
    for n in (6, 12):
        search = search_after(trials(n))
        ensemble = search.model.current().ensemble
        target = score_of(search, n, NONE, monkeypatch).target
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2), -1).reshape(-1, 2)
        x = search.ask(n, NONE).x
        values = log_improvement(ensemble.predict(np.vstack([x[None, :], grid])).wider(DEVIATION_FACTOR), target)[0]
        assert values[0] >= values[1:].max() - 1e-3


def score_of(search: AutoSearch, number: int, pending: Array, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the search would maximise."""
    seen: list[Any] = []

    def maximise(self: object, best: Array, rng: np.random.Generator, box: object) -> tuple[Array, float]:
        seen.append(self)
        return best[0], 0.0

    with monkeypatch.context() as patch:
        patch.setattr(module.AutoAcquisition, "maximise", maximise)
        search.ask(number, pending)
    return seen[0]


FAILING = np.array([[0.2, 0.9], [0.3, 0.8], [0.9, 0.1]])


def search_with_failures() -> AutoSearch:
    """Ten trials that succeeded, and three that did not."""
    search = search_after(trials(10))
    for number, x in enumerate(FAILING):
        search.fail(10 + number, x)
    return search


def test_the_chance_to_succeed_counts_once_and_where_it_is_too_small_a_point_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the score and in its slope; refused points are below all others, and the likelier of them come first."""
    search, query = search_with_failures(), np.random.default_rng(5).random((40, 2))
    score = score_of(search, 13, NONE, monkeypatch)
    ensemble, target = search.model.current().ensemble, score.target
    chance = search.feasibility.log_chance(query)[0]
    grid = search.feasibility.log_chance(np.random.default_rng(6).random((2000, 2)))[0]
    assert score.least == pytest.approx(min(np.log(1 - 0.5 / 4), np.median(grid)), abs=0.05)
    may = chance >= score.least
    assert 10 < may.sum() < 30
    wanted = log_improvement(ensemble.predict(query).wider(DEVIATION_FACTOR), target)[0] + chance
    value, slope = score.slope(query)
    np.testing.assert_allclose(score.at(query)[may], wanted[may], rtol=1e-9)
    np.testing.assert_allclose(value, score.at(query), rtol=1e-9)
    assert np.isfinite(value).all()
    assert value[~may].max() < -1e100 < value[may].min()
    np.testing.assert_array_equal(np.argsort(value[~may]), np.argsort(chance[~may]))
    clear, step = chance > score.least + 1e-3, 1e-6  # no step crosses the border
    for axis in range(2):
        move = step * np.eye(2)[axis]
        numeric = (score.at(query[clear] + move) - score.at(query[clear] - move)) / (2 * step)
        np.testing.assert_allclose(slope[clear, axis], numeric, rtol=1e-4, atol=1e-4)


def test_a_point_with_exactly_the_chance_that_is_needed_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    search, x = search_with_failures(), np.array([[0.5, 0.5]])
    score, chance = (
        score_of(search, 13, NONE, monkeypatch),
        float(search.feasibility.log_chance(np.full((1, 2), 0.5))[0][0]),
    )
    assert replace(score, least=chance).at(x)[0] > -1e100
    assert replace(score, least=np.nextafter(chance, 0)).at(x)[0] < -1e100


def test_no_climb_ends_among_the_refused_that_did_not_begin_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many of them would, if nothing were refused."""
    search, starts = search_with_failures(), np.random.default_rng(5).random((60, 2))
    score = score_of(search, 13, NONE, monkeypatch)
    starts = starts[search.feasibility.log_chance(starts)[0] >= score.least]

    def refused(ends: Array) -> int:
        return int((search.feasibility.log_chance(ends)[0] < score.least).sum())

    ends, heights = ascend(score.slope, starts, steps=module.STEPS)
    assert refused(ends) == 0
    assert (heights >= score.at(starts)).all()
    assert (np.abs(ends - starts).max(axis=1) > 1e-3).mean() > 0.5
    assert refused(ascend(replace(score, least=-np.inf).slope, starts, steps=module.STEPS)[0]) > 5


def test_nothing_is_refused_before_something_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    search, query = search_after(trials(10)), np.random.default_rng(5).random((20, 2))
    score = score_of(search, 10, NONE, monkeypatch)
    ensemble = search.model.current().ensemble
    wanted = log_improvement(ensemble.predict(query).wider(DEVIATION_FACTOR), score.target)[0]
    np.testing.assert_allclose(score.at(query), wanted, rtol=1e-12)


def test_the_score_is_the_mean_improvement_of_draws_that_doubt_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Drawn: f at a point, under a sample drawn too, with its deviation as much wider as the search has it.

    What it is to exceed is drawn too: the highest of f at the evaluated points, on average.
    """
    search, query = search_after(trials(10)), np.random.default_rng(5).random((200, 2))
    score, rng = score_of(search, 10, NONE, monkeypatch), np.random.default_rng(6)
    at = search.model.current().ensemble.predict(query)
    means, joints = search.model.current().ensemble.covariances([trial.x for trial in trials(10)])
    target = np.array(
        [rng.multivariate_normal(*one, 4_000).max(axis=1).mean() for one in zip(means, joints, strict=True)]
    )
    np.testing.assert_allclose(score.target, target, atol=0.05)
    drawn = np.zeros(200)
    for _ in range(20_000):
        sample = int(rng.integers(len(target)))
        f = at.mean[sample] + DEVIATION_FACTOR * at.deviation[sample] * rng.standard_normal(200)
        drawn += np.maximum(f - target[sample], 0) / 20_000
    likely = drawn > 2e-2
    assert likely.sum() > 10
    np.testing.assert_allclose(np.exp(score.at(query))[likely], drawn[likely], rtol=0.15)


@pytest.mark.parametrize("fails", [False, True], ids=["running", "failed"])
def test_what_runs_is_to_be_improved_upon_and_what_failed_is_not(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pending point where the model expects more than at any point told."""
    search = search_after(trials(12))
    ensemble = search.model.current().ensemble
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)] * 2), -1).reshape(-1, 2)
    x = grid[[int(np.argmax(ensemble.predict(grid).mean.mean(axis=0)))]]
    before, there = score_of(search, 13, NONE, monkeypatch).target, ensemble.predict(x).mean[:, 0]
    assert (there > before + 1e-3).any()
    if fails:
        search.fail(12, x[0])
    score = score_of(search, 13, x, monkeypatch)
    np.testing.assert_allclose(score.target, before if fails else np.maximum(before, there), rtol=1e-12)


# --- the start


def test_first_the_centre_then_a_sobol_sequence() -> None:
    search, sobol = Auto(n_initial=6).start(Domain.cube(2), 3), SobolSearch().start(Domain.cube(2), 3)
    history = run(search, 8)
    assert history[0].x.tolist() == [0.5, 0.5]
    same = [np.array_equal(history[i].x, sobol.ask(i, NONE).x) for i in range(1, 8)]
    assert same == [True] * 5 + [False] * 2


def test_the_design_is_longer_where_there_are_choices_and_conditions() -> None:
    """One more trial for each choice and each parameter that depends on another; at most twice as many in all."""
    tree, several = {"kind": "tree"}, {f"s{i}": Categorical([0, 1]) for i in range(9)}
    spaces = {
        5: Space(x=Float(0, 1), n=Int(1, 9)),
        6: Space(x=Float(0, 1), kind=Categorical(["tree", "line"])),
        8: Space(kind=Categorical(["tree", "line"]), depth=Int(1, 9, when=tree), rate=Float(0, 1, when=tree)),
        10: Space(**several),
    }
    for wanted, space in spaces.items():
        optimizer = Optimizer(space, direction="maximize", seed=1)
        for number in range(12):
            trial = optimizer.ask()
            assert ("design" in trial.why or "centre" in trial.why) == (number < wanted)
            optimizer.tell(trial, float(np.sin(7 * number)))


def test_which_point_is_recommended_all_values_say() -> None:
    """The highest mean of the search's own posterior, not of the coarsened one that statements rest on."""
    mixed = Space(x=Float(0, 1), y=Float(0, 1), kind=Categorical(["a", "b", "c"]))
    plain = Space(x=Float(0, 1), y=Float(0, 1), z=Float(0, 1))
    differ = 0
    for seed in range(6):
        for space in (mixed, plain):
            search, domain = Auto().start(domain_of(space), seed), domain_of(space)
            assert isinstance(search, AutoSearch)
            rng = np.random.default_rng(seed)
            for number, x in enumerate(domain.rounded(rng.random((25, 3)))):
                search.tell(Observation(number, x, np.array([np.sin(5 * x[0]) + x[2] + 0.8 * rng.normal()])))
            means = [
                fitted.ensemble.predict(domain.features(search.model.x)).mixture()[0]
                for fitted in (search.model.current(), search.model.stated())
            ]
            best = [search.model.x[int(np.argmax(mean))].tolist() for mean in means]
            assert search.recommend().x.tolist() == best[0]
            differ += best[0] != best[1]
    assert differ, "the two posteriors do not always agree"


def test_the_design_goes_on_until_enough_is_told() -> None:
    """Twelve asked at once: the model cannot decide, and no point is asked twice."""
    search = Auto().start(Domain.cube(2), 0)
    proposals = [search.ask(number, NONE) for number in range(12)]
    assert all("design" in proposal.why for proposal in proposals[1:])
    assert len({proposal.x.tobytes() for proposal in proposals}) == 12


def test_looking_early_does_not_end_the_design() -> None:
    looked, blind = Auto().start(Domain.cube(2), 0), Auto().start(Domain.cube(2), 0)
    for trial in trials(2):
        looked.tell(trial)
        blind.tell(trial)
    looked.recommend()
    looked.explain()
    assert looked.ask(6, NONE).why == blind.ask(6, NONE).why


@pytest.mark.parametrize("n_initial", [0, -1, 2.5, "5", None])
def test_wrong_options(n_initial: Any) -> None:
    with pytest.raises(InvalidInput, match="n_initial: expected an integer >= 1"):
        Auto(n_initial=n_initial)


def test_the_model_decides_from_two_trials_on_if_asked_to() -> None:
    search = search_after(trials(2), n_initial=1)
    assert "improvement" in search.ask(2, NONE).why
    assert "design" in search_after(trials(1), n_initial=1).ask(1, NONE).why


# --- a pure function of seed, number, what was told and what is pending


def test_asking_twice_gives_the_same_point_and_pending_points_leave_no_trace() -> None:
    search = search_after(trials(8))
    first = search.ask(8, NONE).x
    search.ask(9, np.random.default_rng(0).random((3, 2)))
    search.recommend()
    np.testing.assert_array_equal(search.ask(8, NONE).x, first)
    assert not np.array_equal(search_after(trials(8), seed=1).ask(8, NONE).x, first), "another seed, another draw"


def test_asks_in_between_do_not_matter() -> None:
    """One search is asked before every trial, with something pending; the other is told all at once."""
    asked, history = Auto().start(Domain.cube(2), 0), trials(9)
    for number, trial in enumerate(history):
        asked.ask(number, np.random.default_rng(number).random((number % 3, 2)))
        asked.tell(trial)
    blind = search_after(history)
    pending = np.array([[0.2, 0.3]])
    np.testing.assert_array_equal(asked.ask(9, pending).x, blind.ask(9, pending).x)
    one, other = asked.recommend(), blind.recommend()
    assert (one.value, one.interval, one.gain) == (other.value, other.interval, other.gain)


def test_the_order_of_telling_hardly_matters() -> None:
    """Samples are drawn with the same numbers from densities that differ by rounding."""
    history = trials(10)
    one, other = search_after(history), search_after(history[::-1])
    assert one.ask(10, NONE).x == pytest.approx(other.ask(10, NONE).x, abs=0.02)
    np.testing.assert_array_equal(one.recommend().x, other.recommend().x)


def test_shifting_and_scaling_values_changes_nothing_but_units() -> None:
    history = trials(9)
    plain = search_after(history)
    scaled = search_after([told(trial.number, trial.x, 100 * trial.values[0] + 7) for trial in history])
    one, other = plain.recommend(), scaled.recommend()
    np.testing.assert_array_equal(one.x, other.x)
    assert other.value == pytest.approx(100 * one.value + 7, rel=1e-3)
    assert plain.ask(9, NONE).x == pytest.approx(scaled.ask(9, NONE).x, abs=1e-2)


def test_minimizing_f_is_maximizing_its_negative() -> None:
    low, high = (Optimizer(MIXED, direction=way, seed=2) for way in ("minimize", "maximize"))
    for _ in range(9):
        one, other = low.ask(), high.ask()
        assert one.params == other.params
        low.tell(one, value_of(one.params))
        high.tell(other, -value_of(other.params))
    assert low.recommend().params == high.recommend().params
    assert low.recommend().value == -high.recommend().value


def test_a_run_rebuilt_from_its_state_goes_on_alike() -> None:
    """With failures, replicates, standard errors and pending trials behind it."""
    optimizer = Optimizer(MIXED, direction="maximize", seed=5)
    assert optimizer.method == Auto()
    outcomes: list[Callable[[float], Any]] = [
        lambda v: v,
        lambda v: [v, v + 0.1],
        lambda v: Estimate(v, 0.1),
        lambda _: FAILED,
    ]
    for i in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, outcomes[i % 4](value_of(trial.params)))
    optimizer.ask()
    rebuilt = Optimizer.from_state(MIXED, optimizer.state())
    assert rebuilt.ask() == optimizer.ask()
    assert rebuilt.recommend() == optimizer.recommend()


# --- pending points


def smallest_distance(points: Array) -> float:
    """Of any two of these points."""
    pairs = np.triu_indices(len(points), 1)
    return float(np.linalg.norm(points[:, None] - points[None], axis=2)[pairs].min())


@pytest.mark.parametrize("dimension", [1, 2, 6])
def test_a_batch_of_four_is_four_points(dimension: int) -> None:
    search = Auto().start(Domain.cube(dimension), 0)
    run(search, 8)
    pending = np.empty((0, dimension))
    for number in range(8, 12):
        pending = np.vstack([pending, search.ask(number, pending).x[None, :]])
    assert smallest_distance(pending) > 1e-3


@pytest.mark.parametrize("n", [10, 12, 15])
def test_a_batch_under_noise_is_four_points(n: int) -> None:
    """A pending point whose mean is above all that was told is to be improved upon: once is enough to evaluate it."""
    search, pending = search_after(trials(n)), NONE
    for number in range(n, n + 4):
        pending = np.vstack([pending, search.ask(number, pending).x[None, :]])
    assert smallest_distance(pending) > 5e-3


def test_a_batch_on_a_tiny_space_takes_every_free_value() -> None:
    space = Space(n=Int(1, 3), kind=Categorical(["a", "b"]))
    optimizer = Optimizer(space, direction="maximize", seed=0)
    rng = np.random.default_rng(0)  # with noise: without it, nothing would be left after the sixth setting
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, value_of(trial.params) + 1e-3 * rng.normal())
    batch = [optimizer.ask() for _ in range(8)]
    assert len({tuple(trial.params.values()) for trial in batch[:6]}) == 6
    for trial in batch:
        optimizer.tell(trial, value_of(trial.params) + 1e-3 * rng.normal())
    assert optimizer.recommend().params == max((trial.params for trial in batch), key=value_of)


def test_pending_points_repel() -> None:
    """What would be asked next is asked elsewhere once it is pending."""
    search = search_after(trials(10))
    x = search.ask(10, NONE).x
    assert np.abs(search.ask(10, x[None, :]).x - x).max() > 0.02


# --- what is told


@pytest.mark.parametrize("kind", ["plain", "replicates", "standard errors", "mixed"])
def test_candidates_are_scattered_around_the_four_best_points(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of highest averaged mean, all different, however their values came."""
    rng = np.random.default_rng(3)
    search = Auto().start(Domain.cube(1), 0)
    points = rng.permutation(np.linspace(0.05, 0.95, 10))
    for i, x in enumerate(points):
        variance = {"standard errors": 0.01, "mixed": 0.01 if i % 2 else None}.get(kind)
        values = 3 * x + 0.05 * rng.normal(size=5 if kind == "replicates" else 1)
        search.tell(told(i, np.array([x]), *values, variance=variance))
    search.tell(told(10, points[[int(np.argmax(points))]], 3 * points.max()))  # the best again: still one point
    ensemble = search.model.current().ensemble
    means = ensemble.predict(points[:, None]).mean.mean(axis=0)
    seen: list[Array] = []

    def maximise(self: object, best: Array, rng: np.random.Generator, box: object) -> tuple[Array, float]:
        seen.append(best)
        return best[0], 0.0

    monkeypatch.setattr(module.AutoAcquisition, "maximise", maximise)
    search.ask(11, np.empty((0, 1)))
    assert seen[0][:, 0].tolist() == points[np.argsort(-means)[:4]].tolist()


def interval_width(history: list[Observation]) -> float:
    interval = search_after(history).recommend().interval
    assert interval is not None
    return interval[1] - interval[0]


def test_replicates_make_the_interval_narrower() -> None:
    rng, points = np.random.default_rng(0), np.random.default_rng(1).random((8, 2))
    noise = rng.normal(size=(8, 20))
    noise -= noise.mean(axis=1, keepdims=True)
    luck = 0.5 * rng.normal(size=8)
    once = [told(i, x, objective(x) + luck[i]) for i, x in enumerate(points)]
    often = [told(i, x, *(objective(x) + 0.1 * luck[i] + 0.5 * noise[i])) for i, x in enumerate(points)]
    assert interval_width(often) < 0.7 * interval_width(once)


def test_small_standard_errors_make_the_interval_narrower() -> None:
    widths = []
    for error in (1.0, 0.3, 0.01):
        history = [told(i, trial.x, *trial.values, variance=error**2) for i, trial in enumerate(trials(8))]
        widths.append(interval_width(history))
    assert widths[0] > 1.2 * widths[1] > 1.2 * 1.2 * widths[2]


def test_plain_values_after_standard_errors() -> None:
    optimizer = Optimizer(PLANE, direction="maximize")
    for i in range(9):
        trial = optimizer.ask()
        value = value_of(trial.params)
        optimizer.tell(trial, Estimate(value, 0.1) if i < 7 else value)
    assert np.isfinite(optimizer.recommend().value)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e9])
def test_constant_values(value: float) -> None:
    search = Auto().start(Domain.cube(2), 0)
    history = run(search, 9, lambda _: value)
    assert len({trial.x.tobytes() for trial in history}) == 9
    incumbent = search.recommend()
    assert incumbent.value == pytest.approx(value, abs=1e-6 * abs(value) + 1e-6)
    assert incumbent.gain is not None
    assert np.isfinite(incumbent.gain.upper)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_values_of_extreme_size(size: float) -> None:
    """The run is that of the same values of size 1, in other units."""
    plain = search_after(trials(9))
    scaled = search_after([told(trial.number, trial.x, size * trial.values[0]) for trial in trials(9)])
    for pending in (NONE, np.array([[0.4, 0.6]])):
        x = scaled.ask(9, pending).x
        assert ((x >= 0) & (x <= 1)).all()
        assert x == pytest.approx(plain.ask(9, pending).x, abs=1e-2)
    one, other = plain.recommend(), scaled.recommend()
    np.testing.assert_array_equal(one.x, other.x)
    assert other.value / size == pytest.approx(one.value, rel=1e-3)
    assert other.interval is not None
    assert one.interval is not None
    assert np.array(other.interval) / size == pytest.approx(np.array(one.interval), rel=1e-2)
    assert other.gain is not None
    assert one.gain is not None
    assert other.gain.mean / size == pytest.approx(one.gain.mean, rel=0.05)


@pytest.mark.parametrize("where", [0, 4, 8])
@pytest.mark.parametrize("value", [1e6, -1e6, 1e200])
def test_one_value_far_from_all_others(value: float, where: int) -> None:
    history = [told(i, t.x, value if i == where else t.values[0]) for i, t in enumerate(trials(9))]
    search, pending = search_after(history), NONE
    for number in range(9, 12):
        pending = np.vstack([pending, search.ask(number, pending).x[None, :]])
    assert ((pending >= 0) & (pending <= 1)).all()
    assert smallest_distance(pending) > 5e-3
    incumbent = search.recommend()
    assert np.array_equal(incumbent.x, history[where].x) is (value > 0)
    assert incumbent.gain is not None
    assert np.isfinite([incumbent.value, *(incumbent.interval or ()), incumbent.gain.upper]).all()


def test_one_value() -> None:
    search = search_after(trials(1))
    incumbent = search.recommend()
    np.testing.assert_array_equal(incumbent.x, trials(1)[0].x)
    assert incumbent.interval is not None
    assert incumbent.interval[0] < incumbent.value < incumbent.interval[1]
    assert search.explain()["trials"] == 1
    assert Auto().start(Domain.cube(2), 0).explain() == {"trials": 0}


def test_the_same_point_again_and_again() -> None:
    search = search_after([told(i, np.array([0.3, 0.3]), float(i % 2)) for i in range(8)])
    assert np.abs(search.ask(8, NONE).x - 0.3).max() > 0.02
    assert search.recommend().value == pytest.approx(0.5, abs=0.01)


# --- failures


def test_failures_everywhere() -> None:
    optimizer = Optimizer(PLANE, direction="maximize")
    for _ in range(10):
        optimizer.tell(optimizer.ask(), FAILED)
    for _ in range(7):
        trial = optimizer.ask()
        optimizer.tell(trial, value_of(trial.params))
    assert len({tuple(record.params.values()) for record in optimizer.trials}) == 17
    assert "improvement" in optimizer.trials[-1].why
    assert optimizer.recommend().params in [record.params for record in optimizer.trials[10:]]


@pytest.mark.parametrize("seed", [0, 1])
def test_accidents_do_not_stop_the_search(seed: int) -> None:
    """30 % of all trials fail, wherever they are: no suggestion is one of those refused, and the top is found."""
    search, rng, best = Auto().start(Domain.cube(2), seed), np.random.default_rng(seed + 100), -np.inf
    for number in range(25):
        proposal = search.ask(number, NONE)
        assert "e+20" not in proposal.why
        if rng.random() < 0.3:
            search.fail(number, proposal.x)
        else:
            value = -float(((proposal.x - np.array([0.2, 0.8])) ** 2).sum())
            search.tell(told(number, proposal.x, value))
            best = max(best, value)
    assert len(search._failed) >= 4
    assert best > -0.01


@pytest.mark.parametrize("side", [0.5, 0.1, 0.01], ids=["a quarter", "1 %", "0.01 %"])
def test_half_of_what_may_be_evaluated_stays_open(side: float) -> None:
    """A known constraint leaves a corner, where 40 % fail by accident: that nobody failed elsewhere is no help there.

    So small a corner that no uniform point falls into it is open where trials succeeded.
    """
    domain = Domain((Axis(), Axis()), feasible=lambda points: np.asarray((points < side).all(axis=1)))
    search, rng = Auto().start(domain, 0), np.random.default_rng(1)
    failed = rng.random(30) < 0.4
    points = side * rng.random((30, 2))
    for number, x in enumerate(points):
        if failed[number]:
            search.fail(number, x)
        else:
            search.tell(told(number, x, -float(((x / side - 0.7) ** 2).sum())))
    least = search.surrogates.least_log_chance(search.seed, 30)
    where = points[~failed] if side == 0.01 else side * rng.random((400, 2))
    assert (search.feasibility.log_chance(where)[0] >= least).mean() >= 0.4
    x = search.ask(30, NONE).x
    assert (x < side).all()
    assert search.feasibility.log_chance(x[None, :])[0][0] >= least


@pytest.mark.parametrize(("top", "least"), [(0.2, 9), (0.8, 5)], ids=["top allowed", "top beyond"])
def test_whatever_is_beyond_an_edge_fails(top: float, least: int) -> None:
    """x > 0.6 fails. A top on this side is found with at most one more failure; one beyond, as near as the edge allows.

    In search of that second top the edge is crossed by half of the last ten trials at most.
    """
    optimizer = Optimizer(PLANE, direction="maximize", seed=1)
    for _ in range(20):
        trial = optimizer.ask()
        value = -((trial.params["x"] - top) ** 2) - (trial.params["y"] - 0.5) ** 2
        optimizer.tell(trial, FAILED if trial.params["x"] > 0.6 else value)
    assert sum(record.state == "complete" for record in optimizer.trials[-10:]) >= least
    assert optimizer.recommend().params["x"] == pytest.approx(min(top, 0.6), abs=0.06)


TOP, RADIUS = np.array([0.6, 0.45]), np.sqrt(0.1 / np.pi)
"""Of a bowl in the plane, and of the disc of 10 % of the volume around its top, where everything fails."""


def failures_of_a_search(seed: int) -> int:
    """Among 40 trials of that bowl, where failures reach the search through `fail` alone."""
    search, failures = Auto().start(Domain.cube(2), seed), 0
    for number in range(40):
        x = search.ask(number, NONE).x
        distance = float(np.linalg.norm(x - TOP))
        if distance < RADIUS:
            search.fail(number, x)
            failures += 1
        else:
            search.tell(told(number, x, -(distance**2)))
    return failures


def bowl_with_an_optimizer(seed: int) -> Optimizer:
    """The same 40 trials with an optimizer, which also hands over failed points as taken."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=seed)
    for _ in range(40):
        trial = optimizer.ask()
        distance = float(np.linalg.norm(np.array([trial.params["x"], trial.params["y"]]) - TOP))
        optimizer.tell(trial, FAILED if distance < RADIUS else -(distance**2))
    return optimizer


def failures_of_an_optimizer(seed: int) -> int:
    return sum(record.state == "failed" for record in bowl_with_an_optimizer(seed).trials)


def without_learning(count: Callable[[int], int], seeds: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    with monkeypatch.context() as patch:
        patch.setattr(AutoSearch, "fail", lambda self, number, x: None)  # noqa: ARG005
        return [count(seed) for seed in seeds]


def test_learning_from_failures_saves_two_thirds_of_them_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the top of the bowl fails: for each of two seeds, against the same search that does not learn from it."""
    learning = [failures_of_a_search(seed) for seed in (0, 1)]
    blind = without_learning(failures_of_a_search, [0, 1], monkeypatch)
    assert all(3 * one <= other for one, other in zip(learning, blind, strict=True))


def test_learning_from_failures_saves_half_of_them_where_failed_points_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With an optimizer, over both seeds: without learning, the search still stays clear of each failed point."""
    learning = 0
    for seed in (0, 1):
        optimizer = bowl_with_an_optimizer(seed)
        learning += sum(record.state == "failed" for record in optimizer.trials)
        best = max(record.value for record in optimizer.trials if record.value is not None)
        assert best > -(1.1 * RADIUS**2), "near the rim, the best that may be evaluated"
    blind = sum(without_learning(failures_of_an_optimizer, [0, 1], monkeypatch))
    assert learning <= 0.5 * blind


def test_a_failure_is_told_to_the_search_and_lowers_the_score_there() -> None:
    search = search_after(trials(8))
    x = search.ask(8, NONE).x
    before = float(np.exp(search.feasibility.log_chance(x[None, :])[0][0]))
    search.fail(8, x)
    assert float(np.exp(search.feasibility.log_chance(x[None, :])[0][0])) < 0.5 < before
    assert np.abs(search.ask(9, x[None, :]).x - x).max() > 0.02


# --- what is behind the cube


def test_suggestions_are_rounded_points_of_the_domain() -> None:
    """On a mixed space with a conditional parameter: what the model proposes needs no rounding, and never repeats."""
    domain = domain_of(MIXED)
    search = Auto().start(domain, 0)
    run(search, 7, lambda x: value_of(MIXED.from_unit(x)))
    for number in range(7, 12):
        x = search.ask(number, np.empty((0, 4))).x
        np.testing.assert_allclose(MIXED.round(x), x, atol=1e-12)
        search.tell(told(number, x, value_of(MIXED.from_unit(x))))


def test_what_is_not_allowed_is_not_suggested() -> None:
    """Below the diagonal only, where the function grows towards the other side."""
    domain = Domain((Axis(), Axis()), feasible=lambda points: points.sum(axis=1) <= 1.0)
    search = Auto().start(domain, 0)
    for i, x in enumerate(np.random.default_rng(0).random((6, 2)) / 2):
        search.tell(told(i, x, x.sum()))
    for number in range(6, 10):
        x = search.ask(number, NONE).x
        assert x.sum() <= 1.0
        search.tell(told(number, x, x.sum()))
    assert search.recommend().value > 0.9


@pytest.mark.parametrize(
    "space",
    [
        Space(only=Categorical(["a"])),
        Space(only=Categorical(["a"]), x=Float(0, 1)),
        Space(flag=Categorical([True, False])),
        Space(n=Int(1, 10**9, log=True)),
        Space(kind=Categorical(["a", "b", "c"]), x=Float(0, 1, when={"kind": "a"})),
    ],
    ids=repr,
)
def test_odd_spaces(space: Space) -> None:
    optimizer, settings = Optimizer(space, direction="maximize"), set()
    try:
        for _ in range(8):
            trial = optimizer.ask()
            settings.add(tuple(trial.params.values()))
            optimizer.tell(trial, value_of(trial.params))
    except SpaceExhausted:  # one or two settings that always give the same
        (only,) = space.values()
        assert isinstance(only, Categorical)
        assert len(settings) == len(only.choices)
    space.to_unit(optimizer.recommend().params)


def test_the_best_of_fifty_choices_is_found() -> None:
    """Within 60 trials for two seeds of three at least: the axis has no order to climb along."""
    space, found = Space(choice=Categorical([f"c{i}" for i in range(50)])), 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        effects = rng.random(50)
        best = f"c{int(rng.integers(50))}"
        optimizer = Optimizer(space, direction="maximize", seed=seed)
        for _ in range(60):
            trial = optimizer.ask()
            if trial.params["choice"] == best:
                found += 1
                break
            optimizer.tell(trial, effects[int(str(trial.params["choice"])[1:])])
    assert found >= 2


# --- the recommendation


def quantile_of_normals(means: Array, deviations: Array, level: float) -> float:
    """Of equally likely ones, by a root of their averaged distribution function."""
    low, high = float((means - 9 * deviations).min()), float((means + 9 * deviations).max())
    return float(brentq(lambda x: float(np.mean(norm.cdf(x, means, deviations))) - level, low, high, xtol=1e-14))


def test_recommendation_is_the_evaluated_point_of_highest_averaged_mean() -> None:
    """Stated there: the median and 90 % of the mixture over samples that were learned from all trials."""
    search = Auto().start(Domain.cube(2), 0)
    history = run(search, 12)
    incumbent = search.recommend()
    fitted = search.model.stated()
    assert fitted.fit.trials == fitted.trials == 12
    assert len(fitted.ensemble) == STATED
    shift, scale = (float(part(np.concatenate([trial.values for trial in history]))) for part in (np.mean, np.std))
    at = fitted.ensemble.predict([trial.x for trial in history])
    judged = search.model.current().ensemble.predict([trial.x for trial in history])
    best = int(np.argmax(judged.mean.mean(axis=0)))
    np.testing.assert_array_equal(incumbent.x, history[best].x)
    low, middle, high = (
        shift + scale * quantile_of_normals(at.mean[:, best], at.deviation[:, best], level)
        for level in (0.05, 0.5, 0.95)
    )
    assert incumbent.value == pytest.approx(middle, abs=1e-9)
    assert incumbent.interval == pytest.approx((low, high), abs=1e-9)
    assert low < middle < high
    assert incumbent.distribution is not None
    assert incumbent.distribution.chance_at_most(high) == pytest.approx(0.95)
    value, lower, upper = search.predict(history[best].x[None, :])
    assert [value[0], lower[0], upper[0]] == pytest.approx([middle, low, high], abs=1e-9)
    assert not incumbent.certified
    assert isinstance(search.certificate(search.recommend().x), str)


def test_a_glance_sees_that_much_is_left_and_never_where_little_is() -> None:
    """The gain over few points is no larger than that over many: what the glance calls more is more."""
    seen = 0
    for dimension, seed in ((1, 0), (2, 1), (3, 2)):
        search, rng = Auto().start(Domain.cube(dimension), seed), np.random.default_rng(seed)
        for number in range(16):
            x = search.ask(number, np.empty((0, dimension))).x
            search.tell(told(number, x, float(-((x - 0.4) ** 2).sum() + 0.05 * rng.standard_normal())))
            if number in (7, 15):
                gain = search.recommend().gain
                assert gain is not None
                for limit in (0.05 * gain.upper, 0.5 * gain.upper, 0.9 * gain.upper):
                    seen += search.leaves_more_than(limit)
                assert not search.leaves_more_than(gain.upper)
    assert seen >= 6
    search.tell(Observation(16, np.full(3, 0.5), np.array([0.0]), constraints=(1.0,)))
    assert not search.leaves_more_than(0.0), "with constraints nobody glances"


def test_the_estimated_gain_shrinks_as_f_becomes_known() -> None:
    search = Auto().start(Domain.cube(2), 0)
    history = run(search, 20)
    few, many = search_after(history[:5]).recommend().gain, search.recommend().gain
    assert few is not None
    assert many is not None
    assert few.mean > 5 * many.mean >= 0
    assert few.upper > 5 * many.upper >= 5 * many.mean


@pytest.mark.parametrize(("n", "noise"), [(6, 0.1), (12, 0.1), (12, 0.5)])
def test_the_gain_is_that_of_a_direct_simulation_or_a_little_more(n: int, noise: float) -> None:
    """Draws of max f - f(x) over a grid, under each sample: their mean and their quantile. A grid leaves some out."""
    search = search_after(trials(n, noise))
    incumbent = search.recommend()
    gain = incumbent.gain
    assert gain is not None
    assert len(gain.draws) >= STATED
    ticks = np.linspace(0, 1, 21)
    points = np.vstack([incumbent.x, np.stack(np.meshgrid(ticks, ticks), -1).reshape(-1, 2)])
    fitted, rng = search.model.stated(), np.random.default_rng(0)
    drawn = []
    for mean, joint in zip(*fitted.ensemble.covariances(points), strict=True):
        f = rng.multivariate_normal(mean, joint, size=200, method="eigh")
        drawn.extend((f.max(axis=1) - f[:, 0]).tolist())
    assert 0.97 < gain.mean / (fitted.transform.above * np.mean(drawn)) < 1.3
    assert 0.95 < gain.upper / (fitted.transform.above * np.quantile(drawn, 0.9)) < 1.3


@pytest.mark.parametrize("n", [8, 30])
def test_with_one_axis_the_gain_is_that_of_a_direct_simulation(n: int) -> None:
    search, rng = Auto().start(Domain.cube(1), 0), np.random.default_rng(2)
    for number, x in enumerate(rng.random((n, 1))):
        search.tell(told(number, x, float(np.sin(5 * x[0])) + 0.1 * float(rng.standard_normal())))
    incumbent, fitted = search.recommend(), search.model.stated()
    assert incumbent.gain is not None
    points, drawn = np.vstack([incumbent.x, np.linspace(0, 1, 301)[:, None]]), []
    for mean, joint in zip(*fitted.ensemble.covariances(points), strict=True):
        f = rng.multivariate_normal(mean, joint, size=200, method="eigh")
        drawn.extend((f.max(axis=1) - f[:, 0]).tolist())
    assert incumbent.gain.mean == pytest.approx(fitted.transform.above * np.mean(drawn), rel=0.1)
    assert incumbent.gain.upper == pytest.approx(fitted.transform.above * np.quantile(drawn, 0.9), rel=0.1)


@pytest.mark.parametrize(("dimension", "n"), [(3, 8), (5, 30)])
def test_with_many_axes_the_gain_is_stated_from_above_and_not_far_from_it(dimension: int, n: int) -> None:
    """Above joint draws of f at some points, as there are more points; and below twice that."""
    search = Auto().start(Domain.cube(dimension), 0)
    rng = np.random.default_rng(1)
    for number, x in enumerate(rng.random((n, dimension))):
        search.tell(told(number, x, -float(((x - 0.4) ** 2).sum()) + 0.1 * float(rng.standard_normal())))
    incumbent, fitted = search.recommend(), search.model.stated()
    gain = incumbent.gain
    assert gain is not None
    points = np.vstack([incumbent.x, rng.random((400, dimension))])
    drawn = np.hstack(list(fitted.ensemble.draws(points, 100, rng)))
    highest = fitted.transform.above * (drawn.max(axis=0) - drawn[0])
    assert np.quantile(highest, 0.9) < gain.upper < 2 * np.quantile(highest, 0.9)
    assert np.mean(highest) < gain.mean < 2 * np.mean(highest)


# --- noise that is known


@pytest.mark.parametrize("noise", [-1.0, "0.1", float("nan"), float("inf")])
def test_wrong_noise(noise: Any) -> None:
    with pytest.raises(InvalidInput, match="noise: expected"):
        Auto(noise=noise)


def test_without_noise_the_value_at_the_recommended_point_is_the_one_told() -> None:
    """Up to a millionth of the spread of all values; and no point is asked for twice."""
    search = Auto(noise=0).start(Domain.cube(2), 0)
    history = run(search, 18)
    incumbent = search.recommend()
    spread = float(np.std([trial.values[0] for trial in history]))
    assert incumbent.value == pytest.approx(objective(incumbent.x), abs=1e-6 * spread)
    assert len({trial.x.tobytes() for trial in history}) == 18
    assert search.explain()["noise"] == 0.0


@pytest.mark.parametrize("noise", [0.05, 0.8])
def test_a_noise_that_is_given_is_believed(noise: float) -> None:
    """In the units told; the wider the interval, the more of it there is."""
    told_noise = search_after(trials(10), noise=noise)
    assert told_noise.explain()["noise"] == pytest.approx(noise)
    as_errors = search_after([replace(trial, variance=noise**2) for trial in trials(10)])
    one, other = told_noise.recommend(), as_errors.recommend()
    assert (one.x.tolist(), one.value, one.interval) == (other.x.tolist(), other.value, other.interval)
    np.testing.assert_array_equal(told_noise.ask(10, NONE).x, as_errors.ask(10, NONE).x)


def waves(n: float) -> float:
    return float(-(((n - 200) / 100) ** 2) + np.sin(n / 20))


def ridges(n: float, m: float) -> float:
    return float(-((n - 31) ** 2) / 400 - (m - 7) ** 2 / 30 + 0.3 * np.sin(n))


@pytest.mark.parametrize(
    ("f", "space", "seed"),
    [
        (waves, Space(n=Int(1, 500)), 0),
        (waves, Space(n=Int(1, 500)), 1),
        (ridges, Space(n=Int(1, 50), m=Int(1, 10)), 0),
    ],
    ids=["0", "1", "two axes"],
)
def test_in_a_deterministic_study_hardly_anything_is_asked_for_again(
    f: Callable[..., float], space: Space, seed: int
) -> None:
    """Of 500 settings, in 60 trials: three times at most, until it is known that there is no noise."""
    optimizer, asked = Optimizer(space, direction="maximize", seed=seed), []
    for _ in range(60):
        trial = optimizer.ask()
        numbers = tuple(float(value) for value in trial.params.values())
        optimizer.tell(trial, f(*numbers))
        asked.append(numbers)
    assert len(set(asked)) >= 57


def test_a_smooth_function_is_maximised() -> None:
    """Sanity: 25 noiseless trials of a bowl in three dimensions come within 1e-3 of its top."""
    search = Auto().start(Domain.cube(3), 0)
    top = np.array([0.3, 0.8, 0.6])
    history = run(search, 25, lambda x: -float(((x - top) ** 2).sum()))
    assert max(trial.values[0] for trial in history) > -1e-3


def test_explain_is_plain_data() -> None:
    facts = json.loads(json.dumps(search_after(trials(6)).explain()))
    assert facts["trials"] == facts["learned from"] == 6
    samples = facts["samples"]
    assert len(samples) == STATED
    assert all(set(row) == {"smoothness", "lengthscales", "variance", "noise"} for row in samples)
    assert all(len(row["lengthscales"]) == 2 and min(row["lengthscales"]) > 0 for row in samples)
    assert sum(facts["chances of smoothness"].values()) == pytest.approx(1.0)
    assert facts["noise"] > 0
