"""What the default method learns: the posterior of f and of the hyper-parameters, from everything told.

Model: values standardised to mean 0 and sd 1, and a Gaussian process whose smoothness (Matérn with nu = 1/2, 3/2, 5/2,
or the squared exponential), length-scales, amplitude, mean and noise are unknown: `quadrat.gp.hyper_posterior` has
their priors, and draws samples of their posterior. Whatever is computed is averaged over the samples.

The search learns samples at scheduled numbers of trials, from the trials told until then; statements are learned from
all trials, whenever somebody asks. Either is a function of what was told, in the order of telling, and of the seed.

References
----------
[MD19]  Miller and Dunson (2019). Robust Bayesian inference via coarsening. JASA 114.
[V24]   Vehtari, Simpson, Gelman, Yao and Gabry (2024). Pareto smoothed importance sampling. JMLR 25.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, Bools, Growing
from quadrat._core.nearest import nearest
from quadrat.gp import HyperPosterior, HyperPriors, HyperSamples, Observations, Outliers, find_outliers
from quadrat.gp.ensemble import Ensemble
from quadrat.gp.observations import group_rows
from quadrat.gp.uneven_noise import UnevenNoise, find_uneven_noise
from quadrat.kernels import Matern, SquaredExponential
from quadrat.kernels.stationary import Stationary
from quadrat.methods.auto.output_transform import OutputTransform, Winsorization
from quadrat.methods.base import Domain, Observation
from quadrat.methods.dataset import Dataset
from quadrat.randomness import generator

__all__ = [
    "Averages",
    "Fitted",
    "HyperFit",
    "LearnedModel",
    "averages",
    "last_due",
]

WIDEST = 0.1  # of the cube's side: the cells of the first grid
LEVELS = 6  # grids, each half as wide as the one before; on the last nothing is divided any more
_SLACK = 2.0  # standard deviations


@dataclass(frozen=True)
class Averages:
    """Mean points (m, D) and mean values (m,) of cells, with the variances (m,) of these means."""

    points: Array
    values: Array
    variances: Array


def averages(points: Array, values: Array, variances: Array, centre: Array, smooth: Bools) -> Averages:
    """Return trials as averages over cells in which their values differ by noise alone.

    Parameters
    ----------
    points
        Where they were, shape (n, D).
    values
        What was observed, shape (n,).
    variances
        Of the noise in these, shape (n,), all > 0.
    centre
        Of the cell in the middle of the grids, shape (D,).
    smooth
        Along which axes f may vary little between neighbours, shape (D,); along others trials of one cell are equal.

    Examples
    --------
    >>> x = np.array([[0.5], [0.51], [0.52], [0.9]])
    >>> found = averages(x, np.array([1.0, 1.1, 0.9, 3.0]), np.full(4, 0.01), np.array([0.5]), np.array([True]))
    >>> found.points.ravel().round(3).tolist(), found.values.round(3).tolist()
    ([0.51, 0.9], [1.0, 3.0])
    """
    parts: list[tuple[Array, Array, Array]] = []
    left, weights = np.arange(len(points)), 1 / variances
    for level in range(LEVELS):
        x, y, w = points[left], values[left], weights[left]
        cells = np.where(smooth, np.floor((x - centre) / (WIDEST / 2**level) + 0.5), x)
        homes = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
        count, weight = np.bincount(homes), np.bincount(homes, w)
        mean = np.bincount(homes, w * y) / weight
        spread = np.bincount(homes, w * (y - mean[homes]) ** 2)
        alike = spread <= (count - 1) + _SLACK * np.sqrt(2 * (count - 1))
        if level == LEVELS - 1:
            alike[:] = True
        places = np.stack([np.bincount(homes, w * column) for column in x.T], axis=1) / weight[:, None]
        parts.append((places[alike], mean[alike], 1 / weight[alike]))
        left = left[~alike[homes]]
        if not len(left):
            break
    return Averages(*(np.concatenate(each) for each in zip(*parts, strict=True)))


SAMPLES = 12  # of the hyper-parameters, that the search averages over
STATED = 32  # that statements average over: quantiles need more than expected improvements
OF_LEFT_OUT = 64  # for leaving observations out
OF_CONSTRAINTS = 4  # of those of a constraint, whose border is a matter of means
KERNELS: tuple[Stationary, ...] = (Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 1.0), SquaredExponential(1.0))
USUAL = KERNELS[2:3]  # for models near a place, which are learned often
COARSENED = 20.0  # over D: values worth as much as infinitely many, for hyper-parameters: see `LearnedModel.stated`
WARP_FROM = 10.0  # log evidence gained by compressing low values: less is what any curved function gives
WARP_VALUES = 8  # values without which nothing is compressed
EXACT = 2  # repeated measurements, all equal to the first at their point, that say that there is no noise
DIFFERING = 0.75  # of the points, at least so many have a value of their own: results of few kinds repeat by chance
CONTINUOUS = 0.5  # of the values, at least so many differ: of few kinds, such as pass and fail, none is an exception
OF_ABSURD = 1.0  # variance that an absurdly low value has in addition, in that of all values: it says no more than low
CONFIRMED = 3  # measurements of a point that are all far above what the others say, and so a peak
LARGEST = 256  # trials that a model of all of them is learned from; beyond, models are of those near a place
_LEAST_NOISE = 1e-6  # of the standard deviation of all values: less is as good as none
_DRAWS, _STATED_DRAWS = 11, 18  # name the streams


def last_due(trials: int, first: int) -> int:
    """Return the number of trials, at most `trials`, at which hyper-parameters were last due to be learned.

    Before the first time it is `trials`. From then on every trial up to 16, every second up to 32, every fourth up to
    64, and so on: at most 16 times for every doubling.

    Examples
    --------
    >>> [last_due(trials, 5) for trials in (3, 5, 17, 51, 100)]
    [3, 5, 16, 48, 96]
    """
    step = 1 << max(trials.bit_length() - 4, 0)
    return max(trials - trials % step, min(first, trials))


@dataclass(frozen=True)
class HyperFit:
    """What was learned: samples of the hyper-parameters, and the units that they are in.

    Attributes
    ----------
    trials
        How many trials it was learned from, the first ones.
    transform
        From told values to those of the model.
    kernels, samples
        As of a `HyperPosterior`.
    outliers
        Observations that have more variance than the others, by their numbers among all; None where there are none.
    uneven
        How the variance of the noise changes with the features of the domain; None where it is the same everywhere.
    """

    trials: int
    transform: OutputTransform
    kernels: tuple[Stationary, ...]
    samples: HyperSamples
    outliers: Outliers | None = None
    uneven: UnevenNoise | None = None


@dataclass(frozen=True)
class Fitted:
    """The posterior of f: an ensemble over samples of the hyper-parameters, and the units that it is in.

    Attributes
    ----------
    fit
        What was learned of the hyper-parameters, perhaps from fewer trials.
    trials
        How many trials the posterior has seen, the first ones.
    data, ensemble
        Their observations in the units of the model, over the features of the domain, and the posteriors of f.
    log_weights
        How likely the values told since the fit are under each member of the ensemble, in logs, shape (M,).
    transform
        From told values to those of the model.
    stated_variance
        The median of those that are stated of one result; 0 where none is.
    """

    fit: HyperFit
    trials: int
    data: Observations
    ensemble: Ensemble
    log_weights: Array
    transform: OutputTransform
    stated_variance: float = 0.0

    @property
    def noise_variances(self) -> Array:
        """Variance of one more measurement under each sample, shape (M,): the typical one where all are stated.

        Where noise is uneven, that at the mean of all measurements.
        """
        if (self.data.count > 0).any():
            return self.ensemble.noise_variance
        return np.full(len(self.ensemble), self.stated_variance)

    @property
    def is_exact(self) -> bool:
        """Whether nothing that was told has noise: f is known where it was evaluated."""
        return not (self.data.count > 0).any() and not self.data.known_variance.any()

    @property
    def noise(self) -> float:
        """Standard deviation of one measurement, the root mean square over samples, in the units told."""
        return float(np.sqrt(np.mean(self.noise_variances))) * self.transform.above

    def noise_variances_at(self, features: Array) -> Array:
        """Variance of one more measurement at each of the rows (m, F) under each sample, shape (M, m)."""
        variances, uneven = self.noise_variances[:, None], self.fit.uneven
        return variances * (np.ones(len(features)) if uneven is None else uneven.factor(features))

    def noise_at(self, features: Array) -> float:
        """Standard deviation of one measurement at the only row of `features`, (1, F), in the units told."""
        return float(np.sqrt(np.mean(self.noise_variances_at(features)[:, 0]))) * self.transform.above

    def explain(self) -> dict[str, object]:
        """Return what was learned of the hyper-parameters, as plain data, in the units of the model."""
        samples = self.fit.samples
        return {
            "learned from": self.fit.trials,
            "chances of smoothness": {
                _nu(kernel): float(chance)
                for kernel, chance in zip(self.fit.kernels, samples.probabilities, strict=True)
            },
            "samples": [
                {"smoothness": _nu(self.fit.kernels[kernel]), "lengthscales": scales, "variance": s2, "noise": noise}
                for kernel, scales, s2, noise in zip(
                    samples.kernel.tolist(),
                    samples.lengthscales.tolist(),
                    samples.variance.tolist(),
                    samples.noise_variance.tolist(),
                    strict=True,
                )
            ],
        }

    @property
    def is_outdated(self) -> bool:
        """Whether the values told since the fit leave fewer than half of its samples [V24, effective sample size].

        Or have noise to be learned, where those before had none.
        """
        if (self.data.count > 0).any() and not self.ensemble.noise_variance.any():
            return True
        weights = np.exp(self.log_weights - self.log_weights.max())
        return bool(weights.sum() ** 2 < 0.5 * len(weights) * (weights**2).sum())


def is_exact(domain: Domain, x: Array, y: Array) -> bool:
    """Whether measurements y (n,) at places x (n, D) say that the objective has no noise.

    There are `EXACT` repeats at least, all equal to the first at their point; different points have values of their
    own; and a repeated point has the choices and the parameters of the best one. Some branches always give the same,
    such as a baseline without parameters, and say nothing of the noise of the others.
    """
    first, group = group_rows(domain.features(x))  # a mean of equal values is only nearly that value
    if len(y) - len(first) < EXACT or (y != y[first][group]).any() or len(np.unique(y)) < DIFFERING * len(first):
        return False
    kinds = np.asarray(x[:, ~domain.smooth] + 0.0)
    if domain.exists is not None:
        kinds = np.hstack([kinds, domain.exists(x)])
    repeated = np.bincount(group)[group] > 1
    return bool((kinds[repeated] == kinds[int(np.argmax(y))]).all(axis=1).any())


def _apart(x: Array, y: Array, extra: Array) -> Observations:
    """Return measurements, each of them a row of its own, with so much extra variance, (N,)."""
    return Observations(x, y, np.ones(len(y)), np.zeros(len(y)), extra)


def _nu(kernel: Stationary) -> float:
    return kernel.nu if isinstance(kernel, Matern) else inf


class LearnedModel:
    """Told trials go in, posteriors of f come out, in standardised units and over features of the domain.

    What comes out is a function of the trials, in the order of telling, and of the seed: not of what was asked before.

    Parameters
    ----------
    domain
        Of the search.
    seed
        Names the streams.
    first
        Trials from which on hyper-parameters are learned at scheduled numbers of trials; before, from all there are.
    samples
        Of the hyper-parameters, that the search averages over.
    warps
        Whether low values may be compressed.
    noise
        Standard deviation of one measurement where none is stated with it, in the units told; None learns it.
    """

    winsorizes: ClassVar[bool] = True  # whether values absurdly far from all others are seen nearer
    finds_outliers: ClassVar[bool] = True  # whether observations may have more variance than the others
    finds_uneven_noise: ClassVar[bool] = True  # whether the variance of the noise may change from place to place

    def __init__(
        self,
        domain: Domain,
        seed: int,
        first: int,
        samples: int = SAMPLES,
        *,
        warps: bool = True,
        noise: float | None = None,
    ) -> None:
        self.domain, self.seed, self.first, self.samples = domain, seed, first, samples
        self.warps, self.noise = warps, noise
        self.trials = 0
        self.kernels = KERNELS
        self.data = Dataset(domain.dimension)
        # Of each trial: replicates are one point to the model, and cost it no more than one value.
        self._at = Growing(np.float64, (domain.dimension,))
        self._mean, self._count = Growing(np.float64), Growing(np.intp)
        self._is_local = False  # of some trials near a place: what is learned is learned from all of these
        self._numbers = Growing(np.intp)  # as they were told; of a model of all trials
        self._outer: OutputTransform | None = (
            None  # in which the values here are told, where they are not as told to us
        )
        self._taken: HyperFit | None = None  # learned by another model
        self._current: Fitted | None = None
        self._stated: Fitted | None = None

    def tell(self, observations: Sequence[Observation]) -> None:
        """Take in trials; whatever is learned from them is learned when it is asked for."""
        if not observations:
            return
        values = [
            one.values if one.variance is None else np.array([float(np.mean(one.values))]) for one in observations
        ]
        counts = np.array([len(some) for some in values])
        points = np.array([one.x for one in observations])
        usual = np.nan if self.noise is None else self.noise**2
        variances = np.array([usual if one.variance is None else one.variance for one in observations])
        together = np.concatenate(values)
        self.data.extend(np.repeat(points, counts, axis=0), together, np.repeat(variances, counts))
        self._at.extend(points)
        self._mean.extend(together if len(together) == len(observations) else [float(np.mean(some)) for some in values])
        self._count.extend(counts)
        self._numbers.extend([one.number for one in observations])
        self.trials += len(observations)
        self._stated = None

    @property
    def is_of_all(self) -> bool:
        """Whether there are so few trials that one model sees all of them."""
        return len(self._at) <= LARGEST

    def near(
        self,
        centre: Array,
        sides: Array,
        count: int,
        *,
        box: bool = False,
        first: int | None = None,
        samples: int | None = None,
    ) -> LearnedModel:
        """Return a model of the trials nearest to a place.

        Parameters
        ----------
        centre, sides
            The place, shape (D,), and what counts as one step along each axis, shape (D,).
        count
            How many.
        box
            Whether those of the box that reaches from the centre as far as `sides` come before all others.
        first
            Among the first so many trials; None is all.
        samples
            As of this class; None is as many as here.
        """
        chosen = nearest(self.places[:first], centre, sides, count, box=box)
        is_chosen = np.zeros(len(self._at), dtype=np.bool_)
        is_chosen[chosen] = True
        rows = np.flatnonzero(np.repeat(is_chosen, self._count.view))
        other = self._like(samples)
        if first is not None:
            other.trials = first  # names the draws: those of then, however many were told since
        other.data = self.data.part(rows)
        other._at, other._mean = Growing.of(self.places[chosen]), Growing.of(self._mean.view[chosen])
        other._count = Growing.of(self._count.view[chosen])
        return other

    def _like(self, samples: int | None = None) -> LearnedModel:
        """Return a model of the same kind for some of these trials, which has none of them yet."""
        other = type(self)(self.domain, self.seed, self.first, samples or self.samples, warps=False, noise=self.noise)
        other.trials, other._is_local = self.trials, True
        if other.samples < SAMPLES:  # learned often, and for a choice alone
            other.kernels = USUAL
        return other

    def take_over(self, other: LearnedModel) -> None:
        """Use what another model, of other observations, learns; if it has the same kind of noise to learn."""
        if self._learns_noise == other._learns_noise:
            self._taken, self._current = other.current().fit, None

    def averaged(self, centre: Array, sides: Array, count: int, noise: float) -> LearnedModel:
        """Return a model of averages of trials around a place: see `averages`.

        Parameters
        ----------
        centre, sides
            The place, shape (D,), and what counts as one step along each axis, shape (D,).
        count
            How many averages.
        noise
            Standard deviation of one observation, where that was not told.
        """
        transform = OutputTransform.of(self.means)  # so that squares neither overflow nor vanish
        first = np.cumsum(self._count.view) - self._count.view  # rows; a stated variance is that of the only row
        stated = transform.variance(self.data.variance[first], self.means)
        least = max(noise / transform.scale, _LEAST_NOISE)
        variances = np.where(np.isnan(stated), least**2 / self._count.view, np.maximum(stated, _LEAST_NOISE**2))
        found = averages(self.places, transform.apply(self.means), variances, centre, self.domain.smooth)
        chosen = nearest(found.points, centre, sides, count)
        other = self._like()
        other.data = Dataset.of(found.points[chosen], found.values[chosen], found.variances[chosen])
        other._at, other._mean = Growing.of(other.data.x), Growing.of(other.data.y)
        other._count = Growing.of(np.ones(len(chosen), dtype=np.intp))
        other._outer = transform
        return other

    @property
    def places(self) -> Array:
        """The point of each trial, shape (n, D)."""
        return self._at.view

    @property
    def means(self) -> Array:
        """The mean of what was observed in each trial, shape (n,)."""
        return self._mean.view

    @property
    def x(self) -> Array:
        """Points of all observations, repeats included, shape (N, D)."""
        return self.data.x

    @property
    def y(self) -> Array:
        """All observations, shape (N,)."""
        return self._values(len(self.data))

    def differing(self) -> tuple[float, float] | None:
        """Return two different values that were told of one point; None where there are none."""
        first, group = group_rows(self.domain.features(self.x))
        other = np.flatnonzero(self.y != self.y[first][group])
        return (float(self.y[first[group[other[0]]]]), float(self.y[other[0]])) if len(other) else None

    def observed_at(self, points: Array) -> Array:
        """Return the mean of what was told at each of these evaluated points, (m, D), shape (m,)."""
        _, group = group_rows(self.domain.features(np.vstack([self.x, points])) + 0.0)
        here, count = group[: len(self.x)], int(group.max()) + 1
        unit = np.ldexp(1.0, np.frexp(np.abs(self.y).max())[1] - 1)  # so that no sum overflows
        mean = unit * (np.bincount(here, self.y / unit, count) / np.bincount(here, minlength=count))
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(low, here, self.y)
        np.maximum.at(high, here, self.y)
        return np.asarray(np.clip(mean, low, high)[group[len(self.x) :]])  # the mean of equal values is theirs

    def _values(self, count: int) -> Array:
        """Return the first `count` observations as the model is to see them, which does not depend on later ones."""
        return self.data.y[:count]

    @property
    def _learns_noise(self) -> bool:
        return bool(np.isnan(self.data.variance).any())

    @property
    def has_stated_noise(self) -> bool:
        """Whether a variance above 0 was told with some observation."""
        return bool((self.data.variance > 0).any())

    def current(self) -> Fitted:
        """Return the posterior of f that the search uses, which has seen all trials.

        Its hyper-parameters were learned when that was last due, and learned again as soon as the values told since
        disagreed with most of their samples.
        """
        if self._is_local:
            if self._current is None:
                fit = self._taken or self._learn(len(self._at), self.samples, _DRAWS)
                self._current = self._conditioned(fit, len(self._at))
            return self._current
        due, at = last_due(self.trials, self.first), self._current
        if at is None or at.fit.trials < due or at.trials > self.trials:
            at = self._conditioned(self._learn(due, self.samples, _DRAWS), due)
        while at.trials < self.trials:
            seen = at.trials + 1
            after = self._conditioned(at.fit, seen, at.log_weights + self._log_densities(at))
            at = self._conditioned(self._learn(seen, self.samples, _DRAWS), seen) if after.is_outdated else after
        self._current = at
        return at

    def stated(self) -> Fitted:
        """Return the posterior of f that statements rest on: with more samples, learned from all trials.

        No function is a draw of the model, and hyper-parameters that describe it well in one region do not in another.
        The likelihood that says so is only as sure as that, however many values there are: with N of them it counts to
        the power a / (a + N), a = `COARSENED` / D: the coarsened posterior [MD19]. The more axes there are, the less of
        the space the values have visited, and the less they say of what is elsewhere. The noise is the same wherever
        it was met, so that all values count for it in full: see `HyperPosterior`. f is conditioned on all values.
        """
        if self._stated is None:
            everything = len(self._at)
            fit = self._learn(everything, STATED, _STATED_DRAWS, coarsened=True)
            self._stated = self._conditioned(fit, everything)
        return self._stated

    def left_out(self) -> tuple[Fitted, list[list[int]], Array]:
        """Return a posterior for leaving observations out, and of what each of its observations is the mean.

        It has so many samples that their weights have a tail to smooth [V24]. Of what: the trials, and the mean of
        their values as they were told, shape (n,).
        """
        fitted = self._conditioned(self._learn(len(self._at), OF_LEFT_OUT, _STATED_DRAWS), len(self._at))
        seen, variance = self._seen(fitted.fit.transform, len(self.data))
        x, data = self.domain.features(self.x) + 0.0, fitted.data
        is_apart = (data.count > 0) & (data.known_variance > 0)
        homes: dict[tuple[object, ...], list[int]] = {}
        for i, key in enumerate(zip(data.x + 0.0, data.count > 0, is_apart, data.y.tolist(), strict=True)):
            at, learned, own, value = key
            homes.setdefault((at.tobytes(), learned, value if own else None), []).append(i)
        rows = set() if fitted.fit.outliers is None else set(fitted.fit.outliers.rows.tolist())
        exact = not (data.count > 0).any()
        found: list[list[int]] = [[] for _ in range(len(data))]
        values: list[list[float]] = [[] for _ in range(len(data))]
        numbers = np.repeat(self._numbers.view, self._count.view).tolist()
        for row, number in enumerate(numbers):
            learned = bool(np.isnan(variance[row])) and not exact
            same = homes[x[row].tobytes(), learned, float(seen[row]) if row in rows else None]
            home = same.pop(0) if len(same) > 1 else same[0]  # outliers that are equal stay apart
            values[home].append(float(self.y[row]))
            if number not in found[home][-1:]:
                found[home].append(number)
        return fitted, found, np.array([sum(value / len(some) for value in some) for some in values])

    def _log_densities(self, at: Fitted) -> Array:
        """Return the log density of the mean of the next trial's values under each member, shape (M,)."""
        trial = at.trials
        rows = slice(int(self._count.view[:trial].sum()), int(self._count.view[: trial + 1].sum()))
        seen = self._seen(at.fit.transform, rows.stop)
        value, stated = float(np.mean(seen[0][rows])), seen[1][rows.start]
        features = self.domain.features(self.x[rows.start : rows.start + 1])
        here = at.ensemble.predict(features)
        noise = at.ensemble.noise_variance / (rows.stop - rows.start) if np.isnan(stated) else stated
        if np.isnan(stated) and at.fit.uneven is not None:
            noise = noise * at.fit.uneven.factor(features)
        variance = here.deviation[:, 0] ** 2 + noise
        return np.asarray(-0.5 * (np.log(variance) + (value - here.mean[:, 0]) ** 2 / variance))

    def _seen(self, transform: OutputTransform, count: int) -> tuple[Array, Array]:
        """Return the first `count` values, (N,), and their variances, NaN where unknown, (N,), in the model's units."""
        values = self._values(count)
        return transform.apply(values), transform.variance(self.data.variance[:count], values)

    def _conditioned(self, fit: HyperFit, trials: int, log_weights: Array | None = None) -> Fitted:
        """Return the posteriors of f under these samples, from the first `trials` of the trials here."""
        data = self._merged(fit.transform, int(self._count.view[:trials].sum()), fit.outliers, fit.uneven)
        ensemble = Ensemble.of_samples(data, fit.kernels, fit.samples, self.domain.groups)
        weights = np.zeros(len(ensemble)) if log_weights is None else log_weights
        transform = fit.transform if self._outer is None else fit.transform.within(self._outer)
        variances = self._seen(fit.transform, int(self._count.view[:trials].sum()))[1]
        stated = variances[~np.isnan(variances)]
        return Fitted(fit, trials, data, ensemble, weights, transform, float(np.median(stated)) if len(stated) else 0.0)

    def _merged(
        self,
        transform: OutputTransform,
        count: int,
        outliers: Outliers | None = None,
        uneven: UnevenNoise | None = None,
    ) -> Observations:
        """Return the first `count` observations in the model's units, repeats as one but for outliers."""
        data = self._merged_evenly(transform, count, outliers)
        return data if uneven is None else uneven.applied(data)

    def _merged_evenly(self, transform: OutputTransform, count: int, outliers: Outliers | None) -> Observations:
        """Return them with noise that is the same everywhere."""
        y, variance = self._seen(transform, count)
        x = self.domain.features(self.x[:count])
        unknown = np.isnan(variance)
        if unknown.all():
            extra = self._extra_of_absurd(transform, count)
            if outliers is not None:
                extra[outliers.rows] = outliers.extra_variance
            if extra.any():
                return _apart(x, y, extra).merged()
        if unknown.any():
            data = Observations.merge(x[unknown], y[unknown])
            if not is_exact(self.domain, self.x[:count][unknown], y[unknown]):
                stated = Observations.merge(x[~unknown], y[~unknown], variance[~unknown]) if not unknown.all() else None
                return data if stated is None else data + stated
            variance = np.where(unknown, 0.0, variance)
        return Observations.merge(x, y, variance)

    def _extra_of_absurd(self, transform: OutputTransform, count: int) -> Array:
        """Return how much more variance than the others each of the first `count` observations has, (N,), if absurd.

        A training that diverged says that its setting is bad, not how bad. Seen as exact, it would look like noise.
        """
        winsorization = transform.winsorization
        is_low = np.zeros(count, np.bool_) if winsorization is None else winsorization.is_low(self._values(count))
        return np.where(is_low, OF_ABSURD, 0.0)

    def _learn(self, trials: int, samples: int, stream: int, *, coarsened: bool = False) -> HyperFit:
        """Learn from the first `trials` of the trials here; `coarsened`: samples for statements, see `COARSENED`.

        Low values are compressed where the evidence of Laplace's approximation grows by enough.
        """
        count = int(self._count.view[:trials].sum())
        values = self._values(count)
        transform = OutputTransform.of(values, winsorized=self.winsorizes)
        posterior = self._posterior(transform, count)
        if self.warps and len(np.unique(values)) >= WARP_VALUES:
            warped = OutputTransform.of(values, warped=True, winsorized=self.winsorizes)
            other = self._posterior(warped, count)
            usual = len(self.kernels) // 2
            gained = other.laplace(usual) - posterior.laplace(usual) + float(warped.log_slope(values).sum())
            if gained > WARP_FROM:
                transform, posterior = warped, other
        found, uneven = self._exceptions(transform, posterior, count, trials)
        if found is not None or uneven is not None:
            posterior = posterior.of(self._merged(transform, count, found, uneven))
        if coarsened:
            worth = COARSENED / posterior.data.x.shape[1]
            posterior = posterior.of(posterior.data, power=worth / (worth + posterior.measurements))
        rng = generator(self.seed, self.trials if self._is_local else trials, stream)
        return HyperFit(trials, transform, self.kernels, posterior.sample(samples, rng), found, uneven)

    def _exceptions(
        self, transform: OutputTransform, posterior: HyperPosterior, count: int, trials: int
    ) -> tuple[Outliers | None, UnevenNoise | None]:
        """Return outliers and uneven noise among the first `count` observations; None where there are none.

        Some outliers at one end of an axis look like noise that grows towards it, and noise that grows leaves residuals
        that look like outliers. So either is looked for first, the other beside it, and the likelier pair is taken. The
        full likelihood decides, also for statements.
        """
        if len(np.unique(self._values(count))) < CONTINUOUS * count:
            return None, None
        found = self._outliers(transform, posterior, count, None) if self.finds_outliers else None
        if not self.finds_uneven_noise or self._is_local or trials > LARGEST:
            return found, None
        columns = [int(self.domain.columns[i]) for i, axis in enumerate(self.domain.axes) if not axis.is_choice]

        def outliers_under(uneven: UnevenNoise) -> Outliers | None:
            under = posterior.of(uneven.applied(posterior.data))
            return self._outliers(transform, under, count, uneven) if self.finds_outliers else None

        first = find_uneven_noise(posterior, columns)
        if found is None:
            return (None, None) if first is None else (outliers_under(first), first)
        beside = find_uneven_noise(posterior.of(self._merged(transform, count, found)), columns)
        if first is not None:
            others = outliers_under(first)
            gain = first.gain + (0.0 if others is None else others.gain)
            if gain > found.gain + (0.0 if beside is None else beside.gain):
                return others, first
        # Outliers that were found under even noise may be none under this.
        return (found, None) if beside is None else (outliers_under(beside), beside)

    def _outliers(
        self, transform: OutputTransform, posterior: HyperPosterior, count: int, uneven: UnevenNoise | None
    ) -> Outliers | None:
        """Return the outliers among the first `count` observations; None where there are none, or noise is stated."""
        y, variance = self._seen(transform, count)
        if not np.isnan(variance).all() or not (posterior.data.count > 0).all():
            return None
        absurd = self._extra_of_absurd(transform, count)
        apart = _apart(self.domain.features(self.x[:count]), y, absurd)
        found = find_outliers(posterior, apart if uneven is None else uneven.applied(apart))
        extra = absurd.copy()
        extra[found.rows] += found.extra_variance
        high = np.zeros(count, np.bool_)
        high[found.rows] = found.high
        rows = np.flatnonzero(extra)
        return Outliers(rows, extra[rows], high[rows], found.gain) if len(rows) else None

    def diverged(self) -> Array:
        """Return the points, (k, D), at which nothing but absurdly low values was observed."""
        winsorization = Winsorization.around(self.y) if self.winsorizes else None
        if winsorization is None:
            return self.x[:0]
        points, home = np.unique(self.x, axis=0, return_inverse=True)
        low = np.bincount(home.ravel(), winsorization.is_low(self.y)) == np.bincount(home.ravel())
        return np.asarray(points[low])

    def suspects(self) -> Array:
        """Return points, (k, D), all of whose observations, one or two, are outliers above what the others say.

        Such a point may be the best of all. Measured again, it is either confirmed or counts for little.
        """
        outliers = self.current().fit.outliers
        if outliers is None:
            return self.x[:0]
        is_high = np.zeros(len(self.x), dtype=np.bool_)
        is_high[outliers.rows[outliers.high]] = True
        points, home = np.unique(self.x, axis=0, return_inverse=True)
        count, high = np.bincount(home.ravel()), np.bincount(home.ravel(), is_high)
        return np.asarray(points[(count == high) & (count < CONFIRMED)])

    def _posterior(self, transform: OutputTransform, count: int) -> HyperPosterior:
        priors = HyperPriors(
            separate_lengthscales=tuple(i for i, axis in enumerate(self.domain.axes) if axis.is_choice)
        )
        data = self._merged(transform, count)
        return HyperPosterior(data, self.kernels, priors=priors, groups=self.domain.groups)
