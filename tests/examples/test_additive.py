"""The example of groups that are learned runs as it is shown."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "additive.py"


def test_it_finds_the_pairs_and_a_good_setting(capsys: pytest.CaptureFixture[str]) -> None:
    best = runpy.run_path(str(EXAMPLE))["run"](n_trials=60)
    out = capsys.readouterr().out
    assert "these act together: heat and time; acid and salt; speed and load" in out
    assert "90 % credible from" in out
    assert best > 2.9
