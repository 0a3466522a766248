"""Rows: what came out of each run, as JSON lines in results/METHOD.jsonl, with versions and the commit that ran.

A row has the cell (method, problem, seed, n); "best", the value that regrets are counted from; "regret" of the
recommended, the best evaluated and the best observed point; "curve", the same after 5, 10, ... evaluations; CPU
seconds; and the stamp. Or it has "error": what the method raised. Rows with "source" were made by an earlier harness
with the same problems, noise and settings: they have neither curves nor times.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["RESULTS", "ROOT", "Row", "cell_of", "read_rows", "rewrite", "stamp"]

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "experiments"))

from grid import commit_of, read_rows

RESULTS = Path(__file__).with_name("results")
Row: TypeAlias = dict[str, Any]


def cell_of(row: Row) -> tuple[str, int, int]:
    """What names a run of a method: problem, seed and n."""
    return row["problem"], row["seed"], row["n"]


def rewrite(path: Path, rows: Iterable[Row]) -> None:
    """Write a whole file; it appears at once, or not at all."""
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows))
    draft.replace(path)


@cache
def stamp(distributions: tuple[str, ...]) -> Row:
    """Versions and the commit of the code that runs."""
    import quadrat as qd

    versions = {"quadrat": qd.__version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "ioh", *distributions):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"versions": versions, "commit": commit_of("src", "benchmarks/regret/**.py")}
