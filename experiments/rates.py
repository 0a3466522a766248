"""How does regret grow with n? Slopes of LP-GP-UCB, GP-UCB and IGP-UCB on functions of norm exactly 1, beside theory.

    python experiments/rates.py [--smoke] [--runs 5] [--workers 2] [--report]

Nine problems: Matérn 1/2, 3/2, 5/2 in D = 1 and 2, rational quadratic, gamma-exponential and piecewise polynomial in
D = 1; ||f||_K = B = 1, sigma = .1, delta = .05. Functions are "rough" draws: they run through a sample path of the
process, so that every direction of the kernel gets the same share of the norm and many peaks are nearly as high as the
highest. "Bumpy" draws spend the norm on a few broad hills that every method finds soon: further from the worst case, of
which theorems speak. No draw is a worst case. Function and noise of a seed are the same for every method.

Two settings.

arms
    256 points (16 x 16 in two dimensions), the centres of the cells of one level of LP-GP-UCB's partition; n = 10,000.
    What LP-GP-UCB proposes is moved to the arm of the cell that it lies in, and cells that hold one arm do not split.
    (Arms between cells will not do: small cells without an arm keep a bound that no evaluation lowers, and it evaluates
    next to them for ever.) GP-UCB and IGP-UCB compute their index at every arm. Regret is against the best arm. On so
    few arms the exponents are those of the cube only while n is not much larger than their number: with more
    evaluations regret flattens, for every method.
continuum
    The cube; n = 1,000. LP-GP-UCB evaluates what it proposes. GP-UCB and IGP-UCB maximise their index over a lattice of
    4,096 points (64 x 64): with a thousand points the library's own search takes a minute a run for climbing between
    them. Regret is against the maximum on the cube.

Methods. LP-GP-UCB with k = 0 and with k = ceil(nu) - 1 where that is another number: nu = q + 1/2 for piecewise
polynomials, a/2 for gamma-exponential kernels; for the rational quadratic, which has all derivatives, k = 1. GP-UCB
has the beta_t of Srinivas et al. 2012, theorem 1, for the number of points at hand. That theorem is about draws of the
process; for f of bounded norm theirs is theorem 3, whose exponent is quoted here and whose beta_t, 300 gamma_t
log^3(t/delta), explores and nothing else. IGP-UCB has the beta_t and the lambda = 1 + 2/n of Chowdhury and Gopalan 2017
with the realised gain, for f of norm B. Both start at a random point.

LP-GP-UCB and IGP-UCB are told the largest n, and their regret is read along the way, where theorems speak of the regret
at the n that was told. For LP-GP-UCB that is the same here: n only enters through gamma_n/sqrt(n), which is above
the largest variation sqrt(2) B of any f for all these problems and every n (the split conditions that need it never
apply), and through the smallest side of a cell. For IGP-UCB it enters through lambda, by at most 2/n.

Recommended point: LP-GP-UCB's own, moved to its arm; otherwise the evaluated point of highest posterior mean under
lambda = sigma^2.

Slopes are least squares of log regret on log n over the last one and a half decades (arms) or the last decade
(continuum). Cumulative regret: one slope a seed, their mean with a 95 % t-interval. Simple regret can be 0 in some
seeds: the slope of the mean over seeds, with a 95 % bootstrap interval over seeds; an n at which the mean is 0 is left
out, which makes the slope shallower than it is. Exponents come from `quadrat.theory`.

Finished runs are kept in experiments/results/rates.jsonl.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, inf, log, sqrt
from typing import Literal, TypeAlias, cast

import numpy as np
from scipy.stats import t as student

import quadrat as qd
from quadrat._core.arrays import Array, Ints
from quadrat.methods.base import Domain, Observation
from quadrat.methods.lp.method import information_gain
from quadrat.methods.ucb.gp_ucb import Finite
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator
from quadrat.theory import Rate, matern_lower_bound, rates, srinivas_gain_power, theorem_exponents

Quantity: TypeAlias = Literal["cumulative", "best", "recommended"]
Regret: TypeAlias = Literal["simple", "cumulative"]

NAME = "rates"
NORM, NOISE, DELTA = 1.0, 0.1, 0.05
CHECKPOINTS = (10, 18, 32, 56, 100, 178, 316, 562, 1000, 1778, 3162, 5623, 10000)
PROBLEMS: dict[tuple[str, int], qd.kernels.Kernel] = {
    ("matern-1/2", 1): qd.Matern(0.5, 0.2),
    ("matern-3/2", 1): qd.Matern(1.5, 0.2),
    ("matern-5/2", 1): qd.Matern(2.5, 0.2),
    ("matern-1/2", 2): qd.Matern(0.5, 0.3),
    ("matern-3/2", 2): qd.Matern(1.5, 0.3),
    ("matern-5/2", 2): qd.Matern(2.5, 0.3),
    ("rational-quadratic", 1): qd.kernels.RationalQuadratic(1.0, 0.2),
    # a = 1 would be Matérn 1/2; for a < 1 the modulus between two arms exceeds what f varies over the cube.
    ("gamma-exponential", 1): qd.kernels.GammaExponential(1.5, 0.2),
    ("piecewise-polynomial", 1): qd.kernels.PiecewisePolynomial(
        1, 1, 0.5
    ),  # of range .5: its correlation is 1/2 at .19
}
HORIZONS = {"arms": 10000, "continuum": 1000}
SIDE = {1: 256, 2: 16}  # arms an axis, a power of two
LATTICE = {1: 4096, 2: 64}  # points an axis
DECADES = {"arms": 1.5, "continuum": 1.0}  # that slopes are fitted over
FEWER = 3  # seeds of LP-GP-UCB on arms, the dearest runs
STREAM_F, STREAM_NOISE, STREAM_FIRST, STREAM_BOOTSTRAP = 40, 50, 60, 70
RESAMPLES = 2000
TRIVIAL: dict[Regret, float] = {"cumulative": 1.0, "simple": 0.0}  # slopes of a method that learns nothing


# --- what is run


def smoothness(kernel: qd.kernels.Kernel) -> float:
    """nu of the Matérn kernel whose spectral density decays like this kernel's; inf where it decays faster."""
    match kernel:
        case qd.Matern(nu=nu):
            return nu
        case qd.kernels.GammaExponential(a=a):
            return a / 2
        case qd.kernels.PiecewisePolynomial(q=q):
            return q + 0.5
        case _:
            return inf


