"""Cells that follow the data: a cell that has too many points is cut in two at the median of its longest side.

For methods with very many observations: finding the cell of a point takes O(log n), a leaf never holds more than a
bounded number of points, and what is known of all leaves is kept in arrays, so that all of them are compared at once.

A cell is cut as soon as it has one point too many, and the points that it has then decide where. So the cells follow
from the points in their order, no matter how many of them are added at a time.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from quadrat._core.arrays import Array, Growing, Ints

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
        self._homes = Growing(np.intp)
        self._crowded: dict[int, int] = {}  # leaves whose first so many points are all equal, and too many

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

    def leaves_of(self, points: Array) -> Ints:
        """Return the leaf of each point (p, D), shape (p,): of all at once, level by level."""
        axes, cuts, children = np.array(self._axis), np.array(self._cut), np.array(self._children)
        nodes = np.zeros(len(points), dtype=np.intp)
        moving = np.arange(len(points)) if self._axis[0] >= 0 else np.empty(0, dtype=np.intp)
        while len(moving):
            at = nodes[moving]
            beyond = points[moving, axes[at]] >= cuts[at]
            nodes[moving] = children[at, beyond.astype(np.intp)]
            moving = moving[axes[nodes[moving]] >= 0]
        return nodes

    def members(self, leaf: int) -> Ints:
        """Return the numbers of the points in a leaf, in the order of adding."""
        return np.array(self._members[leaf], dtype=np.intp)

    def box(self, leaf: int) -> tuple[Array, Array]:
        """Return the lower and the upper corner of a leaf, each (D,)."""
        return self._lower[leaf], self._upper[leaf]

    @property
    def homes(self) -> Ints:
        """The leaf of each point, by number, shape (n,)."""
        return self._homes.view.copy()

    def add(self, points: Array) -> None:
        """Add those rows of `points` (n, D) that are new; the first so many are the ones that were added before."""
        first = len(self._homes)
        homes = [self.leaf_of(point) for point in points[first:]] if self._axis[0] >= 0 else [0] * (len(points) - first)
        self._homes.extend(homes)
        for number, leaf in enumerate(homes, start=first):
            self._members[leaf].append(number)
        due: list[tuple[int, int]] = []  # the number of the point that was one too many, and its leaf
        for leaf in set(homes):
            self._note_if_full(due, points, leaf)
        cut: list[int] = []
        while due:
            number, leaf = heappop(due)
            cut.extend(self._cut_in_two(points, leaf, self._members[leaf].index(number) + 1))
            for child in cut[-2:]:
                self._note_if_full(due, points, child)
        for leaf in cut:
            self._homes.values[self._members[leaf]] = leaf

    def _note_if_full(self, due: list[tuple[int, int]], points: Array, leaf: int) -> None:
        """Note the leaf as due to be cut, and since when; not where all of its points are equal."""
        numbers = self._members[leaf]
        if len(numbers) <= self.capacity:
            return
        equal = self._crowded.get(leaf, 0)
        first = np.minimum(points[numbers[0]], _LAST)
        while equal < len(numbers):  # a few at a time: nearly always there is one that differs among the first
            some = np.minimum(points[numbers[equal : equal + self.capacity]], _LAST)
            others = (some != first).any(axis=1)
            if others.any():
                heappush(due, (numbers[max(equal + int(np.argmax(others)), self.capacity)], leaf))
                return
            equal += len(some)
        self._crowded[leaf] = len(numbers)

    def _cut_in_two(self, points: Array, leaf: int, count: int) -> tuple[int, int]:
        """Cut a leaf at the median, among its first so many points, of the longest side along which these differ."""
        numbers = np.array(self._members[leaf], dtype=np.intp)
        lower, upper = self._lower[leaf], self._upper[leaf]
        for axis in np.argsort(lower - upper, kind="stable").tolist():
            column = np.minimum(points[numbers, axis], _LAST)
            values = np.sort(column[:count])
            if values[0] < values[-1]:
                break
        middle = values[count // 2]
        ends = (int(np.searchsorted(values, middle)), int(np.searchsorted(values, middle, "right")))
        upto = min((end for end in ends if 0 < end < count), key=lambda end: abs(end - count / 2))
        cut = float(0.5 * (values[upto - 1] + values[upto]))
        cut = cut if cut > values[upto - 1] else float(values[upto])  # neighbours in double precision
        before, beyond = upper.copy(), lower.copy()
        before[axis] = beyond[axis] = cut
        self._axis[leaf], self._cut[leaf] = axis, cut
        left, right = len(self._axis), len(self._axis) + 1
        self._children[leaf] = (left, right)
        goes_left = column < cut
        for low, high, mine in ((lower, before, goes_left), (beyond, upper, ~goes_left)):
            self._lower.append(low)
            self._upper.append(high)
            self._axis.append(-1)
            self._cut.append(0.0)
            self._children.append((-1, -1))
            self._members.append(numbers[mine].tolist())
        self._members[leaf] = []
        self._crowded.pop(leaf, None)
        return left, right
