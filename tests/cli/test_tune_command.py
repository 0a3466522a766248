"""`quadrat tune`: what people type, what they see, and what is left when the process is killed."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import optuna
import pytest
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage
from optuna.trial import TrialState

import quadrat as qd
from quadrat.cli import main
from quadrat.cli.tune_command import TuneOptions
from quadrat.errors import QuadratWarning
from quadrat.studies import open_storage
from quadrat.studies.finish_order import BEGUN

OBJECTIVES = '''
"""Objectives to tune."""

import json
import math
import os
import time

import optuna

import quadrat as qd


def bowl(params):
    value = (params["x"] - 0.3) ** 2 + (params["kind"] == "a") + 0.1 * params.get("n", 0)
    time.sleep(float(os.environ.get("QUADRAT_TEST_SLEEP", "0")))
    return value


def define_by_run(trial):
    x = trial.suggest_float("x", -1, 1)
    if trial.suggest_categorical("kind", ["a", "b"]) == "b":
        x += trial.suggest_float("y", 0, 1)
    time.sleep(float(os.environ.get("QUADRAT_TEST_SLEEP", "0")))
    trial.set_user_attr("pid", os.getpid())
    return (x - 0.3) ** 2


def pruned(trial):
    x = trial.suggest_float("x", -1, 1)
    trial.report(x, 0)
    if trial.number % 2:
        raise optuna.TrialPruned
    return x


def all_pruned(trial):
    trial.report(trial.suggest_float("x", -1, 1), 0)
    raise optuna.TrialPruned


def nothing_shared(trial):
    return trial.suggest_float(f"x{trial.number}", 0, 1)


def sometimes(params):
    if params["kind"] == "a":
        raise ValueError("no such kind")
    return params["x"]


def raises(params):
    raise ValueError("never works")


def hangs_once(params):
    mark = os.environ["QUADRAT_TEST_MARK"]
    if not os.path.exists(mark):
        open(mark, "w").close()
        time.sleep(600)
    return bowl(params)


def dies(params):
    os._exit(3)


returns = {
    "text": lambda params: "much", "none": lambda params: None, "nan": lambda params: math.nan,
    "inf": lambda params: math.inf, "list": lambda params: [], "pair": lambda params: (0.9, 12.0),
}
text, none, nan, inf, empty, pair = (returns[name] for name in ("text", "none", "nan", "inf", "list", "pair"))


def pair_by_run(trial):
    return trial.suggest_float("x", -1, 1), 12.0


def estimate(params):
    return qd.Estimate(bowl(params), 0.25)
'''
SPACE = """
[x]
type = "float"
low = -1.0
high = 1.0
[kind]
type = "categorical"
choices = ["a", "b"]
[n]
type = "int"
low = 1
high = 5
when = { kind = "b" }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with objectives and a space."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(OBJECTIVES)
    (tmp_path / "space.toml").write_text(SPACE)
    yield tmp_path
    optuna.logging.set_verbosity(optuna.logging.INFO)
    for name in [name for name in sys.modules if name.startswith("quadrat_objective_")]:
        del sys.modules[name]


def tune(*more: str, objective: str = "train.py:bowl", space: bool = True) -> int:
    return main(["tune", objective, *(["--space", "space.toml"] if space else []), *more])


def study(storage: str = "quadrat.journal", name: str = "quadrat") -> optuna.Study:
    return optuna.load_study(study_name=name, storage=open_storage(storage))


def told(of: optuna.Study) -> list[tuple[object, ...]]:
    return [(trial.number, trial.state, trial.params, trial.value) for trial in of.trials]


# --- what is done and shown


def test_a_study_is_run_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "6", "--seed", "3", "--direction", "maximize") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == [
        "trial",
        "value",
        "recommended",
        "so",
        "far",
        "90",
        "%",
        "interval",
        "could",
        "gain",
        "left",
    ]
    assert [line.split()[0] for line in out[1:7]] == [str(number) for number in range(6)]
    assert max(map(len, out)) <= 80
    assert out[-1].startswith("Study quadrat in quadrat.journal: 6 complete; all 6 trials done, ")
    optimizer = qd.Optimizer(qd.Space.from_toml("space.toml"), direction="maximize", seed=3)
    for trial, line in zip(study().trials, out[1:7], strict=True):
        asked = optimizer.ask()
        assert trial.params == asked.params
        assert trial.value is not None
        optimizer.tell(asked, trial.value)
        assert float(line.split()[1]) == pytest.approx(trial.value, rel=1e-5)


