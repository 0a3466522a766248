"""Record the golden traces, or show which of them differ: `python -m tests.traces.record [--write] [NAME ...]`.

Without --write nothing is written. With it, traces of the named runs, or of all runs, replace those on disk. Do that
only where a difference is meant, and say in the commit which one and why.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.traces.comparing import FINGERPRINT, GOLDEN, differences, fingerprint, read, report, written
from tests.traces.runs import RUNS

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the runs; return 1 where traces differ from those on disk and were not written, 0 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="runs; all if none is named")
    parser.add_argument("--write", action="store_true", help="replace the traces on disk")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in RUNS]
    if unknown:
        parser.error(f"expected names of runs, got {', '.join(unknown)}; there are {', '.join(RUNS)}")
    names = given.names or list(RUNS)
    same_kind = not FINGERPRINT.exists() or read(FINGERPRINT) == fingerprint()
    if not same_kind:
        _say("recorded on another kind of machine, so that traces differ in their last bits; see fingerprint.json")
        if given.write and given.names:
            _say("all traces are of one kind of machine: write all of them, or none")
            return 2
    differing = [name for name in names if not _is_recorded(name, write=given.write)]
    stray = sorted(path.stem for path in GOLDEN.glob("*.json") if path.stem not in RUNS)
    for name in stray:
        _say(f"{name}: a trace without a run" + ("; removed" if given.write else ""))
        if given.write:
            (GOLDEN / f"{name}.json").unlink()
    if given.write:
        FINGERPRINT.write_text(written(fingerprint()), encoding="utf-8")
        return 0
    _say(f"{len(differing)} of {len(names)} traces differ: {', '.join(differing) or 'none'}")
    return 1 if differing or stray else 0


def _is_recorded(name: str, *, write: bool) -> bool:
    """Run a run, and return whether its trace is the one on disk; where it is not, say so and write it if asked to."""
    begun = time.process_time()
    now = RUNS[name]()
    seconds = time.process_time() - begun
    path = GOLDEN / f"{name}.json"
    text = written(now)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        _say(f"{name}: as recorded ({seconds:.2f} s)")
        return True
    what = report(list(differences(read(path), now))) if path.exists() else "new"
    _say(f"{name}: {what} ({seconds:.2f} s)")
    if write:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return False


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
