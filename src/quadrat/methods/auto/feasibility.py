"""Where trials succeed and constraints hold: what is believed of failures, of constraints and of f together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, pi, sqrt
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, Bools, Growing, Ints
from quadrat._core.nearest import nearest
from quadrat.gp import GaussianProcess
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction
from quadrat.gp.observations import group_rows
from quadrat.kernels import Matern
from quadrat.methods.acquisition import log_probability_of_improvement
from quadrat.methods.auto.surrogate import OF_CONSTRAINTS, LearnedModel
from quadrat.methods.base import Domain, Failure, Observation, Pruned
from quadrat.randomness import generator

__all__ = ["Chances", "Constraints", "Feasibility", "Surrogates"]

_LENGTHSCALES = (0.1, 0.2, 0.4, 0.8)  # times sqrt(F / 2), the growth of distances with the number F of columns
_NOISE = 0.1  # variance of a label: one failure among successes may be an accident
_FAILED = -3.0  # far below 0: a failure must outweigh the improvement that a rising f promises beyond the border
_DIVERGED = -1.0  # of a trial that gave an absurd value: an accident more often than a crash is
_WIDTH = 0.5  # w, of the step between failure and success


class Feasibility:
    """Outcomes go in, chances of success come out.

    Examples
    --------
    >>> feasibility = Feasibility(1)
    >>> for x in (0.1, 0.3, 0.5, 0.7, 0.9):
    ...     feasibility.add(np.array([x]), x < 0.6)
    >>> chance = np.exp(feasibility.log_chance(np.array([[0.2], [0.8]]))[0])
    >>> bool(chance[0] > 0.9), bool(chance[1] < 0.2)
    (True, True)
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._x = Growing(np.float64, (columns,))
        self._label = Growing(np.float64)
        self._failures = 0
        self._gp: GaussianProcess | None = None

    def add(self, x: Array, succeeded: bool) -> None:
        """Take in one outcome at the point x, shape (F,)."""
        self.add_many(x[None, :], np.array([succeeded]))

    def add_many(self, points: Array, succeeded: Bools) -> None:
        """Take in outcomes (n,) at points (n, F)."""
        self._x.extend(points)
        self._label.extend(np.where(succeeded, 1.0, _FAILED))
        self._failures += len(points) - int(np.count_nonzero(succeeded))
        self._gp = None

    def near(self, centre: Array, sides: Array, count: int, *, box: bool = False) -> Feasibility:
        """Return what the outcomes nearest to a place, (F,), with steps of `sides`, (F,), say: see `nearest`."""
        if len(self._x) <= count:
            return self
        rows = nearest(self._x.view, centre, sides, count, box=box)
        other = Feasibility(self.columns)
        other._x, other._label = Growing.of(self._x.view[rows]), Growing.of(self._label.view[rows])
        other._failures = int((other._label.view < 0).sum())
        return other

    def with_diverged(self, points: Array) -> Feasibility:
        """Return what the same outcomes say where successes at the points (k, F) count as failures, though less sure.

        Examples
        --------
        >>> feasibility = Feasibility(1)
        >>> feasibility.add_many(np.array([[0.2], [0.8]]), np.array([True, True]))
        >>> chance = np.exp(feasibility.with_diverged(np.array([[0.8]])).log_chance(np.array([[0.2], [0.8]]))[0])
        >>> bool(chance[0] > 0.8), bool(chance[1] < 0.2), feasibility.any_failed
        (True, True, False)
        """
        at = {row.tobytes() for row in points + 0.0}
        diverged = np.array([row.tobytes() in at for row in self._x.view + 0.0], dtype=np.bool_)
        label = self._label.view
        other = Feasibility(self.columns)
        other._x = Growing.of(self._x.view)
        other._label = Growing.of(np.where(diverged & (label > 0), _DIVERGED, label))
        other._failures = int((other._label.view < 0).sum())
        return other

    @property
    def any_failed(self) -> bool:
        """Whether there is anything to learn."""
        return self._failures > 0

    def least_log_chance(self, typical: Array) -> float:
        """Return the log of the chance that a point must have to be asked: more with every failure.

        Weighting an improvement by its chance is not enough where f promises to rise beyond a border that nobody can
        cross: what is left to gain on this side shrinks with every trial, what seems to be there on the other side does
        not, and the search fails for ever. With chances that are true, of at least 1 - 1/(2 + 2 k) after k failures,
        n trials end with some sqrt(n) failures.

        Parameters
        ----------
        typical
            Log chances all over the space, shape (m,). Where evaluations fail by accident, here and there, no place is
            safe: half of the space is always open.
        """
        return min(log(1 - 0.5 / (1 + self._failures)), float(np.median(typical)))

    def log_chance(self, points: Array) -> tuple[Array, Array]:
        """Return the log of the chance of success at the rows of `points` (m, F), shape (m,), and its gradient (m, F).

        All zero until something has failed.
        """
        from scipy.special import erfcx, log_ndtr

        if not self.any_failed:
            return np.zeros(len(points)), np.zeros_like(points)
        if self._gp is None:
            self._gp = self._learn()
        at = self._gp.predict_with_gradients(points)
        assert at.mean_gradient is not None
        assert at.deviation_gradient is not None
        spread = np.sqrt(_WIDTH**2 + at.deviation**2)
        z = at.mean / spread
        slope = at.mean_gradient / spread[:, None]
        slope -= (at.mean * at.deviation / spread**3)[:, None] * at.deviation_gradient
        ratio = sqrt(2 / pi) / erfcx(-z / sqrt(2))  # phi(z) / Phi(z), also where both vanish
        return np.asarray(log_ndtr(z)), ratio[:, None] * slope

    def _learn(self) -> GaussianProcess:
        X, y = self._x.view, self._label.view
        scales = sqrt(self.columns / 2) * np.array(_LENGTHSCALES)
        kernel = max((Matern(2.5, float(scale)) for scale in scales), key=lambda kernel: _left_out(kernel, X, y))
        gp = GaussianProcess(kernel, noise_variance=_NOISE, mean=1.0)
        gp.add(X, y)
        return gp


