"""A database server that says nothing any more, though connections to it stay open."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from functools import partial

from tests.faults.bench import Bench, Findings, Run, until
from tests.postgres import PostgresServer

SHORT = {"SILENCE": 0.4, "CONNECT": 2, "SECONDS": 6.0, "GRACE": 0.5}
"""Seconds that tests wait; libpq connects in no less than 2."""


def patience(seconds: dict[str, float]) -> dict[str, str]:
    return {"patience": json.dumps(seconds)} if seconds else {}


def server_that_is_suspended(
    bench: Bench, server: PostgresServer, url: str, *, times: int, away: float, seconds: dict[str, float] = SHORT
) -> Findings:
    """Suspend the server, and resume it when the run has said so and some seconds passed; the run goes on by itself."""
    bench.storage, n_trials = url, 6 * times
    run = bench.start("-n", str(n_trials), faults=patience(seconds), FAULTS_SLEEP="0.1")
    for number in range(times):
        _wait_for(run, 2 + 5 * number)
        with_silence(server, partial(_resumable, run, number + 1), away)
    assert run.wait() == 0, run.complained
    assert run.complained.count("the storage answers again") >= times, run.complained
    assert "Traceback" not in run.complained, run.complained
    return bench.audit("a PostgreSQL server that is suspended and resumed", times, n_trials)


def server_that_stays_suspended(
    bench: Bench, server: PostgresServer, url: str, *, seconds: dict[str, float] = SHORT
) -> tuple[Findings, float]:
    """Suspend the server for good: the run ends with a line; return too how many seconds after."""
    bench.storage, n_trials = url, 6
    run = bench.start("-n", str(n_trials), faults=patience(seconds), FAULTS_SLEEP="0.1")
    _wait_for(run, 2)
    server.suspend()
    began = time.monotonic()
    try:
        status, took = run.wait(), time.monotonic() - began
    finally:
        server.resume()
    assert status == 2, run.complained
    assert "Traceback" not in run.complained, run.complained
    assert run.complained.splitlines()[-1].startswith("quadrat: storage: expected "), run.complained
    return bench.audit("a PostgreSQL server that stays suspended", 1, n_trials), took


def terminated_while_suspended(
    bench: Bench, server: PostgresServer, url: str, *, after: float, seconds: dict[str, float] = SHORT
) -> tuple[Findings, float]:
    """Send two SIGTERMs, some seconds after the server was suspended; return too how long the end took."""
    bench.storage, n_trials = url, 6
    run = bench.start("-n", str(n_trials), faults=patience(seconds), FAULTS_SLEEP="0.1")
    _wait_for(run, 2)
    server.suspend()
    try:
        time.sleep(after)
        began = time.monotonic()
        for _ in range(2):
            os.kill(run.command.pid, signal.SIGTERM)
            time.sleep(0.2)
        status, took = run.wait(), time.monotonic() - began
    finally:
        server.resume()
    assert status == 128 + signal.SIGTERM, (status, run.complained)
    assert "Traceback" not in run.complained, run.complained
    return bench.audit("SIGTERM twice while a PostgreSQL server is suspended", 1, n_trials), took


def with_silence(server: PostgresServer, noticed: Callable[[], bool], away: float) -> None:
    """Suspend a server until that was noticed and some seconds passed."""
    server.suspend()
    try:
        until(noticed, "that the server is silent is noticed")
        time.sleep(away)
    finally:
        server.resume()


def _resumable(run: Run, times: int) -> bool:
    return len(re.findall(r"the storage does not answer", run.complained)) >= times or run.command.poll() is not None


def _wait_for(run: Run, told: int) -> None:
    until(lambda: len(run.shown()) >= told or run.command.poll() is not None, f"{told} trials are told")
    assert run.command.poll() is None, run.complained
