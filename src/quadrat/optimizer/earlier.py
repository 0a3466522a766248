"""A run as it was earlier: what was recommended after so many trials, which nobody had asked for then.

The log of the run happens again, once, in an optimizer of its own, which stops on the way. Where asking leaves no trace
it is not asked, so that this takes as long as telling alone; otherwise as long as the run itself took, without its
evaluations. What was added at once is added in pieces, one at each stop: as if it had been read then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from quadrat.blas_threads import on_one_blas_thread
from quadrat.errors import InvalidInput
from quadrat.methods.base import Failed, Happened, Told
from quadrat.optimizer.batch import Batch
from quadrat.optimizer.events import Event, batch_of, reading_of, told
from quadrat.optimizer.optimizer import Optimizer
from quadrat.optimizer.run import Run
from quadrat.space.context import context_of, context_point

__all__ = ["earlier", "finished_order"]


def finished_order(optimizer: Optimizer) -> tuple[int, ...]:
    """Return the numbers of the trials that are complete or failed, in the order in which they were told."""
    numbers: list[int] = []
    for event in optimizer._run.events:
        if event["event"] == "tell":
            numbers.append(event["number"])
        elif event["event"] == "add_many":
            numbers.extend(range(event["number"], event["number"] + len(event["values"])))
    return tuple(numbers)


def earlier(optimizer: Optimizer, finished: Sequence[int]) -> Iterator[tuple[int, Optimizer]]:
    """Yield the run as it was when so many trials had finished: the number, and an optimizer to ask for answers.

    It is the same optimizer each time, which has moved on; the one that is given stays as it is.

    Parameters
    ----------
    optimizer
        The run.
    finished
        Numbers of finished trials, ascending, each from 1 to as many as there are.

    Examples
    --------
    >>> from quadrat.space import Float, Space
    >>> optimizer = Optimizer(Space(x=Float(-1, 1)), direction="maximize", method="RandomSearch", seed=0)
    >>> for value in (0.1, 0.7, 0.3):
    ...     optimizer.tell(optimizer.ask(), value)
    >>> [(n, then.recommend().value) for n, then in earlier(optimizer, [1, 3])]
    [(1, 0.1), (3, 0.7)]
    """
    total = len(finished_order(optimizer))
    stops = list(finished)
    if any(a >= b for a, b in pairwise(stops)) or (stops and not 1 <= stops[0] <= stops[-1] <= total):
        raise InvalidInput(f"finished: expected ascending numbers from 1 to {total}, got {stops!r:.80}")
    again = Optimizer(optimizer.space, direction=optimizer.direction, method=optimizer.method, seed=optimizer._seed)
    pieces = _Pieces(again._run)
    events = iter(optimizer._run.events)
    for stop in stops:
        pieces.go_on(events, stop)
        yield stop, again


class _Pieces:
    """A run that takes in the log of another one, up to a number of finished trials and then further."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._finished = 0
        self._rest: tuple[Batch, str] | None = None  # of trials that were added at once, what is still to come

    @on_one_blas_thread
    def go_on(self, events: Iterator[Event], stop: int) -> None:
        """Take in events until so many trials are finished."""
        while self._finished < stop:
            if self._rest is not None:
                self._add(stop)
                continue
            event = next(events)
            if event["event"] == "ask":
                self._ask(event)
            elif event["event"] == "tell":
                self._tell(event)
            else:
                self._rest = batch_of(event, self._run.space, self._run.history.constraint_names), event["why"]

    def _ask(self, event: Event) -> None:
        run, params = self._run, event["params"]
        if event["by"] == "method" and not run.search.asking_changes_nothing:
            run.propose(context_point(run.space, context_of(run.space, params) or None))
        run.begin(params, run.space.to_unit(params), event["why"], event["by"])

    def _tell(self, event: Event) -> None:
        # As `Run.finish`, but without its word on failures, which was said when they happened.
        run, number = self._run, event["number"]
        reading = reading_of(event, run.history.constraint_names)
        run.search.take(run.happened(number, run.history.point(number), reading))
        run.history.finish(number, reading)
        run.events.append(told(number, reading))
        self._finished += 1

    def _add(self, stop: int) -> None:
        assert self._rest is not None
        run, (batch, why) = self._run, self._rest
        count = min(len(batch), stop - self._finished)
        piece = Batch(batch.params[:count], batch.x[:count], batch.readings[:count])
        rest = Batch(batch.params[count:], batch.x[count:], batch.readings[count:])
        first = len(run.history)
        each = [run.happened(first + i, piece.x[i], piece.readings[i]) for i in range(count)]
        complete = tuple(one for one in each if isinstance(one, Told))
        happened: list[Happened] = [complete] if complete else []
        for one in [*happened, *(one for one in each if isinstance(one, Failed))]:
            run.search.take(one)
        run.keep(piece, why)
        self._finished += count
        self._rest = (rest, why) if len(rest) else None
