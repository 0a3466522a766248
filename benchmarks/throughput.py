"""How many trials a second several workers get through, against one: `quadrat tune` with an objective that sleeps.

    python benchmarks/throughput.py [--smoke] [--write]

The objective sleeps half a second; eight parameters, a journal file, worker processes. Every run is the whole of a
study: processes start, trials are asked for, evaluated and told, processes end. In each round every number of workers
has its turn; the table has medians over rounds, and ratios are taken within rounds.
--write updates benchmarks/results/throughput.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna
from regret.rows import stamp

import quadrat as qd
from quadrat.loop.executors import opened_executor
from quadrat.loop.workers import OnExecutor
from quadrat.studies import Coordinator

WORKERS, ROUNDS = (1, 2, 4, 8), 3
TRIALS_EACH = 16  # trials of a worker
SLEEP = 0.5
SPACE = qd.Space(**{f"x{i}": qd.Float(-1, 1) for i in range(8)})


def sleeps(params: dict[str, Any]) -> float:
    time.sleep(SLEEP)
    return float(sum((value - 0.1 * axis) ** 2 for axis, value in enumerate(params.values())))


def trials_a_second(workers: int, trials_each: int, seed: int) -> float:
    """Run a new study to its end."""
    n_trials = workers * trials_each
    with tempfile.TemporaryDirectory() as folder:
        sampler = qd.QuadratSampler(seed=seed, search_space=SPACE)
        study = optuna.create_study(storage=qd.journal_storage(Path(folder) / "journal"), sampler=sampler)
        begin = time.perf_counter()
        with opened_executor("process", workers, None) as (executor, n):
            Coordinator(study, SPACE, lambda: OnExecutor(sleeps, executor, n), n_trials=n_trials).run()
        seconds = time.perf_counter() - begin
        assert len(study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))) == n_trials
    return n_trials / seconds


def tables(rounds: Sequence[dict[int, float]], trials_each: int) -> str:
    """Return the table of trials a second by the number of workers, of at least one round."""
    lines = []
    for workers in rounds[0]:
        speeds = [found[workers] for found in rounds]
        ratios = [found[workers] / found[1] for found in rounds]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append((str(workers), str(workers * trials_each), f"{statistics.median(speeds):.2f}", spread))
    return table(("workers", "trials", "trials a second", "/ one worker (lowest to highest round)"), lines)


def main() -> None:
    chosen = options(__doc__)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    workers, trials_each, count = ((1, 2), 2, 1) if chosen.smoke else (WORKERS, TRIALS_EACH, ROUNDS)
    trials_a_second(1, 1, 0)  # what starts processes is started once
    rounds = [{n: trials_a_second(n, trials_each, seed) for n in workers} for seed in range(count)]
    found = stamp(("optuna",))
    text = f"{tables(rounds, trials_each)}\n\nQuadrat at {found['commit']}; optuna {found['versions']['optuna']}."
    measured = f"an objective that sleeps {SLEEP} s, medians of {count} rounds"
    publish("throughput", "Throughput of several workers", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