def degrees(kernel: qd.kernels.Kernel) -> tuple[int, ...]:
    """The degrees k that LP-GP-UCB runs with: 0, and ceil(nu) - 1 where that differs; 1 where nu is infinite."""
    nu = smoothness(kernel)
    return tuple(sorted({0, 1 if nu == inf else ceil(nu) - 1}))


def methods(kernel: qd.kernels.Kernel) -> tuple[str, ...]:
    """Names of the methods that run on a kernel."""
    return (*(f"lp-gp-ucb-{k}" for k in degrees(kernel)), "gp-ucb", "igp-ucb")


def checkpoints(n: int) -> tuple[int, ...]:
    """The numbers of evaluations after which regret is kept, for a run of n."""
    return tuple(c for c in CHECKPOINTS if c <= n)


def arms(side: int, dimension: int) -> Array:
    """Centres of the side^D equal cubes that the unit cube divides into, shape (side^D, D)."""
    return _on_axes((np.arange(side) + 0.5) / side, dimension)


def lattice(side: int, dimension: int) -> Array:
    """Equally spaced points of the unit cube, faces included, shape (side^D, D)."""
    return _on_axes(np.linspace(0.0, 1.0, side), dimension)


def _on_axes(axis: Array, dimension: int) -> Array:
    return np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), -1).reshape(-1, dimension)


def nearest_arm(x: Array, side: int) -> Array:
    """The one of the `arms` in whose cube x lies, shape (D,)."""
    return np.asarray((np.minimum(np.floor(x * side), side - 1) + 0.5) / side)


