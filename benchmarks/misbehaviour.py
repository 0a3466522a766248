"""What bad measurements cost: regret under outliers, heavy tails, uneven noise and drift, as a ratio to clean noise.

    python benchmarks/misbehaviour.py [--smoke] [--write] [--workers 1]

Three problems, standardised over the cube, 60 trials, even seeds 0 to 18. What is told is the value plus an error:

clean      normal, standard deviation .1
diverged   clean, but one evaluation in twenty gives -1e6
absurd     clean, but one evaluation in twenty gives 1e6, as if it were good
outliers   clean, but one evaluation in twenty is off by 10, up or down: 10 standard deviations of the function
student    .1 times Student's t with 2 degrees of freedom: no variance
cauchy     .1 times Student's t with 1 degree of freedom: no mean
uneven     normal, standard deviation from .02 at one side of the cube to .3 at the other
drift      clean, plus what grows from 0 to 1 during the run

Regret is that of the recommended point, without errors. The errors of an evaluation depend on seed and number alone, so
that the methods are paired. Random search recommends the luckiest trial. Runs are kept in
benchmarks/results/misbehaviour.jsonl and not run again. --write updates benchmarks/results/misbehaviour.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from regret.comparison import Comparison, ratio_of_medians, words
from regret.rows import Row, complete, read_rows, recorded, stamp
from regret.task import NOISE, unit_space

import problems
import quadrat as qd
from problems import Problem
from quadrat._core.arrays import Array

PROBLEMS = ("branin2", "hartmann6", "rosenbrock4~")
TRIALS, SEEDS = 60, tuple(range(0, 20, 2))
OURS, RANDOM = "ours", "random"
METHODS: dict[str, str | None] = {OURS: None, RANDOM: "RandomSearch"}
ROWS = ROOT / "benchmarks" / "results" / "misbehaviour.jsonl"
SHARE = 0.05  # of evaluations that are outliers
_STREAM = 778  # names the errors


@dataclass(frozen=True)
class Evaluation:
    """What an error may depend on: the place (D,), the share of the run that is over, and random numbers of its own."""

    x: Array
    over: float
    rng: np.random.Generator

    def normal(self) -> float:
        """Clean noise."""
        return NOISE * float(self.rng.standard_normal())

    def is_outlier(self) -> bool:
        """One in twenty."""
        return bool(self.rng.random() < SHARE)


Disturbance: TypeAlias = Callable[[float, Evaluation], float]
"""From a value and its evaluation to what is told."""


def clean(value: float, at: Evaluation) -> float:
    """Value with normal noise."""
    return value + at.normal()


def outlying(size: float) -> Disturbance:
    """Return the disturbance by which one evaluation in twenty gives `size`."""

    def disturbed(value: float, at: Evaluation) -> float:
        told = clean(value, at)
        return size if at.is_outlier() else told

    return disturbed


def shaken(value: float, at: Evaluation) -> float:
    """One evaluation in twenty is off by 10."""
    told = clean(value, at)
    return told + (10.0 if at.rng.random() < 0.5 else -10.0) if at.is_outlier() else told


def heavy_tailed(degrees: float) -> Disturbance:
    """Return the disturbance by Student's t."""
    return lambda value, at: value + NOISE * float(at.rng.standard_t(degrees))


def uneven(value: float, at: Evaluation) -> float:
    """The noise grows along the first axis."""
    return value + (0.02 + 0.28 * float(at.x[0])) * float(at.rng.standard_normal())


def drifting(value: float, at: Evaluation) -> float:
    """The values grow with time."""
    return clean(value, at) + at.over


CLEAN = "clean"
DISTURBANCES: dict[str, Disturbance] = {
    CLEAN: clean,
    "diverged": outlying(-1e6),
    "absurd": outlying(1e6),
    "outliers": shaken,
    "student": heavy_tailed(2.0),
    "cauchy": heavy_tailed(1.0),
    "uneven": uneven,
    "drift": drifting,
}


