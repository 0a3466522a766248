"""The methods of this comparison, and where they run; adapters are those of `regret` where it has them."""

from __future__ import annotations

from dataclasses import replace

from regret.roster import OURS, ROSTER, Entry

__all__ = ["BASE", "BY_RUN", "METHODS", "SLOW", "TPE"]

BASE, TPE = "random", "optuna_tpe"
BY_RUN = "quadrat_by_run"  # ours, where nothing is declared
_FAST_SEEDS, _SLOW_SEEDS = tuple(range(0, 20, 2)), (0, 2, 4)  # even: odd seeds are for tuning our own method
_HERE, _SMAC = ".venv-hpo", ".venv-smac"
METHODS = {
    OURS: replace(ROSTER[OURS], environment=_HERE),
    BY_RUN: Entry(
        "Quadrat, define-by-run", "hpo.optuna_peer:DefineByRun", ("optuna",), "optuna", _HERE, _FAST_SEEDS
    ),
    "optuna_gp": replace(ROSTER["optuna_gp"], environment=_HERE),
    TPE: Entry("Optuna TPE (group)", "hpo.optuna_peer:GroupTPE", ("optuna",), "optuna", _HERE, _FAST_SEEDS),
    "hebo": replace(ROSTER["hebo"], seeds=_SLOW_SEEDS),
    "botorch": Entry(
        "BoTorch (mixed)", "hpo.botorch_peer:MixedBoTorch", ("botorch", "gpytorch", "torch"), "botorch",
        seeds=_SLOW_SEEDS,
    ),
    "smac_forest": Entry("SMAC3 (forest)", "hpo.smac_peer:Forest", ("smac",), "smac", _SMAC, _SLOW_SEEDS),
    "smac_gp": Entry("SMAC3 (GP)", "hpo.smac_peer:Process", ("smac",), "smac", _SMAC, _SLOW_SEEDS),
    BASE: replace(ROSTER[BASE], environment=_HERE),
}  # fmt: skip
SLOW = tuple(method for method, entry in METHODS.items() if entry.seeds == _SLOW_SEEDS)