class Posterior(ABC):
    """The posterior over a fixed set of A points, updated by one observation at a time, prior mean 0.

    With c the posterior covariances between the observed point j and all points, and d = c_j + lambda,

        mean += c (y - mean_j)/d,    variance -= c^2/d,    gain += log(1 + c_j/lambda)/2,

    which is the exact posterior: repeats of a point need no special care.

    Parameters
    ----------
    kernel, points
        K and the points, shape (A, D).
    regulariser
        lambda > 0.
    """

    def __init__(self, kernel: qd.kernels.Kernel, points: Array, regulariser: float) -> None:
        self.kernel, self.points, self.regulariser = kernel, points, regulariser
        self.mean = np.zeros(len(points))
        self.variance = np.full(len(points), kernel.variance)
        self.gain = 0.0  # log det(I + K/lambda)/2 over the observations, in nats

    def observe(self, j: int, y: float) -> None:
        """Take in y at point j."""
        covariances = self.column(j)
        total = float(covariances[j]) + self.regulariser
        self.gain += 0.5 * log(total / self.regulariser)
        self.mean += covariances * ((y - self.mean[j]) / total)
        row = covariances / sqrt(total)
        self.variance -= row**2
        self.absorb(row)

    @abstractmethod
    def column(self, j: int) -> Array:
        """Posterior covariances between point j and all points, shape (A,)."""

    @abstractmethod
    def absorb(self, row: Array) -> None:
        """Lower the covariances by the outer product of `row` with itself."""


class FewPoints(Posterior):
    """The whole covariance matrix: O(A^2) an observation, however many there are."""

    def __init__(self, kernel: qd.kernels.Kernel, points: Array, regulariser: float) -> None:
        super().__init__(kernel, points, regulariser)
        self.covariance = np.array(kernel(points))

    def column(self, j: int) -> Array:
        return np.array(self.covariance[j])

    def absorb(self, row: Array) -> None:
        self.covariance -= np.outer(row, row)


class ManyPoints(Posterior):
    """The rows that were taken off the prior covariances: O(A t) for observation t."""

    def __init__(self, kernel: qd.kernels.Kernel, points: Array, regulariser: float, n: int) -> None:
        super().__init__(kernel, points, regulariser)
        self.rows = np.empty((n, len(points)))
        self.count = 0

    def column(self, j: int) -> Array:
        rows = self.rows[: self.count]
        return np.asarray(self.kernel(self.points[j : j + 1], self.points)[0] - rows[:, j] @ rows)

    def absorb(self, row: Array) -> None:
        self.rows[self.count] = row
        self.count += 1


class OverPoints:
    """GP-UCB or IGP-UCB that computes its index at every one of a fixed set of points.

    Parameters
    ----------
    method
        "gp-ucb" or "igp-ucb".
    kernel, points
        K and the points, shape (A, D).
    n
        The horizon; it enters the lambda of IGP-UCB.
    seed
        Of the first point, at which all indices are equal.
    few
        Whether to keep the covariance matrix of all points.
    """

    def __init__(self, method: str, kernel: qd.kernels.Kernel, points: Array, n: int, seed: int, *, few: bool) -> None:
        self.gp_ucb = qd.research.GPUCB(kernel=kernel, form=Finite(arms=len(points)), noise=NOISE, delta=DELTA)
        self.igp_ucb = qd.research.IGPUCB(kernel=kernel, norm_bound=NORM, noise=NOISE, delta=DELTA, budget=n)
        self.improved = method == "igp-ucb"
        chosen = self.igp_ucb if self.improved else self.gp_ucb
        regulariser = chosen.regulariser(NOISE**2)
        self.posterior: Posterior = (
            FewPoints(kernel, points, regulariser) if few else ManyPoints(kernel, points, regulariser, n)
        )
        self.first = int(generator(seed, STREAM_FIRST).integers(len(points)))
        self.index: dict[bytes, int] = {point.tobytes(): j for j, point in enumerate(points)}
        self.counts: Ints = np.zeros(len(points), dtype=np.intp)
        self.sums = np.zeros(len(points))
        self.trials = 0

    def multiplier(self) -> float:
        """What the deviation is multiplied by in round t: sqrt(beta_t), or the beta_t of IGP-UCB [CG17, theorem 2]."""
        gain = self.posterior.gain
        if self.improved:
            return self.igp_ucb.norm_bound + NOISE * sqrt(2 * (gain + 1 + log(1 / self.igp_ucb.delta)))
        return sqrt(self.gp_ucb.beta(self.trials + 1, self.posterior.points.shape[1], gain))

    def ask(self) -> Array:
        """The point of the largest index."""
        if not self.trials:
            return np.asarray(self.posterior.points[self.first])
        deviation = np.sqrt(np.maximum(self.posterior.variance, 0.0))
        index = self.posterior.mean + self.multiplier() * deviation
        return np.asarray(self.posterior.points[int(np.argmax(index))])

    def tell(self, x: Array, y: float) -> None:
        """Take in y at one of the points."""
        j = self.index[x.tobytes()]
        self.posterior.observe(j, y)
        self.counts[j] += 1
        self.sums[j] += y
        self.trials += 1

    def recommend(self) -> Array:
        """The evaluated point of highest posterior mean under the stated noise."""
        seen = np.flatnonzero(self.counts)
        points, counts = self.posterior.points[seen], self.counts[seen]
        gp = qd.gp.GaussianProcess(self.posterior.kernel, noise_variance=NOISE**2)
        gp.add(points, self.sums[seen] / counts, NOISE**2 / counts)  # repeats merged
        return np.asarray(points[int(np.argmax(gp.predict_mean(points)))])

    def facts(self) -> Row:
        """What the row keeps beside regrets."""
        return {}


