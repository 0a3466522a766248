"""Where objectives are evaluated: here, one at a time, or on an executor, several at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pickle import dumps, loads
from traceback import format_tb
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from quadrat.errors import InvalidInput
from quadrat.optimizer import Trial

__all__ = [
    "ExecutorGone",
    "FailedThere",
    "Finished",
    "Here",
    "Objective",
    "OnExecutor",
    "WorkerDied",
    "Workers",
    "error_text",
    "new_random_state",
    "with_errors_that_travel",
    "workers_for",
]

_T = TypeVar("_T")
Objective: TypeAlias = Callable[[dict[str, Any]], Any]


class WorkerDied(Exception):
    """A worker ended, or was ended, before it answered; its trial may be evaluated again."""


class ExecutorGone(WorkerDied, BrokenExecutor):
    """An executor takes no more work, and there is no use in trying again."""


class FailedThere(Exception):
    """An exception in a worker process that cannot be sent as it is; this one has its type and message as text."""


def error_text(error: BaseException) -> str:
    """Return the type and the message of an exception, wherever it was raised."""
    if isinstance(error, FailedThere):
        return str(error)
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # a class of somebody's, whose message cannot be made
        return type(error).__name__


@contextmanager
def no_copies() -> Iterator[None]:
    """End a process here that an objective forked from this one: it would go on as a second one of the same run."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(1)


def with_errors_that_travel(call: Callable[..., _T], *args: Any) -> _T:
    """Call a function in a worker process; raise `FailedThere` for an exception that does not survive pickling.

    A pool of processes takes a worker for dead where it cannot unpickle what that one sent. The traceback goes along as
    a note, and the exception itself not at all: packages such as Dask have causes pickled too.
    """
    try:
        with no_copies():
            return call(*args)
    except BaseException as error:
        try:
            loads(dumps(error))  # noqa: S301  # what this process itself has pickled
        except Exception:  # whatever the class does to be made again
            sent = FailedThere(error_text(error))
            sent.add_note("".join(format_tb(error.__traceback__)))
        else:
            raise
    raise sent


def new_random_state() -> None:
    """Give NumPy's global generator a state of its own, from the entropy of the operating system.

    A process that was forked has the state of its parent. So all forked workers would draw the same numbers: trials
    that run side by side would share their noise, and noise that agrees looks like signal. Python's own `random` module
    does the same after a fork.
    """
    np.random.seed()  # noqa: NPY002  # the global generator is what objectives use


_inherited: list[bool] = []  # not empty in a process that was forked and whose generator has its parent's state
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=partial(_inherited.append, True))


def with_noise_of_its_own(objective: Objective, params: dict[str, Any]) -> Any:
    """Call an objective in a process of a pool, whose first call has `new_random_state` where it was forked."""
    if _inherited:
        _inherited.clear()
        new_random_state()
    return objective(params)


