"""Callbacks that only know Optuna see of a QuadratSampler's trials what they see of any other's."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import MaxTrialsCallback
from optuna.trial import Trial, TrialState

from quadrat.integrations import QuadratSampler

EXAMPLE = Path(__file__).parents[2] / "examples" / "optuna_callbacks.py"
Samplers = pytest.mark.parametrize("sampler", [QuadratSampler, RandomSampler])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


@Samplers
def test_a_logger_of_runs_has_every_trial_as_the_study_has_it(
    sampler: Callable[..., BaseSampler], example: dict[str, Any]
) -> None:
    study, logger = optuna.create_study(sampler=sampler(seed=0)), example["RunLogger"]()
    study.optimize(example["objective"], n_trials=8, callbacks=[logger])
    assert [run["run"] for run in logger.runs] == list(range(8))
    for run, trial in zip(logger.runs, study.trials, strict=True):
        assert run["params"] == trial.params
        assert set(run["params"]) == {"rate", "depth"}
        assert run["attrs"] == {"seconds": 0.1 * trial.params["depth"]}, "nothing of ours among the user's"
        assert run["loss"] == trial.value
    assert logger.runs[-1]["best"] == study.best_value


@Samplers
def test_failed_and_pruned_trials_are_logged_too(sampler: Callable[..., BaseSampler], example: dict[str, Any]) -> None:
    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number == 1:
            raise ArithmeticError
        if trial.number == 2:
            trial.report(x, 0)
            raise optuna.TrialPruned
        return x

    study, logger = optuna.create_study(sampler=sampler(seed=0)), example["RunLogger"]()
    study.optimize(objective, n_trials=4, callbacks=[logger], catch=(ArithmeticError,))
    assert [run["state"] for run in logger.runs] == ["COMPLETE", "FAIL", "PRUNED", "COMPLETE"]


@Samplers
def test_callbacks_end_a_study(sampler: Callable[..., BaseSampler], example: dict[str, Any]) -> None:
    study = optuna.create_study(sampler=sampler(seed=0))
    study.optimize(example["objective"], n_trials=30, callbacks=[example["StopWhenGood"](10.0)])
    assert len(study.trials) == 1
    study.optimize(example["objective"], callbacks=[MaxTrialsCallback(5, states=(TrialState.COMPLETE,))])
    assert len(study.trials) == 5


def test_a_callback_in_threads_sees_each_trial_once(example: dict[str, Any]) -> None:
    study, logger = optuna.create_study(sampler=QuadratSampler(seed=0)), example["RunLogger"]()
    study.optimize(example["objective"], n_trials=8, n_jobs=2, callbacks=[logger])
    assert sorted(run["run"] for run in logger.runs) == list(range(8))


def test_a_callback_may_enqueue_the_next_trial(example: dict[str, Any]) -> None:
    """As warm starts do: the sampler neither overrules nor repeats it."""

    def enqueue(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        if trial.number == 3:
            study.enqueue_trial({"rate": 0.5, "depth": 9})

    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    study.optimize(example["objective"], n_trials=6, callbacks=[enqueue])
    assert study.trials[4].params == {"rate": 0.5, "depth": 9}
    assert study.trials[5].params != study.trials[4].params


def test_the_example_runs_as_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("run  0  COMPLETE")
    assert len(lines) <= 30
