"""A PostgreSQL server of our own, on a free port of this machine, that can be stopped and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 60.0  # seconds for the server to start, or to stop
# Nothing outlives the machine here, but what was committed outlives a crash of the server.
_FAST = ("fsync=off", "full_page_writes=off")
_database_numbers = count()


class PostgresServer:
    """A server that runs while this is entered; see `why_not` first.

    Attributes
    ----------
    url
        Up to the name of a database.
    """

    def __enter__(self) -> PostgresServer:
        programs, as_user = _programs(), _unprivileged()
        assert programs is not None
        assert as_user is not None
        self._programs = programs
        # Not in pytest's folder, which only its owner may enter.
        self._folder = Path(tempfile.mkdtemp(prefix="quadrat-postgres-"))
        self._server: subprocess.Popen[bytes] | None = None
        try:
            if as_user:
                shutil.chown(self._folder, as_user["user"])
            self._how: dict[str, Any] = {**as_user, "cwd": self._folder, "stdin": subprocess.DEVNULL}
            self._set_up()
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self._port: int = probe.getsockname()[1]
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop(signal.SIGINT)  # closes the connections that are left, and ends
        shutil.rmtree(self._folder)

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://quadrat@127.0.0.1:{self._port}"

    def new_database(self) -> str:
        """Make an empty database; return its URL."""
        import psycopg

        name = f"test_{next(_database_numbers)}"
        with psycopg.connect(f"{self._bare_url}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{self.url}/{name}"

    def start(self) -> None:
        """Start it, on the same port as before, and wait until it answers."""
        # Where it can be had: the server ends with us even if we are killed.
        command = ["setpriv", "--pdeathsig=INT"] if shutil.which("setpriv") else []
        command += [str(self._programs / "postgres"), "-D", str(self._folder / "data"), "-h", "127.0.0.1"]
        command += ["-p", str(self._port)]
        for setting in (*_FAST, f"unix_socket_directories={self._folder}"):
            command += ["-c", setting]
        log = self._folder / "log"
        with log.open("w") as file:
            self._server = subprocess.Popen(command, **self._how, stdout=file, stderr=subprocess.STDOUT)
        self._wait_until_it_answers(self._server, log)

    def crash(self) -> None:
        """End it at once, as `pg_ctl stop -m immediate` does: it recovers when it is started again."""
        self._stop(signal.SIGQUIT)

    def suspend(self) -> None:
        """Have it say nothing any more, to nobody: connections stay open, and new ones are taken by the kernel."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)  # first: it begins no other process after that
        for pid in _children(self._server.pid):
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Have it go on after `suspend`."""
        assert self._server is not None
        for pid in (*_children(self._server.pid), self._server.pid):
            os.kill(pid, signal.SIGCONT)

    def _stop(self, number: int) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        server.send_signal(number)
        try:
            server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()

    @property
    def _bare_url(self) -> str:
        """The URL without SQLAlchemy's name of the driver."""
        return self.url.replace("+psycopg", "")

    def _set_up(self) -> None:
        """Write the files of a server."""
        command = [str(self._programs / "initdb"), "--pgdata", str(self._folder / "data"), "--username=quadrat"]
        command += ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        out = subprocess.run(command, **self._how, capture_output=True, text=True)
        assert out.returncode == 0, out.stdout + out.stderr

    def _wait_until_it_answers(self, server: subprocess.Popen[bytes], log: Path) -> None:
        import psycopg

        deadline = time.monotonic() + PATIENCE
        while True:
            assert server.poll() is None, f"the server ended: {log.read_text()}"
            try:
                psycopg.connect(f"{self._bare_url}/postgres").close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, f"the server does not answer: {log.read_text()}"
                time.sleep(0.05)
            else:
                return


def _children(parent: int) -> list[int]:
    threads = Path(f"/proc/{parent}/task").iterdir()
    return [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]


def why_not() -> str | None:
    """Return why no server can be started here; None where one can."""
    if find_spec("psycopg") is None:
        return "psycopg, which talks to PostgreSQL, is not installed"
    if _programs() is None:
        return "no PostgreSQL server is installed: neither on PATH nor in /usr/lib/postgresql"
    if _unprivileged() is None:
        return "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as"
    return None


def _programs() -> Path | None:
    """Return the folder with initdb and postgres."""
    on_path = (Path(folder) for folder in os.get_exec_path())
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian keeps them off PATH
    for folder in (*on_path, *packaged):
        if all(shutil.which(name, path=str(folder)) for name in ("initdb", "postgres")):
            return folder
    return None


def _unprivileged() -> dict[str, Any] | None:
    """Return what has `subprocess` run as a user that is not root: nothing if we are not; None where there is none."""
    if os.geteuid() != 0:
        return {}
    import pwd

    known = {user.pw_name: user for user in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return {"user": known[name].pw_uid, "group": known[name].pw_gid, "extra_groups": []}
    return None