def test_the_same_command_goes_on() -> None:
    assert tune("-n", "4", "--storage", "a.journal") == 0
    assert tune("-n", "9", "--storage", "a.journal") == 0
    assert tune("-n", "9", "--storage", "b.journal") == 0
    assert told(study("a.journal")) == told(study("b.journal"))
    assert len(study("a.journal").trials) == 9


def test_what_was_set_at_first_need_not_be_said_again() -> None:
    assert tune("-n", "3", "--seed", "5", "--direction", "maximize", "--method", "SobolSearch") == 0
    assert main(["tune", "train.py:bowl", "-n", "5"]) == 0, "the space is kept too"
    assert tune("-n", "5", "--seed", "5", "--direction", "maximize", "--method", "SobolSearch", "--study", "whole") == 0
    assert told(study()) == told(study(name="whole"))


def test_noise_that_is_stated_is_kept_with_the_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "7", "--noise", "0") == 0
    assert tune("-n", "8") == 0, "it need not be said again"
    assert qd.recommend(study()).noise_stated
    assert tune("-n", "8", "--noise", "0", "--method", "SobolSearch") == 2
    assert "noise: expected None beside a method" in capsys.readouterr().err
    assert tune("-n", "8", "--noise", "-1") == 2
    assert tune("-n", "9", "--noise", "0.1") == 2, "another noise is another method"


def test_a_certified_study_shows_what_is_certified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "space.toml").write_text('[x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n')
    (folder / "train.py").write_text("def bowl(params):\n    return (params['x'] - 0.3) ** 2\n")
    method = "LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=3, noise=0.01, budget=20)"
    assert tune("-n", "8", "--method", method) == 0
    out = capsys.readouterr().out
    assert "certified interval" in out.splitlines()[0]
    assert "within" in out.splitlines()[0]
    assert "90 %" not in out
    _, _, so_far, low, to, high, gap, *_ = out.splitlines()[1].split()
    assert (to, float(low) < float(so_far) < float(high)) == ("to", True)
    assert 0 < float(gap) < 20
    said = next(line for line in out.splitlines() if line.startswith("certificate"))
    assert tune("-n", "8", "--json") == 0
    found = json.loads(capsys.readouterr().out)["recommended"]
    assert f"within {found['certificate']['value']:.4g} of the" in said
    assert found["certified_interval"][0] <= (found["params"]["x"] - 0.3) ** 2 <= found["certified_interval"][1]
    assert found["certificate"]["value"] >= (found["params"]["x"] - 0.3) ** 2, "the optimum is 0"


def test_a_space_in_json(folder: Path) -> None:
    space = qd.Space.from_toml("space.toml")
    (folder / "space.json").write_text(json.dumps(space.to_dict()))
    assert main(["tune", "train.py:bowl", "--space", "space.json", "-n", "2"]) == 0
    assert tune("-n", "3") == 0, "it is the same space"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "5", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["trials"] == {"complete": 5}
    assert said["ended"] == "all 5 trials done"
    assert said["recommended"]["params"] == qd.recommend(study()).params


def test_time_is_a_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRAT_TEST_SLEEP", "0.2")
    assert tune("--timeout", "0.5") == 0
    assert 1 <= len(study().trials) < 10


def test_a_gain_is_a_limit_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "20", "--stop-at-gain", "1e6") == 0
    assert len(study().trials) == 5
    assert "at most 1e+06 is left to gain" in capsys.readouterr().out
    assert tune("--stop-at-gain", "-1") == 2
    assert "stop-at-gain: expected a number >= 0, got -1" in capsys.readouterr().err


def test_failures_are_shown_and_do_not_end_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "8", objective="train.py:sometimes") == 0
    out, err = capsys.readouterr()
    states = [trial.state for trial in study().trials]
    assert states.count(TrialState.FAIL) >= 1
    assert [line.split()[1] == "failed" for line in out.splitlines()[1:9]] == [
        state is TrialState.FAIL for state in states
    ]
    assert err.count("Traceback") == 1, "the first in full, the others in a line"
    assert err.count("ValueError: no such kind") == states.count(TrialState.FAIL)


