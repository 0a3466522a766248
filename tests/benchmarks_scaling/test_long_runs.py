"""Whether regret keeps falling: runs are looked at where they should be, and the table says what rows say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import long_runs
from regret import run
from regret.roster import OURS
from regret.rows import Row, complete, read_rows

ROOT = Path(__file__).resolve().parents[2]
AT = [100, 300, 1000, 3000, 10_000]


def made_up(problem: str, seed: int) -> Row:
    """Regret that is (seed + 1) / n, best evaluated half of that; 1 ms a suggestion at first, then 2."""
    recommended = [(seed + 1) / n for n in AT]
    curve = {"n": AT, "recommended": recommended, "evaluated": [value / 2 for value in recommended]}
    curve["cpu"] = [0.1, *(0.1 + 2e-3 * (n - 100) for n in AT[1:])]
    final = {"recommended": recommended[-1], "evaluated": recommended[-1] / 2}
    return {"method": OURS, "problem": problem, "seed": seed, "n": 10_000, "regret": final, "curve": curve}


def test_the_tables_come_from_rows() -> None:
    rows = [made_up(problem, seed) for problem in long_runs.PROBLEMS for seed in (0, 2, 4)]
    rows.append({"method": OURS, "problem": "levy8", "seed": 6, "n": 10_000, "error": "RuntimeError: none"})
    text = long_runs.tables([*rows, {**made_up("levy8", 8), "n": 30}], 10_000)
    for problem in long_runs.PROBLEMS:
        assert f"| {problem} | 3 | 0.03 | 0.01 | 0.003 | 0.001 | 0.0003 |" in text
        assert f"| {problem} | 3 | 0.015 | 0.005 | 0.0015 | 0.0005 | 0.00015 |" in text
    assert "| 1,000 | 0.10 (0.10 to 0.10) | 0.30 (0.30 to 0.30) | 0.10 (0.10 to 0.10) | 0.30 (0.30 to 0.30) |" in text
    assert "| 10,000 | 0.01 (0.01 to 0.01) | 0.30 (0.30 to 0.30) |" in text
    assert "| ms a suggestion | 1 | 2 | 2 | 2 | 2 |" in text
    assert "Left out: 1 of 22 runs" in text


def test_a_run_is_that_of_the_comparison_and_resumes(tmp_path: Path) -> None:
    path = tmp_path / "long_runs.jsonl"
    cells = [(OURS, problem, 1, 6) for problem in long_runs.SMOKE]
    complete(path, long_runs.run, cells[:1])
    before = path.read_text()
    complete(path, long_runs.run, cells)
    assert path.read_text().startswith(before)
    rows = read_rows(path)
    assert [row["problem"] for row in rows] == list(long_runs.SMOKE)
    assert rows[0]["regret"] == run.run(OURS, long_runs.SMOKE[0], 1, 6)["regret"]


def test_smoke_prints_the_tables_and_keeps_nothing() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "long_runs.py"), "--smoke"]
    before = long_runs.ROWS.exists() and long_runs.ROWS.read_text()
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "| recommended point, median regret | seeds | n = 10 | n = 20 | n = 30 |" in out.stdout
    assert (long_runs.ROWS.exists() and long_runs.ROWS.read_text()) == before
