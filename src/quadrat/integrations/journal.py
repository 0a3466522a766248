"""The journal file that studies are kept in by default: nothing that was told is lost, whenever a process is killed.

Optuna's own file backend leaves two things to chance. A process that is killed while it writes leaves half a line, to
which the next one appends: from then on the file cannot be read. And one that is killed while it holds the lock leaves
the lock behind, for which others wait half a minute. Here whoever appends first cuts half a line off, under the lock,
and the lock is the operating system's, which lets go of it when its process ends.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.storages.journal._file import BaseJournalFileLock

__all__ = ["SoundJournalBackend", "journal_storage"]

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TAIL = 1 << 16  # bytes read at a time, backwards, to find the end of the last whole line


def journal_storage(path: str | os.PathLike[str]) -> JournalStorage:
    """Return the storage in a journal file, which is created where it does not exist."""
    return JournalStorage(SoundJournalBackend(os.fspath(path)))


class SoundJournalBackend(JournalFileBackend):
    """Optuna's journal file, with half lines cut off and a lock that does not outlive its process.

    Parameters
    ----------
    file_path
        Of the journal; beside it stands a file that is locked.
    """

    def __init__(self, file_path: str) -> None:
        lock = JournalFileOpenLock(file_path) if fcntl is None else _KernelLock(file_path)
        super().__init__(file_path, lock)

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Append entries, a line each, all or none of which are read later."""
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs).encode()
        self._lock.acquire()
        try:
            with Path(self._file_path).open("r+b") as file:
                end = _end_of_whole_lines(file)
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


def _end_of_whole_lines(file: Any) -> int:
    """Return where the last whole line of a binary file ends."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _TAIL)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return int(begin + found + 1)
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
