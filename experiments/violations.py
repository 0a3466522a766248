"""How often do bounds fail, and how wide are they? Violation rates over 1,000 runs of every bound.

    python experiments/violations.py [--smoke] [--runs 1000] [--workers 2] [--report]

f is drawn with ||f||_K = B = 1 exactly (Matérn 5/2, length-scale .3, s = 1), D = 1 and 2, Gaussian noise sigma = 1 and
.1, delta = .1. A run violates a bound when f leaves it at any of 60 points after any of the observations: the
statement of every bound here is for all x and all times at once. The points are drawn anew for every run and hold the
design, which is adaptive: the next point is the one with the largest upper bound, so that it depends on the noise seen
so far. 25 observations for bands over the cube, 40 for bounds over a cell. f, points and noise of a seed are the same
for all bounds over the same set.

- adaptive band, simple band (lambda = sigma^2, its default, and lambda = 16 sigma^2/B^2, the adaptive band's): as in
  `quadrat.confidence`, clipped to +- B s = 1; the others are not clipped, and can be wider.
- Chowdhury and Gopalan (2017): as published, lambda = 1 + 2/n, with the gain that the points realised for gamma_t.
- printed beta: the same multiplier around the posterior with lambda = sigma^2, the customary reading of the paper,
  which states no lambda. Nothing promises that it holds.
- cell average, local polynomials of degree 0, 1, 2 over the cell [0, .5]^D, with the whole delta for that cell. The
  average's upper bound is the same all over its cell; there, points alternate between a random one and the one with the
  highest observation so far.
- GP-UCB: Srinivas et al. (2012), theorem 1, for the 60 points as arms: mu +- sqrt(beta_t) sigma with lambda = sigma^2.
  It holds for f drawn from the process, not for a fixed f: its beta knows nothing of ||f||. So it is run with
  ||f|| = 1, and once more with ||f|| = 10.

The second table is the sharp case: all observations at one point, f = +-.05 there, sigma = 1, 2,000 random walks. Every
bound is then the boundary of one walk, in closed form, and the share that crosses it by N observations shows how much
of delta is used; the clip to +- B s is left out.

One row is 100 runs of one bound. Finished rows are kept as JSON lines in experiments/results/violations.jsonl and not
run again; --report prints the tables from that file alone.
"""

from __future__ import annotations

from grid import Cell as GridCell, Row, complete, finished, options, run_here  # isort: skip  # sets BLAS threads

from collections.abc import Callable
from itertools import product
from typing import Protocol

import numpy as np
from scipy.stats import binomtest

import quadrat as qd
from quadrat._core.arrays import Array, ArrayLike
from quadrat.confidence import (
    AdaptiveBand,
    Assumptions,
    ChowdhuryGopalanBand,
    Interval,
    LocalPolynomial,
    SimpleBand,
    cell_average,
)
from quadrat.confidence.bands import LADDER, default_regulariser
from quadrat.methods import GPUCB
from quadrat.methods.ucb.gp_ucb import Finite
from quadrat.partition import Cell
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL, DELTA = qd.Matern(2.5, 0.3), 0.1
POINTS, BLOCK = 60, 100
DIMENSIONS, NOISES = (1, 2), (1.0, 0.1)
HORIZONS = (100, 1000, 10_000)  # of the sharp case
SLACK = 1e-9  # rounding is no violation


class Bound(Protocol):
    """What is tested: told observations, it encloses f."""

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D)."""

    def interval(self, X: ArrayLike) -> Interval:
        """Return bounds on f at the rows of X, shape (m, D)."""


class OverCell:
    """The average (degree None) or a local polynomial over [0, .5]^D, fitted anew to all observations when asked."""

    def __init__(self, assumptions: Assumptions, dimension: int, degree: int | None) -> None:
        self.cell = Cell(np.zeros(dimension), np.full(dimension, 0.5))
        self.assumptions, self.degree = assumptions, degree
        self.X, self.y = np.empty((0, dimension)), np.empty(0)

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D)."""
        self.X, self.y = np.vstack([self.X, X]), np.append(self.y, y)

    def interval(self, X: ArrayLike) -> Interval:
        """Return bounds on f at the rows of X, shape (m, D), inside the cell."""
        if self.degree is None:
            average = cell_average(self.cell, self.X, self.y, self.assumptions, DELTA)
            return Interval(np.full(len(np.asarray(X)), average.lower), np.full(len(np.asarray(X)), average.upper))
        model = LocalPolynomial(
            self.cell, self.X, self.y, degree=self.degree, assumptions=self.assumptions, delta=DELTA
        )
        middle, err = model.estimate(X), model.error(X)
        return Interval(middle - err, middle + err)


