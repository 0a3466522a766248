"""A substitute for a proposal that may not be evaluated: not feasible, being evaluated already, or failed.

Methods choose on the cube and cannot know which of its points are one and the same setting. Where a space has integers,
categories or steps, two proposals that look different may be equal: a parallel worker would repeat another's work, and
a setting that crashed would be tried again. And most methods know nothing of a space's own constraint.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quadrat.arrays import Array
from quadrat.space import Space
from quadrat.space.constraint import feasible_points, listed_settings

__all__ = ["feasible_in_context", "feasible_point", "free_point"]

# Radii, of the axis, and how many points are tried within them: near ones first, because what the method wanted is near
# its proposal; and many anywhere, because in a small space all but one may be taken.
_TRIES = {0.05: 16, 0.1: 16, 0.2: 16, 0.4: 16, 1.0: 1024}
_BATCH, _BATCHES = 256, 80  # uniform points of a context that are tried at a time, and how often


def free_point(
    space: Space,
    x: Array,
    is_taken: Callable[[Array], bool],
    rng: np.random.Generator,
    context: Array | None = None,
) -> Array | None:
    """Return a feasible rounded point near `x` that is not taken; None when none was found.

    Parameters
    ----------
    space
        What rounds.
    x
        The proposal, shape (D,).
    is_taken
        Says of a rounded point, shape (D,), whether it is to be avoided.
    rng
        The stream to draw from.
    context
        Coordinates, shape (D,), that the point must have, NaN where it is free; None where it is free everywhere.
    """
    for radius, tries in _TRIES.items():
        steps = rng.uniform(-radius, radius, size=(tries, space.dimension))
        nearby = np.clip(x + steps, 0.0, 1.0)
        if context is not None:
            nearby = np.where(np.isnan(context), nearby, context)
        nearby = space.round(nearby)
        free = np.array([row for row in nearby[space.allowed(nearby)] if not is_taken(row)])
        if len(free):
            nearest: Array = free[int(np.argmin(((free - x) ** 2).sum(axis=1)))]
            return nearest
    return None


def feasible_in_context(space: Space, context: Array, rng: np.random.Generator) -> Array | None:
    """Return a feasible rounded point, shape (D,), of a context as of `free_point`; None where 20,480 are not."""
    for _ in range(_BATCHES):
        points = rng.random((_BATCH, space.dimension))
        points = space.round(np.where(np.isnan(context), points, context))
        allowed = space.allowed(points)
        if allowed.any():
            found: Array = points[int(np.argmax(allowed))]
            return found
    return None


def feasible_point(space: Space, is_taken: Callable[[Array], bool], rng: np.random.Generator) -> Array:
    """Return a feasible rounded point, shape (D,), from anywhere; one that is not taken where the space shows one.

    Raises
    ------
    NotAvailable
        None was found: see `quadrat.space.constraint.feasible_points`.
    """
    found: Array = feasible_points(space, 1, rng)[0]
    listed = listed_settings(space) if is_taken(found) else None
    if listed is None:
        return found
    free = [row for row in listed[space.allowed(listed)] if not is_taken(row)]
    return free[int(rng.integers(len(free)))] if free else found
