"""Journals and states of version 0.1.0, and how each goes on: `python -m tests.traces.storing --write` made them.

They are kept as they are, so that later versions show that they open what an earlier one wrote. Nothing of the machine
that wrote them is in them: names of processes and hosts are replaced, and times are one second apart.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
from tests.traces import plain as form
from tests.traces.command_runs import JOURNAL, LP_TEXT, bench, bench_study, command, printed, stored
from tests.traces.comparing import read, written
from tests.traces.method_runs import LINE, hill, lp
from tests.traces.optimizer_runs import CONDITIONAL, MIXED, conditional_value, mixed_value
from tests.traces.plain import Plain, plain
from tests.traces.watching import noise, tell_mean

import quadrat as qd
from quadrat.errors import QuadratWarning

__all__ = ["EXPECTED", "JOURNALS", "STATES", "STORED", "journal_path", "kept_in", "nexts_of", "state_path"]

STORED = Path(__file__).parent / "stored"
EXPECTED = STORED / "expected.json"
_FIRST = datetime.fromisoformat("2025-01-01T00:00:00+00:00")
_LEASE, _OWNER = "quadrat:coordinator", "quadrat:owner"
_TIMES = ("datetime_start", "datetime_complete")


@dataclass(frozen=True)
class KeptJournal:
    """How a journal was made in an empty folder with objectives, and how its study goes on.

    Attributes
    ----------
    make
        Makes the journal.
    go_on
        Goes on with the study; returns what it suggests.
    """

    make: Callable[[], object]
    go_on: Callable[[], Plain]


def _tuned_on(objective: str, n: int) -> Callable[[], Plain]:
    """Return what goes on with a study until it has `n` trials, and returns those that were not over before."""

    def go_on() -> Plain:
        over = {trial.number for trial in stored().get_trials(deepcopy=False) if trial.state.is_finished()}
        command("tune", objective, "-n", str(n))
        return [form.study_trial(trial) for trial in stored().get_trials(deepcopy=False) if trial.number not in over]

    return go_on


def _asked_on() -> Plain:
    return plain([{"number": one["number"], "params": one["params"]} for one in printed("ask", "-n", "2")])


def _by_run() -> None:
    """Complete, pruned and failed trials of an objective that defines its space, and one that runs elsewhere."""
    command("tune", "train.py:by_run", "-n", "9", "--seed", "2")
    study = stored()
    study.sampler = qd.QuadratSampler(seed=2)
    study.ask().suggest_float("x", -1, 1)


def _interrupted() -> None:
    """The last trial was begun by a process that was stopped before it was told."""
    command("tune", "train.py:bowl", "--space", "space.toml", "-n", "8", "--seed", "6")
    path = Path(JOURNAL)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    told = max(k for k, line in enumerate(lines) if '"datetime_complete"' in line)
    path.write_text("".join(lines[:told] + lines[told + 1 :]), encoding="utf-8")


JOURNALS = {
    "tuned": KeptJournal(
        lambda: command("tune", "train.py:bowl", "--space", "space.toml", "-n", "10", "--seed", "3"),
        _tuned_on("train.py:bowl", 12),
    ),
    "by_hand": KeptJournal(bench_study, _asked_on),
    "certified": KeptJournal(
        lambda: command(
            "tune", "train.py:line", "--space", "line.toml", "-n", "10", "--direction", "maximize", "--method", LP_TEXT
        ),
        _asked_on,
    ),
    "by_run": KeptJournal(_by_run, _tuned_on("train.py:by_run", 12)),
    "interrupted": KeptJournal(_interrupted, _tuned_on("train.py:bowl", 10)),
    "constrained": KeptJournal(
        lambda: command("tune", "train.py:constrained", "--space", "space.toml", "-n", "9"), _asked_on
    ),
    "two_workers": KeptJournal(
        lambda: command("tune", "train.py:turns", "--space", "space.toml", "-n", "8", "--workers", "2", "--seed", "5"),
        _tuned_on("train.py:bowl", 10),
    ),
}
"""All journals by name."""


def journal_path(name: str) -> Path:
    """Return where a journal is kept: not as NAME.journal, because archives of the source must have none left over."""
    return STORED / "journals" / f"{name}.jsonl"


def kept_in(study: optuna.Study) -> Plain:
    """Return everything that a study keeps: its direction, method, seed and space, and its trials."""
    noted = {key: value for key, value in study.user_attrs.items() if key != _LEASE}
    return {
        "direction": study.direction.name.lower(),
        "notes": plain(noted),
        "trials": [form.study_trial(trial) for trial in study.get_trials(deepcopy=False)],
    }


def _anonymous(text: str) -> str:
    """Return a journal without names of processes and hosts, with times one second apart in their order."""
    records = [json.loads(line) for line in text.splitlines()]
    records = [record for record in records if (record.get("user_attr", {}).get(_LEASE) or {}).get("signs", 1) == 1]
    times = sorted({record[key] for record in records for key in _TIMES if key in record})
    workers: dict[str, str] = {}
    for record in records:
        record["worker_id"] = workers.setdefault(record["worker_id"], f"worker-{len(workers)}")
        for key in _TIMES:
            if key in record:
                record[key] = (_FIRST + timedelta(seconds=times.index(record[key]))).isoformat(timespec="microseconds")
        notes = record.get("user_attr", {})
        if notes.get(_LEASE) is not None:
            here = {"owner": "process", "host": "host", "kernel": "kernel", "pid": 1, "started": 1}
            notes[_LEASE] = {key: here.get(key, value) for key, value in notes[_LEASE].items()}
        if notes.get(_OWNER) is not None:
            notes[_OWNER]["process"] = "process"
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


# --- states


@dataclass(frozen=True)
class KeptState:
    """The optimizer of a state.

    Attributes
    ----------
    space, method
        Its own.
    run
        Asks and tells.
    context
        In which it is asked next; None where the space has no contexts.
    """

    space: qd.Space
    method: qd.methods.Method | str | None
    run: Callable[[qd.Optimizer], object]
    context: Mapping[str, Any] | None = None


def _mixed(optimizer: qd.Optimizer) -> None:
    """Failures, constraints, replicates, standard errors, a trial of the user's, two trials pending."""
    first = {"rate": 0.1, "drop": 0.125, "layers": 2, "width": 30, "kind": "gelu", "classes": 10}
    optimizer.add(first, -1.5)
    for _ in range(11):
        trial = optimizer.ask()
        value = mixed_value(trial.params) + noise(trial.number)
        limits = {"size": trial.params["layers"] * trial.params["width"] / 512 - 1.0}
        if trial.number in (3, 8):
            optimizer.tell(trial, qd.FAILED, reason="out of memory")
        elif trial.number == 5:
            optimizer.tell(trial, [value, value + 0.1], constraints=limits)
        else:
            optimizer.tell(trial, value, constraints=limits)
    optimizer.ask()
    optimizer.ask({**first, "kind": "relu"})


