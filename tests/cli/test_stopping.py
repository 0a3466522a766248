"""Two signals end a process wherever it waits; what was installed goes away again."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from quadrat.cli.stopping import stopped_by_signals

HANGING = """
import signal, sys, threading, time
from quadrat.cli import stopping
stopping.GRACE = 0.3
with stopping.stopped_by_signals():
    signal.signal(signal.SIGTERM, lambda number, frame: None)  # as where nothing of Python's runs any more
    print("ready", flush=True)
    end = time.monotonic() + {seconds}
    while time.monotonic() < end:
        time.sleep(0.05)
print("over")
"""


def test_a_process_that_hangs_ends_after_two_signals_and_not_after_one() -> None:
    hangs = subprocess.Popen([sys.executable, "-c", HANGING.format(seconds=600)], stdout=-1, stderr=-1, text=True)
    assert hangs.stdout is not None
    assert hangs.stdout.readline() == "ready\n"
    hangs.send_signal(signal.SIGTERM)
    time.sleep(0.6)
    assert hangs.poll() is None
    hangs.send_signal(signal.SIGTERM)
    _, complained = hangs.communicate(timeout=60)
    assert hangs.returncode == 128 + signal.SIGTERM
    assert complained == "quadrat: stopped; what was running is evaluated again when the study goes on\n"


def test_a_process_that_ends_by_itself_is_not_ended() -> None:
    ends = subprocess.Popen([sys.executable, "-c", HANGING.format(seconds=0.2)], stdout=-1, stderr=-1, text=True)
    assert ends.stdout is not None
    assert ends.stdout.readline() == "ready\n"
    for _ in range(2):
        ends.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    said, complained = ends.communicate(timeout=60)
    assert (ends.returncode, said, complained) == (0, "over\n", "")


def test_everything_is_as_before_when_the_block_ends() -> None:
    before = signal.getsignal(signal.SIGTERM), len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        with stopped_by_signals(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    deadline = time.monotonic() + 30
    while any(one.name == "quadrat-signals" for one in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert (signal.getsignal(signal.SIGTERM), len(list(Path("/dev/fd").iterdir()))) == before


def test_in_a_thread_nothing_is_installed() -> None:
    found = []

    def look() -> None:
        with stopped_by_signals():
            found.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]
