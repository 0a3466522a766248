"""Results in CSV files: what spreadsheets write, what belongs to trials that were asked, and where mistakes stand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study
from optuna.trial import TrialState

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.optimizer.outcome import Reading
from quadrat.space import Categorical, Fixed, Float, Int, Space
from quadrat.studies import journal, transitions
from quadrat.studies.opening import open_study
from quadrat.studies.results_file import ResultsFile, read_results, write_csv, write_results
from quadrat.studies.telling import FAILURE

SPACE = Space(
    x=Float(0, 1),
    kind=Categorical(["linear", "tree", None]),
    depth=Int(1, 9, when={"kind": "tree"}),
    lamp=Categorical([True, False]),
    grams=Categorical([1, 2.5]),
    where=Fixed("here"),
)
HEADER = "x,kind,depth,lamp,grams,value"
PARAMS: dict[str, Any] = {"x": 0.5, "kind": "linear", "lamp": True, "grams": 1, "where": "here"}
ROW = "0.5,linear,,TRUE,1,3"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """With trial 0 running, trial 1 complete with 2, trial 2 failed."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = qd.journal_storage(tmp_path / "journal")
    study = open_study(storage, None, space=SPACE, direction=None, method="RandomSearch", seed=None)
    handles = [study.ask() for _ in range(3)]
    for handle in handles:
        qd.suggest(handle, SPACE)
    study.tell(handles[1], 2.0)
    study.tell(handles[2], state=TrialState.FAIL)
    yield study
    optuna.logging.set_verbosity(optuna.logging.INFO)


def read(path: Path, text: str | bytes, study: Study | None = None, **columns: Any) -> ResultsFile:
    path = path / "old.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    trials = [] if study is None else study.get_trials()
    return read_results(str(path), SPACE, trials, **columns)


def test_pruned_trials_that_were_exported_are_no_results(study: Study, tmp_path: Path) -> None:
    """Neither in a new study, nor for a trial that runs, nor in the study that they come from."""
    handle = study.ask()
    qd.suggest(handle, SPACE)
    handle.report(0.25, 1)
    study.tell(handle, state=TrialState.PRUNED)
    silent = study.ask()
    qd.suggest(silent, SPACE)
    study.tell(silent, state=TrialState.PRUNED)
    path = tmp_path / "out.csv"
    with path.open("w", encoding="utf-8") as file:
        write_csv(study, file)
    assert "3,pruned,0.25," in path.read_text(encoding="utf-8"), "the export is what the storage has"
    same = read_results(str(path), SPACE, study.get_trials())
    assert (len(same.results), same.known, same.unmeasured) == (0, 4, 1)
    other = read_results(str(path), SPACE, [])
    states = [result.reading.failure is None for result in other.results]
    assert (states, other.known, other.unmeasured) == ([True, False], 0, 3)
    text = "number,state,value\n0,pruned,0.5\n"
    running = read(tmp_path, text, study)
    assert (list(running.results), running.unmeasured) == ([], 1)
    with pytest.raises(InvalidInput, match=r"got 3, which is pruned with 0\.25; empty the cell, and that of 'state'"):
        read(tmp_path, "number,state,value\n3,pruned,9\n", study)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\n{ROW}\n",
        f"\n {HEADER} \n\n{ROW}",
        "﻿" + f"{HEADER}\r\n{ROW}\r\n,,,,,\r\n",
        "x;kind;depth;lamp;grams;value\n0,5;linear;;true;1,0;3,0\n",
        'value\tx\tkind\tdepth\tlamp\tgrams\n3e0\t",5"\tlinear\t\tTrue\t1\n',
        '"value","x","kind","lamp","grams"\n"3","+0.50","linear","True","1.0"\n',
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    [result] = found.results
    assert result.params == PARAMS
    assert type(result.params["lamp"]) is bool
    assert (result.reading, result.trial) == (Reading((3.0,)), None)
    assert (found.known, found.unmeasured, found.ignored) == (0, 0, ())


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        ("0.5,tree,3.0,TRUE,1,3", {"kind": "tree", "depth": 3}),
        ("0.5,,,TRUE,1,3", {"kind": None}),
        ("0.5,None,,FALSE,1,3", {"kind": None, "lamp": False}),
        ("0.5,linear,,TRUE,2.50,3", {"grams": 2.5}),
    ],
)
def test_parameters_are_read_as_what_they_are(tmp_path: Path, row: str, changed: dict[str, Any]) -> None:
    [result] = read(tmp_path, f"{HEADER}\n{row}\n").results
    assert result.params == {**PARAMS, **changed}


