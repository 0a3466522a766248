"""How often our default method fails where the best tenth of a space cannot be evaluated, and what it finds elsewhere.

    python benchmarks/failures.py [--smoke] [--write] [--workers 1]

Shifted problems of 2 to 6 dimensions, noise .1. Every evaluation in a ball around the optimum fails; the ball has the
radius with which it is 10 % of the cube. 50 trials, even seeds 0 to 18; three methods:

ours      the default method, which learns where evaluations fail
ignored   the same, but a failed trial is dropped: nothing is learned from it
pending   the same, but a failed trial counts as pending for ever: the point is believed to be at its mean, so that
          its surroundings are less worth asking, as if they had been

Regret is that of the recommended point against the best value outside the ball, which is searched for by brute force.
Runs are kept in benchmarks/results/failures.jsonl and not run again. --write updates benchmarks/results/failures.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from regret.comparison import Comparison, ratio_of_medians, words
from regret.rows import Row, complete, read_rows, recorded, stamp
from regret.task import FunctionTask, Params, regrets
from scipy.optimize import NonlinearConstraint, minimize
from scipy.stats import qmc

import problems
import quadrat as qd
from problems import Problem
from quadrat._core.arrays import Array
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.base import Domain, Method

# Functions with one optimum each, wherever they are shifted to: outside the ball there is none as good.
PROBLEMS = ("goldstein2~", "rastrigin3~", "rosenbrock4~", "ackley5~", "hartmann6~")
TRIALS, SEEDS = 50, tuple(range(0, 20, 2))
VOLUME = 0.1  # of the cube, that fails
LEAST = 0.5  # failures that a run without any counts as, in ratios
_POINTS = 2**14  # that the volume and the best value outside are found with
_CLIMBS = 24  # from the best of them
ROWS = ROOT / "benchmarks" / "results" / "failures.jsonl"
OURS, IGNORED, PENDING = "ours", "ignored", "pending"


@dataclass(frozen=True, kw_only=True)
class DroppingFailures(Auto):
    """The default method, to which a failed trial says nothing."""

    def start(self, domain: Domain, seed: int) -> AutoSearch:
        return _DroppingSearch(self, domain, seed)


class _DroppingSearch(AutoSearch):
    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002  # when it failed does not matter
        """Note that the point is not running, and nothing else."""
        self._failed.add(x.tobytes())


@dataclass(frozen=True, kw_only=True)
class KeepingFailuresPending(Auto):
    """The default method, which waits for failed trials for ever."""

    def start(self, domain: Domain, seed: int) -> AutoSearch:
        return _PendingSearch(self, domain, seed)


class _PendingSearch(AutoSearch):
    def fail(self, number: int, x: Array) -> None:
        """Do nothing: the optimizer names the point among those not worth asking again."""


METHODS: dict[str, Method | None] = {OURS: None, IGNORED: DroppingFailures(), PENDING: KeepingFailuresPending()}


@dataclass(frozen=True)
class Ball:
    """Where evaluations fail: all that is nearer to the centre, shape (D,), than the radius."""

    centre: Array
    radius: float

    @classmethod
    def around_optimum(cls, problem: Problem, volume: float) -> Ball:
        """Return the ball that is such a part of the cube: its radius is a quantile of distances in it."""
        distances = np.linalg.norm(_spread_out(problem.dimension) - problem.optimizers[0], axis=1)
        return cls(problem.optimizers[0], float(np.quantile(distances, volume)))

    def beyond(self, points: Array) -> Array:
        """Return the distances of points (m, D) from the surface, shape (m,); negative inside."""
        return np.asarray(np.linalg.norm(points - self.centre, axis=-1) - self.radius)

    def pushed_out(self, points: Array) -> Array:
        """Return the points of the surface in the direction of each of these, (m, D)."""
        away = points - self.centre
        return np.asarray(self.centre + away * (self.radius / np.linalg.norm(away, axis=1, keepdims=True)))


def best_outside(problem: Problem, ball: Ball) -> float:
    """Return the largest value in the cube outside the ball, as far as a dense search and many climbs find it.

    Where the function rises towards the optimum the best points lie on the surface: those are searched too.
    """
    points = _spread_out(problem.dimension)
    surface = ball.pushed_out(points)
    candidates = np.vstack([points[ball.beyond(points) >= 0], surface[((surface >= 0) & (surface <= 1)).all(axis=1)]])
    values = problem.values(candidates)
    best = float(values.max())
    outside = NonlinearConstraint(ball.beyond, 0.0, np.inf)
    cube = [(0.0, 1.0)] * problem.dimension

    def below(x: Array) -> float:
        return -float(problem.values(x)[0])

    for start in candidates[np.argsort(-values)[:_CLIMBS]]:
        end = np.clip(minimize(below, start, method="SLSQP", bounds=cube, constraints=outside).x, 0.0, 1.0)
        if ball.beyond(end) >= -1e-6:  # it keeps to the surface only so well
            best = max(best, -below(end))
    return best


@cache
def _spread_out(dimension: int) -> Array:
    """Points that fill the cube evenly, shape (_POINTS, D)."""
    return np.asarray(qmc.Sobol(dimension, scramble=True, seed=0).random(_POINTS))


class FailingTask(FunctionTask):
    """A shifted problem whose best tenth fails; `best` is the best value elsewhere."""

    def __init__(self, problem: Problem, ball: Ball, seed: int) -> None:
        best = best_outside(problem, ball)
        super().__init__(lambda u: float(problem.values(u)[0]), problem.dimension, best=best, seed=seed)
        self.ball = ball

    def fails(self, params: Params) -> bool:
        """Whether nothing can be observed there."""
        return bool(self.ball.beyond(self.space.to_unit(params)) < 0)


@cache
def failing_task(name: str, seed: int) -> FailingTask:
    """Return the task of a problem whose name ends with "~", with the optimum where the seed moves it."""
    problem = problems.get(f"{name}{seed}")
    return FailingTask(problem, Ball.around_optimum(problem, VOLUME), seed)


def outcome(task: FailingTask, method: Method | None, seed: int, n: int) -> Row:
    """Run to the end; return the number of failures and the regrets."""
    logging.getLogger("quadrat").setLevel(logging.ERROR)  # every failure is a warning
    optimizer = qd.Optimizer(task.space, direction="maximize", method=method, seed=seed)
    told: list[tuple[Params, float]] = []
    for number in range(n):
        trial = optimizer.ask()
        if task.fails(trial.params):
            optimizer.tell(trial, qd.FAILED)
        else:
            told.append((trial.params, task.observe(trial.params, number)))
            optimizer.tell(trial, told[-1][1])
    regret = regrets(task, told, optimizer.recommend().params)
    return {"best": task.best, "failures": n - len(told), "regret": regret}


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once."""
    cell = (method, problem, seed, n)
    return recorded(cell, lambda: outcome(failing_task(problem, seed), METHODS[method], seed, n))


