"""Uneven noise: whether the variance of the noise changes along some axes, and how fast.

The noise variance of one measurement at x is sigma^2 w(x), where log w(x) is the sum over some columns j of
b_j (x_j - c_j), and c is the mean of the measurements, so that sigma^2 stays their geometric mean. In the notation of
`hyper_posterior` the mean of the r_i measurements at x_i has the noise variance d_i = rho w_i / r_i in units of s^2.
With C = A^-1 - A^-1 1 1' A^-1 / (1' A^-1 1), alpha = C y, and 1 / s^2 at the mean of its posterior, log p has

    d / d log w_i     = (d_i (alpha_i^2 / s^2 - C_ii) + S_i / (s^2 rho w_i) - (r_i - 1)) / 2
    Fisher information of log w_i and log w_j  = (d_i d_j C_ij^2 + (r_i - 1) [i = j]) / 2 - t_i t_j / (4 a + 2 N),
                                               t_i = d_i C_ii + r_i - 1.

The first line is the leave-one-out residual's square, less what is expected of it, times the share of the noise in it.
With F_ij = x_ij - c_j the slopes b_j have the gradient F' (first line) and the information F' (second line) F, from
which goes what they share with rho. With the even noise's mode they give the score test: the evidence that one more
slope gains, in closed form and to second order, from a matrix that is inverted once. Only where that is nearly enough,
all parameters and slopes climb together, and Laplace's evidence decides.

The prior: noise is uneven with probability 1/20; if so, each further column halves the probability, and each set of as
many columns is equally likely. A slope is N(0, 3^2): with 95 %, the standard deviation of the noise at one end of an
axis is between 1/20 and 20 times that at the other. What was found is held fixed.

Twelve measurements is the fewest: a slope b gains about b^2 m / 48, where m is the number of measurements less what f
takes of them; a factor of ten between the ends, b = 4.6, gains the log(19) + 1 that the prior asks from m = 9 on.

References
----------
[CW83]  Cook and Weisberg (1983). Diagnostics for heteroscedasticity in regression. Biometrika 70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array, Ints
from quadrat._core.printing import printed
from quadrat.gp.hyper_posterior import HyperPosterior
from quadrat.gp.observations import Observations

__all__ = ["UnevenNoise", "find_uneven_noise"]

FEWEST = 12  # measurements of unknown variance
ANY = 0.05  # probability that noise is uneven
SLOPE = 3.0  # standard deviation of a slope, by the prior
_SLACK = 2.0  # of the evidence: what the score test may miss
_STEEPEST = 6.0  # prior standard deviations beyond which no slope is looked at
_TOLERANCE = 1e-6  # relative change of the log density at which a climb ends
_ROUNDS = 3  # of climbs, while the best kernel changes


@dataclass(frozen=True)
class UnevenNoise:
    """Noise whose variance changes along some columns of x.

    Attributes
    ----------
    columns
        Their numbers, shape (k,).
    slopes
        Change of the log of the variance from one end of the axis to the other, shape (k,).
    centre
        Where the factor is 1, shape (k,).
    gain
        Log of the posterior odds of these columns against noise that is the same everywhere.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 60)[:, None]
    >>> y = np.sin(6 * x[:, 0]) + 0.02 * 30 ** x[:, 0] * np.random.default_rng(0).standard_normal(60)
    >>> found = find_uneven_noise(HyperPosterior(Observations.merge(x, y), [Matern(2.5, 1.0)]))
    >>> found.columns.tolist(), bool(abs(found.slopes[0] - 2 * np.log(30)) < 2)
    ([0], True)
    """

    columns: Ints
    slopes: Array
    centre: Array
    gain: float

    __repr__ = printed

    def factor(self, x: Array) -> Array:
        """Return w at the rows of x, (m, F), shape (m,)."""
        return np.asarray(np.exp((x[:, self.columns] - self.centre) @ self.slopes))

    def applied(self, data: Observations) -> Observations:
        """Return the observations `data` with the noise factors of their points."""
        return data.with_noise_factor(self.factor(data.x))


def find_uneven_noise(posterior: HyperPosterior, columns: Sequence[int] | None = None) -> UnevenNoise | None:
    """Decide whether noise is uneven, and along which columns; None where it is the same everywhere.

    The answer is a function of the observations. Where no score test says that a slope may be worth its price, nothing
    more is computed.

    Parameters
    ----------
    posterior
        Of the observations as if noise were even.
    columns
        Those of x that count; None is all.

    Returns
    -------
    UnevenNoise or None
        The columns with their slopes.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> y = np.sin(6 * x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> find_uneven_noise(HyperPosterior(Observations.merge(x, y), [Matern(2.5, 1.0)])) is None
    True
    """
    data = posterior.data
    allowed = np.arange(data.x.shape[1]) if columns is None else np.asarray(columns, dtype=np.intp)
    if data.count.sum() < FEWEST or not np.ptp(data.y) > 0:
        return None
    centred = data.x - data.count @ data.x / data.count.sum()
    found, start = _State(posterior, allowed[:0], np.empty(0)), posterior.log_evidence
    height = start
    while len(found.columns) < len(allowed):
        left = np.setdiff1d(allowed, found.columns)
        gains = found.gains_of_one_more(centred[:, found.columns], centred[:, left])
        price = _price(len(found.columns) + 1, len(allowed)) - _price(len(found.columns), len(allowed))
        if not gains.max() - price > -_SLACK:
            break
        tried = found.with_one_more(int(left[gains.argmax()]), centred)
        total = tried.log_evidence(centred[:, tried.columns]) - _price(len(tried.columns), len(allowed))
        if not total > height:
            break
        found, height = tried, total
    if not len(found.columns):
        return None
    centre = (data.x - centred)[0, found.columns]
    return UnevenNoise(found.columns, found.slopes, centre, height - start)


@dataclass(frozen=True)
class _State:
    """A posterior under the slopes of some columns, the best ones."""

    posterior: HyperPosterior
    columns: Ints
    slopes: Array

    @property
    def best(self) -> tuple[int, Array]:
        """The likeliest kernel and its mode."""
        shapes = self.posterior._shapes
        kernel = int(np.argmax([shape.evidence for shape in shapes]))
        return kernel, shapes[kernel].mode

    def gains_of_one_more(self, features: Array, others: Array) -> Array:
        """Return what one more slope adds to Laplace's log evidence, (m,), by the score test at the mode [CW83].

        Parameters
        ----------
        features, others
            Centred columns that have a slope, (n, k), and that may get one, (n, m).
        """
        slope, information = of_log_factors(self.posterior, *self.best)
        known = np.hstack([np.ones((len(slope), 1)), features])
        precision = known.T @ information @ known + np.diag(self._prior_precisions)
        shared = known.T @ information @ others
        own = np.einsum("ij,ik,kj->j", others, information, others)
        own = np.maximum(own - np.einsum("ij,ij->j", shared, np.linalg.solve(precision, shared)), 0.0)
        gained = 0.5 * (others.T @ slope) ** 2 / (own + SLOPE**-2)
        return np.asarray(gained - 0.5 * np.log1p(SLOPE**2 * own))

    def with_one_more(self, column: int, centred: Array) -> _State:
        """Return the posterior at the best slopes of these columns and one more; `centred` are all columns, (n, F)."""
        columns, slopes, at = np.append(self.columns, column), np.append(self.slopes, 0.0), self
        for _ in range(_ROUNDS):
            kernel, mode = at.best
            slopes = climb(self.posterior, kernel, mode, centred[:, columns], slopes)
            at = _State(_with(self.posterior, centred[:, columns], slopes), columns, slopes)
            if at.best[0] == kernel:
                break
        return at

    def log_evidence(self, features: Array) -> float:
        """Return Laplace's log evidence, slopes integrated too; `features` are the centred columns, (n, k)."""
        _, information = of_log_factors(self.posterior, *self.best)
        all_of = np.hstack([np.ones((len(features), 1)), features])
        precision = all_of.T @ information @ all_of + np.diag(self._prior_precisions)
        own = np.linalg.slogdet(precision)[1] - log(precision[0, 0])
        prior = -0.5 * float(self.slopes @ self.slopes) / SLOPE**2 - len(self.slopes) * log(SLOPE)
        return self.posterior.log_evidence + prior - 0.5 * float(own)

    @property
    def _prior_precisions(self) -> Array:
        """Of log rho and of the slopes, (1 + k,)."""
        return np.append(self.posterior.priors.noise_ratio.sd**-2, np.full(len(self.slopes), SLOPE**-2))


def of_log_factors(posterior: HyperPosterior, kernel: int, parameters: Array) -> tuple[Array, Array]:
    """Return gradient (n,) and Fisher information (n, n) of the logs of the noise factors at `parameters`, (p,)."""
    data, power = posterior.data, posterior.power
    (scales,), (ratio,), (s2,) = posterior._read(parameters[None, :])
    factor = posterior._factor(kernel, scales, ratio, s2)[1]
    upper = lapack.dpotri(factor, lower=0)[0]
    inverse = upper + np.triu(upper, 1).T
    u = inverse.sum(axis=1)
    C = inverse - np.outer(u, u) / u.sum()
    alpha = C @ data.y
    rate = posterior.priors.rate + 0.5 * power * float(data.y @ alpha + posterior._within(ratio))
    c = 1 / s2 if posterior._has_known else posterior._shape / rate
    variances, repeats = ratio * posterior._share, np.maximum(data.count - 1, 0.0)  # d, r - 1
    scatter = data.scatter / ratio if data.noise_factor is None else data.scatter / (ratio * data.noise_factor)
    shares = variances * np.diagonal(C)
    gradient = 0.5 * power * (c * (variances * alpha**2 + scatter) - shares - repeats)
    information = 0.5 * power * (np.outer(variances, variances) * C**2 + np.diag(repeats))
    traces = shares + repeats
    return gradient, information - 0.5 * power**2 * np.outer(traces, traces) / (2 * posterior._shape + power)


def climb(posterior: HyperPosterior, kernel: int, parameters: Array, features: Array, slopes: Array) -> Array:
    """Return the slopes (k,) of centred columns (n, k) at the highest density that a climb from here reaches.

    Length-scales, noise and slopes climb together, from `parameters` (p,) and `slopes` (k,).
    """
    from scipy.optimize import minimize

    size = len(parameters)

    def downhill(both: Array) -> tuple[float, Array]:
        at, steep = _with(posterior, features, both[size:]), both[size:]
        value, gradient = at.value_and_gradient(kernel, both[:size])
        of_slopes = features.T @ of_log_factors(at, kernel, both[:size])[0] - steep / SLOPE**2
        return -value + 0.5 * float(steep @ steep) / SLOPE**2, -np.append(gradient, of_slopes)

    box = [*posterior._box, *[(-_STEEPEST * SLOPE, _STEEPEST * SLOPE)] * len(slopes)]
    found = minimize(
        downhill, np.append(parameters, slopes), jac=True, method="L-BFGS-B", bounds=box, options={"ftol": _TOLERANCE}
    )
    return np.asarray(found.x[size:])


def _with(posterior: HyperPosterior, features: Array, slopes: Array) -> HyperPosterior:
    """Return the posterior under these slopes (k,) of centred columns, (n, k)."""
    return posterior.of(posterior.data.with_noise_factor(np.exp(features @ slopes)))


def _price(count: int, columns: int) -> float:
    """Return minus the log prior odds of a given set of so many columns, against even noise."""
    return log((1 / ANY - 1) * (1 - 0.5**columns) * 2**count * comb(columns, count)) if count else 0.0
