"""Rows: what came out of each run, as JSON lines in results/METHOD.jsonl, with versions and the commit that ran.

A row has the cell (method, problem, seed, n); "noise" where it is not .1, in results/noise_VALUE/METHOD.jsonl; "best",
the value that regrets are counted from; "regret" of the recommended, the best evaluated and the best observed point;
"curve", the same after 5, 10, ... evaluations; CPU seconds; and the stamp. Or it has "error": what the method raised.
Rows with "source" were made by an earlier harness with the same problems, noise and settings: they have neither curves
nor times.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

__all__ = [
    "RESULTS", "ROOT", "Cell", "NoisyCell", "Row", "cell_of", "complete", "read_rows", "recorded", "rewrite", "rounded",
    "stamp",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "experiments"))

from grid import commit_of, read_rows

RESULTS = Path(__file__).with_name("results")
Row: TypeAlias = dict[str, Any]
Cell: TypeAlias = tuple[str, str, int, int]  # what names a run: method, problem, seed and n
NoisyCell: TypeAlias = tuple[str, str, int, int, float]  # the same with the noise, where it is not .1
_NAMES = ("method", "problem", "seed", "n", "noise")


def cell_of(row: Row) -> Cell | NoisyCell:
    """Return the cell that a row is of."""
    cell = row["method"], row["problem"], row["seed"], row["n"]
    return (*cell, row["noise"]) if "noise" in row else cell


def rounded(value: float) -> float:
    """Return a value with the six digits that rows keep."""
    return float(f"{value:.6g}")


def recorded(cell: Cell | NoisyCell, outcome: Callable[[], Row], distributions: tuple[str, ...] = ()) -> Row:
    """Return the row of a run: its cell, what came out, seconds and the stamp; what it raises becomes "error"."""
    row: Row = dict(zip(_NAMES, cell, strict=False))
    start = time.perf_counter()
    try:
        row |= outcome()
    except Exception as error:  # whatever a method does, the rows of other runs are to be had
        row["error"] = f"{type(error).__name__}: {error}"[:300]
    row["seconds"] = round(time.perf_counter() - start, 2)
    return {**row, **stamp(distributions)}


def complete(
    path: Path, run: Callable[..., Row], cells: Sequence[Cell | NoisyCell], *, workers: int = 1, redo: str = ""
) -> None:
    """Run the cells that have no row in a file yet; each row is written when its run ends.

    Parameters
    ----------
    path
        The file.
    run
        From a cell to its row. Must be importable where there are several workers.
    cells
        The whole grid, in the order to run it.
    workers
        Processes; 1 runs in this one.
    redo
        "failed" or "earlier": rows that are there and are run again. They stay until the new ones are.
    """
    rows = read_rows(path)
    mark = {"failed": "error", "earlier": "source"}.get(redo)
    done = {cell_of(row) for row in rows if mark is None or mark not in row}
    todo = [cell for cell in cells if cell not in done]
    if not todo:
        return
    rewrite(path, rows)  # without a torn last line
    for count, row in enumerate(_outcomes(run, todo, workers), 1):
        replaced = any(cell_of(other) == cell_of(row) for other in rows)
        rows = [*(other for other in rows if cell_of(other) != cell_of(row)), row]
        if replaced:
            rewrite(path, rows)
        else:
            with path.open("a") as out:
                out.write(json.dumps(row) + "\n")
        print(f"\r{path.stem}: {count} of {len(todo)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _outcomes(run: Callable[..., Row], cells: Sequence[Cell | NoisyCell], workers: int) -> Iterator[Row]:
    """Rows as runs end."""
    if workers == 1:
        for cell in cells:
            yield run(*cell)
        return
    with ProcessPoolExecutor(workers) as pool:
        running = [pool.submit(run, *cell) for cell in cells]
        try:
            for future in as_completed(running):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


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
