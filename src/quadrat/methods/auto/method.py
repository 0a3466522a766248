"""Auto, the default method: expected improvement averaged over what the hyper-parameters may be. Nothing to set.

References
----------
[J98]  Jones, Schonlau and Welch (1998). Efficient global optimization of expensive black-box functions. J. Global
       Optimization.
[S12]  Snoek, Larochelle and Adams (2012). Practical Bayesian optimization of machine learning algorithms. NeurIPS.
[A23]  Ament et al. (2023). Unexpected improvements to expected improvement for Bayesian optimization. NeurIPS.
[E19]  Eriksson et al. (2019). Scalable global optimization via local Bayesian optimization. NeurIPS.
[G14]  Gelbart, Snoek and Adams (2014). Bayesian optimization with unknown constraints. UAI.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import QuadratWarning
from quadrat.gp import LeaveOneOut
from quadrat.gp.ensemble import Ensemble
from quadrat.gp.uneven_noise import UnevenNoise
from quadrat.methods.acquisition import VISITED, points_around
from quadrat.methods.auto.acquisition import AutoAcquisition, expected_highest, knowledge_gradients
from quadrat.methods.auto.feasibility import Constraints, Feasibility, Surrogates
from quadrat.methods.auto.finite import (
    MANY,
    FiniteSpace,
    agreeing_repeats,
    nearest_to,
    shows_exactness,
    shows_noise,
)
from quadrat.methods.auto.long_runs import MOST, AutoCells, highest_of_a_draw, nearest_running
from quadrat.methods.auto.surrogate import LARGEST, LearnedModel
from quadrat.methods.base import (
    Domain,
    Failure,
    Incumbent,
    Method,
    MethodFacts,
    Observation,
    Proposal,
    Pruned,
    Search,
    Update,
    refuse_context,
)
from quadrat.methods.design import SobolSearch
from quadrat.methods.statements import CREDIBLE_LEVEL, Gain, Mixture
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["Auto"]

_CANDIDATES, _GAIN, _LEFT_OUT, _BRANCHING, _GLANCE, _TARGET = 12, 13, 19, 20, 22, 24  # names of streams

BEST = 4  # evaluated points that candidates are scattered around
FEWEST = 3  # trials told before the model decides: with several at once, fewer are when the design has been asked for
PROMISING = 12  # evaluated points, the best, that a second look is considered at
_LEAST_WORTH = 1e-3  # of the standard deviation of all values, below which no second look is taken
FEW = 1024  # settings of a finite space that are all looked at
_SCREENED = 1024  # points, of which
_POINTS, _DRAWS_OF_F = 256, 32  # f is drawn at so many, so often under each sample, to estimate what is still to gain
_DENSE = 1  # axes, up to which these are dense; with more, f is drawn at all that are screened,
_ANCHORS = 64  # which are independent given f at so many of them
_SURELY = 0.05  # below the chance at which a run stops: a few times how far two estimates from draws differ


@dataclass(frozen=True, kw_only=True)
class Auto(Method):
    """Evaluate where the expected improvement, averaged over hyper-parameter settings, is largest [J98; S12; A23].

    The first point is the centre of the space, which people place where they expect something good; then come points
    of a Sobol sequence, and from `n_initial` on the model decides. Noise, scale and length-scales are learned. Integers
    and choices are seen by the model as the settings they are. Where trials failed, the improvement is weighted by the
    chance to succeed [G14], more strongly with every failure. Where constraints are told, it is weighted by the chance
    that they hold, and what is recommended is believed to meet them: see `quadrat.methods.auto.feasibility`.

    A pruned trial has no value, and is no failure. Its point counts as one that runs, at the posterior mean. And the
    improvement is weighted by the chance that a trial runs to its end, as by that to succeed; it is learned from the
    trials that did and did not, apart from failures.

    In long runs a cell zooms into the best place, and takes turns with the search all over the space as its success
    decides; models are then of the observations near a place, so that asking costs the same however many there are
    [E19]: see `quadrat.methods.auto.long_runs`.

    Parameters
    ----------
    n_initial
        Trials before the model decides, >= 1, where all parameters are numbers that always exist. There is one more for
        each choice and each parameter that depends on another, and at most twice as many in all: a model that has seen
        a choice once believes too soon that it is bad.
    noise
        Standard deviation of the noise in one measurement, in the units told, >= 0: 0 where the objective always gives
        the same at the same point. None learns it.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(0, 1), kind=qd.Categorical(["a", "b"]))
    >>> objective = lambda p: (p["x"] - 0.3) ** 2 + (p["kind"] == "b")
    >>> found = qd.minimize(objective, space, n_trials=15, method=Auto())
    >>> found.params["kind"], abs(found.params["x"] - 0.3) < 0.05
    ('a', True)
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Auto: expected improvement averaged over learned hyper-parameters",
        paper="Jones et al. 1998; averaged: Snoek et al. 2012; in logarithms: Ament et al. 2023",
        assumes="f is a draw of a Gaussian process whose hyper-parameters are learned",
        best_for="anything, with nothing to set: the default",
        handles=("pending points", "replicates", "standard errors", "integers and choices", "failures", "constraints"),
    )
    estimates_gain: ClassVar[bool] = True
    # 1 had modes of the hyper-posterior and factors, 2 narrower priors of noise and amplitude, 3 on mixed spaces five
    # trials before the model, recommendations by what is stated and a weaker search for the best setting, 4 improvement
    # on the highest mean, and on continuous spaces recommendations by what is stated.
    version: ClassVar[int] = 5

    n_initial: int = 5
    noise: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_initial", as_count(self.n_initial, name="n_initial", at_least=1))
        if self.noise is not None:
            object.__setattr__(self, "noise", as_number(self.noise, name="noise", at_least=0.0))

    def start(self, domain: Domain, seed: int) -> AutoSearch:
        return AutoSearch(self, domain, seed)


