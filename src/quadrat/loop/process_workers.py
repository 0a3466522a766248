"""Worker processes that are mended one by one: the death of one is the business of one trial.

A worker leads a process group of its own, so that it can be ended together with the programs that an objective started.
Whoever ends a worker ends its group: this process on a time-out and at a stop, and a guard, which is a small process in
the group, when the worker or this process dies.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as _wait_for
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as _wait_for_any
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput
from quadrat.loop.workers import WorkerDied, new_random_state, with_errors_that_travel

__all__ = ["ProcessWorkers", "objective_begins"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_PRELOADED = ["quadrat.loop.process_server", "quadrat.studies.evaluation"]  # once, before the workers are forked
_HELD = threading.local()  # its `mask`: the signals that were blocked before a fork
_GRACE = 5.0  # seconds that a worker without work has to exit: threads that an objective left, functions at exit
_GONE = 30.0  # seconds to wait for a group that was killed; the kernel may hold a process that waits for a disk
_HAS_GROUPS = hasattr(os, "killpg") and hasattr(os, "fork")  # not on Windows
_logger = logging.getLogger(__name__)
_signs: list[Connection] = []  # in a worker: where it says that an objective begins


@dataclass(eq=False)
class _Worker:
    """A pool of one process, and that process, which stays known when the pool has forgotten it.

    `signs` are the times, of the monotonic clock, at which the process began a call; `began` is that of its last call.
    """

    pool: ProcessPoolExecutor
    process: BaseProcess
    signs: Connection
    began: float | None = None

    def look(self) -> float | None:
        """Return when the process began its last call; None as long as it has not."""
        with suppress(EOFError, OSError):  # it died
            while self.signs.poll():
                self.began = self.signs.recv()
        return self.began

    def kill(self) -> None:
        """End the process and whatever was started in its group."""
        if not _wait_for_any([self.process.sentinel], 0):  # its number may be another's by now
            self._kill_group()
            self.process.kill()  # for one so new that it has no group yet

    def end_group(self) -> None:
        """End what a process that died left in its group, and wait until that is gone."""
        deadline = time.monotonic() + _GONE
        while self._kill_group():
            if time.monotonic() > deadline:
                _logger.warning("processes of group %s do not end, although they were killed", self.process.pid)
                return
            time.sleep(0.01)

    def end(self) -> None:
        """End a process that has no work: it may exit by itself, but not for long."""
        self.pool.shutdown(wait=False)
        _wait_for_any([self.process.sentinel], _GRACE)
        self.kill()
        self.end_group()

    def _kill_group(self) -> bool:
        """Kill the group; return whether anything in it was alive."""
        group = self.process.pid
        if not _HAS_GROUPS or group is None:
            return False
        with suppress(ProcessLookupError, PermissionError):  # nothing is left, or nothing but zombies
            os.killpg(group, signal.SIGKILL)
            return _lives(group)
        return False


class ProcessWorkers(Executor):
    """Processes of this machine, each a pool of its own.

    A pool of several processes breaks as a whole when one of them dies, and does not say which; here a death ends the
    call that ran there, with `WorkerDied`, and a new process takes its place.

    Processes start fresh, not as copies of this one, and are no heirs of its threads and locks. They leave an interrupt
    from the terminal to this process, end when it ends, however that happens, and share its cores: the linear algebra
    of each has its part of the threads. Programs that a call started end with its process, unless they began a session
    of their own; on Windows they live on.

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
        self._busy: dict[Future[Any], _Worker] = {}
        self._idle: list[_Worker] = []
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
            worker = self._busy.get(future)
        if worker is not None:
            worker.kill()

    def began(self, future: Future[Any]) -> float | None:
        """Return when the call of a `future` began, on the monotonic clock; None before that, and when it is over."""
        with self._lock:
            worker = self._busy.get(future)
            return None if worker is None else worker.look()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As every executor's; what waits is called unless `cancel_futures`."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancel_waiting()
            left = [*self._busy, *(answer for answer, _ in self._waiting)]
            idle = list(self._idle)
        if not wait:
            for worker in idle:
                worker.pool.shutdown(wait=False)
            return
        _wait_for(left)
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.pool.shutdown(wait=False)  # all are told before any is waited for
        for worker in idle:
            worker.end()

    def kill(self) -> None:
        """End all processes now."""
        with self._lock:
            self._closed = True
            self._cancel_waiting()
            workers = [*self._busy.values(), *self._idle]
        for worker in workers:
            worker.kill()

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

    def _begun(self, call: Callable[[], Any]) -> tuple[_Worker, Future[Any]]:
        while self._idle:
            worker = self._idle.pop()
            worker.look()
            worker.began = None
            try:
                return worker, worker.pool.submit(call)
            except BrokenExecutor:  # its process died while it had nothing to do
                continue
        signs, there = self._context.Pipe(duplex=False)
        surroundings = dict(os.environ), str(Path.cwd()), multiprocessing.get_start_method(allow_none=True), there
        pool = ProcessPoolExecutor(1, mp_context=self._context, initializer=_begin_worker, initargs=surroundings)
        running = pool.submit(call)
        there.close()  # the process has it
        [process] = pool._processes.values()
        return _Worker(pool, process, signs), running

    def _ended(self, answer: Future[Any], running: Future[Any]) -> None:
        # Called by a thread of the pool. A broken pool holds its lock meanwhile: it must not be touched, only dropped.
        error = running.exception()
        died = isinstance(error, BrokenExecutor)
        if died:
            with self._lock:
                worker = self._busy.get(answer)
            if worker is not None:
                worker.kill()  # alive where it sent what nobody could read
                worker.end_group()  # before anything else runs in its place
        with self._lock:
            worker = self._busy.pop(answer, None)
            if worker is not None and not died:
                self._idle.append(worker)
        self._start()
        if died:
            answer.set_exception(WorkerDied("the process ended before it answered"))
        elif error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(running.result())


