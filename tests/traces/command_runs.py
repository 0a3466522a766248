"""The command line: `tune`, `ask`, `tell`, `show`, `best`, `export`, `report`, each on a journal in an empty folder."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import optuna
from tests.traces.plain import Plain, plain
from tests.traces.study_runs import of_study, quiet
from tests.traces.watching import Trace, traced

import quadrat as qd
from quadrat.cli import main

__all__ = ["JOURNAL", "LP_TEXT", "bench", "bench_study", "command", "printed", "stored"]

JOURNAL = "quadrat.journal"
LP_TEXT = "LPGPUCB(kernel=Matern(2.5, 0.4), norm_bound=3, noise=0.05, budget=30)"

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
LINE_SPACE = """
[x]
type = "float"
low = 0.0
high = 1.0
"""
OBJECTIVES = '''
"""Objectives to tune."""

import math
import time
from pathlib import Path

import optuna

import quadrat as qd

N_TRIALS = 8


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["kind"] == "a") + 0.1 * params.get("n", 0)


def line(params):
    return 1.0 - (params["x"] - 0.3) ** 2


def rough(params):
    """Fails, is not a number, has replicates, each in some place."""
    if params["kind"] == "b" and params["n"] == 4:
        raise ValueError("no convergence")
    if params["x"] > 0.8:
        return math.nan
    value = bowl(params)
    return [value, value + 0.05] if params["x"] < 0 else value


def constrained(params):
    return qd.Measured(bowl(params), {"size": params.get("n", 1) - 3.0, "left": -0.5 - params["x"]})


def by_run(trial):
    x = trial.suggest_float("x", -1, 1)
    if trial.suggest_categorical("kind", ["a", "b"]) == "b":
        x += trial.suggest_float("y", 0, 1)
    trial.report(abs(x), 0)
    if trial.number % 4 == 3:
        raise optuna.TrialPruned
    if trial.number == 5:
        raise ValueError("diverged")
    return (x - 0.3) ** 2


def turns(params):
    """Trials finish in the order 1, 0, 3, 2, 5, 4, ...: an even one waits until the next one is told.

    It also waits until the trial after that one has its parameters, so that it is still running when they are chosen.
    """
    study = optuna.load_study(study_name="quadrat", storage=qd.journal_storage("quadrat.journal"))
    own = [one.number for one in study.trials if not one.state.is_finished() and one.params == params]
    number = own[0]
    deadline = time.monotonic() + 120.0
    while number % 2 == 0 and time.monotonic() < deadline:
        trials = study.get_trials(deepcopy=False)
        told = number + 1 < len(trials) and trials[number + 1].state.is_finished()
        begun = number + 2 >= N_TRIALS or (number + 2 < len(trials) and len(trials[number + 2].params) >= 2)
        if told and begun:
            break
        time.sleep(0.005)
    return bowl(params)
'''


@contextlib.contextmanager
def bench() -> Iterator[Path]:
    """Make an empty working directory with objectives and spaces, and a terminal 100 columns wide."""
    surroundings = {"COLUMNS": "100", "NO_COLOR": "1"}
    with TemporaryDirectory() as name, contextlib.chdir(name), quiet(), mock.patch.dict(os.environ, surroundings):
        folder = Path(name)
        for file, text in (("space.toml", SPACE), ("line.toml", LINE_SPACE), ("train.py", OBJECTIVES)):
            (folder / file).write_text(textwrap.dedent(text), encoding="utf-8")
        try:
            yield folder
        finally:
            for module in [module for module in sys.modules if module.startswith("quadrat_objective_")]:
                del sys.modules[module]


def command(*arguments: str) -> str:
    """Run `quadrat` with these arguments in this process; return what it prints."""
    out, log = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(log):
        status = main(arguments)
    assert status == 0, f"quadrat {' '.join(arguments)}: exit status {status}: {log.getvalue()}"
    return out.getvalue()


def printed(*arguments: str) -> Any:
    """Run a command with --json; return the data that it prints."""
    return json.loads(command(*arguments, "--json"))


def stored(name: str = "quadrat", journal: str = JOURNAL) -> optuna.Study:
    """Return the study in the journal."""
    return optuna.load_study(study_name=name, storage=qd.journal_storage(journal))


def _without_times(shown: dict[str, Any]) -> Plain:
    return plain({**shown, "trials": [{**one, "asked": None} for one in shown["trials"]]})


# --- tune


def _tuned(*arguments: str, design: int) -> Trace:
    said = printed("tune", *arguments)
    trace = of_study(stored(), design, said=plain(said))
    trace["settled"]["ended"] = said["ended"]
    trace["settled"]["trials"] = said["trials"]
    return trace


@traced
def tune_here() -> Trace:
    """`quadrat tune` in one process, minimised, resumed once."""
    with bench():
        command("tune", "train.py:bowl", "--space", "space.toml", "-n", "7", "--seed", "3")
        return _tuned("train.py:bowl", "-n", "12", design=5)


@traced
def tune_rough() -> Trace:
    """`quadrat tune` of an objective that fails, returns NaN and replicates; maximised."""
    with bench():
        trace = _tuned("train.py:rough", "--space", "space.toml", "-n", "12", "--direction", "maximize", design=3)
    for name in ("states", "trials"):  # suggestions decide which trials fail
        trace["computed"][f"{name} at the end"] = trace["settled"].pop(name)
    return trace


@traced
def tune_constrained() -> Trace:
    """`quadrat tune` of an objective that measures constraints."""
    with bench():
        return _tuned("train.py:constrained", "--space", "space.toml", "-n", "11", design=5)


@traced
def tune_certified() -> Trace:
    """`quadrat tune` with a method that is written with its options and certifies."""
    with bench():
        arguments = ("train.py:line", "--space", "line.toml", "-n", "12", "--method", LP_TEXT)
        return _tuned(*arguments, "--direction", "maximize", design=1)


@traced
def tune_by_run() -> Trace:
    """`quadrat tune` of an objective that defines its space as it runs: pruned and failed trials."""
    with bench():
        return _tuned("train.py:by_run", "-n", "11", design=1)


@traced
def tune_two_workers() -> Trace:
    """`quadrat tune --workers 2` whose trials finish in a fixed order: 1, 0, 3, 2, 5, 4, 7, 6."""
    with bench():
        arguments = ("train.py:turns", "--space", "space.toml", "-n", "8", "--workers", "2", "--seed", "5")
        trace = _tuned(*arguments, design=3)
        over = [(trial.datetime_complete, trial.number) for trial in stored().get_trials(deepcopy=False)]
    trace["settled"]["finished"] = [number for _, number in sorted(over, key=lambda one: str(one[0]))]
    return trace


# --- ask, tell, show


def bench_study() -> Plain:
    """Begin and continue a study by hand: several at once, replicates, a standard error, a failure; what was asked."""
    asked = [printed("ask", "--space", "space.toml", "-n", "2", "--seed", "4")]
    command("tell", "1", "0.41")
    command("tell", "0", "0.52", "0.55", "0.49")
    asked.append(printed("ask", "-n", "3"))
    command("tell", "3", "0.3", "--sem", "0.02")
    command("tell", "2", "--failed", "--reason", "spilt")
    asked.append(printed("ask"))
    command("tell", "4", "nan")
    command("tell", "5", "-0.1")
    for number in (6, 7, 8):
        asked.append(printed("ask"))
        command("tell", str(number), str(0.25 + number / 16))
    asked.append(printed("ask", "-n", "2"))
    return plain(asked)


@traced
def bench_by_hand() -> Trace:
    """`quadrat ask` and `quadrat tell` by hand, then `show --json`, `best --json` and `export`."""
    with bench():
        asked = bench_study()
        shown = _without_times(printed("show"))
        rows = command("export", "--csv", "-").splitlines()
        best = plain(printed("best"))
        return of_study(stored(), 2, asked=asked, shown=shown, best=best, rows=rows)


@traced
def bench_from_a_file() -> Trace:
    """`quadrat tell --csv` with earlier results, then `quadrat ask`."""
    with bench() as folder:
        rows = ["x,kind,n,value,error"]
        rows += [f"{-0.9 + 0.2 * k:.1f},{'b,' + str(1 + k % 5) if k % 2 else 'a,'},{0.1 * k},0.05" for k in range(9)]
        (folder / "old.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        told = printed("tell", "--csv", "old.csv", "--sem", "error", "--space", "space.toml", "--direction", "maximize")
        asked = plain(printed("ask", "-n", "2"))
        trace = of_study(stored(), 9, asked=asked, best=plain(printed("best")))
        trace["settled"]["told"] = told
        return trace


@traced
def show_text() -> Trace:
    """What `quadrat show`, `best` and `tell` print of a fixed study of Auto, without times."""
    with bench():
        bench_study()
        said = [command("show"), command("show", "--last", "3"), command("tell", "9", "0.7"), command("best")]
    return {"settled": {"printed": len(said)}, "computed": {"text": [_lines(one) for one in said]}}


def _lines(text: str) -> list[str]:
    """Return the lines of a text without how long ago a trial was asked, on which the widths of columns depend."""
    timeless = re.sub(r"asked (just now|\d+ \w+ ago)", "asked TIME", text)
    return [re.sub(r"─+", "─", " ".join(line.split())) for line in timeless.splitlines()]


@traced
def show_certified() -> Trace:
    """What `quadrat show` says of a study under LPGPUCB: certificate and cells, as text and as JSON."""
    with bench():
        arguments = ("train.py:line", "--space", "line.toml", "-n", "14", "--direction", "maximize")
        command("tune", *arguments, "--method", LP_TEXT)
        shown = _without_times(printed("show"))
        text = _lines(command("show"))
    return {"settled": {"states": shown["states"]}, "computed": {"shown": shown, "text": text}}


class _Text(HTMLParser):
    """Collects the text of a page: no scripts, no styles."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside and data.strip():
            self.lines.append(" ".join(data.split()))


@traced
def report_text() -> Trace:
    """The text of `quadrat report` of a fixed study: findings, captions, settings; versions are left out."""
    with bench() as folder:
        bench_study()
        command("report", "-o", "page.html")
        page = _Text()
        page.feed((folder / "page.html").read_text(encoding="utf-8"))
    lines = page.lines
    at = lines.index("versions")
    kept = lines[:at] + lines[at + 2 :]
    text = [line.replace(qd.__version__, "VERSION") if "Made by quadrat" in line else line for line in kept]
    return {"settled": {"printed": bool(text)}, "computed": {"text": text}}
