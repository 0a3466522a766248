"""A task: one problem with one seed, to be maximised over a space; what is told has noise, what is scored has none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from quadrat.space import Float, Space
from regret.rows import rounded

__all__ = ["NOISE", "FunctionTask", "Params", "Task", "regrets", "unit_space"]

Params: TypeAlias = dict[str, Any]
NOISE = 0.1  # standard deviation unless another is asked for; functions are standardised over the cube
_NOISE_STREAM = 777  # rows of earlier runs were made with this stream


class Task(ABC):
    """What a method is run on.

    Parameters
    ----------
    space
        What to search.
    best
        The largest noiseless value: the maximum where it is known, else the best that was ever found.
    cheap
        Whether `value` costs next to nothing, so that it can be had for every point that was evaluated.
    """

    def __init__(self, space: Space, *, best: float, cheap: bool) -> None:
        self.space, self.best, self.cheap = space, best, cheap

    @abstractmethod
    def observe(self, params: Params, number: int) -> float:
        """Return what evaluation `number`, from 0, of a run gives at `params`: the same noise for every method."""

    @abstractmethod
    def value(self, params: Params) -> float:
        """Return the value without noise, by which methods are scored."""


class FunctionTask(Task):
    """A function on the unit cube with normal noise.

    Parameters
    ----------
    function
        The objective without noise: a point of shape (D,) -> value.
    dimension
        D.
    best
        Its maximum.
    seed
        Names the noise.
    noise
        Its standard deviation.
    """

    def __init__(
        self, function: Callable[[Array], float], dimension: int, *, best: float, seed: int, noise: float = NOISE
    ) -> None:
        super().__init__(unit_space(dimension), best=best, cheap=True)
        self.function, self.seed, self.noise = function, seed, noise

    def observe(self, params: Params, number: int) -> float:
        # One stream for the whole run, read up to this evaluation, as earlier rows were made.
        drawn = np.random.default_rng([self.seed, _NOISE_STREAM]).normal(size=number + 1)[number]
        return self.value(params) + self.noise * float(drawn)

    def value(self, params: Params) -> float:
        return self.function(self.space.to_unit(params))


def unit_space(dimension: int) -> Space:
    """Return the unit cube as a space with parameters x0, x1, ..."""
    return Space(**{f"x{i}": Float(0.0, 1.0) for i in range(dimension)})


def regrets(task: Task, told: Sequence[tuple[Params, float]], recommended: Params) -> dict[str, float]:
    """Return the regrets of a run on a cheap task: of the recommended, the best evaluated and the best observed point.

    Parameters
    ----------
    task
        What was run on.
    told
        Parameters and what was observed there, in the order of asking.
    recommended
        At the end of the run.
    """

    def regret(params: Params) -> float:
        return rounded(task.best - task.value(params))

    evaluated = min(regret(params) for params, _ in told)
    observed = regret(max(told, key=lambda pair: pair[1])[0])
    return {"recommended": regret(recommended), "evaluated": evaluated, "observed": observed}
