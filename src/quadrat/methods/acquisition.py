"""Acquisition functions of a Gaussian process and their maximisation over the unit cube.

Every acquisition here depends on x through the posterior mean m and deviation s alone. So one is written as a `Score`:
from m and s, its value and its two partial derivatives; the chain rule with the posterior's gradients is applied once,
in `maximise`.

References
----------
[A23]  Ament, Daulton, Eriksson, Balandat and Bakshy (2023). Unexpected improvements to expected improvement for
       Bayesian optimization. NeurIPS. The stable logarithm of EI: equation 9 and its appendix on numerics.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, sqrt
from typing import TypeAlias

import numpy as np

from quadrat._core.arrays import Array, Bools
from quadrat.gp.prediction import Posterior
from quadrat.methods.base import Domain

__all__ = [
    "UPPER",
    "Score",
    "Slope",
    "ascend",
    "draws",
    "excesses",
    "expected_gain",
    "feasible_around",
    "gain_of",
    "log_expected_improvement",
    "log_probability_of_improvement",
    "maximise",
    "points_around",
    "scattered",
    "upper_bound",
]

Slope: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""From points (s, D) to values (s,) and gradients (s, D)."""

_SUFFICIENT = 1e-4  # of the increase that the slope promises [NW06, equation 3.4]
_SHRINK = 0.25
_LONGEST = 0.25  # of the cube's side, in any coordinate: the model is not trusted further


def ascend(function: Slope, starts: Array, *, steps: int = 20, first_step: float = 0.05) -> tuple[Array, Array]:
    """Climb from every start; no row ever ends lower than it began.

    Parameters
    ----------
    function
        Values and gradients. What is not finite counts as infinitely low.
    starts
        Shape (s, D), inside the cube.
    steps
        Calls of the function, the first included; all rows share them.
    first_step
        Length, in the largest coordinate, of the first step of each row.

    Returns
    -------
    points
        Shape (s, D), inside the cube.
    values
        Shape (s,).

    Examples
    --------
    >>> peak = np.array([0.3, 1.2])
    >>> points, values = ascend(lambda x: (-((x - peak) ** 2).sum(1), -2 * (x - peak)), np.full((1, 2), 0.5))
    >>> points.round(6).tolist()
    [[0.3, 1.0]]
    """
    x = np.array(starts, dtype=np.float64)
    rows, dimension = x.shape
    value, slope = _finite(*function(x))
    inverse = np.empty((rows, dimension, dimension))  # of minus the Hessian
    fresh = np.ones(rows, dtype=np.bool_)  # rows whose inverse Hessian is only a scale so far
    damping = np.ones(rows)
    inverse[:] = np.eye(dimension)
    inverse *= (first_step / np.maximum(np.abs(slope).max(axis=1), 1e-300))[:, None, None]
    for _ in range(steps - 1):
        free = ~(((x <= 0.0) & (slope < 0.0)) | ((x >= 1.0) & (slope > 0.0)))
        uphill = np.where(free, slope, 0.0)
        direction = np.where(free, np.einsum("sij,sj->si", inverse, uphill), 0.0)
        stray = np.einsum("si,si->s", direction, uphill) <= 0.0
        if stray.any():  # what the Hessian was learned from no longer describes this place
            scale = first_step / np.maximum(np.abs(uphill[stray]).max(axis=1), 1e-300)
            direction[stray] = scale[:, None] * uphill[stray]
        longest = np.abs(direction).max(axis=1)
        direction *= (damping * np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300)))[:, None]
        candidate = np.clip(x + direction, 0.0, 1.0)
        moved = candidate - x
        if not np.any(np.abs(moved) > 1e-12):
            break
        new_value, new_slope = _finite(*function(candidate))
        promised = np.maximum(np.einsum("si,si->s", slope, moved), 0.0)  # a face of the cube may turn a step downhill
        accepted = new_value >= value + _SUFFICIENT * promised
        bend = np.where(free, slope - new_slope, 0.0)
        curvature = np.einsum("si,si->s", moved, bend)
        bent = np.abs(bend).max(axis=1)
        # Squares of what is learned from must be numbers.
        learn = accepted & (curvature > 1e-12 * np.abs(moved).max(axis=1) * bent) & (bent > 1e-140) & (bent < 1e140)
        if learn.any():
            _learn(inverse, fresh, learn, moved[learn], bend[learn], curvature[learn])
        damping = np.where(accepted, 1.0, damping * _SHRINK)
        x[accepted], value[accepted], slope[accepted] = candidate[accepted], new_value[accepted], new_slope[accepted]
    return x, value


