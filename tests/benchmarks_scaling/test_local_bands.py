"""Bands of cells against one band: runs differ in nothing else, end in time, and tables say what rows say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import local_bands
import numpy as np
import pytest
from local_bands import LOCAL, ONE
from regret.rows import Row, complete, read_rows

from quadrat.confidence import AdaptiveBand, LocalBand
from quadrat.confidence.local_band import CAPACITY

ROOT = Path(__file__).resolve().parents[2]
AT = (300, 1000, 3000, 10_000)


def made_up(method: str, problem: str, seed: int, reached: int = 4) -> Row:
    """A trial takes n us with one band and 300 us with bands of cells; certificates are 1 / n, and a fifth less."""
    local, at = method == LOCAL, [*AT[:reached]]
    slow = seed + 1
    curve = {
        "n": at, "ms": [slow * (0.3 if local else n / 1000) for n in at],
        "certificate": [slow * (0.8 if local else 1.0) / n for n in at], "regret": [slow * 0.1 / n for n in at],
        "held": [float(seed != 4 or n > 300) for n in at], "bands": [n // 100 if local else 1 for n in at],
    }  # fmt: skip
    evaluations = 10_000 if reached == 4 else 3000 + 100 * seed
    return {
        "method": method, "problem": problem, "seed": seed, "n": 10_000, "evaluations": evaluations, "curve": curve,
        "commit": "abc",
    }  # fmt: skip


def test_tables_are_medians_over_seeds_and_ratios_within_them() -> None:
    rows = [made_up(method, "matern2", seed) for method in (LOCAL, ONE) for seed in (0, 2, 4)]
    text = local_bands.tables(rows, AT)
    assert text.startswith("| D = 2, length-scale 0.3: n | seeds | CPU ms a trial, local | one band | ratio |")
    lines = text.splitlines()[2:]
    held = "2 of 3 | 2 of 3"
    assert lines[0] == f"| 300 | 3 | 0.9 | 0.9 | 1.00 | 0.008 | 0.01 | 0.80 | 0.001 | 0.001 | {held} | 3 |"
    assert lines[3].startswith("| 10,000 | 3 | 0.9 | 30 | 0.03 | 0.00024 | 0.0003 | 0.80 | 3e-05 | 3e-05 | 3 of 3 |")
    assert lines[3].endswith("| 100 |")
    assert len(lines) == 4
    assert "D = 4" not in text


def test_where_a_run_did_not_get_so_far_there_is_no_figure() -> None:
    """Also where only one of several did not; the others are not compared alone."""
    rows = [made_up(LOCAL, "matern4", seed) for seed in (0, 2)]
    rows += [made_up(ONE, "matern4", 0, reached=3), made_up(ONE, "matern4", 2, reached=2)]
    text = local_bands.tables(rows, AT)
    assert "| 1,000 | 2 | 0.6 | 2 | 0.30 |" in text
    assert "| 3,000 | 2 | 0.6 | - | - | 0.000533 | - | - | 6.7e-05 | - | 2 of 2 | - | 30 |" in text
    assert "| 10,000 | 2 | 0.6 | - | - |" in text
    assert "Ended by the limit of CPU time: one band: 2 of 2, after 3,000 to 3,200 evaluations." in text


def test_what_failed_is_said_and_other_lengths_are_left_out() -> None:
    failed: Row = {"method": ONE, "problem": "matern2", "seed": 6, "n": 10_000, "error": "RuntimeError: rejected"}
    rows = [made_up(LOCAL, "matern2", 0), made_up(ONE, "matern2", 0)]
    text = local_bands.tables([*rows, failed, {**made_up(ONE, "matern2", 8), "n": 40}], AT)
    assert "| 300 | 1 | 0.3 | 0.3 | 1.00 |" in text
    assert "Left out: one band, matern2, seed 6: RuntimeError: rejected." in text
    assert local_bands.tables(rows[:1], AT) == "", "there is nothing to compare it with"


@pytest.mark.parametrize("problem", local_bands.SETTINGS)
def test_a_run_is_looked_at_where_it_should_be(problem: str) -> None:
    """The function, its noise and the first trials are the same; the assumptions are true."""
    found = {method: local_bands.outcome(method, problem, 2, (6, 20), 8, 60.0) for method in (LOCAL, ONE)}
    for row in found.values():
        assert row["evaluations"] == 20
        assert row["curve"]["n"] == [6, 20]
        assert row["curve"]["held"] == [1, 1]
        assert all(value > 0 for name in ("ms", "certificate") for value in row["curve"][name])
        assert all(value > -1e-9 for value in row["curve"]["regret"])
    assert found[LOCAL]["best"] == found[ONE]["best"]
    assert found[LOCAL]["curve"]["regret"][0] == found[ONE]["curve"]["regret"][0]
    assert found[ONE]["curve"]["bands"] == [1, 1]
    assert found[LOCAL]["curve"]["bands"][0] == 1
    assert found[LOCAL]["curve"]["bands"][1] > 1


def test_searches_are_those_of_the_method_but_for_their_bands() -> None:
    f, best = local_bands.function("matern2", 0)
    assert f.norm == pytest.approx(local_bands.NORM)
    assert best >= np.max(f(np.random.default_rng(0).random((500, 2))))
    local = local_bands.search("matern2", 0, 10_000, CAPACITY)
    one = local_bands.search("matern2", 0, 10_000, None)
    assert isinstance(local.band, LocalBand)
    assert isinstance(one.band, AdaptiveBand)
    assert local.cells.degree == one.cells.degree == 1
    assert local.loop.threshold == one.loop.threshold


def test_a_run_ends_when_its_time_is_used() -> None:
    row = local_bands.outcome(LOCAL, "matern2", 0, (5, 1000), 8, 1e-9)
    assert row["evaluations"] == 1
    assert row["curve"] == {}
    assert local_bands._figures([{**row, "seed": 0}], [0], "ms", 5) == []


def test_runs_resume(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_bands, "NUMBERS", (4,))
    path = tmp_path / "local_bands.jsonl"
    cells = [(method, "matern2", 0, 8) for method in (LOCAL, ONE)]
    complete(path, local_bands.run, cells[:1])
    before = path.read_text()
    complete(path, local_bands.run, cells)
    assert path.read_text().startswith(before)
    rows: list[Row] = read_rows(path)
    assert [(row["method"], row["evaluations"], row["curve"]["n"]) for row in rows] == [
        (LOCAL, 8, [4, 8]), (ONE, 8, [4, 8]),
    ]  # fmt: skip


def test_smoke_prints_both_tables_and_keeps_nothing() -> None:
    def kept() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in local_bands.ROWS.parent.glob("local_bands.*")}

    before = kept()
    command = [sys.executable, str(ROOT / "benchmarks" / "local_bands.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "| D = 2, length-scale 0.3: n | seeds |" in out.stdout
    assert "| D = 4, length-scale 0.6: n | seeds |" in out.stdout
    assert out.stdout.count("\n| 20 | 1 |") == out.stdout.count("\n| 40 | 1 |") == 2
    assert "Left out" not in out.stdout
    assert kept() == before
