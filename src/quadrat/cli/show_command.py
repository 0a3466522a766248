"""`quadrat show`: a study with what is believed of it and its trials, and how these are described wherever printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from textwrap import fill
from typing import Any

import optuna
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from quadrat.cli.cell_table import cell_table
from quadrat.cli.screen import ASCII, BLOCKS, Screen, refusal
from quadrat.cli.study_commands import Where, opened, print_json
from quadrat.cli.study_model import StudyModel, model_of
from quadrat.cli.study_summary import (
    best_seen_text,
    model_json,
    progress_in,
    pruned_text,
    summary_lines,
    summary_table,
)
from quadrat.cli.trial_table import Line, plain_table, shown, trial_table
from quadrat.errors import InvalidInput, QuadratError
from quadrat.methods.base import Method
from quadrat.methods.registry import read_method
from quadrat.optimizer.outcome import replicate_error
from quadrat.studies.notes import METHOD, kept_method
from quadrat.studies.opening import SEED, check_one_objective
from quadrat.studies.running_trials import why_chosen
from quadrat.studies.storage import place
from quadrat.studies.telling import FAILURE
from quadrat.studies.trials import complete_constraints, standard_error_of, values_of

__all__ = ["STATES", "described", "many", "plain", "show", "value_text"]

STATES = {
    TrialState.COMPLETE: "complete",
    TrialState.FAIL: "failed",
    TrialState.PRUNED: "pruned",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "waiting",
}
"""What states are called, in the order in which they are counted."""

_LAST, _CELLS = 20, 5  # trials and cells that a terminal shows
_OPEN = (TrialState.RUNNING, TrialState.WAITING)
_SECONDS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def show(where: Where, last: int | None, method: str | None = None, *, as_json: bool) -> None:
    """Print a study, or the studies of a storage that has several.

    Without `last` 20 trials are shown, and all as JSON; those that have no result yet always are. Without a method the
    model is that of the method kept with the study where it is kept with its options, and else the default's.
    """
    if last is not None and last < 1:
        raise InvalidInput(f"last: expected at least 1, got {last}")
    stated = None if method is None else read_method(method)
    storage = where.existing()
    if storage is None:
        raise InvalidInput(
            f"storage: expected a journal file or a URL, got {place(where.storage)}, which does not exist; quadrat ask"
            " begins a study"
        )
    names = [study.study_name for study in storage.get_all_studies()]
    if where.name is None and len(names) > 1:
        _show_studies([optuna.load_study(study_name=name, storage=storage) for name in names], where, as_json=as_json)
    else:
        _show_study(opened(where.name, where.storage, where.space), where, last, stated, as_json=as_json)


def described(study: Study, where: Where) -> str:
    """Return what a study is, in a line."""
    method, seed = study.user_attrs.get(METHOD), study.user_attrs.get(SEED)
    by = "" if method is None else f" with {shown(method)}"
    seeded = "" if seed is None else f", seed {shown(seed)}"
    return f"{shown(study.study_name)} in {place(where.storage)}: {_direction(study)}{by}{seeded}"


def plain(trial: FrozenTrial) -> dict[str, Any]:
    """Return a trial as plain data."""
    values = values_of(trial)
    return {
        "number": trial.number,
        "state": trial.state.name.lower(),
        "value": trial.values[0] if trial.values and trial.state is TrialState.COMPLETE else None,
        "sem": standard_error_of(trial),
        "replicates": values if values is not None and len(values) > 1 else None,
        "failure": trial.user_attrs.get(FAILURE),
        "asked": None if trial.datetime_start is None else trial.datetime_start.isoformat(timespec="seconds"),
        "why": why_chosen(trial) or None,
        "params": trial.params,
    }


def value_text(trial: FrozenTrial) -> str:
    """Return what was measured: the mean with its standard error, and of how many replicates; nothing if unfinished."""
    if not trial.values or trial.state is not TrialState.COMPLETE:
        return ""
    mean, values = shown(trial.values[0]), values_of(trial) or []
    if (error := replicate_error(values)) is not None:
        return f"{mean} ± {error:.2g} (n={len(values)})"
    error = standard_error_of(trial)
    return mean if error is None else f"{mean} ± {error:.2g}"


def many(count: int, noun: str) -> str:
    """Return how many there are of something."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _show_studies(studies: Sequence[Study], where: Where, *, as_json: bool) -> None:
    if as_json:
        print_json({"studies": [_summary(study) for study in studies]})
        return
    table = plain_table(["study", "direction", "trials", "best value"])
    for study in studies:
        best = _best(study)
        table.add_row(
            shown(study.study_name), _direction(study), _counts(study) or "none", "" if best is None else shown(best)
        )
    screen = Screen()
    screen.show(table)
    screen.say(f"\nTo see one of them\n  {where.command('show --study NAME')}")


