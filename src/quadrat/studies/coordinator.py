"""The coordinator of a study: it asks, lets workers evaluate, and tells, until there are enough trials.

Everything that matters is in the storage at any moment: a trial is begun there before it is evaluated, and ended there
as soon as its outcome is known. A coordinator that comes after one that died evaluates again what that one had begun,
with the same numbers and parameters, and goes on; run one after another, its suggestions are those that the first one
would have made.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from types import FrameType, TracebackType
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat.errors import InvalidInput
from quadrat.integrations.distributions import suggest
from quadrat.integrations.study_space import keep_space
from quadrat.optimizer import FAILED, Trial
from quadrat.space import Space
from quadrat.studies.lease import Lease
from quadrat.studies.telling import tell_outcome
from quadrat.tune.workers import Finished, Workers

__all__ = ["Coordinator"]

RETRIES = 2  # times that a trial is evaluated again after its worker died
_OWNED = "quadrat:owner"  # the user attribute of a trial that a coordinator began
_PATIENCE = 1.0  # seconds between looks at the clock and at signals
_LONGEST_REASON = 500  # characters of an exception that are kept
_logger = logging.getLogger(__name__)


class Coordinator:
    """Runs a study.

    Parameters
    ----------
    study
        With a sampler that knows the space.
    space
        What is searched.
    make_workers
        Makes what evaluates parameters; made again when it broke.
    n_trials
        How many trials the study has in the end, those of earlier runs included; failed ones count.
    timeout
        Seconds after which nothing new begins; None is for ever.
    retries
        See `RETRIES`.
    on_told
        Called after every trial, with its number and state.
    """

    def __init__(
        self,
        study: Study,
        space: Space,
        make_workers: Callable[[], Workers],
        *,
        n_trials: int,
        timeout: float | None = None,
        retries: int = RETRIES,
        on_told: Callable[[int, TrialState], None] | None = None,
    ) -> None:
        self._study, self._space, self._make_workers = study, space, make_workers
        self._n_trials, self._retries = n_trials, retries
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._on_told = on_told or (lambda _number, _state: None)
        self._workers = make_workers()
        self._waiting: list[Trial] = []  # begun, but not with a worker
        self._running: dict[int, Trial] = {}
        self._tries: dict[int, int] = {}
        self._ids: dict[int, int] = {}

    def run(self) -> str:
        """Run to the end; return why it ended.

        The first interrupt (Ctrl-C, SIGTERM) lets what runs finish; the second one raises KeyboardInterrupt, and what
        ran stays in the study, to be evaluated again by the next coordinator.
        """
        with Lease(self._study) as lease, _Interrupts() as interrupts:
            keep_space(self._study, self._space)
            self._adopt()
            while True:
                ending = self._ending(interrupts)
                while ending is None and self._workers.room and self._start_one(lease.owner):
                    pass
                if not self._workers.busy:
                    return ending or f"all {self._n_trials} trials done"
                for finished in self._workers.collect(_PATIENCE):
                    self._finish(finished)
                self._mend()

    def _mend(self) -> None:
        """Make new workers where the old ones broke and have nothing left to give back."""
        if self._workers.broken is not None and not self._workers.busy:
            self._workers = self._make_workers()

    def _ending(self, interrupts: _Interrupts) -> str | None:
        if interrupts.count:
            return "interrupted"
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return "timeout"
        return None

    def _adopt(self) -> None:
        """Take over what an earlier coordinator began and did not end."""
        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if _OWNED in trial.user_attrs or not trial.params:
                _logger.warning("trial %d was begun and not ended; it is evaluated again", trial.number)
                self._waiting.append(self._begun(trial))

    def _begun(self, trial: FrozenTrial | optuna.Trial) -> Trial:
        handle = optuna.trial.Trial(self._study, trial._trial_id)
        self._ids[trial.number] = trial._trial_id
        return Trial(trial.number, suggest(handle, self._space), "")

    def _start_one(self, owner: str) -> bool:
        """Give a worker something to do; return whether there was anything."""
        if self._waiting:
            trial = self._waiting.pop(0)
        elif self._total() < self._n_trials:
            asked = self._study.ask()
            asked.set_user_attr(_OWNED, owner)
            trial = self._begun(asked)
        else:
            return False
        self._running[trial.number] = trial
        self._workers.start(trial)
        return True

    def _total(self) -> int:
        """Trials that are over or begun, by whomever."""
        return sum(trial.state is not TrialState.WAITING for trial in self._study.get_trials(deepcopy=False))

    def _finish(self, finished: Finished) -> None:
        number, error = finished.trial.number, finished.error
        trial = self._running.pop(number)
        if isinstance(error, BrokenExecutor):
            self._tries[number] = self._tries.get(number, 0) + 1
            if self._tries[number] <= self._retries:
                _logger.warning("trial %d: its worker died; it is evaluated again", number)
                self._waiting.append(trial)
                return
        handle = optuna.trial.Trial(self._study, self._ids[number])
        state = self._told(handle, finished)
        self._on_told(number, state)

    def _told(self, handle: optuna.Trial, finished: Finished) -> TrialState:
        error = finished.error
        if error is None:
            try:
                return tell_outcome(self._study, handle, finished.outcome)
            except InvalidInput as refused:
                error = refused
        _logger.warning("trial %d failed at %r", finished.trial.number, finished.trial.params, exc_info=error)
        reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        return tell_outcome(self._study, handle, FAILED, reason=reason)


class _Interrupts:
    """Counts SIGINT and SIGTERM within a block; from the second on they raise KeyboardInterrupt."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():  # elsewhere signals cannot be caught
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._caught)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _caught(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  # what was interrupted goes on
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt
        _logger.warning("interrupted: waiting for what is running; interrupt again to leave it")
