"""What may be told of a trial, read once and for all: values, standard errors, failures, constraints, the direction.

A constraint holds where its value is <= 0: "at most 8 GB" is told as used - 8. The names are those of the first
complete trial that has any. Every later trial has the same, unless it failed: what a failed trial says of constraints
is not kept. Trials before the first may have none: then it is not known whether the constraints hold there.

A search always maximises. Minimising f is maximising -f, so values change sign and intervals are mirrored on their way
to the search and back; differences of values (gains, certificates) are the same on both sides.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput, QuadratWarning
from quadrat.methods.base import Method, Observation
from quadrat.methods.statements import Mixture

__all__ = [
    "FAILED",
    "Direction",
    "Estimate",
    "Failed",
    "Measured",
    "Outcome",
    "Reading",
    "ReplicateWatch",
    "check_names",
    "is_several",
    "read_measured",
    "read_number",
    "read_outcome",
    "replicate_error",
]

_EXPECTED = "a number, a list of replicates, Estimate, FAILED or Measured"
_REPLICATE = "a plain number, because the entries of a list are replicates"
_MEAN = "one number beside a standard error"
_SEVERAL = (
    "several objectives are not supported yet: return one number, and tell a limit on another as a constraint with"
    " qd.Measured"
)
_WATCHED, _SCALES_APART = 8, 10.0  # see `ReplicateWatch`
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


@dataclass(frozen=True)
class Estimate:
    """A value whose standard error is known: what an objective may return, and what may be told.

    It is for a mean of many measurements, or for an instrument that states its error. Replicates that you still have go
    in a list instead: the model learns the noise from their spread.

    Attributes
    ----------
    value
        One number, in the units of the objective. NaN and infinities are failed measurements, as wherever a value is
        told, whatever `sem` is then.
    sem
        The standard error of `value`, in the same units: a positive number.

    Raises
    ------
    InvalidInput
        A value that is no number, or a standard error that is not positive and finite.

    Examples
    --------
    >>> from quadrat.optimizer import Optimizer
    >>> from quadrat.space import Float, Space
    >>> optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize")
    >>> optimizer.tell(optimizer.ask(), Estimate(0.83, 0.02))
    >>> optimizer.tell(optimizer.ask(), 0.79, sem=0.02)  # the same, in other words
    >>> [(record.value, record.sem) for record in optimizer.trials]
    [(0.83, 0.02), (0.79, 0.02)]
    """

    value: float
    sem: float

    __repr__ = printed

    def __post_init__(self) -> None:
        _read_estimate(self.value, self.sem, "Estimate: value", None)


Outcome: TypeAlias = float | Sequence[float] | Estimate | Array | Failed
"""What may be told: a number, a list or vector of replicates, an `Estimate`, or `FAILED`; a tuple is refused."""


@dataclass(frozen=True)
class Reading:
    """An outcome, checked.

    Attributes
    ----------
    values
        Everything measured, in the user's units; empty when the trial failed.
    sem, failure
        The standard error that came with a mean, and why there is no value; None where there is none of it.
    constraints
        What was told of constraints, by name, in the order of names; empty when the trial failed.
    pruned
        Whether there is no value because the trial of a study was stopped early: that is no failure of its setting.
    """

    values: tuple[float, ...] = ()
    sem: float | None = None
    failure: str | None = None
    constraints: dict[str, float] = field(default_factory=dict)
    pruned: bool = field(default=False, repr=False)


def read_outcome(outcome: object, *, sem: object = None, name: str = "outcome", reason: str | None = None) -> Reading:
    """Return what `outcome` says; `name` is what errors call it, `reason` why it failed, where it did.

    A list or vector has replicates. A tuple is refused: it may be several objectives, or a mean with its standard
    error, and only the user knows which. A value that is not finite means that the evaluation failed; so does a list
    with such a value in it. With `sem`, its standard error, the outcome is one number.

    Examples
    --------
    >>> read_outcome([1, 2])
    Reading(values=(1.0, 2.0), sem=None, failure=None, constraints={})
    >>> read_outcome(Estimate(1, 2))
    Reading(values=(1.0,), sem=2.0, failure=None, constraints={})
    >>> read_outcome(float("nan"))
    Reading(values=(), sem=None, failure='told nan', constraints={})
    """
    if type(outcome) is float and sem is None and math.isfinite(outcome):  # nearly all are, and there may be many
        return Reading((outcome,))
    if isinstance(outcome, Estimate):
        if sem is not None:
            raise InvalidInput(
                f"sem: expected it once, got {outcome!r:.80} and sem={sem!r:.80}; leave one of the two out"
            )
        return _read_estimate(outcome.value, outcome.sem, name, reason)
    if sem is not None:
        return _read_estimate(outcome, sem, name, reason)
    if isinstance(outcome, Failed):
        return Reading(failure=reason or "told FAILED")
    values = _values(outcome, name)
    wrong = [value for value in values if not math.isfinite(value)]
    if wrong:
        many = f" among {len(values)} replicates; leave out those that failed" if len(values) > 1 else ""
        return Reading(failure=reason or f"told {wrong[0]}{many}")
    if not math.isfinite(sum(values)):
        raise InvalidInput(
            f"{name}: expected replicates whose sum is finite (at most {sys.float_info.max:.2g}), got"
            f" {list(values)!r:.80}; tell them in a larger unit"
        )
    return Reading(values)


def replicate_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean of replicates; None where there is one, or none.

    Examples
    --------
    >>> replicate_error([1.0, 2.0, 3.0]), replicate_error([1e200, 3e200]), replicate_error([1.0])
    (0.5773502691896257, 1e+200, None)
    """
    count = len(values)
    if count < 2:
        return None
    mean = sum(values) / count
    try:
        squares = sum((value - mean) ** 2 for value in values)
    except OverflowError:
        squares = math.inf
    if math.isfinite(squares):
        return math.sqrt(squares / (count - 1) / count)
    return math.hypot(*(value - mean for value in values)) / math.sqrt(count * (count - 1))  # it squares nothing large


