"""Figure 1 of the paper: do LP0 and Heuristic find higher points of the 8-dimensional sums than EI, PI and IGP-UCB?

    python experiments/figure1.py [--smoke] [--runs 20] [--workers 2] [--report]

f(x) = sum_i c_i g(x[2i-1:2i]), c = 1, .1, .1, .1, n = 100, observation noise .1, the methods as `paper_preset` has
them, 20 seeds. Runs are paired: for one seed all methods have the same noise in trial i and, but for Quadrat's default
method, which begins in its own way, the same 5 uniform points first. Kept in
experiments/results/figure1.jsonl: regret after 5, 6, ..., 10, 15, ..., 100 evaluations,

    evaluated     f* - the highest f among the points evaluated, noise left out
    recommended   f* - f(the point that the method recommends)
    luckiest      f* - f(the point with the highest observation)
    observed      f* - the highest observation, noise included: it can be negative

"Best function value" in the paper may be any but the second. `ordering` says whether its claim holds of the medians.

Which choice decides the order: experiments/figure1_diagnostics.py.

What the paper leaves open, and what is done here: the unit of g (standardised over the square, so that noise of .1
means the same for all), whether Goldstein is taken in logarithms (both: goldstein8 is, goldstein8_raw is not), n (100),
the number of repetitions, and what `quadrat.methods.lp.preset` lists: above all the units of values, the range of
length-scales and how the 10 restarts of L-BFGS are started.
"""

from __future__ import annotations

from grid import Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from as_printed import PAPER_METHODS, paper_preset

import problems
import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.gp import Observations
from quadrat.methods import registry
from quadrat.methods.base import Method
from quadrat.methods.surrogate import Learned, learn_kernel
from quadrat.randomness import generator

PROBLEMS = ("branin8", "goldstein8", "goldstein8_raw")
CLAIMED = ("LP0", "Heuristic")
RIVALS = ("IGPUCB", "ExpectedImprovement", "ProbabilityOfImprovement")
METHODS = (*CLAIMED, *RIVALS, "RandomSearch", "default")
QUANTITIES = ("evaluated", "recommended", "luckiest", "observed")
N, NOISE, INITIAL, DELTA = 100, 0.1, 5, 0.001
_NOISE_STREAM = 50


# --- one run


def checkpoints(n: int) -> list[int]:
    """Evaluation counts at which regret is kept: 5, 6, ..., 10, 15, 20, ..., and n itself."""
    return sorted({t for t in (*range(INITIAL, 10), *range(10, n + 1, 5), n) if t <= n})


@dataclass(frozen=True)
class Track:
    """What one run did: points (n, D), their observations (n,), and the points recommended at the checkpoints."""

    points: Array
    observed: Array
    recommended: Array


def follow(method: Method | None, problem: problems.Problem, seed: int, n: int, after: Sequence[int]) -> Track:
    """Run a method for n evaluations and ask for its recommendation after each of the counts in `after`.

    None is the optimizer's default method.
    """
    names = [f"x{axis + 1}" for axis in range(problem.dimension)]
    space = qd.Space(**{name: qd.Float(0.0, 1.0) for name in names})
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=seed)

    def point(params: Mapping[str, Any]) -> Array:
        return np.array([params[name] for name in names], dtype=np.float64)

    points, observed, recommended = [], [], []
    for i in range(n):
        trial = optimizer.ask()
        points.append(point(trial.params))
        observed.append(float(problem(points[-1])) + NOISE * float(generator(seed, i, _NOISE_STREAM).normal()))
        optimizer.tell(trial, observed[-1])
        if i + 1 in after:
            recommended.append(point(optimizer.recommend().params))
    return Track(np.array(points), np.array(observed), np.array(recommended))


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One run of the figure; every list of regrets has an entry for each of `checkpoints(n)`.

    "lengthscale" is the most likely one for this run's first 5 observations: what the paper's methods go on with.
    """
    if method in PAPER_METHODS:
        chosen: Method | None = paper_preset(method, n)
    else:
        chosen = None if method == "default" else registry.get(method)
    task, after = problems.get(problem), checkpoints(n)
    track = follow(chosen, task, seed, n, after)
    trace = problems.RegretTrace.of(task, track.points, observed=track.observed)
    assert task.optimal_value is not None
    assert trace.best_observed is not None
    at = np.array(after) - 1
    first, values = track.points[:INITIAL], track.observed[:INITIAL]
    spread = float(np.std(values))
    data = Observations.merge(first, (values - np.mean(values)) / spread, (NOISE / spread) ** 2)
    return {
        "evaluated": digits(trace.best_evaluated[at]),
        "recommended": digits(problems.regrets(task, track.recommended)),
        "luckiest": digits(trace.best_observed[at]),
        "observed": digits(task.optimal_value - np.maximum.accumulate(track.observed)[at]),
        "lengthscale": digits(np.asarray(learn_kernel(Learned(), data).lengthscales))[0],
    }


def digits(values: Array) -> list[float]:
    """Six significant digits, so that result files stay small."""
    return [float(f"{value:.6g}") for value in np.ravel(values)]


# --- what the rows say


def curves(rows: Sequence[Row], problem: str, method: str, quantity: str) -> tuple[Array, Array, Array, Array]:
    """Return what the figure draws: evaluation counts, lower quartile, median and upper quartile, each shape (m,).

    Parameters
    ----------
    rows
        Of `run`, all with the same n.
    problem, method
        Of `PROBLEMS` and `METHODS`.
    quantity
        Of `QUANTITIES`: a regret, in standard deviations of g.
    """
    group = [row for row in rows if (row["problem"], row["method"]) == (problem, method)]
    if not group:
        none = np.empty(0)
        return none, none, none, none
    low, middle, high = np.quantile([_numbers(row[quantity]) for row in group], [0.25, 0.5, 0.75], axis=0)
    return np.array(checkpoints(int(str(group[0]["n"]))), dtype=np.float64), low, middle, high


def finals(rows: Sequence[Row], problem: str, method: str, quantity: str) -> dict[int, float]:
    """Return the regret at the end of every run, by seed."""
    return {
        int(str(row["seed"])): _numbers(row[quantity])[-1]
        for row in rows
        if (row["problem"], row["method"]) == (problem, method)
    }


def _numbers(entry: object) -> list[float]:
    return [float(value) for value in entry] if isinstance(entry, list) else [float(str(entry))]


@dataclass(frozen=True)
class Standing:
    """Where a method of the paper's claim ends, in the median.

    Attributes
    ----------
    problem, quantity, method
        What is compared: a quantity of `QUANTITIES`, a method of `CLAIMED`.
    median
        Its median final regret.
    ahead_of, behind
        The rivals with a larger median regret, and the others.
    """

    problem: str
    quantity: str
    method: str
    median: float
    ahead_of: tuple[str, ...]
    behind: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether it ends above EI, PI and IGP-UCB, as in the paper."""
        return not self.behind


