"""The comparison of learned with declared spaces: the script runs, its optima are 0, and ratios are paired."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import define_by_run
import numpy as np
import optuna
import pytest
from define_by_run import PROBLEMS, Compared, tables

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "define_by_run.md"


def test_smoke() -> None:
    before = RESULT.read_text()
    command = [sys.executable, str(ROOT / "benchmarks" / "define_by_run.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "Left out" not in out.stdout, "no run raised"
    first, second = out.stdout.split("\n\n")
    assert first.count("1 of 1") == len(PROBLEMS), "each recommendation is complete"
    assert second.splitlines()[-1].startswith("| all | ")
    assert RESULT.read_text() == before


@pytest.mark.parametrize("name", PROBLEMS)
def test_declared_and_by_run_are_the_same_problem(name: str) -> None:
    """Settings of the space, told to the objective that asks for them, come back; all values are >= 0."""
    problem, seed = PROBLEMS[name], 3
    loss = problem.loss(seed)
    for params in problem.space.sample(50, np.random.default_rng(0)):
        asked = {problem.asked.get(key, key): value for key, value in params.items()}
        assert problem.by_run(optuna.trial.FixedTrial(asked)) == params
        assert loss(params) >= 0
        assert loss(params) != problem.loss(seed + 1)(params), "a seed moves the optimum"


def test_ratios_are_paired_and_small_regrets_count_as_the_floor() -> None:
    rows = []
    for seed, (declared, learned) in enumerate([(0.1, 0.2), (0.4, 0.2), (1e-9, 1e-7)]):
        common = {"problem": "model choice", "seed": seed, "n": 40}
        rows.append({**common, "method": "declared", "regret": declared})
        rows.append({**common, "method": "learned", "regret": learned, "complete": seed != 1})
    rows.append({"problem": "model choice", "seed": 0, "n": 40, "method": "TPE", "error": "none"})
    text = tables(rows, 40)
    assert "| model choice | 3 | 0.1000 | 0.2000 |  |  | 2 of 3 |" in text
    assert "| model choice | 1.00 (" in text
    assert "Left out: 1 of 7 runs" in text
    assert Compared([math.log(2.0)] * 3).interval == pytest.approx((2.0, 2.0))
    assert define_by_run.FLOOR == 1e-3
