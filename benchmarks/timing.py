"""Timing shared by the benchmarks: one BLAS thread, interleaved repeats, medians. Import it before NumPy."""

from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def medians(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each action; repeats are interleaved so that a slow spell hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats + 1):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values[1:]) for name, values in times.items()}  # the first round warms up


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def options(description: str | None, *, workers: bool = False) -> argparse.Namespace:
    """Read --smoke and --write, and --workers where runs are many."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/results")
    if workers:
        parser.add_argument("--workers", type=int, default=1, help="processes")
    return parser.parse_args()


def publish(
    name: str, title: str, text: str, *, write: bool, measured: str = "medians of interleaved repeats, one BLAS thread"
) -> None:
    """Print the tables and, if asked, keep them, with how they were measured, in benchmarks/results/NAME.md."""
    print(text)
    if write:
        target = ROOT / "benchmarks" / "results" / f"{name}.md"
        target.parent.mkdir(exist_ok=True)
        how = f"Made by `python benchmarks/{name}.py --write`; {measured}."
        target.write_text(f"# {title}\n\n{how}\n\n{text}\n")
