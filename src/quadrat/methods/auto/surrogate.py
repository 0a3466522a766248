"""What the default method learns: hyper-parameters with their uncertainty, from everything told, at scheduled times.

Model: values standardised to mean 0 and sd 1; a constant mean at its optimum; a kernel of one of four smoothnesses,
Matérn with nu = 1/2, 3/2 and 5/2 and the squared exponential, with a length-scale for each axis. Noise variance,
amplitude and length-scales have the priors `PRIORS`; length-scales share a common one from which they differ only as
far as the data ask for it, because the 5 to 50 values of most runs do not say more. The most likely setting under each
kernel is found by L-BFGS from the previous one and, now and then, from the prior; the kernel under which the data are
most likely is chosen [RW06, section 5.2]. Further settings are drawn around the most likely one, and whatever is
computed is averaged over all of them.

The settings are a pure function of what was told, in the order of telling, and of the seed: they are learned when a
trial is told, at scheduled numbers of trials, each time from the setting before.

References
----------
[RW06]  Rasmussen and Williams (2006). Gaussian Processes for Machine Learning. MIT Press.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, Bools, Growing
from quadrat._core.nearest import nearest
from quadrat.gp import Fit, LogNormal, LogPosterior, Observations, Priors, fit_map
from quadrat.gp.ensemble import Ensemble
from quadrat.kernels import Kernel, Matern, SquaredExponential, Tied
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

__all__ = ["Averages", "LearnedModel", "OutputTransform", "Warp", "Winsorization", "averages", "is_due"]

FAR = 100.0  # ranges of the rest: values of functions with heavy tails, such as Rosenbrock's, stay far below
ABOVE, BELOW = 0.1, 0.25  # shares of all values that may be absurd on either side
ENOUGH = 8  # values
BEYOND = 0.02  # of the range of the rest, that an absurd value is seen outside it
_LEAST_RANGE = 1e-12  # of the largest value: less is rounding


@dataclass(frozen=True)
class Winsorization:
    """Limits within which values are seen."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Array) -> Winsorization | None:
        """Return the fence that these values (N,) need; None where none is absurd, as nearly always.

        Examples
        --------
        >>> Winsorization.around(np.append(np.linspace(0.0, 1.0, 20), -1e6))
        Winsorization(low=-0.02, high=inf)
        >>> Winsorization.around(np.append(np.linspace(0.0, 1.0, 20), -90.0)) is None
        True
        """
        count = len(values)
        if count < ENOUGH:
            return None
        below, above = int(BELOW * count), max(int(ABOVE * count), 1)
        # Halves, so that differences of the largest numbers are numbers. What cannot be is seen without sorting.
        first, core_low, core_high, last = np.partition(0.5 * values, [0, below, count - 1 - above, count - 1])[
            [0, below, count - 1 - above, count - 1]
        ]
        if not last - first > FAR * (core_high - core_low):
            return None
        halves = np.sort(0.5 * values)
        gaps = np.diff(halves)
        differing = np.concatenate([[0], np.cumsum(gaps > 0)])  # gaps that are none, counted from the left
        # The smallest rest that will do: all of its outside is absurd.
        for stop in _ends(halves[::-1], above):
            for start in _ends(halves, below):
                low, high = halves[start], halves[count - 1 - stop]
                reach, inner = high - low, count - 1 - stop - start
                is_gap_below = start == 0 or gaps[start - 1] > FAR * reach
                is_gap_above = stop == 0 or gaps[count - 1 - stop] > FAR * reach
                distinct = 2 * (differing[count - 1 - stop] - differing[start]) >= inner
                differs = distinct and reach > _LEAST_RANGE * max(abs(low), abs(high))
                if is_gap_below and is_gap_above and differs:
                    if start == stop == 0:
                        return None
                    margin = BEYOND * reach
                    return cls(
                        low=-np.inf if start == 0 else float(2 * (low - margin)),
                        high=np.inf if stop == 0 else float(2 * (high + margin)),
                    )
        return None

    def __call__(self, values: Array) -> Array:
        """Return values, of any shape, as they are seen."""
        return np.clip(values, self.low, self.high)


