"""What a trial of an Optuna study says: its values, its standard error, its constraints."""

from __future__ import annotations

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from quadrat.methods.base import Method
from quadrat.optimizer.importing import constraints_of
from quadrat.optimizer.outcome import FAILED, Estimate, Outcome, Reading, read_measured

__all__ = [
    "REPLICATES",
    "STANDARD_ERROR",
    "complete_constraints",
    "outcome_of",
    "reading_of_trial",
    "standard_error_of",
    "values_of",
]

REPLICATES = "quadrat:values"
"""The user attribute of a trial with everything that was measured in it, a list; its value is their mean."""

STANDARD_ERROR = "quadrat:sem"
"""The user attribute of a trial with the standard error of its value."""


def values_of(trial: FrozenTrial) -> list[float] | None:
    """Return what was measured in a complete trial; None for any other.

    The reports of a pruned trial are no result: it was stopped before what it was to measure. Optuna keeps the last of
    them as its value.
    """
    if trial.state is not TrialState.COMPLETE:
        return None
    replicates = trial.user_attrs.get(REPLICATES)
    if isinstance(replicates, list) and replicates:
        values = [float(value) for value in replicates]
    else:
        values = [float(trial.values[0])] if trial.values is not None and len(trial.values) == 1 else []
    return values if values and np.isfinite(values).all() else None


def standard_error_of(trial: FrozenTrial) -> float | None:
    """Return the standard error that was told with a trial's value, or None."""
    sem = trial.user_attrs.get(STANDARD_ERROR)
    return float(sem) if isinstance(sem, int | float) and sem > 0 and np.isfinite(sem) else None


def complete_constraints(trial: FrozenTrial) -> dict[str, float]:
    """Return the constraints of a complete trial by name, sorted; nothing where it has none, or is not complete."""
    named = constraints_of(trial) if trial.state is TrialState.COMPLETE else {}
    return {name: float(named[name]) for name in sorted(named)}


def outcome_of(trial: FrozenTrial) -> Outcome:
    """Return the outcome of a trial that is over, as `Optimizer.tell` takes it."""
    values, sem = values_of(trial), standard_error_of(trial)
    if values is None:
        return FAILED
    return values if sem is None else Estimate(sum(values) / len(values), sem)


def reading_of_trial(trial: FrozenTrial, names: tuple[str, ...], method: Method) -> Reading:
    """Return the outcome and constraints of a trial that is over, checked.

    Parameters
    ----------
    trial
        The trial.
    names
        The constraints of the run so far, sorted; empty as long as none were told.
    method
        What is to respect them.

    Raises
    ------
    InvalidInput
        Other constraints than those, or a method that would ignore them.
    """
    if trial.state is TrialState.PRUNED:
        return Reading(failure="pruned", pruned=True)
    return read_measured(outcome_of(trial), complete_constraints(trial), names=names, method=method)
