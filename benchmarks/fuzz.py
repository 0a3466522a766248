"""Damaged and strange inputs in great number: files, journals, texts and command lines.

    python benchmarks/fuzz.py [--cases 100000] [--seed 0] [--write]

Every input must be read, or refused with an error of ours; anything else is a failure and is printed with the number by
which it is found again. The tests run the first few hundred cases of each kind. --write updates
benchmarks/results/fuzz.md.
"""

from __future__ import annotations

from timing import ROOT, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import argparse
import os
import tempfile
import warnings
from pathlib import Path

from tests.security.fuzzing import Tally, run_cases
from tests.security.targets import TARGETS

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # folders in it are made by tempfile; disks would take most of the time


def tallies(cases: int, seed: int) -> dict[str, Tally]:
    """Run all targets, with `cases` cases in all."""
    found = {}
    where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    for name, (target, share) in TARGETS.items():
        with tempfile.TemporaryDirectory(dir=where) as folder:
            found[name] = run_cases(name, target, Path(folder), range(round(share * cases)), seed=seed)
        for failure in found[name].failures[:3]:
            print(failure, file=sys.stderr)
    return found


def text_of(found: dict[str, Tally]) -> str:
    """Return the table, with a row for all."""
    every = Tally()
    for tally in found.values():
        every.outcomes.update(tally.outcomes)
        every.failures += tally.failures
        every.seconds += tally.seconds
    head = ("input", "cases", "read", "refused", "failures", "seconds")
    return table(head, [_row(name, tally) for name, tally in {**found, "all": every}.items()])


def _row(name: str, tally: Tally) -> tuple[str, ...]:
    read, refused, failed = tally.outcomes["accepted"], tally.outcomes["refused"], len(tally.failures)
    counts = (read + refused + failed, read, refused, failed)
    return name, *(f"{count:,}" for count in counts), f"{tally.seconds:.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000, help="in all")
    parser.add_argument("--seed", type=int, default=0, help="of all cases")
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/results")
    options = parser.parse_args()
    warnings.simplefilter("error")  # as in the tests
    found = tallies(options.cases, options.seed)
    measured = f"seed {options.seed}, one process; a failure is an error that is not ours, a broken promise or a hang"
    publish("fuzz", "Damaged and strange inputs", text_of(found), write=options.write, measured=measured)
    return int(any(tally.failures for tally in found.values()))


if __name__ == "__main__":
    sys.exit(main())
