"""A server of a storage that is away for a while, as when it is restarted: how that is seen, and waited for."""

from __future__ import annotations

import logging
import time

from quadrat.studies.answering import began_of

__all__ = ["Outage", "is_away"]

SECONDS = 55.0  # from the first call without an answer until an outage is an error: a command then ends within a minute
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0  # seconds between attempts; each pause is twice the one before
_logger = logging.getLogger(__name__)


def is_away(error: BaseException) -> bool:
    """Return whether an error says that the server of a database cannot be reached for now.

    A file of SQLite has no server: what is wrong with it does not pass.
    """
    from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, PendingRollbackError

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PendingRollbackError):  # Optuna asked again on a connection that had been lost
            return True
        if isinstance(cause, DBAPIError):
            is_connection = isinstance(cause, OperationalError | InterfaceError) or cause.connection_invalidated
            return is_connection and not type(cause.orig).__module__.startswith("sqlite3")
        cause = cause.__cause__
    return False


class Outage:
    """How long a storage has been waited for since a call of it first failed."""

    def __init__(self) -> None:
        self._since: float | None = None  # by the monotonic clock, as the next one
        self._resumed = 0.0  # when the last pause ended
        self._longest = 0.0  # seconds that an attempt took to fail
        self._pause = _FIRST_PAUSE

    @property
    def lasts(self) -> bool:
        """Whether the storage is being waited for."""
        return self._since is not None

    def wait(self, error: Exception) -> None:
        """Wait before the next attempt, longer each time; where that one could come too late raise the error."""
        now = time.monotonic()
        if self._since is None:
            began = began_of(error)
            self._since = now if began is None else began
            reason = (str(error.__cause__ or error).strip() or repr(error)).splitlines()[0]
            _logger.warning("the storage does not answer (%s); waiting up to %g s for it", reason, SECONDS)
        else:
            self._longest = max(self._longest, now - self._resumed)
        if now + self._pause + self._longest > self._since + SECONDS:
            raise error
        time.sleep(self._pause)
        self._resumed = time.monotonic()
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def end(self) -> None:
        """Begin anew: something was written."""
        if self._since is not None:
            _logger.warning("the storage answers again, after %.1f s", time.monotonic() - self._since)
        self._since, self._longest, self._pause = None, 0.0, _FIRST_PAUSE
