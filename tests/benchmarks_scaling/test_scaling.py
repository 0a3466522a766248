"""What many observations cost: rows resume, a process that dies is a row, tables say what rows say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import scaling
import scaling_measurement
from regret.rows import Row, cell_of, complete, read_rows

import problems

ROOT = Path(__file__).resolve().parents[2]


def both(*seconds: float) -> dict[str, list[float]]:
    """Times whose wall is twice the CPU's."""
    return {"cpu": [*seconds], "wall": [2 * second for second in seconds]}


def on_curve(n: int, seed: int) -> Row:
    """1 us for each old result and ask, a tell that takes half, and slower rounds with higher seeds."""
    unit = 1e-6 * n * (seed + 1)
    seconds = {
        "load": both(2 * unit), "first_ask": both(10 * unit), "first_tell": both(5 * unit),
        "ask": both(unit, unit, 4 * unit), "tell": both(unit / 2, unit / 2, unit / 2),
    }  # fmt: skip
    mb = {"before": 100.0, "now": 100.0 + n / 1000, "most": 120.0 + n / 1000}
    row = {"method": "curve", "problem": "hartmann6", "seed": seed, "n": n, "turns": 3, "commit": "abc"}
    return {**row, "seconds_of": seconds, "mb": mb}


def test_the_curve_is_medians_over_rounds_and_ratios_within_them() -> None:
    text = scaling.tables([on_curve(n, seed) for n in (100, 1000, 10_000) for seed in (0, 2, 4)])
    lines = [line for line in text.splitlines() if line.startswith("| 1")]
    assert (
        lines[0] == "| 100 | 3 | 0.0012 | 4.5 | 0.3 | 0.6 | 1.2 | 0.15 | 0.3 | 0.15 | 0.75 | 0.10 | 100 | 120 | 0.1 |"
    )
    assert lines[2].startswith("| 10,000 | 3 | 0.12 | 450 | 30 | 60 | 120 | 15 | 30 | 15 | 75 | 10.00 | 110 | 130 |")
    assert "a first ask and tell, and 3 more" in text


def test_peers_are_ratios_within_rounds() -> None:
    rows: list[Row] = [
        {
            "method": "peers", "problem": "hartmann6", "seed": seed, "n": 1000, "turns": 2,
            "cpu": {"quadrat": [ours, ours, 4 * ours], "optuna_gp": [20 * ours] * 2, "botorch": [200 * ours] * 2},
        }
        for seed, ours in ((0, 0.05), (2, 0.1), (4, 0.06))
    ]  # fmt: skip
    text = scaling.tables(rows)
    assert "| suggestion after 1,000 old results |" in text
    assert "| Quadrat | 60 |  | 120 |  |" in text
    assert "| Optuna GP | 1,200 | 20.0 (20.0 to 20.0) | 1,200 | 10.0 (10.0 to 10.0) |" in text


def test_restarts_are_counted_in_asks() -> None:
    rows: list[Row] = [
        {
            "method": "restart", "problem": "hartmann6", "seed": seed, "n": 20_000, "turns": 3, "same": seed != 4,
            "state_mb": 3.0,
            "seconds_of": {
                "ask": both(0.1, 0.1, 0.4), "state": both(0.2), "from_state": both(0.1 * (seed + 1)),
                "next_ask": both(0.1), "next_ask_after_restart": both(0.1),
            },
        }
        for seed in (0, 2, 4)
    ]  # fmt: skip
    text = scaling.tables(rows)
    assert "| restart at N = 20,000 |" in text
    assert "| one ask | 0.2 |  |" in text
    assert "| from_state | 0.3 | 1.50 (0.50 to 2.50) |" in text
    assert "identical in 2 of 3 rounds. The state is 3 MB." in text


def test_what_could_not_be_measured_is_said() -> None:
    failed: Row = {"method": "curve", "problem": "hartmann6", "seed": 0, "n": 100_000, "error": "MemoryError: too much"}
    text = scaling.tables([on_curve(100, 0), failed])
    assert "Not measured: curve with 100,000, seed 0: MemoryError: too much." in text
    drawn = scaling.figure([on_curve(100, 0), on_curve(300, 0), failed])
    for name in ("ask", "tell", "suggestion, mean", "resident MB", "highest resident MB"):
        assert f">{name}</text>" in drawn


def test_a_process_that_dies_leaves_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "dies.py"
    script.write_text("raise SystemExit(7)")
    monkeypatch.setattr(scaling, "SCRIPT", script)
    row = scaling.run("curve", "hartmann6", 0, 50)
    assert cell_of(row) == ("curve", "hartmann6", 0, 50)
    assert row["error"] == "RuntimeError: exit status 7"


def test_measurements_resume(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = []

    def measured(what: str, _: str, seed: int, n: int, turns: int) -> Row:
        made.append((what, seed, n, turns))
        return {**on_curve(n, seed), "method": what}

    monkeypatch.setattr(scaling, "measured_apart", measured)
    path = tmp_path / "scaling.jsonl"
    cells = scaling.cells((50, 100), 70, (80,), (0, 2))
    complete(path, scaling.run, cells[:2])
    complete(path, scaling.run, cells)
    assert [cell_of(row) for row in read_rows(path)] == cells
    assert len(made) == len(cells)
    assert made[0] == ("curve", 0, 50, scaling.TURNS["curve"])


def test_old_results_are_half_around_the_optimum_and_repeat() -> None:
    params, values = scaling_measurement.old_results(400, 3)
    problem = problems.get("hartmann6")
    points = [list(one.values()) for one in params]
    assert problem.values(points) == pytest.approx(values, abs=0.6)  # six standard deviations of the noise
    near = abs(points - problem.optimizers[0]).max(axis=1) < 0.4  # four of those around; .8^6 = .26 of the uniform
    assert 0.55 < near.mean() < 0.7
    assert scaling_measurement.old_results(400, 3) == (params, values)
    assert scaling_measurement.old_results(400, 4) != (params, values)


def test_memory_is_that_of_this_process() -> None:
    found = scaling_measurement.resident()
    assert 10 < found["now"] <= found["most"] < 100_000


def test_smoke_prints_all_tables_and_keeps_nothing() -> None:
    def kept() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in scaling.RESULTS.glob("scaling.*")}

    before = kept()
    command = [sys.executable, str(ROOT / "benchmarks" / "scaling.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "| 30 | 1 |" in out.stdout
    assert "| 60 | 1 |" in out.stdout
    assert "| restart at N = 30 |" in out.stdout
    assert "identical in 1 of 1 rounds" in out.stdout
    assert ("| suggestion after 30 old results |" in out.stdout) == scaling.PEER_PYTHON.exists()
    assert "Not measured" not in out.stdout
    assert kept() == before
