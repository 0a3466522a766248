"""The trials of a study as rows: number, state, value, parameters."""

from __future__ import annotations

import csv
from typing import Any, TextIO

from optuna.study import Study

from quadrat.studies.telling import FAILURE

__all__ = ["rows_of", "write_csv"]


def rows_of(study: Study) -> list[dict[str, Any]]:
    """Return a row for each trial, by number: number, state, value, failure, then its parameters.

    All rows have the same keys; what does not exist in a trial is None. Of several objectives the value is a list. The
    value of a pruned trial is its last report, as the storage has it: no result, as its state says.
    """
    trials = study.get_trials(deepcopy=False)
    names = list({name: None for trial in trials for name in trial.params})
    return [
        {
            "number": trial.number,
            "state": trial.state.name.lower(),
            "value": trial.values[0] if trial.values and len(trial.values) == 1 else trial.values,
            "failure": trial.user_attrs.get(FAILURE),
            **{name: trial.params.get(name) for name in names},
        }
        for trial in trials
    ]


def write_csv(study: Study, file: TextIO) -> None:
    """Write the rows as CSV, floats with all their digits, empty cells where there is nothing."""
    rows = rows_of(study)
    writer = csv.DictWriter(
        file, list(rows[0]) if rows else ["number", "state", "value", "failure"], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
