"""The script that imports a million results: it runs, and each row is there once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_smoke() -> None:
    rows = ROOT / "benchmarks" / "results" / "imports.jsonl"
    before = rows.read_bytes() if rows.exists() else b""
    command = [sys.executable, str(ROOT / "benchmarks" / "imports.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    found = [line.strip("| ").split(" | ") for line in out.stdout.splitlines()[2:5]]
    assert [row[:3] for row in found] == [
        ["journal", "400", "first"],
        ["journal", "400", "again, all there"],
        ["journal", "400", "repeated after the last kill"],
    ]
    assert all(row[-2:] == ["0", "0"] for row in found), out.stdout
    assert (rows.read_bytes() if rows.exists() else b"") == before
