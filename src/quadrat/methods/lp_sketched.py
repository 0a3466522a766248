"""LP-GP-UCB on a sketched posterior: Algorithm 1 with the band of `quadrat.confidence.sketched_band`.

The six exact posteriors of the certified band cost O(n^2) an evaluation; the sketched one costs O(m^2), m points in its
dictionary. Nothing is certified: the band holds in exact arithmetic, whatever the dictionary, but rounding in the
sketch is not accounted for, and it cannot reject assumptions that are wrong. The evaluated point of highest sketched
mean under the stated noise is recommended.
"""

from __future__ import annotations

import numpy as np

from quadrat.arrays import Array
from quadrat.confidence import Assumptions, DeltaBudget
from quadrat.confidence.sketched_band import SketchedBand
from quadrat.gp.sketch import Sketch
from quadrat.methods.base import CREDIBLE, Guess, Proposal, Search, Told, refuse_context
from quadrat.methods.domain import Domain
from quadrat.methods.lp_cells import CellBounds
from quadrat.methods.lp_search import CellLoop

__all__ = ["WHY_NOT_CERTIFIED", "SketchedSearch"]

WHY_NOT_CERTIFIED = "the posterior is sketched, and its band is not a certified one; leave sketch out to certify"


class SketchedSearch(Search):
    """Algorithm 1 with a sketched band.

    Parameters
    ----------
    assumptions, domain, seed
        What is assumed of f, the cube, and the seed of all random draws.
    budget, degree, delta, threshold, max_cells
        n, k, the total error probability, gamma_n / sqrt(n) and the cap on cells.
    sketch
        Accuracy and oversampling.
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
        threshold: float,
        max_cells: int,
        sketch: Sketch,
    ) -> None:
        self.band = SketchedBand(assumptions, DeltaBudget(delta).band, sketch=sketch, seed=seed)
        self.cells = CellBounds(
            assumptions, domain.dimension, delta=delta, degree=degree, max_cells=max_cells, band=self.band
        )
        self.loop = CellLoop(self.cells, seed, budget=budget, threshold=threshold)

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        return self.loop.ask(number, pending)

    def tell(self, told: Told) -> None:
        self.cells.add(told.x, told.tame_values)

    def recommend(self, context: Array | None = None) -> Guess:
        """Return the evaluated point of highest mean under the stated noise, with a 90 % credible interval."""
        refuse_context(self, context)
        belief = self.band.process.with_noise(self.band.assumptions.noise**2 / self.band.regulariser)
        at = belief.predict(belief.x)
        best = int(np.argmax(at.mean))
        mean, half = float(at.mean[best]), CREDIBLE * float(at.deviation[best])
        return Guess(belief.x[best].copy(), mean, (mean - half, mean + half))

    def certificate(self, point: Array) -> str:  # noqa: ARG002
        return WHY_NOT_CERTIFIED

    def explain(self) -> dict[str, object]:
        process = self.band.process
        return {
            **self.loop.explain(),
            "dictionary": len(process.dictionary),
            "effective dimension": process.effective_dimension,
        }
