"""Ten BoTorch suggestions (qLogNoisyExpectedImprovement) after 50 observations in 8 dimensions; prints seconds."""

from __future__ import annotations

import json
import time
import warnings

import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    X = torch.rand(50, 8, dtype=torch.double)
    y = -((X - 0.4) ** 2).sum(1, keepdim=True) + 0.1 * torch.randn(50, 1, dtype=torch.double)
    bounds = torch.stack([torch.zeros(8), torch.ones(8)]).double()
    start = None
    for i in range(11):  # the first warms up
        if i == 1:
            start = time.perf_counter()
        model = SingleTaskGP(X, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        acquisition = qLogNoisyExpectedImprovement(model, X, prune_baseline=True)
        optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
    print(json.dumps(time.perf_counter() - start))


if __name__ == "__main__":
    main()
