"""Several posteriors of the same observations, one for each of several hyper-parameter settings.

What is learned from few observations is learned badly: a single most likely setting is too sure of itself. Averaging
over settings drawn from their posterior distribution [Snoek, Larochelle and Adams 2012, section 3.2] is the remedy; an
ensemble evaluates all of them at once, with gradients, for acquisition functions. Everything here is in the
standardised units of the `LogPosterior` that the settings belong to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from quadrat.arrays import Array, ArrayLike, as_points
from quadrat.gp.fit import LogPosterior
from quadrat.kernels import Kernel

__all__ = ["Ensemble", "EnsemblePrediction"]

_LEAST_VARIANCE = 1e-12  # of the prior variance
_JITTER = 1e-9  # of the prior variance, tenfold until the factor exists


@dataclass(frozen=True)
class EnsemblePrediction:
    """Means and deviations of f at m points under M settings, each (M, m); gradients in the points, (M, m, D)."""

    mean: Array
    deviation: Array
    mean_gradient: Array | None = None
    deviation_gradient: Array | None = None

    def mixture(self) -> tuple[Array, Array]:
        """Return mean and deviation of the mixture with equal weights, each (m,)."""
        variance = (self.deviation**2).mean(axis=0) + self.mean.var(axis=0)
        return self.mean.mean(axis=0), np.sqrt(variance)


@dataclass(frozen=True)
class _Member:
    kernel: Kernel
    constant: float
    half: Array  # inverse of the Cholesky factor L of K + diag(v), shape (n, n)
    weights: Array  # (K + diag(v))^-1 (y - constant), shape (n,)


class Ensemble:
    """Posteriors under M settings.

    Parameters
    ----------
    objective
        The observations, in its standardised units, and how parameters become a kernel and a noise variance.
    settings
        Log hyper-parameters, shape (M, p), such as a fit's `parameters`.

    Examples
    --------
    >>> from quadrat.gp import Observations, LogPosterior
    >>> from quadrat.kernels import Matern
    >>> objective = LogPosterior(Matern(2.5, 0.3), Observations.merge([[0.1], [0.5], [0.9]], [0.0, 1.0, 0.5]))
    >>> ensemble = Ensemble(objective, [objective.start(), objective.start() + 0.3])
    >>> ensemble.predict([[0.5], [0.7]]).mean.shape
    (2, 2)
    """

    def __init__(self, objective: LogPosterior, settings: ArrayLike) -> None:
        self.settings = as_points(settings, dimension=len(objective.names), name="settings")
        self.x = objective.data.x
        self._members = []
        for parameters in self.settings:
            kernel, noise = objective.split(parameters)
            variances = objective.data.noise_variance(noise)
            half = _inverse_factor(kernel(self.x), variances, kernel.variance)
            whitened, ones = half @ objective.data.y, half.sum(axis=1)
            profiled = float(ones @ whitened / (ones @ ones))  # 1' A^-1 y / 1' A^-1 1, as in the fit
            constant = profiled if objective.fixed_mean is None else objective.fixed_mean
            weights = half.T @ (whitened - constant * ones)
            self._members.append(_Member(kernel, constant, half, weights))

    def __len__(self) -> int:
        return len(self._members)

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.x.shape[1])

    def believing(self, points: Array) -> Ensemble:
        """Return the ensemble as if each of these points, (p, D), had been observed, without noise, at its own mean.

        Means stay as they are; deviations shrink around the points: what parallel evaluations do to the next choice.
        """
        if not len(points):
            return self
        other = object.__new__(Ensemble)
        other.settings = self.settings
        other.x = np.vstack([self.x, points])
        other._members = []
        for member in self._members:
            cross = member.kernel(self.x, points)
            low = member.half @ cross  # L^-1 k
            rest = member.kernel(points) - low.T @ low
            half_rest = _inverse_factor(rest, np.zeros(len(points)), member.kernel.variance)
            n, p = len(self.x), len(points)
            half = np.zeros((n + p, n + p))
            half[:n, :n], half[n:, n:] = member.half, half_rest
            half[n:, :n] = -half_rest @ low.T @ member.half
            weights = np.concatenate([member.weights, np.zeros(p)])  # what is seen at its own mean moves no mean
            other._members.append(_Member(member.kernel, member.constant, half, weights))
        return other

    def predict(self, Z: ArrayLike) -> EnsemblePrediction:
        """Return means and deviations at the rows of Z, shape (m, D)."""
        points = as_points(Z, dimension=self.dimension, name="Z")
        mean, deviation = np.empty((2, len(self), len(points)))
        for i, member in enumerate(self._members):
            cross = member.kernel(points, self.x)
            mean[i] = member.constant + cross @ member.weights
            deviation[i] = _deviation(member, cross @ member.half.T)
        return EnsemblePrediction(mean, deviation)

    def predict_with_gradients(self, Z: ArrayLike) -> EnsemblePrediction:
        """Return means, deviations and their gradients at the rows of Z, shape (m, D)."""
        points = as_points(Z, dimension=self.dimension, name="Z")
        mean, deviation = np.empty((2, len(self), len(points)))
        slopes = np.empty((2, len(self), *points.shape))
        for i, member in enumerate(self._members):
            cross, pull = member.kernel.x_vjp(points, self.x)
            low = cross @ member.half.T
            mean[i] = member.constant + cross @ member.weights
            deviation[i] = _deviation(member, low)
            slopes[0, i] = pull(np.broadcast_to(member.weights, cross.shape))
            slopes[1, i] = pull(-(low @ member.half) / deviation[i][:, None])
        return EnsemblePrediction(mean, deviation, slopes[0], slopes[1])

    def covariances(self, Z: ArrayLike) -> tuple[Array, Array]:
        """Return joint means (M, m) and covariance matrices (M, m, m) of f at the rows of Z."""
        points = as_points(Z, dimension=self.dimension, name="Z")
        mean, joint = np.empty((len(self), len(points))), np.empty((len(self), len(points), len(points)))
        for i, member in enumerate(self._members):
            cross = member.kernel(points, self.x)
            low = cross @ member.half.T
            mean[i] = member.constant + cross @ member.weights
            joint[i] = member.kernel(points) - low @ low.T
        return mean, joint


def _deviation(member: _Member, low: Array) -> Array:
    prior = member.kernel.variance
    return np.asarray(np.sqrt(np.maximum(prior - np.einsum("ij,ij->i", low, low), _LEAST_VARIANCE * prior)))


def _inverse_factor(matrix: Array, variances: Array, scale: float) -> Array:
    """Return L^-1 for L L' = matrix + diag(variances), with as little jitter as it takes."""
    step = 0.0
    while True:
        shifted = matrix.copy()
        shifted.flat[:: len(matrix) + 1] += variances + step
        factor, info = lapack.dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
        if info == 0:
            inverse, _ = lapack.dtrtri(factor, lower=1)
            return np.asarray(inverse)
        step = max(10 * step, _JITTER * scale)
