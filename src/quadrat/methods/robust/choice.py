"""The point of any run that stays good when it is missed: chosen from told data, whatever method asked for them.

A Gaussian process with a Matérn 5/2 kernel, one length-scale for each axis, is fitted to everything told (maximum
posterior, noise included). The point chosen maximises the lowest value of mu - sigma over the box: one posterior
deviation is the price of what the run did not look at, since a search for the maximum evaluates little around broad
places, and with the mean alone a place nobody looked at would pass for flat. The rule of [B18] has the lower
confidence bound there.

[B18]: Bogunovic, Scarlett, Jegelka and Cevher (2018). Adversarially robust optimization with Gaussian processes.
NeurIPS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_points, as_vector
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess, LogNormal, Priors, fit_map
from quadrat.gp.observations import group_rows
from quadrat.kernels import Kernel, Matern, Tied
from quadrat.methods.base import Domain
from quadrat.methods.dataset import merged, spread
from quadrat.methods.robust.worst_case import as_radius, bound, lowest, most_robust, worst_value
from quadrat.methods.statements import Affine, Mixture
from quadrat.randomness import generator

__all__ = ["RobustChoice", "robust_choice"]

_CAUTION = 1.0  # posterior deviations below the mean
_LEARNED_FROM = 256  # observations at most: hyper-parameters need no more, and a fit costs the cube of their number
_KEPT = 2000  # observations at most in the posterior; of more, some at random: low values are what worst cases rest on
_LEAST_VARIANCE = 1e-10  # of an observation, in units of the values' variance
_TOP = 48  # told points of highest mean that are candidates
_STREAM, _DRAWS, _SOME, _KEEP = 33, 34, 35, 36
_PRIORS = Priors(lengthscale=LogNormal(-0.7, 0.5), common_lengthscale=1.5, noise_variance=LogNormal(-5.0, 1.5))


@dataclass(frozen=True, eq=False)
class RobustChoice:
    """A point whose worst case is good, and what is believed of it.

    Attributes
    ----------
    point
        Shape (D,), rounded.
    belief
        What is believed of f at the point.
    worst, worst_interval
        The median of what is believed of min f over the box around the point, and a 90 % credible interval.
    worst_at
        Where in the box the posterior mean is lowest, shape (D,).
    """

    point: Array
    belief: Mixture
    worst: float
    worst_interval: tuple[float, float]
    worst_at: Array


def robust_choice(
    domain: Domain,
    x: ArrayLike,
    y: ArrayLike,
    variances: ArrayLike | None,
    radius: ArrayLike,
    seed: int,
) -> RobustChoice:
    """Return the point whose worst case within a box is believed to be best.

    Parameters
    ----------
    domain
        The cube with what is behind it.
    x
        Points of all observations, rounded, shape (n, D), n >= 1.
    y
        What was observed, larger is better, shape (n,).
    variances
        Noise variances, shape (n,), NaN where they are not known; None where none is.
    radius
        Half-sides of the box, in units of the cube's side: a number or shape (D,). Only continua are perturbed: for
        integers, choices, steps and what exists only under a condition it counts as 0.
    seed
        Names the randomness of the search for the point and of the draws.

    Raises
    ------
    InvalidInput
        No observations, shapes that do not fit, or a radius that is negative or 0 on all axes that are continua.

    Examples
    --------
    >>> x = np.linspace(0, 1, 41)[:, None]
    >>> y = np.maximum(np.exp(-0.5 * ((x[:, 0] - 0.2) / 0.03) ** 2), 0.7 * np.exp(-0.5 * ((x[:, 0] - 0.7) / 0.15) ** 2))
    >>> choice = robust_choice(Domain.cube(1), x, y, None, 0.1, seed=0)
    >>> choice.point.round(1).tolist(), round(choice.worst, 1)
    ([0.7], 0.6)
    """
    points = as_points(x, dimension=domain.dimension, name="x")
    values = as_vector(y, length=len(points), name="y")
    if not len(points):
        raise InvalidInput("robust_choice: expected at least one observation, got none; tell a value first")
    sides = np.where(domain.continua, as_radius(radius, domain.dimension, name="radius"), 0.0)
    if not sides.any():
        raise InvalidInput(f"radius: expected one > 0 on a Float without steps or conditions, got {radius!r}")
    noise = np.full(len(points), np.nan) if variances is None else np.asarray(variances, dtype=np.float64)
    if noise.shape != values.shape or (noise < 0).any():
        raise InvalidInput(
            f"variances: expected {len(values)} numbers >= 0, NaN where unknown, or None, got {variances!r}"
        )
    gp, scale, shift = _fitted(domain, points, values, noise, seed)
    distinct = points[group_rows(points)[0]]
    means = gp.predict_mean(domain.features(distinct))
    top = distinct[np.argsort(-means, kind="stable")[:_TOP]]
    found = most_robust(bound(gp, -_CAUTION, domain), sides, generator(seed, len(points), _STREAM), centres=top)
    point = domain.rounded(found.point[None, :])[0]  # integers so many that they are climbed along
    at, _ = lowest(bound(gp, 0.0, domain), point[None, :], sides)
    rng = generator(seed, len(points), _DRAWS)
    worst = worst_value(gp, point, sides, rng, domain=domain, also=[at[0]])
    here = gp.predict(domain.features(point[None, :]))
    bad, bad_low, bad_high = (shift + scale * number for number in (worst.value, *worst.interval))
    belief = Mixture(here.mean, here.deviation, Affine(shift, scale))
    return RobustChoice(point, belief, bad, (bad_low, bad_high), at[0])


def _fitted(domain: Domain, x: Array, y: Array, variances: Array, seed: int) -> tuple[GaussianProcess, float, float]:
    """Return the posterior of (y - shift) / scale on the domain's features, the scale and the shift."""
    if len(y) > _KEPT:
        kept = np.sort(generator(seed, len(y), _KEEP).permutation(len(y))[:_KEPT])
        x, y, variances = x[kept], y[kept], variances[kept]
    y = np.clip(y, -1e100, 1e100)  # squares of values must be numbers
    shift, scale = float(np.mean(y)), spread(y)
    features, seen = domain.features(x), (y - shift) / scale
    known = variances / scale**2  # so that the spread of the values does not vanish beside a prior of size 1
    some = np.arange(len(y))
    if len(y) > _LEARNED_FROM:
        some = np.sort(generator(seed, len(y), _SOME).permutation(len(y))[:_LEARNED_FROM])
    choices = tuple(i for i, axis in enumerate(domain.axes) if axis.is_choice)
    fit = fit_map(
        _form(domain),
        merged(features[some], seen[some], known[some], _LEAST_VARIANCE),
        priors=replace(_PRIORS, separate_lengthscales=choices),
        standardise=False,
    )
    return fit.posterior(merged(features, seen, known, _LEAST_VARIANCE)), scale, shift


def _form(domain: Domain) -> Kernel:
    """Matérn 5/2 with a length-scale for each axis, shared by the columns of a choice."""
    kernel = Matern(2.5, np.full(len(domain.groups), 0.5))
    return kernel if len(domain.groups) == domain.dimension else Tied(kernel, domain.groups)
