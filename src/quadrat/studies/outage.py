"""A server of a storage that is away for a while, as when it is restarted: how that is seen, and waited for."""

from __future__ import annotations

import logging
import time

__all__ = ["Outage", "is_away"]

SECONDS = 60.0  # that are waited, all in all, before an outage is an error
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between attempts; each pause is twice the one before
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
    """How long a storage has been waited for since something was last written to it."""

    def __init__(self) -> None:
        self._waited, self._pause = 0.0, _FIRST_PAUSE

    def wait(self, error: Exception) -> None:
        """Wait before the next attempt, longer each time; where that was done for too long raise the error."""
        if self._waited + self._pause > SECONDS:
            raise error
        if self._waited == 0.0:
            reason = (str(error.__cause__ or error).strip() or repr(error)).splitlines()[0]
            _logger.warning("the storage does not answer (%s); waiting up to %g s for it", reason, SECONDS)
        time.sleep(self._pause)
        self._waited += self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def end(self) -> None:
        """Begin anew: something was written."""
        if self._waited:
            _logger.warning("the storage answers again, after %.1f s", self._waited)
        self._waited, self._pause = 0.0, _FIRST_PAUSE
