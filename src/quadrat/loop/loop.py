"""The loop: begin trials, let workers evaluate them, tell what came out, until there is a reason to end.

It is the only one. `maximize` and `minimize` run it over an optimizer, `quadrat tune` over a study: each is a `Door`,
which begins and ends trials. The loop knows workers, retries and time limits, and nothing of what a trial means.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Protocol

from quadrat.errors import NotAvailable
from quadrat.loop.workers import ExecutorGone, Finished, WorkerDied, Workers, error_text
from quadrat.optimizer import Trial

__all__ = ["Door", "Loop", "failure_text"]

_PATIENCE = 1.0  # seconds between two looks at the clock, at signals and at what is overdue
_START = 300.0  # seconds that a worker has to start and to import an objective, beyond what a trial may take
_LONGEST_REASON = 500  # characters of an exception that are kept; the log has all of it
_logger = logging.getLogger(__name__)


def failure_text(error: BaseException) -> str:
    """Return what is kept of the exception that failed a trial: its type and its message."""
    return error_text(error)[:_LONGEST_REASON]


class Door(Protocol):
    """Where trials come from, and where their outcomes go.

    At the `deadline`, a time of the monotonic clock, `ending` has something to say; None is never.
    """

    deadline: float | None

    def begin(self) -> Trial | None:
        """Begin a trial and return it; None when all are begun."""

    def tell(self, finished: Finished) -> None:
        """Take in the outcome of a trial, or the exception that it raised."""

    def ending(self) -> str | None:
        """Return why nothing more should begin; None as long as there is no reason."""

    def count(self, number: int, change: int) -> int:
        """Count the evaluations of a trial: 1 more that begins, or -1 for one that was not the trial's; return all."""

    def is_cut_off(self, error: BaseException) -> bool:
        """Return whether an exception of an evaluation is no fault of the objective, so that it is made again."""


@dataclass
class _Running:
    """A trial with a worker: since when, in seconds of the monotonic clock, and whether it was given up."""

    trial: Trial
    since: float
    tries: int  # evaluations that began, this one included
    overdue: bool = False
    counts: bool = True  # as a try, should it never end


