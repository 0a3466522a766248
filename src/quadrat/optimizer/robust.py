"""A recommendation that is good also where it is missed, from the results of any run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.methods.robust.choice import robust_choice
from quadrat.optimizer.history import History
from quadrat.optimizer.outcome import Direction
from quadrat.optimizer.reports import Recommendation, WorstCase
from quadrat.optimizer.run import domain_of
from quadrat.optimizer.stated import too_few_trials
from quadrat.optimizer.trial import BestSeen
from quadrat.space import Space

__all__ = ["robust_recommendation"]

_LARGEST = 0.5  # of a parameter's range, to each side


def robust_recommendation(
    space: Space, history: History, direction: Direction, robust_to: object, best: BestSeen, seed: int
) -> Recommendation:
    """Return the point whose worst case within reach is believed to be best; for `robust_to` see `Optimizer`.

    A trial that failed counts as one with the worst value told: a setting next to which trials crash is not robust.
    """
    if space.contexts or space.fidelity is not None:
        raise InvalidInput("robust_to: expected a space without contexts and fidelities, got one with them")
    if history.constraint_names:
        raise InvalidInput(
            f"robust_to: expected a run without constraints, got {', '.join(history.constraint_names)}: what is robust"
            " may violate them"
        )
    radius = _radius(space, robust_to)
    readings = [(number, history.record(number)) for number in history.numbers("complete")]
    x = np.array([history.point(number) for number, record in readings for _ in record.values])
    y = np.array([direction.turn(value) for _, record in readings for value in record.values])
    variances = np.array(
        [np.nan if record.sem is None else record.sem**2 for _, record in readings for _ in record.values]
    )
    failed = history.numbers("failed")
    if failed:
        x = np.vstack([x, [history.point(number) for number in failed]])
        y = np.append(y, np.full(len(failed), y.min()))
        variances = np.append(variances, np.full(len(failed), np.nan))
    chosen = robust_choice(domain_of(space), x, y, variances, radius, seed)
    params = space.from_unit(chosen.point)
    worst = WorstCase(
        direction.turn(chosen.worst), direction.turn_interval(chosen.worst_interval), space.from_unit(chosen.worst_at)
    )
    return Recommendation(
        params=params,
        value=direction.turn(chosen.belief.value),
        certified_interval=None,
        credible_interval=direction.turn_interval(chosen.belief.interval()),
        gain=None,
        best_seen=best,
        why=f"Chosen for its worst case within reach, {worst.value:.6g}, by a model fitted to all results.",
        worst_case=worst,
        distribution=direction.turn_distribution(chosen.belief),
        too_few=too_few_trials(len(params), history, chosen.belief.interval()),
    )


def _radius(space: Space, robust_to: object) -> Array:
    """Return half-sides of the box, shape (D,)."""
    floats = [name for name in space.axes if name not in space.discontinuous]
    if not floats:
        raise InvalidInput(
            "robust_to: expected a space with a Float without steps or conditions, since other parameters are not "
            f"missed by a little, got {', '.join(space.axes)}"
        )
    if not isinstance(robust_to, Mapping):
        size = as_number(robust_to, name="robust_to", above=0.0, at_most=_LARGEST)
        return np.array([size if name in floats else 0.0 for name in space.axes])
    sizes: Mapping[str, Any] = robust_to
    for name in sizes:
        if name not in floats:
            raise InvalidInput(f"robust_to: expected names of {', '.join(floats)}, which vary freely, got {name!r}")
    found = np.array(
        [
            as_number(sizes.get(name, 0.0), name=f"robust_to: {name}", at_least=0.0, at_most=_LARGEST)
            for name in space.axes
        ]
    )
    if not found.any():
        raise InvalidInput(
            f"robust_to: expected a share > 0 for at least one of {', '.join(floats)}, got {dict(sizes)!r}; for the "
            "best point itself leave robust_to out"
        )
    return found
