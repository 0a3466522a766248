"""pi-GP-UCB: GP-UCB with an independent process in each cell of a partition that is refined as it goes.

[JBG20]: Janz, Burt and González (2020). Bandit optimisation of functions in the Matérn kernel RKHS. AISTATS.
[CG17]: Chowdhury and Gopalan (2017). On kernelized multi-armed bandits. ICML.

A cell is small where many observations are, and there little information is left to gain: that is where its regret
bound comes from, the first of a practical method that is sublinear for every nu > 1. It is also why a trial costs what
one cell costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from quadrat.arrays import as_number
from quadrat.confidence.budget import as_probability, cell_share
from quadrat.errors import InvalidInput
from quadrat.gp.splitting import SplittingRule
from quadrat.kernels import GammaExponential, Kernel, Matern, PiecewisePolynomial
from quadrat.methods.acquisition import Score, upper_bound
from quadrat.methods.base import MethodFacts
from quadrat.methods.domain import Domain
from quadrat.methods.learned_kernel import Learned
from quadrat.methods.pi_search import PartitionedSearch
from quadrat.methods.surrogate import ModelBased, Surrogate
from quadrat.partition.unit_cube import as_count

__all__ = ["PiGPUCB"]


@dataclass(frozen=True, kw_only=True)
class PiGPUCB(ModelBased):
    """Evaluate where mu_A(x) + beta_A sigma_A(x) is largest over the cells A [JBG20, algorithm 1].

        beta_A = B + sigma sqrt(2 (gamma_A + 1 + log(1/delta_A))),    lambda = 1 + 2/n

    is [CG17, theorem 2] for the observations in A, as in [JBG20, theorem 1]: the norm of f on A is at most that on the
    cube, and the noise of the trials that fall into A is as it was. gamma_A is the gain realised in A. Their union is
    over the cells that n trials can make; here a cell made by J halvings has the share
    delta_A = 6/(pi^2 (J + 1)^2) 2^-J delta, which adds up to delta over all cells there could ever be, so that beta_A
    changes only when A is told something. All bands then hold at once with probability 1 - delta.

    The posterior that lambda regularises serves the index alone; recommendations come from the cells' posteriors under
    the stated noise. Recommended is the evaluated point whose credible interval has the highest lower end: means of
    cells are less certain near their faces, and the highest of many means is the luckiest.

    Parameters
    ----------
    norm_bound
        B >= ||f||_K, in model units.
    delta
        Probability with which a band may fail.
    budget
        n, the number of trials planned; it only enters lambda.
    scale
        What beta_A is multiplied by; 1 is the theorem.
    smoothness
        nu, which decides how many observations a cell holds; None takes the kernel's own.
    capacity
        How many observations the whole cube holds before it is split, >= 1; a cell of side rho holds
        capacity rho^(-1/b). 1 is the printed rule. With more, cells are fewer, know more and cost more
        (experiments/partitioned.py compares).
    all_axes
        Whether a split halves every axis, as printed, into 2^D cells (at most 10 dimensions), or one at a time.
    kernel
        A kernel, used as it is, or `Learned(...)`; None is `Learned()`, the paper's recipe: Matérn with nu = 2.5,
        its length-scale learned from the first `n_initial` trials.
    noise
        Standard deviation of one observation, > 0, in the units of the values.
    n_initial
        Trials that must be told before the model decides, >= 1; until then points are uniform.
    standardise
        Whether the model sees values less their mean and divided by their standard deviation: model units are then
        multiples of that deviation, otherwise the units of the values.
    sketch
        How to sketch the posterior, for runs of thousands of trials; None keeps it exact.

    Examples
    --------
    >>> round(PiGPUCB(noise=0.1, delta=0.05).multiplier(gain=4.0, depth=2, noise=0.1), 3)
    1.491
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="pi-GP-UCB: an independent process in each cell of an adaptive partition",
        paper="Janz, Burt and González 2020, Bandit optimisation of functions in the Matérn kernel RKHS, AISTATS",
        assumes="norm of f at most B in the RKHS of a Matérn kernel with nu > 1, K(x, x) <= 1; sub-Gaussian noise",
        best_for="thousands of trials on rough functions",
    )

    norm_bound: float = 1.0
    delta: float = 0.001
    budget: int = 100
    scale: float = 1.0
    smoothness: float | None = None
    capacity: float = 64.0
    all_axes: bool = False

    def check(self) -> None:
        object.__setattr__(self, "norm_bound", as_number(self.norm_bound, name="norm_bound", above=0.0))
        object.__setattr__(self, "delta", as_probability(self.delta))
        object.__setattr__(self, "budget", as_count(self.budget, name="budget", at_least=1))
        object.__setattr__(self, "scale", as_number(self.scale, name="scale", above=0.0))
        object.__setattr__(self, "capacity", as_number(self.capacity, name="capacity", at_least=1.0))
        if self.sketch is not None:
            raise InvalidInput("sketch: expected None, since cells keep posteriors small already, got one")
        match self.kernel:
            case Kernel(variance=variance) if variance > 1:
                raise InvalidInput(
                    f"kernel: expected K(x, x) <= 1, which pi-GP-UCB needs, got {self.kernel!r}; scale f"
                )
            case Learned(amplitude=amplitude) if amplitude > 1:
                raise InvalidInput(f"kernel: expected an amplitude of at most 1, got {self.kernel!r}; scale f")
        object.__setattr__(self, "smoothness", self._smoothness())

    def _smoothness(self) -> float:
        if self.smoothness is not None:
            return as_number(self.smoothness, name="smoothness", above=0.0)
        match self.form_of_kernel:
            case Matern(nu=nu) | Learned(nu=nu):
                return nu
            case GammaExponential(a=a) if a < 2:
                return a / 2  # their spectral densities decay like those of Matérn kernels
            case PiecewisePolynomial(q=q):
                return q + 0.5
        raise InvalidInput(
            f"smoothness: expected a number, since nu is no fact of {self.kernel!r}; give smoothness=... or a Matérn "
            "kernel"
        )

    def start(self, domain: Domain, seed: int) -> PartitionedSearch:
        form = self.form_of_kernel
        self.rule(form.start() if isinstance(form, Learned) else form, domain.dimension)  # refuses what cannot be split
        return PartitionedSearch(self, self.rule, self.multiplier, domain, seed)

    def rule(self, kernel: Kernel, dimension: int) -> SplittingRule:
        """Return when and how cells of this `dimension` are split under this kernel, which may have been learned."""
        assert self.smoothness is not None
        return SplittingRule(kernel, dimension, self.smoothness, self.capacity, self.all_axes)

    def regulariser(self, noise_variance: float) -> float:  # noqa: ARG002  # their lambda does not depend on it
        return 1 + 2 / self.budget  # [CG17, algorithm 1, line 1]

    def multiplier(self, gain: float, depth: int, noise: float) -> float:
        """Return beta_A, scaled, of a cell made by `depth` halvings with `gain` nats gained; noise in model units."""
        union = log(1 / (self.delta * cell_share(depth)))
        return self.scale * (self.norm_bound + noise * sqrt(2 * (gain + 1 + union)))

    def score(self, model: Surrogate) -> tuple[Score, str]:
        """Return the index of the undivided cube, under the exact posterior of all that was told."""
        beta = self.multiplier(model.gain, 0, model.noise)
        return upper_bound(beta), f"largest upper confidence bound, beta = {beta:.3g}"
