"""Results from before the run: gathered from lists, tables or an Optuna study, and checked against the space.

A study is known by what it has, so that Optuna is not needed here.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol, TypeGuard

import numpy as np

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer.outcome import FAILED, Direction, Estimate, Outcome, Reading, read_measured
from quadrat.space import Space
from quadrat.space.parameter import Parameter

__all__ = [
    "REPLICATES",
    "STANDARD_ERROR",
    "Batch",
    "PastTrials",
    "Study",
    "Table",
    "cells",
    "constraints_of",
    "gather_batch",
    "is_missing",
    "is_study",
    "is_table",
    "outcome_of",
    "past_trials",
    "past_trials_in_study",
    "past_trials_in_table",
    "plain_params",
    "standard_error_of",
    "values_of",
]


@dataclass(frozen=True)
class PastTrials:
    """Trials that were evaluated elsewhere: one entry for each in every field.

    Outcomes and constraints are what `Optimizer.add` takes; a reason says why a trial failed, where that is known; a
    label is what errors call it, such as "row 3".
    """

    params: Sequence[Mapping[str, Any]]
    outcomes: Sequence[object]
    constraints: Sequence[object]
    reasons: Sequence[str | None]
    labels: Sequence[str]

    def __len__(self) -> int:
        return len(self.params)

    def without(self, positions: Iterable[int]) -> PastTrials:
        """Return all but those at `positions`."""
        dropped = set(positions)
        kept = [i not in dropped for i in range(len(self))]
        return PastTrials(
            list(compress(self.params, kept)),
            list(compress(self.outcomes, kept)),
            list(compress(self.constraints, kept)),
            list(compress(self.reasons, kept)),
            list(compress(self.labels, kept)),
        )


def past_trials(params: object, outcomes: object, constraints: object, *, entry: str = "entry") -> PastTrials:
    """Return trials whose parameters, outcomes and constraints come as three collections of equal length.

    What is missing in a Series counts as NaN. `constraints` may be None, or have None for a trial without any; `entry`
    is what errors call a trial.
    """
    rows = _as_list(params, "params", "a list of mappings from names to values")
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInput(f"params[{i}]: expected a mapping from names to values, got {row!r:.80}")
    values = _as_list(outcomes, "values", "a list of outcomes, one for each of params")
    _check_length(values, "values", rows)
    told: list[Any] = [None] * len(rows)
    if constraints is not None:
        told = _as_list(constraints, "constraints", "a list of mappings from names to numbers, one for each of params")
        _check_length(told, "constraints", rows)
    labels = [f"{entry} {i}" for i in range(len(rows))]
    return PastTrials(rows, values, told, [None] * len(rows), labels)


def cells(column: Any) -> list[Any] | None:
    """Return the entries of an array, or of a column of a table, as a list; None for whatever is neither."""
    for name in ("tolist", "to_list"):
        convert = getattr(column, name, None)
        if callable(convert):
            entries = convert()
            return entries if isinstance(entries, list) else None
    return None


def is_missing(cell: object) -> bool:
    """Return whether a cell of a table is empty: None, NaN, or one of the marks that tables have for it."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # NaN and NaT differ from themselves
    except TypeError:  # a mark that refuses to say so of itself
        return True
    except ValueError:  # an array
        return False


def _as_list(given: Any, name: str, expected: str) -> list[Any]:
    if isinstance(given, list):
        return given
    entries = cells(given)
    if entries is not None:
        if isinstance(given, np.ndarray):
            return entries
        return [math.nan if is_missing(entry) else entry for entry in entries]  # columns mark what they do not have
    one = isinstance(given, Mapping | str | bytes) or hasattr(given, "columns") or getattr(given, "ndim", 1) == 0
    if one or not isinstance(given, Iterable):
        got = f"{given!r:.80}"
        if hasattr(given, "columns"):
            got = f"a {type(given).__name__}; to_dict('records') makes such a list of it"
        elif isinstance(given, Mapping) and name == "params":
            got += "; one trial goes through add(params, outcome)"
        raise InvalidInput(f"{name}: expected {expected}, got {got}")
    return list(given)


