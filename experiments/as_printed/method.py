"""LP-GP-UCB as printed: Algorithms 1 and 2 line by line, for comparison. Nothing here is certified.

Choices where the print leaves one: lambda = 1 + 2/n, with which the quoted band is valid; gamma_n by the greedy rule of
the remark on rho_0, over a grid or random candidates; LocalPoly(F, D, x_F) with the data of the cell E that is being
refined, since F may hold none; a cap on the cells, at which cells are evaluated instead of split.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from as_printed.grids import printed_partition
from as_printed.polynomials import local_poly, max_err
from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.gp import GaussianProcess, greedy_gain
from quadrat.methods.base import Domain, Incumbent, MethodFacts, Observation, Proposal, Search, refuse_context
from quadrat.methods.lp.method import LPGPUCB
from quadrat.partition import Cell, TooManyCells
from quadrat.randomness import generator

__all__ = ["PrintedLPGPUCB", "PrintedSearch"]

_MOST_DIMENSIONS = 10
_NOT_CERTIFIED = "the printed constants do not hold (docs/errata.md); use LPGPUCB"


@dataclass(frozen=True, kw_only=True)
class PrintedLPGPUCB(LPGPUCB):
    """Algorithm 1 line by line, with its printed constants; slower than LPGPUCB, and without a certificate.

    Its options are those of LPGPUCB. `threshold` is rho_0, a side length as printed. The kernel must be stated, and
    there is no sketch.
    """

    facts: ClassVar[MethodFacts] = replace(LPGPUCB.facts, title="LP-GP-UCB as printed")

    degree: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel is None:
            raise InvalidInput("kernel: expected a kernel, got None; LPGPUCB learns one")
        if self.sketch is not None:
            raise InvalidInput("sketch: expected None for the printed algorithm, got a sketch; leave it out")

    def start(self, domain: Domain, seed: int) -> PrintedSearch:
        """Begin a search named by `seed`."""
        assert self.kernel is not None
        if domain.context:
            raise InvalidInput("contexts: expected none for the printed algorithm, got some; LPGPUCB handles them")
        self.kernel.check_dimension(domain.dimension)
        return PrintedSearch(
            self._assumptions(self.kernel),
            domain,
            seed,
            budget=self.budget,
            degree=self.degree,
            delta=self.delta,
            threshold=self.threshold,
            max_cells=self.max_cells,
        )

    def why_not_certified(self) -> str:
        return _NOT_CERTIFIED


class PrintedSearch(Search):
    """The state of one printed run: cells as boxes, each with its u^(0).

    Parameters
    ----------
    assumptions
        Kernel, B, sigma and, through `holder`, the printed (L, alpha); the kernel's own pair otherwise.
    domain
        The cube, and what is behind it: where its constraint holds, a point may be recommended.
    seed, budget, degree, delta, max_cells
        The seed, n, k, delta and the cap.
    threshold
        rho_0, a side length here as printed; (gamma_n / sqrt(L n D^alpha_1))^(1/alpha_1) by default.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        domain: Domain,
        seed: int,
        *,
        budget: int,
        degree: int,
        delta: float,
        threshold: float | None,
        max_cells: int,
    ) -> None:
        dimension = domain.dimension
        if dimension > _MOST_DIMENSIONS:
            raise InvalidInput(
                f"space: expected at most {_MOST_DIMENSIONS} dimensions, since every split makes 2^D cells,"
                f" got {dimension}; use LPGPUCB, which halves one axis at a time"
            )
        self.assumptions = assumptions
        self.domain, self.dimension = domain, dimension
        self.seed = seed
        self.n = budget
        self.degree = degree
        self.delta = delta
        self.max_cells = max_cells
        self.constant, self.alpha = self._pair()
        self.alpha_1 = max(self.alpha, min(1, degree))
        kernel, D = assumptions.kernel, dimension
        regulariser = 1 + 2 / budget
        candidates = None if D <= 3 else generator(0, D).random((512, D))
        gamma = greedy_gain(kernel, budget, regulariser, dimension=D, candidates=candidates).value
        self.beta = assumptions.norm_bound + assumptions.noise * float(np.sqrt(2 * (gamma + 1 + np.log(3 / delta))))
        printed = (gamma / np.sqrt(self.constant * budget * D**self.alpha_1)) ** (1 / self.alpha_1)
        self.rho_0 = float(printed) if threshold is None else threshold
        self.gp = GaussianProcess(kernel, noise_variance=regulariser)
        self.X = np.empty((0, D))
        self.y = np.empty(0)
        self.lower = np.zeros((1, D))
        self.upper = np.ones((1, D))
        self.u0 = np.array([np.inf])
        self.t = 1
        self.splits = 0
        self.least: tuple[float, Array | None] = (np.inf, None)  # xi and where it is attained (Recommend)

    def _pair(self) -> tuple[float, float]:
        """(L, alpha): the user's, or the kernel's Hölder pair in unit-cube distance."""
        given = self.assumptions
        if given.holder is not None:
            return given.holder.constant, given.holder.exponent
        try:
            pair = given.kernel.holder()
        except NotAvailable as reason:
            raise InvalidInput(
                f"holder: expected the constants (L, alpha) for the printed algorithm: {reason}"
            ) from None
        shortest = float(np.min(np.asarray(getattr(given.kernel, "lengthscales", 1.0))))
        return given.ceiling * pair.constant / shortest**pair.exponent, pair.exponent

    def _variation(self, sides: Array, exponent: float) -> Array:
        """L (sqrt(D) r)^exponent for cells of these longest sides."""
        return np.asarray(self.constant * (np.sqrt(self.dimension) * sides) ** exponent)

    def _counts_and_means(self) -> tuple[Array, Array]:
        """n_E and the mean of y in each cell, shape (m,)."""
        count, total = np.zeros(len(self.lower)), np.zeros(len(self.lower))
        for x, y in zip(self.X, self.y, strict=True):
            closed = (x <= self.upper) & ((x < self.upper) | (self.upper == 1))
            inside = ((x >= self.lower) & closed).all(1)
            count += inside
            total += inside * y
        return count, np.divide(total, count, out=np.zeros_like(total), where=count > 0)

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        """Lines 2 to 24 until an evaluation; the printed loop knows no pending points."""
        refuse_context(self, context)
        rng = generator(self.seed, number, 2)
        while True:
            sides = (self.upper - self.lower).max(1)
            x = rng.uniform(self.lower, self.upper)  # line 4: x_{t,E} ~ Unif(E)
            prediction = self.gp.predict(x)
            count, mean = self._counts_and_means()
            # b_t(E) of the appendix with delta_t = 2 delta / (n^D pi^2 t^2), in logs since n^D overflows
            log_term = self.dimension * np.log(self.n) + np.log(np.pi**2 * self.t**2 / (2 * self.delta))
            b = self.assumptions.noise * np.sqrt(
                np.divide(2 * log_term, count, out=np.full_like(count, np.inf), where=count > 0)
            )
            variation = self._variation(sides, self.alpha_1)
            width = self.beta * prediction.deviation
            u1 = prediction.mean + width + variation
            u2 = np.where(count > 0, mean + b + variation, np.inf)
            U = np.minimum(self.u0, np.minimum(u1, u2))  # line 5
            e = int(np.argmax(U))  # line 7
            self.t += 1
            if width[e] < variation[e] and sides[e] >= self.rho_0:  # line 9
                split = self._expand(e, float(u1[e]), polynomial=False)
            elif b[e] <= variation[e] and sides[e] >= self.rho_0:  # line 12
                split = self._expand(e, float(u2[e]), polynomial=False)
            elif b[e] <= self._variation(sides, self.degree + self.alpha)[e] and 1 / self.n <= sides[e] < self.rho_0:
                split = self._expand(e, np.inf, polynomial=True)  # line 15
            else:
                split = False
            if not split:
                if width[e] < self.least[0]:
                    self.least = (float(width[e]), x[e])
                return Proposal(x[e], f"printed: cell {e} of {len(self.lower)}")  # line 19

    def _expand(self, e: int, val: float, *, polynomial: bool) -> bool:
        """Algorithm 2; False when the cap forbids it."""
        cell = Cell(self.lower[e], self.upper[e])
        side = cell.longest_side / 2
        inside = cell.contains(self.X) if len(self.X) else np.zeros(0, dtype=bool)
        X, y = self.X[inside], self.y[inside]
        error = np.inf
        if polynomial:
            error = max_err(
                cell,
                X,
                degree=self.degree,
                smoothness=self.degree + self.alpha,
                constant=self.constant,
                noise=self.assumptions.noise,
                delta=self.delta,
            )
            side = min(side, float((error / self.constant) ** (1 / self.alpha_1) / np.sqrt(self.dimension)))  # line 8
        try:
            children = printed_partition(cell, side, max_cells=self.max_cells - len(self.lower))
        except (TooManyCells, InvalidInput):
            return False
        u0 = np.full(len(children), val)
        if polynomial:
            centres = 0.5 * (children.lower + children.upper)
            u0 = local_poly(cell, X, y, centres, self.degree) + 2 * error  # lines 11 and 12
        keep = np.arange(len(self.lower)) != e
        self.lower = np.vstack([self.lower[keep], children.lower])
        self.upper = np.vstack([self.upper[keep], children.upper])
        self.u0 = np.concatenate([self.u0[keep], u0])
        self.splits += 1
        return True

    def tell(self, observation: Observation) -> None:
        self.gp.add(np.repeat(observation.x[None], len(observation.values), axis=0), observation.tame_values)
        self.X = np.vstack([self.X, np.repeat(observation.x[None], len(observation.values), axis=0)])
        self.y = np.concatenate([self.y, observation.tame_values])

    def recommend(self, context: Array | None = None) -> Incumbent:
        """The Definition of Recommend: the centre of the smallest cell, or the point of least width."""
        refuse_context(self, context)
        sides = (self.upper - self.lower).max(1)
        smallest = int(np.argmin(sides))
        width, point = self.least
        if point is None or self._variation(sides, self.alpha_1)[smallest] <= width:
            point = (self.lower[smallest] + self.upper[smallest]) / 2
        point = np.asarray(point)
        if not self.domain.allowed(self.domain.rounded(point[None]))[0]:
            # The paper knows no constraints: of the points tried that are allowed, the one of highest mean.
            tried = self.domain.permitted(self.gp.x)
            point = tried[int(np.argmax(self.gp.predict_mean(tried)))]
        return Incumbent(point, float(self.gp.predict_mean(point[None])[0]))

    def certificate(self, point: Array) -> str:  # noqa: ARG002
        return _NOT_CERTIFIED

    def explain(self) -> dict[str, object]:
        return {
            "cells": [
                {"lower": low.tolist(), "upper": high.tolist(), "bound": float(u)}
                for low, high, u in zip(self.lower, self.upper, self.u0, strict=True)
            ],
            "rounds": self.t - 1,
            "splits": self.splits,
            "threshold": self.rho_0,
        }