@dataclass(frozen=True)
class Finished:
    """A trial with what the objective returned, or the exception that it raised."""

    trial: Trial
    outcome: object = None
    error: BaseException | None = None

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it: its evaluation never began, or was interrupted together with this process."""
        return isinstance(self.error, CancelledError | KeyboardInterrupt)


class Workers(Protocol):
    """What the loop needs of them."""

    broken: str | None

    @property
    def room(self) -> int:
        """How many more trials can start now."""

    @property
    def busy(self) -> bool:
        """Whether any trial has started and was not collected."""

    def start(self, trial: Trial) -> None:
        """Start evaluating a trial."""

    def collect(self, timeout: float | None) -> list[Finished]:
        """Wait up to `timeout` seconds for trials to finish and return those, by number."""

    def cancel(self) -> None:
        """Drop the trials whose evaluation has not begun."""

    def began(self, number: int) -> float | None:
        """Return when the evaluation of a trial began, on the monotonic clock; None before that."""

    def abandon(self, number: int) -> None:
        """Give up a trial that takes too long; it comes back as finished, with an error."""


class Here:
    """Evaluates in this thread; starting is free, collecting is the work."""

    broken: str | None = None

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._trial: Trial | None = None

    @property
    def room(self) -> int:
        return 1 if self._trial is None else 0

    @property
    def busy(self) -> bool:
        return self._trial is not None

    def start(self, trial: Trial) -> None:
        self._trial = trial

    def collect(self, timeout: float | None) -> list[Finished]:  # noqa: ARG002  # what runs here cannot be left
        trial, self._trial = self._trial, None
        if trial is None:
            return []
        with no_copies():
            try:
                return [Finished(trial, self._objective(dict(trial.params)))]
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # an objective may fail in any way, also by asyncio.CancelledError
                return [Finished(trial, error=error)]

    def cancel(self) -> None:
        self._trial = None

    def began(self, number: int) -> float | None:  # noqa: ARG002
        """Never: nobody can look while it runs."""
        return None

    def abandon(self, number: int) -> None:
        """Nothing: whoever waits here cannot interrupt what runs here."""


class OnExecutor:
    """Keeps `n` trials on an executor of the `concurrent.futures` kind (threads, processes, Dask, ...)."""

    def __init__(self, objective: Objective, executor: Executor, n: int) -> None:
        self._objective = objective
        if isinstance(executor, ProcessPoolExecutor):
            if getattr(executor, "_initializer", None) is None:  # one may seed generators, and knows better
                objective = partial(with_noise_of_its_own, objective)
            self._objective = partial(with_errors_that_travel, objective)
        self._executor = executor
        self._n = n
        self._running: dict[Future[Any], Trial] = {}
        self._given: dict[int, float] = {}  # when trials were given to the executor
        self.broken: str | None = None

    @property
    def room(self) -> int:
        return 0 if self.broken is not None else self._n - len(self._running)

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def start(self, trial: Trial) -> None:
        self._given[trial.number] = time.monotonic()
        try:
            self._running[self._executor.submit(self._objective, dict(trial.params))] = trial
        except RuntimeError as error:  # broken (a worker died) or shut down: it takes no more work
            self.broken = f"{type(error).__name__}: {error}"

    def collect(self, timeout: float | None) -> list[Finished]:
        done, _ = wait(self._running, timeout=timeout, return_when=FIRST_COMPLETED)
        finished = []
        for future in sorted(done, key=lambda future: self._running[future].number):
            trial = self._running.pop(future)
            self._given.pop(trial.number, None)
            error = CancelledError() if future.cancelled() else future.exception()
            if isinstance(error, BrokenExecutor):
                self.broken = f"{type(error).__name__}: {error}"
            finished.append(Finished(trial, error=error) if error else Finished(trial, future.result()))
        return finished

    def began(self, number: int) -> float | None:
        """Return when the evaluation of a trial began, where the executor has a method `began`, or was given to it."""
        look: Callable[[Future[Any]], float | None] | None = getattr(self._executor, "began", None)
        if look is None:
            return self._given[number]
        return next((look(future) for future, trial in self._running.items() if trial.number == number), None)

    def abandon(self, number: int) -> None:
        """Give up a trial.

        An executor with a method `abandon` ends whatever evaluates a future; of others the future is only left alone,
        and a worker of theirs stays busy.
        """
        for future, trial in self._running.items():
            if trial.number == number:
                end = getattr(self._executor, "abandon", None)
                if end is not None:
                    end(future)
                else:
                    del self._running[future]
                    self._running[_given_up()] = trial
                return

    def cancel(self) -> None:
        for future in list(self._running):
            if future.cancel():
                del self._running[future]


def _given_up() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(WorkerDied("no answer, and its executor cannot end it"))
    return future


def workers_for(objective: Objective, executor: Executor | None, workers: int | None) -> Workers:
    """Return the workers that the user's options ask for."""
    if executor is None:
        if workers is not None:
            raise InvalidInput(
                f"workers: expected None without an executor, got {workers}; pass executor=, such as"
                " concurrent.futures.ProcessPoolExecutor()"
            )
        return Here(objective)
    if not isinstance(executor, Executor):
        raise InvalidInput(f"executor: expected a concurrent.futures.Executor, got {executor!r:.80}")
    n = getattr(executor, "_max_workers", None) if workers is None else workers
    if n is None:
        raise InvalidInput(
            f"workers: expected a number, because {type(executor).__name__} does not tell how many workers it has,"
            " got None"
        )
    return OnExecutor(objective, executor, n)
