"""Orthonormal polynomials on a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Ints, as_points
from quadrat.errors import InvalidInput
from quadrat.partition import Cell

__all__ = ["LegendreBasis"]


@dataclass(frozen=True)
class LegendreBasis:
    """All products of Legendre polynomials of total degree <= k, the cell mapped to [-1, 1]^D.

    Orthonormal for the uniform law on the cell: phi_a(x) = prod_i sqrt(2 a_i + 1) P_(a_i)(t_i). There are
    C(D + k, k) of them. Any basis of the polynomials gives the same least-squares weights; this one keeps the normal
    equations well conditioned.

    Parameters
    ----------
    cell
        Where they are orthonormal.
    degree
        k >= 0.

    Examples
    --------
    >>> basis = LegendreBasis(Cell.unit(2), 1)
    >>> basis.exponents.tolist(), basis([[0.5, 0.5], [1.0, 0.5]]).round(3).tolist()
    ([[0, 0], [1, 0], [0, 1]], [[1.0, 0.0, 0.0], [1.0, 1.732, 0.0]])
    """

    cell: Cell
    degree: int

    def __post_init__(self) -> None:
        if not isinstance(self.degree, int | np.integer) or self.degree < 0:
            raise InvalidInput(f"degree: expected an integer >= 0, got {self.degree!r}")

    @cached_property
    def exponents(self) -> Ints:
        """The degrees a_i of each function in each variable, shape (p, D), by total degree."""
        dimension = self.cell.dimension
        if comb(dimension + self.degree, self.degree) > 20_000:
            raise InvalidInput(f"degree: {self.degree} in {dimension} dimensions has too many polynomials")
        if self.degree <= 1:  # the general product below would visit (k+1)^D combinations
            rows = [np.zeros(dimension, dtype=np.intp), *np.eye(dimension, dtype=np.intp)][: None if self.degree else 1]
            return np.array(rows)
        if self.degree == 2:
            eye = np.eye(dimension, dtype=np.intp)
            pairs = [eye[i] + eye[j] for i in range(dimension) for j in range(i, dimension)]
            return np.array([np.zeros(dimension, dtype=np.intp), *eye, *pairs])
        every = [a for a in product(range(self.degree + 1), repeat=dimension) if sum(a) <= self.degree]
        return np.array(sorted(every, key=sum), dtype=np.intp)

    def __len__(self) -> int:
        """C(D + k, k)."""
        return comb(self.cell.dimension + self.degree, self.degree)

    def __call__(self, X: ArrayLike) -> Array:
        """Return phi at the rows of X, shape (n, p)."""
        points = as_points(X, dimension=self.cell.dimension, name="X")
        t = 2 * (points - self.cell.lower) / self.cell.sides - 1
        table = [np.ones_like(t)]  # P_0, P_1, ... with (m+1) P_(m+1) = (2m+1) t P_m - m P_(m-1)
        for m in range(self.degree):
            before = table[m - 1] if m else np.zeros_like(t)
            table.append(((2 * m + 1) * t * table[m] - m * before) / (m + 1))
        values = np.ones((len(points), len(self)))
        for column, powers in enumerate(self.exponents):
            for axis in np.flatnonzero(powers):
                a = int(powers[axis])
                values[:, column] *= np.sqrt(2 * a + 1) * table[a][:, axis]
        return values
