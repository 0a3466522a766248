"""The script that injects faults in large numbers: it runs, and its table says what was found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_smoke() -> None:
    rows = ROOT / "benchmarks" / "results" / "faults.jsonl"
    before = rows.read_bytes() if rows.exists() else b""
    command = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    cells = out.stdout.splitlines()[2].strip("| ").split(" | ")
    assert cells[:2] == ["kill -9 of a serial run", "2"]
    assert cells[3:] == ["0", "0", "0", "yes"]
    assert (rows.read_bytes() if rows.exists() else b"") == before
