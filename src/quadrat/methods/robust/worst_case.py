"""The worst case of a function within a box around a point, and the point whose worst case is best.

The one who uses a point x may miss it: on axis j by up to r_j. What then counts is the lowest value over the box
[x - r, x + r]. Perturbed points outside the cube are clipped to it, which leaves the box's part inside the cube: the
set Delta_eps(x) of [B18] for the distance max_j |x_j - z_j| / r_j.

The minimum over a box is sought on a fixed lattice (centre, faces, corners, and points of a Kronecker sequence between
them) and, where it decides, by descents in the box from the lattice's lowest points. Both find a minimum from above.
The maximum over x of the minimum has kinks: a soft minimum over the lattice is climbed first, which has none, and the
minimum itself is then improved by trial points around the best one.

[B18]: Bogunovic, Scarlett, Jegelka and Cevher (2018). Adversarially robust optimization with Gaussian processes.
NeurIPS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_vector
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.methods.acquisition import Acquisition, Effort, SearchRegion, Slope, ascend, draws, peaks, upper_bound
from quadrat.methods.base import CREDIBLE, Domain
from quadrat.randomness import generator

__all__ = ["Robust", "WorstValue", "as_radius", "bound", "lattice", "lowest", "most_robust", "worst_value"]

_FACES, _CORNERS, _BETWEEN = 32, 16, 8  # at most so many points of each kind in the lattice
_DENSE = 128  # points between, where the minimum is drawn jointly
_DRAWS = 512
_CENTRES = 4  # the first centres, around which candidates are scattered
# Soft minima are climbed, from the best candidates wherever they lie.
_EFFORT = Effort(uniform=96, near=16, scales=(0.1, 0.03), climbs=6, apart=-1.0, by_batch=False, steps=12)
_SOFTNESS = 0.05  # of the spread of the function's values: the temperature of the soft minimum
_ZOOMS, _TRIED = (0.3, 0.1, 0.03, 0.01), 12  # distances, of the box's half-side and at least of 0.03, and how many
_LEAST_ZOOM = 0.03
_DESCENTS = 12  # calls for all descents together
_QUANTILES = (0.05, 0.5, 0.95)


def as_radius(value: ArrayLike, dimension: int, *, name: str = "perturbation") -> Array:
    """Return half-sides of the box, shape (D,), from a number for all axes or one for each axis.

    Raises
    ------
    InvalidInput
        Not numbers, the wrong number of them, negative, or all 0: then nothing is perturbed.
    """
    radius = as_vector(value, length=dimension, name=name)
    if (radius < 0).any() or not (radius > 0).any():
        raise InvalidInput(
            f"{name}: expected half-sides >= 0 in units of the cube's side, not all 0 (without perturbations use "
            f"GPUCB), got {value!r}"
        )
    return radius


def bound(gp: GaussianProcess, multiplier: float, domain: Domain) -> Acquisition:
    """Return m(x) + multiplier * s(x): an upper bound where it is > 0, a lower one where < 0, the mean where 0."""
    return Acquisition(gp, upper_bound(multiplier), domain)


@cache
def lattice(dimension: int, between: int = _BETWEEN) -> Array:
    """Return where the points of the lattice lie in a box, as shares of its sides, shape (p, D), the centre first."""
    centre = np.full((1, dimension), 0.5)
    parts = [centre]
    if dimension > 1:
        for axis in np.linspace(0, dimension - 1, min(dimension, _FACES // 2)).astype(int):
            faces = np.repeat(centre, 2, axis=0)
            faces[:, axis] = 0.0, 1.0
            parts.append(faces)
    if 2**dimension <= _CORNERS:
        corners = np.array(list(product((0.0, 1.0), repeat=dimension)))
    else:  # in many dimensions some, each with its opposite
        some = generator(0, dimension).integers(0, 2, (_CORNERS // 2, dimension))
        corners = np.vstack([some, 1 - some]).astype(np.float64)
    # Additive recurrence with the powers of 1/g, g the root of g^(D+1) = g + 1: evenly spread for every p.
    root = 1.5
    for _ in range(60):
        root = (1 + root) ** (1 / (dimension + 1))
    steps = root ** -np.arange(1.0, dimension + 1)
    spread = (0.5 + np.arange(1, between + 1)[:, None] * steps) % 1.0
    found = np.vstack([*parts, corners, spread])
    found.setflags(write=False)
    return found


def _boxes(points: Array, radius: Array) -> tuple[Array, Array]:
    return np.maximum(points - radius, 0.0), np.minimum(points + radius, 1.0)


def _placed(points: Array, radius: Array, shares: Array) -> Array:
    """Return the lattice's points in the box of each point, shape (m, p, D)."""
    low, high = _boxes(points, radius)
    return low[:, None, :] + shares * (high - low)[:, None, :]


