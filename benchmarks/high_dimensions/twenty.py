"""The problems: three of twenty dimensions, standardised, with the optimum where the seed puts it.

ackley20        Ackley's dimpled funnel, on a box of side 15 as `ackley5` of `problems`
levy20          Levy's wavy bowl, on [-10, 10]^20 as `levy8`
hartmann6in20   Hartmann's function of six variables on six of twenty axes, which the seed draws; the others do nothing

Standardised as the named problems of `problems` are: minus the classic, less its mean over the cube, divided by its
standard deviation there, from 100,000 uniform points of the generator with seed 12345; a test computes the constants
again. Moved as they are, by `Problem.shifted`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from regret.task import FunctionTask

import problems
from problems import Problem, classics
from quadrat._core.arrays import Array
from quadrat.randomness import generator

__all__ = ["DIMENSION", "PROBLEMS", "active_axes", "moved", "task", "unmoved"]

DIMENSION = 20
PROBLEMS = ("ackley20~", "levy20~", "hartmann6in20~")
_AXES = 20  # names the stream of the axes that count


@dataclass(frozen=True, eq=False)
class _Standardised:
    """(-classic(low + width * u) - mean) / sd for u in the unit cube."""

    classic: Callable[[Array], Array]
    low: float
    width: float
    mean: float
    sd: float

    def __call__(self, points: Array) -> Array:
        return (-self.classic(self.low + self.width * points) - self.mean) / self.sd

    def problem(self, name: str, minimiser: float) -> Problem:
        """Return it as a problem; all coordinates of the classic's minimiser are the same, and its minimum is 0."""
        optimum = np.full(DIMENSION, (minimiser - self.low) / self.width)
        return Problem(
            name, DIMENSION, self, optimum[None, :], -self.mean / self.sd,
            domain=np.tile([self.low, self.low + self.width], (DIMENSION, 1)),
            location=self.mean, scale=self.sd, anchor=optimum,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _OnAxes:
    """A function of some axes, shape (k,), of the cube."""

    function: Callable[[Array], Array]
    axes: Array

    def __call__(self, points: Array) -> Array:
        return self.function(points[:, self.axes])


_ACKLEY = _Standardised(classics.ackley, -7.5, 15.0, mean=-13.228347891037105, sd=0.7667249273016815)
_LEVY = _Standardised(classics.levy, -10.0, 20.0, mean=-250.1266352071539, sd=69.73125251962593)


def active_axes(seed: int) -> Array:
    """Return the six axes on which Hartmann's function lies, ascending."""
    return np.sort(generator(seed, _AXES).choice(DIMENSION, 6, replace=False))


def _embedded(seed: int) -> Problem:
    """Hartmann's function on the axes of a seed; where it is largest, the other axes may be anywhere."""
    hartmann, axes = problems.get("hartmann6"), active_axes(seed)

    def spread(point: Array) -> Array:
        whole = np.full(DIMENSION, 0.5)
        whole[axes] = point
        return whole

    assert hartmann.anchor is not None
    return Problem(
        "hartmann6in20", DIMENSION, _OnAxes(hartmann.function, axes), spread(hartmann.optimizers[0])[None, :],
        hartmann.optimal_value, location=hartmann.location, scale=hartmann.scale, anchor=spread(hartmann.anchor),
    )  # fmt: skip


def unmoved(name: str, seed: int) -> Problem:
    """Return one of `PROBLEMS` before the seed has moved its optimum."""
    if name == "hartmann6in20~":
        return _embedded(seed)
    return {"ackley20~": _ACKLEY.problem("ackley20", 0.0), "levy20~": _LEVY.problem("levy20", 1.0)}[name]


@cache
def moved(name: str, seed: int) -> Problem:
    """Return one of `PROBLEMS` as a seed makes it."""
    return unmoved(name, seed).shifted(seed)


def task(name: str, seed: int) -> FunctionTask:
    """Return one of `PROBLEMS` as a seed makes it, with noise."""
    problem = moved(name, seed)
    assert problem.optimal_value is not None
    return FunctionTask(lambda u: float(problem.values(u)[0]), DIMENSION, best=problem.optimal_value, seed=seed)
