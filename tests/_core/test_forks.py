"""Processes that are forked do not answer signals for their parent."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from quadrat._core.forks import undone_in_forks
from quadrat.cli.stopping import stopped_by_signals

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def status_of_child(path: Path) -> int:
    child = os.fork()
    if child == 0:
        path.write_text("ready")
        time.sleep(60)
        os._exit(0)
    while not path.exists():
        time.sleep(0.01)
    for _ in range(2):
        os.kill(child, signal.SIGTERM)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_is_to_be_undone_is_undone_in_a_fork_alone_and_the_last_first() -> None:
    said: list[str] = []
    reads, writes = os.pipe()
    with undone_in_forks(lambda: said.append("first")), undone_in_forks(lambda: said.append("second")):
        child = os.fork()
        if child == 0:
            os.write(writes, " ".join(said).encode())
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reads, 100) == b"second first"
    assert said == []
    os.close(reads)
    os.close(writes)


def test_signals_to_a_forked_process_end_it_and_do_not_count_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a pool of an objective ends its processes: two such signals ended the run."""
    ended: list[int] = []
    monkeypatch.setattr("quadrat.cli.stopping.GRACE", 0.1)
    monkeypatch.setattr(os, "_exit", ended.append)
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with stopped_by_signals():
            assert status_of_child(tmp_path / "ready") == -signal.SIGTERM
            time.sleep(0.3)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended == []
