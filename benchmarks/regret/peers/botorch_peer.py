"""BoTorch: SingleTaskGP with its defaults and qLogNoisyExpectedImprovement, and TuRBO-1 as in BoTorch's tutorial.

Both search the one-hot cube and are told the rounded point. Both recommend the evaluated point of highest posterior
mean, which needs a fit: once, at the end.
"""

from __future__ import annotations

import warnings

import gpytorch
import numpy as np
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.generation import MaxPosteriorSampling
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling.normal import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch.quasirandom import SobolEngine

from regret.adapter import Adapter
from regret.translate import OneHotCube

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class BoTorch(Adapter):
    """Ten Sobol points, then the maximiser of qLogNoisyExpectedImprovement with q = 1."""

    recommends_along_the_way = False

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        torch.manual_seed(seed)
        self.cube = OneHotCube(space)
        self.X, self.y = [], []
        self.design = self._sobol(self.n_initial, seed)

    @property
    def n_initial(self):
        """Points of the initial design."""
        return 10

    def _sobol(self, count, seed):
        return list(SobolEngine(self.cube.dimension, scramble=True, seed=seed).draw(count).double().numpy())

    def tell(self, params, value):
        super().tell(params, value)
        self.X.append(self.cube.point(params))
        self.y.append(value)

    def add(self, params, value):
        self.design = []  # what is told stands in for it
        self.tell(params, value)

    def _data(self):
        return torch.tensor(np.array(self.X)).double(), torch.tensor(self.y).double().unsqueeze(-1)

    def _fit(self):
        X, y = self._data()
        model = SingleTaskGP(X, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X

    def ask(self):
        if self.design:
            return self.cube.params(self.design.pop(0))
        model, X = self._fit()
        sampler = SobolQMCNormalSampler(torch.Size([256]))
        acquisition = qLogNoisyExpectedImprovement(model, X, sampler=sampler, prune_baseline=True)
        bounds = torch.stack([torch.zeros(self.cube.dimension), torch.ones(self.cube.dimension)]).double()
        options = {"batch_limit": 5, "maxiter": 200}
        found, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512, options=options)
        return self.cube.params(found.detach().numpy()[0])

    def recommend(self):
        model, X = self._fit()
        with torch.no_grad():
            best = int(model.posterior(X).mean.squeeze(-1).argmax())
        return self.told[best][0]


class TuRBO(BoTorch):
    """One trust region and Thompson sampling with q = 1.

    Matérn 5/2 with length-scales in [.005, 4] and noise in [.0005, .2], the ranges of the original TuRBO. When the
    region has collapsed it starts again elsewhere, with a new design and without the old data.
    """

    LONGEST, SHORTEST, INITIAL = 1.6, 0.5**7, 0.8  # of the region's side
    SUCCESSES = 10

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.first = 0  # evaluation that the present region began with
        self._restart()

    @property
    def n_initial(self):
        """Points of each initial design."""
        return 2 * self.cube.dimension

    @property
    def n_failures(self):
        """Failures in a row that shrink the region."""
        return max(4, self.cube.dimension)

    def _restart(self):
        self.side, self.successes, self.failures, self.best = self.INITIAL, 0, 0, -np.inf

    def _fit(self, first=None):
        first = self.first if first is None else first
        X, y = self._data()
        X, y = X[first:], y[first:]
        y = (y - y.mean()) / y.std()
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.Interval(5e-4, 0.2))
        lengths = gpytorch.constraints.Interval(0.005, 4.0)
        matern = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=self.cube.dimension, lengthscale_constraint=lengths)
        kernel = gpytorch.kernels.ScaleKernel(matern)
        model = SingleTaskGP(X, y, covar_module=kernel, likelihood=likelihood, outcome_transform=None)
        with gpytorch.settings.max_cholesky_size(float("inf")):
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X, y

    def ask(self):
        if self.design:
            return self.cube.params(self.design.pop(0))
        model, X, y = self._fit()
        count = min(5000, max(2000, 200 * self.cube.dimension))
        return self.cube.params(self._sampled(model, X[y.argmax()], count, 1)[0])

    def _sampled(self, model, centre, count, samples):
        """Points of the region around a centre: the best of so many candidates in each of some draws of f."""
        d = self.cube.dimension
        weights = model.covar_module.base_kernel.lengthscale.squeeze().detach()
        weights = weights / weights.mean()
        weights = weights / torch.prod(weights.pow(1.0 / d))
        low, high = (torch.clamp(centre + sign * weights * self.side / 2, 0, 1) for sign in (-1, 1))
        seed = int(np.random.default_rng([self.seed, len(self.X)]).integers(1 << 30))
        spread = low + (high - low) * SobolEngine(d, scramble=True, seed=seed).draw(count).double()
        moved = torch.rand(count, d) <= min(20.0 / d, 1.0)
        still = torch.where(moved.sum(1) == 0)[0]
        moved[still, torch.randint(0, d, (len(still),))] = True
        candidates = centre.expand(count, d).clone()
        candidates[moved] = spread[moved]
        with gpytorch.settings.max_cholesky_size(float("inf")), torch.no_grad():
            found = MaxPosteriorSampling(model=model, replacement=False)(candidates, num_samples=samples)
        return found.numpy()

    def tell(self, params, value):
        super().tell(params, value)
        better = value > self.best + 1e-3 * abs(self.best)
        self.best = max(self.best, value)
        if len(self.X) - self.first > self.n_initial:
            self._resize(better)

    def _resize(self, better):
        if better:
            self.successes, self.failures = self.successes + 1, 0
        else:
            self.successes, self.failures = 0, self.failures + 1
        if self.successes == self.SUCCESSES:
            self.side, self.successes = min(2 * self.side, self.LONGEST), 0
        elif self.failures == self.n_failures:
            self.side, self.failures = self.side / 2, 0
        if self.side < self.SHORTEST:
            self._restart()
            self.first = len(self.X)
            self.design = self._sobol(self.n_initial, self.seed + 1000 + self.first)

    def recommend(self):
        model, X, _ = self._fit(0)
        with torch.no_grad():
            best = int(model.posterior(X).mean.squeeze(-1).argmax())
        return self.told[best][0]
