"""Pruned trials in studies: they are no results and no failures, and a search does not ask for the same again."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.pruners import MedianPruner
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations import QuadratSampler, recommend
from quadrat.methods import GPUCBPE, LP0, Auto
from quadrat.methods.auto.long_runs import MOST
from quadrat.methods.auto.method import AutoSearch
from quadrat.methods.base import Domain, Failure, Method, Observation, Pruned
from quadrat.optimizer.outcome import Reading
from quadrat.plots.run_view import RunView
from quadrat.studies import engine as study_engine
from quadrat.studies.trials import reading_of_trial, values_of

PLANE: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
BEGIN = datetime(2026, 1, 1)
EPOCHS, NOISE = 20, 0.01


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def loss(x: float, y: float, epoch: int) -> float:
    """A learning curve that ends near a bowl; some settings learn more slowly than others."""
    return (x - 0.3) ** 2 + (y - 0.6) ** 2 + (0.3 + 0.7 * x) * float(np.exp(-epoch / (2 + 4 * y)))


def study_of(sampler: optuna.samplers.BaseSampler, n: int, seed: int, n_startup: int = 5) -> Study:
    """Of trials that report a noisy loss after every epoch, under the median pruner."""
    rng = np.random.default_rng(seed)

    def train(trial: Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        for epoch in range(1, EPOCHS + 1):
            value = loss(x, y, epoch) + NOISE * rng.standard_normal()
            trial.report(value, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(value)

    study = optuna.create_study(sampler=sampler, pruner=MedianPruner(n_startup_trials=n_startup))
    study.optimize(train, n_trials=n)
    return study


def ended(
    number: int, x: float, y: float, value: float | None, state: TrialState = TrialState.COMPLETE, **more: Any
) -> FrozenTrial:
    """A trial that ended at its own number of minutes."""
    trial = create_trial(state=state, value=value, params={"x": x, "y": y}, distributions=PLANE, **more)
    trial.datetime_complete = BEGIN + timedelta(minutes=number)
    return trial


def without_pruned(study: Study) -> Study:
    other = optuna.create_study(direction=study.direction)
    other.add_trials([trial for trial in study.trials if trial.state is not TrialState.PRUNED])
    return other


# --- what is recommended


def test_a_study_is_recommended_from_as_if_pruned_trials_were_not_there() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=3), 40, seed=3)
    pruned = [trial for trial in study.trials if trial.state is TrialState.PRUNED]
    assert len(pruned) > 10
    assert all(trial.value is not None for trial in pruned), "Optuna keeps the last report as the value"
    found, expected = recommend(study), recommend(without_pruned(study))
    assert (found.value, found.credible_interval) == (expected.value, expected.credible_interval)
    assert found.params == expected.params
    assert study.trials[found.best_seen.number].state is TrialState.COMPLETE
    assert found.best_seen.value == study.best_value


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_the_interval_of_a_pruned_study_holds(seed: int) -> None:
    study = study_of(QuadratSampler(seed=seed, search_space=PLANE), 60, seed)
    assert sum(trial.state is TrialState.PRUNED for trial in study.trials) > 15
    found = recommend(study)
    assert found.credible_interval is not None
    low, high = found.credible_interval
    assert low <= loss(found.params["x"], found.params["y"], EPOCHS) <= high


def test_one_complete_trial_among_pruned_ones_is_enough_and_none_is_refused() -> None:
    study = optuna.create_study()
    for number in range(8):
        study.add_trial(ended(number, number / 8, 0.5, 0.1, TrialState.PRUNED, intermediate_values={1: 0.1}))
    study.add_trial(ended(8, 0.5, 0.5, None, TrialState.FAIL))
    study.ask()
    study.enqueue_trial({"x": 0.2})
    refusal = "got 1 that failed, 8 that were pruned and have no result, and 2 that have not ended; let one run to its"
    with pytest.raises(NotAvailable, match=refusal):
        recommend(study)
    study.add_trial(ended(9, 0.25, 0.75, 3.0))
    found = recommend(study)
    assert found.best_seen.number == 11
    assert found.params == {"x": 0.25, "y": 0.75}


@pytest.mark.parametrize(
    ("state", "more"),
    [
        (TrialState.PRUNED, {"intermediate_values": {0: 5.0, 3: 4.0}}),
        (TrialState.PRUNED, {"intermediate_values": {0: float("nan")}}),
        (TrialState.PRUNED, {"user_attrs": {"quadrat:values": [1.0, 2.0]}}),
        (TrialState.PRUNED, {}),
        (TrialState.RUNNING, {"intermediate_values": {0: 5.0}}),
        (TrialState.WAITING, {}),
        (TrialState.FAIL, {"intermediate_values": {0: 5.0}}),
    ],
)
@pytest.mark.parametrize("value", [None, 4.0])
def test_only_complete_trials_have_values(state: TrialState, more: dict[str, Any], value: float | None) -> None:
    trial = FrozenTrial(
        0, state, value, None, None, {}, {}, more.get("user_attrs", {}), {}, more.get("intermediate_values", {}), 0
    )
    assert values_of(trial) is None


def searched_together(study: Study) -> set[str]:
    """The names of the parameters that are chosen together for the next trial."""
    trial = study.ask()
    assert not trial.relative_params, "each is handed out when it is asked for"
    chosen = json.loads(study.trials[trial.number].system_attrs["quadrat:params:0"])
    return {name for name in chosen if not name.startswith("quadrat:")}


def test_a_parameter_that_a_pruned_trial_lacks_is_still_recommended() -> None:
    study = optuna.create_study()
    for number in range(6):
        study.add_trial(ended(number, number / 6, 0.5, float(number)))
    early = create_trial(state=TrialState.PRUNED, params={"x": 0.5}, distributions={"x": PLANE["x"]})
    study.add_trial(early)
    assert sorted(recommend(study).params) == ["x", "y"]
    study.sampler = QuadratSampler(seed=0)
    assert searched_together(study) == {"x", "y"}


def test_before_any_result_the_parameters_of_pruned_trials_are_searched() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    study.add_trial(ended(0, 0.5, 0.5, None, TrialState.PRUNED))
    assert searched_together(study) == {"x", "y"}


def test_figures_count_complete_trials_alone() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=3), 30, seed=3)
    view = RunView.of(study)
    assert len(view.records) == sum(trial.state is TrialState.COMPLETE for trial in study.trials)
    assert view.best_so_far.value[-1] == study.best_value


# --- what is added to an optimizer


def test_an_optimizer_leaves_pruned_trials_out_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=3), 30, seed=3)
    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
    optimizer = qd.Optimizer(space, direction="minimize")
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        added = optimizer.add_trials(study)
    complete = [trial.value for trial in study.trials if trial.state is TrialState.COMPLETE]
    assert len(added) == len(complete) < 30
    assert [record.value for record in optimizer.trials] == complete
    assert f"left out {30 - len(complete)} of 30 trials, which were pruned and have no result" in caplog.text
    certifying = LP0(kernel=qd.Matern(2.5, 0.5), norm_bound=2, noise=0.1, budget=50)
    strict = qd.Optimizer(space, direction="minimize", method=certifying)
    with pytest.raises(InvalidInput, match=r"expected no pruned trials for LP0, which certifies, got \d+"):
        strict.add_trials(study)
    assert not strict.trials


# --- what is searched


def search_of(sampler: QuadratSampler) -> AutoSearch:
    [(engine, _)] = sampler._engines.values()
    assert isinstance(engine.run.search, AutoSearch)
    return engine.run.search


def asked(study: Study) -> dict[str, Any]:
    trial = study.ask()
    return {name: trial.suggest_float(name, 0, 1) for name in PLANE}


@pytest.mark.parametrize("report", [0.5, float("nan"), None])
def test_a_pruned_trial_is_neither_a_value_nor_a_failure(report: float | None) -> None:
    """Whatever it reported: the model, and the chance of failures, are those of the study without it."""
    sampler = QuadratSampler(seed=1, search_space=PLANE)
    study = optuna.create_study(sampler=sampler)
    rng = np.random.default_rng(1)
    for number in range(8):
        x, y = rng.random(2).tolist()
        study.add_trial(ended(number, x, y, loss(x, y, EPOCHS)))
    reports = {} if report is None else {1: report}
    study.add_trial(ended(8, 0.3, 0.6, None, TrialState.PRUNED, intermediate_values=reports))
    asked(study)
    search = search_of(sampler)
    assert search.model.trials == 8
    assert not search.feasibility.any_failed
    assert len(search._pruned) == 1


def test_the_exact_point_is_not_asked_for_again() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))

    def pruned_where_it_is_best(trial: Trial) -> float:
        n = trial.suggest_int("n", 0, 5)
        if n in (2, 3):
            trial.report(-9.0, 1)
            raise optuna.TrialPruned
        return float(abs(n - 2.5))

    study.optimize(pruned_where_it_is_best, n_trials=16)
    tried = [trial.params["n"] for trial in study.trials]
    assert (tried.count(2), tried.count(3)) == (1, 1)


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_a_region_of_pruned_trials_is_not_searched_for_ever(seed: int) -> None:
    """The values promise more beyond an edge behind which every trial is pruned."""
    study = optuna.create_study(sampler=QuadratSampler(seed=seed, search_space=PLANE))

    def falls(trial: Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        if x > 0.6:
            raise optuna.TrialPruned
        return -x + (y - 0.5) ** 2

    study.optimize(falls, n_trials=40)
    late = [trial.state for trial in study.trials[20:]]
    assert late.count(TrialState.PRUNED) <= 8
    assert study.best_value < -0.5


def test_many_pruned_trials_are_believed_in_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, asking costs the same: the latest count, and what runs before them."""
    seen: list[Any] = []
    original = AutoSearch._improve

    def noted(self: AutoSearch, beliefs: Any, number: int, running: Any, box: Any = None, **more: Any) -> Any:
        seen.append(running)
        return original(self, beliefs, number, running, box, **more)

    monkeypatch.setattr(AutoSearch, "_improve", noted)
    study = optuna.create_study(sampler=QuadratSampler(seed=1, search_space=PLANE))
    points = np.random.default_rng(1).random((310, 2))
    for number, (x, y) in enumerate(points.tolist()):
        state = TrialState.COMPLETE if number < 10 else TrialState.PRUNED
        study.add_trial(ended(number, x, y, loss(x, y, EPOCHS), state))
    first = asked(study)
    second = asked(study)
    assert [len(running) for running in seen] == [MOST, MOST]
    assert np.array_equal(seen[0], points[-MOST:])
    assert np.array_equal(seen[1][:-1], points[1 - MOST :])
    assert seen[1][-1].tolist() == [first["x"], first["y"]]
    assert first != second


