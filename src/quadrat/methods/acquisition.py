"""Acquisition functions of a Gaussian process, and the one search for the maximum of any of them.

Most acquisitions depend on x through the posterior mean m and deviation s alone. Such a one is written as a `Score`:
from m and s, its value and its two partial derivatives. `Acquisition` applies the chain rule with the posterior's
gradients. `maximise` seeks the maximum of that, or of any other function with gradients, over the unit cube: it scores
candidates all over and around promising points, and climbs from the best of them that lie apart.

The papers of these methods take the exact argmax of their index. `maximise` finds a local maximum at least as high as
every candidate; tests/methods/test_acquisition_quality.py measures how often it is the global one.

References
----------
[A23]   Ament, Daulton, Eriksson, Balandat and Bakshy (2023). Unexpected improvements to expected improvement for
        Bayesian optimization. NeurIPS. The stable logarithm of EI: equation 9 and its appendix on numerics.
[NW06]  Nocedal and Wright (2006). Numerical optimization. Springer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log, pi, sqrt
from typing import TypeAlias

import numpy as np

from quadrat._core.arrays import Array, Bools
from quadrat._core.nearest import is_among
from quadrat.gp.prediction import Posterior
from quadrat.kernels import Kernel
from quadrat.methods.base import Domain
from quadrat.methods.statements import Gain

__all__ = [
    "VISITED",
    "Acquisition",
    "Effort",
    "Score",
    "SearchRegion",
    "Slope",
    "Values",
    "ascend",
    "draws",
    "excesses",
    "expected_gain",
    "gain_at",
    "gain_points",
    "log_expected_improvement",
    "log_probability_of_improvement",
    "maximise",
    "peaks",
    "points_around",
    "scattered",
    "top_points",
    "unvisited",
    "upper_bound",
]

Score: TypeAlias = Callable[[Array, Array], tuple[Array, Array, Array]]
"""(m, s), each shape (k,), to (value, d value / d m, d value / d s), each shape (k,)."""

Values: TypeAlias = Callable[[Array], Array]
"""From points (s, D) to values (s,)."""

Slope: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""From points (s, D) to values (s,) and gradients (s, D)."""

VISITED = 0.5
"""The prior correlation of f at a point with f at an evaluated one, from which on somebody has been there."""

