"""The journal file: torn lines, killed writers, full disks."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalFileSymlinkLock
from optuna.trial import TrialState

from quadrat.errors import InvalidInput
from quadrat.studies import journal
from quadrat.studies.journal import SoundJournalBackend, journal_storage

LINES: list[dict[str, Any]] = [{"op": 0, "n": 1}, {"op": 1, "text": "ä" * 5}, {"op": 2, "values": [1.0, 2.0]}]


def lines_in(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_whole_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    backend.append_logs(LINES[:2])
    backend.append_logs(LINES[2:])
    assert list(backend.read_logs(0)) == LINES == lines_in(path)
    assert list(JournalFileBackend(str(path)).read_logs(0)) == LINES, "and by Optuna's own"
    assert list(backend.read_logs(2)) == LINES[2:]


def test_half_a_line_is_cut_off_wherever_it_ends(tmp_path: Path) -> None:
    """After a kill at any byte of a write, whole lines stay, and what is appended next can be read."""
    path = tmp_path / "journal"
    SoundJournalBackend(str(path)).append_logs(LINES)
    whole = path.read_bytes()
    ends = [0, *(i + 1 for i, byte in enumerate(whole) if byte == ord("\n"))]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends) - 1
        assert list(SoundJournalBackend(str(path)).read_logs(0)) == LINES[:kept]
        SoundJournalBackend(str(path)).append_logs([{"op": 9}])
        assert lines_in(path) == [*LINES[:kept], {"op": 9}]


def test_half_a_line_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    backend.append_logs(LINES[:1])
    with path.open("ab") as file:
        file.write(b'{"text":"' + b"x" * 200_000)
    backend.append_logs(LINES[1:])
    assert lines_in(path) == LINES


@pytest.mark.parametrize(
    "tail",
    [b"text\n", b"text\nmore\n\n", b"17\n", b"\xff\xfe\n", b"\0" * 5000, b"\0\n" * 3, b'{"op":\n', b'{"op":\0\0'],
    ids=repr,
)
def test_what_is_no_record_is_cut_off_the_end(tail: bytes, tmp_path: Path) -> None:
    """As a power cut leaves it, or a program that writes to the wrong file."""
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    backend.append_logs(LINES)
    list(backend.read_logs(0))
    path.write_bytes(path.read_bytes() + tail)
    for reader in (backend, SoundJournalBackend(str(path))):
        assert list(reader.read_logs(0)) == LINES
        assert list(reader.read_logs(3)) == []
    backend.append_logs([{"op": 9}])
    assert lines_in(path) == [*LINES, {"op": 9}]
    assert list(backend.read_logs(3)) == [{"op": 9}]


def test_what_is_no_record_in_the_middle_is_said_and_left(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b'{"op":0}\ntext\n{"op":1}\n')
    with pytest.raises(ValueError, match="line 2 is no record, but line 3 is one"):
        list(SoundJournalBackend(str(path)).read_logs(0))


@pytest.mark.parametrize("content", [b"buy milk", b"buy milk\n", b'{"a": 1}', b"x,y\n1,2\n"], ids=repr)
def test_a_file_that_never_was_a_journal_is_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    backend = SoundJournalBackend(str(path))
    with pytest.raises(ValueError, match="got a file that begins with"):
        list(backend.read_logs(0))
    with pytest.raises(ValueError, match="got a file that begins with"):
        backend.append_logs(LINES)
    assert path.read_bytes() == content


def test_optunas_own_backend_cannot_read_such_a_file(tmp_path: Path) -> None:
    """What this is for."""
    path = tmp_path / "journal"
    backend = JournalFileBackend(str(path))
    backend.append_logs(LINES[:1])
    with path.open("ab") as file:
        file.write(b'{"op":')
    backend.append_logs(LINES[1:])
    with pytest.raises(ValueError, match=r"."):
        list(JournalFileBackend(str(path)).read_logs(0))


@pytest.mark.parametrize("more", [b"", b"\0" * 9, b"\0" * 300], ids=["half", "zeros", "many zeros"])
def test_a_record_that_another_program_wrote_behind_half_a_record_stays(more: bytes, tmp_path: Path) -> None:
    """As Optuna's backend does after a kill of ours; that one reads all of it again as soon as ours has written."""
    records = [{"op_code": number, "worker_id": "a", "attr": {"op_code": [number]}} for number in range(4)]
    path = tmp_path / "journal"
    SoundJournalBackend(str(path)).append_logs(records[:2])
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(first + (not more), len(whole)):
        path.write_bytes(whole[:size] + more)
        JournalFileBackend(str(path)).append_logs(records[2:3])
        with pytest.raises(ValueError, match=r"."):
            lines_in(path)
        backend = SoundJournalBackend(str(path))
        assert list(backend.read_logs(0)) == [records[0], records[2]]
        backend.append_logs(records[3:])
        expected = [records[0], *records[2:]]
        assert list(backend.read_logs(0)) == list(JournalFileBackend(str(path)).read_logs(0)) == expected


