"""Rows that grow: appending one costs the same however many there are, and all of them are one array at any time."""

from __future__ import annotations

import numpy as np

from quadrat.arrays import Array, Bools, Ints

__all__ = ["GrowingRows", "is_among", "nearest"]


class GrowingRows:
    """A matrix of float64 that rows are appended to; room for them doubles when it is used up.

    Examples
    --------
    >>> rows = GrowingRows(2)
    >>> rows.append([0.0, 1.0])
    >>> rows.append([2.0, 3.0])
    >>> rows.array.tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """

    def __init__(self, columns: int) -> None:
        self._room = np.empty((16, columns))
        self._count = 0

    @classmethod
    def of(cls, array: Array) -> GrowingRows:
        """Return the rows of a matrix."""
        rows = cls(array.shape[1])
        rows._room, rows._count = np.array(array), len(array)
        return rows

    def __len__(self) -> int:
        return self._count

    def append(self, row: Array | list[float]) -> None:
        """Append one row, shape (columns,)."""
        if self._count == len(self._room):
            self._room = np.concatenate([self._room, np.empty((max(16, self._count), self._room.shape[1]))])
        self._room[self._count] = row
        self._count += 1

    def replace(self, indices: list[int], row: list[float]) -> None:
        """Put one row, shape (columns,), in the place of several; arrays that were handed out before may change."""
        self._room[indices] = row

    @property
    def array(self) -> Array:
        """All rows, shape (n, columns): a view that later rows do not change, not to be written to."""
        view = self._room[: self._count]
        view.flags.writeable = False
        return view


def nearest(points: Array, centre: Array, sides: Array, count: int, *, box: bool = False) -> Ints:
    """Return the indices, ascending, of the `count` points (n, D) nearest to a centre, with axes in units of `sides`.

    With `box` the largest difference along an axis is the distance, so that all points of the box that reaches as far
    as `sides` come before those outside: otherwise what lies across a face comes before what lies in a corner. Of
    points at the same distance as the last the earlier ones are taken, so that the answer does not depend on how they
    are found.
    """
    if len(points) <= count:
        return np.arange(len(points))
    scaled = (points - centre) / sides
    distance = np.abs(scaled).max(axis=1) if box else np.einsum("ij,ij->i", scaled, scaled)
    last = np.partition(distance, count - 1)[count - 1]
    inside, border = np.flatnonzero(distance < last), np.flatnonzero(distance == last)
    return np.sort(np.concatenate([inside, border[: count - len(inside)]]))


def is_among(points: Array, others: Array) -> Bools:
    """Return which points (n, D) are equal to one of the others (m, D), shape (n,)."""
    return np.asarray((points[:, None] == others[None]).all(axis=2).any(axis=1))
