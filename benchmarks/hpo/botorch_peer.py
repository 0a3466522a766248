"""BoTorch for mixed spaces: MixedSingleTaskGP, and qLogNoisyExpectedImprovement by alternating search.

As `regret.peers.botorch_peer` otherwise: ten points of a design, then `optimize_acqf_mixed_alternating`, and the
evaluated point of highest posterior mean is recommended. It knows no conditions: absent parameters are at their middle.
"""

from __future__ import annotations

import numpy as np
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from botorch.sampling.normal import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood
from regret.peers.botorch_peer import BoTorch

from quadrat.space import Categorical


class IndexedCube:
    """A space with one coordinate for each parameter: in [0, 1] for a number, the index of its choice otherwise."""

    def __init__(self, space):
        self.space = space
        self.sizes = [len(space[name].choices) if isinstance(space[name], Categorical) else 0 for name in space.axes]
        self.dimension = len(self.sizes)
        self.choices = {i: list(map(float, range(size))) for i, size in enumerate(self.sizes) if size}
        self.bounds = torch.tensor([[0.0, max(size - 1.0, 0.0) if size else 1.0] for size in self.sizes]).double().T

    def params(self, x):
        """Return the parameters at a point, shape (dimension,)."""
        u = [
            (round(float(value)) + 0.5) / size if size else min(max(float(value), 0.0), 1.0)
            for value, size in zip(x, self.sizes, strict=True)
        ]
        return self.space.from_unit(np.array(u))

    def point(self, params):
        """Return the point of parameters, shape (dimension,)."""
        u = self.space.to_unit(params)
        return np.array([
            float(min(int(value * size), size - 1)) if size else value
            for value, size in zip(u, self.sizes, strict=True)
        ])  # fmt: skip


class MixedBoTorch(BoTorch):
    """One kernel of numbers, one of choices, their sum and product; no one-hot coordinates."""

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.cube = IndexedCube(space)
        unit = np.array(self._sobol(self.n_initial, seed))[:, : self.cube.dimension]
        sizes = np.array(self.cube.sizes)
        self.design = list(np.where(sizes > 0, np.minimum(np.floor(unit * sizes), sizes - 1), unit))

    def _fit(self):
        X, y = self._data()
        choices = list(self.cube.choices)
        model = MixedSingleTaskGP(X, y, cat_dims=choices) if choices else SingleTaskGP(X, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X

    def ask(self):
        if self.design:
            return self.cube.params(self.design.pop(0))
        model, X = self._fit()
        sampler = SobolQMCNormalSampler(torch.Size([256]))
        acquisition = qLogNoisyExpectedImprovement(model, X, sampler=sampler, prune_baseline=True)
        if self.cube.choices:
            found, _ = optimize_acqf_mixed_alternating(acquisition, self.cube.bounds, cat_dims=self.cube.choices)
        else:
            options = {"batch_limit": 5, "maxiter": 200}
            found, _ = optimize_acqf(
                acquisition, self.cube.bounds, q=1, num_restarts=10, raw_samples=512, options=options
            )
        return self.cube.params(found.detach().numpy()[0])
