"""The journal file that studies are kept in by default: nothing that was told is lost, whenever a process is killed.

Optuna's own file backend leaves two things to chance. A process that is killed while it writes leaves half a line, to
which the next one appends: from then on the file cannot be read. And one that is killed while it holds the lock leaves
the lock behind, for which others wait half a minute, or with Optuna 4.0 for ever. Here whoever appends first cuts off
what is no record, under the lock: half a line, or what a power cut left, such as zeros. Where a program with Optuna's
backend came first and wrote its record behind half a line, that record counts, and the half line becomes spaces.

The lock has two parts. Processes of Quadrat wait for a lock of the operating system's, on the file `.locked`, which
lets go when its process ends; then for one on the journal itself, which has other such files beside each of its names
where it has several (hard links; symbolic ones are followed before). Its holder then takes the lock of Optuna's own
backends, the file `.lock`, so that programs with such a backend may write to the same journal. `.lock` is made as a
second name of `.locked`: a holder of the first part that finds it there knows that a process of Quadrat left it behind,
dead, and takes it over at once.

A journal that is removed, replaced or cut while a process uses it is refused from then on: the places and numbers that
the process knows are of records that are gone.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import suppress
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, json_to_distribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.storages.journal._file import BaseJournalFileLock
from optuna.storages.journal._storage import JournalStorageReplayResult

from quadrat.errors import InvalidInput

__all__ = ["SoundJournalBackend", "append_records", "journal_storage"]

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_READS_ZONES = int(optuna.__version__.split(".")[0]) >= 5
_TAIL = 1 << 16  # bytes read at a time, backwards, to find the end of the last whole line
_FIRST = b'{"op'  # how the first record of a journal begins
_BEGIN = b'{"op_code":'  # how every record begins; within a text its quotation marks would be escaped
_TRIES = 20  # places of a line at which a record is looked for
_GRACE = 30.0  # seconds after which a lock of another program, unchanged, is one that was left behind; as in Optuna 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05  # seconds between looks at such a lock
_WITHOUT_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}  # of a file system without second names
_WITHOUT_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_logger = logging.getLogger(__name__)


def journal_storage(path: str | os.PathLike[str]) -> JournalStorage:
    """Return the storage in a journal file, which is created where it does not exist.

    Parameters
    ----------
    path
        Of the file; beside it stand others that are locked.

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
    return _Storage(SoundJournalBackend(os.fspath(path)))


class _Storage(JournalStorage):
    """Optuna's storage, which reads many trials sooner and keeps them in less memory."""

    def _sync_with_backend(self) -> None:
        if not isinstance(self._replay_result, _Replay):  # Optuna makes its own when it begins, and before it reads
            self._replay_result = _Replay(self._worker_id_prefix)
        super()._sync_with_backend()


class _Replay(JournalStorageReplayResult):
    """What records say; trials that are over, and were added with the same distributions, have them in common."""

    def __init__(self, worker_id_prefix: str) -> None:
        super().__init__(worker_id_prefix)
        self._known: dict[tuple[tuple[str, str], ...], dict[str, BaseDistribution]] = {}

    def _apply_create_trial(self, log: dict[str, Any]) -> None:
        texts, params = log.pop("distributions", {}), log.pop("params", {})
        self.localize(log)
        if "system_attrs" in log:
            log["system_attrs"] = {sys.intern(name): value for name, value in log["system_attrs"].items()}
        before = len(self._trials)
        super()._apply_create_trial(log)
        if texts and len(self._trials) > before:
            key = tuple(texts.items())
            if key not in self._known:
                self._known[key] = {name: json_to_distribution(text) for name, text in key}
            distributions, trial = self._known[key], self._trials[before]
            trial.params = {name: distributions[name].to_external_repr(code) for name, code in params.items()}
            # Optuna changes those of trials that run, in place.
            trial.distributions = distributions if trial.state.is_finished() else dict(distributions)

    def _apply_set_trial_state_values(self, log: dict[str, Any]) -> None:
        self.localize(log)
        super()._apply_set_trial_state_values(log)

    def localize(self, log: dict[str, Any]) -> None:
        """Have times without a zone in a record: Optuna 4 writes such, and could not compare them with those of 5."""
        for name in () if _READS_ZONES else ("datetime_start", "datetime_complete"):
            at = datetime.fromisoformat(text) if isinstance(text := log.get(name), str) else None
            if at is not None and at.tzinfo is not None:
                log[name] = at.astimezone().replace(tzinfo=None).isoformat(timespec="microseconds")


