"""Search with any method, certify the answer: how wide are the certificates, and do they hold?

    python experiments/certified_runs.py [--smoke] [--runs 20] [--workers 1] [--report]

Functions of norm exactly 1 under Matérn 5/2 with length-scale .3, noise .1, delta = .05, which is what is stated; D = 1
and 2, even seeds. Each method chooses 100 points; after 25, 50 and 100 the run is certified (`Optimizer.certify`, 4,096
cells): the recommended point, and the one with the best guaranteed value. LP-GP-UCB, which has the true B and
kernel, is also asked for the certificate that it computes itself: it keeps a quarter of delta for averages, and takes
the smallest bound of all times on each cell; certifying after the fact has the whole delta, and the band of one time.

A run violates where at any of these moments the objective is outside of an interval, the regret above its bound, or the
data reject the (true) assumptions. Finished runs are kept as JSON lines in experiments/results/certified_runs.jsonl and
not run again; --report prints the table from that file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here, write_table  # isort: skip  # sets BLAS threads

from itertools import product
from typing import Any

import numpy as np

import quadrat as qd
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

LENGTHSCALE, NOISE = 0.3, 0.1
KERNEL = qd.Matern(2.5, LENGTHSCALE)
METHODS = ("Auto", "LPGPUCB", "SobolSearch", "RandomSearch")
DIMENSIONS = (1, 2)
CHECKPOINTS = (25, 50, 100)
OWN = "LPGPUCB, its own"
SAID: dict[str, Any] = {"stated_before_data": True, "every_value_counts": True}


def method_of(name: str, n: int) -> qd.Method | str:
    """Return a method; LP-GP-UCB is told the truth."""
    return qd.LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=NOISE, budget=n) if name == "LPGPUCB" else name


def holds(f: RKHSFunction, top: float, params: dict[str, Any], interval: tuple[float, float], regret: float) -> bool:
    """Whether what is certified of a setting is true of it."""
    value = float(f.values(np.array([list(params.values())]))[0])
    return interval[0] <= value <= interval[1] and top - value <= regret


def run(method: str, D: int, seed: int, n: int) -> Row:
    """One whole run; f and noise of a seed are the same for all methods."""
    f = draw_rkhs_function(KERNEL, D, norm=1.0, rng=generator(seed, D, 60))
    best, top = f.maximum()
    del best
    space = qd.Space(**{f"x{i}": qd.Float(0, 1) for i in range(D)})
    stated = qd.RunAssumptions(kernel=KERNEL, lengthscales="unit cube", norm_bound=1.0, offset=0.0, noise=NOISE)
    optimizer = qd.Optimizer(space, direction="maximize", method=method_of(method, n), seed=seed)
    found: dict[str, dict[str, Any]] = {}
    for i in range(n):
        trial = optimizer.ask()
        at = float(f.values(np.array([list(trial.params.values())]))[0])
        optimizer.tell(trial, at + NOISE * float(generator(seed, i, 61).normal()))
        if i + 1 not in CHECKPOINTS and i + 1 != n:
            continue
        certified = optimizer.certify(stated, **SAID)
        if certified.recommended is None or certified.best is None:
            found[str(i + 1)] = {"held": False, "recommended": None, "best": None, "regret": None, "own": None}
            continue
        points = (certified.recommended, certified.best)
        held = all(holds(f, top, one.params, one.certified_interval, one.remaining_regret) for one in points)
        own = None
        if method == "LPGPUCB":
            report = optimizer.certificate()
            own = report.value
            assert report.params is not None
            assert report.certified_interval is not None
            assert report.value is not None
            held &= holds(f, top, report.params, report.certified_interval, report.value)
        value = float(f.values(np.array([list(points[0].params.values())]))[0])
        found[str(i + 1)] = {
            "held": held, "recommended": _short(points[0].remaining_regret), "best": _short(points[1].remaining_regret),
            "regret": _short(top - value), "own": None if own is None else _short(own),
        }  # fmt: skip
    return {"at": found}


def _short(number: float) -> float:
    """Six digits are enough for a table."""
    return float(f"{number:.6g}")


def report(rows: list[Row]) -> str:
    """A Markdown table: median certificates at each checkpoint, median true regret at the last, violations."""
    last = max((int(n) for row in rows for n in _at(row)), default=0)
    shown = sorted({int(n) for row in rows for n in _at(row)})
    lines = [
        "| method that chose the points | D | runs | "
        + " | ".join(f"certificate, n = {n}" for n in shown)
        + f" | best guaranteed point, n = {last} | true regret, n = {last} | violations |",
        "|---|---|---|" + "---|" * (len(shown) + 3),
    ]
    for dimension, method in product(DIMENSIONS, (*METHODS, OWN)):
        name, key = ("LPGPUCB", "own") if method == OWN else (method, "recommended")
        group = [row for row in rows if (row["method"], row["D"]) == (name, dimension)]
        if not group:
            continue
        medians = [_median(group, n, key) for n in shown]
        best = "–" if method == OWN else f"{_median(group, last, 'best'):.3f}"
        violated = sum(not all(one["held"] for one in _at(row).values()) for row in group)
        lines.append(
            f"| {method} | {dimension} | {len(group)} | "
            + " | ".join(f"{median:.3f}" for median in medians)
            + f" | {best} | {_median(group, last, 'regret'):.4f} | {violated} |"
        )
    return "\n".join(lines)


def _at(row: Row) -> dict[str, dict[str, Any]]:
    at = row["at"]
    assert isinstance(at, dict)
    return at


def _median(group: list[Row], n: int, key: str) -> float:
    known = [_at(row)[str(n)][key] for row in group if str(n) in _at(row)]
    return float(np.median([value for value in known if value is not None] or [np.nan]))


def cells(runs: int, n: int = CHECKPOINTS[-1]) -> list[Cell]:
    """The grid: even seeds."""
    kinds = product(range(0, 2 * runs, 2), DIMENSIONS, METHODS)
    return [{"method": method, "D": D, "seed": seed, "n": n} for seed, D, method in kinds]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        print(report(run_here(run, cells(1, 12))))
        return
    rows = finished("certified_runs") if chosen.report else None
    rows = complete("certified_runs", run, cells(chosen.runs), chosen.workers) if rows is None else rows
    print(write_table("certified_runs", "Certificates of runs of any method", report(rows), rows))


if __name__ == "__main__":
    main()