def _check_length(entries: Sequence[object], name: str, rows: Sequence[object]) -> None:
    if len(entries) != len(rows):
        raise InvalidInput(
            f"{name}: expected {len(rows)}, one for each trial in params, got {len(entries)}; where there is none, put"
            f" {'None' if name == 'constraints' else 'FAILED'}"
        )


_STATES = ("COMPLETE", "PRUNED", "FAIL", "RUNNING", "WAITING")
_FAILURES = {"COMPLETE": None, "FAIL": "failed in the study"}
_logger = logging.getLogger(__name__)


class Study(Protocol):
    """What of a study is looked at; beside it `directions` or `direction`."""

    @property
    def trials(self) -> Sequence[Any]:
        """Trials with `number`, `state`, `params` and `value`."""


def is_study(given: object) -> TypeGuard[Study]:
    """Return whether `given` is a study."""
    return hasattr(given, "trials") and (hasattr(given, "directions") or hasattr(given, "direction"))


def past_trials_in_study(study: Study, direction: Direction, method: Method) -> PastTrials:
    """Return the complete and failed trials of a study; those that run or wait, or were pruned, are left out.

    A pruned trial has no result: what it reported last is not what it was to measure. How many there are is logged, and
    where the method certifies they are refused. Constraints are taken along: a study means the same by them, numbers
    that are <= 0 where they hold. Several objectives, or another direction, are refused.
    """
    _check_direction(study, direction)
    trials = [(trial, _state(trial)) for trial in _trials(study)]
    pruned = sum(state == "PRUNED" for _, state in trials)
    if pruned and method.facts.certifies:
        raise InvalidInput(
            f"study: expected no pruned trials for {type(method).__name__}, which certifies, got {pruned}: a pruner"
            " goes by the values seen, and a certificate needs all of them; use a method that does not certify, such as"
            " Auto"
        )
    if pruned:
        _logger.warning("left out %d of %d trials, which were pruned and have no result", pruned, len(trials))
    finished = [(trial, state) for trial, state in trials if state in _FAILURES]
    outcomes = [  # a value that is none, or not finite, is refused or fails as anything else that is told
        trial.value if state == "COMPLETE" and values_of(trial) is None else outcome_of(trial)
        for trial, state in finished
    ]
    return PastTrials(
        [trial.params for trial, _ in finished],
        outcomes,
        [constraints_of(trial) or None for trial, _ in finished],
        [_FAILURES[state] for _, state in finished],
        [f"trial {trial.number}" for trial, _ in finished],
    )


def _check_direction(study: Any, direction: Direction) -> None:
    given = list(study.directions) if hasattr(study, "directions") else [study.direction]
    words = [str(getattr(word, "name", word)).lower() for word in given]
    if len(words) != 1:
        raise InvalidInput(
            f"study: expected one objective, got {len(words)} ({', '.join(words)}); pass lists instead,"
            " add_trials([t.params for t in trials], [t.values[0] for t in trials])"
        )
    if words[0] != direction.value:
        raise InvalidInput(
            f"study: expected direction {direction.value!r}, as the optimizer has, got {words[0]!r}; make the Optimizer"
            " with the direction of the study"
        )


def _trials(study: Any) -> Sequence[Any]:
    get = getattr(study, "get_trials", None)
    trials: Sequence[Any] = get(deepcopy=False) if callable(get) else study.trials  # `trials` copies every one
    return trials


def _state(trial: Any) -> str:
    state = str(getattr(trial.state, "name", trial.state))
    if state not in _STATES:
        raise InvalidInput(
            f"study: expected trials in the states of Optuna, {', '.join(_STATES)}, got {trial.state!r:.80}; other"
            " results go in as lists of params and values"
        )
    return state


