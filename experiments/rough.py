"""Where should LP-GP-UCB win? Rough functions with short length-scales, many evaluations, the same time for all.

    python experiments/rough.py [--smoke] [--runs 20] [--workers 2] [--report]

Functions are draws of norm exactly B = 1 of Matérn 3/2 and 1/2 with length-scales of .02 to .1, with many hills or with
few; sigma = .3, delta = .05. Function and noise of a seed are the same for every method. Kernel, B and sigma are stated
truly to all methods.

Methods.

LP-GP-UCB      Algorithm 1 with k = 0 and bands of cells, as the package does it; every second trial is where it
               sharpens the certificate most
LP0            the same with Algorithm 1 alone: for the regret
LP0, one band  the same with one band of all observations: what the bands of cells buy
GP-UCB         the point of the highest upper bound of one adaptive band, the band that LP-GP-UCB has; "sharpened":
               every second trial is where it sharpens the certificate most, by the rule of LP-GP-UCB, without cells
IGP-UCB        mu + beta_t sigma of Chowdhury and Gopalan, with the realised gain
BKB            the sketched posterior with the realised gain
pi-GP-UCB      the package's, over the cube

GP-UCB, IGP-UCB and BKB take the exact maximum of their index over a lattice of `points` points: without climbs, and
with posteriors that are updated by one observation at a time, which is quicker than the package's own search. Regret is
against the maximum on the cube.

A run ends after n evaluations, or when asking and telling have taken LIMIT CPU seconds: so all have the same time,
and a slower method has fewer evaluations. At each checkpoint and at the end all observations of a run are certified in
two ways, by bands of cells and by one band, whoever chose the points; LP-GP-UCB and LP0 by what they certify
themselves, the minimum over time of the bounds of their cells included. That time does not count. One band is left out
where there are more than MOST distinct points.

Finished runs are kept in experiments/results/rough.jsonl; --report prints the tables from that file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import log, sqrt
from typing import Any, Literal, Protocol

import numpy as np
from paired import ratio, words
from rates import FewPoints, Posterior

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, Band, Certificate, LocalBand, certify
from quadrat.confidence.bands import default_regulariser
from quadrat.confidence.local_band import CAPACITY
from quadrat.gp.sketch import SketchedProcess
from quadrat.kernels import Kernel, Matern
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Domain, Observation, Search
from quadrat.methods.lp.method import information_gain
from quadrat.methods.lp.search import CellOptions, CertifiedSearch
from quadrat.methods.ucb.pi_gp_ucb import PiGPUCB
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

NAME = "rough"
NORM, NOISE, DELTA = 1.0, 0.3, 0.05
METHODS = ("LP-GP-UCB", "LP0", "LP0, one band", "GP-UCB, sharpened", "GP-UCB", "IGP-UCB", "BKB", "pi-GP-UCB")
CELLS, OTHERS = METHODS[:3], METHODS[3:]
LIMIT = 30.0  # CPU seconds of a run
SMOKE = (("hills", 500), ("plane", 500))
ENOUGH = 20  # seeds, for a statement in words
MOST = 1200  # distinct points of one band that certifies
RUNGS = (1.0, 4.0, 16.0)  # of the adaptive band, at which GP-UCB looks
_FUNCTION, _NOISE, _FIRST = 50, 51, 52  # name streams


@dataclass(frozen=True)
class Setting:
    """Where functions are drawn, how long runs are, and on how many seeds.

    Attributes
    ----------
    nu, lengthscale, dimension
        Of the kernel, and D.
    side
        The lattice has side^D points.
    horizons
        Numbers of evaluations n, each with the share of the seeds that have runs of this length.
    style
        Of the draws (`draw_rkhs_function`): "rough" ones have many hills of about the same height, "bumpy" ones few.
    """

    nu: float
    lengthscale: float
    dimension: int
    side: int
    horizons: dict[int, float]
    style: Literal["bumpy", "rough"] = "rough"

    @property
    def kernel(self) -> Kernel:
        """The kernel that functions are drawn from, and that is stated."""
        return Matern(self.nu, self.lengthscale)

    @property
    def words(self) -> str:
        """The setting, for a table."""
        nu = {1.5: "3/2", 0.5: "1/2"}[self.nu]
        hills = {"rough": "many hills", "bumpy": "few hills"}[self.style]
        return f"Matérn {nu}, length-scale {self.lengthscale:g}, D = {self.dimension}, {hills}"


SETTINGS = {
    "hills": Setting(1.5, 0.02, 1, 512, {500: 1.0, 1000: 0.15, 20000: 0.05}),
    "few": Setting(1.5, 0.02, 1, 512, {500: 0.25}, style="bumpy"),
    "rougher": Setting(0.5, 0.05, 1, 512, {500: 0.25, 1000: 0.05}),
    "plane": Setting(1.5, 0.1, 2, 32, {500: 0.25}),
}
LENGTHS = sorted({n for drawn in SETTINGS.values() for n in drawn.horizons})
CHECKPOINTS = (500, 1000, 5000)  # evaluations at which a run is looked at, besides its end


def lattice(side: int, dimension: int) -> Array:
    """Return the middles of side^D cubes, shape (side^D, D)."""
    axes = [(np.arange(side) + 0.5) / side] * dimension
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension)


@cache
def function(setting: str, seed: int) -> tuple[RKHSFunction, float]:
    """Return f and its largest value."""
    drawn = SETTINGS[setting]
    f = draw_rkhs_function(
        drawn.kernel, drawn.dimension, norm=NORM, style=drawn.style, rng=generator(seed, drawn.dimension, _FUNCTION)
    )
    return f, f.maximum()[1]


class Chooser(Protocol):
    """What chooses points."""

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in the value y observed at x, shape (D,)."""


