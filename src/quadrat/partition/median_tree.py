"""Cells that follow the data: a cell that has too many points is cut in two at the median of its longest side.

For methods with very many observations: finding the cell of a point takes O(log n), a leaf never holds more than a
bounded number of points, and what is known of all leaves is kept in arrays, so that all of them are compared at once.
"""

from __future__ import annotations

import numpy as np

from quadrat.arrays import Array, Ints
from quadrat.growing_rows import GrowingRows

__all__ = ["MedianTree"]

_LAST = float(np.nextafter(1.0, 0.0))  # no cut lies beyond: one at 1 would leave a box without width


class MedianTree:
    """A binary tree of half-open boxes that cover the unit cube, with the numbers of the points in each leaf.

    Parameters
    ----------
    dimension
        D.
    capacity
        The most points in a leaf, >= 2; more are possible only where all of them are equal.

    Examples
    --------
    >>> tree = MedianTree(1, capacity=2)
    >>> points = np.array([[0.1], [0.2], [0.3], [0.9]])
    >>> tree.add(points)
    >>> [tree.members(leaf).tolist() for leaf in tree.leaves]
    [[0], [1], [2, 3]]
    >>> tree.box(tree.leaves[1])
    (array([0.15]), array([0.25]))
    """

    def __init__(self, dimension: int, capacity: int) -> None:
        self.dimension, self.capacity = dimension, capacity
        self._lower, self._upper = [np.zeros(dimension)], [np.ones(dimension)]
        self._axis: list[int] = [-1]  # -1 for a leaf
        self._cut: list[float] = [0.0]
        self._children: list[tuple[int, int]] = [(-1, -1)]
        self._members: list[list[int]] = [[]]
        self._homes = GrowingRows(1)
        self._crowded: set[int] = set()  # leaves whose points were all equal when they were last to be cut

    @property
    def leaves(self) -> list[int]:
        """The nodes that are leaves, from left to right."""
        found, stack = [], [0]
        while stack:
            node = stack.pop()
            if self._axis[node] < 0:
                found.append(node)
            else:
                stack.extend(reversed(self._children[node]))
        return found

    def leaf_of(self, x: Array) -> int:
        """Return the leaf that holds a point (D,) of the cube."""
        node = 0
        while self._axis[node] >= 0:
            left, right = self._children[node]
            node = left if x[self._axis[node]] < self._cut[node] else right
        return node

    def members(self, leaf: int) -> Ints:
        """Return the numbers of the points in a leaf, in the order of adding."""
        return np.array(self._members[leaf], dtype=np.intp)

    def box(self, leaf: int) -> tuple[Array, Array]:
        """Return the lower and the upper corner of a leaf, each (D,)."""
        return self._lower[leaf], self._upper[leaf]

    @property
    def homes(self) -> Ints:
        """The leaf of each point, by number, shape (n,)."""
        return self._homes.array.ravel().astype(np.intp)

    def add(self, points: Array) -> None:
        """Add those rows of `points` (n, D) that are new; the first so many are the ones that were added before."""
        for number in range(len(self._homes), len(points)):
            leaf = self.leaf_of(points[number])
            self._members[leaf].append(number)
            self._homes.append([leaf])
            full = [leaf]
            while full:
                node = full.pop()
                if len(self._members[node]) > self.capacity:
                    full.extend(self._cut_in_two(points, node))

    def _cut_in_two(self, points: Array, leaf: int) -> tuple[int, ...]:
        """Cut a leaf at the median of its longest side along which its points differ; () where they are all equal."""
        numbers = self._members[leaf]
        if leaf in self._crowded and (points[numbers[-1]] == points[numbers[0]]).all():
            return ()  # one more of the same
        inside = np.minimum(points[numbers], _LAST)
        lower, upper = self._lower[leaf], self._upper[leaf]
        differ = inside.min(axis=0) < inside.max(axis=0)
        if not differ.any():
            self._crowded.add(leaf)
            return ()
        axis = int(np.argmax(np.where(differ, upper - lower, -1.0)))
        values = np.unique(inside[:, axis])
        middle = int(np.searchsorted(values, np.median(inside[:, axis])))
        middle = min(max(middle, 1), len(values) - 1)
        cut = float(0.5 * (values[middle - 1] + values[middle]))
        cut = cut if cut > values[middle - 1] else float(values[middle])  # neighbours in double precision
        before, beyond = upper.copy(), lower.copy()
        before[axis] = beyond[axis] = cut
        self._axis[leaf], self._cut[leaf] = axis, cut
        left, right = len(self._axis), len(self._axis) + 1
        self._children[leaf] = (left, right)
        goes_left = inside[:, axis] < cut
        for low, high, mine in ((lower, before, goes_left), (beyond, upper, ~goes_left)):
            self._lower.append(low)
            self._upper.append(high)
            self._axis.append(-1)
            self._cut.append(0.0)
            self._children.append((-1, -1))
            self._members.append([number for number, is_mine in zip(numbers, mine.tolist(), strict=True) if is_mine])
            self._homes.replace(self._members[-1], [len(self._members) - 1])
        self._members[leaf] = []
        return left, right
