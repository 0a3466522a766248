"""Results from before the run that come as an Optuna study.

A study is known by what it has, so that Optuna is not needed here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.outcome import FAILED
from quadrat.optimizer.past_trials import PastTrials

__all__ = ["Study", "constraints_of", "is_study", "past_trials_in_study"]

_STATES = ("COMPLETE", "PRUNED", "FAIL", "RUNNING", "WAITING")
_FAILURES = {"COMPLETE": None, "FAIL": "failed in the study"}
_logger = logging.getLogger(__name__)


class Study(Protocol):
    """What of a study is looked at; beside it `directions` or `direction`."""

    @property
    def trials(self) -> Sequence[Any]:
        """Trials with `number`, `state`, `params` and `value`."""


def is_study(given: object) -> TypeGuard[Study]:
    """Return whether `given` is a study."""
    return hasattr(given, "trials") and (hasattr(given, "directions") or hasattr(given, "direction"))


def past_trials_in_study(study: Study, direction: Direction, method: Method) -> PastTrials:
    """Return the complete and failed trials of a study; those that run or wait, or were pruned, are left out.

    A pruned trial has no result: what it reported last is not what it was to measure. How many there are is logged.
    Constraints are taken along: a study means the same by them, numbers that are <= 0 where they hold.

    Parameters
    ----------
    study
        One objective.
    direction
        Which the study must have too.
    method
        What learns from the trials.

    Raises
    ------
    InvalidInput
        Several objectives, the other direction, or trials in a state that Optuna does not have; pruned trials where the
        method certifies.
    """
    _check_direction(study, direction)
    trials = [(trial, _state(trial)) for trial in _trials(study)]
    pruned = sum(state == "PRUNED" for _, state in trials)
    if pruned and method.facts.certifies:
        raise InvalidInput(
            f"study: expected no pruned trials for {type(method).__name__}, which certifies, got {pruned}: a pruner"
            " goes by the values seen, and a certificate needs all of them; use a method that does not certify, such as"
            " Auto"
        )
    if pruned:
        _logger.warning("left out %d of %d trials, which were pruned and have no result", pruned, len(trials))
    finished = [(trial, state) for trial, state in trials if state in _FAILURES]
    outcomes = [trial.value if state == "COMPLETE" else FAILED for trial, state in finished]
    return PastTrials(
        [trial.params for trial, _ in finished],
        outcomes,
        [constraints_of(trial) or None for trial, _ in finished],
        [_FAILURES[state] for _, state in finished],
        [f"trial {trial.number}" for trial, _ in finished],
    )


def _check_direction(study: Any, direction: Direction) -> None:
    given = list(study.directions) if hasattr(study, "directions") else [study.direction]
    words = [str(getattr(word, "name", word)).lower() for word in given]
    if len(words) != 1:
        raise InvalidInput(
            f"study: expected one objective, got {len(words)} ({', '.join(words)}); pass lists instead,"
            " add_trials([t.params for t in trials], [t.values[0] for t in trials])"
        )
    if words[0] != direction.value:
        raise InvalidInput(
            f"study: expected direction {direction.value!r}, as the optimizer has, got {words[0]!r}; make the Optimizer"
            " with the direction of the study"
        )


def _trials(study: Any) -> Sequence[Any]:
    get = getattr(study, "get_trials", None)
    trials: Sequence[Any] = get(deepcopy=False) if callable(get) else study.trials  # `trials` copies every one
    return trials


def _state(trial: Any) -> str:
    state = str(getattr(trial.state, "name", trial.state))
    if state not in _STATES:
        raise InvalidInput(
            f"study: expected trials in the states of Optuna, {', '.join(_STATES)}, got {trial.state!r:.80}; other"
            " results go in as lists of params and values"
        )
    return state


def constraints_of(trial: Any) -> Mapping[str, float]:
    """Return the constraints of a trial of Optuna's by name; nothing where it has none."""
    named = getattr(trial, "constraints", None)
    if named is None:  # Optuna 4 keeps a list, which Optuna 5 reads with these names
        unnamed = getattr(trial, "system_attrs", {}).get("constraints") or ()
        named = {str(i): value for i, value in enumerate(unnamed)}
    return named or {}
