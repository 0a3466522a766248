"""What storages, files and terminals throw, as lines."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import optuna
import pytest
from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import DataError, OperationalError

from quadrat.cli import main
from quadrat.cli.failure_line import failure_line
from quadrat.studies import open_storage


def from_a_storage(storage: str) -> Exception:
    """Return an error that is not of any database: a study that somebody deleted."""
    with pytest.raises(KeyError) as caught:
        open_storage(storage).get_study_name_from_id(77)
    return caught.value


def test_what_a_storage_throws_names_the_storage_and_hides_the_password(tmp_path: Path) -> None:
    where = "postgresql+psycopg://me:secret@host/name"
    refused = StorageInternalError("An exception is raised during the commit.")
    refused.__cause__ = DataError("INSERT", {}, ValueError("value too long for type character varying(512)\nmore"))
    for error in (refused, refused.__cause__, OperationalError("SELECT", {}, OSError("gone"))):
        line = failure_line(error, where)
        assert line is not None
        assert line.startswith("storage: expected postgresql+psycopg://me@host/name to answer and to take")
        assert "\n" not in line
    for url in (str(tmp_path / "a.journal"), f"sqlite:///{tmp_path}/a.db"):
        line = failure_line(from_a_storage(url), url)
        assert line is not None
        assert "KeyError" in line


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "No space left on device; free some space there"),
        (errno.EFBIG, "File too large; allow larger files there (ulimit -f)"),
        (errno.EROFS, "Read-only file system; name another place"),
        (errno.ENOLCK, "No locks available; its file system has no locks"),
        (errno.ENOTDIR, "Not a directory"),
    ],
)
def test_what_a_file_throws_names_the_file_and_the_cure(number: int, words: str) -> None:
    line = failure_line(OSError(number, os.strerror(number), "/data/results"), None)
    assert line is not None
    assert line.startswith("/data/results: expected a file that can be used, got ")
    assert words in line


def test_streams_memory_and_what_the_system_does_not_give() -> None:
    full, no_process = (OSError(number, os.strerror(number)) for number in (errno.ENOSPC, errno.EAGAIN))
    assert (failure_line(full, None) or "").startswith(
        "standard output: expected to take what is printed, got No space"
    )
    assert (failure_line(no_process, None) or "").startswith("system: expected to give what the command needs, got ")
    assert (failure_line(MemoryError(), None) or "").startswith("memory: expected enough")


def test_a_mistake_in_the_code_is_none_of_these() -> None:
    assert failure_line(TypeError("f() takes no arguments"), None) is None
    with pytest.raises(ZeroDivisionError) as caught:
        optuna.create_study(storage=optuna.storages.InMemoryStorage()).optimize(lambda _: 1 / 0, n_trials=1)
    assert failure_line(caught.value, None) is None


def test_a_command_refuses_it_in_a_line_and_with_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"sqlite:///{tmp_path}/a.db"
    optuna.create_study(study_name="s", storage=open_storage(where))

    def full(*given: object, **named: object) -> None:
        raise OperationalError("INSERT", {}, OSError("database or disk is full"))

    monkeypatch.setattr(optuna.storages.RDBStorage, "get_all_studies", full)
    for command in ("ask", "show", "best", "export", "report", "dashboard"):
        assert main([command, "--storage", where]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith(f"quadrat: storage: expected {where} to answer"), line
        assert "database or disk is full" in line


@pytest.mark.parametrize("other", [None, b"another"])
def test_a_database_that_was_removed_or_replaced_is_said_to_be(other: bytes | None, tmp_path: Path) -> None:
    """What was told before is not kept there."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = tmp_path / "a.db"
    study = optuna.create_study(storage=open_storage(f"sqlite:///{path}"))
    path.unlink()
    if other is not None:
        path.write_bytes(other)
    with pytest.raises(Exception, match=r"readonly database|commit") as caught:
        study.set_user_attr("a", 1)
    line = failure_line(caught.value, f"sqlite:///{path}")
    assert line is not None
    assert "expected the database" in line
    assert "is kept" not in line
