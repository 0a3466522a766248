"""One BLAS thread, reproducible property tests, a PostgreSQL server and a browser of our own, whoever starts pytest."""

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
