"""The example on sketches runs as it is shown."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "sketching.py"


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["show"](200, 8)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("exact     remembers   200 of 200 points")
    assert int(lines[1].split()[2]) < 200
    low, high = float(lines[2].split()[3]), float(lines[2].split()[5])
    assert 0.3 < low <= high < 3
    assert lines[3].startswith("BKB after 8 trials: regret ")
