"""The answer to "where is f above a threshold?": every cell of a partition is above, below or undecided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat.arrays import Array, ArrayLike, Ints
from quadrat.partition import Cell, Partition

__all__ = ["ABOVE", "BELOW", "UNDECIDED", "Classification"]

BELOW, UNDECIDED, ABOVE = -1, 0, 1
"""The labels of cells."""


@dataclass(frozen=True, eq=False)
class Classification:
    """Cells that tile the cube, and what is known of f over each.

    Attributes
    ----------
    lower, upper
        Corners of the cells, shape (m, D).
    label
        `ABOVE` where f > threshold - accuracy everywhere in the cell, `BELOW` where f < threshold + accuracy, else
        `UNDECIDED`; shape (m,).
    low, high
        Bounds of f over each cell, shape (m,).
    threshold, accuracy
        What f is compared with, and how far within which either label is right.
    delta
        All labels hold at once with probability at least 1 - delta, where `reason` is None.
    reason
        Why nothing is guaranteed; None where the labels are certified.
    rejection
        How the data contradict the assumptions; None where they do not. Otherwise no bound means anything: every label
        is `UNDECIDED`, and `reason` says so too.

    Examples
    --------
    >>> halves = np.array([[0.0], [0.5]])
    >>> found = Classification(
    ...     halves, halves + 0.5, np.array([BELOW, ABOVE]), np.zeros(2), np.ones(2), 0.5, accuracy=0.5, delta=0.05
    ... )
    >>> found.volume(ABOVE), found.labels_at([[0.2], [0.5]]).tolist()
    (0.5, [-1, 1])
    """

    lower: Array
    upper: Array
    label: Ints
    low: Array
    high: Array
    threshold: float
    accuracy: float
    delta: float
    reason: str | None = None
    rejection: str | None = None

    @property
    def volumes(self) -> Array:
        """Volume of each cell, shape (m,); they add up to 1."""
        return np.asarray(np.prod(self.upper - self.lower, axis=1))

    def volume(self, label: int) -> float:
        """Return how much of the cube has this label."""
        return float(self.volumes[self.label == label].sum())

    def labels_at(self, points: ArrayLike) -> Ints:
        """Return the labels of the cells that hold points (n, D) of the cube, shape (n,)."""
        cells = Partition(self.lower, self.upper, Cell.unit(self.lower.shape[1]), np.arange(len(self.label)))
        return np.asarray(self.label[cells.locate_many(points)])
