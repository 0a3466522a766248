"""Many finished trials, checked against the space: what is added at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.measured import read_measured
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.past_study import is_study, past_trials_in_study
from quadrat.optimizer.past_table import is_table, past_trials_in_table
from quadrat.optimizer.past_trials import PastTrials, past_trials
from quadrat.space import Space

__all__ = ["Batch", "gather_batch", "plain_params"]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Batch:
    """Finished trials in order, one entry for each in every field.

    Attributes
    ----------
    params
        The parameters that exist, by name, as Python's own objects.
    x
        The points on the unit cube, shape (n, D).
    readings
        The outcomes.
    """

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

    Parameters
    ----------
    params, values, constraints, skip_outside
        As in `Optimizer.add_trials`.
    space, direction, method
        Those of the run.
    names
        The constraints of the run so far, sorted; empty as long as none were told.

    Raises
    ------
    InvalidInput
        Whatever is not as `Optimizer.add_trials` says; the message names the trial.
    """
    past = _gathered(params, values, constraints, space, direction, method)
    try:
        x = space.to_units(past.params)
    except InvalidInput:
        past = _inside(past, space, skip_outside=skip_outside)
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
    described = f"{past.labels[wrong[0]]}: {_why_outside(past.params[wrong[0]], space)}"
    if not skip_outside:
        raise InvalidInput(f"{described}; skip_outside=True leaves such trials out")
    _logger.warning("left out %d of %d trials, the first: %s", len(wrong), len(past), described)
    return past.without(wrong)


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
