"""The benchmarks of the default method's statements: functions, cells and tables, by hand; and that they run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import honesty
import interval_score
import numpy as np
import pytest
import stopping

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", honesty.DRAWN)
@pytest.mark.parametrize("dimension", [1, 2])
def test_functions_have_unit_spread_and_a_maximum_that_nothing_exceeds(name: str, dimension: int) -> None:
    f, top = honesty.scaled(honesty.Cell(name, dimension, 0.1, 3, honesty.WAYS[0]))
    values = f(np.random.default_rng(0).random((20_000, dimension)))
    assert values.max() <= top + 1e-9
    assert values.std() == pytest.approx(0.0 if name == "flat" else 1.0, abs=0.1)


def statement(place: float, upper: float, regret: float, **more: object) -> honesty.Row:
    size = {"n": 12, "place": place, "exact": True, "width": 1.0, "error": 0.5, "upper": upper, "regret": regret}
    row = {"function": "bowl", "dimension": 1, "noise": 0.5, "seed": 0, "way": honesty.WAYS[0], "until": 12, **more}
    return {**row, "sizes": [size]}


def test_a_line_counts_what_holds() -> None:
    stated = [(0.5, 1.0, 0.5), (0.74, 1.0, 2.0), (0.04, 1.0, 0.1), (0.91, 1.0, 0.2)]
    rows = [statement(*of, seed=seed) for seed, of in enumerate(stated)]
    found = honesty.line("all", honesty.statements(rows))
    assert found[:6] == ("all", "4", "50 %", "50 %", "75 %", "+0.50")
    assert found[7:9] == ("4", "75 %")
    del rows[0]["sizes"][0]["upper"]  # of before gains were drawn as they are
    found = honesty.line("all", honesty.statements(rows))
    assert (found[1], found[7:9]) == ("4", ("3", "67 %"))


def test_spikes_are_shown_apart() -> None:
    text = honesty.report([statement(0.5, 1.0, 0.5), statement(0.5, 1.0, 0.5, function="spike")])
    assert "| all | 1 |" in text
    assert "| spike, which is in none of the others | 1 |" in text


def test_the_longest_run_of_a_cell_counts() -> None:
    rows = [statement(0.5, 1.0, 0.5, until=25), statement(0.99, 1.0, 0.5, until=12)]
    assert [one["place"] for one in honesty.statements(rows)] == [0.5]


def test_runs_without_noise_are_shown_apart() -> None:
    text = honesty.report([statement(0.5, 1.0, 0.5), statement(0.5, 1.0, 0.5, noise=0.0)])
    assert "| all | 1 |" in text
    assert "Without noise, 1 statements: the largest error of a stated value is 5.0e-01." in text


def test_the_true_quantiles_have_the_lowest_interval_score() -> None:
    """Gneiting and Raftery 2007, section 6.2, by simulation; and one score by hand."""
    assert interval_score.interval_score(0.0, 1.0, 1.5) == pytest.approx(1.0 + 20 * 0.5)
    values = np.random.default_rng(0).standard_normal(20_000)

    def score(reach: float) -> float:
        return float(np.mean([interval_score.interval_score(-reach, reach, value) for value in values]))

    assert score(interval_score.NORMAL) < min(score(1.2), score(2.2))


def test_seeds_give_cells_of_all_functions() -> None:
    found = list(honesty.cells([1], [0.5], [honesty.WAYS[0]]))
    assert len(found) == len(honesty.DRAWN) * len(honesty.DIMENSIONS) + 7
    assert len(set(found)) == len(found)


def test_a_drawn_function_has_its_own_maximum() -> None:
    one = stopping.drawn(1, 2)
    assert one.values(np.linspace(0, 1, 500)[:, None]).max() <= one.top + 0.05 * one.variance**0.5


@pytest.mark.parametrize("script", ["honesty.py", "interval_score.py", "stopping.py"])
def test_smoke(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), "--smoke"], capture_output=True, text=True, check=True
    )
    assert "| --- |" in done.stdout
