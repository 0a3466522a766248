"""Observations with replicates merged, and the likelihood that merging keeps.

Several measurements at one point enter a Gaussian process as their mean: with noise variances v_i the likelihoods
multiply to N(mean; f, v) times a factor that does not contain f, where 1/v = sum 1/v_i. Merging keeps the matrix
small and regular; the factor is kept too, because it knows the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Bools, Ints, as_points, as_vector
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput

__all__ = ["Observations", "as_variances", "group_rows"]


def group_rows(X: Array) -> tuple[Ints, Ints]:
    """Return (first, group): the index of the first row of each group of equal rows, and the group of each row."""
    groups: dict[bytes, int] = {}
    first: list[int] = []
    group = np.empty(len(X), dtype=np.intp)
    for row, point in enumerate(X + 0.0):  # + 0.0 turns -0.0 into 0.0
        key = point.tobytes()
        if key not in groups:
            groups[key] = len(groups)
            first.append(row)
        group[row] = groups[key]
    return np.array(first, dtype=np.intp), group


def as_variances(values: ArrayLike, length: int, name: str = "noise_variance") -> Array:
    """Return noise variances as a vector; a scalar is repeated. Negative ones are refused."""
    variances = as_vector(values, length=length, name=name)
    if (variances < 0).any():
        where = int(np.argmax(variances < 0))
        raise InvalidInput(f"{name}: expected variances >= 0, got {variances[where]} at index {where}")
    return variances


@dataclass(frozen=True)
class Observations:
    """Distinct points with the mean of the measurements there.

    Attributes
    ----------
    x, y
        Points, shape (n, D), and means, shape (n,); measurements with and without a known variance stay apart.
    count
        How many measurements of unknown variance stand behind each mean, shape (n,); 0 where the variance is known.
    scatter
        Sum of squared deviations of those measurements from their mean, shape (n,).
    known_variance
        Known noise variance of the mean, shape (n,). Where `count` is above 0 the unknown variance comes on top: there
        it is 0, or the extra variance of an outlier.
    noise_factor
        What the unknown variance of one measurement is multiplied by at each point, shape (n,), all > 0; None where it
        is the same everywhere.

    Examples
    --------
    >>> data = Observations.merge([[0.1], [0.4], [0.1]], [1.0, 2.0, 3.0])
    >>> data.x.tolist(), data.y.tolist(), data.count.tolist(), data.scatter.tolist()
    ([[0.1], [0.4]], [2.0, 2.0], [2.0, 1.0], [2.0, 0.0])
    """

    x: Array
    y: Array
    count: Array
    scatter: Array
    known_variance: Array
    noise_factor: Array | None = None

    __repr__ = printed

    @classmethod
    def merge(cls, X: ArrayLike, y: ArrayLike, noise_variance: ArrayLike | None = None) -> Observations:
        """Merge raw measurements y (n,) at the rows of X (n, D), repeats allowed.

        Without `noise_variance` all share one unknown variance; otherwise it is a number or has shape (n,).
        """
        points = as_points(X, name="X")
        values = as_vector(y, length=len(points), name="y")
        first, group = group_rows(points)
        size = len(first)
        if noise_variance is None:
            count = np.bincount(group, minlength=size).astype(np.float64)
            mean = np.bincount(group, values, size) / count
            scatter = np.bincount(group, (values - mean[group]) ** 2, size).astype(np.float64)
            return cls(points[first], mean, count, scatter, np.zeros(size))
        variances = as_variances(noise_variance, len(points))
        # Where some measurements are noise-free, they alone count.
        exact = np.bincount(group, variances == 0, size) > 0
        weights = np.where(exact[group], variances == 0, 1 / np.where(variances > 0, variances, 1.0)).astype(np.float64)
        total = np.bincount(group, weights, size)
        mean = np.bincount(group, weights * values, size) / total
        merged = np.where(exact, 0.0, 1 / total)
        return cls(points[first], mean, np.zeros(size), np.zeros(size), merged)

    def __len__(self) -> int:
        return len(self.y)

    def __add__(self, other: Observations) -> Observations:
        """Put two sets side by side without merging across them."""
        names = ("x", "y", "count", "scatter", "known_variance")
        both = Observations(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))
        if self.noise_factor is None and other.noise_factor is None:
            return both
        return both.with_noise_factor(np.concatenate([self._factors, other._factors]))

    def subset(self, rows: Ints) -> Observations:
        """Return the means with the numbers `rows`, in this order."""
        some = Observations(self.x[rows], self.y[rows], self.count[rows], self.scatter[rows], self.known_variance[rows])
        return some if self.noise_factor is None else some.with_noise_factor(self.noise_factor[rows])

    def with_extra(self, rows: Ints, variance: Array) -> Observations:
        """Return the same means, those with the numbers `rows` (k,) with so much more known variance, (k,)."""
        known = self.known_variance.copy()
        known[rows] += variance
        return Observations(self.x, self.y, self.count, self.scatter, known, self.noise_factor)

    def with_noise_factor(self, factor: Array | None) -> Observations:
        """Return the same means, whose measurements have the unknown variance times a factor, (n,), that x decides."""
        return Observations(self.x, self.y, self.count, self.scatter, self.known_variance, factor)

    def merged(self) -> Observations:
        """Merge means of equal points, where no part of the variance is known; means with a known part stay apart."""
        alone = (self.count == 0) | (self.known_variance > 0)
        first, group = group_rows(self.x[~alone])
        if len(first) == len(group):
            return self
        size, y, weight = len(first), self.y[~alone], self.count[~alone]
        count = np.bincount(group, weight, size).astype(np.float64)
        mean = np.bincount(group, weight * y, size) / count
        within = self.scatter[~alone] + weight * (y - mean[group]) ** 2
        scatter = np.bincount(group, within, size).astype(np.float64)
        factor = None if self.noise_factor is None else self.noise_factor[~alone][first]  # equal points have the same
        pooled = Observations(self.x[~alone][first], mean, count, scatter, np.zeros(size), factor)
        return pooled + self.subset(np.flatnonzero(alone))

    def noise_variance(self, unknown: float) -> Array:
        """Return the variance of each mean, shape (n,), when the unknown variance has this value."""
        return np.where(self._is_unknown, unknown / self._divisors, 0.0) + self.known_variance

    def within(self, unknown: float) -> tuple[float, float]:
        """Return the log-likelihood of the replicates around their means, and its derivative in log `unknown`."""
        extra, logs, scatter = self._replicates
        if extra == 0.0:
            return 0.0, 0.0
        value = -0.5 * (extra * np.log(2 * np.pi * unknown) + logs + scatter / unknown)
        return value, -0.5 * (extra - scatter / unknown)

    # Every step of a fit needs these again.

    @cached_property
    def _is_unknown(self) -> Bools:
        """Where the variance is not known, shape (n,)."""
        return self.count > 0

    @cached_property
    def _divisors(self) -> Array:
        """What the unknown variance is divided by, shape (n,): how many measurements there are, over their factor."""
        return np.maximum(self.count, 1.0) if self.noise_factor is None else np.maximum(self.count, 1.0) / self._factors

    @cached_property
    def _factors(self) -> Array:
        """The noise factors, shape (n,)."""
        return np.ones(len(self.y)) if self.noise_factor is None else self.noise_factor

    @cached_property
    def _replicates(self) -> tuple[float, float, float]:
        """How many measurements there are beside the first of each point, the logs of counts, the scatter: sums."""
        repeats = self.count[self._is_unknown]
        extra, logs = float((repeats - 1).sum()), float(np.log(repeats).sum())
        if self.noise_factor is None:
            return extra, logs, float(self.scatter.sum())
        logs += float((repeats - 1) @ np.log(self._factors[self._is_unknown]))
        return extra, logs, float((self.scatter / self._factors).sum())