def _line(optimizer: qd.Optimizer) -> None:
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, hill(trial.params) + noise(trial.number))
    optimizer.ask()


def _contexts(optimizer: qd.Optimizer) -> None:
    for turn in range(9):
        trial = optimizer.ask(context={"site": ("north", "south")[turn % 2]})
        optimizer.tell(trial, hill({"x": trial.params["x"] - 0.3 * (turn % 2)}) + noise(turn))


def _added(optimizer: qd.Optimizer) -> None:
    """Results added at once, some failed, with replicates, on a conditional space; standard errors told one by one."""
    places: list[dict[str, Any]] = [
        {"model": "tree", "depth": 1 + k % 8, "shrink": k / 30}
        if k % 3
        else {"model": "net", "rate": 0.5, "shrink": 0.2}
        for k in range(24)
    ]
    values: list[Any] = [conditional_value(place) + noise(k) for k, place in enumerate(places)]
    values[4], values[9], values[10] = qd.FAILED, [values[9], values[9] + 0.05], float("nan")
    optimizer.add_trials(places, values)
    for _ in range(3):
        trial = optimizer.ask()
        tell_mean(optimizer, trial, conditional_value(trial.params), 0.05)
    optimizer.ask()


STATES = {
    "mixed": KeptState(MIXED, None, _mixed),
    "certified": KeptState(LINE, lp(degree=1), _line),
    "contexts": KeptState(
        qd.Space(x=qd.Float(0, 1), site=qd.Context(qd.Categorical(["north", "south"]))),
        "CGPUCB",
        _contexts,
        {"site": "south"},
    ),
    "added": KeptState(CONDITIONAL, "Auto(n_initial=4)", _added),
}
"""All states by name."""


def state_path(name: str) -> Path:
    """Return where a state is kept."""
    return STORED / "states" / f"{name}.json"


def nexts_of(optimizer: qd.Optimizer, context: Mapping[str, Any] | None) -> Plain:
    """Return what an optimizer recommends, and the next two suggestions that it makes."""
    found = form.recommendation(optimizer.recommend(context))
    return {
        "recommendation": found,
        "suggestions": [form.suggestion(optimizer.ask(context=context)) for _ in range(2)],
    }


# --- writing them


def _write_journal(name: str) -> Plain:
    kept = JOURNALS[name]
    with bench() as folder:
        kept.make()
        text = _anonymous((folder / JOURNAL).read_text(encoding="utf-8"))
    journal_path(name).write_text(text, encoding="utf-8")
    with bench() as folder:
        shutil.copy(journal_path(name), folder / JOURNAL)
        found = kept_in(stored())
    return {**found, "next": _goes_on(name)}


def _goes_on(name: str) -> Plain:
    """Return the next trials of a journal."""
    with bench() as folder:
        shutil.copy(journal_path(name), folder / JOURNAL)
        return JOURNALS[name].go_on()


def _write_state(name: str) -> Plain:
    kept = STATES[name]
    optimizer = qd.Optimizer(kept.space, direction="maximize", method=kept.method, seed=9)
    kept.run(optimizer)
    # As a user writes it: keys in their order, which is that of the parameters.
    text = json.dumps(optimizer.state(), indent=1, ensure_ascii=False) + "\n"
    state_path(name).write_text(text, encoding="utf-8")
    records = [{**form.record(one), "why": one.why} for one in optimizer.trials]
    return {"trials": records, "next": nexts_of(optimizer, kept.context)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all journals and states, and what is expected of them; only where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the journals and states on disk")
    parser.add_argument("--next", action="store_true", help="keep them; replace how each goes on")
    given = parser.parse_args(arguments)
    if given.next:
        kept = read(EXPECTED)
        for name, journal in kept["journals"].items():
            journal["next"] = _goes_on(name)
        for name, state in kept["states"].items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", QuadratWarning)  # of a new version of the method
                made = qd.Optimizer.from_state(STATES[name].space, read(state_path(name)), method=STATES[name].method)
            state["next"] = nexts_of(made, STATES[name].context)
        EXPECTED.write_text(written(kept), encoding="utf-8")
        return 0
    if not given.write:
        parser.error("expected --write: journals and states of an earlier version are replaced by those of this one")
    for folder in ("journals", "states"):
        (STORED / folder).mkdir(parents=True, exist_ok=True)
    expected = {
        "journals": {name: _write_journal(name) for name in JOURNALS},
        "states": {name: _write_state(name) for name in STATES},
    }
    EXPECTED.write_text(written(expected), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
