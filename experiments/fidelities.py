"""Do cheap fidelities save cost? MF-GP-UCB against GP-UCB at the target alone, at equal cost.

    python experiments/fidelities.py [--smoke] [--runs 20] [--workers 2] [--report]

Problems of `fidelity_problems`: Currin's exponential (D = 2) and Park's function (D = 4), costs 1 and 10;
Hartmann's functions, D = 3 with costs 1, 10, 100 and D = 6 with costs 1, 10, 100, 1000; and one whose cheap level
misleads, D = 2, costs 1 and 10. A budget is the cost of 30 evaluations of the target.
Both methods have the same learned kernel (Matérn 5/2, learned again whenever trials have doubled), the same beta
(theorem 1 of GP-UCB's paper, scaled by .2) and the true noise. They differ in more than the levels that they may use.
GP-UCB starts with 5 uniform points and recommends the evaluated point of highest mean; MF-GP-UCB starts with points of
a Sobol sequence and recommends the point, evaluated or near one, of the highest mean less deviation of all levels taken
together. Evaluation i of a seed has the same noise for both, but it is another evaluation at another level: runs of a
seed share no more than its number.

Recorded is the simple regret at the target of the recommended point at each cost 1, ..., 30, in evaluations of the
target. The first table has its geometric mean over seeds; the second the cost at which either first has a regret as
small as the geometric mean of GP-UCB's at the full budget (the budget, where it has none; in brackets how many runs are
censored so), and the paired ratio of these costs; the third the paired ratio of regrets at equal cost. Finished runs
are kept as JSON lines in experiments/results/fidelities.jsonl and not run again; --report prints the tables from that
file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from dataclasses import replace
from itertools import product

import numpy as np
from fidelity_problems import MULTI_FIDELITY, MultiFidelityProblem
from paired import pairs_of, ratio, words

from quadrat._core.arrays import Array
from quadrat.methods.base import Axis, Domain, FidelityAxis, Observation, Search
from quadrat.methods.multi_fidelity.method import MFGPUCB

PROBLEMS, METHODS = ("currin2", "park4", "hartmann3", "hartmann6", "misleading2"), ("MF-GP-UCB", "GP-UCB")
BUDGET = 30
SHOWN = (5, 10, 20, 30)
LEAST = 1e-3  # regrets below count as it: far below the noise, they are luck


class Levels:
    """A search with what turns its points into (point, level): GP-UCB has the target's level alone."""

    def __init__(self, method: str, problem: MultiFidelityProblem, seed: int) -> None:
        self.problem = problem
        several = MFGPUCB(noise=problem.noise)
        self.coordinates = (np.arange(len(problem.costs)) + 0.5) / len(problem.costs)
        self.single = method == "GP-UCB"
        self.search: Search
        if self.single:
            self.search = replace(several.at_the_target, n_initial=5).start(Domain.cube(problem.dimension), seed)
            self.none = np.empty((0, problem.dimension))
        else:
            axis = FidelityAxis(problem.dimension, tuple(self.coordinates.tolist()), problem.costs)
            axes = (*(Axis() for _ in range(problem.dimension)), Axis(axis.coordinates))
            self.search = several.start(Domain(axes, fidelity=axis), seed)
            self.none = np.empty((0, problem.dimension + 1))

    def ask(self, number: int) -> tuple[Array, int]:
        """Return the point of the cube that is proposed, and its level."""
        x = self.search.ask(number, self.none).x
        return x, self.problem.target if self.single else int(np.abs(self.coordinates - x[-1]).argmin())

    def point(self, x: Array) -> Array:
        """Return a point of the cube without the fidelity, shape (D,)."""
        return x if self.single else x[:-1]

    def regret(self) -> float:
        """Return the regret of the recommended point."""
        return self.problem.regret(self.point(self.search.recommend().x))


def run(problem: str, method: str, seed: int, budget: int) -> Row:
    """One whole run; `budget` is in evaluations of the target."""
    of = MULTI_FIDELITY[problem]
    at = Levels(method, of, seed)
    trials = [0] * len(of.costs)
    regrets: list[float | None] = []
    spent, number = 0.0, 0
    while len(regrets) < budget:
        x, level = at.ask(number)
        regret: float | None = None
        # What was known at each whole cost that this evaluation goes past.
        while len(regrets) < budget and spent + of.costs[level] > (len(regrets) + 1) * of.costs[-1] * (1 + 1e-9):
            if regret is None and number:
                regret = float(f"{at.regret():.6g}")
            regrets.append(regret)
        if len(regrets) == budget:
            break
        y = of.observe(at.point(x), level=level, number=number, seed=seed)
        at.search.tell(Observation(number, x, np.array([y])))
        trials[level] += 1
        spent, number = spent + of.costs[level], number + 1
    return {"trials": trials, "regret": regrets[-1], "regrets": regrets, **_checkpoints(regrets)}


