"""kill -9: what was told is there, once, and the study ends as one that was never interrupted."""

from __future__ import annotations

from tests.faults.bench import Bench
from tests.faults.kills import killed_again_and_again, workers_killed


def test_a_run_that_is_killed_again_and_again(bench: Bench) -> None:
    found = killed_again_and_again(bench, 10, seed=0, fresh=1)
    assert found.is_sound, found
    assert found.injected == 10
    assert found.told > 5


def test_a_coordinator_that_is_killed_leaves_no_workers(bench: Bench) -> None:
    found = workers_killed(bench, 2, seed=0)
    assert found.is_sound, found
    assert found.told == 16
