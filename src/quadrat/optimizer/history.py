"""The history of a run: every trial with its point, and which of them are pending or failed.

It is kept in columns, and a record is made when somebody asks for it: most of many trials are never looked at again.
Trials have numbers of their own. In an optimizer they are 0, 1, 2, ..., in the order asked; a study may have trials
that are not part of the run, so that some numbers are missing, and it takes them in in the order of finishing.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, Growing
from quadrat.errors import InvalidInput
from quadrat.optimizer.importing import Batch
from quadrat.optimizer.outcome import Direction, Reading
from quadrat.optimizer.trial import BestSeen, State, TrialRecord
from quadrat.space import Fidelity, Space

__all__ = ["Costs", "History"]


class Costs:
    """The costs of trials in a space with a fidelity.

    Examples
    --------
    >>> from quadrat.space import Float
    >>> costs = Costs(Space(x=Float(0, 1), epochs=Fidelity([5, 100], cost=[1, 20])))
    >>> costs.of({"x": 0.5, "epochs": 100}), costs.below_target({"x": 0.5, "epochs": 5})
    (20.0, 1)
    """

    def __init__(self, space: Space) -> None:
        assert space.fidelity is not None
        fidelity = space[space.fidelity]
        assert isinstance(fidelity, Fidelity)
        self._name, self._fidelity = space.fidelity, fidelity

    def of(self, params: Mapping[str, Any]) -> float:
        """Return what a trial with these parameters costs."""
        return self._fidelity.cost_of(params[self._name])

    def below_target(self, params: Mapping[str, Any]) -> int:
        """Return how many levels below the one that counts a trial is."""
        return len(self._fidelity.levels) - 1 - self._fidelity.level(params[self._name])


class History:
    """Trials by number, at points of the cube of this dimension.

    `direction` says which values are best; `costs` what trials cost, and how far below the fidelity that counts they
    are; None where all are alike.
    """

    def __init__(self, dimension: int, direction: Direction, costs: Costs | None = None) -> None:
        self._direction = direction
        self._costs = costs
        self._cost = 0.0
        self._best: int | None = None  # of those whose constraints hold, where there are constraints
        self._best_rank = (0, math.inf, 0)
        self._constraint_names: tuple[str, ...] = ()
        self._constrained: list[int] = []  # complete trials with constraints, in the order told
        self._constraints = Growing(np.float64)  # their values, a row each; shaped when the names are known
        self._numbers: list[int] = []  # of each row
        self._rows: dict[int, int] = {}
        self._params: list[dict[str, Any]] = []  # one for each row, as in the columns below
        self._why: list[str] = []
        self._readings: list[Reading | None] = []  # None where it is pending
        self._x = Growing(np.float64, (dimension,))
        self._in: dict[State, list[int]] = {"pending": [], "complete": [], "failed": []}  # numbers, ascending
        self._failed = Growing(np.float64, (dimension,))  # points, in the order of their numbers
        self._at: dict[bytes, int] = {}
        self._taken: dict[bytes, int] = {}  # how many trials are pending or failed at a point
        self._standard_errors = False
        self._next = 0

    def __len__(self) -> int:
        return len(self._params)

    def __contains__(self, number: object) -> bool:
        return number in self._rows

    @property
    def next_number(self) -> int:
        """The number of the next trial where nobody gives it one: above all others."""
        return self._next

    def point(self, number: int) -> Array:
        """Return the point of a trial on the unit cube, shape (D,), rounded where the space rounds: read-only."""
        point: Array = self._x.view[self._rows[number]]
        return point

    def params(self, number: int) -> dict[str, Any]:
        """Return a copy of the parameters of a trial, so that nobody can change the history."""
        return dict(self._params[self._rows[number]])

    def values(self, number: int) -> tuple[float, ...]:
        """Return everything measured in a trial, in the user's units; nothing unless it is complete."""
        reading = self._readings[self._rows[number]]
        return () if reading is None else reading.values

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """Every record, in the order in which the trials were taken in."""
        return tuple(self.record(number) for number in self._numbers)

    def record(self, number: int) -> TrialRecord:
        """Return one record, with a copy of its parameters."""
        self._require_known(number)
        row = self._rows[number]
        params, why, reading = dict(self._params[row]), self._why[row], self._readings[row]
        if reading is None:
            return TrialRecord(number, params, why)
        return TrialRecord(
            number,
            params,
            why,
            _state_of(reading),
            reading.values,
            reading.sem,
            reading.failure,
            dict(reading.constraints),
        )

    @property
    def best_seen(self) -> BestSeen | None:
        """The complete trial with the best mean, the first of several; None when none is complete.

        Where there are constraints, the best of those in which all hold; where they hold in none, the one that violates
        them least.
        """
        best = self._least_violating() if self._best is None and self._constraint_names else self._best
        return None if best is None else self.seen(best)

    def seen(self, number: int) -> BestSeen:
        """Return a complete trial as the best of some."""
        record = self.record(number)
        assert record.value is not None
        return BestSeen(number, record.params, record.value, record.feasible)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The constraints of the run, sorted; empty as long as none were told."""
        return self._constraint_names

    def _least_violating(self) -> int:
        """Return the trial with the least sum of excesses, each in units of the largest told of its constraint.

        So units in which constraints are told do not matter. Of equals, the one with the best mean, then the first.
        """
        excess = np.maximum(self._constraints.view, 0.0)
        total = (excess / np.maximum(excess.max(axis=0), np.finfo(np.float64).tiny)).sum(axis=1)
        least = [number for number, at_least in zip(self._constrained, total == total.min(), strict=True) if at_least]
        return min(least, key=lambda number: self._rank(number, self.values(number)))

    def _rank(self, number: int, values: tuple[float, ...]) -> tuple[int, float, int]:
        """Return what sorts complete trials: the best mean first, and of equals the smaller number, whenever told.

        Values at different fidelities are not compared: those nearest to the target come first.
        """
        below = 0 if self._costs is None else self._costs.below_target(self._params[self._rows[number]])
        return below, -self._direction.turn(sum(values) / len(values)), number

    def best_of(self, numbers: Iterable[int]) -> int | None:
        """Return which of these complete trials is the best, as of `best_seen`; None where there are none."""
        ranked = [self._rank(number, self.values(number)) for number in numbers]
        return min(ranked)[-1] if ranked else None

    @property
    def cost(self) -> float:
        """What all trials that were begun cost together."""
        return self._cost

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
        pending = [self._rows[number] for number in self._in["pending"]]
        return np.vstack([self._x.view[pending], self._failed.view])

    def is_taken(self, x: Array) -> bool:
        """Return whether a trial at exactly the point `x`, shape (D,), is pending or failed."""
        return _key(x) in self._taken

    def first_at(self, x: Array) -> int | None:
        """Return the number of the first trial at exactly the point `x`, shape (D,), or None."""
        return self._at.get(_key(x))

    def begin(self, params: Mapping[str, Any], x: Array, why: str) -> int:
        """Add a pending trial and return its number."""
        number = self._next
        self.restore([number], [params], x[None, :], [why], [])
        return number

    def finish(self, number: int, reading: Reading) -> None:
        """Give a pending trial its outcome."""
        pending, key = self._in["pending"], _key(self.point(number))
        del pending[bisect_left(pending, number)]
        if self._taken[key] > 1:
            self._taken[key] -= 1
        else:
            del self._taken[key]
        self._readings[self._rows[number]] = reading
        self._take_in(number, key, reading)

    def add(self, batch: Batch, why: str) -> None:
        """Add trials that have their outcomes."""
        numbers = range(self._next, self._next + len(batch))
        finished = list(zip(numbers, batch.readings, strict=True))
        self.restore(numbers, batch.params, batch.x, [why] * len(batch), finished)

    def restore(
        self,
        numbers: Sequence[int],
        params: Sequence[Mapping[str, Any]],
        points: Array,
        why: Sequence[str],
        finished: Sequence[tuple[int, Reading]],
    ) -> None:
        """Begin trials of these numbers at points (n, D), then finish some, which may be earlier ones, in this order.

        As `begin` and `finish` do one after another, in a fraction of the time.
        """
        keys = {number: point.tobytes() for number, point in zip(numbers, points + 0.0, strict=True)}
        self._rows.update(zip(numbers, range(len(self), len(self) + len(numbers)), strict=True))
        self._numbers.extend(numbers)
        self._next = max(self._next, max(numbers, default=-1) + 1)
        self._params.extend(map(dict, params))
        self._cost += len(params) if self._costs is None else sum(map(self._costs.of, params))
        self._why.extend(why)
        self._readings.extend([None] * len(numbers))
        self._x.extend(points)
        outcomes = dict(finished)
        for number, key in keys.items():
            self._at.setdefault(key, number)
            if number not in outcomes:
                insort(self._in["pending"], number)
                self._taken[key] = self._taken.get(key, 0) + 1
        for number, reading in finished:
            if number not in keys:
                self.finish(number, reading)
            else:
                self._readings[self._rows[number]] = reading
                self._take_in(number, keys[number], reading)

    def _take_in(self, number: int, key: bytes, reading: Reading) -> None:
        """Keep what is asked of all finished trials together, so that no answer needs to look at every one."""
        numbers = self._in[_state_of(reading)]
        place = bisect_left(numbers, number) if numbers and number < numbers[-1] else len(numbers)
        numbers.insert(place, number)
        if reading.failure is not None:
            self._taken[key] = self._taken.get(key, 0) + 1
            self._insert_failed(place, self.point(number))
            return
        self._standard_errors |= reading.sem is not None
        if reading.constraints:
            if not self._constraint_names:
                self._constraint_names = tuple(reading.constraints)
                self._constraints = Growing(np.float64, (len(reading.constraints),))
                self._best = None  # whether the constraints hold in earlier trials is not known
            self._constrained.append(number)
            self._constraints.append(list(reading.constraints.values()))
        if not self._constraint_names or _hold(reading.constraints):
            rank = self._rank(number, reading.values)
            if self._best is None or rank < self._best_rank:
                self._best, self._best_rank = number, rank

    def _insert_failed(self, place: int, x: Array) -> None:
        if place == self._failed.size:
            self._failed.append(x)
        else:  # told in another order than asked
            points = np.insert(self._failed.view, place, x, axis=0)
            self._failed = Growing(np.float64, x.shape)
            self._failed.extend(points)

    def require_pending(self, number: int) -> None:
        """Refuse a trial that cannot be told: there is none of this number, or it was told."""
        self._require_known(number)
        reading = self._readings[self._rows[number]]
        if reading is not None:
            raise InvalidInput(
                f"trial: expected a pending trial, got trial {number}, which is already {_state_of(reading)}; for a"
                " further measurement there use add(params, outcome)"
            )

    def _require_known(self, number: int) -> None:
        if number not in self._rows:
            known = f"0 to {self._next - 1}" if len(self) else "none yet"
            raise InvalidInput(f"trial: expected the number of a trial that was asked ({known}), got {number}")

    def summary(self) -> str:
        """Return how many trials are in each state, in words."""
        return ", ".join(f"{self.count(state)} {state}" for state in ("complete", "failed", "pending"))


def _key(x: Array) -> bytes:
    """Return what tells points apart; + 0.0, because -0.0 is the same coordinate as 0.0."""
    return (x + 0.0).tobytes()


def _hold(constraints: Mapping[str, float]) -> bool:
    """Whether constraints were told and all of them hold."""
    return bool(constraints) and all(value <= 0 for value in constraints.values())


def _state_of(reading: Reading) -> State:
    return "complete" if reading.failure is None else "failed"
