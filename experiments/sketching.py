"""What does a sketched posterior cost in regret, and what does it save in time? BKB beside exact GP-UCB, 20 seeds.

    python experiments/sketching.py [--smoke] [--runs 20] [--workers 2] [--report]

Problems: functions of norm exactly B = 1, "rough" draws (many peaks nearly as high as the highest), sigma = .1,
delta = .05, n = 2,000: Matérn 5/2, length-scale .3, D = 2; squared exponential, length-scale .5, D = 3; and Matérn 5/2,
length-scale .6, D = 3, whose effective dimension is twice that of the others (four seeds): the limit of what a sketch
saves at this n. Function, noise and candidates of a seed are the same for all methods.

What is compared.

    exact       GP-UCB with the exact posterior (`quadrat.gp.GaussianProcess`), lambda = 16 sigma^2/B^2 and
                beta = B + (sigma/sqrt lambda) sqrt(log det(I + K/lambda) + 2 log(1/delta)).
    BKB         the same with the sketched posterior (`SketchedProcess`), its log det, and the default `Sketch()`.
    LP one band, LP default, LP sketched
                LPGPUCB, k = 0, with one adaptive band, with local bands (the default at this n), and with a sketch.
                D = 2 only; one band on four seeds.
    IGPUCB public, IGPUCB public sketched
                the library's own IGPUCB through `quadrat.Optimizer`, with and without a sketch, one seed, D = 2,
                lambda = 1 + 2/n, n = 500 (an exact run of 2,000 takes the better part of an hour): what the ratio of
                times is where the index is climbed, as users have it.

exact and BKB maximise their index in the same way, which is cheaper than the library's: over 128 uniform points, fresh
at each step, then over 32 points around the best at distance .05, and 32 more at .01. Climbing with gradients takes an
exact run minutes.

Measured: simple regret of the recommended point (the evaluated one of highest mean under sigma^2; LP-GP-UCB's own),
cumulative regret, CPU seconds of all asking and telling, and, for BKB at the end, the size of the dictionary beside
d_eff = tr K (K + lambda I)^-1, and the ratio of sketched to exact variances at 2,000 uniform points, beside the factor
alpha = 3 of the theorem (epsilon = .5), which is about a q far above the default. Finished runs are kept in
experiments/results/sketching.jsonl.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from dataclasses import replace
from math import log, sqrt
from time import process_time

import numpy as np
from paired import pairs_of, ratio, words

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.methods import IGPUCB, LPGPUCB
from quadrat.methods.base import Domain, Observation, Search
from quadrat.methods.lp.method import information_gain
from quadrat.methods.lp.search import CellOptions, CertifiedSearch
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

NAME = "sketching"
NOISE, NORM, DELTA = 0.1, 1.0, 0.05
REGULARISER = 16 * NOISE**2 / NORM**2
PROBLEMS: dict[str, tuple[qd.kernels.Kernel, int]] = {
    "Matérn 5/2, D = 2": (qd.Matern(2.5, 0.3), 2),
    "squared exponential, D = 3": (qd.SquaredExponential(0.5), 3),
    "Matérn 5/2, D = 3": (qd.Matern(2.5, 0.6), 3),
}
UCB, LP = ("exact", "BKB"), ("LP one band", "LP default", "LP sketched")
PUBLIC = ("IGPUCB public", "IGPUCB public sketched")
N, PUBLIC_N = 2000, 500
FEWER = 4  # seeds of the third problem and of LP-GP-UCB with one band, which take long
COMPARED = (("BKB", "exact"), ("LP sketched", "LP one band"), ("LP sketched", "LP default"), PUBLIC[::-1])
UNIFORM, NEAR, STEPS = 128, 32, (0.05, 0.01)
ALPHA = Sketch().alpha
_F, _NOISE, _CANDIDATES, _POINTS = 80, 81, 82, 83  # streams of a seed


class UpperBound:
    """GP-UCB with one posterior or the other."""

    def __init__(self, gp: GaussianProcess, dimension: int, seed: int) -> None:
        self.gp, self.dimension, self.seed = gp, dimension, seed

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        rng = generator(self.seed, _CANDIDATES, i)
        gained = (self.gp.logdet if i else 0.0) + 2 * log(1 / DELTA)
        beta = NORM + NOISE / sqrt(REGULARISER) * sqrt(gained)
        best = self._highest(rng.random((UNIFORM, self.dimension)), beta)
        for step in STEPS:
            around = best + step * rng.standard_normal((NEAR, self.dimension))
            best = self._highest(np.vstack([best, np.clip(around, 0.0, 1.0)]), beta)
        return best

    def _highest(self, points: Array, beta: float) -> Array:
        at = self.gp.predict(points)
        return np.asarray(points[int(np.argmax(at.mean + beta * at.deviation))])

    def tell(self, i: int, x: Array, y: float) -> None:  # noqa: ARG002
        """Take in y at x, shape (D,)."""
        self.gp.add(x[None], [y])

    def recommend(self) -> Array:
        """Return the evaluated point of highest mean under the stated noise."""
        gp, share = self.gp, NOISE**2 / REGULARISER
        if isinstance(gp, SketchedProcess):
            belief: GaussianProcess = gp.with_noise(share)
        else:
            belief = GaussianProcess(gp.kernel, noise_variance=NOISE**2)
            belief.add(gp.x, gp.y, share * gp.noise_variances)
        return np.asarray(belief.x[int(np.argmax(belief.predict_mean(belief.x)))])


class Cells:
    """LP-GP-UCB in one of its forms."""

    def __init__(self, method: str, kernel: qd.kernels.Kernel, dimension: int, n: int, seed: int) -> None:
        plain = LPGPUCB(kernel=kernel, norm_bound=NORM, noise=NOISE, budget=n, degree=0, delta=DELTA)
        self.search: Search
        if method == "LP one band":
            gain = information_gain(kernel, n, NOISE**2, dimension).value
            self.search = CertifiedSearch(
                plain._assumptions(kernel), Domain.cube(dimension), seed,
                CellOptions(budget=n, degree=0, delta=DELTA, threshold=gain / sqrt(n), max_cells=plain.max_cells),
                capacity=None,
            )  # fmt: skip
        else:
            chosen = replace(plain, sketch=Sketch()) if method == "LP sketched" else plain
            self.search = chosen.start(Domain.cube(dimension), seed)
        self.none = np.empty((0, dimension))

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        return self.search.ask(i, self.none).x

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in y at x, shape (D,)."""
        self.search.tell(Observation(i, x, np.array([y])))

    def recommend(self) -> Array:
        """Return the recommended point."""
        return self.search.recommend().x


