"""Every benchmark runs at tiny size; its figures are not judged here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("script", ["gp.py", "bounds.py", "methods.py"])
def test_smoke(script: str) -> None:
    out = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), "--smoke"], capture_output=True, text=True, check=True
    )
    assert out.stdout.startswith("| what |"), out.stdout + out.stderr
    assert out.stdout.count("\n|") >= 5


@pytest.mark.parametrize(("script", "rows"), [("certificates.py", 5), ("paper_settings.py", 10)])
def test_experiment_smoke(script: str, rows: int) -> None:
    out = subprocess.run(
        [sys.executable, str(ROOT / "experiments" / script), "--smoke"], capture_output=True, text=True, check=True
    )
    assert out.stdout.count("\n|") == rows, out.stdout