def _ends(ordered: Array, most: int) -> list[int]:
    """How many of at most `most` values at the beginning of `ordered` may be absurd, most first, 0 last.

    Those behind which a gap lies of more than `FAR` times what lies between it and the value after `most`, which
    belongs to every rest. Each such gap is `FAR` times the one after it, so that they are few, however many values
    there are.
    """
    reach = np.abs(ordered[most] - ordered[1 : most + 1])
    gap = np.abs(np.diff(ordered[: most + 1]))
    return [*(np.flatnonzero(gap > FAR * reach) + 1)[::-1].tolist(), 0]


_LEAST_SPREAD = 1e-12  # of the largest value, below which values count as equal
_LEAST_WIDTH = 1e-2  # of the standard deviation of all values: where half of them or more are the same
_LARGEST_VARIANCE = 1e100  # in standardised units: such an observation says nothing, and sums stay finite


@dataclass(frozen=True)
class Warp:
    """Warp of standardised values about a knee, standardised again by a shift and a scale of its own."""

    knee: float
    width: float
    shift: float
    scale: float

    @classmethod
    def of(cls, standardised: Array) -> Warp:
        """Return the one for these values (N,), whose mean is 0 and whose standard deviation 1."""
        knee = float(np.median(standardised))
        above = standardised[standardised >= knee] - knee
        bare = cls(knee, max(float(np.sqrt(np.mean(above**2))), _LEAST_WIDTH), 0.0, 1.0)
        warped = bare(standardised)
        return cls(knee, bare.width, float(np.mean(warped)), float(np.std(warped)))

    def __call__(self, standardised: Array) -> Array:
        """Compress values, any shape."""
        below = np.maximum(self.knee - standardised, 0.0) / self.width
        bent = np.where(below > 0, self.knee - self.width * np.log1p(below), standardised)
        return np.asarray((bent - self.shift) / self.scale)

    def undone(self, warped: Array) -> Array:
        """Return the standardised values that compress to these, any shape."""
        bent = self.shift + self.scale * warped
        below = np.maximum(self.knee - bent, 0.0) / self.width
        with np.errstate(over="ignore"):  # what no value can be: minus infinity
            return np.asarray(np.where(below > 0, self.knee - self.width * np.expm1(below), bent))

    def log_slope(self, standardised: Array) -> Array:
        """Return the log of the derivative at values of any shape."""
        below = np.maximum(self.knee - standardised, 0.0) / self.width
        return np.asarray(-np.log1p(below) - np.log(self.scale))


