"""Designs that look at no values: uniform points, and Sobol's sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array
from quadrat.methods.base import Domain, Incumbent, Method, MethodFacts, Observation, Proposal, Search, refuse_context
from quadrat.randomness import generator

__all__ = ["DesignSearch", "RandomSearch", "SobolSearch"]


class DesignSearch(Search):
    """A search whose points do not depend on what is told: trial i evaluates point i of a design.

    It recommends the evaluated point with the highest mean of values (weighted by their precision where standard
    errors were told). There is no model, so no interval and no estimate of what is still to gain.

    Parameters
    ----------
    point
        From the trial's number to its point, shape (D,).
    why
        What a proposal says of itself.
    """

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(self, point: Callable[[int], Array], why: str) -> None:
        self._point = point
        self._why = why
        self._told: dict[bytes, list[Observation]] = {}

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        """Return the next point of the design, which is no pending one: points repeat with probability 0."""
        refuse_context(self, context)
        return Proposal(self._point(number), self._why)

    def tell(self, observation: Observation) -> None:
        self._told.setdefault((observation.x + 0.0).tobytes(), []).append(observation)

    def recommend(self, context: Array | None = None) -> Incumbent:
        refuse_context(self, context)
        means = [_mean(trials) for trials in self._told.values()]
        best = int(np.argmax(means))
        return Incumbent(list(self._told.values())[best][0].x.copy(), means[best])

    def explain(self) -> dict[str, object]:
        return {"trials": sum(len(trials) for trials in self._told.values()), "distinct points": len(self._told)}


def _mean(trials: list[Observation]) -> float:
    """Mean of everything measured at one point; by precision only where every trial there has a positive one."""
    variances = [told.variance for told in trials]
    if all(variance is not None and variance > 0 for variance in variances):
        weights = 1 / np.array(variances, dtype=np.float64)
        if weights.max() > 1e100:  # products with values must be numbers
            weights /= weights.max()
        return float(weights @ [float(np.mean(told.values)) for told in trials] / weights.sum())
    return float(np.mean(np.concatenate([told.values for told in trials])))


@dataclass(frozen=True, kw_only=True)
class RandomSearch(Method):
    """Independent uniform points: the baseline that every other method has to beat.

    Examples
    --------
    >>> search = RandomSearch().start(Domain.cube(2), seed=0)
    >>> search.ask(0, np.empty((0, 2))).x.round(3).tolist()
    [0.943, 0.316]
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Random search",
        paper="Bergstra and Bengio 2012, Random search for hyper-parameter optimization, JMLR",
        assumes="nothing",
        best_for="a baseline that anything must beat",
    )

    def start(self, domain: Domain, seed: int) -> DesignSearch:
        return DesignSearch(lambda number: generator(seed, number).random(domain.dimension), "uniform")


@dataclass(frozen=True, kw_only=True)
class SobolSearch(Method):
    """Points of a Sobol sequence, scrambled by the seed: uniform points without the gaps and clusters.

    Trial i evaluates point i of the sequence, whatever happened before. The first 2^k points are balanced.

    Examples
    --------
    >>> search = SobolSearch().start(Domain.cube(1), seed=0)
    >>> sorted(int(4 * search.ask(i, np.empty((0, 1))).x[0]) for i in range(4))
    [0, 1, 2, 3]
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Sobol search",
        paper="Sobol 1967; scrambling: Matoušek 1998, On the L2-discrepancy for anchored boxes, J. Complexity",
        assumes="nothing",
        best_for="covering a space evenly",
    )

    def start(self, domain: Domain, seed: int) -> DesignSearch:
        from scipy.stats import qmc

        sequence = qmc.Sobol(domain.dimension, scramble=True, seed=generator(seed))

        def point(number: int) -> Array:
            if sequence.num_generated > number:
                sequence.reset()
            if number > sequence.num_generated:
                sequence.fast_forward(number - sequence.num_generated)
            return np.asarray(sequence.random(1)[0], dtype=np.float64)

        return DesignSearch(point, "next point of a Sobol sequence")
