"""What an objective returned, written into a trial of a study."""

from __future__ import annotations

from optuna.study import Study
from optuna.trial import Trial, TrialState

from quadrat.methods import Auto
from quadrat.methods.base import Method
from quadrat.optimizer import Measured
from quadrat.optimizer.method_choice import resolve
from quadrat.optimizer.outcome import read_measured
from quadrat.studies.notes import METHOD
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR, complete_constraints

__all__ = ["FAILURE", "tell_outcome"]

FAILURE = "quadrat:failure"
"""The user attribute of a failed trial that says why."""


def tell_outcome(study: Study, trial: Trial, outcome: object, *, reason: str | None = None) -> TrialState:
    """End a trial that runs with what an objective returned, anything that `Optimizer.tell` takes; return its state.

    Attributes come first and the state last: a process that dies in between leaves a trial that still runs. `reason`
    says why it failed, where it did.
    """
    names, method = _constrained(study) if isinstance(outcome, Measured) and outcome.constraints else ((), Auto())
    reading = read_measured(outcome, None, names=names, method=method, reason=reason)
    if reading.failure is not None:
        trial.set_user_attr(FAILURE, reading.failure)
        study.tell(trial, state=TrialState.FAIL)
        return TrialState.FAIL
    _note(trial, REPLICATES, list(reading.values) if len(reading.values) > 1 else None)
    _note(trial, STANDARD_ERROR, reading.sem)
    if reading.constraints:
        _constrain(trial, reading.constraints)
    study.tell(trial, sum(reading.values) / len(reading.values))
    return TrialState.COMPLETE


def _constrained(study: Study) -> tuple[tuple[str, ...], Method]:
    """Return the constraints of a study, as its trials have them, and its method: what differs ends every later ask."""
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    named = (tuple(complete_constraints(trial)) for trial in complete)
    return next((names for names in named if names), ()), resolve(study.user_attrs.get(METHOD))


def _note(trial: Trial, name: str, value: object) -> None:
    """Set an attribute, also to None where an earlier evaluation, whose process died, left something."""
    if value is not None or trial.user_attrs.get(name) is not None:
        trial.set_user_attr(name, value)


def _constrain(trial: Trial, constraints: dict[str, float]) -> None:
    if hasattr(trial, "set_constraint"):
        for name, value in constraints.items():
            trial.set_constraint(name, value)
    else:  # Optuna 4 has a list without names
        trial.study._storage.set_trial_system_attr(trial._trial_id, "constraints", list(constraints.values()))
