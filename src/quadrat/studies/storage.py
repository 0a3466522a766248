"""Where studies are kept: a journal file, or whatever Optuna can open."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

from optuna.storages import BaseStorage, RDBStorage

from quadrat.errors import InvalidInput
from quadrat.studies.answering import AnsweringStorage, driver_options
from quadrat.studies.journal import journal_storage

__all__ = ["DEFAULT_JOURNAL", "check_outlives", "check_output", "close_storage", "open_storage", "place"]

DEFAULT_JOURNAL = "quadrat.journal"
"""The journal file, in the working directory, where no other storage is named."""

_EXPECTED = (
    "the path of a journal file, or a URL such as sqlite:///study.db or postgresql+psycopg://user:password@host/name"
)

_JOURNAL, _SQLITE = b'{"op_code":', b"SQLite format 3\0"  # how files with studies begin
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds before a new database is tried again


def open_storage(where: str | None = None) -> BaseStorage:
    """Return the storage at a path or URL; a journal file is created where there is none.

    Parameters
    ----------
    where
        A path, or a URL that Optuna knows; None is `DEFAULT_JOURNAL` in the working directory.

    Returns
    -------
    optuna.storages.BaseStorage
        To be passed to Optuna as `storage`.

    Raises
    ------
    InvalidInput
        A storage that cannot be reached, a driver that is not installed, a file that is no journal or cannot be
        written; the message says which.

    Examples
    --------
    >>> import optuna
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     optuna.get_all_study_names(open_storage(f"{folder}/new.journal"))
    []
    """
    if where is not None and "://" in where:
        return _at_url(where)
    path = Path(DEFAULT_JOURNAL if where is None else where)
    if path.is_dir():
        raise InvalidInput(f"storage: expected {_EXPECTED}, got the folder {path}")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"storage: expected {_EXPECTED}, got {path}, which is a device, a pipe or a socket")
    try:
        storage = journal_storage(path)
        storage.get_all_studies()  # reads it all: what is no journal is found out now
    except OSError as error:
        raise InvalidInput(f"storage: expected a journal file that can be written, got {path}: {error}") from error
    except Exception as error:  # Optuna takes every record for one of its own: whatever goes wrong with others
        raise InvalidInput(
            f"storage: expected a journal file, got {path}, which cannot be read as one ({type(error).__name__}:"
            f" {error!s:.300})"
        ) from error
    return storage


def check_outlives(where: str | None) -> None:
    """Refuse a database in memory: what a command told it would be gone when the command ends.

    Examples
    --------
    >>> check_outlives("sqlite:///study.db")
    >>> check_outlives("sqlite://")
    Traceback (most recent call last):
    quadrat.errors.InvalidInput: storage: expected one that outlives this command, got sqlite://, a database in ...
    """
    if where is not None and _is_in_memory(where):
        raise InvalidInput(
            f"storage: expected one that outlives this command, got {place(where)}, a database in memory; name a file,"
            " such as sqlite:///study.db"
        )


def _is_in_memory(where: str) -> bool:
    scheme, slashes, rest = where.partition("://")
    if not slashes or scheme.partition("+")[0] != "sqlite":
        return False
    path, _, query = rest.removeprefix("/").partition("?")
    return path in ("", ":memory:", "file::memory:") or "mode=memory" in query


def check_output(option: str, path: str) -> None:
    """Refuse a file to write to that has studies in it, whichever they are: they would be gone."""
    if not Path(path).is_file():  # a pipe would wait for somebody who writes
        return
    try:
        with Path(path).open("rb") as file:
            begins = file.read(len(_SQLITE))
    except OSError:  # whoever writes it says what is wrong with it
        return
    if begins.startswith((_JOURNAL, _SQLITE)):
        raise InvalidInput(
            f"{option}: expected a file of its own, got {path}, which is a storage with studies; name another one"
        )


def close_storage(storage: BaseStorage) -> None:
    """Leave the server of a storage, if it has one: connections that are just forgotten stay open for a while."""
    if isinstance(storage, RDBStorage):
        storage.remove_session()
        storage.engine.dispose()


def _at_url(url: str) -> BaseStorage:
    try:
        return _with_tables(url)
    except ImportError as error:
        cure = "; pip install it"
        if url.startswith("postgres"):
            cure = "; pip install 'quadrat[postgres]', and write postgresql+psycopg://user:password@host/name"
        raise InvalidInput(f"storage: expected a driver for {place(url)} to be installed, got {error}{cure}") from error
    except Exception as error:  # every database has its own errors for a server that is down
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        if (
            url.count("@") > 1
        ):  # a password that is not quoted: a part of it was taken for the host, and is in the message
            reason = f"{type(error).__name__}; write an @ in a password as %40"
        elif _is_cut_short(url):
            reason = "its port is no number; write user:password@host"
        raise InvalidInput(
            f"storage: expected {_EXPECTED}, got {place(url)}, which cannot be opened: {reason}"
        ) from error


def _with_tables(url: str) -> BaseStorage:
    """Open a database; again where another process made the same tables in it at the same time."""
    options = {"pool_pre_ping": True, "connect_args": driver_options(url)}  # a server may restart during a long study
    for pause in _PAUSES:
        try:
            return AnsweringStorage(url, engine_kwargs=options)
        except Exception as error:
            if not _met_another(error):
                raise
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311  # or they would meet again
    return AnsweringStorage(url, engine_kwargs=options)


def _met_another(error: Exception) -> bool:
    """Return whether an error says that another process is making the tables of a new database."""
    from sqlalchemy.exc import DBAPIError, IntegrityError

    if isinstance(error, AssertionError | IntegrityError):  # the former is Optuna's, of a table without its only row
        return True
    return isinstance(error, DBAPIError) and any(word in str(error.orig) for word in ("already exists", "is locked"))


def place(where: str | None) -> str:
    """Return where studies are, for people to read: of a URL neither the password nor what follows a question mark."""
    if where is None:
        return DEFAULT_JOURNAL
    scheme, slashes, rest = where.partition("://")
    if not slashes:
        return where
    user, at, host = rest.rpartition("@")
    if _is_cut_short(where):
        return f"{scheme}{slashes}{host.partition(':')[0]}"
    return f"{scheme}{slashes}{user.split(':')[0]}{at}{host.partition('?')[0]}"


def _is_cut_short(url: str) -> bool:
    """Return whether a URL has a password and no host: it names nobody, and what stands for its port is no number."""
    port = re.match(r"[^/]*://(?:[^/:@\[]*|\[[^/\]]*\]):([^/?@]+)", url)
    return port is not None and "@" not in url and not port[1].isdecimal()