class Searching:
    """A search of the package."""

    def __init__(self, search: Search, dimension: int) -> None:
        self.search, self.none = search, np.empty((0, dimension))

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        return self.search.ask(i, self.none).x

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in the value y observed at x, shape (D,)."""
        self.search.tell(Observation(i, x, np.array([y])))


class OverLattice:
    """What takes the maximum of an index over a lattice; the first point is random.

    Parameters
    ----------
    points
        The lattice, shape (A, D).
    seed
        Of the first point.
    """

    def __init__(self, points: Array, seed: int) -> None:
        self.points = points
        self.chosen = int(generator(seed, _FIRST).integers(len(points)))

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        if i:
            self.chosen = int(np.argmax(self.index()))
        return np.asarray(self.points[self.chosen])

    def index(self) -> Array:
        """Return what is maximised at every point, shape (A,)."""
        raise NotImplementedError

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in the value y observed at x, shape (D,)."""
        raise NotImplementedError


class GPUCB(OverLattice):
    """The upper end of one adaptive band (`quadrat.confidence.AdaptiveBand`), over the lattice."""

    def __init__(self, kernel: Kernel, points: Array, seed: int) -> None:
        super().__init__(points, seed)
        self.regulariser = default_regulariser(Assumptions(kernel, NORM, NOISE))
        self.posteriors: list[Posterior] = [FewPoints(kernel, points, rung * self.regulariser) for rung in RUNGS]
        self.quadratic = np.zeros(len(RUNGS))  # y^T (K + a I)^-1 y

    def index(self) -> Array:
        """Return the lowest upper bound of the rungs, before it is clipped to B, shape (A,)."""
        ends = [
            posterior.mean + reach * np.sqrt(np.maximum(posterior.variance, 0.0))
            for posterior, reach in zip(self.posteriors, self._reaches(), strict=True)
        ]
        return np.asarray(np.min(ends, axis=0))

    def _reaches(self) -> list[float]:
        """Return what deviations are multiplied by, by rung."""
        base = self.posteriors[0]
        squared = NOISE**2 * 2 * (log(1 / (0.9 * DELTA)) + base.gain) + self.regulariser * self.quadratic[0]
        return [
            sqrt(max(squared / posterior.regulariser + NORM**2 - float(quadratic), 0.0))
            for posterior, quadratic in zip(self.posteriors, self.quadratic, strict=True)
        ]

    def tell(self, i: int, x: Array, y: float) -> None:  # noqa: ARG002
        """Take in the value y observed at x, shape (D,)."""
        j = self.chosen
        for rung, posterior in enumerate(self.posteriors):
            left = y - float(posterior.mean[j])
            self.quadratic[rung] += left**2 / (float(posterior.variance[j]) + posterior.regulariser)
            posterior.observe(j, y)


