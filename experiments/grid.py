"""What the experiments share: a grid of runs whose finished ones are kept as JSON lines and not run again."""

from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeAlias

RESULTS = Path(__file__).with_name("results")
Row: TypeAlias = dict[str, object]


def options(description: str | None, *, runs: int) -> argparse.Namespace:
    """Read --smoke, --runs, --workers and --report."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny runs; nothing is kept")
    parser.add_argument("--runs", type=int, default=runs, help="seeds of each kind")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="only print the table of what is kept")
    return parser.parse_args()


def finished(name: str) -> list[Row]:
    """What experiments/results/NAME.jsonl holds."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_missing(name: str, run: Callable[..., Row], todo: Sequence[tuple[object, ...]], workers: int) -> None:
    """Run what is not kept yet, several at a time; every finished run is written at once."""
    if not todo:
        return
    RESULTS.mkdir(exist_ok=True)
    with ProcessPoolExecutor(workers) as pool, (RESULTS / f"{name}.jsonl").open("a") as out:
        for done, row in enumerate(pool.map(run, *zip(*todo, strict=True)), start=1):
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(f"\r{done} of {len(todo)} runs", end="", file=sys.stderr)
