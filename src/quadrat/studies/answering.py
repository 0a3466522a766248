"""How long the server of a database may leave a call without an answer.

A server that is stopped, or that a broken network hides, takes a statement and says nothing: the driver waits in C
without limit, where no signal of Python's is heard. So every driver gets a time limit for connecting, and for silence
where it has one. Those of PostgreSQL that stand on libpq (psycopg, psycopg2) have none: there a thread watches the
calls. After some seconds without an answer it asks whether the server takes another connection. One that does is only
slow, and the call goes on. Of one that does not the connection is cut, so that the call ends with an error, which
`Outage` waits for as for any server that is away.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from optuna.storages import BaseStorage, RDBStorage

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["AnsweringStorage", "began_of", "driver_options", "give_up"]

SILENCE = 5.0  # seconds of a call without an answer after which the server is asked whether it lives
CONNECT = 5  # seconds to connect; whole ones, as libpq reads them, and at least 2
READ = 20  # seconds without an answer, for drivers that count them
LOCK = 20  # seconds to wait for a lock that somebody else has
_LOOKS = 4  # at the calls that run, in the time that is SILENCE
_IDLE = 20  # looks without a call after which the thread ends
_BEGAN = "quadrat_began"  # attribute of an error: when the call began that ended with it, by the monotonic clock
_LOST = "quadrat_lost"  # attribute of an error after which a connection is of no use
_OF_CURSORS = ("do_execute", "do_execute_no_params", "do_executemany")  # methods of a dialect that wait for an answer
_OF_CONNECTIONS = ("do_begin", "do_commit", "do_ping", "do_rollback")
_logger = logging.getLogger(__name__)


def driver_options(url: str) -> dict[str, Any]:
    """Return what a driver is given for its time limits; what the URL itself says of them stays.

    Examples
    --------
    >>> driver_options("sqlite:///study.db")
    {'timeout': 20}
    >>> driver_options("mysql+pymysql://me@host/name?connect_timeout=9")
    {'read_timeout': 20, 'write_timeout': 20}
    """
    from sqlalchemy import make_url

    read = make_url(url)
    options: dict[str, Any] = {}
    match read.get_backend_name(), read.get_driver_name():
        case "sqlite", _:
            options = {"timeout": LOCK}
        case "postgresql", "psycopg" | "psycopg2" | "psycopg2cffi":
            options = {
                "connect_timeout": CONNECT,
                "keepalives": 1,
                "keepalives_idle": 10,  # seconds, as the next one
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": 1000 * READ,
            }
        case "postgresql", "pg8000":
            options = {"timeout": READ, "tcp_keepalive": True}
        case "mysql" | "mariadb", "mysqlconnector":
            options = {"connection_timeout": READ}
        case "mysql" | "mariadb", _:
            options = {"connect_timeout": CONNECT, "read_timeout": READ, "write_timeout": READ}
    return {name: value for name, value in options.items() if name not in read.query}


class AnsweringStorage(RDBStorage):
    """Optuna's storage in a database, whose engine is watched from its first call on."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "engine":
            _watch(value, self.engine_kwargs.get("connect_args", {}))
        super().__setattr__(name, value)


def began_of(error: BaseException) -> float | None:
    """Return when the call of the driver began that ended with an error, by the monotonic clock; None if unknown."""
    cause: BaseException | None = error
    while cause is not None:
        began = getattr(getattr(cause, "orig", None), _BEGAN, None)
        if began is not None:
            return float(began)
        cause = cause.__cause__
    return None


def give_up(storage: BaseStorage) -> None:
    """Have every further call on a server fail at once: what is left to write, as an end is near, would wait again."""
    if isinstance(storage, AnsweringStorage) and storage.engine.get_execution_options().get("quadrat_watch"):
        storage.engine.get_execution_options()["quadrat_watch"].give_up()


def _watch(engine: Engine, connect_args: dict[str, Any]) -> None:
    """Have the calls of an engine watched, and its sessions not wait for locks without limit."""
    from sqlalchemy import event

    if engine.dialect.name == "sqlite":
        return
    watch = _Watch(engine, connect_args)
    engine.update_execution_options(quadrat_watch=watch)
    event.listen(engine, "do_connect", watch.connect)
    event.listen(engine, "connect", _limit_locks(engine.dialect.name))
    for name in (*_OF_CURSORS, *_OF_CONNECTIONS):
        setattr(engine.dialect, name, watch.watched(getattr(engine.dialect, name)))
    is_disconnect = engine.dialect.is_disconnect
    setattr(  # noqa: B010  # a method
        engine.dialect,
        "is_disconnect",
        lambda error, connection, cursor: hasattr(error, _LOST) or is_disconnect(error, connection, cursor),
    )


