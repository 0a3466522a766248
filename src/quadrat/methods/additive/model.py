"""The Gaussian process of an additive search, and what it says of each group of axes.

Values stay in their own units: the prior mean, the amplitudes and the noise are learned with the length-scales,
whenever there are 40 % more trials, and held in between, so that the posterior grows by appending. A model is a pure
function of what was told, in the order of telling.

References
----------
[K15]  Kandasamy, Schneider and Poczos (2015). High dimensional Bayesian optimisation and bandits via additive models.
       ICML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import ceil, exp, log, sqrt
from operator import add
from typing import TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from quadrat.gp import Bounds, GaussianProcess, LogNormal, Observations, Prediction, Priors, fit_map
from quadrat.gp.observations import group_rows
from quadrat.kernels import Kernel, Matern, OnAxes
from quadrat.methods.acquisition import Effort, SearchRegion, maximise
from quadrat.methods.base import Domain, Observation
from quadrat.methods.dataset import Dataset, merged
from quadrat.methods.surrogate import Learning

__all__ = ["AdditiveFit", "AdditiveModel", "GroupPosterior", "Groups", "Learner", "fit_additive", "total"]

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Disjoint groups of axes that cover all of them."""

_LENGTHSCALE = LogNormal(-0.7, 0.7)  # around half the cube, a factor of two either way, besides a shift of all
_COMMON = 0.7
_LENGTHSCALES = (0.05, 10.0)
_GROWTH = 1.4
_LEAST_VARIANCE = 1e-8  # of the values' variance: a standard error of 0 must not make the matrix singular
_TOP = 4  # observed points of highest mean, around whose coordinates each group is searched
_UNIFORM = 96  # candidates for each axis of a group
_EFFORT = Effort(near=16, scales=(0.1, 0.02), climbs=8, steps=16, fine_steps=12)


@dataclass(frozen=True)
class AdditiveFit:
    """An additive kernel with its hyper-parameters, in the units of the values.

    Attributes
    ----------
    groups
        M groups of axes.
    lengthscales
        One an axis, D of them.
    amplitudes
        One a group, M of them.
    nu
        Smoothness of all parts.
    noise_variance
        Of one observation that came without one of its own.
    mean
        Prior mean of f.
    log_posterior
        Log evidence plus log prior, for y scaled to sd 1.
    """

    groups: Groups
    lengthscales: tuple[float, ...]
    amplitudes: tuple[float, ...]
    nu: float
    noise_variance: float
    mean: float
    log_posterior: float

    @property
    def parts(self) -> tuple[Matern, ...]:
        """The kernel of each group, on its own axes."""
        return tuple(
            Matern(self.nu, tuple(self.lengthscales[i] for i in group), amplitude=amplitude)
            for group, amplitude in zip(self.groups, self.amplitudes, strict=True)
        )

    @property
    def kernel(self) -> Kernel:
        """The kernel of f: the sum of the parts."""
        return total(self.groups, self.parts)

    def to_model(self, values: Array) -> Array:
        """Return the values: they stay in their own units."""
        return values

    def variances(self, variances: Array) -> Array:
        """Return noise variances (n,), the learned one for NaN; the least is a share of the learned amplitude."""
        least = _LEAST_VARIANCE * self.kernel.variance
        return np.where(np.isnan(variances), self.noise_variance, np.maximum(variances, least))


def total(groups: Groups, parts: Sequence[Kernel]) -> Kernel:
    """Return the sum of kernels, each on the axes of its group [K15]."""
    return reduce(add, (OnAxes(part, group) for group, part in zip(groups, parts, strict=True)))


