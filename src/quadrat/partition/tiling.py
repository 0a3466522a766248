"""A partition as a value: the cells that tile a region, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Ints
from quadrat.errors import InvalidInput
from quadrat.partition.cell import Cell, contained
from quadrat.partition.unit_cube import as_count, as_unit_points

__all__ = ["Partition"]

_COMPARISONS = 2_000_000  # point-cell-axis comparisons held in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """m cells that tile a region: the P_t of Algorithms 1 and 3, frozen.

    What the constructor checks takes O(m D): positive sides, cells inside the region, and volumes that add up to
    the region's (within 1e-9). It does not compare all pairs; `locate` refuses a point that lies in no cell.

    Parameters
    ----------
    lower, upper
        Opposite corners of the cells, (m, D).
    region
        What they tile.
    labels
        The name of each cell where it came from, (m,): the node of a tree, the leaf of a regression tree.

    Examples
    --------
    >>> halves = Partition(np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]]), Cell.unit(1), np.arange(2))
    >>> [str(cell) for cell in halves]
    ['[0, 0.5)', '[0.5, 1]']
    >>> halves.locate_many([[0.0], [0.5], [1.0]]).tolist()
    [0, 1, 1]
    """

    lower: Array
    upper: Array
    region: Cell
    labels: Ints

    def __post_init__(self) -> None:
        for name, dtype in (("lower", np.float64), ("upper", np.float64), ("labels", np.intp)):
            array = np.array(getattr(self, name), dtype=dtype)  # a copy: the caller's array stays writeable
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        shape = (len(self.labels), self.region.dimension)
        if self.lower.shape != shape or self.upper.shape != shape or self.labels.ndim != 1:
            raise InvalidInput(
                f"partition: expected corners of shape {shape}, one row for each label, got {self.lower.shape} and "
                f"{self.upper.shape}"
            )
        inside = (self.lower >= self.region.lower) & (self.lower < self.upper) & (self.upper <= self.region.upper)
        if not inside.all():
            i = int(np.argmin(inside.all(axis=1)))
            raise InvalidInput(
                f"partition: expected cells with positive sides inside {self.region}, got lower "
                f"{self.lower[i].tolist()}, upper {self.upper[i].tolist()} at index {i}"
            )
        total, wanted = float(np.prod(self.upper - self.lower, axis=1).sum()), self.region.volume
        if abs(total - wanted) > 1e-9 * wanted:
            raise InvalidInput(f"partition: expected volumes that add up to {wanted:g}, got {total:g}")

    @property
    def sides(self) -> Array:
        """Upper - lower, (m, D)."""
        return self.upper - self.lower

    def locate_many(self, points: ArrayLike) -> Ints:
        """Return the index of the cell that holds each of `points` (n, D), (n,). O(n m D), in blocks."""
        matrix = as_unit_points(points, dimension=self.region.dimension)
        found = np.empty(len(matrix), dtype=np.intp)
        block = max(1, _COMPARISONS // self.lower.size)
        for start in range(0, len(matrix), block):
            some = matrix[start : start + block]
            inside = contained(some[:, None, :], self.lower, self.upper)
            if not inside.any(axis=1).all():
                stray = some[int(np.argmin(inside.any(axis=1)))]
                raise InvalidInput(f"points: expected points of {self.region}, got {stray.tolist()}")
            found[start : start + block] = np.argmax(inside, axis=1)
        return found

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Cell:
        index = as_count(index, name="cell", at_least=0, at_most=len(self) - 1)
        return Cell(self.lower[index], self.upper[index])

    def __iter__(self) -> Iterator[Cell]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Partition of {self.region} into {len(self)} cells>"
