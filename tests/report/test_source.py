"""What a report reads of a study that is under way."""

from __future__ import annotations

import optuna
import pytest
from optuna.trial import TrialState

from quadrat.report.source import report_source
from quadrat.studies.telling import FAILURE
from quadrat.studies.trials import REPLICATES


def test_all_trials_of_a_study_are_there_in_every_state() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(study_name="s", sampler=optuna.samplers.RandomSampler(seed=0))
        for outcome in ("complete", "fail", "pruned", "replicates", "complete"):
            trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
            if outcome == "fail":
                trial.set_user_attr(FAILURE, "too  hot\n")
                study.tell(trial, state=TrialState.FAIL)
            elif outcome == "pruned":
                trial.report(3.0, 1)
                study.tell(trial, state=TrialState.PRUNED)
            else:
                if outcome == "replicates":
                    trial.set_user_attr(REPLICATES, [1.0, 3.0])
                study.tell(trial, 2.0)
        study.ask()
        study.enqueue_trial({"x": 0.5})
        told = report_source(study)
    finally:
        optuna.logging.set_verbosity(optuna.logging.INFO)
    states = ["complete", "failed", "pruned", "complete", "complete", "running", "waiting"]
    assert [row.state for row in told.rows] == states
    assert [row.value for row in told.rows] == [2.0, None, None, 2.0, 2.0, None, None]
    assert told.rows[1].note == "too hot"
    assert told.rows[3].error == pytest.approx(1.0)  # deviation sqrt(2) over sqrt(2)
    assert told.method == ""
    assert told.seed is None
    assert told.count("complete") == 3
