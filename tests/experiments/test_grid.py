"""The resumable grid: finished runs are not run again, and nothing that a kill can do to the file loses a row."""

from __future__ import annotations

import json
from pathlib import Path

import grid
import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(grid, "RESULTS", tmp_path)
    return tmp_path


def square(x: int) -> grid.Row:
    if x == 13:
        raise RuntimeError("an unlucky run")
    return {"y": x * x}


CELLS = [{"x": x} for x in range(5)]


def test_rows_hold_the_cell_the_outcome_and_the_stamp() -> None:
    rows = grid.run_here(square, CELLS[3:4])
    assert rows[0]["x"] == 3
    assert rows[0]["y"] == 9
    assert set(grid.stamp()) == {"commit", "quadrat", "numpy", "scipy", "python"}
    assert grid.stamp().items() <= rows[0].items()
    assert grid.finished("squares") == []


def test_finished_cells_are_not_run_again() -> None:
    first = grid.complete("squares", square, CELLS[:2], workers=1)
    assert sorted(row["y"] for row in first) == [0, 1]  # type: ignore[type-var]
    kept = (grid.RESULTS / "squares.jsonl").read_text()
    every = grid.complete("squares", square, CELLS, workers=2)
    assert (grid.RESULTS / "squares.jsonl").read_text().startswith(kept)
    assert sorted(row["y"] for row in every) == [0, 1, 4, 9, 16]  # type: ignore[type-var]
    assert grid.complete("squares", square, CELLS, workers=2) == grid.finished("squares")


def test_a_torn_line_is_dropped_and_its_cell_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    grid.complete("squares", square, CELLS[:3], workers=1)
    path = grid.RESULTS / "squares.jsonl"
    path.write_text(path.read_text()[:-20])
    assert len(grid.finished("squares")) == 2
    assert "torn" in capsys.readouterr().err
    grid.complete("squares", square, CELLS[:3], workers=1)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(row["x"] for row in rows) == [0, 1, 2]


def test_a_failing_run_keeps_what_was_finished_before_it() -> None:
    with pytest.raises(RuntimeError, match="unlucky"):
        grid.complete("squares", square, [{"x": 2}, {"x": 13}], workers=1)
    assert [row["y"] for row in grid.finished("squares")] == [4]
