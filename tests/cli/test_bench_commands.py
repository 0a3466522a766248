"""`quadrat ask`, `quadrat tell` and `quadrat show`, as a person at a bench uses them: a process for each command."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.study import Study
from optuna.trial import TrialState, create_trial

import quadrat as qd
from quadrat.cli import bench_commands, main
from quadrat.space import Float, Int, Space
from quadrat.studies.results_file import write_results

SPACE = Space(x=Float(-1, 1), n=Int(1, 9))
TOML = """
[x]
type = "float"
low = -1
high = 1

[n]
type = "int"
low = 1
high = 9
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With the space in a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "space.toml").write_text(TOML)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield tmp_path
    optuna.logging.set_verbosity(optuna.logging.INFO)


def out_of(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 0, capsys.readouterr().err
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("quadrat: ")
    assert captured.err.count("\n") == 1
    return captured.err


def asked(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(out_of(capsys, "ask", "--json", *arguments))
    return found


def study_of(storage: str = "quadrat.journal", name: str = "quadrat") -> Study:
    return optuna.load_study(study_name=name, storage=qd.journal_storage(storage))


def test_a_session_makes_the_suggestions_of_one_optimizer(capsys: Capture) -> None:
    run = qd.Optimizer(SPACE, direction="maximize", seed=3)
    first, second = asked(capsys, "--space", "space.toml", "--direction", "maximize", "--seed", "3", "-n", "2")
    expected = [run.ask(), run.ask()]  # the second knows that the first is pending
    assert [first, second] == [{"number": one.number, "params": one.params, "why": one.why} for one in expected]
    out_of(capsys, "tell", "1", "-1.5", "--json")
    run.tell(expected[1], -1.5)
    out_of(capsys, "tell", "0", "0.2", "0.4", "--json")
    run.tell(expected[0], [0.2, 0.4])
    outcomes: list[tuple[tuple[str, ...], Any]] = [
        (("0.5", "--sem", "0.1"), qd.Estimate(0.5, 0.1)),
        (("--failed",), qd.FAILED),
        (("0.7",), 0.7),
    ]
    for words, outcome in outcomes:
        [trial] = asked(capsys)
        expected_trial = run.ask()
        assert trial["params"] == expected_trial.params
        out_of(capsys, "tell", str(trial["number"]), *words, "--json")
        run.tell(expected_trial, outcome)
    assert json.loads(out_of(capsys, "best", "--json"))["params"] == run.recommend().params


def test_real_processes_on_a_database(folder: Path) -> None:
    def quadrat(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "quadrat.cli", *arguments, "--storage", "sqlite:///lab.db"],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout  # in a pipe there are no colours
        return done.stdout

    out = quadrat("ask", "--space", "space.toml")
    assert "New study quadrat in sqlite:///lab.db: minimize with Auto, seed 0." in out
    assert "  quadrat tell NUMBER VALUE --storage sqlite:///lab.db\n" in out
    run = qd.Optimizer(SPACE, direction="minimize", seed=0)
    trial = run.ask()
    assert re.search(rf"^0 +{trial.params['x']:.6g} +{trial.params['n']}$", out, re.M)
    run.tell(trial, -2.5)
    assert quadrat("tell", "0", "-2.5").startswith("Trial 0: -2.5.\n")
    second = run.ask()
    assert json.loads(quadrat("ask", "--json")) == [{"number": 1, "params": second.params, "why": second.why}]


def test_the_first_time_a_space_is_needed_and_nothing_is_left_without_one(capsys: Capture, folder: Path) -> None:
    assert "expected --space with a file" in refused(capsys, "ask")
    assert "because quadrat.journal has no study 'a' yet" in refused(capsys, "ask", "--study", "a")
    assert "expected --space" in refused(capsys, "tell", "--csv", "old.csv")
    assert "nothing.toml: expected a file" in refused(capsys, "ask", "--space", "nothing.toml")
    assert "which does not exist; quadrat ask begins a study" in refused(capsys, "show")
    assert "which does not exist" in refused(capsys, "tell", "0", "1")
    assert [path.name for path in folder.iterdir()] == ["space.toml"]
    optuna.create_study(storage=qd.journal_storage("quadrat.journal"), study_name="theirs")
    assert "because study 'theirs' has none yet" in refused(capsys, "ask")


def test_a_space_may_be_json(capsys: Capture, folder: Path) -> None:
    (folder / "space.json").write_text(json.dumps(SPACE.to_dict()))
    [trial] = asked(capsys, "--space", "space.json")
    assert set(trial["params"]) == {"x", "n"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "1"], "seed: expected 0, which the study 'quadrat' has, got 1"),
        (["--method", "RandomSearch"], "method: expected Auto"),
        (["--direction", "maximize"], "direction: expected minimize"),
        (["--space", "other.toml"], "which has another"),
        (["-n", "0"], "n: expected at least 1, got 0"),
        (["--method", "Nonsense"], "method: expected one of Auto"),
    ],
)
def test_what_the_study_does_not_have_is_refused(
    options: list[str], message: str, capsys: Capture, folder: Path
) -> None:
    (folder / "other.toml").write_text(TOML.replace("9", "8"))
    asked(capsys, "--space", "space.toml")
    assert message in refused(capsys, "ask", *options)
    assert len(study_of().trials) == 1


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ([".83", ".79"], [0.83, 0.79]),
        (["-0.5"], [-0.5]),
        (["-.5", "2", "-1e-3"], [-0.5, 2.0, -0.001]),
        (["--json", "-0.5", "0.5"], [-0.5, 0.5]),
        (["--", "-0.5"], [-0.5]),
    ],
)
def test_several_values_are_replicates_and_may_be_negative(
    words: list[str], values: list[float], capsys: Capture
) -> None:
    asked(capsys, "--space", "space.toml", "--method", "RandomSearch")
    out_of(capsys, "tell", "0", *words)
    [trial] = study_of().trials
    assert trial.user_attrs.get("quadrat:values", [trial.value]) == values


