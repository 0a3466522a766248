"""One BLAS thread, reproducible property tests, slow files, a PostgreSQL server and a browser of our own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.postgres import PostgresServer

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from hypothesis import settings  # noqa: E402  # NumPy must not start its threads before this

settings.register_profile("quadrat", derandomize=True, deadline=None)
settings.load_profile("quadrat")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tests` is found however pytest is started


TESTS = Path(__file__).resolve().parent
# Files and folders, below tests/, that `make test-fast` leaves out.
SLOW: tuple[str, ...] = ()


def is_slow(path: Path) -> bool:
    """Return whether a test file is one of `SLOW`, or in one of its folders."""
    return any(path.is_relative_to(TESTS / name) for name in SLOW)


@pytest.hookimpl(tryfirst=True)  # before pytest reads -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow files unread where none of their tests is wanted: reading all of them takes longer than many tests."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None


@pytest.fixture(scope="session")
def running_postgres() -> Iterator[PostgresServer]:
    """Start a PostgreSQL server."""
    from tests.postgres import PostgresServer, why_not

    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_server(running_postgres: PostgresServer) -> str:
    """Return the URL of the server, up to the name of a database."""
    return running_postgres.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run a headless Chromium; skip where none is installed."""
    from tests.browser import running_browser

    with running_browser() as found:
        yield found


@pytest.fixture
def postgres_url(running_postgres: PostgresServer) -> str:
    """Make an empty database on the server; its URL."""
    return running_postgres.new_database()