@cache
def threshold(kernel: str, dimension: int, n: int) -> float:
    """gamma_n/sqrt(n), as LPGPUCB itself would compute it."""
    return information_gain(PROBLEMS[kernel, dimension], n, NOISE**2, dimension).value / sqrt(n)


class OverCells:
    """LP-GP-UCB through the library's own search.

    Parameters
    ----------
    kernel, dimension
        Name of the kernel, and D.
    degree
        k.
    n
        The horizon.
    seed
        Of its draws.
    side
        Arms an axis, a power of two, that proposals are moved to; None leaves them where they are.
    """

    def __init__(self, kernel: str, dimension: int, degree: int, n: int, seed: int, side: int | None) -> None:
        self.side, self.dimension, self.trials = side, dimension, 0
        method = qd.LPGPUCB(
            kernel=PROBLEMS[kernel, dimension], norm_bound=NORM, noise=NOISE, degree=degree, delta=DELTA,
            # Cells of side 1/budget or more may split, and that is all that budget does once the threshold is given:
            # with arms, cells of side 1/side do not.
            budget=n if side is None else side - 1,
            threshold=threshold(kernel, dimension, n),
        )  # fmt: skip
        self.search = method.start(Domain.cube(dimension), seed)

    def ask(self) -> Array:
        """What it proposes, or the arm there."""
        return self._moved(self.search.ask(self.trials, np.empty((0, self.dimension))).x)

    def tell(self, x: Array, y: float) -> None:
        """Take in y at x."""
        self.search.tell(Observation(self.trials, x, np.array([y])))
        self.trials += 1

    def recommend(self) -> Array:
        """What it recommends, or the arm there."""
        return self._moved(self.search.recommend().x)

    def facts(self) -> Row:
        """How many cells take their bound from where, the side of the smallest, and gamma_n/sqrt(n)."""
        explained = self.search.explain()
        cells = cast(list[dict[str, object]], explained["cells"])
        sides = [max(np.subtract(cast(list[float], c["upper"]), cast(list[float], c["lower"]))) for c in cells]
        return {
            "active": dict(Counter(str(cell["active"]) for cell in cells)),
            "smallest_side": _short(min(sides)),
            "threshold": _short(cast(float, explained["threshold"])),
        }

    def _moved(self, x: Array) -> Array:
        return x if self.side is None else nearest_arm(x, self.side)


def function(kernel: str, dimension: int, seed: int) -> RKHSFunction:
    """f of a seed."""
    rng = generator(seed, dimension, STREAM_F)
    return draw_rkhs_function(PROBLEMS[kernel, dimension], dimension, norm=NORM, rng=rng, style="rough")


