"""The example of an instrument: its readings are noisy and unbiased, and a day at it goes through the commands."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from quadrat.cli import main as quadrat
from quadrat.cli.study_commands import opened

FOLDER = Path(__file__).parents[2] / "examples" / "instrument"
SETTINGS = {"blur": 0.5, "threshold": 6.0, "contrast": 4.0}


def test_readings_vary_around_the_truth_as_40_digits_do() -> None:
    reader = runpy.run_path(str(FOLDER / "reader.py"))
    values = reader["readings"](SETTINGS, n=400)
    truth = reader["truth"](SETTINGS)
    deviation = np.sqrt(truth * (1 - truth) / 40)
    assert abs(np.mean(values) - truth) < 4 * deviation / 20
    assert 0.8 < np.std(values) / deviation < 1.2
    assert values[:3] == reader["readings"](SETTINGS)
    assert values[:3] != reader["readings"](SETTINGS, seed=1)


def test_a_day_at_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)  # the study is kept here
    monkeypatch.syspath_prepend(str(FOLDER))
    assert quadrat(["ask", "--space", str(FOLDER / "space.toml"), "--direction", "maximize"]) == 0
    assert quadrat(["tell", "0", "0.85", "0.9", "0.875"]) == 0
    capsys.readouterr()
    recommended, luckiest = runpy.run_path(str(FOLDER / "session.py"))["day"](rounds=2)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("recommended")
    assert first.endswith(f"{recommended:.3f}")
    assert second.startswith("luckiest trial")
    assert second.endswith(f"{luckiest:.3f}")
    trials = opened(None, None).get_trials(deepcopy=False)
    assert [trial.state.name for trial in trials] == ["COMPLETE"] * 5
    assert all(len(trial.user_attrs["quadrat:values"]) == 3 for trial in trials)
