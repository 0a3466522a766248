"""Confidence bands around the Gaussian-process posterior, for all points and all times at once.

Notation: N observations y; mu_a = k^T (K + a I)^-1 y and sigma_a^2 = K(x,x) - k^T (K + a I)^-1 k, whatever a > 0 is
taken as the regulariser; sigma the noise. Replicates count one by one (merged, r of them are regularised by a / r).

[CG17]: Chowdhury and Gopalan, On kernelized multi-armed bandits, 2017, theorem 2. The paper's first concentration
lemma restates it with a misprint and without its regulariser.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, as_points
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.budget import as_probability
from quadrat.confidence.interval import Interval
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.kernels import Kernel

__all__ = [
    "LADDER",
    "AdaptiveBand",
    "Band",
    "ChowdhuryGopalanBand",
    "SearchBand",
    "SimpleBand",
    "contradiction",
    "default_regulariser",
]

LADDER = (1 / 16, 1 / 4, 1.0, 4.0, 16.0, 64.0)
"""Multiples of lambda at which the adaptive band is evaluated; their intersection is reported."""

_SLACK = 1e-9  # of the scale of what is compared: rounding must never reject what holds


class Band(Protocol):
    """What every band can do, and all that a certificate needs.

    A band is a function of what was added to it. Asking it for bounds changes nothing. A class that inherits from this
    one has `is_hallucinating` and `rejected_because` as they stand here.

    Attributes
    ----------
    assumptions
        What its bounds rest on.
    delta
        Probability with which the band may fail.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band: Band = AdaptiveBand(given, delta=0.05)
    >>> band.add([[0.2], [0.8]], [0.3, -0.1])
    >>> at = band.interval([[0.2]])
    >>> bool(at.lower[0] < 0.3 < at.upper[0]), band.rejection
    (True, None)
    """

    assumptions: Assumptions
    delta: float

    @abstractmethod
    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D)."""

    @abstractmethod
    def interval(self, X: ArrayLike) -> Interval:
        """Return bounds on f at the rows of X, shape (m, D)."""

    def compare(self, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
        """Return `interval(X)`, and upper bounds of f(x) - f(z) at the rows of X, shape (m,), z of shape (D,).

        They hold together with the intervals, at no further cost in delta, also for a z that the data chose. A band
        that knows nothing better subtracts the lower bound at z.
        """
        return compared_one_by_one(self, X, z)

    @property
    @abstractmethod
    def x(self) -> Array:
        """Distinct observed points, shape (n, D)."""

    @property
    @abstractmethod
    def rejection(self) -> str | None:
        """Why what was added rejects the assumptions, or None. `contradiction` adds what bounds at points show."""

    @property
    def is_hallucinating(self) -> bool:
        """Whether pending points count as observed just now; False for a band that never counts any."""
        return False

    def rejected_because(self, why: str, level: float | None = None) -> str | None:
        """Return the sentence that the data reject the assumptions; None for a band that rejects nothing.

        Parameters
        ----------
        why
            What contradicts them.
        level
            Probability of rejecting wrongly: the band's own delta, unless other bounds took part.
        """
        return rejection_at(self.delta if level is None else level, why)


class SearchBand(Band, Protocol):
    """A band that a search over cells can use: upper bounds that are quick, and points that are pending."""

    @abstractmethod
    def quick_upper(self, X: ArrayLike) -> Array:
        """Return an upper bound at the rows of X, shape (m,): valid, cheaper than `interval`, perhaps wider."""

    @abstractmethod
    def optimism(self, X: ArrayLike) -> Array:
        """Return `quick_upper` of X before it is clipped to B s: it tells points apart where all bounds are B s."""

    @abstractmethod
    def mean(self, X: ArrayLike) -> Array:
        """Return an estimate of f at the rows of X, shape (m,)."""

    @abstractmethod
    def pending(self, X: ArrayLike) -> AbstractContextManager[None]:
        """Within the block deviations count the rows of X as observed: good for choosing, not a bound on anything."""

    @abstractmethod
    def sharpened(self, X: ArrayLike, x: ArrayLike, z: ArrayLike) -> Array:
        """Return by how much an observation at each row of X would lower the variance of f(x) - f(z), shape (m,)."""

    @abstractmethod
    def prefer(self, X: ArrayLike) -> None:
        """Let `quick_upper` be sharp at the rows of X; called at times that what was added decides."""


def compared_one_by_one(band: Band, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
    """Return `interval(X)` of a band, and upper(x) - lower(z): what any band knows of f(x) - f(z)."""
    at = band.interval(X)
    return at, at.upper - float(band.interval(np.asarray(z, dtype=np.float64)[None]).lower[0])


def variance_taken(posterior: GaussianProcess, X: ArrayLike, x: ArrayLike, z: ArrayLike) -> Array:
    """Return (c(x', x) - c(x', z))^2 / (sigma(x')^2 + lambda) at the rows x' of X: what an observation there takes.

    c is the posterior covariance; pending points count as observed.
    """
    points = as_points(X, name="X")
    covariance = posterior.covariance(points, np.vstack([np.asarray(x), np.asarray(z)]))
    variance = posterior.predict(points).deviation ** 2
    return np.asarray((covariance[:, 0] - covariance[:, 1]) ** 2 / (variance + posterior.noise_variance))


def rejection_at(level: float, why: str) -> str:
    """Return the sentence that the data reject the assumptions."""
    return f"assumptions rejected by the data at level {level:g}: {why}"


def contradiction(band: Band, *, empty: bool) -> str | None:
    """Return why the data reject the assumptions, or None: what the band knows, else what its bounds at points show.

    Parameters
    ----------
    band
        Outside of any block of pending points, which reject nothing.
    empty
        Whether its bounds leave no value of f at some point (`Interval.is_empty`).

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band = AdaptiveBand(given, delta=0.05)
    >>> contradiction(band, empty=band.interval([[0.2]]).is_empty(given.ceiling)) is None
    True
    >>> contradiction(band, empty=True)
    'assumptions rejected by the data at level 0.05: no value of f is left at some point (norm at most 1)'
    """
    known = band.rejection
    if known is not None or not empty:
        return known
    return band.rejected_because(f"no value of f is left at some point (norm at most {band.assumptions.norm_bound:g})")


def default_regulariser(assumptions: Assumptions) -> float:
    """The adaptive band's lambda = max(16 sigma^2 / B^2, 1e-8 s^2): fixed before the data, as it must be."""
    return max(16 * (assumptions.noise / assumptions.norm_bound) ** 2, 1e-8 * assumptions.kernel.variance)


class Posteriors:
    """What bands around posteriors share: all of them count pending points as observed."""

    def __init__(self, assumptions: Assumptions, delta: float, posteriors: Sequence[GaussianProcess]) -> None:
        self.assumptions = assumptions
        self.delta = as_probability(delta)
        self._posteriors = posteriors
        self._hallucinated = 0

    @contextmanager
    def pending(self, X: ArrayLike) -> Iterator[None]:
        """Within the block deviations count the rows of X as observed: good for choosing, not a bound on anything."""
        with ExitStack() as stack:
            for posterior in self._posteriors:
                stack.enter_context(posterior.pending(X))
            self._hallucinated += 1
            try:
                yield
            finally:
                self._hallucinated -= 1

    @property
    def is_hallucinating(self) -> bool:
        """Whether pending points count as observed just now."""
        return self._hallucinated > 0


class OnePosterior(Posteriors):
    """What bands |f - mu| <= beta sigma share; their width does not depend on y, so that they reject nothing."""

    def __init__(self, assumptions: Assumptions, delta: float, regulariser: float) -> None:
        self.regulariser = as_number(regulariser, name="regulariser", at_least=1e-12 * assumptions.kernel.variance)
        self._gp = self._posterior(assumptions.kernel)
        self._ceiling = assumptions.ceiling  # |f| <= B s everywhere
        super().__init__(assumptions, delta, [self._gp])

    def _posterior(self, kernel: Kernel) -> GaussianProcess:
        return GaussianProcess(kernel, noise_variance=self.regulariser, jitter=False)

    @property
    @abstractmethod
    def beta(self) -> float:
        """The multiplier beta_N after the observations so far."""

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D)."""
        self._gp.add(X, y)

    @property
    def x(self) -> Array:
        """Distinct observed points, shape (n, D)."""
        return self._gp.x

    @property
    def rejection(self) -> str | None:
        """None: the width of this band does not depend on y, so nothing can contradict it."""
        return None

    def rejected_because(self, why: str, level: float | None = None) -> str | None:  # noqa: ARG002
        """Return None: whatever `why` is and at whatever `level`, this band is no judge of its assumptions."""
        return None

    def mean(self, X: ArrayLike) -> Array:
        """Return the posterior mean at the rows of X, shape (m,)."""
        return self._gp.predict_mean(X)

    def sharpened(self, X: ArrayLike, x: ArrayLike, z: ArrayLike) -> Array:
        """Return by how much an observation at each row of X would lower the variance of f(x) - f(z), shape (m,)."""
        return variance_taken(self._gp, X, x, z)

    def prefer(self, X: ArrayLike) -> None:
        """Nothing to choose at any X: this band has one regulariser."""

    def quick_upper(self, X: ArrayLike) -> Array:
        """Return the upper bound at the rows of X, shape (m,)."""
        return np.minimum(self.optimism(X), self._ceiling)

    def optimism(self, X: ArrayLike) -> Array:
        """Return the upper bound of X before it is clipped to B s: it tells points apart where all bounds are B s."""
        at = self._gp.predict(X)
        return at.mean + self.beta * at.deviation

    def interval(self, X: ArrayLike) -> Interval:
        """Return bounds on f at the rows of X, shape (m, D)."""
        at = self._gp.predict(X)
        reach = self.beta * at.deviation
        return Interval(np.maximum(at.mean - reach, -self._ceiling), np.minimum(at.mean + reach, self._ceiling))

    def compare(self, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
        """Return `interval(X)`, and upper(x) - lower(z) for every row x."""
        return compared_one_by_one(self, X, z)


class SimpleBand(OnePosterior):
    """|f - mu_N| <= beta_N sigma_N with beta_N^2 = B^2 + (sigma^2/lambda)(2 log(1/delta) + log det(I + K_N/lambda)).

    For a fixed g, exp((||y - f||^2 - ||y - g||^2) / 2 sigma^2) is a supermartingale. Mix over g from the Gaussian
    process with covariance (sigma^2/lambda) K, apply Ville's inequality, complete the square. No gamma_n is needed.
    It can never reject anything: its width does not depend on y.

    Parameters
    ----------
    assumptions
        Kernel, B and sigma.
    delta
        Probability with which the band may fail, in (0, 1).
    regulariser
        lambda > 0, fixed before the data; by default the customary sigma^2, at least 1e-8 s^2. (16 sigma^2/B^2 is
        usually narrower.)

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band = SimpleBand(given, delta=0.05)
    >>> band.add([[0.2], [0.8]], [0.3, -0.1])
    >>> round(band.beta, 2), band.interval([[0.2], [0.5]]).half_width.round(2).tolist()
    (4.33, [0.22, 1.0])
    """

    def __init__(self, assumptions: Assumptions, delta: float, *, regulariser: float | None = None) -> None:
        least = 1e-8 * assumptions.kernel.variance  # below it the factor would be made of rounding
        super().__init__(assumptions, delta, max(assumptions.noise**2, least) if regulariser is None else regulariser)

    @property
    def beta(self) -> float:
        """The multiplier beta_N after the observations so far."""
        sigma2 = self.assumptions.noise**2
        gained = 2 * np.log(1 / self.delta) + (self._gp.logdet if len(self._gp) else 0.0)
        return float(np.sqrt(self.assumptions.norm_bound**2 + sigma2 / self.regulariser * gained))


class AdaptiveBand(Posteriors):
    """The certified default: the intersection over a of bands whose width the data decide.

    The supermartingale of `SimpleBand` bounds ||y - f||^2 by

        R^2 = sigma^2 (2 log(1/delta) + log det(I + K/lambda)) + lambda y^T (K + lambda I)^-1 y,

    and ||f|| <= B. So for every a > 0 at once, chosen after the data,

        |f(x) - mu_a(x)| <= (sigma_a(x) / sqrt a) sqrt(R^2 + a B^2 - a y^T (K + a I)^-1 y).

    a runs over lambda * LADDER; the result is clipped to +- B s. A radicand below 0, or a lower bound above an
    upper one, has probability at most delta under the assumptions: it rejects them. `rejection` says so of a radicand,
    `contradiction` of both. That detects a norm bound too small for what the kernel sees. What no function of the ball
    explains would pass for noise; so a tenth of delta goes to a bound on the noise itself: E exp(eta^2 / 4 sigma^2) <=
    sqrt 2 for sigma-sub-Gaussian eta, hence by Ville's inequality ||y - f||^2 <= sigma^2 (4 log(10/delta) + 2 N log 2)
    at all times, while no f of the ball has less than max_a (a y^T (K + a I)^-1 y - a B^2). `band_delta` = .9 delta is
    left.

    Cost: six factors instead of one, each grown in O(n^2); a point costs six triangular solves and one column of
    the kernel matrix. (One eigendecomposition would serve all a and make points cheaper, but costs 9 n^3 whenever
    it is refreshed; growing wins for a bandit, which adds a point and evaluates few.)

    Parameters
    ----------
    assumptions, delta
        As of `SimpleBand`.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band = AdaptiveBand(given, delta=0.05)
    >>> band.add([[0.2], [0.8]], [0.3, -0.1])
    >>> band.interval([[0.2], [0.5]]).half_width.round(2).tolist(), band.rejection
    ([0.2, 0.53], None)
    >>> band.add([[0.2], [0.2001]], [3.0, -3.0])  # no f of norm 1 does that
    >>> band.rejection is None
    False
    """

    def __init__(self, assumptions: Assumptions, delta: float) -> None:
        self.regulariser = default_regulariser(assumptions)
        posteriors = [
            GaussianProcess(assumptions.kernel, noise_variance=multiple * self.regulariser, jitter=False)
            for multiple in LADDER
        ]
        super().__init__(assumptions, delta, posteriors)
        self.band_delta = 0.9 * self.delta
        self._base = posteriors[LADDER.index(1.0)]
        self._rejection: str | None = None
        self._preferred: tuple[int, ...] = (LADDER.index(4.0), LADDER.index(16.0))
        self._reach: Array = np.full(len(LADDER), assumptions.norm_bound)

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D): in all six posteriors, or in none."""
        saved = [posterior.save() for posterior in self._posteriors]
        try:
            for posterior in self._posteriors:
                posterior.add(X, y, like=self._posteriors[0])
        except BaseException:
            for posterior, state in zip(self._posteriors, saved, strict=True):
                posterior.restore(state)
            raise
        self._update()

    def _update(self) -> None:
        noise = self.assumptions.noise**2 * (2 * np.log(1 / self.band_delta) + self._base.logdet)
        self._update_within(noise + self.regulariser * self._base.quadratic_form)

    def _update_within(self, squared_radius: float) -> None:
        """Recompute sqrt(R^2/a + B^2 - y^T (K + a I)^-1 y) for every a, R^2 the squared radius."""
        given = self.assumptions
        quadratic = np.array([posterior.quadratic_form for posterior in self._posteriors])
        if not np.isfinite(quadratic).all():  # their squares overflow: no stated number comes near
            self._reject(
                f"the observations are further off than noise of {given.noise:g} and norm {given.norm_bound:g} can"
                " explain: their squares overflow"
            )
            return
        a = np.array([posterior.noise_variance for posterior in self._posteriors])
        squares = squared_radius / a + given.norm_bound**2 - quadratic
        scale = squared_radius / a + given.norm_bound**2 + quadratic
        if (squares < -_SLACK * scale).any():
            at = int(np.argmin(squares / scale))
            self._reject(
                f"no function of norm at most {given.norm_bound:g} comes close enough to the observations for noise of"
                f" {given.noise:g} (regulariser {a[at]:.3g}: {squares[at]:.3g} < 0)"
            )
        most = given.noise**2 * (4 * np.log(10 / self.delta) + 2 * np.log(2) * self._base.n_observations)
        least = float((a * quadratic - a * given.norm_bound**2).max())
        if least > most * (1 + _SLACK):
            self._reject(
                f"whatever f is, the residuals have a sum of squares of at least {least:.3g}, more than noise of"
                f" {given.noise:g} allows ({most:.3g}): the norm bound {given.norm_bound:g} or the noise is too small"
            )
        self._reach = np.sqrt(np.maximum(squares, 0.0))

    def _reject(self, why: str) -> None:
        """Record that what was added rejects the assumptions; the first reason stays."""
        if self._rejection is None:
            self._rejection = rejection_at(self.delta, why)

    def rejected_because(self, why: str, level: float | None = None) -> str | None:
        """Return the sentence that the data reject the assumptions: `why`, at the band's delta or another `level`."""
        return rejection_at(self.delta if level is None else level, why)

    @property
    def x(self) -> Array:
        """Distinct observed points, shape (n, D)."""
        return self._base.x

    @property
    def counts(self) -> Array:
        """How many observations stand behind each distinct point, shape (n,)."""
        return self._base.counts

    @property
    def rejection(self) -> str | None:
        """Why what was added rejects the assumptions, or None."""
        return self._rejection

    def sharpened(self, X: ArrayLike, x: ArrayLike, z: ArrayLike) -> Array:
        """Return by how much an observation at each row of X would lower the variance of f(x) - f(z), shape (m,)."""
        return variance_taken(self._posteriors[LADDER.index(4.0)], X, x, z)

    def prefer(self, X: ArrayLike) -> None:
        """Let `quick_upper` use the two regularisers that bound f lowest at the rows of X."""
        cross = self._base.cross(X)
        uppers = []
        for posterior, reach in zip(self._posteriors, self._reach, strict=True):
            prediction = posterior.predict_from_cross(cross)
            uppers.append(float((prediction.mean + reach * prediction.deviation).mean()))
        self._preferred = tuple(sorted(np.argsort(uppers, kind="stable")[:2].tolist()))

    def quick_upper(self, X: ArrayLike) -> Array:
        """Return an upper bound at the rows of X, shape (m,), from two of the six regularisers: valid, and cheaper."""
        return np.minimum(self.optimism(X), self.assumptions.ceiling)

    def optimism(self, X: ArrayLike) -> Array:
        """Return `quick_upper` of X before it is clipped to B s: it tells points apart where all bounds are B s."""
        cross = self._base.cross(X)
        upper = np.full(len(cross), np.inf)
        for rung in self._preferred:
            prediction = self._posteriors[rung].predict_from_cross(cross)
            np.minimum(upper, prediction.mean + self._reach[rung] * prediction.deviation, out=upper)
        return upper

    def mean(self, X: ArrayLike) -> Array:
        """Return the posterior mean at lambda at the rows of X, shape (m,): an estimate, usually near the middle."""
        return self._base.predict_mean(X)

    def interval(self, X: ArrayLike) -> Interval:
        """Return the intersection at the rows of X; where it is empty the data reject the assumptions."""
        cross = self._base.cross(X)
        lower = np.full(len(cross), -np.inf)
        upper = np.full(len(cross), np.inf)
        for posterior, reach in zip(self._posteriors, self._reach, strict=True):
            prediction = posterior.predict_from_cross(cross)
            half = reach * prediction.deviation
            np.maximum(lower, prediction.mean - half, out=lower)
            np.minimum(upper, prediction.mean + half, out=upper)
        ceiling = self.assumptions.ceiling  # |f| <= B s everywhere
        return Interval(np.maximum(lower, -ceiling), np.minimum(upper, ceiling))

    def compare(self, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
        """Return `interval(X)`, and upper bounds of f(x) - f(z) at the rows of X, shape (m,), z of shape (D,).

        f(x) - f(z) is a linear functional of f, as f(x) is, and the set of functions behind the band is the same. So
        for every a

            f(x) - f(z) <= mu_a(x) - mu_a(z) + (sigma_a(x, z) / sqrt a) sqrt(R^2 + a B^2 - a y^T (K + a I)^-1 y),
            sigma_a(x, z)^2 = K(x,x) + K(z,z) - 2 K(x,z) - |U^-T (k_x - k_z)|^2,   U^T U = K + a I.

        The smallest of these, of upper(x) - lower(z) and of the modulus of x - z. It is 0 at x = z: it never rejects.
        """
        points = as_points(X, name="X")
        cross, at = self._base.cross(points), self._base.cross(np.asarray(z, dtype=np.float64)[None])
        offsets = np.abs(points - np.asarray(z))
        prior = self.assumptions.kernel.squared_modulus(offsets)
        ceiling = self.assumptions.ceiling
        lower, upper = np.full(len(points), -ceiling), np.full(len(points), ceiling)
        apart = self.assumptions.variation(offsets)
        of_z = -ceiling
        for posterior, reach in zip(self._posteriors, self._reach, strict=True):
            here, pair = posterior.predict_differences(cross, at, prior)
            low, high = here.mean - reach * here.deviation, here.mean + reach * here.deviation
            np.maximum(lower, low[:-1], out=lower)
            np.minimum(upper, high[:-1], out=upper)
            np.minimum(apart, pair.mean + reach * pair.deviation, out=apart)
            of_z = max(of_z, float(low[-1]))
        return Interval(lower, upper), np.minimum(apart, upper - of_z)


class ChowdhuryGopalanBand(OnePosterior):
    """|f - mu_t| <= beta_t sigma_t with beta_t = B + sigma sqrt(2 (gamma_t + 1 + log(1/delta))) [CG17].

    Theirs holds for K(x, x) <= 1 and lambda = 1 + 2/n. gamma_t is what the points observed so far have gained
    (log det(I + K_t/lambda)/2), which their proof allows and which is never more than the maximum information gain,
    unless a number is given. With another regulariser, as is customary, nothing is left of the guarantee:
    `holds` is False. With lambda = sigma^2 it fails in most runs (docs/errata.md).

    Parameters
    ----------
    assumptions
        Kernel with K(x, x) <= 1, B and sigma.
    delta
        Probability with which the band may fail, in (0, 1); the paper spends a third of its delta here.
    budget
        n, the number of observations planned; more void the guarantee.
    information_gain
        gamma_n as a number, to have the multiplier as printed.
    regulariser
        Anything but 1 + 2/n is for showing what goes wrong.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band = ChowdhuryGopalanBand(given, delta=0.05, budget=50)
    >>> band.add([[0.2], [0.8]], [0.3, -0.1])
    >>> round(band.beta, 2), band.holds
    (1.15, True)
    """

    def __init__(
        self,
        assumptions: Assumptions,
        delta: float,
        *,
        budget: int,
        information_gain: float | None = None,
        regulariser: float | None = None,
    ) -> None:
        if assumptions.kernel.variance > 1 + 1e-12:
            raise InvalidInput(
                f"kernel: expected K(x, x) <= 1, which this band needs, got {assumptions.kernel.variance:g};"
                " scale f, or use AdaptiveBand"
            )
        if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
            raise InvalidInput(f"budget: expected a number of observations >= 1, got {budget!r}")
        self.budget = int(budget)
        if information_gain is not None:
            information_gain = as_number(information_gain, name="information_gain", at_least=0.0)
        self.information_gain = information_gain
        super().__init__(assumptions, delta, 1 + 2 / self.budget if regulariser is None else regulariser)
        self._ceiling = float("inf")  # [CG17] does not clip

    @property
    def holds(self) -> bool:
        """Whether the conditions of the theorem are met."""
        return self.regulariser == 1 + 2 / self.budget and self._gp.n_observations <= self.budget

    @property
    def beta(self) -> float:
        """The multiplier beta_t after the observations so far."""
        gained = 0.5 * self._gp.logdet if len(self._gp) else 0.0
        gamma = gained if self.information_gain is None else self.information_gain
        given = self.assumptions
        return given.norm_bound + given.noise * float(np.sqrt(2 * (gamma + 1 + np.log(1 / self.delta))))
