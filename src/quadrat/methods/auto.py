"""Auto, the default method: expected improvement averaged over what the hyper-parameters may be. Nothing to set.

References
----------
[J98]  Jones, Schonlau and Welch (1998). Efficient global optimization of expensive black-box functions. J. Global
       Optimization.
[S12]  Snoek, Larochelle and Adams (2012). Practical Bayesian optimization of machine learning algorithms. NeurIPS.
[A23]  Ament et al. (2023). Unexpected improvements to expected improvement for Bayesian optimization. NeurIPS.
[G14]  Gelbart, Snoek and Adams (2014). Bayesian optimization with unknown constraints. UAI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quadrat.arrays import Array
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction
from quadrat.gp.observations import group_rows
from quadrat.methods.acquisition import UPPER, excesses, improvement, points_around, scattered
from quadrat.methods.ascent import ascend
from quadrat.methods.auto_model import LearnedModel
from quadrat.methods.base import CREDIBLE, Guess, Method, MethodFacts, Proposal, Search, Told
from quadrat.methods.constraints import Chances, Constraints
from quadrat.methods.domain import Domain
from quadrat.methods.feasibility import Feasibility
from quadrat.methods.repeats import knowledge_gradients
from quadrat.methods.sobol_search import SobolSearch
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["Auto"]

_CANDIDATES, _GAIN, _ANYWHERE = 12, 13, 14  # names of streams

UNIFORM = 300  # candidates over the whole cube
NEAR = 20  # candidates around each of the best points, at each of the scales
SCALES = (0.2, 0.05, 0.01)
BEST = 4  # evaluated points that candidates are scattered around
CLIMBS = 4
FEWEST = 3  # trials told before the model decides: with several at once, fewer are when the design has been asked for
PROMISING = 12  # evaluated points, the best, that a second look is considered at
_LEAST_WORTH = 1e-3  # of the standard deviation of all values, below which no second look is taken
REPEAT_WORTH = 2.0  # times a new point's worth, for a look again: a new point also says what is around it
STEPS = 12  # of the climbs, all at once
_REFUSED = -1e200  # the score of what is likelier to fail than may be; lower still with a smaller chance
_APART = 0.02  # in some coordinate: climbs from the same place end at the same place
_SCREENED = 1024  # points, of which
_POINTS, _DRAWS_OF_F = 256, 64  # f is drawn at so many, so often, to estimate what is still to gain
# A model that has learned its settings from the same data is too sure of itself. Chosen on odd seeds of the functions
# of benchmarks/regret, so that intervals cover 90 % and upper values of the gain 90 %.
WIDER, WIDER_GAIN, TEMPER = 1.35, 6.4, 0.2


@dataclass(frozen=True, kw_only=True)
class Auto(Method):
    """Evaluate where the expected improvement, averaged over hyper-parameter settings, is largest [J98; S12; A23].

    The first point is the centre of the space, which people place where they expect something good; then come points
    of a Sobol sequence, and from `n_initial` on the model decides. Noise, scale and length-scales are learned. Integers
    and choices are seen by the model as the settings they are. Where trials failed, the improvement is weighted by the
    chance to succeed [G14], more strongly with every failure. Where constraints are told, it is weighted by the chance
    that they hold, and what is recommended is believed to meet them: see `quadrat.methods.constraints`.

    Parameters
    ----------
    n_initial
        Trials before the model decides, >= 1.
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Auto: expected improvement averaged over learned hyper-parameters",
        paper="Jones et al. 1998; averaged: Snoek et al. 2012; in logarithms: Ament et al. 2023",
        assumes="f is a draw of a Gaussian process whose hyper-parameters are learned",
        handles=("pending points", "replicates", "standard errors", "integers and choices", "failures", "constraints"),
    )

    n_initial: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_initial", as_count(self.n_initial, name="n_initial", at_least=1))

    def start(self, dimension: int, seed: int) -> AutoSearch:
        return self.start_in(Domain.cube(dimension), seed)

    def start_in(self, domain: Domain, seed: int) -> AutoSearch:
        return AutoSearch(self, domain, seed)


