"""Arguments of the `quadrat` command: whatever is typed, the status is 0, 1, 2 or 130, and errors take one line.

Commands run in this process, on a small study and small files. What would take long, or reach other machines, is
kept short: trials are few, worker processes are threads, and the dashboard is not served.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tests.security.captured import run_command
from tests.security.fuzzing import Outcome
from tests.security.mutation import Random, mutated_text
from tests.security.study_example import SPACE, write_study

from quadrat.cli import bench_commands, dashboard_command, tune_command
from quadrat.loop import executors
from quadrat.studies import Coordinator

__all__ = ["kept_short", "run_arguments"]

_STATUSES = (0, 1, 2, 130)
_LONGEST_LINE = 1500  # characters of an error
_OBJECTIVE = "def score(params):\n    return params['x'] ** 2\n\n\nclass Nothing:\n    pass\n"

_NAMES = ("bowl", "none", "", "ß", "\udcff", "-", "--", "a b")
_FILES = ("space.json", "space.toml", "study.journal", "results.csv", "objective.py", "missing", ".", "", "missing/x")
_STORAGES = (
    "study.journal",
    "study.journal",
    "study.journal",
    "new.journal",
    "space.json",
    ".",
    "",
    "a://b",
    "sqlite://",
)
_COUNTS = ("1", "2", "0", "-1", "nan", "1e3", "٣", "", "9" * 30)
_METHODS = ("RandomSearch", "SobolSearch", "Random", "RandomSearch()", "LP0(", "GPUCB(kernel=3)", "__import__('os')")
_OPTIONS: dict[str, tuple[str, ...]] = {
    "--storage": _STORAGES,
    "--study": _NAMES,
    "--space": _FILES,
    "--direction": ("maximize", "minimize", "up", ""),
    "--method": _METHODS,
    "--seed": _COUNTS,
    "--n": _COUNTS,
    "-n": _COUNTS,
    "--n-trials": _COUNTS,
    "--timeout": ("0.1", *_COUNTS),
    "--workers": _COUNTS,
    "--executor": ("process", "thread", ""),
    "--trial-timeout": _COUNTS,
    "--csv": ("results.csv", "-", *_FILES),
    "--value": ("value", "x", ""),
    "--sem": ("0.1", "sem", "-1"),
    "--reason": ("broken", "\x1b[31m", "two\nlines"),
    "--last": _COUNTS,
    "--output": ("report.html", "missing/report.html", "."),
    "--port": ("0", "80", "-1", "99999", "http"),
    "--dimension": _COUNTS,
    "--kernel": ("matern", "squared-exponential", "gamma", ""),
    "--nu": _COUNTS,
    "--a": _COUNTS,
    "--q": _COUNTS,
}
_FLAGS = ("--json", "--failed", "--explain", "--help", "-h", "--version")
_TAKES: dict[str, tuple[str, ...]] = {
    "methods": (),
    "rates": ("--dimension", "--kernel", "--nu", "--a", "--q"),
    "best": ("--study", "--storage"),
    "export": ("--study", "--storage", "--csv"),
    "tune": (
        "--space", "--n-trials", "--timeout", "--direction", "--method", "--seed", "--storage", "--workers",
        "--executor", "--trial-timeout",
    ),
    "ask": ("--space", "--storage", "--direction", "--method", "--seed", "-n"),
    "tell": ("--sem", "--reason", "--csv", "--value", "--storage", "--study"),
    "show": ("--study", "--storage", "--last", "--method"),
    "report": ("--study", "--storage", "--output"),
    "dashboard": ("--study", "--storage", "--port"),
}  # fmt: skip
_CHANCES = {"best": 0.2, "show": 0.2, "report": 0.05, "tune": 0.5}  # models and reports take their time
_PLACES = {
    "tune": ("objective.py:score", "objective.py:Nothing", "objective.py:none", "missing.py:f", "math:pi", ":", ""),
    "tell": ("4", "0", "99", "-1", "x", "9" * 30),
    "report": _NAMES,
    "dashboard": _NAMES,
}
_study: dict[Path, bytes] = {}


def run_arguments(rng: Random, folder: Path) -> Outcome:
    """Run a command line; check its status and what it says."""
    arguments = _arguments(rng)
    with chdir(_prepared(folder)), kept_short():
        said = run_command(arguments)
    assert said.status in _STATUSES, (arguments, said)
    assert "Traceback" not in said.err or arguments[0] == "tune", (arguments, said.err)  # an objective's own is shown
    if said.status != 2:
        return "accepted"
    [line] = said.err.splitlines() or [""]
    assert line.startswith("quadrat: "), (arguments, said.err)
    assert len(line) <= _LONGEST_LINE, (arguments, len(line))
    return "refused"


def _arguments(rng: Random) -> list[str]:
    command = rng.choices(list(_TAKES), [_CHANCES.get(name, 1.0) for name in _TAKES])[0]
    arguments = [command]
    if command in _PLACES and rng.random() < 0.8:
        arguments.append(rng.choice(_PLACES[command]))
        if command == "tell":
            arguments += rng.choices(("0.5", "-1", "nan", "1,5", "x", "--", "1e400"), k=rng.randrange(3))
    taken = [name for name in _TAKES[command] if rng.random() < 0.5]
    if "--storage" in _TAKES[command] and "--storage" not in taken and rng.random() < 0.7:
        taken.append("--storage")
    for name in taken:
        arguments += [name, rng.choice(_OPTIONS[name])]
    if rng.random() < 0.3:
        arguments.append(rng.choice(_FLAGS))
    return arguments if rng.random() < 0.4 else _mutated(rng, arguments)


def _mutated(rng: Random, arguments: list[str]) -> list[str]:
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(arguments) + 1)
        way = rng.randrange(5)
        if way == 0:
            del arguments[place : place + 1]
        elif way == 1:
            arguments[place:place] = arguments[place : place + 2]
        elif way == 2:
            arguments[place:place] = [rng.choice((*_OPTIONS, *_FLAGS))]
        elif way == 3:
            arguments[place:place] = [rng.choice((*_NAMES, *_FILES, *_COUNTS, *_METHODS))]
        elif place < len(arguments):
            # No paths upwards or from the root, which a command might write to, and no nulls, which nobody can type.
            text = mutated_text(rng, arguments[place]).replace("/", "").replace("\0", "").replace("..", "")
            arguments[place] = text[:200]
    return arguments or [""]


def _prepared(folder: Path) -> Path:
    """Return a folder with the files that arguments name, as they were before anybody changed them."""
    inside = folder / "inside"
    if folder not in _study:
        inside.mkdir()
        _study[folder] = write_study(folder / "study.journal")
    for path in inside.iterdir():
        if path.is_file():
            path.unlink()
    (inside / "study.journal").write_bytes(_study[folder])
    (inside / "objective.py").write_text(_OBJECTIVE)
    (inside / "results.csv").write_text("x,kind,n,value\n0.5,a,,1.5\n0.25,b,3,\n")
    (inside / "space.json").write_text(json.dumps(SPACE.to_dict()))
    (inside / "space.toml").write_text('[x]\ntype = "float"\nlow = -1\nhigh = 1\n')
    return inside


@contextmanager
def kept_short() -> Iterator[None]:
    """Have commands ask and tune little, with threads for processes, and the dashboard not be served."""
    ask: Callable[..., None] = bench_commands.ask

    def ask_few(where: Any, beginning: Any, n: int, *, as_json: bool) -> None:
        ask(where, beginning, min(n, 2), as_json=as_json)

    with ExitStack() as stack:
        for module, name, instead in (
            (bench_commands, "ask", ask_few),
            (tune_command, "Coordinator", _FewTrials),
            (executors, "ProcessWorkers", _Threads),
            (dashboard_command, "serve", _not_served),
        ):
            stack.enter_context(mock.patch.object(module, name, instead))
        yield


def _not_served(study: Any, draw: Any, *, port: int, ready: Callable[[str], None]) -> None:
    ready(f"port {port}")


class _FewTrials(Coordinator):
    def __init__(self, *given: Any, n_trials: int, timeout: float | None, **options: Any) -> None:
        super().__init__(*given, n_trials=min(n_trials, 6), timeout=min(timeout or 5.0, 5.0), **options)


class _Threads(ThreadPoolExecutor):
    def __init__(self, workers: int) -> None:
        super().__init__(min(workers, 2))
