"""Processes that run `quadrat`: started from a prepared one, or from nothing, and none of them left behind."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

PATIENCE = 300.0  # seconds for anything that must happen
PREPARED = Path(__file__).with_name("prepared.py")


class Command(Protocol):
    """A process that runs `quadrat`, the leader of a group of processes."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal, or None where it runs."""


class Starter:
    """Starts processes; those that are left when this is left are killed, with their groups."""

    def __enter__(self) -> Starter:
        self._ended: dict[int, int] = {}
        self._begun: list[int] = []
        self._server: subprocess.Popen[bytes] | None = None
        # A shell starts what runs in the background with SIGINT ignored; processes that we start would inherit that.
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        if self._before[signal.SIGINT] is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._before[signal.SIGTERM] is signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for pid in self._begun:
            if pid not in self._ended:
                kill_group(pid)
        if self._server is not None:
            self._server.communicate()
        self._server = None
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def copy(
        self,
        arguments: Sequence[str],
        folder: Path,
        out: Path,
        err: Path,
        *,
        faults: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> Command:
        """Start a copy of the prepared process; see `prepared` and `hooks`."""
        order = {
            "arguments": list(arguments),
            "folder": str(folder),
            "out": str(out),
            "err": str(err),
            "faults": dict(faults),
            "environment": dict(environment),
        }
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-u", str(PREPARED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
            self._read("ready")
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(order).encode() + b"\n")
        pid = int(self._read("begun")["begun"])
        self._begun.append(pid)
        return _Copy(self, pid)

    def fresh(
        self, arguments: Sequence[str], folder: Path, out: Path, err: Path, *, environment: Mapping[str, str]
    ) -> Command:
        """Start a process from nothing, as people do."""
        command = [sys.executable, "-u", "-m", "quadrat.cli", *arguments]
        with out.open("ab") as to, err.open("ab") as also:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=to,
                stderr=also,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        self._begun.append(process.pid)
        return process

    def status_of(self, pid: int) -> int | None:
        """Return the exit status of a copy that ended."""
        while pid not in self._ended and self._readable(0.0):
            self._take()
        return self._ended.get(pid)

    def _read(self, wanted: str) -> dict[str, Any]:
        while True:
            assert self._readable(PATIENCE), f"the prepared process does not say {wanted!r}"
            said = self._take()
            if wanted in said:
                return said

    def _readable(self, seconds: float) -> bool:
        assert self._server is not None
        assert self._server.stdout is not None
        return bool(select.select([self._server.stdout], [], [], seconds)[0])

    def _take(self) -> dict[str, Any]:
        assert self._server is not None
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the prepared process ended"
        said: dict[str, Any] = json.loads(line)
        if "ended" in said:
            self._ended[said["ended"]] = said["status"]
        return said


class _Copy:
    """A copy of the prepared process."""

    def __init__(self, starter: Starter, pid: int) -> None:
        self._starter, self.pid = starter, pid

    def poll(self) -> int | None:
        return self._starter.status_of(self.pid)


def kill_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to all processes of a group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def wait(command: Command, seconds: float = PATIENCE) -> int:
    """Return the exit status of a process when it has ended; one that takes too long is killed and is an error."""
    deadline = time.monotonic() + seconds
    while (status := command.poll()) is None:
        if time.monotonic() > deadline:
            kill_group(command.pid)
            raise AssertionError(f"process {command.pid} did not end in {seconds:g} s")
        time.sleep(0.01)
    return status


def runs(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes_of_group(group: int) -> list[str]:
    """Return the processes of a group that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] not in "ZX" and int(path.parent.name) != os.getpid():
            found.append(f"{path.parent.name} {fields[0]}")
    return found
