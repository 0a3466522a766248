"""Which wrong assumptions do the data reject, and what do those cost that they do not?

    python experiments/wrong_assumptions.py [--smoke] [--runs 20] [--workers 1] [--report]

Functions of norm exactly 1 under Matérn 5/2 with length-scale .3, noise .1; D = 1 and 2, even seeds, bumpy and rough
functions in turn. The default method chooses 60 points; then the run is certified, delta = .05, under the truth and
under assumptions of which one number is wrong by a factor. "Violated": the objective lies outside of an interval of the
recommended point or of the one with the best guaranteed value, or has a regret above its bound, at n = 15, 30 or 60.
"Rejected": at one of these moments the data reject the assumptions, so that nothing is certified. A larger norm or
noise assumes less: never wrong, only wider. A length-scale c times shorter needs a norm bound c^(D/2) times larger to
contain the same functions (Bull 2011); the row has the same bound, and is not true of all of them.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here, write_table  # isort: skip  # sets BLAS threads

from itertools import product
from typing import Any, Literal

import numpy as np
from certified_runs import holds

import quadrat as qd
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

LENGTHSCALE, NORM, NOISE = 0.3, 1.0, 0.1
DIMENSIONS = (1, 2)
CHECKPOINTS = (15, 30, 60)
WRONG: dict[str, tuple[float, float, float, float]] = {  # factors of length-scale, norm and noise, and the nu stated
    "the truth": (1, 1, 1, 2.5),
    "length-scale 1.5 times too long": (1.5, 1, 1, 2.5),
    "length-scale 2 times too long": (2, 1, 1, 2.5),
    "length-scale 4 times too long": (4, 1, 1, 2.5),
    "norm bound 2/3 of the truth": (1, 2 / 3, 1, 2.5),
    "norm bound half of the truth": (1, 0.5, 1, 2.5),
    "norm bound a quarter of the truth": (1, 0.25, 1, 2.5),
    "noise 2/3 of the truth": (1, 1, 2 / 3, 2.5),
    "noise half of the truth": (1, 1, 0.5, 2.5),
    "noise a quarter of the truth": (1, 1, 0.25, 2.5),
    "squared exponential, same length-scale": (1, 1, 1, np.inf),
    "length-scale half of the truth, same norm bound": (0.5, 1, 1, 2.5),
    "norm bound 2 times the truth": (1, 2, 1, 2.5),
    "noise 2 times the truth": (1, 1, 2, 2.5),
}


def stated(name: str) -> qd.RunAssumptions:
    """Return the assumptions of a row."""
    length, norm, noise, nu = WRONG[name]
    scale = LENGTHSCALE * length
    kernel = qd.SquaredExponential(scale) if np.isinf(nu) else qd.Matern(nu, scale)
    return qd.RunAssumptions(
        kernel=kernel, lengthscales="unit cube", norm_bound=NORM * norm, offset=0.0, noise=NOISE * noise
    )


def run(D: int, seed: int, n: int) -> Row:
    """One run, certified under each of the assumptions."""
    style: Literal["bumpy", "rough"] = "bumpy" if seed % 4 == 0 else "rough"
    kernel = qd.Matern(2.5, LENGTHSCALE)
    f = draw_rkhs_function(kernel, D, norm=NORM, rng=generator(seed, D, 62), style=style)
    top = f.maximum()[1]
    space = qd.Space(**{f"x{i}": qd.Float(0, 1) for i in range(D)})
    optimizer = qd.Optimizer(space, direction="maximize", method="Auto", seed=seed)
    found: dict[str, dict[str, Any]] = {name: {"violated": False, "rejected": False, "value": None} for name in WRONG}
    for i in range(n):
        trial = optimizer.ask()
        at = float(f.values(np.array([list(trial.params.values())]))[0])
        optimizer.tell(trial, at + NOISE * float(generator(seed, i, 63).normal()))
        if i + 1 not in CHECKPOINTS and i + 1 != n:
            continue
        for name, row in found.items():
            got = optimizer.certify(stated(name), stated_before_data=True, every_value_counts=True, max_cells=512)
            if got.recommended is None or got.best is None:
                row |= {"rejected": True, "value": None}
                continue
            points = (got.recommended, got.best)
            held = all(holds(f, top, one.params, one.certified_interval, one.remaining_regret) for one in points)
            row |= {"violated": row["violated"] or not held, "value": float(f"{points[0].remaining_regret:.6g}")}
    return {"found": found}


def report(rows: list[Row]) -> str:
    """A Markdown table of counts and medians."""
    head = " | ".join(
        f"D = {D}: rejected | violated | violated and never rejected | median certificate" for D in DIMENSIONS
    )
    lines = [f"| stated | {head} |", "|---|" + "---|" * (4 * len(DIMENSIONS))]
    for name in WRONG:
        cells_of: list[str] = []
        for dimension in DIMENSIONS:
            group = [_found(row)[name] for row in rows if row["D"] == dimension]
            rejected = sum(one["rejected"] for one in group)
            violated = sum(one["violated"] for one in group)
            unseen = sum(one["violated"] and not one["rejected"] for one in group)
            values = [one["value"] for one in group if one["value"] is not None]
            median = f"{np.median(values):.3f}" if values else "–"
            cells_of += [f"{rejected} of {len(group)}", f"{violated}", f"{unseen}", median]
        lines.append(f"| {name} | {' | '.join(cells_of)} |")
    return "\n".join(lines)


def _found(row: Row) -> dict[str, dict[str, Any]]:
    found = row["found"]
    assert isinstance(found, dict)
    return found


def cells(runs: int, n: int = CHECKPOINTS[-1]) -> list[Cell]:
    """The grid: even seeds."""
    return [{"D": D, "seed": seed, "n": n} for seed, D in product(range(0, 2 * runs, 2), DIMENSIONS)]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        print(report(run_here(run, cells(1, 8))))
        return
    rows = finished("wrong_assumptions") if chosen.report else None
    rows = complete("wrong_assumptions", run, cells(chosen.runs), chosen.workers) if rows is None else rows
    print(write_table("wrong_assumptions", "Which wrong assumptions the data reject", report(rows), rows))


if __name__ == "__main__":
    main()
