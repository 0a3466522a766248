"""Known constraints: a user's own test of parameters, called with care."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput, NotAvailable

if TYPE_CHECKING:
    from quadrat.arrays import Array
    from quadrat.space.space import Space

__all__ = ["Feasible", "feasible_points", "passes"]

Feasible: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""From parameters to whether they may be evaluated."""

_BATCH, _BATCHES = 256, 40


def passes(feasible: Feasible, params: Mapping[str, Any]) -> bool:
    """Return what the user's test says of these parameters.

    Raises
    ------
    InvalidInput
        The test raised, or returned something that is neither true nor false.
    """
    try:
        answer = feasible(dict(params))
    except Exception as error:
        raise InvalidInput(
            f"feasible: expected True or False for {dict(params)!r:.120}, got {type(error).__name__}: {error}"
        ) from error
    if not isinstance(answer, bool | np.bool_):
        raise InvalidInput(f"feasible: expected True or False for {dict(params)!r:.120}, got {answer!r:.60}")
    return bool(answer)


def feasible_points(space: Space, count: int, rng: np.random.Generator) -> Array:
    """Return rounded points of the cube, (count, D), uniform among those that may be evaluated.

    Raises
    ------
    NotAvailable
        Ten thousand uniform points in a row did not pass.
    """
    found: list[Array] = []
    in_vain = 0
    while len(found) < count:
        points = space.round(rng.random((_BATCH, space.dimension)))
        passed = list(points[space.allowed(points)])
        found += passed
        in_vain = 0 if passed else in_vain + 1
        if in_vain == _BATCHES:
            raise NotAvailable(
                f"space: expected a feasible setting among {_BATCH * _BATCHES:,} uniform ones, got none; narrow the"
                " bounds to where feasible() can be true"
            )
    return np.array(found[:count]).reshape(count, space.dimension)
