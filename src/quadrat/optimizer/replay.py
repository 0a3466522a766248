"""A run rebuilt from its log: all of it, or as it was when so many trials had finished."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from quadrat.errors import InvalidInput, SpaceExhausted
from quadrat.methods.base import Update
from quadrat.optimizer.importing import Batch
from quadrat.optimizer.run import Event, Run, batch_of, reading_of, refusing
from quadrat.space.space import context_of, context_point

__all__ = ["Replay", "replay"]

_logger = logging.getLogger(__name__)


def replay(run: Run, events: Sequence[Event]) -> None:
    """Let all that is in a log happen again, in a run that is still empty; refuse what cannot have happened.

    Where asking changes the search, every suggestion is made again. Where it leaves no trace, one is, the last, to see
    whether this machine makes the same; and the search is told all that came before it at once.
    """
    again = len(events) if run.search.asking_changes_nothing else 0
    if again:
        again = next((i for i in reversed(range(again)) if _is_suggestion(events[i])), again)
        if any(event["event"] == "add_many" for event in events[again:]):
            again = len(events)  # what the search was before these is not worth the time it takes to learn
    log = Replay(run, events)
    log.restore(again)
    log.repeat(len(events), compare=True)


class Replay:
    """A log that happens again in a run that is still empty, event by event or many at once."""

    def __init__(self, run: Run, events: Sequence[Event]) -> None:
        self._run, self._events = run, events
        try:
            self._points = run.space.to_units(event["params"] for event in events if event["event"] == "ask")
        except InvalidInput as error:
            raise InvalidInput(f"state: {error}") from None
        self._place = 0  # of the next event
        self._asked = 0  # of these were asks
        self._finished = 0  # trials
        self._rest: tuple[Batch, str] | None = None  # of trials that were added at once, those still to come

    def until(self, finished: int) -> None:
        """Let events happen until so many trials have finished.

        What was added at once is added in pieces, one at each stop, as if it had been read then.
        """
        while self._finished < finished:
            if self._rest is not None:
                self._add(finished - self._finished)
                continue
            stop = self._place
            left = finished - self._finished
            while left and self._events[stop]["event"] != "add_many":
                left -= self._events[stop]["event"] == "tell"
                stop += 1
            if stop > self._place:
                self._finished = finished - left
                if self._run.search.asking_changes_nothing:
                    self.restore(stop)
                else:
                    self.repeat(stop)
            elif left:
                event = self._events[self._place]
                self._place += 1
                self._rest = batch_of(event, self._run.space, self._run.history.constraint_names), event["why"]

    def restore(self, stop: int) -> None:
        """Let the events before `stop` happen without asking the search, which is told all of them at once."""
        run, updates = self._run, list[Update]()
        with _garbage_left_alone():
            while self._place < stop:
                end = next((i for i in range(self._place, stop) if self._events[i]["event"] == "add_many"), stop)
                updates += self._restored(self._events[self._place : end])
                self._place = end
                if end < stop:
                    event = self._events[end]
                    with refusing(event):
                        batch = batch_of(event, run.space, run.history.constraint_names)
                        updates += run.updates_of(batch)
                        run.keep(batch, event["why"])
                    self._place += 1
            run.search.rebuild(updates)

    def _restored(self, events: Sequence[Event]) -> list[Update]:
        points, first = self._points[self._asked :], self._run.history.next_number
        asks = [event for event in events if event["event"] == "ask"]
        self._asked += len(asks)
        for number, event in enumerate(asks, start=first):
            if event["number"] != number:
                raise InvalidInput(f"state: expected trial {number} to be asked next, got {event!r:.80}")
        return self._run.restore(events, points)

    def repeat(self, stop: int, *, compare: bool = False) -> None:
        """Let the events before `stop` happen one by one, suggestions included; warn where one differs, if asked to."""
        for event in self._events[self._place : stop]:
            with refusing(event):
                self._repeat(event, compare=compare)
        self._place = max(self._place, stop)

    def _repeat(self, event: Event, *, compare: bool) -> None:
        run = self._run
        if event["event"] == "ask":
            if _is_suggestion(event) and (compare or not run.search.asking_changes_nothing):
                _ask_again(run, event, compare=compare)
            run.begin(event["params"], self._points[self._asked], event["why"], event["by"])
            self._asked += 1
        elif event["event"] == "tell":
            number = event["number"]
            if type(number) is not int:
                raise TypeError
            run.history.require_pending(number)
            run.finish(number, reading_of(event, run.history.constraint_names))
        else:
            run.add(batch_of(event, run.space, run.history.constraint_names), event["why"])

    def _add(self, most: int) -> None:
        """Add the next of the trials that were added at once."""
        assert self._rest is not None
        batch, why = self._rest
        count = min(len(batch), most)
        self._run.add(batch.part(0, count), why)
        self._finished += count
        self._rest = (batch.part(count, len(batch)), why) if count < len(batch) else None


def _is_suggestion(event: Event) -> bool:
    return bool(event["event"] == "ask" and event["by"] == "method")


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Let the garbage collector rest: all that is made here stays, so looking through it finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _ask_again(run: Run, event: Event, *, compare: bool) -> None:
    """Ask the search again, and where `compare` is set, warn if it answers otherwise."""
    params: dict[str, Any] | None = None
    with suppress(SpaceExhausted):  # as an earlier version of the method did not say
        params, _ = run.propose(context_point(run.space, context_of(run.space, event["params"]) or None))
    if compare and params != event["params"]:
        # What was evaluated is what counts. The run goes on, it is only not the one it would have been.
        _logger.warning(
            "trial %d: this machine suggests %r where %r was asked; later suggestions may differ too",
            event["number"],
            params,
            event["params"],
        )