def lowest(height: Acquisition, points: Array, radius: Array, *, extra: Array | None = None) -> tuple[Array, Array]:
    """Return where the bound is lowest in the box of each point, shape (m, D), and how low, shape (m,).

    Parameters
    ----------
    height
        The bound that is minimised.
    points
        Shape (m, D); on axes that are not smooth the radius is 0.
    radius
        Half-sides of the boxes, shape (D,).
    extra
        Further shares to start from, shape (e, D).
    """
    shares = lattice(points.shape[1]) if extra is None else np.vstack([lattice(points.shape[1]), extra])
    placed = _placed(points, radius, shares)
    values = height.values(placed.reshape(-1, points.shape[1])).reshape(len(points), -1)
    low, high = _boxes(points, radius)
    side = high - low
    # The two lowest of the lattice: f often falls towards opposite faces of the box, by nearly as much.
    order = np.argsort(values, axis=1, kind="stable")[:, :2]
    rows = np.repeat(np.arange(len(points)), order.shape[1])

    def downhill(u: Array) -> tuple[Array, Array]:
        value, slope = height.slopes(low[rows] + u * side[rows])
        return -value, -slope * side[rows]

    ends, heights = ascend(downhill, shares[order.ravel()], steps=_DESCENTS, first_step=0.1)
    best = np.argmax(heights.reshape(len(points), -1), axis=1)
    chosen = np.arange(len(points)) * order.shape[1] + best
    return low + ends[chosen] * side, -heights[chosen]


@dataclass(frozen=True)
class Robust:
    """A point (D,), the bound's lowest value within the box around it, and where that is, (D,)."""

    point: Array
    value: float
    worst_at: Array


def most_robust(height: Acquisition, radius: Array, rng: np.random.Generator, *, centres: Array) -> Robust:
    """Return the point of the domain whose lowest value of the bound within its box is highest.

    Parameters
    ----------
    height
        The bound that the adversary lowers.
    radius
        Half-sides of the box, shape (D,); 0 on axes that are not smooth.
    rng
        Draws candidates; equal generators give equal answers.
    centres
        Points worth looking at, shape (c, D), such as the best ones told; also around the first few.
    """
    domain, dimension = height.domain, len(radius)
    shares, temperature = lattice(dimension), 0.0

    def worst(points: Array) -> Array:
        nonlocal temperature
        found = height.values(_placed(points, radius, shares).reshape(-1, dimension)).reshape(len(points), -1)
        temperature = _SOFTNESS * max(float(np.std(found)), 1e-12)
        return np.where(domain.allowed(points), found.min(axis=1), -np.inf)

    def soft(points: Array) -> tuple[Array, Array]:
        return _soft(height, radius, shares, temperature)(points)

    starts, climbed = peaks(
        worst, soft, rng, SearchRegion(domain), centres=centres[:_CENTRES], effort=_EFFORT, candidates=centres
    )
    starts = np.vstack([starts, climbed])
    allowed = domain.allowed(starts)
    if allowed.any() or len(centres):  # where a constraint is hard to meet, what was told did meet it
        starts = starts[allowed] if allowed.any() else centres
    at, values = lowest(height, starts, radius)
    best = int(np.argmax(values))
    found = Robust(starts[best], float(values[best]), at[best])
    for zoom in _ZOOMS:
        found = _improved(height, radius, rng, found, zoom * max(float(radius.max()), _LEAST_ZOOM))
    return found


