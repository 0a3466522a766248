"""Workers whose evaluations take virtual time: a fleet of any size, simulated with the order of events that it has.

A virtual worker evaluates at once, and its answer is held back until the clock says that it is due. Nobody waits: when
the coordinator has given out all that there is room for and would wait, the clock moves on to the next answer. So what
a run does depends on the durations and on nothing else, and an hour of ten thousand workers takes as long as the
suggestions for them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import Any, ParamSpec, TypeVar

from quadrat.loop.workers import Finished, Objective, OnExecutor

__all__ = ["VirtualExecutor", "VirtualWorkers"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, order=True)
class _Due:
    """When an answer is due, which submission it is of, from 0, and how to give it."""

    time: float
    number: int

    def __post_init__(self) -> None:
        if not 0 <= self.time < inf:
            raise ValueError(f"duration: expected a finite one, at least 0, got an answer at {self.time}")


class VirtualExecutor(Executor):
    """Answers when virtual time has come.

    Parameters
    ----------
    workers
        How many calls run at once; more wait, and the first of them begins when a worker is free.
    duration
        Gives the virtual time that the next call takes: asked once for every submission, in their order.

    Attributes
    ----------
    now
        Virtual time, from 0.
    ended
        When each call ended, by its number in the order of submission.

    Examples
    --------
    >>> executor = VirtualExecutor(2, iter([3.0, 1.0, 1.0]).__next__)
    >>> futures = [executor.submit(str, i) for i in range(3)]
    >>> executor.advance()
    >>> [future.done() for future in futures], executor.now
    ([False, True, False], 1.0)
    >>> executor.advance()
    >>> futures[2].result(), executor.now
    ('2', 2.0)
    """

    def __init__(self, workers: int, duration: Callable[[], float]) -> None:
        self._max_workers, self._duration = workers, duration
        self.now = 0.0
        self.ended: dict[int, float] = {}
        self._submitted = 0
        self._free: list[float] = [0.0] * workers  # when each worker is free: a heap
        self._due: list[_Due] = []
        self._answers: dict[int, Callable[[], None]] = {}

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Call a function now; its answer comes when it is due."""
        future: Future[_T] = Future()
        future.set_running_or_notify_cancel()
        try:
            answer = _answer(future, fn(*args, **kwargs))
        except Exception as error:
            answer = _failure(future, error)
        number, self._submitted = self._submitted, self._submitted + 1
        due = _Due(max(self.now, heappop(self._free)) + self._duration(), number)
        heappush(self._free, due.time)
        heappush(self._due, due)
        self._answers[number] = answer
        return future

    def advance(self) -> None:
        """Move the clock to when the next answer is due, and give it, together with all that are due at that time."""
        if self._due:
            self.now = self._due[0].time
        while self._due and self._due[0].time == self.now:
            number = heappop(self._due).number
            self.ended[number] = self.now
            self._answers.pop(number)()


class VirtualWorkers(OnExecutor):
    """The workers of a coordinator on a `VirtualExecutor`: where others wait, the clock moves on."""

    def __init__(self, objective: Objective, executor: VirtualExecutor) -> None:
        super().__init__(objective, executor, executor._max_workers)
        self._clock = executor

    def collect(self, timeout: float | None) -> list[Finished]:  # noqa: ARG002  # nothing takes time here
        self._clock.advance()
        return super().collect(0.0)


def _answer(future: Future[Any], result: object) -> Callable[[], None]:
    return lambda: future.set_result(result)


def _failure(future: Future[Any], error: Exception) -> Callable[[], None]:
    return lambda: future.set_exception(error)