class AutoSearch(Search):
    """The default method at work."""

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(self, method: Auto, domain: Domain, seed: int) -> None:
        self.method, self.domain, self.seed = method, domain, seed
        self.n_initial = method.n_initial + min(branching(domain), method.n_initial)
        self.model = LearnedModel(domain, seed, max(self.n_initial, 2), noise=method.noise)
        self.constraints = Constraints(domain, seed, self.model.first)
        self.feasibility = Feasibility(len(domain.groups))
        self.cells = AutoCells(self.surrogates, seed)
        self._failed: set[bytes] = set()
        self._pruned: dict[bytes, Array] = {}  # points, the latest last
        self._design = SobolSearch().start(domain, seed)
        self._contradicted = False  # that there is no noise
        self._space: FiniteSpace | None = None  # made when it is first asked for

    @property
    def surrogates(self) -> Surrogates:
        """Of all trials."""
        return Surrogates(self.domain, self.model, self.constraints, self.feasibility)

    @property
    def _believed(self) -> Surrogates:
        """Of all trials, where those that diverged count as failures; local models see to their own.

        The model of f is told that they are low, and little more: that whole regions diverge is for this one to learn.
        """
        surrogates = self.surrogates
        diverged = self.model.diverged() if self.model.is_of_all else self.model.x[:0]
        if not len(diverged):
            return surrogates
        return replace(surrogates, feasibility=self.feasibility.with_diverged(self.domain.features(diverged)))

    def tell(self, observation: Observation) -> None:
        self._take_in([observation])
        self._warn_of_noise()

    def _take_in(self, updates: Sequence[Observation | Failure | Pruned]) -> None:
        """Take in trials that came one after another."""
        self.cells.settle(self.surrogates)
        self.surrogates.tell(updates)
        self.cells.tell(self.surrogates, updates)

    def tell_many(self, observations: Sequence[Observation]) -> None:
        self.cells.settle(self.surrogates)
        self.surrogates.tell(observations)
        self._warn_of_noise()
        self.cells.tell_many(self.surrogates, observations)

    def _warn_of_noise(self) -> None:
        """Say once that values at one point differ, where it is stated that there is no noise."""
        if self.method.noise != 0.0 or self._contradicted or not self.model.is_of_all:
            return
        differing = self.model.differing()
        if differing is not None:
            self._contradicted = True
            warnings.warn(
                f"noise=0 is stated, but one setting gave {differing[0]:g} and {differing[1]:g}: state how large the"
                " noise is, or leave noise out and it is learned",
                QuadratWarning,
                stacklevel=2,
            )

    def fail(self, number: int, x: Array) -> None:
        self._take_in([Failure(number, x)])
        self._failed.add(x.tobytes())

    def prune(self, number: int, x: Array) -> None:
        self._take_in([Pruned(number, x)])
        self._avoid(x)

    def _avoid(self, x: Array) -> None:
        self._pruned.pop(x.tobytes(), None)
        self._pruned[x.tobytes()] = x

    def rebuild(self, updates: Sequence[Update]) -> None:
        """As of any search; of many trials, those that came after a cell has begun to zoom are taken in at once."""
        told = sum(len(one) if isinstance(one, tuple) else isinstance(one, Observation) for one in updates)
        if self.model.trials + told <= LARGEST:
            super().rebuild(updates)
            return
        for together, some in groupby(updates, key=lambda one: isinstance(one, tuple)):
            if together:
                super().rebuild(list(some))
            else:
                self._take_again([one for one in some if not isinstance(one, tuple)])

    def _take_again(self, updates: Sequence[Observation | Failure | Pruned]) -> None:
        """Take in trials that came one after another: one by one until a cell zooms, then all at once."""
        one_by_one = 0
        while one_by_one < len(updates) and not self.cells.begun:
            self.update(updates[one_by_one])
            one_by_one += 1
        rest = updates[one_by_one:]
        if rest:
            self._take_in(rest)
            self._failed.update(one.x.tobytes() for one in rest if isinstance(one, Failure))
            for one in rest:
                if isinstance(one, Pruned):
                    self._avoid(one.x)

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        new = self._new(pending)
        found = self._ask(number, pending, new)
        at = self.domain.rounded(found.x[None, :])[0]
        if new is None or (at == new).all(axis=1).any():
            return found
        return Proposal(nearest_to(at, new), f"{found.why}; moved to the nearest setting that is new")

    def exhausted(self, pending: Array) -> str | None:
        left = self._left(pending)
        if left is None or len(left):
            return None
        known = self._is_deterministic
        repeats = 0 if known or self.method.noise is not None else agreeing_repeats(self.model)
        if not known and repeats < MANY:
            return None
        assert self.domain.settings is not None
        running = any(point.tobytes() not in self._failed | self._pruned.keys() for point in pending)
        count, state = len(self.domain.settings), "evaluated or pending" if running else "evaluated"
        why = "the objective has no noise" if known else f"{repeats} repeats gave the same"
        return (
            f"{f'all {count} settings' if count > 1 else 'the only setting'} {state}, and {why}: nothing is left to"
            " suggest; widen the space to go on"
        )

    def _left(self, pending: Array) -> Array | None:
        """Return the settings that are neither evaluated nor among these points (p, D); None where there is no end."""
        if self.domain.settings is None:
            return None
        self._space = self._space or FiniteSpace(self.domain.settings)
        return self._space.without(np.vstack([self.model.places, pending]))

    def _new(self, pending: Array) -> Array | None:
        """Return settings, of which one is to be asked for as none was evaluated; None where any point may be."""
        left = self._left(pending)
        if left is None or not len(left):
            return None
        noisy = shows_noise(self.model) if self.method.noise is None else self.method.noise > 0
        return None if noisy else left

    @property
    def _is_deterministic(self) -> bool:
        """Whether it is known that there is no noise: it was stated, or repeats agree."""
        if self.method.noise is not None:
            return self.method.noise == 0.0
        return shows_exactness(self.model)

    def _ask(self, number: int, pending: Array, new: Array | None) -> Proposal:
        """Ask for a point, of settings that are `new` where there are such: see `_new`."""
        if number == 0:
            return Proposal(np.full(self.domain.dimension, 0.5), "the centre of the space")
        if number < self.n_initial or self.model.trials < min(FEWEST, self.model.first):
            return Proposal(self._design.ask(number, pending).x, f"initial design, point {number + 1}")
        # What failed is the feasibility's business; what runs is expected at its mean, and is to be improved upon. So
        # is what was pruned; the latest of both, at most `MOST`, where the model is of all trials.
        ended = self._failed | self._pruned.keys()
        running = self._points([point for point in pending if point.tobytes() not in ended])
        avoided = np.vstack([self._points(list(self._pruned.values())), running])
        believed = self._believed
        if self.cells.is_local(number):
            return self.cells.ask_locally(believed, number, avoided)
        if self.model.is_of_all and len(running) > MOST:
            return Proposal(highest_of_a_draw(believed, avoided, self.seed, number), "highest of a draw of f")
        if self.model.is_of_all:
            for suspect in self.model.suspects() if new is None else ():
                if not (suspect == running).all(axis=1).any():
                    return Proposal(suspect, "measured again: its value is far above what the others say")
            return self._improve(believed, number, avoided[-MOST:], new=new)
        surrogates, box = self.cells.most_promising(self.surrogates, running)
        return self._improve(surrogates, number, avoided, box)

    def _points(self, points: Sequence[Array]) -> Array:
        return np.array(points).reshape(-1, self.domain.dimension)

    def _improve(
        self,
        surrogates: Surrogates,
        number: int,
        running: Array,
        box: tuple[Array, Array] | None = None,
        new: Array | None = None,
    ) -> Proposal:
        """Ask for the point of a box, the whole cube where it is None, with the largest expected improvement.

        Where there are `new` settings (m, D), it is one of these. Of few settings, all are looked at.
        """
        ensemble = surrogates.model.current().ensemble
        x = surrogates.points
        features, chances = self.domain.features(x), surrogates.constraints.current()
        means = ensemble.predict(features).mean
        best = x[chances.order(means.mean(axis=0), features)[:BEST]]
        held = chances.held(features)
        # Each sample's own best. Minus infinity where no point counts.
        target = means[:, held].max(axis=1, initial=-np.inf)
        if held.any() and surrogates.model.current().noise_variances.any():
            target = expected_highest(ensemble, features[held], means[:, held], generator(self.seed, number, _TARGET))
        close = running if box is None else nearest_running(running, *_middle_and_reach(box), box=True)
        believed, completion = self.domain.features(close), self._completion(surrogates, close)
        if len(close):
            expected = ensemble.predict(believed).mean[:, chances.held(believed)]
            target = np.maximum(target, expected.max(axis=1, initial=-np.inf))
        # Where there is no noise, nothing is learned from measuring again, and what is known to be highest would be.
        once = new is not None or not surrogates.model.current().noise_variances.any()
        spent = np.vstack([x, running]) if once else None if box is None else surrogates.spent(running)
        score = AutoAcquisition(
            ensemble.believing(believed),
            target,
            self.domain,
            surrogates.feasibility,
            chances.believing(believed),
            surrogates.least_log_chance(self.seed, number),
            spent,
            completion,
            0.0
            if completion is None
            else replace(surrogates, feasibility=completion).least_log_chance(self.seed, number),
        )
        settings = self.domain.settings if new is None and box is None else new
        if settings is not None and len(settings) <= FEW:
            point, value = score.best_of(settings)
        else:
            point, value = score.maximise(best, generator(self.seed, number, _CANDIDATES), box)
        if not score.improves:
            return Proposal(point, f"largest log chance that the constraints hold ({value:.3g})")
        if box is not None:
            return Proposal(point, f"largest log expected improvement ({value:.3g}) in the most promising cell")
        safe = held & (new is None)
        if surrogates.feasibility.any_failed:
            safe &= surrogates.feasibility.log_chance(features)[0] >= score.least
        again = self._worth_repeating(point, x[safe], running) if safe.any() else None
        if again is not None:
            return Proposal(again, "a second look at a promising point is worth more than a new one")
        return Proposal(point, f"largest log expected improvement ({value:.3g})")

    def _completion(self, surrogates: Surrogates, close: Array) -> Feasibility | None:
        """Return the chance that a trial runs to its end; None where none of the points `close`, (p, D), was pruned.

        It is learned from the trials told and from those that were pruned, and kept apart from failures: a pruned trial
        is no crash.
        """
        stopped = self._points([point for point in close if point.tobytes() in self._pruned])
        if not len(stopped):
            return None
        completion, told = Feasibility(len(self.domain.groups)), surrogates.points
        completion.add_many(self.domain.features(told), np.ones(len(told), dtype=np.bool_))
        completion.add_many(self.domain.features(stopped), np.zeros(len(stopped), dtype=np.bool_))
        return completion

    def _worth_repeating(self, point: Array, evaluated: Array, running: Array) -> Array | None:
        """Return the evaluated point (D,) that is better observed again than `point` (D,) is observed, or None."""
        fitted = self.model.current()
        means, _ = fitted.ensemble.predict(self.domain.features(evaluated)).mixture()
        top = evaluated[np.argsort(-means, kind="stable")[:PROMISING]]
        if not fitted.noise_variances.any():
            return None  # nothing is learned from measuring again
        known, new = self.domain.features(top), self.domain.features(point[None, :])
        noise = fitted.noise_variances_at(np.vstack([known, new]))
        worth = knowledge_gradients(fitted.ensemble, known, new, noise)
        busy = (top[:, None, :] == running[None]).all(axis=2).any(axis=1)
        best = int(np.argmax(np.where(busy, -np.inf, worth[:-1])))
        enough = max(worth[-1], _LEAST_WORTH)
        return top[best] if not busy[best] and worth[best] > enough else None

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the evaluated point of highest averaged mean, with a 90 % credible interval.

        Of those where the constraints are believed to hold, and were not told otherwise if there are such; where there
        is none, the one with the best chance. Where there are too many observations for one model, of the best place
        that is known.
        """
        refuse_context(self, context)
        if self.model.is_of_all:
            return self._recommend(self._believed, self._undiverged())
        return self._recommend(*self._best_place())

    def _undiverged(self) -> Array:
        """Return the evaluated points, (n, D), without those that never gave a value: none of them is the best."""
        x, diverged = self.model.x, self.model.diverged()
        return np.asarray(x[~(x[:, None, :] == diverged[None]).all(axis=2).any(axis=1)])

    def _best_place(self) -> tuple[Surrogates, Array]:
        """Return what is believed around the best of the places that the cells know, and evaluated points there."""
        places = self.cells.best_places(self.surrogates)
        around = [self.cells.around(self.surrogates, place) for place in places]
        incumbents = [self._recommend(surrogates, surrogates.model.x, with_gain=False) for surrogates in around]
        ranks = [self._rank(incumbent) for incumbent in incumbents]
        best = ranks.index(max(ranks))
        if around[best].model.stated().is_exact:  # averages would make noise of how f varies
            return around[best], around[best].model.x
        return self.cells.averaged_around(self.surrogates, places[best], around[best])

    def leaves_more_than(self, limit: float) -> bool:
        """As of any search: f is drawn at so few points that only what is far from little is seen.

        The gain over more points is no smaller. The chance that it is at most `limit` must be well below the one at
        which a run stops, so that no other draws would say otherwise.
        """
        surrogates, sample = self._believed, self.domain.thin_sample
        if not self.model.is_of_all or sample is None or surrogates.constraints.exist:
            return False
        x = self._recommend(surrogates, self._undiverged(), with_gain=False).x
        rng = generator(self.seed, self.model.trials, _GLANCE)
        others = self.domain.rounded(points_around(x, _ANCHORS, rng))
        others = np.unique(self.domain.features(others[self.domain.allowed(others)]), axis=0)
        here, fitted = self.domain.features(x[None, :]), surrogates.model.stated()
        points = np.vstack([here, others[(others != here).any(axis=1)]])
        drawn = np.hstack(list(fitted.ensemble.draws(points, _DRAWS_OF_F, rng)))
        gain = Gain.of(drawn, np.zeros(len(points), dtype=np.bool_), fitted.transform.above)
        return bool(gain.chance_at_most(limit) < CREDIBLE_LEVEL - _SURELY)

    def _recommend(self, surrogates: Surrogates, points: Array, *, with_gain: bool = True) -> Incumbent:
        """Return the best of some evaluated points (m, D)."""
        fitted = surrogates.model.stated()
        features, chances = self.domain.features(points), surrogates.constraints.current()
        # What is stated is unsure of length-scales, the more so the more axes there are, as if a trial said little of
        # its neighbours. Then the luckiest would be the best. Which of some trials is best all values decide.
        judge = surrogates.model.current()
        mean, deviation = judge.ensemble.predict(features).mixture()
        told = surrogates.model.observed_at(points) if fitted.is_exact else None
        # Of few, the highest mean; of many the highest of means is a lucky one, and what is surely high is preferred.
        worth = told if told is not None else mean if self.model.is_of_all else mean - deviation
        best = int(chances.order(worth, features, surrogates.constraints.violated(points))[0])
        if told is None:
            here = fitted.ensemble.predict(features[[best]])
            belief = Mixture(here.mean[:, 0], here.deviation[:, 0], replace(fitted.transform, winsorization=None))
        else:  # what was told is f; a posterior comes as close to that as its matrix lets it
            belief = Mixture(told[[best]], np.zeros(1))
        x = points[best].copy()
        # Where not even x is believed to meet the constraints, a gain in f means nothing.
        held = bool(chances.held(features[[best]])[0])
        gain = self._gain(surrogates, x) if held and with_gain else None
        return Incumbent.believed(
            x, belief, gain, chances.feasibility(features[best]), fitted.noise_at(features[[best]])
        )

    def predict(self, points: Array) -> tuple[Array, Array, Array]:
        """The median with a 90 % credible interval, shapes (m,).

        Where there are too many observations for one model, of the model around the best place that is known.
        """
        surrogates = self.surrogates if self.model.is_of_all else self._best_place()[0]
        fitted = surrogates.model.stated()
        low, value, high = fitted.transform.undo(
            fitted.ensemble.predict(self.domain.features(points)).quantiles([0.05, 0.5, 0.95])
        )
        return value, low, high

    def leave_one_out(self) -> LeaveOneOut | None:
        """As of any search; the hyper-parameters are those that statements rest on, and more samples of them."""
        if not self.model.is_of_all or self.model.trials < self.model.first:
            return None
        fitted, trials, told = self.model.left_out()
        if len(fitted.data) < 2:
            return None
        found = LeaveOneOut.of(fitted.ensemble, generator(self.seed, self.model.trials, _LEFT_OUT), trials)
        found, winsorization = found.mapped(fitted.transform.undo), fitted.transform.winsorization
        if winsorization is None:  # what was told, and not what is left of it after there and back
            same = np.isclose(found.observed, told, rtol=1e-12, atol=1e-12 * fitted.transform.scale)
            exact = np.where(same, told, found.observed)
            return replace(found, observed=exact, seen=exact)
        return replace(found, observed=np.where(winsorization(told) == told, found.observed, told))

    def _rank(self, incumbent: Incumbent) -> tuple[bool, bool, float]:
        """What sorts incumbents of several models, the best last: see `Chances.order`."""
        if incumbent.feasibility is not None and incumbent.feasibility < 0.5 - 1e-9:
            return False, False, incumbent.feasibility
        return True, not self.constraints.violated(incumbent.x[None, :])[0], _lower(incumbent)

    def _gain(self, surrogates: Surrogates, x: Array) -> Gain | None:
        """Return what is believed of max f - f(x), in the units told, by drawing f jointly.

        Where the constraints are believed to hold, over the points that the space's own constraint allows; None where
        too few of these are known.
        """
        sample = self.domain.thin_sample
        if sample is None:
            return None
        rng, chances = generator(self.seed, self.model.trials, _GAIN), surrogates.constraints.current()
        others = self.domain.rounded(np.vstack([points_around(x, _SCREENED, rng), surrogates.points]))
        others = np.vstack([others[self.domain.allowed(others)], sample])
        # Points that were clipped or rounded to the same are one: many of them would take the places of others.
        others = np.unique(others[(others != x).any(axis=1)], axis=0)
        fitted, here = surrogates.model.stated(), self.domain.features(x[None, :])
        features = self.domain.features(others)
        features = np.unique(features[chances.held(features) & (features != here).any(axis=1)], axis=0)
        return _gain_of(fitted.ensemble, here, features, rng, fitted.transform.above)

    def _slopes(self, uneven: UnevenNoise) -> dict[str, float]:
        """By axis, from one end to the other."""
        columns = self.domain.columns.tolist()
        return {
            self.domain.called(columns.index(column)): slope
            for column, slope in zip(uneven.columns.tolist(), uneven.slopes.tolist(), strict=True)
        }

    def explain(self) -> dict[str, object]:
        if not self.model.trials:
            return {"trials": 0}
        surrogates = self.surrogates if self.model.is_of_all else self._best_place()[0]
        fitted = surrogates.model.stated()
        return {
            "trials": self.model.trials,
            **fitted.explain(),
            "noise": fitted.noise,
            **({} if fitted.fit.uneven is None else {"slopes of log noise variance": self._slopes(fitted.fit.uneven)}),
            "shift": fitted.transform.shift,
            "scale": fitted.transform.scale,
            "low values compressed": fitted.transform.warp is not None,
            "constraints": surrogates.constraints.explain(),
            "cells": self.cells.explain(self.surrogates),
        }


def branching(domain: Domain) -> int:
    """Return how many axes are choices, or do not exist at some of 256 uniform points, the same for all runs."""
    is_choice = np.array([axis.is_choice for axis in domain.axes])
    if domain.exists is None:
        return int(is_choice.sum())
    points = domain.rounded(generator(0, 0, _BRANCHING).random((256, domain.dimension)))
    return int((is_choice | ~domain.exists(points).all(axis=0)).sum())


def _lower(incumbent: Incumbent) -> float:
    assert incumbent.interval is not None
    return incumbent.interval[0]


def _gain_of(ensemble: Ensemble, here: Array, others: Array, rng: np.random.Generator, scale: float) -> Gain:
    """Draw f, under each sample, at a point (1, F) and at those of the others (m, F) that may be higher.

    On one axis some of the others are dense, and f is drawn jointly. With more all of them count: f is drawn jointly
    at anchors, and then at all points as if they were independent given these. Where that neglects a correlation, it
    makes the maximum larger, never smaller (Slepian's inequality): the gain is stated from above.
    """
    mean, deviation = ensemble.predict(others).mixture()
    order = np.argsort(-(mean + 2 * deviation), kind="stable")
    dense = others.shape[1] <= _DENSE
    most = _POINTS if dense else _ANCHORS
    if len(order) >= most:
        # Half are the highest. They may all lie in one place, so that the others come from all that are left.
        highest, rest = np.split(order, [most // 2])
        order = np.concatenate([highest, rest[np.linspace(0, len(rest) - 1, most - 1 - len(highest)).astype(int)]])
    points = np.vstack([here, others[order]])
    left = np.empty((0, others.shape[1])) if dense else np.delete(others, order, axis=0)
    if not len(left):
        drawn = ensemble.draws(points, _DRAWS_OF_F, rng)
    else:
        drawn, means, deviations = ensemble.anchored(points, left, _DRAWS_OF_F, rng)
        independent = means + deviations[:, :, None] * rng.standard_normal(means.shape)
        drawn = np.concatenate([drawn, independent], axis=1)
        points = np.vstack([points, left])
    visits = ensemble.correlations(points).mean(axis=0)
    return Gain.of(np.hstack(list(drawn)), visits < VISITED, scale)


def _middle_and_reach(box: tuple[Array, Array]) -> tuple[Array, Array]:
    """The middle of a box and half of its sides, each (D,)."""
    lower, upper = box
    return 0.5 * (lower + upper), 0.5 * (upper - lower)
