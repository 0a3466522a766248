"""LP-GP-UCB at work, in the certified form: Algorithm 1 with the bounds of `quadrat.confidence`.

Where the printed algorithm is changed, and why, is in docs/errata.md; in short: bounds hold for adaptive points and all
times; cells are halved along the axis where f can vary most instead of into 2^D; the threshold gamma_n / sqrt(n) is
compared with the variation omega; and the point evaluated is not uniform in the chosen cell but the one with the
highest upper bound among a few (any point of the cell that is chosen before its noise keeps all bounds).
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass

import numpy as np

from quadrat.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, Certificate, LocalBand, certified_maximum, remaining_regret
from quadrat.confidence.local_band import CAPACITY
from quadrat.methods.base import Guess, Proposal, Search, Told
from quadrat.methods.domain import Domain
from quadrat.methods.lp_cells import CellBounds, Condition
from quadrat.randomness import generator

__all__ = ["CERTIFY_CELLS", "DRAWS", "CellLoop", "CertifiedSearch", "Round", "Surest"]

DRAWS = 7  # uniform points of the chosen cell that compete with its centre in many dimensions
CERTIFY_CELLS = 512  # cells of the branch and bound that sharpens a certificate


@dataclass(frozen=True)
class Round:
    """One pass through the loop of Algorithm 1."""

    trial: int
    action: str  # "evaluate" or "split"
    condition: str  # which line split, or why it evaluates
    depth: int
    bound: float
    posteriors: int  # Gaussian-process bounds computed in this round


class CellLoop:
    """The loop of Algorithm 1 over given cells.

    Parameters
    ----------
    cells
        The partition with its bounds.
    seed
        Of the random draws.
    budget
        n, the number of evaluations planned; cells are not split below a side of 1/n.
    threshold
        gamma_n / sqrt(n), compared with omega(diam E). It decides speed, not validity.
    """

    def __init__(self, cells: CellBounds, seed: int, *, budget: int, threshold: float) -> None:
        self.cells = cells
        self.seed = seed
        self.evaluations_planned = budget
        self.threshold = threshold
        self.rounds: list[Round] = []
        self.lowest_maximum = float(cells.upper[0])  # min over time of max_E U_E

    def ask(self, number: int, pending: Array) -> Proposal:
        """Split until the chosen cell is worth an evaluation (lines 2 to 21)."""
        cells = self.cells
        while True:
            before = cells.posteriors
            top = cells.highest()  # lines 3 to 6
            self.lowest_maximum = min(self.lowest_maximum, float(cells.upper[top]))
            chosen = cells.highest_among_pending(pending) if len(pending) else top
            condition = self._split_condition(chosen, cells.tree.cell(chosen).centre)  # lines 9, 12, 15
            if condition is None or cells.is_full:
                why = "the cap on cells is reached" if condition is not None else "no condition to split holds"
                self._record(number, "evaluate", why, chosen, before)
                cell = cells.tree.cell(chosen)
                draws = cell.sample(generator(self.seed, number), DRAWS)
                return Proposal(
                    self._most_promising(cells.parts(chosen), draws, cell.centre, pending),
                    f"highest upper bound, cell of depth {cells.tree.depth(chosen)}",
                )
            self._record(number, "split", condition.line, chosen, before)
            cells.expand(chosen, condition)  # Algorithm 2

    def _split_condition(self, node: int, middle: Array) -> Condition | None:
        """Which of lines 9, 12 and 15 splits a cell, with the posterior's width at its middle (D,); None: none does."""
        cells = self.cells
        cell = cells.tree.cell(node)
        if cell.longest_side < 1 / self.evaluations_planned:
            return None
        if cells.tree.depth(node) < cells.target[node]:  # r tilde is not reached yet (Algorithm 2, line 9)
            return Condition("refinement of an earlier polynomial split")
        half = cells.half_variation(node)
        if cells.variation(node) >= self.threshold:
            width = float(cells.band.interval(middle[None]).half_width[0])
            cells.posteriors += 1
            if width <= half:
                return Condition("line 9: the posterior is narrower than the variation")
            if cells.average_width(node) <= half:
                return Condition("line 12: the average is narrower than the variation")
        elif cells.average_width(node) <= cells.approximation(node):
            if cells.degree:
                return Condition("line 15: the average is narrower than the approximation", polynomial=True)
            return Condition("line 15: the average is narrower than the variation")
        return None

    def _most_promising(self, points: Array, draws: Array, centre: Array, pending: Array) -> Array:
        """Return the point (D,) with the highest upper bound among the centres of a cell's parts, shape (S, D).

        Parts are dyadic points: visiting a cell again repeats some of them, which keeps the posterior small. In many
        dimensions a cell is its only part, and uniform draws (m, D) join it; so they do when all parts are pending.
        """
        cells = self.cells
        free = ~(points[:, None] == pending[None]).all(-1).any(1)
        if len(points) == 1 or not free.any():
            points, free = np.vstack([points, draws]), np.append(free, np.ones(len(draws), dtype=bool))
        with cells.band.pending(pending) if len(pending) else nullcontext():
            promise = np.where(free, cells.band.optimism(points), -np.inf)
        cells.posteriors += len(points)
        best = np.flatnonzero(promise >= promise.max() - 1e-12 * (1 + abs(promise.max())))
        # Of equals, as all are before the first observation, the most central.
        return np.asarray(points[best[np.argmin(((points[best] - centre) ** 2).sum(1))]])

    def _record(self, number: int, action: str, condition: str, node: int, before: int) -> None:
        cells = self.cells
        bound = float(cells.upper[node])
        self.rounds.append(Round(number, action, condition, cells.tree.depth(node), bound, cells.posteriors - before))

    def explain(self) -> dict[str, object]:
        """Cells with box, bounds, which bound is active and their points (`CellBounds.describe`); and every round."""
        with self.cells.untouched():
            cells = self.cells.describe()
        return {
            "cells": cells,
            "rounds": [asdict(entry) for entry in self.rounds],
            "threshold": self.threshold,
            "rejection": self.cells.band.rejection,
        }


