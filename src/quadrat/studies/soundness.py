"""What a storage says of a study's trials, checked once as it is opened: others may have written it, or damaged it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

from quadrat.errors import InvalidInput
from quadrat.optimizer.importing import constraints_of
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR

__all__ = ["check_trials"]


def check_trials(study: Study) -> None:
    """Refuse a study of which a trial has something else than numbers where numbers belong.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study()
    >>> study.add_trial(optuna.trial.create_trial(value=1.0, user_attrs={"quadrat:sem": "wide"}))
    >>> check_trials(study)
    Traceback (most recent call last):
    quadrat.errors.InvalidInput: study '...', trial 0: expected a number as its standard error, got 'wide'; ...
    """
    objectives = len(study.directions)
    for trial in study.get_trials(deepcopy=False):
        wrong = _wrong(trial, objectives)
        if wrong is not None:
            raise InvalidInput(
                f"study {study.study_name!r:.80}, trial {trial.number}: expected {wrong}; the storage was damaged, or"
                " something else wrote to it"
            )


def _wrong(trial: FrozenTrial, objectives: int) -> str | None:
    """Return what was expected and what came; None where all is well."""
    values, replicates = trial.values, trial.user_attrs.get(REPLICATES)
    if values is not None and not (_are_numbers(values) and len(values) == objectives):
        return f"{objectives} number{'s' if objectives > 1 else ''} as its value, got {_shown(values)}"
    if replicates is not None and not (isinstance(replicates, list) and replicates and _are_numbers(replicates)):
        return f"a list of numbers as its replicates, got {_shown(replicates)}"
    sem = trial.user_attrs.get(STANDARD_ERROR)
    if sem is not None and not _are_numbers([sem]):
        return f"a number as its standard error, got {_shown(sem)}"
    if not isinstance(trial.intermediate_values, Mapping) or not _are_numbers(trial.intermediate_values.values()):
        return f"numbers as its reports, got {_shown(trial.intermediate_values)}"
    try:
        constraints = constraints_of(trial)
    except (TypeError, ValueError, AttributeError):
        return "numbers as its constraints, got something else"
    if not isinstance(constraints, Mapping) or not _are_numbers(constraints.values()):
        return f"numbers as its constraints, got {_shown(constraints)}"
    return None


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(
        isinstance(value, float) or (type(value) is int and abs(value) <= sys.float_info.max) for value in values
    )


def _shown(value: object) -> str:
    return f"{value!r:.80}"
