"""Callbacks written for Optuna, such as loggers of experiments, work with QuadratSampler as they are.

    python examples/optuna_callbacks.py

A callback gets the study and the trial that just ended. The logger below has the form of those that send parameters and
values to a tracking server: it only knows Optuna.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import optuna

import quadrat as qd


@dataclass
class RunLogger:
    """Keep a run for each trial: what was tried, what came of it, and the best so far."""

    metric: str = "loss"
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        """Log one trial; Optuna calls this after each."""
        self.runs.append(
            {
                "run": trial.number,
                "state": trial.state.name,
                "params": dict(trial.params),
                "attrs": dict(trial.user_attrs),
                self.metric: trial.value,
                "best": study.best_value if study.best_trials else None,
            }
        )


@dataclass(frozen=True)
class StopWhenGood:
    """End the study once a value is low enough."""

    enough: float

    def __call__(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        """Look at one trial; Optuna calls this after each."""
        if trial.value is not None and trial.value <= self.enough:
            study.stop()


def objective(trial: optuna.Trial) -> float:
    """Return something like a loss."""
    rate, depth = trial.suggest_float("rate", 1e-4, 1.0, log=True), trial.suggest_int("depth", 1, 9)
    trial.set_user_attr("seconds", 0.1 * depth)
    return (rate - 0.03) ** 2 + 0.01 * (depth - 4) ** 2


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=qd.QuadratSampler(seed=0))
    logger = RunLogger()
    study.optimize(objective, n_trials=30, callbacks=[logger, StopWhenGood(1e-3)])
    for run in logger.runs:
        print(f"run {run['run']:2d}  {run['state']}  loss {run['loss']:.4f}  best {run['best']:.4f}  {run['params']}")
