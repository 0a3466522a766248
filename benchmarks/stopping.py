"""Whether stops keep their word: `stop_at_gain` on functions of the prior, with learned and with true hyper-parameters.

    python benchmarks/stopping.py [--runs 20] [--functions] [--smoke] [--write]

Kernel, length-scales, noise and amplitude are drawn from the prior of `HyperPosterior`, f from these, on a fine grid of
one or two dimensions, between whose points it is interpolated by its own kernel. The default method searches until the
90 % quantile of its gain is at most a tenth of the signal's standard deviation, or until `MOST` trials; a stop is
honest if no more was to be gained. "told" is the same search with the true hyper-parameters in the place of samples.
`--functions` adds the bowl, sine and ridge of benchmarks/honesty.py, D = 1 and 2, noise .1 and .5: how many stop.

--write updates benchmarks/results/stopping.md. Seeds are even.
"""

from __future__ import annotations

from timing import ROOT, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from honesty import Cell, scaled

from quadrat._core.arrays import Array
from quadrat.gp import HyperPriors, HyperSamples
from quadrat.kernels.stationary import Stationary
from quadrat.methods.auto.method import Auto
from quadrat.methods.auto.output_transform import OutputTransform
from quadrat.methods.auto.surrogate import KERNELS, HyperFit, LearnedModel
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

LIMIT = 0.1  # of the signal's standard deviation
MOST = 100
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
        if number + 1 >= FEWEST:
            found = search.recommend()
            assert found.gain is not None
            if found.gain.upper <= limit:
                left = top - float(values(found.x[None, :])[0])
                return Stop(number + 1, stopped=True, honest=left <= limit + 1e-9)
    return Stop(MOST, stopped=False, honest=True)


def line(label: str, some: Sequence[Stop]) -> tuple[str, ...]:
    """Return a line of the table."""
    stops = [one for one in some if one.stopped]
    honest = f"{sum(one.honest for one in stops)} of {len(stops)}" if stops else "none"
    return label, str(len(some)), str(len(stops)), honest, f"{np.median([one.trials for one in some]):.0f}"


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="of each dimension")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    lines = []
    for dimension in (1,) if chosen.smoke else (1, 2):
        learned, told = [], []
        for seed in range(0, 2 if chosen.smoke else 2 * chosen.runs, 2):
            one = drawn(dimension, seed)
            limit, noise = LIMIT * one.variance**0.5, one.noise_variance**0.5
            learned.append(until_it_stops(one.values, one.top, noise, limit, dimension, seed))
            told.append(until_it_stops(one.values, one.top, noise, limit, dimension, seed, one))
        lines += [line(f"draws, D = {dimension}", learned), line(f"draws, D = {dimension}, told", told)]
    if chosen.functions:
        for name in ("bowl", "sine", "ridge"):
            some = []
            for seed in range(0, 2 * chosen.runs, 2):
                cell = Cell(name, 1 + seed // 2 % 2, (0.1, 0.5)[seed // 4 % 2], seed, "")
                f, top = scaled(cell)
                some.append(until_it_stops(f, top, cell.noise, LIMIT, cell.dimension, seed))
            lines.append(line(name, some))
    text = table(("functions", "runs", "stopped", "honest", f"trials, median (at most {MOST})"), lines)
    publish("stopping", "Whether stops keep their word", text, write=chosen.write, measured="even seeds")


if __name__ == "__main__":
    main()