class Sharpened(GPUCB):
    """GP-UCB of which every second trial is where it lowers the variance of f(x) - f(z) most.

    z has the highest lower bound, x the largest bound of f(x) - f(z): as `LPGPUCB(goal="certificate")`, over the
    lattice.
    """

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        if i % 2 == 0:
            return super().ask(i)
        lowers, apart = [], []
        reaches = self._reaches()
        for posterior, reach in zip(self.posteriors, reaches, strict=True):
            lowers.append(posterior.mean - reach * np.sqrt(np.maximum(posterior.variance, 0.0)))
        z = int(np.argmax(np.max(lowers, axis=0)))
        for posterior, reach in zip(self.posteriors, reaches, strict=True):
            to_z = posterior.column(z)
            variance = posterior.variance + to_z[z] - 2 * to_z
            apart.append(posterior.mean - posterior.mean[z] + reach * np.sqrt(np.maximum(variance, 0.0)))
        gap = np.min(apart, axis=0)
        gap[z] = -np.inf
        steer = self.posteriors[RUNGS.index(4.0)]
        taken = (steer.column(int(np.argmax(gap))) - steer.column(z)) ** 2 / (steer.variance + steer.regulariser)
        self.chosen = int(np.argmax(taken))
        return np.asarray(self.points[self.chosen])


class IGPUCB(OverLattice):
    """mu + beta_t sigma with lambda = 1 + 2/n and the realised gain (`quadrat.research.IGPUCB`), over the lattice."""

    def __init__(self, kernel: Kernel, points: Array, n: int, seed: int) -> None:
        super().__init__(points, seed)
        self.posterior = FewPoints(kernel, points, 1 + 2 / n)

    def index(self) -> Array:
        """Return the index at every point, shape (A,)."""
        beta = NORM + NOISE * sqrt(2 * (self.posterior.gain + 1 + log(1 / DELTA)))
        return np.asarray(self.posterior.mean + beta * np.sqrt(np.maximum(self.posterior.variance, 0.0)))

    def tell(self, i: int, x: Array, y: float) -> None:  # noqa: ARG002
        """Take in the value y observed at x, shape (D,)."""
        self.posterior.observe(self.chosen, y)


class BKB(OverLattice):
    """mu~ + beta_t sigma~ of a sketched posterior with its realised gain (`quadrat.research.BKB`), over the lattice."""

    def __init__(self, kernel: Kernel, points: Array, seed: int) -> None:
        super().__init__(points, seed)
        method = qd.research.BKB(kernel=kernel, norm_bound=NORM, noise=NOISE, delta=DELTA)
        self.process = SketchedProcess(
            kernel, noise_variance=method.regulariser(NOISE**2), sketch=method.sketch, seed=seed
        )

    def index(self) -> Array:
        """Return the index at every point, shape (A,)."""
        gained = self.process.logdet + 2 * log(1 / DELTA)
        at = self.process.predict(self.points)
        return np.asarray(at.mean + (NORM + NOISE / sqrt(self.process.noise_variance) * sqrt(gained)) * at.deviation)

    def tell(self, i: int, x: Array, y: float) -> None:  # noqa: ARG002
        """Take in the value y observed at x, shape (D,)."""
        self.process.add(x[None], [y])


def chooser(setting: str, method: str, seed: int, n: int) -> Chooser:
    """Return a method at the start of a run."""
    drawn = SETTINGS[setting]
    kernel, cube = drawn.kernel, Domain.cube(drawn.dimension)
    stated: dict[str, Any] = {"kernel": kernel, "norm_bound": NORM, "noise": NOISE, "delta": DELTA, "budget": n}
    if method in CELLS:
        goal: Any = "certificate" if method == "LP-GP-UCB" else "regret"
        given = LPGPUCB(**stated, goal=goal, threshold=_threshold(setting, n))
        if method != "LP0, one band":
            return Searching(given.start(cube, seed), drawn.dimension)
        wanted = CellOptions(
            budget=n, degree=0, delta=DELTA, threshold=_threshold(setting, n), max_cells=given.max_cells
        )
        one = CertifiedSearch(Assumptions(kernel, NORM, NOISE), cube, seed, wanted, capacity=None)
        return Searching(one, drawn.dimension)
    if method == "pi-GP-UCB":
        return Searching(PiGPUCB(**stated, standardise=False, n_initial=1).start(cube, seed), drawn.dimension)
    points = lattice(drawn.side, drawn.dimension)
    if method == "IGP-UCB":
        return IGPUCB(kernel, points, n, seed)
    if method == "BKB":
        return BKB(kernel, points, seed)
    return Sharpened(kernel, points, seed) if method == "GP-UCB, sharpened" else GPUCB(kernel, points, seed)


