"""Rules that choose the axis a cell is halved along, from its sides alone.

A rule that looks at nothing but the sides makes all cells of one depth alike: the root fixes the first axis, that
fixes the sides at depth 1, and so on. The cells at depth J are then 2^J boxes known before any data came, which is
what lets each have its share 6/(pi^2 (J+1)^2) 2^-J of the error probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_vector
from quadrat.errors import InvalidInput

__all__ = ["AxisRule", "LargestVariation", "LongestSide"]

AxisRule: TypeAlias = Callable[[Array], int]
"""sides (D,) -> the axis to halve, 0 to D - 1; it must depend on nothing else."""


@dataclass(frozen=True)
class LargestVariation:
    """Halve the axis along which the function can vary most; of several, the one with the lowest index.

    Calls to `variation` are remembered by sides, hence under a single rule by depth: a tree of depth J calls it J
    times however many cells it has.

    Parameters
    ----------
    variation
        sides (D,) -> values (D,); entry i bounds the variation over a cell along axis i and increases with side i.
        The modulus of continuity of a kernel is such a function.

    Examples
    --------
    >>> rule = LargestVariation(lambda sides: sides**2 / np.array([0.1, 0.4]))
    >>> rule(np.array([1.0, 1.0])), rule(np.array([0.25, 1.0]))
    (0, 1)
    """

    variation: Callable[[Array], Array]
    _known: dict[bytes, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, sides: Array) -> int:
        """Return the axis to halve for `sides` (D,)."""
        key = sides.tobytes()
        axis = self._known.get(key)
        if axis is None:
            values = np.asarray(self.variation(sides))
            if values.shape != sides.shape or np.isnan(values).any():
                raise InvalidInput(f"variation: expected {len(sides)} numbers, one for each axis, got {values!r}")
            axis = self._known[key] = int(np.argmax(values))
        return axis


@dataclass(frozen=True, init=False)
class LongestSide:
    """Halve the axis with the largest weight times side; of several, the one with the lowest index.

    Parameters
    ----------
    weights
        One positive number for each axis, such as 1 / length-scale; 1 weighs all axes alike.

    Examples
    --------
    >>> LongestSide()(np.array([0.25, 0.5, 0.5]))
    1
    >>> LongestSide([3.0, 1.0, 1.0])(np.array([0.25, 0.5, 0.5]))
    0
    """

    weights: tuple[float, ...]

    def __init__(self, weights: ArrayLike = 1.0) -> None:
        vector = as_vector(weights, name="weights")
        if not (vector > 0.0).all():
            raise InvalidInput(f"weights: expected positive numbers, one for each axis, got {vector.tolist()}")
        object.__setattr__(self, "weights", tuple(vector.tolist()))

    def __call__(self, sides: Array) -> int:
        """Return the axis to halve for `sides` (D,)."""
        if len(self.weights) not in (1, len(sides)):
            raise InvalidInput(f"weights: expected {len(sides)}, one for each axis, got {len(self.weights)}")
        return int(np.argmax(np.asarray(self.weights) * sides))
