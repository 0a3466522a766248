"""The fitted mode of safe search: a model's quantiles in the place of bounds. Nothing here is certified.

For each guarded function the default method's surrogate is fitted, and gives each point a chance to be unsafe. The sum
of these over the functions may be at most the risk that the user takes. Two rules hold the model back where it knows
least: a point must lie near a trial whose own values kept every limit, and steps grow with the number of trials.

Where the models believe that a stated setting breaks a limit, or that nothing keeps them all, the search stops: what it
was told to rest on is wrong, as far as anybody can tell.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, Bools
from quadrat.errors import InvalidInput
from quadrat.methods.acquisition import scattered
from quadrat.methods.auto.surrogate import Fitted, LearnedModel
from quadrat.methods.base import Domain, Incumbent, Observation, Proposal, Search, refuse_context
from quadrat.methods.statements import Mixture
from quadrat.randomness import generator

__all__ = ["FittedSafeSearch"]

_FIRST = 5  # trials at least before hyper-parameters are learned at scheduled numbers of trials only
_JUDGED = 3  # trials at least before a stated setting is believed to be unsafe: one value may be bad luck
_SHORTEST, _LONGEST, _GROWTH = 0.05, 0.3, 0.01  # steps, in units of the cube's side: at first, at last, with each trial
_EACH, _UNIFORM = 12, 512  # candidates around each safe trial, and all over the cube
_SCALES = (0.2, 0.05, 0.01)
_SAME = 1e-9
_CANDIDATES = 53  # names the stream of candidates
_STOPPED = "the safe search has stopped: "
_UNLIKELY = 0.5  # the chance to be unsafe above which no setting is repeated, once hyper-parameters are learned


class FittedSafeSearch(Search):
    """A search that keeps away from limits as far as fitted models can tell.

    Parameters
    ----------
    domain, seed
        As of any search.
    stated
        Points that are stated to be safe, shape (k, D).
    limit
        Of the objective, from below; None where there is none.
    names
        Of the constraints.
    risk
        The chance of being unsafe that a point may have.
    noise
        Of one value of the objective; None learns it.
    turned
        Whether the objective is the negative of what the user minimises.
    """

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(
        self,
        domain: Domain,
        seed: int,
        *,
        stated: Array,
        limit: float | None,
        names: tuple[str, ...],
        risk: float,
        noise: float | None,
        turned: bool = False,
    ) -> None:
        self.domain, self.seed, self.stated = domain, seed, stated
        self.limits = (limit, *(0.0 for _ in names))
        self.names, self.risk = names, risk
        shown = [("objective", limit), *((f"constraint {name!r}", 0.0) for name in names)]
        self._shown = [
            "" if edge is None else f"the limit of the {name}, {(-edge if turned else edge) + 0.0:.4g}"
            for name, edge in shown
        ]
        self._first = first = max(_FIRST, domain.dimension + 2)
        self.models = tuple(
            LearnedModel(domain, seed, first, noise=noise if index == 0 else None) for index in range(len(self.limits))
        )
        self._safe: list[Array] = []  # points of trials whose values kept every limit

    def tell(self, observation: Observation) -> None:
        if len(observation.constraints) != len(self.names):
            wanted = ", ".join(map(repr, self.names)) or "no constraints"
            raise InvalidInput(
                f"constraints: expected {wanted}, got {len(observation.constraints)} numbers in trial"
                f" {observation.number}; name each in FittedSafe(constraints=[...])"
            )
        negated = [
            Observation(observation.number, observation.x, np.array([-told])) for told in observation.constraints
        ]
        means = [float(np.mean(observation.values)), *(-told for told in observation.constraints)]
        for model, one in zip(self.models, [observation, *negated], strict=True):
            model.tell([one])
        if all(limit is None or mean >= limit for limit, mean in zip(self.limits, means, strict=True)):
            self._safe.append(observation.x)

    def _chance(self, points: Array) -> Array:
        """Return the chance that the models give each point (k, D) to be unsafe, shape (k,)."""
        return np.asarray(np.minimum(self._chances(points).sum(axis=0), 1.0))

    def _chances(self, points: Array) -> Array:
        """Return the chance that each point (k, D) breaks each limit, shape (m + 1, k)."""
        from scipy.special import ndtr

        features, found = self.domain.features(points), np.zeros((len(self.models), len(points)))
        for index, (model, limit) in enumerate(zip(self.models, self.limits, strict=True)):
            if limit is not None:
                fitted = model.stated()
                at = fitted.ensemble.predict(features)
                edge = float(fitted.transform.apply(np.array([limit]))[0])
                found[index] = ndtr((edge - at.mean) / np.maximum(at.deviation, 1e-12)).mean(axis=0)
        return found

    def _likeliest(self, points: Array) -> str:
        """Return in words the limit that these points (k, D) break most likely."""
        return self._shown[int(np.argmax(self._chances(points).max(axis=1)))]

    def _near(self, points: Array) -> Bools:
        """Return which points (k, D) lie near a safe trial, or one that is stated."""
        centres = np.vstack([self.stated, *(point[None] for point in self._safe)])
        reach = min(_SHORTEST + _GROWTH * self.models[0].trials, _LONGEST)
        return np.asarray(np.abs(points[:, None] - centres[None]).max(axis=2).min(axis=1) <= reach)

    def exhausted(self, pending: Array) -> str | None:  # noqa: ARG002
        """Return why nothing may be evaluated any more: what was stated to be safe is believed not to be.

        One stated setting that is so with probability 1 - risk is enough: the others rest on the same knowledge. What
        is likelier unsafe than not is not repeated either, where no other point seems safe.
        """
        if self.models[0].trials < _JUDGED:
            return None
        tried = self.stated[~_apart(self.stated, self.models[0].x)]
        chance = self._chance(tried) if len(tried) else np.empty(0)
        if (chance >= 1 - self.risk).any():
            why = f"the model gives a setting that is stated to be safe a chance of {_percent(chance.max())}"
        elif self.models[0].trials >= self._first and len(tried) == len(self.stated) and (chance > _UNLIKELY).all():
            if self._known_safe():
                return None
            why = f"the model gives each setting that is stated to be safe a chance of {_percent(chance.min())} or more"
        else:
            return None
        return f"{_STOPPED}{why} to break {self._likeliest(tried)}; state other settings that are safe"

    def limit_warning(self, point: Array) -> str | None:
        """Return in a sentence that a point (D,) is not believed to keep every limit; None where it is."""
        chance = float(self._chance(point[None])[0])
        if chance <= self.risk:
            return None
        return (
            f"The model gives it a chance of {_percent(chance)} to break {self._likeliest(point[None])}, and `risk`"
            f" allows {_percent(self.risk)}."
        )

    def _known_safe(self) -> bool:
        """Return whether a trial that kept every limit is believed to lie where they are kept."""
        return bool(self._safe) and bool((self._chance(np.array(self._safe)) <= self.risk).any())

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        new = self.stated[_apart(self.stated, np.vstack([pending, self.models[0].x]))]
        if len(new) or not self.models[0].trials:
            return Proposal(np.array(new[0] if len(new) else self.stated[0]), "stated to be safe")
        rng = generator(self.seed, number, _CANDIDATES)
        centres = np.unique(np.vstack([self.stated, *(point[None] for point in self._safe)]), axis=0)
        points = np.vstack(
            [centres, scattered(centres, _EACH, _SCALES, rng), rng.random((_UNIFORM, self.domain.dimension))]
        )
        points = self.domain.rounded(points)
        points = points[self.domain.allowed(points) & self._near(points) & _apart(points, pending)]
        chance = self._chance(points) if len(points) else np.empty(0)
        allowed = chance <= self.risk
        if not allowed.any():
            return Proposal(
                np.array(self.stated[number % len(self.stated)]), "stated to be safe; no other point seems so"
            )
        points, chance = points[allowed], chance[allowed]
        best = int(np.argmax(self._improvement(points)))
        return Proposal(points[best], f"largest expected improvement where {chance[best]:.2%} or less seem at risk")

    def _improvement(self, points: Array) -> Array:
        """Return the expected improvement on the best mean of the safe trials, shape (k,)."""
        from scipy.special import ndtr

        fitted = self._objective
        at = fitted.ensemble.predict(self.domain.features(points))
        known = np.vstack([self.stated, *(point[None] for point in self._safe)])
        best = fitted.ensemble.predict(self.domain.features(known)).mean.max(axis=1, keepdims=True)
        deviation = np.maximum(at.deviation, 1e-12)
        z = (at.mean - best) / deviation
        each = deviation * (z * ndtr(z) + np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))
        return np.asarray(each.mean(axis=0))

    @property
    def _objective(self) -> Fitted:
        return self.models[0].stated()

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the evaluated point of highest mean, of those that seem safe; with a 90 % credible interval."""
        refuse_context(self, context)
        points = self.models[0].x
        chance = self._chance(points)
        kept = chance <= max(self.risk, float(chance.min()))
        points = points[kept]
        fitted = self._objective
        mean, _ = fitted.ensemble.predict(self.domain.features(points)).mixture()
        best = int(np.argmax(mean))
        here = fitted.ensemble.predict(self.domain.features(points[[best]]))
        belief = Mixture(here.mean[:, 0], here.deviation[:, 0], fitted.transform)
        return Incumbent.believed(points[best].copy(), belief, None)

    def predict(self, points: Array) -> tuple[Array, Array, Array]:
        """The median with a 90 % credible interval, shapes (m,)."""
        fitted = self._objective
        low, value, high = fitted.transform.undo(
            fitted.ensemble.predict(self.domain.features(points)).quantiles([0.05, 0.5, 0.95])
        )
        return value, low, high

    def safe_region(self) -> str:
        """Return why there is no certified region, and what is expected in its place."""
        return (
            "nothing is certified: FittedSafe asks a fitted model, by which each evaluation has a chance of at most"
            f" {self.risk:g} to be unsafe; Safe certifies, from a stated kernel, norm bound and noise"
        )

    def explain(self) -> dict[str, object]:
        stopped = self.exhausted(np.empty((0, self.domain.dimension)))
        return {
            "stopped": None if stopped is None else stopped.removeprefix(_STOPPED),
            "trials": self.models[0].trials,
            "safe trials": len(self._safe),
            "expected share of unsafe evaluations": f"at most {self.risk:g}, if the model is right",
        }


def _apart(points: Array, others: Array) -> Bools:
    """Return which points (k, D) are none of the others (p, D)."""
    if not len(others):
        return np.ones(len(points), dtype=np.bool_)
    return np.asarray((np.abs(points[:, None] - others[None]).max(axis=2) > _SAME).all(axis=1))


def _percent(chance: float) -> str:
    """Return a chance in per cent: never 100, which a model cannot know."""
    return "more than 99 %" if chance > 0.99 else f"{100 * chance:.2g} %"
