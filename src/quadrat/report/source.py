"""The contents of a report: a run as figures see it, with all trials, settings, and commands to do it again."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from quadrat.loop import Result
from quadrat.optimizer import Optimizer, TrialRecord
from quadrat.optimizer.outcome import replicate_error
from quadrat.plots.run_view import RunView, Source

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

__all__ = ["STATES", "ReportSource", "TrialRow", "commands_of", "report_source", "settings_of", "space_json"]

STATES = ("complete", "failed", "pruned", "running", "waiting")
"""States of trials, in the order in which they are counted."""

_PACKAGES = ("quadrat", "numpy", "scipy", "scikit-learn", "optuna")


@dataclass(frozen=True)
class TrialRow:
    """One trial, with the user's number, parameters and units."""

    number: int
    state: str  # one of `STATES`
    params: dict[str, Any]
    value: float | None = None  # the mean
    error: float | None = None  # its standard error
    feasible: bool | None = None  # whether its constraints held; None where none were told
    note: str = ""  # the reason of its failure or of its choice


@dataclass(frozen=True)
class ReportSource:
    """A run with the settings that its source knows."""

    view: RunView
    rows: tuple[TrialRow, ...]  # all trials, by number; also those that a model does not learn from
    method: str  # as configured; empty where it is not known, as of a study of another sampler
    seed: int | None
    ended: str = ""  # the reason of the end, where somebody said it
    where: str | None = None  # options by which commands find the study; None where the run is not in a storage
    versions: dict[str, str] = field(default_factory=lambda: _versions())

    def count(self, state: str) -> int:
        """Return how many trials are in a state."""
        return Counter(row.state for row in self.rows)[state]


def report_source(source: Source, where: str | None = None) -> ReportSource:
    """Return the contents of a report of a run; `where` are the options by which commands find its study."""
    view = RunView.of(source)
    if not isinstance(source, RunView | Optimizer | Result):
        return _of_study(view, source, where)  # type: ignore[arg-type]
    optimizer: Optimizer = view.optimizer
    return ReportSource(
        view,
        tuple(_row(record) for record in view.records),
        method=repr(optimizer.method),
        seed=optimizer._seed,
        ended=source.message if isinstance(source, Result) else "",
        where=where,
    )


def settings_of(told: ReportSource) -> list[tuple[str, str]]:
    """Return the settings of a run, each with its label."""
    view = told.view
    model = repr(view.optimizer.method)
    rows = [
        ("direction", view.direction),
        ("method", told.method or "not known: the study was run by another sampler"),
        ("model of this report", model if model != told.method else ""),
        ("seed", "not known" if told.seed is None else str(told.seed)),
        ("ended", told.ended),
        ("versions", ", ".join(f"{name} {number}" for name, number in told.versions.items())),
    ]
    return [(label, text) for label, text in rows if text]


def space_json(told: ReportSource) -> str:
    """Return the space in the format of a file, which `quadrat tune --space` and `Space.from_file` read."""
    return json.dumps(told.view.space.to_dict(), indent=2, ensure_ascii=False)


def commands_of(told: ReportSource) -> Sequence[str]:
    """Return commands on the study, or lines of Python where the run is in no storage."""
    if told.where is not None:
        options = f" {told.where}" if told.where else ""
        return (
            f"quadrat best{options} --json",
            f"quadrat export{options} --csv trials.csv",
            f"quadrat report{options} -o report.html",
        )
    return (
        "import quadrat as qd",
        "space = qd.Space.from_file('space.json')  # the space below, in a file",
        f"run = qd.{told.view.direction}(objective, space, n_trials={len(told.rows)}, method=..., seed={told.seed})",
    )


def _of_study(view: RunView, study: Study, where: str | None) -> ReportSource:
    from quadrat.studies.notes import METHOD
    from quadrat.studies.opening import SEED

    return ReportSource(
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
        record.sem if record.sem is not None else replicate_error(record.values),
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
        replicate_error(values) if error is None else error,
        all(value <= 0 for value in constraints.values()) if constraints else None,
        " ".join(str(trial.user_attrs.get(FAILURE) or why_chosen(trial)).split()),
    )


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder that nobody installed
            continue
    return found
