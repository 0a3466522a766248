"""Workers that die, hang or want too much memory."""

from __future__ import annotations

from optuna.trial import TrialState
from tests.faults.bench import Bench, Findings

from quadrat.studies.telling import FAILURE

DEATHS = ("exit", "segv", "killed", "hang")


def faulty_workers(bench: Bench, *, trial_timeout: float) -> Findings:
    """Every fault once, in one run: deaths and hangs cost a retry, a MemoryError fails its trial."""
    n_trials, faults = 8, (*DEATHS, "leak")
    run = bench.start(
        "-n", str(n_trials), "--workers", "2", "--trial-timeout", str(trial_timeout),
        objective="faulty", FAULTS=" ".join(faults),
    )  # fmt: skip
    assert run.wait() == 0, run.complained
    assert all((bench.folder / f"had-{name}").exists() for name in faults)
    assert run.complained.count("it is evaluated again") >= len(DEATHS), run.complained
    failed = [trial for trial in bench.trials() if trial.state is TrialState.FAIL]
    assert [trial.user_attrs[FAILURE].split(":")[0] for trial in failed] == ["MemoryError"]
    return bench.audit("workers that exit, crash, are killed, hang, leak", len(faults), n_trials, serial=False)
