"""Trials on the workers of a Dask cluster, on this machine or on many.

A thread here waits for each evaluation there. So what `concurrent.futures` promises of an executor holds by itself:
what waits for a worker can be cancelled, what runs cannot, and a shutdown waits for both.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from quadrat.errors import InvalidInput
from quadrat.tune.workers import ExecutorGone, WorkerDied

__all__ = ["DaskExecutor", "SchedulerGone"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_PATIENCE = 8.0  # seconds that a scheduler has to answer, at first and after the connection was lost

# What a worker runs as it starts: Ctrl-C is for this process, which decides whether what runs may finish.
_LEAVE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, lambda number, frame: None)\n"


class SchedulerGone(ExecutorGone):
    """The scheduler went away and did not come back: the executor takes no more work."""


@dataclass(eq=False)
class _Evaluation:
    """Where an evaluation stands: the task that Dask has of it, if any, and whether it was given up."""

    task: Any = None
    abandoned: bool = False


class DaskExecutor(ThreadPoolExecutor):
    """Evaluates on Dask workers.

    Functions without a name that others can import travel by value; the workers need what they import, but not
    Quadrat. A script that starts workers has to guard what it does by ``if __name__ == "__main__":``, because they
    import the script.

    Parameters
    ----------
    n_workers
        How many evaluations run at once. Without a scheduler, as many processes are started here, of one thread each;
        None is one for every processor. With a scheduler, None is one for every thread that its workers have now.
    scheduler
        The address of a running scheduler, such as ``"tcp://127.0.0.1:8786"``. Its own number of allowed failures
        holds: by default Dask lets an evaluation kill three more workers before it tells.

    Raises
    ------
    InvalidInput
        Dask is not installed, no scheduler answers, or it has no workers.
    """

    def __init__(self, n_workers: int | None = None, *, scheduler: str | None = None) -> None:
        if n_workers is not None and n_workers < 1:
            raise InvalidInput(f"n_workers: expected at least 1, got {n_workers}")
        self._distributed = _distributed()
        self._cluster: Any = None
        self._died = False  # whether any evaluation ended without an outcome
        if scheduler is None:
            n_workers = n_workers or os.cpu_count() or 1
            self._cluster = self._started(n_workers)
            self._client = self._connected(self._cluster)
        else:
            self._client = self._connected(scheduler)
            n_workers = n_workers or _threads_of(self._client, scheduler)
        super().__init__(n_workers, thread_name_prefix="quadrat-dask")
        self._evaluations: WeakKeyDictionary[Future[Any], _Evaluation] = WeakKeyDictionary()
        self._changing = threading.Lock()  # held while an evaluation gets its task or is given up
        self._closing = threading.Lock()

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Evaluate ``fn(*args, **kwargs)`` on a worker, also where that was evaluated before.

        The future ends with `WorkerDied` where the worker or the scheduler went away, with whatever the function
        raised, or with its value.
        """
        evaluation = _Evaluation()
        future = super().submit(self._evaluate, evaluation, _bound(fn, args, kwargs))
        self._evaluations[future] = evaluation
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Give up an evaluation: its future ends with `WorkerDied`, unless it has ended before.

        The process that evaluates is killed where this executor started it. A worker of a cluster that was joined goes
        on with what it does, because Dask cannot interrupt it.

        Raises
        ------
        InvalidInput
            The future is not of this executor.
        """
        evaluation = self._evaluations.get(future)
        if evaluation is None:
            raise InvalidInput(f"future: expected one that submit of this executor returned, got {future!r:.80}")
        with self._changing:
            evaluation.abandoned = True
            task = evaluation.task
        if task is not None:
            self._kill_worker_of(task)
            task.cancel()

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
        """Take no more work; when all futures are done, leave the scheduler, and end it where it was started here."""
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            with self._closing:
                if (
                    self._died and self._cluster is not None
                ):  # Dask cannot close a cluster while it starts a process anew
                    with suppress(TimeoutError):
                        self._client.wait_for_workers(self._max_workers, timeout=_PATIENCE)
                self._client.close()
                if self._cluster is not None:
                    self._cluster.close()
        else:
            threading.Thread(target=self.shutdown, name="quadrat-dask-shutdown").start()

    def _evaluate(self, evaluation: _Evaluation, bound: Callable[[], object]) -> Any:
        try:
            value, left = self._begun(evaluation, bound).result()
        except (self._distributed.scheduler.KilledWorker, CancelledError) as error:
            self._died = True
            if evaluation.abandoned:
                raise WorkerDied("the evaluation was given up") from error
            raise self._gone() or WorkerDied(f"the Dask worker or its scheduler went away: {error}") from error
        finally:
            evaluation.task = None  # or the cluster would keep the value for as long as the future lives
        if left is not None:
            raise left
        return value

    def _begun(self, evaluation: _Evaluation, bound: Callable[[], object]) -> Any:
        with self._changing:
            if evaluation.abandoned:
                raise CancelledError
            gone = self._gone()
            if gone is not None:
                raise gone
            evaluation.task = self._client.submit(bound, pure=False)
            return evaluation.task

    def _gone(self) -> SchedulerGone | None:
        if self._client.status in ("running", "connecting"):
            return None
        return SchedulerGone(f"the Dask scheduler went away and did not come back within {_PATIENCE:g} seconds")

    def _kill_worker_of(self, task: Any) -> None:
        """End the process that has a task, if it is ours; Dask starts another one in its place."""
        if self._cluster is None:
            return
        for address, keys in self._client.processing().items():
            state = self._cluster.scheduler.workers.get(address)
            if task.key in keys and state is not None:
                # By name: what watches a process learns the address of a new one only after it has begun to work.
                process = self._cluster.workers[state.name].pid
                if process is not None:
                    os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows only has the second one

    def _started(self, n_workers: int) -> Any:
        return self._distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,  # a worker that dies is told by its future
            preload=[_LEAVE_INTERRUPTS],
            memory_limit=0,  # or Dask kills what takes more than an equal share of the memory
            scheduler_kwargs={
                "allowed_failures": 0,  # trying again is for whoever submits
                "dashboard_address": "127.0.0.1:0",  # any port; without a dashboard Dask would still take one for all
            },
        )

    def _connected(self, where: Any) -> Any:
        # In two steps, to have a client that fails and close it. The garbage collector would close it in the thread
        # that it happens to run in, which waits for ever if it is one of Dask's.
        client = self._distributed.Client.__new__(self._distributed.Client)
        try:
            client.__init__(where, timeout=_PATIENCE, set_as_default=False)
        except Exception as error:  # what servers of another kind answer makes Dask raise almost anything
            with suppress(Exception):
                client.close()
            why = f"{type(error).__name__}: {error}"
            raise InvalidInput(
                f"scheduler: expected the address of a running Dask scheduler, such as 'tcp://127.0.0.1:8786', got"
                f" {where!r}, which does not answer as one ({why:.200}); start one by `dask scheduler`"
            ) from None
        return client


def _bound(fn: Callable[..., object], args: Any, kwargs: Any) -> Callable[[], tuple[object, SystemExit | None]]:
    """Return a call without arguments: Dask would look for tasks and for options of its own among them.

    It is a function in a function because those travel by value.
    """

    def evaluate() -> tuple[object, SystemExit | None]:
        try:
            return fn(*args, **kwargs), None
        except SystemExit as left:  # raised there, it would end the worker
            return None, left

    return evaluate


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise InvalidInput(f'DaskExecutor: expected Dask, got {error}; pip install "quadrat[dask]"') from None


def _threads_of(client: Any, scheduler: str) -> int:
    threads = int(sum(client.nthreads().values()))
    if threads == 0:
        client.close()
        raise InvalidInput(
            f"scheduler: expected a scheduler with workers, got {scheduler!r}, which has none now; start some by"
            f" `dask worker {scheduler}`, or pass n_workers="
        )
    return threads
