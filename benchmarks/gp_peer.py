"""GPyTorch fitting the model of benchmarks/gp.py until it reaches a given log evidence; run in .venv-peers.

    python gp_peer.py data.npz TARGET REPEATS

Two optimisers: L-BFGS-B through SciPy, as BoTorch drives GPyTorch models, and Adam at 0.1, as GPyTorch's own
tutorials do. The clock stops at the first evaluation within 0.1 nats of the target, or at the end.
"""

from __future__ import annotations

import json
import sys
import time

import gpytorch
import numpy as np
import torch
from linear_operator.utils.errors import NanError
from scipy.optimize import minimize

CLOSE = 0.1


class Model(gpytorch.models.ExactGP):
    """Zero mean, scaled Matérn 5/2 with one length-scale an axis."""

    def __init__(self, X, y, likelihood) -> None:
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=X.shape[1]))

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


class Reached(Exception):
    """The target is met."""


def build(X, y):
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.GreaterThan(1e-8))
    model = Model(X, y, likelihood).double()
    model.covar_module.base_kernel.lengthscale = 0.5
    model.covar_module.outputscale = 1.0
    likelihood.noise = 0.1
    model.train()
    likelihood.train()
    return model, likelihood, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)


def run(X, y, target, optimiser):
    model, _, mll = build(X, y)
    parameters = list(model.parameters())
    best = {"value": -np.inf, "evaluations": 0}
    start = time.perf_counter()

    def loss():
        for parameter in parameters:
            parameter.grad = None
        value = -mll(model(X), y)
        value.backward()
        best["evaluations"] += 1
        best["value"] = max(best["value"], -float(value) * len(y))
        if best["value"] >= target - CLOSE:
            raise Reached
        return value

    def from_vector(vector):
        offset = 0
        with torch.no_grad():
            for parameter in parameters:
                count = parameter.numel()
                parameter.copy_(torch.from_numpy(vector[offset : offset + count]).view_as(parameter))
                offset += count
        value = loss()
        return float(value), torch.cat([parameter.grad.reshape(-1) for parameter in parameters]).numpy()

    try:
        if optimiser == "L-BFGS-B":
            first = torch.cat([parameter.detach().reshape(-1) for parameter in parameters]).numpy()
            minimize(from_vector, first, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
        else:
            adam = torch.optim.Adam(parameters, lr=0.1)
            for _ in range(2000):
                loss()
                adam.step()
    except (Reached, NanError):  # a search that runs into NaN has come as far as it will
        pass
    return time.perf_counter() - start, best["value"], best["evaluations"]


def main() -> None:
    torch.set_num_threads(1)
    path, target, repeats = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    with np.load(path) as data:
        X, y = torch.from_numpy(data["X"]), torch.from_numpy(data["y"])
    rows = []
    with gpytorch.settings.max_cholesky_size(10**6):
        for optimiser in ("L-BFGS-B", "Adam"):
            runs = [run(X, y, target, optimiser) for _ in range(repeats + 1)][1:]
            seconds = float(np.median([r[0] for r in runs]))
            rows.append({"optimiser": optimiser, "seconds": seconds, "reached": runs[0][1], "evaluations": runs[0][2]})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
