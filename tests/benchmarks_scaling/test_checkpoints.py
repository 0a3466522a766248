"""Runs that are looked at on the way."""

from __future__ import annotations

import pytest
from checkpoints import followed, milliseconds_at, row_at, up_to
from regret import suite
from regret.adapter import Random
from regret.rows import Row
from regret.task import Params, regrets


class Counting(Random):
    """Random search that remembers when it was asked to recommend."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.recommended_at: list[int] = []

    def recommend(self) -> Params:
        self.recommended_at.append(len(self.told))
        return super().recommend()


def test_numbers_end_with_the_last() -> None:
    assert up_to(2000, (100, 2000, 5000)) == (100, 2000)
    assert up_to(30, (100,)) == (30,)


def test_the_curve_is_what_shorter_runs_would_have_given() -> None:
    task = suite.task("rastrigin3", 3)
    adapter = Counting(task.space, 20, 3)
    row = followed(task, adapter, (4, 9, 20))
    assert adapter.recommended_at == [4, 9, 20]
    for at, n in enumerate((4, 9, 20)):
        shorter = Counting(task.space, 20, 3)
        short = followed(task, shorter, (n,))
        assert {measure: row["curve"][measure][at] for measure in row["regret"]} == short["regret"]
        assert row_at({**row, "n": 20}, n)["regret"] == short["regret"]
        told = adapter.told[:n]
        assert short["regret"] == regrets(task, told, max(told, key=lambda pair: pair[1])[0])
    assert row["regret"] == row_at(row, 20)["regret"]
    assert row["curve"]["cpu"] == sorted(row["curve"]["cpu"])


def test_rows_that_failed_stay_failed() -> None:
    assert row_at({"n": 20, "error": "RuntimeError: none"}, 4) == {"n": 4, "error": "RuntimeError: none"}


def test_milliseconds_are_means_since_the_number_before() -> None:
    rows: list[Row] = [{"curve": {"n": [10, 30], "cpu": [0.1 * slow, 0.5 * slow]}} for slow in (1, 2, 7)]
    assert milliseconds_at(rows, 10) == pytest.approx(20)
    assert milliseconds_at(rows, 30) == pytest.approx(40)
