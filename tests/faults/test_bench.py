"""The bench finds what is wrong with a study: what is lost, told twice, stuck, or not as without faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from optuna.trial import TrialState
from tests.faults.bench import Bench, Findings, Run

_TOLD = 6  # Optuna's code for the record that a trial is over
Record = dict[str, Any]


def audited(bench: Bench, change: Callable[[list[Record]], list[Record]], shown: str = "") -> Findings:
    """Look at the study without faults, with its records changed, of which a command had shown something."""
    bench.reference.trials(1)
    n_trials = len(bench.trials(str(bench.reference.journal)))
    records = [json.loads(line) for line in bench.reference.journal.read_text().splitlines()]
    (bench.folder / bench.storage).write_text("".join(json.dumps(record) + "\n" for record in change(records)))
    (bench.folder / "out").write_text(shown)
    bench.runs.append(Run(Ended(), bench.folder / "out", bench.folder / "out"))
    return bench.look("nothing", 0, n_trials, serial=True)


class Ended:
    """A command that is over."""

    pid = 0

    def poll(self) -> int | None:
        return 0


def told(records: list[Record]) -> list[Record]:
    return [record for record in records if record["op_code"] == _TOLD]


def test_nothing_is_wrong(bench: Bench) -> None:
    value = bench.reference.trials(4)[3].value
    found = audited(bench, list, f"   3  {value:.6g}  and more\n   4  failed\nStudy\n")
    assert found.is_sound
    assert found.told >= 20


@pytest.mark.parametrize("shown", ["   3  17.5\n", "   999  0.1\n"], ids=["another value", "not there"])
def test_what_was_shown_and_is_not_there_is_lost(shown: str, bench: Bench) -> None:
    found = audited(bench, list, shown)
    assert found.lost == 1
    assert not found.is_sound


def test_what_is_told_twice_is_duplicated(bench: Bench) -> None:
    found = audited(bench, lambda records: [*records, told(records)[2]])
    assert found.duplicated == 1
    assert not found.is_sound


def test_what_was_not_told_is_stuck(bench: Bench) -> None:
    found = audited(bench, lambda records: [record for record in records if record is not told(records)[2]])
    assert found.stuck == 1
    assert not found.is_sound


def test_a_value_that_differs_in_the_last_bit_is_not_equal(bench: Bench) -> None:
    def changed(records: list[Record]) -> list[Record]:
        record = next(record for record in told(records) if record["state"] == TrialState.COMPLETE.value)
        record["values"] = [record["values"][0] * (1 + 2**-52)]
        return records

    found = audited(bench, changed)
    assert found.equal is False
    assert not found.is_sound
