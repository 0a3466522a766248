"""Is the point that is chosen still good when it is missed? StableOpt, GP-UCB, and `robust_choice` on GP-UCB's data.

    python experiments/robust.py [--smoke] [--runs 20] [--workers 2] [--report]

Problems, maximised on the unit cube; whoever uses a point misses it by up to the half-side r on every axis:

- bumps1: D = 1, r = .12. A narrow peak of height 1 at .2 (width .05) and a broad one of height .7 at .65 (width .15).
- bumps2: D = 2, r = .15. A narrow peak of height 1 at (.25, .75) (width .1), a broad one of .7 at (.65, .35) (.25).
- polynomial: D = 2, r = .1. The polynomial of Bogunovic, Scarlett, Jegelka and Cevher (2018, section 5.1; first in
  Bertsimas, Nohadani and Teo 2010) on [-.95, 3.2] x [-.45, 4.4], which becomes the cube; they perturb within a
  Euclidean ball of radius .5, about r = .1 of the sides. Values are divided by 20.

n = 60 evaluations (40 on the line), normal noise of standard deviation .05. Both methods learn a Matérn 5/2 kernel with
one length-scale, in [.1, 2], when the number of trials doubles from 5 on. StableOpt has its default multiplier 2 and
knows r; GP-UCB has beta_t / 5, as in Srinivas et al. (2012, section VI). Recommendations: StableOpt's own, GP-UCB's
own, and `robust_choice` on what GP-UCB evaluated ("GP-UCB + robust choice"). A row records the true worst case of the
recommended point, min f over its box, the regret of that against the best worst case, whether the point is within 2 r,
on every axis, of the one whose worst case is best ("broad"), and for the two that know r whether the 90 % interval of
the worst case held.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from paired import difference, pairs_of, words

from quadrat._core.arrays import Array
from quadrat.methods.base import Domain, Observation
from quadrat.methods.robust.choice import robust_choice
from quadrat.methods.robust.method import StableOpt
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.gp_ucb import GPUCB
from quadrat.randomness import generator

METHODS = ("StableOpt", "GP-UCB", "GP-UCB + robust choice")
NOISE = 0.05
KERNEL = Learned(refit_every="doubling")
POINTS = {1: 4001, 2: 201}  # of the grids, along an axis, on which truths are sought


@dataclass(frozen=True)
class RobustProblem:
    """A function on the cube, its dimension, the half-side of the box by which it is missed, and trials in a run."""

    function: Callable[[Array], Array]
    dimension: int
    radius: float
    trials: int


def _bump(x: Array, centre: tuple[float, ...], width: float) -> Array:
    return np.asarray(np.exp(-0.5 * (((x - np.array(centre)) / width) ** 2).sum(axis=1)))


def bumps1(x: Array) -> Array:
    """Two bumps on the line."""
    return np.maximum(_bump(x, (0.2,), 0.05), 0.7 * _bump(x, (0.65,), 0.15))


def bumps2(x: Array) -> Array:
    """Two bumps in the plane."""
    return np.maximum(_bump(x, (0.25, 0.75), 0.1), 0.7 * _bump(x, (0.65, 0.35), 0.25))


def polynomial(x: Array) -> Array:
    """The polynomial of the paper's section 5.1, over 20."""
    a, b = -0.95 + 4.15 * x[:, 0], -0.45 + 4.85 * x[:, 1]
    value = -2 * a**6 + 12.2 * a**5 - 21.2 * a**4 + 6.4 * a**3 + 4.7 * a**2 - 6.2 * a
    value += -(b**6) + 11 * b**5 - 43.3 * b**4 + 74.8 * b**3 - 56.9 * b**2 + 10 * b
    value += 4.1 * a * b + 0.1 * (a * b) ** 2 - 0.4 * a * b**2 - 0.4 * a**2 * b
    return np.asarray(value / 20)


PROBLEMS = {
    "bumps1": RobustProblem(bumps1, 1, 0.12, 40),
    "bumps2": RobustProblem(bumps2, 2, 0.15, 60),
    "polynomial": RobustProblem(polynomial, 2, 0.1, 60),
}


def worst(problem: RobustProblem, point: Array) -> float:
    """Return min f over the box around a point, on a fine grid in it."""
    low, high = np.maximum(point - problem.radius, 0.0), np.minimum(point + problem.radius, 1.0)
    sides = [np.linspace(a, b, 401 if problem.dimension == 1 else 81) for a, b in zip(low, high, strict=True)]
    return float(problem.function(np.array(list(product(*sides)))).min())


