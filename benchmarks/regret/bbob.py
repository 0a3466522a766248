"""Eight functions of the BBOB suite in five dimensions [H09], through IOHexperimenter's `ioh` [N24].

Chosen to differ: separable and rotated Rastrigin (3, 15), the attractive sector (6), Rosenbrock's valley (8), the
rotated ellipsoid of condition 10^6 (10), Schaffer's F7 (17), Schwefel's deceptive x sin(x) (20) and Gallagher's 101
peaks (21).
Instance seed + 1 moves and turns the function, so that no fixed place of the cube is favoured.

Scale. With g = f - min f, a value is

    -log(1 + g / s) / d,    s: the .1 % quantile of g over uniform points, d: the standard deviation of the numerator,

of 10,000 points of a fixed stream. g itself ranges over six decades on some functions: standardised, noise of .1 would
hide everything but the worst places, and a plain logarithm would put a spike on the optimum, with noise that vanishes
there. Here the function is linear in g within what a thousand random points reach and logarithmic beyond; noise of .1
means what it means on the other functions; the order of points is BBOB's own. The maximum is 0.

References
----------
[H09]  Hansen, Finck, Ros and Auger (2009). Real-parameter black-box optimization benchmarking 2009: noiseless functions
       definitions. INRIA RR-6829.
[N24]  de Nobel, Ye, Vermetten, Wang, Doerr and Bäck (2024). IOHexperimenter: benchmarking platform for iterative
       optimization heuristics. Evolutionary Computation.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from regret.task import NOISE, FunctionTask

__all__ = ["DIMENSION", "FUNCTIONS", "bbob_task"]

DIMENSION = 5
FUNCTIONS = {
    "bbob3_rastrigin": 3,
    "bbob6_sector": 6,
    "bbob8_rosenbrock": 8,
    "bbob10_ellipsoid": 10,
    "bbob15_rastrigin_rotated": 15,
    "bbob17_schaffer": 17,
    "bbob20_schwefel": 20,
    "bbob21_gallagher": 21,
}
_LOW, _WIDTH = -5.0, 10.0  # BBOB's box in each coordinate
_POINTS, _QUANTILE, _STREAM = 10_000, 0.001, 20_090


class Scaled:
    """Minus the scaled logarithm of the gap to the minimum, on the unit cube; maximum 0."""

    def __init__(self, function: int, instance: int) -> None:
        self.problem = _problem(function, instance)
        u = np.random.default_rng(_STREAM).random((_POINTS, DIMENSION))
        gaps = self.gaps(u)
        self.linear = float(np.quantile(gaps, _QUANTILE))
        self.deviation = float(np.log1p(gaps / self.linear).std())

    def gaps(self, u: Array) -> Array:
        """f - min f >= 0 at points of the unit cube, shape (n, D)."""
        values = np.array([self.problem(row) for row in _LOW + _WIDTH * u])
        return np.maximum(values - float(self.problem.optimum.y), 0.0)

    def __call__(self, u: Array) -> float:
        return -float(np.log1p(self.gaps(u[None, :])[0] / self.linear)) / self.deviation


def bbob_task(name: str, seed: int, noise: float = NOISE) -> FunctionTask:
    """Return a function of `FUNCTIONS`, instance seed + 1."""
    return FunctionTask(_scaled(FUNCTIONS[name], seed + 1), DIMENSION, best=0.0, seed=seed, noise=noise)


@lru_cache(maxsize=64)
def _scaled(function: int, instance: int) -> Scaled:
    return Scaled(function, instance)


def _problem(function: int, instance: int) -> Any:
    import ioh  # type: ignore[import-not-found, unused-ignore]  # not a dependency: `make peers` installs it

    return ioh.get_problem(function, instance=instance, dimension=DIMENSION, problem_class=ioh.ProblemClass.BBOB)