@dataclass(frozen=True)
class OutputTransform:
    """From values as told to values as a model sees them, and back.

    Attributes
    ----------
    shift, scale
        The mean of all values told and their standard deviation; their size where they do not differ.
    warp
        The warp of low standardised values, or None.
    winsorization
        The limits that values are clipped to; None where no value is an outlier.

    Examples
    --------
    >>> values = np.array([-100.0, 0.0, 1.0, 2.0, 3.0])
    >>> transform = OutputTransform.of(values, warped=True)
    >>> transform.apply(values).round(2).tolist()
    [-1.87, -0.02, 0.26, 0.63, 1.01]
    >>> transform.undo(transform.apply(values)).round(9).tolist()
    [-100.0, 0.0, 1.0, 2.0, 3.0]
    """

    shift: float
    scale: float
    warp: Warp | None = None
    winsorization: Winsorization | None = None

    @classmethod
    def of(cls, values: Array, *, warped: bool = False, winsorized: bool = True) -> OutputTransform:
        """Return the transform for these values (N,); `winsorized`: whether outliers are clipped."""
        winsorization = Winsorization.around(values) if winsorized else None
        if winsorization is not None:
            return replace(cls.of(winsorization(values), warped=warped, winsorized=False), winsorization=winsorization)
        largest = float(np.abs(values).max()) or 1.0  # so that squares neither overflow nor vanish
        scaled = values / largest
        spread = float(np.std(scaled))
        differ = spread > _LEAST_SPREAD
        scale = max(largest * (spread if differ else 1.0), float(np.finfo(np.float64).tiny))  # half of 5e-324 is 0
        plain = cls(largest * float(np.mean(scaled)), scale)
        return cls(plain.shift, plain.scale, Warp.of(plain.apply(values))) if warped and differ else plain

    @property
    def above(self) -> float:
        """What one unit of the model is in told units, among the upper half of the values."""
        return self.scale if self.warp is None else self.scale * self.warp.scale

    def within(self, outer: OutputTransform) -> OutputTransform:
        """Return these units for values that are told in others, which compress nothing, to the same effect.

        Winsorization is left out: values near a place, or their averages, are seen through both one after the other.
        """
        return OutputTransform(outer.shift + outer.scale * self.shift, outer.scale * self.scale, self.warp)

    def apply(self, values: Array) -> Array:
        """Return told values, of any shape, as the model sees them."""
        standardised = self._standardised(values)
        return standardised if self.warp is None else self.warp(standardised)

    def undo(self, seen: Array) -> Array:
        """Return what was told, for values of any shape as the model sees them."""
        return self.shift + self.scale * (seen if self.warp is None else self.warp.undone(seen))

    def variance(self, variances: Array, values: Array) -> Array:
        """Return variances (N,) of told values (N,) as the model sees them, to first order."""
        with np.errstate(over="ignore"):
            scaled = variances / self.scale / self.scale
            if self.warp is not None:
                scaled = scaled * np.exp(2 * self.log_slope(values))
            scaled = np.minimum(scaled, _LARGEST_VARIANCE)
            return np.where(
                scaled > 0, np.maximum(scaled, 1 / _LARGEST_VARIANCE), scaled
            )  # its inverse is a number too

    def log_slope(self, values: Array) -> Array:
        """Return the log of the derivative of what is seen, in that of the standardised value, at told values (N,)."""
        if self.warp is None:
            return np.zeros_like(values)
        return self.warp.log_slope(self._standardised(values))

    def _standardised(self, values: Array) -> Array:
        within = values if self.winsorization is None else self.winsorization(values)
        return within / self.scale - self.shift / self.scale


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


SETTINGS = 5  # the most likely one and draws around it
SPREAD = 0.35  # of the draws, in each log hyper-parameter; that of length-scales is one for all of them,
OWN_SPREAD = 0.15  # and this one for each
SMOOTHNESSES = (0.5, 1.5, 2.5, inf)  # nu of Matérn kernels, ascending; infinite: the squared exponential
USUAL = 2  # the index of the one that a run starts with
COMPARE_EVERY = 2  # fits between comparisons of all of them, and between starts from the prior
WARP_FROM = 10.0  # log evidence gained by compressing low values: less is what any curved function gives
PRIORS = Priors(
    lengthscale=LogNormal(-0.7, 0.5), common_lengthscale=1.5, noise_variance=LogNormal(-5.0, 1.5)
)  # in the units of standardised values and of the cube's side
LARGEST = 256  # trials that a model of all of them is learned from; beyond, models are of those near a place
_LEAST_NOISE = 1e-6  # of the standard deviation of all values: less is as good as none
_DRAWS = 11  # names the stream


def is_due(trials: int, first: int) -> bool:
    """Whether settings are learned when this many trials have been told.

    From the first time on at every trial up to 64, then at every second, from 128 on at every fourth, and so on: some
    32 times for every doubling.
    """
    return trials >= first and trials % (1 << max(trials.bit_length() - 6, 0)) == 0


@dataclass(frozen=True)
class FittedModes:
    """What a fit found.

    Attributes
    ----------
    modes
        For each smoothness the most likely log hyper-parameters, shape (p,), or None before it was tried.
    chosen
        The index of the smoothness under which the data were most likely when last compared.
    compressed
        Whether they were more likely with low values compressed.
    settings
        Log hyper-parameters under it, shape (M, p): the most likely ones and draws around them.
    fits
        How many fits it is since the model was begun.
    """

    modes: tuple[Array | None, ...]
    chosen: int
    warped: bool
    settings: Array
    fits: int


