"""Learning hyper-parameters: the maximum of log evidence plus log prior, with analytic gradients.

With A = K + diag(v), a = A^-1 (y - m) and the constant mean profiled out, m = 1^T A^-1 y / 1^T A^-1 1,

    log p(y) = -(y - m)^T a / 2 - log det A / 2 - n log(2 pi) / 2
    d log p(y) / d eta = tr((a a^T - A^-1) dA / d eta) / 2      [Rasmussen and Williams 2006, eq. 5.9]

(the profiled mean adds nothing: it is at its optimum). The trace goes through the kernel's pull-back, so that no
array of size n x n x D is built; where points are few, squared differences of pairs are worked out once for all
evaluations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from quadrat._core.arrays import Array, ArrayLike, as_number, as_vector, keep_plain
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput
from quadrat.gp.cholesky import GrowingCholesky, JitterPolicy
from quadrat.gp.observations import Observations
from quadrat.gp.posterior import GaussianProcess
from quadrat.kernels import Kernel, OnAxes, Product, Sum, Tied
from quadrat.kernels.stationary import Stationary, squared_differences

__all__ = ["Bounds", "Fit", "LogNormal", "LogPosterior", "Priors", "fit_map", "role_of"]


def role_of(name: str) -> str:
    """Return which prior serves a hyper-parameter: "left.lengthscale[2]" is a "lengthscale", "a" a "shape"."""
    stem = name.split(".")[-1].split("[")[0]
    return stem if stem in ("lengthscale", "amplitude", "noise_variance") else "shape"


@dataclass(frozen=True)
class LogNormal:
    """log v ~ N(mean, sd^2). Densities are taken in log v, so that the mode does not move with the coordinates.

    Parameters
    ----------
    mean, sd
        Mean and standard deviation (> 0) of log v.

    Examples
    --------
    >>> from quadrat.gp import Priors
    >>> Priors(lengthscale=LogNormal(-1.0, 0.5)).lengthscale
    LogNormal(mean=-1.0, sd=0.5)
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        keep_plain(self)
        as_number(self.mean, name="mean")
        as_number(self.sd, name="sd", above=0.0)