def _left_out(kernel: Matern, X: Array, y: Array) -> float:
    """Log-likelihood of each label given all others [RW06, equations 5.10 to 5.12]."""
    inverse = np.linalg.inv(kernel(X) + _NOISE * np.eye(len(X)))
    variance = 1 / np.diagonal(inverse)
    error = (inverse @ (y - 1.0)) * variance
    return float(-0.5 * np.sum(np.log(variance) + error**2 / variance))


_BELIEVED = log(0.5) - 1e-9  # of the log chance from which on a point counts; a limit met to the last digit does
_FAR = 5.0  # see `_ConstraintModel.y`; a linear constraint seldom gets there


class Constraints:
    """Told trials go in, chances that all constraints hold come out. Without constraints all chances are 1.

    Parameters
    ----------
    domain, seed, first
        As of a `LearnedModel`.

    Examples
    --------
    >>> constraints = Constraints(Domain.cube(1), 0, 2)
    >>> for number, x in enumerate((0.1, 0.3, 0.5, 0.7, 0.9)):
    ...     constraints.tell([Observation(number, np.array([x]), np.array([0.0]), constraints=(x - 0.6,))])
    >>> constraints.current().held(np.array([[0.2], [0.55], [0.65], [0.8]])).tolist()
    [True, True, False, False]
    """

    def __init__(self, domain: Domain, seed: int, first: int) -> None:
        self.domain, self.seed, self.first = domain, seed, first
        self._models: tuple[LearnedModel, ...] = ()
        self._sums: dict[bytes, tuple[float, ...]] = {}  # of what was told at each point

    @property
    def exist(self) -> bool:
        """Whether a trial was told with constraints."""
        return bool(self._models)

    def tell(self, observations: Sequence[Observation]) -> None:
        """Take in trials; those without constraints say nothing here."""
        for model, some in self._each(observations):
            model.tell(some)

    def _each(self, observations: Sequence[Observation]) -> list[tuple[LearnedModel, list[Observation]]]:
        """Return what each model is to be told of these trials; keep what was told at each point."""
        observations = [one for one in observations if one.constraints]
        if not observations:
            return []
        if not self._models:
            self._models = tuple(
                _ConstraintModel(self.domain, self.seed, self.first, OF_CONSTRAINTS, warps=False)
                for _ in observations[0].constraints
            )
        for one in observations:
            key = (one.x + 0.0).tobytes()  # + 0.0 turns -0.0 into 0.0
            before = self._sums.get(key, (0.0,) * len(one.constraints))
            self._sums[key] = tuple(old + new for old, new in zip(before, one.constraints, strict=True))
        columns = zip(*(one.constraints for one in observations), strict=True)
        return [
            (
                model,
                [
                    Observation(one.number, one.x, np.array([value]))
                    for one, value in zip(observations, column, strict=True)
                ],
            )
            for model, column in zip(self._models, columns, strict=True)
        ]

    def near(self, centre: Array, sides: Array, count: int, *, box: bool = False) -> Constraints:
        """Return what the trials nearest to a place, (D,), with steps of `sides`, (D,), say: see `nearest`."""
        other = Constraints(self.domain, self.seed, self.first)
        other._models = tuple(model.near(centre, sides, count, box=box) for model in self._models)
        other._sums = self._sums
        return other

    def current(self) -> Chances:
        """Return what is believed, given all that was told."""
        fitted = [model.current() for model in self._models]
        return Chances(tuple((each.ensemble, float(each.transform.apply(np.zeros(())))) for each in fitted))

    def violated(self, points: Array) -> Bools:
        """Return where the means of what was told at exactly these points (m, D) are not all <= 0, shape (m,)."""
        return np.array([max(self._sums.get((x + 0.0).tobytes(), (0.0,))) > 0 for x in points], dtype=np.bool_)

    def explain(self) -> list[dict[str, object]]:
        """Return the learned hyper-parameters of each constraint and its units, as plain data."""
        rows: list[dict[str, object]] = []
        for model in self._models:
            fitted = model.current()
            rows.append({**fitted.explain(), "shift": fitted.transform.shift, "scale": fitted.transform.scale})
        return rows