class SoundJournalBackend(JournalFileBackend):
    """Optuna's journal file, with what is no record cut off its end and a lock that does not outlive its process."""

    def __init__(self, file_path: str) -> None:
        file_path = os.path.realpath(file_path)
        lock = JournalFileOpenLock(file_path) if fcntl is None else _KernelLock(file_path)
        super().__init__(file_path, lock)
        self._known: tuple[int, int] | None = None  # which file it is, once records of it were read or written

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """Yield the records from a number on, up to the last one that is whole.

        Raises
        ------
        InvalidInput
            The file is not the one that was read before.
        ValueError
            A file that never was a journal; a line that is no record, with records after it, as no killed process
            leaves it.
        """
        known = log_number_from if log_number_from in self._log_number_offset else 0
        end = self._log_number_offset[known]
        self._check(self._found())
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
                # Only where the next records will be: with all places a million trials would take 100 MB more.
                self._log_number_offset = {0: 0, number + 1: end}
                if number >= log_number_from:
                    yield record

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Append entries, a line each."""
        self._lock.acquire()
        try:
            self._check(self._found())
            append_records(self._file_path, logs)
        finally:
            self._lock.release()

    def _found(self) -> os.stat_result | None:
        try:
            return os.stat(self._file_path)  # noqa: PTH116
        except FileNotFoundError:
            return None

    def _check(self, found: os.stat_result | None) -> None:
        """Refuse another file than the one whose records were read or written before, and one that lost some."""
        if self._known is None and found is not None:
            self._known = found.st_dev, found.st_ino
        if found is None or (found.st_dev, found.st_ino) != self._known:
            got = "nothing" if found is None else "another file"
        elif found.st_size < max(self._log_number_offset.values()):
            got = "a shorter one"
        else:
            return
        raise InvalidInput(
            f"storage: expected the journal {self._file_path} as it was when this process began, got {got} in its"
            " place; put it back, or start again with what is there now"
        )


def append_records(path: str, logs: Sequence[dict[str, Any]]) -> None:
    """Append entries to a journal, a line each, all of them or none; for those who hold its lock.

    Raises
    ------
    ValueError
        A file that never was a journal: it is left as it is.
    OSError
        Such as a full disk, or a limit on the size of files: the file has the records that it had.
    """
    text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs).encode()
    with Path(path).open(
        "r+b", buffering=0
    ) as file:  # with a buffer, a part of the text would be written when it closes
        size = file.seek(0, os.SEEK_END)
        end = _end_of_records(file, size)
        if end < size:
            _logger.warning("%s: its last %d bytes are no records; they are dropped", path, size - end)
            file.truncate(end)
        _mend_lines(file, end)
        try:
            _make_room(file, end, len(text))
            _write(file, end, text)
            os.fsync(file.fileno())
        except OSError:  # what is there of it must not stay; what an interrupt leaves, the next writer finds
            file.truncate(end)
            raise


def _write(file: FileIO, begin: int, text: bytes) -> None:
    """Write at a place; a single write may take fewer bytes."""
    file.seek(begin)
    left = memoryview(text)
    while left:
        left = left[file.write(left) :]


def _make_room(file: FileIO, end: int, count: int) -> None:
    """Have a file grow by zeros, which nobody takes for records, or refuse before there is anything to be read."""
    if not hasattr(os, "posix_fallocate"):  # macOS, Windows
        return
    try:
        os.posix_fallocate(file.fileno(), end, count)
    except OSError as error:
        if error.errno in _WITHOUT_ROOM:
            raise


def _end_of_records(file: FileIO, size: int) -> int:
    """Return where the last record ends; what follows it was cut off while it was written.

    Raises
    ------
    ValueError
        A file that never was a journal: it is left as it is.
    """
    end = _end_of_line_before(file, size)
    while end > 0:
        begin = _end_of_line_before(file, end - 1)
        if _record(_read(file, begin, end)) is not None:
            break
        end = begin
    if end == 0 and size > 0:
        _check_beginning(_read(file, 0, min(size, len(_FIRST))))
    return end


def _read(file: FileIO, begin: int, end: int) -> bytes:
    """Return the bytes between two places; a single read may return fewer."""
    file.seek(begin)
    parts: list[bytes] = []
    while begin < end and (part := file.read(end - begin)):
        parts.append(part)
        begin += len(part)
    return b"".join(parts)


def _record(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, or what stands there behind half a record; None where there is no whole record."""
    if not line.endswith(b"\n"):
        return None
    found = _table(line)
    return _table(line[_half(line) :]) if found is None else found


