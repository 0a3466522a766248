"""A run: a search, the history of its trials and the log of its events, which change together."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from quadrat.arrays import Array
from quadrat.methods.base import Failed, Happened, Method, Told
from quadrat.optimizer.batch import Batch
from quadrat.optimizer.costs import Costs
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.domain_of import domain_of
from quadrat.optimizer.events import Event, added, asked, told
from quadrat.optimizer.history import History
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.proposing import propose
from quadrat.space import Space

__all__ = ["Run"]

_logger = logging.getLogger(__name__)


class Run:
    """What happened so far, in the three forms in which it is needed. All that comes in was checked before.

    Parameters
    ----------
    space
        What is searched.
    direction
        Which values are best.
    method
        What starts the search.
    seed
        Names all randomness.

    Attributes
    ----------
    space
        As given.
    search
        What the method makes of it.
    history
        The trials.
    events
        The log, as plain data, from which `quadrat.optimizer.replay` makes the same run.
    """

    def __init__(self, space: Space, direction: Direction, method: Method, seed: int) -> None:
        self.space = space
        self._direction = direction
        self._seed = seed
        self.search = direction.turn_method(method).start(domain_of(space), seed)
        self.history = History(space.dimension, direction, None if space.fidelity is None else Costs(space))
        self.events: list[Event] = []

    def propose(self, context: Array | None = None) -> tuple[dict[str, Any], str]:
        """Return what the search would evaluate next, in a context, shape (D,), where there is one; and why."""
        return propose(self.search, self.space, self.history, self._seed, context)

    def begin(self, params: Mapping[str, Any], x: Array, why: str, by: str) -> int:
        """Add a pending trial at x, shape (D,), chosen by "method" or "user", and return its number."""
        number = self.history.begin(params, x, why)
        self.events.append(asked(number, params, why, by))
        return number

    def finish(self, number: int, reading: Reading) -> None:
        """Give a pending trial its outcome."""
        happened = self.happened(number, self.history.point(number), reading)
        if isinstance(happened, Failed):
            _logger.warning("trial %d failed: %s", number, reading.failure)
        self.search.take(happened)
        self.history.finish(number, reading)
        self.events.append(told(number, reading))

    def add(self, batch: Batch, why: str) -> range:
        """Add trials that have their outcomes, all at once, and return their numbers."""
        numbers = range(len(self.history), len(self.history) + len(batch))
        if numbers:
            for happened in self.all_happened(batch):
                self.search.take(happened)
            self.keep(batch, why)
        return numbers

    def keep(self, batch: Batch, why: str) -> None:
        """Write down trials that the search was told of."""
        self.events.append(added(len(self.history), batch, why))
        self.history.add(batch, why)

    def happened(self, number: int, x: Array, reading: Reading) -> Told | Failed:
        """Return what the search is told of a trial at x, shape (D,)."""
        return self._direction.told(number, x, reading) if reading.failure is None else Failed(number, x)

    def all_happened(self, batch: Batch) -> list[Happened]:
        """Return what the search is told of trials that are added: those with values together, then those that failed.

        They are numbered from the next number on.
        """
        trials = zip(range(len(self.history), len(self.history) + len(batch)), batch.x, batch.readings, strict=True)
        each = [self.happened(*trial) for trial in trials]
        complete = tuple(one for one in each if isinstance(one, Told))
        failed = [one for one in each if isinstance(one, Failed)]
        if failed:
            _logger.warning("%d of the %d trials added had failed", len(failed), len(batch))
        return [complete, *failed] if complete else [*failed]
