"""A run rebuilt from its log."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Failed, Happened, Told
from quadrat.optimizer.events import Event, asked, batch_of, reading_of, told
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.run import Run
from quadrat.space.context import context_of, context_point

__all__ = ["replay"]

_logger = logging.getLogger(__name__)
_WRONG = (KeyError, TypeError, AttributeError, ValueError, IndexError)  # what a wrong event raises


def replay(run: Run, events: Sequence[Event]) -> None:
    """Let all that is in a log happen again, in a run that is still empty.

    Where asking changes the search, every suggestion is made again. Where it leaves no trace, one is, the last, to see
    whether this machine makes the same; and the search is told all that came before it at once.

    Raises
    ------
    InvalidInput
        An event that is none, or that cannot have happened then.
    """
    try:
        points = run.space.to_units(event["params"] for event in events if event["event"] == "ask")
    except InvalidInput as error:
        raise InvalidInput(f"state: {error}") from None
    again = len(events) if run.search.asking_changes_nothing else 0
    if again:
        again = next((i for i in reversed(range(again)) if _is_suggestion(events[i])), again)
        if any(event["event"] == "add_many" for event in events[again:]):
            again = len(events)  # what the search was before these is not worth the time it takes to learn
        with _garbage_left_alone():
            points = points[_restore(run, events[:again], points) :]
    remaining = iter(points)
    for event in events[again:]:
        try:
            if event["event"] == "ask":
                if _is_suggestion(event):
                    _compare(run, event)
                run.begin(event["params"], next(remaining), event["why"], event["by"])
            elif event["event"] == "tell":
                run.history.require_pending(event["number"])
                run.finish(event["number"], reading_of(event, run.history.constraint_names))
            else:
                run.add(batch_of(event, run.space, run.history.constraint_names), event["why"])
        except InvalidInput:
            raise
        except _WRONG as error:
            raise _refused(event) from error


def _is_suggestion(event: Event) -> bool:
    return bool(event["event"] == "ask" and event["by"] == "method")


def _restore(run: Run, events: Sequence[Event], points: Array) -> int:
    """Let events happen again without asking the search; return how many asks there were, at the first of `points`."""
    happened: list[Happened] = []
    begun, stretch = 0, _Stretch(run, points)
    for event in events:
        try:
            if event["event"] == "ask":
                stretch.begin(event)
            elif event["event"] == "tell":
                happened.append(stretch.finish(event))
            else:
                begun += stretch.restore()
                batch = batch_of(event, run.space, run.history.constraint_names)
                happened.extend(run.all_happened(batch))
                run.keep(batch, event["why"])
                stretch = _Stretch(run, points[begun:])
        except InvalidInput:
            raise
        except _WRONG as error:
            raise _refused(event) from error
    begun += stretch.restore()
    run.search.rebuild(happened)
    return begun


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


class _Stretch:
    """A stretch of a log with asks and tells alone, which the history takes in at once when it is over.

    Parameters
    ----------
    run
        The run at its beginning.
    points
        Where the asks will be, shape (n, D), and further ones.
    """

    def __init__(self, run: Run, points: Array) -> None:
        self._run, self._points = run, points
        self._first = len(run.history)
        self._names = run.history.constraint_names
        self._params: list[dict[str, Any]] = []
        self._why: list[str] = []
        self._finished: dict[int, Reading] = {}

    def begin(self, event: Event) -> None:
        """Let a trial be asked."""
        params, why = event["params"], event["why"]
        self._run.events.append(asked(self._first + len(self._params), params, why, event["by"]))
        self._params.append(params)
        self._why.append(why)

    def finish(self, event: Event) -> Told | Failed:
        """Let a trial be told; return what the search makes of it."""
        number = event["number"]
        if type(number) is not int:
            raise TypeError
        place = number - self._first
        if number < 0 or number in self._finished or place >= len(self._params):
            self.restore()  # then the history says what is wrong
        if place < 0 or number in self._finished or place >= len(self._params):
            self._run.history.require_pending(number)
        reading = reading_of(event, self._names)
        if reading.failure is None:
            self._names = self._names or tuple(reading.constraints)
        self._finished[number] = reading
        self._run.events.append(told(number, reading))
        x = self._points[place] if place >= 0 else self._run.history.point(number)
        return self._run.happened(number, x, reading)

    def restore(self) -> int:
        """Give everything to the history; return how many trials were asked."""
        n = len(self._params)
        self._run.history.restore(self._params, self._points[:n], self._why, list(self._finished.items()))
        return n


def _refused(event: Event) -> InvalidInput:
    return InvalidInput(f"state: expected an event of Optimizer.state(), got {event!r:.80}")


def _compare(run: Run, event: Event) -> None:
    """Ask the search again, and warn where it answers otherwise."""
    params, _ = run.propose(context_point(run.space, context_of(run.space, event["params"]) or None))
    if params != event["params"]:
        # What was evaluated is what counts. The run goes on, it is only not the one it would have been.
        _logger.warning(
            "trial %d: this machine suggests %r where %r was asked; later suggestions may differ too",
            event["number"],
            params,
            event["params"],
        )
