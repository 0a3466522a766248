"""Whether regret keeps falling: our default method for ten thousand evaluations.

    python benchmarks/long_runs.py [--smoke] [--write] [--workers 1]

The seven plain functions of `regret.suite`, 3 to 8 dimensions, noise .1; even seeds 0 to 4. The recommended point is
asked for after 100, 300, 1,000, 3,000 and 10,000 evaluations.

Runs are kept in benchmarks/results/long_runs.jsonl and not run again. --write updates benchmarks/results/long_runs.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

from collections.abc import Sequence

import numpy as np
from checkpoints import followed, milliseconds_at, row_at, up_to
from regret import suite
from regret.comparison import Measure, ratio_of_medians, words
from regret.roster import OURS, adapter_class
from regret.rows import Row, complete, read_rows, recorded, stamp

from quadrat._core.arrays import Array

PROBLEMS = suite.SUITES["plain"]
N, NUMBERS = 10_000, (100, 300, 1000, 3000)  # evaluations; after which a run is looked at, besides the end
SEEDS = (0, 2, 4)
SMOKE = ("rastrigin3", "rosenbrock4")
LEAST = 1e-6  # regret that less counts as, in ratios: values are exact to about that
ROWS = ROOT / "benchmarks" / "results" / "long_runs.jsonl"
MEASURES: dict[Measure, str] = {"recommended": "recommended point", "evaluated": "best evaluated point"}


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once."""

    def begun() -> Row:
        task = suite.task(problem, seed)
        numbers = up_to(n, (10, 20) if n < NUMBERS[0] else NUMBERS)
        return followed(task, adapter_class(method)(task.space, n, seed), numbers)

    return recorded((method, problem, seed, n), begun)


def tables(rows: Sequence[Row], n: int) -> str:
    """Return the tables of the runs with n evaluations: regrets, how they fall, and CPU time."""
    whole = [row for row in rows if row["n"] == n]
    good = [row for row in whole if "error" not in row]
    at = good[0]["curve"]["n"] if good else []
    found = [problem for problem in PROBLEMS if any(row["problem"] == problem for row in good)]
    parts = [_medians(good, found, at, measure) for measure in MEASURES]
    parts.append(_falls(good, found, at))
    times = [f"{milliseconds_at(good, number):.3g}" for number in at]
    parts.append(table(("CPU time", *(f"to n = {number:,}" for number in at)), [("ms a suggestion", *times)]))
    failed = len(whole) - len(good)
    if failed:
        parts.append(f"Left out: {failed} of {len(whole)} runs, which raised an error.")
    return "\n\n".join(parts)


def _regrets(rows: Sequence[Row], problem: str, number: int, measure: Measure) -> Array:
    """Regrets after so many evaluations, by seed."""
    by_seed = {row["seed"]: row_at(row, number)["regret"][measure] for row in rows if row["problem"] == problem}
    return np.array([by_seed[seed] for seed in sorted(by_seed)])


def _medians(rows: Sequence[Row], problems: Sequence[str], at: Sequence[int], measure: Measure) -> str:
    lines = []
    for problem in problems:
        regrets = [_regrets(rows, problem, number, measure) for number in at]
        lines.append((problem, str(len(regrets[0])), *(f"{np.median(values):.2g}" for values in regrets)))
    return table((f"{MEASURES[measure]}, median regret", "seeds", *(f"n = {number:,}" for number in at)), lines)


def _falls(rows: Sequence[Row], problems: Sequence[str], at: Sequence[int]) -> str:
    """Ratios of regret to that after the first, and after the previous number of evaluations."""
    lines = []
    for place, number in enumerate(at[1:], 1):
        cells = []
        for measure in MEASURES:
            for earlier in (at[0], at[place - 1]):
                pairs = [
                    (_regrets(rows, problem, number, measure), _regrets(rows, problem, earlier, measure))
                    for problem in problems
                ]
                cells.append(words(ratio_of_medians(pairs, least=LEAST), len(PROBLEMS)))
        lines.append((f"{number:,}", *cells))
    over = [f"{title}, / {then}" for title in MEASURES.values() for then in ("that at the first n", "the n before")]
    return table(("n, all problems, geometric mean", *over), lines)


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        print(tables([run(OURS, problem, 0, 30) for problem in SMOKE], 30))
        return
    stamp(())  # before anything runs: what runs is what is on disk now
    cells = [(OURS, problem, seed, N) for seed in SEEDS for problem in PROBLEMS]
    complete(ROWS, run, cells, workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    measured = f"medians over seeds, 95 % bootstrap intervals; rows of {commits}"
    publish("long_runs", "Regret keeps falling", tables(rows, N), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
