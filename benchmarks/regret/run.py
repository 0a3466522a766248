"""Run a method on the suite and keep what comes out as JSON lines.

    python benchmarks/regret/run.py METHOD [--problems shifted bbob levy8 ...] [--seeds 0-9,12] [--n 50]
                                    [--noise 0.1] [--workers 1] [--redo failed|earlier] [--smoke]

Finished runs are not run again, so that an interrupted command is resumed by starting it again; `--redo failed` repeats
those that failed, `--redo earlier` those of the earlier harness, which have no curves. A method that is not installed
here is run in its own environment (`make peers`). Noise is paired: every method meets the same at the same evaluation.
`--smoke` runs each kind of problem for six evaluations, prints the rows and keeps nothing. `--noise` is the standard
deviation of the noise of functions; tunings have their own. Rows of another noise than .1 are kept in a folder of their
own, such as results/noise_0.5.

The best evaluated point is exact for functions. For a tuning it is the best, by the reference score, among the five
best observed and those that were recommended or best observed along the way.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _variable in (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS",
):  # fmt: skip
    os.environ[_variable] = "1"
_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src")]  # the same sources in every environment

import argparse
import json
import time
from collections.abc import Sequence
from importlib.util import find_spec
from math import inf

from regret import rows, suite
from regret.adapter import Adapter, timed_suggestion
from regret.roster import ROSTER, Entry, adapter_class
from regret.rows import RESULTS, ROOT, Cell, NoisyCell, Row, recorded, rounded, stamp
from regret.task import NOISE, Params, Task

EVERY = 5  # evaluations between the points of a curve
LAST = 5  # suggestions that the time of one is the median of
FINALISTS = 5  # best observed configurations of a tuning that the best evaluated is sought among
SMOKE = ("hartmann6", "levy8~", "bbob8_rosenbrock", "sgd_cancer")


def run(method: str, problem: str, seed: int, n: int, noise: float = NOISE) -> Row:
    """Run a method once; what it raises becomes the row's "error"."""

    def begun() -> Row:
        task = suite.task(problem, seed, noise)
        return outcome(task, adapter_class(method)(task.space, n, seed), n)

    return recorded(_cell(method, problem, seed, n, noise), begun, ROSTER[method].distributions)


def _cell(method: str, problem: str, seed: int, n: int, noise: float) -> Cell | NoisyCell:
    cell = method, problem, seed, n
    return cell if noise == NOISE else (*cell, noise)