def run(setting: str, kernel: str, D: int, method: str, seed: int, n: int) -> Row:
    """One whole run: regrets at the checkpoints, and how many points were evaluated."""
    f = function(kernel, D, seed)
    points = arms(SIDE[D], D) if setting == "arms" else lattice(LATTICE[D], D)
    best = float(f.values(points).max())
    if setting == "continuum":
        best = max(best, f.maximum()[1])
    searcher: OverCells | OverPoints
    if method.startswith("lp-gp-ucb-"):
        side = SIDE[D] if setting == "arms" else None
        searcher = OverCells(kernel, D, int(method.removeprefix("lp-gp-ucb-")), n, seed, side)
    else:
        searcher = OverPoints(method, PROBLEMS[kernel, D], points, n, seed, few=setting == "arms")
    noise = NOISE * generator(seed, STREAM_NOISE).standard_normal(n)
    kept: dict[str, list[float]] = {"cumulative": [], "best": [], "recommended": []}
    total, smallest, evaluated = 0.0, inf, set()
    for i in range(n):
        x = searcher.ask()
        value = float(f(x))
        searcher.tell(x, value + noise[i])
        regret = _regret(best, value)
        total, smallest = total + regret, min(smallest, regret)
        evaluated.add(x.tobytes())
        if i + 1 in CHECKPOINTS:
            kept["cumulative"].append(_short(total))
            kept["best"].append(_short(smallest))
            kept["recommended"].append(_short(_regret(best, float(f(searcher.recommend())))))
    return {**kept, "points": len(evaluated), **searcher.facts()}


def _regret(best: float, value: float) -> float:
    """best - value; what rounding leaves of 0 is 0."""
    regret = best - value
    return regret if regret > 1e-12 else 0.0


def _short(value: float) -> float:
    return float(f"{value:.6g}")


# --- what theory says


@dataclass(frozen=True)
class Claim:
    """An exponent that theory gives, and how far it is proved."""

    exponent: float
    certainty: str

    def __str__(self) -> str:
        return f"{self.exponent:.3f} ({self.certainty})"


def claims(kernel: qd.kernels.Kernel, dimension: int, method: str, regret: Regret) -> list[Claim]:
    """Exponents of upper bounds for a method, smallest first; equal ones once, with the better certainty.

    For LP-GP-UCB with k >= 1 the theorem as stated and, where that is more, what its proof covers for every n. The
    paper has no proposition for k >= 1 beyond Matérn kernels: there the theorem is read for the Hölder class (k, alpha)
    with k + alpha = nu, alpha = 1 where nu is infinite, and the kernel's own rate of the information gain.
    """
    table = rates(kernel, dimension)
    found: list[Claim] = []

    def add(row: Rate) -> None:
        power = row.simple if regret == "simple" else row.cumulative
        if power.exponent is not None:
            found.append(Claim(power.exponent, power.certainty.value))

    degree = int(method.removeprefix("lp-gp-ucb-")) if method.startswith("lp-gp-ucb-") else None
    if degree is None:
        for key in (method, "gp-ucb-vakili"):
            if key in table.keys:
                add(table[key])
    elif degree == 0:
        for key in ("lp-gp-ucb-0", "lp-gp-ucb-0-vakili"):
            add(table[key])
    else:
        nu = smoothness(kernel)
        power = srinivas_gain_power(nu, dimension) if isinstance(kernel, qd.Matern) else None
        gain = kernel.information_gain_rate(dimension).power if power is None else power
        theorem = theorem_exponents(degree, 1.0 if nu == inf else nu - degree, dimension, gain)
        certainty = theorem.simple_certainty if regret == "simple" else theorem.cumulative_certainty
        # A rate of the gain other than that of Srinivas et al. rests on a condition of its own.
        proved = "proved" if power is not None else "conditional"
        stated = proved if certainty.value == "proved" else certainty.value
        found.append(Claim(getattr(theorem.best, regret), stated))
        found.append(Claim(getattr(theorem.proved, regret), proved))
    order = ["proved", "conditional"]
    found.sort(key=lambda claim: (round(claim.exponent, 9), claim.certainty not in order, claim.certainty != order[0]))
    return [c for i, c in enumerate(found) if not i or c.exponent > found[i - 1].exponent + 1e-9]


