"""Who coordinates a study: one process at a time, and how others know that it is dead.

No clock of any machine is believed. Of a process on this machine the kernel says whether it runs; one elsewhere gives a
sign of life every ten seconds, and is dead when none came for half a minute, as measured here by a clock that nobody
sets.

The lease is an attribute of the study that changes in single steps (`transitions.exchange`): from the one that was
looked at, or none, to one's own. So of several processes that find a study free, or its coordinator dead, one has it.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

from quadrat.errors import InvalidInput
from quadrat.studies.transitions import exchange

__all__ = ["ASKED", "Lease", "is_being_asked", "note_asking"]

ASKED = "quadrat:asked"
"""The system attribute of a trial with the process that begins it for somebody, who evaluates it."""

_ATTRIBUTE = "quadrat:coordinator"
_logger = logging.getLogger(__name__)
SECONDS = 30.0  # without a sign of life after which a coordinator on another machine counts as dead
_LOOKS = 100  # for a sign of life, within that time


class Lease:
    """The right to hand out trials of a study, kept alive by a thread as long as this is entered.

    Entering is refused where another process has it and is alive. For `seconds` see `SECONDS`.
    """

    def __init__(self, study: Study, *, seconds: float = SECONDS) -> None:
        self.owner = uuid.uuid4().hex
        self._study, self._seconds = study, seconds
        self._signs, self._signed = 0, 0.0
        self._writing = threading.Lock()
        self._taken_by: dict[str, Any] | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Lease:
        while True:
            found = self._found()
            other = self._other(found)
            if other is not None and self._is_alive(other):
                raise self._refused(other)
            self._signed = time.monotonic()
            if self._exchange(found, self._mine()):
                break
        self._thread = threading.Thread(target=self._keep, name="quadrat-lease", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self._write(None)
        except Exception as refused:  # a storage that is away: the lease ends with this process all the same
            if error is None:
                _logger.warning("the lease of study %r could not be given back: %s", self._study.study_name, refused)

    def check(self) -> None:
        """Refuse to go on where another process took the study over, as one does from a process that was suspended."""
        if time.monotonic() - self._signed > self._seconds / 2:  # as after a suspension, before the thread looks
            self._sign()
        if self._taken_by is not None:
            raise self._refused(self._taken_by)

    def _refused(self, other: dict[str, Any]) -> InvalidInput:
        return InvalidInput(
            f"study: expected one that nobody else coordinates, got {self._study.study_name!r}, which process"
            f" {other.get('pid')} on {other.get('host')} does; stop that one, or wait until it has ended"
        )

    def _found(self) -> Any:
        return self._study.user_attrs.get(_ATTRIBUTE)

    def _other(self, found: Any) -> dict[str, Any] | None:
        """Return the lease of somebody else, if that was found."""
        return found if isinstance(found, dict) and found.get("owner") != self.owner else None

    def _is_alive(self, other: dict[str, Any]) -> bool:
        kernel = _this_process()["kernel"]
        if kernel is not None and other.get("kernel") == kernel:
            return _started(other.get("pid")) == other.get("started")
        _logger.warning(
            "process %s on %s had study %r; waiting up to %g s for a sign of life",
            other.get("pid"), other.get("host"), self._study.study_name, self._seconds,
        )  # fmt: skip
        deadline = time.monotonic() + self._seconds
        while time.monotonic() < deadline:
            time.sleep(self._seconds / _LOOKS)
            now = self._other(self._found())
            if now != other:
                return now is not None
        return False

    def _keep(self) -> None:
        while self._taken_by is None and not self._done.wait(self._seconds / 3):
            self._sign()

    def _sign(self) -> None:
        """Give a sign of life, or learn that somebody else took the study over."""
        try:
            self._write(self._mine())
        except Exception as error:  # a storage that is away for a while; whatever else is written says so too
            _logger.warning("the lease of study %r could not be renewed: %s", self._study.study_name, error)

    def _write(self, new: dict[str, Any] | None) -> None:
        """Put something in the place of this lease, unless somebody else took the study over."""
        self._signed = time.monotonic()  # before it is written: others count from when they see it
        with self._writing:
            while self._taken_by is None:
                found = self._found()
                self._taken_by = self._other(found)
                if self._taken_by is None and self._exchange(found, new):
                    return

    def _exchange(self, found: Any, new: dict[str, Any] | None) -> bool:
        return exchange(self._study._storage, self._study._study_id, _ATTRIBUTE, found, new)

    def _mine(self) -> dict[str, Any]:
        self._signs += 1
        return {"owner": self.owner, "host": socket.gethostname(), "signs": self._signs, **_this_process()}


def note_asking(study: Study, trial_id: int) -> None:
    """Note that this process chooses the parameters of a trial that it began, for somebody else to evaluate."""
    study._storage.set_trial_system_attr(trial_id, ASKED, _this_process())


def is_being_asked(trial: FrozenTrial) -> bool:
    """Return whether some process still chooses the parameters of a trial, or may do so on another machine."""
    note = trial.system_attrs.get(ASKED)
    if trial.params or not isinstance(note, dict):
        return False
    kernel = _this_process()["kernel"]
    return note.get("kernel") != kernel or kernel is None or _started(note.get("pid")) == note.get("started")


def _this_process() -> dict[str, Any]:
    """Return what nobody else has: the kernel (and the part of it) that numbers processes, the number, the start."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        kernel = f"{boot} {Path('/proc/self/ns/pid').readlink()}"  # containers number their processes each for itself
    except OSError:  # not Linux
        kernel = None
    return {"kernel": kernel, "pid": os.getpid(), "started": _started(os.getpid())}


def _started(pid: object) -> int | None:
    """Return when a process of this machine began, in ticks since the machine did; None where there is none."""
    if not isinstance(pid, int):  # a storage may hold anything, also a path to elsewhere
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])
