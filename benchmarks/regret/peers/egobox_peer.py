"""egobox: Egor with its defaults after a Latin hypercube; mixed types natively; recommends the best observed."""

from __future__ import annotations

import egobox
import numpy as np

from quadrat.space import Categorical, Int
from regret.adapter import Adapter


class Egobox(Adapter):
    """egobox.Egor.suggest."""

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.parameters = [space[name] for name in space.axes]
        specs = [_spec(parameter) for parameter in self.parameters]
        self.egor = egobox.Egor(specs, seed=seed)
        count = max(space.dimension + 1, 5)
        self.design = list(egobox.sampling(specs, count, method=egobox.Sampling.LHS, seed=seed))
        self.X = []

    def ask(self):
        if self.design:
            x = self.design.pop(0)
        else:
            costs = -np.array([[value] for _, value in self.told])
            x = self.egor.suggest(np.array(self.X), costs, seed=1000 * self.seed + len(self.X))[0]
        self.asked = np.asarray(x, dtype=float)
        pairs = zip(self.parameters, self.asked, strict=True)
        return self.space.from_unit(np.array([_unit(parameter, value) for parameter, value in pairs]))

    def tell(self, params, value):
        super().tell(params, value)
        self.X.append(self.asked)


def _spec(parameter):
    if isinstance(parameter, Categorical):
        return egobox.XSpec(egobox.XType.ENUM, [len(parameter.choices)])
    if isinstance(parameter, Int) and not parameter.log:
        return egobox.XSpec(egobox.XType.INT, [parameter.low, parameter.high])
    return egobox.XSpec(egobox.XType.FLOAT, [0.0, 1.0])


def _unit(parameter, value):
    if isinstance(parameter, Categorical) or (isinstance(parameter, Int) and not parameter.log):
        return float(parameter.encode(np.array([round(value)]))[0])
    return min(max(value, 0.0), 1.0)
