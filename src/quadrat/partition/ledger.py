"""Which observations lie in which leaf.

Each observation is held by one leaf only, so n of them take O(n) memory whatever the depth of the tree. A leaf that
is split hands its observations to its children, which is how a cell counts points told before it existed.
"""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array, Growing, Ints

__all__ = ["Ledger"]


class Ledger:
    """The points told, in order, and the index lists of the leaves that have any."""

    __slots__ = ("_held", "points")

    def __init__(self, dimension: int) -> None:
        self.points = Growing(np.float64, (dimension,))
        self._held: dict[int, Growing[np.intp]] = {}

    def held(self, leaf: int) -> Ints:
        """Return the indices held by `leaf`, increasing: a snapshot without a copy."""
        return self._held[leaf].view if leaf in self._held else np.empty(0, dtype=np.intp)

    def record_many(self, leaves: Ints, points: Array) -> tuple[Ints, Ints]:
        """Append observations at `points` (n, D) to `leaves` (n,); return the leaves met and how often each."""
        start = self.points.size
        self.points.extend(points)
        order = np.argsort(leaves, kind="stable")  # stable: each list stays in the order told
        met, first, counts = np.unique(leaves[order], return_index=True, return_counts=True)
        for leaf, i, count in zip(met.tolist(), first.tolist(), counts.tolist(), strict=True):
            self._list(leaf).extend(start + order[i : i + count])
        return met, counts

    def divide(self, leaf: int, left: int, right: int, *, axis: int, cut: float) -> tuple[int, int]:
        """Hand what `leaf` holds to its children; return how many went to each. O(held)."""
        held = self._held.pop(leaf, None)
        if held is None:
            return 0, 0
        above = self.points.values[held.view, axis] >= cut
        shares = (held.view[~above], held.view[above])
        for child, share in zip((left, right), shares, strict=True):
            if len(share):
                self._list(child).extend(share)
        return len(shares[0]), len(shares[1])

    def _list(self, leaf: int) -> Growing[np.intp]:
        known = self._held.get(leaf)
        if known is None:
            known = self._held[leaf] = Growing(np.intp)
        return known
