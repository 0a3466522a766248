"""What a storage, a file or a terminal throws, as one line: every command refuses it in the same way."""

from __future__ import annotations

import errno
import os
from traceback import walk_tb

__all__ = ["failure_line"]

_STORAGES = ("optuna.storages", "quadrat.studies.journal", "sqlalchemy")  # modules in which storages raise
_KEPT, _GOES_ON = "; what was told before is kept", ", and the same command goes on with it"
_CURES = {
    errno.ENOSPC: "free some space there",
    errno.EDQUOT: "free some space there",
    errno.EFBIG: "allow larger files there (ulimit -f)",
    errno.EROFS: "name another place",
    errno.EACCES: "name a place that you may write to",
    errno.EPERM: "name a place that you may write to",
    errno.ENOLCK: "its file system has no locks: name a place on another one, or a database",
    errno.EMFILE: "allow more open files (ulimit -n)",
}
_MOVED = "SQLITE_READONLY_DBMOVED"  # of a file that was removed or replaced while it was open
_OWN_LINE = "quadrat: "  # how errors of packages begin that were found to be other than they have to be
_OF_STREAMS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)  # without the name of a file


def failure_line(error: BaseException, where: str | None) -> str | None:
    """Return what went wrong, what was expected and how to mend it; None where it is a mistake in the code.

    Parameters
    ----------
    error
        That a command ended with.
    where
        Its --storage.

    Examples
    --------
    >>> failure_line(OSError(28, "No space left on device", "/data/out.csv"), None)
    '/data/out.csv: expected a file that can be used, got No space left on device; free some space there'
    """
    if isinstance(error, MemoryError):
        return "memory: expected enough for what was asked, got none any more; ask for less, or elsewhere"
    if isinstance(error, ImportError) and str(error).startswith(_OWN_LINE):  # such as an Optuna that is too new
        return str(error).removeprefix(_OWN_LINE)
    cure = _CURES.get(error.errno or 0) if isinstance(error, OSError) else None
    if _is_of_storage(error):
        from quadrat.studies.storage import place  # not above: Quadrat may refuse the Optuna that is installed

        if any(getattr(getattr(one, "orig", None), "sqlite_errorname", "") == _MOVED for one in _causes(error)):
            return (
                f"storage: expected the database {place(where)} as it was when this command began, got nothing or"
                " another file in its place; put it back, or start again with what is there now"
            )
        place_of = f"storage: expected {place(where)} to answer and to take what is told, got {_reason(error)}"
        passes = isinstance(error, OSError) or any("OperationalError" in type(one).__name__ for one in _causes(error))
        return f"{place_of}{f'; {cure}' if cure else ''}{_KEPT}{_GOES_ON if passes else ''}"
    if not isinstance(error, OSError):
        return None
    name = error.filename if isinstance(error.filename, str | bytes) else None
    if error.errno == errno.ENAMETOOLONG and name is not None:
        return f"path: expected one that is as short as files are named here, got one of {len(name)} characters"
    if name is not None:
        return (
            f"{os.fsdecode(name)}: expected a file that can be used, got {_reason(error)}{f'; {cure}' if cure else ''}"
        )
    if error.errno in _OF_STREAMS:
        return (
            f"standard output: expected to take what is printed, got {_reason(error)}; what the command wrote to a"
            " storage is kept"
        )
    return f"system: expected to give what the command needs, got {_reason(error)}{f'; {cure}' if cure else ''}"


def _is_of_storage(error: BaseException) -> bool:
    """Return whether an error was raised where a storage works, by whatever it is made of."""
    if type(error).__module__.startswith(("sqlalchemy", "optuna.exceptions")):
        return True
    modules = (str(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(error.__traceback__))
    return any(module.startswith(_STORAGES) for module in modules)


def _causes(error: BaseException) -> list[BaseException]:
    return [error, *(_causes(error.__cause__) if error.__cause__ is not None else [])]


def _reason(error: BaseException) -> str:
    """Return the first line of what the system or the driver says."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if type(error).__module__.startswith("optuna.exceptions") and error.__cause__ is not None:
        error = error.__cause__
    said = str(error).strip().splitlines()
    known = isinstance(error, OSError) or type(error).__module__.startswith(("sqlalchemy", "optuna"))
    return (said[0] if known else f"{type(error).__name__}: {said[0]}") if said else repr(error)