def lower_bound(kernel: qd.kernels.Kernel, dimension: int, regret: Regret) -> tuple[float, bool] | None:
    """The exponent of the lower bound, and whether it is about this kernel.

    Otherwise it is that of the Matérn kernel whose spectral density decays alike; None where there is none.
    """
    row = rates(kernel, dimension)["lower-bound"]
    exponent = row.simple_exponent if regret == "simple" else row.cumulative_exponent
    if exponent is not None:
        return exponent, True
    nu = smoothness(kernel)
    return None if nu == inf else (float(getattr(matern_lower_bound(nu, dimension), regret)), False)


# --- slopes


@dataclass(frozen=True)
class Slope:
    """A slope of log regret on log n with a 95 % interval; infinite ends where one seed gives no interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == -inf and self.high == inf:
            return f"{self.value:.2f}"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def fitted(setting: str, n: int) -> Ints:
    """Positions of the checkpoints that slopes are fitted over."""
    return np.flatnonzero(np.array(checkpoints(n)) >= 0.99 * n / 10 ** DECADES[setting])


def lines(n: Array, regrets: Array) -> Array:
    """Least-squares slopes of log regret on log n, one for each row of `regrets` (m, c), over its positive entries.

    Shape (m,). -inf for a row with fewer than two positive entries: it fell faster than any power.
    """
    kept = regrets > 0
    x, y = np.where(kept, np.log(n), 0.0), np.log(np.where(kept, regrets, 1.0))
    count = np.maximum(kept.sum(1, keepdims=True), 1)
    x = np.where(kept, x - x.sum(1, keepdims=True) / count, 0.0)
    spread = (x**2).sum(1)
    return np.where(kept.sum(1) > 1, (x * y).sum(1) / np.where(spread > 0, spread, 1.0), -inf)


def slope_of_each(n: Array, regrets: Array) -> Slope:
    """Mean over seeds of the slope of each, with a t-interval; regrets has shape (seeds, checkpoints), all > 0."""
    slopes = lines(n, regrets)
    mean = float(slopes.mean())
    if len(slopes) < 2:
        return Slope(mean, -inf, inf)
    half = float(student.ppf(0.975, len(slopes) - 1) * slopes.std(ddof=1) / sqrt(len(slopes)))
    return Slope(mean, mean - half, mean + half)


def slope_of_mean(n: Array, regrets: Array) -> Slope:
    """Slope of the mean over seeds, with a bootstrap interval over seeds; regrets has shape (seeds, checkpoints)."""
    value = float(lines(n, regrets.mean(0, keepdims=True))[0])
    if len(regrets) < 2:
        return Slope(value, -inf, inf)
    rows = generator(0, STREAM_BOOTSTRAP).integers(len(regrets), size=(RESAMPLES, len(regrets)))
    slopes = np.sort(lines(n, regrets[rows].mean(1)))
    return Slope(value, float(slopes[int(0.025 * RESAMPLES)]), float(slopes[int(0.975 * RESAMPLES)]))


def reading(
    slope: Slope, claimed: Sequence[Claim], lower: float | None, regret: Regret, *, negligible: bool = False
) -> str:
    """What a measured slope says about exponents of upper bounds, in one phrase; `RULE` is the rule.

    Parameters
    ----------
    slope
        Measured.
    claimed
        Exponents, smallest first.
    lower
        Exponent of the lower bound over the ball; None where none is known.
    regret
        Which regret it is of.
    negligible
        Whether the regret was at most sigma/sqrt(n) wherever the slope was fitted.
    """
    trivial = TRIVIAL[regret]
    known = [claim.exponent for claim in claimed if claim.exponent < trivial - 1e-9]
    if negligible:  # no exponent is below -1/2: whatever its slope, regret is within the bound
        return "shown: below σ/√n" if known else "nothing is claimed; below σ/√n"
    if slope.low == -inf and slope.high == inf:
        return "one seed: no reading"
    easier = "; easier than the worst f" if lower is not None and slope.high < lower else ""
    flat = f"; as if nothing were learned: {trivial:g}" if slope.value >= trivial - 0.1 else ""
    if not known:
        return "nothing is claimed" + easier + flat
    if slope.low > known[0]:
        slower = "steeper" if regret == "cumulative" else "slower"
        held = [exponent for exponent in known if slope.high <= exponent]
        if held:
            return f"shown for {held[0]:.3f}, {slower} than {known[0]:.3f}{easier}"
        return f"{slower}: not shown at this n{flat}"
    if slope.high <= known[0]:
        return "shown" + easier
    return "consistent" if slope.high < trivial else f"undecided: the interval contains {trivial:g} too"


RULE = """\
"At the end" is the slope over the last half decade. Lower bounds in square brackets are those of the Matérn kernel
whose spectral density decays alike; none is stated for the kernel itself.

