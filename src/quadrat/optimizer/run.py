"""A run: a search, the history of its trials and the log of its events, which change together."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer.batch import Batch
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.domain_of import domain_of
from quadrat.optimizer.events import Event, added, asked, batch_of, reading_of, told
from quadrat.optimizer.history import History
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.proposing import propose
from quadrat.optimizer.trial import TrialRecord
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
    search
        What the method makes of it.
    history
        The trials.
    events
        The log, as plain data, from which `replay` makes the same run.
    """

    def __init__(self, space: Space, direction: Direction, method: Method, seed: int) -> None:
        self._space = space
        self._direction = direction
        self._seed = seed
        self.search = method.start_in(domain_of(space), seed)
        self.history = History(space.dimension, direction)
        self.events: list[Event] = []

    def propose(self) -> tuple[dict[str, Any], str]:
        """Return what the search would evaluate next, and why."""
        return propose(self.search, self._space, self.history, self._seed)

    def begin(self, params: Mapping[str, Any], x: Array, why: str, by: str) -> TrialRecord:
        """Add a pending trial at x, shape (D,), chosen by "method" or "user", and return its record."""
        record = self.history.begin(params, x, why)
        self.events.append(asked(record, by))
        return record

    def finish(self, number: int, reading: Reading) -> TrialRecord:
        """Give a pending trial its outcome and return its record."""
        x = self.history[number].x
        if reading.failure is None:
            self.search.tell(self._direction.told(number, x, reading))
        else:
            _logger.warning("trial %d failed: %s", number, reading.failure)
            self.search.fail(number, x)
        record = self.history.finish(number, reading)
        self.events.append(told(number, reading))
        return record

    def add(self, batch: Batch, why: str) -> range:
        """Add trials that have their outcomes, all at once, and return their numbers."""
        numbers = range(len(self.history), len(self.history) + len(batch))
        if not numbers:
            return numbers
        trials = list(zip(numbers, batch.x, batch.readings, strict=True))
        complete = [self._direction.told(*trial) for trial in trials if trial[2].failure is None]
        if complete:
            self.search.tell_many(complete)
        if len(complete) < len(trials):
            _logger.warning("%d of the %d trials added had failed", len(trials) - len(complete), len(trials))
            for number, x, reading in trials:
                if reading.failure is not None:
                    self.search.fail(number, x)
        self.history.add(batch, why)
        self.events.append(added(numbers.start, batch, why))
        return numbers

    def replay(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Let all that is in a log happen again, in a run that is still empty.

        Raises
        ------
        InvalidInput
            An event that is none, or that cannot have happened then.
        """
        asks = [event for event in events if event["event"] == "ask"]
        try:
            points = iter(self._space.to_units(event["params"] for event in asks))  # at once: far quicker
        except InvalidInput as error:
            raise InvalidInput(f"state: {error}") from None
        last = next((event for event in reversed(asks) if event["by"] == "method"), None)
        for event in events:
            try:
                if event["event"] == "ask":
                    # Where asking leaves no trace, the last suggestion shows whether this machine makes the same.
                    if event["by"] == "method" and (event is last or not self.search.asking_changes_nothing):
                        self._compare(event)
                    self.begin(event["params"], next(points), event["why"], event["by"])
                elif event["event"] == "tell":
                    self.history.require_pending(event["number"])
                    self.finish(event["number"], reading_of(event, self.history.constraint_names))
                else:
                    self.add(batch_of(event, self._space, self.history.constraint_names), event["why"])
            except InvalidInput:
                raise
            except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
                raise InvalidInput(f"state: expected an event of Optimizer.state(), got {event!r:.80}") from error

    def _compare(self, event: Mapping[str, Any]) -> None:
        """Ask the search again, and warn where it answers otherwise."""
        params, _ = self.propose()
        if params != event["params"]:
            # What was evaluated is what counts. The run goes on, it is only not the one it would have been.
            _logger.warning(
                "trial %d: this machine suggests %r where %r was asked; later suggestions may differ too",
                event["number"],
                params,
                event["params"],
            )
