"""What a report reads: a run as figures see it, with all trials and settings that its source has."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from quadrat.loop import Result
from quadrat.optimizer import Optimizer, TrialRecord
from quadrat.plots.run_view import RunView, Source

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

__all__ = ["STATES", "Told", "TrialRow", "told_of"]

STATES = ("complete", "failed", "pruned", "running", "waiting")
"""What trials are, in the order in which they are counted."""

_PACKAGES = ("quadrat", "numpy", "scipy", "scikit-learn", "optuna")


@dataclass(frozen=True)
class TrialRow:
    """One trial.

    Attributes
    ----------
    number, state, params
        As the user has them; the state is one of `STATES`.
    value, error
        The mean and its standard error, in the user's units; None where there is none.
    feasible
        Whether its constraints held; None where none were told.
    note
        Why it failed, or why it was chosen.
    """

    number: int
    state: str
    params: dict[str, Any]
    value: float | None = None
    error: float | None = None
    feasible: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Told:
    """A run with what its source knows of it.

    Attributes
    ----------
    view
        As figures see it.
    rows
        All trials, by number; also those that a model does not learn from.
    method
        What searched: the method as configured; empty where that is not known, as of a study of another sampler.
    seed
        Its seed; None where that is not known.
    ended
        Why it ended; empty where nobody said.
    where
        Options by which commands find the study; None where the run is not in a storage.
    versions
        Of packages and Python, by name.
    """

    view: RunView
    rows: tuple[TrialRow, ...]
    method: str
    seed: int | None
    ended: str = ""
    where: str | None = None
    versions: dict[str, str] = field(default_factory=lambda: _versions())

    def count(self, state: str) -> int:
        """Return how many trials are in a state."""
        return Counter(row.state for row in self.rows)[state]


def told_of(source: Source, where: str | None = None) -> Told:
    """Return what there is to report of a run: an optimizer, a result, a study, or a view of one.

    Raises
    ------
    InvalidInput, NotAvailable
        As of `RunView.of`.
    """
    view = RunView.of(source)
    if not isinstance(source, RunView | Optimizer | Result):
        return _of_study(view, source, where)  # type: ignore[arg-type]
    optimizer: Optimizer = view.optimizer
    return Told(
        view,
        tuple(_row(record) for record in view.records),
        method=repr(optimizer.method),
        seed=optimizer._seed,
        ended=source.message if isinstance(source, Result) else "",
        where=where,
    )


def _of_study(view: RunView, study: Study, where: str | None) -> Told:
    from quadrat.studies.notes import METHOD
    from quadrat.studies.opening import SEED

    return Told(
        view,
        tuple(_study_row(trial) for trial in study.get_trials(deepcopy=False)),
        method=str(study.user_attrs.get(METHOD) or ""),
        seed=study.user_attrs.get(SEED),
        where=where,
    )


def _row(record: TrialRecord) -> TrialRow:
    return TrialRow(
        record.number,
        "running" if record.state == "pending" else record.state,
        record.params,
        record.value,
        record.sem if record.sem is not None else _standard_error(record.values),
        record.feasible,
        record.failure or record.why,
    )


def _study_row(trial: FrozenTrial) -> TrialRow:
    from quadrat.studies.running_trials import why_chosen
    from quadrat.studies.telling import FAILURE
    from quadrat.studies.trials import complete_constraints, standard_error_of, values_of

    values = values_of(trial) or () if trial.state.is_finished() else ()
    error, constraints = standard_error_of(trial), complete_constraints(trial)
    state = trial.state.name.lower()
    return TrialRow(
        trial.number,
        "failed" if state == "fail" else state,
        dict(trial.params),
        sum(values) / len(values) if values else None,
        _standard_error(values) if error is None else error,
        all(value <= 0 for value in constraints.values()) if constraints else None,
        " ".join(str(trial.user_attrs.get(FAILURE) or why_chosen(trial)).split()),
    )


def _standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean of replicates; None where there is one, or none."""
    count = len(values)
    if count < 2:
        return None
    mean = sum(values) / count
    return float((sum((value - mean) ** 2 for value in values) / (count - 1) / count) ** 0.5)


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder that nobody installed
            continue
    return found
