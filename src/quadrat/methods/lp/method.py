"""LP-GP-UCB: Gaussian-process bounds, cell averages and local polynomials on cells that divide where it pays.

Shekhar and Javidi, Multi-Scale Zero-Order Optimization of Smooth Functions in an RKHS: Algorithms 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

import numpy as np

from quadrat._core.arrays import as_number, keep_plain
from quadrat._core.moved import AS_PRINTED
from quadrat.confidence import Assumptions, UserHolder
from quadrat.errors import InvalidInput
from quadrat.gp import InformationGain, greedy_gain, set_gain
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Kernel
from quadrat.methods.base import Domain, Method, MethodFacts, Search
from quadrat.methods.lp.contextual import ContextualLPSearch
from quadrat.methods.lp.other_forms import LEARNED, SKETCHED, LearnedSearch, SketchedSearch
from quadrat.methods.lp.search import CellOptions, CertifiedSearch, Goal
from quadrat.partition import MAX_CELLS
from quadrat.randomness import generator

__all__ = ["LP0", "LPGPUCB", "information_gain"]


@dataclass(frozen=True, kw_only=True)
class LPGPUCB(Method):
    """LP-GP-UCB with averages, and local polynomials of degree k if k > 0; the certified form by default.

    Parameters
    ----------
    kernel, norm_bound, noise
        The assumptions, fixed before the data: f has norm at most B in the kernel's RKHS and noise is
        sigma-sub-Gaussian. A kernel of None is learned from the first `n_initial` trials, as in the paper's
        experiments, and nothing is certified then.
    budget
        n, the number of evaluations planned. More are allowed; cells stay larger than 1/n. Where many are planned, the
        band is made of local ones (`quadrat.confidence.LocalBand`), so that a trial costs about the same throughout.
    degree
        k = 0, 1 or 2; below the kernel's smoothness. k = 0 has the better cumulative regret, k = ceil(nu) - 1 the
        better simple regret in theory; k = 0 certified more in every setting measured (experiments/certificates.py).
    delta
        Everything certified holds at once with probability at least 1 - delta.
    threshold
        What the variation over a cell is compared with, in the units of f; B s gamma_n / sqrt(n) by default, from the
        information gain of the kernel for noise sigma / B.
    holder
        The user's own Hölder bound (L, alpha), used where it is below the kernel's modulus.
    as_printed
        False, as states of version 0.1 say. The algorithm line by line as printed is in experiments/as_printed of the
        source repository.
    n_initial
        How many uniform points come first where the kernel is learned.
    max_cells
        When this many cells exist, cells are evaluated instead of split.
    goal
        "certificate": every second trial is where it sharpens the certificate most, the others are those of Algorithm
        1. "regret": all are those, which loses less on the way and certifies less at the end.
    sketch
        How to sketch the posterior, in place of the certified bands (`quadrat.methods.lp.other_forms`): for many
        thousands of evaluations. Nothing is certified then.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = LPGPUCB(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.01, budget=15)
    >>> found = qd.minimize(lambda p: (p["x"] - 0.3) ** 2, qd.Space(x=qd.Float(0, 1)), n_trials=15, method=method)
    >>> low, high = found.certified_interval  # holds the objective at found.params with probability 0.95
    >>> bool(low <= (found.params["x"] - 0.3) ** 2 <= high), round(found.certificate, 2)
    (True, 0.04)
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="LP-GP-UCB: posterior, averages and local polynomials on adaptive cells",
        paper="Shekhar and Javidi 2020, Algorithms 1 and 2",
        assumes="kernel, norm bound B and noise sigma, stated before the data",
        best_for="an answer with a certificate, where you can state your assumptions",
        certifies=True,
        handles=("pending points", "replicates", "contexts"),
    )

    kernel: Kernel | None
    norm_bound: float
    noise: float
    budget: int
    degree: int = 0
    delta: float = 0.05
    threshold: float | None = None
    holder: UserHolder | None = None
    as_printed: bool = False
    n_initial: int = 5
    max_cells: int = field(default=MAX_CELLS)
    sketch: Sketch | None = None
    goal: Goal = "certificate"

    version: ClassVar[int] = 2  # 2: every second trial sharpens the certificate; the threshold is in units of B

    def __post_init__(self) -> None:
        keep_plain(self)
        if not isinstance(self.budget, int | np.integer) or isinstance(self.budget, bool) or self.budget < 1:
            raise InvalidInput(f"budget: expected a number of evaluations >= 1, got {self.budget!r}")
        if self.degree not in (0, 1, 2):
            raise InvalidInput(f"degree: expected 0, 1 or 2, got {self.degree!r}")
        if self.threshold is not None:
            as_number(self.threshold, name="threshold", at_least=0.0)
        if self.goal not in get_args(Goal):
            raise InvalidInput(f'goal: expected "certificate" or "regret", got {self.goal!r}')
        if not isinstance(self.sketch, Sketch | None):
            raise InvalidInput(f"sketch: expected Sketch(...) or None for certified bands, got {self.sketch!r}")
        if self.as_printed:  # version 0.1 had it, and wrote as_printed=False in its states
            raise InvalidInput(f"as_printed: expected False, got True; the printed algorithm {AS_PRINTED}")
        if self.kernel is None:
            if self.sketch is not None:
                raise InvalidInput("sketch: expected a stated kernel beside it, got None; leave the sketch out")
            if self.n_initial < 1:
                raise InvalidInput(f"n_initial: expected at least 1 to learn a kernel from, got {self.n_initial!r}")
            return
        dimension = self._assumptions(self.kernel).kernel.dimension
        self.kernel.taylor_remainder(np.zeros(1 if dimension is None else dimension), self.degree)

    def _assumptions(self, kernel: Kernel) -> Assumptions:
        return Assumptions(kernel, self.norm_bound, self.noise, self.holder)

    def start(self, domain: Domain, seed: int) -> Search:
        """Begin a search named by `seed`; where `domain` has contexts, cells divide them together with the actions."""
        if domain.context:
            self._require_contexts()
        if self.kernel is None:
            return LearnedSearch(self, domain, seed)
        self.kernel.check_dimension(domain.dimension)
        given = self._assumptions(self.kernel)
        chosen: dict[str, Any] = {
            name: getattr(self, name) for name in ("budget", "degree", "delta", "max_cells", "goal")
        }
        options = CellOptions(**chosen, threshold=self._threshold(self.kernel, self.noise, domain.dimension))
        if self.sketch is not None:
            return SketchedSearch(given, domain, seed, options, sketch=self.sketch)
        form = ContextualLPSearch if domain.context else CertifiedSearch
        return form(given, domain, seed, options)

    def _require_contexts(self) -> None:
        """Refuse the forms that do not handle contexts."""
        if self.sketch is not None:
            raise InvalidInput("contexts: expected LPGPUCB without a sketch, got one; leave `sketch` out")
        if self.kernel is None:
            raise InvalidInput("contexts: expected a stated kernel, got kernel=None; CGPUCB learns a kernel")

    def _threshold(self, kernel: Kernel, noise: float, dimension: int) -> float:
        """Return the threshold in the units of f: B s gamma_n / sqrt(n), kernel and noise stated or learned.

        gamma_n is without unit, and so is omega / (B s): it is that of f / B, hence of noise sigma / B. So values, B
        and sigma in other units mean the same search. A threshold that was given is in the units of f.
        """
        if self.threshold is not None:
            return self.threshold
        gain = information_gain(kernel, self.budget, (noise / self.norm_bound) ** 2, dimension).value
        return self.norm_bound * float(np.sqrt(kernel.variance)) * gain / float(np.sqrt(self.budget))

    def why_not_certified(self) -> str | None:
        if self.kernel is None:
            return LEARNED
        if self.sketch is not None:
            return SKETCHED
        return None


