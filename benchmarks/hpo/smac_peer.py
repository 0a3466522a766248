"""SMAC3: the facades of random forests and of Gaussian processes, with their defaults.

Both see the conditions of the space and whether values have noise; where they have, SMAC evaluates configurations that
look good again, up to three times, before one becomes the incumbent. Both recommend their incumbent.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from typing import ClassVar

from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace, InCondition
from ConfigSpace import UniformFloatHyperparameter as FloatParameter
from ConfigSpace import UniformIntegerHyperparameter as IntParameter
from ConfigSpace.conditions import AndConjunction
from regret.adapter import Adapter
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
from smac.runhistory.dataclasses import TrialValue

from quadrat.space import Categorical, Float

warnings.filterwarnings("ignore")


class Forest(Adapter):
    """smac.HyperparameterOptimizationFacade: a random forest, expected improvement in logarithms."""

    facade: ClassVar = HyperparameterOptimizationFacade

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.folder = tempfile.TemporaryDirectory()  # where SMAC keeps a run
        self.smac = None

    def _begun(self):
        scenario = Scenario(
            configuration_space(self.space, self.seed),
            deterministic=not self.is_noisy,
            n_trials=self.n,
            seed=self.seed,
            output_directory=self.folder.name,
        )
        return self.facade(scenario, lambda _, seed=0: seed, logging_level=logging.ERROR, overwrite=True)

    def ask(self):
        self.smac = self.smac or self._begun()
        self.asked = self.smac.ask()
        return self._params(self.asked.config)

    def tell(self, params, value):
        super().tell(params, value)
        self.smac.tell(self.asked, TrialValue(cost=-value))

    def recommend(self):
        return self._params(self.smac.intensifier.get_incumbent())

    def _params(self, config):
        found = dict(config)
        return {name: _plain(found[name]) for name in self.space if name in found}


class Process(Forest):
    """smac.BlackBoxFacade: a Gaussian process, expected improvement."""

    facade: ClassVar = BlackBoxFacade


def configuration_space(space, seed):
    """Return a space of ours as one of ConfigSpace."""
    found = ConfigurationSpace(seed=seed)
    for name, parameter in space.items():
        found.add(_parameter(name, parameter))
    for name, parameter in space.items():
        conditions = [
            InCondition(found[name], found[parent], list(allowed)) for parent, allowed in (parameter.when or {}).items()
        ]
        if conditions:
            found.add(conditions[0] if len(conditions) == 1 else AndConjunction(*conditions))
    return found


def _parameter(name, parameter):
    if isinstance(parameter, Categorical):
        return CategoricalHyperparameter(name, list(parameter.choices))
    kind = FloatParameter if isinstance(parameter, Float) else IntParameter
    return kind(name, parameter.low, parameter.high, log=parameter.log)


def _plain(value):
    """Return a number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else value