_SUFFICIENT = 1e-4  # of the increase that the slope promises [NW06, equation 3.4]
_SHRINK = 0.25
_LONGEST = 0.25  # of the cube's side, in any coordinate: the model is not trusted further
_HALF_LOG_TWO_PI = 0.5 * log(2 * pi)
_LEAST_DEVIATION = 1e-12  # in model units: where f is known exactly, z would be 0/0
_FAR = -100.0  # below, an asymptotic series is more accurate than a difference
_TOP = 4  # observed points of highest mean that candidates are scattered around
_ZOOMED = 64  # chance steps at each scale
_CANDIDATES = 256  # points at which f is drawn to estimate what is still to gain
_SCREENED = 1024  # points, of which those that may be evaluated are candidates for it, where a constraint forbids some
_DRAWS = 256


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


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How thoroughly a maximum is sought.

    Attributes
    ----------
    uniform
        Candidates all over the cube, or the box.
    near, scales
        Candidates around each of the centres, and how far from it in turn, in sides of the cube or the box.
    climbs, apart
        How many of the best candidates are climbed from, and how far these are from each other in some coordinate.
    by_batch
        Whether half of the climbs start from uniform candidates and half from the others: uniform points never come
        near a narrow peak in many dimensions, and look better than what is near it.
    steps
        Calls of the function in these climbs, all at once.
    fine_steps
        Calls in a last climb, from the best point found; 0 for none.
    zooms
        Scales of chance steps from the best point: they go on where a function has kinks, on which climbs stop short.
    rounds
        How often, at most, the best point is moved to a better neighbour along the axes that are not smooth. With more
        than one, it then climbs again along the others.
    levels
        Neighbours on an axis without order, at most.
    """

    uniform: int = 512
    near: int = 24
    scales: tuple[float, ...] = (0.1, 0.01, 0.001)
    climbs: int = 24
    apart: float = 0.05
    by_batch: bool = True
    steps: int = 20
    fine_steps: int = 30
    zooms: tuple[float, ...] = ()
    rounds: int = 1
    levels: int = 12


@dataclass(frozen=True)
class SearchRegion:
    """The part of a domain in which a maximum is sought: a box as a cube of its own, and the axes that are free in it.

    Parameters
    ----------
    domain
        The cube with what is behind it: points are rounded, and axes that are not smooth searched by neighbours.
    box
        Lower and upper corner, each (D,); None for the whole cube.
    fixed
        Shape (D,): coordinates on axes that are given, NaN on those that are free; None where all are.
    """

    domain: Domain
    box: tuple[Array, Array] | None = None
    fixed: Array | None = None

    @property
    def smooth(self) -> Bools:
        """Which axes are climbed along, shape (D,)."""
        return self.domain.smooth if self.fixed is None else self.domain.smooth & np.isnan(self.fixed)

    def placed(self, points: Array) -> Array:
        """Return points (m, D) moved to the fixed coordinates, and rounded along the free axes."""
        if self.fixed is None:
            return self.domain.rounded(points)
        free = np.isnan(self.fixed)
        return np.where(free, self.domain.rounded(np.where(free, points, self.fixed)), self.fixed)

    def neighbours(self, point: Array, rng: np.random.Generator, most: int = 12) -> Array:
        """Return points that differ from one on a free axis that is not smooth, (m, D); as `Domain.neighbours` does."""
        others = self.domain.neighbours(point, rng, most)
        if self.fixed is None:
            return others
        return np.asarray(others[(others == self.fixed)[:, ~np.isnan(self.fixed)].all(axis=1)])

    def inside(self, points: Array) -> Array:
        """Return points of the cube (m, D) in coordinates of the box, 0 to 1; from outside they come to its border."""
        if self.box is None:
            return points
        lower, upper = self.box
        return np.clip((points - lower) / (upper - lower), 0.0, 1.0)

    def outside(self, points: Array) -> Array:
        """Return points in coordinates of the box (m, D) as points of the cube."""
        return points if self.box is None else self.box[0] + (self.box[1] - self.box[0]) * points

    def distances(self, points: Array, other: Array) -> Array:
        """Return the largest difference of each point (m, D) to another (D,) in a coordinate, in sides of the box."""
        widths = 1.0 if self.box is None else self.box[1] - self.box[0]
        return np.asarray((np.abs(points - other) / widths).max(axis=1))

    def climb(self, slopes: Slope, starts: Array, steps: int) -> Array:
        """Return where climbs within the box, along the free axes, from points of the cube (s, D) end, (s, D)."""
        return self.outside(ascend(self.seen_from(slopes), self.inside(starts), steps=steps)[0])

    def seen_from(self, slopes: Slope) -> Slope:
        """Return the function with gradients in coordinates of the box, 0 along fixed axes."""
        if self.box is None and self.fixed is None:
            return slopes
        widths = 1.0 if self.box is None else self.box[1] - self.box[0]

        def inside(points: Array) -> tuple[Array, Array]:
            value, gradient = slopes(self.outside(points))
            gradient = gradient * widths
            return value, gradient if self.fixed is None else np.where(np.isnan(self.fixed), gradient, 0.0)

        return inside


def maximise(
    values: Values,
    slopes: Slope | None,
    rng: np.random.Generator,
    part: SearchRegion,
    *,
    centres: Array,
    effort: Effort = Effort(),
    candidates: Array | None = None,
    avoided: Array | None = None,
) -> tuple[Array, float]:
    """Maximise a function over the points of a part of a domain.

    Parameters
    ----------
    values
        The function at rounded points; minus infinity where a point may not be evaluated.
    slopes
        The same with gradients, 0 along axes that are not smooth; None where there are none, and nothing is climbed.
    rng
        Draws candidates; equal generators give equal answers.
    part
        Where the maximum is sought.
    centres
        Promising points (c, D), around which candidates are scattered; c may be 0.
    effort
        How many candidates, climbs and steps.
    candidates
        Further candidates, (m, D).
    avoided
        Points (p, D) that are not returned unless there is nothing else.

    Returns
    -------
    point
        Shape (D,), rounded.
    value
        The function there.

    Examples
    --------
    >>> peak = np.array([0.3, 1.2])
    >>> point, value = maximise(
    ...     lambda x: -((x - peak) ** 2).sum(1),
    ...     lambda x: (-((x - peak) ** 2).sum(1), -2 * (x - peak)),
    ...     np.random.default_rng(0),
    ...     SearchRegion(Domain.cube(2)),
    ...     centres=np.empty((0, 2)),
    ... )
    >>> point.round(6).tolist(), round(value, 6)
    ([0.3, 1.0], -0.04)
    """

    def worth(points: Array) -> Array:
        found = values(points)
        return found if avoided is None else np.where(is_among(points, avoided), -np.inf, found)

    def better(x: Array, height: float, others: Array) -> tuple[Array, float]:
        heights = worth(others) if len(others) else np.empty(0)
        row = int(np.argmax(heights)) if len(heights) else 0
        return (others[row], float(heights[row])) if len(heights) and heights[row] > height else (x, height)

    starts, climbed = peaks(worth, slopes, rng, part, centres=centres, effort=effort, candidates=candidates)
    ends = np.vstack([starts, part.placed(climbed)])
    heights = worth(ends)
    top = int(np.argmax(heights))
    x, height = ends[top], float(heights[top])
    if not part.domain.smooth.all():
        before = height
        # Where nothing is climbed, each of the best candidates moves on, for little.
        rows = np.argsort(-heights, kind="stable") if effort.rounds > 1 and not part.smooth.any() else [top]
        for row in rows:
            end, level = ends[row], float(heights[row])
            for _ in range(effort.rounds):
                best = level
                end, level = better(end, level, part.neighbours(end, rng, effort.levels))
                if not level > best:
                    break
            x, height = (end, level) if level > height else (x, height)
        if effort.rounds > 1 and height > before and slopes is not None and part.smooth.any():
            x, height = better(x, height, part.placed(part.climb(slopes, x[None, :], effort.steps // 2)))
    if slopes is not None and effort.fine_steps and part.smooth.any():
        x, height = better(x, height, part.placed(part.climb(slopes, x[None, :], effort.fine_steps)))
    for scale in effort.zooms:
        steps = scattered(part.inside(x[None, :]), _ZOOMED, (scale,), rng)
        x, height = better(x, height, part.placed(part.outside(steps)))
    if avoided is not None and height == -np.inf:
        return maximise(values, slopes, rng, part, centres=centres, effort=effort, candidates=candidates)
    return x, height


def peaks(
    values: Values,
    slopes: Slope | None,
    rng: np.random.Generator,
    part: SearchRegion,
    *,
    centres: Array,
    effort: Effort,
    candidates: Array | None = None,
) -> tuple[Array, Array]:
    """Return the best candidates that lie apart, and where climbs from them end, not rounded; each (k, D).

    The first half of `maximise`, with the same parameters, for methods that decide between these points in their own
    way. Where there is nothing to climb, the second array has no rows.
    """
    domain = part.domain
    near = scattered(part.inside(centres), effort.near, effort.scales, rng)
    batches = [part.outside(rng.random((effort.uniform, domain.dimension))), part.outside(near)]
    if candidates is not None:
        batches.append(candidates)
    if not domain.smooth.all():
        batches += [domain.neighbours(centre, rng) for centre in centres]
    points = part.placed(np.vstack(batches))
    heights, parts = values(points), [0, effort.uniform, len(points)] if effort.by_batch else [0, len(points)]
    starts: list[Array] = []
    for first, last in pairwise(parts):
        order = first + np.argsort(-heights[first:last], kind="stable")
        most = len(starts) + effort.climbs // (len(parts) - 1)
        while len(order) and len(starts) < most:
            starts.append(points[order[0]])
            order = order[1:][part.distances(points[order[1:]], starts[-1]) > effort.apart]
    chosen = np.array(starts)
    if slopes is None or not part.smooth.any():
        return chosen, chosen[:0]
    return chosen, part.climb(slopes, chosen, effort.steps)


def top_points(gp: Posterior, dimension: int, count: int = _TOP) -> Array:
    """Return the observed points of highest posterior mean, at most `count`, the highest first, (k, D)."""
    if not len(gp):
        return np.empty((0, dimension))
    return np.asarray(gp.x[np.argsort(-gp.predict_mean(gp.x), kind="stable")[:count]])


@dataclass(frozen=True)
class Acquisition:
    """A score of a posterior, as a function on the cube.

    Parameters
    ----------
    gp
        The posterior, on the features of the domain; inside its `pending` block, pending points count.
    score
        The acquisition, from mean and deviation.
    domain
        What is behind the cube: points are given rounded on axes that are not smooth.

    Examples
    --------
    >>> from quadrat.gp import GaussianProcess
    >>> from quadrat.kernels import Matern
    >>> gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=0.01)
    >>> gp.add([[0.0], [0.5], [1.0]], [0.0, 1.0, 0.5])
    >>> point, value = Acquisition(gp, upper_bound(1.0), Domain.cube(1)).maximise(np.random.default_rng(0))
    >>> point.round(3).tolist(), round(value, 3)
    ([0.684], 1.421)
    """

    gp: Posterior
    score: Score
    domain: Domain

    def values(self, points: Array) -> Array:
        """Return the score at points (m, D), shape (m,); what is not finite is the lowest number there is."""
        at = self.gp.predict(self.domain.features(points))
        with np.errstate(all="ignore"):
            found = self.score(at.mean, at.deviation)[0]
        return np.where(np.isfinite(found), found, -np.finfo(np.float64).max)

    def slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the score (m,) and its gradient (m, D) at points (m, D); 0 along axes that are not smooth."""
        at = self.gp.predict_with_gradients(self.domain.features(points))
        assert at.mean_gradient is not None
        assert at.deviation_gradient is not None
        with np.errstate(all="ignore"):  # what is not finite is refused, not reported
            value, in_mean, in_deviation = self.score(at.mean, at.deviation)
            gradient = in_mean[:, None] * at.mean_gradient + in_deviation[:, None] * at.deviation_gradient
        return value, self.domain.slopes(gradient)

    def maximise(self, rng: np.random.Generator, effort: Effort = Effort()) -> tuple[Array, float]:
        """Return the point (D,) of the highest score, sought all over and around the best observed points; the score.

        For a posterior on the coordinates themselves.
        """
        centres = top_points(self.gp, self.domain.dimension)
        return maximise(self.values, self.slopes, rng, SearchRegion(self.domain), centres=centres, effort=effort)