def _limit_locks(database: str) -> Callable[[Any, Any], None]:
    statement = {
        "postgresql": f"SET SESSION lock_timeout = {1000 * LOCK}",
        "mysql": f"SET SESSION innodb_lock_wait_timeout = {LOCK}",
        "mariadb": f"SET SESSION innodb_lock_wait_timeout = {LOCK}",
    }.get(database)

    def limit(connection: Any, record: Any) -> None:  # noqa: ARG001
        if statement is not None:
            cursor = connection.cursor()
            cursor.execute(statement)
            cursor.close()
            connection.commit()  # a rollback would undo it

    return limit


class _Watch:
    """Knows which calls of an engine run, and cuts the connections of those that get no answer."""

    def __init__(self, engine: Engine, connect_args: dict[str, Any]) -> None:
        self._engine, self._connect_args = engine, connect_args
        self._lock = threading.Lock()
        self._calls: dict[int, tuple[float, Any]] = {}  # by thread: when it began, and its connection or cursor
        self._thread: threading.Thread | None = None
        self._given_up = False

    def watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of a dialect, whose first argument is a connection or a cursor, that is watched."""

        def watched(first: Any, *given: Any, **named: Any) -> Any:
            began, me = time.monotonic(), threading.get_ident()
            with self._lock:
                self._calls[me] = began, first
                self._look_on()
            try:
                return self._in_time(call, first, *given, **named)
            except Exception as error:
                with contextlib.suppress(AttributeError):
                    setattr(error, _BEGAN, began)
                raise
            finally:
                with self._lock:
                    self._calls.pop(me, None)

        return watched

    def connect(self, dialect: Any, record: Any, args: Any, options: Any) -> Any:  # noqa: ARG002
        """Connect, unless the server was given up."""
        if self._given_up:
            raise dialect.dbapi.OperationalError("the server was given up")
        return self._in_time(dialect.connect, *args, **options)

    def _in_time(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call; where a driver lets the time-out of its socket through, raise the error that it has for such."""
        try:
            return call(*given, **named)
        except TimeoutError as error:
            dbapi: Any = self._engine.dialect.dbapi  # not loaded_dbapi, which SQLAlchemy 1.4 has not
            lost = dbapi.OperationalError(f"no answer: {error}")
            setattr(lost, _LOST, True)
            raise lost from error

    def give_up(self) -> None:
        """End the calls that run, and those to come."""
        self._given_up = True
        with self._lock:
            for _, asked in self._calls.values():
                _cut(asked)

    def _look_on(self) -> None:
        """Start the thread where it does not run, as after a fork."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._look, name="quadrat-answers", daemon=True)
            self._thread.start()

    def _look(self) -> None:
        idle, said = 0, -1.0
        while True:
            time.sleep(SILENCE / _LOOKS)
            now = time.monotonic()
            with self._lock:
                idle = 0 if self._calls else idle + 1
                if idle > _IDLE:
                    self._thread = None
                    return
                late = {me: began for me, (began, _) in self._calls.items() if now - began > SILENCE}
            if not late or now < said + SILENCE:
                continue
            said = now
            _logger.warning("the storage has not answered for %.0f s", now - min(late.values()))
            if self._server_answers():
                continue
            with self._lock:
                for me, began in late.items():
                    if self._calls.get(me, (None, None))[0] == began:
                        _cut(self._calls[me][1])

    def _server_answers(self) -> bool:
        """Return whether the server takes a connection: then it is only slow."""
        dialect = self._engine.dialect
        args, options = dialect.create_connect_args(self._engine.url)
        try:
            dialect.connect(*args, **{**options, **self._connect_args}).close()
        except Exception:  # every driver has its own
            return False
        return True


def _cut(asked: Any) -> None:
    """Shut the socket of a connection, or of a cursor, where its driver says which it is."""
    with contextlib.suppress(Exception):  # the other drivers have time limits of their own
        connection = asked if hasattr(asked, "fileno") else asked.connection
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
