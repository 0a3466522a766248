"""What the experiments share: a grid of runs whose finished ones are kept as JSON lines and not run again.

A run is named by its cell (method, problem, seed, ...), a tuple of keyword arguments of the function that runs it. Its
row holds the cell, what came out, and the stamp: versions and the commit of the code that ran. Rows are written as soon
as a run ends, in whatever order runs end; a run that was killed leaves no row, and a line that was torn by a kill is
dropped when the file is next opened. So an interrupted grid is resumed by starting it again.
"""

from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import TypeAlias

RESULTS = Path(__file__).with_name("results")
sys.path.append(str(RESULTS.parents[1] / "benchmarks"))  # where the package `problems` is
Row: TypeAlias = dict[str, object]
Cell: TypeAlias = Mapping[str, object]


def options(description: str | None, *, runs: int, settings: Sequence[str] = ()) -> argparse.Namespace:
    """Read --smoke, --runs, --workers and --report, and further settings that are words, such as --data."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny runs; nothing is kept")
    parser.add_argument("--runs", type=int, default=runs, help="seeds of each kind")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="only print the table of what is kept")
    for name in settings:
        parser.add_argument(f"--{name}")
    return parser.parse_args()


def finished(name: str) -> list[Row]:
    """What experiments/results/NAME.jsonl holds."""
    return read_rows(RESULTS / f"{name}.jsonl")


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file; a line that was torn by a kill is left out, and no file is no rows."""
    rows: list[Row] = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"{path.name}: a torn line is left out", file=sys.stderr)
    return rows


def commit_of(*sources: str) -> str:
    """Return the commit of the code that runs; "+" marks sources, paths of the checkout, that differ from the commit.

    Where the code runs from a copy without its history, whoever made the copy says which commit it is of, in the
    environment variable QUADRAT_COMMIT.
    """

    def git(*words: str) -> str:
        # The folder may lie in another user's hands, or be no checkout at all (an unpacked source archive).
        command = ["git", "-c", "safe.directory=*", "-C", str(Path(__file__).parent.parent), *words]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
        except (OSError, subprocess.CalledProcessError):
            return ""

    changed = git("status", "--porcelain", "--", *sources)
    here = (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+" if changed else "")
    return os.environ.get("QUADRAT_COMMIT", here)


@cache
def stamp() -> Row:
    """Versions and the commit of the code that runs."""
    import numpy as np
    import scipy

    import quadrat as qd

    return {
        "commit": commit_of("src", "experiments/*.py"),
        "quadrat": qd.__version__, "numpy": np.__version__, "scipy": scipy.__version__,
        "python": platform.python_version(),
    }  # fmt: skip


def _timed(run: Callable[..., Row], cell: Cell) -> Row:
    start = time.perf_counter()
    outcome = run(**cell)
    return {**cell, **outcome, "seconds": round(time.perf_counter() - start, 2), **stamp()}


def run_here(run: Callable[..., Row], cells: Sequence[Cell]) -> list[Row]:
    """Run every cell in this process and keep nothing: what --smoke does."""
    return [_timed(run, cell) for cell in cells]


def complete(name: str, run: Callable[..., Row], cells: Sequence[Cell], workers: int) -> list[Row]:
    """Run the cells that have no row yet, several at a time; return the rows of all cells that are finished.

    Parameters
    ----------
    name
        Of the file in experiments/results.
    run
        Called with a cell as keyword arguments; returns what came out. Must be importable (it runs in processes).
    cells
        The whole grid.
    workers
        Processes.
    """
    kept = finished(name)
    names = tuple(cells[0]) if cells else ()
    done = {json.dumps([row.get(key) for key in names]) for row in kept}
    todo = [cell for cell in cells if json.dumps([cell[key] for key in names]) not in done]
    if not todo:
        return kept
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    if path.exists() and not path.read_text().endswith("\n"):
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    stamp()  # before the processes start: what runs is what is on disk now
    with ProcessPoolExecutor(workers) as pool, path.open("a") as out:
        running = {pool.submit(_timed, run, cell) for cell in todo}
        try:
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(ended, key=lambda future: future.exception() is not None):
                    row = future.result()  # what failed comes last, so that nothing finished beside it is lost
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                    kept.append(row)
                print(f"\r{name}: {len(todo) - len(running)} of {len(todo)} runs", end="", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    print(file=sys.stderr)
    return kept


def write_table(name: str, title: str, table: str, rows: Sequence[Row]) -> str:
    """Write a table to experiments/results/NAME.md, for the pages that show it, and return it."""
    commits = ", ".join(sorted({str(row["commit"]) for row in rows}))
    text = f"# {title}\n\nMade by `python experiments/{name}.py`; rows of {commits}.\n\n{table}\n"
    (RESULTS / f"{name}.md").write_text(text)
    return table
