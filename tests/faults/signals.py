"""Ctrl-C and SIGTERM in every phase of a run, once and twice, to the process and to all of its group."""

from __future__ import annotations

import os
import signal
import time

from tests.faults.bench import Bench, Findings, until
from tests.faults.starter import kill_group

NUMBERS = (signal.SIGINT, signal.SIGTERM)
PHASES = ("opening", "suggestion", "objective", "writing", "end")


def signalled_in_every_phase(bench: Bench) -> Findings:
    """Interrupt one study in every phase with either signal, then twice in a row during an evaluation."""
    injected, n_trials = 0, len(PHASES) * len(NUMBERS) + 2
    for number in NUMBERS:
        for phase in PHASES:
            before = bench.complete()
            wanted = before + 1 if phase == "end" else n_trials
            run = bench.start("-n", str(wanted), faults={"signal": f"{phase}:0:{number:d}:1"})
            status = run.wait()
            assert status == 128 + number, f"{number.name} at {phase}: {status}, {run.complained}"
            assert "Traceback" not in run.complained, run.complained
            trials = bench.trials()
            assert all(trial.state.is_finished() for trial in trials), f"{phase}: what ran was to finish"
            assert len(trials) - before == (0 if phase == "opening" else 1), f"{phase}: one trial was to finish"
            injected += 1
    for number in NUMBERS:
        run = bench.start("-n", str(n_trials), faults={"signal": f"objective:1:{number:d}:2"})
        assert run.wait() == 128 + number, run.complained
        assert "evaluated again when the study goes on" in run.complained
        assert [trial.state.is_finished() for trial in bench.trials()].count(False) == 1
        injected += 2
    return bench.audit("SIGINT and SIGTERM in every phase, also twice", injected, n_trials)


def signalled_while_it_starts(bench: Bench, moments: list[float]) -> Findings:
    """A process that imports: whatever it says, nothing is spoilt, and a shell sees the signal."""
    for moment in moments:
        for number in NUMBERS:
            run = bench.start("-n", "3", fresh=True)
            time.sleep(moment)
            os.kill(run.command.pid, number)
            status = run.wait()
            is_python = "Failed to import the site module" in run.complained  # it had not come to us yet
            said = f"{number.name} after {moment} s: {status}, {run.complained}"
            assert is_python or status in (128 + number, -number), said
    return bench.audit("SIGINT and SIGTERM while it starts", len(moments) * len(NUMBERS), 3)


def signalled_with_workers(bench: Bench, number: signal.Signals) -> Findings:
    """All processes of the group are signalled, as by a terminal, a service manager or a batch system."""
    n_trials, before = 8, len(bench.pids())
    run = bench.start("-n", str(n_trials), "--workers", "2", FAULTS_SLEEP="1")
    until(lambda: len(bench.pids()) >= before + 2, "two workers evaluate")
    kill_group(run.command.pid, number)
    assert run.wait() == 128 + number, run.complained
    assert "died" not in run.complained, run.complained
    trials = bench.trials()
    assert [trial.state.is_finished() for trial in trials] == [True] * len(trials), "what ran was to finish"
    assert len(bench.pids()) - before == len(trials), "nothing was evaluated twice"
    return bench.audit(f"{number.name} to all processes, two workers", 1, n_trials, serial=False)
