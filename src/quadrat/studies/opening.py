"""A study in a storage, opened or begun: its space, direction, method and seed are kept with it.

Whoever opens it later, in whatever process, needs none of them, and makes the suggestions that the first one would have
made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import optuna
from optuna.distributions import check_distribution_compatibility
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial

from quadrat.errors import InvalidInput
from quadrat.optimizer.importing import constraints_of
from quadrat.optimizer.method_choice import resolve
from quadrat.optimizer.outcome import Direction
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.constraint import check_share
from quadrat.studies.distributions import distribution_of
from quadrat.studies.finish_order import BEGUN
from quadrat.studies.lease import _ATTRIBUTE as LEASE
from quadrat.studies.notes import METHOD, keep_space, kept_space
from quadrat.studies.sampler import QuadratSampler
from quadrat.studies.transitions import distributions_of
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR

__all__ = ["DEFAULT_STUDY", "SEED", "check_one_objective", "check_trials", "find_study", "open_study"]

DEFAULT_STUDY = "quadrat"
"""The name of a study that is begun without one."""

SEED = "quadrat:seed"
"""The user attribute of a study with its seed."""

_FIRST_SEED = 0


def open_study(
    storage: BaseStorage,
    name: str | None,
    *,
    space: Space | None,
    direction: str | None,
    method: str | None,
    seed: int | None,
    check: bool = True,
) -> Study:
    """Return a study whose sampler is the one that it always had; it is begun where it does not exist.

    Everything is checked before anything is written. What is None is that of the study: its space, direction, method (a
    name, or a text with options) and seed. A new study minimizes with the default method and the seed 0; without a
    space its sampler knows of parameters what finished trials had, as in Optuna. Without a name it is the only study of
    the storage, or `DEFAULT_STUDY` where there is none. What differs from what the study has is refused. With `check`
    so is a trial that no model could take.
    """
    wanted = None if direction is None else Direction.read(direction).value
    named = None if method is None else _stated(method)
    if seed is not None:
        generator(seed)  # refuses what is not a seed
    if space is not None:
        check_share(space)
    study = find_study(storage, name, check=check)
    if study is None:
        study = optuna.create_study(
            storage=storage,
            study_name=name or DEFAULT_STUDY,
            direction="maximize" if wanted == "maximize" else "minimize",
            load_if_exists=True,  # another process may have begun it just now
        )
    check_one_objective(study)
    _check_lease(study)
    _check_same(study, "direction", study.direction.name.lower(), wanted)
    kept = study.user_attrs.get(METHOD)
    if kept is None or named is None or resolve(kept) != resolve(named):  # the same may be written in other words
        _check_same(study, "method", kept, named)
    _check_same(study, "seed", study.user_attrs.get(SEED), seed)
    searched = kept_space(study) if space is None else space
    if searched is not None:
        _check_distributions(study, searched)
    if space is not None:
        keep_space(study, space)
    chosen = _kept(study, METHOD, named or type(resolve(None)).__name__)
    number = _kept(study, SEED, _FIRST_SEED if seed is None else seed)
    # Known constraints are not kept with a study: the space that was given has them, the one that was kept has not.
    study.sampler = QuadratSampler(search_space=searched, method=chosen, seed=number)
    return study


def find_study(storage: BaseStorage, name: str | None, *, check: bool = True) -> Study | None:
    """Return the study of this name, or without a name the only one; None where there is none.

    With `check` its trials are read, and refused where no model could take one.
    """
    names = [study.study_name for study in storage.get_all_studies()]
    if name is None:
        if len(names) > 1:
            raise InvalidInput(
                f"study: expected the name of one of {', '.join(names)}, got none; say which with --study"
            )
        name = names[0] if names else DEFAULT_STUDY
    if name not in names:
        return None
    found = optuna.load_study(study_name=name, storage=storage)
    if check:
        check_trials(found)
    return found


def check_one_objective(study: Study) -> None:
    """Refuse a study with several objectives."""
    if len(study.directions) != 1:
        raise InvalidInput(
            f"study: expected one objective, got {study.study_name!r}, which has {len(study.directions)}; name another"
            " study"
        )


def _check_lease(study: Study) -> None:
    """Refuse a note of who tunes the study that names no process: the number of a process becomes part of a path."""
    kept = study.user_attrs.get(LEASE)
    wrong = kept is not None and not (isinstance(kept, dict) and type(kept.get("pid")) is int)
    if wrong:
        raise InvalidInput(
            f"study {study.study_name!r:.80}: expected the number of the process that tunes it, got {kept!r:.80}; the"
            f" storage was damaged, or something else wrote to it: study.set_user_attr({LEASE!r}, None) mends it"
        )


def _stated(method: str) -> str:
    """Return what is kept of a method: its name, or where options were given, the text that gave them."""
    found = resolve(method)
    return " ".join(method.split()) if "(" in method else type(found).__name__


def _check_same(study: Study, what: str, kept: object, given: object) -> None:
    """Refuse what differs from what is kept; where one of the two is not there, all is well."""
    if kept is not None and given is not None and kept != given:
        raise InvalidInput(
            f"{what}: expected {kept}, which the study {study.study_name!r} has, got {given}; leave it out, or name a"
            " new study"
        )


def _check_distributions(study: Study, space: Space) -> None:
    """Refuse a space whose parameters Optuna would not let into a study that has others of the same names."""
    for number, name, distribution in distributions_of(study._storage, study._study_id):
        if name not in space:
            continue
        try:
            check_distribution_compatibility(distribution, distribution_of(space[name]))
        except ValueError:
            raise InvalidInput(
                f"space: expected parameters as in the trials of the study {study.study_name!r}, got"
                f" {space[name]!r} for {name!r}, which is {distribution} in trial {number}; name a new study"
            ) from None


def _kept(study: Study, attribute: str, given: Any) -> Any:
    """Return what is kept with the study; where nothing is, keep what is given."""
    kept = study.user_attrs.get(attribute)
    if kept is None:
        study.set_user_attr(attribute, given)
    return given if kept is None else kept


def check_trials(study: Study) -> None:
    """Refuse a study of which a trial has something else than numbers or names where these belong.

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
    if not all(isinstance(name, str) for name in trial.params):
        return f"texts as names of its parameters, got {_shown(list(trial.params))}"
    if replicates is not None and not (isinstance(replicates, list) and replicates and _are_numbers(replicates)):
        return f"a list of numbers as its replicates, got {_shown(replicates)}"
    sem = trial.user_attrs.get(STANDARD_ERROR)
    if sem is not None and not _are_numbers([sem]):
        return f"a number as its standard error, got {_shown(sem)}"
    fixed = trial.system_attrs.get("fixed_params", {})
    if not isinstance(fixed, Mapping):
        return f"a table as its fixed parameters, got {_shown(fixed)}"
    begun = trial.system_attrs.get(BEGUN, 0)
    if type(begun) is not int or begun < 0:
        return f"a number of evaluations, got {_shown(begun)}"
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