class Bayesian:
    """mu_(t-1) +- sqrt(beta_t) sigma_(t-1) of GP-UCB for finitely many arms; t - 1 observations, lambda = sigma^2."""

    def __init__(self, noise: float) -> None:
        self.gp = qd.gp.GaussianProcess(KERNEL, noise_variance=noise**2)
        self.method = GPUCB(kernel=KERNEL, noise=noise, form=Finite(arms=POINTS), delta=DELTA)

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D)."""
        self.gp.add(X, y)

    def interval(self, X: ArrayLike) -> Interval:
        """Return what is claimed of f at the rows of X, shape (m, D)."""
        at = self.gp.predict(X)
        # theorem 1 depends on neither the dimension nor the gain
        reach = np.sqrt(self.method.beta(self.gp.n_observations + 1, dimension=1, gain=0.0)) * at.deviation
        return Interval(at.mean - reach, at.mean + reach)


# name -> from (assumptions, D, n) the bound
BANDS: dict[str, Callable[[Assumptions, int, int], Bound]] = {
    "adaptive band": lambda given, _, __: AdaptiveBand(given, DELTA),
    "simple band, λ = σ²": lambda given, _, __: SimpleBand(given, DELTA),
    "simple band, λ = 16σ²/B²": lambda given, _, __: SimpleBand(given, DELTA, regulariser=default_regulariser(given)),
    "Chowdhury-Gopalan, λ = 1 + 2/n": lambda given, _, n: ChowdhuryGopalanBand(given, DELTA, budget=n),
    "printed β, λ = σ²": lambda given, _, n: ChowdhuryGopalanBand(given, DELTA, budget=n, regulariser=given.noise**2),
    "GP-UCB, finite arms": lambda given, _, __: Bayesian(given.noise),
    "GP-UCB, finite arms, ‖f‖ = 10": lambda given, _, __: Bayesian(given.noise),
}
CELLS: dict[str, Callable[[Assumptions, int, int], Bound]] = {
    "cell average": lambda given, dimension, _: OverCell(given, dimension, None),
    "local polynomial, k = 0": lambda given, dimension, _: OverCell(given, dimension, 0),
    "local polynomial, k = 1": lambda given, dimension, _: OverCell(given, dimension, 1),
    "local polynomial, k = 2": lambda given, dimension, _: OverCell(given, dimension, 2),
}
BOUNDS = {**BANDS, **CELLS}
UNPROMISED = ("printed β, λ = σ²", "GP-UCB, finite arms", "GP-UCB, finite arms, ‖f‖ = 10")
NORMS = {"GP-UCB, finite arms, ‖f‖ = 10": 10.0}  # ||f|| where it is not B = 1
SHARP = "one arm"


def one_run(bound: str, dimension: int, noise: float, seed: int, n: int) -> tuple[bool, float]:
    """Whether f left the bound at any point and time, and the median half-width over the points at the end."""
    rng = generator(seed, dimension, 60)
    norm = NORMS.get(bound, 1.0)
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=rng)
    points = rng.random((POINTS, dimension)) * (0.5 if bound in CELLS else 1.0)
    truth = norm * f.values(points)
    ties, errors = rng.random((n, POINTS)), noise * rng.normal(size=n)
    band = BOUNDS[bound](Assumptions(KERNEL, 1.0, noise), dimension, n)
    interval = band.interval(points)
    violated, best = False, (-np.inf, 0)
    for step in range(n):
        pick = int(np.argmax(interval.upper + SLACK * ties[step]))
        if bound == "cell average":
            pick = best[1] if step % 2 else int(np.argmax(ties[step]))
        y = float(truth[pick] + errors[step])
        best = max(best, (y, pick))
        band.add(points[pick][None], [y])
        interval = band.interval(points)
        violated |= bool(((truth > interval.upper + SLACK) | (truth < interval.lower - SLACK)).any())
    return violated, float(np.median(interval.half_width))


def run(bound: str, D: int, sigma: float, block: int, runs: int, n: int) -> Row:
    """One row: `runs` runs of n observations; or the sharp case."""
    if bound == SHARP:
        return {"crossed": one_arm(runs, n)}
    outcomes = [one_run(bound, D, sigma, block * BLOCK + i, n) for i in range(runs)]
    return {
        "violated": sum(violated for violated, _ in outcomes),
        "half_width": float(f"{np.median([width for _, width in outcomes]):.6g}"),
    }


# --- the sharp case


def one_arm_walks(runs: int, n: int, seed: int) -> tuple[Array, Array]:
    """Values f = +-.05, shape (runs, 1), and noise, shape (runs, n), sigma = 1: K = 1 between all observations."""
    rng = generator(seed, 61)
    return rng.choice([-0.05, 0.05], (runs, 1)), rng.normal(size=(runs, n))


def one_arm_bounds(f: Array, noise: Array, budget: int) -> dict[str, tuple[Array, Array]]:
    """Return bounds on f after N = 1, 2, ... observations: name -> (lower, upper), each of shape (runs, n).

    With one point and K = 1, mu = S/(N + lambda), sigma_N^2 = lambda/(N + lambda) and log det(I + K/lambda) =
    log(1 + N/lambda), S the sum of the observations; y^T (K + a I)^-1 y = (sum y^2 - S^2/(N + a))/a. `budget` is the n
    in 1 + 2/n.
    """
    N = np.arange(1.0, noise.shape[1] + 1)
    y = f + noise
    total, squares = y.cumsum(1), (y**2).cumsum(1)
    log_delta = 2 * np.log(1 / DELTA)

    def around(mean: Array, half: Array) -> tuple[Array, Array]:
        return mean - half, mean + half

    def simple(lam: float, B: float) -> tuple[Array, Array]:
        beta = np.sqrt(B**2 + (log_delta + np.log1p(N / lam)) / lam)
        return around(total / (N + lam), beta * np.sqrt(lam / (N + lam)))

    def chowdhury_gopalan(B: float) -> tuple[Array, Array]:
        lam = 1 + 2 / budget
        beta = B + np.sqrt(np.log1p(N / lam) + 2 + log_delta)
        return around(total / (N + lam), beta * np.sqrt(lam / (N + lam)))

    def adaptive(B: float) -> tuple[Array, Array]:
        lam = 16 / B**2

        def quadratic(a: float) -> Array:  # a y^T (K + a I)^-1 y
            return np.asarray(squares - total**2 / (N + a))

        R2 = 2 * np.log(1 / (0.9 * DELTA)) + np.log1p(N / lam) + quadratic(lam)
        lower, upper = np.full(noise.shape, -np.inf), np.full(noise.shape, np.inf)
        for a in lam * np.array(LADDER):
            half = np.sqrt(np.maximum(R2 + a * B**2 - quadratic(a), 0.0) / (N + a))
            low, high = around(total / (N + a), half)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        return lower, upper

    def average() -> tuple[Array, Array]:
        return around(total / N, np.sqrt((N + 1) * (log_delta + np.log1p(N))) / N)

    def constant(B: float) -> tuple[Array, Array]:  # the polynomial of degree 0: weights 1/(N + 1), V = N + 1
        return around(total / (N + 1), B / (N + 1) + np.sqrt((log_delta + np.log1p(N)) / (N + 1)))

    return {
        "adaptive band, B = 1": adaptive(1.0),
        "simple band, λ = σ², B = .05": simple(1.0, 0.05),
        "simple band, λ = 100σ², B = .05": simple(100.0, 0.05),
        "Chowdhury-Gopalan, λ = 1 + 2/n, B = .05": chowdhury_gopalan(0.05),
        "cell average": average(),
        "local polynomial, k = 0, B = .05": constant(0.05),
    }


def one_arm(runs: int, n: int) -> dict[str, list[int]]:
    """How many of the walks have left each bound by N = 100, 1,000, 10,000 observations (those up to n)."""
    crossed: dict[str, list[int]] = {}
    size = min(runs, 50)  # walks at a time: memory
    for chunk in range(runs // size):
        f, noise = one_arm_walks(size, n, chunk)
        for name, (lower, upper) in one_arm_bounds(f, noise, n).items():
            outside = (f < lower) | (f > upper)
            counts = [int(outside[:, :horizon].any(1).sum()) for horizon in HORIZONS if horizon <= n]
            crossed[name] = [a + b for a, b in zip(crossed.get(name, [0] * len(counts)), counts, strict=True)]
    return crossed


# --- reports


def share(count: int, runs: int) -> str:
    """A share with its Clopper-Pearson 95 % interval."""
    low, high = interval_of(count, runs)
    return f"{count / runs:.1%} ({low:.1%} to {high:.1%})"


def interval_of(count: int, runs: int) -> tuple[float, float]:
    """The Clopper-Pearson 95 % interval of a share."""
    found = binomtest(count, runs).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def rates(rows: list[Row]) -> list[tuple[str, int, float, int, int, float]]:
    """Return (bound, D, sigma, runs, violated, median half-width), one for each setting that has rows.

    The half-width is the median over blocks of the block's median over runs of the median over points.
    """
    found = []
    for bound, dimension, noise in product(BOUNDS, DIMENSIONS, NOISES):
        group = [row for row in rows if (row["bound"], row["D"], row["sigma"]) == (bound, dimension, noise)]
        if group:
            runs, violated = (sum(int(str(row[key])) for row in group) for key in ("runs", "violated"))
            width = float(np.median([float(str(row["half_width"])) for row in group]))
            found.append((bound, dimension, noise, runs, violated, width))
    return found


def report(rows: list[Row]) -> str:
    """A Markdown table of violation rates and widths."""
    lines = [
        "| bound | D | σ | runs | violated (95 % interval) | promised at most | median half-width at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    for bound, dimension, noise, runs, violated, width in rates(rows):
        promise = "nothing" if bound in UNPROMISED else f"{DELTA:.0%}"
        lines.append(
            f"| {bound} | {dimension} | {noise:g} | {runs} | {share(violated, runs)} | {promise} | {width:.3f} |"
        )
    return "\n".join(lines)


def sharp_report(rows: list[Row]) -> str:
    """A Markdown table of the sharp case: the share of walks that left each bound by N observations."""
    found = [row for row in rows if row["bound"] == SHARP]
    if not found:
        return "no rows of the sharp case"
    crossed, runs = found[-1]["crossed"], int(str(found[-1]["runs"]))
    assert isinstance(crossed, dict)
    horizons = [horizon for horizon in HORIZONS if horizon <= int(str(found[-1]["n"]))]
    lines = [
        "| bound | " + " | ".join(f"by N = {horizon:,}" for horizon in horizons) + " | promised at most |",
        "|---|" + "---|" * (len(horizons) + 1),
    ]
    for name, counts in crossed.items():
        lines.append(f"| {name} | " + " | ".join(share(count, runs) for count in counts) + f" | {DELTA:.0%} |")
    return "\n".join(lines)


def cells(runs: int, *, block: int = BLOCK, n: int | None = None) -> list[GridCell]:
    """The grid: `runs` runs of every bound in blocks; and the sharp case. n is for the smoke test."""
    kinds = product(range(max(runs // block, 1)), BOUNDS, DIMENSIONS, NOISES)
    grid: list[GridCell] = [
        {"bound": bound, "D": D, "sigma": sigma, "block": i, "runs": block, "n": n or (40 if bound in CELLS else 25)}
        for i, bound, D, sigma in kinds
    ]
    walks, steps = (2000, HORIZONS[-1]) if n is None else (50, HORIZONS[0])
    return [*grid, {"bound": SHARP, "D": 1, "sigma": 1.0, "block": 0, "runs": walks, "n": steps}]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=1000)
    if chosen.smoke:
        rows = run_here(run, cells(2, block=2, n=6))
    else:
        rows = (
            finished("violations") if chosen.report else complete("violations", run, cells(chosen.runs), chosen.workers)
        )
    print(report(rows))
    print()
    print(sharp_report(rows))


if __name__ == "__main__":
    main()
