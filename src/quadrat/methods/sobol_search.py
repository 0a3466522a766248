"""Sobol search: a scrambled low-discrepancy sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quadrat.arrays import Array
from quadrat.methods.base import Method, MethodFacts
from quadrat.methods.domain import Domain
from quadrat.methods.random_search import DesignSearch
from quadrat.randomness import generator

__all__ = ["SobolSearch"]


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
