"""What does a partition cost in regret, and what does it save in time? pi-GP-UCB beside exact GP-UCB, n = 2,000.

    python experiments/partitioned.py [--smoke] [--runs 20] [--workers 2] [--report]

Functions: "rough" draws (see experiments/rates.py) of norm exactly B = 1 of Matérn 3/2 and 5/2 with length-scale .3,
D = 2; sigma = .1, delta = .05. Function and noise of a seed are the same for every method.

Two settings.

lattice
    Every method maximises its index over the same 4,096 points (64 x 64): with two thousand observations the library's
    own search takes many minutes a run for climbing between them. The exact posterior over the points is updated by one
    observation at a time, O(4,096 t) for observation t. A cell of the partition does the same for the points and
    observations inside it, by the same code; so what is timed is the arithmetic of the posterior. Regret is against the
    maximum on the cube.
cube
    The library's own searches, PiGPUCB and IGPUCB, over the cube, n = 500, for the time of one seed of Matérn 3/2. Here
    the time includes evaluating f.

Methods. IGP-UCB: mu + beta_t sigma with lambda = 1 + 2/n and beta_t = B + sigma sqrt(2 (gamma + 1 + log(1/delta))) of
the realised gain. pi-GP-UCB: the same in each cell, with the cell's gain and the cell's share of delta; with its
default capacity, and as printed (the cube is split by the first observation; cells halved along one axis in either
case). All start at the same random point. Recommended is the evaluated point whose 90 % credible interval under lambda
= sigma^2 has the highest lower end, which is PiGPUCB's rule, given all observations, or those in the point's cell.
(IGPUCB itself recommends the highest mean.)

Simple regret at n depends on a few last draws of the noise: beside it stands its mean over the recommendations at n/2,
n/2 + n/8, ..., n. Ratios are geometric means of pairs with 95 % bootstrap intervals over seeds; regrets below
sigma/sqrt(n) count as that, since n observations resolve no less. Time is CPU time of asking and telling, one thread.
Finished runs are kept in experiments/results/partitioned.jsonl.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt
from typing import Protocol

import numpy as np
from paired import pairs_of, ratio, words
from rates import DELTA, LATTICE, NOISE, NORM, PROBLEMS, STREAM_FIRST, STREAM_NOISE, ManyPoints, function, lattice

import quadrat as qd
from quadrat._core.arrays import Array, Ints
from quadrat.gp.splitting import SplittingRule
from quadrat.methods.base import CREDIBLE, Domain, Observation
from quadrat.methods.ucb.pi_gp_ucb import PiGPUCB
from quadrat.randomness import generator

NAME = "partitioned"
KERNELS, DIMENSION = ("matern-3/2", "matern-5/2"), 2
METHODS = ("exact", "pi", "pi-printed")
TITLES = {"exact": "IGP-UCB, exact", "pi": "pi-GP-UCB", "pi-printed": "pi-GP-UCB, capacity 1"}
N, CUBE_N = 2000, 500
PARTS = 4  # of the second half of a run, after each of which a point is recommended
LEAST_ROWS = 32


def method_of(name: str, kernel: str, n: int) -> PiGPUCB:
    """The method with the assumptions of the experiment."""
    made = PiGPUCB(
        kernel=PROBLEMS[kernel, DIMENSION], norm_bound=NORM, noise=NOISE, delta=DELTA, budget=n, standardise=False,
        n_initial=1,
    )  # fmt: skip
    return replace(made, capacity=1.0) if name == "pi-printed" else made


class Chooser(Protocol):
    """What chooses among the points of the lattice."""

    def ask(self) -> int:
        """Return the number of the point of highest index."""

    def tell(self, j: int, y: float) -> None:
        """Take in y at point j."""

    def groups(self) -> list[list[tuple[int, float]]]:
        """Return the observations, (point, value), that share a posterior."""


class Exact:
    """IGP-UCB over fixed points, (A, D)."""

    def __init__(self, method: PiGPUCB, points: Array, n: int) -> None:
        kernel = method.form_of_kernel
        assert isinstance(kernel, qd.kernels.Kernel)
        self.posterior = ManyPoints(kernel, points, method.regulariser(NOISE**2), n)
        self.told: list[tuple[int, float]] = []

    def ask(self) -> int:
        """The point of highest index."""
        beta = NORM + NOISE * sqrt(2 * (self.posterior.gain + 1 + log(1 / DELTA)))
        return int(np.argmax(self.posterior.mean + beta * np.sqrt(np.maximum(self.posterior.variance, 0.0))))

    def tell(self, j: int, y: float) -> None:
        """Take in y at point j."""
        self.posterior.observe(j, y)
        self.told.append((j, y))

    def groups(self) -> list[list[tuple[int, float]]]:
        """All observations share one posterior."""
        return [self.told]


@dataclass
class Part:
    """A cell with the points of the lattice that lie in it."""

    ids: Ints  # of its points, ascending
    lower: Array
    upper: Array
    depth: int
    posterior: ManyPoints
    told: list[tuple[int, float]] = field(default_factory=list)
    best: tuple[float, int] = (0.0, 0)  # the highest index and the point there

    def add(self, j: int, y: float) -> None:
        """Observe y at point j."""
        if self.posterior.count == len(self.posterior.rows):
            self.posterior.rows = np.concatenate([self.posterior.rows, np.empty_like(self.posterior.rows)])
        self.posterior.observe(int(np.searchsorted(self.ids, j)), y)
        self.told.append((j, y))


class Partitioned:
    """pi-GP-UCB over fixed points, (A, D): a cell's index is computed anew when the cell is told something."""

    def __init__(self, method: PiGPUCB, points: Array) -> None:
        kernel = method.form_of_kernel
        assert isinstance(kernel, qd.kernels.Kernel)
        self.method, self.kernel, self.points = method, kernel, points
        dimension = points.shape[1]
        self.rule: SplittingRule = method.rule(kernel, dimension)
        self.regulariser = method.regulariser(NOISE**2)
        root = self._part(np.arange(len(points)), np.zeros(dimension), np.ones(dimension), 0)
        self.parts = [root]
        self.owner: list[Part] = [root] * len(points)

    def _part(self, ids: Ints, lower: Array, upper: Array, depth: int) -> Part:
        part = Part(ids, lower, upper, depth, ManyPoints(self.kernel, self.points[ids], self.regulariser, LEAST_ROWS))
        self._rank(part)
        return part

    def _rank(self, part: Part) -> None:
        posterior = part.posterior
        beta = self.method.multiplier(posterior.gain, part.depth, NOISE)
        index = posterior.mean + beta * np.sqrt(np.maximum(posterior.variance, 0.0))
        at = int(np.argmax(index))
        part.best = float(index[at]), int(part.ids[at])

    def ask(self) -> int:
        """The point of highest index."""
        return max(self.parts, key=lambda part: part.best[0]).best[1]

    def tell(self, j: int, y: float) -> None:
        """Take in y at point j; split whatever is due."""
        self.owner[j].add(j, y)
        due = [self.owner[j]]
        while due:
            part = due.pop()
            if self.rule.due(len(part.told), part.depth):
                due += self._split(part)
            else:
                self._rank(part)

    def _split(self, part: Part) -> list[Part]:
        (axis,) = self.rule.axes(part.depth)
        middle = 0.5 * (part.lower[axis] + part.upper[axis])
        above = self.points[part.ids, axis] >= middle
        made = []
        for side, is_upper in ((~above, False), (above, True)):
            if not side.any():  # no point of the lattice: nothing there can be chosen
                continue
            lower, upper = part.lower.copy(), part.upper.copy()
            (lower if is_upper else upper)[axis] = middle
            made.append(self._part(part.ids[side], lower, upper, part.depth + 1))
            for i in made[-1].ids:
                self.owner[i] = made[-1]
        for j, y in part.told:
            self.owner[j].add(j, y)
        self.parts = [other for other in self.parts if other is not part] + made
        return made

    def groups(self) -> list[list[tuple[int, float]]]:
        """The observations of each cell that has any."""
        return [part.told for part in self.parts if part.told]


