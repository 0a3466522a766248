"""Workers that die or hang cost their trial a retry, those that run out of memory its value; the run goes on."""

from __future__ import annotations

from tests.faults.bench import Bench
from tests.faults.worker_faults import faulty_workers


def test_every_fault_once(bench: Bench) -> None:
    found = faulty_workers(bench, trial_timeout=8.0)
    assert found.is_sound, found
