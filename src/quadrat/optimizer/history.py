"""The history of a run: every trial with its point, and which of them are pending or failed."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.optimizer.batch import Batch
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.recommendation import BestSeen
from quadrat.optimizer.trial import Entry, State, TrialRecord
from quadrat.partition.growing import Growing

__all__ = ["History"]


class History:
    """Trials by number, in the order asked.

    Parameters
    ----------
    dimension
        D of the unit cube.
    direction
        Which values are best.
    """

    def __init__(self, dimension: int, direction: Direction) -> None:
        self._direction = direction
        self._best: TrialRecord | None = None  # of those whose constraints hold, where there are constraints
        self._best_rank = (math.inf, 0)
        self._constraint_names: tuple[str, ...] = ()
        self._constrained: list[int] = []  # complete trials with constraints, in the order told
        self._constraints = Growing(np.float64)  # their values, a row each; shaped when the names are known
        self._entries: list[Entry] = []
        self._in: dict[State, list[int]] = {"pending": [], "complete": [], "failed": []}  # numbers, ascending
        self._failed = Growing(np.float64, (dimension,))  # points, in the order of their numbers
        self._at: dict[bytes, int] = {}
        self._taken: Counter[bytes] = Counter()  # how many trials are pending or failed at a point
        self._standard_errors = False

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, number: int) -> Entry:
        return self._entries[number]

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """Every record, by number."""
        return tuple(self.record(number) for number in range(len(self)))

    def record(self, number: int) -> TrialRecord:
        """Return one record, with a copy of its parameters, so that nobody can change the history."""
        self._require_known(number)
        record = self[number].record
        return replace(record, params=dict(record.params), constraints=dict(record.constraints))

    @property
    def best_seen(self) -> BestSeen | None:
        """The complete trial with the best mean, the first of several; None when none is complete.

        Where there are constraints, the best of those in which all hold; where they hold in none, the one that violates
        them least.
        """
        best = self._least_violating() if self._best is None and self._constraint_names else self._best
        if best is None or best.value is None:
            return None
        return BestSeen(best.number, dict(best.params), best.value, best.feasible)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The constraints of the run, sorted; empty as long as none were told."""
        return self._constraint_names

    def _least_violating(self) -> TrialRecord:
        """Return the trial with the least sum of excesses, each in units of the largest told of its constraint.

        So units in which constraints are told do not matter. Of equals, the one with the best mean, then the first.
        """
        excess = np.maximum(self._constraints.view, 0.0)
        total = (excess / np.maximum(excess.max(axis=0), np.finfo(np.float64).tiny)).sum(axis=1)
        least = [number for number, at_least in zip(self._constrained, total == total.min(), strict=True) if at_least]
        return min((self[number].record for number in least), key=lambda record: self._rank(record, record.value))

    def _rank(self, record: TrialRecord, value: float | None) -> tuple[float, int]:
        """Return what sorts complete trials: the best mean first, and of equals the smaller number, whenever told."""
        assert value is not None
        return -self._direction.turn(value), record.number

    @property
    def standard_errors(self) -> bool:
        """Whether any outcome came with a standard error."""
        return self._standard_errors

    def numbers(self, state: State) -> list[int]:
        """Return the numbers of the trials in a state, ascending."""
        return self._in[state].copy()

    def count(self, state: State) -> int:
        """Return how many trials are in a state."""
        return len(self._in[state])

    @property
    def taken(self) -> Array:
        """The points that are not to be asked now, shape (p, D): of pending trials, then of failed ones, by number."""
        pending = [self[number].x for number in self._in["pending"]]
        return np.vstack([*pending, self._failed.view]) if pending else self._failed.view.copy()

    def is_taken(self, x: Array) -> bool:
        """Return whether a trial at exactly the point `x`, shape (D,), is pending or failed."""
        return _key(x) in self._taken

    def first_at(self, x: Array) -> int | None:
        """Return the number of the first trial at exactly the point `x`, shape (D,), or None."""
        return self._at.get(_key(x))

    def begin(self, params: Mapping[str, Any], x: Array, why: str) -> TrialRecord:
        """Add a pending trial and return its record."""
        record = TrialRecord(len(self), dict(params), why)
        self._append(record, x)
        self._in["pending"].append(record.number)
        self._taken[_key(x)] += 1
        return record

    def finish(self, number: int, reading: Reading) -> TrialRecord:
        """Give a pending trial its outcome and return its record."""
        entry = self[number]
        pending, key = self._in["pending"], _key(entry.x)
        del pending[bisect_left(pending, number)]
        self._taken[key] -= 1
        if not self._taken[key]:
            del self._taken[key]
        record = _finished(number, entry.record.params, entry.record.why, reading)
        self._entries[number] = replace(entry, record=record)
        self._take_in(record, entry.x)
        return record

    def add(self, batch: Batch, why: str) -> None:
        """Add trials that have their outcomes."""
        for params, x, reading in zip(batch.params, batch.x, batch.readings, strict=True):
            record = _finished(len(self), params, why, reading)
            self._append(record, x)
            self._take_in(record, x)

    def _append(self, record: TrialRecord, x: Array) -> None:
        self._entries.append(Entry(record, x))
        self._at.setdefault(_key(x), record.number)

    def _take_in(self, record: TrialRecord, x: Array) -> None:
        """Keep what is asked of all finished trials together, so that no answer needs to look at every one."""
        numbers = self._in[record.state]
        place = bisect_left(numbers, record.number)
        numbers.insert(place, record.number)
        if record.state == "failed":
            self._taken[_key(x)] += 1
            self._insert_failed(place, x)
        self._standard_errors |= record.sem is not None
        if record.constraints:
            if not self._constraint_names:
                self._constraint_names = tuple(record.constraints)
                self._constraints = Growing(np.float64, (len(record.constraints),))
                self._best = None  # whether the constraints hold in earlier trials is not known
            self._constrained.append(record.number)
            self._constraints.append(list(record.constraints.values()))
        value = record.value
        if value is not None and (record.feasible or not self._constraint_names):
            rank = self._rank(record, value)
            if self._best is None or rank < self._best_rank:
                self._best, self._best_rank = record, rank

    def _insert_failed(self, place: int, x: Array) -> None:
        if place == self._failed.size:
            self._failed.append(x)
        else:  # told in another order than asked
            points = np.insert(self._failed.view, place, x, axis=0)
            self._failed = Growing(np.float64, x.shape)
            self._failed.extend(points)

    def require_pending(self, number: int) -> None:
        """Refuse a trial that cannot be told, and name its state.

        Raises
        ------
        InvalidInput
            No such trial, or one that was told.
        """
        self._require_known(number)
        state = self[number].record.state
        if state != "pending":
            raise InvalidInput(
                f"trial: expected a pending trial, got trial {number}, which is already {state}; for a further"
                " measurement there use add(params, outcome)"
            )

    def _require_known(self, number: int) -> None:
        if not 0 <= number < len(self):
            known = f"0 to {len(self) - 1}" if len(self) else "none yet"
            raise InvalidInput(f"trial: expected the number of a trial that was asked ({known}), got {number}")

    def summary(self) -> str:
        """Return how many trials are in each state, in words."""
        return ", ".join(f"{self.count(state)} {state}" for state in ("complete", "failed", "pending"))


def _key(x: Array) -> bytes:
    """Return what tells points apart; + 0.0, because -0.0 is the same coordinate as 0.0."""
    return (x + 0.0).tobytes()


def _finished(number: int, params: dict[str, Any], why: str, reading: Reading) -> TrialRecord:
    return TrialRecord(
        number,
        params,
        why,
        "complete" if reading.failure is None else "failed",
        reading.values,
        reading.sem,
        reading.failure,
        dict(reading.constraints),
    )