def fit_additive(
    data: Observations,
    groups: Groups,
    *,
    nu: float,
    noise_variance: float | None,
    previous: AdditiveFit | None = None,
) -> AdditiveFit:
    """Return the hyper-parameters of highest posterior density for these groups.

    Parameters
    ----------
    data
        Merged observations, in the units of the values.
    groups
        Disjoint, covering all axes.
    nu
        Smoothness.
    noise_variance
        Of one observation; None learns it.
    previous
        A fit, perhaps for other groups, where the search starts; otherwise in the middle of the priors.
    """
    share, middle = 1 / sqrt(len(groups)), exp(_LENGTHSCALE.mean)
    shape = total(groups, [Matern(nu, (middle,) * len(group), amplitude=share) for group in groups])
    scale = float(np.std(data.y))
    scale = scale if scale > 1e-140 else 1.0  # the start is on the scale of the fit, where y has sd 1
    if previous is None:
        scales, amplitudes, noise = (middle,) * data.x.shape[1], [share] * len(groups), 0.1
    else:
        scales, noise = previous.lengthscales, previous.noise_variance / scale**2
        amplitudes = [amplitude / scale for amplitude in inherited(previous, groups)]
    start = [
        number
        for group, amplitude in zip(groups, amplitudes, strict=True)
        for number in (*(scales[i] for i in group), amplitude)
    ]
    if noise_variance is None and (data.count > 0).any():
        start.append(noise)
    fit = fit_map(
        shape,
        data,
        noise_variance=noise_variance,
        priors=Priors(_LENGTHSCALE, LogNormal(log(share), 1.0), common_lengthscale=_COMMON),
        bounds=Bounds(lengthscale=_LENGTHSCALES),
        starts=[np.log(start)],
        own_start=False,
    )
    values = np.exp(fit.kernel.hyperparameters)
    lengthscales, at = np.empty(data.x.shape[1]), 0
    for j, group in enumerate(groups):
        lengthscales[list(group)] = values[at : at + len(group)]
        amplitudes[j] = float(values[at + len(group)])
        at += len(group) + 1
    return AdditiveFit(
        groups,
        tuple(lengthscales.tolist()),
        tuple(amplitudes),
        nu,
        # Where every observation came with its own variance, that of one more is like theirs.
        fit.noise_variance if (data.count > 0).any() else float(np.median(data.known_variance)),
        fit.mean,
        fit.log_posterior,
    )


def inherited(fit: AdditiveFit, groups: Groups) -> list[float]:
    """Return amplitudes for other groups: an axis brings an equal share of its old group's variance."""
    variance = np.empty(len(fit.lengthscales))
    for group, amplitude in zip(fit.groups, fit.amplitudes, strict=True):
        variance[list(group)] = amplitude**2 / len(group)
    return [sqrt(float(variance[list(group)].sum())) for group in groups]


Learner: TypeAlias = Callable[[Observations, AdditiveFit | None, int], AdditiveFit]
"""From observations, the fit before and the number of trials to what is learned."""


class AdditiveModel(Learning[AdditiveFit]):
    """Told trials go in, posteriors come out.

    Parameters
    ----------
    learn
        How hyper-parameters, and perhaps groups, are learned.
    dimension
        D.
    n_initial
        Trials after which it learns first; then whenever there are 40 % more than when it last did.
    """

    def __init__(self, learn: Learner, dimension: int, n_initial: int) -> None:
        super().__init__()
        self.data = Dataset(dimension)
        self._learner, self._due = learn, n_initial

    def tell(self, observation: Observation) -> None:
        """Take in one trial; learn where that is due."""
        self.tell_many([observation])

    def tell_many(self, observations: Sequence[Observation]) -> None:
        """Take in trials that are told together; learn once, after the last, where that is due."""
        for one in observations:
            self.data.tell(one, np.nan)
        self._count(len(observations))

    def _is_due(self) -> bool:
        due = self.trials >= self._due
        if due:
            self._due = ceil(_GROWTH * self.trials)
        return due

    def _learn(self) -> AdditiveFit:
        y = self.data.y
        data = merged(self.data.x, y, self.data.variance, _LEAST_VARIANCE * (float(np.var(y)) or 1.0))
        return self._learner(data, self._learned, self.trials)

    @property
    def fit(self) -> AdditiveFit:
        """What was learned last, or provisionally."""
        return self.frame

    @property
    def gp(self) -> GaussianProcess:
        """The posterior of f."""
        fit = self.fit
        begin = partial(GaussianProcess, fit.kernel, noise_variance=fit.noise_variance, mean=fit.mean)
        return self.data.posterior(fit, begin)

    @contextmanager
    def groups(self, pending: Array | None = None, *, centred: bool = True) -> Iterator[GroupPosterior]:
        """Within the block, what is known of each group; deviations count pending points (p, D) as observed."""
        gp = self.gp
        if pending is None or not len(pending):
            yield GroupPosterior(gp, self.fit, gp.x, centred=centred)
            return
        distinct = pending[group_rows(pending)[0]]
        with gp.pending(distinct):
            yield GroupPosterior(gp, self.fit, np.vstack([gp.x, distinct]), centred=centred)