class LearnedModel:
    """Told trials go in, an ensemble of posteriors comes out, in standardised units and over features of the domain.

    `settings` is how many there are in it; one is the most likely alone. `warps`: whether low values may be
    compressed.
    """

    winsorizes: ClassVar[bool] = True  # whether values absurdly far from all others are seen nearer

    def __init__(self, domain: Domain, seed: int, first: int, settings: int = SETTINGS, *, warps: bool = True) -> None:
        self.domain, self.seed, self.first, self.settings = domain, seed, first, settings
        self.warps = warps
        self.trials = 0
        self._x = Growing(np.float64, (domain.dimension,))
        self._y = Growing(np.float64)
        self._noise = Growing(np.float64)  # variances, NaN where to be learned
        # Of each trial: replicates are one point to the model, and cost it no more than one value.
        self._at = Growing(np.float64, (domain.dimension,))
        self._mean, self._count = Growing(np.float64), Growing(np.intp)
        self._numbers = Growing(np.intp)  # as they were told; of a model of all trials
        self._kinds: tuple[int, ...] = tuple(range(len(SMOOTHNESSES)))  # indices of those that are compared
        self._noise_is_learned = False
        self._learns = True
        self._outer: OutputTransform | None = (
            None  # in which the values here are told, where they are not as told to us
        )
        self._learned: FittedModes | None = None
        self._unkept: FittedModes | None = None  # what would be learned, when somebody looks before it is due
        self._current: tuple[LogPosterior, Ensemble] | None = None
        self._seen: dict[bool, Observations] = {}  # see `_data`

    def tell(self, observation: Observation) -> None:
        """Take in one trial; learn where that is due."""
        # The first value of unknown noise makes the noise something to learn: what was learned before does not fit.
        grown = self.settled and observation.variance is None and not self._noise_is_learned
        self.take([observation])
        if self._learns and self.is_of_all and (grown or is_due(self.trials, self.first)):
            self._learned = self._learn(None if grown else self._learned)

    def tell_many(self, observations: Sequence[Observation]) -> None:
        """Take in many trials; learn once, afresh."""
        self.take(observations)
        if observations and self._learns and self.is_of_all and self.trials >= self.first:
            self._learned = self._learn(None)

    def stop_learning(self) -> None:
        """Learn nothing from here on, because more trials than one model sees are about to be told."""
        self._learns = False

    def take(self, observations: Sequence[Observation]) -> None:
        """Take in trials, and learn nothing."""
        if not observations:
            return
        values = [
            one.values if one.variance is None else np.array([float(np.mean(one.values))]) for one in observations
        ]
        counts = np.array([len(some) for some in values])
        points = np.array([one.x for one in observations])
        unknown = np.array([one.variance is None for one in observations])
        variances = np.array([np.nan if one.variance is None else one.variance for one in observations])
        together = np.concatenate(values)
        self._x.extend(np.repeat(points, counts, axis=0))
        self._y.extend(together)
        self._noise.extend(np.repeat(variances, counts))
        self._at.extend(points)
        self._mean.extend(together if len(together) == len(observations) else [float(np.mean(some)) for some in values])
        self._count.extend(counts)
        self._numbers.extend([one.number for one in observations])
        self.trials += len(observations)
        self._noise_is_learned |= bool(unknown.any())
        self._current = self._unkept = None
        self._seen = {}

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
        settings: int | None = None,
    ) -> LearnedModel:
        """Return a model of the trials nearest to a place, which has learned nothing yet.

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
        settings
            As of this class; None is as many as here.
        """
        chosen = nearest(self.places[:first], centre, sides, count, box=box)
        is_chosen = np.zeros(len(self._at), dtype=np.bool_)
        is_chosen[chosen] = True
        rows = np.flatnonzero(np.repeat(is_chosen, self._count.view))
        other = self._like(settings)
        other._x = Growing.of(self.x[rows])
        other._y, other._noise = Growing.of(self._y.view[rows]), Growing.of(self._noise.view[rows])
        other._at, other._mean = Growing.of(self.places[chosen]), Growing.of(self._mean.view[chosen])
        other._count = Growing.of(self._count.view[chosen])
        other._noise_is_learned = bool(np.isnan(other._variance).any())
        return other

    def _like(self, settings: int | None = None) -> LearnedModel:
        """Return a model of the same kind for some of these trials, which has none of them yet."""
        other = type(self)(self.domain, self.seed, self.first, settings or self.settings, warps=False)
        other.trials, other._kinds = self.trials, (USUAL,)
        return other

    def take_over(self, other: LearnedModel) -> None:
        """Use what another model, of other observations, learns; if it has the same kind of noise to learn."""
        if self._noise_is_learned == other._noise_is_learned:
            self._learned, self._current = other._latest(), None

    def averaged(self, centre: Array, sides: Array, count: int, noise: float) -> LearnedModel:
        """Return a model of averages of trials around a place, which has learned nothing yet: see `averages`.

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
        stated = transform.variance(self._variance[first], self.means)
        least = max(noise / transform.scale, _LEAST_NOISE)
        variances = np.where(np.isnan(stated), least**2 / self._count.view, np.maximum(stated, _LEAST_NOISE**2))
        found = averages(self.places, transform.apply(self.means), variances, centre, self.domain.smooth)
        chosen = nearest(found.points, centre, sides, count)
        other = self._like()
        other._x, other._at = Growing.of(found.points[chosen]), Growing.of(found.points[chosen])
        other._y, other._mean = Growing.of(found.values[chosen]), Growing.of(found.values[chosen])
        other._noise = Growing.of(found.variances[chosen])
        other._count = Growing.of(np.ones(len(chosen), dtype=np.intp))
        other._outer = transform
        return other

    @property
    def noise(self) -> float:
        """Standard deviation of a typical observation, as far as it is learned, in the units told."""
        objective, ensemble = self.current()
        return float(np.sqrt(objective.typical_noise(ensemble.settings[0]))) * self.transform().above

    @property
    def places(self) -> Array:
        """The point of each trial, shape (n, D)."""
        return self._at.view

    @property
    def means(self) -> Array:
        """The mean of what was observed in each trial, shape (n,)."""
        return self._mean.view

    def observed_trials(self) -> Iterator[tuple[int, Array, bool]]:
        """Yield number, point (D,), and whether the noise is to be learned, of each trial of a model of all."""
        first = np.cumsum(self._count.view) - self._count.view  # rows
        learned = np.isnan(self._variance[first]).tolist()
        yield from zip(self._numbers.view.tolist(), self.places + 0.0, learned, strict=True)

    @property
    def transformed_means(self) -> Array:
        """The mean of each trial as the model sees it, in standardised units, shape (n,)."""
        return self._transform(self._latest().warped).apply(self.means)

    @property
    def settled(self) -> bool:
        """Whether anything was learned, so that the model may decide."""
        return self._learned is not None

    @property
    def smoothness(self) -> float:
        """The nu of the kernel that was chosen, infinite for the squared exponential; that of the start before."""
        return SMOOTHNESSES[USUAL if self._learned is None else self._learned.chosen]

    @property
    def x(self) -> Array:
        """Points of all observations, repeats included, shape (N, D)."""
        return self._x.view

    @property
    def y(self) -> Array:
        """All observations, shape (N,)."""
        return self._y.view

    @property
    def _variance(self) -> Array:
        return self._noise.view

    def transform(self) -> OutputTransform:
        """Return how told values become those that the model sees."""
        transform = self._transform(self._latest().warped)
        return transform if self._outer is None else transform.within(self._outer)

    def _transform(self, warped: bool) -> OutputTransform:
        return OutputTransform.of(self.y, warped=warped, winsorized=self.winsorizes)

    def current(self) -> tuple[LogPosterior, Ensemble]:
        """Return the observations in standardised units, and the ensemble that has seen all of them.

        Before anything was learned, from whatever there is, without keeping it: looking must not change the run.
        """
        if self._current is None:
            learned = self._latest()
            data = self._data(learned.warped)
            objective = LogPosterior(self._form(learned.chosen), data, priors=self._priors(), standardise=False)
            self._current = objective, Ensemble(objective, learned.settings)
        return self._current

    def alternatives(self) -> list[tuple[float, Ensemble]]:
        """Return for every smoothness the log posterior of the data and the posterior of f, at its most likely setting.

        For statements that should not rest on one smoothness alone. Settings are those of the last comparison.
        """
        found, latest = [], self._latest()
        data = self._data(latest.warped)
        for i, mode in enumerate(latest.modes):
            if mode is None:
                continue  # not one of those that are compared
            objective = LogPosterior(self._form(i), data, priors=self._priors(), standardise=False)
            found.append((objective(mode)[0], Ensemble(objective, [mode])))
        return found

    def _latest(self) -> FittedModes:
        if self._learned is not None:
            return self._learned
        if self._unkept is None:
            self._unkept = self._learn(None)
        return self._unkept

    def _data(self, warped: bool) -> Observations:
        """Return the observations in standardised units, low values compressed or not; merged once for all fits."""
        if warped not in self._seen:
            self._seen[warped] = self._merged(warped)
        return self._seen[warped]

    def _merged(self, warped: bool) -> Observations:
        transform = self._transform(warped)
        x, y = self.domain.features(self.x), transform.apply(self.y)
        variance = transform.variance(self._variance, self.y)
        known = ~np.isnan(variance)
        if not known.any():
            return Observations.merge(x, y)
        stated = Observations.merge(x[known], y[known], variance[known])
        return stated if known.all() else Observations.merge(x[~known], y[~known]) + stated

    def _priors(self) -> Priors:
        """A choice's length-scale, which says how unlike its values are, has nothing in common with a number's."""
        choices = tuple(i for i, axis in enumerate(self.domain.axes) if axis.is_choice)
        return replace(PRIORS, separate_lengthscales=choices)

    def _form(self, smoothness: int) -> Kernel:
        groups = self.domain.groups
        nu, scales = SMOOTHNESSES[smoothness], np.full(len(groups), 0.5)
        kernel = SquaredExponential(scales) if nu == inf else Matern(nu, scales)
        return kernel if len(groups) == self.domain.dimension else Tied(kernel, groups)

    def _learn(self, previous: FittedModes | None) -> FittedModes:
        """Fit the chosen smoothness from where it was; every few times all of them, from the prior too, to choose.

        Whether low values are compressed is then decided under the chosen smoothness.
        """
        before = previous or FittedModes((None,) * len(SMOOTHNESSES), USUAL, False, np.empty((0, 0)), 0)
        compare = before.fits % COMPARE_EVERY == 0
        data = self._data(before.warped)
        modes, heights = list(before.modes), np.full(len(SMOOTHNESSES), -inf)
        for i in self._kinds if compare else [before.chosen]:
            fit = self._fit(i, data, modes[i], afresh=compare)
            modes[i], heights[i] = fit.parameters, fit.log_posterior
        chosen, warped = int(np.argmax(heights)), before.warped
        if compare and self.warps:
            other = self._fit(chosen, self._data(not warped), modes[chosen], afresh=False)
            gained = self._evidence(other.log_posterior, not warped)
            gained -= self._evidence(float(heights[chosen]), warped)
            if gained > (-WARP_FROM if warped else WARP_FROM):
                modes[chosen], warped = other.parameters, not warped
        mode = modes[chosen]
        assert mode is not None
        settings = np.vstack([mode, mode + self._offsets(len(mode))])
        return FittedModes(tuple(modes), chosen, warped, settings, before.fits + 1)

    def _fit(self, smoothness: int, data: Observations, start: Array | None, *, afresh: bool) -> Fit:
        """Find the most likely setting, from a start if there is one, and from the prior."""
        return fit_map(
            self._form(smoothness),
            data,
            priors=self._priors(),
            starts=[] if start is None else [start],
            own_start=afresh or start is None,
            standardise=False,
        )

    def _evidence(self, log_posterior: float, warped: bool) -> float:
        """Return the log posterior as one of the standardised values, compressed or not: comparable."""
        return log_posterior + float(self._transform(warped).log_slope(self.y).sum())

    def _offsets(self, parameters: int) -> Array:
        """Return what draws differ by from the most likely setting, shape (M - 1, p)."""
        rng = generator(self.seed, self.trials, _DRAWS)
        offsets = SPREAD * rng.standard_normal((self.settings - 1, parameters))
        scales = parameters - (2 if self._noise_is_learned else 1)
        shared = SPREAD * rng.standard_normal((self.settings - 1, 1))
        offsets[:, :scales] = shared + OWN_SPREAD * rng.standard_normal((self.settings - 1, scales))
        return offsets
