"""The experiment with wrong assumptions: tiny runs, and that its tables count what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import misstated

FOLDER = Path(__file__).parents[2] / "experiments"


def test_smoke() -> None:
    script = str(FOLDER / "misstated.py")
    out = subprocess.run([sys.executable, script, "--smoke"], capture_output=True, text=True, check=True).stdout
    assert "| the truth | 1 | 1 | 0 | 0 | 0 |" in out
    assert "| length-scale × | D |" in out


def test_what_is_violated_and_never_rejected_is_silent() -> None:
    rows: list[dict[str, object]] = [
        {"what": "noise", "factor": 0.5, "D": 1, "rejected": rejected, "violated": violated, "certificate": value}
        for rejected, violated, value in [(True, True, None), (False, True, 0.2), (False, False, 0.4)]
    ]
    assert "| noise × 0.5 | 1 | 3 | 1 | 2 | 1 | 0.300 |" in misstated.report(rows)