class GroupPosterior:
    """What all observations together say of each f^(j), a function of the axes of group j alone.

    With A the matrix of the sum of kernels plus noise and k_j that of group j alone [K15],

        mu_j(x) = k_j(x, X) A^-1 (y - m),    sigma_j(x)^2 = k_j(x, x) - k_j(x, X) A^-1 k_j(X, x).

    No data tell a constant in one group from the same in another: sigma_j is never small, and where that is most of it
    it is nearly flat. `centred` deviations are those of f^(j)(x) less the average of f^(j) over the observed points,
    which the constant leaves:

        s_j(x)^2 = k_j(x, x) - 2 a(x) + a(X) / n - (k_j(x, X) - a(X)) A^-1 (k_j(X, x) - a(X)),

    a(x) the average of k_j(x, X), and a(X) / n read as the average of a(X).

    Parameters
    ----------
    gp
        The posterior of f; pending points may be among those it counts as observed.
    fit
        Groups and hyper-parameters.
    points
        All points that `gp` counts, shape (n, D).
    centred
        Whether deviations are centred.
    """

    def __init__(self, gp: GaussianProcess, fit: AdditiveFit, points: Array, *, centred: bool) -> None:
        self.fit = fit
        self._cholesky = gp.cholesky
        told = len(gp)
        # Points that are pending are at their own mean: they change no mean, and their weights are 0.
        values = np.concatenate([gp.y - gp.prior_mean, np.zeros(len(points) - told)])
        half = self._cholesky.half_solve(values)
        half[told:] = 0.0
        self._weights = self._cholesky.back_solve(half)
        self._points = points
        self._of = [np.ascontiguousarray(points[:, list(group)]) for group in fit.groups]
        self._parts = fit.parts
        # One row a group: what centring takes from its covariances, and its variance besides.
        self._share = np.full(len(points), float(centred) / len(points))
        self._taken = np.array([part(of) @ self._share for part, of in zip(self._parts, self._of, strict=True)])
        self._besides = self._taken @ self._share

    def predict(self, j: int, X: Array) -> Prediction:
        """Return mu_j and the deviation at the rows of X, shape (m, d_j), the coordinates of group j."""
        cross = self._parts[j](X, self._of[j])
        half = self._cholesky.half_solve((cross - self._taken[j]).T)
        return Prediction(cross @ self._weights, self._deviation(j, cross, half))

    def predict_with_gradients(self, j: int, X: Array) -> Prediction:
        """Return mu_j and the deviation with their gradients in x^(j), shape (m, d_j); 0 where the deviation is 0."""
        cross, pull = self._parts[j].x_vjp(X, self._of[j])
        half = self._cholesky.half_solve((cross - self._taken[j]).T)
        deviation = self._deviation(j, cross, half)
        scale = np.divide(-1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        return Prediction(
            cross @ self._weights,
            deviation,
            pull(np.broadcast_to(self._weights, cross.shape)),
            scale[:, None] * pull(self._cholesky.back_solve(half).T + self._share),
        )

    def covariance(self, j: int, X: Array) -> Array:
        """Return the posterior covariance between the rows of X, shape (m, d_j), of what deviations are of."""
        cross = self._parts[j](X, self._of[j])
        half = self._cholesky.half_solve((cross - self._taken[j]).T)
        less = cross @ self._share
        return np.asarray(self._parts[j](X) - less[:, None] - less + self._besides[j] - half.T @ half)

    def _deviation(self, j: int, cross: Array, half: Array) -> Array:
        prior = self._parts[j].variance - 2 * (cross @ self._share) + self._besides[j]
        return np.asarray(np.sqrt(np.maximum(prior - np.einsum("ij,ij->j", half, half), 0.0)))

    def maximise(self, multiplier: float, rng: np.random.Generator) -> tuple[Array, float]:
        """Maximise sum_j [mu_j + multiplier sigma_j], group by group [K15].

        Returns
        -------
        point
            Shape (D,), inside the cube.
        value
            The sum there, without the prior mean.
        """
        point, total = np.empty(self._points.shape[1]), 0.0
        means = np.sum([part(of) @ self._weights for part, of in zip(self._parts, self._of, strict=True)], axis=0)
        top = np.argsort(-means, kind="stable")[:_TOP]
        for j, group in enumerate(self.fit.groups):

            def values(x: Array, j: int = j) -> Array:
                at = self.predict(j, x)
                return at.mean + multiplier * at.deviation

            def slopes(x: Array, j: int = j) -> tuple[Array, Array]:
                at = self.predict_with_gradients(j, x)
                assert at.mean_gradient is not None
                assert at.deviation_gradient is not None
                return at.mean + multiplier * at.deviation, at.mean_gradient + multiplier * at.deviation_gradient

            best, effort = self._of[j][top], replace(_EFFORT, uniform=_UNIFORM * len(group))
            part = SearchRegion(Domain.cube(len(group)))
            found, value = maximise(values, slopes, rng, part, centres=best, effort=effort, candidates=best)
            point[list(group)] = found
            total += value
        return point, total
