from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "batches.py"


def test_the_example_of_batches(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["bake"](batches=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == ["LP-GP-UCB", "GP-BUCB", "GP-UCB-PE"]
    assert sum("certified at most" in line for line in lines) == 2
    assert sum("not certified" in line for line in lines) == 4
