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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import TrialState

from quadrat._core.forks import undone_in_forks
from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput, QuadratError
from quadrat.loop.loop import Loop, failure_text
from quadrat.loop.workers import Finished, Workers
from quadrat.optimizer import FAILED, Trial
from quadrat.optimizer.advice import FEWEST_TO_STOP
from quadrat.optimizer.outcome import is_several
from quadrat.space import Space
from quadrat.studies.answering import give_up
from quadrat.studies.distributions import suggest
from quadrat.studies.evaluation import TRIAL_ID
from quadrat.studies.finish_order import BEGUN, OWNER, owner_note
from quadrat.studies.lease import Lease, is_being_asked
from quadrat.studies.notes import keep_space, kept_method
from quadrat.studies.outage import Outage, is_away
from quadrat.studies.recommendation import run_of
from quadrat.studies.sampler import QuadratSampler
from quadrat.studies.telling import TrialIsOver, prune, tell_outcome

__all__ = ["Coordinator"]

RETRIES = 2  # times that a trial is evaluated again after its worker died or took too long
_TOLD = getattr(optuna.exceptions, "UpdateFinishedTrialError", RuntimeError)  # Optuna 4.0 has no narrower error
FIRST_FAILURES = 5  # failures from the very first trial on after which a run ends: the objective has a mistake
_logger = logging.getLogger(__name__)


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
    trial_timeout
        Seconds that an evaluation may take; None is for ever. One that takes longer is ended and counts as that of a
        worker that died.
    stop_at_gain
        End as soon as at most this is left to gain with 90 %, as sure as the model of the study's method is, or that of
        the default method where the study's has no options; None is never.
    retries
        How often the trial of a worker that died is evaluated again before it has failed. Evaluations in which an
        earlier coordinator died count.
    on_told
        Called after every trial, with its number and state.

    Examples
    --------
    >>> import optuna
    >>> import quadrat as qd
    >>> from quadrat.loop.workers import Here
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> study = optuna.create_study(sampler=qd.QuadratSampler(search_space=space, method="RandomSearch", seed=0))
    >>> Coordinator(study, space, lambda: Here(lambda p: p["x"] ** 2), n_trials=5).run()
    'all 5 trials done'
    >>> len(study.trials), study.best_value < 0.5
    (5, True)
    """

    @renamed(old="overdue", new="trial_timeout")
    def __init__(
        self,
        study: Study,
        space: Space | None,
        make_workers: Callable[[], Workers],
        *,
        n_trials: int,
        timeout: float | None = None,
        trial_timeout: float | None = None,
        stop_at_gain: float | None = None,
        retries: int = RETRIES,
        on_told: Callable[[int, TrialState], None] | None = None,
    ) -> None:
        self._study, self._space, self._n_trials = study, space, n_trials
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self._on_told = on_told or (lambda _number, _state: None)
        self._loop = Loop(self, make_workers, retries=retries, trial_timeout=trial_timeout)
        self._owner = ""
        self._interrupts = _Interrupts()
        self._outage = Outage()
        self._ids: dict[int, int] = {}
        self._evaluations: dict[int, int] = {}  # that began, by number of the trial
        self._first_failures: int | None = 0  # None once a trial was complete
        self._mistake: str | None = None  # in the objective, which every trial would make
        self._stop_at_gain, self._gain_known = stop_at_gain, False
        self._little_left: str | None = None  # why enough is gained, once it is
        self._exhausted: str | None = None  # why nothing is left to evaluate, once that is so
        method = kept_method(study)
        if stop_at_gain is not None and method is not None and not method.estimates_gain:
            raise InvalidInput(
                "stop-at-gain: expected a method that estimates what is still to gain at most, such as Auto, got"
                f" {type(method).__name__}"
            )

    def run(self) -> str:
        """Run to the end; return why it ended.

        The first interrupt (Ctrl-C, SIGTERM) lets what runs finish; the second one raises KeyboardInterrupt, and what
        ran stays in the study, to be evaluated again by the next coordinator.

        Raises
        ------
        NotAvailable
            There are no workers any more; what ran stays in the study as well.
        InvalidInput
            Somebody else coordinates the study; or an objective returned a tuple or a mapping, where one outcome
            belongs: its trial has failed, and what ran besides is told.
        """
        with Lease(self._study) as lease, self._interrupts:
            self._owner = lease.owner
            try:
                self._run(lease)
            except (Exception, KeyboardInterrupt):
                if self._outage.lasts:
                    give_up(self._study._storage)
                self._leave()
                raise
        if self._mistake is not None:
            raise InvalidInput(f"objective: {self._mistake}")
        return self.ending() or self._exhausted or f"all {self._n_trials} trials done"

    def _run(self, lease: Lease) -> None:
        over = adopted = False
        while not over:
            try:
                lease.check()
                if not adopted:
                    self._adopt()
                    adopted = True
                if self._interrupts.caught:
                    self._leave()  # whoever sent a signal may kill this process next, as batch systems do
                over = self._loop.step()
            except Exception as error:
                if not is_away(error):
                    raise
                self._outage.wait(error)
                adopted = False  # a trial may have been begun without an answer that says so

    def _leave(self) -> None:
        """Have what runs not count as evaluated: this process ends it, and not it this process."""
        try:
            self._loop.leave()
        except Exception as error:  # what ended the run may be the storage
            _logger.warning("what was running counts as evaluated: %s", error)

    def _adopt(self) -> None:
        """Take over what an earlier coordinator began and did not end, or what this one does not know it began."""
        if self._space is not None:
            keep_space(self._study, self._space)
        known = self._loop.known
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state is TrialState.COMPLETE:
                self._first_failures = None
            if trial.state is not TrialState.RUNNING or trial.number in known:
                continue
            if (OWNER in trial.user_attrs or not trial.params) and not is_being_asked(trial):
                _logger.warning("trial %d was begun and not ended; it is evaluated again", trial.number)
                self._evaluations[trial.number] = trial.system_attrs.get(BEGUN, int(OWNER in trial.user_attrs))
                with self._unless_over(trial.number):
                    self._loop.evaluate_first([self._begun(optuna.trial.Trial(self._study, trial._trial_id))])

    @contextmanager
    def _unless_over(self, number: int) -> Iterator[None]:
        """Leave a block where Optuna refuses to write to a trial, because somebody told it meanwhile."""
        try:
            yield
        except _TOLD:
            found = self._study.get_trials(deepcopy=False)[number]
            if not found.state.is_finished():
                raise
            _logger.warning("trial %d was told meanwhile; it is not evaluated", number)

    def _begun(self, trial: optuna.Trial) -> Trial:
        """Have the parameters of a trial chosen; return what its worker is given."""
        self._ids[trial.number] = trial._trial_id
        if OWNER not in trial.user_attrs:
            trial.set_user_attr(OWNER, owner_note(self._owner, self._study.get_trials(deepcopy=False)))
        if self._space is None:
            _ = trial.relative_params  # Optuna 5 waits with choosing until somebody asks
            given = {TRIAL_ID: trial._trial_id}
        else:
            given = suggest(trial, self._space)
        self._outage.end()
        return Trial(trial.number, given, "")

    # --- what the loop asks for

    def begin(self) -> Trial | None:
        """Begin a trial in the study; None when it has enough, over or begun, by whomever, or nothing is left."""
        while True:
            trials = self._study.get_trials(deepcopy=False)
            if sum(trial.state is not TrialState.WAITING for trial in trials) >= self._n_trials:
                return None
            sampler = self._study.sampler
            if isinstance(sampler, QuadratSampler) and all(one.state is not TrialState.WAITING for one in trials):
                self._exhausted = sampler.exhausted(self._study)
                if self._exhausted is not None:
                    return None
            trial = self._study.ask()
            with self._unless_over(trial.number):
                return self._begun(trial)

    def ending(self) -> str | None:
        """Return why nothing more should begin; None as long as there is no reason."""
        if self._interrupts.caught:
            return f"interrupted by {signal.Signals(self._interrupts.caught[0]).name}"
        if self._mistake is not None:
            return self._mistake
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "timeout"
        if self._stop_at_gain is not None and not self._gain_known and self._little_left is None:
            self._little_left, self._gain_known = self._stop_reason(self._stop_at_gain), True
        if self._little_left is not None:
            return self._little_left
        if self._first_failures is not None and self._first_failures >= FIRST_FAILURES:
            return f"the first {self._first_failures} trials failed"
        return None

    def count(self, number: int, change: int) -> int:
        """Add `change` to the evaluations that began of the trial with a `number`; return how many there are.

        Of the first one the study knows by the owner of the trial; the others are written there before they begin.
        """
        count = self._evaluations.get(number, 0) + change
        if count != 1 or number in self._evaluations:
            with suppress(_TOLD):  # somebody told the trial meanwhile: what comes of this evaluation is dropped
                self._study._storage.set_trial_system_attr(self._ids[number], BEGUN, count)
            self._outage.end()
        self._evaluations[number] = count
        return count

    def is_cut_off(self, error: BaseException) -> bool:
        """Return whether an `error` says that a worker, of those that use the storage, could not reach it."""
        return self._space is None and is_away(error)

    def tell(self, finished: Finished) -> None:
        """End a `finished` trial in the study, unless somebody else did."""
        number = finished.trial.number
        try:
            state = self._tell(optuna.trial.Trial(self._study, self._ids[number]), finished)
        except TrialIsOver:
            _logger.warning("trial %d was told meanwhile; what came out here is dropped", number)
            state = self._study._storage.get_trial(self._ids[number]).state
        self._outage.end()
        if state in (TrialState.COMPLETE, TrialState.PRUNED):
            self._first_failures = None
        elif self._first_failures is not None:
            self._first_failures += 1
        self._gain_known = False
        self._on_told(number, state)

    def _stop_reason(self, limit: float) -> str | None:
        """Return why at most so little is left to gain that the run may end; None where nobody can say so."""
        complete = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if len(complete) < FEWEST_TO_STOP:
            return None
        try:
            reason = run_of(self._study, method=kept_method(self._study)).optimizer._stop_reason(limit)
        except QuadratError:  # such as a parameter that cannot be searched
            return None
        return None if reason is None else f"{reason} (stop-at-gain) after {len(complete)} results"

    def _tell(self, handle: optuna.Trial, finished: Finished) -> TrialState:
        error = finished.error
        if error is None:
            try:
                return tell_outcome(self._study, handle, finished.outcome)
            except TrialIsOver:
                raise
            except InvalidInput as refused:
                error = refused
                if is_several(finished.outcome):
                    self._mistake = f"trial {finished.trial.number}: {error}"
        if isinstance(error, optuna.TrialPruned):
            return prune(self._study, handle)
        if self._study._storage.get_trial(handle._trial_id).state is not TrialState.RUNNING:
            raise TrialIsOver(f"trial {finished.trial.number}")  # why it failed, such as that it was told, is no news
        _logger.warning("trial %d failed at %r", finished.trial.number, handle.params, exc_info=error)
        return tell_outcome(self._study, handle, FAILED, reason=failure_text(error))


class _Interrupts:
    """Counts SIGINT and SIGTERM within a block; from the second on they raise KeyboardInterrupt."""

    def __init__(self) -> None:
        self.caught: list[int] = []
        self._before: dict[int, Any] = {}
        self._forks = ExitStack()

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():  # elsewhere signals cannot be caught
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._caught)
            self._forks.enter_context(undone_in_forks(self._give_back_sigterm))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._forks.close()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _give_back_sigterm(self) -> None:
        """Have a process that an objective forked end by SIGTERM, as `multiprocessing.Pool` ends its own.

        SIGINT comes from a terminal to all of them: there the processes of a pool finish what runs, as this one does.
        """
        signal.signal(signal.SIGTERM, self._before[signal.SIGTERM])

    def _caught(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  # what was interrupted goes on
        self.caught.append(number)
        if len(self.caught) > 1:
            raise KeyboardInterrupt(number)
        _logger.warning("interrupted: waiting for what is running; interrupt again to leave it")
