"""The search for a level set at work: cells with bounds, a rule that chooses points, and the labels as the answer.

Two rules. Ambiguity [G13] evaluates the centre of the undecided cell with the largest

    a(E) = min(high(E) - threshold, threshold - low(E)).

It goes where f may be far on either side, and that is on the line where f equals the threshold, which no number of
evaluations decides: in noise, it stays there. Reduction evaluates the point x that sharpens most what can be decided:

    sum over undecided E of |E| q(E)^2 c(E, x)^2 / (s(E)^2 (s(x)^2 + a)),
    q(E) = (|mid(E) - threshold| + accuracy) / w(E),

with the posterior covariance c between the centre of E and x, the deviations s, and the middle and half-width w of
E's bounds. The fraction is the share of the variance at E that an evaluation at x takes away [P10, equation 15, has the
sum of such terms with other weights]; q < 1 says how far w is from deciding E: a cell with q near 1 is nearly decided,
one with q near 0 is hopeless. Whatever chooses, the bounds hold: x is chosen before its noise.

[G13]: Gotovos, Casati, Hitz and Krause (2013). Active learning for level set estimation. IJCAI.
[P10]: Picheny, Ginsbourger, Roustant, Haftka and Kim (2010). Adaptive designs of experiments for accurate approximation
       of a target region. Journal of Mechanical Design 132.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import ClassVar, Literal

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat.confidence import Certificate
from quadrat.confidence.bands import default_regulariser
from quadrat.gp import GaussianProcess
from quadrat.methods.base import (
    ABOVE,
    BELOW,
    UNDECIDED,
    Classification,
    Domain,
    Incumbent,
    Observation,
    Proposal,
    Search,
    refuse_context,
)
from quadrat.methods.level_sets.cells import LevelCells
from quadrat.randomness import generator

__all__ = ["LevelSearch", "Rule"]

Rule = Literal["ambiguity", "reduction"]

_MULTIPLE = 4.0  # of the band's regulariser, for the posterior that steers; one of those of its ladder
_TARGETS, _CANDIDATES = 384, 256  # undecided cells and points that are looked at for one proposal
_LATTICE_LOSS, _LATTICE_DEPTH = 1 / 16, 12  # cells on whose corners points are chosen, in units of B s; halvings
_POWER = 2  # of q
_SLOWNESS = 64  # bounds are brought up to the data after each 1/64 more observations
_DRAWS = 64  # uniform points where every other one is pending, or every cell decided
_SAME = 1e-9  # distance below which a point counts as pending


class LevelSearch(Search):
    """A search for a level set under stated assumptions.

    Parameters
    ----------
    cells
        The partition with its bounds.
    domain
        What is behind the cube: where its constraint holds, a point may be recommended.
    seed
        Of the random draws.
    delta
        The total error probability.
    rule
        How points are chosen.
    share
        Of the width, above which what is lost in a cell makes it be halved; None leaves the cells as they are.
    """

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(
        self, cells: LevelCells, domain: Domain, seed: int, *, delta: float, rule: Rule, share: float | None
    ) -> None:
        self.cells, self.domain = cells, domain
        self.seed = seed
        self.delta = delta
        self.rule = rule
        self.share = share
        given = cells.assumptions
        self._steer = GaussianProcess(given.kernel, noise_variance=_MULTIPLE * default_regulariser(given), jitter=False)
        self._lattice = self._spacing()
        self._standard_errors = False
        self._next = 0  # observations from which on bounds are brought up to the data
        self._bring_up()

    @property
    def dimension(self) -> int:
        """D."""
        return self.cells.tree.dimension

    def _spacing(self) -> Array | None:
        """Sides of the cells on whose corners points are chosen, shape (D,); None where those would be too many."""
        sides = np.ones(self.dimension)
        for depth in range(_LATTICE_DEPTH + 1):
            if self.cells.way(depth)[1] <= _LATTICE_LOSS * self.cells.assumptions.ceiling:
                return sides
            sides[self.cells.tree.axis_rule(sides)] /= 2
        return None

    # --- what is told

    def tell(self, observation: Observation) -> None:
        self._standard_errors |= observation.variance is not None
        self.cells.add(observation.x, observation.tame_values)
        self._steer.add(np.repeat(observation.x[None], len(observation.values), axis=0), observation.tame_values)
        self._bring_up()

    def _bring_up(self) -> None:
        """Bring bounds up to the data where that is due: so what is stored depends on what was told alone."""
        count = len(self.cells.values)
        if count >= self._next and self.cells.rejection is None:
            if self.share is None:
                self.cells.refresh()
            else:
                self.cells.refine(self.share)
            self._next = count + 1 + count // _SLOWNESS

    # --- what is asked

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        undecided = self.cells.undecided()
        if not len(undecided):
            return self._widest(number, pending)
        share = f"{self._volume(undecided):.1%} of the cube undecided"
        if self.rule == "ambiguity":
            return self._ambiguous(number, pending, undecided, share)
        return self._reducing(number, pending, undecided, share)

    def _volume(self, nodes: Ints) -> float:
        tree = self.cells.tree
        return float(np.prod(tree.upper[nodes] - tree.lower[nodes], axis=1).sum())

    def _ambiguous(self, number: int, pending: Array, undecided: Ints, share: str) -> Proposal:
        cells, h = self.cells, self.cells.threshold
        low, high = cells.low(undecided), cells.high(undecided)
        order = np.argsort(-np.minimum(high - h, h - low), kind="stable")[:_CANDIDATES]
        nodes = undecided[order]
        points, lost = cells.centres(nodes), cells.losses(nodes)
        low, high = low[order], high[order]
        if len(pending):  # as if the pending points were observed: for choosing, never stored
            with cells.band.pending(pending):
                interval = cells.band.interval(points)
            low, high = np.maximum(low, interval.lower - lost), np.minimum(high, interval.upper + lost)
        ambiguity = np.minimum(high - h, h - low)
        # Before the first observation all are equal: then the one that the posterior knows least, the most central.
        deviation = self._deviation(points, pending)
        central = -((points - 0.5) ** 2).sum(axis=1)
        tied = ambiguity >= ambiguity.max() - 1e-9 * cells.assumptions.ceiling
        score = np.where(tied, deviation + 1e-6 * central, ambiguity - 9 * cells.assumptions.ceiling)
        x = self._best(points, score, number, pending)
        return Proposal(x, f"most ambiguous cell, {share}")

    def _reducing(self, number: int, pending: Array, undecided: Ints, share: str) -> Proposal:
        cells = self.cells
        nodes = undecided[_spaced(len(undecided), _TARGETS)]
        centres = cells.centres(nodes)
        low, high = cells.low(nodes), cells.high(nodes)
        width = np.maximum((high - low) / 2, 1e-12 * cells.assumptions.ceiling)
        gap = np.abs((low + high) / 2 - cells.threshold) + cells.accuracy
        closeness = np.minimum(gap / width, 1.0)
        volume = np.prod(cells.tree.upper[nodes] - cells.tree.lower[nodes], axis=1)
        if self._lattice is None:
            candidates = centres
        else:
            candidates = np.unique(np.round(centres / self._lattice) * self._lattice, axis=0)
        candidates = candidates[_spaced(len(candidates), _CANDIDATES)]
        gp = self._steer
        with gp.pending(pending) if len(pending) else nullcontext():
            explained = gp.cholesky.half_solve(gp.cross(np.vstack([centres, candidates])).T)
        prior = cells.assumptions.kernel.variance
        variance = np.maximum(prior - np.einsum("ij,ij->j", explained, explained), 1e-12 * prior)
        here, there = explained[:, : len(centres)], explained[:, len(centres) :]
        covariance = cells.assumptions.kernel(centres, candidates) - here.T @ there
        weights = volume * (closeness**_POWER + 1e-6) / variance[: len(centres)]
        score = weights @ covariance**2 / (variance[len(centres) :] + gp.noise_variance)
        x = self._best(candidates, score, number, pending)
        return Proposal(x, f"sharpens most what can be decided, {share}")

    def _widest(self, number: int, pending: Array) -> Proposal:
        """Go on where everything is decided: where f is known least."""
        cells = self.cells
        leaves = cells.tree.leaves()
        leaves = leaves[np.argsort(cells.low(leaves) - cells.high(leaves), kind="stable")[:_CANDIDATES]]
        # Decided cells may be few and large: a few uniform points join their centres.
        points = np.vstack([cells.centres(leaves), generator(self.seed, number).random((_DRAWS, self.dimension))])
        x = self._best(points, self._deviation(points, pending), number, pending)
        return Proposal(x, "every cell is decided: where f is known least")

    def _deviation(self, points: Array, pending: Array) -> Array:
        with self._steer.pending(pending) if len(pending) else nullcontext():
            return self._steer.predict(points).deviation

    def _best(self, points: Array, score: Array, number: int, pending: Array) -> Array:
        """The point of the largest score that is not pending; a uniform one where all are."""
        free = _apart(points, pending)
        if not free.any():
            points = generator(self.seed, number).random((_DRAWS, self.dimension))
            score = self._deviation(points, pending)
            free = np.ones(_DRAWS, dtype=bool)
        return np.array(points[np.argmax(np.where(free, score, -np.inf))])

    # --- answers

    def level_set(self) -> Classification:
        """Return the label of every cell, as of when bounds were last brought up to the data.

        That was at most 1/64 of the observations ago, so that a label once given stays. Where the data reject the
        assumptions, no bound means anything: every cell is undecided, between -B s and B s, and `rejection` says why.
        """
        cells = self.cells
        leaves = cells.tree.leaves()
        rejection = cells.rejection
        rejected = rejection is not None
        ceiling = np.full(len(leaves), cells.assumptions.ceiling)
        return Classification(
            np.array(cells.tree.lower[leaves]),
            np.array(cells.tree.upper[leaves]),
            np.full(len(leaves), UNDECIDED) if rejected else cells.labels(leaves),
            -ceiling if rejected else cells.low(leaves),
            ceiling if rejected else cells.high(leaves),
            cells.threshold,
            cells.accuracy,
            self.delta,
            rejection if rejected else self._why_not(),
            rejection,
        )

    def _why_not(self) -> str | None:
        if self._standard_errors:
            return "standard errors were told: an estimated standard error is no sub-Gaussian constant"
        return None

    def certificate(self, point: Array) -> Certificate | str:  # noqa: ARG002
        return "this method looks for a level set and not for a maximum: level_set() has what it guarantees"

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the point with the largest lower bound, of those evaluated and the centres of cells.

        Where the data reject the assumptions: the evaluated point of highest posterior mean, without an interval.
        """
        refuse_context(self, context)
        cells, band = self.cells, self.cells.band
        if cells.rejection is not None:
            return self._highest_mean()
        seen = band.interval(band.x)
        leaves = cells.tree.leaves()
        hopeful = leaves[cells.high(leaves) > seen.lower.max()]  # no centre of another cell can have a larger one
        candidates = self.domain.permitted(np.vstack([band.x, cells.centres(hopeful)]))
        interval = band.interval(candidates)
        if seen.is_empty(cells.assumptions.ceiling) or interval.is_empty(cells.assumptions.ceiling):
            return self._highest_mean()
        best = int(np.argmax(interval.lower))
        low, high = float(interval.lower[best]), float(interval.upper[best])
        value = float(np.clip(band.mean(candidates[best : best + 1])[0], low, high))
        return Incumbent(candidates[best].copy(), value, (low, high), certified=self._why_not() is None)

    def _highest_mean(self) -> Incumbent:
        """Return the evaluated point of highest posterior mean, of those that the known constraint allows."""
        band = self.cells.band
        tried = self.domain.permitted(band.x)
        means = band.mean(tried)
        best = int(np.argmax(means))
        return Incumbent(tried[best].copy(), float(means[best]))

    def explain(self) -> dict[str, object]:
        """Cells with box, bounds and label; what is decided; as of how many observations."""
        cells = self.cells
        leaves = cells.tree.leaves()
        labels = cells.labels(leaves)
        names = {ABOVE: "above", BELOW: "below", UNDECIDED: "undecided"}
        rows = zip(leaves.tolist(), labels.tolist(), strict=True)
        return {
            "cells": [
                {
                    "lower": cells.tree.lower[node].tolist(),
                    "upper": cells.tree.upper[node].tolist(),
                    "low": float(cells.low(np.array([node]))[0]),
                    "high": float(cells.high(np.array([node]))[0]),
                    "label": names[label],
                    "points": int(cells.tree.count(node)),
                }
                for node, label in rows
            ],
            "volumes": {name: self._volume(leaves[labels == label]) for label, name in names.items()},
            "threshold": cells.threshold,
            "accuracy": cells.accuracy,
            "bounds as of observation": cells.brought_to,
            "rejection": cells.rejection,
        }


def _spaced(count: int, most: int) -> Ints:
    """Return all of `count` indices, or `most` of them that are evenly spaced."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.intp)


def _apart(points: Array, pending: Array) -> Bools:
    """Return which points (k, D) are none of the pending ones (p, D)."""
    if not len(pending):
        return np.ones(len(points), dtype=np.bool_)
    return np.asarray((np.abs(points[:, None] - pending[None]).max(axis=2) > _SAME).all(axis=1))