def _checkpoints(regrets: list[float | None]) -> Row:
    return {f"regret {cost}": regrets[cost - 1] for cost in SHOWN if cost <= len(regrets)}


def reached(regrets: list[float | None], level: float) -> int:
    """Return the first cost at which the regret is at most `level`; the budget where there is none.

    Examples
    --------
    >>> reached([None, 0.4, 0.2, 0.3], 0.3), reached([1.0, 1.0], 0.3)
    (3, 2)
    """
    return next((i + 1 for i, regret in enumerate(regrets) if regret is not None and regret <= level), len(regrets))


def group(rows: list[Row], problem: str, method: str) -> list[Row]:
    """Rows of one problem and method."""
    return [row for row in rows if (row["problem"], row["method"]) == (problem, method)]


def middle(rows: list[Row], key: str = "regret") -> float:
    """Geometric mean of the regrets of rows; nan without any."""
    known = [max(float(str(row[key])), LEAST) for row in rows if row.get(key) is not None]
    return float(np.exp(np.mean(np.log(known)))) if known else float("nan")


def with_costs(rows: list[Row]) -> list[Row]:
    """Rows with the cost, "reached", at which each has the regret that GP-UCB has at its full budget.

    "censored" says of a row that it never has it.
    """
    found = []
    for row in rows:
        regrets = row["regrets"]
        assert isinstance(regrets, list)
        level = middle(group(rows, str(row["problem"]), "GP-UCB"))
        never = not any(regret is not None and regret <= level for regret in regrets)
        found.append({**row, "reached": reached(regrets, level), "censored": never})
    return found


def report(rows: list[Row]) -> str:
    """Three Markdown tables: regret against cost, cost of the same regret, ratios of regrets at equal cost."""
    shown = [cost for cost in SHOWN if any(f"regret {cost}" in row for row in rows)]
    costs = " | ".join(f"cost {cost}" for cost in shown)
    lines = [f"| problem | method | runs | trials of each level | {costs} |", "|---|---|---|---|" + "---|" * len(shown)]
    for problem, method in product(PROBLEMS, METHODS):
        own = group(rows, problem, method)
        if own:
            trials = ", ".join(f"{count:.0f}" for count in _mean_trials(own))
            values = " | ".join(f"{middle(own, f'regret {cost}'):.4f}" for cost in shown)
            lines.append(f"| {problem} | {method} | {len(own)} | {trials} | {values} |")
    lines += ["", "| problem | regret | median cost of GP-UCB (censored) | of MF-GP-UCB (censored) | paired ratio |"]
    lines += ["|---|---|---|---|---|"]
    priced = with_costs(rows)
    first, second = _kinds()
    for problem in PROBLEMS:
        own = [row for row in priced if row["problem"] == problem]
        pairs = pairs_of(own, "reached", first, second)
        if pairs:
            single, several = (_median_cost(group(own, problem, method)) for method in ("GP-UCB", "MF-GP-UCB"))
            target = middle(group(own, problem, "GP-UCB"))
            lines.append(f"| {problem} | {target:.4f} | {single} | {several} | {words(ratio(pairs))} |")
    lines += ["", f"| problem | {costs} |", "|---|" + "---|" * len(shown)]
    for problem in PROBLEMS:
        own = [row for row in rows if row["problem"] == problem]
        ratios = [pairs_of(own, f"regret {cost}", first, second) for cost in shown]
        if any(ratios):
            cells_of = [words(ratio(pairs, LEAST)) if pairs else "–" for pairs in ratios]
            lines.append(f"| {problem} | {' | '.join(cells_of)} |")
    return "\n".join(lines)


def _median_cost(rows: list[Row]) -> str:
    """The median of "reached", and how many of the rows are censored at the budget."""
    costs = [float(str(row["reached"])) for row in rows]
    return f"{float(np.median(costs)):g} ({sum(bool(row['censored']) for row in rows)} of {len(rows)})"


def _mean_trials(rows: list[Row]) -> Array:
    """Trials of each level, on average."""
    return np.asarray(np.mean([np.array(row["trials"], dtype=np.float64) for row in rows], axis=0))


def _kinds() -> list[dict[str, object]]:
    return [{"method": method} for method in METHODS]


def cells(runs: int, budget: int = BUDGET) -> list[Cell]:
    """The grid: `runs` seeds of everything."""
    return [
        {"problem": problem, "method": method, "seed": seed, "budget": budget}
        for seed, problem, method in product(range(runs), PROBLEMS, METHODS)
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 5))
    elif chosen.report:
        rows = finished("fidelities")
    else:
        rows = complete("fidelities", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
