"""Do certificates hold, and how wide are they? Whole runs on functions of norm exactly 1.

    python experiments/certificates.py [--smoke] [--runs 40] [--workers 2] [--report]

Matérn 5/2, length-scale .3, B = 1, sigma = .1, delta = .05, n = 200; D = 1, 2, 3. Policies:

- LP k=0, LP k=1: LP-GP-UCB of degree k; a part of delta goes to averages and polynomials. Every second trial sharpens
  the certificate.
- regret LP k=0: the same with goal="regret", as of LP0: all trials are those of Algorithm 1.
- GP-UCB: the point with the largest upper bound of the adaptive band over the cube, which gets the whole delta; of
  points whose bound is clipped to B, the one where it would be largest without the clip. The maximum is searched over
  256 Sobol points and then around the best one. Its certificate is that of `quadrat.confidence.certify` with the same
  effort that LP-GP-UCB spends, 2,048 cells and tolerance .002.

Seeds are even; of GP-UCB, and in three dimensions, there are fewer of them. Each run checks after every tenth
evaluation that the certificate is at least the true regret of its point; a run in which the data reject the (true)
assumptions counts as failed too. Certificate and regret are recorded at n = 10, 20, 50, 100, 150 and 200, and the mean
regret of the points evaluated. Finished runs are kept as JSON lines in experiments/results/certificates.jsonl and not
run again; --report prints the tables from that file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections import Counter
from itertools import product
from math import isfinite
from typing import Protocol

import numpy as np
from scipy.stats import qmc

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, Certificate, certify
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Domain, Observation
from quadrat.methods.lp.search import Goal
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL, NOISE, DELTA = qd.Matern(2.5, 0.3), 0.1, 0.05
POLICIES, DIMENSIONS = ("LP k=0", "LP k=1", "regret LP k=0", "GP-UCB"), (1, 2, 3)
CHECKPOINTS = (10, 20, 50, 100, 150, 200)
SHOWN = (10, 20, 50, 100, 200)
CANDIDATES = 256
NEAR, STEPS = 32, (0.05, 0.01, 0.002)  # points around the best one so far, and their distances from it


class Policy(Protocol):
    """What chooses points and certifies."""

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in the value y observed at x, shape (D,)."""

    def certificate(self) -> Certificate:
        """Return the certificate after what was told."""

    def active(self) -> dict[str, int]:
        """How many cells take their bound from each source."""


class LP:
    """LP-GP-UCB with polynomials of degree k."""

    def __init__(self, dimension: int, degree: int, goal: Goal, seed: int, n: int) -> None:
        method = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=NOISE, budget=n, degree=degree, delta=DELTA, goal=goal)
        self.search = method.start(Domain.cube(dimension), seed)
        self.none = np.empty((0, dimension))

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        return self.search.ask(i, self.none).x

    def tell(self, i: int, x: Array, y: float) -> None:
        """Take in the value y observed at x, shape (D,)."""
        self.search.tell(Observation(i, x, np.array([y])))

    def certificate(self) -> Certificate:
        """Return the certificate after what was told."""
        certificate = self.search.certificate(self.search.recommend().x)
        assert isinstance(certificate, Certificate)
        return certificate

    def active(self) -> dict[str, int]:
        """How many cells take their bound from each source."""
        cells = self.search.explain()["cells"]
        assert isinstance(cells, list)
        return dict(Counter(str(cell["active"]) for cell in cells))


class UpperBound:
    """The point with the largest upper bound of the adaptive band: GP-UCB with a band that holds."""

    def __init__(self, dimension: int, seed: int) -> None:
        self.band = AdaptiveBand(Assumptions(KERNEL, 1.0, NOISE), DELTA)
        self.dimension, self.seed = dimension, seed
        shifted = qmc.Sobol(dimension, scramble=False).random(CANDIDATES) + generator(seed, dimension, 42).random(
            dimension
        )
        # The centre first: it is taken when nothing is known yet.
        self.candidates = np.vstack([np.full((1, dimension), 0.5), shifted % 1.0])

    def ask(self, i: int) -> Array:
        """Return the point of evaluation i, shape (D,)."""
        best = self._highest(self.candidates)
        if i == 0:
            return best
        rng = generator(self.seed, i, 43)
        for step in STEPS:
            around = best + step * rng.uniform(-1, 1, (NEAR, self.dimension))
            best = self._highest(np.vstack([best, np.clip(around, 0.0, 1.0)]))
        return best

    def _highest(self, points: Array) -> Array:
        upper = self.band.interval(points).upper
        tied = np.flatnonzero(upper >= upper.max() - 1e-12)
        at = tied[np.argmax(self.band.optimism(points[tied]))] if len(tied) > 1 else tied[0]
        return np.asarray(points[at])

    def tell(self, i: int, x: Array, y: float) -> None:  # noqa: ARG002
        """Take in the value y observed at x, shape (D,)."""
        self.band.add(x[None], [y])

    def certificate(self) -> Certificate:
        """Return the certificate after what was told."""
        return certify(self.band, dimension=self.dimension, max_cells=2048, tolerance=0.002)

    def active(self) -> dict[str, int]:
        """No cells."""
        return {}


