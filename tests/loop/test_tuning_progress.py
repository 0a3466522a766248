"""A bar for people, silence for scripts."""

from __future__ import annotations

import sys

import pytest

from quadrat.loop import maximize
from quadrat.space import Float, Int, Space

SPACE = Space(x=Float(-1, 1), n=Int(1, 3))


def test_silence_where_nobody_watches(capfd: pytest.CaptureFixture[str]) -> None:
    maximize(lambda _: 1.0, SPACE, n_trials=2, method="RandomSearch")
    assert capfd.readouterr() == ("", "")


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    maximize(lambda _: 1.0, SPACE, n_trials=2, method="RandomSearch")
    shown = capfd.readouterr().err
    assert "2/2" in shown
    assert "best seen 1" in shown
