"""How long a database may leave a call without an answer; what ends, and what only is slow."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest
from optuna.exceptions import StorageInternalError
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError
from tests.postgres import PostgresServer

from quadrat.errors import InvalidInput
from quadrat.studies import answering, open_storage
from quadrat.studies.answering import AnsweringStorage, began_of, driver_options, give_up
from quadrat.studies.outage import is_away
from quadrat.studies.storage import close_storage


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"SILENCE": 0.2, "CONNECT": 2, "READ": 1, "LOCK": 1}.items():
        monkeypatch.setattr(answering, name, seconds)


@contextmanager
def opened(url: str) -> Iterator[AnsweringStorage]:
    storage = open_storage(url)
    assert isinstance(storage, AnsweringStorage)
    try:
        yield storage
    finally:
        close_storage(storage)


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("postgresql://me@host/name", {"connect_timeout", "tcp_user_timeout", "keepalives_idle"}),
        ("postgresql+psycopg2://me@host/name", {"connect_timeout", "tcp_user_timeout", "keepalives_idle"}),
        ("postgresql+psycopg://me@host/name", {"connect_timeout", "tcp_user_timeout", "keepalives_idle"}),
        ("postgresql+pg8000://me@host/name", {"timeout", "tcp_keepalive"}),
        ("mysql+pymysql://me@host/name", {"connect_timeout", "read_timeout", "write_timeout"}),
        ("mysql+mysqldb://me@host/name", {"connect_timeout", "read_timeout", "write_timeout"}),
        ("mariadb+mysqlconnector://me@host/name", {"connection_timeout"}),
        ("sqlite:///study.db", {"timeout"}),
    ],
)
def test_every_driver_has_its_time_limits(url: str, named: set[str]) -> None:
    assert named <= driver_options(url).keys()


def test_what_a_url_says_itself_stays() -> None:
    assert "connect_timeout" not in driver_options("postgresql+psycopg://me@host/name?connect_timeout=7")


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "postgresql+psycopg2", "postgresql+pg8000", "mysql+pymysql"])
def test_a_server_that_never_says_anything_is_refused(scheme: str, short: None) -> None:
    if find_spec(scheme.split("+")[1]) is None:
        pytest.skip("this driver is not installed")
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(InvalidInput, match="cannot be opened"):
        open_storage(f"{scheme}://me@127.0.0.1:{silent.getsockname()[1]}/name")


def test_a_call_without_an_answer_ends_with_an_error_that_says_when_it_began(
    running_postgres: PostgresServer, short: None
) -> None:
    began = time.monotonic()
    with opened(running_postgres.new_database()) as storage, storage.engine.connect() as connection:
        running_postgres.suspend()
        try:
            with pytest.raises(OperationalError) as caught:
                connection.execute(text("SELECT 1"))
        finally:
            running_postgres.resume()
        assert is_away(caught.value)
        said = began_of(caught.value)
        assert said is not None
        assert began < said < time.monotonic() - 0.2
        connection.invalidate()
        storage.get_all_studies()  # on another connection


def test_a_server_that_is_only_slow_is_waited_for(
    running_postgres: PostgresServer, short: None, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(running_postgres.new_database()) as storage, storage.engine.connect() as connection:
        assert connection.execute(text("SELECT 7 FROM pg_sleep(1)")).scalar() == 7
    assert "the storage has not answered for" in caplog.text


def test_a_lock_that_another_one_keeps_is_not_waited_for_for_ever(
    running_postgres: PostgresServer, short: None
) -> None:
    with (
        opened(running_postgres.new_database()) as storage,
        storage.engine.connect() as one,
        storage.engine.connect() as other,
    ):
        one.execute(text("LOCK TABLE studies"))
        with pytest.raises(DBAPIError, match="lock timeout"):
            other.execute(text("SELECT * FROM studies"))


def test_a_server_that_was_given_up_is_not_asked_again(postgres_url: str) -> None:
    with opened(postgres_url) as storage:
        with storage.engine.connect() as connection:
            threading.Timer(0.2, give_up, (storage,)).start()
            with pytest.raises(DBAPIError):
                connection.execute(text("SELECT pg_sleep(60)"))
        with pytest.raises(StorageInternalError) as caught:
            storage.get_all_studies()
        assert "the server was given up" in str(caught.value.__cause__)


def test_a_time_out_that_a_driver_lets_through_becomes_an_error_of_the_driver(postgres_url: str) -> None:
    """pg8000 raises the TimeoutError of its socket."""

    def late(*given: Any) -> None:
        raise TimeoutError("timed out")

    with opened(postgres_url) as storage:
        watch = storage.engine.get_execution_options()["quadrat_watch"]
        setattr(storage.engine.dialect, "do_execute", watch.watched(late))  # noqa: B010  # a method
        connection = storage.engine.connect()
        with pytest.raises(OperationalError, match="no answer: timed out") as caught:
            connection.execute(text("SELECT 1"))
        assert caught.value.connection_invalidated


def test_the_thread_that_watches_ends_when_nothing_is_asked(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SILENCE", 0.02)
    with opened(postgres_url) as storage:
        storage.get_all_studies()
        deadline = time.monotonic() + 30
        while any(one.name == "quadrat-answers" for one in threading.enumerate()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        storage.get_all_studies()  # it comes back
        assert any(one.name == "quadrat-answers" for one in threading.enumerate())
