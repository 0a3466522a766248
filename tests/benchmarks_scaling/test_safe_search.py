"""The benchmark of safe search: problems are what they say, nothing is unsafe, tables say what rows say."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safe_search
from regret.rows import Row
from safe_search import SAFE, SAFEOPT, Setting

ROOT = Path(__file__).resolve().parents[2]


def test_problems_have_a_safe_start_from_which_better_is_within_reach() -> None:
    for index in range(12):
        setting = safe_search.safety_setting(index)
        problem = safe_search.draw(setting, 2 * index)
        assert problem.objective.norm == pytest.approx(1.0)
        assert problem.is_safe(problem.start)
        assert problem.top - problem.first >= safe_search.GAIN
        grid = np.random.default_rng(0).random((400, setting.dimension))
        assert not all(problem.is_safe(x) for x in grid), "there is something to keep away from"


def test_every_part_of_the_settings_occurs() -> None:
    settings = [safe_search.safety_setting(index) for index in range(safe_search.RUNS)]
    for name, values in (
        ("kernel", set(safe_search.KERNELS)),
        ("dimension", {1, 2, 3}),
        ("noise", {0.02, 0.1, 0.3}),
        ("law", set(safe_search.LAWS)),
        ("batch", {1, 4}),
        ("guarded", set(safe_search.GUARDED)),
        ("times_norm", {1.0, 2.0}),
        ("times_noise", {1.0, 2.0}),
    ):
        assert {getattr(setting, name) for setting in settings} == values


def test_noise_has_the_sigma_that_is_stated() -> None:
    for law in safe_search.LAWS:
        setting = Setting(law=law, noise=0.5)
        drawn = np.array([safe_search.noise_of(setting, 0, number) for number in range(2000)])
        assert abs(drawn.mean()) < 0.05
        # Moments of sub-Gaussian noise: E exp(t eta) <= exp(t^2 sigma^2 / 2).
        assert np.exp(2 * drawn).mean() <= np.exp(0.5) * 1.1


def test_the_points_of_the_rule_are_safe_and_both_rules_get_there() -> None:
    setting = replace(safe_search.SPEED["D = 1, limit of the objective"], n=40)
    for rule in (SAFE, SAFEOPT):
        found = safe_search.speed(setting, 3, rule)
        assert found["unsafe"] == 0
        assert found["needed"] <= 41


def test_a_run_that_is_unsafe_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_search.Problem, "is_safe", lambda *_: False)
    found = safe_search.through_the_door(Setting(n=4), 1)
    assert found["unsafe"] == found["evaluations"] == 4


def row(method: str, problem: str, seed: int, **rest: Any) -> Row:
    usual = {"unsafe": 0, "evaluations": 40, "stopped": None, "gained": 0.9, "commit": "abc"}
    return {"method": method, "problem": problem, "seed": seed, "n": 40, **usual, **rest}


def test_tables_say_what_rows_say() -> None:
    rows = [row("safety", str(i), 2 * i, unsafe=int(i == 3)) for i in range(10)]
    name = "D = 2, constraint"
    rows += [row(rule, name, 0, needed=n) for rule, n in ((SAFE, 10), (SAFEOPT, 40))]
    rows += [row("wrong", "both: D = 1, objective", 0, unsafe=2, evaluations=20, stopped="rejected")]
    rows += [{**rows[-1], "seed": 2, "error": "InvalidInput: threshold: no"}]
    rows += [row("fitted", "D = 1, objective", 0, unsafe=4)]
    rows += [{"method": "safety", "problem": "11", "seed": 22, "n": 40, "error": "ValueError: no", "commit": "abc"}]
    text = safe_search.tables(rows)
    assert "| all | 10 | 1 | 400 | 1 | 0 | 0.90 |" in text
    assert f"| {name} | 1 | 10 | 40 | 0.25 |" in text
    assert "| both | 1 | 1 | 10.0% | 1 | 20 | 0 | 1 |" in text
    assert "| D = 1, objective | 1 | 1 | 10.0% | 0.90 |" in text
    assert "Left out: safety, 11, seed 22: ValueError: no." in text


def test_the_smoke_run_prints_every_table() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "safe_search.py", "--smoke"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    for title in ("Safety", "Speed", "Stated as half", "FittedSafe"):
        assert title in done.stdout
    assert "Left out" not in done.stdout
    assert "| all | 8 | 0 | 64 | 0 |" in done.stdout
