"""Whether stops keep their word: `stop_at_gain` on functions of the prior, with learned and with true hyper-parameters.

    python benchmarks/stopping.py [--runs 20] [--functions] [--workers 1] [--report] [--smoke]

Kernel, length-scales, noise and amplitude are drawn from the prior of `HyperPosterior`, f from these, on a fine grid of
one or two dimensions, between whose points it is interpolated by its own kernel. The default method searches until the
90 % quantile of its gain is at most a tenth of the signal's standard deviation, or until `MOST` trials; a stop is
honest if no more was to be gained. A stop is considered at every trial up to 20, then at every fifth. "told" is the
same search with the true hyper-parameters in the place of samples.
`--functions` adds the bowl, sine and ridge of benchmarks/honesty.py, D = 1 and 2, noise .1 and .5: how many stop.

Runs are kept in benchmarks/results/stopping.jsonl and not run again; then benchmarks/results/stopping.md is written.
`--report` only writes that. Seeds are even.
"""

from __future__ import annotations

from timing import ROOT, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from honesty import Cell, scaled
from regret.rows import stamp

from quadrat._core.arrays import Array
from quadrat.gp import HyperPriors, HyperSamples
from quadrat.kernels.stationary import Stationary
from quadrat.methods.auto.method import Auto
from quadrat.methods.auto.output_transform import OutputTransform
from quadrat.methods.auto.surrogate import KERNELS, HyperFit, LearnedModel
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

Row: TypeAlias = dict[str, Any]

ROWS = ROOT / "benchmarks" / "results" / "stopping.jsonl"
PAGE = ROOT / "benchmarks" / "results" / "stopping.md"
FUNCTIONS = ("bowl", "sine", "ridge")
LIMIT = 0.1  # of the signal's standard deviation
MOST = 100
OFTEN, EVERY = 20, 5  # trials up to which a stop is considered at each, and then at every fifth: statements take time
FEWEST = 5  # trials, before which nothing stops: as in `quadrat.loop`
GRID = {1: 200, 2: 24}  # points along each axis
_STREAM = 81  # names the stream


@dataclass(frozen=True)
class Drawn:
    """A function of the prior: its values at any points, its maximum, and what it was drawn with."""

    values: Callable[[Array], Array]
    top: float
    kernel: int
    lengthscales: Array
    variance: float
    noise_variance: float


def drawn(dimension: int, seed: int) -> Drawn:
    """Draw hyper-parameters and a function."""
    priors, rng = HyperPriors(), generator(seed, dimension, _STREAM)
    mean, covariance = priors.normal(dimension, noise=True)
    logs = rng.multivariate_normal(mean, covariance)
    theta, ratio = np.exp(logs[:dimension]), float(np.exp(logs[dimension]))
    s2 = priors.rate / float(rng.gamma(priors.shape))
    number = int(rng.integers(len(KERNELS)))
    axis = (np.arange(GRID[dimension]) + 0.5) / GRID[dimension]
    grid = np.stack([part.ravel() for part in np.meshgrid(*[axis] * dimension, indexing="ij")], axis=1)
    matrix = _kernel(KERNELS[number], grid, grid, theta)
    values, vectors = np.linalg.eigh(matrix)
    root = np.sqrt(np.maximum(values, 0.0))
    f = np.sqrt(s2) * (vectors * root) @ rng.standard_normal(len(grid))
    kept = values > 1e-8 * values.max()
    weights = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ f)

    def at(points: Array) -> Array:
        return np.asarray(_kernel(KERNELS[number], points, grid, theta) @ weights)

    finer = np.clip(grid[np.argmax(f)] + rng.uniform(-1, 1, (2000, dimension)) / GRID[dimension], 0.0, 1.0)
    top = float(max(f.max(), at(finer).max()))
    return Drawn(at, top, number, theta, s2, ratio * s2)


def _kernel(kernel: Stationary, left: Array, right: Array, theta: Array) -> Array:
    differences = (left[:, None, :] - right[None]) / theta
    return np.asarray(kernel.profile(np.sqrt((differences**2).sum(axis=2))))


class _Told(LearnedModel):
    """The model of a run that is told the true hyper-parameters."""

    truth: Drawn

    def _like(self, samples: int | None = None) -> LearnedModel:
        other = super()._like(samples)
        assert isinstance(other, _Told)
        other.truth = self.truth
        return other

    def _learn(self, trials: int, samples: int, stream: int, *, coarsened: bool = False) -> HyperFit:  # noqa: ARG002
        one = self.truth
        known = HyperSamples(
            np.array([one.kernel]), one.lengthscales[None, :], np.array([one.variance]),
            np.array([one.noise_variance]), np.eye(len(KERNELS))[one.kernel], 1.0, 0.0,
        )  # fmt: skip
        return HyperFit(trials, OutputTransform(0.0, 1.0), KERNELS, known)


