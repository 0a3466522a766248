"""Do certificates hold, and how wide are they? Whole runs of LP-GP-UCB on functions of norm exactly 1.

    python experiments/certificates.py [--smoke] [--runs 200] [--workers 2] [--report]

Matérn 5/2, length-scale .3, B = 1, sigma = .1, delta = .05, n = 200; D = 1, 2 and k = 0, 1. Each run checks after every
tenth evaluation that the certificate is at least the true regret of its point. Finished runs are kept as JSON lines in
experiments/results/certificates.jsonl and not run again; --report prints the table from that file alone.
"""

from __future__ import annotations

from grid import Row, finished, options, run_missing  # isort: skip  # sets the number of BLAS threads

import time
from collections import Counter
from itertools import product

import numpy as np

import quadrat as qd
from quadrat.confidence import Certificate
from quadrat.methods.base import Told
from quadrat.methods.lp_gp_ucb import LPGPUCB
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL, NOISE, DELTA = qd.Matern(2.5, 0.3), 0.1, 0.05


def run(dimension: int, degree: int, seed: int, n: int) -> Row:
    """One whole run."""
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(seed, dimension, 40))
    best = f.maximum()[1]
    method = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=NOISE, budget=n, degree=degree, delta=DELTA)
    search = method.start(dimension, seed)
    held, rejected, value, regret = True, False, float("nan"), float("nan")
    start = time.perf_counter()
    for i in range(n):
        x = search.ask(i, np.empty((0, dimension))).x
        search.tell(Told(i, x, np.array([float(f(x)) + NOISE * generator(seed, i, 41).normal()])))
        if i % 10 == 9 or i == n - 1:
            certificate = search.certificate()
            assert isinstance(certificate, Certificate)
            regret = best - float(f(certificate.point))
            rejected |= certificate.rejection is not None
            value = certificate.value
            held &= regret <= value
    cells = search.explain()["cells"]
    assert isinstance(cells, list)
    return {
        "D": dimension, "k": degree, "seed": seed, "n": n, "held": held, "rejected": rejected, "certificate": value,
        "regret": regret, "active": dict(Counter(str(cell["active"]) for cell in cells)),
        "seconds": round(time.perf_counter() - start, 2), "version": qd.__version__,
    }  # fmt: skip


def report(rows: list[Row]) -> str:
    """A Markdown table."""
    lines = [
        "| D | k | runs | certificate failed | rejected | median certificate | median regret | active bounds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for dimension, degree in sorted({(int(str(row["D"])), int(str(row["k"]))) for row in rows}):
        group = [row for row in rows if (row["D"], row["k"]) == (dimension, degree)]
        active: Counter[str] = Counter()
        for row in group:
            counts = row["active"]
            assert isinstance(counts, dict)
            active.update(counts)
        shares = ", ".join(f"{name} {count / active.total():.1%}" for name, count in active.most_common())
        lines.append(
            f"| {dimension} | {degree} | {len(group)} | {sum(not row['held'] for row in group)}"
            f" | {sum(bool(row['rejected']) for row in group)}"
            f" | {np.median([float(str(row['certificate'])) for row in group]):.3f}"
            f" | {np.median([float(str(row['regret'])) for row in group]):.4f} | {shares} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=200)
    kinds = list(product((1, 2), (0, 1)))
    if chosen.smoke:
        print(report([run(dimension, degree, 0, 12) for dimension, degree in kinds]))
        return
    if not chosen.report:
        done = {(row["D"], row["k"], row["seed"]) for row in finished("certificates")}
        grid = [(d, k, seed) for seed in range(chosen.runs) for d, k in kinds]
        run_missing("certificates", run, [(*item, 200) for item in grid if item not in done], chosen.workers)
    print(report(finished("certificates")))


if __name__ == "__main__":
    main()