@cache
def truth(name: str) -> tuple[Array, float]:
    """Return the point with the best worst case, and that value, on a grid."""
    problem = PROBLEMS[name]
    count = POINTS[problem.dimension]
    axis = np.linspace(0.0, 1.0, count)
    mesh = np.stack(np.meshgrid(*[axis] * problem.dimension, indexing="ij"), axis=-1)
    lowest = problem.function(mesh.reshape(-1, problem.dimension)).reshape(mesh.shape[:-1])
    reach = round(problem.radius * (count - 1))
    for along in range(problem.dimension):
        padded = np.pad(
            lowest,
            [(reach, reach) if i == along else (0, 0) for i in range(problem.dimension)],
            constant_values=np.inf,
        )
        lowest = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=along).min(axis=-1)
    best = np.unravel_index(int(np.argmax(lowest)), lowest.shape)
    return mesh[best], float(lowest[best])


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One whole run; GP-UCB and its robust choice evaluate the same points, and noise of a seed is the same for all."""
    task = PROBLEMS[problem]
    n = n or task.trials
    chosen = (
        StableOpt(perturbation=task.radius, kernel=KERNEL, noise=NOISE)
        if method == "StableOpt"
        else GPUCB(kernel=KERNEL, noise=NOISE, scale=0.2)
    )
    search = chosen.start(Domain.cube(task.dimension), seed)
    x, y = np.empty((n, task.dimension)), np.empty(n)
    for i in range(n):
        x[i] = search.ask(i, x[:0]).x
        y[i] = task.function(x[i][None, :])[0] + NOISE * generator(seed, i, 71).normal()
        search.tell(Observation(i, x[i], y[i : i + 1]))
    interval: tuple[float, float] | None = None
    if method == "GP-UCB + robust choice":
        choice = robust_choice(Domain.cube(task.dimension), x, y, None, task.radius, seed)
        point, interval = choice.point, choice.worst_interval
    else:
        point = search.recommend().x
        case = search.explain().get("worst case")
        interval = tuple(case["credible interval"]) if isinstance(case, dict) else None
    value, (peak, best) = worst(task, point), truth(problem)
    return {
        "point": [float(f"{coordinate:.6g}") for coordinate in point],
        "value": float(f"{task.function(point[None, :])[0]:.6g}"),
        "worst": float(f"{value:.6g}"),
        "regret": float(f"{best - value:.6g}"),
        "broad": bool((np.abs(point - peak) <= 2 * task.radius).all()),
        "interval": None if interval is None else [float(f"{side:.6g}") for side in interval],
        "held": None if interval is None else bool(interval[0] <= value <= interval[1]),
    }


def report(rows: list[Row]) -> str:
    """Two Markdown tables: each method on each problem, and paired differences of worst cases with GP-UCB's."""
    lines = [
        "| problem | recommendation | runs | at the broad peak | mean f | mean worst case | best worst case"
        " | 90 % interval held |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, method in product(PROBLEMS, METHODS):
        group = [row for row in rows if (row["problem"], row["method"]) == (name, method)]
        if not group:
            continue
        held = [bool(row["held"]) for row in group if row["held"] is not None]
        lines.append(
            f"| {name} | {method} | {len(group)} | {np.mean([bool(row['broad']) for row in group]):.0%}"
            f" | {_mean(group, 'value'):.3f} | {_mean(group, 'worst'):.3f} | {truth(name)[1]:.3f}"
            f" | {f'{np.mean(held):.0%}' if held else '–'} |"
        )
    lines += ["", "| problem | worst case of | less that of GP-UCB |", "|---|---|---|"]
    for name, method in product(PROBLEMS, ("StableOpt", "GP-UCB + robust choice")):
        pairs = pairs_of(
            [row for row in rows if row["problem"] == name], "worst", {"method": method}, {"method": "GP-UCB"}
        )
        if pairs:
            lines.append(f"| {name} | {method} | {words(difference(pairs), 3)} |")
    return "\n".join(lines)


def _mean(group: list[Row], key: str) -> float:
    return float(np.mean([float(str(row[key])) for row in group]))


def cells(runs: int, n: int = 0) -> list[Cell]:
    """The grid; n = 0 stands for each problem's own number of trials."""
    return [
        {"method": method, "problem": problem, "seed": seed, "n": n}
        for seed, problem, method in product(range(runs), PROBLEMS, METHODS)
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 8))
    elif chosen.report:
        rows = finished("robust")
    else:
        rows = complete("robust", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