@pytest.mark.parametrize(
    ("cells", "reading"),
    [
        ("3,0.5,", Reading((3.0,), 0.5)),
        ("3,,", Reading((3.0,))),
        ("nan,,", Reading(failure="told nan")),
        ("NaN,0.5,spilt", Reading(failure="spilt")),
        (",,", Reading(failure="no value")),
        (",,spilt", Reading(failure="spilt")),
    ],
)
def test_values_standard_errors_and_failures(tmp_path: Path, cells: str, reading: Reading) -> None:
    header = "x,kind,lamp,grams,value,sem,failure"
    [result] = read(tmp_path, f"{header}\n0.5,linear,TRUE,1,{cells}\n").results
    assert result.reading == reading


def test_columns_are_named(tmp_path: Path) -> None:
    found = read(tmp_path, "x,kind,lamp,grams,y,e,who\n0.5,linear,TRUE,1,3,0.5,Ann\n", value="y", sem="e")
    assert found.results[0].reading == Reading((3.0,), 0.5)
    assert found.ignored == ("who",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{HEADER}\n{ROW}\n1.5,linear,,TRUE,1,3\n",
            r"line 3, column 'x': expected a number from 0.0 to 1.0, got '1.5'",
        ),
        (f"{HEADER}\n\n0_0.5,linear,,TRUE,1,3\n", "line 3, column 'x': expected a number from .*, got '0_0.5'"),
        (f'{HEADER}\n"0,5",linear,,TRUE,1,3\n', "line 2, column 'x': expected a number from .*, got '0,5'"),
        (f"{HEADER}\n,linear,,TRUE,1,3\n", "line 2, column 'x': expected a number .*, got an empty cell"),
        (f"{HEADER}\n0.5,forest,,TRUE,1,3\n", "column 'kind': expected one of 'linear', 'tree', None, got 'forest'"),
        (f"{HEADER}\n0.5,tree,2.5,TRUE,1,3\n", "column 'depth': expected an integer from 1 to 9, got '2.5'"),
        (f"{HEADER}\n0.5,linear,2,TRUE,1,3\n", "column 'depth': expected an empty cell, because depth does not exist"),
        (f"{HEADER}\n0.5,linear,,yes,1,3\n", "column 'lamp': expected one of True, False, got 'yes'"),
        (f"{HEADER}\n0.5,linear,,TRUE,1,good\n", "column 'value': expected a number, or nothing where it failed, got"),
        ('x;kind;lamp;grams;value\n0.5;linear;TRUE;1;"1.000,5"\n', "column 'value': expected a number"),
        (f"{HEADER},where\n{ROW},there\n", "column 'where': expected 'here', got 'there'"),
        ("x,lamp,grams,value\n0.5,TRUE,1,3\n", "column 'kind': .* got no such column; the header has x, lamp, grams"),
        (f"{HEADER},sem\n{ROW},0\n", "line 2, column 'sem': expected a standard error, a positive number, got '0'"),
        (f"{HEADER},sem\n{ROW},small\n", "column 'sem': expected a standard error, a positive number, got 'small'"),
        ("x,kind\n0.5,linear\n", "line 1: expected a column 'value', got x, kind; say which it is with --value"),
        (f"{HEADER},x\n{ROW},1\n", "line 1: expected each column once, got 'x' more than once"),
        (f"{HEADER}\n{ROW},1\n", "line 2: expected 6 cells, as in the header, got 7"),
        (f"{HEADER},number\n{ROW},first\n", "column 'number': expected the number of a trial, or nothing, got 'first'"),
        (" \n", "expected a header with the names of columns, got an empty file"),
        (b"x,value\n\xe4,3\n", "expected UTF-8 text, .*save it as CSV UTF-8"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"old.csv.*{message}"):
        read(tmp_path, text)


