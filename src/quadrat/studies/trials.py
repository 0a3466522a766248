"""What a trial of an Optuna study says: its values, its standard error, its constraints."""

from __future__ import annotations

from optuna.trial import FrozenTrial, TrialState

from quadrat.methods.base import Method
from quadrat.optimizer.importing import (
    REPLICATES,
    STANDARD_ERROR,
    constraints_of,
    outcome_of,
    standard_error_of,
    values_of,
)
from quadrat.optimizer.outcome import Reading, read_measured

__all__ = [
    "REPLICATES",
    "STANDARD_ERROR",
    "complete_constraints",
    "outcome_of",
    "reading_of_trial",
    "standard_error_of",
    "values_of",
]


def complete_constraints(trial: FrozenTrial) -> dict[str, float]:
    """Return the constraints of a complete trial by name, sorted; nothing where it has none, or is not complete."""
    named = constraints_of(trial) if trial.state is TrialState.COMPLETE else {}
    return {name: float(named[name]) for name in sorted(named)}


def reading_of_trial(trial: FrozenTrial, names: tuple[str, ...], method: Method) -> Reading:
    """Return the outcome and constraints of a trial that is over, checked as `read_measured` does."""
    if trial.state is TrialState.PRUNED:
        return Reading(failure="pruned", pruned=True)
    return read_measured(outcome_of(trial), complete_constraints(trial), names=names, method=method)
