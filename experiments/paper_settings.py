"""Every method with the paper's settings on Branin (2-D, standardised) and Hartmann 6: regret of the recommended point.

    python experiments/paper_settings.py [--smoke] [--runs 20] [--workers 2] [--report]

n = 60, observation noise .1. Finished runs are kept as JSON lines in experiments/results/paper_settings.jsonl and not
run again; --report prints the table from that file alone.
"""

from __future__ import annotations

from grid import Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

import time
from itertools import product

import numpy as np
from as_printed import PAPER_METHODS, paper_preset

import problems
from quadrat.methods import registry
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

PROBLEMS = ("branin2", "hartmann6")
METHODS = (*PAPER_METHODS, "RandomSearch", "SobolSearch")


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One run; noise is paired across methods."""
    task = problems.get(problem)
    chosen = paper_preset(method, n) if method in PAPER_METHODS else registry.get(method)
    search = chosen.start(Domain.cube(task.dimension), seed)
    none = np.empty((0, task.dimension))
    start = time.perf_counter()
    for i in range(n):
        x = search.ask(i, none).x
        search.tell(Observation(i, x, np.array([float(task(x)) + 0.1 * generator(seed, i, 50).normal()])))
    seconds = time.perf_counter() - start
    regret = float(problems.regrets(task, search.recommend().x)[0])
    return {"regret": regret, "ms_per_suggestion": round(1e3 * seconds / n, 2)}


def report(rows: list[Row]) -> str:
    """A Markdown table: median regret with quartiles, by method and problem."""
    names = [name for name in PROBLEMS if any(row["problem"] == name for row in rows)]
    lines = ["| method | " + " | ".join(names) + " | seeds |", "|---|" + "---|" * (len(names) + 1)]
    for method in METHODS:
        cells, seeds = [], 0
        for name in names:
            regrets = [float(str(row["regret"])) for row in rows if (row["method"], row["problem"]) == (method, name)]
            low, middle, high = np.quantile(regrets, [0.25, 0.5, 0.75]) if regrets else (np.nan,) * 3
            cells.append(f"{middle:.3f} ({low:.3f} to {high:.3f})")
            seeds = max(seeds, len(regrets))
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {seeds} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    cells = [
        {"method": method, "problem": problem, "seed": seed, "n": 60}
        for method, problem, seed in product(METHODS, PROBLEMS, range(chosen.runs))
    ]
    if chosen.smoke:
        tiny = [{"method": method, "problem": "branin2", "seed": 0, "n": 7} for method in METHODS]
        print(report(run_here(run, tiny)))
    elif chosen.report:
        print(report(finished("paper_settings")))
    else:
        print(report(complete("paper_settings", run, cells, chosen.workers)))


if __name__ == "__main__":
    main()
