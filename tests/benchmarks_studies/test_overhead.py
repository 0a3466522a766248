"""What a trial costs besides the objective: the table says what was measured, and of whom."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import optuna
import overhead
import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "overhead.md"


def kept() -> str | None:
    return RESULT.read_text() if RESULT.exists() else None


def test_smoke() -> None:
    before = kept()
    command = [sys.executable, str(ROOT / "benchmarks" / "overhead.py"), "--smoke"]
    # How long a disk takes to sync is not tested here.
    folder = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}  # noqa: S108
    out = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **folder})
    assert out.returncode == 0, out.stdout + out.stderr
    assert out.stdout.startswith(f"| ms a trial, {overhead.SMOKE_TRIALS} trials, median of 1 rounds | Optuna random |")
    assert out.stdout.count("\n| SQLite |") == 3
    assert kept() == before


def test_ratios_and_differences_are_taken_within_rounds() -> None:
    """Rounds of a slow spell are slow for all: medians over rounds, taken one by one, would compare unlike ones."""
    rounds = []
    for random, ours, slow in ((0.010, 0.030, 1), (0.010, 0.040, 5), (0.010, 0.050, 2)):
        times = {(storage, overhead.RANDOM): slow * random for storage in overhead.STORAGES}
        rounds.append(times | {(storage, overhead.OURS): slow * ours for storage in overhead.STORAGES})
    whole, own, ratios = overhead.tables(rounds, 60).split("\n\n")
    assert whole.startswith("| ms a trial, 60 trials, median of 3 rounds | Optuna random | Quadrat |\n")
    assert "| SQLite | 20.0 | 100.0 |" in whole
    assert own.startswith("| ms a trial beyond Optuna random's | Quadrat |\n")
    assert "| in memory | 80.0 |" in own
    assert ratios.startswith("| / Optuna random | Quadrat |\n")
    assert "| journal file, Quadrat's | 4.0 |" in ratios


def test_who_is_not_installed_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhead, "find_spec", lambda _name: None)
    names = overhead.contenders()
    assert names == [name for name in overhead.SAMPLERS if name != overhead.GP]
    assert "Optuna GP is left out: it needs torch" in overhead.made_with(names)
    monkeypatch.setattr(overhead, "find_spec", lambda name: name)
    assert overhead.contenders() == list(overhead.SAMPLERS)


@pytest.mark.parametrize("contender", [overhead.OURS, overhead.COORDINATOR])
def test_seconds_are_of_one_trial(contender: str, monkeypatch: pytest.MonkeyPatch) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    evaluated: list[int] = []

    def slow(params: dict[str, float]) -> float:
        assert len(params) == 8
        evaluated.append(len(evaluated))
        time.sleep(0.1)
        return 0.0

    monkeypatch.setattr(overhead, "value_of", slow)
    seconds = overhead.seconds_of("in memory", contender, 4, 0)
    assert len(evaluated) == 4
    assert seconds > 0.1


def test_studies_that_do_not_end_are_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    monkeypatch.setattr(overhead, "value_of", lambda _params: float("nan"))
    with pytest.raises(AssertionError, match="Optuna random on in memory: 0 of 2 trials are complete"):
        overhead.seconds_of("in memory", overhead.RANDOM, 2, 0)
