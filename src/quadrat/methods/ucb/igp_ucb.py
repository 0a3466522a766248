"""IGP-UCB, the improved GP-UCB.

[CG17]: Chowdhury and Gopalan (2017). On kernelized multi-armed bandits. ICML.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from quadrat._core.arrays import as_number
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel
from quadrat.methods.acquisition import Score, upper_bound
from quadrat.methods.base import MethodFacts
from quadrat.methods.surrogate import Learned, ModelBased, Surrogate
from quadrat.partition.unit_cube import as_count

__all__ = ["IGPUCB"]


@dataclass(frozen=True, kw_only=True)
class IGPUCB(ModelBased):
    """Evaluate where mu(x) + beta_t sigma(x) is largest, with lambda = 1 + 2/n [CG17, algorithm 1].

        beta_t = B + sigma sqrt(2 (gamma_(t-1) + 1 + log(1/delta)))      [CG17, theorem 2]

    gamma is the gain realised by the points told, log det(I + K/lambda)/2, which their proof allows. The posterior
    that lambda regularises serves the index alone: it believes the noise to be a hundred times what it is, so
    recommendations come from the posterior under the stated noise.

    Parameters
    ----------
    norm_bound
        B >= ||f||_K, in model units.
    delta
        Probability with which the band may fail.
    budget
        n, the number of trials planned; it only enters lambda.
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(0, 1))
    >>> method = IGPUCB(kernel=qd.Matern(2.5, 0.3), noise=0.01, n_initial=3, budget=10)
    >>> found = qd.maximize(lambda p: -((p["x"] - 0.3) ** 2), space, n_trials=10, method=method)
    >>> abs(found.params["x"] - 0.3) < 0.1
    True
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="IGP-UCB, improved GP-UCB",
        paper="Chowdhury and Gopalan 2017, On kernelized multi-armed bandits, ICML",
        assumes="norm of f at most B in the RKHS of a kernel with K(x, x) <= 1; sub-Gaussian noise",
        best_for="research: regret bounds for functions of bounded norm",
    )

    norm_bound: float = 1.0
    delta: float = 0.001
    budget: int = 100

    def check(self) -> None:
        object.__setattr__(self, "norm_bound", as_number(self.norm_bound, name="norm_bound", above=0.0))
        object.__setattr__(self, "delta", as_probability(self.delta))
        object.__setattr__(self, "budget", as_count(self.budget, name="budget", at_least=1))
        match self.kernel:
            case Kernel(variance=variance) | Learned(amplitude=variance) if variance > 1:
                raise InvalidInput(f"kernel: expected K(x, x) <= 1, which IGP-UCB needs, got {self.kernel!r}; scale f")

    def regulariser(self, noise_variance: float) -> float:  # noqa: ARG002  # their lambda does not depend on it
        return 1 + 2 / self.budget  # [CG17, algorithm 1, line 1]

    def multiplier(self, model: Surrogate) -> float:
        """Return beta_t after what the model was told."""
        return self.norm_bound + model.noise * sqrt(2 * (model.gain + 1 + log(1 / self.delta)))

    def score(self, model: Surrogate) -> tuple[Score, str]:
        beta = self.multiplier(model)
        return upper_bound(beta), f"largest upper confidence bound, beta = {beta:.3g}"
