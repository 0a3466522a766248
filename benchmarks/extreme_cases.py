"""Properties that hold at numerical extremes, for every method, kernel and certified band; Hypothesis draws the cases.

A case has points that repeat, nearly repeat (1e-9 and 1e-15 apart) and lie in corners; length-scales from 1e-3 to 1e3,
noise variances from 1e-12 to 1e3, 1 to 100 dimensions, and values of size 1e-200 to 1e200, with constants, zeros, steps
and outliers among them. tests/extremes runs a few cases of each, benchmarks/extremes.py as many as one likes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions
from quadrat.confidence.bands import contradiction
from quadrat.errors import NotAvailable, NumericalFailure
from quadrat.gp import GaussianProcess, LogPosterior, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    OnAxes,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
)
from quadrat.methods.base import Method
from quadrat.methods.registry import all_methods
from quadrat.space import Fidelity, Float, Space

__all__ = ["KERNELS", "METHODS", "Design", "RunCase", "check_band", "check_gp", "check_run", "designs", "run_cases"]

DIMENSIONS = (1, 1, 2, 2, 3, 5, 8, 20, 100)
NEAR = (0.0, 1e-15, 1e-9, 1e-4)

# From a length-scale and the dimension.
KERNELS: dict[str, Callable[[float, int], Kernel]] = {
    "SquaredExponential": lambda scale, _: SquaredExponential(scale),
    "Matern 1/2": lambda scale, _: Matern(0.5, scale),
    "Matern 3/2": lambda scale, _: Matern(1.5, scale),
    "Matern 5/2": lambda scale, _: Matern(2.5, scale),
    "Matern 3.7": lambda scale, _: Matern(3.7, scale),
    "RationalQuadratic": lambda scale, _: RationalQuadratic(1.5, scale),
    "GammaExponential": lambda scale, _: GammaExponential(0.7, scale),
    "PiecewisePolynomial": lambda scale, dimension: PiecewisePolynomial(2, dimension, scale),
    "Sum": lambda scale, _: Matern(2.5, scale) + SquaredExponential(3 * scale),
    "Product": lambda scale, _: Matern(1.5, scale) * SquaredExponential(3 * scale),
    "OnAxes": lambda scale, _: OnAxes(Matern(2.5, scale), (0,)) + Matern(0.5, scale),
}

_ASSUMED: dict[str, Any] = {"kernel": Matern(2.5, 0.3), "norm_bound": 2.0, "noise": 0.1}
_OPTIONS: dict[str, dict[str, Any]] = {
    "LPGPUCB": _ASSUMED,
    "LP0": _ASSUMED,
    "LevelSet": {**_ASSUMED, "threshold": 0.2},
    "MultiScaleLevelSet": {**_ASSUMED, "threshold": 0.2},
    "StableOpt": {"perturbation": 0.1},
    "AddGPUCB": {"n_initial": 3},
    "MFGPUCB": {"n_initial": 2},
    "PiGPUCB": {"capacity": 2, "n_initial": 2},
}
METHODS = tuple(name for name in all_methods() if name not in ("Safe", "FittedSafe"))  # values of any size end these
LARGEST_DIMENSION = {"UCB1": 5}  # its arms are listed


# --- cases


@dataclass(frozen=True)
class Design:
    """Points (n, D), values (n,), a length-scale, and a noise variance relative to the squared size of the values."""

    x: Array
    y: Array
    size: float
    lengthscale: float
    noise_variance: float

    def __repr__(self) -> str:
        return (
            f"Design(n={len(self.x)}, D={self.x.shape[1]}, size={self.size:g}, lengthscale={self.lengthscale:g}, "
            f"noise_variance={self.noise_variance:g})"
        )


def powers(low: int, high: int) -> st.SearchStrategy[float]:
    """Powers of ten."""
    return st.integers(low, high).map(lambda power: 10.0**power)


def _points(rng: np.random.Generator, n: int, dimension: int, near: float) -> Array:
    """Return n points of the cube: a third anew, a third nearly repeats, a third in corners."""
    points = rng.random((n, dimension))
    for i in range(1, n):
        kind = i % 3
        if kind == 1:
            points[i] = np.clip(points[rng.integers(i)] + near * rng.choice([-1.0, 1.0], dimension), 0.0, 1.0)
        elif kind == 2:
            points[i] = rng.integers(0, 2, dimension)
    return points


def _values(rng: np.random.Generator, n: int, kind: str) -> Array:
    """Return n values of size 1."""
    drawn = rng.standard_normal(n)
    match kind:
        case "constant":
            return np.ones(n)
        case "zero":
            return np.zeros(n)
        case "step":
            return np.where(drawn > 0, 1.0, 0.0)
        case "outlier":
            drawn[rng.integers(n)] = rng.choice([-1e6, 1e6, 1e30])
        case "heavy":
            return np.asarray(rng.standard_cauchy(n))
    return drawn


KINDS = ("normal", "constant", "zero", "step", "outlier", "heavy")


@st.composite
def designs(draw: st.DrawFn, *, largest: int = 40) -> Design:
    """Draw what a Gaussian process is to learn from."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, dimension = draw(st.integers(1, largest)), draw(st.sampled_from(DIMENSIONS))
    x = _points(rng, n, dimension, draw(st.sampled_from(NEAR)))
    y = _values(rng, n, draw(st.sampled_from(KINDS)))
    return Design(x, y, draw(powers(-200, 200)), draw(powers(-3, 3)), draw(powers(-12, 3)))