def _soft(height: Acquisition, radius: Array, shares: Array, temperature: float) -> Slope:
    """Return -T log mean_p exp(-v_p / T) over the values v of the lattice around x, with its gradient in x."""

    def function(points: Array) -> tuple[Array, Array]:
        rows, dimension = points.shape
        values, slopes = height.slopes(_placed(points, radius, shares).reshape(-1, dimension))
        values, slopes = values.reshape(rows, -1), slopes.reshape(rows, -1, dimension)
        # A point of the lattice moves with x as far as the sides of its box do, which stop at the cube's faces.
        left, right = (points > radius)[:, None, :], (points < 1.0 - radius)[:, None, :]
        moves = (1 - shares) * left + shares * right
        least = values.min(axis=1, keepdims=True)
        weights = np.exp((least - values) / temperature)
        soft = least[:, 0] - temperature * np.log(weights.mean(axis=1))
        weights /= weights.sum(axis=1, keepdims=True)
        return soft, np.einsum("mp,mpd->md", weights, slopes * moves)

    return function


def _improved(height: Acquisition, radius: Array, rng: np.random.Generator, found: Robust, distance: float) -> Robust:
    """Return the best of some points at about this distance from the one found, or that one."""
    domain, point = height.domain, found.point
    steps = np.where(domain.smooth, distance * rng.uniform(-1, 1, (_TRIED, len(point))), 0.0)
    # Away from where the worst case is: there the value at the opposite end of the box is higher.
    steps[0] = np.where(domain.smooth, np.sign(point - found.worst_at) * distance, 0.0)
    tried = np.vstack([np.clip(point + steps, 0.0, 1.0), domain.neighbours(point, rng)])
    tried = tried[domain.allowed(tried)]
    if not len(tried):
        return found
    low, high = _boxes(point, radius)
    share = np.divide(found.worst_at - low, high - low, out=np.full_like(low, 0.5), where=high > low)[None, :]
    shares = np.vstack([lattice(len(point)), share])
    placed = height.values(_placed(tried, radius, shares).reshape(-1, len(point))).reshape(len(tried), -1)
    promising = np.argsort(-placed.min(axis=1), kind="stable")[:2]
    at, values = lowest(height, tried[promising], radius, extra=share)
    best = int(np.argmax(values))
    if values[best] <= found.value:
        return found
    return Robust(tried[promising[best]], float(values[best]), at[best])


@dataclass(frozen=True)
class WorstValue:
    """What is believed of min f over the box around a point: the median, and a 90 % credible interval."""

    value: float
    interval: tuple[float, float]


def worst_value(
    gp: GaussianProcess, point: Array, radius: Array, rng: np.random.Generator, *, domain: Domain, also: Sequence[Array]
) -> WorstValue:
    """Return what the posterior believes of min f over the box, from a dense lattice in it.

    The value is the median of joint draws: the lowest posterior mean would be too high an estimate, since the minimum
    of what is uncertain is lower than any of its parts. A function smoother than its model varies less over the box
    than draws do, so their interval alone would lie too low; it is joined with the one from the lowest of pointwise
    lower ends to the lowest of upper ends, which holds the minimum wherever they hold f.

    Parameters
    ----------
    gp
        The posterior, on the features of the domain.
    point, radius
        The box, each shape (D,).
    rng
        For the draws.
    domain
        What is behind the cube.
    also
        Further points of the box, (D,) each, such as where the mean is lowest.
    """
    placed = _placed(point[None, :], radius, lattice(len(point), between=_DENSE))[0]
    features = domain.features(np.vstack([placed, *also]))
    at = gp.predict(features)
    drawn = draws(at.mean, gp.covariance(features), _DRAWS, rng).min(axis=0)
    low, middle, high = (float(quantile) for quantile in np.quantile(drawn, _QUANTILES))
    least, most = (float((at.mean + side * CREDIBLE * at.deviation).min()) for side in (-1, 1))
    return WorstValue(middle, (min(low, least), max(high, most)))
