"""Ax: its client with the default generation strategy; recommends by its model's predictions.

Ax knows conditions only as trees in which a parameter depends on one value of one parent. Ours depend on several, so
that Ax gets the space without conditions.
"""

from __future__ import annotations

import logging
import warnings

import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

from quadrat.space import Categorical, Float
from regret.adapter import Adapter
from regret.translate import valid

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)


class Ax(Adapter):
    """ax.api.client.Client."""

    recommends_along_the_way = False

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.client = Client(random_seed=seed)
        self.client.configure_experiment([_parameter(name, parameter) for name, parameter in space.items()])
        self.client.configure_optimization("value")

    def ask(self):
        ((self.trial, found),) = self.client.get_next_trials(1).items()
        return valid(self.space, found)

    def tell(self, params, value):
        super().tell(params, value)
        self.client.complete_trial(self.trial, raw_data={"value": value})

    def recommend(self):
        found, *_ = self.client.get_best_parameterization(use_model_predictions=True)
        return valid(self.space, found)


def _parameter(name, parameter):
    if isinstance(parameter, Categorical):
        kind = "bool" if isinstance(parameter.choices[0], bool) else "str"
        return ChoiceParameterConfig(name, list(parameter.choices), kind, is_ordered=False)
    kind = "float" if isinstance(parameter, Float) else "int"
    scaling = "log" if parameter.log else "linear"
    return RangeParameterConfig(name, (parameter.low, parameter.high), kind, scaling=scaling)
