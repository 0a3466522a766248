"""A folder with an objective and a space, commands that tune it, and what is found in its studies afterwards."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import FrozenTrial, TrialState
from tests.faults.starter import PATIENCE, Command, Starter, wait

if TYPE_CHECKING:
    from tests.faults.reference import Reference

from quadrat.studies import open_storage
from quadrat.studies.storage import close_storage

OBJECTIVES = '''
"""Objectives, and what goes wrong in them."""

import os
import resource
import signal
import time
from pathlib import Path


def bowl(params):
    with open("evaluations", "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(float(os.environ.get("FAULTS_SLEEP", "0")))
    return (params["x"] - 0.3) ** 2 + (params["kind"] == "a") + 0.1 * params.get("n", 0)


def leak():
    """Ask for ever more memory, of which there is little."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), limits[1]))
    held = []
    try:
        while True:
            held.append(bytearray(8 << 20))
    finally:
        held.clear()
        resource.setrlimit(resource.RLIMIT_AS, limits)


FAULTS = {
    "exit": lambda: os._exit(3),
    "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "leak": leak,
    "hang": lambda: time.sleep(600),
}


def faulty(params):
    """Each of the faults that the environment names happens once, to whichever trials come first, one to each."""
    met = "met-" + "-".join(str(value) for value in params.values())
    if os.path.exists(met):
        return bowl(params)
    for name in os.environ["FAULTS"].split():
        try:
            os.close(os.open(f"had-{name}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        open(met, "w").close()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        FAULTS[name]()
    return bowl(params)
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
_TOLD = 6  # Optuna's code for the record that a trial is over


@dataclass(frozen=True)
class Findings:
    """What is found after faults.

    Attributes
    ----------
    fault
        What was done.
    injected
        How often.
    told
        Trials in the end.
    lost
        Trials that were shown as told and are not in the study with that value.
    duplicated
        Trials that are in it more than once, or were told more than once.
    stuck
        Trials that still run in the end.
    equal
        Whether the study is that of a run without faults, trial by trial and bit by bit; None where several workers
        decide the order.
    """

    fault: str
    injected: int
    told: int
    lost: int
    duplicated: int
    stuck: int
    equal: bool | None

    @property
    def is_sound(self) -> bool:
        return not self.lost and not self.duplicated and not self.stuck and self.equal is not False


@dataclass
class Run:
    """A command that was started."""

    command: Command
    out: Path
    err: Path

    def wait(self) -> int:
        return wait(self.command)

    @property
    def said(self) -> str:
        return self.out.read_text()

    @property
    def complained(self) -> str:
        return self.err.read_text()

    def shown(self) -> dict[int, float]:
        """Return the trials that were shown as complete, by number, and their values as shown."""
        rows: dict[int, float] = {}
        for line in self.said.splitlines(keepends=True):
            cells = line.split()
            if line.endswith("\n") and len(cells) >= 2 and cells[0].isdigit() and _is_number(cells[1]):
                rows[int(cells[0])] = float(cells[1])
        return rows


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass
class Bench:
    """Where commands run.

    Attributes
    ----------
    folder
        A new one.
    starter
        Starts processes.
    reference
        What comes out without faults.
    storage
        Of the study that meets faults.
    """

    folder: Path
    starter: Starter
    reference: Reference
    storage: str = "quadrat.journal"
    runs: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "train.py").write_text(OBJECTIVES)
        (self.folder / "space.toml").write_text(SPACE)

    def start(
        self,
        *more: str,
        objective: str = "bowl",
        faults: dict[str, str] | None = None,
        fresh: bool = False,
        **environment: str,
    ) -> Run:
        """Start `quadrat tune`."""
        out, err = (self.folder / f"{kind}{len(self.runs)}" for kind in ("out", "err"))
        arguments = ["tune", f"train.py:{objective}", "--space", "space.toml", "--storage", self.storage, *more]
        out.touch()
        err.touch()
        if fresh:
            assert not faults
            command = self.starter.fresh(arguments, self.folder, out, err, environment=environment)
        else:
            command = self.starter.copy(arguments, self.folder, out, err, faults=faults or {}, environment=environment)
        self.runs.append(Run(command, out, err))
        return self.runs[-1]

    def finish(self, n_trials: int, *more: str, objective: str = "bowl") -> None:
        """Run the study to its end, without faults."""
        run = self.start("-n", str(n_trials), *more, objective=objective)
        status = run.wait()
        assert status == 0, f"{status}: {run.complained}"

    def trials(self, storage: str | None = None) -> list[FrozenTrial]:
        """Return the trials of a study; none where there is no study yet."""
        where = storage or self.storage
        if "://" not in where:
            where = str(self.folder / where)
            if not Path(where).exists():
                return []
        opened = open_storage(where)
        try:
            names = [study.study_name for study in opened.get_all_studies()]
            return optuna.load_study(study_name=names[0], storage=opened).trials if names else []
        finally:
            close_storage(opened)

    def complete(self) -> int:
        """Return how many trials are complete."""
        return sum(trial.state is TrialState.COMPLETE for trial in self.trials())

    def pids(self) -> list[int]:
        """Return the processes in which the objective was called, in that order."""
        path = self.folder / "evaluations"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def audit(self, fault: str, injected: int, n_trials: int, *, serial: bool = True) -> Findings:
        """Finish the study and say what is found in it."""
        if self.complete() < n_trials:
            self.finish(n_trials)
        return self.look(fault, injected, n_trials, serial=serial)

    def look(self, fault: str, injected: int, n_trials: int, *, serial: bool) -> Findings:
        """Say what is found in the study, as it is."""
        trials = self.trials()
        equal = _same(trials, self.reference.trials(n_trials)) if serial else None
        return Findings(
            fault,
            injected,
            told=sum(trial.state.is_finished() for trial in trials),
            lost=self._lost(trials) + max(0, n_trials - len(trials)),
            duplicated=self.duplicated(trials) + max(0, len(trials) - n_trials),
            stuck=sum(not trial.state.is_finished() for trial in trials),
            equal=equal,
        )

    def _lost(self, trials: list[FrozenTrial]) -> int:
        by_number = {trial.number: trial for trial in trials}
        lost = 0
        for run in self.runs:
            for number, value in run.shown().items():
                found = by_number.get(number)
                lost += found is None or found.value is None or f"{found.value:.6g}" != f"{value:.6g}"
        return lost

    def duplicated(self, trials: list[FrozenTrial]) -> int:
        """Return how many trials are there, or were told, more than once."""
        twice = len(trials) - len({trial.number for trial in trials})
        if "://" in self.storage:
            return twice
        records = [json.loads(line) for line in (self.folder / self.storage).read_bytes().splitlines()]
        told = Counter(record["trial_id"] for record in records if record["op_code"] == _TOLD)
        return twice + sum(count - 1 for count in told.values())


def _same(some: list[FrozenTrial], others: list[FrozenTrial]) -> bool:
    def facts(trial: FrozenTrial) -> tuple[Any, ...]:
        return trial.number, trial.state, trial.params, trial.value

    return [facts(trial) for trial in some] == [facts(trial) for trial in others]


def until(holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Return when something holds; that it never does is an error."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited {seconds:g} s until {what}"
        time.sleep(0.02)
