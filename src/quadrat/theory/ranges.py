"""The ranges I_0 to I_3 of the Matérn smoothness nu that the paper's summary of improvements distinguishes."""

from __future__ import annotations

from enum import Enum
from math import inf

from quadrat._core.arrays import as_number, as_whole

__all__ = ["MaternRange", "crossover", "matern_range", "matern_ranges"]


class MaternRange(Enum):
    """The paper's ranges of the smoothness nu.

    Examples
    --------
    >>> matern_range(0.5, 2) is MaternRange.I0
    True
    """

    I0 = "I_0"
    I1 = "I_1"
    I2 = "I_2"
    I3 = "I_3"


def crossover(dimension: int) -> float:
    """(D^2 + 5D + 12)/4: above it, and only there, n^(1/2 + c_nu) is smaller than n^((D+1)/(D+2)).

    Parameters
    ----------
    dimension
        D >= 1.

    Returns
    -------
    float
        A smoothness nu.

    Examples
    --------
    >>> crossover(2)
    6.5
    """
    d = as_whole(dimension, name="dimension")
    return (d * d + 5 * d + 12) / 4


def matern_ranges(dimension: int) -> dict[MaternRange, tuple[float, float]]:
    """Return the bounds (low, high] of each range; a range is empty when low >= high.

    I_1 is empty for D = 1; I_2 is not empty exactly when D^2 - 3D - 12 < 0, that is for D <= 5.

    Parameters
    ----------
    dimension
        D >= 1.

    Returns
    -------
    dict of MaternRange to tuple
        (low, high) of nu.

    Examples
    --------
    >>> matern_ranges(2)[MaternRange.I2], matern_ranges(6)[MaternRange.I2]
    ((3.0, 6.5), (21.0, 21.0))
    """
    d = as_whole(dimension, name="dimension")
    half = d * (d + 1) / 2
    last = max(half, crossover(d))
    return {
        MaternRange.I0: (0.0, 1.0),
        MaternRange.I1: (1.0, half),
        MaternRange.I2: (half, last),
        MaternRange.I3: (last, inf),
    }


def matern_range(nu: float, dimension: int) -> MaternRange:
    """Return the range that nu falls in.

    Parameters
    ----------
    nu, dimension
        Smoothness of the Matérn kernel, > 0, and D >= 1.

    Returns
    -------
    MaternRange

    Examples
    --------
    >>> matern_range(2.5, 1).value, matern_range(2.5, 2).value, matern_range(2.5, 3).value
    ('I_2', 'I_1', 'I_1')
    """
    nu = as_number(nu, name="nu", above=0.0)
    return next(name for name, (low, high) in matern_ranges(dimension).items() if low < nu <= high)
