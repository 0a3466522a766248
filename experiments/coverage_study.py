"""Does anything that is certified ever fail? Whole runs of many kinds, every statement checked at every step.

    python experiments/coverage_study.py [--smoke] [--runs 1000] [--workers 2] [--report]

Each run draws its setting from its seed: the kernel (Matérn 1/2, 3/2, 5/2, squared exponential, rational quadratic),
length-scale .15 to .6, D = 1 to 3, sigma (.02, .1, .5, 1), f of norm exactly B = 1, noise at sigma (Gaussian, signs, or
uniform and narrower), n = 15 to 60, and what chooses the points:

- LP: LP-GP-UCB of degree 0 or 1, with its own certificate (band, averages, polynomials); one point at a time, in
  batches of 3, in a context, or under a known constraint;
- Sobol, random: points that know nothing; random points come in pairs of replicates;
- Auto: the default method, whose points are certified afterwards by a band;
- adversary: knows f, and evaluates where the band is nearest to failing, or at the worst point.

Checked after every evaluation, delta = .05: the intervals at 48 points, at the maximiser and at the points evaluated;
the bound of the maximum; the certificate of the recommended point; and, by pairs, that of a point which the run chose
with f known, to be as bad as it can. A run in which any of these fails once counts, as does one in which the data
reject the (true) assumptions.

Finished runs are kept as JSON lines in experiments/results/coverage_study.jsonl and not run again; --report prints the
table.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from typing import Any

import numpy as np
from scipy.stats import binomtest, qmc

import quadrat as qd
from quadrat._core.arrays import Array, Bools
from quadrat.confidence import AdaptiveBand, Assumptions, Band, Certificate, certified_gap, certify
from quadrat.kernels import Kernel, Matern, RationalQuadratic, SquaredExponential
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

DELTA, SLACK = 0.05, 1e-9
CHOOSERS = ("LP", "LP, batches of 3", "LP, contexts", "LP, constraint", "Sobol", "random", "Auto", "adversary")
EFFORT: dict[str, Any] = {"max_cells": 256, "tolerance": 0.01}


def kernel_of(rng: np.random.Generator) -> Kernel:
    """One of the kernels, with a length-scale from .15 to .6."""
    scale = float(np.exp(rng.uniform(np.log(0.15), np.log(0.6))))
    kinds: list[Kernel] = [
        Matern(0.5, scale),
        Matern(1.5, scale),
        Matern(2.5, scale),
        SquaredExponential(scale),
        RationalQuadratic(1.0, scale),
    ]
    return kinds[int(rng.integers(len(kinds)))]


def allowed(points: Array) -> Bools:
    """The known constraint: a disc of radius .35 about (.6, ..., .6)."""
    return np.asarray(((points - 0.6) ** 2).sum(axis=1) <= 0.35**2)


class Chooser:
    """What picks the points of a run, and what is certified of them."""

    def __init__(self, kind: str, given: Assumptions, D: int, n: int, seed: int, f: RKHSFunction) -> None:
        self.kind, self.given, self.D, self.seed, self.f = kind, given, D, seed, f
        self.rng = generator(seed, 91)
        self.search: Any = None
        self.context: Array | None = None
        if kind.startswith("LP"):
            domain = Domain.cube(D)
            if kind == "LP, contexts":
                domain = Domain(tuple(Axis() for _ in range(D)), context=(D - 1,))
            elif kind == "LP, constraint":
                domain = Domain(tuple(Axis() for _ in range(D)), feasible=allowed)
            degree = seed % 2 if given.kernel.holder().exponent == 1.0 else 0
            method = LPGPUCB(
                kernel=given.kernel, norm_bound=1.0, noise=given.noise, budget=n, degree=degree, delta=DELTA
            )
            self.search = method.start(domain, seed)
        self.own = AdaptiveBand(given, DELTA)
        self.sobol = qmc.Sobol(D, rng=self.rng).random(64)
        space = qd.Space(**{f"x{i}": qd.Float(0, 1) for i in range(D)})
        self.optimizer = qd.Optimizer(space, direction="maximize", seed=seed) if kind == "Auto" else None
        self.queue: list[Any] = []

    @property
    def band(self) -> Band:
        """What bounds f."""
        return self.own if self.search is None else self.search.band

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        if self.search is not None:
            if self.kind == "LP, contexts":
                self.context = np.append(np.full(self.D - 1, np.nan), (0.2, 0.5, 0.9)[i % 3])
                return np.asarray(self.search.ask(i, np.empty((0, self.D)), self.context).x)
            if self.kind == "LP, batches of 3":
                if not self.queue:
                    for j in range(3):
                        self.queue.append(self.search.ask(i + j, np.array(self.queue).reshape(-1, self.D)).x)
                return np.asarray(self.queue.pop(0))
            return np.asarray(self.search.ask(i, np.empty((0, self.D))).x)
        if self.optimizer is not None:
            self.queue = [self.optimizer.ask()]
            return np.array([self.queue[0].params[f"x{j}"] for j in range(self.D)])
        if self.kind == "Sobol":
            return np.asarray(self.sobol[i])
        if self.kind == "random":
            self.queue = self.queue or [self.rng.random(self.D)] * 2
            return np.asarray(self.queue.pop())
        points = self.rng.random((32, self.D))
        truth, at = self.f.values(points), self.own.interval(points)
        margin = np.minimum(at.upper - truth, truth - at.lower)
        return np.asarray(points[np.argmin(margin if i % 3 else truth)])

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in the value y observed at x, shape (D,)."""
        if self.search is not None:
            self.search.tell(Observation(i, x, np.array([y])))
            return
        if self.optimizer is not None:
            self.optimizer.tell(self.queue.pop(), y)
        self.own.add(x[None], [y])

    def certificate(self) -> Certificate:
        """Return the certificate of the recommended point."""
        if self.search is None:
            return certify(self.own, dimension=self.D, **EFFORT)
        found = self.search.certificate(self.search.recommend(self.context).x)
        assert isinstance(found, Certificate)
        return found


