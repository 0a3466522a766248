"""LP-GP-UCB in two forms that certify nothing: with a sketched posterior, and with a kernel learned from the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions, ChowdhuryGopalanBand, DeltaBudget, UserHolder
from quadrat.confidence.sketched_band import SketchedBand
from quadrat.gp import GaussianProcess, Observations
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Kernel
from quadrat.methods.base import CREDIBLE, Domain, Guess, Proposal, Search, Told, refuse_context
from quadrat.methods.lp.cells import CellBounds
from quadrat.methods.lp.search import CellLoop, CellOptions
from quadrat.methods.surrogate import Learned, learn_kernel
from quadrat.randomness import generator

__all__ = ["WHY_NOT_CERTIFIED", "LearnedSearch", "SketchedSearch"]

WHY_NOT_CERTIFIED = "the posterior is sketched, and its band is not a certified one; leave sketch out to certify"


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
        self.band = SketchedBand(assumptions, DeltaBudget(options.delta).band, sketch=sketch, seed=seed)
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


class LearnedSearch(Search):
    """Uniform points first, then the loop of Algorithm 1 with what they taught.

    Parameters
    ----------
    domain, seed, n_initial
        The cube, the seed, and how many points come first.
    norm_bound, noise, holder
        B and sigma, and the user's (L, alpha), all in the units of standardised values except sigma.
    budget, degree, delta, max_cells
        n, k, delta and the cap on cells.
    threshold
        From the learned kernel to gamma_n / sqrt(n).
    """

    def __init__(
        self,
        domain: Domain,
        seed: int,
        *,
        n_initial: int,
        norm_bound: float,
        noise: float,
        holder: UserHolder | None,
        budget: int,
        degree: int,
        delta: float,
        max_cells: int,
        threshold: Callable[[Kernel, float], float],
    ) -> None:
        self.dimension, self.seed, self.n_initial = domain.dimension, seed, n_initial
        self.norm_bound, self.noise, self.holder = norm_bound, noise, holder
        self.budget, self.degree, self.delta, self.max_cells = budget, degree, delta, max_cells
        self.threshold = threshold
        self.told: list[Told] = []
        self.shift, self.scale = 0.0, 1.0
        self.loop: CellLoop | None = None
        self.belief: GaussianProcess | None = None

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        if self.loop is None:
            return Proposal(generator(self.seed, number).random(self.dimension), "initial design, uniform")
        return self.loop.ask(number, pending)

    def tell(self, told: Told) -> None:
        self.told.append(told)
        if self.loop is not None:
            self._absorb(told)
        elif len(self.told) >= self.n_initial:
            self._learn()

    def _learn(self) -> None:
        X = np.concatenate([np.repeat(told.x[None], len(told.values), axis=0) for told in self.told])
        y = np.concatenate([told.tame_values for told in self.told])
        spread = float(np.std(y))
        self.shift, self.scale = float(np.mean(y)), spread if spread > 1e-12 * (1 + float(np.abs(y).max())) else 1.0
        noise = max(self.noise / self.scale, 1e-12)  # values of any size: as good as none
        data = Observations.merge(X, (y - self.shift) / self.scale, max(noise, 1e-4) ** 2)
        kernel = learn_kernel(Learned(), data)
        given = Assumptions(kernel, self.norm_bound, noise, self.holder)
        band = ChowdhuryGopalanBand(given, self.delta / 3, budget=max(self.budget, 1))
        cells = CellBounds(
            given, self.dimension, delta=self.delta, degree=self.degree, max_cells=self.max_cells, band=band
        )
        self.loop = CellLoop(cells, self.seed, budget=self.budget, threshold=self.threshold(kernel, noise))
        self.belief = GaussianProcess(kernel, noise_variance=max(noise, 1e-4) ** 2)
        for told in self.told:
            self._absorb(told)

    def _absorb(self, told: Told) -> None:
        assert self.loop is not None
        assert self.belief is not None
        values = (told.tame_values - self.shift) / self.scale
        self.loop.cells.add(told.x, values)
        self.belief.add(np.repeat(told.x[None], len(values), axis=0), values)

    def recommend(self, context: Array | None = None) -> Guess:
        refuse_context(self, context)
        if self.belief is None:
            best = max(self.told, key=lambda told: float(np.mean(told.values)))
            return Guess(best.x, float(np.mean(best.values)))
        prediction = self.belief.predict(self.belief.x)
        best_row = int(np.argmax(prediction.mean))
        mean = float(prediction.mean[best_row]) * self.scale + self.shift
        half = CREDIBLE * float(prediction.deviation[best_row]) * self.scale
        return Guess(self.belief.x[best_row].copy(), mean, (mean - half, mean + half))

    def certificate(self, point: Array) -> str:  # noqa: ARG002
        return "the length-scale was learned from observations that are used again; state a kernel to certify"

    def explain(self) -> dict[str, object]:
        return {} if self.loop is None else self.loop.explain()
