"""Trials on the workers of Ray, on this machine or on many."""

from __future__ import annotations

import importlib
import logging
import os
import socket
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput
from quadrat.loop.remote_executor import Call, Evaluation, RemoteExecutor
from quadrat.loop.workers import ExecutorGone, WorkerDied

__all__ = ["RayExecutor", "RayGone"]

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


class RayExecutor(RemoteExecutor):
    """Evaluates on Ray workers, each evaluation on one processor.

    Functions without a name that others can import travel by value; the workers need what they import, but not
    Quadrat.

    Parameters
    ----------
    workers
        How many evaluations run at once. Where a local Ray is started, it gets as many processors; None is as many as
        there are.
    address
        Of a running Ray, such as ``"127.0.0.1:6379"``, ``"ray://host:10001"`` or ``"auto"``. Where None, a Ray that
        this process has initialised is used, or else a local one is started.

    Raises
    ------
    InvalidInput
        Ray is not installed, nothing answers at the address, or this process uses another Ray already.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> with RayExecutor(4) as executor:  # doctest: +SKIP
    ...     found = qd.minimize(lambda p: p["x"] ** 2, space, n_trials=40, executor=executor)
    """

    @renamed(old="n_workers", new="workers")
    def __init__(self, workers: int | None = None, *, address: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise InvalidInput(f"workers: expected at least 1, got {workers}")
        self._ray = _ray()
        self._initialised_here = self._initialise(workers, address)
        workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._call = self._ray.remote(num_cpus=1, max_retries=0)(_caller())
        self._deaths = tuple(getattr(self._ray.exceptions, name) for name in _DEATHS)
        super().__init__(workers, "quadrat-ray")

    def _send(self, call: Call) -> Any:
        if not self._ray.is_initialized():  # Ray would silently start another one
            raise RayGone("this process has left its Ray, as by ray.shutdown(); make another executor")
        return self._call.remote(call)

    def _outcome(self, evaluation: Evaluation, begin: Callable[[], Any]) -> tuple[object, SystemExit | None]:
        try:
            found: tuple[object, SystemExit | None] = self._ray.get(begin())
        except (*self._deaths, CancelledError) as error:
            if evaluation.abandoned:
                raise WorkerDied("the evaluation was given up") from error
            raise WorkerDied(f"the Ray worker went away: {error}") from error
        except self._ray.exceptions.RayTaskError as error:
            if error.cause is None:  # the function is not Python's
                raise
            raise error.cause from error  # which has the traceback of the worker
        return found

    def _end(self, handle: Any) -> None:
        self._ray.cancel(handle, force=True)

    def _leave(self) -> None:
        if self._initialised_here:
            self._initialised_here = False
            self._ray.shutdown()

    def _initialise(self, workers: int | None, address: str | None) -> bool:
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
                num_cpus=workers,
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


def _caller() -> Callable[[Call], tuple[object, SystemExit | None]]:
    """Return what Ray calls for every evaluation. It is a function in a function because those travel by value."""

    def call(bound: Call) -> tuple[object, SystemExit | None]:
        return bound()

    return call


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise InvalidInput(f'RayExecutor: expected Ray, got {error}; pip install "quadrat[ray]"') from None
