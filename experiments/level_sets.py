"""Level sets: are all labels right, how much stays undecided, and how many evaluations does choosing points save?

    python experiments/level_sets.py [--smoke] [--runs 20] [--workers 2] [--report]

D = 2, delta = .05, n = 400, noise sigma = .05 (normal), accuracy .1, Matérn 5/2 with length-scale .3. The threshold is
quantile of f over the cube at 80 % (draw) or 10 % (branin, of which the upper values lie within the noise). Problems:

- draw: functions of norm exactly 2, drawn anew for every seed ("bumpy": ten centres); B = 2.
- branin: minus Branin's function less its mean, over 64: standard deviation .80. Its norm is that of its interpolant on
  a Chebyshev grid, which grows with the grid and has converged to about 1 % (16, 24, 32 and 40 points a side give 9.88,
  10.12, 10.21 and 10.25); B = 11.5 leaves a margin of more than a tenth. Only the noise differs between seeds.

Policies, each on the same f and noise:

- MultiScaleLevelSet and LevelSet, with their defaults;
- either with Sobol points told in the place of its own: the same bounds and the same rule for cells, uniform points;
- LevelSet with rule="ambiguity", as in its paper.

At n = 50, 100, 200, 300 and 400 every decided cell is compared with f on 9 x 9 points of it, corners included: `held`
says that all labels were right at all of them and that the data did not reject the (true) assumptions. `needed` is the
number of evaluations after which at most 25 % of the cube was undecided, 400 where that was not reached, so that ratios
are nearer to 1 than they would be in longer runs. Finished runs are kept as JSON lines in
experiments/results/level_sets.jsonl and not run again; --report prints the tables from them.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from paired import pairs_of, ratio, words

import problems
import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED, Classification, Domain, Observation
from quadrat.methods.design import SobolSearch
from quadrat.methods.level_sets.method import LevelSet, LevelSetMethod, MultiScaleLevelSet
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL, NOISE, DELTA, ACCURACY = qd.Matern(2.5, 0.3), 0.05, 0.05, 0.1
PROBLEMS, NORM_BOUNDS = ("draw", "branin"), {"draw": 2.0, "branin": 11.5}
POLICIES = ("MultiScaleLevelSet", "MultiScaleLevelSet, Sobol points", "LevelSet", "LevelSet, Sobol points", "LSE")
QUANTILES = {"draw": 0.8, "branin": 0.1}
CHECKPOINTS = (50, 100, 200, 300, 400)
SHARE = 0.25  # of the cube, that may stay undecided for `needed`
BRANIN_SCALE = 64.0
ACROSS = 9  # points across a cell at which labels are compared with f


@cache
def _branin_mean() -> float:
    return float(problems.get("branin").function(_grid(200)).mean())


def _grid(count: int) -> Array:
    """Midpoints of a grid over the square, (count^2, 2)."""
    middle = (np.arange(count) + 0.5) / count
    return np.stack(np.meshgrid(middle, middle, indexing="ij"), axis=-1).reshape(-1, 2)


def function(problem: str, seed: int) -> Callable[[Array], Array]:
    """Return f, from points (n, 2) to values (n,)."""
    if problem == "draw":
        return draw_rkhs_function(KERNEL, 2, norm=NORM_BOUNDS[problem], rng=generator(seed, 2, 40)).values
    branin = problems.get("branin").function
    return lambda points: np.asarray((branin(points) - _branin_mean()) / BRANIN_SCALE)


def method(policy: str, problem: str, threshold: float) -> LevelSetMethod:
    """Return the method whose bounds and cells a policy uses."""
    common = {
        "threshold": threshold, "kernel": KERNEL, "norm_bound": NORM_BOUNDS[problem], "noise": NOISE,
        "accuracy": ACCURACY, "delta": DELTA,
    }  # fmt: skip
    if policy.startswith("Multi"):
        return MultiScaleLevelSet(**common)  # type: ignore[arg-type]
    return LevelSet(**common, rule="ambiguity" if policy == "LSE" else "reduction")  # type: ignore[arg-type]


def wrong(found: Classification, f: Callable[[Array], Array]) -> int:
    """Return how many decided cells have a label that f contradicts at one of 9 x 9 points."""
    decided = found.label != UNDECIDED
    if not decided.any():
        return 0
    lower, upper, label = found.lower[decided], found.upper[decided], found.label[decided]
    steps = np.linspace(0.0, 1.0, ACROSS)
    inside = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(1, -1, 2)
    points = lower[:, None] + inside * (upper - lower)[:, None]
    values = f(points.reshape(-1, 2)).reshape(len(label), -1)
    too_low = values.min(axis=1) <= found.threshold - found.accuracy
    too_high = values.max(axis=1) >= found.threshold + found.accuracy
    return int(((label == ABOVE) & too_low).sum() + ((label == BELOW) & too_high).sum())


def run(policy: str, problem: str, seed: int, n: int) -> Row:
    """One whole run; f and noise of a seed are the same for all policies."""
    f = function(problem, seed)
    threshold = float(np.quantile(f(_grid(128)), QUANTILES[problem]))
    search = method(policy, problem, threshold).start(Domain.cube(2), seed)
    chooser = SobolSearch().start(Domain.cube(2), seed) if policy.endswith("Sobol points") else search
    none = np.empty((0, 2))
    mistakes, needed = 0, n
    at: list[int] = []
    undecided: list[float] = []
    cells = 0
    reached = rejected = False
    for i in range(n):
        x = chooser.ask(i, none).x
        y = float(f(x[None])[0]) + NOISE * generator(seed, i, 41).normal()
        search.tell(Observation(i, x, np.array([y])))
        told = i + 1
        found = search.level_set()
        assert isinstance(found, Classification)
        share = found.volume(UNDECIDED)
        if share <= SHARE and not reached:
            needed, reached = told, True
        if told in CHECKPOINTS or told == n:
            at.append(told)
            undecided.append(round(share, 4))
            mistakes += wrong(found, f)
            cells = len(found.label)
            rejected |= found.rejection is not None
    return {
        "held": mistakes == 0 and not rejected, "wrong cells": mistakes, "rejected": rejected, "needed": needed,
        "reached": reached, "at": at, "undecided": undecided, "final": undecided[-1], "cells": cells,
    }  # fmt: skip


def report(rows: list[Row]) -> str:
    """Markdown tables: what held and what stayed undecided; and paired ratios of the evaluations needed."""
    lines = [
        "| problem | policy | runs | wrong labels in | "
        + " | ".join(f"undecided, n = {n}" for n in _shown(rows))
        + f" | evaluations to {SHARE:.0%} (median) | reached |",
        "|---|---|---|---|" + "---|" * len(_shown(rows)) + "---|---|",
    ]
    for problem, policy in product(PROBLEMS, POLICIES):
        group = [row for row in rows if (row["problem"], row["policy"]) == (problem, policy)]
        if not group:
            continue
        shares = " | ".join(f"{_mean_at(group, n):.1%}" for n in _shown(rows))
        needed = float(np.median([float(str(row["needed"])) for row in group]))
        lines.append(
            f"| {problem} | {policy} | {len(group)} | {sum(not row['held'] for row in group)} | {shares}"
            f" | {needed:.0f} | {sum(bool(row['reached']) for row in group)} |"
        )
    lines += ["", f"Evaluations to {SHARE:.0%} undecided, paired ratios (95 % bootstrap):", ""]
    lines += ["| problem | policy | against | ratio |", "|---|---|---|---|"]
    compared = [
        ("MultiScaleLevelSet", "MultiScaleLevelSet, Sobol points"),
        ("LevelSet", "LevelSet, Sobol points"),
        ("LSE", "LevelSet, Sobol points"),
        ("MultiScaleLevelSet", "LevelSet"),
    ]
    for problem in (*PROBLEMS, "both"):
        some = rows if problem == "both" else [row for row in rows if row["problem"] == problem]
        for first, second in compared:
            pairs = pairs_of(some, "needed", {"policy": first}, {"policy": second})
            if pairs:
                lines.append(f"| {problem} | {first} | {second} | {words(ratio(pairs))} |")
    return "\n".join(lines)


def _shown(rows: list[Row]) -> list[int]:
    found: set[int] = set()
    for row in rows:
        at = row["at"]
        assert isinstance(at, list)
        found.update(at)
    return sorted(found)


def _mean_at(group: list[Row], n: int) -> float:
    values = []
    for row in group:
        at, undecided = row["at"], row["undecided"]
        assert isinstance(at, list)
        assert isinstance(undecided, list)
        values += [share for told, share in zip(at, undecided, strict=True) if told == n]
    return float(np.mean(values)) if values else float("nan")


def cells(runs: int, n: int = CHECKPOINTS[-1]) -> list[Cell]:
    """The grid."""
    return [
        {"policy": policy, "problem": problem, "seed": seed, "n": n}
        for seed, problem, policy in product(range(runs), PROBLEMS, POLICIES)
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 12))
    elif chosen.report:
        rows = finished("level_sets")
    else:
        rows = complete("level_sets", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
