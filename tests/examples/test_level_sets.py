"""The example of level sets runs as it is shown."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "level_sets.py"


def test_it_draws_a_map_without_wrong_labels(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["explore"](n_trials=40, width=16)
    out = capsys.readouterr().out
    assert "after  40 runs:" in out
    rows = [line.strip() for line in out.splitlines() if line.startswith("  ") and "°C" not in line]
    assert len(rows) == 8
    assert set("".join(rows)) <= set("+-?")
    assert "0 a wrong one" in out
