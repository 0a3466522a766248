"""Several posteriors of the same observations, one for each of several hyper-parameter settings.

With few observations a single most likely setting is too sure of itself. Averaging
over settings drawn from their posterior distribution [Snoek, Larochelle and Adams 2012, section 3.2] is the remedy; an
ensemble evaluates all of them at once, with gradients, for acquisition functions. Everything here is in the units of
the observations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array, ArrayLike, as_points
from quadrat.errors import InvalidInput
from quadrat.gp.fit import LogPosterior
from quadrat.gp.hyper_posterior import HyperSamples
from quadrat.gp.observations import Observations
from quadrat.kernels import Kernel, Tied
from quadrat.kernels.stationary import Stationary

__all__ = ["Ensemble", "EnsemblePrediction"]

_LEAST_VARIANCE = 1e-12  # of the prior variance
_JITTER = 1e-9  # of the prior variance, tenfold until the factor exists


@dataclass(frozen=True)
class EnsemblePrediction:
    """Means and deviations of f at m points under M settings, each (M, m); gradients in the points, (M, m, D).

    All settings count the same.
    """

    mean: Array
    deviation: Array
    mean_gradient: Array | None = None
    deviation_gradient: Array | None = None

    def mixture(self) -> tuple[Array, Array]:
        """Return mean and deviation of the mixture, each (m,)."""
        mean = self.mean.mean(axis=0)
        return mean, np.sqrt(np.mean(self.deviation**2 + (self.mean - mean) ** 2, axis=0))

    def quantiles(self, levels: Sequence[float], weights: Array | None = None) -> Array:
        """Return quantiles of the mixture at these `levels`, each in (0, 1), shape (len(levels), m).

        Settings count the same, or by `weights`, (M, m), which add up to 1 at each point.
        """
        from scipy.special import ndtr, ndtri

        wanted = np.asarray(levels, dtype=np.float64)[:, None]
        # The mixture's quantile lies between those of its members; halving the interval 60 times is exact.
        each = self.mean[:, None, :] + ndtri(wanted) * self.deviation[:, None, :]
        low, high = each.min(axis=0), each.max(axis=0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            shares = ndtr((middle - self.mean[:, None, :]) / self.deviation[:, None, :])
            below = (shares.mean(axis=0) if weights is None else (weights[:, None, :] * shares).sum(axis=0)) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(0.5 * (low + high))

    def wider(self, factor: float) -> EnsemblePrediction:
        """Return the same with every deviation times a factor, for settings that are too sure of themselves."""
        slope = None if self.deviation_gradient is None else factor * self.deviation_gradient
        return EnsemblePrediction(self.mean, factor * self.deviation, self.mean_gradient, slope)

    def log_average(self, *logs: Array) -> tuple[Array, Array, Array]:
        """Return the log of the mean over settings of a product, (m,), from the logs of its factors, (M, m).

        And its terms, (M, m), with their sum, (m,), up to a common factor: their quotients are the shares.
        """
        each = sum(logs, start=np.zeros(()))
        top = each.max(axis=0)
        terms = np.exp(each - top)
        total = terms.sum(axis=0)
        return top + np.log(total / len(each)), terms, total


class Ensemble:
    """Posteriors of the observations of a `LogPosterior` under M settings, log hyper-parameters of shape (M, p).

    Its kernel is a function of one scaled distance (`Stationary`, or `Tied` of one). `of_samples` has samples of the
    posterior of hyper-parameters instead, and may mix kernels.

    Attributes
    ----------
    settings
        Log hyper-parameters, shape (M, p); of samples, the logs of length-scales, one for each column.
    noise_variance
        Of one measurement of unknown variance, under each setting, shape (M,).

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
        self._blocks: list[slice] = []  # columns that share a length-scale: those of a choice
        split = [objective.split(parameters) for parameters in self.settings]
        kernels = [_stationary(kernel) for kernel, _ in split]
        self._forms = [(kernels[0], slice(None))]  # profiles of distances, and the members that have them
        theta = [np.broadcast_to(kernel.lengthscales, objective.data.x.shape[1:]) for kernel in kernels]
        self._theta, self._prior = np.array(theta), np.array([kernel.variance for kernel in kernels])
        self._condition(objective.data, np.array([noise for _, noise in split]), objective.fixed_mean)
        self._unsaid: tuple[Array, Array] | None = None

    @classmethod
    def of_samples(
        cls, data: Observations, kernels: Sequence[Stationary], samples: HyperSamples, groups: Sequence[int]
    ) -> Ensemble:
        """Return the posteriors under samples of `HyperPosterior`; the uncertainty of the mean m counts.

        The variance of f at z is that of a known mean plus (1 - 1' A^-1 k)^2 / (1' A^-1 1), A = K + diag(v)
        [Rasmussen and Williams 2006, equation 2.42].

        Parameters
        ----------
        data, kernels, groups
            As of the `HyperPosterior`.
        samples
            Its samples; members are sorted by their kernels.
        """
        made = cls.__new__(cls)
        made._blocks = _blocks_of(groups)
        order = np.argsort(samples.kernel, kind="stable")
        made._theta = samples.lengthscales[order][:, list(groups)]
        made.settings = np.log(made._theta)
        made._prior = samples.variance[order]
        ends = np.searchsorted(samples.kernel[order], np.arange(len(kernels) + 1))
        slices = [slice(int(first), int(last)) for first, last in pairwise(ends)]
        made._forms = [pair for pair in zip(kernels, slices, strict=True) if pair[1].start < pair[1].stop]
        made._condition(data, samples.noise_variance[order], None)
        made._unsaid = made._of_the_mean()
        return made

    def _condition(self, data: Observations, noises: Array, mean: float | None) -> None:
        """Condition all members on the observations; arrays are stacked, so that one call of NumPy serves them all."""
        self.data, self.x = data, data.x
        self.noise_variance = noises
        n, members = len(self.x), len(self._prior)
        self._half = np.empty((members, n, n))  # inverse of the Cholesky factor L of K + diag(v)
        self._constant = np.empty(members)
        self._weights = np.empty((members, n))  # (K + diag(v))^-1 (y - constant)
        matrices = self._kernel(self.x, self.x)
        for i, noise in enumerate(noises):
            half = _inverse_factor(matrices[i], data.noise_variance(noise), self._prior[i])
            whitened, ones = half @ data.y, half.sum(axis=1)
            profiled = float(ones @ whitened / (ones @ ones))  # 1' A^-1 y / 1' A^-1 1, as in the fit
            constant = profiled if mean is None else mean
            self._half[i], self._constant[i] = half, constant
            self._weights[i] = half.T @ (whitened - constant * ones)

    def _of_the_mean(self) -> tuple[Array, Array]:
        """Return A^-1 1, (M, n), and 1' A^-1 1, (M,), of every member."""
        ones = self._half.sum(axis=2)
        return (self._half.transpose(0, 2, 1) @ ones[:, :, None])[:, :, 0], np.einsum("si,si->s", ones, ones)

    def __len__(self) -> int:
        return len(self.settings)

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.x.shape[1])

    def believing(self, points: Array) -> Ensemble:
        """Return the ensemble as if each of these points, (p, D), had been observed, without noise, at its own mean.

        Means stay as they are and deviations shrink around the points: so parallel evaluations change the next choice.
        """
        if not len(points):
            return self
        other = copy(self)
        other.x = np.vstack([self.x, points])
        n, p = len(self.x), len(points)
        other._half = np.zeros((len(self), n + p, n + p))
        other._weights = np.hstack([self._weights, np.zeros((len(self), p))])  # observations at the mean move no mean
        low = self._half @ self._kernel(self.x, points)  # L^-1 k
        rests = self._kernel(points, points) - low.transpose(0, 2, 1) @ low
        for i, rest in enumerate(rests):
            half_rest = _inverse_factor(rest, np.zeros(p), self._prior[i])
            other._half[i, :n, :n], other._half[i, n:, n:] = self._half[i], half_rest
            other._half[i, n:, :n] = -half_rest @ low[i].T @ self._half[i]
        if self._unsaid is not None:
            other._unsaid = other._of_the_mean()
        return other

    def predict(self, Z: ArrayLike) -> EnsemblePrediction:
        """Return means and deviations at the rows of Z, shape (m, D)."""
        points = as_points(Z, dimension=self.dimension, name="Z")
        cross = self._kernel(points, self.x)
        low = cross @ self._half.transpose(0, 2, 1)
        return EnsemblePrediction(self._mean(cross), self._deviation(low, self._rest(cross)))

    def predict_with_gradients(self, Z: ArrayLike) -> EnsemblePrediction:
        """Return means, deviations and their gradients at the rows of Z, shape (m, D)."""
        points = as_points(Z, dimension=self.dimension, name="Z")
        distances = self._distances(points, self.x)
        parts = [form.profile_and_slope(distances[part]) for form, part in self._forms]
        cross, slope = parts[0] if len(parts) == 1 else (np.concatenate(halves) for halves in zip(*parts, strict=True))
        cross *= self._prior[:, None, None]
        low = cross @ self._half.transpose(0, 2, 1)
        rest = self._rest(cross)
        deviation = self._deviation(low, rest)
        # dK/dz_i = s^2 (kappa'(h)/h) (z_i - x_i) / theta_i^2, summed over observations by matrix products
        in_mean = slope * self._weights[:, None, :]
        pulled = low @ self._half
        if rest is not None and self._unsaid is not None:
            pulled += (rest / self._unsaid[1][:, None])[:, :, None] * self._unsaid[0][:, None, :]
        in_deviation = slope * pulled / -deviation[:, :, None]
        terms = np.concatenate([in_mean, in_deviation], axis=1)
        if any(form.has_kink for form, _ in self._forms):  # slopes without bound need differences of points
            sums = np.einsum("smn,mnd->smd", terms, np.tile(points, (2, 1))[:, None, :] - self.x[None])
        else:
            sums = terms.sum(axis=2)[:, :, None] * np.tile(points, (2, 1)) - terms @ self.x
        sums *= (self._prior[:, None] / self._theta**2)[:, None, :]
        halves = sums[:, : len(points)], sums[:, len(points) :]
        return EnsemblePrediction(self._mean(cross), deviation, *halves)

    def correlations(self, Z: ArrayLike) -> Array:
        """Return how strongly f at the rows of Z, shape (m, D), is correlated with the nearest observed f, (M, m).

        By the prior: 1 at observed points, about 0 where nothing was observed near.
        """
        points = as_points(Z, dimension=self.dimension, name="Z")
        return np.asarray(self._kernel(points, self.x).max(axis=2) / self._prior[:, None])

    def covariances(self, Z: ArrayLike) -> tuple[Array, Array]:
        """Return joint means (M, m) and covariance matrices (M, m, m) of f at the rows of Z."""
        points = as_points(Z, dimension=self.dimension, name="Z")
        cross = self._kernel(points, self.x)
        low = cross @ self._half.transpose(0, 2, 1)
        joint = self._kernel(points, points) - low @ low.transpose(0, 2, 1)
        rest = self._rest(cross)
        if rest is not None and self._unsaid is not None:
            joint += rest[:, :, None] * (rest / self._unsaid[1][:, None])[:, None, :]
        return self._mean(cross), joint

    def draws(self, Z: ArrayLike, count: int, rng: np.random.Generator, *, antithetic: bool = False) -> Array:
        """Return `count` joint draws of f at the rows of Z, (m, D), under every setting, shape (M, m, count).

        With `antithetic`, `count` is even, and the second half are the first mirrored at the means.
        """
        means, joints = self.covariances(Z)
        normal = rng.standard_normal((*means.shape, count // 2 if antithetic else count))
        if antithetic:
            normal = np.concatenate([normal, -normal], axis=2)
        return np.asarray(means[:, :, None] + self._roots(joints) @ normal)

    def _roots(self, joints: Array) -> Array:
        """Return Cholesky factors of covariance matrices (M, m, m), with as little jitter as it takes."""
        diagonal = np.arange(joints.shape[1])
        jitter = _JITTER * self._prior[:, None]
        while True:  # points that lie close make the matrix singular to working precision
            joints[:, diagonal, diagonal] += jitter
            try:
                return np.asarray(np.linalg.cholesky(joints))
            except np.linalg.LinAlgError:
                jitter *= 10

    def anchored(
        self, anchors: ArrayLike, Z: ArrayLike, count: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Array]:
        """Return joint draws of f at `anchors`, (k, D), and what is left to draw at the rows of Z, (m, D), given these.

        Returns
        -------
        drawn
            At the anchors, as of `draws`, shape (M, k, count).
        mean
            At the rows of Z given these draws, shape (M, m, count).
        deviation
            The same for all draws, shape (M, m).
        """
        known, points = (
            as_points(one, dimension=self.dimension, name=name) for one, name in ((anchors, "anchors"), (Z, "Z"))
        )
        means, joint = self.covariances(known)
        cross, seen = self._kernel(points, self.x), self._kernel(known, self.x)
        low, low_known = (part @ self._half.transpose(0, 2, 1) for part in (cross, seen))
        between = self._kernel(points, known) - low @ low_known.transpose(0, 2, 1)
        rest, rest_known = self._rest(cross), self._rest(seen)
        if rest is not None and rest_known is not None and self._unsaid is not None:
            between += rest[:, :, None] * (rest_known / self._unsaid[1][:, None])[:, None, :]
        roots, normal = self._roots(joint), rng.standard_normal((*means.shape, count))
        halves = np.array([lapack.dtrtri(root, lower=1)[0] for root in roots])
        part = between @ halves.transpose(0, 2, 1)  # how f at Z depends on the numbers that f at the anchors is made of
        variance, said = self._deviation(low, rest) ** 2, np.einsum("smk,smk->sm", part, part)
        # Anchors that lie close say no more than there is to know; rounding errors do.
        part *= np.sqrt(np.minimum(1.0, variance / np.maximum(said, np.finfo(np.float64).tiny)))[:, :, None]
        deviation = np.sqrt(np.maximum(variance - said, 0.0))
        return means[:, :, None] + roots @ normal, self._mean(cross)[:, :, None] + part @ normal, deviation

    def leave_one_out(self) -> tuple[Array, Array]:
        """Return what each observation differs by from its prediction by all others, and the deviation of that, (M, n).

        Of samples alone: the uncertainty of the mean counts. See `quadrat.gp.leave_one_out` for the formulas.
        """
        assert self._unsaid is not None, "of samples"
        assert len(self.x) == len(self.data), "believed points are no observations"
        sums, total = self._unsaid
        precision = np.einsum("smi,smi->si", self._half, self._half) - sums**2 / total[:, None]  # P_ii
        return self._weights / precision, 1 / np.sqrt(precision)

    def simulated_residuals(self, deviations: Array, count: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield for each member residuals of `leave_one_out` of observations drawn from that member, (count, n).

        `deviations` are those of `leave_one_out`.
        """
        assert self._unsaid is not None
        for half, sums, total, deviation in zip(self._half, *self._unsaid, deviations, strict=True):
            drawn = rng.standard_normal((count, len(half))) @ half  # A^-1 y for y of covariance A
            yield (drawn - drawn.sum(axis=1, keepdims=True) / total * sums) * deviation

    def _distances(self, left: Array, right: Array) -> Array:
        """Scaled distances under every setting, shape (M, a, b)."""
        from scipy.spatial.distance import cdist

        # Differences are formed before squaring: |x|^2 + |z|^2 - 2 x.z would lose points that lie close together.
        theta, blocks = self._theta[:, None, :], self._blocks
        if blocks:
            single = np.ones(self.dimension, dtype=np.bool_)
            for block in blocks:
                single[block] = False
            theta, scales = theta[:, :, single], self._theta[:, [block.start for block in blocks]]
            apart = _apart(left, right, blocks)
            left, right = left[:, single], right[:, single]
        found = np.empty((len(self._theta), len(left), len(right)))
        for one, a, b in zip(found, left / theta, right / theta, strict=True):
            cdist(a, b, out=one)
        if blocks:
            found *= found
            found += (scales**-2.0 @ apart.reshape(len(blocks), -1)).reshape(found.shape)
            np.sqrt(found, out=found)
        return found

    def _kernel(self, left: Array, right: Array) -> Array:
        distances = self._distances(left, right)
        parts = [form.profile(distances[part]) for form, part in self._forms]
        matrices = parts[0] if len(parts) == 1 else np.concatenate(parts)
        matrices *= self._prior[:, None, None]
        return matrices

    def _mean(self, cross: Array) -> Array:
        return np.asarray(self._constant[:, None] + (cross @ self._weights[:, :, None])[:, :, 0])

    def _rest(self, cross: Array) -> Array | None:
        """1 - 1' A^-1 k, (M, m), where `cross` (M, m, n) is the kernel to the observations; None for a known mean."""
        return None if self._unsaid is None else 1 - (cross @ self._unsaid[0][:, :, None])[:, :, 0]

    def _deviation(self, low: Array, rest: Array | None) -> Array:
        variance = self._prior[:, None] - np.einsum("smn,smn->sm", low, low)
        if rest is not None and self._unsaid is not None:
            variance += rest**2 / self._unsaid[1][:, None]
        return np.asarray(np.sqrt(np.maximum(variance, _LEAST_VARIANCE * self._prior[:, None])))


def _blocks_of(groups: Sequence[int]) -> list[slice]:
    """Return neighbouring columns that belong to the same group, where these are two or more."""
    starts = [i for i, group in enumerate(groups) if i == 0 or group != groups[i - 1]]
    ends = [*starts[1:], len(groups)]
    return [slice(first, end) for first, end in zip(starts, ends, strict=True) if end - first > 1]


def _apart(left: Array, right: Array, blocks: Sequence[slice]) -> Array:
    """Return squared distances of points (a, F) and (b, F) within each block of columns, shape (blocks, a, b).

    The columns of a choice are 0 but for one at most, so that |x|^2 + |z|^2 - 2 x.z loses nothing, and costs a product
    of matrices in the place of a difference for each column.
    """
    columns = np.concatenate([np.arange(block.start, block.stop) for block in blocks])
    starts = np.cumsum([0, *(block.stop - block.start for block in blocks[:-1])])
    squares = [np.add.reduceat(points[:, columns] ** 2, starts, axis=1).T for points in (left, right)]
    found = np.empty((len(blocks), len(left), len(right)))
    for one, block in zip(found, blocks, strict=True):
        np.matmul(left[:, block], -2.0 * right[:, block].T, out=one)
    found += squares[0][:, :, None] + squares[1][:, None, :]
    return np.maximum(found, 0.0)


def _stationary(kernel: Kernel) -> Stationary:
    inner = kernel.kernel if isinstance(kernel, Tied) else kernel
    if not isinstance(inner, Stationary) or inner.shape_names:
        raise InvalidInput(f"kernel: expected one of a scaled distance alone, such as Matern(2.5, 0.3), got {kernel!r}")
    return inner


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
