"""The examples run as they are shown."""

from __future__ import annotations

import re
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
    _, _, compared = out.partition("R² on 2 other splits, the same for all:\n")
    *rows, promised = compared.splitlines()[:4]
    scores = {row[:28].strip(): float(row[28:]) for row in rows}
    assert list(scores) == ["recommended", "best seen", "the model's own defaults"]
    assert all(-1 < score < 1 for score in scores.values())
    found = re.fullmatch(
        r"The luckiest of 8 trials promised (\S+), the recommendation (\S+) \((\S+) to (\S+), 90 %\)\.", promised
    )
    assert found is not None
    lucky, value, low, high = map(float, found.groups())
    assert low < value < high
    assert value < lucky, "the luckiest of noisy trials promises too much"
    noise = re.search(r"differs from the next by a standard deviation of (\S+)\.$", out.strip())
    assert noise is not None
    assert 0 < float(noise[1]) < 1


def test_the_certified_example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["certified.py"])
    runpy.run_path(str(EXAMPLES / "certified.py"), run_name="__main__")
    assert "Certified as it goes" in capsys.readouterr().out
