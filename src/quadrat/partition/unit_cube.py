"""Checks at the border: arguments that must be points of the unit cube [0, 1]^D, dimensions or caps."""

from __future__ import annotations

import operator

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_points
from quadrat.errors import InvalidInput

__all__ = ["MAX_CELLS", "TooManyCells", "as_count", "as_unit_point", "as_unit_points"]

MAX_CELLS = 100_000
"""Default cap on the number of cells that one partition or one tree may hold."""


class TooManyCells(InvalidInput):
    """A split would pass the cap on cells; nothing was changed, so a method may evaluate instead of splitting.

    Examples
    --------
    >>> from quadrat.partition import PartitionTree
    >>> PartitionTree(1, max_cells=1).split(0)
    Traceback (most recent call last):
    quadrat.partition.unit_cube.TooManyCells: ...
    """


def as_unit_points(points: ArrayLike, *, dimension: int, name: str = "points") -> Array:
    """Return `points` as a float64 matrix of shape (n, D) of points of the unit cube.

    Raises
    ------
    InvalidInput
        The wrong shape, not finite, or outside [0, 1].
    """
    matrix = as_points(points, dimension=dimension, name=name)
    outside = (matrix < 0.0) | (matrix > 1.0)
    if outside.any():
        row, column = (int(i) for i in np.argwhere(outside)[0])
        raise InvalidInput(
            f"{name}: expected points of the unit cube [0, 1]^{dimension}, got {matrix[row, column]} in row {row}, "
            f"axis {column} ({int(outside.any(axis=1).sum())} of {len(matrix)} points lie outside)"
        )
    return matrix


def as_unit_point(point: ArrayLike, *, dimension: int, name: str = "point") -> Array:
    """Return `point` as one float64 vector of shape (D,) in the unit cube; a number will do when D is 1.

    Raises
    ------
    InvalidInput
        Not one point, not finite, or outside [0, 1].
    """
    vector = np.atleast_1d(np.asarray(point)) if dimension == 1 else np.asarray(point)
    if vector.shape != (dimension,):
        raise InvalidInput(f"{name}: expected one point with {dimension} entries, got shape {vector.shape}")
    checked: Array = as_unit_points(vector[None, :], dimension=dimension, name=name)[0]
    return checked


def as_count(value: object, *, name: str, at_least: int, at_most: int | None = None) -> int:
    """Return `value` as an integer in the stated range.

    Raises
    ------
    InvalidInput
        Not an integer, or out of range.
    """
    wanted = f"an integer >= {at_least}" if at_most is None else f"an integer from {at_least} to {at_most}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # that it may not convert is what is being tested
    except TypeError:
        raise InvalidInput(f"{name}: expected {wanted}, got {value!r}") from None
    if isinstance(value, bool | np.bool_) or number < at_least or (at_most is not None and number > at_most):
        raise InvalidInput(f"{name}: expected {wanted}, got {value!r}")
    return number
