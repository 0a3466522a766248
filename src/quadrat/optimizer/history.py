"""The history of a run: every trial with its point, and which of them are pending or failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.recommendation import BestSeen
from quadrat.optimizer.trial import Entry, State, TrialRecord

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
        self._dimension = dimension
        self._direction = direction
        self._best: TrialRecord | None = None  # of those whose constraints hold, where there are constraints
        self._constraint_names: tuple[str, ...] = ()
        self._entries: list[Entry] = []
        # Dictionaries as ordered sets: numbers in the order in which the trials came into that state.
        self._in: dict[State, dict[int, None]] = {"pending": {}, "complete": {}, "failed": {}}
        self._at: dict[bytes, int] = {}

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
        told = [self[number].record for number in self.numbers("complete") if self[number].record.constraints]
        excess = np.maximum([list(record.constraints.values()) for record in told], 0.0)
        total = (excess / np.maximum(excess.max(axis=0), np.finfo(np.float64).tiny)).sum(axis=1)
        value = [-self._direction.turn(record.value or 0.0) for record in told]
        return told[int(np.lexsort((value, total))[0])]

    @property
    def standard_errors(self) -> bool:
        """Whether any outcome came with a standard error."""
        return any(self[number].record.sem is not None for number in self._in["complete"])

    def numbers(self, state: State) -> list[int]:
        """Return the numbers of the trials in a state, ascending."""
        return sorted(self._in[state])

    def count(self, state: State) -> int:
        """Return how many trials are in a state."""
        return len(self._in[state])

    def points(self, numbers: Iterable[int]) -> Array:
        """Return the points of trials, shape (p, D)."""
        rows = [self[number].x for number in numbers]
        return np.array(rows).reshape(len(rows), self._dimension)

    def first_at(self, x: Array) -> int | None:
        """Return the number of the first trial at exactly the point `x`, shape (D,), or None."""
        return self._at.get((x + 0.0).tobytes())

    def begin(self, params: Mapping[str, Any], x: Array, why: str) -> TrialRecord:
        """Add a pending trial and return its record."""
        number = len(self._entries)
        record = TrialRecord(number, dict(params), why)
        self._entries.append(Entry(record, x))
        self._in["pending"][number] = None
        self._at.setdefault((x + 0.0).tobytes(), number)
        return record

    def finish(self, number: int, reading: Reading) -> TrialRecord:
        """Give a pending trial its outcome and return its record."""
        entry = self[number]
        state: State = "complete" if reading.failure is None else "failed"
        record = replace(
            entry.record,
            state=state,
            values=reading.values,
            sem=reading.sem,
            failure=reading.failure,
            constraints=dict(reading.constraints),
        )
        self._entries[number] = replace(entry, record=record)
        del self._in["pending"][number]
        self._in[state][number] = None
        if record.constraints and not self._constraint_names:
            self._constraint_names = tuple(record.constraints)
            self._best = None  # whether the constraints hold in earlier trials is not known
        if (record.feasible or not self._constraint_names) and self._is_better(record):
            self._best = record
        return record

    def _is_better(self, record: TrialRecord) -> bool:
        if record.value is None or self._best is None or self._best.value is None:
            return record.value is not None
        mine, best = self._direction.turn(record.value), self._direction.turn(self._best.value)
        # Ties go to the smaller number, whatever order they were told in.
        return mine > best or (mine == best and record.number < self._best.number)

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