@dataclass(frozen=True)
class Surest:
    """The point with the highest lower bound, and the bound on the maximum, after some observations.

    Attributes
    ----------
    point
        Shape (D,).
    low, high
        Bounds on f there.
    maximum
        f(x*) is at most this.
    """

    point: Array
    low: float
    high: float
    maximum: float


class CertifiedSearch(Search):
    """LP-GP-UCB under stated assumptions.

    Parameters
    ----------
    assumptions, dimension, seed
        What is assumed, D, and the seed of the random draws.
    budget, degree, delta, threshold, max_cells
        n, k, the total error probability, gamma_n / sqrt(n) and the cap on cells.
    capacity
        Points of a certified band, from which on its cell is divided, where more than twice as many evaluations are
        planned; None is one band for all observations, however many.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        dimension: int,
        seed: int,
        *,
        budget: int,
        degree: int,
        delta: float,
        threshold: float,
        max_cells: int,
        capacity: int | None = CAPACITY,
    ) -> None:
        self.dimension = dimension
        self.cells = CellBounds(
            assumptions,
            dimension,
            delta=delta,
            degree=degree,
            max_cells=max_cells,
            # Decided before the data, as the shares of delta must be.
            capacity=capacity if capacity is not None and budget > 2 * capacity else None,
        )
        self.loop = CellLoop(self.cells, seed, budget=budget, threshold=threshold)
        self.domain: Domain | None = None  # what is behind the cube: where its constraint holds, a point may be used
        self._standard_errors = False
        self._n_told = 0
        self._found: tuple[tuple[bytes, int, int, float], Surest] | None = None  # in a context, as of so many trials

    @property
    def assumptions(self) -> Assumptions:
        """What everything certified rests on."""
        return self.cells.assumptions

    @property
    def band(self) -> AdaptiveBand | LocalBand:
        """The certified band."""
        assert isinstance(self.cells.band, AdaptiveBand | LocalBand)
        return self.cells.band

    @property
    def rounds(self) -> list[Round]:
        """Every round so far."""
        return self.loop.rounds

    def ask(self, number: int, pending: Array) -> Proposal:
        return self.loop.ask(number, pending)

    def tell(self, told: Told) -> None:
        self._n_told += 1
        self._standard_errors |= told.variance is not None
        self.cells.add(told.x, told.tame_values)

    # --- answers

    def recommend(self) -> Guess:
        """z = argmax of the lower bound over evaluated points, centres of cells and those of the branch and bound.

        Once the data have rejected the assumptions the bounds mean nothing: then the evaluated point of highest
        posterior mean, without an interval.
        """
        surest = self._surest()
        if self.band.rejection is not None:
            tried = self.permitted(self.band.x)
            means = self.band.mean(tried)
            best = int(np.argmax(means))
            return Guess(tried[best].copy(), float(means[best]))
        value = float(np.clip(self.band.mean(surest.point[None])[0], surest.low, surest.high))
        certified = self._certifiable() is None
        return Guess(surest.point, value, (surest.low, surest.high), certified=certified)

    def predict(self, points: Array) -> tuple[Array, Array, Array] | None:
        """The certified band and the posterior mean within it, shapes (m,); None once the data have rejected it."""
        if self.band.rejection is not None:
            return None
        interval = self.band.interval(points)
        return np.clip(self.band.mean(points), interval.lower, interval.upper), interval.lower, interval.upper

    def _surest(self, context: Array | None = None) -> Surest:
        """Return the point to recommend and the bound on the maximum; the last answer is kept, as both are costly."""
        asked = b"" if context is None else context.tobytes()
        stamp = asked, self._n_told, self.cells.tree.n_leaves, self.loop.lowest_maximum
        if self._found is None or self._found[0] != stamp:
            self._found = stamp, self._find_surest(context)
        return self._found[1]

    def _find_surest(self, context: Array | None) -> Surest:  # noqa: ARG002  # only in `ContextualLPSearch`
        """The maximum is min_t max_E U_E, or what a branch and bound over the band finds, if that is lower."""
        cells = self.cells
        with cells.untouched():  # asking for an answer must not change what is suggested next
            highest = float(cells.upper[cells.highest()])
        sharper = certified_maximum(cells.band, dimension=self.dimension, max_cells=CERTIFY_CELLS, tolerance=0.005)
        candidates = np.vstack([cells.band.x, cells.centres(cells.tree.leaves()), sharper.centres])
        return self._highest_lower(candidates, min(self.loop.lowest_maximum, highest, sharper.value))

    def _highest_lower(self, candidates: Array, maximum: float) -> Surest:
        """Return the candidate (m, D) with the highest lower bound, of those that the known constraint allows.

        A maximum below that bound rejects the assumptions.
        """
        permitted = self.permitted(candidates)
        interval = self.band.interval(permitted)
        best = int(np.argmax(interval.lower))
        low, high = float(interval.lower[best]), float(interval.upper[best])
        left = remaining_regret(maximum, low, self.assumptions.ceiling)
        if left < 0:
            why = f"the best value still possible lies {-left:.3g} below one that is reached"
            self.band.reject(why, self.cells.budget.delta)
        return Surest(permitted[best].copy(), low, high, maximum)

    def permitted(self, points: Array) -> Array:
        """Return those of the points (m, D) that the known constraint allows; all of them where it allows none."""
        return points if self.domain is None else self.domain.permitted(points)

    def _certifiable(self) -> str | None:
        if self._standard_errors:
            return "standard errors were told: an estimated standard error is no sub-Gaussian constant"
        return None

    def certificate(self, point: Array) -> Certificate | str:
        """f(x*) - f(point) <= min_t max_E U_E - LCB(point), sharpened by a branch and bound over the band."""
        reason = self._certifiable()
        return self._certified(point, self._surest()) if reason is None else reason

    def _certified(self, point: Array, surest: Surest) -> Certificate:
        """Return the certificate of any point (D,) under the bound on the maximum that `surest` has."""
        at = self.band.interval(point[None])
        low, high = float(at.lower[0]), float(at.upper[0])
        rejection = self.band.rejection
        value = remaining_regret(surest.maximum, low, self.assumptions.ceiling) if rejection is None else float("nan")
        return Certificate(value, point, (low, high), surest.maximum, rejection)

    def explain(self) -> dict[str, object]:
        return self.loop.explain()
