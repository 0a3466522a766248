"""Storages: what is opened, and what is refused."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage, RDBStorage

from quadrat.errors import InvalidInput
from quadrat.studies import DEFAULT_JOURNAL, open_storage
from quadrat.studies.storage import place


def test_a_journal_file_is_the_default_and_is_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=open_storage(), study_name="s")
    study.add_trial(optuna.trial.create_trial(value=1.0))
    assert (tmp_path / DEFAULT_JOURNAL).exists()
    assert len(optuna.load_study(study_name="s", storage=open_storage(DEFAULT_JOURNAL)).trials) == 1
    assert isinstance(open_storage("other.log"), JournalStorage)


def test_a_database(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite:///{tmp_path / 'study.db'}")
    assert isinstance(storage, RDBStorage)
    storage.remove_session()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("nothing://here", "which cannot be opened"),
        ("sqlite:////no/such/folder/study.db", "which cannot be opened: "),
        ("postgresql+psycopg2://me:secret@127.0.0.1:1/name", "postgresql\\+psycopg2://me@127.0.0.1:1/name"),
        ("/no/such/folder/journal", "a journal file that can be written"),
        ("/", "got the folder /"),
        ("/dev/full", "got /dev/full, which is a device"),  # reading it took all memory
    ],
)
def test_what_cannot_be_opened_is_said_without_the_password(where: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        open_storage(where)
    assert "secret" not in str(caught.value)


def test_another_file_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\nand bread\n")
    with pytest.raises(InvalidInput, match=r"expected a journal file, got .*notes\.txt, which cannot be read as one"):
        open_storage(str(path))
    assert path.read_text() == "buy milk\nand bread\n"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg://user:pa?ss@host/db", "postgresql+psycopg://user@host/db"),
        ("postgresql+psycopg://user:p@ss@host/db?password=x", "postgresql+psycopg://user@host/db"),
        ("postgresql+psycopg://user:p/ss@host/db", "postgresql+psycopg://user@host/db"),
        ("postgresql+psycopg://user:pass/host/db", "postgresql+psycopg://user"),  # the host was forgotten
        ("postgresql+psycopg://[::1]:5432/db", "postgresql+psycopg://[::1]:5432/db"),
        ("sqlite:///study.db", "sqlite:///study.db"),
        ("some.journal", "some.journal"),
        (None, DEFAULT_JOURNAL),
    ],
)
def test_no_password_is_shown(url: str | None, shown: str) -> None:
    assert place(url) == shown
    if url is not None and url.startswith("postgresql"):
        with pytest.raises(InvalidInput) as caught:
            open_storage(url.replace("host", "127.0.0.1:1"))
        assert "ss" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize(
    ("url", "cure"),
    [
        ("postgresql://me:secret@host/name", "pip install 'quadrat[postgres]', and write postgresql+psycopg://user"),
        ("postgresql+psycopg://me:secret@host/name", "pip install 'quadrat[postgres]'"),
        ("mysql+pymysql://me:secret@host/name", "No module named 'driver'; pip install it"),
    ],
)
def test_a_driver_that_is_missing_is_named_with_its_cure(url: str, cure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*given: object, **options: object) -> None:
        raise ImportError("No module named 'driver'")

    monkeypatch.setattr("quadrat.studies.storage.AnsweringStorage", missing)
    with pytest.raises(InvalidInput, match=r"expected a driver for .* to be installed") as raised:
        open_storage(url)
    assert cure in str(raised.value)
    assert "secret" not in str(raised.value)