class AutoSearch(Search):
    """The default method at work."""

    def __init__(self, method: Auto, domain: Domain, seed: int) -> None:
        self.method, self.domain, self.seed = method, domain, seed
        self.model = LearnedModel(domain, seed, max(method.n_initial, 2))
        self.constraints = Constraints(domain, seed, self.model.first)
        self.feasibility = Feasibility(len(domain.groups))
        self._failed: set[bytes] = set()
        self._design = SobolSearch().start(domain.dimension, seed)

    def tell(self, told: Told) -> None:
        self.model.tell(told)
        self.constraints.tell(told)
        self.feasibility.add(self.domain.features(told.x[None, :])[0], True)

    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002  # when it failed does not matter
        self.feasibility.add(self.domain.features(x[None, :])[0], False)
        self._failed.add(x.tobytes())

    def ask(self, number: int, pending: Array) -> Proposal:
        if number == 0:
            return Proposal(np.full(self.domain.dimension, 0.5), "the centre of the space")
        if number < self.method.n_initial or self.model.trials < min(FEWEST, self.model.first):
            return Proposal(self._design.ask(number, pending).x, f"initial design, point {number + 1}")
        _, ensemble = self.model.current()
        x = self.model.x[group_rows(self.model.x)[0]]
        features, chances = self.domain.features(x), self.constraints.current()
        means = ensemble.predict(features).mean
        best = x[chances.order(means.mean(axis=0), features)[:BEST]]
        # Each setting's own best mean: free of the luck of one draw. Minus infinity where no point counts.
        target = means[:, chances.held(features)].max(axis=1, initial=-np.inf)
        # What failed is the feasibility's business; what runs is expected at its mean, and is to be improved upon.
        running = [point for point in pending if point.tobytes() not in self._failed]
        believed = self.domain.features(np.array(running).reshape(-1, self.domain.dimension))
        if running:
            expected = ensemble.predict(believed).mean[:, chances.held(believed)]
            target = np.maximum(target, expected.max(axis=1, initial=-np.inf))
        score = _Score(
            ensemble.believing(believed),
            target,
            self.domain,
            self.feasibility,
            chances.believing(believed),
            self._least_log_chance(number),
        )
        point, value = score.maximise(best, generator(self.seed, number, _CANDIDATES))
        if not score.improves:
            return Proposal(point, f"largest log chance that the constraints hold ({value:.3g})")
        safe = chances.held(features)
        if self.feasibility.any_failed:
            safe &= self.feasibility.log_chance(features)[0] >= score.least
        again = self._worth_repeating(point, x[safe], pending) if safe.any() else None
        if again is not None:
            return Proposal(again, "a second look at a promising point is worth more than a new one")
        return Proposal(point, f"largest log expected improvement ({value:.3g})")

    def _worth_repeating(self, point: Array, evaluated: Array, pending: Array) -> Array | None:
        """Return the evaluated point (D,) that is better observed again than `point` (D,) is observed, or None."""
        objective, ensemble = self.model.current()
        means, _ = ensemble.predict(self.domain.features(evaluated)).mixture()
        top = evaluated[np.argsort(-means, kind="stable")[:PROMISING]]
        noise = np.array([objective.typical_noise(parameters) for parameters in ensemble.settings])
        worth = knowledge_gradients(ensemble, self.domain.features(top), self.domain.features(point[None, :]), noise)
        busy = (top[:, None, :] == pending[None]).all(axis=2).any(axis=1)
        best = int(np.argmax(np.where(busy, -np.inf, worth[:-1])))
        enough = max(REPEAT_WORTH * worth[-1], _LEAST_WORTH)
        return top[best] if not busy[best] and worth[best] > enough else None

    def _least_log_chance(self, number: int) -> float:
        """The log chance of success that the point of a trial needs: see `Feasibility.least_log_chance`."""
        if not self.feasibility.any_failed:
            return 0.0
        anywhere = self.domain.rounded(generator(self.seed, number, _ANYWHERE).random((UNIFORM, self.domain.dimension)))
        allowed = anywhere[self.domain.allowed(anywhere)]
        typical = self.domain.features(allowed if len(allowed) else self.model.x)
        return self.feasibility.least_log_chance(self.feasibility.log_chance(typical)[0])

    def recommend(self) -> Guess:
        """Return the evaluated point of highest averaged mean, with a 90 % credible interval.

        Of those where the constraints are believed to hold, and were not told otherwise if there are such; where there
        is none, the one with the best chance.
        """
        _, ensemble = self.model.current()
        features, chances = self.domain.features(self.model.x), self.constraints.current()
        mean, deviation = ensemble.predict(features).mixture()
        best = int(chances.order(mean, features, self.constraints.violated(self.model.x))[0])

        margin = WIDER * CREDIBLE * deviation[best]
        value, low, high = self.model.units().told(mean[best] + margin * np.array([0.0, -1.0, 1.0])).tolist()
        x = self.model.x[best]
        # Where not even x is believed to meet the constraints, a gain in f means nothing.
        held = bool(chances.held(features[[best]])[0])
        gain, upper = self._gain(x, generator(self.seed, self.model.trials, _GAIN)) if held else (None, None)
        feasibility = chances.feasibility(features[best])
        return Guess(x, value, (low, high), gain=gain, gain_upper=upper, feasibility=feasibility)

    def _gain(self, x: Array, rng: np.random.Generator) -> tuple[float, float]:
        """Estimate max f - f(x), in the units told, by drawing f jointly: a mean, and a value that is seldom exceeded.

        Where the constraints are believed to hold. The upper value does not rest on the smoothness that was chosen: a
        search that has settled on a peak sees a smooth f around it, whatever is elsewhere. It is averaged over all of
        them, with weights that grow more slowly with the evidence than probabilities do.
        """
        others = self.domain.rounded(points_around(x, _SCREENED, rng))
        features = self.domain.features(others)
        features = features[self.domain.allowed(others) & self.constraints.current().held(features)]
        here, scale = self.domain.features(x[None, :]), self.model.units().above
        gain = float(np.mean(_excesses(self.model.current()[1], here, features, rng)))
        alternatives = self.model.alternatives()
        logs = TEMPER * np.array([log_posterior for log_posterior, _ in alternatives])
        weights = np.exp(logs - logs.max())
        uppers = [np.quantile(_excesses(ensemble, here, features, rng), UPPER) for _, ensemble in alternatives]
        upper = WIDER_GAIN * float(np.average(uppers, weights=weights))
        return scale * gain, scale * max(upper, gain)

    def explain(self) -> dict[str, object]:
        if not self.model.trials:
            return {"trials": 0}
        objective, ensemble = self.model.current()
        units = self.model.units()
        return {
            "trials": self.model.trials,
            "smoothness": self.model.smoothness,
            "settings": [dict(zip(objective.names, np.exp(row).tolist(), strict=True)) for row in ensemble.settings],
            "shift": units.shift,
            "scale": units.scale,
            "low values compressed": units.compression is not None,
            "constraints": self.constraints.explain(),
        }


