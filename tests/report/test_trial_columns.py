"""Trials as columns of a table."""

from __future__ import annotations

import json
import math

from quadrat.report.source import TrialRow
from quadrat.report.trial_columns import trial_table

ROWS = [
    TrialRow(0, "complete", {"x": 1 / 3, "kind": "a"}, value=1e-9, error=0.1),
    TrialRow(1, "failed", {"x": 2.0}, note="out of memory"),
    TrialRow(2, "complete", {"x": math.inf, "kind": True, "n": 2**60}, value=7.0, feasible=False),
]


def test_a_column_for_everything_that_some_trial_has() -> None:
    table = trial_table(ROWS, 10**6)
    assert {column.name: column.cells for column in table.columns} == {
        "trial": [0, 1, 2],
        "state": ["complete", "failed", "complete"],
        "value": [1e-9, None, 7.0],
        "± error": [0.1, None, None],
        "constraints": [None, None, "violated"],
        "x": [0.333333, 2.0, "inf"],
        "kind": ["a", None, "True"],
        "n": [None, None, str(2**60)],
        "note": [None, "out of memory", None],
    }
    assert [column.name for column in table.columns if column.is_number] == ["trial", "value", "± error"]
    assert (table.shown, table.total) == (3, 3)
    json.dumps([column.cells for column in table.columns], allow_nan=False)


def test_a_parameter_may_be_called_like_a_column() -> None:
    table = trial_table([TrialRow(0, "complete", {"value": 3.0, "trial": "t"}, value=1.0)], 10**6)
    assert [(column.name, column.cells) for column in table.columns] == [
        ("trial", [0]),
        ("state", ["complete"]),
        ("value", [1.0]),
        ("value", [3.0]),
        ("trial", ["t"]),
    ]


def test_too_many_trials_are_cut_to_the_last_ones() -> None:
    rows = [TrialRow(i, "complete", {f"x{k}": i + k / 7 for k in range(10)}, value=i / 3) for i in range(2000)]
    table = trial_table(rows, 50_000)
    assert sum(len(json.dumps(column.cells)) for column in table.columns) <= 50_000
    assert 300 < table.shown < 2000 == table.total
    assert table.columns[0].cells == list(range(2000 - table.shown, 2000))
