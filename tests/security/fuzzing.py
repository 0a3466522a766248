"""Runs one target on many cases, each found again by its number, and counts what became of them.

A target is a function of a generator and a folder of its own. It returns "accepted" or "refused", and anything else
that leaves it is a failure: an error that is not one of ours, a promise that does not hold, or too long a time.
"""

from __future__ import annotations

import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal, TypeAlias

from tests.security.mutation import Random, generator_of

__all__ = ["Outcome", "Tally", "Target", "run_cases"]

Outcome: TypeAlias = Literal["accepted", "refused"]
Target: TypeAlias = Callable[[Random, Path], Outcome]

_LONGEST = 600.0  # seconds that a case may take: it takes milliseconds, so that more is a hang on any machine


class _Hang(BaseException):
    """A case took too long; no error of the code's own, so that nothing catches it."""


@dataclass
class Tally:
    """What became of the cases of one target."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run_cases(name: str, target: Target, folder: Path, cases: range, *, seed: int = 0) -> Tally:
    """Run the cases of these numbers; all of them, whatever fails."""
    tally = Tally()
    begin = time.perf_counter()
    for case in cases:
        try:
            with _at_most(_LONGEST):
                tally.outcomes[target(generator_of(name, seed, case), folder)] += 1
        except (Exception, SystemExit, _Hang):
            tally.failures.append(f"{name}, seed {seed}, case {case}:\n{traceback.format_exc()}")
    tally.seconds = time.perf_counter() - begin
    return tally


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise _Hang(f"more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
