"""LP-GP-UCB at work, in the certified form: Algorithm 1 with the bounds of `quadrat.confidence`.

Where the printed algorithm is changed, and why, is in docs/errata.md; in short: bounds hold for adaptive points and all
times; cells are halved along the axis where f can vary most instead of into 2^D; the threshold gamma_n / sqrt(n) is
compared with the variation omega; and the point evaluated is not uniform in the chosen cell but the one with the
highest upper bound among a few (any point of the cell that is chosen before its noise keeps all bounds).
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions, Certificate, CertifiedGap, certified_gap, remaining_regret
from quadrat.confidence.bands import SearchBand, contradiction
from quadrat.confidence.certificate import Thoroughness, certificate_at
from quadrat.confidence.local_band import CAPACITY
from quadrat.methods.base import Domain, Incumbent, Observation, Proposal, Search, refuse_context
from quadrat.methods.lp.cells import CellBounds, Condition
from quadrat.randomness import generator

__all__ = ["DRAWS", "EFFORT", "CellLoop", "CellOptions", "CertifiedSearch", "Round", "Surest"]

DRAWS = 7  # uniform points of the chosen cell that compete with its centre in many dimensions
EFFORT = Thoroughness(2048, 0.002)  # of the branch and bound behind a certificate
STEER = Thoroughness(256, 0.01)  # of the one behind a choice
Goal: TypeAlias = Literal["certificate", "regret"]


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
        B s gamma_n / sqrt(n), compared with omega(diam E). It decides speed, not validity.
    """

    def __init__(self, cells: CellBounds, seed: int, *, budget: int, threshold: float) -> None:
        self.cells = cells
        self.seed = seed
        self.evaluations_planned = budget
        self.threshold = threshold
        self.rounds: list[Round] = []
        self.lowest_maximum = float(cells.upper[0])  # min over time of max_E U_E

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        """Split until the chosen cell is worth an evaluation (lines 2 to 21); in a context, as of `Search.ask`."""
        cells = self.cells
        while True:
            before = cells.posteriors
            chosen = self._choose(pending, context)  # lines 3 to 6
            cell = cells.tree.cell(chosen)
            middle = self._placed(cell.centre, context)
            condition = self._split_condition(chosen, middle)  # lines 9, 12, 15
            if condition is None or cells.is_full:
                why = "the cap on cells is reached" if condition is not None else "no condition to split holds"
                self._record(number, "evaluate", why, chosen, before)
                draws = self._placed(cell.sample(generator(self.seed, number), DRAWS), context)
                where = "" if context is None else " in this context"
                return Proposal(
                    self._most_promising(self._parts(chosen, context), draws, middle, pending),
                    f"highest upper bound{where}, cell of depth {cells.tree.depth(chosen)}",
                )
            self._record(number, "split", condition.line, chosen, before)
            cells.expand(chosen, condition)  # Algorithm 2

    # --- where to look: `ContextLoop` looks at slices of cells

    def _choose(self, pending: Array, context: Array | None) -> int:  # noqa: ARG002
        """Return the leaf with the largest index, which counts pending points (p, D) as observed."""
        cells = self.cells
        top = cells.highest()
        self.lowest_maximum = min(self.lowest_maximum, float(cells.upper[top]))
        return cells.keep(cells.look(pending)) if len(pending) else top

    def _placed(self, points: Array, context: Array | None) -> Array:  # noqa: ARG002
        """Return points (..., D) moved to where they may be evaluated."""
        return points

    def _parts(self, node: int, context: Array | None) -> Array:  # noqa: ARG002
        """Return the points (S, D) of a cell of which one is evaluated."""
        return self.cells.parts(node)

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
            at = cells.band.interval(middle[None])
            cells.note(at)
            cells.posteriors += 1
            if float(at.half_width[0]) <= half:
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
        unit = max(cells.assumptions.ceiling, abs(float(promise.max())))
        best = np.flatnonzero(promise >= promise.max() - 1e-12 * unit)
        # Of equals, as all are before the first observation, the most central.
        return np.asarray(points[best[np.argmin(((points[best] - centre) ** 2).sum(1))]])

    def _record(self, number: int, action: str, condition: str, node: int, before: int) -> None:
        cells = self.cells
        bound = float(cells.upper[node])
        self.rounds.append(Round(number, action, condition, cells.tree.depth(node), bound, cells.posteriors - before))

    def explain(self) -> dict[str, object]:
        """Cells with box, bounds, which bound is active and their points (`CellBounds.describe`); and every round."""
        return {
            "cells": self.cells.describe(),
            "rounds": [asdict(entry) for entry in self.rounds],
            "threshold": self.threshold,
            "rejection": self.cells.rejection,
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
    rejection
        Why the data reject the assumptions, so that no bound means anything; None where they do not.
    """

    point: Array
    low: float
    high: float
    maximum: float
    rejection: str | None


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """The options of Algorithm 1, checked by the method.

    Attributes
    ----------
    budget, degree
        n, the number of evaluations planned, and k, the degree of polynomials.
    delta
        The total error probability.
    threshold
        B s gamma_n / sqrt(n), compared with the variation over a cell.
    max_cells
        The cap on cells.
    goal
        Whether every second trial sharpens the certificate, or all serve the regret (Algorithm 1).
    """

    budget: int
    degree: int
    delta: float
    threshold: float
    max_cells: int
    goal: Goal = "regret"


class CertifiedSearch(Search):
    """LP-GP-UCB under stated assumptions.

    Parameters
    ----------
    assumptions, domain, seed
        What is assumed of f on the cube; what is behind the cube, whose constraint says which points may be used; and
        the seed of the random draws.
    options
        Of Algorithm 1.
    capacity
        Points of a certified band, from which on its cell is divided, where more than twice as many evaluations are
        planned; None is one band for all observations, however many.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        domain: Domain,
        seed: int,
        options: CellOptions,
        *,
        capacity: int | None = CAPACITY,
    ) -> None:
        self.domain = domain
        self.cells = CellBounds(
            assumptions,
            domain.dimension,
            delta=options.delta,
            degree=options.degree,
            max_cells=options.max_cells,
            # Decided before the data, as the shares of delta must be.
            capacity=capacity if capacity is not None and options.budget > 2 * capacity else None,
            fixed=np.isin(np.arange(domain.dimension), domain.context) if domain.context else None,
        )
        self.loop = self._loop(seed, options)
        self._goal = options.goal
        self._standard_errors = False
        self._n_told = 0
        # The last answers: in a context, or of a point, after so many trials and rounds.
        self._found: tuple[tuple[bytes, int, int], Surest] | None = None
        self._certified: tuple[tuple[bytes, int, int], Certificate] | None = None

    def _loop(self, seed: int, options: CellOptions) -> CellLoop:
        """Return the loop over the cells."""
        return CellLoop(self.cells, seed, budget=options.budget, threshold=options.threshold)

    @property
    def assumptions(self) -> Assumptions:
        """What everything certified rests on."""
        return self.cells.assumptions

    @property
    def band(self) -> SearchBand:
        """The certified band."""
        return self.cells.band

    @property
    def rounds(self) -> list[Round]:
        """Every round so far."""
        return self.loop.rounds

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        self._check(context)
        proposal = self.loop.ask(number, pending, context)
        if self._goal == "regret" or number % 2 == 0 or not self._n_told:
            return proposal
        return self._sharpening(proposal, pending, context)

    def _sharpening(self, proposal: Proposal, pending: Array, context: Array | None) -> Proposal:
        """Evaluate where it sharpens the certificate most: every second trial, the others are those of Algorithm 1.

        z is the point to recommend, and x the one with the largest bound of f(x) - f(z), which is what the certificate
        is. Of the points that were looked at and those observed, the one is taken whose observation lowers the variance
        of f(x) - f(z) most: often between them, or at one of them. All bounds hold wherever is evaluated.
        """
        z = self._surest(context).point
        gap = self._gap(z, STEER)
        points = gap.points
        x = points[int(np.argmax(np.where((points == z).all(axis=1), -np.inf, gap.values)))]
        tried = self._tried(context)
        candidates = self.domain.permitted(np.vstack([points, tried[((tried >= 0) & (tried <= 1)).all(axis=1)]]))
        free = ~(candidates[:, None] == pending[None]).all(-1).any(1)
        with self.band.pending(pending) if len(pending) else nullcontext():
            taken = np.where(free, self.band.sharpened(candidates, x, z), 0.0)
        if not taken.max() > 0:
            return proposal
        return Proposal(candidates[int(np.argmax(taken))], "sharpens the certificate most")

    def tell(self, observation: Observation) -> None:
        self._n_told += 1
        self._standard_errors |= observation.variance is not None
        self.cells.add(observation.x, observation.tame_values)

    def _check(self, context: Array | None) -> None:
        """Refuse a context where there is none."""
        refuse_context(self, context)

    # --- answers

    def recommend(self, context: Array | None = None) -> Incumbent:
        """z = argmax of the lower bound over evaluated points and centres of cells.

        Once the data reject the assumptions the bounds mean nothing: then the evaluated point of highest posterior
        mean, without an interval.
        """
        self._check(context)
        surest = self._surest(context)
        if surest.rejection is not None:
            tried = self.domain.permitted(self._tried(context))
            means = self.band.mean(tried)
            best = int(np.argmax(means))
            return Incumbent(tried[best].copy(), float(means[best]))
        value = float(np.clip(self.band.mean(surest.point[None])[0], surest.low, surest.high))
        certified = self._certifiable() is None
        return Incumbent(surest.point, value, (surest.low, surest.high), certified=certified)

    def _tried(self, context: Array | None) -> Array:  # noqa: ARG002  # only in `ContextualLPSearch`
        """Return the points (n, D) that were evaluated."""
        return self.band.x

    def predict(self, points: Array) -> tuple[Array, Array, Array] | None:
        """The certified band and the posterior mean within it, shapes (m,); None where the data reject it."""
        interval = self.band.interval(points)
        if interval.is_empty(self.assumptions.ceiling) or self.cells.rejection is not None:
            return None
        return np.clip(self.band.mean(points), interval.lower, interval.upper), interval.lower, interval.upper

    def _surest(self, context: Array | None = None) -> Surest:
        """Return the point to recommend; the last answer is kept, as it is costly."""
        asked = b"" if context is None else context.tobytes()
        stamp = asked, self._n_told, len(self.rounds)
        if self._found is None or self._found[0] != stamp:
            self._found = stamp, self._find_surest(context)
        return self._found[1]

    def _find_surest(self, context: Array | None) -> Surest:
        """The candidate with the highest lower bound, of those that the known constraint allows.

        The maximum is min_t max_E U_E. One below the highest lower bound rejects the assumptions.
        """
        cells, maximum = self.cells, self._highest(context)
        permitted = self.domain.permitted(self._candidates(context))
        interval = self.band.interval(permitted)
        best = int(np.argmax(interval.lower))
        low, high = float(interval.lower[best]), float(interval.upper[best])
        rejection = cells.rejection
        if rejection is None and interval.is_empty(self.assumptions.ceiling):
            rejection = contradiction(self.band, empty=True)
        left = remaining_regret(maximum, low, self.assumptions.ceiling)
        if rejection is None and left < 0:
            why = f"the best value still possible lies {-left:.3g} below one that is reached"
            rejection = self.band.rejected_because(why, cells.budget.delta)
        return Surest(permitted[best].copy(), low, high, maximum, rejection)

    def _candidates(self, context: Array | None) -> Array:  # noqa: ARG002  # only in `ContextualLPSearch`
        """Return the points (m, D) of which one is recommended."""
        return np.vstack([self.band.x, self.cells.centres(self.cells.tree.leaves())])

    def _highest(self, context: Array | None) -> float:  # noqa: ARG002
        """Return min_t max_E U_E."""
        return min(self.loop.lowest_maximum, self.cells.look().index)

    def _certifiable(self) -> str | None:
        if self._standard_errors:
            return "standard errors were told: an estimated standard error is no sub-Gaussian constant"
        return None

    def certificate(self, point: Array) -> Certificate | str:
        """As of `quadrat.confidence.certificate`: pairs, by branch and bound over the band, and min_t max_E U_E."""
        reason = self._certifiable()
        if reason is not None:
            return reason
        stamp = point.tobytes(), self._n_told, len(self.rounds)
        if self._certified is None or self._certified[0] != stamp:
            self._certified = stamp, self._certify(point)
        return self._certified[1]

    def _certify(self, point: Array) -> Certificate:
        surest = self._surest(self._context_of(point))
        level = self.cells.budget.delta  # what bounds the maximum rests on more than the band
        known: Any = {"highest": surest.maximum, "rejection": surest.rejection, "level": level}
        return self._certificate_at(point, known)

    def _certificate_at(self, point: Array, known: Any) -> Certificate:
        """As of `quadrat.confidence.certificate_at`, in the point's context where there are contexts."""
        return certificate_at(self.band, point, EFFORT, **known)

    def _gap(self, z: Array, effort: Thoroughness) -> CertifiedGap:
        """Bound max f - f(z) in the context of z, (D,); what was looked at are points of the cube."""
        return certified_gap(self.band, z, dimension=len(z), max_cells=effort.max_cells, tolerance=effort.tolerance)

    def _context_of(self, point: Array) -> Array | None:  # noqa: ARG002  # only in `ContextualLPSearch`
        """Return the context that a point (D,) lies in, as of `ask`; None where there are no contexts."""
        return None

    def explain(self) -> dict[str, object]:
        return self.loop.explain()
