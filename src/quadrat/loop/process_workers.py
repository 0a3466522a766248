"""Worker processes that are mended one by one: the death of one is the business of one trial."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as _wait_for
from functools import partial
from multiprocessing.context import BaseContext
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput
from quadrat.loop.workers import WorkerDied

__all__ = ["ProcessWorkers"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_PRELOADED = ["quadrat.loop.process_server", "quadrat.studies.evaluation"]  # once, before the workers are forked
_HELD = threading.local()  # its `mask`: the signals that were blocked before a fork


class ProcessWorkers(Executor):
    """Processes of this machine, each a pool of its own.

    A pool of several processes breaks as a whole when one of them dies, and does not say which; here a death ends the
    call that ran there, with `WorkerDied`, and a new process takes its place.

    Processes start fresh, not as copies of this one, and are no heirs of its threads and locks. They leave an interrupt
    from the terminal to this process, end when it ends, however that happens, and share its cores: the linear algebra
    of each has its part of the threads.

    Parameters
    ----------
    workers
        How many calls run at once; more wait.

    Examples
    --------
    >>> from math import sqrt
    >>> with ProcessWorkers(1) as executor:
    ...     executor.submit(sqrt, 4.0).result()
    2.0
    """

    @renamed(old="n_workers", new="workers")
    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise InvalidInput(f"workers: expected at least 1, got {workers}")
        self._max_workers = workers
        self._threads = max(1, (os.cpu_count() or 1) // workers)
        self._context = _fresh_processes()
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._busy: dict[Future[Any], ProcessPoolExecutor] = {}
        self._idle: list[ProcessPoolExecutor] = []
        self._closed = False

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Call a function in a process; it and its arguments are pickled."""
        answer: Future[_T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._waiting.append((answer, partial(_limited, self._threads, partial(fn, *args, **kwargs))))
        self._start()
        return answer

    def abandon(self, future: Future[Any]) -> None:
        """Kill the process that works on a `future`, which then ends with `WorkerDied`."""
        with self._lock:
            pool = self._busy.get(future)
        if pool is not None:
            _kill(pool)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As every executor's; what waits is called unless `cancel_futures`."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancel_waiting()
            left = [*self._busy, *(answer for answer, _ in self._waiting)]
            idle = list(self._idle)
        if wait:
            _wait_for(left)
            with self._lock:
                idle, self._idle = self._idle, []
        for pool in idle:
            pool.shutdown(wait=wait)

    def kill(self) -> None:
        """End all processes now."""
        with self._lock:
            self._closed = True
            self._cancel_waiting()
            pools = [*self._busy.values(), *self._idle]
        for pool in pools:
            _kill(pool)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for what runs; where an exception leaves the block nobody wants it any more."""
        if error is not None:
            self.kill()
        self.shutdown(wait=True)

    def _cancel_waiting(self) -> None:
        """Called with the lock."""
        while self._waiting:
            answer, _ = self._waiting.popleft()
            if answer.cancel():
                answer.set_running_or_notify_cancel()  # whoever waits for it is told

    def _start(self) -> None:
        """Give what waits to processes that are free."""
        while True:
            with self._lock:
                if not self._waiting or len(self._busy) >= self._max_workers:
                    return
                answer, call = self._waiting.popleft()
                if not answer.set_running_or_notify_cancel():
                    continue
                try:
                    self._busy[answer], running = self._begun(call)
                except (OSError, EOFError) as error:  # no memory for a process, or whatever starts them died
                    running = Future()
                    running.set_exception(WorkerDied(f"no process could be started: {type(error).__name__}: {error}"))
            running.add_done_callback(partial(self._ended, answer))  # without the lock: it may be over already

    def _begun(self, call: Callable[[], Any]) -> tuple[ProcessPoolExecutor, Future[Any]]:
        while self._idle:
            pool = self._idle.pop()
            try:
                return pool, pool.submit(call)
            except BrokenExecutor:  # its process died while it had nothing to do
                continue
        surroundings = dict(os.environ), str(Path.cwd()), multiprocessing.get_start_method(allow_none=True)
        pool = ProcessPoolExecutor(1, mp_context=self._context, initializer=_begin_worker, initargs=surroundings)
        return pool, pool.submit(call)

    def _ended(self, answer: Future[Any], running: Future[Any]) -> None:
        # Called by a thread of the pool. A broken pool holds its lock meanwhile: it must not be touched, only dropped.
        error = running.exception()
        died = isinstance(error, BrokenExecutor)
        with self._lock:
            pool = self._busy.pop(answer, None)
            if pool is not None and not died:
                self._idle.append(pool)
        self._start()
        if died:
            answer.set_exception(WorkerDied("the process ended before it answered"))
        elif error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(running.result())


def _limited(threads: int, call: Callable[[], _T]) -> _T:
    """Call with few threads of linear algebra: those of several processes would fight over the cores."""
    with threadpool_limits(threads):
        return call()


def _fresh_processes() -> BaseContext:
    """Return how processes start: from a small server where there is one, which is quick, or else from nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def _kill(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):
        process.kill()


def _begin_worker(environment: dict[str, str], folder: str, start_method: str | None) -> None:
    """Prepare a new process, which knows the environment and the folder of when the first one was begun.

    Processes that an objective begins start as they would in the parent.
    """
    multiprocessing.set_start_method(start_method, force=True)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave_to_parent)  # not SIG_IGN, which programs that an objective starts would inherit
    os.register_at_fork(before=_hold_signals, after_in_parent=_release_signals, after_in_child=_end_as_usual)
    threading.Thread(target=_end_with_parent, name="quadrat-parent", daemon=True).start()


def _leave_to_parent(number: int, frame: FrameType | None) -> None:
    """Do nothing."""


def _hold_signals() -> None:
    """Before a fork: keep signals waiting until they mean in the new process what they should."""
    _HELD.mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))


def _release_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _HELD.mask)


def _end_as_usual() -> None:
    """In a process that an objective forks: signals end it. A pool of its own ends its processes so."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _release_signals()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
