"""pi-GP-UCB: GP-UCB with an independent process in each cell of a partition that is refined as it goes.

[JBG20]: Janz, Burt and González (2020). Bandit optimisation of functions in the Matérn kernel RKHS. AISTATS.
[CG17]: Chowdhury and Gopalan (2017). On kernelized multi-armed bandits. ICML.

A cell is small where many observations are, and there little information is left to gain: that is where its regret
bound comes from, the first of a practical method that is sublinear for every nu > 1. It is also why a trial costs what
one cell costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, TypeAlias, cast

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.confidence.budget import as_probability, cell_share
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.gp.partitioned import PartitionedProcess, ProcessCell
from quadrat.gp.splitting import SplittingRule
from quadrat.kernels import GammaExponential, Kernel, Matern, PiecewisePolynomial
from quadrat.methods.acquisition import (
    Acquisition,
    Effort,
    Score,
    SearchRegion,
    expected_gain,
    maximise,
    top_points,
    upper_bound,
)
from quadrat.methods.base import CREDIBLE, Domain, Incumbent, MethodFacts, Proposal, as_coordinates, refuse_context
from quadrat.methods.surrogate import Frame, Learned, ModelBased, ModelSearch, Surrogate
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["CellMaxima", "PartitionedModel", "PartitionedSearch", "Peak", "PiGPUCB"]

_GAIN, _STREAM = 2, 31  # names of streams: of `quadrat.methods.surrogate`, and of candidates in a cell
_EFFORT = Effort(uniform=96, near=16, scales=(0.1, 0.01), climbs=8, apart=0.1, steps=16, fine_steps=16)
_TOPS = 2  # observed points of a cell around which it is searched
_CORNER_AXES = 5  # at most 2^5 corners of a cell; beyond five axes, axes share their ends
_MARGIN = 1e-6  # between candidates and faces, in sides of the cell

Multiplier: TypeAlias = Callable[[float, int, float], float]
"""(gain of a cell in nats, its depth, noise in model units) to what its deviation is multiplied by."""
RuleOf: TypeAlias = Callable[[Kernel, int], SplittingRule]
"""From the kernel and D to when and how cells are split."""


@dataclass(frozen=True)
class Peak:
    """A point (D,) of high index, the index there and what multiplied the deviation."""

    point: Array
    value: float
    multiplier: float


class CellMaxima:
    """Where the index of each cell is highest.

    Parameters
    ----------
    seed
        Of the draws.
    multiplier
        beta_A of a cell; it must depend on nothing but what the cell was told.
    domain
        Which points stand for themselves.
    """

    def __init__(self, seed: int, multiplier: Callable[[ProcessCell], float], domain: Domain) -> None:
        self.seed, self.multiplier, self.domain = seed, multiplier, as_coordinates(domain)
        self._known: dict[int, tuple[int, Peak]] = {}  # cell: observations when this was found, and its peak

    def highest(self, process: PartitionedProcess, pending: Array) -> Peak:
        """Return the point of the highest index over all cells, with pending points (p, D) counted as observed."""
        if not len(pending):
            return self._highest(process, {})
        with process.pending(pending):
            return self._highest(process, {cell.number: pending[rows] for cell, rows in process.by_cell(pending)})

    def _highest(self, process: PartitionedProcess, waiting: dict[int, Array]) -> Peak:
        """The same, from the pending points of each cell that has any, of which nothing is remembered."""
        known = {}
        for cell in process.cells:
            kept = self._known.get(cell.number)
            if kept is None or kept[0] != cell.count or cell.number in waiting:
                kept = cell.count, self._peak(cell, waiting.get(cell.number))
            known[cell.number] = kept
        self._known = {number: kept for number, kept in known.items() if number not in waiting}
        return max((peak for _, peak in known.values()), key=lambda peak: peak.value)  # of equals the oldest

    def _peak(self, cell: ProcessCell, waiting: Array | None) -> Peak:
        """The peak of one cell; minus infinity where none of its candidates may be evaluated."""
        (low, high), beta = _inside(cell, waiting), self.multiplier(cell)
        index = Acquisition(cell.gp, upper_bound(beta), self.domain)

        def values(points: Array) -> Array:
            own = ((points >= cell.lower) & (points <= cell.last)).all(axis=1)
            return np.where(own & self.domain.allowed(points), index.values(points), -np.inf)

        tops = top_points(cell.gp, len(low), _TOPS)
        rng = generator(self.seed, _STREAM, cell.number, cell.count)
        point, value = maximise(
            values, index.slopes, rng, SearchRegion(self.domain, (low, high)),
            centres=tops, effort=_EFFORT, candidates=np.vstack([_corners(low, high), tops]), avoided=waiting,
        )  # fmt: skip
        return Peak(point, value, beta)


def _inside(cell: ProcessCell, waiting: Array | None) -> tuple[Array, Array]:
    """The box of candidates: the cell less a margin at faces that it shares with other cells.

    Each pending point adds a margin at every face, since climbs end at corners and would end at the same ones again.
    """
    steps = 0 if waiting is None else len(waiting)
    margin = _MARGIN * (cell.upper - cell.lower)
    low = cell.lower + margin * (steps + (cell.lower > 0.0))
    return low, cell.upper - margin * (steps + (cell.upper < 1.0))


def _corners(low: Array, high: Array) -> Array:
    """Some corners of a box, (m, D): far from observations, deviations are largest there, and climbs end there."""
    d = len(low)
    ends = (np.arange(2 ** min(d, _CORNER_AXES))[:, None] >> (np.arange(d) % _CORNER_AXES)) & 1
    return np.where(ends == 1, high, low)


class PartitionedModel(Surrogate):
    """The partitioned processes of a search: told trials go in, posteriors come out, in model units."""

    def __init__(self, method: ModelBased, rule: RuleOf, dimension: int) -> None:
        super().__init__(method, dimension)
        self.rule = rule

    @property
    def index(self) -> PartitionedProcess:
        """The posterior that the index reads, with the method's regulariser for noise."""
        return cast(PartitionedProcess, self.gp)

    @property
    def believed(self) -> PartitionedProcess:
        """The posterior under the stated noise, which recommends; its cells are those of `index`."""
        return cast(PartitionedProcess, self.posterior)

    def exact(self, frame: Frame, noise_variance: float) -> GaussianProcess:
        rule = self.rule(frame.kernel, self.dimension)
        return cast(GaussianProcess, PartitionedProcess(rule, noise_variance=noise_variance))