class Public:
    """IGPUCB through the optimizer."""

    def __init__(self, method: str, kernel: qd.kernels.Kernel, dimension: int, seed: int) -> None:
        sketch = Sketch() if method.endswith("sketched") else None
        space = qd.Space.from_dict({f"x{j}": qd.Float(0, 1) for j in range(dimension)})
        chosen = IGPUCB(
            kernel=kernel, norm_bound=NORM, noise=NOISE, delta=DELTA, budget=N, standardise=False, sketch=sketch
        )
        self.optimizer = qd.Optimizer(space, direction="maximize", method=chosen, seed=seed)

    def ask(self, i: int) -> Array:  # noqa: ARG002
        """Return the point of the next evaluation, shape (D,)."""
        self.trial = self.optimizer.ask()
        return np.array(list(self.trial.params.values()))

    def tell(self, i: int, x: Array, y: float) -> None:  # noqa: ARG002
        """Take in y at the point asked last."""
        self.optimizer.tell(self.trial, y)

    def recommend(self) -> Array:
        """Return the recommended point."""
        return np.array(list(self.optimizer.recommend().params.values()))


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One whole run."""
    kernel, dimension = PROBLEMS[problem]
    f = draw_rkhs_function(kernel, dimension, norm=NORM, rng=generator(seed, _F, dimension), style="rough")
    best = f.maximum()[1]
    noise = NOISE * generator(seed, _NOISE).standard_normal(n)
    gp: GaussianProcess | None = None
    searcher: UpperBound | Cells | Public
    if method in UCB:
        gp = (
            GaussianProcess(kernel, noise_variance=REGULARISER)
            if method == "exact"
            else SketchedProcess(kernel, noise_variance=REGULARISER, seed=seed)
        )
        searcher = UpperBound(gp, dimension, seed)
    elif method in LP:
        searcher = Cells(method, kernel, dimension, n, seed)
    else:
        searcher = Public(method, kernel, dimension, seed)
    cpu, cumulative = 0.0, 0.0
    for i in range(n):
        start = process_time()
        x = searcher.ask(i)
        cpu += process_time() - start
        value = float(f(x))
        cumulative += best - value
        start = process_time()
        searcher.tell(i, x, value + float(noise[i]))
        cpu += process_time() - start
    start = process_time()
    chosen = searcher.recommend()
    cpu += process_time() - start
    facts = accuracy(gp, dimension, seed) if isinstance(gp, SketchedProcess) else {}
    return {
        "simple": _short(max(best - float(f(chosen)), 0.0)), "cumulative": _short(cumulative), "cpu": round(cpu, 2),
        **facts,
    }  # fmt: skip


def accuracy(gp: SketchedProcess, dimension: int, seed: int) -> Row:
    """Compare a sketched posterior with the exact one of the same observations."""
    exact = GaussianProcess(gp.kernel, noise_variance=gp.noise_variance)
    exact.add(gp.x, gp.y, gp.noise_variances)
    K = gp.kernel(gp.x)
    effective = float(np.trace(np.linalg.solve(K + np.diag(gp.noise_variances), K)))
    points = generator(seed, _POINTS).random((2000, dimension))
    factor = (gp.predict(points).deviation / exact.predict(points).deviation) ** 2
    inside = (factor <= ALPHA) & (factor >= 1 / ALPHA)
    return {
        "dictionary": len(gp.dictionary), "effective": _short(effective), "draws": gp.draws,
        "least": _short(float(factor.min())), "most": _short(float(factor.max())),
        "inside": _short(float(inside.mean())),
    }  # fmt: skip


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def report(rows: list[Row]) -> str:
    """Markdown tables: regrets and times, paired ratios, and the accuracy of the sketch."""
    lines = ["| problem | method | runs | mean simple regret | mean cumulative regret | mean CPU seconds |"]
    lines.append("|---|---|---|---|---|---|")
    for problem in PROBLEMS:
        for method in (*UCB, *LP, *PUBLIC):
            group = _group(rows, method, problem)
            if group:
                simple, cumulative, cpu = (_mean(group, key) for key in ("simple", "cumulative", "cpu"))
                lines.append(f"| {problem} | {method} | {len(group)} | {simple:.5f} | {cumulative:.0f} | {cpu:.1f} |")
    lines += ["", "| ratio | problem | simple regret | cumulative regret | CPU time |", "|---|---|---|---|---|"]
    for first, second in COMPARED:
        for problem in PROBLEMS:
            here = [row for row in rows if row["problem"] == problem]
            # A regret of a thousandth of B is as good as none here: ratios of smaller ones say nothing.
            cells = [
                words(ratio(pairs, least))
                for key, least in (("simple", 1e-3), ("cumulative", 1e-6), ("cpu", 1e-6))
                if (pairs := pairs_of(here, key, {"method": first}, {"method": second}))
            ]
            if cells:
                lines.append(f"| {first} / {second} | {problem} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"| problem | dictionary | d_eff | quotient | variances within {ALPHA:g} | least factor | most | draws |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for problem in PROBLEMS:
        group = _group(rows, "BKB", problem)
        if group:
            size, effective, inside, draws = (
                _mean(group, key) for key in ("dictionary", "effective", "inside", "draws")
            )
            least, most = (pick(_values(group, key)) for key, pick in (("least", min), ("most", max)))
            lines.append(
                f"| {problem} | {size:.0f} | {effective:.1f} | {size / effective:.2f} | {inside:.2%} | {least:.2f}"
                f" | {most:.2f} | {draws:.0f} |"
            )
    return "\n".join(lines)


def _group(rows: list[Row], method: str, problem: str) -> list[Row]:
    return [row for row in rows if (row["method"], row["problem"]) == (method, problem)]


def _values(group: list[Row], key: str) -> list[float]:
    return [float(str(row[key])) for row in group]


def _mean(group: list[Row], key: str) -> float:
    return float(np.mean(_values(group, key)))


def cells(runs: int, n: int = N) -> list[Cell]:
    """The grid, seed by seed."""
    plane = next(iter(PROBLEMS))
    grid: list[Cell] = []
    for seed in range(runs):
        named = [name for i, name in enumerate(PROBLEMS) if i < 2 or seed < FEWER]
        grid += [{"method": method, "problem": name, "seed": seed, "n": n} for name in named for method in UCB]
        grid += [
            {"method": method, "problem": plane, "seed": seed, "n": n}
            for method in LP
            if seed < FEWER or method != LP[0]
        ]
        if seed == 0:
            grid += [{"method": name, "problem": plane, "seed": seed, "n": min(n, PUBLIC_N)} for name in PUBLIC]
    return grid


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        print(report(run_here(run, cells(2, 40))))
        return
    print(report(finished(NAME) if chosen.report else complete(NAME, run, cells(chosen.runs), chosen.workers)))


if __name__ == "__main__":
    main()
