"""Trials on the workers of Ray, on this machine or on many.

A thread here waits for each evaluation there. So what `concurrent.futures` promises of an executor holds by itself:
what waits for a worker can be cancelled, what runs cannot, and a shutdown waits for both.
"""

from __future__ import annotations

import importlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from quadrat.errors import InvalidInput
from quadrat.tune.workers import ExecutorGone, WorkerDied

__all__ = ["RayExecutor", "RayGone"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_PATIENCE = 8.0  # seconds that an address has to answer
_DEATHS = (  # what Ray raises where an evaluation has no outcome, through no doing of the function
    "WorkerCrashedError",
    "NodeDiedError",
    "LocalRayletDiedError",
    "OutOfMemoryError",
    "OutOfDiskError",
    "TaskCancelledError",
    "ObjectLostError",
)


class RayGone(ExecutorGone):
    """The process has left its Ray: the executor takes no more work."""


@dataclass(eq=False)
class _Evaluation:
    """Where an evaluation stands: the reference that Ray gave for it, if any, and whether it was given up."""

    reference: Any = None
    abandoned: bool = False


class RayExecutor(ThreadPoolExecutor):
    """Evaluates on Ray workers, each evaluation on one processor.

    Functions without a name that others can import travel by value; the workers need what they import, but not
    Quadrat.

    Parameters
    ----------
    n_workers
        How many evaluations run at once. Where a local Ray is started, it gets as many processors; None is as many as
        there are.
    address
        Of a running Ray, such as ``"127.0.0.1:6379"``, ``"ray://host:10001"`` or ``"auto"``. Where None, a Ray that
        this process has initialised is used, or else a local one is started.

    Raises
    ------
    InvalidInput
        Ray is not installed, nothing answers at the address, or this process uses another Ray already.
    """

    def __init__(self, n_workers: int | None = None, *, address: str | None = None) -> None:
        if n_workers is not None and n_workers < 1:
            raise InvalidInput(f"n_workers: expected at least 1, got {n_workers}")
        self._ray = _ray()
        self._initialised_here = self._initialise(n_workers, address)
        n_workers = n_workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._call = self._ray.remote(num_cpus=1, max_retries=0)(_caller())
        self._deaths = tuple(getattr(self._ray.exceptions, name) for name in _DEATHS)
        super().__init__(n_workers, thread_name_prefix="quadrat-ray")
        self._evaluations: WeakKeyDictionary[Future[Any], _Evaluation] = WeakKeyDictionary()
        self._changing = threading.Lock()  # held while an evaluation gets its reference or is given up
        self._closing = threading.Lock()

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Evaluate ``fn(*args, **kwargs)`` on a worker.

        The future ends with `WorkerDied` where the worker or Ray went away, with whatever the function raised, or with
        its value.
        """
        evaluation = _Evaluation()
        future = super().submit(self._evaluate, evaluation, fn, args, kwargs)
        self._evaluations[future] = evaluation
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Give up an evaluation: its process is killed and its future ends with `WorkerDied`, unless it has ended.

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
            reference = evaluation.reference
        if reference is not None:
            self._ray.cancel(reference, force=True)

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
        """Take no more work; when all futures are done, leave Ray, or end it where it was started here."""
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            with self._closing:
                if self._initialised_here:
                    self._initialised_here = False
                    self._ray.shutdown()
        else:
            threading.Thread(target=self.shutdown, name="quadrat-ray-shutdown").start()

    def _evaluate(self, evaluation: _Evaluation, fn: Callable[..., object], args: Any, kwargs: Any) -> Any:
        try:
            value, left = self._ray.get(self._begun(evaluation, fn, args, kwargs))
        except (*self._deaths, CancelledError) as error:
            if evaluation.abandoned:
                raise WorkerDied("the evaluation was given up") from error
            raise WorkerDied(f"the Ray worker went away: {error}") from error
        except self._ray.exceptions.RayTaskError as error:
            if error.cause is None:  # the function is not Python's
                raise
            raise error.cause from error  # which has the traceback of the worker
        finally:
            evaluation.reference = None  # or Ray would keep the value for as long as the future lives
        if left is not None:
            raise left
        return value

    def _begun(self, evaluation: _Evaluation, fn: Callable[..., object], args: Any, kwargs: Any) -> Any:
        with self._changing:
            if evaluation.abandoned:
                raise CancelledError
            if not self._ray.is_initialized():  # Ray would silently start another one
                raise RayGone("this process has left its Ray, as by ray.shutdown(); make another executor")
            evaluation.reference = self._call.remote(fn, args, kwargs)
            return evaluation.reference

    def _initialise(self, n_workers: int | None, address: str | None) -> bool:
        """Connect to a Ray; return whether it has to be left in the end."""
        if self._ray.is_initialized():
            if address is not None:
                raise InvalidInput(
                    f"address: expected None, because this process uses a Ray already, got {address!r}; leave it out"
                    " to use that one, or call ray.shutdown() before"
                )
            return False
        if address is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a local Ray sends nothing, unless one asks for it
            self._ray.init(
                address="local",
                num_cpus=n_workers,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
            return True
        try:
            _knock(address)
            self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError) as error:
            raise InvalidInput(
                "address: expected the address of a running Ray, such as '127.0.0.1:6379', got"
                f" {address!r}, which does not answer as one ({type(error).__name__}: {error}); start one by `ray"
                " start --head`"
            ) from None
        return True


def _knock(address: str) -> None:
    """Raise OSError where nobody listens at an address; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _caller() -> Callable[..., tuple[object, SystemExit | None]]:
    """Return what Ray calls for every evaluation. It is a function in a function because those travel by value."""

    def call(fn: Callable[..., object], args: Any, kwargs: Any) -> tuple[object, SystemExit | None]:
        try:
            return fn(*args, **kwargs), None
        except SystemExit as left:  # raised there, it would end the worker
            return None, left

    return call


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise InvalidInput(f'RayExecutor: expected Ray, got {error}; pip install "quadrat[ray]"') from None
