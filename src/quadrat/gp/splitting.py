"""When a cell of a partitioned process is split, and along which axes: facts of its depth alone.

[JBG20]: Janz, Burt and González (2020). Bandit optimisation of functions in the Matérn kernel RKHS. AISTATS.

Their cells are cubes. One with side rho and N observations is split into 2^D when rho^(-1/b) <= N + 1, with
b = (D + 1)/(D + 2 nu) [JBG20]. Here a split halves one axis unless all are asked for, and rho is the
geometric mean of the sides, 2^(-J/D) after J halvings: at J = D, 2D, ... cells are theirs where the kernel treats all
axes alike. Halving one axis makes two cells where 2^D would be mostly empty, and a cell without observations is as
unknown as the cube was.

As printed the first observation splits the cube. `capacity` multiplies rho^(-1/b): the whole cube then holds so many
observations, and exponents of regret stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel

__all__ = ["SplittingRule"]

_MOST_AXES = 10  # that may be halved at once: 1,024 cells from one


@dataclass(frozen=True)
class SplittingRule:
    """The splitting rule of [JBG20] for one kernel on [0, 1]^D.

    Parameters
    ----------
    kernel
        The axis along which f may vary most over a cell is halved.
    dimension, smoothness
        D, and nu > 0; their theorem is for nu > 1.
    capacity, all_axes
        The number of observations that the whole cube holds, >= 1, and whether a split halves every axis, into 2^D
        cells (at most 10 dimensions); 1 and True are the printed rule.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> rule = SplittingRule(Matern(1.5, 0.3), dimension=2, smoothness=1.5)
    >>> [round(rule.limit(depth), 2) for depth in (0, 2, 4)]
    [1.0, 3.17, 10.08]
    >>> rule.axes(0), rule.axes(1)
    ((0,), (1,))
    """

    kernel: Kernel
    dimension: int
    smoothness: float
    capacity: float = 1.0
    all_axes: bool = False
    _known: list[tuple[int, ...]] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.kernel.check_dimension(self.dimension)
        object.__setattr__(self, "smoothness", as_number(self.smoothness, name="smoothness", above=0.0))
        object.__setattr__(self, "capacity", as_number(self.capacity, name="capacity", at_least=1.0))
        if self.all_axes and self.dimension > _MOST_AXES:
            raise InvalidInput(
                f"all_axes: expected at most {_MOST_AXES} dimensions, since a split makes 2^D cells, got "
                f"{self.dimension}; leave it out to halve one axis at a time"
            )

    @property
    def exponent(self) -> float:
        """1/b = (D + 2 nu)/(D + 1) [JBG20]."""
        return (self.dimension + 2 * self.smoothness) / (self.dimension + 1)

    def limit(self, depth: int) -> float:
        """Return capacity rho^(-1/b) for a cell that `depth` halvings made, rho = 2^(-depth/D)."""
        return float(self.capacity * 2.0 ** (depth / self.dimension * self.exponent))

    def due(self, count: int, depth: int) -> bool:
        """Whether a cell with `count` observations is split; an empty one never is."""
        return count > 0 and self.limit(depth) <= count + 1

    def axes(self, depth: int) -> tuple[int, ...]:
        """Return the axes that a cell made by `depth` halvings is halved along."""
        if self.all_axes:
            return tuple(range(self.dimension))
        while len(self._known) <= depth:
            halvings = np.bincount([axis for (axis,) in self._known], minlength=self.dimension)
            self._known.append((self._widest(np.ldexp(1.0, -halvings)),))
        return self._known[depth]

    def _widest(self, sides: Array) -> int:
        """The axis of largest modulus; of equals the longest, since moduli of far ends no longer tell; then the first.

        Equals are those up to rounding, so that axes that are alike take turns.
        """
        moduli = self.kernel.modulus(np.diag(sides))
        widest = np.flatnonzero(moduli >= (1 - 1e-9) * moduli.max())
        return int(widest[np.argmax(sides[widest])])