@dataclass(frozen=True)
class Priors:
    """A prior for each role; None is flat. Amplitude and noise are in units of the standard deviation of y.

    The default on length-scales is broad and centred near half the cube; the one on the noise variance favours
    small noise without excluding any.

    Length-scales of one problem are often alike. With `common_lengthscale` > 0 they share a normal shift with this
    standard deviation: log theta ~ N(mean, sd^2 I + common^2 1 1'). A length-scale of which the data say little then
    follows the others. Length-scales in `separate_lengthscales`, such as that of a choice among numbers, are as
    uncertain but share nothing. Without a prior on length-scales there is none on the shift.

    Parameters
    ----------
    lengthscale, amplitude, noise_variance, shape
        Priors of each length-scale, in units of the cube's side, of the prior standard deviation s, of the variance of
        one observation's noise, and of other learned parameters, such as the a of `RationalQuadratic`.
    common_lengthscale, separate_lengthscales
        Standard deviation of the shared shift, >= 0, and indices of the length-scales without it.

    Examples
    --------
    >>> Priors.flat().amplitude is None
    True
    """

    lengthscale: LogNormal | None = field(default=LogNormal(-0.7, sqrt(3.0)))
    amplitude: LogNormal | None = field(default=LogNormal(0.0, 1.0))
    noise_variance: LogNormal | None = field(default=LogNormal(-4.0, 1.0))
    shape: LogNormal | None = field(default=LogNormal(0.0, 1.0))
    common_lengthscale: float = field(default=0.0, kw_only=True)
    separate_lengthscales: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        keep_plain(self)
        as_number(self.common_lengthscale, name="common_lengthscale", at_least=0.0)

    @classmethod
    def flat(cls) -> Priors:
        """No priors: the fit is maximum likelihood."""
        return cls(None, None, None, None)

    def parameters(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """Return prior means (p,) and precisions (p, p) of the logs of these `names`; rows of zeros where flat."""
        priors: list[LogNormal | None] = [getattr(self, role_of(name)) for name in names]
        means = np.array([0.0 if prior is None else prior.mean for prior in priors])
        precision = np.diag([0.0 if prior is None else prior.sd**-2 for prior in priors])
        if self.lengthscale is not None and self.common_lengthscale > 0:
            own, shared = self.lengthscale.sd**2, self.common_lengthscale**2
            apart = {f"lengthscale[{i}]" for i in self.separate_lengthscales}
            mine = np.array([role_of(name) == "lengthscale" and name not in apart for name in names], dtype=np.float64)
            alone = [i for i, name in enumerate(names) if name in apart]
            precision[alone, alone] = 1 / (own + shared)
            # (sd^2 I + c^2 1 1')^-1 = I / sd^2 - 1 1' c^2 / (sd^2 (sd^2 + k c^2)), k length-scales: Sherman-Morrison
            precision -= np.outer(mine, mine) * (shared / (own * (own + mine.sum() * shared)))
        return means, precision


@dataclass(frozen=True)
class Bounds:
    """The box (low, high) that each role is searched in. Amplitude and noise are in units of the sd of y.

    Parameters
    ----------
    lengthscale, amplitude, noise_variance, shape
        In units of the cube's side, of the standard deviation of y, of its square, and without unit.

    Examples
    --------
    >>> Bounds(lengthscale=(0.1, 1.0)).logs(("lengthscale", "amplitude")).round(2).tolist()
    [[-2.3, 0.0], [-4.61, 4.61]]
    """

    lengthscale: tuple[float, float] = (5e-3, 1e2)
    amplitude: tuple[float, float] = (1e-2, 1e2)
    noise_variance: tuple[float, float] = (1e-8, 1e2)
    shape: tuple[float, float] = (1e-2, 1e2)

    def __post_init__(self) -> None:
        for role in ("lengthscale", "amplitude", "noise_variance", "shape"):
            low, high = getattr(self, role)
            if not 0 < low < high < np.inf:
                raise InvalidInput(f"{role}: expected bounds 0 < low < high, got ({low!r}, {high!r})")

    def logs(self, names: tuple[str, ...]) -> Array:
        """Return log bounds of the hyper-parameters with these `names`, shape (p, 2)."""
        return np.array([[log(end) for end in getattr(self, role_of(name))] for name in names])


_TOLERANCE = 1e-5  # relative change of the objective; some 1e-3 nats, far below the uncertainty of the data
_MANY = 2_000_000  # n^2 D, twice the numbers in squared differences of all pairs: 8 MB
_LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Fit:
    """Learned hyper-parameters. Estimates: no certified bound may be built on them with the same data.

    Attributes
    ----------
    kernel, noise_variance, mean
        The kernel found, the noise variance of one observation and the constant prior mean, in the units of y.
    log_posterior, log_evidence
        At the maximum, on the standardised scale of y.
    parameters
        The logs that were searched, shape (p,): the kernel's, then the noise variance's where it was learned. A warm
        start for the next fit.
    evaluations, converged, message
        Evaluations of the log posterior, and whether the search has converged, also in its own words.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 12)[:, None]
    >>> fit = fit_map(Matern(2.5, 0.5), Observations.merge(x, np.sin(6 * x[:, 0])))
    >>> fit.converged, fit.evaluations < 100
    (True, True)
    """

    kernel: Kernel
    noise_variance: float
    mean: float
    log_posterior: float
    log_evidence: float
    parameters: Array
    evaluations: int
    converged: bool
    message: str

    __repr__ = printed

    def posterior(self, data: Observations) -> GaussianProcess:
        """Return a Gaussian process with these hyper-parameters that has observed the data."""
        gp = GaussianProcess(self.kernel, noise_variance=self.noise_variance, mean=self.mean)
        gp.add(data.x, data.y, data.noise_variance(self.noise_variance))
        return gp


class LogPosterior:
    """Log evidence plus log prior, as a function of the log hyper-parameters; samplers and optimisers call it.

    Parameters
    ----------
    kernel, data
        The form, whose hyper-parameters start a search, and merged observations.
    noise_variance
        None to learn it (the last parameter), or the known variance of unmerged observations. Where every observation
        came with a variance of its own there is nothing to learn.
    mean
        None to profile a constant mean out, or its known value.
    priors, standardise
        With `standardise`, y is shifted and scaled to sd 1 first; priors and parameters refer to that scale.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> data = Observations.merge([[0.1], [0.3], [0.6], [0.8]], [0.0, 0.8, 0.9, 0.2])
    >>> target = LogPosterior(Matern(2.5, 0.3), data)
    >>> value, gradient = target(target.start())
    >>> gradient.shape  # length-scale, amplitude, noise variance
    (3,)
    """

    def __init__(
        self,
        kernel: Kernel,
        data: Observations,
        *,
        noise_variance: float | None = None,
        mean: float | None = None,
        priors: Priors | None = None,
        standardise: bool = True,
    ) -> None:
        if len(data) == 0:
            raise InvalidInput("fit: expected at least one observation, got none")
        kernel.check_dimension(data.x.shape[1])
        if noise_variance is not None:
            noise_variance = as_number(noise_variance, name="noise_variance", at_least=0.0)
            if noise_variance == 0.0 and (data.count > 1).any():
                raise InvalidInput("noise_variance: expected > 0 for replicated measurements, got 0.0")
        elif not (data.count > 0).any():
            noise_variance = 0.0  # every variance is known: there is none to learn
        self.shift = float(np.mean(data.y)) if standardise and mean is None else 0.0
        self.scale = _spread(data.y) if standardise else 1.0
        self.kernel = kernel
        self.data = Observations(
            data.x,
            (data.y - self.shift) / self.scale,
            data.count,
            data.scatter / self.scale**2,
            data.known_variance / self.scale**2,
            data.noise_factor,
        )
        self.fixed_noise = None if noise_variance is None else noise_variance / self.scale**2
        self.fixed_mean = None if mean is None else (as_number(mean, name="mean") - self.shift) / self.scale
        self.names = (*kernel.hyperparameter_names, *(("noise_variance",) if noise_variance is None else ()))
        self.priors = Priors() if priors is None else priors
        self._prior_mean, self._prior_precision = self.priors.parameters(self.names)
        self._jitter = JitterPolicy()
        self._learned = len(kernel.hyperparameter_names)
        few = len(data) ** 2 * data.x.shape[1] <= _MANY
        self._uses_squares = few and isinstance(kernel, Stationary | Tied)
        self._right = np.stack([self.data.y, np.ones(len(data))], axis=1)  # right-hand sides for the mean
        self.evaluations = 0

    def start(self) -> Array:
        """Return the logs that the kernel brings, with a tenth of the variance as noise; shape (p,)."""
        logs = _rescale(self.kernel, 1 / self.scale).hyperparameters
        return logs if self.fixed_noise is not None else np.append(logs, np.log(0.1))

    def split(self, parameters: Array) -> tuple[Kernel, float]:
        """Return the kernel and the noise variance that `parameters` (p,) stand for, on the standardised scale."""
        return self.kernel.with_hyperparameters(parameters[: self._learned]), self._noise(parameters)

    def _noise(self, parameters: Array) -> float:
        return float(np.exp(parameters[self._learned])) if self.fixed_noise is None else self.fixed_noise

    def typical_noise(self, parameters: Array) -> float:
        """Return the noise variance of one more measurement: that in `parameters`, or the median of those told."""
        learned = (self.data.count > 0).any()
        return self._noise(parameters) if learned else float(np.median(self.data.known_variance))

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        """Return the log posterior density, up to the prior's constant, and its gradient, shape (p,)."""
        evidence, gradient, _ = self.evaluate(parameters)
        prior, prior_gradient = self.log_prior(parameters)
        return evidence + prior, gradient + prior_gradient

    def log_prior(self, parameters: Array) -> tuple[float, Array]:
        """Return the log prior density at `parameters` (p,), up to its constant, and its gradient."""
        off = parameters - self._prior_mean
        pull = self._prior_precision @ off
        return -0.5 * float(off @ pull), -pull

    def evaluate(self, parameters: Array) -> tuple[float, Array, float]:
        """Return the log evidence, its gradient in the parameters, and the mean used."""
        return self._evaluate(*self.split(parameters))

    def _evaluate_unchecked(self, parameters: Array) -> tuple[float, Array, float]:
        """Evaluate at parameters of a box that `_accepts`: the kernel is not checked again."""
        return self._evaluate(self.kernel._with_logs(parameters[: self._learned]), self._noise(parameters))

    def _accepts(self, box: Array) -> bool:
        """Whether kernels exist at both corners of a box of parameters (p, 2), and so everywhere between them."""
        try:
            for corner in box.T:
                self.split(corner)
        except InvalidInput:
            return False
        return True

    def _evaluate(self, kernel: Kernel, noise: float) -> tuple[float, Array, float]:
        self.evaluations += 1
        data = self.data
        variances = data.noise_variance(noise)
        if self._squares is not None:
            assert isinstance(kernel, Stationary | Tied)
            matrix, pull = kernel.upper_hyper_vjp(self._squares, len(data))
        else:
            matrix, pull = kernel.hyper_vjp(data.x)
        matrix.flat[:: len(data) + 1] += variances
        # .T is the order that LAPACK reads; its lower triangle is the matrix's upper one.
        factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            factor = self._with_jitter(kernel(data.x) + np.diag(variances))
        mean, weights = self._solve(factor)
        logdet = 2 * float(np.log(factor.diagonal()).sum())
        within, within_slope = data.within(noise)
        value = -0.5 * (float((data.y - mean) @ weights) + logdet + len(data) * _LOG_TWO_PI) + within
        # tr((A^-1 - a a^T) dA) / 2 needs one triangle, and that is all that LAPACK computes, in place of the factor.
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        sensitivity = blas.dsyr(-1.0, weights, lower=1, a=inverse, overwrite_a=1).T
        gradient = -0.5 * pull(sensitivity)
        if self.fixed_noise is None:
            own = np.where(data._is_unknown, noise / data._divisors, 0.0)
            slope = within_slope - 0.5 * float(sensitivity.diagonal() @ own)
            gradient = np.concatenate([gradient, [slope]])
        return value, gradient, mean

    @cached_property
    def _squares(self) -> Array | None:
        """Worked out once, where the kernel can use them and they are few enough to be faster than new ones."""
        return squared_differences(self.data.x) if self._uses_squares else None

    def _with_jitter(self, matrix: Array) -> Array:
        grown = GrowingCholesky(self._jitter)
        grown.append(np.zeros((0, len(matrix))), matrix)
        return np.array(grown.factor.T, order="F")

    def _solve(self, factor: Array) -> tuple[float, Array]:
        y = self.data.y
        if self.fixed_mean is not None:
            return self.fixed_mean, np.asarray(lapack.dpotrs(factor, y - self.fixed_mean, lower=1)[0])
        both, _ = lapack.dpotrs(factor, self._right, lower=1)
        mean = float(both[:, 0].sum() / both[:, 1].sum())
        return mean, both[:, 0] - mean * both[:, 1]


def fit_map(
    kernel: Kernel,
    data: Observations,
    *,
    noise_variance: float | None = None,
    mean: float | None = None,
    priors: Priors | None = None,
    bounds: Bounds | None = None,
    starts: Sequence[ArrayLike] = (),
    own_start: bool = True,
    restarts: int = 0,
    rng: np.random.Generator | None = None,
    standardise: bool = True,
) -> Fit:
    """Maximise log evidence plus log prior over the kernel's hyper-parameters and the noise.

    Parameters
    ----------
    kernel, data
        The form, and the first start; one length-scale an axis gives automatic relevance determination. And merged
        observations: `Observations.merge(X, y)`.
    noise_variance, mean
        None to learn them; numbers to keep them.
    priors, bounds
        On the standardised scale of y; `Priors.flat()` gives maximum likelihood.
    starts
        Further starts, each shape (p,), such as an earlier fit's `parameters`; the kernel's own comes last then.
    own_start
        Whether the kernel's own hyper-parameters are a start beside others; without others they are.
    restarts, rng
        Number of further starts drawn from the priors, and the generator that draws them.
    standardise
        Whether y is scaled to sd 1 (and shifted to mean 0, unless a mean is given) before priors apply.

    Returns
    -------
    Fit
        The best local maximum found. Never raises for want of convergence; it says so.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 12)[:, None]
    >>> fit = fit_map(Matern(2.5, 0.5), Observations.merge(x, np.sin(6 * x[:, 0])))
    >>> 0.1 < float(np.max(fit.kernel.lengthscales)) < 1.0, fit.noise_variance < 0.01
    (True, True)
    """
    from scipy.optimize import OptimizeResult, minimize

    objective = LogPosterior(
        kernel, data, noise_variance=noise_variance, mean=mean, priors=priors, standardise=standardise
    )
    box = (Bounds() if bounds is None else bounds).logs(objective.names)
    if restarts and rng is None:
        raise InvalidInput(f"rng: expected a generator to draw {restarts} restarts with, got None")
    points = [as_vector(start, length=len(objective.names), name="starts") for start in starts]
    if own_start or not (points or restarts):
        points.append(objective.start())
    for _ in range(restarts):
        assert rng is not None
        points.append(_draw(objective, box, rng))

    evaluate = objective._evaluate_unchecked if objective._accepts(box) else objective.evaluate
    seen: dict[bytes, _Seen] = {}

    # Value and slope come apart: where they come together, SciPy compares the parameters twice more.
    def height(parameters: Array) -> float:
        evidence, gradient, mean = evaluate(parameters)
        if isnan(evidence):
            objective.split(parameters)  # refused where the search asks for parameters that are not numbers
        prior, prior_gradient = objective.log_prior(parameters)
        seen[parameters.tobytes()] = _Seen(-gradient - prior_gradient, evidence, mean)
        return -evidence - prior

    def slope(parameters: Array) -> Array:  # always asked for after the height there
        return seen[parameters.tobytes()].slope

    pairs = [(low, high) for low, high in box.tolist()]

    def climb(point: Array) -> OptimizeResult:
        start = np.clip(point, box[:, 0], box[:, 1])
        return minimize(height, start, jac=slope, method="L-BFGS-B", bounds=pairs, options={"ftol": _TOLERANCE})

    best = min(map(climb, points), key=lambda result: float(result.fun))
    parameters = np.asarray(best.x, dtype=np.float64)
    found = seen[parameters.tobytes()]
    fitted, noise = objective.split(parameters)
    return Fit(
        kernel=_rescale(fitted, objective.scale),
        noise_variance=noise * objective.scale**2,
        mean=found.mean * objective.scale + objective.shift,
        log_posterior=-float(best.fun),
        log_evidence=found.evidence,
        parameters=parameters,
        evaluations=objective.evaluations,
        converged=bool(best.success),
        message=str(best.message),
    )


class _Seen(NamedTuple):
    """What a search found at some parameters: the slope (p,) of minus the log posterior, the log evidence, the mean."""

    slope: Array
    evidence: float
    mean: float


def _spread(y: Array) -> float:
    """Standard deviation of y without overflow; 1 for a constant, which has no scale of its own."""
    centre = float(np.mean(y))
    largest = float(np.abs(y - centre).max())
    if largest <= max(1e-12 * abs(centre), 1e-140):  # squares of a scale must be numbers
        return 1.0
    return largest * float(np.std((y - centre) / largest))


def _draw(objective: LogPosterior, box: Array, rng: np.random.Generator) -> Array:
    """A start from the priors; uniform in the log box where a prior is flat."""
    means, precision = objective.priors.parameters(objective.names)
    point = rng.uniform(box[:, 0], box[:, 1])
    proper = np.diagonal(precision) > 0
    if proper.any():  # with precision L L', means + L'^-1 z has it for normal z
        half = np.linalg.cholesky(precision[np.ix_(proper, proper)])
        point[proper] = means[proper] + np.linalg.solve(half.T, rng.standard_normal(int(proper.sum())))
    return point


def _rescale(kernel: Kernel, scale: float) -> Kernel:
    """Bring the kernel back to the units of y; in a product only one factor carries them."""
    match kernel:
        case Sum(left, right):
            return Sum(_rescale(left, scale), _rescale(right, scale))
        case Product(left, right):
            return Product(_rescale(left, scale), right)
        case OnAxes(inner, axes):
            return OnAxes(_rescale(inner, scale), axes)
    logs = kernel.hyperparameters.copy()
    logs[kernel.hyperparameter_names.index("amplitude")] += np.log(scale)
    return kernel.with_hyperparameters(logs)
