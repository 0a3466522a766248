"""The options of a run, checked once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeAlias

from quadrat._core.arrays import as_number
from quadrat.errors import InvalidInput
from quadrat.optimizer import Optimizer, TrialRecord
from quadrat.optimizer.method_choice import require

__all__ = ["Callback", "Plan"]

Callback: TypeAlias = Callable[[Optimizer, TrialRecord], object]


@dataclass(frozen=True)
class Plan:
    """How long to run, on what, and when to stop; see `maximize`."""

    n_trials: int | None
    timeout: float | None = None
    callbacks: Iterable[Callback] = ()
    executor: Executor | None = None
    workers: int | None = None
    stop_at_gain: float | None = None
    stop_at_certificate: float | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        store = object.__setattr__
        if self.n_trials is None and self.max_cost is None:
            raise InvalidInput("n_trials: expected a number of trials, or max_cost=..., got neither; say when to stop")
        if self.n_trials is not None:
            store(self, "n_trials", _count(self.n_trials, "n_trials"))
        if self.max_cost is not None:
            store(self, "max_cost", as_number(self.max_cost, name="max_cost", above=0.0))
        if self.workers is not None:
            store(self, "workers", _count(self.workers, "workers"))
        if self.timeout is not None:
            store(self, "timeout", as_number(self.timeout, name="timeout", above=0.0))
        for name in ("stop_at_gain", "stop_at_certificate"):
            if getattr(self, name) is not None:
                store(self, name, as_number(getattr(self, name), name=name, at_least=0.0))
        callbacks: object = self.callbacks
        if not isinstance(callbacks, Iterable):
            raise InvalidInput(f"callbacks: expected a list of functions, got {callbacks!r:.80}; put it in a list")
        store(self, "callbacks", tuple(callbacks))
        for callback in self.callbacks:
            if not callable(callback):
                raise InvalidInput(f"callbacks: expected functions of (optimizer, trial), got {callback!r:.80}")

    def check_against(self, optimizer: Optimizer) -> None:
        """Refuse what this run cannot do, before anything is evaluated.

        A stop rule that the method or the space cannot meet; contexts, which nobody gives here; several trials at a
        time with a method that takes one.
        """
        if optimizer.space.contexts:
            listed = ", ".join(map(repr, optimizer.space.contexts))
            raise InvalidInput(
                f"space: expected parameters to choose, got the contexts {listed}; they are given trial by trial, with"
                " Optimizer.ask(context=...)"
            )
        if self.executor is not None and self.workers != 1:
            require(optimizer.method, "pending points", "leave executor out, or give workers=1")
        if self.stop_at_gain is not None and not optimizer.method.estimates_gain:
            raise InvalidInput(
                "stop_at_gain: expected a method that estimates what is still to gain at most, such as Auto, got"
                f" {type(optimizer.method).__name__}"
            )
        if self.stop_at_certificate is None:
            return
        if not optimizer.method.facts.certifies or {"level sets", "safe regions"} & {*optimizer.method.facts.handles}:
            raise InvalidInput(
                "stop_at_certificate: expected a method that certifies, such as LPGPUCB, got"
                f" {type(optimizer.method).__name__}; stop_at_gain goes with Auto and others that fit a model"
            )
        reason = optimizer.method.why_not_certified()
        if reason is not None:
            raise InvalidInput(
                f"stop_at_certificate: expected a form of the method that certifies, got one that does not: {reason}"
            )
        if optimizer.space.discontinuous:
            raise InvalidInput(
                "stop_at_certificate: expected a space of Floats without steps or conditions, got"
                f" {', '.join(optimizer.space.discontinuous)}"
            )


def _count(value: object, name: str) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]  # that is tested
    except TypeError:
        number = -1
    if number < 1:
        raise InvalidInput(f"{name}: expected an integer >= 1, got {value!r}")
    return number