def _learn(inverse: Array, fresh: Bools, learn: Bools, s: Array, y: Array, sy: Array) -> None:
    """Update the inverse Hessians of the rows `learn` from steps s and changes of slope y [NW06, equation 6.17]."""
    first = learn & fresh
    if first.any():  # scale the identity by the curvature just seen [NW06, equation 6.20]
        scale = (sy / np.einsum("si,si->s", y, y))[fresh[learn]]
        inverse[first] = scale[:, None, None] * np.eye(s.shape[1])
        fresh[first] = False
    H = inverse[learn]
    Hy = np.einsum("sij,sj->si", H, y)
    outer = s[:, :, None] * Hy[:, None, :]
    weight = (1 + np.einsum("si,si->s", y, Hy) / sy) / sy
    H = (
        H
        - (outer + outer.transpose(0, 2, 1)) / sy[:, None, None]
        + weight[:, None, None] * s[:, :, None] * s[:, None, :]
    )
    inverse[learn] = H


def _finite(values: Array, slopes: Array) -> tuple[Array, Array]:
    good = np.isfinite(values) & np.isfinite(slopes).all(axis=1)
    return np.where(good, values, -np.inf), np.where(good[:, None], slopes, 0.0)


Score: TypeAlias = Callable[[Array, Array], tuple[Array, Array, Array]]
"""(m, s), each shape (k,), to (value, d value / d m, d value / d s), each shape (k,)."""

_HALF_LOG_TWO_PI = 0.5 * log(2 * pi)
_LEAST_DEVIATION = 1e-12  # in model units: where f is known exactly, z would be 0/0
_FAR = -100.0  # below, an asymptotic series is more accurate than a difference

_BATCH = 512  # points scored at once before any climb
_NEAR_SCALES = (0.1, 0.01, 0.001)
_NEAR_EACH = 32
_ROUGH, _FINE = 1e-5, 1e-10  # relative change of the value at which a climb ends: all of them, the best of them
_STEPS = 100
_CANDIDATES = 256  # points at which f is drawn to estimate what is still to gain
_SCREENED = 1024  # points, of which those that may be evaluated are candidates for it, where a constraint forbids some
_DRAWS = 256
UPPER = 0.9  # the quantile of what is still to gain that is stated beside its estimate


