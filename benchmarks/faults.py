"""What is left of studies after kills, signals, dead workers, full disks, torn files, lost servers and wrong clocks.

    python benchmarks/faults.py [--smoke] [--write]

Real `quadrat tune` processes meet faults (tests/faults has them; the tests run them in small numbers). After each fault
the study is run to its end and looked at: trials that were shown as told and are not there are lost; trials told more
than once are duplicated; trials that still run are stuck. Studies that were run one trial after another are compared
with one that met no faults: parameters and values, trial by trial and bit by bit.
Unless it is --smoke, what is found is kept in benchmarks/results/faults.jsonl, and a fault that is there is not
injected again. --write updates benchmarks/results/faults.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import json
import signal
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import optuna
from regret.rows import Row, read_rows, stamp
from tests.faults.bench import Bench, Findings
from tests.faults.clock_jumps import clock_that_jumps, clock_that_jumps_with_a_trial_timeout
from tests.faults.full_disk import disk_that_fills, file_that_may_not_grow, small_disk
from tests.faults.killed_commands import asks_killed, imports_killed, tells_killed
from tests.faults.kills import killed_again_and_again, workers_killed
from tests.faults.read_only import journal_that_is_read_only
from tests.faults.reference import Reference
from tests.faults.server_restarts import server_that_restarts
from tests.faults.server_stops import (
    server_that_is_suspended,
    server_that_stays_suspended,
    terminated_while_suspended,
)
from tests.faults.signals import signalled_in_every_phase, signalled_while_it_starts, signalled_with_workers
from tests.faults.starter import Starter
from tests.faults.torn_journal import TAILS, check_readable, cut_journals, torn_and_resumed, whole_journal
from tests.faults.worker_faults import faulty_workers
from tests.postgres import PostgresServer, why_not

ROWS = ROOT / "benchmarks" / "results" / "faults.jsonl"
COUNTS = ("injected", "told", "lost", "duplicated", "stuck")
HEAD = ("fault", "injected", "told", "lost", "duplicated", "stuck", "equal to a run without faults")
KILLS, FRESH = 110, 10  # kills in one study; processes of those that are started from nothing
WORKER_KILLS = 10
COMMAND_KILLS, PARTS = 130, 5  # of each of the other commands that write; rows that these are in
RESUMED = 12  # every which of the torn journals is resumed; all are read and written
OUTAGES = 5
AWAY = 30.0  # seconds that a server is suspended after the run has said so, which it does after 10
MOMENTS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6]  # seconds after which a process that starts is signalled


def torn(bench: Bench, every: int) -> Findings:
    """Read and write all torn journals, and resume some of them."""
    whole = whole_journal(bench)
    journals = [*cut_journals(whole), *(whole + tail for tail in TAILS.values())]
    for journal in journals:
        check_readable(bench.folder / "torn", whole, journal)
    return torn_and_resumed(bench, [*journals[: -len(TAILS) : every], *journals[-len(TAILS) :]])


def commands_killed(kill: Callable[..., Findings], bench: Bench, part: int) -> Findings:
    return kill(bench, COMMAND_KILLS // PARTS, seed=2 * part)


def full(bench: Bench) -> Findings | str:
    with small_disk(bench.folder / "disk") as refused:
        return disk_that_fills(bench, bench.folder / "disk") if refused is None else refused


def restarted(bench: Bench, outages: int) -> Findings | str:
    reason = why_not()
    if reason is not None:
        return reason
    with PostgresServer() as server:
        return server_that_restarts(bench, server, server.new_database(), outages=outages, away=2.0)


def suspended(call: Callable[[PostgresServer, str], tuple[Findings, float]]) -> Findings | str:
    """Have a server say nothing for a real minute, or until signals end the run; print how long that took."""
    reason = why_not()
    if reason is not None:
        return reason
    with PostgresServer() as server:
        found, seconds = call(server, server.new_database())
    print(f"{found.fault}: the command ended after {seconds:.1f} s", file=sys.stderr, flush=True)
    return replace(found, fault=f"{found.fault}: it ends after {seconds:.1f} s")


def terminated(bench: Bench, after: float) -> Findings | str:
    return suspended(partial(terminated_while_suspended, bench, after=after, seconds={}))


def resumed(bench: Bench, times: int) -> Findings | str:
    reason = why_not()
    if reason is not None:
        return reason
    with PostgresServer() as server:
        return server_that_is_suspended(bench, server, server.new_database(), times=times, away=AWAY, seconds={})


def scenarios(smoke: bool) -> dict[str, Callable[[Bench], Findings | str]]:
    """Return what is done, by a name for a folder; text that comes back says why it cannot be done here."""
    if smoke:
        return {"kills": lambda bench: killed_again_and_again(bench, 2, seed=1, fresh=0)}
    return {
        "kills": lambda bench: killed_again_and_again(bench, KILLS, seed=1, fresh=FRESH),
        "worker_kills": lambda bench: workers_killed(bench, WORKER_KILLS, seed=1),
        "asks": lambda bench: asks_killed(bench, COMMAND_KILLS, seed=1),
        **{f"tells_{part}": partial(commands_killed, tells_killed, part=part) for part in range(PARTS)},
        **{f"imports_{part}": partial(commands_killed, imports_killed, part=part) for part in range(PARTS)},
        "signals": signalled_in_every_phase,
        "starting": lambda bench: signalled_while_it_starts(bench, MOMENTS),
        "sigint": lambda bench: signalled_with_workers(bench, signal.SIGINT),
        "sigterm": lambda bench: signalled_with_workers(bench, signal.SIGTERM),
        "workers": lambda bench: faulty_workers(bench, trial_timeout=8.0),
        "disk": full,
        "fsize": file_that_may_not_grow,
        "read_only": journal_that_is_read_only,
        "torn": lambda bench: torn(bench, RESUMED),
        "server": lambda bench: restarted(bench, OUTAGES),
        "server_resumed": lambda bench: resumed(bench, 2),
        "server_suspended": lambda bench: suspended(partial(server_that_stays_suspended, bench, seconds={})),
        "server_terminated_1": partial(terminated, after=1.0),  # in a statement
        "server_terminated_12": partial(terminated, after=12.0),  # in a connection
        "server_terminated_30": partial(terminated, after=30.0),
        "clock": clock_that_jumps,
        "clock_timeout": clock_that_jumps_with_a_trial_timeout,
    }


def injected(smoke: bool, kept: list[Row]) -> list[Row]:
    """Return a row for every fault, those that are kept and new ones; the latter are kept too, unless it is smoke."""
    rows = {row["name"]: row for row in kept}
    with tempfile.TemporaryDirectory() as folder, Starter() as starter:
        reference = Reference(Path(folder) / "reference", starter)
        for name, scenario in scenarios(smoke).items():
            if name in rows:
                continue
            print(f"{name} ...", file=sys.stderr, flush=True)
            found = scenario(Bench(Path(folder) / name, starter, reference))
            if isinstance(found, str):
                print(f"{name}: not possible here: {found}", file=sys.stderr, flush=True)
                continue
            rows[name] = {"name": name, **asdict(found), **stamp(("optuna",))}
            if not smoke:
                with ROWS.open("a") as file:
                    file.write(json.dumps(rows[name]) + "\n")
    return [rows[name] for name in scenarios(smoke) if name in rows]


def together(rows: list[Row]) -> list[Row]:
    """Return a row for each fault: a run that is broken off goes on with the next part of it."""
    found: dict[str, Row] = {}
    for row in rows:
        known = found.setdefault(row["fault"], {**row, **dict.fromkeys(COUNTS, 0)})
        known |= {name: known[name] + row[name] for name in COUNTS}
        known["equal"] = None if row["equal"] is None else bool(known["equal"] and row["equal"])
    return list(found.values())


def cells(row: Row) -> tuple[str, ...]:
    equal = {None: "not compared", True: "yes", False: "no"}[row["equal"]]
    return row["fault"], *(str(row[name]) for name in COUNTS), equal


def main() -> None:
    chosen = options(__doc__)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows = injected(chosen.smoke, [] if chosen.smoke else read_rows(ROWS))
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    versions = ", ".join(sorted({row["versions"]["optuna"] for row in rows}))
    text = f"{table(HEAD, [cells(row) for row in together(rows)])}\n\nQuadrat at {commits}; optuna {versions}."
    measured = "faults are injected into running `quadrat` processes"
    publish("faults", "Faults, and what is left after them", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
