"""Ours with fifty evaluations at a time."""

from __future__ import annotations

from collections import deque

from regret.adapter import Quadrat
from regret.task import Params

from quadrat.optimizer.trial import Trial
from quadrat.space import Space

__all__ = ["BATCH", "QuadratInBatches"]

BATCH = 50


class QuadratInBatches(Quadrat):
    """Fifty trials are asked for at once, and no more before the last of them is told."""

    def __init__(self, space: Space, n: int, seed: int) -> None:
        super().__init__(space, n, seed)
        self.batch: deque[Trial] = deque()  # asked for, not handed out yet

    def ask(self) -> Params:
        if not self.batch:
            self.batch.extend(self.optimizer.ask() for _ in range(min(BATCH, self.n - len(self.told))))
        self.trial = self.batch.popleft()
        return self.trial.params