def outcome(task: Task, adapter: Adapter, n: int) -> Row:
    """Run to the end; return regrets, curves and CPU seconds."""
    asked: list[Params] = []
    observed: list[float] = []
    cpu: list[float] = []
    at: list[int] = []
    along: list[Params] = []  # recommended at these
    for number in range(n):
        params, value, taken = timed_suggestion(task, adapter, number)
        cpu.append(taken)
        asked.append(params)
        observed.append(value)
        if (number + 1) % EVERY == 0 or number + 1 == n:
            at.append(number + 1)
            if adapter.recommends_along_the_way and number + 1 < n:
                along.append(adapter.recommend())
    begin = time.process_time()
    final = adapter.recommend()
    recommending = time.process_time() - begin
    if adapter.recommends_along_the_way:
        along.append(final)

    def regret(params: Params) -> float:
        return rounded(task.best - task.value(params))

    best = sorted(range(n), key=lambda i: -observed[i])
    incumbents = [asked[max(range(count), key=lambda i: observed[i])] for count in at]
    curve: Row = {"n": at, "observed": [regret(params) for params in incumbents]}
    if along:
        curve["recommended"] = [regret(params) for params in along]
    if task.cheap:
        regrets = [regret(params) for params in asked]
        curve["evaluated"] = [min(regrets[:count]) for count in at]
        evaluated = min(regrets)
    else:
        finalists = [*incumbents, *(asked[i] for i in best[:FINALISTS]), *(p for p in (final, *along) if p in asked)]
        evaluated = min(regret(params) for params in finalists)
    return {
        "best": task.best,
        "regret": {"recommended": regret(final), "evaluated": evaluated, "observed": regret(asked[best[0]])},
        "curve": curve,
        **({"beliefs": statements} if (statements := adapter.statements()) else {}),
        "cpu_per_suggestion": rounded(sorted(cpu[-LAST:])[len(cpu[-LAST:]) // 2]),
        "cpu_of_suggestions": rounded(sum(cpu)),
        "cpu_to_recommend": rounded(recommending),
    }


def complete(
    method: str,
    problems: Sequence[str],
    seeds: Sequence[int],
    n: int,
    *,
    noise: float = NOISE,
    workers: int = 1,
    redo: str = "",
    folder: Path = RESULTS,
) -> None:
    """Run what is missing in METHOD.jsonl of a folder, as `rows.complete` does.

    Parameters
    ----------
    method, problems, seeds, n
        The grid.
    noise
        Standard deviation. Rows of another than `NOISE` are in the folder noise_VALUE of that folder.
    workers, redo
        As there.
    """
    # Seed by seed: all problems at any time.
    cells = [_cell(method, problem, seed, n, noise) for seed in seeds for problem in problems]
    stamp(ROSTER[method].distributions)  # before anything runs: what runs is what is on disk now
    kept = folder if noise == NOISE else folder / f"noise_{noise:g}"
    rows.complete(kept / f"{method}.jsonl", run, cells, workers=workers, redo=redo)


def go_where_it_is_installed(method: str, problems: Sequence[str]) -> None:
    """Start again in the environment of the method if it, or what its problems need, is not importable here."""
    go_to_environment_of(ROSTER[method], [suite.NEEDS.get(suite.suite_of(problem), "quadrat") for problem in problems])


def go_to_environment_of(entry: Entry, modules: Sequence[str] = ()) -> None:
    """Start again in the environment of a method if it, or one of these modules, is not importable here."""
    missing = sorted(module for module in {entry.module, *modules} if find_spec(module) is None)
    python = ROOT / entry.environment / "bin" / "python"
    if not missing:
        return
    if not python.exists() or Path(sys.prefix).resolve() == python.parents[1].resolve():
        sys.exit(
            f"{entry.title}: {', '.join(missing)} cannot be imported; `make peers` installs it in {entry.environment}"
        )
    os.execv(python, [str(python), *sys.argv])  # noqa: S606  # our own interpreter with our own arguments


def seeds_of(words: str) -> list[int]:
    """Read "0-3,7" as 0, 1, 2, 3, 7."""
    ranges = [word.partition("-") for word in words.split(",")]
    return [seed for low, _, high in ranges for seed in range(int(low), int(high or low) + 1)]


def noise_of(word: str) -> float:
    """Read a standard deviation."""
    noise = float(word)
    if not 0 <= noise < inf:
        raise argparse.ArgumentTypeError(f"expected a standard deviation, 0 or more, got {word}")
    return noise


def main() -> None:
    """Read the command line, run what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("method", choices=ROSTER)
    parser.add_argument("--problems", nargs="+", help="problems or suites; all whose noise is as asked for")
    parser.add_argument("--seeds", type=seeds_of, help="such as 0-3,7; ten even ones, or five for slow methods")
    parser.add_argument("--n", type=int, default=50, help="evaluations")
    parser.add_argument(
        "--noise", type=noise_of, default=NOISE, help="standard deviation of the noise of functions; .1"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--redo", choices=["failed", "earlier"], default="", help="rows to run again")
    parser.add_argument("--smoke", action="store_true", help="six evaluations of each kind of problem; nothing is kept")
    given = parser.parse_args()
    try:
        suites = suite.SUITES if given.noise == NOISE else suite.ANY_NOISE
        problems = suite.chosen(given.problems or list(suites), given.noise)
    except ValueError as error:
        parser.error(str(error))
    if given.smoke:
        problems = tuple(name for name in SMOKE if name in problems)
    go_where_it_is_installed(given.method, problems)
    if given.smoke:
        for name in problems:
            print(json.dumps(run(given.method, name, 0, 6, given.noise)))
        return
    seeds = given.seeds or ROSTER[given.method].seeds
    complete(given.method, problems, seeds, given.n, noise=given.noise, workers=given.workers, redo=given.redo)


if __name__ == "__main__":
    main()
