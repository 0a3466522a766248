"""Trials on the workers of a Dask cluster, on this machine or on many."""

from __future__ import annotations

import importlib
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput
from quadrat.loop.remote_executor import Call, Evaluation, RemoteExecutor
from quadrat.loop.workers import ExecutorGone, WorkerDied

__all__ = ["DaskExecutor", "SchedulerGone"]

_PATIENCE = 8.0  # seconds that a scheduler has to answer, at first and after the connection was lost

# What a worker runs as it starts: Ctrl-C is for this process, which decides whether what runs may finish.
_LEAVE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, lambda number, frame: None)\n"


class SchedulerGone(ExecutorGone):
    """The scheduler went away and did not come back: the executor takes no more work."""


class DaskExecutor(RemoteExecutor):
    """Evaluates on Dask workers.

    To give up an evaluation its process is killed where this executor started it. A worker of a cluster that was joined
    goes on with what it does, because Dask cannot interrupt it.

    Functions without a name that others can import travel by value; the workers need what they import, but not
    Quadrat. A script that starts workers has to guard what it does by ``if __name__ == "__main__":``, because they
    import the script.

    Parameters
    ----------
    workers
        How many evaluations run at once. Without a scheduler, as many processes are started here, of one thread each;
        None is one for every processor. With a scheduler, None is one for every thread that its workers have now.
    scheduler
        The address of a running scheduler, such as ``"tcp://127.0.0.1:8786"``. Its own number of allowed failures
        holds: by default Dask lets an evaluation kill three more workers before it tells.

    Raises
    ------
    InvalidInput
        Dask is not installed, no scheduler answers, or it has no workers.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> with DaskExecutor(4) as executor:  # doctest: +SKIP
    ...     found = qd.minimize(lambda p: p["x"] ** 2, space, n_trials=40, executor=executor)
    """

    @renamed(old="n_workers", new="workers")
    def __init__(self, workers: int | None = None, *, scheduler: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise InvalidInput(f"workers: expected at least 1, got {workers}")
        self._distributed = _distributed()
        self._cluster: Any = None
        self._died = False  # whether any evaluation ended without an outcome
        if scheduler is None:
            workers = workers or os.cpu_count() or 1
            self._cluster = self._started(workers)
            self._client = self._connected(self._cluster)
        else:
            self._client = self._connected(scheduler)
            workers = workers or _threads_of(self._client, scheduler)
        super().__init__(workers, "quadrat-dask")

    def _send(self, call: Call) -> Any:
        gone = self._gone()
        if gone is not None:
            raise gone
        return self._client.submit(call, pure=False)

    def _outcome(self, evaluation: Evaluation, begin: Callable[[], Any]) -> tuple[object, SystemExit | None]:
        try:
            found: tuple[object, SystemExit | None] = begin().result()
        except (self._distributed.scheduler.KilledWorker, CancelledError) as error:
            self._died = True
            if evaluation.abandoned:
                raise WorkerDied("the evaluation was given up") from error
            raise self._gone() or WorkerDied(f"the Dask worker or its scheduler went away: {error}") from error
        return found

    def _end(self, handle: Any) -> None:
        self._kill_worker_of(handle)
        handle.cancel()

    def _leave(self) -> None:
        if self._died and self._cluster is not None:  # Dask cannot close a cluster while it starts a process anew
            with suppress(TimeoutError):
                self._client.wait_for_workers(self._max_workers, timeout=_PATIENCE)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

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

    def _started(self, workers: int) -> Any:
        return self._distributed.LocalCluster(
            n_workers=workers,
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
            f" `dask worker {scheduler}`, or pass workers="
        )
    return threads
