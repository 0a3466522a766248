"""The journal file that studies are kept in by default: nothing that was told is lost, whenever a process is killed.

Optuna's own file backend leaves two things to chance. A process that is killed while it writes leaves half a line, to
which the next one appends: from then on the file cannot be read. And one that is killed while it holds the lock leaves
the lock behind, for which others wait half a minute. Here whoever appends first cuts off what is no record, under the
lock: half a line, or what a power cut left, such as zeros. The lock is the operating system's, which lets go of it when
its process ends.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.storages.journal._file import BaseJournalFileLock

__all__ = ["SoundJournalBackend", "journal_storage"]

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TAIL = 1 << 16  # bytes read at a time, backwards, to find the end of the last whole line
_FIRST = b'{"op'  # how the first record of a journal begins
_logger = logging.getLogger(__name__)


def journal_storage(path: str | os.PathLike[str]) -> JournalStorage:
    """Return the storage in a journal file, which is created where it does not exist.

    Parameters
    ----------
    path
        Of the file; beside it stands another one that is locked.

    Returns
    -------
    optuna.storages.JournalStorage
        To be passed to Optuna as `storage`.

    Examples
    --------
    >>> import optuna
    >>> from tempfile import TemporaryDirectory
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> with TemporaryDirectory() as folder:
    ...     storage = journal_storage(f"{folder}/studies.journal")
    ...     study = optuna.create_study(storage=storage, study_name="first")
    ...     names = optuna.get_all_study_names(journal_storage(f"{folder}/studies.journal"))
    >>> names
    ['first']
    """
    return JournalStorage(SoundJournalBackend(os.fspath(path)))


class SoundJournalBackend(JournalFileBackend):
    """Optuna's journal file, with what is no record cut off its end and a lock that does not outlive its process."""

    def __init__(self, file_path: str) -> None:
        lock = JournalFileOpenLock(file_path) if fcntl is None else _KernelLock(file_path)
        super().__init__(file_path, lock)

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """Yield the records from a number on, up to the last one that is whole.

        Raises
        ------
        ValueError
            A file that never was a journal; a line that is no record, with records after it, as no killed process
            leaves it.
        """
        known = log_number_from if log_number_from in self._log_number_offset else 0
        end = self._log_number_offset[known]
        with Path(self._file_path).open("rb") as file:
            left = file.seek(0, os.SEEK_END) - end  # others may write meanwhile; that is for the next time
            file.seek(end)
            unsound = None
            for number, line in enumerate(file, start=known):
                left -= len(line)
                if left < 0:
                    return
                record = _record(line)
                if record is None:
                    if number == 0:
                        _check_beginning(line)
                    unsound = number if unsound is None else unsound
                    continue
                if unsound is not None:
                    raise ValueError(f"line {unsound + 1} is no record, but line {number + 1} is one")
                end += len(line)
                self._log_number_offset[number + 1] = end
                if number >= log_number_from:
                    yield record

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Append entries, a line each."""
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs).encode()
        self._lock.acquire()
        try:
            with Path(self._file_path).open("r+b") as file:
                end = self._end_of_records(file)
                file.truncate(end)
                file.seek(end)
                try:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:  # such as a full disk: what is there of it must not stay
                    file.truncate(end)
                    raise
        finally:
            self._lock.release()

    def _end_of_records(self, file: BinaryIO) -> int:
        """Return where the last record ends; what follows it was cut off while it was written.

        Raises
        ------
        ValueError
            A file that never was a journal: it is left as it is.
        """
        size = file.seek(0, os.SEEK_END)
        whole = end = _end_of_line_before(file, size)
        while end > 0:
            begin = _end_of_line_before(file, end - 1)
            file.seek(begin)
            if _record(file.read(end - begin)) is not None:
                break
            end = begin
        if end == 0 and size > 0:
            file.seek(0)
            _check_beginning(file.read(len(_FIRST)))
        if end < whole:
            _logger.warning("%s: its last %d bytes are no records; they are dropped", self._file_path, size - end)
        return end


def _record(line: bytes) -> dict[str, Any] | None:
    """Return what a line says; None where it is no whole record."""
    if not line.endswith(b"\n"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _check_beginning(text: bytes) -> None:
    """Refuse a file without a record, unless it may be what is left of the first one."""
    head = text[: len(_FIRST)]
    if not _FIRST.startswith(head) and head.strip(b"\0"):
        raise ValueError(f"expected records, got a file that begins with {text[:20]!r}; it is left as it is")


def _end_of_line_before(file: BinaryIO, end: int) -> int:
    """Return where the last line that ends at or before a place of a binary file ends; 0 where there is none."""
    while end > 0:
        begin = max(0, end - _TAIL)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


class _KernelLock(BaseJournalFileLock):
    """A lock on a file beside the journal, which the kernel releases when its holder dies."""

    def __init__(self, file_path: str) -> None:
        self._path = file_path + ".locked"
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
