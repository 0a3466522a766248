"""Studies that a storage takes and that no command is ready for: attributes of ours with values of every kind.

A study is drawn from a grammar over what is stored: a name, directions, attributes of the study, and trials with
states, values, distributions, parameters, reports and attributes. A command on it ends with 0, or with 2 and one line,
and writes to no file outside of the folder.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState, create_trial
from tests.security.captured import run_command
from tests.security.fuzz_commands import kept_short
from tests.security.fuzzing import Outcome
from tests.security.mutation import ODD_TEXTS, Random, odd_value
from tests.security.study_example import SPACE, quiet

from quadrat.studies.journal import journal_storage

__all__ = [
    "COMMANDS",
    "commands_run",
    "read_hostile_study",
    "read_hostile_study_by_all",
    "write_hostile_study",
    "writes_seen",
]

_TUNING = "def f(trial):\n    return trial.suggest_float('x', -1, 1) ** 2\n"
_STATED = ("--unit-cube", "--norm-bound", "2", "--noise", "0.1", "--offset", "0")
_SAID = ("--stated-before-data", "--every-value-counts", "--failures-ignore-noise")
_SETTING = '{"x": 0.5, "y": 0}'
_SPACE = """[x]
type = "float"
low = -1
high = 1
[kind]
type = "categorical"
choices = ["a", "b"]
"""
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "export": ((), ("--csv", "-"), ("--csv", "out.csv")),
    "show": (
        (),
        ("--json",),
        ("--last", "2"),
        ("--method", "LPGPUCB(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=100)"),
    ),
    "best": ((), ("--json",), ("--space", "space.toml")),
    "report": ((),),
    "certify": (
        _STATED,
        (*_STATED, *_SAID),
        (*_STATED, *_SAID, "--json"),
        ("--lengthscale", "x=0.5", "--lengthscale", "y=0.5", *_STATED[1:], *_SAID, "--params", _SETTING),
    ),
    "ask": ((), ("-n", "3", "--json")),
    "tell": (("0", "0.5"), ("0", "0.5", "0.75"), ("0", "nan"), ("0", "--failed", "--reason", "broken")),
    "tell --csv": (("results.csv",), ("results.csv", "--json")),
    "dashboard": ((),),
    "tune": (("objective.py:f", "-n", "8"), ("objective.py:f", "-n", "8", "--json")),
}
"""The commands that open a study, each with the arguments of which one list is drawn for each study."""

_CHANCES = (6, 6, 4, 0.3, 4, 3, 2, 2, 1, 0)  # of each command, where one alone is run; figures take their time
_REPORTED = 0.2  # of the studies get a report, whose figures take longer than all other commands
commands_run: Counter[str] = Counter()
"""How often each command was run by `read_hostile_study_by_all`."""

_LONGEST_LINE = 1500  # characters of an error
_LONGEST = 60.0  # seconds of a command
_REJECTED = 3  # status of certify where the results contradict what was stated
_METHODS = (
    "Auto",
    "RandomSearch",
    "GPUCB(kernel=" + "9" * 5000 + ")",
    "LP0(kernel=Matern(2.5, " + "(" * 300 + "))",
    "LPGPUCB(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=1e308)",
    "GPUCB(kernel=Matern(2.5, 0.3), noise=0.1)",
    "Auto(noise=0)",
    "FittedSafe(limit=1e308, safe=[{'x': 0, 'y': 0}])",
    "Auto(",
)
_NUMBERS = (0.0, 1.0, -1.5, 1e200, -1e308, 1.7e308, 5e-324, math.inf, -math.inf)
_STUDY_ATTRIBUTES = ("quadrat:space", "quadrat:method", "quadrat:seed", "quadrat:coordinator", "quadrat:version")
_TRIAL_ATTRIBUTES = ("quadrat:values", "quadrat:sem", "quadrat:failure", "quadrat:evaluations", "quadrat:owner")
_SYSTEM_ATTRIBUTES = (
    "quadrat:params:0", "quadrat:params:1", "quadrat:evaluations", "quadrat:owner", "quadrat:row", "quadrat:asked",
    "constraints", "constraints:c", "fixed_params",
)  # fmt: skip
_PLAIN = {name: inner for name, inner in SPACE.to_dict().items() if name != "n"}
_UNIT = _PLAIN["x"]
_OWN: dict[str, BaseDistribution] = {
    "x": FloatDistribution(-1, 1),
    "y": FloatDistribution(-1, 1),
    "kind": CategoricalDistribution(("a", "b")),
}


def read_hostile_study(rng: Random, folder: Path) -> Outcome:
    """Write a study, and run a command on it."""
    with _written_study(rng, folder) as inside:
        [name] = rng.choices(list(COMMANDS), _CHANCES)
        _write_files(inside)
        with kept_short():
            return _run(_drawn(rng, name), inside)


def read_hostile_study_by_all(rng: Random, folder: Path) -> Outcome:
    """Write a study, and run every command on it as it was written, a report on every fifth; say if one took it."""
    with _written_study(rng, folder) as inside, kept_short():
        journal = inside / "quadrat.journal"
        whole = journal.read_bytes()
        _write_files(inside)
        outcomes = []
        for name in COMMANDS:
            if name == "report" and rng.random() > _REPORTED:
                continue
            journal.write_bytes(whole)
            commands_run[name] += 1
            outcomes.append(_run(_drawn(rng, name), inside))
    return "accepted" if "accepted" in outcomes else "refused"


def _drawn(rng: Random, name: str) -> tuple[str, ...]:
    return (*name.split(), *rng.choice(COMMANDS[name]))


def _write_files(inside: Path) -> None:
    """Write what arguments name."""
    (inside / "objective.py").write_text(_TUNING)
    (inside / "space.toml").write_text(_SPACE)
    (inside / "results.csv").write_text("x,kind,value\n0.5,a,1.5\n")


@contextmanager
def _written_study(rng: Random, folder: Path) -> Iterator[Path]:
    """Write a study into a folder of its own, which is the working directory meanwhile; yield the folder."""
    inside = folder / "inside"
    inside.mkdir(exist_ok=True)
    for left in inside.iterdir():
        if left.is_file():
            left.unlink()
    with chdir(inside), quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a model says of values of 1e308
        write_hostile_study(rng, inside / "quadrat.journal")
        yield inside


def _run(command: tuple[str, ...], inside: Path) -> Outcome:
    """Run a command; check its status, what it says and what it writes."""
    begin = _without_waiting()
    with writes_seen() as written:
        try:
            said = run_command(command)
        except BaseException as error:
            error.add_note(f"quadrat {' '.join(command)}")
            raise
    assert _without_waiting() - begin < _LONGEST, (command, "took too long")
    outside = [path for path in written if not (inside / path).resolve().is_relative_to(inside.resolve())]
    assert not outside, (command, outside)
    if command[0] != "tune" or "failed at" not in said.err:  # the log has what a suggestion of Optuna's raised
        assert "Traceback" not in said.err, (command, said.err)
    if command[-1] != "-":  # a pipe gets the cells as they are
        assert said.out.replace("\n", "").isprintable(), (command, said.out[:2000])
    if "--json" in command or command == ("export",):
        assert not said.out or json.loads(said.out, parse_constant=_no_number) is not None
    if said.status == 0:
        return "accepted"
    if command[0] == "certify" and said.status == _REJECTED:
        return "accepted"
    assert said.status == 2, (command, said)
    line = (said.err.splitlines() or [""])[-1]
    assert line.startswith("quadrat: "), (command, said.err)
    assert len(line) <= _LONGEST_LINE, (command, len(line))
    if command[0] != "tune":  # which says beside that what went wrong in trials
        assert said.err.count("\n") == 1, (command, said.err)
    return "refused"


def _without_waiting() -> float:
    """Return a time in seconds that goes on while this thread runs or sleeps, but not while it waits for its turn."""
    try:
        waited = int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:  # not Linux
        waited = 0.0
    return time.monotonic() - waited


def _no_number(word: str) -> float:
    raise AssertionError(f"{word} is no JSON")


def write_hostile_study(rng: Random, path: Path) -> None:
    """Write a study that Optuna takes; most of it is as it should be, or nothing would be reached behind it.

    Every second one is as our own, but for a few places: there commands get beyond the checks.
    """
    ours = rng.random() < 0.5
    rate = 0.1 if ours else 1.0  # how often a thing is odd, as a share of how often it is in the others
    directions = [StudyDirection.MINIMIZE, StudyDirection.MAXIMIZE][: 2 if rng.random() < 0.05 * rate else 1]
    name = "bowl" + _text(rng) if rng.random() < 0.2 * rate else "bowl"
    study = optuna.create_study(study_name=name, storage=journal_storage(path), directions=directions)
    names = ["x", rng.choice(("kind", "y"))]
    if ours:
        space = {"x": _UNIT, names[1]: _UNIT if names[1] == "y" else _PLAIN["kind"]}
        study.set_user_attr("quadrat:space", space)
        if rng.random() < 0.3:
            study.set_user_attr("quadrat:method", rng.choice(_METHODS))
    elif rng.random() < 0.2:
        names = ["x" + _text(rng), rng.choice(("number", "value", "state", "n"))]
    for attribute in _STUDY_ATTRIBUTES:
        if rng.random() < 0.15 * rate:
            study.set_user_attr(attribute, _stored(_study_value(rng, attribute)))
    distributions = {one: _OWN[one] if ours else _distribution(rng) for one in names}
    for number in range(rng.randrange(12 if ours else 7)):
        states: list[float] = (
            [6, 8, 1, 2, 1] if number == 0 else [2 * rate, 8, rate, 2 * rate, rate]
        )  # commands tell the first one
        _add_trial(rng, study, distributions, states, rate)


def _add_trial(
    rng: Random, study: optuna.Study, distributions: dict[str, BaseDistribution], states: list[float], rate: float
) -> None:
    state = rng.choices(list(TrialState), states)[0]
    if rng.random() < 0.1 * rate:
        distributions = {name: _distribution(rng) for name in distributions}
    if rng.random() < 0.15 * rate:
        distributions = {name: one for name, one in distributions.items() if rng.random() < 0.5}
    number = [rng.choice(_NUMBERS) if rng.random() < 0.2 * rate else rng.random() for _ in study.directions]
    try:
        trial = create_trial(
            state=state,
            values=number if state in (TrialState.COMPLETE, TrialState.PRUNED) else None,
            params={name: _param(rng, one) for name, one in distributions.items()},
            distributions=distributions,
            user_attrs={name: _stored(_odd(rng)) for name in _TRIAL_ATTRIBUTES if rng.random() < 0.03 * rate},
            system_attrs={name: _stored(_mark(rng, name)) for name in _SYSTEM_ATTRIBUTES if rng.random() < 0.04 * rate},
            intermediate_values={step: rng.choice(_NUMBERS) for step in range(rng.randrange(2))} if rate == 1.0 else {},
        )
        if rng.random() < 0.1 * rate:
            trial.datetime_start = rng.choice((None, datetime(1, 1, 1), datetime(9999, 12, 31)))
        study.add_trial(trial)
    except (ValueError, TypeError, AttributeError):  # then Optuna does not store it either
        return


def _study_value(rng: Random, attribute: str) -> Any:
    if attribute == "quadrat:method" and rng.random() < 0.7:
        return rng.choice(_METHODS)
    if attribute == "quadrat:space" and rng.random() < 0.6:
        return {**_PLAIN, **({rng.choice(list(_PLAIN)): _odd(rng)} if rng.random() < 0.5 else {})}
    if attribute == "quadrat:coordinator" and rng.random() < 0.7:
        return {"owner": "another", "host": _text(rng), "kernel": None, "pid": "../../etc/passwd", "started": _odd(rng)}
    return _odd(rng)


def _mark(rng: Random, name: str) -> Any:
    """Return a system attribute of a trial; what a sampler chose is often a table, as it should be."""
    if name != "quadrat:params:0" or rng.random() < 0.3:
        return _odd(rng)
    keys = ("quadrat:why", "quadrat:by", "x", "kind", "n")
    return json.dumps({key: _stored(_odd(rng)) for key in keys if rng.random() < 0.5})


def _odd(rng: Random) -> Any:
    way = rng.random()
    if way < 0.15:
        return [rng.choice(_NUMBERS) for _ in range(rng.randrange(4))]
    if way < 0.3:
        return rng.choice(_NUMBERS)
    if way < 0.4:
        return _text(rng)
    if way < 0.5:
        return json.dumps(_stored(odd_value(rng)))
    return odd_value(rng)


def _text(rng: Random) -> str:
    return rng.choice((*ODD_TEXTS, "\ud800", "\x9b31m", "z" * 200_000, "\n" * 300))


def _stored(value: Any) -> Any:
    """Return what JSON can hold: Python does not write numbers of thousands of digits."""
    if isinstance(value, dict):
        return {str(key): _stored(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_stored(inner) for inner in value]
    return 10**300 if isinstance(value, int) and abs(value) > 1 << 10000 else value


def _distribution(rng: Random) -> BaseDistribution:
    return rng.choice(
        (
            FloatDistribution(-1, 1),
            FloatDistribution(-1, 1),
            FloatDistribution(-1e308, 1e308),
            FloatDistribution(5e-324, 1e308, log=True),
            FloatDistribution(0, 0.75, step=0.25),
            FloatDistribution(1, 1),
            IntDistribution(1, 9),
            IntDistribution(-(2**70), 2**70),
            IntDistribution(1, 10**300, log=True),
            IntDistribution(0, 98, step=7),
            CategoricalDistribution(("a", "b")),
            CategoricalDistribution((None, True, "\x1b[31m", math.nan, 10**300, "z" * 100_000)),
        )
    )


def _param(rng: Random, distribution: BaseDistribution) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return rng.choice(distribution.choices)
    if isinstance(distribution, IntDistribution):
        return distribution.low + distribution.step * rng.randrange(3)
    assert isinstance(distribution, FloatDistribution)
    if distribution == _OWN["x"] and rng.random() < 0.9:
        return rng.uniform(-1, 1)
    return distribution.low if rng.random() < 0.3 else distribution.low * 0.5 + distribution.high * 0.5


_written: list[str] = []
_watching = False
_hooked = False


@contextmanager
def writes_seen() -> Iterator[list[str]]:
    """Yield a list that gets the paths of all files that this process opens for writing meanwhile."""
    global _watching, _hooked  # an audit hook stays for good, so that there is one
    if not _hooked:
        sys.addaudithook(_audited)
        _hooked = True
    _written.clear()
    _watching = True
    try:
        yield _written
    finally:
        _watching = False


def _audited(event: str, given: tuple[Any, ...]) -> None:
    if not _watching or event not in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
        return
    path = os.fsdecode(given[0]) if isinstance(given[0], str | bytes | os.PathLike) else ""
    reads = event == "open" and not (given[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if path and not reads and path != os.devnull and "__pycache__" not in path:
        _written.append(path)
