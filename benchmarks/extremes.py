"""Numerical extremes: how many drawn cases every method, kernel and certified band was put through, and what failed.

    python benchmarks/extremes.py [--smoke] [--write] [--cases 20000] [--minutes 10]

The properties and the cases are those of `extreme_cases`, of which tests/extremes runs a few. Cases are shared out
evenly; each kind of check has its share of the minutes, and a name whose time is over gets no more cases. Beside the
drawn cases, one Gaussian process learns 5,000 points. --write updates benchmarks/results/extremes.md.
"""

from __future__ import annotations

from timing import ROOT, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import argparse
import logging
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from extreme_cases import KERNELS, METHODS, Design, check_band, check_gp, check_run, designs, run_cases
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

MANY = 5000  # points of the one large process
SMOKE = 1  # case of each
BATCH = 10  # cases between looks at the clock
Check = Callable[[str, Any], None]


@dataclass
class Tally:
    """What came of the cases of one name."""

    what: str
    name: str
    cases: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def row(self) -> tuple[str, ...]:
        """For the table."""
        first = "; ".join(f"{count} times {text}" for text, count in self.failures.most_common(3))
        return self.what, self.name, str(self.cases), str(self.failures.total()), first


def tally(what: str, name: str, check: Check, cases: SearchStrategy[Any], most: int, until: float) -> Tally:
    """Put one name through so many cases, or as many as there is time for; warnings are failures."""
    found = Tally(what, name)

    def every(case: Any) -> None:
        found.cases += 1
        try:
            check(name, case)
        except Exception as error:  # counted: the others are to be had
            found.failures[f"{type(error).__name__}: {str(error)[:80]}"] += 1
            print(f"{what}, {name}: {type(error).__name__}: {str(error)[:200]}\n  {case!r}", file=sys.stderr)

    for batch in count():
        left = min(most - found.cases, BATCH)
        if left <= 0 or (batch and time.perf_counter() > until):
            return found
        limits = settings(
            max_examples=left,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        before = found.cases
        seed(batch)(limits(given(cases)(every)))()
        if found.cases == before:
            return found
    raise AssertionError("unreachable")


def large(n: int) -> Tally:
    """One process of n points, a third of which nearly repeat."""
    rng = np.random.default_rng(0)
    x = rng.random((n, 3))
    x[1::3] = np.clip(x[::3][: len(x[1::3])] + 1e-9, 0.0, 1.0)
    found = Tally("Gaussian process", f"Matern 5/2, {n} points", cases=1)
    try:
        check_gp("Matern 5/2", Design(x, rng.standard_normal(n), 1.0, 1.0, 1e-6), sketched=False)
    except Exception as error:
        found.failures[f"{type(error).__name__}: {str(error)[:80]}"] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="one case of each")
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/results")
    parser.add_argument("--cases", type=int, default=20_000, help="in all")
    parser.add_argument("--minutes", type=float, default=10.0, help="in all, at most")
    chosen = parser.parse_args()
    logging.getLogger("quadrat").setLevel(logging.CRITICAL)
    warnings.simplefilter("error")
    kinds: list[tuple[str, Iterable[str], Check, SearchStrategy[Any], float]] = [
        ("method", METHODS, check_run, run_cases(), 0.6),
        ("Gaussian process", KERNELS, check_gp, designs(), 0.2),
        ("certified band", KERNELS, check_band, designs(), 0.2),
    ]
    names = sum(len(list(kind[1])) for kind in kinds)
    each = SMOKE if chosen.smoke else max(chosen.cases // names, 1)
    rows = []
    for what, some, check, cases, share in kinds:
        seconds = 60 * chosen.minutes * share / len(list(some))
        rows += [tally(what, name, check, cases, each, time.perf_counter() + seconds) for name in some]
    rows.append(large(60 if chosen.smoke else MANY))
    total, failed = sum(row.cases for row in rows), sum(row.failures.total() for row in rows)
    head = ("what", "name", "cases", "failures", "which")
    text = f"{table(head, [row.row for row in rows])}\n\nIn all: {total} cases, {failed} failures."
    write = chosen.write and not chosen.smoke
    publish("extremes", "Numerical extremes", text, write=write, measured="cases drawn by Hypothesis with a fixed seed")


if __name__ == "__main__":
    main()