def _read_estimate(value: object, sem: object, name: str, reason: str | None) -> Reading:
    """Return a mean with its standard error."""
    if isinstance(value, Failed):
        raise InvalidInput(f"{name}: expected {_MEAN}, got FAILED; leave the standard error out")
    if isinstance(value, list) or (_is_array(value) and np.asarray(value).ndim > 0):
        raise InvalidInput(
            f"{name}: expected {_MEAN}, got replicates, {_shown(value)}; they carry their own spread: leave the"
            " standard error out, or tell their mean instead of them"
        )
    (mean,) = _values(value, name, _MEAN)
    if not math.isfinite(mean):  # then its standard error is seldom finite
        return Reading(failure=reason or f"told {mean}")
    expected = "a positive finite number, the standard error of the value"
    error = read_number(sem, "sem", expected)
    if not _SMALLEST <= error <= _LARGEST:
        if 0 < error < math.inf:
            expected += f", from {_SMALLEST:g} to {_LARGEST:g}"
        raise InvalidInput(f"sem: expected {expected}, got {sem!r:.80}; leave it out where it is not known")
    return Reading((mean,), error)


def _values(outcome: object, name: str, expected: str = _EXPECTED) -> tuple[float, ...]:
    """Return the replicates in a list or vector; one for anything that is one number."""
    entries: list[object]
    if isinstance(outcome, list):
        entries = outcome
    elif _is_array(outcome):
        array = np.asarray(outcome)
        if array.ndim > 1:
            raise InvalidInput(
                f"{name}: expected {expected}, got an array of shape {array.shape}; replicates go in a list, or in an"
                " array with one axis"
            )
        entries = list(array.reshape(-1))  # keeps NumPy scalars, so that bool and complex are still seen
        if array.ndim == 0:
            return (_one_number(entries[0], name, expected),)
    else:
        return (_one_number(outcome, name, expected),)
    if not entries:
        raise InvalidInput(
            f"{name}: expected {expected}, got nothing: {_shown(outcome)}; tell FAILED where there is no value"
        )
    label = name if len(entries) == 1 else name + "[{}]"
    return tuple(_one_number(entry, label.format(i), _REPLICATE) for i, entry in enumerate(entries))