def test_a_line_of_many_beginnings_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    SoundJournalBackend(str(path)).append_logs(LINES)
    with path.open("ab") as file:
        file.write(b'{"op_code":' * 100_000 + b"\n")
    assert list(SoundJournalBackend(str(path)).read_logs(0)) == LINES
    SoundJournalBackend(str(path)).append_logs([{"op": 9}])
    assert lines_in(path) == [*LINES, {"op": 9}]


def test_a_study_lives_in_it(tmp_path: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = tmp_path / "journal"
    study = optuna.create_study(storage=journal_storage(path), study_name="s")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    again = optuna.load_study(study_name="s", storage=journal_storage(path))
    assert [trial.params for trial in again.trials] == [trial.params for trial in study.trials]
    optunas = optuna.load_study(study_name="s", storage=JournalStorage(JournalFileBackend(str(path))))
    assert len(optunas.trials) == 3


def test_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    backends = [SoundJournalBackend(str(path)) for _ in range(4)]

    def write(which: int) -> None:
        for number in range(25):
            backends[which].append_logs([{"by": which, "number": number}, {"by": which, "number": number}])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    found = lines_in(path)
    assert len(found) == 200
    assert found[::2] == found[1::2], "what is appended together stays together"


WRITER = """
import sys
from quadrat.studies.journal import SoundJournalBackend
backend = SoundJournalBackend(sys.argv[1])
print("ready", flush=True)
number = 0
while True:
    backend.append_logs([{"number": number, "filler": "x" * 3000}])
    number += 1
"""
HOLDER = """
import sys, time
from quadrat.studies.journal import SoundJournalBackend
backend = SoundJournalBackend(sys.argv[1])
backend._lock.acquire()
print("ready", flush=True)
time.sleep(60)
"""


def started(script: str, path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="needs kill -9")
def test_a_writer_that_is_killed_at_any_moment_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for wait in (0.0, 0.01, 0.03, 0.05):
        process = started(WRITER, path)
        time.sleep(wait)
        killed(process)
        before = list(SoundJournalBackend(str(path)).read_logs(0))
        SoundJournalBackend(str(path)).append_logs([{"number": -1}])
        assert lines_in(path) == [*before, {"number": -1}]


@pytest.mark.skipif(os.name == "nt", reason="needs kill -9")
def test_a_lock_does_not_outlive_its_process(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    process = started(HOLDER, path)
    killed(process)
    SoundJournalBackend(str(path)).append_logs(LINES)  # at once; this would wait for ever otherwise
    assert lines_in(path) == LINES


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    backend.append_logs(LINES[:1])

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            backend.append_logs(LINES[1:])
    assert lines_in(path) == LINES[:1]
    backend.append_logs(LINES[1:])
    assert lines_in(path) == LINES


# --- sharing a journal with programs that have Optuna's own backend

STOCK = """
import sys, time
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalFileSymlinkLock
from optuna.trial import TrialState
lock = {"symlink": JournalFileSymlinkLock, "open": JournalFileOpenLock}[sys.argv[2]](sys.argv[1])
backend = JournalFileBackend(sys.argv[1], lock)
print("ready", flush=True)
for number in range(60):
    backend.append_logs([{"op": "theirs", "number": number}])
"""


@pytest.mark.parametrize("lock", ["symlink", "open"])
def test_records_of_a_program_with_optunas_own_backend_stay(lock: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    command = [sys.executable, "-c", STOCK, str(path), lock]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        count = 0
        while process.poll() is None:
            backend.append_logs([{"op": "ours", "number": count}])
            count += 1
            time.sleep(0.005)  # Optuna waits ever longer between its attempts
    assert process.returncode == 0
    found: list[Any] = lines_in(path)
    for who, many in (("theirs", 60), ("ours", count)):
        assert [record["number"] for record in found if record["op"] == who] == list(range(many))
    assert not (tmp_path / "journal.lock").exists()


@pytest.mark.parametrize("make", [JournalFileSymlinkLock, JournalFileOpenLock])
def test_nobody_writes_while_optunas_lock_is_held(make: Any, tmp_path: Path) -> None:
    """Half a record of another program, which is being written, is not cut off."""
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    backend.append_logs(LINES[:1])
    lock = make(str(path))
    lock.acquire()
    with ThreadPoolExecutor(1) as pool, path.open("ab", buffering=0) as theirs:
        theirs.write(b'{"op":"the')
        waiting = pool.submit(backend.append_logs, LINES[1:])
        time.sleep(0.1)
        theirs.write(b'irs"}\n')
        lock.release()
        waiting.result()
    assert lines_in(path) == [LINES[0], {"op": "theirs"}, *LINES[1:]]


@pytest.mark.parametrize("make", [JournalFileSymlinkLock, JournalFileOpenLock])
def test_optunas_backends_wait_for_this_one(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    backend, done = SoundJournalBackend(str(path)), threading.Event()
    theirs = JournalFileBackend(str(path), make(str(path)))
    backend._lock.acquire()

    def append() -> None:
        theirs.append_logs([{"op": "theirs"}])
        done.set()

    thread = threading.Thread(target=append)
    thread.start()
    assert not done.wait(0.1)
    backend._lock.release()
    thread.join()
    assert lines_in(path) == [{"op": "theirs"}]


@pytest.mark.parametrize("make", [JournalFileSymlinkLock, JournalFileOpenLock])
def test_a_lock_that_another_program_left_behind_is_removed(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    make(str(path)).acquire()
    monkeypatch.setattr(journal, "_GRACE", 0.05)
    backend.append_logs(LINES)
    assert lines_in(path) == LINES
    assert {found.name for found in tmp_path.iterdir()} == {"journal", "journal.locked"}


def test_a_lock_that_was_taken_meanwhile_is_not_removed(tmp_path: Path) -> None:
    """Two that wait for the same dead holder: the second one finds the lock of the first."""
    path = tmp_path / "journal"
    lock = SoundJournalBackend(str(path))._lock
    shared = tmp_path / "journal.lock"
    shared.touch()
    old = journal._mark(shared)
    assert old is not None
    os.utime(shared, ns=(0, 0))
    lock._break(old)  # type: ignore[attr-defined]
    assert shared.exists()
    assert not list(tmp_path.glob("*.rename"))


def test_a_file_system_without_second_names_has_the_lock_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    path = tmp_path / "journal"
    backend = SoundJournalBackend(str(path))
    backend._lock.acquire()
    with pytest.raises(FileExistsError):
        (tmp_path / "journal.lock").touch(exist_ok=False)
    backend._lock.release()
    assert not (tmp_path / "journal.lock").exists()


# --- a write that fails in the middle

LIMITED = """
import os, resource, signal, sys
from pathlib import Path
from quadrat.studies.journal import SoundJournalBackend
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
backend, size = SoundJournalBackend(str(path)), path.stat().st_size
for reserved in (True, False):
    for room in (0, 1, 60, 100, 150):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
        try:
            backend.append_logs([{"op": number, "text": "x" * 40} for number in range(3)])
        except OSError as error:
            assert path.stat().st_size == size, (reserved, room)
            print(error.errno)
    if hasattr(os, "posix_fallocate"):
        del os.posix_fallocate
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a limit on the size of files")
def test_a_file_that_may_not_grow_is_as_it_was(tmp_path: Path) -> None:
    """A part of the text fits, also whole lines of it: none of it is there."""
    path = tmp_path / "journal"
    SoundJournalBackend(str(path)).append_logs(LINES)
    before = path.read_bytes()
    out = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True)
    assert (out.stdout, out.stderr) == (f"{errno.EFBIG}\n" * 10, "")
    assert path.read_bytes() == before


def test_room_is_made_before_a_record_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads a record that is taken back would miss the one that comes in its place."""
    path = tmp_path / "journal"
    backend, reader = SoundJournalBackend(str(path)), SoundJournalBackend(str(path))
    backend.append_logs(LINES)
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: refuse(reader, path))
    with pytest.raises(OSError, match="No space left"):
        backend.append_logs([{"op": 9}])


def refuse(reader: SoundJournalBackend, path: Path) -> None:
    """A disk that turns out to be full when the file has grown, and somebody who reads meanwhile."""
    os.truncate(path, path.stat().st_size + 5)
    assert list(reader.read_logs(0)) == LINES
    raise OSError(errno.ENOSPC, "No space left on device")


# --- other names, and other files in its place


def test_a_journal_has_one_lock_by_whatever_name_it_is_opened(tmp_path: Path) -> None:
    """A lock beside the name that was given let two write at once, through a link and the file itself."""
    path = tmp_path / "journal"
    SoundJournalBackend(str(path)).append_logs(LINES[:1])
    (tmp_path / "symbolic").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    held = SoundJournalBackend(str(path))
    held._lock.acquire()
    began, done = threading.Event(), list[str]()

    def append(name: str) -> None:
        backend = SoundJournalBackend(str(tmp_path / name))
        began.set()
        backend.append_logs(LINES[1:2])
        done.append(name)

    threads = [threading.Thread(target=append, args=(name,)) for name in ("symbolic", "hard")]
    for thread in threads:
        thread.start()
    began.wait()
    time.sleep(0.2)
    assert not done
    held._lock.release()
    for thread in threads:
        thread.join()
    assert lines_in(path) == [LINES[0], LINES[1], LINES[1]]
    assert {found.name for found in tmp_path.iterdir()} == {
        "journal", "symbolic", "hard", "journal.locked", "hard.locked"
    }  # fmt: skip


@pytest.mark.parametrize("got", ["nothing", "another file", "a shorter one"])
def test_a_journal_that_was_replaced_is_refused(got: str, tmp_path: Path) -> None:
    """A process went on with its numbers and places in a file that had other records."""
    path = tmp_path / "journal"
    study = optuna.create_study(storage=journal_storage(path), study_name="one")
    study.ask()
    other = optuna.create_study(storage=journal_storage(tmp_path / "other"), study_name="other")
    if got == "nothing":
        path.unlink()
    elif got == "another file":
        for _ in range(10):
            other.ask()
        (tmp_path / "other").rename(path)
    else:
        path.write_bytes((tmp_path / "other").read_bytes())
    whole = path.read_bytes() if path.exists() else None
    for act in (study.ask, lambda: study.trials, lambda: study.set_user_attr("a", 1)):
        with pytest.raises(InvalidInput, match=f"expected the journal .* as it was .*, got {got} in its place"):
            act()
    assert (path.read_bytes() if path.exists() else None) == whole


def test_a_trial_that_runs_has_distributions_of_its_own(tmp_path: Path) -> None:
    """Another parameter that it asked for was then one of all trials that had been added with the same ones."""
    storage = journal_storage(tmp_path / "journal")
    study = optuna.create_study(storage=storage)
    distributions: dict[str, Any] = {"x": optuna.distributions.FloatDistribution(0, 1)}
    for state, value in ((TrialState.COMPLETE, 1.0), (TrialState.WAITING, None), (TrialState.COMPLETE, 2.0)):
        study.add_trial(optuna.create_trial(state=state, value=value, params={"x": 0.5}, distributions=distributions))
    study.ask().suggest_float("y", 0, 1)
    assert [[*trial.distributions] for trial in study.trials] == [["x"], ["x", "y"], ["x"]]
    first, _, third = study.get_trials(deepcopy=False)
    assert first.distributions is third.distributions


@pytest.mark.parametrize("reads_zones", [True, False])
def test_times_that_another_version_of_optuna_wrote_compare(
    reads_zones: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Optuna 5 writes the zone, 4 does not, and reads what there is: it could not sort trials of both."""
    monkeypatch.setattr(journal, "_READS_ZONES", reads_zones and journal._READS_ZONES)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = tmp_path / "journal"
    study = optuna.create_study(storage=journal_storage(path), study_name="s")
    for _ in range(2):
        study.tell(study.ask(), 1.0)
    study.add_trial(optuna.trial.create_trial(value=2.0))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for number, line in enumerate(lines):
        for name in {"datetime_start", "datetime_complete"} & line.keys():
            at = datetime.fromisoformat(line[name]).astimezone()
            line[name] = (at if number % 2 else at.replace(tzinfo=None)).isoformat(timespec="microseconds")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trials = optuna.load_study(storage=journal_storage(path), study_name="s").trials
    for before, after in zip(study.trials, trials, strict=True):
        assert (before.datetime_start, before.datetime_complete) == (after.datetime_start, after.datetime_complete)
    times = [time for trial in trials for time in (trial.datetime_start, trial.datetime_complete) if time is not None]
    assert len(sorted(times)) == 6
    assert all(time.tzinfo is None for time in times)
    record = {"datetime_start": "2026-01-02T03:04:05.000006+01:00", "datetime_complete": None}
    journal._Replay("").localize(record)
    assert ("+" in str(record["datetime_start"])) == journal._READS_ZONES