@cache
def _threshold(setting: str, n: int) -> float:
    """That of `LPGPUCB`: B s gamma_n / sqrt(n)."""
    drawn = SETTINGS[setting]
    return NORM * information_gain(drawn.kernel, n, (NOISE / NORM) ** 2, drawn.dimension).value / sqrt(n)


def run(setting: str, method: str, seed: int, n: int, limit: float) -> Row:
    """One whole run: at each checkpoint, and at the end, what was lost and what is certified."""
    f, best = function(setting, seed)
    start = time.process_time()
    choosing = chooser(setting, method, seed, n)
    spent = time.process_time() - start
    looked = [at for at in CHECKPOINTS if at < n]
    X, y, lost, found = np.empty((n, f.dimension)), np.empty(n), 0.0, []
    told = 0
    while told < n and spent < limit:
        start = time.process_time()
        x = choosing.ask(told)
        asked = time.process_time() - start
        value = float(f.values(x[None])[0])
        X[told], y[told] = x, value + NOISE * generator(seed, told, _NOISE).normal()
        start = time.process_time()
        choosing.tell(told, x, float(y[told]))
        spent += asked + time.process_time() - start
        lost += best - value
        told += 1
        if told in looked or told == n or spent >= limit:
            found.append(
                {"n": told, "cpu": _short(spent), "lost": _short(lost / told)}
                | _looked(choosing, method, X[:told], y[:told], f, best)
            )
    return {"best": _short(best), "evaluations": told, "found": found}


def _looked(choosing: Chooser, method: str, X: Array, y: Array, f: RKHSFunction, best: float) -> dict[str, object]:
    """The certificates of what was observed by either kind of band, whether they hold, and the regrets of their points.

    `None` stands for a certificate that was not computed, and for one whose assumptions the data reject.
    """
    given = Assumptions(f.kernel, NORM, NOISE)
    own = {"LP-GP-UCB": "cells", "LP0": "cells", "LP0, one band": "one"}.get(method)
    looked: dict[str, object] = {"distinct": len(np.unique(X, axis=0))}
    for kind in ("cells", "one"):
        certificate: Certificate | None = None
        if kind == own and isinstance(choosing, Searching):
            search = choosing.search
            assert isinstance(search, CertifiedSearch)
            answer = search.certificate(search.recommend().x)
            assert isinstance(answer, Certificate)
            certificate = answer
        elif kind == "cells" or int(str(looked["distinct"])) <= MOST:
            band: Band = LocalBand(given, DELTA, f.dimension, capacity=CAPACITY)
            if kind == "one":
                band = AdaptiveBand(given, DELTA)
            band.add(X, y)
            certificate = certify(band, dimension=f.dimension, max_cells=2048)
        known = certificate is not None and certificate.rejection is None
        regret = best - float(f.values(certificate.point[None])[0]) if certificate is not None else None
        looked[kind] = _short(certificate.value) if certificate is not None and known else None
        looked[f"{kind} regret"] = None if regret is None else _short(regret)
        looked[f"{kind} held"] = (
            None if certificate is None or regret is None else bool(known and regret <= certificate.value)
        )
    return looked


def _short(value: float) -> float:
    return float(f"{value:.6g}")


# --- tables


def at_end(row: Row) -> Row:
    """What was found at the end of a run."""
    found = row["found"]
    assert isinstance(found, list)
    last: Row = found[-1]
    return last


def group(rows: Sequence[Row], setting: str, n: int, method: str) -> dict[int, Row]:
    """The runs of a method in a setting with this many evaluations planned, by seed."""
    wanted = (setting, n, method)
    return {int(str(row["seed"])): row for row in rows if (row["setting"], row["n"], row["method"]) == wanted}


