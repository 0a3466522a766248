"""A database that stops answering ends in a line, or is waited for; signals end what waits, also in C."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time

import pytest
from tests.faults.bench import Bench, until
from tests.faults.server_stops import (
    SHORT,
    patience,
    server_that_is_suspended,
    server_that_stays_suspended,
    terminated_while_suspended,
)
from tests.faults.starter import wait
from tests.postgres import PostgresServer


def test_a_server_that_comes_back_costs_nothing(bench: Bench, running_postgres: PostgresServer) -> None:
    found = server_that_is_suspended(bench, running_postgres, running_postgres.new_database(), times=2, away=0.5)
    assert found.is_sound, found


def test_a_server_that_stays_away_ends_the_run_with_a_line(bench: Bench, running_postgres: PostgresServer) -> None:
    found, _ = server_that_stays_suspended(bench, running_postgres, running_postgres.new_database())
    assert found.is_sound, found


@pytest.mark.parametrize("after", [0.2, 1.5])
def test_two_signals_end_a_run_that_waits(after: float, bench: Bench, running_postgres: PostgresServer) -> None:
    """While a statement gets no answer, and while connecting does not."""
    found, _ = terminated_while_suspended(bench, running_postgres, running_postgres.new_database(), after=after)
    assert found.is_sound, found


def test_two_signals_end_a_run_whose_driver_waits_in_c(bench: Bench) -> None:
    """SQLite waits for a lock in C, where Python runs no handlers."""
    bench.storage = f"sqlite:///{bench.folder}/study.db"
    run = bench.start("-n", "100000", faults=patience(SHORT), FAULTS_SLEEP="0.02")
    until(lambda: len(run.shown()) >= 2 or run.command.poll() is not None, "two trials are told")
    other = sqlite3.connect(bench.folder / "study.db", isolation_level=None, timeout=60)
    other.execute("BEGIN EXCLUSIVE")
    try:
        time.sleep(0.3)  # it gets to where it waits
        for _ in range(2):
            os.kill(run.command.pid, signal.SIGTERM)
            time.sleep(0.1)
        assert run.wait() == 128 + signal.SIGTERM, run.complained
    finally:
        other.close()
    assert "Traceback" not in run.complained


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_eight_first_commands_at_once_all_find_their_study(
    kind: str, bench: Bench, request: pytest.FixtureRequest
) -> None:
    """Each of them makes the tables of the new database."""
    where = f"sqlite:///{bench.folder}/new.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    arguments = ["ask", "--space", "space.toml", "--method", "RandomSearch", "--json", "--storage", where]
    files = [(bench.folder / f"out{number}", bench.folder / f"err{number}") for number in range(8)]
    started = [bench.starter.copy(arguments, bench.folder, *pair, faults={}, environment={}) for pair in files]
    statuses = [wait(one) for one in started]
    assert statuses == [0] * 8, [err.read_text() for _, err in files]
    asked = [json.loads(out.read_text())[0]["number"] for out, _ in files]
    assert sorted(asked) == list(range(8))