@dataclass(frozen=True)
class Chances:
    """What is believed of constraints: for each of them a posterior and its limit, in standardised units."""

    surrogates: tuple[tuple[Ensemble, float], ...] = ()

    def log_chance(self, features: Array) -> Array:
        """Return the log of the chance that all constraints hold at these rows (m, F), shape (m,)."""
        total = np.zeros(len(features))
        for ensemble, limit in self.surrogates:
            total += _log_chance(ensemble.predict(features), limit)[0]
        return total

    def slope(self, features: Array) -> tuple[Array, Array]:
        """Return the same, shape (m,), and its gradient, shape (m, F)."""
        total, gradient = np.zeros(len(features)), np.zeros_like(features)
        for ensemble, limit in self.surrogates:
            value, slope = _log_chance(ensemble.predict_with_gradients(features), limit)
            assert slope is not None
            total, gradient = total + value, gradient + slope
        return total, gradient

    def held(self, features: Array) -> Bools:
        """Return where all constraints are believed to hold, with a chance of one half at least, shape (m,)."""
        return self.log_chance(features) >= _BELIEVED

    def feasibility(self, features: Array) -> float | None:
        """Return the chance that all constraints hold at one point (F,); None where there are none."""
        return exp(float(self.log_chance(features[None, :])[0])) if self.surrogates else None

    def order(self, values: Array, features: Array, violated: Bools | None = None) -> Ints:
        """Return the numbers of these rows (m, F), best first, shape (m,).

        First those where the constraints are believed to hold, by their values (m,), the largest first; of these,
        where that is given, those which were told otherwise (m,) come last. Then the others, by their chance.
        """
        chance = self.log_chance(features)
        held = chance >= _BELIEVED
        second = np.zeros_like(held) if violated is None else violated
        return np.lexsort((-np.where(held, values, chance), np.where(held, second, 2)))

    def believing(self, features: Array) -> Chances:
        """Return the chances as if each of these points (p, F) had been observed at its own mean."""
        return Chances(tuple((ensemble.believing(features), limit) for ensemble, limit in self.surrogates))


class _ConstraintModel(LearnedModel):
    """The model of one constraint: what matters is where it crosses 0, not how far from there it gets."""

    winsorizes: ClassVar[bool] = False  # a fence could hide the limit; values far out are clipped below
    finds_outliers: ClassVar[bool] = False  # what crosses the limit counts
    finds_uneven_noise: ClassVar[bool] = False  # values are clipped, which makes them quieter where they are far away
    _most: float | None = None  # what a value counts for at most, where that is known from other trials than these

    def _values(self, count: int) -> Array:
        """Return the first `count` observations as the model sees them: on their side of 0, neither on it nor far away.

        A count of errors, or max(0, excess), is never negative. It holds where it is 0, and how clearly is not told:
        left as it is, half of the belief would lie above the limit at every such point. So a 0 counts as minus half the
        median of what lies above, and the limit runs between the points where the constraint holds and the others.

        And a value far out, such as 1e6 for "not at all", would set the scale for all others, and what they say of the
        limit would drown. So nothing counts for more than a few times the median size of the first few: later ones
        gather around the limit, where the search wants to be.
        """
        told = super()._values(count)
        if not (told != 0).any():
            return told - 1.0
        most = self._largest(told) if self._most is None else self._most
        if not (told < 0).any():
            told = np.where(told == 0, -0.5 * _median(told[told > 0]), told)
        return np.clip(told, -most, most)

    def _like(self, samples: int | None = None) -> LearnedModel:
        """As of any model; but the first few trials are those of the run: the ones near a place say where it is."""
        other = super()._like(samples)
        assert isinstance(other, _ConstraintModel)
        other._most = self._largest(super()._values(len(self.data)))
        return other

    def _largest(self, told: Array) -> float:
        """What a value counts for at most."""
        return _FAR * _median(np.abs(told[told != 0])[: self.first]) if (told != 0).any() else np.inf


