"""Soak and scale: memory and time over 100,000 trials, 5,000 on a journal with 16 workers, and fleets in virtual time.

    python benchmarks/soak.py [--parts [memory] [journal] [fleet]] [--smoke] [--write]

memory    one optimizer in memory, asked and told 100,000 times; see `soaking.memory`
journal   `quadrat tune` on a journal file with 16 worker processes; see `soaking.journal`
fleet     100, 1,000 and 10,000 workers that are simulated, with the real coordinators; see `soaking.fleet`

Each measurement is a process of its own. All together they are some hours of one core. Rows are kept in
benchmarks/results/soak.jsonl and not made again: a run that was interrupted goes on with the first that is missing,
and `--parts` alone makes the tables of those that are there.
--write updates benchmarks/results/soak.md.
"""

from __future__ import annotations

from timing import ROOT, publish  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from regret.rows import Cell, Row, cell_of, complete, read_rows, recorded
from soaking.fleet import PROBLEM
from soaking.tables import tables

N, CHECKPOINTS = 100_000, (1000, 2000, 5000, *range(10_000, 100_000, 10_000))
JOURNAL_N, JOURNAL_WORKERS = 5000, 16
FLEETS = {"study 100": 2000, "study 1000": 5000, "maximize 10000": 15_000}  # workers, and evaluations
RANDOM = {"random 100": 2000, "random 1000": 5000, "random 10000": 20_000}
SERIAL = {"maximize 1": 5000}
SEED = 0
PARTS: dict[str, list[Cell]] = {
    "memory": [("memory", PROBLEM, SEED, N)],
    "journal": [(f"journal {JOURNAL_WORKERS}", PROBLEM, SEED, JOURNAL_N)],
    "fleet": [(kind, PROBLEM, SEED, n) for some in (FLEETS, RANDOM, SERIAL) for kind, n in some.items()],
}
SMOKE: dict[str, list[Cell]] = {
    "memory": [("memory", PROBLEM, SEED, 10)],
    "journal": [("journal 2", PROBLEM, SEED, 4)],
    "fleet": [(kind, PROBLEM, SEED, 8) for kind in ("study 4", "random 4", "maximize 1")],
}
RESULTS = ROOT / "benchmarks" / "results"
SCRIPTS = Path(__file__).with_name("soaking")


def run(what: str, problem: str, seed: int, n: int) -> Row:
    """Measure once, in a process of its own; one that dies leaves an error."""
    kind, *workers = what.split()
    checkpoints = CHECKPOINTS if n > CHECKPOINTS[0] else (n // 2,)
    commands = {
        "memory": ["memory.py", n, seed, *checkpoints],
        "journal": ["journal.py", n, *workers, seed],
    }
    script, *arguments = commands.get(kind, ["fleet.py", kind, *workers, n, seed])
    command = [sys.executable, str(SCRIPTS / str(script)), *map(str, arguments)]
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    except subprocess.CalledProcessError as error:
        ended = f"exit status {error.returncode}"

        def fail() -> Row:
            raise RuntimeError(ended)

        return recorded((what, problem, seed, n), fail)
    found: Row = json.loads(out.splitlines()[-1])
    return found


def documented(rows: Sequence[Row]) -> dict[int, float]:
    """Return the mean CPU milliseconds of a suggestion by old results, as benchmarks/scaling.py measured them."""
    found: dict[int, list[float]] = {}
    for row in rows:
        if row["method"] == "curve" and "error" not in row:
            calls = [row["seconds_of"][call]["cpu"] for call in ("ask", "tell")]
            found.setdefault(row["n"], []).append(1e3 * sum(sum(times) / len(times) for times in calls))
    return {n: sorted(times)[len(times) // 2] for n, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--parts",
        nargs="*",
        choices=list(PARTS),
        default=list(PARTS),
        help="what to measure; none: tables of what is there",
    )
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/results")
    chosen = parser.parse_args()
    if chosen.smoke:
        print(tables([run(*cell) for part in chosen.parts for cell in SMOKE[part]], {}))
        return
    path = RESULTS / "soak.jsonl"
    complete(path, run, [cell for part in chosen.parts for cell in PARTS[part]])
    wanted = [cell for cells in PARTS.values() for cell in cells]
    rows: list[Row] = [row for row in read_rows(path) if cell_of(row) in wanted]
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    text = tables(rows, documented(read_rows(RESULTS / "scaling.jsonl")))
    measured = f"each measurement in a process of its own, one BLAS thread; rows of {commits}"
    publish("soak", "Soak and scale", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
