"""The example of partitioned processes runs as it is shown, on fewer readings."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "partitioned.py"


def test_it_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "80"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("readings  cells  largest cell")
    table = [[float(word) for word in line.split()] for line in lines[1:]]
    assert [row[0] for row in table] == [10, 20, 40, 80]
    assert all(row[1] >= 1 and row[2] <= row[0] and row[4] <= row[5] for row in table)