def tables(rows: Sequence[Row], n: int) -> str:
    """Return the table of medians, and of the ratios of all problems, from the rows with n trials."""
    compared = Comparison([row for row in rows if row["n"] == n])
    lines = []
    pairs: dict[str, list[tuple[Array, Array]]] = {IGNORED: [], PENDING: []}
    for problem in PROBLEMS:
        seeds = set.intersection(*(compared.seeds(method, problem) for method in METHODS))
        if not seeds:
            continue
        count = {(row["method"], row["seed"]): row["failures"] for row in compared.good if row["problem"] == problem}
        counts = {method: np.array([count[method, seed] for seed in sorted(seeds)]) for method in METHODS}
        for other, pair in pairs.items():
            pair.append((counts[OURS], counts[other]))
        failures = (f"{np.median(counts[method]):g}" for method in METHODS)
        regret = (f"{np.median(compared.regrets(method, problem, 'recommended', seeds)):.3g}" for method in METHODS)
        lines.append((problem, str(len(seeds)), *failures, *regret))
    head = ("problem", "seeds", f"failures of {n}, ours", IGNORED, PENDING, "regret, ours", IGNORED, PENDING)
    ratios = []
    for other, pair in pairs.items():
        failures_ratio = words(ratio_of_medians(pair, least=LEAST), len(PROBLEMS))
        regret_ratio = words(compared.ratio(OURS, other, PROBLEMS, "recommended"), len(PROBLEMS))
        ratios.append((f"ours / {other}", failures_ratio, regret_ratio))
    every = table(("all problems, geometric mean", "failures", "regret"), ratios)
    failed = sum("error" in row for row in rows)
    note = f"\n\nLeft out: {failed} of {len(rows)} runs, which raised an error." if failed else ""
    return f"{table(head, lines)}\n\n{every}{note}"


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        print(tables([run(method, problem, 0, 8) for problem in PROBLEMS[:2] for method in METHODS], 8))
        return
    cells = [(method, problem, seed, TRIALS) for seed in SEEDS for problem in PROBLEMS for method in METHODS]
    stamp(())  # before anything runs: what runs is what is on disk now
    complete(ROWS, run, cells, workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    measured = f"medians over seeds, 95 % bootstrap intervals; rows of {commits}"
    title = "Where the best tenth of a space fails"
    publish("failures", title, tables(rows, TRIALS), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
