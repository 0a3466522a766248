"""Run a method on the problems of twenty dimensions and keep what comes out as JSON lines.

    python benchmarks/high_dimensions/run.py METHOD [--problems levy20~ ...] [--seeds 0-9,12] [--n 2000] [--workers 1]
                                             [--redo failed] [--smoke]

Finished runs are kept in results/METHOD.jsonl and not run again, so that an interrupted command is resumed by starting
it again; `--redo failed` repeats those that failed. A method that is not installed here is run in its own environment
(`make peers`). `--smoke` runs the method and random search for 30 evaluations, prints the report of that and keeps
nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src")]  # the same sources in every environment

import argparse
from collections.abc import Sequence

from checkpoints import followed, up_to
from regret import rows
from regret.rows import Row, recorded, stamp
from regret.run import go_to_environment_of, seeds_of

from high_dimensions import report, twenty
from high_dimensions.contenders import BASE, CONTENDERS

__all__ = ["complete", "run"]

SMOKE = 30


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run a method once; what it raises becomes the row's "error"."""

    def begun() -> Row:
        task = twenty.task(problem, seed)
        numbers = (10, 20) if n <= SMOKE else report.NUMBERS
        return followed(task, CONTENDERS[method].adapter_class()(task.space, n, seed), up_to(n, numbers))

    return recorded((method, problem, seed, n), begun, CONTENDERS[method].distributions)


def complete(
    method: str,
    problems: Sequence[str],
    seeds: Sequence[int],
    n: int,
    *,
    workers: int = 1,
    redo: str = "",
    folder: Path = report.RESULTS,
) -> None:
    """Run what is missing in METHOD.jsonl of a folder, as `regret.rows.complete` does."""
    cells = [(method, problem, seed, n) for seed in seeds for problem in problems]
    stamp(CONTENDERS[method].distributions)  # before anything runs: what runs is what is on disk now
    rows.complete(folder / f"{method}.jsonl", run, cells, workers=workers, redo=redo)


def main() -> None:
    """Read the command line, run what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("method", choices=CONTENDERS)
    parser.add_argument("--problems", nargs="+", choices=twenty.PROBLEMS, default=list(twenty.PROBLEMS))
    parser.add_argument("--seeds", type=seeds_of, help="such as 0-3,7; five even ones, or ten for fast methods")
    parser.add_argument("--n", type=int, default=report.N, help="evaluations")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--redo", choices=["failed"], default="", help="rows to run again")
    parser.add_argument("--smoke", action="store_true", help="30 evaluations; nothing is kept")
    given = parser.parse_args()
    go_to_environment_of(CONTENDERS[given.method])
    if given.smoke:
        both = dict.fromkeys((given.method, BASE))
        found = [run(method, problem, 0, SMOKE) for problem in given.problems for method in both]
        print(report.page(found, n=SMOKE))
        return
    seeds = given.seeds or CONTENDERS[given.method].seeds
    complete(given.method, given.problems, seeds, given.n, workers=given.workers, redo=given.redo)


if __name__ == "__main__":
    main()
