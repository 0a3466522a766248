"""What may be told of a trial, read once and for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

import numpy as np

from quadrat.arrays import Array, as_number
from quadrat.errors import InvalidInput

__all__ = ["FAILED", "Failed", "Outcome", "Reading", "read_number", "read_outcome"]

_EXPECTED = "a number, a list of replicates, a tuple (mean, standard error), FAILED or Measured"
_SMALLEST, _LARGEST = 1e-150, 1e150  # standard errors whose squares are still ordinary numbers


class Failed(Enum):
    """Tell this for an evaluation that gave no value: it crashed, diverged or was not possible there.

    An enumeration of one, so that it is still the same object after a trip to another process.
    """

    FAILED = "failed"

    def __repr__(self) -> str:
        return "FAILED"


FAILED: Final = Failed.FAILED
"""What to tell, or to return from an objective, where an evaluation gave no value; it is the same object everywhere."""

Outcome: TypeAlias = float | Sequence[float] | tuple[float, float] | Array | Failed
"""What may be told: a number, a list or vector of replicates, a tuple (mean, standard error), or `FAILED`."""


@dataclass(frozen=True)
class Reading:
    """An outcome, checked.

    Attributes
    ----------
    values
        Everything measured, in the user's units; empty when the trial failed.
    sem
        The standard error that came with a mean; None otherwise.
    failure
        Why there is no value; None when there is.
    constraints
        What was told of constraints, by name, in the order of names; empty when nothing was, or when the trial failed.
    """

    values: tuple[float, ...] = ()
    sem: float | None = None
    failure: str | None = None
    constraints: dict[str, float] = field(default_factory=dict)


def read_outcome(outcome: object, *, name: str = "outcome", reason: str | None = None) -> Reading:
    """Return what `outcome` says.

    A tuple of two is always (mean, standard error of that mean), a list or vector of two is always two replicates. A
    value that is not finite means that the evaluation failed; so does a list with such a value in it.

    Parameters
    ----------
    outcome
        See above; NumPy scalars, arrays of shape () and (r,), and whatever else float() takes are numbers.
    name
        What to call it in errors.
    reason
        Why it failed, where it did.

    Raises
    ------
    InvalidInput
        Anything else: a bool, a string, None, a complex number, an empty list, a standard error that is not positive.

    Examples
    --------
    >>> read_outcome([1, 2])
    Reading(values=(1.0, 2.0), sem=None, failure=None, constraints={})
    >>> read_outcome((1, 2))
    Reading(values=(1.0,), sem=2.0, failure=None, constraints={})
    >>> read_outcome(float("nan"))
    Reading(values=(), sem=None, failure='told nan', constraints={})
    """
    if type(outcome) is float and math.isfinite(outcome):  # nearly all are, and there may be many
        return Reading((outcome,))
    if isinstance(outcome, Failed):
        return Reading(failure=reason or "told FAILED")
    values: tuple[float, ...]
    if isinstance(outcome, tuple):
        if len(outcome) != 2:
            raise InvalidInput(
                f"{name}: expected a tuple (mean, standard error), got {len(outcome)} entries: {outcome!r:.80};"
                " replicates go in a list"
            )
        values, sem = (read_number(outcome[0], f"{name}: mean"),), outcome[1]
        if math.isfinite(values[0]):  # where the mean is not finite, its standard error seldom is
            sem = as_number(sem, name=f"{name}: standard error", at_least=_SMALLEST, at_most=_LARGEST)
    else:
        values, sem = _values(outcome, name), None
    wrong = [value for value in values if not math.isfinite(value)]
    if wrong:
        many = f" among {len(values)} replicates" if len(values) > 1 else ""
        return Reading(failure=reason or f"told {wrong[0]}{many}")
    return Reading(values, sem)


def _values(outcome: object, name: str) -> tuple[float, ...]:
    """Return the replicates in a list or vector; one for anything that is one number."""
    entries: list[object]
    if isinstance(outcome, list):
        entries = outcome
    elif not isinstance(outcome, np.generic) and hasattr(outcome, "__array__"):
        array = np.asarray(outcome)
        if array.ndim > 1:
            raise InvalidInput(f"{name}: expected {_EXPECTED}, got an array of shape {array.shape}; flatten it")
        entries = list(array.reshape(-1))  # keeps NumPy scalars, so that bool and complex are still seen
    else:
        return (read_number(outcome, name),)
    if not entries:
        raise InvalidInput(
            f"{name}: expected {_EXPECTED}, got nothing: {outcome!r}; tell FAILED where there is no value"
        )
    label = name if len(entries) == 1 else name + "[{}]"
    return tuple(read_number(entry, label.format(i)) for i, entry in enumerate(entries))


def read_number(value: object, name: str, expected: str = _EXPECTED) -> float:
    """Return a real number, NaN and infinities included; `expected` says in errors what else would do."""
    if not isinstance(value, bool | np.bool_ | str | bytes | complex | np.complexfloating):
        try:
            return float(value)  # type: ignore[arg-type]  # that it may not convert is what is being tested
        except (TypeError, ValueError, OverflowError):
            pass
    raise InvalidInput(f"{name}: expected {expected}, got {value!r:.80}")