COLUMNS = (
    "evaluations", "runs", "mean regret", "certificate, bands of cells", "certificate, one band",
    "regret of the point", "certificate failed", "CPU s",
)  # fmt: skip


def report(rows: list[Row]) -> str:
    """Markdown: for each setting and n a table of all methods, and the ratios of LP-GP-UCB to each of the others."""
    parts = []
    for setting, drawn in SETTINGS.items():
        for n in drawn.horizons:
            lines = []
            for method in METHODS:
                runs = group(rows, setting, n, method).values()
                if runs:
                    lines.append(_line(method, [int(str(row["evaluations"])) for row in runs], [*map(at_end, runs)]))
            if lines:
                title = f"| {drawn.words}, n = {n:,} | " + " | ".join(COLUMNS) + " |"
                parts.append("\n".join([title, "|---" * (len(COLUMNS) + 1) + "|", *lines]))
    return "\n\n".join([*parts, _ratios(rows)])


def _line(method: str, evaluations: Sequence[int], entries: Sequence[Row]) -> str:
    reached = " to ".join(f"{number:,}" for number in sorted({min(evaluations), max(evaluations)}))
    held = [entry[f"{kind} held"] for entry in entries for kind in ("cells", "one")]
    counted = [one for one in held if one is not None]
    return (
        f"| {method} | {reached} | {len(entries)} | {_median(entries, 'lost', '.4f')}"
        f" | {_median(entries, 'cells', '.3f')} | {_median(entries, 'one', '.3f')}"
        f" | {_median(entries, 'cells regret', '.4f')} | {sum(not one for one in counted)} of {len(counted)}"
        f" | {_median(entries, 'cpu', '.1f')} |"
    )


def _median(entries: Sequence[Row], key: str, form: str) -> str:
    known = [float(str(entry[key])) for entry in entries if entry[key] is not None]
    return f"{np.median(known):{form}}" if known else "–"


MEASURES = {
    "certificate, bands of cells": ("LP-GP-UCB", "cells", "cells"),
    "certificate, one band": ("LP-GP-UCB", "one", "one"),
    "certificate, ours by cells, theirs by one band": ("LP-GP-UCB", "cells", "one"),
    "mean regret": ("LP-GP-UCB", "lost", "lost"),
    "mean regret, LP0": ("LP0", "lost", "lost"),
}
"""Title of a column: which of ours is compared, and by what of ours and of theirs."""


@dataclass(frozen=True)
class Compared:
    """One of ours against another method: the geometric mean of ratios over seeds with its 95 % interval."""

    setting: str
    n: int
    other: str
    title: str
    ratio: tuple[float, float, float]
    won: int
    runs: int


def compared(rows: Sequence[Row]) -> list[Compared]:
    """At the end of the runs, at the same time budget, seed by seed."""
    found = []
    for setting, n, other in product(SETTINGS, LENGTHS, OTHERS):
        theirs = group(rows, setting, n, other)
        for title, (method, our, their) in MEASURES.items():
            ours = group(rows, setting, n, method)
            pairs = [
                (float(str(a[our])), float(str(b[their])))
                for seed in sorted(ours.keys() & theirs.keys())
                if (a := at_end(ours[seed]))[our] is not None and (b := at_end(theirs[seed]))[their] is not None
            ]
            if pairs:
                first, second = [a for a, _ in pairs], [b for _, b in pairs]
                won = sum(a < b for a, b in pairs)
                found.append(Compared(setting, n, other, title, ratio([(first, second)]), won, len(pairs)))
    return found


SAID = {
    "certificate, bands of cells": ("its certificate by bands of cells", "narrower than that", "wider than that"),
    "certificate, one band": ("its certificate by one band", "narrower than that", "wider than that"),
    "certificate, ours by cells, theirs by one band": (
        "its certificate by cells, beside theirs by one band,",
        "narrower than that",
        "wider than that",
    ),
    "mean regret": ("its cumulative regret", "lower than that", "higher than that"),
    "mean regret, LP0": ("the cumulative regret of LP0, Algorithm 1 alone,", "lower than that", "higher than that"),
}
"""Title of a column: what is compared, and the words for less and more."""
SERIOUS, ALONE = 4, "mean regret, LP0"  # seeds of a comparison that is counted; what is not about LP-GP-UCB