REPLICATES = "quadrat:values"
"""The user attribute of a trial with everything that was measured in it, a list; its value is their mean."""

STANDARD_ERROR = "quadrat:sem"
"""The user attribute of a trial with the standard error of its value."""


def values_of(trial: Any) -> list[float] | None:
    """Return what was measured in a complete trial; None for any other.

    The reports of a pruned trial are no result: it was stopped before what it was to measure. Optuna keeps the last of
    them as its value.
    """
    if _state(trial) != "COMPLETE":
        return None
    replicates = getattr(trial, "user_attrs", {}).get(REPLICATES)
    if isinstance(replicates, list) and replicates:
        values = [float(value) for value in replicates]
    else:
        values = [] if trial.value is None else [float(trial.value)]
    return values if values and math.isfinite(sum(values)) else None  # of large ones, the mean may be none


def standard_error_of(trial: Any) -> float | None:
    """Return the standard error that was told with a trial's value, or None."""
    sem = getattr(trial, "user_attrs", {}).get(STANDARD_ERROR)
    return float(sem) if isinstance(sem, int | float) and 0 < sem <= sys.float_info.max else None


def outcome_of(trial: Any) -> Outcome:
    """Return the outcome of a trial that is over, as `Optimizer.tell` takes it."""
    values, sem = values_of(trial), standard_error_of(trial)
    if values is None:
        return FAILED
    return values if sem is None else Estimate(sum(values) / len(values), sem)


def constraints_of(trial: Any) -> Mapping[str, float]:
    """Return the constraints of a trial of Optuna's by name; nothing where it has none."""
    named = getattr(trial, "constraints", None)
    if named is None:  # Optuna 4 keeps a list, which Optuna 5 reads with these names
        unnamed = getattr(trial, "system_attrs", {}).get("constraints") or ()
        named = {str(i): value for i, value in enumerate(unnamed)}
    # None stands where a program died that told it, and another told the trial anew.
    return {name: value for name, value in (named or {}).items() if value is not None}


class Table(Protocol):
    """Columns by name, each of which turns into a list by `tolist` or `to_list`."""

    @property
    def columns(self) -> Iterable[Any]:
        """The names of the columns, in order."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return one column."""