Reading, for the smallest exponent that theory gives: "shown" when the whole interval is at or below it; "consistent"
when the interval contains it and stays below the slope of a method that learns nothing, which is 1 for cumulative and 0
for simple regret; "undecided" when the interval contains that too; "steeper" (cumulative) or "slower" (simple) when the
whole interval is above it. The last contradicts no theorem, since theorems leave out constants and logarithms: the rate
is not shown at this n. Where the interval is at or below a larger exponent, proved where the smaller one is not, that
one is named. "Nothing is claimed": no exponent is known, or none below 1 (0). "As if nothing were learned": the
slope is within .1 of that one. "Below σ/√n": simple regret was no more than that at every fitted n, less
than a mean of all n observations resolves; its slope then says nothing, and no exponent asks for more.

Theorems bound from above, so a slope below their exponent is no contradiction; the lower bound is about the worst f of
the ball, so a slope below it ("easier than the worst f") is none either. On arms a slope far below all exponents mostly
says that there are only 256 of them."""


# --- tables


def curves(
    rows: Sequence[Row], setting: str, kernel: str, D: int, method: str, quantity: Quantity
) -> tuple[Array, Array, Array, Array]:
    """Regret against n over seeds: (n, median, lower quartile, upper quartile), each of shape (checkpoints,).

    `quantity` is "cumulative", or the simple regret of the "best" evaluated or the "recommended" point.
    """
    n, regrets = _regrets(_group(rows, setting, kernel, D, method), quantity)
    low, middle, high = np.quantile(regrets, [0.25, 0.5, 0.75], axis=0)
    return n, middle, low, high


def report(rows: list[Row]) -> str:
    """Two Markdown tables, of cumulative and of simple regret, and the rule behind their readings."""
    first = [
        "| kernel | D | setting | method | seeds | regret at n | slope | at the end | theory | lower bound | reading |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    second = [
        "| kernel | D | setting | method | seeds | recommended at n | slope | best evaluated at n | its slope | theory"
        " | lower bound | reading |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for kernel, dimension in PROBLEMS:
        for setting in HORIZONS:
            for method in methods(PROBLEMS[kernel, dimension]):
                group = _group(rows, setting, kernel, dimension, method)
                if group:
                    head = f"| {kernel} | {dimension} | {setting} | {_title(method)} | {len(group)} "
                    first.append(head + _cumulative_cells(group))
                    second.append(head + _simple_cells(group))
    return "\n".join(["Cumulative regret", "", *first, "", "Simple regret", "", *second, "", RULE])


def _group(rows: Sequence[Row], setting: str, kernel: str, D: int, method: str) -> list[Row]:
    wanted = (setting, kernel, D, method)
    return [row for row in rows if (row["setting"], row["kernel"], row["D"], row["method"]) == wanted]


def _regrets(group: Sequence[Row], quantity: Quantity) -> tuple[Array, Array]:
    """Checkpoints, shape (c,), and regrets of the rows, shape (rows, c)."""
    n = np.array(checkpoints(cast(int, group[0]["n"])), dtype=np.float64)
    return n, np.array([row[quantity] for row in group], dtype=np.float64)


def _of(group: Sequence[Row]) -> tuple[qd.kernels.Kernel, int, str, Ints]:
    """Kernel, D, method and the positions of the fitted checkpoints."""
    row = group[0]
    dimension = cast(int, row["D"])
    kept = fitted(str(row["setting"]), cast(int, row["n"]))
    return PROBLEMS[str(row["kernel"]), dimension], dimension, str(row["method"]), kept


def _cumulative_cells(group: Sequence[Row]) -> str:
    kernel, dimension, method, kept = _of(group)
    n, regrets = _regrets(group, "cumulative")
    slope = slope_of_each(n[kept], regrets[:, kept])
    end = slope_of_each(n[-3:], regrets[:, -3:]).value
    claimed, lower = claims(kernel, dimension, method, "cumulative"), lower_bound(kernel, dimension, "cumulative")
    said = reading(slope, claimed, lower and lower[0], "cumulative")
    return f"| {_number(regrets[:, -1].mean())} | {slope} | {end:.2f} | {_theory(claimed, lower)} | {said} |"


def _simple_cells(group: Sequence[Row]) -> str:
    kernel, dimension, method, kept = _of(group)
    cells: list[str] = []
    slope, negligible = Slope(-inf, -inf, -inf), False
    quantities: tuple[Quantity, ...] = ("best", "recommended")  # the last one is read: theorems are about it
    for quantity in quantities:
        n, regrets = _regrets(group, quantity)
        last = float(regrets[:, -1].mean())
        negligible = bool((regrets[:, kept].mean(0) <= NOISE / np.sqrt(n[kept])).all())
        if last == 0:  # only where there is a best point among finitely many
            since = int(n[np.flatnonzero(regrets.max(0) > 0)[-1] + 1]) if regrets.any() else int(n[0])
            slope, text = Slope(-inf, -inf, -inf), f"best found in all seeds from n = {since}"
        else:
            slope = slope_of_mean(n[kept], regrets[:, kept])
            text = str(slope)
        cells.insert(0, f"{_number(last)} | {text}")
    claimed, lower = claims(kernel, dimension, method, "simple"), lower_bound(kernel, dimension, "simple")
    said = reading(slope, claimed, lower and lower[0], "simple", negligible=negligible)
    return f"| {cells[0]} | {cells[1]} | {_theory(claimed, lower)} | {said} |"


def _theory(claimed: Sequence[Claim], lower: tuple[float, bool] | None) -> str:
    """Two cells; in brackets the lower bound of the Matérn kernel that is alike."""
    bound = "-" if lower is None else f"{lower[0]:.3f}" if lower[1] else f"[{lower[0]:.3f}]"
    return f"{', '.join(map(str, claimed)) or '-'} | {bound}"


def _title(method: str) -> str:
    if method.startswith("lp-gp-ucb-"):
        return f"LP-GP-UCB, k = {method.removeprefix('lp-gp-ucb-')}"
    return method.upper()


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


# --- the grid


def grid(runs: int) -> list[Cell]:
    """Every run of the grid, seed by seed; LP-GP-UCB on arms has at most `FEWER` seeds."""
    cells: list[Cell] = []
    for seed in range(runs):
        for (kernel, dimension), known in PROBLEMS.items():
            for method in methods(known):
                for setting, n in HORIZONS.items():
                    if seed >= FEWER and setting == "arms" and method.startswith("lp-gp-ucb-"):
                        continue
                    cells.append(
                        {"setting": setting, "kernel": kernel, "D": dimension, "method": method, "seed": seed, "n": n}
                    )
    return cells


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=5)
    if chosen.smoke:
        cells = [
            {**cell, "n": 32} for cell in grid(2) if (cell["kernel"], cell["D"]) == ("matern-3/2", 1)
        ]  # fmt: skip
        print(report(run_here(run, cells)))
        return
    print(report(finished(NAME) if chosen.report else complete(NAME, run, grid(chosen.runs), chosen.workers)))


if __name__ == "__main__":
    main()
