"""Adapters: every method behind the same three calls, ask, tell and recommend. Ours and random search are here."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import numpy as np

import quadrat as qd
from quadrat.space import Space
from regret.task import Params, Task

__all__ = ["Adapter", "Quadrat", "Random", "timed_suggestion"]


class Adapter(ABC):
    """A method at its recommended settings, maximising; one evaluation at a time.

    Parameters
    ----------
    space
        What to search.
    n
        Evaluations to come.
    seed
        Of all that the method draws.
    """

    # Whether `recommend` may be called after every few evaluations: it costs little and leaves the run as it is.
    recommends_along_the_way: bool = True
    is_noisy: bool = True  # whether values have noise, for methods that have to be told; set before the first `ask`

    def __init__(self, space: Space, n: int, seed: int) -> None:
        self.space, self.n, self.seed = space, n, seed
        self.told: list[tuple[Params, float]] = []

    @abstractmethod
    def ask(self) -> Params:
        """Return the next parameters to evaluate."""

    def tell(self, params: Params, value: float) -> None:
        """Take in what the last parameters asked gave."""
        self.told.append((params, value))

    def add(self, params: Params, value: float) -> None:
        """Take in an evaluation that was not asked for; methods whose speed is compared can."""
        raise NotImplementedError(f"{type(self).__name__} takes in only what it asked for")

    def recommend(self) -> Params:
        """Return the parameters to use: the best observed, for methods that recommend nothing themselves."""
        return max(self.told, key=lambda pair: pair[1])[0]

    def statements(self) -> dict[str, object]:
        """Return what is believed of the value at the recommended point, if anything: see `Quadrat.statements`."""
        return {}


def timed_suggestion(task: Task, adapter: Adapter, number: int) -> tuple[Params, float, float]:
    """Ask and tell evaluation `number`; return it, what it gave, and CPU seconds without those of the evaluation."""
    begin = time.process_time()
    params = adapter.ask()
    taken = time.process_time() - begin
    value = task.observe(params, number)
    begin = time.process_time()
    adapter.tell(params, value)
    return params, value, taken + time.process_time() - begin


class Quadrat(Adapter):
    """Ours, without any setting."""

    def __init__(self, space: Space, n: int, seed: int) -> None:
        super().__init__(space, n, seed)
        self.optimizer = qd.Optimizer(space, direction="maximize", seed=seed)

    def ask(self) -> Params:
        self.trial = self.optimizer.ask()
        return self.trial.params

    def tell(self, params: Params, value: float) -> None:
        super().tell(params, value)
        self.optimizer.tell(self.trial, value)

    def add(self, params: Params, value: float) -> None:
        super().tell(params, value)
        self.optimizer.add(params, value)

    def recommend(self) -> Params:
        return self.optimizer.recommend().params

    def statements(self) -> dict[str, object]:
        """The 90 % interval of the value there, what is still to gain, and the upper value of that."""
        found = self.optimizer.recommend()
        return {
            "interval": found.credible_interval,
            "gain": found.estimated_gain,
            "gain_upper": found.estimated_gain_upper,
        }


class Random(Adapter):
    """Uniform on the cube of the space; recommends the best observed."""

    def __init__(self, space: Space, n: int, seed: int) -> None:
        super().__init__(space, n, seed)
        self.rng = np.random.default_rng(seed)  # the stream of earlier rows

    def ask(self) -> Params:
        return self.space.sample(1, self.rng)[0]
