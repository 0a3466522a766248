"""Draw what bounds are worth, as SVG: those of one cell, and certificates against the norm bound.

    python docs/bound_figures.py        writes docs/figures/one_cell.svg and certificate_curve.svg

one_cell.svg           the bounds of one small cell, as evaluations in it accumulate
certificate_curve.svg  what a run certifies under each norm bound, and which of them the data reject
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from charts import PALETTE, SOFT, Line, Panel, Reference, chart

import quadrat as qd
from quadrat.confidence import (
    AdaptiveBand,
    Assumptions,
    CertificateCurve,
    ChowdhuryGopalanBand,
    DeltaBudget,
    LocalPolynomial,
    cell_average,
)
from quadrat.partition import PartitionTree
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

FOLDER = Path(__file__).with_name("figures")
BLUE, ORANGE, GREEN, RED = PALETTE[0], PALETTE[4], PALETTE[2], PALETTE[1]


# --- one cell


@dataclass(frozen=True)
class OneCell:
    """Bounds of one cell against the number of evaluations in it, minus the true maximum there."""

    counts: tuple[int, ...]
    excess: dict[str, list[float]]


def one_cell(counts: Sequence[int] = (1, 3, 10, 30, 100, 300, 1000, 3000), elsewhere: int = 600) -> OneCell:
    """Bound f on a cell of side 2^-9 around its maximum, after evaluations elsewhere and so many inside.

    A hundred length-scales fit into the interval: where f is known at all, it is known locally.
    """
    depth, noise, delta, rng = 9, 0.3, 0.05, generator(0)
    f = draw_rkhs_function(qd.Matern(2.5, 0.01), 1, norm=3.0, rng=rng)
    given, shares = Assumptions(f.kernel, 3.0, noise), DeltaBudget(delta, (1,))
    top = f.maximum()[0]
    tree, node = PartitionTree(1), 0
    for _ in range(depth):
        tree.split(node)
        node = tree.locate(top)
    cell = tree.cell(node)
    grid = np.linspace(cell.lower[0], cell.upper[0], 65)[:, None]
    X = rng.random((elsewhere, 1))
    y = f.values(X) + noise * rng.normal(size=elsewhere)
    posterior = AdaptiveBand(given, shares.band)
    everywhere = ChowdhuryGopalanBand(given, delta / 3, budget=elsewhere + counts[-1])
    for band in (posterior, everywhere):
        band.add(X, y)
    names = ("one bound for the whole domain", "posterior", "average", "local polynomial")
    excess: dict[str, list[float]] = {name: [] for name in names}
    for before, count in pairwise((0, *counts)):
        new = cell.lower + cell.sides * rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], (count - before, 1))
        values = f.values(new) + noise * rng.normal(size=len(new))
        for band in (posterior, everywhere):
            band.add(new, values)
        X, y = np.vstack([X, new]), np.append(y, values)
        inside = cell.contains(X)
        share = shares.polynomial(1, depth)
        model = LocalPolynomial(cell, X[inside], y[inside], degree=1, assumptions=given, delta=share)
        bounds = (
            float(everywhere.interval(grid).upper.max()),
            float(posterior.interval(grid).upper.max()),
            cell_average(cell, X[inside], y[inside], given, shares.average(depth)).upper,
            float((model.estimate(grid) + model.error(grid)).max()),
        )
        for name, bound in zip(names, bounds, strict=True):
            excess[name].append(bound - float(f.values(grid).max()))
    return OneCell(tuple(counts), excess)


def one_cell_figure(found: OneCell) -> str:
    """The excess of each bound, on logarithmic axes."""
    colours = dict(zip(found.excess, (SOFT, BLUE, ORANGE, GREEN), strict=True))
    lines = [
        Line(name, found.counts, values, marks=True, dashed=name.startswith("one"))
        for name, values in found.excess.items()
    ]
    panel = Panel(
        "Upper bounds of one small cell, minus the true maximum in it",
        "evaluations in the cell",
        "excess",
        lines,
        log_x=True,
        log_y=True,
    )
    return chart([panel], 1, colours, title="Bounds of one cell against evaluations in it", width=720, height=250)


# --- the norm bound that nobody knows


@dataclass(frozen=True)
class Curves:
    """Certificates of one run against the norm bound, after different numbers of evaluations; and the truth."""

    curves: dict[int, CertificateCurve]
    norm: float
    regrets: dict[int, float]  # of the points that the run recommended


def norm_curves(evaluations: Sequence[int] = (10, 40, 160)) -> Curves:
    """Run LP-GP-UCB with the norm bound 2 on a function of norm 1, and ask what every bound would have certified."""
    kernel, noise = qd.Matern(2.5, 0.3), 0.05
    f = draw_rkhs_function(kernel, 1, norm=1.0, rng=generator(3))
    method = qd.LPGPUCB(kernel=kernel, norm_bound=2.0, noise=noise, budget=evaluations[-1])
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0.0, 1.0)), direction="maximize", method=method, seed=0)
    rng = generator(3, 1)
    bounds = np.geomspace(0.1, 10.0, 41)
    curves, regrets = {}, {}
    for number in range(1, evaluations[-1] + 1):
        trial = optimizer.ask()
        at = np.array([[trial.params["x"]]])
        optimizer.tell(trial, float(f.values(at)[0] + noise * rng.normal()))
        if number in evaluations:
            curves[number] = optimizer.certificate_curve(bounds)
            found = np.array([[optimizer.recommend().params["x"]]])
            regrets[number] = f.maximum()[1] - float(f.values(found)[0])
    return Curves(curves, f.norm, regrets)


def norm_figure(found: Curves) -> str:
    """Certificates on logarithmic axes; a curve begins where the data stop rejecting."""
    lines = [
        Line(f"after {n} evaluations", curve.norm_bounds.tolist(), curve.values.tolist())
        for n, curve in found.curves.items()
    ]
    highest = max(float(np.nanmax(curve.values)) for curve in found.curves.values())
    lowest = min(float(np.nanmin(curve.values)) for curve in found.curves.values())
    panel = Panel(
        "What each norm bound certifies, from the same values",
        "norm bound B",
        "certificate",
        lines,
        [Reference("true norm", (found.norm, found.norm), (lowest, highest))],
        log_x=True,
        log_y=True,
    )
    return chart([panel], 1, title="Certificates against the norm bound", width=720, height=260)


def main() -> None:
    """Write both figures."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "one_cell.svg").write_text(one_cell_figure(one_cell()))
    (FOLDER / "certificate_curve.svg").write_text(norm_figure(norm_curves()))


if __name__ == "__main__":
    main()
