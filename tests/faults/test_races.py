"""The script that lets two do the same at once, thousands of times: it runs, and its table says what came of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_smoke() -> None:
    rows = ROOT / "benchmarks" / "results" / "races.jsonl"
    before = rows.read_bytes() if rows.exists() else b""
    command = [sys.executable, str(ROOT / "benchmarks" / "races.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    found = [line.strip("| ").split(" | ") for line in out.stdout.splitlines()[2:8]]
    assert [row[:3] for row in found[:3]] == [
        ["journal", "tells", "4"],
        ["journal", "coordinators", "2"],
        ["journal", "imports", "2"],
    ]
    assert all(row[3:7] == ["0"] * 4 for row in found), out.stdout
    assert found[0][7] == "4", "of each pair of tells one is refused"
    assert (rows.read_bytes() if rows.exists() else b"") == before
