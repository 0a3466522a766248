"""The name of a cell in the fixed family of dyadic boxes, whichever tree reached it and in whichever order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable

__all__ = ["DyadicAddress"]


@dataclass(frozen=True)
class DyadicAddress:
    """The box whose axis i is [k_i / 2^l_i, (k_i + 1) / 2^l_i).

    Equal boxes have equal addresses, so an address is a key that outlives a tree: two runs, or the binary and
    the 2^D-way tree, agree on it.

    Parameters
    ----------
    levels
        l_i >= 0, the number of halvings of each axis.
    indices
        k_i from 0 to 2^l_i - 1, the place of the box along each axis.

    Examples
    --------
    >>> address = DyadicAddress(levels=(1, 2), indices=(0, 3))
    >>> str(address), address.depth
    ('0/2 x 3/4', 3)
    """

    levels: tuple[int, ...]
    indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.levels) != len(self.indices) or not self.levels:
            raise InvalidInput(
                f"address: expected as many levels as indices, at least one, got {self.levels} and {self.indices}"
            )
        for level, index in zip(self.levels, self.indices, strict=True):
            if level < 0 or not 0 <= index < 2**level:
                raise InvalidInput(
                    f"address: expected level >= 0 and index from 0 to 2^level - 1, got level {level}, index {index}"
                )

    @property
    def depth(self) -> int:
        """J, the halvings that lead from the cube to the box; its volume is 2^-J."""
        return sum(self.levels)

    @property
    def lower(self) -> Array:
        """The lower corner (D,), exactly."""
        return np.array([math.ldexp(k, -level) for k, level in zip(self.indices, self.levels, strict=True)])

    @property
    def upper(self) -> Array:
        """The upper corner (D,), exactly."""
        return np.array([math.ldexp(k + 1, -level) for k, level in zip(self.indices, self.levels, strict=True)])

    def __str__(self) -> str:
        return " x ".join(f"{k}/{2**level}" for k, level in zip(self.indices, self.levels, strict=True))

    @classmethod
    def of_box(cls, lower: Array, upper: Array) -> DyadicAddress:
        """Return the address of the box [lower, upper), both of shape (D,).

        Raises
        ------
        NotAvailable
            The box is not dyadic: a side is no power of two, or a corner no multiple of its side.
        """
        levels, indices = [], []
        for axis, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
            mantissa, exponent = math.frexp(b - a)  # side = mantissa 2^exponent, mantissa in [1/2, 1)
            level = 1 - exponent
            place = math.ldexp(a, level)
            # b - a may round, so b itself is compared too
            if mantissa != 0.5 or place != int(place) or math.ldexp(place + 1, -level) != b:
                raise NotAvailable(f"dyadic address: expected a dyadic cell, got [{a!r}, {b!r}) on axis {axis}")
            levels.append(level)
            indices.append(int(place))
        return cls(levels=tuple(levels), indices=tuple(indices))