def test_trials_that_share_no_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(QuadratWarning, match="parameter 'x1' is drawn at random"):
        assert tune("-n", "4", objective="train.py:nothing_shared", space=False) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "4 complete" in out
    with pytest.warns(QuadratWarning):
        assert tune("-n", "5", "--json", objective="train.py:nothing_shared", space=False) == 0
    found = json.loads(capsys.readouterr().out)["recommended"]["params"]
    assert found in [trial.params for trial in study().trials], "a setting that was evaluated, whatever it is worth"


def test_a_relative_database_is_found_from_anywhere() -> None:
    assert tune("-n", "2", "--workers", "1", "--storage", "sqlite:///study.db") == 0
    assert TuneOptions("f", storage="sqlite:///study.db").where == f"sqlite:///{Path.cwd()}/study.db"
    assert TuneOptions("f", storage="sqlite:////tmp/x.db").where == "sqlite:////tmp/x.db"


# --- workers


def test_worker_processes(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "12", "--workers", "2") == 0
    assert [trial.number for trial in study().trials] == list(range(12))
    assert all(trial.state is TrialState.COMPLETE for trial in study().trials)


def test_an_objective_that_defines_its_space_as_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Here, and as Optuna itself runs it: the same trials. The first one has all parameters: nothing is warned of."""
    assert tune("-n", "10", objective="train.py:define_by_run", space=False) == 0
    sys.path.insert(0, str(Path.cwd()))
    try:
        from train import define_by_run  # type: ignore[import-not-found]
    finally:
        del sys.path[0], sys.modules["train"]
    plain = optuna.create_study(sampler=qd.QuadratSampler(seed=0))
    plain.optimize(define_by_run, n_trials=10)
    assert [trial.params for trial in study().trials] == [trial.params for trial in plain.trials]
    assert all(trial.state is TrialState.COMPLETE for trial in study().trials)


def test_an_objective_that_defines_its_space_as_it_runs_on_workers() -> None:
    """One worker makes the trials that this process would; no worker has a model."""
    command = [sys.executable, "-m", "quadrat.cli", "tune", "train.py:define_by_run", "-n", "10", "--workers", "1"]
    _, err = started(command, 0.0).communicate(timeout=120)
    assert "QuadratWarning" not in err
    assert tune("-n", "10", "--study", "here", objective="train.py:define_by_run", space=False) == 0
    there, here = study(), study(name="here")
    assert told(there) == told(here)
    assert os.getpid() not in {trial.user_attrs["pid"] for trial in there.trials}
    assert {trial.user_attrs["pid"] for trial in here.trials} == {os.getpid()}


@pytest.mark.parametrize("more", [["--workers", "2"], ["--trial-timeout", "100"]], ids=" ".join)
def test_an_objective_that_defines_its_space_as_it_runs_on_workers_and_a_database(more: list[str]) -> None:
    """A worker opens the database itself, before the trials that it is given begin."""
    where = "sqlite:///study.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QuadratWarning)
        assert tune("-n", "6", "--storage", where, *more, objective="train.py:define_by_run", space=False) == 0
    assert [trial.state for trial in study(where).trials] == [TrialState.COMPLETE] * 6
    assert os.getpid() not in {trial.user_attrs["pid"] for trial in study(where).trials}


@pytest.mark.parametrize("executor", ["dask", "ray"])
@pytest.mark.parametrize("kind", ["params", "trial"])
def test_clusters(executor: str, kind: str) -> None:
    """By a process of its own, as people run it: these leave threads and settings behind."""
    module = {"dask": "distributed", "ray": "ray"}[executor]
    pytest.importorskip(module, reason=f'pip install "quadrat[{executor}]"')
    objective = ["train.py:bowl", "--space", "space.toml"] if kind == "params" else ["train.py:define_by_run"]
    arguments = [sys.executable, "-m", "quadrat.cli", "tune", *objective]
    command = [*arguments, "-n", "4", "--workers", "2", "--executor", executor]
    process = started(command, 0.0, DASK_TEMPORARY_DIRECTORY=str(Path.cwd() / "dask"))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert [(trial.number, trial.state) for trial in study().trials] == [(n, TrialState.COMPLETE) for n in range(4)]


def test_pruned_trials(capsys: pytest.CaptureFixture[str]) -> None:
    for name, more in (("here", []), ("there", ["--workers", "2"])):
        assert tune("-n", "6", "--study", name, *more, objective="train.py:pruned", space=False) == 0
        states = [trial.state for trial in study(name=name).trials]
        assert states == [TrialState.COMPLETE, TrialState.PRUNED] * 3
        out = " ".join(capsys.readouterr().out.split())
        assert "3 of 6 trials were pruned: they have no result and do not count." in out
        assert "3 complete, 3 pruned" in out


def test_a_run_in_which_every_trial_is_pruned(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("-n", "3", objective="train.py:all_pruned", space=False) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "expected at least one complete trial, got 0 that failed, 3 that were pruned and have no result" in out
    assert "--space" not in out
    assert main(["best"]) == 2


def test_a_trial_that_takes_too_long_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRAT_TEST_MARK", str(tmp_path / "mark"))
    assert tune("-n", "3", "--trial-timeout", "5", objective="train.py:hangs_once") == 0
    assert [trial.state for trial in study().trials] == [TrialState.COMPLETE] * 3


# --- bad input: exit status 2, one line that says what to do, and nothing lost


@pytest.mark.parametrize("kind", ["raises", "text", "none", "nan", "inf", "empty", "dies"])
def test_an_objective_that_never_works(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    workers = ["--workers", "1"] if kind == "dies" else []
    assert tune("-n", "20", *workers, objective=f"train.py:{kind}") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    said = {
        "raises": "ValueError: never works",
        "text": "expected a number, a list of replicates, Estimate, FAILED or Measured, got 'm",
        "none": "got None",
        "nan": "told nan",
        "inf": "told inf",
        "empty": "got nothing: []",
        "dies": "WorkerDied: the process ended before it answered, 3 times",
    }
    assert said[kind] in last
    assert "got 5 trials that failed" in last
    assert [trial.state for trial in study().trials] == [TrialState.FAIL] * 5


@pytest.mark.parametrize("more", [[], ["--workers", "2"]], ids=["here", "in processes"])
@pytest.mark.parametrize(("objective", "space"), [("pair", True), ("pair_by_run", False)])
def test_an_objective_that_returns_a_pair(
    objective: str, space: bool, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody knows whether these are two objectives or a mean with its error: the message has both."""
    assert tune("-n", "20", *more, objective=f"train.py:{objective}", space=space) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "Quadrat does not optimise several objectives yet; return one number, and tell a limit on the other" in last
    assert "a mean and its standard error: return qd.Estimate(value, sem)" in last
    states = [trial.state for trial in study().trials]
    assert set(states) == {TrialState.FAIL}
    assert len(states) <= (2 if more else 1)  # what ran when the first came back is told, and nothing more begins


