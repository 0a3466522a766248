"""What certainty costs: the certified band against the plain posterior, and the bounds of single cells.

    python benchmarks/bounds.py [--smoke] [--write]

Medians of interleaved repeats, one BLAS thread, D = 2. Ratios are against a plain Gaussian process (one factor) that
observed the same; cell bounds are in milliseconds and in units of one posterior evaluation. --write updates
benchmarks/results/bounds.md.
"""

from __future__ import annotations

from timing import medians, options, publish, table  # isort: skip  # sets the number of BLAS threads

from collections.abc import Callable

import numpy as np

from quadrat.confidence import AdaptiveBand, Assumptions, LocalPolynomial, SimpleBand, cell_average, certify
from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern
from quadrat.partition import Cell

GIVEN = Assumptions(Matern(2.5, 0.3), norm_bound=1.0, noise=0.1)


def bands(n: int, points: int, repeats: int) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(0)
    X, y, query = rng.random((n, 2)), rng.normal(size=n) * 0.1, rng.random((points, 2))
    plain = GaussianProcess(GIVEN.kernel, noise_variance=0.01, jitter=False)
    simple, adaptive = SimpleBand(GIVEN, 0.05), AdaptiveBand(GIVEN, 0.05)
    for model in (plain, simple, adaptive):
        model.add(X, y)
    added = medians(
        {
            "plain": lambda: plain.add(rng.random((1, 2)), 0.0),
            "simple": lambda: simple.add(rng.random((1, 2)), 0.0),
            "adaptive": lambda: adaptive.add(rng.random((1, 2)), 0.0),
        },
        repeats,
    )
    asked = medians(
        {
            "plain": lambda: plain.predict(query),
            "simple": lambda: simple.interval(query),
            "adaptive": lambda: adaptive.interval(query),
        },
        repeats,
    )
    return [
        (
            what,
            f"{n:,}",
            f"{1e3 * found['plain'] / scale:.3g} ms",
            f"{found['simple'] / found['plain']:.2f}",
            f"{found['adaptive'] / found['plain']:.2f}",
        )
        for what, found, scale in (("add one observation", added, 1), (f"a point (of {points})", asked, points))
    ]


def cells(count: int, repeats: int) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(1)
    cell = Cell([0.25, 0.25], [0.5, 0.5])
    X = rng.uniform(0.25, 0.5, (count, 2))
    y = rng.normal(size=count)
    gp = GaussianProcess(GIVEN.kernel, noise_variance=0.01)
    gp.add(X, y)
    child = cell.halves(0)[0]
    models = {k: LocalPolynomial(cell, X, y, degree=k, assumptions=GIVEN, delta=0.01) for k in (0, 1, 2)}
    actions: dict[str, Callable[[], object]] = {
        "posterior": lambda: gp.predict(cell.centre[None]),
        "average": lambda: cell_average(cell, X, y, GIVEN, 0.01),
    }
    for k in models:
        actions[f"fit, degree {k}"] = lambda k=k: LocalPolynomial(  # type: ignore[misc]
            cell, X, y, degree=k, assumptions=GIVEN, delta=0.01
        )
        actions[f"a child's bound, degree {k}"] = lambda k=k: models[k].upper(child)  # type: ignore[misc]
    found = medians(actions, repeats)
    unit = found["posterior"]
    return [(name, f"{count}", f"{1e3 * found[name]:.3f}", f"{found[name] / unit:.2f}") for name in actions]


def certificates(n: int, repeats: int) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(2)
    band = AdaptiveBand(GIVEN, 0.05)
    band.add(rng.random((n, 2)), 0.1 * rng.normal(size=n))
    found = medians({"certify": lambda: certify(band, dimension=2, max_cells=512)}, max(repeats // 3, 1))
    return [("certificate from scratch, 512 cells", f"{n:,}", f"{1e3 * found['certify']:.1f}")]


def main() -> None:
    chosen = options(__doc__)
    sizes, points, repeats = ((20, 40), 10, 1) if chosen.smoke else ((100, 1000, 3000), 100, 15)
    parts = [
        table(
            ("what", "n", "plain posterior", "simple / plain", "adaptive / plain"),
            [row for n in sizes for row in bands(n, points, repeats)],
        ),
        table(
            ("per cell", "observations in it", "ms", "in posterior evaluations"),
            [row for count in ((5, 10) if chosen.smoke else (10, 100, 500)) for row in cells(count, repeats)],
        ),
        table(("what", "n", "ms"), [row for n in sizes[:2] for row in certificates(n, repeats)]),
    ]
    publish("bounds", "What certainty costs, D = 2", "\n\n".join(parts), write=chosen.write)


if __name__ == "__main__":
    main()
