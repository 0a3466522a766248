"""Which rows of a matrix are nearest to a place, and which are equal to others."""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints

__all__ = ["ROUNDING", "is_among", "nearest"]

ROUNDING = 1e-9  # of the cube's side: as far as a told point may be from the asked one
_AT_ONCE = 1 << 17  # pairs that are compared one with the other: a tree takes less time and memory for more


def nearest(points: Array, centre: Array, sides: Array, count: int, *, box: bool = False) -> Ints:
    """Return the indices, ascending, of the `count` points (n, D) nearest to a centre, with axes in units of `sides`.

    With `box` the largest difference along an axis is the distance, so that all points of the box that reaches as far
    as `sides` come before those outside. Of points at the same distance as the last the earlier ones are taken.
    """
    if len(points) <= count:
        return np.arange(len(points))
    scaled = (points - centre) / sides
    distance = np.abs(scaled).max(axis=1) if box else np.einsum("ij,ij->i", scaled, scaled)
    last = np.partition(distance, count - 1)[count - 1]
    inside, border = np.flatnonzero(distance < last), np.flatnonzero(distance == last)
    return np.sort(np.concatenate([inside, border[: count - len(inside)]]))


def is_among(points: Array, others: Array) -> Bools:
    """Return which points (n, D) of the unit cube are the same as one of the others (m, D), shape (n,).

    The same but for rounding: a parameter keeps fewer digits than a coordinate has.
    """
    if len(points) * len(others) > _AT_ONCE:
        from scipy.spatial import cKDTree

        # The distance to the nearest is the largest difference in a coordinate: the same numbers as below.
        distance, _ = cKDTree(others).query(points, p=np.inf, distance_upper_bound=2 * ROUNDING)
        return np.asarray(distance <= ROUNDING)
    apart: Array = np.abs(points[:, None] - others[None])
    same: Bools = np.all(apart <= ROUNDING, axis=2)
    return np.asarray(np.any(same, axis=1))
