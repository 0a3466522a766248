"""Clocks that somebody sets while a study runs."""

from __future__ import annotations

import json
import os
import signal

from tests.faults.bench import Bench, Findings, until

DAY = 86_400.0
N_TRIALS = 12


def clock_that_jumps(bench: Bench) -> Findings:
    """A day ahead, then a day behind; nobody takes the study over meanwhile, and somebody does when it is dead."""
    jumps = json.dumps([[2, DAY], [5, -DAY]])
    run = bench.start(
        "-n", str(N_TRIALS), faults={"clock": jumps, "signal": f"objective:8:{signal.SIGSTOP:d}:1"}, FAULTS_SLEEP="0.01"
    )
    until(lambda: bench.complete() == 8, "eight trials are told")
    other = bench.start("-n", str(N_TRIALS))  # its clock is right: a day ahead of what the first one last wrote
    assert other.wait() == 2, other.complained
    assert f"which process {run.command.pid} on" in other.complained
    os.kill(run.command.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    return bench.audit("a clock that jumps a day ahead, and two back", 2, N_TRIALS)


def clock_that_jumps_with_a_trial_timeout(bench: Bench) -> Findings:
    """No trial is taken for one that hangs."""
    run = bench.start(
        "-n", "4", "--workers", "1", "--trial-timeout", "100", "--timeout", "1000",
        faults={"clock": json.dumps([[0, DAY]])}, FAULTS_SLEEP="0.1",
    )  # fmt: skip
    assert run.wait() == 0, run.complained
    assert not run.complained
    assert len(bench.trials()) == 4
    return bench.audit("a clock that is a day ahead, with a trial timeout", 1, 4)
