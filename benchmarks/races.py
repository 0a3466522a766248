"""What comes of two processes that tell one trial, coordinate one study or import one file at the same moment.

    python benchmarks/races.py [--smoke] [--write]

Two processes live through all pairs of a storage and meet at a barrier before each. Of two tells exactly one is
acknowledged, and the trial says what that one told: another count is lost or doubled, another content is mixed. Of two
coordinators never both run at once; no trial is evaluated twice, none is left. Of two imports each row is there once.
Unless it is --smoke, what is found is kept in benchmarks/results/races.jsonl, a tenth of the pairs of a kind in a row,
and what is there is not done again; --write updates races.md beside it.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import json
import logging
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import FloatDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial
from regret.rows import Row, read_rows, stamp
from tests.postgres import PostgresServer, why_not

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.loop.workers import Here
from quadrat.studies import open_storage
from quadrat.studies.coordinator import Coordinator
from quadrat.studies.telling import tell_outcome
from quadrat.studies.transitions import ROW, add_trials
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR

ROWS = ROOT / "benchmarks" / "results" / "races.jsonl"
HEAD = ("storage", "two at once", "pairs", "lost", "mixed", "doubled", "raw errors", "told to wait or that it was done")
SIZES = {"tells": 1000, "coordinators": 200, "imports": 100}
SMOKE = {"tells": 4, "coordinators": 2, "imports": 2}
PARTS = 10  # rows of each kind: a run that is broken off goes on with the next one
PER_STUDY, TRIALS, LINES = 50, 3, 20  # pairs of tells in a study; trials of a run; rows of a file
TOLD: tuple[Any, Any] = ([1.0, 3.0], qd.Estimate(7.0, 0.5))  # each of the two tells something of its own
WRITTEN = ((2.0, [1.0, 3.0], None), (7.0, None, 0.5))  # what the trial then has: value, replicates, standard error
SPACE = qd.Space(x=qd.Float(0, 1))
Job = tuple[str, str, str, int]  # what to do, the storage, the study, the number of a trial


# --- what one of the two does


def worker(which: int, jobs: Connection, meet: Any) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.disable(logging.WARNING)
    opened: dict[str, Any] = {}
    while True:
        what, where, name, number = jobs.recv()
        if where not in opened:
            opened = {where: open_storage(where)}
        study = optuna.load_study(study_name=name, storage=opened[where])
        act = {"tells": tell, "coordinators": coordinate, "imports": add}[what]
        try:
            ready = act(study, which, number)
            meet.wait()
            jobs.send(("done", ready()))
        except InvalidInput as refused:
            jobs.send(("refused", str(refused)))
        except Exception as error:
            jobs.send(("raw error", f"{type(error).__name__}: {error}"))


def tell(study: Study, which: int, number: int) -> Callable[[], object]:
    trial = Trial(study, study.get_trials(deepcopy=False)[number]._trial_id)
    return lambda: tell_outcome(study, trial, TOLD[which]).name


def coordinate(study: Study, which: int, number: int) -> Callable[[], object]:  # noqa: ARG001
    evaluated: list[tuple[float, float]] = []

    def objective(params: dict[str, Any]) -> float:
        began = time.monotonic()
        time.sleep(0.01)
        evaluated.append((began, time.monotonic()))
        return float(params["x"])

    study.sampler = qd.QuadratSampler(search_space=SPACE, method="RandomSearch", seed=0)
    run = Coordinator(study, SPACE, lambda: Here(objective), n_trials=TRIALS).run

    def ran() -> list[tuple[float, float]]:
        try:
            run()
        except InvalidInput as refused:
            if evaluated:  # both ran
                raise RuntimeError(f"after {len(evaluated)} evaluations: {refused}") from refused
            raise
        return evaluated

    return ran


def add(study: Study, which: int, number: int) -> Callable[[], object]:  # noqa: ARG001
    return partial(add_trials, study._storage, study._study_id, rows())


def rows() -> list[FrozenTrial]:
    return [
        create_trial(
            value=1.0, params={"x": 0.5}, distributions={"x": FloatDistribution(0, 1)}, system_attrs={ROW: str(number)}
        )
        for number in range(LINES)
    ]


# --- the two, and what came of them


class Pair:
    """Two processes that do the same at the same time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._meet = meet = context.Barrier(2, timeout=60)
        self._pipes, self._processes = [], []
        for which in (0, 1):
            ours, theirs = context.Pipe()
            process = context.Process(target=worker, args=(which, theirs, meet), daemon=True)
            process.start()
            self._pipes.append(ours)
            self._processes.append(process)

    def do(self, job: Job) -> list[tuple[str, Any]]:
        for pipe in self._pipes:
            pipe.send(job)
        return [pipe.recv() for pipe in self._pipes]

    def end(self) -> None:
        for process in self._processes:
            process.terminate()
            process.join()