def expected_gain(gp: Posterior, x: Array, rng: np.random.Generator, domain: Domain | None = None) -> Gain | None:
    """Return what is believed of max f - f(x), in model units, by drawing f jointly at no more than 256 points.

    Half of them are uniform, the others lie around x: in many dimensions it is there that improvement is to be had.
    Where the domain has a constraint, they are those of 1,024 such points, and of `Domain.thin_sample`, that may be
    evaluated and have the highest mean plus two deviations.

    Returns
    -------
    Gain, or None
        What the model believes, from below; never a bound. None where too few feasible points are known to speak of all
        of them.
    """
    points = gain_points(gp, x, rng, domain)
    return None if points is None else gain_at(gp, points, _DRAWS, rng)


def gain_points(gp: Posterior, x: Array, rng: np.random.Generator, domain: Domain | None) -> Array | None:
    """Return x and the points at which f is drawn to say how much better they may be, (m, D), as of `expected_gain`."""
    if domain is None or domain.feasible is None:
        return np.vstack([x[None, :], points_around(x, _CANDIDATES - 1, rng)])
    sample = domain.thin_sample
    if sample is None:
        return None
    points = domain.rounded(points_around(x, _SCREENED, rng))
    found = np.vstack([points[domain.allowed(points)], sample])
    at = gp.predict(found)
    best = np.argsort(-(at.mean + 2 * at.deviation), kind="stable")[: _CANDIDATES - 1]
    return np.vstack([x[None, :], found[best]])


def gain_at(gp: Posterior, points: Array, count: int, rng: np.random.Generator) -> Gain:
    """Return what `count` joint draws of f at points (m, D) say of the gain over the first of them, in model units."""
    drawn = draws(gp.predict_mean(points), gp.covariance(points), count, rng)
    return Gain.of(drawn, unvisited(gp.kernel, points, gp.x))


def unvisited(kernel: Kernel, points: Array, evaluated: Array) -> Bools:
    """Return which points (m, D) lie where nobody has evaluated: f is hardly correlated with any of `evaluated`."""
    return np.asarray(kernel(points, evaluated).max(axis=1, initial=0.0) < VISITED * kernel.variance)


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