def _excesses(ensemble: Ensemble, here: Array, others: Array, rng: np.random.Generator) -> Array:
    """Draw max f - f(here) under each setting, at those of the other points (m, F) that may be highest."""
    mean, deviation = ensemble.predict(others).mixture()
    highest = np.argsort(-(mean + 2 * deviation), kind="stable")[: _POINTS - 1]
    pairs = zip(*ensemble.covariances(np.vstack([here, others[highest]])), strict=True)
    return np.concatenate([excesses(mean, joint, _DRAWS_OF_F, rng) for mean, joint in pairs])


def log_improvement(at: EnsemblePrediction, target: Array) -> tuple[Array, Array | None]:
    """Return log of the mean over settings of E max(f - target, 0), (m,), and its gradient, (m, F) or None.

    Parameters
    ----------
    at
        Means and deviations under M settings; with gradients, or without.
    target
        What is to be improved upon, under each setting, shape (M,).
    """
    z = (at.mean - target[:, None]) / at.deviation
    log_h, share, density = (part.reshape(z.shape) for part in improvement(z.ravel()))
    value, relative, total = at.log_average(np.log(at.deviation), log_h)
    if at.mean_gradient is None or at.deviation_gradient is None:
        return value, None
    # d EI = Phi(z) dm + phi(z) ds for each setting; divided by the sum of EI they are slopes of its logarithm.
    weights = relative / (total * at.deviation)
    slope = np.einsum("sm,smf->mf", weights * share, at.mean_gradient)
    slope += np.einsum("sm,smf->mf", weights * density, at.deviation_gradient)
    return value, slope