def decided(one: Compared) -> int:
    """Return -1 where ours is less by the 95 % interval, 1 where it is more, 0 where that is not known."""
    if one.runs < SERIOUS:
        return 0
    _, low, high = one.ratio
    return -1 if high < 1 else int(low > 1)


def wins(rows: Sequence[Row]) -> bool:
    """Whether LP-GP-UCB has less of everything than every other method, wherever there are enough seeds."""
    counted = [one for one in compared(rows) if one.runs >= ENOUGH and one.title != ALONE]
    return bool(counted) and all(decided(one) < 0 for one in counted)


def verdict(rows: Sequence[Row]) -> str:
    """Return what the page says first: the settings with enough seeds in words, the others as counts."""
    found = [one for one in compared(rows) if one.runs >= SERIOUS]
    many, few = (
        [one for one in found if one.runs >= ENOUGH],
        [one for one in found if one.runs < ENOUGH and one.title != ALONE],
    )
    parts = []
    for setting, n in dict.fromkeys((one.setting, one.n) for one in many):
        said = []
        for title, (what, less, more) in SAID.items():
            mine = [one for one in many if (one.setting, one.n, one.title) == (setting, n, title)]
            for way, word in ((-1, f"{less} of"), (0, "not told apart from that of"), (1, f"{more} of")):
                named = [f"{one.other} {words(one.ratio)}" for one in mine if decided(one) == way]
                if named:
                    said.append(f"{what} is {word} {', '.join(named)}")
        runs = max(one.runs for one in many if (one.setting, one.n) == (setting, n))
        here = [one for one in many if (one.setting, one.n) == (setting, n) and one.title != ALONE]
        beaten = [other for other in OTHERS if all(decided(one) < 0 for one in here if one.other == other)]
        left = [other for other in OTHERS if other not in beaten]
        parts.append(f"It beats {' and '.join(beaten) or 'no method'} by everything that is compared")
        parts[-1] += f", and does not beat {' and '.join(left)} by everything." if left else "."
        parts.append(f"{SETTINGS[setting].words}, n = {n:,}, {runs} seeds:\n\n" + "\n".join(f"- {one}" for one in said))
    text = (
        "**Rough functions, short length-scales**, where the paper's idea should win: LP-GP-UCB (k = 0, bands of cells)"
        f" over each other method, ratios with 95 % intervals, after as many evaluations and at most {LIMIT:.0f} CPU"
        f" seconds. {' '.join(parts) or 'No setting has enough seeds yet.'}"
    )
    if few:
        counts = {way: sum(decided(one) == way for one in few) for way in (-1, 0, 1)}
        text += (
            f"\n\nElsewhere, with {SERIOUS} seeds or more, it has less in {counts[-1]} of {len(few)} comparisons,"
            f" more in {counts[1]}, and {counts[0]} are not decided."
        )
    return text


def _ratios(rows: Sequence[Row]) -> str:
    found = compared(rows)
    lines = [
        "| LP-GP-UCB / another method, at the end | | " + " | ".join(MEASURES) + " |",
        "|---|---|" + "---|" * len(MEASURES),
    ]
    for setting, n, other in product(SETTINGS, LENGTHS, OTHERS):
        mine = {one.title: one for one in found if (one.setting, one.n, one.other) == (setting, n, other)}
        if mine:
            shown = [
                f"{words(one.ratio)}, {one.won} of {one.runs}" if (one := mine.get(title)) else "–"
                for title in MEASURES
            ]
            lines.append(f"| {SETTINGS[setting].words}, n = {n:,} | {other} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def cells(runs: int) -> list[Cell]:
    """The grid: even seeds; lengths with a share of less than one have fewer. The shortest runs come first."""
    return [
        {"setting": setting, "method": method, "seed": 2 * i, "n": n, "limit": LIMIT}
        for n in LENGTHS
        for setting, drawn in SETTINGS.items()
        for i in range(max(round(runs * drawn.horizons[n]), 1) if n in drawn.horizons else 0)
        for method in METHODS
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        tiny: list[Cell] = [{**cell, "n": 12} for cell in cells(1) if (cell["setting"], cell["n"]) in SMOKE]
        rows = [{**row, "n": 500} for row in run_here(run, tiny)]
    elif chosen.report:
        rows = finished(NAME)
    else:
        rows = complete(NAME, run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