def ordering(rows: Sequence[Row], quantities: Sequence[str] = ("evaluated", "recommended")) -> list[Standing]:
    """Return, for every problem, whether LP0 and Heuristic end above EI, PI and IGP-UCB in the median."""
    found = []
    for problem, quantity in product(PROBLEMS, quantities):
        medians = medians_of(rows, problem, quantity)
        found += [
            standing_of(problem, quantity, method, medians)
            for method in CLAIMED
            if method in medians and set(RIVALS) <= set(medians)
        ]
    return found


def medians_of(rows: Sequence[Row], problem: str, quantity: str) -> dict[str, float]:
    """Median final regrets by method, of those that have rows."""
    regrets = {method: list(finals(rows, problem, method, quantity).values()) for method in METHODS}
    return {method: float(np.median(values)) for method, values in regrets.items() if values}


def standing_of(problem: str, quantity: str, method: str, medians: Mapping[str, float]) -> Standing:
    """Where a method stands among these medians."""
    ahead = tuple(rival for rival in RIVALS if medians[method] < medians[rival])
    behind = tuple(rival for rival in RIVALS if rival not in ahead)
    return Standing(problem, quantity, method, medians[method], ahead, behind)


def report(rows: Sequence[Row]) -> str:
    """A Markdown table a problem: regrets at the end, and LP0 and Heuristic against each method, seed by seed."""
    present = [problem for problem in PROBLEMS if any(row["problem"] == problem for row in rows)]
    return "\n\n".join([*(table(rows, problem) for problem in present), ordering_table(rows)])


def table(rows: Sequence[Row], problem: str) -> str:
    """One problem: median regret (quartiles); then the median of the paired differences and in how many seeds < 0."""
    shown = ("evaluated", "recommended")
    heads = ["best evaluated", "recommended", *(f"{one} less it, {two}" for one, two in product(CLAIMED, shown))]
    lines = [f"| {problem} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for method in METHODS:
        regrets = {quantity: finals(rows, problem, method, quantity) for quantity in shown}
        if not regrets["evaluated"]:
            continue
        cells = [_quartiles(list(regrets[quantity].values())) for quantity in shown]
        for one, quantity in product(CLAIMED, shown):
            mine, its = finals(rows, problem, one, quantity), regrets[quantity]
            differences = [mine[seed] - its[seed] for seed in sorted(set(mine) & set(its))]
            cells.append("" if one == method else _paired(differences))
        lines.append(f"| {label_of(method)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _quartiles(values: Sequence[float]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def _paired(differences: Sequence[float]) -> str:
    if not differences:
        return ""
    below = sum(difference < 0 for difference in differences)
    return f"{np.median(differences):+.2g} ({below} of {len(differences)})"


def label_of(method: str) -> str:
    """What tables call a method."""
    return {"ExpectedImprovement": "EI", "ProbabilityOfImprovement": "PI", "default": "Quadrat's default"}.get(
        method, method
    )


def listed(methods: Sequence[str]) -> str:
    """Methods in words."""
    return ", ".join(label_of(method) for method in methods) or "none"


def ordering_table(rows: Sequence[Row]) -> str:
    """`ordering` as a Markdown table."""
    lines = ["| problem | by | method | ends above | not above | as in the paper |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {found.problem} | {found.quantity} | {found.method} | {listed(found.ahead_of)} | {listed(found.behind)}"
        f" | {'yes' if found.holds else 'no'} |"
        for found in ordering(rows)
    ]
    return "\n".join(lines)


# --- the grid


def figure_cells(runs: int, n: int = N, names: Sequence[str] = PROBLEMS) -> list[Row]:
    """The grid of the figure."""
    return [
        {"method": method, "problem": problem, "seed": seed, "n": n}
        for seed, problem, method in product(range(runs), names, METHODS)
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, figure_cells(1, 6, PROBLEMS[:1]))
    elif chosen.report:
        rows = finished("figure1")
    else:
        rows = complete("figure1", run, figure_cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
