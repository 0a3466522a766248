"""Trials: what is handed out, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["State", "Trial", "TrialRecord"]

State: TypeAlias = Literal["pending", "complete", "failed"]


@dataclass(frozen=True)
class Trial:
    """A point to evaluate.

    Attributes
    ----------
    number
        From 0, in the order asked.
    params
        The parameters that exist there, by name: a dictionary of the caller's own.
    why
        One phrase: what made the method choose it.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", method="RandomSearch")
    >>> trial = optimizer.ask({"x": 0.25})
    >>> trial
    Trial(number=0, params={'x': 0.25}, why='chosen by the user')
    """

    number: int
    params: dict[str, Any]
    why: str
    _mark: int = field(default=0, repr=False)  # tells optimizers apart; unlike params, nobody changes it by accident


@dataclass(frozen=True)
class TrialRecord:
    """What is known of a trial.

    Attributes
    ----------
    number, params, why
        As in the `Trial`.
    state
        "pending" until told, then "complete" or "failed".
    values
        Everything measured, in the user's units; empty unless complete.
    sem
        The standard error told with a mean; None otherwise.
    failure
        Why it failed; None otherwise.
    constraints
        The values of constraints told with it, by name; a constraint holds where its value is <= 0. Empty unless
        complete, and where none were told.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", method="RandomSearch")
    >>> optimizer.tell(optimizer.ask({"x": 0.25}), [1.0, 2.0])
    >>> record = optimizer.trials[0]
    >>> record.state, record.values, record.value
    ('complete', (1.0, 2.0), 1.5)
    """

    number: int
    params: dict[str, Any]
    why: str
    state: State = "pending"
    values: tuple[float, ...] = ()
    sem: float | None = None
    failure: str | None = None
    constraints: dict[str, float] = field(default_factory=dict)

    @property
    def feasible(self) -> bool | None:
        """Whether all constraints hold, as told, noise included; None where none were told."""
        return all(value <= 0 for value in self.constraints.values()) if self.constraints else None

    @property
    def value(self) -> float | None:
        """The mean of `values`; None unless complete."""
        return sum(self.values) / len(self.values) if self.values else None
