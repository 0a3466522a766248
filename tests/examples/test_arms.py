from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "arms.py"


def test_the_arms_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["show"]()
    _, ucb1, gp_ucb = capsys.readouterr().out.splitlines()
    assert ucb1.startswith("UCB1")
    assert gp_ucb.startswith("GPUCB")
    lost = [float(line.split()[1]) for line in (ucb1, gp_ucb)]
    assert lost[1] < lost[0]
    assert "green" in gp_ucb
