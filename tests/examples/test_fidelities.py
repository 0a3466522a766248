"""The example of fidelities runs as it is shown."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "fidelities.py"


def test_it_spends_on_short_trainings_and_recommends_a_long_one(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    costs = [float(line.split("cost ")[1]) for line in lines[:3]]
    assert all(cost > 0 for cost in costs)
    assert 1500 <= sum(costs) < 1600
    assert lines[3].startswith("recommended: x = 0.6")
    assert ", 100 epochs, score 0.8" in lines[3]
