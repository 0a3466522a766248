"""The coordinator of a study: it asks, lets workers evaluate, and tells, until there are enough trials.

Everything that matters is in the storage at any moment: a trial is begun there before it is evaluated, and ended there
as soon as its outcome is known. A coordinator that comes after one that died evaluates again what that one had begun,
with the same numbers and parameters, and goes on; run one after another, its suggestions are those that the first one
would have made. A server of the storage that is away for a while is waited for, and what was begun there meanwhile, or
not told, is treated in the same way.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import TrialState

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations.distributions import suggest
from quadrat.integrations.finish_order import OWNER, owner_note
from quadrat.integrations.study_space import keep_space
from quadrat.optimizer import FAILED, Trial
from quadrat.space import Space
from quadrat.studies.evaluation import TRIAL_ID
from quadrat.studies.lease import Lease
from quadrat.studies.outage import Outage, is_away
from quadrat.studies.telling import tell_outcome
from quadrat.tune.workers import ExecutorGone, Finished, WorkerDied, Workers

__all__ = ["Coordinator"]

RETRIES = 2  # times that a trial is evaluated again after its worker died or took too long
FIRST_FAILURES = 5  # failures from the very first trial on after which a run ends: the objective has a mistake
_PATIENCE = 1.0  # seconds between looks at the clock and at signals
_LONGEST_REASON = 500  # characters of an exception that are kept
_logger = logging.getLogger(__name__)


@dataclass
class _Running:
    """A trial with a worker: since when, in seconds of the monotonic clock, and whether it was given up."""

    trial: Trial
    since: float
    overdue: bool = False


class Coordinator:
    """Runs a study.

    Parameters
    ----------
    study
        With a sampler that knows the space.
    space
        What is searched; workers are given the parameters. None is for objectives that define it as they run: workers
        are given the trial (see `DefineByRun`).
    make_workers
        Makes what evaluates trials; made again when it broke.
    n_trials
        How many trials the study has in the end, those of earlier runs included; failed ones count.
    timeout
        Seconds after which nothing new begins; None is for ever.
    overdue
        Seconds that an evaluation may take; None is for ever. One that takes longer is ended and counts as that of a
        worker that died.
    retries
        How often the trial of a worker that died is evaluated again before it has failed.
    on_told
        Called after every trial, with its number and state.

    Examples
    --------
    >>> import optuna
    >>> import quadrat as qd
    >>> from quadrat.tune.workers import Here
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> study = optuna.create_study(sampler=qd.QuadratSampler(search_space=space, method="RandomSearch", seed=0))
    >>> Coordinator(study, space, lambda: Here(lambda p: p["x"] ** 2), n_trials=5).run()
    'all 5 trials done'
    >>> len(study.trials), study.best_value < 0.5
    (5, True)
    """

    def __init__(
        self,
        study: Study,
        space: Space | None,
        make_workers: Callable[[], Workers],
        *,
        n_trials: int,
        timeout: float | None = None,
        overdue: float | None = None,
        retries: int = RETRIES,
        on_told: Callable[[int, TrialState], None] | None = None,
    ) -> None:
        self._study, self._space, self._make_workers = study, space, make_workers
        self._n_trials, self._overdue, self._retries = n_trials, overdue, retries
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._on_told = on_told or (lambda _number, _state: None)
        self._workers = make_workers()
        self._unused = True
        self._adopted = False
        self._waiting: list[Trial] = []  # begun, but not with a worker
        self._running: dict[int, _Running] = {}
        self._untold: list[Finished] = []  # evaluated, but not in the storage
        self._gone: ExecutorGone | None = None
        self._outage = Outage()
        self._tries: dict[int, int] = {}
        self._ids: dict[int, int] = {}
        self._first_failures: int | None = 0  # None once a trial was complete

    def run(self) -> str:
        """Run to the end; return why it ended.

        The first interrupt (Ctrl-C, SIGTERM) lets what runs finish; the second one raises KeyboardInterrupt, and what
        ran stays in the study, to be evaluated again by the next coordinator.

        Raises
        ------
        NotAvailable
            There are no workers any more; what ran stays in the study as well.
        InvalidInput
            Somebody else coordinates the study.
        """
        with Lease(self._study) as lease, _Interrupts() as interrupts:
            ending = None
            while ending is None:
                lease.check()
                try:
                    ending = self._step(lease.owner, interrupts)
                except Exception as error:
                    if not is_away(error):
                        raise
                    self._outage.wait(error)
                    self._adopted = False  # a trial may have been begun without an answer that says so
            return ending

    def _step(self, owner: str, interrupts: _Interrupts) -> str | None:
        """Begin what there is room for, tell what is known, wait for more; return why the run ended, if it did.

        Where the storage is away in the middle of it, it can be done again.
        """
        self._tell_all()
        if not self._adopted:
            self._adopt(owner)
        ending = self._ending(interrupts)
        while ending is None and self._workers.room and self._start_one(owner):
            ending = self._ending(interrupts)
        if not self._workers.busy and (ending is not None or self._workers.broken is None):
            return ending or f"all {self._n_trials} trials done"
        for finished in self._workers.collect(self._patience()):
            self._finish(finished)
        self._give_up_what_is_overdue()
        self._tell_all()
        if self._gone is not None:
            raise NotAvailable(f"workers: expected some that take trials, got none any more ({self._gone})")
        self._mend()
        return None

    def _patience(self) -> float:
        """Seconds until something may have to be done, at most until the next look at the clock and at signals."""
        if self._overdue is None:
            return _PATIENCE
        first = min((running.since for running in self._running.values()), default=time.monotonic())
        return min(_PATIENCE, max(0.01, first + self._overdue - time.monotonic()))

    def _give_up_what_is_overdue(self) -> None:
        if self._overdue is None:
            return
        for number, running in list(self._running.items()):
            if not running.overdue and time.monotonic() - running.since > self._overdue:
                running.overdue = True
                self._workers.abandon(number)

    def _mend(self) -> None:
        """Make new workers where the old ones broke and have nothing left to give back."""
        if self._workers.broken is None or self._workers.busy:
            return
        if self._unused:
            raise NotAvailable(
                f"workers: expected some that take trials, got new ones that do not: {self._workers.broken}"
            )
        self._workers, self._unused = self._make_workers(), True

    def _ending(self, interrupts: _Interrupts) -> str | None:
        if interrupts.caught:
            return f"interrupted by {signal.Signals(interrupts.caught[0]).name}"
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return "timeout"
        if self._first_failures is not None and self._first_failures >= FIRST_FAILURES:
            return f"the first {self._first_failures} trials failed"
        return None

    def _adopt(self, owner: str) -> None:
        """Take over what an earlier coordinator began and did not end, or what this one does not know it began."""
        if self._space is not None:
            keep_space(self._study, self._space)
        known = {*self._running, *(trial.number for trial in self._waiting)}
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state is TrialState.COMPLETE:
                self._first_failures = None
            if trial.state is not TrialState.RUNNING or trial.number in known:
                continue
            if OWNER in trial.user_attrs or not trial.params:
                _logger.warning("trial %d was begun and not ended; it is evaluated again", trial.number)
                self._waiting.append(self._begun(optuna.trial.Trial(self._study, trial._trial_id), owner))
        self._adopted = True

    def _begun(self, trial: optuna.Trial, owner: str) -> Trial:
        """Have the parameters of a trial chosen; return what its worker is given."""
        self._ids[trial.number] = trial._trial_id
        if OWNER not in trial.user_attrs:
            trial.set_user_attr(OWNER, owner_note(owner, self._study.get_trials(deepcopy=False)))
        if self._space is None:
            _ = trial.relative_params  # Optuna 5 waits with choosing until somebody asks
            given = {TRIAL_ID: trial._trial_id}
        else:
            given = suggest(trial, self._space)
        self._outage.end()
        return Trial(trial.number, given, "")

    def _start_one(self, owner: str) -> bool:
        """Give a worker something to do; return whether there was anything."""
        if self._waiting:
            trial = self._waiting.pop(0)
        elif self._total() < self._n_trials:
            trial = self._begun(self._study.ask(), owner)
        else:
            return False
        self._workers.start(trial)
        if self._workers.broken is not None:  # it was not taken
            self._waiting.insert(0, trial)
            return False
        self._running[trial.number] = _Running(trial, time.monotonic())
        self._unused = False
        return True

    def _total(self) -> int:
        """Trials that are over or begun, by whomever."""
        return sum(trial.state is not TrialState.WAITING for trial in self._study.get_trials(deepcopy=False))

    def _finish(self, finished: Finished) -> None:
        """Keep what a worker gave back, to be told; or, where it gave nothing, the trial to be evaluated again."""
        number, error = finished.trial.number, finished.error
        running = self._running.pop(number)
        if isinstance(error, ExecutorGone):
            self._gone = error
            return
        if finished.unknown or isinstance(error, BrokenExecutor | WorkerDied) or self._is_cut_off(error):
            self._tries[number] = self._tries.get(number, 0) + 1
            if running.overdue:
                error = WorkerDied(f"no answer after {self._overdue:g} s")
            if self._tries[number] <= self._retries:
                _logger.warning("trial %d: its worker died (%s); it is evaluated again", number, error)
                self._waiting.append(running.trial)
                return
            error = WorkerDied(f"{error}, {self._tries[number]} times")
        self._untold.append(Finished(finished.trial, finished.outcome, error))

    def _is_cut_off(self, error: BaseException | None) -> bool:
        """Return whether a worker, of those that use the storage, could not reach it."""
        return self._space is None and error is not None and is_away(error)

    def _tell_all(self) -> None:
        while self._untold:
            number = self._untold[0].trial.number
            state = self._study._storage.get_trial(self._ids[number]).state
            if state.is_finished():
                _logger.warning("trial %d was told meanwhile; what came out here is dropped", number)
            else:
                handle = optuna.trial.Trial(self._study, self._ids[number])
                state = self._told(handle, self._untold[0])
            del self._untold[0]
            self._outage.end()
            self._count(state)
            self._on_told(number, state)

    def _count(self, state: TrialState) -> None:
        if state in (TrialState.COMPLETE, TrialState.PRUNED):
            self._first_failures = None
        elif self._first_failures is not None:
            self._first_failures += 1

    def _told(self, handle: optuna.Trial, finished: Finished) -> TrialState:
        error = finished.error
        if error is None:
            try:
                return tell_outcome(self._study, handle, finished.outcome)
            except InvalidInput as refused:
                error = refused
        if isinstance(error, optuna.TrialPruned):
            self._study.tell(handle, state=TrialState.PRUNED)
            return TrialState.PRUNED
        _logger.warning("trial %d failed at %r", finished.trial.number, handle.params, exc_info=error)
        reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        return tell_outcome(self._study, handle, FAILED, reason=reason)


class _Interrupts:
    """Counts SIGINT and SIGTERM within a block; from the second on they raise KeyboardInterrupt."""

    def __init__(self) -> None:
        self.caught: list[int] = []
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
        self.caught.append(number)
        if len(self.caught) > 1:
            raise KeyboardInterrupt(number)
        _logger.warning("interrupted: waiting for what is running; interrupt again to leave it")
