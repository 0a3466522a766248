"""Which wrong assumptions do the data reject, and which ones certify something false?

    python experiments/misstated.py [--smoke] [--runs 24] [--workers 2] [--report]

The truth: Matérn 5/2, length-scale .3, f of norm exactly 1, Gaussian noise of .1; D = 1 and 2. Stated is the truth but
for one number, which is a quarter, a half, twice or four times as large: norm bound, noise or length-scale.
(f has norm 1 under the true kernel. Under a longer length-scale its norm is larger, or infinite.)
LP-GP-UCB of degree 0 runs 60 evaluations under what is stated, delta = .05, and certifies after every fifth.

- rejected: the data reject what is stated, at some time;
- violated: before that, some certificate was less than the true regret of its point, or f(x*) above the bound of it;
- silent: violated and never rejected, so that nobody would know.

Certificates are the medians at the end of the runs that were not rejected. The last table is of curves over
length-scales that hold at once (`certificate_curves`), from the points of the runs in which the truth was stated: how
many values of the norm bound are rejected under each length-scale, and the certificates of what is left.

Finished runs are kept as JSON lines in experiments/results/misstated.jsonl and not run again; --report prints the
tables from that file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from itertools import product

import numpy as np

import quadrat as qd
from quadrat.confidence import Certificate, certificate_curves
from quadrat.methods import LP0
from quadrat.methods.base import Domain, Observation
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

SCALE, NOISE, DELTA = 0.3, 0.1, 0.05
WHAT, FACTORS, DIMENSIONS = ("norm bound", "noise", "length-scale"), (0.25, 0.5, 2.0, 4.0), (1, 2)
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0)


def run(what: str, factor: float, D: int, seed: int, n: int) -> Row:
    """One run under a statement that is wrong by a factor; f and noise of a seed are the same for all."""
    times = {name: factor if name == what else 1.0 for name in WHAT}
    f = draw_rkhs_function(qd.Matern(2.5, SCALE), D, norm=1.0, rng=generator(seed, D, 80))
    best = f.maximum()[1]
    kernel = qd.Matern(2.5, SCALE * times["length-scale"])
    method = LP0(kernel=kernel, norm_bound=times["norm bound"], noise=NOISE * times["noise"], budget=n, delta=DELTA)
    search = method.start(Domain.cube(D), seed)
    X, y = np.empty((n, D)), np.empty(n)
    rejected = violated = False
    value = None
    for i in range(n):
        X[i] = search.ask(i, np.empty((0, D))).x
        y[i] = float(f.values(X[i : i + 1])[0]) + NOISE * generator(seed, i, 81).normal()
        search.tell(Observation(i, X[i], y[i : i + 1]))
        if (i + 1) % 5 == 0 and not rejected:
            found = search.certificate(search.recommend().x)
            assert isinstance(found, Certificate)
            rejected = found.rejection is not None
            if not rejected:
                value = float(f"{found.value:.6g}")
                regret = best - float(f.values(found.point[None])[0])
                violated |= bool(regret > found.value or best > found.maximum)
    row: Row = {"rejected": rejected, "violated": violated, "certificate": None if rejected else value}
    if factor == 1.0:
        kernels = [qd.Matern(2.5, SCALE * times) for times in TIMES]
        curves = certificate_curves(kernels, X, y, noise=NOISE, norm_bounds=TIMES, delta=DELTA, max_cells=512)
        row["curves"] = [
            [None if out else float(f"{v:.6g}") for v, out in zip(c.values, c.rejected, strict=True)] for c in curves
        ]
    return row


def report(rows: list[Row]) -> str:
    """Markdown tables: what happened under each wrong statement, and the curves."""
    lines = [
        "| stated | D | runs | rejected | violated | silent | median certificate |",
        "|---|---|---|---|---|---|---|",
    ]
    for D, (what, factor) in product(DIMENSIONS, [("the truth", 1.0), *product(WHAT, FACTORS)]):
        group = [row for row in rows if (row["D"], row["what"], row["factor"]) == (D, what, factor)]
        if not group:
            continue
        name = what if what == "the truth" else f"{what} × {factor:g}"
        counts = [sum(bool(row[key]) for row in group) for key in ("rejected", "violated")]
        silent = sum(bool(row["violated"] and not row["rejected"]) for row in group)
        known = [float(str(row["certificate"])) for row in group if row["certificate"] is not None]
        middle = f"{np.median(known):.3f}" if known else "–"
        lines.append(f"| {name} | {D} | {len(group)} | {counts[0]} | {counts[1]} | {silent} | {middle} |")
    lines += [
        "",
        "| length-scale × | D | " + " | ".join(f"B = {B:g}" for B in TIMES) + " |",
        "|---|---|" + "---|" * len(TIMES),
    ]
    for D, (i, times) in product(DIMENSIONS, enumerate(TIMES)):
        curves = [row["curves"][i] for row in rows if row["D"] == D and isinstance(row.get("curves"), list)]  # type: ignore[index]
        if curves:
            shown = []
            for values in zip(*curves, strict=True):
                kept = [value for value in values if value is not None]
                out = f" ({len(values) - len(kept)} of {len(values)} rejected)" if len(kept) < len(values) else ""
                shown.append((f"{np.median(kept):.3f}" if kept else "–") + out)
            lines.append(f"| {times:g} | {D} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def cells(runs: int, n: int = 60) -> list[Cell]:
    """The grid: even seeds, every wrong statement and the truth."""
    kinds = [("the truth", 1.0), *product(WHAT, FACTORS)]
    return [
        {"what": what, "factor": factor, "D": D, "seed": seed, "n": n}
        for seed, D, (what, factor) in product(range(0, 2 * runs, 2), DIMENSIONS, kinds)
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=24)
    if chosen.smoke:
        rows = run_here(run, [{**cell, "n": 10} for cell in cells(1)[:3] + cells(1)[13:14]])
    else:
        rows = (
            finished("misstated") if chosen.report else complete("misstated", run, cells(chosen.runs), chosen.workers)
        )
    print(report(rows))


if __name__ == "__main__":
    main()