def recommended(kernel: qd.kernels.Kernel, points: Array, groups: Sequence[Sequence[tuple[int, float]]]) -> int:
    """The evaluated point of the highest lower end of its credible interval, given the observations of its group."""
    best, at = -np.inf, -1
    for told in groups:
        seen, which = np.unique([j for j, _ in told], return_inverse=True)
        counts = np.bincount(which)
        gp = qd.gp.GaussianProcess(kernel, noise_variance=NOISE**2)
        gp.add(points[seen], np.bincount(which, [y for _, y in told]) / counts, NOISE**2 / counts)  # repeats merged
        belief = gp.predict(points[seen])
        lower = belief.mean - CREDIBLE * belief.deviation
        if lower.max() > best:
            best, at = float(lower.max()), int(seen[np.argmax(lower)])
    return at


def run(setting: str, kernel: str, method: str, seed: int, n: int) -> Row:
    """One whole run: regrets, CPU time, the number of cells and the most observations in one."""
    return on_lattice(kernel, method, seed, n) if setting == "lattice" else on_cube(kernel, method, seed, n)


def on_lattice(kernel: str, method: str, seed: int, n: int) -> Row:
    """A run over the lattice."""
    f, points = function(kernel, DIMENSION, seed), lattice(LATTICE[DIMENSION], DIMENSION)
    values = f.values(points)
    top = max(float(values.max()), f.maximum()[1])
    known, noise = PROBLEMS[kernel, DIMENSION], NOISE * generator(seed, STREAM_NOISE).standard_normal(n)
    configured = method_of(method, kernel, n)
    start = time.process_time()
    chooser: Chooser = Exact(configured, points, n) if method == "exact" else Partitioned(configured, points)
    spent = time.process_time() - start
    first = int(generator(seed, STREAM_FIRST).integers(len(points)))
    ends = {n // 2 + i * (n // 2) // PARTS for i in range(PARTS)} | {n}
    total, simple = 0.0, []
    for i in range(n):
        start = time.process_time()
        j = chooser.ask() if i else first
        chooser.tell(j, float(values[j]) + noise[i])
        spent += time.process_time() - start
        total += top - float(values[j])
        if i + 1 in ends:
            simple.append(top - float(values[recommended(known, points, chooser.groups())]))
    sizes = [len(group) for group in chooser.groups()]
    cells = len(chooser.parts) if isinstance(chooser, Partitioned) else 1
    return _row(total, simple, spent, cells, max(sizes))


def on_cube(kernel: str, method: str, seed: int, n: int) -> Row:
    """A run of the library's own search over the cube."""
    f, noise = function(kernel, DIMENSION, seed), NOISE * generator(seed, STREAM_NOISE).standard_normal(n)
    top = f.maximum()[1]
    known, none = PROBLEMS[kernel, DIMENSION], np.empty((0, DIMENSION))
    exact = qd.research.IGPUCB(
        kernel=known, norm_bound=NORM, noise=NOISE, delta=DELTA, budget=n, standardise=False, n_initial=1
    )
    search = (exact if method == "exact" else method_of(method, kernel, n)).start(Domain.cube(DIMENSION), seed)
    total, spent = 0.0, 0.0
    for i in range(n):
        start = time.process_time()
        x = search.ask(i, none).x
        value = float(f(x))
        search.tell(Observation(i, x, np.array([value + noise[i]])))
        spent += time.process_time() - start
        total += top - value
    explained = search.explain()
    cells = explained.get("cells", [{"observations": n}])
    assert isinstance(cells, list)
    simple = [top - float(f(search.recommend().x))]
    return _row(total, simple, spent, len(cells), max(cell["observations"] for cell in cells))


def _row(cumulative: float, simple: list[float], cpu: float, cells: int, largest: int) -> Row:
    return {
        "cumulative": _short(cumulative), "simple": _short(simple[-1]), "steady": _short(float(np.mean(simple))),
        "cpu": _short(cpu), "cells": cells, "largest": largest,
    }  # fmt: skip


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def report(rows: list[Row]) -> str:
    """Markdown tables: regrets and time of each method, their ratios to the exact one, and the time over the cube."""
    lines = [
        "| kernel | method | seeds | cumulative regret | simple regret | its mean over the second half | CPU s | cells"
        " | largest cell |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    on = {setting: [row for row in rows if row["setting"] == setting] for setting in ("lattice", "cube")}
    for kernel in KERNELS:
        for method in METHODS:
            group = [row for row in on["lattice"] if (row["kernel"], row["method"]) == (kernel, method)]
            if group:
                lines.append(f"| {kernel} | {TITLES[method]} | {len(group)} | {_means(group)} |")
    lines += [
        "",
        "| kernel | method / exact | cumulative regret | simple regret | its mean over the second half | CPU time |",
        "|---|---|---|---|---|---|",
    ]
    for kernel in KERNELS:
        for method in METHODS[1:]:
            mine = [row for row in on["lattice"] if row["kernel"] == kernel]
            if pairs_of(mine, "cpu", {"method": method}, {"method": "exact"}, "kernel"):
                lines.append(f"| {kernel} | {TITLES[method]} | {_ratios(mine, method)} |")
    for row in on["cube"]:
        lines += [] if row is not on["cube"][0] else ["", f"Over the cube, n = {row['n']}, one seed:", ""]
        lines.append(
            f"- {TITLES[str(row['method'])]}: {row['cpu']} s, cumulative regret {row['cumulative']}, simple regret"
            f" {row['simple']}, cells {row['cells']}, largest {row['largest']}"
        )
    return "\n".join(lines)


def _means(group: list[Row]) -> str:
    def of(key: str) -> list[float]:
        return [float(str(row[key])) for row in group]

    return (
        f"{np.mean(of('cumulative')):.1f} | {np.mean(of('simple')):.4f} | {np.mean(of('steady')):.4f}"
        f" | {np.mean(of('cpu')):.2f} | {np.median(of('cells')):.0f} | {max(of('largest')):.0f}"
    )


def _ratios(rows: list[Row], method: str) -> str:
    least = NOISE / sqrt(float(str(rows[0]["n"])))
    measures = {"cumulative": 1e-6, "simple": least, "steady": least, "cpu": 1e-6}
    return " | ".join(
        words(ratio(pairs_of(rows, measure, {"method": method}, {"method": "exact"}, "kernel"), floor), 3)
        for measure, floor in measures.items()
    )


def cells(runs: int, n: int = N, cube_n: int = CUBE_N) -> list[Cell]:
    """The grid: `runs` seeds of every kernel and method on the lattice, one on the cube."""
    kinds = [
        {"setting": "lattice", "kernel": kernel, "method": method, "seed": seed, "n": n}
        for seed in range(runs)
        for kernel in KERNELS
        for method in METHODS
    ]
    cube = [
        {"setting": "cube", "kernel": KERNELS[0], "method": method, "seed": 0, "n": cube_n} for method in METHODS[:2]
    ]
    return [*kinds, *cube]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 40, 12))
    elif chosen.report:
        rows = finished(NAME)
    else:
        rows = complete(NAME, run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
