"""The experiments on certifying after the fact run at tiny size, and their tables say what the rows say."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat.problems import RKHSFunction

FOLDER = Path(__file__).resolve().parents[2] / "experiments"
certified_runs, wrong_assumptions = import_module("certified_runs"), import_module("wrong_assumptions")


@pytest.mark.parametrize("script", ["certified_runs", "wrong_assumptions", "chosen_assumptions"])
def test_smoke(script: str) -> None:
    kept = sorted((FOLDER / "results").iterdir())
    out = subprocess.run(
        [sys.executable, str(FOLDER / f"{script}.py"), "--smoke"], capture_output=True, text=True, check=True
    )
    assert out.stdout.count("\n|") >= 8, out.stdout + out.stderr
    assert sorted((FOLDER / "results").iterdir()) == kept


def test_a_statement_that_is_false_is_seen() -> None:
    f = RKHSFunction(qd.Matern(2.5, 0.3), np.array([[0.5]]), np.array([1.0]))
    at = float(f.values(np.array([[0.4]]))[0])
    holds = certified_runs.holds
    assert holds(f, 1.0, {"x0": 0.4}, (at - 0.1, at + 0.1), 1.0 - at)
    assert not holds(f, 1.0, {"x0": 0.4}, (at + 0.01, at + 0.1), 1.0 - at)
    assert not holds(f, 1.0, {"x0": 0.4}, (at - 0.1, at - 0.01), 1.0 - at)
    assert not holds(f, 1.0, {"x0": 0.4}, (at - 0.1, at + 0.1), 0.9 - at)


def test_tables_count_and_take_medians() -> None:
    def row(seed: int, held: bool, value: float) -> dict[str, Any]:
        at = {"25": {"held": held, "recommended": value, "best": value / 2, "regret": 0.01, "own": None}}
        return {"method": "Auto", "D": 1, "seed": seed, "n": 25, "at": at}

    table = certified_runs.report([row(0, True, 0.1), row(2, False, 0.3), row(4, True, 0.2)])
    assert table.splitlines()[-1] == "| Auto | 1 | 3 | 0.200 | 0.100 | 0.0100 | 1 |"
    one = {"violated": True, "rejected": False, "value": 0.5}
    rows = [{"D": D, "seed": 0, "found": dict.fromkeys(wrong_assumptions.WRONG, one)} for D in (1, 2)]
    assert wrong_assumptions.report(rows).splitlines()[2] == "| the truth" + " | 0 of 1 | 1 | 1 | 0.500" * 2 + " |"


def test_seeds_of_the_tables_are_even() -> None:
    for module in (certified_runs, wrong_assumptions):
        seeds = {cell["seed"] for cell in module.cells(20)}
        assert seeds == set(range(0, 40, 2))
