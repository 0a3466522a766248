"""A safe search at work: it improves within the safe region, and expands that where expanding could matter.

Whatever chooses, only points that pass the test of `quadrat.methods.safe.bounds` are proposed, and that test uses told
data alone: pending trials make no bound sharper. Among the points that pass,

    improve    take the largest upper bound of the objective, as GP-UCB does;
    expand     take the point that sharpens most what is known of points beyond the region,

and expand where that promises more: a point z outside of the region that may be safe counts with what it may be better
by than the best guaranteed value, times q(z), how near z is to passing the test [q as of the level sets' rule
"reduction"]. StageOpt [S18] expands first, everywhere, and improves then; SafeOpt [S15] takes the least known of all
points that may do either. Here, nothing is spent on a border behind which nothing can be better, as in [T19].

[S15]: Sui, Gotovos, Burdick and Krause (2015). Safe exploration for optimization with Gaussian processes. ICML.
[S18]: Sui, Zhuang, Burdick and Yue (2018). Stagewise safe Bayesian optimization with Gaussian processes. ICML.
[T19]: Turchetta, Berkenkamp and Krause (2019). Safe exploration for interactive machine learning. NeurIPS.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat._core.printing import at_least, at_most
from quadrat.confidence import Certificate
from quadrat.confidence.bands import default_regulariser
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.methods.base import Domain, Incumbent, Observation, Proposal, Search, refuse_context
from quadrat.methods.safe.bounds import SafeBounds
from quadrat.methods.safe.candidates import lattice, steps_around
from quadrat.methods.safe.region import SAFE, SafeRegion, region_of
from quadrat.randomness import generator

__all__ = ["SafeSearch"]

_MULTIPLE = 4.0  # of a band's regulariser, for the posterior that steers; one of those of its ladder
_SLOWNESS = 64  # bounds are brought up to the data after each 1/64 more observations
_TARGETS, _CANDIDATES = 384, 256  # points that are looked at for one proposal
_POWER = 4  # of what a target may be better by
_EAGER = 2.0  # the region is expanded unless improving within promises so many times more
_LEAST = 0.05  # of q: what lies beyond the border may be better than it looks
_STEPS = 52  # names the stream of steps
_SAME = 1e-9  # distance below which a point counts as pending


class SafeSearch(Search):
    """A search that never evaluates below a limit, under stated assumptions.

    Parameters
    ----------
    bounds
        What is known of every function, and the stated safe points.
    domain
        What is behind the cube.
    seed
        Of the directions in which it looks.
    names
        What the constraints are called, in the order in which they are told.
    """

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(self, bounds: SafeBounds, domain: Domain, seed: int, *, names: tuple[str, ...] = ()) -> None:
        self.bounds, self.domain, self.seed, self.names = bounds, domain, seed, names
        self._steer = [
            GaussianProcess(
                guard.given.kernel, noise_variance=_MULTIPLE * default_regulariser(guard.given), jitter=False
            )
            for guard in bounds.guards
        ]
        points, self._spacing = lattice(bounds.guards[0].given, bounds.dimension, seed)
        self._look_at(points)
        self._ended: str | None = None  # what was told that voids every bound
        self._failed: set[bytes] = set()  # points of trials that ended without a value
        self._next = 0  # observations from which on bounds are brought up to the data

    def _look_at(self, points: Array) -> None:
        """Take in candidates: the floats that would run, where the known constraint allows them."""
        points = self.domain.rounded(points)
        self.bounds.look_at(points[self.domain.allowed(points)])

    # --- what is told

    def tell(self, observation: Observation) -> None:
        if len(observation.constraints) != len(self.names):
            wanted = ", ".join(map(repr, self.names)) or "no constraints"
            raise InvalidInput(
                f"constraints: expected {wanted}, which are what the method guards, got"
                f" {len(observation.constraints)} numbers in trial {observation.number}; state each in"
                " Safe(constraints={name: Assumptions(...)}), and tell a number for each with every value"
            )
        if observation.variance is not None:
            self._ended = self._ended or (
                f"trial {observation.number} was told with a standard error: it is an estimate, and no bound that a"
                " safe search rests on may use it; tell the values that were measured, in a list"
            )
            return
        values = [observation.tame_values, *(np.array([-told]).clip(-1e100, 1e100) for told in observation.constraints)]
        is_new = self.bounds.add(observation.x, values)
        for steer, measured in zip(self._steer, values, strict=True):
            steer.add(np.repeat(observation.x[None], len(measured), axis=0), measured)
        if is_new:
            rng = generator(self.seed, observation.number, _STEPS)
            for guard in self.bounds.guards:
                self._look_at(steps_around(guard.given, observation.x, self._spacing, rng))
        count = self.bounds.count
        if count >= self._next and self.bounds.rejection is None:
            self.bounds.refresh()
            self._next = count + 1 + count // _SLOWNESS

    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002
        self._failed.add(x.tobytes())

    def prune(self, number: int, x: Array) -> None:  # noqa: ARG002
        self._ended = self._ended or (
            f"trial {number} was pruned: a value that was left out for what it was would make every bound too hopeful;"
            " evaluate trials to their end in a safe search"
        )

    def exhausted(self, pending: Array) -> str | None:  # noqa: ARG002
        why = self._why_not()
        if why is not None:
            return f"the safe search has stopped: nothing is known to be safe any more; {why}"
        safe = np.flatnonzero(self.bounds.safe())
        if len(safe) <= len(self._failed) and all(self.bounds.points[row].tobytes() in self._failed for row in safe):
            return (
                "the safe search has stopped: trials at all settings that are known to be safe have failed; mend what"
                " makes them fail, or state other safe settings"
            )
        return None

    def limit_warning(self, point: Array) -> str | None:
        """Return in a sentence why a point (D,) may break a limit; None where it is certified that it breaks none."""
        broken = self.bounds.broken_at(point)
        if broken is not None:
            return f"It breaks a limit, as far as kernel, norm bound and noise are right: {broken}."
        if self._why_not() is not None:
            return "Whether it breaks a limit is not known: the safe search has stopped."
        row = self.bounds.row(point)
        if row is None or not self.bounds.safe(np.array([row]))[0]:
            return "That it breaks no limit is not certified."
        return None

    def _why_not(self) -> str | None:
        return self.bounds.rejection or self._ended

    # --- what is asked

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        bounds = self.bounds
        safe = np.flatnonzero(bounds.safe())
        free = safe[self._apart(safe, pending)]
        if not len(free):  # a stated point alone, and that is pending: nothing else may be evaluated
            return Proposal(
                np.array(bounds.points[safe[number % len(safe)]]), "the only points known to be safe, again"
            )
        if not bounds.count:
            return Proposal(np.array(bounds.points[free[0]]), "stated to be safe")
        best = bounds.low[safe, 0].max()
        upper = self._index(free, pending)
        leader = int(np.argmax(upper))
        beyond = np.flatnonzero(~bounds.safe() & bounds.may_be_safe() & (bounds.high[:, 0] > best))
        if len(beyond):
            promise = (bounds.high[beyond, 0] - best) * np.maximum(self._nearness(beyond), _LEAST)
            if _EAGER * promise.max() > upper[leader] - best:
                row = self._sharpest(free, np.concatenate([safe, beyond]), best, pending)
                return Proposal(np.array(bounds.points[row]), "expands the safe region where better values may lie")
        return Proposal(np.array(bounds.points[free[leader]]), "largest upper bound in the safe region")

    def _apart(self, rows: Ints, pending: Array) -> Bools:
        """Return which of these points are none of the pending ones (p, D)."""
        if not len(pending):
            return np.ones(len(rows), dtype=np.bool_)
        points = self.bounds.points[rows]
        return np.asarray((np.abs(points[:, None] - pending[None]).max(axis=2) > _SAME).all(axis=1))

    def _index(self, rows: Ints, pending: Array) -> Array:
        """Return upper bounds of the objective at these points, the highest as if pending points had been observed."""
        upper: Array = np.array(self.bounds.high[rows, 0])
        if len(pending):
            top = np.argsort(-upper, kind="stable")[:_CANDIDATES]
            band = self.bounds.bands[0]
            with band.pending(pending):
                upper[top] = np.minimum(upper[top], band.interval(self.bounds.points[rows[top]]).upper)
            rest = np.ones(len(rows), dtype=np.bool_)
            rest[top] = False
            upper[rest] = -np.inf
        return upper

    def _nearness(self, rows: Ints) -> Array:
        """Return q, how far the interval's width at each point is from deciding that it is safe, in [0, 1]."""
        bounds, found = self.bounds, np.ones(len(rows))
        for index, guard in enumerate(bounds.guards):
            if guard.limit is not None:
                low, high = bounds.low[rows, index], bounds.high[rows, index]
                width = np.maximum((high - low) / 2, 1e-12 * guard.given.ceiling)
                found = np.minimum(found, np.clip(((low + high) / 2 - guard.limit) / width, 0.0, 1.0))
        return found

    def _sharpest(self, free: Ints, targets: Ints, best: float, pending: Array) -> int:
        """Return the row, of those free, whose evaluation takes most variance away from targets that may be better."""
        bounds = self.bounds
        is_safe = bounds.safe(targets)
        hope = np.maximum(bounds.high[targets, 0] - best, 0.0) / bounds.guards[0].given.ceiling
        weight = hope**_POWER * (np.where(is_safe, 1.0, self._nearness(targets)) + 1e-6)
        top = np.argsort(-weight, kind="stable")[:_TARGETS]
        targets, weight, is_safe = targets[top], weight[top], is_safe[top]
        candidates = self._candidates(free)
        score = np.zeros(len(candidates))
        for index, (gp, guard) in enumerate(zip(self._steer, bounds.guards, strict=True)):
            # What is safe is to be known better itself, what is not yet by the functions that keep it out.
            meant = is_safe & (index == 0) | ~is_safe & (guard.limit is not None)
            if meant.any():
                score += self._explained(gp, bounds.points[targets[meant]], weight[meant], candidates, pending)
        return int(candidates[np.argmax(score)])

    def _candidates(self, free: Ints) -> Ints:
        """Return safe rows that are looked at: those of the highest upper bounds, and those that are known least."""
        bounds = self.bounds
        high = free[np.argsort(-bounds.high[free, 0], kind="stable")[:_CANDIDATES]]
        scale = np.array([guard.given.ceiling for guard in bounds.guards])
        width = ((bounds.high[free] - bounds.low[free]) / scale).max(axis=1)
        wide = free[np.argsort(-width, kind="stable")[:_CANDIDATES]]
        return np.unique(np.concatenate([high, wide]))

    def _explained(self, gp: GaussianProcess, targets: Array, weight: Array, candidates: Ints, pending: Array) -> Array:
        """Return the weighted share of the targets' variance that an evaluation at each candidate takes away."""
        points = self.bounds.points[candidates]
        with gp.pending(pending) if len(pending) else nullcontext():
            explained = gp.cholesky.half_solve(gp.cross(np.vstack([targets, points])).T)
        prior = gp.kernel.variance
        variance = np.maximum(prior - np.einsum("ij,ij->j", explained, explained), 1e-12 * prior)
        there, here = explained[:, : len(targets)], explained[:, len(targets) :]
        covariance = gp.kernel(targets, points) - there.T @ here
        found: Array = (weight / variance[: len(targets)]) @ covariance**2
        return np.asarray(found / (variance[len(targets) :] + gp.noise_variance))

    # --- answers

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the safe point with the largest lower bound.

        Where nothing is certified any more: the measured point of highest posterior mean, without an interval.
        """
        refuse_context(self, context)
        bounds = self.bounds
        if self._why_not() is not None:
            return self._highest_mean()
        safe = np.flatnonzero(bounds.safe())
        safe = safe[self.domain.allowed(bounds.points[safe])]
        lower = bounds.low[safe, 0]
        ties = safe[lower == lower.max()]
        means = bounds.bands[0].mean(bounds.points[ties])
        row = int(ties[np.argmax(means)])
        low, high = float(bounds.low[row, 0]), float(bounds.high[row, 0])
        value = float(np.clip(means.max(), low, high))
        return Incumbent(np.array(bounds.points[row]), value, (low, high), certified=True)

    def _highest_mean(self) -> Incumbent:
        band = self.bounds.bands[0]
        tried = band.x if self.bounds.count else self.bounds.points[: self.bounds.stated]
        means = band.mean(tried)
        best = int(np.argmax(means))
        return Incumbent(tried[best].copy(), float(means[best]))

    def predict(self, points: Array) -> tuple[Array, Array, Array] | None:
        """Mean and certified interval, shapes (m,); None where nothing is certified any more."""
        if self._why_not() is not None:
            return None
        bounds, band = self.bounds, self.bounds.bands[0]
        at = band.interval(points)
        low, high = at.lower, at.upper
        for i, point in enumerate(points):
            row = bounds.row(point)
            if row is not None:
                low[i], high[i] = max(low[i], bounds.low[row, 0]), min(high[i], bounds.high[row, 0])
        if (low > high).any():
            return None
        return np.clip(band.mean(points), low, high), low, high

    def certificate(self, point: Array) -> Certificate | str:
        """Return why there is none: what lies out of reach is not known, so that only what is within reach counts."""
        rejection = self.bounds.rejection
        if rejection is not None:
            unknown = float("nan")
            return Certificate(unknown, point, (unknown, unknown), unknown, rejection)
        if self._ended is not None:
            return self._ended
        region, interval = self.safe_region(), self.recommend().interval
        assert region.best_reachable is not None
        assert interval is not None
        return (
            f"a safe search says nothing of what is out of reach; {at_least(100 * region.volume(SAFE), 3)} % of the"
            " space is certified to be safe, and nothing within reach is better than the recommended point by more than"
            f" {at_most(max(region.best_reachable - interval[0], 0.0), 4)}"
        )

    def safe_region(self) -> SafeRegion:
        """Return which cells of the cube are certified to be safe, and how much better anything reachable can be."""
        return region_of(self.bounds, reason=self._ended, rejection=self.bounds.rejection)

    def explain(self) -> dict[str, object]:
        """Return bounds at the measured points, what was looked at, and why the search has stopped, if it has."""
        bounds, measured = self.bounds, self.bounds.measured
        return {
            "functions": [
                {
                    "name": f"minus {guard.name}" if index else guard.name,  # its bounds are of what is modelled
                    "limit": guard.limit,
                    "low": bounds.low[measured, index].tolist(),
                    "high": bounds.high[measured, index].tolist(),
                }
                for index, guard in enumerate(bounds.guards)
            ],
            "points": bounds.points[measured].tolist(),
            "stated": bounds.points[: bounds.stated].tolist(),
            "candidates": len(bounds.points),
            "safe candidates": int(np.count_nonzero(bounds.safe())),
            "failed": len(self._failed),
            "rejection": self.bounds.rejection,
            "stopped": self._why_not(),
        }
