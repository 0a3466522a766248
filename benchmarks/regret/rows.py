"""Rows: what came out of each run, as JSON lines in results/METHOD.jsonl, with versions and the commit that ran.

A row has the cell (method, problem, seed, n); "best", the value that regrets are counted from; "regret" of the
recommended, the best evaluated and the best observed point; "curve", the same after 5, 10, ... evaluations; CPU
seconds; and the stamp. Or it has "error": what the method raised. Rows with "source" were made by an earlier harness
with the same problems, noise and settings: they have neither curves nor times.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["RESULTS", "ROOT", "Row", "cell_of", "read_rows", "rewrite", "stamp"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("results")
Row: TypeAlias = dict[str, Any]


def cell_of(row: Row) -> tuple[str, int, int]:
    """What names a run of a method: problem, seed and n."""
    return row["problem"], row["seed"], row["n"]


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file; a line that was torn by a kill is left out, and no file is no rows."""
    rows: list[Row] = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"{path.name}: a torn line is left out", file=sys.stderr)
    return rows


def rewrite(path: Path, rows: Iterable[Row]) -> None:
    """Write a whole file; it appears at once, or not at all."""
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows))
    draft.replace(path)


@cache
def stamp(distributions: tuple[str, ...]) -> Row:
    """Versions and the commit of the code that runs; "+" marks sources that differ from the commit."""

    def git(*words: str) -> str:
        # The folder may lie in another user's hands, or be no checkout at all (an unpacked source archive).
        command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), *words]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    import quadrat as qd

    commit = os.environ.get("QUADRAT_COMMIT") or git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--", "src", "benchmarks/regret/**.py")
    versions = {"quadrat": qd.__version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "ioh", *distributions):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"versions": versions, "commit": (commit or "unknown") + ("+" if changed else "")}
