"""Trials of a study as rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.trial import TrialState, create_trial

import quadrat as qd
from quadrat.studies.results_file import read_results, rows_of, write_csv
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


def test_parameters_replace_no_column_and_come_back(tmp_path: Path) -> None:
    """A parameter may be called as a column of results, or as such a parameter is exported."""
    names = ("number", "state", "value", "failure", "params.value", "rate")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study()
    said = {"quadrat:failure": "it broke"}
    params = {name: i / 8 for i, name in enumerate(names)}
    distributions: dict[str, BaseDistribution] = dict.fromkeys(names, FloatDistribution(0, 1))
    study.add_trial(create_trial(value=7.0, params=params, distributions=distributions))
    study.add_trial(
        create_trial(
            state=TrialState.FAIL,
            params=params,
            distributions=distributions,
            user_attrs=said,
        )
    )
    row, failed = rows_of(study)
    assert [row[name] for name in ("number", "state", "value", "failure")] == [0, "complete", 7.0, None]
    assert [failed[name] for name in ("number", "state", "value", "failure")] == [1, "fail", None, "it broke"]
    assert list(row)[4:] == [
        "params.number", "params.state", "params.value", "params.failure", "params.params.value", "rate",
    ]  # fmt: skip
    path = tmp_path / "out.csv"
    with path.open("w", newline="") as file:
        write_csv(study, file)
    space = qd.Space.from_dict({name: qd.Float(0, 1) for name in names})
    known = read_results(str(path), space, study.get_trials())
    assert (known.known, list(known.results), known.ignored) == (2, [], ())
    first, second = read_results(str(path), space, []).results
    assert (dict(first.params), first.reading.values) == (params, (7.0,))
    assert (dict(second.params), second.reading.failure) == (params, "it broke")
