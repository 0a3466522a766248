"""Ctrl-C and SIGTERM: what runs finishes, the exit status says which signal it was, and the same command goes on."""

from __future__ import annotations

import signal

from tests.faults.bench import Bench
from tests.faults.signals import signalled_in_every_phase, signalled_while_it_starts, signalled_with_workers


def test_every_phase(bench: Bench) -> None:
    found = signalled_in_every_phase(bench)
    assert found.is_sound, found


def test_while_it_starts(bench: Bench) -> None:
    found = signalled_while_it_starts(bench, [0.2])
    assert found.is_sound, found


def test_all_processes_at_once(bench: Bench) -> None:
    found = signalled_with_workers(bench, signal.SIGTERM)
    assert found.is_sound, found