def _is_array(outcome: object) -> bool:
    """Return whether NumPy takes it for an array: its own, a Series, a tensor; not one of NumPy's scalars."""
    return hasattr(outcome, "__array__") and not isinstance(outcome, np.generic | tuple | Mapping)


def _one_number(value: object, name: str, expected: str) -> float:
    """Return the number that an outcome, or an entry of a list of replicates, is; say in errors where the rest goes."""
    if isinstance(value, tuple):
        raise InvalidInput(_about_tuple(value, name, expected))
    if isinstance(value, Mapping):
        raise InvalidInput(f"{name}: expected {expected}, got {_shown(value)}; {_SEVERAL}")
    if isinstance(value, Estimate):
        raise InvalidInput(
            f"{name}: expected {expected}, got {value!r:.80}; an Estimate stands alone, in no other outcome"
        )
    is_many = isinstance(value, Iterable) and not isinstance(value, str | bytes | list)
    return read_number(value, name, expected, hint="; replicates go in a list" if is_many else "")


def _about_tuple(value: tuple[object, ...], name: str, expected: str) -> str:
    """Return why a tuple is refused: only the user knows what it means."""
    got = f"got a tuple of {len(value)}, {_shown(value)}"
    if expected == _REPLICATE:
        hint = "several objectives are not supported yet; qd.Estimate(mean, standard error) stands alone, in no list"
    elif not value:
        hint = "tell FAILED where there is no value"
    elif len(value) == 1:
        hint = "leave out the comma after the number; replicates go in a list"
    elif len(value) > 2:
        hint = f"replicates go in a list; {_SEVERAL}"
    else:
        return (
            f"{name}: expected one outcome, {got}. If these are two objectives: Quadrat does not optimise several"
            " objectives yet; return one number, and tell a limit on the other as a constraint with qd.Measured. If"
            " these are a mean and its standard error: return qd.Estimate(value, sem), or tell(trial, value, sem=...)."
            " Replicates go in a list."
        )
    return f"{name}: expected {expected}, {got}; {hint}"


def read_number(value: object, name: str, expected: str, *, hint: str = "") -> float:
    """Return a real number, NaN and infinities included; `expected` and `hint` say in errors what would do."""
    if not isinstance(value, bool | np.bool_ | str | bytes | complex | np.complexfloating):
        try:
            return float(value)  # type: ignore[arg-type]  # that it may not convert is what is being tested
        except Exception:  # noqa: S110  # whatever an object of somebody's raises, it is no number
            pass
    raise InvalidInput(f"{name}: expected {expected}, got {_shown(value)}{hint}")


def _shown(value: object) -> str:
    """Return how a value is written; its type where that cannot be, as of a number of 5,000 digits."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"an object of the type {type(value).__name__}"


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

    __repr__ = printed

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
    """Return what is told of a trial, its constraints included: what `read_outcome` takes, or `Measured`.

    `names` are the constraints of the run, sorted, empty as long as none were told; `method` is what is to respect
    them. A constraint that is not finite means that the evaluation failed, as it does for a value.
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
    stated: tuple[str, ...] | None = getattr(method, "constraint_names", None)  # where the first trial does not decide
    if stated is not None and sorted(told) != list(stated) and (told or reading.failure is None):
        raise InvalidInput(
            f"constraints: expected values of {_listed(stated) or 'none'}, which {type(method).__name__} guards, got"
            f" {_listed(sorted(told)) or 'none'}; name all of them in the method, and tell each with every trial"
        )
    if told or reading.failure is None:
        check_names(told, names)
    if reading.failure is not None or not told:
        return reading
    wrong = [(name, value) for name, value in told.items() if not math.isfinite(value)]
    if wrong:
        name, value = wrong[0]
        return Reading(failure=reason or f"told {value} for the constraint {name!r}")
    return replace(reading, constraints=told)


