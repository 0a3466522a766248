"""Additive functions of 10 and 20 variables: Add-GP-UCB with known and with learned groups against GP-UCB.

    python experiments/additive.py [--smoke] [--runs 20] [--workers 2] [--report]

Problems, with groups drawn anew for every seed, each group's function with mean 0 and standard deviation 1 over its
square, the noise of one observation .3:

- rkhs10: D = 10, four pairs and two single axes; on each a rough draw from the RKHS of a Matérn 5/2 kernel with
  length-scale .25.
- branin20: D = 20, ten pairs; Branin's function on each.

n = 200 evaluations, one at a time. Methods:

- GP-UCB: `GPUCB` with `Learned(refit_every="doubling")`, told the noise, beta_t as in its theorem 1.
- GP-UCB / 5: the same with beta_t divided by 5, as in its paper's experiments.
- one group: `AddGPUCB` that takes all axes for one group, so that nothing is additive. The plain methods above have one
  length-scale for all axes and recommend evaluated points; AddGPUCB has one for each axis, learns the noise too, and
  recommends the maximum of its model. What additivity itself buys is the difference to this one (ten seeds).
- known: `AddGPUCB` with the true groups.
- learned: `AddGPUCB` that learns groups of at most two axes.

Regret is max f - f of the recommended point, without noise; `mean regret` that of the evaluated points, averaged.
Agreement of groups is the Rand index: the share of pairs of axes that both partitions join or both part. Finished runs
are kept as JSON lines in experiments/results/additive.jsonl and not run again; --report prints the tables from that
file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
from paired import pairs_of, ratio, words

import problems
import quadrat as qd
from problems import Problem
from quadrat._core.arrays import Array
from quadrat.methods import GPUCB
from quadrat.methods.additive.groups import ordered
from quadrat.methods.additive.method import AddGPUCB
from quadrat.methods.additive.model import Groups
from quadrat.methods.base import Domain, Method, Observation
from quadrat.methods.surrogate import Learned
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

PROBLEMS, METHODS = ("rkhs10", "branin20"), ("GP-UCB", "GP-UCB / 5", "one group", "known", "learned")
SIZES = {"rkhs10": (2, 2, 2, 2, 1, 1), "branin20": (2,) * 10}
NOISE, N, KERNEL = 0.3, 200, qd.Matern(2.5, 0.25)
CHECKPOINTS = (50, 100, 150, 200)
LARGEST = 2
ONE_GROUP = 10  # seeds of the model of one group
# Streams beside the seed.
_GROUPS, _FUNCTION, _SCALE, _NOISE = 50, 51, 52, 53


@dataclass(frozen=True)
class Part:
    """A function of one group's axes, brought to mean 0 and standard deviation 1."""

    function: RKHSFunction | Problem
    shift: float
    scale: float

    def values(self, points: Array) -> Array:
        """Return values at points of the group's own square, shape (n, d)."""
        return (self.function.values(points) - self.shift) / self.scale


@dataclass(frozen=True)
class Additive:
    """f = sum_j f^(j)(x^(j)), and its maximum."""

    groups: tuple[tuple[int, ...], ...]
    parts: tuple[Part, ...]
    maximum: float

    @property
    def dimension(self) -> int:
        """D."""
        return sum(map(len, self.groups))

    def values(self, points: Array) -> Array:
        """Return f at points, shape (n, D)."""
        return np.asarray(
            sum(
                part.values(np.ascontiguousarray(points[:, list(g)]))
                for g, part in zip(self.groups, self.parts, strict=True)
            )
        )


@cache
def problem_of(name: str, seed: int) -> Additive:
    """Return the problem of this name and seed; kept, as finding its maximum takes a while."""
    sizes = SIZES[name]
    axes = generator(seed, _GROUPS).permutation(sum(sizes)).tolist()
    ends = np.cumsum(sizes).tolist()
    groups = tuple(tuple(sorted(axes[end - size : end])) for size, end in zip(sizes, ends, strict=True))
    parts, maximum = [], 0.0
    for j, size in enumerate(sizes):
        if name == "rkhs10":
            drawn = draw_rkhs_function(KERNEL, size, rng=generator(seed, _FUNCTION, j), style="rough")
            seen = drawn.values(generator(seed, _SCALE, j).random((4000, size)))
            parts.append(Part(drawn, float(seen.mean()), float(seen.std())))
            top = drawn.maximum()[1]
        else:
            classic = problems.get("branin2")
            parts.append(Part(classic, 0.0, 1.0))
            assert classic.optimal_value is not None
            top = classic.optimal_value
        maximum += (top - parts[-1].shift) / parts[-1].scale
    return Additive(groups, tuple(parts), maximum)


