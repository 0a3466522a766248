"""A study on the processes of an MPI job. Needs mpi4py and an MPI; one process leads, the others evaluate:

    mpiexec -n 5 python -m mpi4py.futures examples/mpi.py

The study is kept in a journal file. When the job ends too early, for want of time or because MPI ends all of it when
one process dies, submit it again: what was told is there, what was begun is evaluated again, and the study goes on.
"""

from __future__ import annotations

import argparse
import math

import optuna
from mpi4py.futures import MPIPoolExecutor  # type: ignore[import-not-found, unused-ignore]

import quadrat as qd
from quadrat.loop.workers import OnExecutor
from quadrat.studies import Coordinator

SPACE = qd.Space(angle=qd.Float(-180.0, 180.0), depth=qd.Float(0.1, 10.0, log=True))


def loss(params: dict[str, float]) -> float:
    """Stand in for a simulation that takes minutes."""
    return math.log(params["depth"]) ** 2 - math.cos(math.radians(params["angle"] - 40.0))


def main() -> None:
    """Run until the study has its trials, and print the best one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--journal", default="mpi.journal")
    parser.add_argument("--trials", type=int, default=40)
    options = parser.parse_args()
    study = optuna.create_study(
        storage=qd.journal_storage(options.journal),
        study_name="mpi",
        sampler=qd.QuadratSampler(seed=0, search_space=SPACE),
        direction="minimize",
        load_if_exists=True,
    )
    with MPIPoolExecutor() as executor:
        n = executor.num_workers
        print(Coordinator(study, SPACE, lambda: OnExecutor(loss, executor, n), n_trials=options.trials).run())
    best = study.best_trial
    print(f"{n} workers; trial {best.number} is the best: {best.value:.4f} at {best.params}")


if __name__ == "__main__":
    main()
