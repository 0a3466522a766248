"""Labels of points, from those of the cells that hold them."""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import ArrayLike, Ints
from quadrat.methods.base import Classification
from quadrat.partition import Cell, Partition

__all__ = ["labels_at"]


def labels_at(found: Classification, points: ArrayLike) -> Ints:
    """Return the labels of the cells that hold points (n, D) of the cube, shape (n,)."""
    cells = Partition(found.lower, found.upper, Cell.unit(found.lower.shape[1]), np.arange(len(found.label)))
    return np.asarray(found.label[cells.locate_many(points)])
