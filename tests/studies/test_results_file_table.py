"""Trials of a study as rows."""

from __future__ import annotations

import csv
import io

import optuna

import quadrat as qd
from quadrat.studies.results_file import rows_of, write_csv
from quadrat.studies.telling import tell_outcome


def test_one_row_a_trial_with_the_same_columns() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study()
    first, second, third = (study.ask() for _ in range(3))
    x = first.suggest_float("x", 0, 1)
    tell_outcome(study, first, 1 / 3)
    second.suggest_categorical("kind", ["a,b", "c"])
    tell_outcome(study, second, qd.FAILED, reason='said "no"')
    rows = rows_of(study)
    assert [list(row) for row in rows] == [["number", "state", "value", "failure", "x", "kind"]] * 3
    assert rows[0] == {"number": 0, "state": "complete", "value": 1 / 3, "failure": None, "x": x, "kind": None}
    assert rows[1]["failure"] == 'said "no"'
    assert (rows[2]["number"], rows[2]["state"]) == (third.number, "running")
    file = io.StringIO()
    write_csv(study, file)
    read = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert float(read[0]["x"]) == x, "all digits"
    assert float(read[0]["value"]) == 1 / 3
    assert [row["state"] for row in read] == ["complete", "fail", "running"]
    assert read[1]["failure"] == 'said "no"'
    assert read[1]["kind"] == study.trials[1].params["kind"]


def test_a_study_without_trials_has_a_header() -> None:
    file = io.StringIO()
    study = optuna.create_study()
    write_csv(study, file)
    assert file.getvalue() == "number,state,value,failure\n"


def test_several_objectives() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"])
    study.add_trial(optuna.trial.create_trial(values=[1.0, 2.0]))
    study.ask()
    assert [row["value"] for row in rows_of(study)] == [[1.0, 2.0], None]