class Loop:
    """Keeps workers busy with the trials of a door.

    The trial of a worker that died is evaluated again, `retries` times before it has failed, and broken workers are
    made again. The door counts evaluations: those in which an earlier process died count too. With None neither is:
    broken workers end the loop, and a trial whose evaluation did not begin before the end stays pending. An evaluation
    that takes longer than `trial_timeout` seconds, counted from the call of the objective where workers can say when it
    was, is ended and counts as that of a worker that died.
    """

    def __init__(
        self,
        door: Door,
        make_workers: Callable[[], Workers],
        *,
        retries: int | None = None,
        trial_timeout: float | None = None,
    ) -> None:
        self._door, self._make_workers = door, make_workers
        self._retries, self._trial_timeout = retries, trial_timeout
        self._workers = make_workers()
        self._unused = True
        self._waiting: list[Trial] = []  # begun, but not with a worker
        self._running: dict[int, _Running] = {}
        self._untold: list[Finished] = []
        self._gone: ExecutorGone | None = None

    @property
    def known(self) -> set[int]:
        """The numbers of the trials that were begun and not told."""
        waiting = {trial.number for trial in self._waiting}
        return waiting | self._running.keys() | {finished.trial.number for finished in self._untold}

    def evaluate_first(self, trials: Iterable[Trial]) -> None:
        """Let trials that were begun already be evaluated before any other begins."""
        self._waiting.extend(trials)

    def step(self) -> bool:
        """Begin what there is room for, wait for something to finish, tell it; return whether the loop is over.

        Where the door raises in the middle, nothing is lost, and the step can be made again. `NotAvailable` is raised
        where there are no workers any more, and no use in making new ones.
        """
        self._tell_all()
        if self._retries is None and self._ends():
            self._workers.cancel()
        while not self._ends() and self._workers.room and self._start_one():
            self._tell_all()  # that one is not evaluated again, before the next one may end this process
        if not self._workers.busy and not self._untold and (self._ends() or self._workers.broken is None):
            return True
        for finished in self._workers.collect(self._patience()):
            self._finish(finished)
        self._give_up_what_is_overdue()
        self._tell_all()
        self._mend()
        return False

    def cancel(self) -> None:
        """Drop the trials whose evaluation has not begun."""
        self._workers.cancel()

    def leave(self) -> None:
        """Take back the count of what runs: whoever runs the loop may leave it, and it has ended nobody."""
        for number, running in self._running.items():
            if running.counts:
                self._door.count(number, -1)
                running.counts = False

    @property
    def broken(self) -> str | None:
        """How the workers broke, where that ends the loop; None otherwise."""
        return self._workers.broken if self._retries is None else None

    def _ends(self) -> bool:
        return self.broken is not None or self._door.ending() is not None

    def _start_one(self) -> bool:
        """Give a worker something to do; return whether there was anything."""
        if not self._waiting:
            trial = self._door.begin()
            if trial is None:
                return False
            self._waiting.append(trial)
        trial = self._waiting[0]
        tries = self._door.count(trial.number, 1)
        del self._waiting[0]
        if self._retries is not None and tries > self._retries + 1:
            self._untold.append(
                Finished(trial, error=WorkerDied(f"its process ended {tries - 1} times, and it is not evaluated again"))
            )
            return True
        self._workers.start(trial)
        if self._workers.broken is not None:  # it was not taken
            self._waiting.insert(0, trial)
            self._door.count(trial.number, -1)
            return False
        self._running[trial.number] = _Running(trial, time.monotonic(), tries)
        self._unused = False
        return True

    def _patience(self) -> float:
        """Return the seconds until something may have to be done."""
        now, limits = time.monotonic(), [_PATIENCE]
        if self._door.deadline is not None and self._door.deadline > now:
            limits.append(self._door.deadline - now)
        if self._trial_timeout is not None:
            began = [self._workers.began(number) for number in self._running]
            first = min((now if one is None else one for one in began), default=now)
            limits.append(max(0.01, first + self._trial_timeout - now))
        return min(limits)

    def _give_up_what_is_overdue(self) -> None:
        if self._trial_timeout is None:
            return
        for number, running in list(self._running.items()):
            began = self._workers.began(number)
            latest = running.since + _START if began is None else began
            if not running.overdue and time.monotonic() - latest > self._trial_timeout:
                running.overdue = True
                self._workers.abandon(number)

    def _finish(self, finished: Finished) -> None:
        """Keep what a worker gave back, to be told; or, where it gave nothing, the trial to be evaluated again."""
        number, error = finished.trial.number, finished.error
        running = self._running.pop(number)
        if self._retries is None:
            if not finished.unknown:
                self._untold.append(finished)
            return
        if isinstance(error, ExecutorGone):
            self._gone = error
            self._door.count(number, -1)
            return
        died = finished.unknown or isinstance(error, BrokenExecutor | WorkerDied)
        if error is not None and (died or self._door.is_cut_off(error)):
            if running.overdue:
                error = WorkerDied(f"no answer after {self._trial_timeout:g} s")
            if running.tries <= self._retries:
                _logger.warning("trial %d: its worker died (%s); it is evaluated again", number, error)
                self._waiting.append(running.trial)
                return
            error = WorkerDied(f"{error}, {running.tries} times")
        self._untold.append(Finished(finished.trial, finished.outcome, error))

    def _tell_all(self) -> None:
        while self._untold:
            self._door.tell(self._untold[0])
            del self._untold[0]

    def _mend(self) -> None:
        """Make new workers where the old ones broke and have nothing left to give back."""
        if self._gone is not None:
            raise NotAvailable(f"workers: expected some that take trials, got none any more ({self._gone})")
        if self._retries is None or self._workers.broken is None or self._workers.busy:
            return
        if self._unused:
            raise NotAvailable(
                f"workers: expected some that take trials, got new ones that do not: {self._workers.broken}"
            )
        self._workers, self._unused = self._make_workers(), True