def run(seed: int, n: int = 0) -> Row:
    """One run, of n evaluations where that is positive: its setting, what failed, and the certificate at the end."""
    rng = generator(seed, 90)
    kind, kernel = CHOOSERS[seed % len(CHOOSERS)], kernel_of(rng)
    D = int(rng.integers(2 if kind == "LP, contexts" else 1, 4))
    noise = float(rng.choice([0.02, 0.1, 0.5, 1.0]))
    drawn = int(rng.choice([15, 30, 60] if kind != "Auto" else [12, 20]))
    n = n or drawn
    errors = int(rng.integers(3))
    f = draw_rkhs_function(kernel, D, norm=1.0, rng=rng)
    best_x, best = f.maximum()
    chooser = Chooser(kind, Assumptions(kernel, 1.0, noise), D, n, seed, f)
    probes = np.vstack([rng.random((48, D)), best_x[None]])
    failed: set[str] = set()
    value = float("nan")
    for i in range(n):
        x = chooser.ask(i)
        eta = (rng.normal(), rng.choice([-1.0, 1.0]), rng.uniform(-1, 1))[errors]
        chooser.tell(i, x, float(f.values(x[None])[0]) + noise * float(eta))
        band, points = chooser.band, np.vstack([probes, chooser.band.x])
        truth, at = f.values(points), band.interval(points)
        if ((truth > at.upper + SLACK) | (truth < at.lower - SLACK)).any():
            failed.add("interval")
        found = chooser.certificate()
        value = found.value
        if found.rejection is not None:
            failed.add("rejected")
            continue
        top = best
        if chooser.context is not None:
            within = np.tile(chooser.context, (4001, 1))
            within[:, :-1] = generator(seed, i, 92).random((4001, D - 1))
            top = float(f.values(within).max())  # from below
        if top - float(f.values(found.point[None])[0]) > value + SLACK:
            failed.add("certificate")
        if top > found.maximum + SLACK:
            failed.add("maximum")
        worst = points[np.argmin(truth if i % 2 else at.lower - truth)]
        gap = certified_gap(band, worst, dimension=D, **EFFORT)
        if best - float(f.values(worst[None])[0]) > gap.value + SLACK:
            failed.add("pair")
    return {
        "chooser": kind, "kernel": repr(kernel), "D": D, "sigma": noise, "n": n,
        "errors": ("normal", "signs", "uniform")[errors], "failed": sorted(failed),
        "certificate": float(f"{value:.6g}") if np.isfinite(value) else None,
    }  # fmt: skip


def report(rows: list[Row]) -> str:
    """A Markdown table: runs and failures of each kind."""
    lines = ["| points chosen by | runs | steps checked | violated | rejected |", "|---|---|---|---|---|"]
    for kind in (*CHOOSERS, "all"):
        group = [row for row in rows if kind in ("all", row["chooser"])]
        if not group:
            continue
        failures = [row["failed"] for row in group]
        assert all(isinstance(some, list) for some in failures)
        violated = sum(bool(set(some) - {"rejected"}) for some in failures if isinstance(some, list))
        rejected = sum("rejected" in some for some in failures if isinstance(some, list))
        steps = sum(int(str(row["n"])) for row in group)
        lines.append(f"| {kind} | {len(group):,} | {steps:,} | {violated} | {rejected} |")
    total = len(rows)
    wrong = sum(bool(row["failed"]) for row in rows)
    high = binomtest(wrong, total).proportion_ci(0.95, method="exact").high if total else 1.0
    lines.append("")
    lines.append(
        f"{wrong} of {total:,} runs failed: at most {high:.2%} with 95 % confidence; promised are {DELTA:.0%}."
    )
    return "\n".join(lines)


def cells(runs: int) -> list[Cell]:
    """The grid: one run a seed."""
    return [{"seed": seed} for seed in range(runs)]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=1000)
    if chosen.smoke:
        rows = run_here(run, [{**cell, "n": 6} for cell in cells(8)])
    else:
        rows = (
            finished("coverage_study")
            if chosen.report
            else complete("coverage_study", run, cells(chosen.runs), chosen.workers)
        )
    print(report(rows))


if __name__ == "__main__":
    main()
