"""The posterior of hyper-parameters: smoothness, length-scales, noise, amplitude and mean, from all observations.

Model, for n merged means y_i of r_i measurements each (`Observations`):

    y_i = m + s g(x_i) + e_i,    g ~ GP(0, kappa(h)),    e_i ~ N(0, s^2 rho / r_i),  or N(0, v_i) where v_i is known,
                                                         or N(0, s^2 rho / r_i + v_i) for an outlier

The mean m has a flat prior and s^2 an inverse-gamma one; both are integrated in closed form. The other parameters have
no unit: the length-scales theta, in sides of the cube, and the noise-to-signal ratio rho = sigma^2 / s^2. The prior of
rho keeps its meaning while a search converges: the spread of the values shrinks then, and s^2 does not. Write
A = K_theta + rho diag(1 / r), u = A^-1 1, Q = y' A^-1 y - (u' y)^2 / (1' u); e measurements repeat a point, with the
sum S of squares around their means; N = n + e. Then [G13, chapter 14; RW06, section 2.7]

    log p(y | kappa, theta, rho) = - log det A / 2 - log(1' u) / 2 - e log(rho) / 2
                                   - (a + (N - 1) / 2) log(b + (Q + S / rho) / 2) + constant
    s^2 | y, kappa, theta, rho   ~ IG(a + (N - 1) / 2, b + (Q + S / rho) / 2)

Where some variances are known, A has the term diag(v) / s^2, and log s is one of the parameters. Where the noise of a
measurement is s^2 rho w_i (`Observations.noise_factor`), 1 / r_i becomes w_i / r_i, S is the sum of all S_i / w_i, and
the log density has the term - sum of (r_i - 1) log(w_i) / 2 in addition.

A likelihood that counts to a power below 1 is less sure of what no function has: one smoothness and one length-scale
for each axis everywhere. Noise does not change with the model: samples of such a posterior have their kernel and their
length-scales from it, and their noise and s^2, given these, from the whole likelihood.

Samples come from importance sampling: for each kernel a Student-t density around the mode, with the Fisher information
there as its precision, and a share of draws from the prior. Values may be a rough function or a smooth one with noise:
where climbs from little and from much noise end at two modes, there is a density around each. Weights are
Pareto-smoothed [V24] and resampled. A kernel counts by its evidence, not by the height of its mode. Samples are a
function of the observations and the generator.

References
----------
[G13]   Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013). Bayesian Data Analysis, third edition. CRC Press.
[RW06]  Rasmussen and Williams (2006). Gaussian Processes for Machine Learning. MIT Press.
[V24]   Vehtari, Simpson, Gelman, Yao and Gabry (2024). Pareto smoothed importance sampling. JMLR 25.
[ZS09]  Zhang and Stephens (2009). A new and efficient estimation method for the generalized Pareto distribution.
        Technometrics 51.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf, lgamma, log, pi, sqrt

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array, Ints, as_number, as_whole, keep_plain
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput
from quadrat.gp.fit import LogNormal
from quadrat.gp.observations import Observations
from quadrat.kernels.stationary import Stationary, squared_differences

__all__ = ["HyperPosterior", "HyperPriors", "HyperSamples", "pareto_smooth"]

_FREEDOM = 5.0  # degrees of freedom of the Student-t proposals: heavier tails than the posterior's
_PRIOR_SHARE = 0.25  # of the proposals: where the posterior has a second mode, some of these find it
_EVERY_KERNEL = 0.1  # of the proposals, shared equally by all kernels; the others go by Laplace's evidence, tempered
_FEWEST = 4  # proposals of a kernel
_JITTER = 1e-10  # of the prior variance: far above rounding, so that a Cholesky factor exists for any points
_BORDER = 1e12  # times y' y, below A: larger than y' A^-1 y, which is below y' y / jitter, so that a factor exists
_REACH = 8.0  # prior standard deviations beyond which no parameter is looked at
_TOLERANCE = 1e-4  # relative change of the log density at which the search for a mode ends: proposals need no more
_LEAST_PRECISION = 1e-6
_APART = 1.0  # in some logarithm: nearer ends of two climbs are one mode
_BESIDE = 4.0  # log density below the highest mode, beyond which another one is negligible
_NOISE_GRID = 65  # values of the noise ratio at which its density is computed, where it is drawn given all else
_NOISE_REACH = 4.0  # prior standard deviations of its logarithm, between which
_NEGLIGIBLE = 14.0  # below the highest log density: less than a millionth of it
_TAIL = 5  # weights without which no tail is fitted


@dataclass(frozen=True)
class HyperPriors:
    """Priors of the hyper-parameters, for values of any origin, in units in which s is about 1.

    Logs of length-scales are those of the prior plus a shift that they share, as of `Priors`.

    Parameters
    ----------
    lengthscale
        Of each length-scale, in sides of the cube.
    common_lengthscale
        Standard deviation of the shift that the logs of length-scales share, >= 0.
    noise_ratio
        Of rho, the noise variance of one measurement divided by s^2. By default the standard deviation of the noise is
        between .02 and 6 times that of the signal, with 95 %: there may be next to no noise, or little else.
    shape, rate
        a and b of the inverse-gamma prior of s^2, > 0. By default s is above .13, with 99.7 %, and above 1, with 10 %.
    separate_lengthscales
        Indices of length-scales that are of choices: how unlike their values are has nothing in common with how fast f
        varies along a number. Choices share a shift of their own, so that many switches of which a few matter are
        learned as such from few values.
    choice_lengthscale
        Of each length-scale of a choice, whose values are at distance 1, beside that shift.

    Examples
    --------
    >>> HyperPriors().noise_ratio
    LogNormal(mean=-2.3, sd=3.0)
    """

    lengthscale: LogNormal = field(default=LogNormal(-0.7, 0.5))
    common_lengthscale: float = field(default=1.0, kw_only=True)
    noise_ratio: LogNormal = field(default=LogNormal(-2.3, 3.0), kw_only=True)
    shape: float = field(default=1.0, kw_only=True)
    rate: float = field(default=0.1, kw_only=True)
    separate_lengthscales: tuple[int, ...] = field(default=(), kw_only=True)
    choice_lengthscale: LogNormal = field(default=LogNormal(0.5, 1.0), kw_only=True)

    def __post_init__(self) -> None:
        keep_plain(self)
        as_number(self.common_lengthscale, name="common_lengthscale", at_least=0.0)
        as_number(self.shape, name="shape", above=0.0)
        as_number(self.rate, name="rate", above=0.0)

    def normal(self, groups: int, *, noise: bool) -> tuple[Array, Array]:
        """Return mean (p,) and covariance (p, p) of the logs of `groups` length-scales and, with `noise`, of rho."""
        own, shared = self.lengthscale.sd**2, self.common_lengthscale**2
        mean = np.full(groups + noise, self.lengthscale.mean)
        covariance = np.diag(np.full(groups + noise, own))
        is_choice = np.array([group in self.separate_lengthscales for group in range(groups)])
        mean[:groups][is_choice] = self.choice_lengthscale.mean
        np.einsum("ii->i", covariance)[:groups][is_choice] = self.choice_lengthscale.sd**2
        covariance[:groups, :groups] += shared * (is_choice[:, None] == is_choice)
        if noise:
            mean[groups], covariance[groups, groups] = self.noise_ratio.mean, self.noise_ratio.sd**2
        return mean, covariance


@dataclass(frozen=True)
class HyperSamples:
    """Hyper-parameter samples, all equally likely.

    Attributes
    ----------
    kernel
        The number of each sample's kernel, shape (M,).
    lengthscales
        In sides of the cube, one for each group of columns, shape (M, G).
    variance, noise_variance
        s^2 and the noise variance of one measurement, each (M,), in the units of the values squared.
    probabilities
        Posterior probability of each kernel, shape (K,), all kernels equally likely before.
    effective
        Effective number of the proposals: 1 / sum of squared weights.
    pareto_shape
        Of the tail of the weights: above .7 samples are no longer to be trusted [V24].

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> data = Observations.merge([[0.1], [0.4], [0.8]], [1.0, 2.0, 3.0])
    >>> found = HyperPosterior(data, [Matern(2.5, 1.0)]).sample(8, np.random.default_rng(0))
    >>> found.lengthscales.shape, found.probabilities.shape
    ((8, 1), (1,))
    """

    kernel: Ints
    lengthscales: Array
    variance: Array
    noise_variance: Array
    probabilities: Array
    effective: float
    pareto_shape: float

    __repr__ = printed


@dataclass(frozen=True)
class _Proposals:
    """Proposals for one kernel: a Student-t around a mode."""

    mode: Array
    precision: Array  # (p, p)
    root: Array  # R with R R' = precision^-1
    log_root: float  # log det R
    evidence: float  # Laplace's, in logs, up to a constant for all kernels


class HyperPosterior:
    """The posterior density of hyper-parameters, and samples of it.

    Parameters
    ----------
    data
        Merged observations, n >= 1.
    kernels
        The kernels that are compared, equally likely before, such as Matérn kernels of several nu. Only their form
        counts: length-scales and amplitude are learned.
    priors
        Of everything else.
    groups
        The length-scale of each column, 0, 1, ...; None gives each column its own.
    power
        In (0, 1]: the likelihood counts to this power for kernels and length-scales. Less than 1 is less sure of them.

    Attributes
    ----------
    measurements
        How many values the observations are means of, N.
    names
        What each parameter is the log of: "lengthscale[0]", ..., then "noise_ratio" where some variance is unknown, and
        "amplitude" where some variance is known and > 0.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 12)[:, None]
    >>> data = Observations.merge(x, np.sin(6 * x[:, 0]))
    >>> posterior = HyperPosterior(data, [Matern(0.5, 1.0), Matern(2.5, 1.0)])
    >>> found = posterior.sample(16, np.random.default_rng(0))
    >>> bool(found.probabilities[1] > 0.9), bool(np.median(found.noise_variance) < 0.01)
    (True, True)
    """

    def __init__(
        self,
        data: Observations,
        kernels: Sequence[Stationary],
        *,
        priors: HyperPriors | None = None,
        groups: Sequence[int] | None = None,
        power: float = 1.0,
    ) -> None:
        if not len(data):
            raise InvalidInput("data: expected at least one observation, got none")
        if not kernels:
            raise InvalidInput("kernels: expected at least one, got none")
        n, columns = data.x.shape
        numbers = np.arange(columns) if groups is None else np.asarray(groups, dtype=np.intp)
        if numbers.shape != (columns,) or set(numbers.tolist()) != set(range(int(numbers.max()) + 1)):
            raise InvalidInput(f"groups: expected {columns} numbers that count 0, 1, ... without gaps, got {groups!r}")
        self.data, self.kernels = data, tuple(kernels)
        self.priors = HyperPriors() if priors is None else priors
        self.groups, self._numbers = int(numbers.max()) + 1, numbers
        unknown = data.count > 0
        # A known variance of 0 needs no unit, and s^2 is integrated as where there is none.
        self._learns_noise, self._has_known = bool(unknown.any()), bool(data.known_variance.any())
        self.names = (
            *(f"lengthscale[{group}]" for group in range(self.groups)),
            *(["noise_ratio"] if self._learns_noise else []),
            *(["amplitude"] if self._has_known else []),
        )
        # Squared differences of all pairs, summed over the columns of each group, (G, n (n - 1) / 2).
        self._squares = np.zeros((self.groups, n * (n - 1) // 2))
        for group, column in zip(numbers.tolist(), squared_differences(data.x), strict=True):
            self._squares[group] += column
        self._rows, self._columns = np.triu_indices(n, 1)  # the order of the pairs
        self._share = np.where(unknown, 1 / np.maximum(data.count, 1.0), 0.0)  # of rho, in the noise of each mean
        self._known = data.known_variance
        self._repeats = float((data.count[unknown] - 1).sum())  # e
        self._scatter = float(data.scatter.sum())  # S
        self._of_factors = 0.0  # half the sum of (r_i - 1) log w_i
        if data.noise_factor is not None:
            self._share = self._share * data.noise_factor
            self._scatter = float((data.scatter / data.noise_factor).sum())
            self._of_factors = 0.5 * float((data.count[unknown] - 1) @ np.log(data.noise_factor[unknown]))
        self.measurements = n + self._repeats  # N
        self.power = as_number(power, name="power", above=0.0, at_most=1.0)
        self._shape = self.priors.shape + self.power * (self.measurements - 1) / 2
        self._right = np.stack([data.y, np.ones(n)], axis=1)
        mean, covariance = self.priors.normal(self.groups, noise=self._learns_noise)
        self._prior_precision = np.linalg.inv(covariance)  # of all parameters but the amplitude
        if self._has_known:  # a wide normal for starts and proposals; the prior itself is the inverse gamma of s^2
            centre = 0.5 * log(self.priors.rate / self.priors.shape)
            mean, wide = np.append(mean, centre), np.full((len(mean) + 1,) * 2, 0.0)
            wide[:-1, :-1], wide[-1, -1] = covariance, 4.0
            covariance = wide
        self._mean, self._covariance = mean, covariance
        self._found: dict[int, list[_Proposals]] = {}  # around the modes of each kernel, the highest first

    # --- the density

    def log_density(self, kernel: int, parameters: Array) -> tuple[Array, Array]:
        """Return the log posterior density of many parameters at once.

        Parameters
        ----------
        kernel
            The number of the kernel.
        parameters
            Logs, shape (P, p), in the order of `names`.

        Returns
        -------
        log_density
            Up to a constant that is the same for all kernels, (P,).
        rate
            The rate b + (Q + S / rho) / 2 of the inverse gamma of s^2, (P,).
        """
        count, n = len(parameters), len(self.data)
        scales, ratio, s2 = self._read(parameters)
        # Below A stand the rows y and 1: its factor L continues with L^-1 y and L^-1 1, and nothing is left to solve.
        matrix = np.zeros((count, n + 2, n + 2))
        lower = self._columns * (n + 2) + self._rows
        matrix.reshape(count, -1)[:, lower] = self.kernels[kernel].profile(np.sqrt(scales**-2.0 @ self._squares))
        diagonal = np.arange(n)
        matrix[:, diagonal, diagonal] = 1 + _JITTER + ratio[:, None] * self._share + self._known / s2[:, None]
        matrix[:, n, :n], matrix[:, n + 1, :n] = self.data.y, 1.0
        matrix[:, n, n] = matrix[:, n + 1, n + 1] = _BORDER * (n + float(self.data.y @ self.data.y))
        factor = np.linalg.cholesky(matrix)
        whitened, ones = factor[:, n, :n], factor[:, n + 1, :n]
        total = np.einsum("pi,pi->p", ones, ones)
        Q = np.einsum("pi,pi->p", whitened, whitened) - np.einsum("pi,pi->p", whitened, ones) ** 2 / total
        logdet = 2 * np.log(factor[:, diagonal, diagonal]).sum(axis=1)
        return self._density(parameters, ratio, s2, logdet, np.maximum(Q, 0.0), total)

    def value_and_gradient(self, kernel: int, parameters: Array) -> tuple[float, Array]:
        """Return the log density at parameters (p,) of a `kernel`, and its gradient, (p,)."""
        (scales,), (ratio,), (s2,) = self._read(parameters[None, :])
        slope, factor = self._factor(kernel, scales, ratio, s2)
        alpha, u = lapack.dpotrs(factor, self._right, lower=0)[0].T
        total, sum_y = float(u.sum()), float(u @ self.data.y)
        Q = max(float(self.data.y @ alpha) - sum_y**2 / total, 0.0)
        logdet = 2 * float(np.log(np.diagonal(factor)).sum())
        value, rate = self._density(parameters[None, :], *(np.array([part]) for part in (ratio, s2, logdet, Q, total)))
        alpha = alpha - (sum_y / total) * u  # A^-1 (y - m)
        inverse = lapack.dpotri(factor, lower=0)[0]  # above the diagonal and on it
        # d log density = tr(W dA) / 2 + terms without A, W = c alpha alpha' - A^-1 + u u' / (1' u)
        c = 1 / s2 if self._has_known else self._shape / float(rate[0])
        i, j, power = self._rows, self._columns, self.power
        pairs = power * (c * alpha[i] * alpha[j] - inverse[i, j] + u[i] * u[j] / total)
        diagonal = power * (c * alpha**2 - np.diagonal(inverse) + u**2 / total)
        normal = len(self._prior_precision)
        gradient = np.zeros(len(parameters))
        gradient[:normal] = -self._prior_precision @ (parameters - self._mean)[:normal]
        gradient[: self.groups] -= (self._squares @ (pairs * slope)) / scales**2
        if self._learns_noise:
            gradient[self.groups] += 0.5 * ratio * float(diagonal @ self._share)
            gradient[self.groups] += 0.5 * power * (c * self._scatter / ratio - self._repeats)
        if self._has_known:
            quadratic = power * (Q + self._within(ratio))
            gradient[-1] -= float(diagonal @ self._known) / s2 + 2 * self._shape
            gradient[-1] += (quadratic + 2 * self.priors.rate) / s2
        return float(value[0]), gradient

    def mode(self, kernel: int, starts: Sequence[Array]) -> tuple[Array, float]:
        """Return the highest local maximum for a `kernel` that is reached from `starts`, (p,), and the log density."""
        return self.modes(kernel, starts)[0]

    def modes(self, kernel: int, starts: Sequence[Array]) -> list[tuple[Array, float]]:
        """Return local maxima (p,) for a `kernel` that are reached from `starts`, and their log densities.

        The highest comes first. Others are there if they lie apart from it and are not negligible beside it.
        """
        from scipy.optimize import minimize

        box = self._box

        def downhill(parameters: Array) -> tuple[float, Array]:
            value, gradient = self.value_and_gradient(kernel, parameters)
            return -value, -gradient

        climbs = sorted(
            (
                minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=box, options={"ftol": _TOLERANCE})
                for start in starts
            ),
            key=lambda climb: float(climb.fun),
        )
        found = [climbs[0]]
        for climb in climbs[1:]:
            apart = min(float(np.abs(climb.x - other.x).max()) for other in found)
            if apart > _APART and climb.fun < climbs[0].fun + _BESIDE:
                found.append(climb)
        return [(np.asarray(climb.x), -float(climb.fun)) for climb in found]

    @property
    def _box(self) -> list[tuple[float, float]]:
        """Between which ends each parameter is looked for."""
        reach = _REACH * np.sqrt(np.diagonal(self._covariance))
        return list(zip(self._mean - reach, self._mean + reach, strict=True))

    def information(self, kernel: int, parameters: Array) -> Array:
        """Return the Fisher information at `parameters` (p,) of a `kernel`, plus the prior's precision, (p, p).

        Of the parameters that are left when the mean is known and s^2 is at its conditional posterior.
        """
        (scales,), (ratio,), (s2,) = self._read(parameters[None, :])
        slope, factor = self._factor(kernel, scales, ratio, s2)
        p, normal, n = len(parameters), len(self._prior_precision), len(self.data)
        precision = np.zeros((p, p))
        precision[:normal, :normal] = self._prior_precision
        if self._has_known:
            precision[-1, -1] = 4 * self.priors.shape  # of the inverse gamma at its mode, in log s
        half = lapack.dtrtri(factor, lower=0)[0]  # R^-1, A = R' R
        changes = np.zeros((p, n, n))  # dA / d parameter; for the amplitude, of s^2 A and divided by s^2
        changes[: self.groups, self._rows, self._columns] = -slope * self._squares / scales[:, None] ** 2
        changes += changes.transpose(0, 2, 1)
        if self._learns_noise:
            np.einsum("ii->i", changes[self.groups])[:] = ratio * self._share
        whitened = half.T @ changes @ half
        if self._has_known:
            whitened[-1] = 2 * np.eye(n) - half.T @ (2 * self._known[:, None] / s2 * half)
        flat = whitened.reshape(p, -1)
        found = 0.5 * flat @ flat.T
        traces = np.einsum("pii->p", whitened)
        if self._learns_noise:
            found[self.groups, self.groups] += 0.5 * self._repeats
            traces[self.groups] += self._repeats
        if self._has_known:
            found[-1, -1] += 2 * self._repeats
            if self._learns_noise:
                found[-1, self.groups] += self._repeats
                found[self.groups, -1] += self._repeats
        found *= self.power
        if not self._has_known:  # s^2 takes part of what the values say
            found -= 0.5 * self.power**2 * np.outer(traces, traces) / (2 * self._shape + self.power)
        return np.asarray(found + precision)

    def of(
        self, data: Observations, *, priors: HyperPriors | None = None, power: float | None = None
    ) -> HyperPosterior:
        """Return the posterior of other observations, `data`; with other `priors` or `power`, unless these are None."""
        chosen = self.priors if priors is None else priors
        known = self.power if power is None else power
        return HyperPosterior(data, self.kernels, priors=chosen, groups=self._numbers.tolist(), power=known)

    @property
    def log_evidence(self) -> float:
        """Laplace's approximation of the log density of the values, averaged over kernels.

        Up to a constant that is the same for any part of the variances that is known: more of it may be compared.
        """
        each = np.array([self.laplace(kernel) for kernel in range(len(self.kernels))])
        # What `log_density` leaves out where s^2 is integrated: the integral of exp(-2 a t - b exp(-2 t)) over
        # t = log s is b^-a Gamma(a) / 2. And what Laplace's Gaussian integral has for each parameter.
        rest = 0.0 if self._has_known else lgamma(self._shape) - log(2)
        return float(np.logaddexp.reduce(each)) - log(len(each)) + rest + 0.5 * len(self.names) * log(2 * pi)

    # --- samples

    def sample(self, count: int, rng: np.random.Generator, *, proposals: int = 160) -> HyperSamples:
        """Return `count` samples, drawn with `rng` from so many weighted `proposals`.

        Raises
        ------
        InvalidInput
            A number below 1.
        """
        as_whole(count, name="count", at_least=1)
        as_whole(proposals, name="proposals", at_least=1)
        evidence = np.array([self.laplace(k) for k in range(len(self.kernels))])
        # Laplace's evidence is rough, so it is tempered, and no kernel goes without proposals.
        share = np.exp(0.5 * (evidence - evidence.max()))
        share = _EVERY_KERNEL / len(share) + (1 - _EVERY_KERNEL) * share / share.sum()
        numbers = np.maximum(np.round(proposals * share).astype(int), _FEWEST)
        drawn = [self._propose(k, self._shapes_of(k), int(m), rng) for k, m in enumerate(numbers)]
        parameters, logs, rate = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        kernel = np.repeat(np.arange(len(self.kernels)), numbers)
        smoothed, pareto_shape = pareto_smooth(logs)
        weights = np.exp(smoothed - smoothed.max())
        weights /= weights.sum()
        # Systematic resampling: each proposal is taken as often as its weight says, up to one.
        places = (np.arange(count) + rng.random()) / count
        chosen = np.minimum(np.searchsorted(np.cumsum(weights), places), len(weights) - 1)
        scales, ratio, s2 = self._read(parameters[chosen])
        rate, shape = rate[chosen], self._shape
        if self.power < 1 and self._learns_noise:
            whole = self.of(self.data, power=1.0)
            ratio, rate = whole._draw_noise(kernel[chosen], parameters[chosen], rng)
            shape = whole._shape
        if not self._has_known:
            s2 = rate / self._gamma(shape, count, rng)
        return HyperSamples(
            kernel[chosen],
            scales,
            s2,
            ratio * s2,
            np.bincount(kernel, weights, len(self.kernels)).astype(np.float64),
            float(1 / np.sum(weights**2)),
            pareto_shape,
        )

    def laplace(self, kernel: int) -> float:
        """Return the log evidence of a `kernel`, by Laplace's approximation, up to the constant of `log_density`."""
        return float(np.logaddexp.reduce([shape.evidence for shape in self._shapes_of(kernel)]))

    @property
    def _shapes(self) -> list[_Proposals]:
        """The proposals around the highest mode of each kernel."""
        return [self._shapes_of(kernel)[0] for kernel in range(len(self.kernels))]

    def _shapes_of(self, kernel: int) -> list[_Proposals]:
        """Return the proposals of a kernel; modes are sought from those of the middle kernel, found first."""
        if kernel in self._found:
            return self._found[kernel]
        middle = len(self.kernels) // 2
        if kernel == middle:
            low, high = self._mean.copy(), self._mean.copy()
            if self._learns_noise:  # the values may be a rough signal, or noise: both may be a mode
                low[: self.groups] -= self.priors.common_lengthscale
                low[self.groups] -= 0.5 * self.priors.noise_ratio.sd
                high[self.groups] += self.priors.noise_ratio.sd
            starts = [low, high] if self._learns_noise else [low]
        else:
            starts = [shape.mode for shape in self._shapes_of(middle)]
        self._found[kernel] = [self._around(kernel, *found) for found in self.modes(kernel, starts)]
        return self._found[kernel]

    def _around(self, kernel: int, mode: Array, height: float) -> _Proposals:
        """Return the proposals around a mode (p,) of so high a log density."""
        values, vectors = np.linalg.eigh(self.information(kernel, mode))
        values = np.maximum(values, _LEAST_PRECISION)
        precision = (vectors * values) @ vectors.T
        log_root = -0.5 * float(np.log(values).sum())
        return _Proposals(mode, precision, vectors / np.sqrt(values), log_root, height + log_root)

    def _propose(
        self, kernel: int, shapes: Sequence[_Proposals], count: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Array]:
        """Return parameters (count, p), logs of their importance weights and rates of s^2, each (count,).

        All are weighted as draws of one mixture, of the prior and of the densities around the modes.
        """
        p, f = len(self.names), _FREEDOM
        of_prior = max(1, round(_PRIOR_SHARE * count))
        normal = rng.standard_normal((count, p))
        prior_root = np.linalg.cholesky(self._covariance)
        wide = normal / np.sqrt(rng.chisquare(f, (count, 1)) / f)
        parameters = np.empty((count, p))
        parameters[:of_prior] = self._mean + normal[:of_prior] @ prior_root.T
        parts = np.array_split(np.arange(of_prior, count), len(shapes))
        for shape, part in zip(shapes, parts, strict=True):
            parameters[part] = shape.mode + wide[part] @ shape.root.T
        reach = _REACH * np.sqrt(np.diagonal(self._covariance))
        inside = (np.abs(parameters - self._mean) <= reach).all(axis=1)
        value, rate = self.log_density(kernel, np.clip(parameters, self._mean - reach, self._mean + reach))
        log_t = np.full(count, -inf)
        for shape, part in zip(shapes, parts, strict=True):
            if not len(part):
                continue
            away = parameters - shape.mode
            each = lgamma((f + p) / 2) - lgamma(f / 2) - 0.5 * p * log(f * pi) - shape.log_root
            each = each - 0.5 * (f + p) * np.log1p(np.einsum("pi,ij,pj->p", away, shape.precision, away) / f)
            log_t = np.logaddexp(log_t, each + log(len(part) / count))
        whitened = np.linalg.solve(prior_root, (parameters - self._mean).T)
        log_prior = -0.5 * (whitened**2).sum(axis=0) - 0.5 * p * log(2 * pi)
        log_prior -= float(np.log(np.diagonal(prior_root)).sum())
        log_proposal = np.logaddexp(log_t, log(of_prior / count) + log_prior)
        logs = np.where(inside, value - log_proposal - log(count), -inf)
        return parameters, logs, rate

    def _draw_noise(self, kernel: Ints, parameters: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw rho given everything else in each row of `parameters` (S, p), which has the `kernel` (S,) of its number.

        The density of log rho is computed on a grid, twice: first wherever the prior may have it, then where it is. On
        a grid it costs one eigendecomposition: with A = B + rho W, B = L L' and L^-1 W L'^-1 = V diag(m) V', the
        determinant of A is that of B times the product of all 1 + rho m_i, and V' L^-1 makes A diagonal.

        Returns
        -------
        ratio
            rho, shape (S,).
        rate
            The rate of the inverse gamma of s^2, at that rho, shape (S,).
        """
        spectra = self._noise_spectra(kernel, parameters)
        count = len(parameters)
        spread = _NOISE_REACH * self.priors.noise_ratio.sd
        low = np.full(count, self.priors.noise_ratio.mean - spread)
        high = low + 2 * spread
        for _ in range(2):
            grid = np.linspace(low, high, _NOISE_GRID, axis=1)
            logs, rates = self._along_noise(spectra, parameters, grid)
            logs = logs - logs.max(axis=1, keepdims=True)
            is_near = logs > -_NEGLIGIBLE
            first, last = is_near.argmax(axis=1), _NOISE_GRID - 1 - is_near[:, ::-1].argmax(axis=1)
            low = grid[np.arange(count), np.maximum(first - 1, 0)]
            high = grid[np.arange(count), np.minimum(last + 1, _NOISE_GRID - 1)]
        # Between points of the grid the density is linear, and its distribution function nearly so.
        density = np.exp(logs)
        below = np.cumsum(np.hstack([np.zeros((count, 1)), density[:, 1:] + density[:, :-1]]), axis=1)
        wanted = rng.random(count) * below[:, -1]
        at = np.array([np.interp(*each) for each in zip(wanted, below, grid, strict=True)])
        rate = np.array([np.interp(*each) for each in zip(at, grid, rates, strict=True)])
        return np.exp(at), rate

    def _noise_spectra(self, kernel: Ints, parameters: Array) -> tuple[Array, Array, Array, Array]:
        """Return m, V' L^-1 y and V' L^-1 1, each (S, n), and log det B, (S,), as of `_draw_noise`."""
        n, count = len(self.data), len(parameters)
        scales, _, s2 = self._read(parameters)
        B = np.zeros((count, n, n))
        for k in np.unique(kernel):
            of = np.flatnonzero(kernel == k)
            h = np.sqrt(scales[of] ** -2.0 @ self._squares)
            B[of[:, None], self._columns, self._rows] = self.kernels[k].profile(h)
        B[:, np.arange(n), np.arange(n)] = 1 + _JITTER + self._known / s2[:, None]
        L = np.linalg.cholesky(B)
        half = np.array([lapack.dtrtri(each, lower=1)[0] for each in L])  # L^-1
        m, V = np.linalg.eigh((half * self._share) @ half.transpose(0, 2, 1))
        turned = V.transpose(0, 2, 1) @ (half @ self._right)
        logdet = 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
        return np.maximum(m, 0.0), turned[:, :, 0], turned[:, :, 1], logdet

    def _along_noise(
        self, spectra: tuple[Array, Array, Array, Array], parameters: Array, grid: Array
    ) -> tuple[Array, Array]:
        """Return what `log_density` does, (S, g), at `parameters` (S, p) with the logs of rho of a `grid`, (S, g)."""
        m, y, ones, logdet = (part[:, None] for part in spectra)
        points = np.repeat(parameters, grid.shape[1], axis=0)
        points[:, self.groups] = grid.ravel()
        _, ratio, s2 = self._read(points)
        diagonal = 1 + np.exp(grid)[:, :, None] * m
        total = (ones**2 / diagonal).sum(axis=2)
        Q = (y**2 / diagonal).sum(axis=2) - (y * ones / diagonal).sum(axis=2) ** 2 / total
        logdet = logdet + np.log(diagonal).sum(axis=2)
        value, rate = self._density(points, ratio, s2, logdet.ravel(), np.maximum(Q, 0.0).ravel(), total.ravel())
        return value.reshape(grid.shape), rate.reshape(grid.shape)

    def _gamma(self, shape: float, count: int, rng: np.random.Generator) -> Array:
        """Return draws of the gamma distribution, one from each of `count` equally likely parts, in random order."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(shape, rng.permutation((np.arange(count) + rng.random(count)) / count)))

    # --- parts

    def _read(self, parameters: Array) -> tuple[Array, Array, Array]:
        """Return length-scales (P, G), rho (P,) and s^2 (P,), which is 1 where it is integrated."""
        ratio = np.exp(parameters[:, self.groups]) if self._learns_noise else np.zeros(len(parameters))
        s2 = np.exp(2 * parameters[:, -1]) if self._has_known else np.ones(len(parameters))
        return np.exp(parameters[:, : self.groups]), ratio, s2

    def _within(self, ratio: Array | float) -> Array | float:
        """S / rho, 0 where nothing was repeated."""
        return self._scatter / ratio if self._repeats else 0.0

    def _density(
        self, parameters: Array, ratio: Array, s2: Array, logdet: Array, Q: Array, total: Array
    ) -> tuple[Array, Array]:
        """Put the parts of the log density together, (P,), and the rate, (P,)."""
        normal = len(self._prior_precision)
        away = (parameters - self._mean)[:, :normal]
        value = -0.5 * self.power * (logdet + np.log(total))
        value = value - 0.5 * np.einsum("pi,ij,pj->p", away, self._prior_precision, away)
        if self._repeats:
            value = value - 0.5 * self.power * self._repeats * np.log(ratio) - self.power * self._of_factors
        rate = self.priors.rate + 0.5 * self.power * (Q + self._within(ratio))
        if self._has_known:  # of log s, whose prior density is that of s^2 times s^2
            return value - 2 * self._shape * parameters[:, -1] - rate / s2, rate
        return value - self._shape * np.log(rate), rate

    def _factor(self, kernel: int, scales: Array, ratio: float, s2: float) -> tuple[Array, Array]:
        """Return kappa'(h) / h of all pairs, and the upper Cholesky factor of A, (n, n)."""
        n = len(self.data)
        kappa, slope = self.kernels[kernel].profile_and_slope(np.sqrt(scales**-2.0 @ self._squares))
        matrix = np.zeros((n, n))
        matrix[self._rows, self._columns] = kappa
        np.einsum("ii->i", matrix)[:] = 1 + _JITTER + ratio * self._share + self._known / s2
        factor, info = lapack.dpotrf(matrix, lower=0, clean=1, overwrite_a=1)
        assert info == 0
        return slope, factor


def pareto_smooth(logs: Array) -> tuple[Array, float]:
    """Return log importance weights with the tail replaced by quantiles of a Pareto distribution, and its shape [V24].

    Parameters
    ----------
    logs
        Log weights, shape (m,), up to a constant; minus infinity is a weight of 0.

    Returns
    -------
    logs
        Smoothed log weights, shape (m,), the largest of them 0 at most.
    shape
        k of the generalised Pareto distribution fitted to the largest weights; infinite where these are too few.

    Examples
    --------
    >>> smoothed, shape = pareto_smooth(np.random.default_rng(0).exponential(0.9, 2000))
    >>> 0.7 < shape < 1.1  # such weights have a Pareto tail of shape .9
    True
    """
    count = ceil(min(0.2 * len(logs), 3 * sqrt(len(logs))))
    order = np.argsort(logs)
    smoothed = logs - logs.max()
    if count < _TAIL or count >= len(logs) or not np.isfinite(smoothed[order[-count]]):
        return smoothed, inf
    cutoff = float(np.exp(smoothed[order[-count - 1]]))
    excess = np.maximum(np.exp(smoothed[order[-count:]]) - cutoff, 1e-300)
    if excess[0] == excess[-1]:
        return smoothed, -inf
    shape, scale = _pareto_fit(excess)
    survival = 1 - (np.arange(count) + 0.5) / count
    with np.errstate(over="ignore"):  # a quantile of a very heavy tail may pass the largest float: it is capped below
        quantiles = scale * (np.expm1(-shape * np.log(survival)) / shape if abs(shape) > 1e-9 else -np.log(survival))
    smoothed[order[-count:]] = np.minimum(np.log(cutoff + quantiles), 0.0)
    return smoothed, shape


def _pareto_fit(excess: Array) -> tuple[float, float]:
    """Return shape and scale of the generalised Pareto distribution of ascending excesses (m,) [ZS09; V24]."""
    count = len(excess)
    grid = 20 + int(sqrt(count))
    quartile = excess[int(count / 4 + 0.5) - 1]
    b = 1 / excess[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quartile)
    k = np.log1p(-b[:, None] * excess).mean(axis=1)
    profile = count * (np.log(-b / k) - k - 1)
    weights = np.exp(profile - profile.max())
    mean = float(weights @ b / weights.sum())
    shape = float(np.log1p(-mean * excess).mean())
    scale = -shape / mean
    return (count * shape + 10 * 0.5) / (count + 10), scale  # as if ten more excesses said .5
