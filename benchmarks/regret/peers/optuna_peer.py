"""Optuna: the Gaussian process sampler and the tree-structured Parzen estimator, with their defaults.

Parameters are suggested as an objective function would: those that exist, one after the other.
"""

from __future__ import annotations

import warnings

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from quadrat.space import Categorical, Float
from regret.adapter import Adapter
from regret.translate import exists

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


class _Optuna(Adapter):
    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.study = optuna.create_study(direction="maximize", sampler=self.sampler())

    def ask(self):
        self.trial = self.study.ask()
        params = {}
        for name, parameter in self.space.items():
            if exists(parameter, params):
                params[name] = self._suggest(name, parameter)
        return params

    def _suggest(self, name, parameter):
        if isinstance(parameter, Categorical):
            return self.trial.suggest_categorical(name, parameter.choices)
        suggest = self.trial.suggest_float if isinstance(parameter, Float) else self.trial.suggest_int
        return suggest(name, parameter.low, parameter.high, log=parameter.log)

    def tell(self, params, value):
        super().tell(params, value)
        self.study.tell(self.trial, value)

    def add(self, params, value):
        super().tell(params, value)
        distributions = {name: _distribution(self.space[name]) for name in params}
        self.study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, value=value))


class GP(_Optuna):
    """optuna.samplers.GPSampler."""

    def sampler(self):
        return optuna.samplers.GPSampler(seed=self.seed)


class TPE(_Optuna):
    """optuna.samplers.TPESampler."""

    def sampler(self):
        return optuna.samplers.TPESampler(seed=self.seed)


def _distribution(parameter):
    """What `_suggest` leaves in the record of a trial."""
    if isinstance(parameter, Categorical):
        return CategoricalDistribution(parameter.choices)
    kind = FloatDistribution if isinstance(parameter, Float) else IntDistribution
    return kind(parameter.low, parameter.high, log=parameter.log)