def run(policy: str, D: int, seed: int, n: int) -> Row:
    """One whole run; f and noise of a seed are the same for all policies."""
    f = draw_rkhs_function(KERNEL, D, norm=1.0, rng=generator(seed, D, 40))
    best = f.maximum()[1]
    goal: Goal = "regret" if policy.startswith("regret") else "certificate"
    chooser: Policy = UpperBound(D, seed) if policy == "GP-UCB" else LP(D, int(policy[-1]), goal, seed, n)
    held, rejected = True, False
    at: list[int] = []
    values: list[float | None] = []  # None where the assumptions are rejected
    regrets: list[float] = []
    lost = 0.0
    for i in range(n):
        x = chooser.ask(i)
        lost += (best - float(f.values(x[None])[0])) / n
        chooser.tell(i, x, float(f.values(x[None])[0]) + NOISE * generator(seed, i, 41).normal())
        told = i + 1
        if told % 10 == 0 or told == n:
            certificate = chooser.certificate()
            regret = best - float(f.values(certificate.point[None])[0])
            rejected |= certificate.rejection is not None
            held &= regret <= certificate.value
            if told in CHECKPOINTS or told == n:
                at.append(told)
                values.append(_short(certificate.value) if isfinite(certificate.value) else None)
                regrets.append(_short(regret))
    return {
        "held": held, "rejected": rejected, "certificate": values[-1], "regret": regrets[-1],
        "active": chooser.active(), "at": at, "certificates": values, "regrets": regrets,
        "lost": _short(lost),
    }  # fmt: skip


def _short(number: float) -> float:
    """Six digits are enough for a table."""
    return float(f"{number:.6g}")


def groups(rows: list[Row]) -> list[tuple[str, int, list[Row]]]:
    """Rows by policy and D, in the order of the tables; rows without a policy are of an earlier form and left out."""
    found = []
    for policy, dimension in product(POLICIES, DIMENSIONS):
        group = [row for row in rows if (row.get("policy"), row.get("D")) == (policy, dimension)]
        if group:
            found.append((policy, dimension, group))
    return found


def report(rows: list[Row]) -> str:
    """A Markdown table: whether certificates held, and what they were at the end."""
    lines = [
        "| policy | D | k | runs | certificate failed | rejected | median certificate | median regret"
        " | median mean regret | active bounds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for policy, dimension, group in groups(rows):
        name, degree = (policy, "–")
        if policy != "GP-UCB":
            name, degree = "LP-GP-UCB" + (", regret" if policy.startswith("regret") else ""), policy[-1]
        active: Counter[str] = Counter()
        for row in group:
            counts = row["active"]
            assert isinstance(counts, dict)
            active.update(counts)
        shares = ", ".join(f"{name} {count / active.total():.1%}" for name, count in active.most_common())
        lines.append(
            f"| {name} | {dimension} | {degree} | {len(group)} | {sum(not row['held'] for row in group)}"
            f" | {sum(bool(row['rejected']) for row in group)} | {_median(group, 'certificate'):.3f}"
            f" | {_median(group, 'regret'):.4f} | {_median(group, 'lost'):.3f} | {shares or 'no cells'} |"
        )
    return "\n".join(lines)


def _median(group: list[Row], key: str) -> float:
    known = [float(str(row[key])) for row in group if row[key] is not None]
    return float(np.median(known)) if known else float("nan")


def curves(
    rows: list[Row], policy: str, D: int, what: str = "certificates"
) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return (n, lower quartile, median, upper quartile) of "certificates" or "regrets" over the runs of a policy."""
    by_n: dict[int, list[float]] = {}
    for row in rows:
        if (row.get("policy"), row.get("D")) == (policy, D):
            at, values = row["at"], row[what]
            assert isinstance(at, list)
            assert isinstance(values, list)
            for n, value in zip(at, values, strict=True):
                by_n.setdefault(n, []).extend([] if value is None else [value])
    ns = sorted(n for n, values in by_n.items() if values)
    low, middle, high = ([float(np.quantile(by_n[n], q)) for n in ns] for q in (0.25, 0.5, 0.75))
    return ns, low, middle, high


def widths(rows: list[Row]) -> str:
    """A Markdown table: the median certificate against the number of evaluations."""
    lines = ["| policy | D | " + " | ".join(f"n = {n}" for n in SHOWN) + " |", "|---|---|" + "---|" * len(SHOWN)]
    for policy, dimension, group in groups(rows):
        ns, _, middle, _ = curves(group, policy, dimension)
        of = dict(zip(ns, middle, strict=True))
        shown = " | ".join(f"{of[n]:.3f}" if n in of else "–" for n in SHOWN)
        lines.append(f"| {policy} | {dimension} | {shown} |")
    return "\n".join(lines)


def cells(runs: int, n: int = CHECKPOINTS[-1]) -> list[Cell]:
    """The grid: `runs` even seeds; a quarter of them (at least one) for GP-UCB and in three dimensions."""
    fewer = max(runs // 4, 1)
    kinds = product(range(runs), POLICIES, DIMENSIONS)
    return [
        {"policy": policy, "D": D, "seed": 2 * i, "n": n}
        for i, policy, D in kinds
        if (policy != "GP-UCB" and D < 3) or i < fewer
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=40)
    if chosen.smoke:
        rows = run_here(run, cells(1, 12))
    elif chosen.report:
        rows = finished("certificates")
    else:
        rows = complete("certificates", run, cells(chosen.runs), chosen.workers)
    print(report(rows))
    print()
    print(widths(rows))


if __name__ == "__main__":
    main()
