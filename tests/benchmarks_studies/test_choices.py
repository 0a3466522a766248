"""The benchmark of many choices: it runs, its cases are what it says, and it would notice a search that falls short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import choices
import numpy as np
import pytest
from choices import CASES, EXHAUSTIVE, FORMER, SEARCHED, outcome, tables

from quadrat._core.arrays import Array
from quadrat.methods.auto import method as auto
from quadrat.methods.auto.acquisition import AutoAcquisition

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "choices.md"


def test_smoke() -> None:
    before = RESULT.read_text()
    command = [sys.executable, str(ROOT / "benchmarks" / "choices.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "Left out" not in out.stdout, "no run raised"
    for table in out.stdout.split("\n\n"):
        assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == [f"| {name}" for name in CASES]
    assert RESULT.read_text() == before


@pytest.mark.parametrize("name", CASES)
def test_small_cases_can_be_listed_and_are_too_large_for_the_method_to_look_at_all(name: str) -> None:
    settings = choices.all_settings(CASES[name].small)
    assert auto.FEW + choices.TRIALS < len(settings) < 10_000
    value = choices.values_of(CASES[name].small, name, 2)
    heights = sorted(map(value, settings))
    assert heights[-1] > heights[-2], "one setting is the best"
    assert choices.values_of(CASES[name].small, name, 4)(settings[0]) != value(settings[0])


def test_a_search_that_falls_short_is_seen() -> None:
    """One that gives a random setting for the best: the gap to the best of all settings is measured."""

    def careless(
        self: AutoAcquisition, best: Array, rng: np.random.Generator, box: tuple[Array, Array] | None = None
    ) -> tuple[Array, float]:
        assert self.domain.settings is not None
        assert box is None
        point = self.domain.settings[rng.integers(len(self.domain.settings))]
        return point, float(self.at(point[None, :])[0])

    with patch.object(AutoAcquisition, "maximise", careless):
        found = outcome(SEARCHED, "switches", 0, 20)
    assert found["searches"] >= found["short"] > 0.9 * found["searches"] > 0
    assert found["short by"] > 0.1


def test_exhaustive_runs_search_nothing_and_rows_become_a_table() -> None:
    exhaustive = outcome(EXHAUSTIVE, "100 levels", 0, 12)
    assert exhaustive["searches"] == 0
    common = {"problem": "switches", "seed": 0, "n": 50}
    rows = [
        {**common, "method": SEARCHED, "found": True, "regret": 0.0, "searches": 40, "short": 1, "short by": 0.5},
        {**common, "method": EXHAUSTIVE, "found": False, "regret": 0.25, "searches": 0, "short": 0, "short by": 0.0},
        {**common, "method": FORMER, "found": False, "regret": 0.5, "searches": 40, "short": 8, "short by": 0.25},
        {**common, "method": choices.COST, "cpu": 0.02},
        {**common, "method": SEARCHED, "seed": 2, "error": "none"},
    ]
    text = tables(rows)
    assert "| switches | 2,048 | 1 | 1 | 0 | 0 | 0.000 | 0.250 | 0.500 |" in text
    assert "| switches | 97.5 % of 40 | 0.5 | 80.0 % of 40 | 0.25 | 20 (20 to 20) |" in text
    assert "Left out: 1 of 5 runs" in text
