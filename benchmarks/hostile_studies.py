"""All commands on hostile studies, and objectives that misbehave, in great number.

    python benchmarks/hostile_studies.py [--studies 10000] [--smoke] [--write]

Studies are drawn from a grammar of what is stored (tests/security/fuzz_studies.py), and every command is run on each, a
report, whose figures take longer than all others, on every fifth. That is done in this process: each must end with 0,
or with 2 and one line, within a minute, and write to no file outside of its folder. Objectives are those of a catalogue
(tests/faults/odd_objectives.py), each tuned by real processes in several
ways: the command must end, its study be readable by the other commands, and no process be left. Unless it is --smoke,
rows are kept in benchmarks/results/hostile_studies.jsonl, 100 studies each, and those that are there are not run again;
rows of another commit count too, so delete the file to begin anew. --write updates its page beside it.
"""

from __future__ import annotations

from timing import ROOT, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import argparse
import json
import os
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import optuna
from regret.rows import Row, read_rows, stamp
from tests.faults.bench import Bench
from tests.faults.odd_objectives import NAMES, WAYS, tuned
from tests.faults.reference import Reference
from tests.faults.starter import Starter
from tests.security.fuzz_studies import commands_run, read_hostile_study_by_all
from tests.security.fuzzing import run_cases

ROWS = ROOT / "benchmarks" / "results" / "hostile_studies.jsonl"
CHUNK = 100
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # folders in it are made by tempfile; disks would take most of the time


def studies(first: int, count: int) -> Row:
    """Run all commands on the studies from a number on."""
    begin, before = time.process_time(), commands_run.total()
    where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        found = run_cases("hostile studies", read_hostile_study_by_all, Path(folder), range(first, first + count))
    for failure in found.failures[:3]:
        print(failure, file=sys.stderr)
    return {
        "kind": "studies",
        "first": first,
        "cases": count,
        "commands": commands_run.total() - before,
        "read": found.outcomes["accepted"],
        "refused": found.outcomes["refused"],
        "failures": len(found.failures),
        "cpu_s": round(time.process_time() - begin, 1),
        **stamp(("optuna",)),
    }


def objectives(way: str, names: tuple[str, ...]) -> Row:
    """Tune each objective in one way."""
    failures, statuses = 0, []
    with tempfile.TemporaryDirectory() as folder, Starter() as starter:
        reference = Reference(Path(folder) / "reference", starter)
        for name in names:
            try:
                statuses.append(tuned(Bench(Path(folder) / name, starter, reference), name, way))
            except AssertionError as error:
                failures += 1
                print(f"{name}, {way}: {error!s:.2000}", file=sys.stderr)
    ended = sum(status == 0 for status in statuses)
    return {
        "kind": f"objectives, {way}",
        "first": 0,
        "cases": len(names),
        "commands": 5 * len(names),
        "read": ended,
        "refused": len(statuses) - ended,
        "failures": failures,
        "cpu_s": None,
        **stamp(("optuna",)),
    }


def text_of(rows: list[Row]) -> str:
    """Return the table, with a row for each kind."""
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        counts = (sum(row[name] for row in mine) for name in ("cases", "commands", "read", "refused", "failures"))
        lines.append((kind, *(f"{count:,}" for count in counts)))
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    head = ("input", "cases", "commands run", "read", "refused", "failures")
    return f"{table(head, lines)}\n\nQuadrat at {commits}."


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=10_000)
    parser.add_argument("--smoke", action="store_true", help="a few of each, kept nowhere")
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/results")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("error")  # as in the tests
    if options.smoke:
        rows = [studies(0, 5), objectives("serial", NAMES[:3])]
    else:
        rows = read_rows(ROWS)
        done = {(row["kind"], row["first"]) for row in rows}
        firsts = range(0, options.studies, CHUNK)
        todo = [partial(studies, first, CHUNK) for first in firsts if ("studies", first) not in done]
        todo += [partial(objectives, way, NAMES) for way in WAYS if (f"objectives, {way}", 0) not in done]
        for run in todo:
            rows.append(run())
            with ROWS.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    measured = "a failure is a traceback, a hang, a broken promise or a process that is left"
    publish("hostile_studies", "Hostile studies and objectives", text_of(rows), write=options.write, measured=measured)
    return int(any(row["failures"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
