"""One BLAS thread, reproducible property tests, a PostgreSQL server and a browser of our own, whoever starts pytest."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.browser import Browser

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from hypothesis import settings  # noqa: E402  # NumPy must not start its threads before this

settings.register_profile("quadrat", derandomize=True, deadline=None)
settings.load_profile("quadrat")

_PATIENCE = 60.0  # seconds for the server to start, or to stop
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")  # nothing outlives the tests
_database_numbers = count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL server on a free port of this machine; its URL, up to the name of a database."""
    if find_spec("psycopg") is None:
        pytest.skip("psycopg, which talks to PostgreSQL, is not installed")
    programs = _postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed: neither on PATH nor in /usr/lib/postgresql")
    as_user = _unprivileged()
    if as_user is None:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
    # Not in pytest's folder, which only its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="quadrat-postgres-"))
    try:
        if as_user:
            shutil.chown(folder, as_user["user"])
        run: dict[str, Any] = {**as_user, "cwd": folder, "stdin": subprocess.DEVNULL}
        _set_up(programs, folder, run)
        with _running(programs, folder, run) as port:
            yield f"postgresql+psycopg://quadrat@127.0.0.1:{port}"
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run a headless Chromium; skip where none is installed."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.browser import running_browser

    with running_browser() as found:
        yield found


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Make an empty database on the server; its URL."""
    import psycopg

    name = f"test_{next(_database_numbers)}"
    with psycopg.connect(f"{_bare(postgres_server)}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{postgres_server}/{name}"


def _bare(url: str) -> str:
    """Return the URL without SQLAlchemy's name of the driver."""
    return url.replace("+psycopg", "")


def _postgres_programs() -> Path | None:
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


def _set_up(programs: Path, folder: Path, run: dict[str, Any]) -> None:
    """Write the files of a server."""
    command = [str(programs / "initdb"), "--pgdata", str(folder / "data"), "--username=quadrat", "--auth=trust"]
    command += ["--no-sync", "--encoding=UTF8", "--locale=C"]
    out = subprocess.run(command, **run, capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr


@contextmanager
def _running(programs: Path, folder: Path, run: dict[str, Any]) -> Iterator[int]:
    """Run the server for the length of a block; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    # Where it can be had: the server ends with us even if we are killed.
    command = ["setpriv", "--pdeathsig=INT"] if shutil.which("setpriv") else []
    command += [str(programs / "postgres"), "-D", str(folder / "data"), "-h", "127.0.0.1", "-p", str(port)]
    for setting in (*_FAST, f"unix_socket_directories={folder}"):
        command += ["-c", setting]
    log = folder / "log"
    with log.open("w") as file:
        server: subprocess.Popen[bytes] = subprocess.Popen(command, **run, stdout=file, stderr=subprocess.STDOUT)
    try:
        _wait_until_it_answers(server, port, log)
        yield port
    finally:
        server.send_signal(signal.SIGINT)  # closes the connections that are left, and ends
        try:
            server.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    import psycopg

    deadline = time.monotonic() + _PATIENCE
    while True:
        assert server.poll() is None, f"the server ended: {log.read_text()}"
        try:
            psycopg.connect(f"postgresql://quadrat@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, f"the server does not answer: {log.read_text()}"
            time.sleep(0.05)
        else:
            return
