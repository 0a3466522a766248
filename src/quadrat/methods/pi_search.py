"""A search over the cells of a partitioned process: what each cell believes, and the highest index of all cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from quadrat.arrays import Array
from quadrat.gp.partitioned import PartitionedProcess
from quadrat.gp.prediction import Posterior
from quadrat.gp.splitting import SplittingRule
from quadrat.kernels import Kernel
from quadrat.methods.acquisition import expected_gain
from quadrat.methods.base import CREDIBLE, Guess, Proposal, Told, refuse_context
from quadrat.methods.cell_maxima import CellMaxima
from quadrat.methods.domain import Domain
from quadrat.methods.surrogate import Frame, ModelBased, ModelSearch, Surrogate, readings
from quadrat.randomness import generator

__all__ = ["PartitionedModel", "PartitionedSearch"]

Multiplier: TypeAlias = Callable[[float, int, float], float]
"""(gain of a cell in nats, its depth, noise in model units) to what its deviation is multiplied by."""
RuleOf: TypeAlias = Callable[[Kernel, int], SplittingRule]

_GAIN = 2  # the name of a stream beside (seed, trial number), as in `quadrat.methods.surrogate`


class PartitionedModel:
    """The partitioned processes of a search: told trials go in, posteriors come out, in model units.

    Units and kernel are learned as by every model-based method, from the trials of the `Surrogate`, whose own posterior
    is never built.
    """

    def __init__(self, method: ModelBased, rule: RuleOf, dimension: int) -> None:
        self.method, self.rule, self.dimension = method, rule, dimension
        self.learning = Surrogate(method, dimension)
        self._told: list[tuple[Array, float, float]] = []  # one an observation, in the units of the values
        self._built: Frame | None = None  # what the two below were built with
        self._absorbed = 0  # observations that they have taken in
        self._index: PartitionedProcess
        self._belief: PartitionedProcess

    def tell(self, told: Told) -> None:
        """Take in one trial."""
        self.learning.tell(told)
        x = np.asarray(told.x, dtype=np.float64)
        self._told += [(x, value, variance) for value, variance in readings(told, self.method.noise)]

    @property
    def frame(self) -> Frame:
        """The kernel, and the map between values and model units."""
        return self.learning.frame

    @property
    def noise(self) -> float:
        """Standard deviation of one observation's noise, in model units."""
        return self.learning.noise

    @property
    def index(self) -> PartitionedProcess:
        """The posterior that the index reads, with the method's regulariser for noise."""
        self._update()
        return self._index

    @property
    def belief(self) -> PartitionedProcess:
        """The posterior under the stated noise, which recommends; its cells are those of `index`."""
        self._update()
        return self._belief

    def _update(self) -> None:
        """Take in what was told since the last time; begin anew where units or kernel changed."""
        frame, noise = self.frame, self.noise**2
        if self._built is not frame:
            rule = self.rule(frame.kernel, self.dimension)
            regulariser = self.method.regulariser(noise)
            self._belief = PartitionedProcess(rule, noise_variance=noise)
            same = regulariser == noise
            self._index = self._belief if same else PartitionedProcess(rule, noise_variance=regulariser)
            self._built, self._absorbed = frame, 0
        ratio = self._index.noise_variance / noise
        for x, value, noise_variance in self._told[self._absorbed :]:
            y, variance = frame.to_model(np.array([value])), frame.variances(np.array([noise_variance]))
            self._belief.add(x[None, :], y, variance)
            if self._index is not self._belief:
                self._index.add(x[None, :], y, ratio * variance)
        self._absorbed = len(self._told)


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
        self.cells = PartitionedModel(method, rule, domain.dimension)
        self.model = self.cells.learning
        self._maxima: tuple[PartitionedProcess, CellMaxima] | None = None

    def tell(self, told: Told) -> None:
        self.cells.tell(told)

    def decide(self, number: int, pending: Array) -> Proposal:  # noqa: ARG002  # draws are named by cells
        """Propose the point of the highest index; deviations count pending points."""
        process, noise = self.cells.index, self.cells.noise
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

    def recommend(self, context: Array | None = None) -> Guess:
        """Return the evaluated point whose 90 % credible interval has the highest lower end."""
        refuse_context(self, context)
        process = self.cells.belief
        x = process.x
        at = process.predict(x)
        best = int(np.argmax(at.mean - CREDIBLE * at.deviation))
        gain = expected_gain(process, x[best], generator(self.seed, self.model.trials, _GAIN), self.domain)
        return self.cells.frame.guess(x[best].copy(), float(at.mean[best]), float(at.deviation[best]), gain)

    @property
    def belief(self) -> Posterior:
        return self.cells.belief

    def explain(self) -> dict[str, object]:
        if not self.model.trials:
            return {"trials": 0}
        frame, process = self.cells.frame, self.cells.belief
        cells = process.cells
        return {
            "trials": self.model.trials,
            "initial design complete": self.model.settled,
            "kernel": repr(frame.kernel),
            "shift": frame.shift,
            "scale": frame.scale,
            "log evidence": process.log_evidence,
            "largest cell": max(cell.count for cell in cells),
            "cells": [
                {
                    "lower": cell.lower.tolist(),
                    "upper": cell.upper.tolist(),
                    "depth": cell.depth,
                    "observations": cell.count,
                    "multiplier": self.multiplier(index.gain, index.depth, self.cells.noise),
                }
                for cell, index in zip(cells, self.cells.index.cells, strict=True)
            ],
        }
