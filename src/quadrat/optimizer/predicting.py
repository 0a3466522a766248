"""What a run's method believes of the objective at any parameters, as the user sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quadrat.errors import NotAvailable
from quadrat.methods.base import Method, Search
from quadrat.optimizer.certifying import why_not_certified
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.history import History
from quadrat.space import Space

__all__ = ["Predicted", "predictions_of"]


@dataclass(frozen=True)
class Predicted:
    """What is believed of the objective at some parameters, in the user's direction and units.

    Attributes
    ----------
    params
        The parameters.
    value
        The estimate of the objective there.
    credible_interval
        90 % of the fitted model's belief, an estimate; None where the method states assumptions instead.
    certified_interval
        Holds the objective there, and at all points and times at once, with probability 1 - delta under the stated
        assumptions; None where nothing is certified. Never both.

    Examples
    --------
    >>> from quadrat.optimizer import Optimizer
    >>> from quadrat.space import Float, Space
    >>> optimizer = Optimizer(Space(x=Float(-1, 1)), direction="minimize", seed=0)
    >>> optimizer.add_trials([{"x": i / 5} for i in range(-5, 6)], [(i / 5) ** 2 for i in range(-5, 6)])
    range(0, 11)
    >>> [at] = optimizer.predict([{"x": 0.5}])
    >>> abs(at.value - 0.25) < 0.02, at.certified_interval
    (True, None)
    """

    params: dict[str, Any]
    value: float
    credible_interval: tuple[float, float] | None
    certified_interval: tuple[float, float] | None


def predictions_of(
    space: Space,
    method: Method,
    history: History,
    direction: Direction,
    search: Search,
    params: Sequence[Mapping[str, Any]],
) -> tuple[Predicted, ...]:
    """Return what a search believes at these parameters, as the user sees it.

    Raises
    ------
    NotAvailable
        No trial is complete; the method has no model; or the data contradict it.
    InvalidInput
        Parameters that are not in the space.
    """
    points = space.to_units(params)
    if not history.count("complete"):
        raise NotAvailable(
            f"predict: expected at least one complete trial, got {history.summary()}; tell a value first"
        )
    if not len(points):
        return ()
    found = search.predict(points)
    if found is None:
        raise NotAvailable(
            "predict: expected a method with a model of the objective that the data do not contradict, got"
            f" {type(method).__name__} (certificate() says what it knows); {_who_predicts(space)}"
        )
    # As of a recommendation: intervals of a method that certifies are never a fitted model's.
    fitted = not method.facts.certifies
    certified = not fitted and why_not_certified(space, method, history) is None
    return tuple(
        Predicted(
            dict(one),
            direction.turn(mean),
            direction.turn_interval((low, high)) if fitted else None,
            direction.turn_interval((low, high)) if certified else None,
        )
        for one, mean, low, high in zip(params, *(part.tolist() for part in found), strict=True)
    )


def _who_predicts(space: Space) -> str:
    """Return what to do instead, in a space of this kind."""
    if space.contexts:
        return "in contexts LPGPUCB has one"
    if space.fidelity is not None:
        return "with fidelities none has, and recommend() says what is expected of the best setting"
    return "Auto, the default, has one"