class ReplicateWatch:
    """Watches the first complete trials of a run for lists that look like several objectives, not like replicates.

    Replicates of one trial are alike, so each position in the list has about the same spread over trials. In a list
    such as [accuracy, latency] the positions have scales of their own. In each of eight trials every two positions must
    differ by more than 10 times the smaller of their spreads, and the larger spread must be more than 10 times the
    smaller. A test simulates thousands of runs with Gaussian replicates, also with an offset for each position as folds
    have: none does that.
    """

    def __init__(self) -> None:
        self._first: list[tuple[float, ...]] = []

    def see(self, reading: Reading) -> None:
        """Take in the reading of one more trial; warn where the eighth complete one makes it clear."""
        if reading.failure is None and len(self._first) < _WATCHED:
            self._first.append(reading.values)
            if len(self._first) == _WATCHED and self._look_like_objectives():
                warnings.warn(
                    f"the lists told, such as {list(reading.values)!r:.80}, are read as replicates of one number, and"
                    " their positions differ as several objectives would. If these are replicates, all is well. If they"
                    f" are objectives: {_SEVERAL}",
                    QuadratWarning,
                    stacklevel=4,
                )

    def _look_like_objectives(self) -> bool:
        count = len(self._first[0])
        if count < 2 or any(len(values) != count for values in self._first):
            return False
        told = np.array(self._first)
        spread = np.ptp(told, axis=0)
        for i, j in combinations(range(count), 2):
            least, most = sorted((spread[i], spread[j]))
            gap = np.abs(told[:, i] - told[:, j]).min()
            if not 0 < _SCALES_APART * least < min(gap, most):
                return False
        return True


def is_several(outcome: object) -> bool:
    """Return whether a tuple or a mapping came where one outcome belongs: a mistake that every trial would make."""
    return isinstance(outcome.value if isinstance(outcome, Measured) else outcome, tuple | Mapping)


def check_names(told: Collection[str], names: tuple[str, ...]) -> None:
    """Refuse constraints other than those of the run, `names`, sorted; where there are none yet, anything goes."""
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


class Direction(Enum):
    """The user's direction.

    Examples
    --------
    >>> Direction("minimize").turn(2.0), Direction("minimize").turn_interval((-1.0, 3.0))
    (-2.0, (-3.0, 1.0))
    """

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"

    @classmethod
    def read(cls, word: object) -> Direction:
        """Return the direction that `word` names; refuse any other word."""
        for direction in cls:
            if word == direction.value:
                return direction
        raise InvalidInput(f"direction: expected 'maximize' or 'minimize', got {word!r}")

    @property
    def best(self) -> str:
        """The word for the best of several values."""
        return "highest" if self is Direction.MAXIMIZE else "lowest"

    def turn(self, value: float) -> float:
        """Return a value of the user's as the search sees it, or the reverse: turning twice changes nothing."""
        # + 0.0 makes -0.0 into 0.0, so that minimising f and maximising -f see the same bits.
        return (value if self is Direction.MAXIMIZE else -value) + 0.0

    def turn_interval(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval (low, high) of values on the other side."""
        low, high = sorted(self.turn(end) for end in interval)
        return low, high

    def turn_distribution(self, belief: Mixture) -> Mixture:
        """Return what is believed of a value on the other side."""
        return belief if self is Direction.MAXIMIZE else belief.turned()

    def turn_method(self, method: Method) -> Method:
        """Return the method for values as the search sees them."""
        return method if self is Direction.MAXIMIZE else method.turned()

    def observation(self, number: int, x: Array, reading: Reading) -> Observation:
        """Return trial `number` at x, shape (D,), which was read to be complete, as the search sees it."""
        values = np.array([self.turn(value) for value in reading.values])
        variance = None if reading.sem is None else reading.sem**2
        constraints = tuple(reading.constraints.values())  # in the order of their names
        return Observation(number, x, values, variance, constraints)
