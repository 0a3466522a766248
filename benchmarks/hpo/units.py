"""Measure the units of the instances and the best value known: units.json, committed once.

    python benchmarks/hpo/units.py [--data FOLDER] [--problems ...] [--rows]

Median and 95 % quantile are those of 10,000 random configurations (seed 0). The best value is the highest of 200,000
random configurations (seed 1) and of two long runs without noise: an evolution of 300 generations, and our default
method with 150 trials. `--rows` only raises the best values that some kept row exceeds, for all methods at once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src")]

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from regret.rows import read_rows

import quadrat as qd
from hpo.tasks import PROBLEMS, UNITS, MissingData, Units, chosen, data_folder, read_surrogate, read_units
from quadrat._core.arrays import Array
from quadrat.space import Space

__all__ = ["evolved", "measured", "raised"]

RANDOM, LARGER, BATCH = 10_000, 200_000, 20_000
GENERATIONS, PARENTS, CHILDREN = 300, 40, 200
TRIALS = 150
HIGH = 0.95


def evolved(values: Callable[[Array], Array], points: Array, rng: np.random.Generator, generations: int) -> float:
    """Return the highest value that an evolution of points of the cube, (n, D), meets.

    A child mixes the coordinates of two of the best, some of them moved or drawn anew.
    """
    heights = values(points)
    for _ in range(generations):
        best = np.argsort(-heights, kind="stable")[:PARENTS]
        points, heights = points[best], heights[best]
        mothers, fathers = points[rng.integers(len(points), size=(2, CHILDREN))]
        child = np.where(rng.random(mothers.shape) < 0.5, mothers, fathers)
        sizes = 10.0 ** rng.uniform(-3, -0.5, size=(CHILDREN, 1))
        moved = np.clip(child + sizes * rng.normal(size=child.shape), 0.0, 1.0)
        chance = rng.random(child.shape)
        child = np.where(chance < 0.05, rng.random(child.shape), np.where(chance < 0.4, moved, child))
        points, heights = np.vstack([points, child]), np.append(heights, values(child))
    return float(heights.max())


def measured(space: Space, values: Callable[[list[dict[str, object]]], Array], *, larger: int = LARGER) -> Units:
    """Return the units of an instance: `values` of many configurations at once."""

    def at(points: Array) -> Array:
        return values(space.from_units(points))

    few = values(space.sample(RANDOM, np.random.default_rng(0)))
    rng = np.random.default_rng(1)
    best, most, starts = float(few.max()), -np.inf, np.empty((0, space.dimension))
    for _ in range(larger // BATCH):
        points = rng.random((BATCH, space.dimension))
        heights = at(points)
        top = np.argsort(-heights)[:PARENTS]
        starts, most = np.vstack([starts, points[top]]), max(most, float(heights.max()))
    long = evolved(at, starts, rng, GENERATIONS)
    ours = qd.maximize(lambda params: float(values([params])[0]), space, n_trials=TRIALS, seed=0).value
    return Units(float(np.median(few)), float(np.quantile(few, HIGH)), max(best, most, long, float(ours)))


def raised(table: dict[str, Units], results: Path) -> dict[str, Units]:
    """Return the table with the best values that rows in the folders of `results` exceed."""
    for path in sorted(results.glob("noise_*/*.jsonl")):
        found: list[Any] = read_rows(path)
        for row in found:
            if "error" in row:
                continue
            units = table[row["problem"]]
            reached = units.median + units.scale * (row["best"] - min(row["regret"].values()))
            if reached > units.best + 1e-6 * units.scale:
                table[row["problem"]] = replace(units, best=reached)
    return table


def main() -> None:
    """Read the command line, measure, write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", help="folder of the surrogates; ../shared/data")
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), help="which; all")
    parser.add_argument("--rows", action="store_true", help="only raise the best values that kept rows exceed")
    given = parser.parse_args()
    table = read_units() if UNITS.exists() else {}
    if given.rows:
        table = raised(table, Path(__file__).with_name("results"))
    else:
        try:
            for problem in chosen(given.problems):
                scenario, _, name = problem.partition(":")
                surrogate = read_surrogate(scenario, data_folder(given.data))
                table[problem] = measured(surrogate.space, partial(surrogate.values, name))
                print(problem, table[problem], flush=True)
                write(table)
        except (ValueError, MissingData) as error:
            parser.error(str(error))
    write(table)


def write(table: dict[str, Units]) -> None:
    """Write the table, in the order of the problems."""
    ordered = {problem: asdict(table[problem]) for problem in PROBLEMS if problem in table}
    UNITS.write_text("{\n" + ",\n".join(f"  {json.dumps(p)}: {json.dumps(u)}" for p, u in ordered.items()) + "\n}\n")


if __name__ == "__main__":
    main()
