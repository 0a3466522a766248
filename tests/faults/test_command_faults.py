"""Every command under faults of storages, files and terminals: a line and a status, never a traceback."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.bench import Bench
from tests.faults.full_disk import small_disk
from tests.faults.starter import wait

PLAIN = ["--method", "RandomSearch"]
COMMANDS: dict[str, list[str]] = {
    "ask": ["ask"],
    "tell": ["tell", "4", "0.5"],
    "tell --csv": ["tell", "--csv", "results.csv"],
    "show": ["show"],
    "best": ["best", "--json"],
    "export": ["export", "--csv", "-"],
    "report": ["report", "--output", "report.html"],
    "tune": ["tune", "train.py:bowl", "-n", "9"],
}
WRITING = ("ask", "tell", "tell --csv", "tune")


@pytest.fixture
def begun(bench: Bench) -> Bench:
    """A study with four results and a trial that was asked."""
    bench.finish(4, *PLAIN)
    _, complained, status = run(bench, ["ask"])
    assert status == 0, complained
    (bench.folder / "results.csv").write_text("x,kind,n,value\n0.5,a,,1.5\n")
    return bench


def run(
    bench: Bench,
    arguments: list[str],
    *,
    out: Path | None = None,
    storage: str | None = None,
    faults: dict[str, str] | None = None,
    **more: str,
) -> tuple[str, str, int]:
    """Run a command; return what it printed, what it complained of, and its status."""
    number = len(list(bench.folder.glob("said*")))
    said, complained = bench.folder / f"said{number}", bench.folder / f"complained{number}"
    said.touch()
    command = bench.starter.copy(
        [*arguments, "--storage", storage or bench.storage],
        bench.folder, out or said, complained, faults={**(faults or {}), **more}, environment={},
    )  # fmt: skip
    status = wait(command)
    return said.read_text(), complained.read_text(), status


def check_line(complained: str, *words: str) -> None:
    lines = complained.splitlines()
    assert "Traceback" not in complained, complained
    assert lines[-1].startswith("quadrat: "), complained
    for word in words:
        assert word in lines[-1], complained


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_output_that_takes_nothing(command: str, begun: Bench) -> None:
    _, complained, status = run(begun, COMMANDS[command], out=Path("/dev/full"))
    assert status == 2, complained
    check_line(complained, "standard output: expected to take what is printed, got No space left on device")
    assert complained.count("\n") == 1, complained


@pytest.mark.parametrize("command", WRITING)
def test_a_disk_a_limit_and_a_file_system_that_take_nothing(command: str, begun: Bench) -> None:
    journal = begun.folder / begun.storage
    whole = journal.read_bytes()
    for reason, fault in {
        "File too large; allow larger files": {"file_size": str(len(whole) + 7)},
        "No locks available; its file system has no locks": {"locks": "none"},
    }.items():
        _, complained, status = run(begun, COMMANDS[command], faults=fault)
        assert status == 2, complained
        check_line(complained, "storage: expected quadrat.journal", f"got {reason}")
        assert journal.read_bytes().startswith(whole)
    folder = journal.parent
    try:
        journal.chmod(0o444)
        folder.chmod(0o777)
        _, complained, status = run(begun, COMMANDS[command], permissions="hold")
    finally:
        journal.chmod(0o644)
    assert status == 2, complained
    check_line(complained, "Permission denied", "name a place that you may write to")
    assert journal.read_bytes().startswith(whole)


@pytest.mark.parametrize("command", ["ask", "tune"])
def test_a_full_disk_for_a_study_that_begins(command: str, bench: Bench) -> None:
    with small_disk(bench.folder / "disk") as refused:
        if refused is not None:
            pytest.skip(f"no file system can be mounted here: {refused}")
        with suppress(OSError), (bench.folder / "disk/filler").open("wb", buffering=0) as file:
            while file.write(b"x" * 512):
                pass
        for where in ("disk/new.journal", "sqlite:///disk/new.db"):
            _, complained, status = run(bench, [*COMMANDS[command], *PLAIN, "--space", "space.toml"], storage=where)
            assert status == 2, complained
            check_line(complained, "storage: expected ")


@pytest.mark.parametrize("command", ["ask", "show", "tune"])
def test_a_database_that_is_locked_or_read_only(command: str, bench: Bench) -> None:
    where = f"sqlite:///{bench.folder}/study.db"
    bench.storage = where
    bench.finish(3, *PLAIN)
    path = bench.folder / "study.db"
    if command != "show":
        path.chmod(0o444)
        _, complained, status = run(bench, COMMANDS[command], permissions="hold")
        path.chmod(0o644)
        assert status == 2, complained
        check_line(complained, "attempt to write a readonly database")
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        _, complained, status = run(bench, COMMANDS[command], patience=json.dumps({"LOCK": 0.2}))
        other.execute("ROLLBACK")
    assert status == 2, complained
    check_line(complained, "database is locked")


@pytest.mark.parametrize("number", ["0", "1", "2"])
def test_streams_that_are_closed(number: str, begun: Bench) -> None:
    """A journal that is opened next is not taken for standard output."""
    for command in ("show", "tell"):
        said, complained, status = run(begun, COMMANDS[command], closed=number)
        assert status == 2 * (number == "1"), (command, complained)
        assert "Traceback" not in complained
        assert bool(said) == (number != "1")
    assert all(json.loads(line)["op_code"] >= 0 for line in (begun.folder / begun.storage).read_text().splitlines())


@pytest.mark.parametrize("command", ["show", "export", "tune"])
def test_a_reader_that_leaves(command: str, begun: Bench) -> None:
    _, complained, status = run(begun, COMMANDS[command], reader="gone")
    assert status == 1
    assert complained == ""


@pytest.mark.parametrize("command", ["ask", "tune"])
def test_names_that_a_database_does_not_take(command: str, bench: Bench, postgres_url: str) -> None:
    space = {"x\0": {"type": "float", "low": 0, "high": 1}}
    (bench.folder / "null.json").write_text(json.dumps(space))
    (bench.folder / "long.json").write_text(json.dumps({"x" * 600: space["x\0"]}))
    for more in (["--space", "null.json"], ["--space", "long.json"], ["--space", "space.toml", "--study", "s" * 600]):
        _, complained, status = run(bench, [*COMMANDS[command], *PLAIN, *more], storage=postgres_url)
        assert status == 2, complained
        check_line(complained, "expected ")
