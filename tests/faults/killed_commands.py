"""kill -9 of `ask`, `tell` and `tell --csv` at seeded moments: what was said to be done is done, once."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from optuna.trial import TrialState
from tests.faults.bench import Bench, Findings
from tests.faults.starter import kill_group, processes_of_group, wait

_ANY_MOMENT = 0.4  # seconds, at most, after which a command is killed from outside
_LEFT = 5.0  # seconds after a kill in which whatever is left of a command has to end
_TORN = 2  # writes of a command after which it may be killed in the middle of one; `tell` has one
_ROWS = 5  # that the file has more of with each kill, so that each finds something to write


@dataclass
class Killed:
    """A command that was killed, or ended before: what it had printed until then."""

    said: str
    was_killed: bool
    left: int


def asks_killed(bench: Bench, kills: int, *, seed: int) -> Findings:
    """Kill `ask`; a trial that was printed runs in the study with these parameters."""
    rng, left, done = random.Random(seed), 0, 0  # noqa: S311
    asked: dict[int, Any] = {}
    _begin(bench)
    while done < kills:
        found = _killed(bench, ["ask", "--json"], rng)
        done, left = done + found.was_killed, left + found.left
        for trial in _parsed(found.said):
            asked[trial["number"]] = trial["params"]
    assert _run(bench, ["ask", "--json"]) == 0, "the study takes a further command"
    trials = bench.trials()
    lost = sum(number >= len(trials) or trials[number].params != params for number, params in asked.items())
    duplicated = bench.duplicated(trials)
    return Findings("kill -9 of ask", kills, len(trials), lost, duplicated, left, None)


def tells_killed(bench: Bench, kills: int, *, seed: int) -> Findings:
    """Kill `tell`; what it said is told is told, with all replicates, and what is not can be told again."""
    rng, left, done = random.Random(seed), 0, 0  # noqa: S311
    said: set[int] = set()
    values: dict[int, list[float]] = {}
    _begin(bench)
    while done < kills:
        number = len(values)
        values[number] = both = [number + 0.25, number + 0.75]
        if number % kills == 0:
            assert _run(bench, ["ask", "-n", str(kills)]) == 0
        found = _killed(bench, ["tell", str(number), *map(str, both), "--json"], rng)
        done, left = done + found.was_killed, left + found.left
        if _parsed(found.said):
            said.add(number)
    for trial in bench.trials()[: len(values)]:
        if trial.state is TrialState.RUNNING:
            assert trial.number not in said, f"trial {trial.number} was said to be told"
            assert _run(bench, ["tell", str(trial.number), *map(str, values[trial.number])]) == 0
    trials = bench.trials()
    lost = sum(
        trials[number].value != sum(both) / 2 or trials[number].user_attrs.get("quadrat:values") != both
        for number, both in values.items()
    )
    return Findings("kill -9 of tell", kills, len(values), lost, bench.duplicated(trials), left, None)


def imports_killed(bench: Bench, kills: int, *, seed: int) -> Findings:
    """Kill `tell --csv` again and again, of a file that grows, and repeat it: in the end every row is there once."""
    rng, left, done = random.Random(seed), 0, 0  # noqa: S311
    _begin(bench)
    rows: list[tuple[float, float]] = []
    path = bench.folder / "results.csv"
    path.write_text("x,kind,n,value\n")
    while done < kills:
        more = [(round(rng.uniform(-1.0, 1.0), 6), len(rows) + each + 0.5) for each in range(_ROWS)]
        rows += more
        with path.open("a") as file:
            file.writelines(f"{x},a,,{value}\n" for x, value in more)
        found = _killed(bench, ["tell", "--csv", "results.csv"], rng)
        done, left = done + found.was_killed, left + found.left
    assert _run(bench, ["tell", "--csv", "results.csv"]) == 0
    complete = [trial for trial in bench.trials() if trial.state is TrialState.COMPLETE]
    counts = Counter((trial.params["x"], trial.value) for trial in complete)
    lost = sum(row not in counts for row in rows)
    return Findings("kill -9 of tell --csv", kills, len(complete), lost, len(complete) - len(counts), left, None)


SCENARIOS: dict[str, Callable[..., Findings]] = {"ask": asks_killed, "tell": tells_killed, "import": imports_killed}


def _begin(bench: Bench) -> None:
    """Begin a study, whose method takes no time, with a trial."""
    assert _run(bench, ["ask", "--space", "space.toml", "--method", "RandomSearch"]) == 0


def _killed(bench: Bench, arguments: list[str], rng: random.Random) -> Killed:
    """Run a command that is killed in the middle of a record, or at any moment from outside."""
    torn = rng.random() < 0.5
    faults = {"signal": f"torn:{rng.randrange(_TORN)}:{signal.SIGKILL:d}:1"} if torn else {}
    out, err = bench.folder / "killed.out", bench.folder / "killed.err"
    for path in (out, err):
        path.write_text("")
    command = bench.starter.copy(
        [*arguments, "--storage", bench.storage], bench.folder, out, err, faults=faults, environment={}
    )
    if not torn:
        time.sleep(rng.uniform(0.0, _ANY_MOMENT))
        kill_group(command.pid)
    status = wait(command)
    assert status in (0, -signal.SIGKILL), (arguments, status, err.read_text())
    deadline = time.monotonic() + _LEFT
    while processes_of_group(command.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return Killed(out.read_text(), status != 0, len(processes_of_group(command.pid)))


def _run(bench: Bench, arguments: list[str]) -> int:
    out, err = bench.folder / "run.out", bench.folder / "run.err"
    command = bench.starter.copy(
        [*arguments, "--storage", bench.storage], bench.folder, out, err, faults={}, environment={}
    )
    return wait(command)


def _parsed(said: str) -> list[dict[str, Any]]:
    """Return what was printed as JSON, where it was printed to its end."""
    try:
        found = json.loads(said)
    except ValueError:
        return []
    return found if isinstance(found, list) else [found]