def is_table(given: object) -> TypeGuard[Table]:
    """Return whether `given` is a table."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__") and not isinstance(given, Mapping)


def past_trials_in_table(table: Table, values: object, constraints: object, space: Space) -> PastTrials:
    """Return the trials in the rows of a table with one column for each parameter.

    `values` is the name of one further column, or has an outcome for each row; what is missing counts as NaN. A cell
    that is missing belongs to a parameter that does not exist in that trial; or it is None, where the parameter exists
    and can be None. A Series in another order than the table is refused.
    """
    names = list(table.columns)
    if isinstance(values, str):
        if values not in names:
            raise InvalidInput(
                f"values: expected outcomes, or the name of the column that has them, got {values!r}; the table has"
                f" {_listed(names)}"
            )
        names = [name for name in names if name != values]
        values = table[values]
    else:
        _check_same_rows(table, values)
    _check_columns(names, space)
    rows = _rows({name: cells(table[name]) for name in names}, space)
    return past_trials(rows, values, constraints, entry="row")


def _check_columns(names: list[Any], space: Space) -> None:
    unknown = [name for name in names if name not in space]
    if unknown:
        raise InvalidInput(
            f"params: expected columns that are parameters of the space, {_listed(space)}, got also {_listed(unknown)};"
            " drop these, or name the one that has the outcomes: add_trials(table, 'its name')"
        )
    if len(set(names)) < len(names):
        raise InvalidInput(f"params: expected one column for each parameter, got {_listed(names)}")
    missing = [name for name, parameter in space.items() if parameter.when is None and name not in names]
    if missing:
        raise InvalidInput(
            f"params: expected a column for every parameter, got none for {_listed(missing)}; the table has"
            f" {_listed(names)}"
        )


def _check_same_rows(table: object, values: object) -> None:
    """Refuse a Series that has other row labels than the table: matched by position, it would tell wrong outcomes."""
    ours, theirs = getattr(table, "index", None), getattr(values, "index", None)
    same = getattr(ours, "equals", None)
    if callable(same) and hasattr(theirs, "equals") and not same(theirs):
        raise InvalidInput(
            "values: expected a Series with the index of the table, got one with another; put it in the table as a"
            " column, or pass values.to_numpy() if the order of rows is the same"
        )


def _rows(columns: Mapping[str, list[Any] | None], space: Space) -> list[dict[str, Any]]:
    """Return the parameters in each row, those that exist."""
    given = {name: column for name, column in columns.items() if column is not None}
    if len(given) < len(columns):
        wrong = _listed(name for name in columns if name not in given)
        raise InvalidInput(
            f"params: expected columns of a table, which turn into lists, got something else for {wrong}"
        )
    rows: list[dict[str, Any]] = [{} for _ in range(max(map(len, given.values()), default=0))]
    missing: dict[str, list[int]] = {}
    for name, column in given.items():
        missing[name] = []
        for i, cell in enumerate(column):
            if is_missing(cell):
                missing[name].append(i)
            else:
                rows[i][name] = cell
    for name, positions in missing.items():
        if positions and not math.isnan(space[name].read([None])[0]):
            for i in positions:
                if _exists(name, rows[i], space):
                    rows[i][name] = None
    return rows


def _exists(name: str, row: Mapping[str, Any], space: Space) -> bool:
    """Return whether a parameter exists, given its parents in `row`; a parent that is not there may be None."""
    conditions = space[name].when or {}
    return all(_exists(parent, row, space) and row.get(parent) in allowed for parent, allowed in conditions.items())


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(repr, names)) or "no columns"


@dataclass(frozen=True)
class Batch:
    """Finished trials in order: parameters that exist, as Python's own objects; points, shape (n, D); outcomes."""

    params: Sequence[dict[str, Any]]
    x: Array
    readings: Sequence[Reading]

    def __len__(self) -> int:
        return len(self.params)

    def part(self, start: int, stop: int) -> Batch:
        """Return the trials from `start` up to `stop`."""
        return Batch(self.params[start:stop], self.x[start:stop], self.readings[start:stop])


def gather_batch(
    params: object,
    values: object,
    constraints: object,
    *,
    space: Space,
    direction: Direction,
    names: tuple[str, ...],
    method: Method,
    skip_outside: bool,
) -> Batch:
    """Return trials that were evaluated elsewhere, checked as if they were told one after another.

    The first arguments are those of `Optimizer.add_trials`, the others the run's; `names` are its constraints so far,
    sorted. Errors name the trial.
    """
    past = _gathered(params, values, constraints, space, direction, method)
    try:
        x = space.to_units(past.params)
    except InvalidInput:
        past = _inside(_ended(past, space), space, skip_outside=skip_outside)
        x = space.to_units(past.params)
    readings = []
    told = zip(past.outcomes, past.constraints, past.reasons, past.labels, strict=True)
    for outcome, measured, reason, label in told:
        try:
            reading = read_measured(outcome, measured, names=names, method=method, reason=reason)
        except InvalidInput as error:
            raise InvalidInput(f"{label}: {error}") from None
        names = names or tuple(reading.constraints)
        readings.append(reading)
    return Batch(plain_params(past.params, space), x, readings)


def _gathered(
    params: object, values: object, constraints: object, space: Space, direction: Direction, method: Method
) -> PastTrials:
    if is_table(params):  # first: a table may have columns called "trials" and "direction"
        return past_trials_in_table(params, values, constraints, space)
    if is_study(params):
        if values is not None or constraints is not None:
            raise InvalidInput("values, constraints: expected none beside a study, which has its own; leave them out")
        return past_trials_in_study(params, direction, method)
    return past_trials(params, values, constraints)


