"""`quadrat tune`: run a study of a function in a file."""

from __future__ import annotations

import atexit
import math
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import optuna
from optuna.study import Study
from optuna.trial import TrialState

from quadrat.cli.failure_line import failure_line
from quadrat.cli.screen import Screen, refusal
from quadrat.cli.stopping import STOPPED, stopped_by_signals
from quadrat.cli.streams import own_streams
from quadrat.cli.study_commands import best_data, best_table, print_json
from quadrat.cli.study_summary import best_seen_text
from quadrat.cli.tune_screen import TuneScreen, duration
from quadrat.errors import InvalidInput, QuadratError
from quadrat.loop.executors import opened_executor
from quadrat.loop.workers import Here, OnExecutor, Workers
from quadrat.optimizer.method_choice import DEFAULT_METHOD, resolve
from quadrat.space import Space
from quadrat.studies import DEFAULT_JOURNAL, Coordinator, ObjectiveReference, open_storage
from quadrat.studies.evaluation import DefineByRun, WithParams, run_trial
from quadrat.studies.notes import kept_space
from quadrat.studies.opening import SEED, open_study
from quadrat.studies.storage import check_outlives, close_storage, place
from quadrat.studies.telling import FAILURE

__all__ = ["TuneOptions", "tune"]

DEFAULT_TRIALS = 50
_ERROR, _REFUSED = 1, 2  # exit statuses: of Python for an exception, and of the command for bad input
_GRACE = 5.0  # seconds that threads of an objective have to end when all else is done
_SQLITE = "sqlite:///"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WORDS = {TrialState.COMPLETE: "complete", TrialState.FAIL: "failed", TrialState.PRUNED: "pruned"}


@dataclass(frozen=True)
class TuneOptions:
    """What the command was given; see its help."""

    objective: str
    space: str | None = None
    n_trials: int | None = None
    timeout: float | None = None
    direction: str | None = None
    method: str | None = None
    seed: int | None = None
    noise: float | None = None
    study: str | None = None
    storage: str | None = None
    workers: int | None = None
    executor: str | None = None
    scheduler: str | None = None
    trial_timeout: float | None = None
    stop_at_gain: float | None = None
    as_json: bool = False

    @property
    def total(self) -> int | None:
        """How many trials there are in the end; None is no limit but time."""
        if self.n_trials is None:
            return DEFAULT_TRIALS if self.timeout is None else None
        return self.n_trials

    @property
    def chosen_method(self) -> str | None:
        """The method, in words that are kept with the study; the default one has the noise that is stated."""
        if self.noise is None:
            return self.method
        resolve(self.method, self.noise)  # refuses a noise beside a method, and what is no standard deviation
        return f"{DEFAULT_METHOD}(noise={self.noise!r})"

    @property
    def where(self) -> str:
        """The storage, as any process of this machine can open it."""
        given = DEFAULT_JOURNAL if self.storage is None else self.storage
        if given.startswith(_SQLITE) and not given.startswith((_SQLITE + "/", _SQLITE + ":")):
            return _SQLITE + str(Path(given.removeprefix(_SQLITE)).resolve())
        return given if "://" in given else str(Path(given).resolve())


def tune(options: TuneOptions) -> int:
    """Run a study to its end, show it, and return the exit status: 0, or 130 or 143 where a signal interrupted it."""
    _check_positive(options)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    before, status = set(threading.enumerate()), _ERROR
    try:
        with stopped_by_signals(), own_streams(alone=options.as_json) as streams:
            status = _opened_and_run(options, *streams)
    except KeyboardInterrupt as interrupt:  # before or after the run; during the run the second signal
        sys.stderr.write(f"quadrat: {STOPPED}\n")
        status = 128 + int((interrupt.args or (signal.SIGINT,))[0])
    except Exception as error:
        is_refused = isinstance(error, QuadratError) or failure_line(error, options.storage) is not None
        status = _REFUSED if is_refused else _ERROR
        raise
    finally:
        left = [one for one in threading.enumerate() if one not in before and not one.daemon]
        if left and _is_the_program():
            _limit_waiting(left, status)
    return status


def _is_the_program() -> bool:
    """Return whether this process is the command `quadrat`, and not a program that calls it."""
    main = getattr(sys.modules["__main__"], "main", None)
    return getattr(main, "__module__", None) == "quadrat.cli.main"


def _limit_waiting(threads: list[threading.Thread], status: int) -> None:
    """Have this process end soon after its end began, with a status, though an objective left threads.

    Python waits for them without limit, and has no way to end them. It wakes those that only wait for work itself.
    """
    ending, ended = threading.Event(), threading.Event()
    threading._register_atexit(ending.set)  # type: ignore[attr-defined]  # before Python waits for threads
    atexit.register(ended.set)  # after it did

    def watch() -> None:
        ending.wait()
        if ended.wait(_GRACE):
            return
        names = ", ".join(thread.name for thread in threads if thread.is_alive())
        sys.stderr.write(f"quadrat: ended without waiting for threads that the objective left ({names})\n")
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    threading.Thread(target=watch, name="quadrat-exit", daemon=True).start()


