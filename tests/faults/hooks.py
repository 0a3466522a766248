"""Faults that a process installs in itself before it runs `quadrat`: signals at an exact place, limits, clocks.

The places are

opening     a study is about to be opened
suggestion  a suggestion was made, and is not yet in the storage
objective   the objective is about to be called
writing     the record of a result is in the file, and not yet on the disk
torn        as writing, but of any record only a part is in the file
end         all trials are done, the result is about to be shown
"""

from __future__ import annotations

import ctypes
import datetime as dt
import errno
import json
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TOLD = 6  # Optuna's code for the record that a trial is over
_CAPABILITIES = 0x20080522  # version 3 of the kernel's interface
_IGNORE_PERMISSIONS = 0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def install(name: str, value: str) -> None:
    """Install a fault by its name."""
    {
        "signal": _signal_at,
        "file_size": _limit_file_size,
        "permissions": _respect_permissions,
        "clock": _shift_clock,
        "patience": _set_patience,
        "locks": _have_no_locks,
        "closed": lambda value: os.close(int(value)),
        "reader": _lose_reader,
    }[name](value)


def _signal_at(value: str) -> None:
    """Signal this process: PLACE:COUNT:NUMBER:TIMES, when the place was passed COUNT times before."""
    place, count, number, times = value.split(":")
    left = int(count)

    def passed() -> bool:
        nonlocal left
        left -= 1
        return left == -1

    def strike() -> None:
        for _ in range(int(times)):
            os.kill(os.getpid(), int(number))

    _PLACES[place](passed, strike)


def _opening(passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    from quadrat.cli import tune_command

    _before(tune_command, "open_study", passed, strike)


def _objective(passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    from quadrat.studies.evaluation import WithParams

    _before(WithParams, "__call__", passed, strike)


def _end(passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    from quadrat.cli import tune_command

    _before(tune_command, "_finish", passed, strike)


def _before(where: Any, name: str, passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    _around(where, name, before=lambda: strike() if passed() else None)


def _around(
    where: Any, name: str, before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None
) -> None:
    """Have something happen before and after every call of a function."""
    original = getattr(where, name)

    def struck(*given: Any, **named: Any) -> Any:
        before()
        found = original(*given, **named)
        after()
        return found

    setattr(where, name, struck)


def _suggestion(passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    from quadrat.studies.engine import StudyEngine

    _around(StudyEngine, "ask", after=lambda: strike() if passed() else None)


def _writing(passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    sync = os.fsync

    def struck(fd: Any) -> None:
        last = Path(f"/proc/self/fd/{fd}").read_bytes().splitlines()[-1]
        if json.loads(last)["op_code"] == _TOLD and passed():
            strike()
        sync(fd)

    os.fsync = struck


def _torn(passed: Callable[[], bool], strike: Callable[[], None]) -> None:
    from quadrat.studies import journal

    append = journal.append_records

    def struck(path: str, logs: Any) -> None:
        if passed():
            text = "".join(json.dumps(log) + "\n" for log in logs)
            with Path(path).open("r+b", buffering=0) as file:
                file.truncate(journal._end_of_records(file, file.seek(0, os.SEEK_END)))  # as every writer begins
                file.seek(0, os.SEEK_END)
                file.write(text[: random.Random(text).randrange(1, len(text))].encode())  # noqa: S311
                strike()
        append(path, logs)

    journal.append_records = struck


_PLACES = {
    "opening": _opening,
    "suggestion": _suggestion,
    "objective": _objective,
    "writing": _writing,
    "torn": _torn,
    "end": _end,
}


def _limit_file_size(value: str) -> None:
    """No file grows beyond so many bytes: a write fails, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(value), int(value)))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _respect_permissions(_value: str) -> None:
    """Have permissions of files hold for root too, by giving up the right to ignore them."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for index in (0, 1, 2):  # effective, permitted, inherited
        sets[index] &= ~_IGNORE_PERMISSIONS
    assert libc.capset(header, sets) == 0


def _have_no_locks(_value: str) -> None:
    """As on a network file system without them."""
    import fcntl

    def refused(*given: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    fcntl.flock = fcntl.lockf = fcntl.fcntl = refused  # type: ignore[assignment]


def _lose_reader(_value: str) -> None:
    """As in a pipe to `head`, which has ended."""
    reads, writes = os.pipe()
    os.close(reads)
    os.dup2(writes, 1)


def _set_patience(value: str) -> None:
    """Wait less: JSON of seconds by the names of constants."""
    from quadrat.cli import stopping
    from quadrat.studies import answering, outage

    for name, seconds in json.loads(value).items():
        [module] = [one for one in (stopping, answering, outage) if hasattr(one, name)]
        setattr(module, name, seconds)


def _shift_clock(value: str) -> None:
    """Set the clock: JSON pairs of the number of evaluations begun here and the seconds by which it is wrong then."""
    from optuna.storages.journal import _storage

    from quadrat.studies.evaluation import WithParams

    shifts, calls, seconds = dict(json.loads(value)), 0, 0.0
    now, call = time.time, WithParams.__call__

    class Shifted(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return dt.datetime.now(tz) + dt.timedelta(seconds=seconds)

    def counted(self: WithParams, params: Any) -> object:
        nonlocal calls, seconds
        seconds = shifts.get(calls, seconds)
        calls += 1
        return call(self, params)

    time.time = lambda: now() + seconds
    setattr(_storage, "datetime", Shifted)  # noqa: B010  # a name that it only imported
    WithParams.__call__ = counted  # type: ignore[method-assign]
