"""A kernel in which groups of columns share a length-scale, such as the columns that stand for one categorical."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_vector
from quadrat.errors import InvalidInput
from quadrat.kernels.base import Kernel, Pull
from quadrat.kernels.facts import Holder, InformationGainRate
from quadrat.kernels.stationary import Stationary

__all__ = ["Tied"]


@dataclass(frozen=True)
class Tied(Kernel):
    """K itself, with one length-scale to learn for each group of columns instead of one for each column.

    Parameters
    ----------
    kernel
        A kernel with a length-scale for each column, equal within groups.
    groups
        The group of each column: 0, 1, ..., every number at least once.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> kernel = Tied(Matern(2.5, [0.3, 0.5, 0.5]), [0, 1, 1])
    >>> kernel.hyperparameter_names
    ('lengthscale[0]', 'lengthscale[1]', 'amplitude')
    """

    kernel: Stationary
    groups: Sequence[int]

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Stationary) or self.kernel.is_isotropic or self.kernel.shape_names:
            raise InvalidInput(f"Tied: expected a kernel with one length-scale for each column, got {self.kernel!r}")
        try:
            groups = tuple(operator.index(group) for group in self.groups)
        except TypeError:
            groups = ()
        if len(groups) != self.kernel.dimension or set(groups) != set(range(max(groups) + 1)):
            raise InvalidInput(
                f"groups: expected {self.kernel.dimension} numbers that count 0, 1, ... without gaps, got"
                f" {self.groups!r}"
            )
        object.__setattr__(self, "groups", groups)
        scales = np.asarray(self.kernel.lengthscales)
        if (scales != scales[self._first][list(groups)]).any():
            raise InvalidInput(f"Tied: expected equal length-scales within groups, got {self.kernel.lengthscales!r}")

    @property
    def _first(self) -> list[int]:
        return [self.groups.index(group) for group in range(max(self.groups) + 1)]

    @property
    def variance(self) -> float:
        return self.kernel.variance

    @property
    def dimension(self) -> int | None:
        return self.kernel.dimension

    def check_dimension(self, dimension: int) -> None:
        self.kernel.check_dimension(dimension)

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        return self.kernel(X, Z)

    def x_vjp(self, X: ArrayLike, Z: ArrayLike) -> tuple[Array, Pull]:
        return self.kernel.x_vjp(X, Z)

    def hyper_vjp(self, X: ArrayLike, Z: ArrayLike | None = None) -> tuple[Array, Pull]:
        return self._summed(*self.kernel.hyper_vjp(X, Z))

    def upper_hyper_vjp(self, squares: Array, n: int) -> tuple[Array, Pull]:
        """Return what `hyper_vjp(X)` does, on and above the diagonal, from `squares` of n points: see `Stationary`."""
        return self._summed(*self.kernel.upper_hyper_vjp(squares, n))

    def _summed(self, matrix: Array, inner: Pull) -> tuple[Array, Pull]:
        columns = len(self.groups)

        def pull(weights: Array) -> Array:
            gradient = inner(weights)
            return np.append(np.bincount(self.groups, gradient[:columns]), gradient[columns:])

        return matrix, pull

    @property
    def hyperparameters(self) -> Array:
        logs = self.kernel.hyperparameters
        return np.append(logs[self._first], logs[len(self.groups) :])

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        return (*(f"lengthscale[{group}]" for group in range(max(self.groups) + 1)), "amplitude")

    def with_hyperparameters(self, logs: ArrayLike) -> Tied:
        values = as_vector(logs, length=max(self.groups) + 2, name="hyperparameters")
        # Length-scales are equal within groups by construction: nothing to check again.
        return self._unchecked(kernel=self.kernel.with_hyperparameters(self._spread(values)), groups=self.groups)

    def _with_logs(self, logs: Array) -> Tied:
        return self._unchecked(kernel=self.kernel._with_logs(self._spread(logs)), groups=self.groups)

    def _spread(self, logs: Array) -> Array:
        """Return the inner kernel's logs, one length-scale for each column, from those of the groups (p,)."""
        return logs[[*self.groups, -1]]

    def squared_modulus(self, offsets: ArrayLike) -> Array:
        return self.kernel.squared_modulus(offsets)

    def taylor_remainder(self, offsets: ArrayLike, degree: int) -> Array:
        return self.kernel.taylor_remainder(offsets, degree)

    def holder(self) -> Holder:
        return self.kernel.holder()

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        return self.kernel.information_gain_rate(dimension)
