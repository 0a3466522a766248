"""Which choice decides the order of figure 1? One is changed at a time, and the final regrets are compared.

    python experiments/figure1_diagnostics.py [--smoke] [--runs 4] [--workers 2] [--report]

`figure1_variants.VARIANTS` names the choices. Methods that a choice does not touch keep their runs of
experiments/figure1.py, which must be there. Kept in experiments/results/figure1_diagnostics.jsonl.
"""

from __future__ import annotations

from grid import Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Sequence
from itertools import product

import numpy as np
from figure1 import (
    CLAIMED,
    PROBLEMS,
    N,
    Standing,
    digits,
    figure_cells,
    follow,
    label_of,
    listed,
    medians_of,
    run,
    standing_of,
)
from figure1_variants import FIVE, VARIANTS

import problems

PRESET = "as in the preset"


def run_variant(variant: str, method: str, problem: str, seed: int, n: int) -> Row:
    """One run of the diagnostics: the final regrets of a method with one choice changed."""
    task = problems.get(problem)
    track = follow(VARIANTS[variant][method](n), task, seed, n, [n])
    trace = problems.RegretTrace.of(task, track.points, observed=track.observed)
    assert trace.best_observed is not None
    last = [trace.best_evaluated[-1], problems.regrets(task, track.recommended)[0], trace.best_observed[-1]]
    return dict(zip(("evaluated", "recommended", "luckiest"), digits(np.array(last)), strict=True))


def diagnosed(rows: Sequence[Row], figure: Sequence[Row], quantity: str) -> dict[str, list[Standing]]:
    """Return by variant, the preset first, where LP0 and Heuristic stand when that one choice is changed.

    Methods that the choice does not touch keep their runs of the figure; of those, only seeds that the diagnostics have
    are counted.

    Parameters
    ----------
    rows
        Of `run_variant`.
    figure
        Of `run`, with the same n.
    quantity
        "evaluated", "recommended" or "luckiest".
    """
    found: dict[str, list[Standing]] = {}
    for variant in (PRESET, *VARIANTS):
        for problem in PROBLEMS:
            medians = _changed_medians(rows, figure, variant, problem, quantity)
            if set(FIVE) <= set(medians) and (variant == PRESET or any(row["variant"] == variant for row in rows)):
                found.setdefault(variant, []).extend(
                    standing_of(problem, quantity, method, medians) for method in CLAIMED
                )
    return found


def _changed_medians(
    rows: Sequence[Row], figure: Sequence[Row], variant: str, problem: str, quantity: str
) -> dict[str, float]:
    seeds = {row["seed"] for row in rows}
    changed = [row for row in rows if row["variant"] == variant]
    base = [row for row in figure if row["seed"] in seeds]
    return medians_of(base, problem, quantity) | medians_of(changed, problem, quantity)


def diagnostic_table(rows: Sequence[Row], figure: Sequence[Row], problem: str, quantity: str) -> str:
    """One problem as a Markdown table: median final regrets by choice, in bold where the choice changes the method.

    The last two columns name the rivals that LP0 and Heuristic end above; an arrow marks a claim that flips.
    """
    heads = [label_of(method) for method in FIVE] + [f"{method} ends above" for method in CLAIMED]
    lines = [f"| {problem}, {quantity} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    standings = diagnosed(rows, figure, quantity)
    preset = {found.method: found.holds for found in standings.get(PRESET, []) if found.problem == problem}
    for variant, found in standings.items():
        medians = _changed_medians(rows, figure, variant, problem, quantity)
        touched = VARIANTS.get(variant, {})
        cells = [f"**{medians[name]:.3g}**" if name in touched else f"{medians[name]:.3g}" for name in FIVE]
        for one in found:
            if one.problem == problem:
                named = "all three" if one.holds else listed(one.ahead_of)
                cells.append(f"→ {named}" if one.holds != preset[one.method] else named)
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def diagnostic_report(rows: Sequence[Row], figure: Sequence[Row]) -> str:
    """`diagnostic_table` for every problem, by best evaluated, recommended and best observed point."""
    present = [problem for problem in PROBLEMS if any(row["problem"] == problem for row in rows)]
    wanted = product(present, ("evaluated", "recommended", "luckiest"))
    return "\n\n".join(diagnostic_table(rows, figure, problem, quantity) for problem, quantity in wanted)


# --- the grid


def diagnostic_cells(runs: int, n: int = N, names: Sequence[str] = PROBLEMS) -> list[Row]:
    """The grid of the diagnostics."""
    return [
        {"variant": variant, "method": method, "problem": problem, "seed": seed, "n": n}
        for seed, problem in product(range(runs), names)
        for variant, methods in VARIANTS.items()
        for method in methods
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=4)
    figure = finished("figure1")
    if chosen.smoke:
        figure = run_here(run, figure_cells(1, 6, PROBLEMS[:1]))
        rows = run_here(run_variant, diagnostic_cells(1, 6, PROBLEMS[:1]))
    elif chosen.report:
        rows = finished("figure1_diagnostics")
    else:
        rows = complete("figure1_diagnostics", run_variant, diagnostic_cells(chosen.runs), chosen.workers)
    print(diagnostic_report(rows, figure))


if __name__ == "__main__":
    main()
