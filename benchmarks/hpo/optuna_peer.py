"""Adapters of methods that only this comparison has: ours as an Optuna sampler, and TPE as for conditional spaces.

Those that derive from `regret.peers.optuna_peer` write the objective as a program does: it asks for a parameter when it
needs it, and no space is declared.
"""

from __future__ import annotations

import warnings

import optuna
from regret.peers.optuna_peer import _Optuna

import quadrat as qd
from quadrat.errors import QuadratWarning
from quadrat.studies.sampler import QuadratSampler


class DefineByRun(_Optuna):
    """Ours through Optuna, with nothing declared; recommends as `qd.recommend` does."""

    recommends_along_the_way = False

    def sampler(self):
        return QuadratSampler(seed=self.seed)

    def ask(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QuadratWarning)  # of what is not declared: that is the point here
            return super().ask()

    def recommend(self):
        return qd.recommend(self.study).params


class GroupTPE(_Optuna):
    """optuna.samplers.TPESampler, multivariate, with a group for each set of parameters that exist together."""

    def sampler(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return optuna.samplers.TPESampler(seed=self.seed, multivariate=True, group=True)