@dataclass(frozen=True)
class Stop:
    """How a run ended: after how many trials, whether by its rule, and whether that was honest."""

    trials: int
    stopped: bool
    honest: bool


def until_it_stops(
    values: Callable[[Array], Array], top: float, noise: float, limit: float, dimension: int, seed: int,
    truth: Drawn | None = None,
) -> Stop:  # fmt: skip
    """Search until the gain is at most `limit` with 90 %."""
    search = Auto().start(Domain.cube(dimension), seed)
    if truth is not None:
        model = _Told(search.domain, seed, search.model.first)
        model.truth = truth
        search.model = model
    rng = generator(seed, dimension, _STREAM + 1)
    for number in range(MOST):
        x = search.ask(number, np.empty((0, dimension))).x
        value = float(values(x[None, :])[0]) + noise * float(rng.standard_normal())
        search.tell(Observation(number, x, np.array([value])))
        told = number + 1
        if told >= FEWEST and (told <= OFTEN or told % EVERY == 0):
            found = None if search.leaves_more_than(limit) else search.recommend()
            if found is not None and found.gain is not None and found.gain.upper <= limit:
                left = top - float(values(found.x[None, :])[0])
                return Stop(number + 1, stopped=True, honest=left <= limit + 1e-9)
    return Stop(MOST, stopped=False, honest=True)


def run(kind: str, dimension: int, seed: int) -> Row:
    """Run once: a function of the prior, "draws" or "told", or one of `FUNCTIONS`."""
    if kind in FUNCTIONS:
        cell = Cell(kind, dimension, (0.1, 0.5)[seed // 4 % 2], seed, "")
        f, top = scaled(cell)
        found = until_it_stops(f, top, cell.noise, LIMIT, dimension, seed)
    else:
        one = drawn(dimension, seed)
        limit, noise = LIMIT * one.variance**0.5, one.noise_variance**0.5
        truth = one if kind == "told" else None
        found = until_it_stops(one.values, one.top, noise, limit, dimension, seed, truth)
    return {"kind": kind, "dimension": dimension, "seed": seed, **asdict(found), **stamp(())}


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    lines = []
    for kind in ("draws", "told", *FUNCTIONS):
        found = [row for row in rows if row["kind"] == kind]
        dimensions = sorted({row["dimension"] for row in found})
        groups = {
            f"D = {dimension}": [row for row in found if row["dimension"] == dimension] for dimension in dimensions
        }
        for label, some in (groups | {"all": found} if len(groups) > 1 else groups).items():
            stops = [row for row in some if row["stopped"]]
            honest = sum(row["honest"] for row in stops)
            share = f"{honest} of {len(stops)}, {100 * honest / len(stops):.0f} %" if stops else "none"
            trials = np.array([row["trials"] for row in some])
            cells = (str(len(some)), str(len(stops)), share, f"{np.median(trials):.0f}", f"{np.mean(trials):.0f}")
            lines.append((f"{kind}, {label}", *cells))
    head = ("functions", "runs", "stopped", "honest", f"trials, median (at most {MOST})", "mean")
    return table(head, lines)


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="of each kind and dimension")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="two runs; keeps nothing")
    chosen = parser.parse_args()
    if chosen.smoke:
        print(report([run("draws", 1, 1), run("told", 1, 1)]))
        return
    rows: list[Row] = [json.loads(text) for text in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["kind"], row["dimension"], row["seed"]) for row in rows}
    kinds = ("draws", "told", *(FUNCTIONS if chosen.functions else ()))
    cells = [(kind, dimension, seed) for seed in range(0, 2 * chosen.runs, 2) for kind in kinds for dimension in (1, 2)]
    left = [] if chosen.report else [cell for cell in cells if cell not in done]
    stamp(())  # before anything runs
    with ROWS.open("a") as file, ProcessPoolExecutor(chosen.workers) as pool:
        for row in pool.map(run, *zip(*left, strict=True)) if left else ():
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    how = f"Made by `python benchmarks/stopping.py --functions`; even seeds; rows are of {commits}."
    text = f"# Whether stops keep their word\n\n{how}\n\n{report(rows)}\n"
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
