"""Averages over cells: the second upper bound of Algorithm 1, in the form that holds.

The paper's b_t(E) exists twice, once without sigma and once without the factor for two sides, and both bound the
distance to the average of f over the cell while the points need not be uniform in it. What holds, for a cell F of a
family fixed in advance, any adaptive choice of points and all times at once, with N_F all points that lie in F (those
told before F existed included):

    b(F) = sigma sqrt((N_F + 1)(2 log(1/delta_F) + log(1 + N_F))) / N_F
    max_F f <= mean of y in F + b(F) + mean_i omega(x_i, farthest corner of F)

b is the boundary of a normal mixture over the sum of the noise (mixing variance 1/sigma^2), by Ville's inequality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import ArrayLike, as_points, as_vector
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.partition import Cell

__all__ = ["CellAverage", "average_half_width", "cell_average"]


@dataclass(frozen=True)
class CellAverage:
    """What the observations in one cell say together.

    `upper` bounds max f over the cell and `lower` its minimum; with no observation they are infinite.

    Attributes
    ----------
    count
        N_F, how many observations lie in the cell.
    mean
        Their mean, in the units of the values; 0 for none.
    half_width
        b(F), what noise may have added to the mean.
    spread
        What f can differ by between the observed points and the farthest corner, on average.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> half = Cell([0.0], [0.5])
    >>> seen = cell_average(half, [[0.1], [0.2], [0.4]], [0.3, 0.2, 0.4], given, delta=0.01)
    >>> round(seen.mean, 2), round(seen.half_width, 2), round(seen.upper, 2)
    (0.3, 0.11, 1.2)
    """

    count: int
    mean: float
    half_width: float  # b(F)
    spread: float  # mean_i omega(x_i, farthest corner)

    @property
    def upper(self) -> float:
        """mean + b + spread."""
        return self.mean + self.half_width + self.spread

    @property
    def lower(self) -> float:
        """mean - b - spread."""
        return self.mean - self.half_width - self.spread


def average_half_width(count: int, noise: float, delta: float) -> float:
    """Return b(F) for N_F = `count` observations; infinite for none.

    Parameters
    ----------
    count
        N_F >= 0.
    noise
        sigma, in the units of the values.
    delta
        delta_F, this cell's share, in (0, 1).

    Returns
    -------
    float
        b(F), in the units of the values.

    Examples
    --------
    >>> round(average_half_width(100, noise=0.1, delta=0.01), 4), average_half_width(0, 0.1, 0.01)
    (0.0374, inf)
    """
    as_probability(delta)
    if not isinstance(count, int | np.integer) or count < 0:
        raise InvalidInput(f"count: expected a number of observations >= 0, got {count!r}")
    if count == 0:
        return float("inf")
    return float(noise * np.sqrt((count + 1) * (2 * np.log(1 / delta) + np.log1p(count))) / count)


def cell_average(cell: Cell, X: ArrayLike, y: ArrayLike, assumptions: Assumptions, delta: float) -> CellAverage:
    """Return the average bound of a cell from the observations that lie in it.

    Parameters
    ----------
    cell
        F, from a family fixed before the data, such as the cells of a `PartitionTree` under one rule.
    X, y
        All observations in F, shapes (N, D) and (N,); replicates one by one.
    assumptions
        Give sigma and omega.
    delta
        delta_F, this cell's share: `DeltaBudget.average(depth)`.

    Returns
    -------
    CellAverage
        With infinite bounds where there is no observation.

    Raises
    ------
    InvalidInput
        Points outside the cell.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> cell_average(Cell([0.0], [0.5]), [[0.1], [0.2]], [0.3, 0.2], given, delta=0.01).count
    2
    """
    points = as_points(X, dimension=cell.dimension, name="X")
    values = as_vector(y, length=len(points), name="y")
    if not len(points):
        return CellAverage(0, 0.0, float("inf"), 0.0)
    if not cell.contains(points).all():
        raise InvalidInput(f"X: expected points inside the cell {cell}, got some outside")
    spread = float(assumptions.variation(cell.farthest_offsets(points)).mean())
    width = average_half_width(len(points), assumptions.noise, delta)
    return CellAverage(len(points), float(values.mean()), width, spread)
