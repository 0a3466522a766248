"""Whether the posterior of hyper-parameters says the truth about functions drawn from its prior.

    python benchmarks/calibration.py [--smoke] [--write]

Simulation-based calibration (Talts et al. 2018): kernel, length-scales, noise and amplitude are drawn from the prior of
`HyperPosterior`, f and its noisy values from these, at uniform points; the mixture of 32 samples of the posterior then
states intervals for f at one further point, and at the observed point with the highest posterior mean, which is what a
search recommends. If the code is right, 50, 80 and 90 % intervals hold in 50, 80 and 90 % of the runs. That tests the
code, and no prior: every f is what the model assumes.

--write updates benchmarks/results/calibration.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array
from quadrat.gp import HyperPosterior, HyperPriors, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.kernels import Matern, SquaredExponential
from quadrat.kernels.stationary import Stationary
from quadrat.randomness import generator

DIMENSIONS, SIZES, RUNS = (1, 2, 5, 8), (6, 12, 25, 50), 100
SAMPLES = 32
LEVELS = (0.5, 0.8, 0.9)
KERNELS: tuple[Stationary, ...] = (Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 1.0), SquaredExponential(1.0))
PRIORS = HyperPriors()
_STREAM = 61  # names the stream


@dataclass(frozen=True)
class Run:
    """One run: its dimension and size, and where f lies among the quantiles of the mixture, in (0, 1)."""

    dimension: int
    size: int
    anywhere: float
    recommended: float
    effective: float


def run(dimension: int, size: int, seed: int) -> Run:
    """Draw a function from the prior, observe it, and ask the posterior."""
    rng = generator(seed, dimension, size, _STREAM)
    mean, covariance = PRIORS.normal(dimension, noise=True)
    logs = rng.multivariate_normal(mean, covariance)
    theta, ratio = np.exp(logs[:dimension]), float(np.exp(logs[dimension]))
    s2 = PRIORS.rate / rng.gamma(PRIORS.shape)
    kernel = KERNELS[int(rng.integers(len(KERNELS)))]
    x = rng.random((size + 1, dimension))  # the last point is the further one
    h = np.sqrt((((x[:, None] - x[None]) / theta) ** 2).sum(axis=2))
    values, vectors = np.linalg.eigh(kernel.profile(h))
    f = np.sqrt(s2) * (vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.standard_normal(size + 1)
    y = f[:size] + np.sqrt(ratio * s2) * rng.standard_normal(size)
    data = Observations.merge(x[:size], y)
    samples = HyperPosterior(data, KERNELS, priors=PRIORS).sample(SAMPLES, rng)
    ensemble = Ensemble.of_samples(data, KERNELS, samples, range(dimension))
    at = ensemble.predict(x)
    best = int(np.argmax(at.mean[:, :size].mean(axis=0)))
    places = normal_cdf((f - at.mean) / at.deviation).mean(axis=0)
    return Run(dimension, size, float(places[size]), float(places[best]), samples.effective)


def normal_cdf(z: Array) -> Array:
    """Return Phi at z, any shape."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def held(places: Sequence[float], level: float) -> float:
    """Return the share of runs in which the central interval of this level holds f."""
    return float(np.mean(np.abs(np.array(places) - 0.5) <= level / 2))


def row(label: str, runs: Sequence[Run], place: Callable[[Run], float]) -> tuple[str, ...]:
    """Return a line of the table, with the half-width of a 95 % binomial range at 90 %."""
    places = [place(one) for one in runs]
    error = 1.96 * (0.9 * 0.1 / len(runs)) ** 0.5
    shares = (f"{100 * held(places, level):.1f} %" for level in LEVELS)
    return label, str(len(runs)), *shares, f"{100 * error:.1f} %"


def text(runs: Sequence[Run]) -> str:
    """Return the tables."""
    head = (
        "runs of",
        "how many",
        *(f"{100 * level:.0f} % interval holds" for level in LEVELS),
        "binomial error at 90 %",
    )
    parts = []
    for title, place in (("f at a further point", _anywhere), ("f at the point of highest mean", _recommended)):
        rows = [row("all", runs, place)]
        rows += [row(f"D = {d}", [one for one in runs if one.dimension == d], place) for d in DIMENSIONS]
        rows += [row(f"n = {n}", [one for one in runs if one.size == n], place) for n in SIZES]
        parts.append(f"## {title}\n\n{table(head, rows)}")
    effective = np.median([one.effective for one in runs])
    return "\n\n".join(parts) + f"\n\nEffective number of 160 proposals, median: {effective:.0f}."


def _anywhere(one: Run) -> float:
    return one.anywhere


def _recommended(one: Run) -> float:
    return one.recommended


def main() -> None:
    """Run it."""
    chosen = options(__doc__)
    seeds = range(2 if chosen.smoke else RUNS)
    runs = [run(dimension, size, 2 * seed) for dimension in DIMENSIONS for size in SIZES for seed in seeds]
    measured = f"{RUNS} runs of each dimension and size, even seeds"
    publish("calibration", "Calibration on functions of the prior", text(runs), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