def _log_chance(at: EnsemblePrediction, limit: float) -> tuple[Array, Array | None]:
    """Return the log of P(c <= limit), averaged over settings, shape (m,), and its gradient, (m, F) or None."""
    # c <= limit is -c >= -limit: the probability that -c improves upon -limit.
    each, in_mean, in_deviation = log_probability_of_improvement(-limit)(-at.mean, at.deviation)
    value, relative, total = at.log_average(each)
    if at.mean_gradient is None or at.deviation_gradient is None:
        return value, None
    share = relative / total
    slope = np.einsum("sm,smf->mf", share * in_deviation, at.deviation_gradient)
    return value, slope - np.einsum("sm,smf->mf", share * in_mean, at.mean_gradient)


def _median(values: Array) -> float:
    """Return the middle one, the larger of two: one of the values, whatever their size."""
    return float(np.sort(values)[len(values) // 2])


_ANYWHERE = 14  # names the stream
_TYPICAL = 300  # points all over the space at which the chance of success is looked at
_KNOWN = 0.1  # of the standard deviation of the values told: what is known of f so well is not worth another look


@dataclass(frozen=True)
class Surrogates:
    """Models of f, of the constraints and of failures, from the same trials."""

    domain: Domain
    model: LearnedModel
    constraints: Constraints
    feasibility: Feasibility

    def tell(self, updates: Sequence[Observation | Failure | Pruned]) -> None:
        """Take in trials; pruned ones say nothing of f or of failures."""
        told = [one for one in updates if isinstance(one, Observation)]
        self.model.tell(told)
        self.constraints.tell(told)
        ended = [one for one in updates if not isinstance(one, Pruned)]
        if ended:
            points = np.array([one.x for one in ended])
            succeeded = np.array([isinstance(one, Observation) for one in ended])
            self.feasibility.add_many(self.domain.features(points), succeeded)

    def near(
        self, centre: Array, sides: Array, count: int, *, box: bool = False, samples: int | None = None
    ) -> Surrogates:
        """Return what the `count` trials nearest to a place say.

        Parameters
        ----------
        centre, sides
            The place, shape (D,), and what counts as one step along each axis, shape (D,).
        count
            How many trials.
        box
            Whether those of the box that reaches from the centre as far as `sides` come before all others.
        samples
            Of the hyper-parameters, to average over; None is as many as here.
        """
        columns = self.domain.features(self.domain.rounded(centre[None, :]))[0]
        choices = np.array([axis.is_choice for axis in self.domain.axes])
        steps = np.where(choices, 1.0, sides)[list(self.domain.groups)]
        return Surrogates(
            self.domain,
            self.model.near(centre, sides, count, box=box, samples=samples),
            self.constraints.near(centre, sides, count, box=box),
            self.feasibility.near(columns, steps, count, box=box),
        )

    def averaged(self, centre: Array, sides: Array, count: int, noise: float) -> Surrogates:
        """Return what is believed near a place, with f from averages of trials: see `LearnedModel.averaged`."""
        near = self.near(centre, sides, count)
        return replace(near, model=self.model.averaged(centre, sides, count, noise))

    @property
    def points(self) -> Array:
        """The distinct points of the model's observations, shape (n, D)."""
        return self.model.x[group_rows(self.model.x)[0]]

    def spent(self, running: Array) -> Array:
        """Return the points not worth asking for, shape (m, D): those that run, (p, D), and those where f is known.

        Known it is where it was evaluated: a point beside it says as much, and a search that may ask for the highest
        point again does so for ever. Among integers and choices alone there is no such point; there the model decides.
        """
        points = self.points
        if not self.domain.smooth.any():
            points = points[self.model.current().ensemble.predict(self.domain.features(points)).mixture()[1] < _KNOWN]
        return np.vstack([points, running])

    def least_log_chance(self, seed: int, number: int) -> float:
        """The log chance of success that the point of a trial needs: see `Feasibility.least_log_chance`."""
        if not self.feasibility.any_failed:
            return 0.0
        anywhere = self.domain.rounded(generator(seed, number, _ANYWHERE).random((_TYPICAL, self.domain.dimension)))
        allowed = anywhere[self.domain.allowed(anywhere)]
        typical = self.domain.features(allowed if len(allowed) else self.model.x)
        return self.feasibility.least_log_chance(self.feasibility.log_chance(typical)[0])

    def may_be_asked(self, points: Array, least: float) -> Bools:
        """Where rounded points (m, D) are allowed, likely enough to succeed, and believed to meet the constraints."""
        features = self.domain.features(points)
        fine = self.domain.allowed(points) & self.constraints.current().held(features)
        if self.feasibility.any_failed:
            fine &= self.feasibility.log_chance(features)[0] >= least
        return fine
