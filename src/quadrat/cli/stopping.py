"""Signals that stop a command: the first asks, the second ends it, also where a driver or another call in C hangs.

Python runs handlers of signals between two of its own instructions. While a library waits in C, as for a database that
says nothing, they are not run. The number of a signal is written to a pipe all the same: a thread reads it there.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from quadrat._core.forks import undone_in_forks

__all__ = ["GRACE", "STOPPED", "stopped_by_signals"]

GRACE = 8.0  # seconds that a process has to end by itself after the second signal
STOPPED = "stopped; what was running is evaluated again when the study goes on"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt, as SIGINT does, where nothing better is done about it.

    After two of these signals the process ends, at the latest after `GRACE` seconds, with the status that the last
    signal gives.
    """
    if threading.current_thread() is not threading.main_thread():  # elsewhere signals cannot be caught
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt(number)

    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    over = threading.Event()
    before = signal.signal(signal.SIGTERM, interrupt)
    fd = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    thread = threading.Thread(target=_end_after_two, args=(reads, over), name="quadrat-signals", daemon=True)
    thread.start()

    def undo() -> None:  # or a signal to a forked process would count as one to this one, and end both
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, before)

    try:
        with undone_in_forks(undo):
            yield
    finally:
        over.set()
        signal.set_wakeup_fd(fd)
        signal.signal(signal.SIGTERM, before)
        os.close(writes)  # the thread reads the end, unless it ends this process


def _end_after_two(reads: int, over: threading.Event) -> None:
    """End this process when two signals came and it did not end by itself; it may hang in what no signal reaches."""
    count = number = 0
    while count < 2:
        found = os.read(reads, 1)
        if not found:
            os.close(reads)
            return
        if found[0] in _SIGNALS:
            count, number = count + 1, found[0]
    if not over.wait(GRACE):
        with suppress(OSError):
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"quadrat: {STOPPED}\n".encode())
        os._exit(128 + number)