@pytest.mark.parametrize("more", [[], ["--workers", "1"]], ids=["here", "in a process"])
def test_an_objective_that_returns_estimates(more: list[str]) -> None:
    assert tune("-n", "3", *more, objective="train.py:estimate") == 0
    assert [trial.user_attrs["quadrat:sem"] for trial in study().trials] == [0.25] * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train.py:nothing"], "it has all_pruned, bowl, "),
        (["missing.py:f"], "there is no file missing.py"),
        (["train.py"], "expected FILE.py:function"),
        (["broken.py:f"], "expected broken.py to be importable, got SyntaxError"),
        (["train.py:bowl", "--space", "missing.toml"], "missing.toml"),
        (["train.py:bowl", "--space", "broken.toml"], "broken.toml"),
        (["train.py:bowl", "--space", "space.toml", "-n", "0"], "n-trials: expected a number above 0, got 0"),
        (["train.py:bowl", "--space", "space.toml", "--timeout", "-1"], "timeout: expected a number above 0, got -1"),
        (["train.py:bowl", "--space", "space.toml", "--workers", "0"], "workers: expected a number above 0, got 0"),
        (["train.py:bowl", "--space", "space.toml", "--direction", "up"], "direction: expected"),
        (["train.py:bowl", "--space", "space.toml", "--method", "Magic"], "method: expected"),
        (
            ["train.py:bowl", "--space", "space.toml", "--executor", "abacus"],
            "expected process, dask or ray, got abacus",
        ),
        (["train.py:bowl", "--space", "space.toml", "--scheduler", "tcp://x:1"], "expected --executor dask or ray"),
        (
            ["train.py:bowl", "--space", "space.toml", "--storage", "postgresql+psycopg://u:secret@127.0.0.1:1/x"],
            "storage: expected",
        ),
    ],
    ids=lambda value: " ".join(value[:1] + value[3:]) if isinstance(value, list) else "",
)
def test_bad_arguments(arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.toml").write_text("[x\n")
    (folder / "broken.py").write_text("def f(:\n")
    assert main(["tune", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("quadrat: ")
    assert said.replace("broken.py", str(folder / "broken.py")) in line or said in line
    assert "secret" not in line


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--direction", "maximize"], "direction: expected minimize"),
        (["--seed", "4"], "seed: expected 0"),
        (["--method", "SobolSearch"], "method: expected Auto"),
        (["--space", "other.toml"], "has another"),
    ],
)
def test_a_study_that_is_another(more: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.toml").write_text(SPACE.replace("-1.0", "-2.0"))
    assert tune("-n", "2") == 0
    before = told(study())
    capsys.readouterr()
    space = [] if "--space" in more else ["--space", "space.toml"]
    assert main(["tune", "train.py:bowl", *space, *more, "-n", "4"]) == 2
    assert said in capsys.readouterr().err
    assert told(study()) == before


# --- other processes; kills, signals, full disks: tests/faults


def command(*more: str, objective: str = "train.py:bowl") -> list[str]:
    return [sys.executable, "-m", "quadrat.cli", "tune", objective, "--space", "space.toml", *more]


def started(arguments: list[str], sleep: float, **environment: str) -> subprocess.Popen[str]:
    settings = {**os.environ, "QUADRAT_TEST_SLEEP": str(sleep), **environment}
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings)


def wait_for_trials(n: int, storage: str) -> None:
    for _ in range(600):
        if Path(storage).exists():
            try:
                trials = study(storage).get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            except KeyError:  # the study is not there yet
                trials = []
            if len(trials) >= n:
                return
        time.sleep(0.05)
    raise AssertionError("no trials")


@pytest.mark.parametrize("more", [[], ["--workers", "1"]], ids=["here", "on a worker"])
@pytest.mark.parametrize("left", ["thread", "pool"])
def test_threads_that_an_objective_left_do_not_keep_the_command(left: str, more: list[str], folder: Path) -> None:
    """A thread that never ends is left behind; a pool that has nothing to do is ended by Python."""
    (folder / "train.py").write_text(
        "import threading, time\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1)\n"
        "def thread(params):\n"
        "    threading.Thread(target=time.sleep, args=(3600,), name='never-ends').start()\n"
        "    return params['x']\n"
        "def pool_(params):\n"
        "    return pool.submit(abs, params['x']).result()\n"
    )
    objective = {"thread": "train.py:thread", "pool": "train.py:pool_"}[left]
    command = [sys.executable, "-m", "quadrat.cli", "tune", objective, "--space", "space.toml", "-n", "1", *more]
    process = started(command, 0.0)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "1 complete; all 1 trials done" in out
    said = "ended without waiting for threads that the objective left (never-ends)"
    assert (said in err) == (left == "thread" and not more)


@pytest.mark.parametrize("kind", ["params", "trial"])
def test_the_limit_of_a_trial_counts_from_its_beginning(kind: str, folder: Path) -> None:
    """The import takes longer than a trial may, and so does the start of a worker."""
    (folder / "train.py").write_text(
        "import time\n"
        "time.sleep(1.5)\n"
        "def params(params):\n    return params['x']\n"
        "def trial(trial):\n    return trial.suggest_float('x', -1, 1)\n"
    )
    assert tune("-n", "2", "--trial-timeout", "1", objective=f"train.py:{kind}", space=kind == "params") == 0
    assert [trial.state for trial in study().trials] == [TrialState.COMPLETE] * 2
    assert all(BEGUN not in trial.system_attrs for trial in study().trials), "none was evaluated twice"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which Linux has")
@pytest.mark.parametrize("how", ["time-out", "SIGTERM twice", "kill -9"])
def test_programs_that_an_objective_started_end_with_it(how: str, folder: Path) -> None:
    (folder / "train.py").write_text(
        "import os, subprocess, time\n"
        "def hangs(params):\n"
        "    program = subprocess.Popen(['sleep', '600'])\n"
        "    with open('pids', 'a') as file:\n"
        "        file.write(f'{os.getpid()} {program.pid} .\\n')\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "quadrat.cli", "tune", "train.py:hangs", "--space", "space.toml", "-n", "1"]
    more = ["--trial-timeout", "0.5"] if how == "time-out" else ["--workers", "1"]
    process = started([*command, *more], 0.0)
    evaluations = 3 if how == "time-out" else 1
    try:
        until(lambda: (folder / "pids").exists() and (folder / "pids").read_text().count(".") == evaluations)
        if how == "kill -9":
            process.kill()
        elif how != "time-out":
            process.terminate()
            assert process.stderr is not None
            assert "interrupt again" in process.stderr.readline()
            process.terminate()
        process.wait(60)
        pids = {pid for line in (folder / "pids").read_text().splitlines() for pid in line.split()[:2]}
        until(lambda: not alive(pids))
    finally:
        process.kill()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        process.wait()


def alive(pids: set[str]) -> list[str]:
    """The processes that have one of these numbers, or are in a group of that number, and are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group = path.read_text().rsplit(")", 1)[1].split()[:3]
            found += [path.parent.name] if state != "Z" and {group, path.parent.name} & pids else []
    return found


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_server_that_stops_during_the_run(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def gone(*_: object, **__: object) -> None:
        calls.append(1)
        if len(calls) > 3:
            raise StorageInternalError("An exception is raised during the commit.") from OSError("server closed")

    monkeypatch.setattr(qd.QuadratSampler, "after_trial", gone)
    assert tune("-n", "12", "--storage", postgres_url) == 2
    assert "to take what is told, got server closed; what was told before is kept" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(Path(sys.modules["quadrat_objective_train"].__file__ or "").parent)
    assert tune("-n", "12", "--storage", postgres_url) == 0
    storage = open_storage(postgres_url)
    assert isinstance(storage, RDBStorage)
    assert all(trial.state is TrialState.COMPLETE for trial in storage.get_all_trials(1))
    storage.engine.dispose()


def test_two_coordinators_of_one_study(capsys: pytest.CaptureFixture[str]) -> None:
    process = started(command("-n", "100"), 0.2)
    wait_for_trials(1, "quadrat.journal")
    assert tune("-n", "5") == 2
    assert f"which process {process.pid} on" in capsys.readouterr().err
    process.kill()
    process.communicate()


def test_a_table_can_be_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    """As by `| head -2`: the study goes on being whole."""
    process = started(command("-n", "6"), 0.0)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.read()
    process.stderr.close()
    process.wait(60)
    assert not [trial for trial in study().trials if trial.state is TrialState.RUNNING] or tune("-n", "6") == 0
    assert main(["export", "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out.split("number", 1)[1].join(["number", ""]))))
    assert all(row["state"] == "complete" for row in rows)


NOISY = """
import os
import sys

print("imported")


def bowl(params):
    print("a line")
    os.system("echo a line of another program")
    sys.__stdout__.write("a line of the first stream")
    return params["x"] ** 2
"""


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_json_is_all_that_comes_out_whatever_an_objective_prints(folder: Path, workers: tuple[str, ...]) -> None:
    (folder / "noisy.py").write_text(NOISY)
    (folder / "x.toml").write_text('[x]\ntype = "float"\nlow = -1\nhigh = 1\n')
    command = [sys.executable, "-m", "quadrat.cli", "tune", "noisy.py:bowl", "--space", "x.toml", "-n", "3", "--json"]
    done = subprocess.run([*command, *workers], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == {"complete": 3}
    for line in ("imported", "a line\n", "a line of another program", "a line of the first stream"):
        assert line in done.stderr


def test_json_in_a_process_that_took_over_the_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "noisy.py").write_text("def bowl(params):\n    print('a line')\n    return params['x'] ** 2\n")
    (folder / "x.toml").write_text('[x]\ntype = "float"\nlow = -1\nhigh = 1\n')
    assert main(["tune", "noisy.py:bowl", "--space", "x.toml", "-n", "2", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["trials"] == {"complete": 2}
    assert said.err.count("a line") == 2
