"""Constraints whose values are told with the trial: how they are told, and what is refused.

A constraint holds where its value is <= 0: "at most 8 GB" is told as used - 8. The names are those of the first
complete trial that has any. Every later trial has the same, unless it failed: what a failed trial says of constraints
is not kept. Trials before the first may have none: then it is not known whether the constraints hold there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer.outcome import Outcome, Reading, read_number, read_outcome

__all__ = ["Measured", "check_names", "read_measured"]

_NUMBER = "a number, <= 0 where the constraint holds"


@dataclass(frozen=True)
class Measured:
    """A value and, beside it, how far each constraint is from its limit: what an objective may return.

    Attributes
    ----------
    value
        A number, a list of replicates, an `Estimate` or `FAILED`.
    constraints
        A number for each constraint, by name, <= 0 where it holds; the same names in every trial.

    Examples
    --------
    >>> Measured(0.93, {"memory": 6.5 - 8.0, "latency": 12.0 - 10.0})  # at most 8 GB, at most 10 ms
    Measured(value=0.93, constraints={'memory': -1.5, 'latency': 2.0})
    """

    value: Outcome
    constraints: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.constraints, Mapping):  # what is not one is refused by the optimizer, which names the trial
            object.__setattr__(self, "constraints", dict(self.constraints))


def read_measured(
    outcome: object,
    constraints: object = None,
    *,
    sem: object = None,
    names: tuple[str, ...],
    method: Method,
    reason: str | None = None,
) -> Reading:
    """Return what is told of a trial, its constraints included.

    Parameters
    ----------
    outcome
        What `read_outcome` takes, or `Measured`.
    constraints
        A mapping from names to numbers, where `outcome` brings none; None and an empty one are alike. A number that is
        not finite means that the evaluation failed, as it does for a value.
    sem
        The standard error of the value, where `outcome` brings none; None where it is not known.
    names
        The constraints of the run, sorted; empty as long as none were told.
    method
        What is to respect them.
    reason
        Why it failed, where it did.

    Raises
    ------
    InvalidInput
        An outcome or constraints that are none, other names than before, or a method that would ignore them.
    """
    if isinstance(outcome, Measured):
        if constraints is not None:
            raise InvalidInput(
                f"constraints: expected them once, got {outcome!r:.80} and constraints={constraints!r:.80};"
                " leave one of the two out"
            )
        constraints, outcome = outcome.constraints, outcome.value
    told = _read_constraints(constraints)
    if told and "constraints" not in method.facts.handles:
        raise InvalidInput(
            f"constraints: expected a method that handles them, got {type(method).__name__}, which would ignore them;"
            " use Auto, the default"
        )
    reading = read_outcome(outcome, sem=sem, reason=reason)
    if told or reading.failure is None:
        check_names(told, names)
    if reading.failure is not None or not told:
        return reading
    wrong = [(name, value) for name, value in told.items() if not math.isfinite(value)]
    if wrong:
        name, value = wrong[0]
        return Reading(failure=reason or f"told {value} for the constraint {name!r}")
    return replace(reading, constraints=told)


def check_names(told: Collection[str], names: tuple[str, ...]) -> None:
    """Refuse constraints other than those of the run.

    Parameters
    ----------
    told
        The names told with a trial.
    names
        The constraints of the run, sorted; where there are none yet, anything goes.

    Raises
    ------
    InvalidInput
        The message has both, and how to mend it.
    """
    if names and sorted(told) != list(names):
        raise InvalidInput(
            f"constraints: expected values of {_listed(names)}, as in the first trial that had constraints, got"
            f" {_listed(sorted(told)) or 'none'}; tell the same ones with every trial, or FAILED where they could not"
            " be measured; results without constraints can only be told before that trial"
        )


def _read_constraints(constraints: object) -> dict[str, float]:
    """Return the numbers by name, in the order of names, whatever order they were told in."""
    if constraints is None:
        return {}
    if not isinstance(constraints, Mapping):
        raise InvalidInput(
            "constraints: expected a mapping from names to numbers, such as {'memory': used - limit} (a constraint"
            f" holds where its number is <= 0), got {constraints!r:.80}"
        )
    for name in constraints:
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"constraints: expected names that are texts, such as 'memory', got {name!r:.80}")
    return {name: _read_one(constraints[name], f"constraints[{name!r}]") for name in sorted(constraints)}


def _read_one(value: object, label: str) -> float:
    if getattr(value, "ndim", 0):
        raise InvalidInput(f"{label}: expected {_NUMBER}, got an array of shape {getattr(value, 'shape', None)}")
    return read_number(value, label, _NUMBER)


def _listed(names: Collection[str]) -> str:
    return ", ".join(map(repr, names))