def _inside(past: PastTrials, space: Space, *, skip_outside: bool) -> PastTrials:
    """Return the trials whose parameters are in the space, or refuse the first of the others."""
    wrong = _outside(past.params, space)
    if not wrong:
        return past
    described = f"{past.labels[wrong[0]]}: {_why_outside(past.params[wrong[0]], space)}"
    if not skip_outside:
        raise InvalidInput(f"{described}; skip_outside=True leaves such trials out")
    _logger.warning("left out %d of %d trials, the first: %s", len(wrong), len(past), described)
    return past.without(wrong)


def _ended(past: PastTrials, space: Space) -> PastTrials:
    """Return the trials without those of a study that failed before they asked for all of their parameters."""
    failed = [i for i, reason in enumerate(past.reasons) if reason == _FAILURES["FAIL"]]
    early = [i for i in failed if _is_part(past.params[i], space)]
    if early:
        _logger.warning("left out %d of %d trials, which failed before they had all parameters", len(early), len(past))
    return past.without(early)


def _is_part(given: Mapping[str, Any], space: Space) -> bool:
    """Return whether parameters are valid, as far as there are any, but not all that exist."""
    if not given.keys() <= space.keys() or any(np.isnan(space[name].read([given[name]])[0]) for name in given):
        return False
    lacking: list[str] = []

    def value(name: str, parameter: Parameter) -> Any:
        if name not in given:
            lacking.append(name)
        return given.get(name, parameter.show(parameter.decode(np.full(1, 0.5)))[0])

    return given.keys() <= space.choose_each(value).keys() and bool(lacking)


def _outside(params: Sequence[Mapping[str, Any]], space: Space) -> list[int]:
    """Return the positions of all `params` that are not in the space, ascending."""
    wrong = {i for i, given in enumerate(params) if not given.keys() <= space.keys()}
    for name, parameter in space.items():
        there = [i for i, given in enumerate(params) if name in given]
        codes = parameter.read([params[i][name] for i in there])
        wrong.update(compress(there, np.isnan(codes)))
        if parameter.when is None and len(there) < len(params):
            wrong.update(set(range(len(params))).difference(there))
    rest = [i for i in range(len(params)) if i not in wrong]
    wrong.update(_misplaced(params, rest, space))
    return sorted(wrong)


def _misplaced(params: Sequence[Mapping[str, Any]], positions: list[int], space: Space) -> Iterator[int]:
    """Yield those of `positions` where a parameter is given that does not exist, or is missing although it does.

    All are checked at once and halved where something is wrong, so that few mistakes among many cost little.
    """
    try:
        space.to_units(params[i] for i in positions)
    except InvalidInput:
        if len(positions) == 1:
            yield positions[0]
            return
        middle = len(positions) // 2
        yield from _misplaced(params, positions[:middle], space)
        yield from _misplaced(params, positions[middle:], space)


def _why_outside(params: Mapping[str, Any], space: Space) -> str:
    try:
        space.to_unit(params)
    except InvalidInput as error:
        return str(error)
    raise AssertionError("what to_units refuses, to_unit refuses")


def plain_params(params: Sequence[Mapping[str, Any]], space: Space) -> list[dict[str, Any]]:
    """Return parameters of the space as Python's own objects, in the order of the space.

    NumPy's scalars and integers that a table turned into floats become what JSON holds; floats keep every bit.
    """
    rows: list[dict[str, Any]] = [{} for _ in params]
    for name, parameter in space.items():
        there = [i for i, given in enumerate(params) if name in given]
        values = parameter.show(parameter.read([params[i][name] for i in there]))
        for i, value in zip(there, values, strict=True):
            rows[i][name] = value
    return rows
