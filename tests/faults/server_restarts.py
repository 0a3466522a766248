"""A database server that crashes and comes back while a study runs on it."""

from __future__ import annotations

import time
from functools import partial

from tests.faults.bench import Bench, Findings, Run, until
from tests.postgres import PostgresServer


def server_that_restarts(bench: Bench, server: PostgresServer, url: str, *, outages: int, away: float) -> Findings:
    """Stop the server as a crash would, and start it again after some seconds; the run goes on by itself."""
    n_trials = 6 * outages
    bench.storage = url
    run = bench.start("-n", str(n_trials), FAULTS_SLEEP="0.1")
    for outage in range(outages):
        wanted = 2 + 5 * outage
        until(partial(_has_told, run, wanted), f"{wanted} trials are told")
        assert not _is_over(run), run.complained
        server.crash()
        # An outage could pass while nothing is asked of the server; this one is to be noticed.
        until(partial(_has_noticed, run, outage + 1), f"outage {outage + 1} is noticed")
        time.sleep(away)
        server.start()
    assert run.wait() == 0, run.complained
    assert run.complained.count("the storage answers again") >= outages, run.complained
    assert "Traceback" not in run.complained, run.complained
    return bench.audit("a PostgreSQL server that crashes and comes back", outages, n_trials)


def _has_told(run: Run, wanted: int) -> bool:
    return len(run.shown()) >= wanted or _is_over(run)


def _has_noticed(run: Run, outages: int) -> bool:
    return run.complained.count("the storage does not answer") >= outages or _is_over(run)


def _is_over(run: Run) -> bool:
    return run.command.poll() is not None
