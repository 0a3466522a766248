"""A cell: an axis-parallel box in the unit cube, half-open so that neighbours never share a point.

The paper writes closed boxes E = prod [a_i, b_i] (Definition of Partition), of which two neighbours share a face.
Here a cell is prod [a_i, b_i), except that it keeps the points with x_i = 1 when b_i = 1: the faces of the unit
cube at 1 have no neighbour to belong to. So every point of [0, 1]^D is in exactly one cell of a partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, cycle, islice, product

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Bools, as_points, as_vector
from quadrat.errors import InvalidInput
from quadrat.partition.unit_cube import as_count

__all__ = ["Cell", "contained"]

_SHOWN = 6  # axes of a cell that its text shows


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Cell:
    """The box [lower, upper), closed where it touches the faces of the unit cube at 1.

    Parameters
    ----------
    lower, upper
        Opposite corners, each of shape (D,), 0 <= lower < upper <= 1. They are copied and made read-only.

    Raises
    ------
    InvalidInput
        Corners of different lengths, a side that is not positive, or a corner outside the unit cube.

    Examples
    --------
    >>> cell = Cell([0.0, 0.5], [0.25, 1.0])
    >>> print(cell)
    [0, 0.25) x [0.5, 1]
    >>> cell.centre.tolist(), cell.sides.tolist(), cell.volume
    ([0.125, 0.75], [0.25, 0.5], 0.125)
    >>> cell.contains([[0.0, 1.0], [0.25, 0.75]]).tolist()
    [True, False]
    """

    lower: Array
    upper: Array

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low = as_vector(lower, name="lower").copy()
        high = as_vector(upper, length=len(low), name="upper").copy()
        wrong = ~((low >= 0.0) & (low < high) & (high <= 1.0))
        if wrong.any() or not len(low):
            axis = int(np.argmax(wrong)) if len(low) else 0
            got = f"[{low[axis]!r}, {high[axis]!r}) on axis {axis}" if len(low) else "no axis at all"
            raise InvalidInput(f"cell: expected 0 <= lower < upper <= 1 on every axis, got {got}")
        low.flags.writeable = high.flags.writeable = False
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @classmethod
    def unit(cls, dimension: int) -> Cell:
        """Return the whole cube [0, 1]^D, D the `dimension`, where Algorithm 1 starts."""
        dimension = as_count(dimension, name="dimension", at_least=1)
        return cls(np.zeros(dimension), np.ones(dimension))

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.lower)

    @property
    def centre(self) -> Array:
        """The middle of the box, (D,): the paper's x_E."""
        return 0.5 * (self.lower + self.upper)

    @property
    def sides(self) -> Array:
        """Upper - lower, (D,); also the offset between the two corners that lie farthest apart."""
        return self.upper - self.lower

    @property
    def half_diagonal(self) -> Array:
        """The offset from the centre to a corner, (D,), absolute values."""
        return 0.5 * self.sides

    @property
    def longest_side(self) -> float:
        """The largest of the sides: the paper's r_E, for cells that need not be cubes."""
        return float(self.sides.max())

    @property
    def volume(self) -> float:
        """The product of the sides."""
        return float(np.prod(self.sides))

    def contains(self, points: ArrayLike) -> Bools:
        """Return which of `points` (n, D) lie in the cell, (n,); points outside the unit cube lie in none."""
        matrix = as_points(points, dimension=self.dimension)
        return np.asarray(contained(matrix, self.lower, self.upper))

    def sample(self, rng: np.random.Generator, n: int = 1) -> Array:
        """Return `n` independent points x ~ Unif(E), (n, D), drawn by `rng` as in line 4 of Algorithm 1."""
        n = as_count(n, name="n", at_least=0)
        points = self.lower + rng.random((n, self.dimension)) * self.sides
        return np.minimum(points, self._last)  # the product may round up onto the upper face

    def farthest_offsets(self, points: ArrayLike) -> Array:
        """Return the offsets from each of `points` (n, D) to the corner farthest from it, (n, D), absolute values.

        The farthest corner is the farther end on every axis, whatever norm increases in each |offset|.
        """
        matrix = as_points(points, dimension=self.dimension)
        return np.maximum(np.abs(matrix - self.lower), np.abs(self.upper - matrix))

    def corners(self, at_most: int = 64) -> Iterator[Array]:
        """Yield corners of the closed box, each (D,): all 2^D of them, or `at_most` that are spread evenly.

        When 2^D is too many, corner j takes the upper end of axis i where j and a code of i share an odd number
        of bits (a row of a Hadamard matrix). With `at_most` a power of two above D, each pair of axes then shows
        all four combinations of its ends equally often, where the first corners in counting order would only
        vary the last few axes.
        """
        at_most = as_count(at_most, name="at_most", at_least=1)
        if self.dimension < at_most.bit_length():  # 2^D <= at_most
            for ends in product((False, True), repeat=self.dimension):
                yield np.where(ends, self.upper, self.lower)
            return
        bits = (at_most - 1).bit_length()
        single = [1 << bit for bit in range(bits)]  # these first: they tell all corners apart
        mixed = (code for code in range(2**bits - 1, 0, -1) if code.bit_count() > 1)
        codes = list(islice(cycle(chain(single or [0], mixed)), self.dimension))
        for j in range(at_most):
            yield np.where([(j & code).bit_count() % 2 == 1 for code in codes], self.upper, self.lower)

    def halves(self, axis: int) -> tuple[Cell, Cell]:
        """Return the two cells that tile this one, cut in the middle of `axis`."""
        axis = as_count(axis, name="axis", at_least=0, at_most=self.dimension - 1)
        middle_low, middle_up = self.lower.copy(), self.upper.copy()
        middle_low[axis] = middle_up[axis] = 0.5 * (self.lower[axis] + self.upper[axis])
        return Cell(self.lower, middle_up), Cell(middle_low, self.upper)

    @property
    def _last(self) -> Array:
        """The largest point that belongs to the cell, (D,)."""
        return np.where(self.upper == 1.0, 1.0, np.nextafter(self.upper, -np.inf))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cell):
            return NotImplemented
        return np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)

    def __hash__(self) -> int:
        return hash((tuple(self.lower.tolist()), tuple(self.upper.tolist())))

    def __repr__(self) -> str:
        return f"Cell({self.lower.tolist()}, {self.upper.tolist()})"

    def __str__(self) -> str:
        ends = zip(self.lower[:_SHOWN].tolist(), self.upper[:_SHOWN].tolist(), strict=True)
        shown = " x ".join(f"[{low:.4g}, {high:.4g}{']' if high == 1.0 else ')'}" for low, high in ends)
        return shown if self.dimension <= _SHOWN else f"{shown} x ... ({self.dimension} axes)"


def contained(points: Array, lower: Array, upper: Array) -> Bools:
    """Return whether points lie in boxes under the half-open rule, over the last axis, with broadcasting."""
    below = (points < upper) | ((upper == 1.0) & (points == 1.0))
    return np.asarray(((points >= lower) & below).all(axis=-1))