def test_a_search_is_rebuilt_with_its_pruned_trials() -> None:
    """All at once, as when a long study is opened, or one after another: the same suggestions."""
    rng = np.random.default_rng(5)
    happened: list[Observation | Failure | Pruned] = []
    for number, x in enumerate(rng.random((420, 2))):
        here = (float(x[0]), float(x[1]))
        if number % 3 == 2:
            happened.append(Pruned(number, x))
        elif number % 40 == 1:
            happened.append(Failure(number, x))
        else:
            happened.append(Observation(number, x, np.array([-loss(*here, EPOCHS)])))
    opened, followed = Auto().start(Domain.cube(2), 1), Auto().start(Domain.cube(2), 1)
    opened.rebuild(happened)
    followed.rebuild(happened[:400])
    for one in happened[400:]:
        followed.update(one)
    failures = sum(isinstance(one, Failure) for one in happened)
    assert opened.feasibility._failures == followed.feasibility._failures == failures
    assert len(opened._pruned) == len(followed._pruned) == 140
    taken = np.array([one.x for one in happened if not isinstance(one, Observation)])
    for number in range(420, 440):
        assert np.array_equal(opened.ask(number, taken).x, followed.ask(number, taken).x)


def test_a_method_without_a_model_of_failures_avoids_the_point() -> None:
    """GP-UCB-PE counts batches by what is pending: a pruned trial is pending for ever, and in no batch."""
    rng = np.random.default_rng(1)
    searches = [GPUCBPE().start(Domain.cube(2), 1) for _ in range(2)]
    points = rng.random((12, 2))
    for search in searches:
        search.rebuild([Observation(i, x, np.array([float(x[0] - x[1] ** 2)])) for i, x in enumerate(points[:10])])
    searches[0].rebuild([Pruned(10, points[10]), Pruned(11, points[11])])
    searches[1].rebuild([Failure(10, points[10]), Failure(11, points[11])])
    first, second = (search.ask(12, points[10:]) for search in searches)
    assert np.array_equal(first.x, second.x)
    assert first.why == second.why
    assert "upper" in first.why


@pytest.mark.parametrize("method", ["GPUCB", "ExpectedImprovement", "Heuristic", "RandomSearch"])
def test_any_method_goes_on_beside_pruned_trials(method: str) -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=1, method=method, search_space=PLANE))

    def half(trial: Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        if trial.number % 2:
            raise optuna.TrialPruned
        return loss(x, y, EPOCHS)

    study.optimize(half, n_trials=12)
    assert len({(trial.params["x"], trial.params["y"]) for trial in study.trials}) == 12


def test_what_is_followed_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pruned trial is told once, also to a search that goes on."""
    told: list[Any] = []

    def noted(trial: FrozenTrial, names: tuple[str, ...], method: Method) -> Reading:
        told.append((trial.number, reading := reading_of_trial(trial, names, method)))
        return reading

    monkeypatch.setattr(study_engine, "reading_of_trial", noted)
    study = study_of(QuadratSampler(seed=1, search_space=PLANE), 20, seed=1, n_startup=3)
    assert [reading.pruned for _, reading in told] == [one.state is TrialState.PRUNED for one in study.trials[:19]]
    assert [number for number, _ in told] == list(range(19))