def test_columns_that_are_not_there_or_are_parameters(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected a column of results, got 'x', which is a parameter"):
        read(tmp_path, f"{HEADER}\n{ROW}\n", value="x")
    with pytest.raises(InvalidInput, match=r"expected a column 'e', got .* with --sem"):
        read(tmp_path, f"{HEADER}\n{ROW}\n", sem="e")
    with pytest.raises(InvalidInput, match=r"nothing\.csv: expected a CSV file, got: No such file"):
        read_results(str(tmp_path / "nothing.csv"), SPACE, [])


def test_a_parameter_may_be_called_number(tmp_path: Path) -> None:
    space = Space(number=Int(0, 5), state=Int(0, 5), failure=Int(0, 5))
    path = tmp_path / "old.csv"
    path.write_text("number,state,failure,value\n0,1,2,3\n0,1,2,\n")
    running = optuna.trial.create_trial(state=TrialState.RUNNING)
    running.number = 0
    found = read_results(str(path), space, [running])
    assert [result.trial for result in found.results] == [None, None]
    assert [result.reading for result in found.results] == [Reading((3.0,)), Reading(failure="no value")]
    assert found.results[0].params == {"number": 0, "state": 1, "failure": 2}


def cells_of(study: Study, number: int, **changed: object) -> str:
    params = {**study.trials[number].params, **changed}
    return ",".join(str(params.get(name, "")) for name in ("x", "kind", "depth", "lamp", "grams"))


NUMBERED = "number,x,kind,depth,lamp,grams,value"


def test_a_number_tells_the_trial_that_runs(tmp_path: Path, study: Study) -> None:
    rounded = f"{study.trials[0].params['x']:.4f}"  # as a spreadsheet that shows four digits writes it
    for cells in (",,,,", cells_of(study, 0), cells_of(study, 0, x=rounded)):
        [result] = read(tmp_path, f"{NUMBERED}\n0,{cells},7\n", study).results
        assert result.trial is not None
        assert result.trial.number == 0
        assert result.params == study.trials[0].params
    [alone] = read(tmp_path, "number,value\n0,7\n", study).results
    assert alone.params == study.trials[0].params


def test_rows_that_say_nothing_new(tmp_path: Path, study: Study) -> None:
    rows = [f"0,{cells_of(study, 0)},", f"1,{cells_of(study, 1)},2.00001", f"2,{cells_of(study, 2)},"]
    found = read(tmp_path, "\n".join([NUMBERED, *rows]), study)
    assert (list(found.results), found.known, found.unmeasured) == ([], 2, 1)
    found = read(tmp_path, f"number,state,{HEADER}\n9,running,0.5,linear,,TRUE,1,\n9,complete,{ROW}\n", study)
    assert (len(found.results), found.unmeasured) == (1, 1)
    assert found.results[0].trial is None  # of another study: this one has no trial 9


@pytest.mark.parametrize(
    ("number", "changed", "value", "message"),
    [
        (
            0,
            {"x": 0.999},
            "7",
            "column 'x': expected .*, which was asked as trial 0, got 0.999; empty the cell 'number'",
        ),
        (1, {}, "2.1", "column 'number': expected a trial that runs, got 1, which is complete with 2; empty the cell"),
        (1, {}, "", "column 'number': expected a trial that runs, got 1, which is complete with 2"),
        (1, {"x": 0.999}, "2", "column 'x': expected .*, which was asked as trial 1, got 0.999"),
        (2, {}, "7", "column 'number': expected a trial that runs, got 2, which is failed"),
    ],
)
def test_a_number_that_contradicts_the_study(
    tmp_path: Path, study: Study, number: int, changed: dict[str, Any], value: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"old.csv, line 2, {message}"):
        read(tmp_path, f"{NUMBERED}\n{number},{cells_of(study, number, **changed)},{value}\n", study)


def test_a_trial_is_told_once(tmp_path: Path, study: Study) -> None:
    with pytest.raises(InvalidInput, match="line 3, column 'number': expected each trial once, got 0 as in line 2"):
        read(tmp_path, "number,value\n0,7\n0,8\n", study)


def test_results_are_written_as_if_they_had_been_told(tmp_path: Path, study: Study) -> None:
    header = "number,x,kind,depth,lamp,grams,value,sem,failure"
    rows = [
        "0,,,,,,7,0.5,",
        ",0.5,tree,4,FALSE,2.5,8,0.25,",
        ",0.5,tree,4,FALSE,2.5,,,spilt",
        ",0.5,tree,4,FALSE,2.5,9,,",
    ]
    write_results(study, read(tmp_path, "\n".join([header, *rows]), study).results, SPACE)
    trials = optuna.load_study(study_name=study.study_name, storage=study._storage).trials
    assert [trial.state.name for trial in trials] == ["COMPLETE", "COMPLETE", "FAIL", "COMPLETE", "FAIL", "COMPLETE"]
    assert [trial.value for trial in trials if trial.state is TrialState.COMPLETE] == [7.0, 2.0, 8.0, 9.0]
    assert [trial.user_attrs.get("quadrat:sem") for trial in trials] == [0.5, None, None, 0.25, None, None]
    assert trials[4].user_attrs == {FAILURE: "spilt"}
    assert trials[3].params == {"x": 0.5, "kind": "tree", "depth": 4, "lamp": False, "grams": 2.5, "where": "here"}
    assert trials[3].distributions["x"] == FloatDistribution(0, 1)
    assert trials[3].distributions["depth"] == IntDistribution(1, 9)
    assert trials[3].distributions["kind"] == CategoricalDistribution(["linear", "tree", None])
    assert all(trial.datetime_complete is not None for trial in trials)


# --- the same file again

TOP = HEADER + "\n"
LINES = [f"0.{digit},linear,,TRUE,1,{digit}" for digit in range(1, 8)]


def told_from(path: Path, study: Study, lines: list[str], name: str = "old.csv") -> tuple[int, int]:
    """Tell the rows of a file; return how many were in the study before, and how many trials it has now."""
    (path / name).write_text(TOP + "\n".join(lines) + "\n")
    found = read_results(str(path / name), SPACE, study.get_trials(deepcopy=False))
    write_results(study, found.results, SPACE)
    return found.repeated, len(study.trials) - 3


def test_the_same_file_again_adds_nothing(tmp_path: Path, study: Study) -> None:
    assert told_from(tmp_path, study, LINES) == (0, 7)
    assert told_from(tmp_path, study, LINES) == (7, 7)


def test_of_a_file_that_has_grown_the_new_rows_are_added_wherever_they_stand(tmp_path: Path, study: Study) -> None:
    told_from(tmp_path, study, LINES[:5])
    assert told_from(tmp_path, study, [LINES[6], *reversed(LINES[:5]), LINES[5]]) == (5, 7)


def test_equal_rows_are_several_results(tmp_path: Path, study: Study) -> None:
    """In one file, as replicates are; and in files of two names, as those of two days are."""
    assert told_from(tmp_path, study, [LINES[0]] * 3) == (0, 3)
    assert told_from(tmp_path, study, [LINES[0]] * 4) == (3, 4)
    assert told_from(tmp_path, study, [LINES[0]] * 2, name="tuesday.csv") == (0, 6)


def test_the_same_rows_in_other_words_are_the_same(tmp_path: Path, study: Study) -> None:
    told_from(tmp_path, study, ["0.5,linear,,TRUE,1,3"])
    assert told_from(tmp_path, study, [" 0.50 ,linear,,true,1.0,3.0"]) == (1, 1)


@pytest.mark.parametrize("records", range(1, 8))
def test_an_import_that_was_killed_goes_on_where_it_was(
    records: int, tmp_path: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after any record, in parts of three: the same command adds what is missing."""
    monkeypatch.setattr(transitions, "_PART", 3)
    append, left = journal.append_records, records

    def killed(path: str, logs: Sequence[dict[str, Any]]) -> None:
        nonlocal left
        append(path, logs[:left])
        left -= len(logs)
        if left <= 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(journal, "append_records", killed)
    with pytest.raises(KeyboardInterrupt):
        told_from(tmp_path, study, LINES)
    monkeypatch.setattr(journal, "append_records", append)
    again = optuna.load_study(study_name=study.study_name, storage=qd.journal_storage(tmp_path / "journal"))
    assert told_from(tmp_path, again, LINES) == (records, 7)
    assert sorted(trial.values[0] for trial in again.trials[3:]) == list(range(1, 8))


def test_a_trial_that_somebody_told_meanwhile_is_named_and_the_others_are_told(tmp_path: Path, study: Study) -> None:
    found = read(tmp_path, f"number,{HEADER}\n0,,,,,,7\n,{ROW}\n", study)
    study.tell(0, 1.0)
    with pytest.raises(InvalidInput, match="expected trials that run, got 0, which somebody told just now"):
        write_results(study, found.results, SPACE)
    assert [trial.value for trial in study.trials] == [1.0, 2.0, None, 3.0]


def test_rows_are_written_together(tmp_path: Path, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """One synchronisation with the disk for thousands, not one for each."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    told_from(tmp_path, study, LINES * 200)
    assert len(synced) == 1


@pytest.mark.parametrize("kind", ["memory", "journal", "sqlite"])
def test_what_is_no_name_of_a_row_names_none(kind: str, tmp_path: Path) -> None:
    """A list there was a traceback."""
    where: dict[str, Any] = {
        "memory": None,
        "journal": qd.journal_storage(tmp_path / "rows"),
        "sqlite": f"sqlite:///{tmp_path}/rows.db",
    }
    study = optuna.create_study(storage=where[kind])
    for odd in ([1], {"a": 2}, None, 3.0):
        study.add_trial(optuna.trial.create_trial(value=0.0, system_attrs={transitions.ROW: odd}))
    space = qd.Space(x=qd.Float(0, 1))
    (tmp_path / "results.csv").write_text("x,value\n0.5,1\n")
    for added in (1, 0):
        found = read_results(str(tmp_path / "results.csv"), space, study.trials)
        assert len(found.results) == added
        write_results(study, found.results, space)
    assert len(study.trials) == 5
