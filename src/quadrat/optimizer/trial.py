"""Trials: what is handed out, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = [
    "BestSeen",
    "State",
    "Trial",
    "TrialRecord",
    "interval_text",
    "number_text",
    "seen_text",
    "settings_text",
]


def number_text(value: float) -> str:
    """Return a number with six digits."""
    return f"{value:.6g}"


def settings_text(params: Mapping[str, Any]) -> str:
    """Return parameters with their names.

    Examples
    --------
    >>> settings_text({"lr": 1 / 3, "kind": "tree", "depth": 3})
    "lr=0.333333, kind='tree', depth=3"
    """
    return ", ".join(
        f"{name}={number_text(value) if isinstance(value, float) else repr(value)}" for name, value in params.items()
    )


def interval_text(interval: tuple[float, float] | None, note: str) -> str:
    """Return an interval with a note on what it rests on; nothing where there is none."""
    return "" if interval is None else f"{number_text(interval[0])} to {number_text(interval[1])}  ({note})"


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


@dataclass(frozen=True)
class BestSeen:
    """The luckiest observation: the trial with the best mean over its own replicates, noise included.

    Where constraints were told, it is the best of the trials in which all of them held; where they held in none, the
    one that violated them least.

    Attributes
    ----------
    number, params
        The trial.
    value
        That mean, in the user's units.
    feasible
        Whether its constraints held, as told; None in a run without constraints.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", method="RandomSearch")
    >>> optimizer.add_trials([{"x": 0.2}, {"x": 0.4}], [1.0, 0.5])
    range(0, 2)
    >>> optimizer.best_seen
    BestSeen(number=1, params={'x': 0.4}, value=0.5, feasible=None)
    """

    number: int
    params: dict[str, Any]
    value: float
    feasible: bool | None = None


def seen_text(best: BestSeen) -> str:
    """Return the best seen in a line."""
    return f"{number_text(best.value)} in trial {best.number}: {settings_text(best.params)}"
