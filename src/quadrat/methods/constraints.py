"""Constraints that are measured with f: the chance that all of them hold, learned from the values told.

Each constraint c_j <= 0 has a Gaussian process of its own over the same features as f, with its most likely
hyper-parameters, in standardised units, where the limit 0 is t_j = -shift / scale. Given what was told they are
independent, so that with means m_j and deviations s_j

    log P(c_j(x) <= 0 for all j) = sum_j log Phi((t_j - m_j(x)) / s_j(x)).

Expected improvement is multiplied by this chance [G14; GK14]; as long as no point is believed to meet the
constraints there is nothing to improve upon, and the chance alone is maximised [G14].

References
----------
[G14]   Gelbart, Snoek and Adams (2014). Bayesian optimization with unknown constraints. UAI.
[GK14]  Gardner, Kusner, Xu, Weinberger and Cunningham (2014). Bayesian optimization with inequality constraints. ICML.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

import numpy as np

from quadrat.arrays import Array, Bools, Ints
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction
from quadrat.methods.acquisition import log_probability_of_improvement
from quadrat.methods.auto_model import LearnedModel
from quadrat.methods.base import Told
from quadrat.methods.domain import Domain

__all__ = ["Chances", "Constraints"]

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
    ...     constraints.tell(Told(number, np.array([x]), np.array([0.0]), constraints=(x - 0.6,)))
    >>> constraints.current().held(np.array([[0.2], [0.55], [0.65], [0.8]])).tolist()
    [True, True, False, False]
    """

    def __init__(self, domain: Domain, seed: int, first: int) -> None:
        self.domain, self.seed, self.first = domain, seed, first
        self._models: tuple[LearnedModel, ...] = ()
        self._learns = True
        self._sums: dict[bytes, tuple[float, ...]] = {}  # of what was told at each point

    def tell(self, told: Told) -> None:
        """Take in one trial; one without constraints says nothing here."""
        if not told.constraints:
            return
        if not self._models:
            self._models = tuple(
                _ConstraintModel(self.domain, self.seed, self.first, settings=1, compresses=False)
                for _ in told.constraints
            )
            if not self._learns:
                self.stop_learning()
        for model, value in zip(self._models, told.constraints, strict=True):
            model.tell(Told(told.number, told.x, np.array([value])))
        key = (told.x + 0.0).tobytes()  # + 0.0 turns -0.0 into 0.0
        before = self._sums.get(key, (0.0,) * len(told.constraints))
        self._sums[key] = tuple(old + new for old, new in zip(before, told.constraints, strict=True))

    def stop_learning(self) -> None:
        """See `LearnedModel.stop_learning`."""
        self._learns = False
        for model in self._models:
            model.stop_learning()

    def near(self, centre: Array, sides: Array, count: int, *, box: bool = False) -> Constraints:
        """Return what the trials nearest to a place, (D,), with steps of `sides`, (D,), say: see `nearest`."""
        other = Constraints(self.domain, self.seed, self.first)
        other._models = tuple(model.near(centre, sides, count, box=box) for model in self._models)
        other._sums = self._sums
        return other

    def current(self) -> Chances:
        """Return what is believed, given all that was told."""
        limits = (float(model.units().seen(np.zeros(()))) for model in self._models)
        return Chances(tuple((model.current()[1], limit) for model, limit in zip(self._models, limits, strict=True)))

    def violated(self, points: Array) -> Bools:
        """Return where the means of what was told at exactly these points (m, D) are not all <= 0, shape (m,)."""
        return np.array([max(self._sums.get((x + 0.0).tobytes(), (0.0,))) > 0 for x in points], dtype=np.bool_)

    def explain(self) -> list[dict[str, object]]:
        """Return the learned hyper-parameters of each constraint and its units, as plain data."""
        rows: list[dict[str, object]] = []
        for model in self._models:
            objective, ensemble = model.current()
            units = model.units()
            setting = dict(zip(objective.names, np.exp(ensemble.settings[0]).tolist(), strict=True))
            rows.append({"setting": setting, "shift": units.shift, "scale": units.scale})
        return rows


@dataclass(frozen=True)
class Chances:
    """What is believed of constraints: for each of them a posterior and its limit, in standardised units."""

    beliefs: tuple[tuple[Ensemble, float], ...] = ()

    def log_chance(self, features: Array) -> Array:
        """Return the log of the chance that all constraints hold at these rows (m, F), shape (m,)."""
        total = np.zeros(len(features))
        for ensemble, limit in self.beliefs:
            total += _log_chance(ensemble.predict(features), limit)[0]
        return total

    def slope(self, features: Array) -> tuple[Array, Array]:
        """Return the same, shape (m,), and its gradient, shape (m, F)."""
        total, gradient = np.zeros(len(features)), np.zeros_like(features)
        for ensemble, limit in self.beliefs:
            value, slope = _log_chance(ensemble.predict_with_gradients(features), limit)
            assert slope is not None
            total, gradient = total + value, gradient + slope
        return total, gradient

    def held(self, features: Array) -> Bools:
        """Return where all constraints are believed to hold, with a chance of one half at least, shape (m,)."""
        return self.log_chance(features) >= _BELIEVED

    def feasibility(self, features: Array) -> float | None:
        """Return the chance that all constraints hold at one point (F,); None where there are none."""
        return exp(float(self.log_chance(features[None, :])[0])) if self.beliefs else None

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
        return Chances(tuple((ensemble.believing(features), limit) for ensemble, limit in self.beliefs))


class _ConstraintModel(LearnedModel):
    """The model of one constraint: what matters is where it crosses 0, not how far from there it gets."""

    fences: ClassVar[bool] = False  # a fence could hide the limit; values far out are clipped below
    _most: float | None = None  # what a value counts for at most, where that is known from other trials than these

    @property
    def y(self) -> Array:
        """All observations as the model sees them, shape (N,): on their side of 0, but neither on it nor far away.

        A count of errors, or max(0, excess), is never negative. It holds where it is 0, and how clearly is not told:
        left as it is, half of the belief would lie above the limit at every such point. So a 0 counts as minus half the
        median of what lies above, and the limit runs between the points where the constraint holds and the others.

        And a value far out, such as 1e6 for "not at all", would set the scale for all others, and what they say of the
        limit would drown. So nothing counts for more than a few times the median size of the first few: later ones
        gather around the limit, where the search wants to be.
        """
        told = super().y
        if not (told != 0).any():
            return told - 1.0
        most = self._largest() if self._most is None else self._most
        if not (told < 0).any():
            told = np.where(told == 0, -0.5 * _median(told[told > 0]), told)
        return np.clip(told, -most, most)

    def _like(self, settings: int | None = None) -> LearnedModel:
        """As of any model; but the first few trials are those of the run: the ones near a place say where it is."""
        other = super()._like(settings)
        assert isinstance(other, _ConstraintModel)
        other._most = self._largest()
        return other

    def _largest(self) -> float:
        """What a value counts for at most."""
        told = super().y
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