def _table(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _half(line: bytes) -> int:
    """Return how many bytes a killed process left at the beginning of a line, before another program wrote a record."""
    place = len(line)
    for _ in range(_TRIES):
        place = line.rfind(_BEGIN, 0, place)
        if place <= 0:
            break
        if _table(line[place:]) is not None:
            return place
    return 0


def _mend_lines(file: FileIO, end: int) -> None:
    """Put spaces in the place of half records before whole ones, near the end: for Optuna's backend, which reads both.

    Those further up were there when the records behind them were written, and are mended.
    """
    begin = _end_of_line_before(file, max(0, end - _TAIL))
    for line in _read(file, begin, end).splitlines(keepends=True):
        if line.find(_BEGIN, 1) > 0 and _table(line) is None and (half := _half(line)):
            _logger.warning("%s: half a record stood before a whole one; it is dropped", file.name)
            _write(file, begin, b" " * half)
        begin += len(line)


def _check_beginning(text: bytes) -> None:
    """Refuse a file without a record, unless it may be what is left of the first one."""
    head = text[: len(_FIRST)]
    if not _FIRST.startswith(head) and head.strip(b"\0"):
        raise ValueError(f"expected records, got a file that begins with {text[:20]!r}; it is left as it is")


def _end_of_line_before(file: FileIO, end: int) -> int:
    """Return where the last line that ends at or before a place of a binary file ends; 0 where there is none."""
    while end > 0:
        begin = max(0, end - _TAIL)
        found = _read(file, begin, end).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


class _KernelLock(BaseJournalFileLock):
    """Both locks: the kernel's, which it releases when its holder dies, and the one of Optuna's own backends."""

    def __init__(self, file_path: str) -> None:
        self._journal = file_path
        self._path, self._shared = Path(file_path + ".locked"), Path(file_path + ".lock")
        self._descriptor: int | None = None
        self._of_journal: int | None = None
        self._taken: tuple[int, int] | None = None  # the lock file of the second part

    def acquire(self) -> bool:
        while True:
            descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._is_there(descriptor):
                    self._lock_journal()
                    self._share(descriptor)
                    self._descriptor = descriptor
                    return True
            except BaseException:
                self._unlock_journal()
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _lock_journal(self) -> None:
        """Wait for those who came by another name of the journal."""
        with suppress(FileNotFoundError):  # whoever writes to it says so
            self._of_journal = os.open(self._journal, os.O_RDWR)  # as locks over a network need it
            fcntl.flock(self._of_journal, fcntl.LOCK_EX)

    def _unlock_journal(self) -> None:
        descriptor, self._of_journal = self._of_journal, None
        if descriptor is not None:
            os.close(descriptor)

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            held = _mark(self._shared)
            if held is not None and held[:2] == self._taken:  # else it was broken, and is somebody else's
                with suppress(FileNotFoundError):
                    self._shared.unlink()
            self._unlock_journal()
            os.close(descriptor)

    def _is_there(self, descriptor: int) -> bool:
        """Return whether the file is the one that others find: somebody may have removed it meanwhile."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == _inode(descriptor)

    def _share(self, descriptor: int) -> None:
        """Take the lock of Optuna's backends; the kernel's is held."""
        ours = _inode(descriptor)
        seen, since, pause = None, time.monotonic(), _FIRST_PAUSE
        while True:
            os.utime(descriptor)  # those who wait see by it that the holder is another
            is_made, held = self._link(), _mark(self._shared)
            if held is None:  # given back just now
                continue
            if is_made or held[:2] == ours:  # a process of ours died with it: the kernel's lock was free
                self._taken = held[:2]
                return
            if held != seen:
                seen, since = held, time.monotonic()
            elif time.monotonic() - since > _GRACE:
                self._break(held)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _link(self) -> bool:
        """Make the file that is the lock; return whether it was not there."""
        try:
            os.link(self._path, self._shared)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _WITHOUT_LINKS:
                raise
            try:
                os.close(os.open(self._shared, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                return False
        return True

    def _break(self, held: tuple[int, int, int]) -> None:
        """Remove a lock that was left behind, but no other one that was made meanwhile."""
        _logger.warning("%s was held for %g s without a sign of life; it is removed", self._shared, _GRACE)
        aside = Path(f"{self._shared}{uuid.uuid4().hex}.rename")
        try:
            self._shared.rename(aside)
        except FileNotFoundError:
            return
        if _mark(aside) != held:
            with suppress(OSError):
                os.link(aside, self._shared, follow_symlinks=False)
        aside.unlink()


def _inode(descriptor: int) -> tuple[int, int]:
    """Return what tells the file behind a descriptor from others."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Return what tells a holder of a lock file from the next: the file, and when it was written; None without one."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns
