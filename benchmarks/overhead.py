"""What a trial costs besides the objective: ours and Optuna's samplers on the same storages, and our coordinator.

    python benchmarks/overhead.py [--smoke] [--write]

Eight parameters, an objective that costs nothing, 50 trials of a new study, the first ones of each sampler's own design
included. Optuna's RandomSampler has next to nothing to compute: its time is that of the storage and of Optuna itself.
The coordinator is what `quadrat tune` runs, with the objective evaluated in its own thread. In each round every storage
and every sampler has its turn; tables have medians over rounds, and ratios and differences are taken within rounds. A
first round warms up.

Optuna's GPSampler needs torch: with .venv-peers/bin/python, which `make peers` makes, it takes part; elsewhere it is
left out. Journals and databases are written to a temporary folder. --write updates benchmarks/results/overhead.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))  # the same sources in every environment

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import optuna
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from regret.rows import stamp

import quadrat as qd
from quadrat.loop.workers import Here
from quadrat.studies import Coordinator

TRIALS, ROUNDS = 50, 3
SMOKE_TRIALS = 6
SPACE = qd.Space(**{f"x{i}": qd.Float(-1, 1) for i in range(8)})
Times: TypeAlias = dict[tuple[str, str], float]  # seconds of a trial by storage and contender

STORAGES: dict[str, Callable[[Path], BaseStorage]] = {
    "in memory": lambda _folder: InMemoryStorage(),
    "journal file, Optuna's": lambda folder: JournalStorage(JournalFileBackend(str(folder / "journal"))),
    "journal file, Quadrat's": lambda folder: qd.journal_storage(folder / "journal"),
    "SQLite": lambda folder: RDBStorage(f"sqlite:///{folder / 'study.db'}"),
}
RANDOM, OURS, COORDINATOR, GP = "Optuna random", "Quadrat", "Quadrat, coordinator", "Optuna GP"
SAMPLERS: dict[str, Callable[[int], BaseSampler]] = {
    RANDOM: lambda seed: RandomSampler(seed=seed),
    OURS: lambda seed: qd.QuadratSampler(seed=seed),
    COORDINATOR: lambda seed: qd.QuadratSampler(seed=seed, search_space=SPACE),
    "Optuna TPE": lambda seed: TPESampler(seed=seed),
    GP: lambda seed: GPSampler(seed=seed),
}


def value_of(params: dict[str, Any]) -> float:
    return float(sum((value - 0.1 * axis) ** 2 for axis, value in enumerate(params.values())))


def objective(trial: optuna.Trial) -> float:
    return value_of({name: trial.suggest_float(name, -1, 1) for name in SPACE.names})


def contenders() -> list[str]:
    """Return the names of those that can take part here."""
    return [name for name in SAMPLERS if name != GP or find_spec("torch") is not None]


def seconds_of(storage: str, contender: str, n_trials: int, seed: int) -> float:
    """Run a new study to the end; return wall-clock seconds of a trial."""
    with tempfile.TemporaryDirectory() as folder:
        opened = STORAGES[storage](Path(folder))
        study = optuna.create_study(storage=opened, sampler=SAMPLERS[contender](seed))
        begin = time.perf_counter()
        if contender == COORDINATOR:
            Coordinator(study, SPACE, lambda: Here(value_of), n_trials=n_trials).run()
        else:
            study.optimize(objective, n_trials=n_trials)
        seconds = time.perf_counter() - begin
        found = len(study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)))
        assert found == n_trials, f"{contender} on {storage}: {found} of {n_trials} trials are complete"
        if isinstance(opened, RDBStorage):
            opened.engine.dispose()  # before its file goes
    return seconds / n_trials


def one_round(names: Sequence[str], n_trials: int, seed: int) -> Times:
    """Let all take turns on all storages."""
    return {(storage, name): seconds_of(storage, name, n_trials, seed) for storage in STORAGES for name in names}


def tables(rounds: Sequence[Times], n_trials: int) -> str:
    """Return the tables: whole time, time beyond the storage's, and ratios.

    Parameters
    ----------
    rounds
        What `one_round` returned, at least once, with `RANDOM` among the contenders.
    n_trials
        Of each study.
    """
    names = list(dict.fromkeys(name for _, name in rounds[0]))
    others = [name for name in names if name != RANDOM]

    def pivot(title: str, columns: Sequence[str], figure: Callable[[Times, str, str], float], digits: int) -> str:
        rows = []
        for storage in STORAGES:
            medians = [statistics.median(figure(times, storage, name) for times in rounds) for name in columns]
            rows.append((storage, *(f"{median:.{digits}f}" for median in medians)))
        return table((title, *columns), rows)

    def whole(times: Times, storage: str, name: str) -> float:
        return 1e3 * times[storage, name]

    def own(times: Times, storage: str, name: str) -> float:
        return whole(times, storage, name) - whole(times, storage, RANDOM)

    def ratio(times: Times, storage: str, name: str) -> float:
        return times[storage, name] / times[storage, RANDOM]

    over = f"{n_trials} trials, median of {len(rounds)} rounds"
    return "\n\n".join(
        [
            pivot(f"ms a trial, {over}", names, whole, 1),
            pivot(f"ms a trial beyond {RANDOM}'s", others, own, 1),
            pivot(f"/ {RANDOM}", others, ratio, 1),
        ]
    )


def made_with(names: Sequence[str]) -> str:
    """Versions of what was measured, the commit, and who is missing."""
    distributions = ("optuna", "sqlalchemy", *(("torch",) if GP in names else ()))
    found = stamp(distributions)
    versions = ", ".join(f"{name} {found['versions'][name]}" for name in (*distributions, "numpy", "scipy", "python"))
    missing = "" if GP in names else f" {GP} is left out: it needs torch, which `make peers` installs in .venv-peers."
    return f"Quadrat at {found['commit']}; {versions}.{missing}"


def main() -> None:
    chosen = options(__doc__)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    n_trials, warming, rounds = (SMOKE_TRIALS, 0, 1) if chosen.smoke else (TRIALS, 1, ROUNDS)
    names = contenders()
    found = []
    for seed in range(warming + rounds):
        found.append(one_round(names, n_trials, seed))
        print(f"\roverhead: {seed + 1} of {warming + rounds} rounds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    text = f"{tables(found[warming:], n_trials)}\n\n{made_with(names)}"
    measured = "wall-clock time, one BLAS thread, storages and samplers taking turns"
    publish("overhead", "What a trial costs besides the objective", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