@dataclass(frozen=True)
class RunCase:
    """A short run: the space, old results that are added first, and what the trials then give."""

    dimension: int
    added: Array
    values: Array
    pending: int
    size: float
    direction: str
    seed: int

    def __repr__(self) -> str:
        return (
            f"RunCase(D={self.dimension}, added={len(self.added)}, values={self.values!r}, pending={self.pending}, "
            f"size={self.size:g}, {self.direction}, seed={self.seed})"
        )


@st.composite
def run_cases(draw: st.DrawFn) -> RunCase:
    """Draw a run."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    dimension = draw(st.sampled_from(DIMENSIONS))
    added = _points(rng, draw(st.integers(0, 8)), dimension, draw(st.sampled_from(NEAR)))
    values = _values(rng, len(added) + draw(st.integers(1, 8)), draw(st.sampled_from(KINDS)))
    size = draw(st.one_of(st.just(1.0), powers(-200, 200)))
    direction = draw(st.sampled_from(["maximize", "minimize"]))
    return RunCase(dimension, added, values, draw(st.integers(0, 2)), size, direction, seed)


# --- methods


def method_of(name: str, budget: int) -> Method:
    """Return a method as a user would configure it for so many trials."""
    build: Callable[..., Method] = all_methods()[name]
    takes_budget = any(field.name == "budget" for field in fields(cast(Any, build)))
    return build(**_OPTIONS.get(name, {}), **({"budget": budget} if takes_budget else {}))


def space_of(name: str, dimension: int) -> Space:
    """Return the cube, or what comes nearest to it for a method that needs another space."""
    dimension = min(dimension, LARGEST_DIMENSION.get(name, dimension))
    axes = {f"x{i}": Float(0.0, 1.0, step=0.25 if name == "UCB1" else None) for i in range(dimension)}
    return Space(**axes, level=Fidelity([1, 2], cost=[1, 3])) if name == "MFGPUCB" else Space.from_dict(axes)


def check_run(name: str, case: RunCase) -> None:
    """Run a method; all that it asks for and recommends is finite and in the space, and intervals are in order."""
    space = space_of(name, case.dimension)
    values = (case.size * case.values).tolist()
    budget = len(values)
    optimizer = qd.Optimizer(space, direction=case.direction, method=method_of(name, budget), seed=case.seed)
    for row, value in zip(case.added, values, strict=False):
        u = np.concatenate([row, np.ones(space.dimension)])[: space.dimension]
        optimizer.add(space.from_unit(u), value)
    for value in values[len(case.added) :]:
        trials = [optimizer.ask() for _ in range(1 + case.pending)]
        for trial in trials:
            assert np.isfinite(space.to_unit(trial.params)).all()  # to_unit refuses what is outside
            assert trial.why
        optimizer.tell(trials[0], value)
    got = optimizer.recommend()
    space.to_unit(got.params)
    assert math.isfinite(got.value), got
    for interval in (got.certified_interval, got.credible_interval):
        assert interval is None or interval[0] <= got.value <= interval[1], got
    for gain in (got.estimated_gain, got.estimated_gain_upper):
        assert gain is None or 0 <= gain < math.inf, got
    report = optimizer.certificate()
    assert report.value is None or report.value >= 0, report
    try:
        for believed in optimizer.predict([trials[0].params, got.params]):
            interval = believed.certified_interval or believed.credible_interval
            assert interval is None or interval[0] <= believed.value <= interval[1], believed
            assert math.isfinite(believed.value), believed
    except NotAvailable:
        pass
    json.dumps(optimizer.state())
    optimizer.explain()


# --- Gaussian processes


def check_gp(name: str, case: Design, *, sketched: bool = True) -> None:
    """Condition a process; what it predicts is finite, deviations lie in [0, prior], and undoing is exact.

    `sketched`: whether sketches and ensembles of the same observations are checked too.
    """
    kernel = KERNELS[name](case.lengthscale, case.x.shape[1])
    dimension = case.x.shape[1]
    # The prior is of size 1: values of another size are what badly chosen units give.
    gp = GaussianProcess(kernel, noise_variance=case.noise_variance)
    gp.add(case.x, case.size * case.y)
    probes = np.vstack(
        [case.x[:5], np.clip(case.x[:5] + 1e-9, 0, 1), np.zeros((1, dimension)), np.ones((1, dimension))]
    )
    probes = np.vstack([probes, np.random.default_rng(0).random((5, dimension))])
    before = gp.predict(probes)
    _check_prediction(before.mean, before.deviation, kernel)
    slopes = gp.predict_with_gradients(probes)
    for gradient in (slopes.mean_gradient, slopes.deviation_gradient):
        assert gradient is not None
        assert np.isfinite(gradient).all()
    assert np.isfinite(gp.logdet)
    assert not np.isnan(gp.log_evidence)
    with gp.pending(probes[:7]):
        inside = gp.predict(probes)
        _check_prediction(inside.mean, inside.deviation, kernel)
    saved = gp.save()
    gp.add(probes[-1:], [case.size])
    gp.restore(saved)
    after = gp.predict(probes)
    np.testing.assert_array_equal(before.mean, after.mean)
    np.testing.assert_array_equal(before.deviation, after.deviation)
    if not sketched:
        return
    sketch = SketchedProcess(kernel, noise_variance=case.noise_variance, sketch=Sketch(), seed=0)
    sketch.add(case.x, np.clip(case.size * case.y, -1e100, 1e100))
    at = sketch.predict(probes)
    _check_prediction(at.mean, at.deviation, kernel)
    if name.startswith(("Matern", "SquaredExponential")):
        _check_ensemble(kernel, case, probes)


def _check_ensemble(kernel: Kernel, case: Design, probes: Array) -> None:
    objective = LogPosterior(kernel, Observations.merge(case.x, case.y))
    settings = np.vstack([objective.start(), objective.start() - 1.0])
    value, gradient = objective(settings[0])
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    at = Ensemble(objective, settings).believing(probes[:3]).predict_with_gradients(probes)
    for part in (at.mean, at.deviation, at.mean_gradient, at.deviation_gradient):
        assert part is not None
        assert np.isfinite(part).all()
    assert (at.deviation >= 0).all()


def _check_prediction(mean: Array, deviation: Array, kernel: Kernel) -> None:
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()
    assert (deviation >= 0).all()
    assert (deviation <= math.sqrt(kernel.variance) * (1 + 1e-9)).all()


# --- certified bands


def check_band(name: str, case: Design) -> None:
    """Bound a function; bounds are in order and never NaN, and leaving a block of pending points is exact.

    Nothing is added to a certified matrix: where it is singular to working precision `NumericalFailure` is the answer.
    """
    kernel = KERNELS[name](case.lengthscale, case.x.shape[1])
    noise = math.sqrt(case.noise_variance)
    band = AdaptiveBand(Assumptions(kernel, norm_bound=2.0, noise=noise), 0.05)
    try:
        band.add(case.x, np.clip(case.size, 1e-100, 1e100) * case.y)
    except NumericalFailure:
        return
    probes = np.vstack([case.x[:5], np.zeros((1, case.x.shape[1])), np.ones((1, case.x.shape[1]))])
    before = band.interval(probes)
    assert not np.isnan(before.lower).any()
    assert not np.isnan(before.upper).any()
    if contradiction(band, empty=before.is_empty(band.assumptions.ceiling)) is None:
        assert (before.lower <= before.upper).all()
    try:
        with band.pending(probes):
            assert not np.isnan(band.optimism(probes)).any()
    except NumericalFailure:
        pass
    after = band.interval(probes)
    np.testing.assert_array_equal(before.lower, after.lower)
    np.testing.assert_array_equal(before.upper, after.upper)
