"""kill -9 of commands other than `tune`, in small number: `python benchmarks/faults.py` has hundreds."""

from __future__ import annotations

from tests.faults.bench import Bench
from tests.faults.killed_commands import asks_killed


def test_asks_that_are_killed(bench: Bench) -> None:
    found = asks_killed(bench, 6, seed=3)
    assert (found.lost, found.duplicated, found.stuck) == (0, 0, 0), found
    assert found.told >= 2