def method_of(name: str, groups: Groups) -> Method:
    """Return the method of this name for a problem with these groups."""
    if name.startswith("GP-UCB"):
        scale = 0.2 if name.endswith("/ 5") else 1.0
        return GPUCB(kernel=Learned(refit_every="doubling"), noise=NOISE, scale=scale)
    if name == "one group":
        return AddGPUCB(groups=[sorted(axis for group in groups for axis in group)])
    return AddGPUCB(groups=groups) if name == "known" else AddGPUCB(group_size=LARGEST)


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One whole run; f and noise of a seed are the same for all methods."""
    f = problem_of(problem, seed)
    search = method_of(method, f.groups).start(Domain.cube(f.dimension), seed)
    none = np.empty((0, f.dimension))
    points, at, regrets = [], [], []
    for i in range(n):
        x = search.ask(i, none).x
        points.append(x)
        value = float(f.values(x[None])[0]) + NOISE * generator(seed, i, _NOISE).normal()
        search.tell(Observation(i, x, np.array([value])))
        if i + 1 in CHECKPOINTS or i + 1 == n:
            at.append(i + 1)
            regrets.append(_short(f.maximum - float(f.values(search.recommend().x[None])[0])))
    row: Row = {
        "regret": regrets[-1], "mean regret": _short(f.maximum - float(f.values(np.array(points)).mean())),
        "at": at, "regrets": regrets,
    }  # fmt: skip
    if method == "learned":
        found = search.explain()["groups"]
        assert isinstance(found, list)
        learned = ordered(found)
        row |= {
            "groups": found,
            "exact": learned == ordered(f.groups),
            "agreement": _short(agreement(learned, f.groups)),
        }
    return row


def agreement(first: Sequence[Sequence[int]], second: Sequence[Sequence[int]]) -> float:
    """Return the Rand index of two partitions: the share of pairs of axes that both join or both part."""
    label_of = [{axis: j for j, group in enumerate(groups) for axis in group} for groups in (first, second)]
    same = [[of[i] == of[j] for i, j in combinations(sorted(of), 2)] for of in label_of]
    return float(np.mean([a == b for a, b in zip(*same, strict=True)]))


def _short(number: float) -> float:
    """Six digits are enough for a table."""
    return float(f"{number:.6g}")


def _numbers(rows: Sequence[Row], key: str) -> list[float]:
    return [float(str(row[key])) for row in rows]


def report(rows: list[Row]) -> str:
    """Markdown tables: regrets by method, ratios to GP-UCB on the same seeds, and what became of the groups."""
    lines = ["| problem | method | runs | median regret | median mean regret | seconds |", "|---|---|---|---|---|---|"]
    for problem, method in product(PROBLEMS, METHODS):
        group = [row for row in rows if (row["problem"], row["method"]) == (problem, method)]
        if group:
            medians = [f"{np.median(_numbers(group, key)):.3f}" for key in ("regret", "mean regret")]
            seconds = f"{np.median(_numbers(group, 'seconds')):.1f}"
            lines.append(f"| {problem} | {method} | {len(group)} | {' | '.join(medians)} | {seconds} |")
    lines += ["", "| problem | compared | regret, ratio | mean regret, ratio |", "|---|---|---|---|"]
    for problem, first, second in product((*PROBLEMS, "both"), METHODS[3:], METHODS[:3]):
        some = [row for row in rows if problem in (row["problem"], "both")]
        pairs = [pairs_of(some, key, {"method": first}, {"method": second}) for key in ("regret", "mean regret")]
        if pairs[0]:
            ratios = " | ".join(words(ratio(pair, least=1e-3)) for pair in pairs)
            lines.append(f"| {problem} | {first} / {second} | {ratios} |")
    lines += ["", "| problem | runs | groups exact | agreement, mean | agreement, least |", "|---|---|---|---|---|"]
    for problem in PROBLEMS:
        group = [row for row in rows if (row["problem"], row["method"]) == (problem, "learned")]
        if group:
            exact, agreed = sum(bool(row["exact"]) for row in group), _numbers(group, "agreement")
            lines.append(f"| {problem} | {len(group)} | {exact} | {np.mean(agreed):.3f} | {min(agreed):.3f} |")
    return "\n".join(lines)


def cells(runs: int, n: int = N) -> list[Cell]:
    """The grid: every method on every problem, `runs` seeds each."""
    return [
        {"method": method, "problem": problem, "seed": seed, "n": n}
        for seed, problem, method in product(range(runs), PROBLEMS, METHODS)
        if seed < ONE_GROUP or method != "one group"
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 12))
    elif chosen.report:
        rows = finished("additive")
    else:
        rows = complete("additive", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