class PartitionedSearch(ModelSearch):
    """A search that evaluates where the index of a cell is highest, over all cells.

    Parameters
    ----------
    method
        Its options.
    rule
        When and how cells are split, from the kernel and D.
    multiplier
        What deviations in a cell are multiplied by.
    domain, seed
        Of the search.
    """

    asking_changes_nothing = True  # what it remembers of cells is a function of what they were told

    def __init__(self, method: ModelBased, rule: RuleOf, multiplier: Multiplier, domain: Domain, seed: int) -> None:
        super().__init__(method, domain, seed)
        self.multiplier = multiplier
        self.model: PartitionedModel = PartitionedModel(method, rule, domain.dimension)
        self._maxima: tuple[PartitionedProcess, CellMaxima] | None = None

    def decide(self, number: int, pending: Array) -> Proposal:  # noqa: ARG002  # draws are named by cells
        """Propose the point of the highest index; deviations count pending points."""
        process, noise = self.model.index, self.model.noise
        if self._maxima is None or self._maxima[0] is not process:
            found = CellMaxima(self.seed, lambda cell: self.multiplier(cell.gain, cell.depth, noise), self.domain)
            self._maxima = process, found
        best = self._maxima[1].highest(process, pending)
        total = len(process.cells)
        return Proposal(
            best.point,
            f"largest upper confidence bound of {total} cell{'s' * (total > 1)}, beta = {best.multiplier:.3g} "
            f"({best.value:.4g})",
        )

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the evaluated point whose 90 % credible interval has the highest lower end."""
        refuse_context(self, context)
        process = self.model.believed
        x = process.x
        at = process.predict(x)
        best = int(np.argmax(at.mean - CREDIBLE * at.deviation))
        gain = expected_gain(process, x[best], generator(self.seed, self.model.trials, _GAIN), self.domain)
        return self.model.frame.incumbent(x[best].copy(), float(at.mean[best]), float(at.deviation[best]), gain)

    def explain(self) -> dict[str, object]:
        if not self.model.trials:
            return {"trials": 0}
        cells = self.model.believed.cells
        said = super().explain()
        del said["information gain"]
        return {
            **said,
            "largest cell": max(cell.count for cell in cells),
            "cells": [
                {
                    "lower": cell.lower.tolist(),
                    "upper": cell.upper.tolist(),
                    "depth": cell.depth,
                    "observations": cell.count,
                    "multiplier": self.multiplier(index.gain, index.depth, self.model.noise),
                }
                for cell, index in zip(cells, self.model.index.cells, strict=True)
            ],
        }


@dataclass(frozen=True, kw_only=True)
class PiGPUCB(ModelBased):
    """Evaluate where mu_A(x) + beta_A sigma_A(x) is largest over the cells A [JBG20].

        beta_A = B + sigma sqrt(2 (gamma_A + 1 + log(1/delta_A))),    lambda = 1 + 2/n

    is [CG17, theorem 2] for the observations in A, as in [JBG20]: the norm of f on A is at most that on the
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
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

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
        """Return the index of an undivided cube that gained as much as all cells together."""
        beta = self.multiplier(model.gain, 0, model.noise)
        return upper_bound(beta), f"largest upper confidence bound, beta = {beta:.3g}"
