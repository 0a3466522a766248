"""Spaces with finitely many points: each of them is an arm.

Where every axis has finitely many values (integers, steps, choices), a search need not look for the maximum of an index
over the cube: it can compute the index of every arm.
"""

from __future__ import annotations

from math import prod

import numpy as np

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp.observations import group_rows
from quadrat.methods.domain import PROBES, Domain, probed
from quadrat.randomness import generator

__all__ = ["MOST_ARMS", "arms_of", "finite_arms"]

MOST_ARMS = 10_000
"""An index at every arm costs no more than some milliseconds to a second up to so many."""

_MOST_PRODUCTS = 200_000  # combinations looked at; where values depend on each other, many are one arm
_BASES = 64  # places from which an axis that does not exist everywhere is probed


def arms_of(domain: Domain) -> Array:
    """Return every point of a finite domain, rounded, feasible and once, shape (K, D), in lexicographic order.

    Raises
    ------
    InvalidInput
        An axis is continuous, there are more than `MOST_ARMS`, or no point is feasible.

    Examples
    --------
    >>> from quadrat.methods.domain import Axis
    >>> arms_of(Domain((Axis((0.25, 0.75)), Axis((1 / 6, 0.5, 5 / 6), ordered=False)))).shape
    (6, 2)
    """
    values = [_values(domain, i) for i in range(domain.dimension)]
    for i, found in enumerate(values):
        if found is None:
            raise InvalidInput(
                f"arms: expected finitely many points (integers, steps, choices), got {domain.called(i)}, which is "
                "continuous or has values too close to list; use GPUCB or Auto, or give it a step or a list of choices"
            )
    known = [found for found in values if found is not None]
    size = prod(len(found) for found in known)
    if size > _MOST_PRODUCTS:
        raise _too_many(size)
    mesh = np.stack(np.meshgrid(*known, indexing="ij"), axis=-1).reshape(-1, domain.dimension)
    points = domain.rounded(mesh)
    points = points[group_rows(points)[0]]
    arms = points[domain.allowed(points)]
    if len(arms) > MOST_ARMS:
        raise _too_many(len(arms))
    if not len(arms):
        raise InvalidInput(f"arms: expected at least one feasible point, got none of {len(points)}; relax constraints")
    return np.ascontiguousarray(arms + 0.0)


def finite_arms(domain: Domain) -> Array | None:
    """Return what `arms_of` does, or None where the domain is not finite, or too large."""
    try:
        return arms_of(domain)
    except InvalidInput:
        return None


def _too_many(count: int) -> InvalidInput:
    return InvalidInput(
        f"arms: expected at most {MOST_ARMS} points, got {count}; use Auto, which does not list them, or fewer values"
    )


def _values(domain: Domain, axis: int) -> Array | None:
    """Return the coordinates that stand for the values of an axis, ascending; None where it is continuous.

    Axes with many values do not list them. Rounding does: every value that is met by two probes or more has a bin wider
    than their distance, so that none between such values was missed.
    """
    listed = domain.axes[axis].values
    if listed is not None:
        return np.array(listed)
    base = _where_it_exists(domain, axis)
    if domain.round is None or base is None:
        return None

    def rounded(coordinates: Array) -> Array:
        points = np.tile(base, (len(coordinates), 1))
        points[:, axis] = coordinates
        return np.asarray(domain.rounded(points)[:, axis])

    found, counts = probed(rounded)
    # Of a single value every probe is the same; the outermost bins may be cut in half.
    return found if len(found) < PROBES // 2 and (counts[1:-1] >= 2).all() else None


def _where_it_exists(domain: Domain, axis: int) -> Array | None:
    """Return a point, (D,), at which the axis counts; None where none was found."""
    anywhere = generator(0, domain.dimension).random((_BASES, domain.dimension))  # only to find a place
    bases = np.vstack([np.full((1, domain.dimension), 0.5), anywhere])
    if domain.exists is None:
        return np.asarray(bases[0])
    there = domain.exists(domain.rounded(bases))[:, axis]
    return np.asarray(bases[int(np.argmax(there))]) if there.any() else None
