"""Who coordinates a study: one process at a time, and for how long it may be silent."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from types import TracebackType

from optuna.study import Study

from quadrat.errors import InvalidInput

__all__ = ["Lease"]

_ATTRIBUTE = "quadrat:coordinator"
_logger = logging.getLogger(__name__)
SECONDS = 30.0  # after the last sign of life that a coordinator counts as dead


class Lease:
    """The right to hand out trials of a study, kept alive by a thread as long as this is entered.

    Parameters
    ----------
    study
        Whose trials are handed out.
    seconds
        See `SECONDS`.

    Raises
    ------
    InvalidInput
        When entered: another process has it, and is alive.
    """

    def __init__(self, study: Study, *, seconds: float = SECONDS) -> None:
        self.owner = uuid.uuid4().hex
        self._study, self._seconds = study, seconds
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Lease:
        other = self._study.user_attrs.get(_ATTRIBUTE)
        if isinstance(other, dict) and _is_alive(other):
            raise InvalidInput(
                f"study: expected one that nobody else coordinates, got {self._study.study_name!r}, which process"
                f" {other.get('pid')} on {other.get('host')} does; stop that one, or wait {self._seconds:g} s after it"
                " died"
            )
        self._renew()
        self._thread = threading.Thread(target=self._keep, name="quadrat-lease", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        self._study.set_user_attr(_ATTRIBUTE, None)

    def _keep(self) -> None:
        while not self._done.wait(self._seconds / 3):
            try:
                self._renew()
            except Exception:  # a storage that is away for a while; whatever else is written says so too
                _logger.warning("the lease of study %r could not be renewed", self._study.study_name, exc_info=True)

    def _renew(self) -> None:
        mine = {
            "owner": self.owner,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "until": time.time() + self._seconds,
        }
        self._study.set_user_attr(_ATTRIBUTE, mine)


def _is_alive(lease: dict[str, object]) -> bool:
    until, pid = lease.get("until"), lease.get("pid")
    if not isinstance(until, int | float) or until <= time.time():
        return False  # also here, where another process may have its number by now
    return _runs(pid) if lease.get("host") == socket.gethostname() and isinstance(pid, int) else True


def _runs(pid: int) -> bool:
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, but is another user's
        return True
    return True
