"""Run a method on the surrogates and keep what comes out as JSON lines.

    python benchmarks/hpo/run.py METHOD [--data FOLDER] [--problems tables lcbench:3945 ...] [--seeds 0-9,12]
                                 [--n 50] [--noise 0.5] [--workers 1] [--redo failed] [--smoke]

As benchmarks/regret/run.py: finished runs are not run again, methods run in their own environments, noise is paired.
Noise is in units of an instance, see `hpo.tasks`. Rows are kept in results/noise_VALUE/METHOD.jsonl. `--smoke` runs one
instance of each scenario for six evaluations, prints the rows and keeps nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src")]

import argparse
import json
import os
from collections.abc import Callable, Sequence

from regret import rows
from regret.rows import Row, recorded, stamp
from regret.run import go_to_environment_of, noise_of, outcome, seeds_of
from regret.task import Task

from hpo import tasks
from hpo.roster import METHODS

__all__ = ["RESULTS", "complete", "run"]

RESULTS = Path(__file__).with_name("results")
SMOKE = ("lcbench:3945", "rbv2_xgboost:1040", "rbv2_rpart:1067")


def run(
    method: str, problem: str, seed: int, n: int, noise: float, task: Callable[[str, int, float], Task] = tasks.task
) -> Row:
    """Run a method once; what it raises becomes the row's "error"."""

    def begun() -> Row:
        made = task(problem, seed, noise)
        adapter = METHODS[method].adapter_class()(made.space, n, seed)
        adapter.is_noisy = noise > 0
        adapter.recommends_along_the_way = False  # no page shows it, and with us it takes more time than all the rest
        return outcome(made, adapter, n)

    return recorded((method, problem, seed, n, noise), begun, METHODS[method].distributions)


def complete(
    method: str,
    problems: Sequence[str],
    seeds: Sequence[int],
    n: int,
    noise: float,
    *,
    workers: int = 1,
    redo: str = "",
    folder: Path = RESULTS,
    runner: Callable[..., Row] = run,
) -> None:
    """Run what is missing in noise_VALUE/METHOD.jsonl of a folder, as `rows.complete` does; `runner` runs one cell."""
    cells = [(method, problem, seed, n, noise) for seed in seeds for problem in problems]
    stamp(METHODS[method].distributions)  # before anything runs: what runs is what is on disk now
    kept = folder / f"noise_{noise:g}"
    kept.mkdir(parents=True, exist_ok=True)
    rows.complete(kept / f"{method}.jsonl", runner, cells, workers=workers, redo=redo)


def main() -> None:
    """Read the command line, run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--data", help="folder of the surrogates; ../shared/data")
    parser.add_argument("--problems", nargs="+", default=["tables"], help="problems, scenarios, development, tables")
    parser.add_argument("--seeds", type=seeds_of, help="such as 0-3,7; ten even ones, or three for slow methods")
    parser.add_argument("--n", type=int, default=50, help="evaluations")
    parser.add_argument("--noise", type=noise_of, default=0.5, help="standard deviation, in units of an instance")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--redo", choices=["failed"], default="", help="rows to run again")
    parser.add_argument("--smoke", action="store_true", help="a few evaluations; nothing is kept")
    given = parser.parse_args()
    go_to_environment_of(METHODS[given.method], ["onnxruntime"])
    os.environ[tasks.DATA] = str(tasks.data_folder(given.data))
    try:
        problems = tasks.chosen(SMOKE if given.smoke else given.problems)
        for scenario in {problem.partition(":")[0] for problem in problems}:
            tasks.read_surrogate(scenario, tasks.data_folder())
    except (ValueError, tasks.MissingData) as error:
        parser.error(str(error))
    if given.smoke:
        for problem in problems:
            print(json.dumps(run(given.method, problem, 0, 6, given.noise)))
        return
    seeds = given.seeds or METHODS[given.method].seeds
    complete(given.method, problems, seeds, given.n, given.noise, workers=given.workers, redo=given.redo)


if __name__ == "__main__":
    main()