def _limited(threads: int, call: Callable[[], _T]) -> _T:
    """Call with few threads of linear algebra: those of several processes would fight over the cores.

    Never with more than a library has, such as by OMP_NUM_THREADS: whoever asked for one has his reasons.
    """
    controller = ThreadpoolController()
    fewest = {one.prefix: min(threads, one.num_threads or threads) for one in controller.lib_controllers}
    with controller.limit(limits=fewest):
        if not getattr(getattr(call, "func", None), "says_when_it_begins", False):
            objective_begins()
        return with_errors_that_travel(call)


def objective_begins() -> None:
    """Say, in a worker process, that an objective is called now: from here on its time counts.

    Callables with a true attribute `says_when_it_begins` do it themselves, such as those that first import something.
    """
    for connection in _signs:
        connection.send(time.monotonic())  # a clock that all processes of a machine share


def _fresh_processes() -> BaseContext:
    """Return how processes start: from a small server where there is one, which is quick, or else from nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def _lives(group: int) -> bool:
    """Return whether a process of a group is alive; a zombie, which nobody has waited for yet, is not."""
    if not sys.platform.startswith("linux"):
        return True  # the group is there: killing it fails as soon as it is not
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of_group = path.read_text().rsplit(")", 1)[1].split()[:3]
            if int(of_group) == group and state not in "ZX":
                return True
    return False


def _begin_worker(environment: dict[str, str], folder: str, start_method: str | None, signs: Connection) -> None:
    """Prepare a new process: it gets a group with a guard, random numbers of its own, and the parent's surroundings.

    Processes that an objective begins start as they would in the parent.
    """
    _signs[:] = [signs]
    new_random_state()
    multiprocessing.set_start_method(start_method, force=True)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave_to_parent)  # not SIG_IGN, which programs that an objective starts would inherit
    if _HAS_GROUPS:
        os.setsid()
        held = _begin_guard()
        os.register_at_fork(
            before=_hold_signals, after_in_parent=_release_signals, after_in_child=partial(_end_as_usual, held)
        )
    else:
        threading.Thread(target=_end_with_parent, name="quadrat-parent", daemon=True).start()


def _leave_to_parent(number: int, frame: FrameType | None) -> None:
    """Do nothing."""


def _hold_signals() -> None:
    """Before a fork: keep signals waiting until they mean in the new process what they should."""
    _HELD.mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))


def _release_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _HELD.mask)


def _end_as_usual(held: int) -> None:
    """In a process that an objective forks: signals end it. A pool of its own ends its processes so."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _release_signals()
    with suppress(OSError):
        os.close(held)  # or the guard would take it for the worker


def _begin_guard() -> int:
    """Fork a guard, which ends the group when this process or its parent is gone; return what says that this one lives.

    A thread would not do: an objective may compute for long without giving other threads a turn. Nor would the signal
    that Linux sends at the death of a parent: it ends the worker alone.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    ended, held = os.pipe()
    if os.fork():
        os.close(ended)
        return held
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        needed = parent.sentinel, ended
        for path in list(Path("/dev/fd").iterdir()):
            with suppress(OSError):
                if int(path.name) not in needed:
                    os.close(int(path.name))  # also the output, which somebody may read to its end
        _wait_for_any(needed)
    finally:
        os.killpg(0, signal.SIGKILL)  # this process too
    raise AssertionError("unreachable: the guard has ended")


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