@dataclass(frozen=True, kw_only=True)
class LP0(LPGPUCB):
    """LP-GP-UCB with k = 0 and nothing but Algorithm 1: the version of the paper's experiments.

    Parameters
    ----------
    kernel, norm_bound, noise, budget, delta, threshold, holder, as_printed, n_initial, max_cells, sketch
        As of `LPGPUCB`.
    goal
        As of `LPGPUCB`; the regret here.
    degree
        k; best left at 0.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = LP0(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.01, budget=15)
    >>> found = qd.minimize(lambda p: (p["x"] - 0.3) ** 2, qd.Space(x=qd.Float(0, 1)), n_trials=15, method=method)
    >>> abs(found.params["x"] - 0.3) < 0.1, found.certificate is not None
    (True, True)
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="LP0: LP-GP-UCB with cell averages (k = 0)",
        paper="Shekhar and Javidi 2020, Algorithms 1 and 2 with k = 0",
        assumes="kernel, norm bound B and noise sigma, stated before the data",
        best_for="the same with lower cumulative regret: no trial is spent on the certificate",
        certifies=True,
        handles=("pending points", "replicates", "contexts"),
    )

    goal: Goal = "regret"


def information_gain(kernel: Kernel, n: int, noise_variance: float, dimension: int) -> InformationGain:
    """Return gamma_n for the threshold: a bound up to three dimensions, an estimate over 512 random points above."""
    if dimension <= 3:
        return set_gain(kernel, n, noise_variance, dimension=dimension)
    candidates = generator(0, dimension).random((512, dimension))
    return greedy_gain(kernel, n, noise_variance, dimension=dimension, candidates=candidates)
