"""What an objective returned, written into a trial of a study."""

from __future__ import annotations

from collections.abc import Mapping

from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from quadrat.errors import InvalidInput
from quadrat.methods import Auto
from quadrat.methods.base import Method
from quadrat.optimizer import Measured
from quadrat.optimizer.method_choice import resolve
from quadrat.optimizer.outcome import Reading, read_measured
from quadrat.studies.notes import METHOD
from quadrat.studies.transitions import CONSTRAINTS, Ending, end_trial
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR, complete_constraints

__all__ = ["FAILURE", "TrialIsOver", "ending_of", "prune", "tell_outcome"]

FAILURE = "quadrat:failure"
"""The user attribute of a failed trial that says why."""

_HAS_NAMES = hasattr(Trial, "set_constraint")  # of constraints: Optuna 4 has a list of them


class TrialIsOver(InvalidInput):
    """The trial does not run: somebody told it before; nothing of this outcome is stored.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study()
    >>> trial = study.ask()
    >>> tell_outcome(study, trial, 0.5).name
    'COMPLETE'
    >>> tell_outcome(study, trial, [0.5, 0.7])
    Traceback (most recent call last):
    quadrat.studies.telling.TrialIsOver: trial 0: expected one that runs, got one that is complete: it was told ...
    """


def tell_outcome(study: Study, trial: Trial, outcome: object, *, reason: str | None = None) -> TrialState:
    """End a trial that runs with what an objective returned, anything that `Optimizer.tell` takes; return its state.

    All of it is stored in one step, or nothing is. `reason` says why the trial failed, where it did.

    Raises
    ------
    TrialIsOver
        The trial does not run.
    """
    outcome = outcome if _HAS_NAMES else _without_names(outcome)
    names, method = _constrained(study) if isinstance(outcome, Measured) and outcome.constraints else ((), Auto())
    reading = read_measured(outcome, None, names=names, method=method, reason=reason)
    ending = ending_of(reading)
    _end(study, trial, ending)
    return ending.state


def prune(study: Study, trial: Trial) -> TrialState:
    """End a trial that runs as pruned, with its last report as its value, as Optuna does; return its state.

    Raises
    ------
    TrialIsOver
        The trial does not run.
    """
    found = study._storage.get_trial(trial._trial_id)
    last = None if found.last_step is None else found.intermediate_values[found.last_step]
    value = last if last == last else None  # NaN is no value
    _end(study, trial, Ending(TrialState.PRUNED, value))
    return TrialState.PRUNED


def ending_of(reading: Reading) -> Ending:
    """Return how a trial ends of which this was read."""
    if reading.failure is not None:
        return Ending(TrialState.FAIL, notes={FAILURE: reading.failure, REPLICATES: None, STANDARD_ERROR: None})
    notes = {
        FAILURE: None,
        REPLICATES: list(reading.values) if len(reading.values) > 1 else None,
        STANDARD_ERROR: reading.sem,
    }
    value = sum(reading.values) / len(reading.values)
    return Ending(TrialState.COMPLETE, value, notes, _constraint_marks(reading.constraints))


def _end(study: Study, trial: Trial, ending: Ending) -> None:
    storage, number = study._storage, trial._trial_id
    found = storage.get_trial(number)
    if found.state is not TrialState.RUNNING:
        raise _refusal(found)
    values = None if ending.value is None else [ending.value]
    study.sampler.after_trial(study, found, ending.state, values)
    if not end_trial(storage, number, ending):
        raise _refusal(storage.get_trial(number))


def _refusal(found: FrozenTrial) -> TrialIsOver:
    return TrialIsOver(
        f"trial {found.number}: expected one that runs, got one that is {found.state.name.lower()}: it was told before;"
        " what it was told then stays"
    )


def _constrained(study: Study) -> tuple[tuple[str, ...], Method]:
    """Return the constraints of a study, as its trials have them, and its method: what differs ends every later ask."""
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    named = (tuple(complete_constraints(trial)) for trial in complete)
    return next((names for names in named if names), ()), resolve(study.user_attrs.get(METHOD))


def _constraint_marks(constraints: dict[str, float]) -> dict[str, object] | None:
    """Return the system attributes that have the constraints of a trial, as this version of Optuna writes them."""
    if not constraints:
        return None
    if _HAS_NAMES:
        return {f"{CONSTRAINTS}:{name}": value for name, value in constraints.items()}
    return {CONSTRAINTS: [constraints[str(place)] for place in range(len(constraints))]}


def _without_names(outcome: object) -> object:
    """Return an outcome whose constraints are called by their places, in the order of their names."""
    if not isinstance(outcome, Measured) or not isinstance(outcome.constraints, Mapping):
        return outcome
    ordered = sorted(outcome.constraints.items(), key=lambda item: str(item[0]))
    return Measured(outcome.value, {str(place): value for place, (_, value) in enumerate(ordered)})