def race(what: str, count: int, pair: Pair, new: Callable[[], str]) -> Counter[str]:
    """Return how often what came of `count` pairs."""
    found: Counter[str] = Counter(pairs=count)
    where = new()
    storage, study = open_storage(where), None
    for number in range(count):
        at = number % PER_STUDY if what == "tells" else 0
        if at == 0:
            study = optuna.create_study(storage=storage, study_name=f"{what} {number}")
            for _ in range(min(PER_STUDY, count - number) if what == "tells" else 0):
                study.ask()
        assert study is not None
        results = pair.do((what, where, study.study_name, at))
        found["raw errors"] += sum(kind == "raw error" for kind, _ in results)
        found["refused"] += sum(kind == "refused" for kind, _ in results)
        for kind, said in results:
            if kind == "raw error":
                print(said, file=sys.stderr)
        judge = {"tells": judge_tells, "coordinators": judge_coordinators, "imports": judge_imports}[what]
        found.update(judge(study, at, results))
    return found


def judge_tells(study: Study, number: int, results: list[tuple[str, Any]]) -> Counter[str]:
    trial = study.get_trials(deepcopy=False)[number]
    winners = [which for which, (kind, _) in enumerate(results) if kind == "done"]
    notes = trial.user_attrs
    says = (trial.value, notes.get(REPLICATES), notes.get(STANDARD_ERROR))
    return Counter(
        lost=trial.state is not TrialState.COMPLETE or not winners,
        mixed=says not in WRITTEN or (len(winners) == 1 and says != WRITTEN[winners[0]]),
        doubled=len(winners) > 1,
    )


def judge_coordinators(study: Study, number: int, results: list[tuple[str, Any]]) -> Counter[str]:  # noqa: ARG001
    evaluated = sorted(one for kind, found in results if kind == "done" for one in found)
    trials = study.get_trials(deepcopy=False)
    return Counter(
        lost=sum(trial.state is not TrialState.COMPLETE for trial in trials) + max(0, TRIALS - len(trials)),
        mixed=sum(later[0] < earlier[1] for earlier, later in pairwise(evaluated)),
        doubled=max(0, len(evaluated) - TRIALS),
    )


def judge_imports(study: Study, number: int, results: list[tuple[str, Any]]) -> Counter[str]:  # noqa: ARG001
    kept = Counter(trial.system_attrs[ROW] for trial in study.get_trials(deepcopy=False))
    return Counter(lost=LINES - len(kept), doubled=sum(kept.values()) - len(kept))


@contextmanager
def storages(folder: Path) -> Iterator[dict[str, Callable[[], str]]]:
    """Yield what makes a new storage of each kind, of those that there are here."""
    made = iter(range(10**6))
    kinds: dict[str, Callable[[], str]] = {
        "journal": lambda: str(folder / f"{next(made)}.journal"),
        "SQLite": lambda: f"sqlite:///{folder}/{next(made)}.db",
    }
    reason = why_not()
    if reason is not None:
        print(f"PostgreSQL: not possible here: {reason}", file=sys.stderr)
        yield kinds
        return
    with PostgresServer() as server:
        yield {**kinds, "PostgreSQL": server.new_database}


def raced(smoke: bool) -> list[Row]:
    found = [] if smoke or not ROWS.exists() else read_rows(ROWS)
    done = {(row["storage"], row["what"], row["first"]) for row in found}
    with tempfile.TemporaryDirectory() as folder, storages(Path(folder)) as kinds:
        for storage, new in kinds.items():
            if smoke and storage == "PostgreSQL":
                continue
            pair = Pair()
            try:
                for what, count, first in parts(smoke):
                    if (storage, what, first) in done:
                        continue
                    print(f"{storage}, {what} from {first} ...", file=sys.stderr, flush=True)
                    begun = time.perf_counter()
                    row = {"storage": storage, "what": what, "first": first, **race(what, count, pair, new)}
                    found.append({**row, "seconds": round(time.perf_counter() - begun, 1), **stamp(("optuna",))})
                    if not smoke:
                        with ROWS.open("a") as file:
                            file.write(json.dumps(found[-1]) + "\n")
            finally:
                pair.end()
    return found


def parts(smoke: bool) -> Iterator[tuple[str, int, int]]:
    """Yield what is done, how often, and how often it was done before."""
    for what, count in (SMOKE if smoke else SIZES).items():
        part = count if smoke else count // PARTS
        yield from ((what, part, first) for first in range(0, count, part))


def lines_of(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return the lines of the table: the rows of each storage and kind together."""
    names = ("pairs", "lost", "mixed", "doubled", "raw errors", "refused")
    sums: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        sums.setdefault((row["storage"], row["what"]), Counter()).update({name: row.get(name, 0) for name in names})
    return [(*kind, *(f"{counts[name]:,}" for name in names)) for kind, counts in sums.items()]


def main() -> None:
    chosen = options(__doc__)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    found = raced(chosen.smoke)
    versions = ", ".join(sorted({row["versions"]["optuna"] for row in found}))
    commits = ", ".join(sorted({row["commit"] for row in found}))
    text = f"{table(HEAD, lines_of(found))}\n\nQuadrat at {commits}; optuna {versions}."
    publish(
        "races", "Two at once", text, write=chosen.write, measured="two processes meet at a barrier before each pair"
    )


if __name__ == "__main__":
    main()
