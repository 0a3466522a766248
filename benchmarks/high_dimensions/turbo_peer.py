"""TuRBO-1 with fifty evaluations at a time, at its published settings.

References
----------
[E19]  Eriksson, Pearce, Gardner, Turner and Poloczek (2019). Scalable global optimization via local Bayesian
       optimization. NeurIPS 32; and its code, github.com/uber-research/TuRBO.
"""

from __future__ import annotations

from math import ceil

import torch
from regret.peers.botorch_peer import BoTorch, TuRBO

from high_dimensions.batches import BATCH


class BatchedTuRBO(TuRBO):
    """One trust region and a batch of Thompson samples, each a draw of its own, no point twice.

    As in [E19]: 2 D initial points; 100 D candidates, at most 5000; a batch succeeds if its best observation is above
    the best of the region by .1 %; three successes in a row double the region, ceil(max(4, D) / batch) failures halve
    it; and, as it says for noisy values, the region lies around the observed point of highest posterior mean. The model
    is that of the adapter with q = 1: fitted by L-BFGS until it converges, where [E19] takes 50 steps of Adam.
    """

    SUCCESSES = 3

    def __init__(self, space, n, seed):
        super().__init__(space, n, seed)
        self.designing = True  # what is under way is the design of a region, not a batch of its samples
        self.values = []  # of what is under way

    @property
    def n_initial(self):
        """Points of each initial design; fewer where that would be most of the run."""
        return min(super().n_initial, max(2, self.n // 3))

    @property
    def n_failures(self):
        return ceil(super().n_failures / BATCH)

    def ask(self):
        if not self.design:
            model, X, _ = self._fit()
            with torch.no_grad():
                centre = X[model.posterior(X).mean.squeeze(-1).argmax()]
            count = min(5000, 100 * self.cube.dimension)
            self.design = list(self._sampled(model, centre, count, min(BATCH, self.n - len(self.X))))
        return self.cube.params(self.design.pop(0))

    def tell(self, params, value):
        BoTorch.tell(self, params, value)
        self.values.append(value)
        if self.design:
            return
        best, self.values = max(self.values), []
        better = best > self.best + 1e-3 * abs(self.best)
        self.best = max(self.best, best)
        if not self.designing:
            self._resize(better)
        self.designing = self.first == len(self.X)  # the region has collapsed, and a new one begins

    def recommend(self):
        with torch.random.fork_rng():  # the run goes on as if nothing had been asked
            return super().recommend()
