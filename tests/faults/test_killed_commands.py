"""kill -9 of commands other than `tune`, in small number: `python benchmarks/faults.py` has hundreds."""

from __future__ import annotations

import pytest
from tests.faults.bench import Bench
from tests.faults.killed_commands import SCENARIOS


@pytest.mark.parametrize("name", SCENARIOS)
def test_commands_that_are_killed(name: str, bench: Bench) -> None:
    found = SCENARIOS[name](bench, 4, seed=3)
    assert (found.lost, found.duplicated, found.stuck) == (0, 0, 0), found
    assert found.told >= 1
