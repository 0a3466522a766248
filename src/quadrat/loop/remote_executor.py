"""What executors on clusters have in common: a thread here waits for each evaluation there.

So what `concurrent.futures` promises of an executor holds by itself: what waits for a worker can be cancelled, what
runs cannot, and a shutdown waits for both.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ParamSpec, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from quadrat.errors import InvalidInput

__all__ = ["Call", "Evaluation", "RemoteExecutor"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
Call: TypeAlias = Callable[[], tuple[object, SystemExit | None]]
"""What a worker is sent: it returns the value, or the exit that the function asked for."""


@dataclass(eq=False)
class Evaluation:
    """Where an evaluation stands: what the cluster calls it, if it has it, and whether it was given up."""

    handle: Any = None
    abandoned: bool = False


class RemoteExecutor(ThreadPoolExecutor):
    """Sends so many evaluations at once to a cluster and waits for them, in threads of this name."""

    def __init__(self, workers: int, name: str) -> None:
        super().__init__(workers, thread_name_prefix=name)
        self._evaluations: WeakKeyDictionary[Future[Any], Evaluation] = WeakKeyDictionary()
        self._changing = threading.Lock()  # held while an evaluation gets its handle or is given up
        self._closing = threading.Lock()

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """Give a call to the cluster and return what the cluster calls it; raise `ExecutorGone` where it takes none."""

    @abstractmethod
    def _outcome(self, evaluation: Evaluation, begin: Callable[[], Any]) -> tuple[object, SystemExit | None]:
        """Begin an evaluation and wait for what the call returns; raise what it raised, or `WorkerDied`."""

    @abstractmethod
    def _end(self, handle: Any) -> None:
        """End an evaluation as far as the cluster can."""

    @abstractmethod
    def _leave(self) -> None:
        """Leave the cluster, and end it where it was started here; called again, do nothing."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Evaluate ``fn(*args, **kwargs)`` on a worker, also where that was evaluated before.

        The future ends with `WorkerDied` where the worker or the cluster went away, with whatever the function raised,
        or with its value.
        """
        evaluation = Evaluation()
        future = super().submit(self._evaluate, evaluation, _bound(fn, args, kwargs))
        self._evaluations[future] = evaluation
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Give up an evaluation: its future, one of this executor, ends with `WorkerDied`, unless it has ended."""
        evaluation = self._evaluations.get(future)
        if evaluation is None:
            raise InvalidInput(f"future: expected one that submit of this executor returned, got {future!r:.80}")
        with self._changing:
            evaluation.abandoned = True
            handle = evaluation.handle
        if handle is not None:
            self._end(handle)

    def kill(self) -> None:
        """Give up all evaluations now, also those that wait."""
        for future in list(self._evaluations):
            self.abandon(future)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for what runs; where an exception leaves the block nobody wants it any more."""
        if error is not None:
            self.kill()
        self.shutdown(wait=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; when all futures are done, leave the cluster, and end it where it was started here."""
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            with self._closing:
                self._leave()
        else:
            threading.Thread(target=self.shutdown, name=f"{self._thread_name_prefix}-shutdown").start()

    def _evaluate(self, evaluation: Evaluation, call: Call) -> Any:
        def begin() -> Any:
            with self._changing:
                if evaluation.abandoned:
                    raise CancelledError
                evaluation.handle = self._send(call)
                return evaluation.handle

        try:
            value, left = self._outcome(evaluation, begin)
        finally:
            evaluation.handle = None  # or the cluster would keep the value for as long as the future lives
        if left is not None:
            raise left
        return value


def _bound(fn: Callable[..., object], args: Any, kwargs: Any) -> Call:
    """Return a call without arguments: clusters look for options of their own among them.

    It is a function in a function because those travel by value.
    """

    def evaluate() -> tuple[object, SystemExit | None]:
        try:
            return fn(*args, **kwargs), None
        except SystemExit as left:  # raised there, it would end the worker
            return None, left

    return evaluate