def _show_study(study: Study, where: Where, last: int | None, stated: Method | None, *, as_json: bool) -> None:
    check_one_objective(study)
    trials = study.get_trials(deepcopy=False)
    rows = last or (len(trials) if as_json else _LAST)
    chosen = [trial for trial in trials if trial.number >= len(trials) - rows or trial.state in _OPEN]
    progress = progress_in(study, trials)
    if as_json:
        said = {**_summary(study), **model_json(_model(study, stated, None)), "progress": progress}
        print_json({**said, "trials": [plain(trial) for trial in chosen]})
        return
    screen = Screen()
    head = f"Study {described(study, where)}."
    screen.say(fill(head, screen.width, break_long_words=False, break_on_hyphens=False) + f"\n{_total(study)}.")
    if pruned_text(study):
        screen.say(pruned_text(study))
    screen.say("")
    if not chosen:
        screen.say(f"Nothing was asked yet: {where.command('ask')}")
        return
    levels = BLOCKS if screen.can_show(BLOCKS) else ASCII
    model = _model(study, stated, _CELLS)
    screen.show(summary_table(summary_lines(model, progress, screen.width, levels, best_seen_text(study))))
    if not isinstance(model, str) and model.cells:
        direction = study.direction.name.lower()
        screen.say(f"\n{_cells_title(model)}")
        screen.show(cell_table(model.cells, screen.width, direction=direction, bounded=model.bounded))
    screen.say("")
    screen.show(trial_table(["number", "state", "value"], [_line(trial) for trial in chosen], screen.width))
    if len(chosen) < len(trials):
        screen.say(f"\n{len(chosen)} of {len(trials)} trials; --last {len(trials)} shows all.")


def _model(study: Study, stated: Method | None, most_cells: int | None) -> StudyModel | str:
    """Return what is believed of a study, or why nothing is."""
    if not any(values_of(trial) for trial in study.get_trials(deepcopy=False)):
        return "no trial is complete"
    try:
        return model_of(study, stated or kept_method(study), most_cells=most_cells)
    except QuadratError as error:
        return refusal(error)


def _cells_title(model: StudyModel) -> str:
    assert model.cells is not None
    which = f"The {len(model.cells)} most promising of {many(model.n_cells, 'cell')}"
    if model.n_cells <= len(model.cells):
        which = many(model.n_cells, "cell")
    return f"{which}; a parameter without a range is not cut:"


def _line(trial: FrozenTrial) -> Line:
    note = ""
    if trial.state is TrialState.RUNNING:
        note = f"asked {_ago(trial.datetime_start)}" if trial.params else "no parameters yet"
    elif trial.state is TrialState.FAIL:
        note = shown(" ".join(str(trial.user_attrs.get(FAILURE) or "").split()))
    elif trial.state is TrialState.PRUNED and trial.last_step is not None:
        note = f"last report {shown(trial.intermediate_values[trial.last_step])}"
    return Line([str(trial.number), STATES[trial.state], value_text(trial)], trial.params, note)


def _ago(then: datetime | None) -> str:
    if then is None:
        return "once"
    seconds = (datetime.now(then.tzinfo) - then).total_seconds()
    for unit, length in _SECONDS:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return "just now"


def _summary(study: Study) -> dict[str, Any]:
    return {
        "study": study.study_name,
        "direction": _direction(study),
        "method": study.user_attrs.get(METHOD),
        "seed": study.user_attrs.get(SEED),
        "states": {state.name.lower(): count for state, count in _by_state(study).items()},
        "best_value": _best(study),
    }


def _direction(study: Study) -> str:
    return ", ".join(direction.name.lower() for direction in study.directions)


def _by_state(study: Study) -> Mapping[TrialState, int]:
    found = Counter(trial.state for trial in study.get_trials(deepcopy=False))
    return {state: found[state] for state in STATES if found[state]}


def _total(study: Study) -> str:
    counts = _counts(study)
    return f"{many(len(study.get_trials(deepcopy=False)), 'trial')}{': ' if counts else ''}{counts}"


def _counts(study: Study) -> str:
    return ", ".join(f"{count} {STATES[state]}" for state, count in _by_state(study).items())


def _best(study: Study) -> float | None:
    """Return the best value that was seen, constraints kept; None where there is none, or several objectives.

    Optuna's own `best_value` fails with some of its versions on some databases.
    """
    if len(study.directions) != 1:
        return None
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = [
        trial.values[0] for trial in complete if all(limit <= 0 for limit in complete_constraints(trial).values())
    ]
    better = max if study.direction is StudyDirection.MAXIMIZE else min
    return better(values, default=None)
