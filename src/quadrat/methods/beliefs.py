"""What the default method believes of f, of the constraints and of failures: from all trials, or near a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quadrat.arrays import Array, Bools
from quadrat.gp.observations import group_rows
from quadrat.methods.auto_model import LearnedModel
from quadrat.methods.base import Failed, Pruned, Told
from quadrat.methods.constraints import Constraints
from quadrat.methods.domain import Domain
from quadrat.methods.feasibility import Feasibility
from quadrat.randomness import generator

__all__ = ["Beliefs"]

_ANYWHERE = 14  # names the stream
_TYPICAL = 300  # points all over the space at which the chance of success is looked at
_KNOWN = 0.1  # of the standard deviation of the values told: what is known of f so well is not worth another look


@dataclass(frozen=True)
class Beliefs:
    """Models of f, of the constraints and of failures, from the same trials."""

    domain: Domain
    model: LearnedModel
    constraints: Constraints
    feasibility: Feasibility

    def tell(self, told: Told) -> None:
        """Take in one trial."""
        self.model.tell(told)
        self.constraints.tell(told)
        self._know_of([told])

    def tell_many(self, told: Sequence[Told]) -> None:
        """Take in many trials; learn once."""
        self.model.tell_many(told)
        for one in told:
            self.constraints.tell(one)
        self._know_of(told)

    def stop_learning(self) -> None:
        """See `LearnedModel.stop_learning`."""
        self.model.stop_learning()
        self.constraints.stop_learning()

    def take(self, happened: Sequence[Told | Failed | Pruned]) -> None:
        """Take in trials, and learn nothing from their values; pruned ones say nothing of f or of failures."""
        told = [one for one in happened if isinstance(one, Told)]
        self.model.take(told)
        for one in told:
            self.constraints.tell(one)
        self._know_of([one for one in happened if not isinstance(one, Pruned)])

    def fail(self, failed: Failed) -> None:
        """Take in that an evaluation failed."""
        self._know_of([failed])

    def _know_of(self, happened: Sequence[Told | Failed]) -> None:
        """Know where evaluations failed and where they did not."""
        if happened:
            points = np.array([one.x for one in happened])
            succeeded = np.array([isinstance(one, Told) for one in happened])
            self.feasibility.add_many(self.domain.features(points), succeeded)

    def near(
        self, centre: Array, sides: Array, count: int, *, box: bool = False, settings: int | None = None
    ) -> Beliefs:
        """Return what the `count` trials nearest to a place say.

        Parameters
        ----------
        centre, sides
            The place, shape (D,), and what counts as one step along each axis, shape (D,).
        count
            How many trials.
        box
            Whether those of the box that reaches from the centre as far as `sides` come before all others.
        settings
            Of hyper-parameters to average over; None is as many as here.
        """
        columns = self.domain.features(self.domain.rounded(centre[None, :]))[0]
        choices = np.array([axis.is_choice for axis in self.domain.axes])
        steps = np.where(choices, 1.0, sides)[list(self.domain.groups)]
        return Beliefs(
            self.domain,
            self.model.near(centre, sides, count, box=box, settings=settings),
            self.constraints.near(centre, sides, count, box=box),
            self.feasibility.near(columns, steps, count, box=box),
        )

    def averaged(self, centre: Array, sides: Array, count: int, noise: float) -> Beliefs:
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
            points = points[self.model.current()[1].predict(self.domain.features(points)).mixture()[1] < _KNOWN]
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