@dataclass(frozen=True)
class _Score:
    """What is maximised: the log of averaged improvement times the chances to succeed and to meet the constraints.

    Where there is nothing to improve upon, the target is minus infinity and the chances alone count.
    """

    ensemble: Ensemble
    target: Array
    domain: Domain
    feasibility: Feasibility
    chances: Chances
    least: float = 0.0  # the log chance of success that a point needs

    @property
    def improves(self) -> bool:
        """Whether there is anything to improve upon."""
        return bool(np.isfinite(self.target).all())

    def at(self, points: Array) -> Array:
        """Scores of rounded points (m, D), shape (m,); minus infinity where they may not be evaluated."""
        features = self.domain.features(points)
        value = self.chances.log_chance(features)
        if self.improves:
            value = value + log_improvement(self.ensemble.predict(features), self.target)[0]
        if self.feasibility.any_failed:
            value = self._where_it_may_succeed(value, self.feasibility.log_chance(features)[0])
        return value if self.domain.feasible is None else np.where(self.domain.allowed(points), value, -np.inf)

    def slope(self, points: Array) -> tuple[Array, Array]:
        """Scores of points and their gradients along the smooth axes, as if these were not rounded."""
        features = self.domain.features(points)
        value, gradient = self.chances.slope(features)
        if self.improves:
            gained, more = log_improvement(self.ensemble.predict_with_gradients(features), self.target)
            assert more is not None
            value, gradient = value + gained, gradient + more
        if self.feasibility.any_failed:
            chance, more = self.feasibility.log_chance(features)
            value, gradient = self._where_it_may_succeed(value, chance), gradient + more
        return value, self.domain.slopes(gradient)

    def _where_it_may_succeed(self, value: Array, log_chance: Array) -> Array:
        """Scores with the chance of success in them; below every other where it is too small."""
        return np.where(log_chance >= self.least, value + log_chance, _REFUSED * (1 - log_chance))

    def maximise(self, best: Array, rng: np.random.Generator) -> tuple[Array, float]:
        """Score candidates all over and around the best points told, (b, D); climb from the highest that lie apart."""
        near = scattered(best, NEAR * len(SCALES), SCALES, rng)
        candidates = [rng.random((UNIFORM, self.domain.dimension)), near]
        if not self.domain.smooth.all():
            candidates += [self.domain.neighbours(centre, rng) for centre in best]
        points = self.domain.rounded(np.vstack(candidates))
        values = self.at(points)
        starts: list[int] = []
        for row in np.argsort(-values, kind="stable"):
            if all(np.abs(points[row] - points[start]).max() > _APART for start in starts):
                starts.append(int(row))
                if len(starts) == CLIMBS:
                    break
        ends = points[starts]
        if self.domain.smooth.any():
            ends = np.vstack([ends, self.domain.rounded(ascend(self.slope, ends, steps=STEPS)[0])])
        heights = self.at(ends)
        top = int(np.argmax(heights))
        x, height = ends[top], float(heights[top])
        if not self.domain.smooth.all():
            others = self.domain.neighbours(x, rng)
            heights = self.at(others)
            if len(others) and heights.max() > height:
                x, height = others[int(np.argmax(heights))], float(heights.max())
        return x, height
