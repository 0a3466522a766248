"""LP-GP-UCB in two forms that certify nothing: with a sketched posterior, and with a kernel learned from the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions, ChowdhuryGopalanBand
from quadrat.confidence.sketched_band import SketchedBand
from quadrat.gp import GaussianProcess, Observations
from quadrat.gp.sketch import Sketch
from quadrat.methods.base import Domain, Incumbent, Observation, Proposal, Search, refuse_context
from quadrat.methods.lp.cells import CellBounds
from quadrat.methods.lp.search import CellLoop, CellOptions
from quadrat.methods.statements import Mixture
from quadrat.methods.surrogate import Learned, learn_kernel
from quadrat.randomness import generator

if TYPE_CHECKING:
    from quadrat.methods.lp.method import LPGPUCB

__all__ = ["LEARNED", "SKETCHED", "LearnedSearch", "SketchedSearch"]

LEARNED = "the length-scale was learned from observations that are used again; state a kernel to certify"
SKETCHED = "the posterior is sketched, and its band is not a certified one; leave sketch out to certify"


class SketchedSearch(Search):
    """Algorithm 1 with a sketched band.

    Parameters
    ----------
    assumptions, domain, seed
        What is assumed of f, the cube, and the seed of all random draws.
    options
        Of Algorithm 1.
    sketch
        Accuracy and oversampling.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        domain: Domain,
        seed: int,
        options: CellOptions,
        *,
        sketch: Sketch,
    ) -> None:
        self.band = SketchedBand(assumptions, options.delta / 2, sketch=sketch, seed=seed)
        self.cells = CellBounds(
            assumptions,
            domain.dimension,
            delta=options.delta,
            degree=options.degree,
            max_cells=options.max_cells,
            band=self.band,
        )
        self.loop = CellLoop(self.cells, seed, budget=options.budget, threshold=options.threshold)

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        return self.loop.ask(number, pending)

    def tell(self, observation: Observation) -> None:
        self.cells.add(observation.x, observation.tame_values)

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the evaluated point of highest mean under the stated noise, with a 90 % credible interval."""
        refuse_context(self, context)
        posterior = self.band.process.with_noise(self.band.assumptions.noise**2 / self.band.regulariser)
        at = posterior.predict(posterior.x)
        best = int(np.argmax(at.mean))
        belief = Mixture(at.mean[[best]], at.deviation[[best]])
        return Incumbent.believed(posterior.x[best].copy(), belief, None)

    def certificate(self, point: Array) -> str:  # noqa: ARG002
        return SKETCHED

    def explain(self) -> dict[str, object]:
        process = self.band.process
        return {
            **self.loop.explain(),
            "dictionary": len(process.dictionary),
            "effective dimension": process.effective_dimension,
        }


class LearnedSearch(Search):
    """Uniform points first, then the loop of Algorithm 1 with what they taught.

    Parameters
    ----------
    method
        Its norm bound and Hölder pair are in the units of standardised values, its noise in those of the values.
    domain, seed
        The cube, and the seed of the random draws.
    """

    def __init__(self, method: LPGPUCB, domain: Domain, seed: int) -> None:
        self.method, self.dimension, self.seed = method, domain.dimension, seed
        self.told: list[Observation] = []
        self.shift, self.scale = 0.0, 1.0
        self.loop: CellLoop | None = None
        self.posterior: GaussianProcess | None = None

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        if self.loop is None:
            return Proposal(generator(self.seed, number).random(self.dimension), "initial design, uniform")
        return self.loop.ask(number, pending)

    def tell(self, observation: Observation) -> None:
        self.told.append(observation)
        if self.loop is not None:
            self._absorb(observation)
        elif len(self.told) >= self.method.n_initial:
            self._learn()

    def _learn(self) -> None:
        X = np.concatenate([np.repeat(told.x[None], len(told.values), axis=0) for told in self.told])
        y = np.concatenate([told.tame_values for told in self.told])
        spread = float(np.std(y))
        self.shift, self.scale = float(np.mean(y)), spread if spread > 1e-12 * (1 + float(np.abs(y).max())) else 1.0
        method = self.method
        noise = max(method.noise / self.scale, 1e-12)  # values of any size: as good as none
        data = Observations.merge(X, (y - self.shift) / self.scale, max(noise, 1e-4) ** 2)
        kernel = learn_kernel(Learned(), data)
        given = Assumptions(kernel, method.norm_bound, noise, method.holder)
        band = ChowdhuryGopalanBand(given, method.delta / 3, budget=method.budget)
        cells = CellBounds(
            given, self.dimension, delta=method.delta, degree=method.degree, max_cells=method.max_cells, band=band
        )
        threshold = method._threshold(kernel, noise, self.dimension)
        self.loop = CellLoop(cells, self.seed, budget=method.budget, threshold=threshold)
        self.posterior = GaussianProcess(kernel, noise_variance=max(noise, 1e-4) ** 2)
        for told in self.told:
            self._absorb(told)

    def _absorb(self, observation: Observation) -> None:
        assert self.loop is not None
        assert self.posterior is not None
        values = (observation.tame_values - self.shift) / self.scale
        self.loop.cells.add(observation.x, values)
        self.posterior.add(np.repeat(observation.x[None], len(values), axis=0), values)

    def recommend(self, context: Array | None = None) -> Incumbent:
        refuse_context(self, context)
        if self.posterior is None:
            best = max(self.told, key=lambda told: float(np.mean(told.values)))
            return Incumbent(best.x, float(np.mean(best.values)))
        prediction = self.posterior.predict(self.posterior.x)
        best_row = int(np.argmax(prediction.mean))
        mean, deviation = prediction.mean[[best_row]], prediction.deviation[[best_row]]
        belief = Mixture(mean * self.scale + self.shift, deviation * self.scale)
        return Incumbent.believed(self.posterior.x[best_row].copy(), belief, None)

    def certificate(self, point: Array) -> str:  # noqa: ARG002
        return LEARNED

    def explain(self) -> dict[str, object]:
        return {} if self.loop is None else self.loop.explain()
