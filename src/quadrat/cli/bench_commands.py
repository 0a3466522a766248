"""`quadrat ask` and `quadrat tell`: for experiments that people make, at a bench or anywhere else.

Each command is a process of its own: the study is all that they share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat._core.arrays import read_decimal
from quadrat.cli.screen import Screen, brief, refusal
from quadrat.cli.show_command import STATES, described, many, plain, value_text
from quadrat.cli.study_commands import Where, best_table, opened, print_json
from quadrat.cli.study_model import model_of
from quadrat.cli.trial_table import Line, trial_table
from quadrat.errors import InvalidInput, NotAvailable, QuadratError, SpaceExhausted
from quadrat.optimizer.outcome import FAILED, Estimate
from quadrat.space import Space
from quadrat.studies.distributions import suggest
from quadrat.studies.lease import note_asking
from quadrat.studies.notes import kept_method, kept_space
from quadrat.studies.opening import check_one_objective, check_trials, find_study, open_study
from quadrat.studies.results_file import ResultsFile, read_results, write_results
from quadrat.studies.running_trials import why_chosen
from quadrat.studies.sampler import QuadratSampler
from quadrat.studies.storage import open_storage, place
from quadrat.studies.telling import FAILURE, TrialIsOver, tell_outcome
from quadrat.studies.transitions import count_trials, rows_in

__all__ = ["Beginning", "ask", "refuse", "tell", "tell_file"]

_MANY = 100_000  # complete trials, of which a recommendation takes minutes and gigabytes


@dataclass(frozen=True)
class Beginning:
    """How a study is begun, as options say; None where nothing was said."""

    space: str | None
    direction: str | None
    method: str | None
    seed: int | None

    def space_of(self, study: Study | None, where: Where) -> Space:
        """Return the space in the file that was named, or else that of the study."""
        if self.space is not None:
            return Space.from_file(self.space)
        kept = None if study is None else kept_space(study)
        if kept is not None:
            return kept
        what = f"{place(where.storage)} has no study{f' {where.name!r}' if where.name else ''} yet"
        if study is not None:
            what = f"study {study.study_name!r} has none yet"
        raise InvalidInput(
            f"space: expected --space with a file that describes the parameters, because {what}, got no --space"
        )

    def open(self, storage: BaseStorage | None, where: Where, space: Space, *, check: bool = True) -> Study:
        """Return the study; it is begun where it does not exist. Its trials are read to be checked, or are not."""
        return open_study(
            open_storage(where.storage) if storage is None else storage,
            where.name,
            space=None if self.space is None else space,
            direction=self.direction,
            method=self.method,
            seed=self.seed,
            check=check,
        )


def ask(where: Where, beginning: Beginning, n: int, *, as_json: bool) -> None:
    """Begin n trials, in a new study where there is none, and print what to evaluate."""
    if n < 1:
        raise InvalidInput(f"n: expected at least 1, got {n}")
    storage = where.existing()
    before = None if storage is None else find_study(storage, where.name)
    space = beginning.space_of(before, where)
    study = beginning.open(storage, where, space)
    waiting = _running_numbers(study)
    asked = [_asked(study, space) for _ in range(n)]
    if as_json:
        print_json([{"number": number, "params": params, "why": why} for number, params, why in asked])
        return
    screen = Screen()
    if before is None:
        screen.say(f"New study {described(study, where)}.")
        screen.say("")
    screen.show(trial_table(["number"], [Line([str(number)], params) for number, params, _ in asked], screen.width))
    _say(screen, "\nWhy: " + "; ".join(f"trial {number}: {why}" if n > 1 else why for number, _, why in asked) + ".")
    if waiting:
        _say(screen, f"\nAsked before, and without a result yet: {_trials(waiting)}.")
    _say(screen, _advice(study))
    screen.say(f"\nReport a result with\n  {where.command('tell NUMBER VALUE')}")


def _advice(study: Study) -> str:
    """Return what the trials told so far advise; nothing where they do not."""
    try:
        return f"\nAdvice: {model_of(study, kept_method(study), most_cells=0).advice}"
    except QuadratError:  # such as no complete trial: what was asked is asked all the same
        return ""


def tell(
    where: Where,
    number: int | None,
    values: Sequence[str],
    *,
    sem: str | None,
    failed: bool,
    reason: str | None,
    as_json: bool,
) -> None:
    """End a trial that was asked, and print what is recommended now; values and `sem` are words of the command line."""
    if number is None:
        raise InvalidInput("NUMBER: expected the number of a trial that was asked, or --csv with a file, got neither")
    outcome = _outcome(values, sem, failed=failed)
    if not failed and math.isfinite(sum(map(float, values))):
        refuse("only with --failed, got a value; leave one of the two out", reason=reason)
    study = opened(where.name, where.storage)
    check_one_objective(study)
    trial = _running(study, number)
    if not failed and not trial.params:
        raise InvalidInput(
            f"trial {number}: expected one with parameters, got one that was interrupted while it was asked; end it"
            f" with {where.command(f'tell {number} --failed')}"
        )
    try:
        tell_outcome(study, optuna.trial.Trial(study, trial._trial_id), outcome, reason=reason)
    except TrialIsOver:  # just now
        _running(study, number)
        raise
    told = study.get_trials(deepcopy=False)[number]
    if as_json:
        print_json(plain(told))
        return
    result = f"failed ({told.user_attrs.get(FAILURE)})" if told.state is TrialState.FAIL else value_text(told)
    _say_recommended(study, f"Trial {number}: {result}.")


def tell_file(
    where: Where, beginning: Beginning, path: str, *, value: str | None, sem: str | None, as_json: bool
) -> None:
    """Add the results in a CSV file, to a new study where there is none, and print what is recommended now."""
    storage = where.existing()
    before = None if storage is None else find_study(storage, where.name, check=False)
    few, rows = True, None
    if before is not None:
        check_one_objective(before)
        few = count_trials(before._storage, before._study_id) <= _MANY
        rows = None if few else rows_in(before._storage, before._study_id)
    space = beginning.space_of(before, where)
    found = read_results(path, space, _trials_when_needed(before), value=value, sem=sem, rows_known=rows)
    study = beginning.open(storage, where, space, check=few)
    counts = _counts(found)
    added = write_results(study, found.results, space)  # another process may have read the same file meanwhile
    counts = {**counts, "added": added, "already_told": counts["already_told"] + counts["added"] - added}
    if as_json:
        print_json(counts)
        return
    if before is None:
        Screen().say(f"New study {described(study, where)}.")
    _say_recommended(study, _counted(path, found, counts))


def _trials_when_needed(study: Study | None) -> Iterator[FrozenTrial]:
    if study is not None:
        check_trials(study)
        yield from study.get_trials(deepcopy=False)


def refuse(expected: str, **options: object) -> None:
    """Refuse options that were given though they mean nothing here."""
    for name, given in options.items():
        if given is not None:
            raise InvalidInput(f"{name if name.isupper() else f'--{name}'}: expected {expected}")


def _asked(study: Study, space: Space) -> tuple[int, dict[str, Any], str]:
    """Begin a trial; return its number, its parameters, and why these."""
    sampler = study.sampler
    ended = sampler.exhausted(study) if isinstance(sampler, QuadratSampler) else None
    if ended is not None and not study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
        raise SpaceExhausted(f"ask: {ended}")
    trial = study.ask()
    try:
        note_asking(study, trial._trial_id)  # or a coordinator that begins now takes it for one that nobody ended
        params = suggest(trial, space)
        return trial.number, params, why_chosen(study._storage.get_trial(trial._trial_id)) or "the only setting"
    except BaseException:  # such as Ctrl-C: nobody knows of this trial, so nobody would end it
        with suppress(TrialIsOver):
            tell_outcome(study, trial, FAILED, reason="interrupted while it was asked")
        raise


def _outcome(values: Sequence[str], sem: str | None, *, failed: bool) -> object:
    """Return what was told, from the words on the command line."""
    if failed:
        if values or sem is not None:
            raise InvalidInput(f"--failed: expected no value beside it, got {' '.join(values) or f'--sem {sem}'}")
        return FAILED
    if not values:
        raise InvalidInput("VALUE: expected NUMBER VALUE, or NUMBER --failed, got no value")
    numbers = [_number(value, "VALUE") for value in values]
    if sem is None:
        return numbers if len(numbers) > 1 else numbers[0]
    if len(numbers) > 1:
        raise InvalidInput(
            f"--sem: expected with one value, the mean, got {len(numbers)} values; replicates carry their own spread:"
            " leave --sem out"
        )
    return Estimate(numbers[0], _number(sem, "--sem"))


def _number(text: str, name: str) -> float:
    found = read_decimal(text)
    if found is not None:
        return found
    hint = f"; decimals have a point: {text.replace(',', '.')}" if text.count(",") == 1 else ""
    if "," in text and "." in text:
        hint = "; replicates are separated by blanks"
    if text.startswith("-"):
        hint = "; quadrat tell --help lists the options"
    failing = ", or nan where it failed" if name == "VALUE" else ""
    raise InvalidInput(f"{name}: expected a number{failing}, got {text!r}{hint}")


def _running(study: Study, number: int) -> FrozenTrial:
    """Return a trial that runs; refuse a number that is not of such a one."""
    trials = study.get_trials(deepcopy=False)
    trial = trials[number] if 0 <= number < len(trials) else None
    if trial is not None and trial.state is TrialState.RUNNING:
        return trial
    got = "does not exist"
    if trial is not None:
        got = f"{'has' if trial.state is TrialState.FAIL else 'is'} {STATES[trial.state]}"
        got += f" with {value_text(trial)}" if trial.values else ""
    waiting = _running_numbers(study)
    those = ", ".join(map(str, waiting)) if waiting else "there is none, quadrat ask begins one"
    raise InvalidInput(f"NUMBER: expected a trial that has no result yet ({those}), got {number}, which {got}")


def _say_recommended(study: Study, first: str) -> None:
    screen, kept = Screen(), (study._storage, study._study_id)
    complete = count_trials(*kept, TrialState.COMPLETE)
    if complete > _MANY:
        running = count_trials(*kept, TrialState.RUNNING)
        _say(screen, first + (f" Without a result yet: {many(running, 'trial')}." if running else ""))
        screen.say(f"Of {complete:,} complete trials a recommendation takes long: quadrat best prints it.")
        return
    waiting = _running_numbers(study)
    _say(screen, first + (f" Without a result yet: {_trials(waiting)}." if waiting else ""))
    try:
        table, _ = best_table(study)
    except NotAvailable:
        screen.say("Nothing can be recommended before a trial is complete.")
    except QuadratError as error:  # what was told is told: this is no reason to tell it again
        _say(screen, f"Nothing can be recommended: {refusal(error)}")
    else:
        screen.say("")
        screen.show(table)


def _say(screen: Screen, text: str) -> None:
    lines = [
        fill(line, screen.width, break_long_words=False, break_on_hyphens=False) for line in brief(text).split("\n")
    ]
    screen.say("\n".join(lines))


def _counts(found: ResultsFile) -> dict[str, Any]:
    return {
        "added": sum(result.trial is None for result in found.results),
        "told": [result.trial.number for result in found.results if result.trial is not None],
        "failed": sum(result.reading.failure is not None for result in found.results),
        "already_told": found.known,
        "not_measured": found.unmeasured,
        "ignored_columns": list(found.ignored),
    }


def _counted(path: str, found: ResultsFile, counts: Mapping[str, Any]) -> str:
    parts = [
        f"{many(counts['added'], 'trial')} added" if counts["added"] else "",
        f"{_trials(counts['told'])} told" if counts["told"] else "",
        f"{counts['failed']} of these failed" if counts["failed"] else "",
        f"{many(counts['already_told'], 'row')} known already" if counts["already_told"] else "",
        f"{many(found.unmeasured, 'row')} without a result" if found.unmeasured else "",
        f"not used: {', '.join(found.ignored)}" if found.ignored else "",
    ]
    said = f"{path}: {'; '.join(part for part in parts if part) or 'no rows'}."
    if found.repeated and counts["added"]:
        said += (
            f" {many(found.repeated, 'row')} came from a file of this name before, and the others are new; a row that"
            " was changed is one of these, and what was told of it before stays."
        )
    return said


def _running_numbers(study: Study) -> list[int]:
    return [trial.number for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))]


def _trials(numbers: Sequence[int]) -> str:
    return f"trial{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
