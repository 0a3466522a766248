"""The point that a run recommends: every answer about a recommendation is about this point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat.methods.base import Incumbent
from quadrat.optimizer.run import Run
from quadrat.optimizer.trial import BestSeen
from quadrat.space.space import context_point

__all__ = ["PointToUse", "allowed_trials", "best_in_context", "point_to_use"]

_SAME_CONTEXT = 1e-9  # of an axis


@dataclass(frozen=True)
class PointToUse:
    """The point that a search recommends: on the cube, shape (D,), and as parameters that give exactly that point.

    Attributes
    ----------
    incumbent
        What the search says of it.
    x, params
        The point, and the setting.
    evaluated
        Whether a trial was there.
    """

    incumbent: Incumbent
    x: Array
    params: dict[str, Any]
    evaluated: bool


def point_to_use(run: Run, context: Array | None) -> PointToUse:
    """Return the point to use, in a context, shape (D,), where there is one."""
    incumbent = run.search.recommend(context)
    x, params, evaluated = _params_at(run, incumbent.x)
    if context is None and not run.space.feasible(params) and (tried := allowed_trials(run)):
        incumbent = _best_believed(run, tried, incumbent.certified)  # a trial was added where nothing may be evaluated
        x, params, evaluated = _params_at(run, incumbent.x)
    if incumbent.certified and (at := run.search.predict(x[None])) is not None:  # what is certified is of this point
        value, low, high = (float(part[0]) for part in at)
        incumbent = replace(incumbent, x=x, value=value, interval=(low, high))
    return PointToUse(incumbent, x, params, evaluated)


def allowed_trials(run: Run) -> list[int]:
    """Return the complete trials that the space's constraint allows; where some met what was measured, those."""
    records = [run.history.record(number) for number in run.history.numbers("complete")]
    allowed = [record for record in records if run.space.feasible(record.params)]
    met = [record for record in allowed if record.feasible is not False]
    return [record.number for record in met or allowed]


def best_in_context(run: Run, context: Mapping[str, Any], otherwise: BestSeen) -> BestSeen:
    """Return the best complete trial in a context; where there is none, the other."""
    point = context_point(run.space, context)
    assert point is not None
    given = ~np.isnan(point)
    complete = run.history.numbers("complete")
    # A result that was added keeps all its digits, a context that was asked for those that the cube keeps.
    there = [n for n in complete if (np.abs(run.history.point(n)[given] - point[given]) <= _SAME_CONTEXT).all()]
    best = run.history.best_of(there)
    return otherwise if best is None else run.history.seen(best)


def _best_believed(run: Run, numbers: Sequence[int], certified: bool) -> Incumbent:
    """Return the point of these complete trials that is believed to be best; without a model, the best mean."""
    points = np.array([run.history.point(number) for number in numbers])
    found = run.search.predict(points)
    if found is None:
        values = [run.history.values(number) for number in numbers]
        means = np.array([run.direction.turn(sum(some) / len(some)) for some in values])
        return Incumbent(points[int(np.argmax(means))], float(means.max()))
    best = int(np.argmax(found[1] if certified else found[0]))
    value, low, high = (float(part[best]) for part in found)
    return Incumbent(points[best], value, (low, high), certified)


def _params_at(run: Run, x: Array) -> tuple[Array, dict[str, Any], bool]:
    """Return the point that the parameters at x, shape (D,), stand for, the parameters, and if they were tried."""
    # As it is first: a user's own float may have more digits than rounding keeps.
    for point in (x, run.space.round(x)):
        number = run.history.first_at(point)
        if number is not None:
            return point, run.history.params(number), True
    params = run.space.from_unit(x)
    return run.space.to_unit(params), params, False
