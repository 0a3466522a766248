"""Trials that something else wrote, or that were damaged, are refused as a study is opened."""

from __future__ import annotations

from typing import Any

import optuna
import pytest
from optuna.trial import TrialState, create_trial

from quadrat.errors import InvalidInput
from quadrat.studies.finish_order import BEGUN
from quadrat.studies.opening import check_trials, find_study
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR


@pytest.fixture
def study() -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(study_name="s")


@pytest.mark.parametrize(
    "trial",
    [
        {"value": 1.0},
        {"value": 1.0, "user_attrs": {REPLICATES: [0.5, 1.5], STANDARD_ERROR: 0.1}},
        {"value": 1.0, "intermediate_values": {0: 2.0}},
        {"state": TrialState.FAIL},
        {"state": TrialState.PRUNED, "intermediate_values": {3: float("nan")}},
        {"value": 1.0, "user_attrs": {"mine": object.__name__}, "system_attrs": {"constraints": [0.5, -1]}},
    ],
)
def test_what_quadrat_and_optuna_write_is_sound(study: optuna.Study, trial: dict[str, Any]) -> None:
    study.add_trial(create_trial(**trial))
    check_trials(study)


@pytest.mark.parametrize(
    ("trial", "message"),
    [
        ({"user_attrs": {REPLICATES: "abc"}}, "a list of numbers as its replicates, got 'abc'"),
        ({"user_attrs": {REPLICATES: [1.0, "2"]}}, "a list of numbers as its replicates"),
        ({"user_attrs": {REPLICATES: []}}, "a list of numbers as its replicates"),
        ({"user_attrs": {REPLICATES: [True]}}, "a list of numbers as its replicates"),
        ({"user_attrs": {STANDARD_ERROR: "wide"}}, "a number as its standard error, got 'wide'"),
        ({"user_attrs": {STANDARD_ERROR: 10**400}}, "a number as its standard error"),
        ({"system_attrs": {BEGUN: "two"}}, "a number of evaluations, got 'two'"),
        ({"system_attrs": {"fixed_params": 0.5}}, "a table as its fixed parameters, got 0.5"),
        ({"system_attrs": {BEGUN: -1}}, "a number of evaluations"),
    ],
)
def test_what_is_no_number_is_refused(study: optuna.Study, trial: dict[str, Any], message: str) -> None:
    study.add_trial(create_trial(value=0.0))
    study.add_trial(create_trial(value=1.0, **trial))
    with pytest.raises(InvalidInput, match=rf"^study 's', trial 1: expected {message}.*; the storage was damaged"):
        check_trials(study)
    with pytest.raises(InvalidInput, match="the storage was damaged"):
        find_study(study._storage, "s")


def test_one_value_for_each_objective(study: optuna.Study) -> None:
    study.add_trial(create_trial(value=0.0))
    trial = study.get_trials(deepcopy=False)[0]
    trial._values = [1.0, 2.0]
    with pytest.raises(InvalidInput, match=r"expected 1 number as its value, got \[1.0, 2.0\]"):
        check_trials(study)