def upper_bound(multiplier: float) -> Score:
    """Return the score m + multiplier * s, an upper confidence bound."""

    def score(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
        return mean + multiplier * deviation, np.ones_like(mean), np.full_like(mean, multiplier)

    return score


def log_expected_improvement(best: float) -> Score:
    """Return the score log E max(f - best, 0) = log s + log h(z), z = (m - best)/s, h(z) = phi(z) + z Phi(z).

    EI itself is 0 in double precision over most of the cube once the optimum is nearly known, and so is its
    gradient; its logarithm never is [A23].
    """

    def score(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
        s = np.maximum(deviation, _LEAST_DEVIATION)
        log_h, share, density = improvement((mean - best) / s)
        # EI = s h(z) has the slopes Phi(z) in m and phi(z) in s; divided by EI they are those of its logarithm.
        return np.log(s) + log_h, share / s, density / s

    return score


def log_probability_of_improvement(target: float) -> Score:
    """Return the score log P(f > target) = log Phi(z), z = (m - target)/s."""

    def score(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
        from scipy.special import erfcx, log_ndtr

        s = np.maximum(deviation, _LEAST_DEVIATION)
        z = (mean - target) / s
        # phi/Phi through erfcx: a difference of logarithms near -z^2/2 would lose all digits for z << 0
        in_mean = sqrt(2 / pi) / erfcx(-z / sqrt(2)) / s
        return np.asarray(log_ndtr(z)), in_mean, -z * in_mean

    return score


def improvement(z: Array) -> tuple[Array, Array, Array]:
    """Return (log h, Phi/h, phi/h) at z, shape (k,), with h(z) = phi(z) + z Phi(z); accurate for every z.

    For z <= -1 the two terms of h nearly cancel: h/phi = 1 - |z| Phi/phi is formed from erfcx [A23, equation 9], and
    below -100, where that cancels too, from its series z^-2 (1 - 3 z^-2 + 15 z^-4 - 105 z^-6).

    Examples
    --------
    >>> improvement(np.array([0.0, -40.0]))[0].round(3).tolist()
    [-0.919, -808.299]
    """
    from scipy.special import erfcx, ndtr

    log_phi = -0.5 * z**2 - _HALF_LOG_TWO_PI
    ratio = np.empty_like(z)  # h / phi
    mills = np.empty_like(z)  # Phi / phi
    far = z < _FAR
    middle = ~far & (z <= -1)
    mills[z <= -1] = erfcx(-z[z <= -1] / sqrt(2)) * sqrt(pi / 2)
    ratio[middle] = 1 + z[middle] * mills[middle]
    u = z[far] ** -2.0
    ratio[far] = u * (1 - u * (3 - u * (15 - u * 105)))
    near = ~far & ~middle
    log_h, share, density = (
        log_phi + np.log(ratio, where=~near, out=np.zeros_like(z)),
        np.empty_like(z),
        np.empty_like(z),
    )
    share[~near], density[~near] = mills[~near] / ratio[~near], 1 / ratio[~near]
    phi, below = np.exp(log_phi[near]), ndtr(z[near])
    h = phi + z[near] * below
    log_h[near], share[near], density[near] = np.log(h), below / h, phi / h
    return log_h, share, density


def maximise(
    gp: Posterior,
    score: Score,
    rng: np.random.Generator,
    *,
    dimension: int,
    restarts: int = 10,
) -> tuple[Array, float]:
    """Maximise a score of the posterior over [0, 1]^D.

    L-BFGS-B with analytic gradients, from `restarts` uniform points (10 in the paper, appendix "Details of
    Experiments") and from the best points of two batches: one uniform, one around the observed points of highest mean,
    which uniform points never come near in many dimensions.

    Parameters
    ----------
    gp
        The posterior; inside its `pending` block, pending points count.
    score
        What to maximise.
    rng
        Draws batches and restarts; equal generators give equal answers.
    dimension
        D.
    restarts
        Uniform starts.

    Returns
    -------
    point
        Shape (D,), inside the cube.
    value
        The score there; never NaN.

    Examples
    --------
    >>> from quadrat.gp import GaussianProcess
    >>> from quadrat.kernels import Matern
    >>> gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=0.01)
    >>> gp.add([[0.0], [0.5], [1.0]], [0.0, 1.0, 0.5])
    >>> point, value = maximise(gp, upper_bound(1.0), np.random.default_rng(0), dimension=1)
    >>> point.round(3).tolist(), round(value, 3)
    ([0.684], 1.421)
    """
    from scipy.optimize import minimize

    starts = rng.random((restarts, dimension))
    batches = [rng.random((_BATCH, dimension)), *([_around_best(gp, rng)] if len(gp) else [])]
    peaks = [batch[int(np.argmax(_values(gp, score, batch)))] for batch in batches]

    def downhill(x: Array) -> tuple[float, Array]:
        at = gp.predict_with_gradients(x[None, :])
        assert at.mean_gradient is not None
        assert at.deviation_gradient is not None
        value, in_mean, in_deviation = score(at.mean, at.deviation)
        slope = in_mean[0] * at.mean_gradient[0] + in_deviation[0] * at.deviation_gradient[0]
        if not (np.isfinite(value[0]) and np.isfinite(slope).all()):
            return np.inf, np.zeros(dimension)  # the line search steps back
        return -float(value[0]), -slope

    def climb(start: Array, tolerance: float) -> Array:
        with np.errstate(all="ignore"):  # what is not finite is refused, not reported
            found = minimize(
                downhill,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * dimension,
                options={"ftol": tolerance, "maxiter": _STEPS},
            )
        return np.clip(found.x, 0.0, 1.0) if np.isfinite(found.x).all() else start

    ends = [*peaks, *(climb(start, _ROUGH) for start in (*peaks, *starts))]
    ends.append(climb(ends[int(np.argmax(_values(gp, score, np.array(ends))))], _FINE))
    values = _values(gp, score, np.array(ends))
    best = int(np.argmax(values))
    return ends[best], float(values[best])


def expected_gain(
    gp: Posterior, x: Array, rng: np.random.Generator, domain: Domain | None = None
) -> tuple[float, float] | None:
    """Estimate max f - f(x), in model units, by drawing f jointly at no more than 256 points.

    Half of them are uniform, the others lie around x: in many dimensions it is there that improvement is to be had.
    Where the domain has a constraint, they are those of 1,024 such points, and of `Domain.thin_sample`, that may be
    evaluated and have the highest mean plus two deviations.

    Returns
    -------
    tuple of float, or None
        The mean of the draws and their 90 % quantile: what the model believes, from below; never a bound. None where
        too few feasible points are known to speak of all of them.
    """
    if domain is None or domain.feasible is None:
        others = points_around(x, _CANDIDATES - 1, rng)
    else:
        found = feasible_around(x, domain, rng)
        if found is None:
            return None
        at = gp.predict(found)
        others = found[np.argsort(-(at.mean + 2 * at.deviation), kind="stable")[: _CANDIDATES - 1]]
    points = np.vstack([x[None, :], others])
    return gain_of(excesses(gp.predict_mean(points), gp.covariance(points), _DRAWS, rng))


def feasible_around(x: Array, domain: Domain, rng: np.random.Generator) -> Array | None:
    """Return rounded points, (m, D), that may be evaluated: around x and all over; None where too few are known."""
    sample = domain.thin_sample
    if sample is None:
        return None
    points = domain.rounded(points_around(x, _SCREENED, rng))
    return np.vstack([points[domain.allowed(points)], sample])


def gain_of(drawn: Array) -> tuple[float, float]:
    """Return what is stated of draws of max f - f(x), shape (count,): their mean and their 90 % quantile.

    The quantile is raised to the mean where it is lower: of draws that are 0 but for a few, it would be 0.
    """
    mean = float(np.mean(drawn))
    return mean, max(float(np.quantile(drawn, UPPER)), mean)


def points_around(x: Array, count: int, rng: np.random.Generator) -> Array:
    """Return `count` points of the cube, (count, D): half around x at scales from .001 to .3, the others uniform."""
    near = (count + 1) // 2
    steps = np.geomspace(1e-3, 0.3, near)[:, None] * rng.standard_normal((near, len(x)))
    uniform = rng.random((count - near, len(x)))
    return np.vstack([np.clip(x + steps, 0.0, 1.0), uniform])


def excesses(mean: Array, covariance: Array, count: int, rng: np.random.Generator) -> Array:
    """Return max_i f_i - f_0 >= 0 for `count` joint draws of f at m points, the first the reference; shape (count,)."""
    drawn = draws(mean, covariance, count, rng)
    return np.asarray(drawn.max(axis=0) - drawn[0])


def draws(mean: Array, covariance: Array, count: int, rng: np.random.Generator) -> Array:
    """Return `count` joint draws of f at m points, shape (m, count)."""
    # The matrix is singular to working precision where points lie close: a square root by eigenvalues takes that.
    eigenvalues, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return np.asarray(mean[:, None] + root @ rng.standard_normal((len(mean), count)))


def scattered(centres: Array, each: int, scales: tuple[float, ...], rng: np.random.Generator) -> Array:
    """Return `each` points near each of the centres (c, D), at the scales in turn, with some of the axes moved."""
    dimension = centres.shape[1]
    repeated = np.repeat(centres, each, axis=0)
    steps = np.resize(scales, len(repeated))[:, None]
    moved = rng.random(repeated.shape) < max(0.5, 1 / dimension)
    return np.clip(repeated + np.where(moved, steps * rng.standard_normal(repeated.shape), 0.0), 0.0, 1.0)


def _values(gp: Posterior, score: Score, points: Array) -> Array:
    at = gp.predict(points)
    with np.errstate(all="ignore"):
        values = score(at.mean, at.deviation)[0]
    return np.where(np.isfinite(values), values, -np.finfo(np.float64).max)


def _around_best(gp: Posterior, rng: np.random.Generator) -> Array:
    """Points near the four observed points of highest mean, each with some axes moved; shape (m, D)."""
    top = gp.x[np.argsort(-gp.predict_mean(gp.x), kind="stable")[:4]]
    return scattered(top, len(_NEAR_SCALES) * _NEAR_EACH // len(top) + 1, _NEAR_SCALES, rng)
