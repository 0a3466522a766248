"""A search that follows an Optuna study: it takes in what finished since the last suggestion, and nothing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.integrations.distributions import Searched
from quadrat.integrations.finish_order import FinishOrder
from quadrat.methods.base import Failed, Happened, Method, Search, Told
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.domain_of import domain_of
from quadrat.optimizer.past_study import constraints_of
from quadrat.optimizer.proposing import proposed_point

__all__ = [
    "REPLICATES",
    "STANDARD_ERROR",
    "StudySearch",
    "complete_constraints",
    "standard_error_of",
    "values_of",
]

REPLICATES = "quadrat:values"
"""The user attribute of a trial with everything that was measured in it, a list; its value is their mean."""

STANDARD_ERROR = "quadrat:sem"
"""The user attribute of a trial with the standard error of its value."""


class StudySearch:
    """A search over a fixed space, told what finished in a study in the order of finishing.

    Every process that looks at the same study tells its search the same trials in the same order, so that their
    suggestions are the same, whoever makes them.

    Parameters
    ----------
    searched
        What is searched.
    method
        What searches.
    direction
        Of the study.
    seed
        Names all randomness, together with the number of the trial.
    """

    def __init__(self, searched: Searched, method: Method, direction: Direction, seed: int) -> None:
        self.searched, self.method, self.direction, self.seed = searched, method, direction, seed
        self._order = FinishOrder()
        self._begin()

    def _begin(self) -> None:
        method = self.direction.turn_method(self.method)
        self.search: Search = method.start(domain_of(self.searched.space), self.seed)
        self._seen: set[int] = set()  # numbers of finished trials
        self._last: FrozenTrial | None = None  # the last of them
        self._failed: list[Array] = []
        self._running: dict[int, tuple[dict[str, Any], Array | None]] = {}
        self._constraints: tuple[str, ...] | None = None

    def follow(self, trials: Sequence[FrozenTrial]) -> None:
        """Take in what has finished."""
        new = self._order.sort(trial for trial in trials if trial.number not in self._seen)
        if not new:
            return
        place = self._order.place
        if self._last is not None and place(new[0]) < place(self._last):
            # Another process told of a trial that finished earlier than one that was taken in: its place is before it.
            self._begin()
            new = self._order.sort(trials)
        happened: list[Happened] = []
        for trial in new:
            self._seen.add(trial.number)
            one = self._happened(trial)
            if one is not None:
                happened.append(one)
        self._last = new[-1]
        self.search.rebuild(happened)

    def ask(self, number: int, running: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
        """Return the parameters for a trial, as Optuna has them; `running` are those of trials that run, by number."""
        space = self.searched.space
        self._running = {other: self._at(other, params) for other, params in running.items()}
        pending = [point for _, point in self._running.values() if point is not None]
        taken = np.array([*pending, *self._failed]).reshape(-1, space.dimension)

        def is_taken(x: Array) -> bool:
            return bool((taken == x).all(axis=1).any())

        x, _ = proposed_point(self.search, space, self.seed, number, taken, is_taken)
        return self.searched.show(space.from_unit(x))

    def _at(self, number: int, params: dict[str, Any]) -> tuple[dict[str, Any], Array | None]:
        """Return parameters of a trial that runs and their point, (D,), None outside the space: each is found once."""
        known = self._running.get(number)
        if known is not None and known[0] == params:
            return known
        inside = self.searched.read(params)
        return params, None if inside is None else self.searched.space.to_units([inside])[0]

    def _happened(self, trial: FrozenTrial) -> Told | Failed | None:
        """Return what a finished trial says; None where its parameters are not those that are searched."""
        params = self.searched.read(trial.params)
        if params is None:
            return None
        x = self.searched.space.to_unit(params)
        values = values_of(trial)
        if values is None:
            self._failed.append(x)
            return Failed(trial.number, x)
        turned = np.array([self.direction.turn(value) for value in values])
        sem = standard_error_of(trial)
        return Told(trial.number, x, turned, None if sem is None else sem**2, self._constraint_values(trial))

    def _constraint_values(self, trial: FrozenTrial) -> tuple[float, ...]:
        named = complete_constraints(trial)
        if not named:
            return ()
        if "constraints" not in self.method.facts.handles:
            raise InvalidInput(
                f"constraints: expected a method that handles them, got {type(self.method).__name__}, which would"
                " ignore them; use Auto, the default"
            )
        names = tuple(named)
        self._constraints = self._constraints or names
        if names != self._constraints:
            raise InvalidInput(
                f"trial {trial.number}: expected the constraints {list(self._constraints)}, as in the first trial that"
                f" had some, got {list(names)}"
            )
        return tuple(named.values())


def values_of(trial: FrozenTrial) -> list[float] | None:
    """Return what was measured in a trial that is over; None where nothing was.

    A pruned trial counts with the last value that it reported.
    """
    if trial.state is TrialState.FAIL:
        return None
    replicates = trial.user_attrs.get(REPLICATES)
    if trial.state is TrialState.COMPLETE and isinstance(replicates, list) and replicates:
        values = [float(value) for value in replicates]
    elif trial.values is not None and len(trial.values) == 1:
        values = [float(trial.values[0])]
    else:
        step = trial.last_step
        values = [] if step is None else [float(trial.intermediate_values[step])]
    return values if values and np.isfinite(values).all() else None


def standard_error_of(trial: FrozenTrial) -> float | None:
    """Return the standard error that was told with a trial's value, or None."""
    sem = trial.user_attrs.get(STANDARD_ERROR)
    return float(sem) if isinstance(sem, int | float) and sem > 0 and np.isfinite(sem) else None


def complete_constraints(trial: FrozenTrial) -> dict[str, float]:
    """Return the constraints of a complete trial by name, sorted; nothing where it has none, or is not complete."""
    named = constraints_of(trial) if trial.state is TrialState.COMPLETE else {}
    return {name: float(named[name]) for name in sorted(named)}
