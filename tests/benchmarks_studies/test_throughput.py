"""Throughput of several workers: the script runs, and the table has ratios within rounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import throughput

ROOT = Path(__file__).resolve().parents[2]


def test_smoke() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "throughput.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert [line.split(" | ")[:2] for line in out.stdout.splitlines()[2:4]] == [["| 1", "2"], ["| 2", "4"]]


def test_ratios_are_taken_within_rounds() -> None:
    text = throughput.tables([{1: 2.0, 8: 14.0}, {1: 1.0, 8: 6.0}, {1: 4.0, 8: 20.0}], 16)
    assert text.splitlines()[-1] == "| 8 | 128 | 14.00 | 6.00 (5.00 to 7.00) |"
