"""The examples run as they are shown."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    assert demo["run"](n_trials=8, fresh=2) == 0
    out = capsys.readouterr().out
    assert "$ quadrat tune train.py:score --space space.toml --direction maximize --n-trials 8 --workers" in out
    assert "8 complete; all 8 trials done" in out
    scores = {line[:26].strip(): float(line[26:]) for line in out.splitlines()[-4:-1]}
    assert list(scores) == ["recommended", "best seen", "the model's own defaults"]
    assert all(-1 < score < 1 for score in scores.values())


def test_the_certified_example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["certified.py"])
    runpy.run_path(str(EXAMPLES / "certified.py"), run_name="__main__")
    assert "Certified as it goes" in capsys.readouterr().out
