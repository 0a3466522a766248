"""Functions of known norm, with a limit and a safe point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.safe.bounds import Guard, SafeBounds
from quadrat.methods.safe.search import SafeSearch
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator


@dataclass(frozen=True)
class Known:
    """f of norm 1, a limit that it breaks in places, and a point where it clears it by .2."""

    f: RKHSFunction
    given: Assumptions
    limit: float
    start: Array

    @property
    def dimension(self) -> int:
        return len(self.start)

    def bounds(self, delta: float = 0.05) -> SafeBounds:
        guard = Guard("the objective", self.given, self.limit)
        return SafeBounds((guard,), self.dimension, delta=delta, stated=self.start[None])

    def search(self, seed: int = 0) -> SafeSearch:
        return SafeSearch(self.bounds(), Domain.cube(self.dimension), seed)

    def told(self, number: int, x: Array) -> Observation:
        noise = self.given.noise * generator(5, number).standard_normal(1)
        return Observation(number, x, self.f.values(x[None]) + noise)

    def run(self, search: SafeSearch, n: int) -> Array:
        """Evaluate n points one after another; return them, (n, D)."""
        points = []
        for number in range(n):
            points.append(search.ask(number, np.empty((0, self.dimension))).x)
            search.tell(self.told(number, points[-1]))
        return np.array(points)


@pytest.fixture
def known() -> Callable[..., Known]:
    def draw(seed: int = 1, dimension: int = 1, noise: float = 0.05) -> Known:
        rng, kernel = generator(seed, 7), Matern(2.5, 0.25)
        grid = np.linspace(0, 1, 101)[:, None] if dimension == 1 else rng.random((400, dimension))
        while True:
            f = draw_rkhs_function(kernel, dimension, rng=rng)
            values = f.values(grid)
            limit = float(np.quantile(values, 0.25))
            if values.max() >= limit + 0.5:
                start = grid[np.argmin(np.abs(values - limit - 0.2))]
                return Known(f, Assumptions(kernel, 1.0, noise), limit, start)

    return draw
