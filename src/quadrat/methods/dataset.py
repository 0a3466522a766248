"""All that was told to a model, one row a measurement, and how a posterior takes it in.

Every fitted method has this piece, the default one too: told trials become rows, a fit (`Units`) says how rows are seen
by the model, and a posterior takes in those that it has not seen yet. When a fit is learned is in
`quadrat.methods.surrogate.Learning`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quadrat._core.arrays import Array, Growing
from quadrat.gp import GaussianProcess, Observations
from quadrat.methods.base import Observation

__all__ = ["Dataset", "Units", "merged", "spread"]


class Units(Protocol):
    """How a model sees what was told."""

    def to_model(self, values: Array) -> Array:
        """Return told values (n,) in model units."""

    def variances(self, variances: Array) -> Array:
        """Return told noise variances (n,), NaN where there is none, in model units and large enough to work with."""


class Dataset:
    """Measurements in the order of telling, in the units told; `dimension` is the number of coordinates of a point.

    Examples
    --------
    >>> data = Dataset(1)
    >>> data.tell(Observation(0, np.array([0.5]), np.array([1.0, 1.2])), noise=0.1)
    >>> data.x.tolist(), data.y.tolist(), data.variance.round(4).tolist()
    ([[0.5], [0.5]], [1.0, 1.2], [0.01, 0.01])
    """

    def __init__(self, dimension: int) -> None:
        self._x, self._y, self._variance = Growing(np.float64, (dimension,)), Growing(np.float64), Growing(np.float64)
        self._under: Units | None = None  # what the posterior was begun with
        self._gp: GaussianProcess

    @classmethod
    def of(cls, x: Array, y: Array, variance: Array) -> Dataset:
        """Return measurements at points (n, D) with values and noise variances (n,)."""
        made = cls(x.shape[1])
        made._x, made._y, made._variance = Growing.of(x), Growing.of(y), Growing.of(variance)
        return made

    def __len__(self) -> int:
        return len(self._y)

    @property
    def x(self) -> Array:
        """Points, repeats included, shape (n, D)."""
        return self._x.view

    @property
    def y(self) -> Array:
        """Values, shape (n,)."""
        return self._y.view

    @property
    def variance(self) -> Array:
        """Noise variances, shape (n,); NaN where they are to be learned."""
        return self._variance.view

    def extend(self, x: ArrayLike, y: ArrayLike, variance: ArrayLike) -> None:
        """Append measurements at points (n, D)."""
        self._x.extend(x)
        self._y.extend(y)
        self._variance.extend(variance)

    def tell(self, observation: Observation, noise: float) -> None:
        """Append a trial: each of its values where their noise is `noise`, NaN to be learned, and else their mean."""
        values, variance = observation.tame_values, noise**2
        if observation.variance is not None:
            values, variance = np.array([float(np.mean(values))]), observation.variance
        self.extend(np.tile(observation.x, (len(values), 1)), values, np.full(len(values), variance))

    def part(self, rows: NDArray[np.intp]) -> Dataset:
        """Return some measurements, by their numbers here."""
        return Dataset.of(self.x[rows], self.y[rows], self.variance[rows])

    def merged(self, units: Units) -> Observations:
        """Return all of it as the model sees it, repeats as one."""
        return Observations.merge(self.x, units.to_model(self.y), units.variances(self.variance))

    def posterior(self, units: Units, begin: Callable[[], GaussianProcess]) -> GaussianProcess:
        """Return the posterior of all rows; it grows as long as the units are the same, and begins anew with others."""
        if self._under is not units:
            self._gp, self._under = begin(), units
        self.grow(self._gp, units, self._gp.n_observations)
        return self._gp

    def grow(self, gp: GaussianProcess, units: Units, first: int, *, times: float = 1.0) -> None:
        """Let a posterior take in the rows from `first` on, with `times` their noise variance."""
        if first == len(self):
            return
        y, variance = units.to_model(self.y[first:]), times * units.variances(self.variance[first:])
        for row in range(len(y)):
            # One by one: a block would round differently, and a replay that asks less often would not be exact.
            gp.add(self.x[None, first + row], y[row : row + 1], variance[row : row + 1])


def merged(x: Array, y: Array, variances: Array, least: float) -> Observations:
    """Return merged observations of values (n,) at points (n, D), from noise variances (n,), NaN where not known.

    Those that are known stay apart from the others, and are at `least` so large.
    """
    known = ~np.isnan(variances)
    if not known.any():
        return Observations.merge(x, y)
    stated = Observations.merge(x[known], y[known], np.maximum(variances[known], least))
    return stated if known.all() else Observations.merge(x[~known], y[~known]) + stated


def spread(y: Array, deviations: Array | None = None) -> float:
    """Return the standard deviation of values (n,), or the root mean square of their stated deviations, (n,).

    1 for values that are equal up to rounding, which have no scale of their own.
    """
    found = float(np.std(y)) if deviations is None else float(np.sqrt(np.mean(deviations**2)))
    # Squares of a scale must be numbers: what differs by less counts as equal.
    return found if found > max(1e-12 * float(np.abs(y).max()), 1e-140) else 1.0