def _opened_and_run(options: TuneOptions, output: TextIO, errors: TextIO) -> int:
    reference = ObjectiveReference.read(options.objective)
    space = None if options.space is None else Space.from_file(options.space)
    reference.load()  # what is wrong with it is better known before the first trial
    check_outlives(options.where)
    storage = open_storage(options.where)
    try:
        study = open_study(
            storage,
            options.study,
            space=space,
            direction=options.direction,
            method=options.chosen_method,
            seed=options.seed,
        )
        return _run(options, study, reference, space, output, errors)
    finally:
        close_storage(storage)


def _run(
    options: TuneOptions,
    study: Study,
    reference: ObjectiveReference,
    space: Space | None,
    output: TextIO,
    errors: TextIO,
) -> int:
    searched = kept_space(study) if space is None else space
    screen, started = Screen(output), time.monotonic()
    shown = TuneScreen(
        study,
        options.total,
        options.timeout,
        output=None if options.as_json else output,
        errors=errors,
        width=screen.width,
    )
    with _workers(options, study, reference, searched) as make_workers, shown:
        ending = Coordinator(
            study,
            searched,
            make_workers,
            n_trials=sys.maxsize if options.total is None else options.total,
            timeout=options.timeout,
            trial_timeout=options.trial_timeout,
            stop_at_gain=options.stop_at_gain,
            on_told=shown.show_ended,
        ).run()
    return _finish(study, options, screen, output, ending, time.monotonic() - started)


def _check_positive(options: TuneOptions) -> None:
    numbers = {
        "n-trials": options.n_trials, "timeout": options.timeout, "workers": options.workers,
        "trial-timeout": options.trial_timeout,
    }  # fmt: skip
    for name, value in numbers.items():
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise InvalidInput(f"{name}: expected a number above 0, got {value:g}")
    gain = options.stop_at_gain
    if gain is not None and not (gain >= 0 and math.isfinite(gain)):
        raise InvalidInput(f"stop-at-gain: expected a number >= 0, got {gain:g}")
    if options.scheduler is not None and options.executor is None:
        raise InvalidInput(f"scheduler: expected --executor dask or ray with it, got {options.scheduler} alone")


@contextmanager
def _workers(
    options: TuneOptions, study: Study, reference: ObjectiveReference, space: Space | None
) -> Iterator[Callable[[], Workers]]:
    """Yield what makes the workers: this process where nothing else is asked for, else an executor."""
    if options.workers is None and options.executor is None and options.trial_timeout is None:
        here = partial(run_trial, reference, study) if space is None else WithParams(reference)
        yield lambda: Here(here)
        return
    evaluation: Callable[[dict[str, Any]], object] = WithParams(reference)
    if space is None:
        evaluation = DefineByRun(reference, options.where, study.study_name, study.user_attrs[SEED])
    with opened_executor(options.executor or "process", options.workers, options.scheduler) as (executor, n):
        yield lambda: OnExecutor(evaluation, executor, n)


def _finish(study: Study, options: TuneOptions, screen: Screen, output: TextIO, ending: str, seconds: float) -> int:
    trials = study.get_trials(deepcopy=False)
    states = Counter(trial.state for trial in trials)
    status = next((128 + number for number in _SIGNALS if ending.endswith(number.name)), 0)
    if not status and not states[TrialState.COMPLETE] and not states[TrialState.PRUNED] and states[TrialState.FAIL]:
        last = max((trial for trial in trials if trial.state is TrialState.FAIL), key=lambda trial: trial.number)
        raise InvalidInput(
            f"objective: expected a number from {options.objective}, got {states[TrialState.FAIL]} trials that failed;"
            f" the last, trial {last.number}: {last.user_attrs.get(FAILURE, 'unknown')}; mend it and start again, with"
            f" another --study or a larger --n-trials: {study.study_name!r} keeps them"
        )
    counts = {word: states[state] for state, word in _WORDS.items() if states[state]}
    if options.as_json:
        said = {
            "study": study.study_name,
            "storage": place(options.storage),
            "ended": ending,
            "trials": counts,
            **_recommended(study),
        }
        print_json(said, output)
    else:
        screen.say("")
        if states[TrialState.COMPLETE] or states[TrialState.PRUNED]:
            try:
                table, why = best_table(study)
            except QuadratError as error:  # such as a parameter that cannot be searched
                best, cure = best_seen_text(study), "quadrat best --space FILE then shows what to use."
                screen.say("\n".join([refusal(error), *([cure] if isinstance(error, InvalidInput) else [])]))
                screen.say(f"Best seen: {best}" if best else "")
            else:
                screen.show(table)
                screen.say(why)
        told = ", ".join(f"{count} {word}" for word, count in counts.items()) or "no trials"
        screen.say(f"Study {study.study_name} in {place(options.storage)}: {told}; {ending}, {duration(seconds)}.")
    return status


def _recommended(study: Study) -> dict[str, Any]:
    try:
        return {"recommended": best_data(study)}
    except QuadratError as error:
        return {"recommended": None, "reason": refusal(error)}