def test_what_is_told_is_kept(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml", "-n", "6")
    outs = [
        out_of(capsys, "tell", "0", "1.5"),
        out_of(capsys, "tell", "1", "-1", "-3"),
        out_of(capsys, "tell", "2", "-1e-3", "--sem", "0.25"),
        out_of(capsys, "tell", "3", "--failed", "--reason", "spilt"),
        out_of(capsys, "tell", "4", "-inf"),
    ]
    trials = study_of().trials
    assert [trial.value for trial in trials] == [1.5, -2.0, -0.001, None, None, None]
    assert trials[1].user_attrs["quadrat:values"] == [-1.0, -3.0]
    assert trials[2].user_attrs["quadrat:sem"] == 0.25
    assert [trial.user_attrs["quadrat:failure"] for trial in trials[3:5]] == ["spilt", "told -inf"]
    assert [trial.state.name for trial in trials[3:]] == ["FAIL", "FAIL", "RUNNING"]
    firsts = [out.splitlines()[0] for out in outs]
    assert firsts[0] == "Trial 0: 1.5. Without a result yet: trials 1, 2, 3, 4, 5."
    assert firsts[1].startswith("Trial 1: -2 ± 1 (n=2). ")
    assert firsts[2].startswith("Trial 2: -0.001 ± 0.25. ")
    assert firsts[3].startswith("Trial 3: failed (spilt). Without a result yet: trials 4, 5.")
    assert "recommended" in outs[4]
    assert "best seen (trial 1)" in outs[4]


def test_nothing_is_recommended_before_a_trial_is_complete(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml")
    out = out_of(capsys, "tell", "0", "nan")
    assert out == "Trial 0: failed (told nan).\nNothing can be recommended before a trial is complete.\n"


def test_told_as_json(capsys: Capture) -> None:
    [trial] = asked(capsys, "--space", "space.toml")
    told = json.loads(out_of(capsys, "tell", "0", "1", "2", "--json"))
    assert datetime.fromisoformat(told.pop("asked")) <= datetime.now()
    assert told == {
        "number": 0,
        "state": "complete",
        "value": 1.5,
        "sem": None,
        "replicates": [1.0, 2.0],
        "failure": None,
        "why": "the centre of the space",
        "params": trial["params"],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0", "1"], "NUMBER: expected a trial that has no result yet (1), got 0, which is complete with 2"),
        (["2", "1"], "NUMBER: expected a trial that has no result yet (1), got 2, which has failed"),
        (["3", "1"], "NUMBER: expected a trial that has no result yet (1), got 3, which does not exist"),
        (["-1", "1"], "got -1, which does not exist"),
        ([], "NUMBER: expected the number of a trial that was asked, or --csv"),
        (["1"], "VALUE: expected NUMBER VALUE, or NUMBER --failed, got no value"),
        (["one", "1"], "NUMBER"),
        (["1", "1,5"], "VALUE: expected a number, or nan where it failed, got '1,5'; decimals have a point: 1.5"),
        (["1", "0.2,0.3"], "VALUE: expected a number, or nan where it failed, got '0.2,0.3'; replicates are separated"),
        (["1", "1", "--sem", "0,1"], "--sem: expected a number, got '0,1'; decimals have a point: 0.1"),
        (["1", "--smm", "3"], "got '--smm'; quadrat tell --help lists the options"),
        (["1", "1", "--sem", "0"], "sem: expected a positive finite number, the standard error of the value, got 0.0"),
        (
            ["1", "1", "2", "--sem", "0.1"],
            "expected with one value, the mean, got 2 values; replicates carry",
        ),
        (["1", "1", "--failed"], "--failed: expected no value beside it, got 1"),
        (["1", "1", "--reason", "spilt"], "--reason: expected only with --failed"),
        (["1", "1", "--space", "space.toml"], "--space: expected only with --csv"),
        (["1", "1", "--value", "y"], "--value: expected only with --csv"),
        (["1", "--csv", "old.csv"], "NUMBER: expected only without --csv"),
        (["--failed", "--csv", "old.csv"], "--failed: expected only without --csv"),
        (["1", "1", "--study", "other"], "which has quadrat, got other"),
    ],
)
def test_what_cannot_be_told_is_refused(arguments: list[str], message: str, capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml", "-n", "3")
    out_of(capsys, "tell", "0", "2", "--json")
    out_of(capsys, "tell", "2", "--failed", "--json")
    assert message in refused(capsys, "tell", *arguments)
    assert study_of().trials[1].state is TrialState.RUNNING


def test_a_trial_without_parameters_can_only_fail(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml")
    study_of().ask()  # as if the process had been killed while it searched
    assert "end it with quadrat tell 1 --failed" in refused(capsys, "tell", "1", "2")
    assert re.search("^1 +running +no parameters yet", out_of(capsys, "show"), re.M)
    out_of(capsys, "tell", "1", "--failed", "--json")


def test_an_interrupted_question_leaves_no_trial_that_runs(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("quadrat.cli.bench_commands.suggest", interrupted)
    main(["ask", "--space", "space.toml"])
    assert capsys.readouterr().out == ""
    assert [trial.state.name for trial in study_of().trials] == ["FAIL"]


def test_asking_says_what_waits(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml", "-n", "2")
    out = out_of(capsys, "ask", "--study", "quadrat")
    assert "New study" not in out
    assert "Asked before, and without a result yet: trials 0, 1.\n" in out
    assert out.endswith("  quadrat tell NUMBER VALUE --study quadrat\n")


def test_show(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml", "-n", "4", "--direction", "maximize")
    out_of(capsys, "tell", "0", "0.5", "--json")
    out_of(capsys, "tell", "1", "1", "3", "--json")
    out_of(capsys, "tell", "2", "--failed", "--reason", "spilt,\nand then " + "cleaned up " * 30, "--json")
    for width in (80, 120):
        os.environ["COLUMNS"] = str(width)  # the fixture puts it back
        lines = out_of(capsys, "show").splitlines()
        assert lines[0] == "Study quadrat in quadrat.journal: maximize with Auto, seed 0."
        assert lines[1] == "4 trials: 2 complete, 1 failed, 1 running."
        assert max(map(len, lines)) <= width
        table = lines[-6:]  # below what is recommended
        assert re.fullmatch("number +state +value +x +n", table[0])
        assert re.fullmatch(r"0 +complete +0\.5 +0 +5", table[2])
        assert re.match(r"1 +complete +2 ± 1 \(n=2\) +-?0\.\d+ +\d", table[3])
        assert re.match(r"2 +failed +spilt, and then clean[a-z ]*\.\.\. +-?0\.\d+ +\d", table[4])
        assert re.match(r"3 +running +asked (just now|\d s ago) +-?0\.\d+ +\d", table[5])


def test_show_as_json(capsys: Capture) -> None:
    params = [trial["params"] for trial in asked(capsys, "--space", "space.toml", "-n", "3")]
    out_of(capsys, "tell", "0", "0.5", "--sem", "0.1", "--json")
    out_of(capsys, "tell", "1", "--failed", "--reason", "spilt", "--json")
    study_of().add_trial(optuna.trial.create_trial(value=float("inf")))
    found = json.loads(out_of(capsys, "show", "--json"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    trials, recommended, advice = (found.pop(key) for key in ("trials", "recommended", "advice"))
    assert recommended == json.loads(out_of(capsys, "best", "--json"))
    assert found == {
        "study": "quadrat",
        "direction": "minimize",
        "method": "Auto",
        "seed": 0,
        "states": {"complete": 2, "fail": 1, "running": 1},
        "best_value": 0.5,
        "reason": None,
        "certificate": None,
        "level_set": None,
        "cells": None,
        "fit_warning": None,
        "progress": [0.5],
    }
    assert (advice["action"], advice["chance"]) == ("go on", None)
    assert advice["text"].startswith("Go on: too few trials to say what is left to gain")
    assert advice["text"].endswith("1 trial is still running.")
    assert [trial["state"] for trial in trials] == ["complete", "fail", "running", "complete"]
    assert [trial["params"] for trial in trials] == [*params, {}]
    assert [trial["value"] for trial in trials] == [0.5, None, None, None]
    assert (trials[0]["sem"], trials[1]["failure"]) == (0.1, "spilt")


def test_show_keeps_to_the_last_trials_and_to_those_that_run(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml", "-n", "6", "--method", "RandomSearch")
    for number in (0, 2, 3, 4, 5):
        out_of(capsys, "tell", str(number), "1", "--json")
    out = out_of(capsys, "show", "--last", "2")
    assert re.findall(r"^(\d+) +(?:running|complete)", out, re.M) == ["1", "4", "5"]
    assert out.endswith("3 of 6 trials; --last 6 shows all.\n")
    assert [trial["number"] for trial in json.loads(out_of(capsys, "show", "--json"))["trials"]] == list(range(6))
    assert "last: expected at least 1, got 0" in refused(capsys, "show", "--last", "0")


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (timedelta(seconds=-9), "just now"),
        (timedelta(seconds=20), "2[0-9] s ago"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=30), "1 d ago"),
    ],
)
def test_how_long_ago_a_trial_was_asked(ago: timedelta, text: str, capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml")
    running = optuna.trial.create_trial(
        state=TrialState.RUNNING, params={"x": 0.5}, distributions={"x": optuna.distributions.FloatDistribution(-1, 1)}
    )
    running.datetime_start = datetime.now() - ago
    study_of().add_trial(running)
    assert re.search(f"^1 +running +asked {text} +0.5", out_of(capsys, "show"), re.M)


def test_of_several_studies_show_lists_all(capsys: Capture) -> None:
    asked(capsys, "--space", "space.toml", "--study", "wine")
    out_of(capsys, "tell", "0", "2.5", "--json")
    asked(capsys, "--space", "space.toml", "--study", "beer", "--direction", "maximize")
    optuna.create_study(
        storage=qd.journal_storage("quadrat.journal"), study_name="two", directions=["minimize", "maximize"]
    )
    out = out_of(capsys, "show")
    assert re.search("^wine +minimize +1 complete +2.5$", out, re.M)
    assert re.search("^beer +maximize +1 running$", out, re.M)
    assert re.search("^two +minimize, maximize +none$", out, re.M)
    listed = json.loads(out_of(capsys, "show", "--json"))["studies"]
    assert [(study["study"], study["best_value"]) for study in listed] == [("wine", 2.5), ("beer", None), ("two", None)]
    assert out_of(capsys, "show", "--study", "wine").startswith("Study wine in ")
    assert "expected one objective" in refused(capsys, "show", "--study", "two")
    assert "expected one objective" in refused(capsys, "tell", "0", "1", "--study", "two")
    for command in (["ask"], ["tell", "0", "1"]):
        assert "wine, beer, two" in refused(capsys, *command)


def test_a_password_is_not_shown(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://me:secret@lab/name"
    monkeypatch.setattr("quadrat.cli.study_commands.open_storage", lambda _: qd.journal_storage("quadrat.journal"))
    monkeypatch.setattr("quadrat.cli.study_commands.open_storage", lambda _: qd.journal_storage("quadrat.journal"))
    out = out_of(capsys, "ask", "--space", "space.toml", "--storage", url)
    out += out_of(capsys, "show", "--storage", url) + refused(capsys, "best", "--storage", url, "--study", "other")
    assert out.count("postgresql://me@lab/name") == 4
    assert "secret" not in out


def test_old_results_begin_a_study(capsys: Capture, folder: Path) -> None:
    (folder / "old.csv").write_bytes(b"\xef\xbb\xbfx;n;yield;who\r\n0,5;3;1,5;Ann\r\n-0,25;4;;Bob\r\n0,5;3;2,5;Ann\r\n")
    start = ["tell", "--csv", "old.csv", "--value", "yield", "--space", "space.toml", "--direction", "maximize"]
    out = out_of(capsys, *start)
    assert out.startswith("New study quadrat in quadrat.journal: maximize with Auto, seed 0.\nold.csv: 3 trials")
    assert "3 trials added; 1 of these failed; not used: who." in out
    assert "best seen (trial 2)" in out
    trials = study_of().trials
    assert [trial.value for trial in trials] == [1.5, None, 2.5]
    assert [trial.params for trial in trials] == [{"x": 0.5, "n": 3}, {"x": -0.25, "n": 4}, {"x": 0.5, "n": 3}]
    run = qd.Optimizer(SPACE, direction="maximize", seed=0)
    run.add_trials([dict(trial.params) for trial in trials], [1.5, qd.FAILED, 2.5])
    following = run.ask()
    assert asked(capsys) == [{"number": 3, "params": following.params, "why": following.why}]


def test_what_was_exported_is_filled_in_and_told(capsys: Capture, folder: Path) -> None:
    asked(capsys, "--space", "space.toml", "-n", "3")
    out_of(capsys, "tell", "0", "4", "--json")
    out_of(capsys, "export", "--csv", "plan.csv")
    plan = folder / "plan.csv"
    plan.write_text(plan.read_text().replace("1,running,,", "1,running,2.5,"))
    done = json.loads(out_of(capsys, "tell", "--csv", "plan.csv", "--json"))
    nothing = {"added": 0, "failed": 0, "ignored_columns": []}
    assert done == {"told": [1], "already_told": 1, "not_measured": 1, **nothing}
    assert [trial.value for trial in study_of().trials] == [4.0, 2.5, None]
    again = json.loads(out_of(capsys, "tell", "--csv", "plan.csv", "--json"))
    assert again == {"told": [], "already_told": 2, "not_measured": 1, **nothing}


def test_a_bad_row_leaves_everything_as_it_was(capsys: Capture, folder: Path) -> None:
    csv = folder / "old.csv"
    csv.write_text("x,n,value\n0.5,3,1\n0.5,30,1\n")
    message = "old.csv, line 3, column 'n': expected an integer from 1 to 9, got '30'"
    assert message in refused(capsys, "tell", "--csv", "old.csv", "--space", "space.toml")
    assert not (folder / "quadrat.journal").exists()
    asked(capsys, "--space", "space.toml")
    csv.write_text("number,x,n,value\n0,,,7\n,0.5,30,1\n")
    assert message in refused(capsys, "tell", "--csv", "old.csv")
    assert [trial.state.name for trial in study_of().trials] == ["RUNNING"]
    csv.write_text("x,n,value\n0.5,3,1\n")
    assert "seed: expected 0" in refused(capsys, "tell", "--csv", "old.csv", "--seed", "4")
    assert len(study_of().trials) == 1


def test_large_values_are_told_and_shown(folder: Path, capsys: Capture) -> None:
    """Squares of such values overflow, and so does the sum of some: those are refused before anything is written."""
    asked(capsys, "--space", "space.toml", "-n", "3")
    out_of(capsys, "tell", "0", "1e200", "3e200")
    assert "2e+200 ± 1e+200 (n=2)" in out_of(capsys, "show")
    assert "Wrote" in out_of(capsys, "report")
    before = (folder / "quadrat.journal").read_bytes()
    message = refused(capsys, "tell", "1", "1e308", "1e308")
    assert "expected replicates whose sum is finite (at most 1.8e+308), got [1e+308, 1e+308]" in message
    assert "expected a positive finite number" in refused(capsys, "tell", "1", "1", "--sem", "1e308")
    assert (folder / "quadrat.journal").read_bytes() == before
    out_of(capsys, "tell", "1", "-1.7e308", "1.7e308")
    out_of(capsys, "show")
    asked(capsys)


def test_stored_numbers_that_are_not_finite_are_null_in_json(folder: Path, capsys: Capture) -> None:
    """As others may store them; the mean of the last one is not finite, so that it is no result."""

    def no_constant(name: str) -> None:
        pytest.fail(f"JSON has no {name}")

    study = optuna.create_study(study_name="stored", storage=qd.journal_storage("quadrat.journal"))
    distributions = {"x": optuna.distributions.FloatDistribution(-math.inf, math.inf)}
    at: dict[str, Any] = {"params": {"x": math.inf}, "distributions": distributions}
    study.add_trial(create_trial(value=math.inf, **at))
    study.add_trial(create_trial(value=1.0, user_attrs={"quadrat:sem": 1e308}, **at))
    study.add_trial(create_trial(value=math.inf, user_attrs={"quadrat:values": [1e308, 1e308]}, **at))
    study.add_trial(create_trial(value=2.0, system_attrs={"constraints": [math.nan, 1e308]}, **at))
    rows = json.loads(out_of(capsys, "export"), parse_constant=no_constant)
    assert [(row["value"], row["x"]) for row in rows] == [(None, None), (1.0, None), (None, None), (2.0, None)]
    assert json.loads(out_of(capsys, "show", "--json"), parse_constant=no_constant)["reason"]
    assert "inf" in out_of(capsys, "show")
    refused(capsys, "best", "--json")


@pytest.mark.parametrize("text", ["1_5", "\u0663", "\uff13", "0x1", "1e", "--5"])
def test_only_decimal_numbers_are_read(text: str, folder: Path, capsys: Capture) -> None:
    """Python's own reading makes 15 of 1_5, and 3 of the digits of any script."""
    asked(capsys, "--space", "space.toml", "-n", "16")
    before = (folder / "quadrat.journal").read_bytes()
    (folder / "results.csv").write_text(f"number,value\n1,{text}\n", encoding="utf-8")
    (folder / "numbers.csv").write_text(f"number,value\n{text},1\n", encoding="utf-8")
    (folder / "params.csv").write_text(f"x,n,value\n0.5,{text},1\n", encoding="utf-8")
    for arguments in (
        ("tell", "--", text, "1.0"),
        ("tell", "1", "--", text),
        ("tell", "1", "2.0", "--sem", text),
        ("tell", "--csv", "results.csv"),
        ("tell", "--csv", "numbers.csv"),
        ("tell", "--csv", "params.csv"),
        ("ask", "-n", text),
        ("ask", "--seed", text),
        ("show", "--last", text),
        ("tune", "a:b", "--timeout", text),
    ):
        assert "expected " in refused(capsys, *arguments)
    assert (folder / "quadrat.journal").read_bytes() == before


def test_of_two_imports_at_once_one_says_that_it_added_the_rows(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "old.csv").write_text("x,n,value\n0.5,3,1\n0.25,3,2\n")
    import_again = ["tell", "--csv", "old.csv", "--json"]
    out_of(capsys, "ask", "--space", "space.toml")

    def overtaken(*given: Any) -> int:
        monkeypatch.setattr(bench_commands, "write_results", write_results)
        first = json.loads(out_of(capsys, *import_again))
        assert (first["added"], first["already_told"]) == (2, 0)
        return write_results(*given)

    monkeypatch.setattr(bench_commands, "write_results", overtaken)
    second = json.loads(out_of(capsys, *import_again))
    assert (second["added"], second["already_told"]) == (0, 2)
    assert len(study_of().trials) == 3


@pytest.mark.parametrize("storage", ["big.journal", "sqlite:///big.db"])
def test_an_import_into_a_study_with_many_trials_reads_none_of_them(
    storage: str, folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million of them in a database take gigabytes; unless the file names trials."""
    monkeypatch.setattr(bench_commands, "_MANY", 4)
    (folder / "old.csv").write_text("x,n,value\n" + "".join(f"0.{number},3,{number}\n" for number in range(1, 9)))
    command = ["tell", "--csv", "old.csv", "--storage", storage]
    with monkeypatch.context() as patched:
        patched.setattr(Study, "get_trials", None)
        assert "8 trials added.\nOf 8 complete trials" in out_of(capsys, *command, "--space", "space.toml")
        (folder / "old.csv").write_text((folder / "old.csv").read_text() + "0.9,3,9\n")
        assert "1 trial added; 8 rows known already." in out_of(capsys, *command)
    [number] = [one["number"] for one in asked(capsys, "--storage", storage)]
    (folder / "old.csv").write_text(f"number,x,n,value\n{number},,,7\n")
    assert f"trial {number} told." in out_of(capsys, *command)
