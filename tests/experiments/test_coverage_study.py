"""The coverage experiment: a tiny run of every kind, and that a certificate which lies is counted."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import coverage_study as experiment
import pytest

from quadrat.confidence import Certificate, certify

FOLDER = Path(__file__).parents[2] / "experiments"


def test_smoke() -> None:
    script = str(FOLDER / "coverage_study.py")
    out = subprocess.run([sys.executable, script, "--smoke"], capture_output=True, text=True, check=True).stdout
    assert "| all | 8 | 48 | 0 | 0 |" in out


def test_a_certificate_that_lies_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def lies(*arguments: Any, **options: Any) -> Certificate:
        return replace(certify(*arguments, **options), value=0.0)

    monkeypatch.setattr(experiment, "certify", lies)
    assert experiment.run(4, 4)["failed"] == ["certificate"]
