"""kill -9 at random moments, many times in one study."""

from __future__ import annotations

import os
import random
import signal
import time

from tests.faults.bench import Bench, Findings, until
from tests.faults.starter import kill_group, runs

PLACES = ("opening", "suggestion", "objective", "writing", "torn")
_LATEST = {"opening": 1, "torn": 14}  # times that a place is passed before, at most; two for the others
_NO_END = "100000"  # trials: no run ends before it is killed
_MORE = 5  # trials after the last kill
_ANY_MOMENT = 0.8  # seconds, at most, after which a process is killed from outside


def killed_again_and_again(bench: Bench, kills: int, *, seed: int, fresh: int) -> Findings:
    """Kill a serial run at random places and moments until it has happened often enough.

    Of the processes `fresh` are started from nothing, and killed at a random moment, most while they import.
    """
    rng = random.Random(seed)  # noqa: S311
    plan = ["fresh"] * fresh
    plan += [("any", *PLACES)[i % (len(PLACES) + 1)] for i in range(kills - fresh)]
    rng.shuffle(plan)
    done = 0
    for where in plan:
        if where in ("any", "fresh"):
            run = bench.start("-n", _NO_END, fresh=where == "fresh", FAULTS_SLEEP="0.02")
            time.sleep(rng.uniform(0.0, 5 * _ANY_MOMENT if where == "fresh" else _ANY_MOMENT))
            kill_group(run.command.pid)
        else:
            after = rng.randrange(_LATEST.get(where, 3))
            run = bench.start("-n", _NO_END, faults={"signal": f"{where}:{after}:{signal.SIGKILL:d}:1"})
        status = run.wait()
        assert status == -signal.SIGKILL, f"killed at {where}, it ended with {status}: {run.complained}"
        done += 1
    return bench.audit("kill -9 of a serial run", done, len(bench.trials()) + _MORE)


def workers_killed(bench: Bench, rounds: int, *, seed: int) -> Findings:
    """Kill the coordinator alone, and its workers with it, in turn; no worker may live on."""
    rng = random.Random(seed)  # noqa: S311
    n_trials = 8 * rounds
    for number in range(rounds):
        before = len(bench.pids())
        run = bench.start("-n", str(n_trials), "--workers", "2", FAULTS_SLEEP="0.3")
        until(lambda before=before: len(bench.pids()) >= before + 2, "two workers evaluate")  # type: ignore[misc]
        time.sleep(rng.uniform(0.0, 0.6))
        if number % 2:
            kill_group(run.command.pid)
        else:
            os.kill(run.command.pid, signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        workers = set(bench.pids()[before:])
        until(lambda workers=workers: not any(map(runs, workers)), "orphaned workers end")  # type: ignore[misc]
    return bench.audit("kill -9 of a coordinator with two workers", rounds, n_trials, serial=False)
