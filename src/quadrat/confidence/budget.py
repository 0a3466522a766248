"""One budget of error probability, shared out before the data come.

    delta / 2    the Gaussian-process band
    delta / 4    averages over cells
    delta / 4    local polynomials, divided by the number of degrees in use; the band's too where none is

Within the last two every cell of the fixed dyadic family has its own share: a cell that J halvings made gets
6 / (pi^2 (J+1)^2) 2^-J. There are 2^J such cells, and the sum over J of 6 / (pi^2 (J+1)^2) is 1, so the whole adds
up to delta however deep the tree grows. (The paper sums over rounds and over n^D cells instead, with a two-sided
factor lost on the way.)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from quadrat._core.arrays import as_number
from quadrat.errors import InvalidInput

__all__ = ["DeltaBudget", "as_probability"]

_DEEPEST = 900  # beyond it a share is no longer a normal floating-point number


@dataclass(frozen=True)
class DeltaBudget:
    """The shares of a total error probability.

    Parameters
    ----------
    delta
        In (0, 1): everything certified holds at once with probability at least 1 - delta.
    degrees
        Degrees of the local polynomials in use; where there is none, their quarter goes to the band.

    Examples
    --------
    >>> budget = DeltaBudget(0.1, degrees=(1,))
    >>> budget.band, round(budget.average(depth=0), 5)
    (0.05, 0.0152)
    """

    delta: float
    degrees: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        as_probability(self.delta)
        if not isinstance(self.degrees, tuple):
            raise InvalidInput(f"degrees: expected a tuple of degrees, got {self.degrees!r}")
        if len(set(self.degrees)) != len(self.degrees) or any(degree < 0 for degree in self.degrees):
            raise InvalidInput(f"degrees: expected distinct degrees >= 0, got {self.degrees!r}")

    @property
    def band(self) -> float:
        """delta_1, for the band: all points and all times at once."""
        return self.delta / 2 if self.degrees else 3 * self.delta / 4

    def average(self, depth: int) -> float:
        """delta_F, for the average over one cell that `depth` halvings made."""
        return self.delta / 4 * cell_share(depth)

    def polynomial(self, degree: int, depth: int) -> float:
        """delta_F, for the local polynomial of one `degree` of the budget over one cell that `depth` halvings made."""
        if degree not in self.degrees:
            raise InvalidInput(f"degree: expected one of the budget's degrees {self.degrees!r}, got {degree!r}")
        return self.delta / 4 / len(self.degrees) * cell_share(depth)


def cell_share(depth: int) -> float:
    """6 / (pi^2 (J+1)^2) 2^-J for a cell that J = `depth` halvings made."""
    if not isinstance(depth, int | np.integer) or not 0 <= depth <= _DEEPEST:
        raise InvalidInput(f"depth: expected a number of halvings from 0 to {_DEEPEST}, got {depth!r}")
    return 6 / (pi**2 * (depth + 1) ** 2) * 2.0 ** -int(depth)


def as_probability(value: object, *, name: str = "delta") -> float:
    """Return `value` as a probability strictly between 0 and 1."""
    number = as_number(value, name=name, above=0.0)
    if number >= 1:
        raise InvalidInput(f"{name}: expected a probability in (0, 1), got {value!r}")
    return number
