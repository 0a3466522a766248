"""HEBO with its defaults; recommends the best observed, as its own loop does. It knows no conditions."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from quadrat.space import Categorical, Float
from regret.adapter import Adapter
from regret.translate import valid

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Hebo(Adapter):
    """hebo.optimizers.hebo.HEBO."""

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # what HEBO draws from
        design = DesignSpace().parse([_parameter(name, parameter) for name, parameter in space.items()])
        self.optimizer = HEBO(design, scramble_seed=seed)

    def ask(self):
        self.asked = self.optimizer.suggest(1)
        found = self.asked.iloc[0].to_dict()
        for name, parameter in self.space.items():
            if isinstance(parameter, Categorical):
                found[name] = parameter.choices[int(found[name])]
        return valid(self.space, found)

    def tell(self, params, value):
        super().tell(params, value)
        self.optimizer.observe(self.asked, np.array([[-value]]))


def _parameter(name, parameter):
    if isinstance(parameter, Categorical):
        return {"name": name, "type": "cat", "categories": [str(i) for i in range(len(parameter.choices))]}
    kinds = {(True, False): "num", (True, True): "pow", (False, False): "int", (False, True): "pow_int"}
    kind = kinds[isinstance(parameter, Float), parameter.log]
    return {"name": name, "type": kind, "lb": parameter.low, "ub": parameter.high}