def problem_of(name: str, seed: int) -> Problem:
    """Return the problem; the seed moves the optimum of one whose name ends with "~"."""
    return problems.get(f"{name}{seed}" if name.endswith("~") else name)


def outcome(method: str, problem: Problem, disturbance: Disturbance, seed: int, n: int) -> Row:
    """Run to the end; return the regret of what is recommended, and whether anything that was asked was not finite."""
    logging.getLogger("quadrat").setLevel(logging.ERROR)
    optimizer = qd.Optimizer(unit_space(problem.dimension), direction="maximize", method=METHODS[method], seed=seed)
    for number in range(n):
        trial = optimizer.ask()
        x = optimizer.space.to_unit(trial.params)
        at = Evaluation(x, number / n, np.random.default_rng([seed, _STREAM, number]))
        optimizer.tell(trial, disturbance(float(problem.values(x)[0]), at))
    assert problem.optimal_value is not None
    best = problem.optimal_value
    recommended = optimizer.space.to_unit(optimizer.recommend().params)
    return {"best": best, "regret": {"recommended": float(f"{best - float(problem.values(recommended)[0]):.6g}")}}


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once; the problem is named with its disturbance, as in "branin2 cauchy"."""
    name, disturbance = problem.split(" ")
    return recorded(
        (method, problem, seed, n),
        lambda: outcome(method, problem_of(name, seed), DISTURBANCES[disturbance], seed, n),
    )


def tables(rows: Sequence[Row], n: int) -> str:
    """Return medians by problem, and ratios to clean noise over all of them, from the rows with n trials."""
    compared = Comparison([row for row in rows if row["n"] == n])

    def regrets(method: str, problem: str, disturbance: str) -> tuple[Array, Array] | None:
        both = [f"{problem} {disturbance}", f"{problem} {CLEAN}"]
        seeds = set.intersection(*(compared.seeds(method, name) for name in both))
        if not seeds:
            return None
        return tuple(compared.regrets(method, name, "recommended", seeds) for name in both)  # type: ignore[return-value]

    lines, ratios = [], []
    for disturbance in DISTURBANCES:
        found = {(m, p): regrets(m, p, disturbance) for m in METHODS for p in PROBLEMS}
        medians = [f"{np.median(pair[0]):.3g}" if pair else "" for pair in found.values()]
        fewest = min((len(pair[0]) for pair in found.values() if pair), default=0)
        lines.append((disturbance, str(fewest), *medians))
        if disturbance != CLEAN:
            pairs = {m: [pair for p in PROBLEMS if (pair := found[m, p])] for m in METHODS}
            ratios.append((disturbance, *(words(ratio_of_medians(pairs[m]), len(PROBLEMS)) for m in METHODS)))
    head = ("median regret", "seeds", *(f"{problem}, {method}" for method in METHODS for problem in PROBLEMS))
    note = f"\n\nRuns that raised an error: {sum('error' in row for row in rows)} of {len(rows)}."
    every = table(("regret / that of clean noise, geometric mean", *METHODS), ratios)
    return f"{table(head, lines)}\n\n{every}{note}"


def main() -> None:
    chosen = options(__doc__, workers=True)
    names = [f"{problem} {disturbance}" for problem in PROBLEMS for disturbance in DISTURBANCES]
    if chosen.smoke:
        print(tables([run(method, name, 0, 9) for name in names[: len(DISTURBANCES)] for method in METHODS], 9))
        return
    cells = [(method, name, seed, TRIALS) for seed in SEEDS for name in names for method in METHODS]
    stamp(())  # before anything runs: what runs is what is on disk now
    complete(ROWS, run, cells, workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    measured = f"medians over seeds, 95 % bootstrap intervals; rows of {commits}"
    publish("misbehaviour", "What bad measurements cost", tables(rows, TRIALS), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
