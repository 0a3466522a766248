"""`maximize` and `minimize`: ask, evaluate, tell, until it is time to stop."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from quadrat._core.moved import renamed
from quadrat.errors import InvalidInput, NotAvailable, SpaceExhausted
from quadrat.loop.loop import Loop, failure_text
from quadrat.loop.plan import Callback, Plan
from quadrat.loop.result import Result
from quadrat.loop.workers import Finished, Objective, Workers, workers_for
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Optimizer, Trial, TrialRecord
from quadrat.optimizer.advice import FEWEST_TO_STOP
from quadrat.optimizer.outcome import is_several
from quadrat.space import Space

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["carry_out", "maximize", "minimize"]

_logger = logging.getLogger(__name__)


@renamed(old="n_parallel", new="workers")
def maximize(
    objective: Objective,
    space: Space,
    *,
    n_trials: int | None = None,
    timeout: float | None = None,
    method: str | Method | None = None,
    seed: int = 0,
    noise: float | None = None,
    callbacks: Iterable[Callback] = (),
    executor: Executor | None = None,
    workers: int | None = None,
    stop_at_gain: float | None = None,
    stop_at_certificate: float | None = None,
    max_cost: float | None = None,
) -> Result:
    """Find parameters where the objective is large.

    Without an executor the run is a function of its arguments: the same seed gives the same trials. With one, trials
    are evaluated at the same time and told in the order in which they finish; the run depends on that order and on
    nothing else. An objective that raises fails its trial; the exception is logged and the run goes on.

    Parameters
    ----------
    objective
        From a dictionary of parameters to a number, a list of replicates, an `Estimate` (a number with its standard
        error) or `FAILED`; NaN counts as failed. Or to `Measured`, which is one of these together with the values of
        constraints, <= 0 where they hold. A tuple or a mapping ends the run. Anything else does too, unless a trial has
        succeeded before: then it counts as failed.
    space
        What to search.
    n_trials
        How many trials at most, failed ones included; None where `max_cost` is the limit.
    timeout
        Seconds after which no new trial starts. What is running is waited for.
    method
        A method or its name; None is the default one.
    seed
        A non-negative integer.
    noise
        Standard deviation of the noise in one measurement, 0 where there is none; None learns it: see `Optimizer`.
    callbacks
        Functions of (optimizer, record of the trial just told); one that returns True ends the run.
    executor
        A `concurrent.futures.Executor`, such as a ProcessPoolExecutor or Dask's ``client.get_executor()``; None
        evaluates here, one trial after another. The caller shuts it down.
    workers
        How many trials to keep on the executor; None is as many as it has workers.
    stop_at_gain
        End as soon as at most this is left to gain with 90 % (`gain.upper`), as sure as the model is, in the units of
        the objective: what is left is not worth another trial. Never before 5 complete trials, nor while there are too
        few to say (`too_few`). `message` says with what chance. A method that estimates no such gain is refused.
    stop_at_certificate
        End as soon as the certificate is at most this.
    max_cost
        No new trial starts when those begun cost this much: in the units of the space's `Fidelity`, or trials where it
        has none. The last one may go beyond it.

    Returns
    -------
    Result
        Also after an interrupt (Ctrl-C), which first waits for what is running; a second one does not.

    Raises
    ------
    InvalidInput
        An argument that is not as above.
    NotAvailable
        No trial succeeded; the message and the cause show the last failure.

    Examples
    --------
    >>> from quadrat.space import Float, Space
    >>> found = maximize(
    ...     lambda p: -((p["x"] - 0.5) ** 2), Space(x=Float(-1, 1)), n_trials=40, method="RandomSearch"
    ... )
    >>> abs(found.params["x"] - 0.5) < 0.1, found.message
    (True, 'all 40 trials done')
    """
    plan = Plan(n_trials, timeout, callbacks, executor, workers, stop_at_gain, stop_at_certificate, max_cost)
    return _run(objective, Optimizer(space, direction="maximize", method=method, seed=seed, noise=noise), plan)


@renamed(old="n_parallel", new="workers")
def minimize(
    objective: Objective,
    space: Space,
    *,
    n_trials: int | None = None,
    timeout: float | None = None,
    method: str | Method | None = None,
    seed: int = 0,
    noise: float | None = None,
    callbacks: Iterable[Callback] = (),
    executor: Executor | None = None,
    workers: int | None = None,
    stop_at_gain: float | None = None,
    stop_at_certificate: float | None = None,
    max_cost: float | None = None,
) -> Result:
    """Find parameters where the objective is small; all else as in `maximize`.

    Parameters
    ----------
    objective, space, n_trials, timeout, method, seed, noise, callbacks, executor, workers
        As of `maximize`.
    stop_at_gain, stop_at_certificate, max_cost
        As of `maximize`.

    Returns
    -------
    Result
        The recommended point, what is believed or certified of it, and all trials.

    Examples
    --------
    >>> from quadrat.space import Float, Space
    >>> found = minimize(lambda p: abs(p["x"]), Space(x=Float(-1, 1)), n_trials=40, method="RandomSearch")
    >>> found.best_seen.value < 0.1
    True
    """
    plan = Plan(n_trials, timeout, callbacks, executor, workers, stop_at_gain, stop_at_certificate, max_cost)
    return _run(objective, Optimizer(space, direction="minimize", method=method, seed=seed, noise=noise), plan)


def _run(objective: Objective, optimizer: Optimizer, plan: Plan) -> Result:
    if not callable(objective):
        raise InvalidInput(f"objective: expected a function of a dictionary of parameters, got {objective!r:.80}")
    plan.check_against(optimizer)
    return carry_out(plan, optimizer, workers_for(objective, plan.executor, plan.workers))


def carry_out(plan: Plan, optimizer: Optimizer, workers: Workers) -> Result:
    """Run the loop over an optimizer, with workers that evaluate its trials, until the plan says stop."""
    with ProgressBar(plan.n_trials) as bar:
        return _OptimizerDoor(optimizer, plan, bar).run(workers)


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A bar on standard error, if that is a terminal, full at `total` trials; None where nobody knows."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._bar: Progress | None = None

    def __enter__(self) -> ProgressBar:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, optimizer: Optimizer, finished: int) -> None:
        """Show how many trials are finished and the best value seen."""
        if self._bar is not None:
            best = optimizer.best_seen
            text = "no value yet" if best is None else f"best seen {best.value:.6g}"
            self._bar.update(self._task, completed=finished, description=text)


class _OptimizerDoor:
    """The door of the loop to an optimizer: how many trials it has begun and told, why it should end."""

    def __init__(self, optimizer: Optimizer, plan: Plan, bar: ProgressBar) -> None:
        self._optimizer, self._plan, self._bar = optimizer, plan, bar
        self.deadline = None if plan.timeout is None else time.monotonic() + plan.timeout
        self._begun = self._told = self._complete = 0
        self._ending: str | None = None
        self._last_error: BaseException | None = None
        self._exhausted: str | None = None  # why nothing is left to evaluate, once that is so

    def run(self, workers: Workers) -> Result:
        """Run the loop to its end; the first interrupt lets what runs finish, the second one is raised."""
        loop = Loop(self, lambda: workers)
        interrupt: KeyboardInterrupt | None = None
        try:
            try:
                while not loop.step():
                    pass
            except KeyboardInterrupt as caught:
                interrupt = caught
                self._end("interrupted")
                _logger.warning("interrupted: waiting for what is running; interrupt again to leave it")
                while not loop.step():
                    pass
        finally:
            loop.cancel()  # where an error leaves this function, nothing more should start
        if loop.broken is not None:
            self._end(f"the executor broke ({loop.broken})")
        if self._optimizer.best_seen is None:
            if interrupt is not None:
                raise interrupt
            raise self._nothing() from self._last_error
        return Result.of(self._optimizer, self._ending or self._done())

    def _done(self) -> str:
        """Why it ended when nothing went wrong."""
        if self._begun == self._plan.n_trials:
            return f"all {self._plan.n_trials} trials done"
        if self._exhausted is not None:
            return self._exhausted
        return f"a cost of {self._optimizer.cost:g} is spent, after {self._told} trials"

    # --- what the loop asks for

    def begin(self) -> Trial | None:
        cost = self._plan.max_cost
        if cost is not None and self._optimizer.cost >= cost:
            return None
        if self._plan.n_trials is not None and self._begun >= self._plan.n_trials:
            return None
        try:
            trial = self._optimizer.ask()
        except SpaceExhausted as ended:
            self._exhausted = str(ended)
            return None
        self._begun += 1
        return trial

    def tell(self, finished: Finished) -> None:
        trial, error = finished.trial, finished.error
        if error is None:
            try:
                self._optimizer.tell(trial, finished.outcome)  # type: ignore[arg-type]  # tell checks it
            except InvalidInput as refused:
                error = refused
        if isinstance(error, InvalidInput) and self._optimizer.best_seen is None:  # a mistake, and nothing to lose yet
            raise InvalidInput(f"objective: trial {trial.number}: {error}") from None
        if error is not None:
            _refuse_what_needs_a_study(error, trial.number)
            self._last_error = error
            _logger.warning("trial %d: the objective failed at %r", trial.number, trial.params, exc_info=error)
            self._optimizer.tell(trial, FAILED, reason=failure_text(error))
        self._told += 1
        if is_several(finished.outcome):
            self._end(f"stopped at trial {trial.number} ({error})")
        self._bar.update(self._optimizer, self._told)
        self._check_rules(self._optimizer.trial(trial.number))

    def ending(self) -> str | None:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self._end(f"timeout of {self._plan.timeout:g} s reached")
        return self._ending

    def count(self, number: int, change: int) -> int:  # noqa: ARG002
        """Count nothing: no trial is evaluated again."""
        return 1

    def is_cut_off(self, error: BaseException) -> bool:  # noqa: ARG002
        """Never: an optimizer is in this process."""
        return False

    # --- when to end

    def _end(self, why: str) -> None:
        """End the run, for the first of the reasons."""
        if self._ending is None:
            self._ending = f"{why} after {self._told} trial{'' if self._told == 1 else 's'}"

    def _check_rules(self, record: TrialRecord) -> None:
        self._complete += record.state == "complete"
        for callback in self._plan.callbacks:
            answer = callback(self._optimizer, record)
            if isinstance(answer, bool | np.bool_) and answer:  # what a callback returns by accident stops nothing
                self._end("stopped by a callback")
        if self._ending is not None or self._optimizer.best_seen is None:
            return
        if self._plan.stop_at_gain is not None and self._complete >= FEWEST_TO_STOP:
            reason = self._optimizer._stop_reason(self._plan.stop_at_gain)
            if reason is not None:
                self._end(f"{reason} (stop_at_gain)")
        if self._plan.stop_at_certificate is not None:
            certificate = self._optimizer.certificate().value
            if certificate is not None and certificate <= self._plan.stop_at_certificate:
                self._end(f"the certificate, {certificate:.4g}, is at most {self._plan.stop_at_certificate:g}")

    def _nothing(self) -> NotAvailable:
        failures = [record.failure for record in self._optimizer.trials if record.failure is not None]
        last = f"; the last: {failures[-1]}" if failures else ""
        ending = f" ({self._ending})" if self._ending else ""
        return NotAvailable(
            f"{self._optimizer.direction}: expected at least one trial to succeed, got {len(failures)} that"
            f" failed{ending}{last}"
        )


def _refuse_what_needs_a_study(error: BaseException, number: int) -> None:
    """Refuse an objective of Optuna's kind: here it is given a dictionary, and nothing can be pruned."""
    if type(error).__name__ == "TrialPruned" and type(error).__module__.startswith("optuna"):
        raise InvalidInput(
            f"objective: trial {number}: expected a value or FAILED, got TrialPruned: only trials of a study can be"
            " pruned; use QuadratSampler in an Optuna study"
        ) from error
    if isinstance(error, AttributeError) and isinstance(error.obj, dict) and str(error.name).startswith("suggest_"):
        raise InvalidInput(
            f"objective: trial {number}: expected a function of a dictionary of parameters, got one that calls"
            f" {error.name} on it, as an objective of Optuna does; use QuadratSampler in an Optuna study"
        ) from error
