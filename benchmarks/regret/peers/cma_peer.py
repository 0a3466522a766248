"""CMA-ES (pycma) from the centre of the one-hot cube with step .3; recommends its favourite, the mean made feasible."""

from __future__ import annotations

import warnings

import cma
import numpy as np

from regret.adapter import Adapter
from regret.translate import OneHotCube

warnings.filterwarnings("ignore")


class CMAES(Adapter):
    """cma.CMAEvolutionStrategy; it is told the points that it drew, not the rounded ones."""

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.cube = OneHotCube(space)
        options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9}  # 0 would mean the clock
        self.strategy = cma.CMAEvolutionStrategy([0.5] * self.cube.dimension, 0.3, options)
        self.waiting, self.done, self.costs = [], [], []

    def ask(self):
        if not self.waiting:
            self.waiting = list(self.strategy.ask())
        self.asked = self.waiting.pop(0)
        return self.cube.params(self.asked)

    def tell(self, params, value):
        super().tell(params, value)
        self.done.append(self.asked)
        self.costs.append(-value)
        if not self.waiting:
            self.strategy.tell(self.done, self.costs)
            self.done, self.costs = [], []

    def recommend(self):
        return self.cube.params(np.array(self.strategy.result.xfavorite))
