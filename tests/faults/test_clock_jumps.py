"""A clock that is set while a study runs changes nothing: neither who runs it, nor timeouts, nor suggestions."""

from __future__ import annotations

from tests.faults.bench import Bench
from tests.faults.clock_jumps import clock_that_jumps, clock_that_jumps_with_a_trial_timeout


def test_a_day_ahead_and_two_back(bench: Bench) -> None:
    found = clock_that_jumps(bench)
    assert found.is_sound, found


def test_trial_timeouts(bench: Bench) -> None:
    found = clock_that_jumps_with_a_trial_timeout(bench)
    assert found.is_sound, found
