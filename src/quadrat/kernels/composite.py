"""Kernels made of kernels: sums, products, some of the axes, tied length-scales. Unknown facts are refused."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_vector
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels.base import Holder, InformationGainRate, Kernel, Pull
from quadrat.kernels.stationary import Stationary

__all__ = ["OnAxes", "Product", "Sum", "Tied"]


@dataclass(frozen=True)
class _Pair(Kernel):
    """Two parts, with their dimensions and their hyper-parameters side by side: the base of sums and products."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        for part in (self.left, self.right):
            if not isinstance(part, Kernel):
                raise InvalidInput(f"{type(self).__name__}: expected two kernels, got {part!r}")
        if None not in (self.left.dimension, self.right.dimension) and self.left.dimension != self.right.dimension:
            raise InvalidInput(
                f"{type(self).__name__}: expected parts of one dimension, got {self.left.dimension} and"
                f" {self.right.dimension}; wrap a part in OnAxes to let it see some of the axes"
            )

    @property
    def dimension(self) -> int | None:
        return self.left.dimension if self.left.dimension is not None else self.right.dimension

    def check_dimension(self, dimension: int) -> None:
        self.left.check_dimension(dimension)
        self.right.check_dimension(dimension)

    @property
    def hyperparameters(self) -> Array:
        return np.concatenate([self.left.hyperparameters, self.right.hyperparameters])

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        return (
            *(f"left.{name}" for name in self.left.hyperparameter_names),
            *(f"right.{name}" for name in self.right.hyperparameter_names),
        )

    def with_hyperparameters(self, logs: ArrayLike) -> Kernel:
        values = as_vector(logs, length=len(self.hyperparameter_names), name="hyperparameters")
        left, right = values[: self._left_count], values[self._left_count :]
        parts = self.left.with_hyperparameters(left), self.right.with_hyperparameters(right)
        return type(self)(*parts)

    def _with_logs(self, logs: Array) -> Kernel:
        left, right = logs[: self._left_count], logs[self._left_count :]
        return self._unchecked(left=self.left._with_logs(left), right=self.right._with_logs(right))

    @cached_property
    def _left_count(self) -> int:
        """How many hyper-parameters the left part has."""
        return len(self.left.hyperparameter_names)

    def holder(self) -> NoReturn:
        raise NotAvailable(
            f"{type(self).__name__} has no Hölder pair: its parts have scaled distances of their own;"
            " use the exact modulus"
        )


@dataclass(frozen=True)
class Sum(_Pair):
    """K(x, z) = K_1(x, z) + K_2(x, z): functions f_1 + f_2 with f_i in the ball of K_i; written `k1 + k2`.

    Parameters
    ----------
    left, right
        The parts K_1 and K_2, on points of the same dimension.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> (Matern(2.5, 0.3) + Matern(0.5, 0.1, amplitude=0.5)).variance
    1.25
    """

    @property
    def variance(self) -> float:
        return self.left.variance + self.right.variance

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        return self.left(X, Z) + self.right(X, Z)

    def x_vjp(self, X: ArrayLike, Z: ArrayLike) -> tuple[Array, Pull]:
        (left, pull_left), (right, pull_right) = self.left.x_vjp(X, Z), self.right.x_vjp(X, Z)
        return left + right, lambda weights: pull_left(weights) + pull_right(weights)

    def hyper_vjp(self, X: ArrayLike, Z: ArrayLike | None = None) -> tuple[Array, Pull]:
        (left, pull_left), (right, pull_right) = self.left.hyper_vjp(X, Z), self.right.hyper_vjp(X, Z)
        return left + right, lambda weights: np.concatenate([pull_left(weights), pull_right(weights)])

    def squared_modulus(self, offsets: ArrayLike) -> Array:
        return self.left.squared_modulus(offsets) + self.right.squared_modulus(offsets)

    def taylor_remainder(self, offsets: ArrayLike, degree: int) -> Array:
        """Squares add: the remainder functional acts on each part's RKHS, and the sum's norm splits between them."""
        return np.hypot(self.left.taylor_remainder(offsets, degree), self.right.taylor_remainder(offsets, degree))

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        """det(I + A + B) <= det(I + A) det(I + B): the gains add, so the larger rate wins."""
        rates = (self.left.information_gain_rate(dimension), self.right.information_gain_rate(dimension))
        return max(rates, key=lambda rate: (rate.power, rate.log_power))


@dataclass(frozen=True)
class Product(_Pair):
    """K(x, z) = K_1(x, z) K_2(x, z): interactions between the axes of the parts; written `k1 * k2`.

    Parameters
    ----------
    left, right
        The parts K_1 and K_2, on points of the same dimension.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> kernel = OnAxes(Matern(2.5, 0.3), [0]) * OnAxes(Matern(1.5, 0.5), [1])
    >>> kernel([[0.0, 0.0]], [[0.3, 0.5]]).round(3).tolist()
    [[0.253]]
    """

    @property
    def variance(self) -> float:
        return self.left.variance * self.right.variance

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        return self.left(X, Z) * self.right(X, Z)

    def x_vjp(self, X: ArrayLike, Z: ArrayLike) -> tuple[Array, Pull]:
        (left, pull_left), (right, pull_right) = self.left.x_vjp(X, Z), self.right.x_vjp(X, Z)
        return left * right, lambda weights: pull_left(weights * right) + pull_right(weights * left)

    def hyper_vjp(self, X: ArrayLike, Z: ArrayLike | None = None) -> tuple[Array, Pull]:
        (left, pull_left), (right, pull_right) = self.left.hyper_vjp(X, Z), self.right.hyper_vjp(X, Z)
        return left * right, lambda weights: np.concatenate([pull_left(weights * right), pull_right(weights * left)])

    def squared_modulus(self, offsets: ArrayLike) -> Array:
        """2 (v_1 v_2 - K_1 K_2) = v_2 d_1 + K_1 d_2 with d_i the parts' squared moduli and K_1 = v_1 - d_1 / 2."""
        left, right = self.left.squared_modulus(offsets), self.right.squared_modulus(offsets)
        return self.right.variance * left + (self.left.variance - left / 2) * right

    def taylor_remainder(self, offsets: ArrayLike, degree: int) -> Array:
        if degree == 0:
            return self.modulus(offsets)
        raise NotAvailable(f"Product has no Taylor remainder of degree {degree}: only degree 0, its modulus")

    def information_gain_rate(self, dimension: int) -> NoReturn:
        raise NotAvailable(
            f"Product has no known information-gain rate in {dimension} dimensions: bounds exist only when one part has"
            " finite rank (Krause and Ong 2011, theorem 2)"
        )


@dataclass(frozen=True)
class OnAxes(Kernel):
    """K(x, z) = K_0(x[axes], z[axes]): a kernel that sees only the named columns (counted from 0).

    Parameters
    ----------
    kernel
        K_0, on points with as many columns as there are `axes`.
    axes
        The columns that it sees, distinct, from 0.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> additive = OnAxes(Matern(2.5, 0.3), [0]) + OnAxes(Matern(2.5, 0.5), [1, 2])
    >>> additive([[0.1, 0.2, 0.3]]).tolist()
    [[2.0]]
    """

    kernel: Kernel
    axes: Sequence[int]

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InvalidInput(f"OnAxes: expected a kernel, got {self.kernel!r}")
        try:
            axes = tuple(int(axis) for axis in self.axes)
        except (TypeError, ValueError):
            axes = ()
        if not axes or min(axes) < 0 or len(set(axes)) != len(axes):
            raise InvalidInput(f"axes: expected distinct column numbers >= 0, at least one, got {self.axes!r}")
        object.__setattr__(self, "axes", axes)
        self.kernel.check_dimension(len(axes))

    @property
    def variance(self) -> float:
        return self.kernel.variance

    @property
    def dimension(self) -> int | None:
        return None

    def check_dimension(self, dimension: int) -> None:
        if dimension <= max(self.axes):
            raise InvalidInput(f"OnAxes: expected points with at least {max(self.axes) + 1} columns, got {dimension}")

    def _seen(self, X: Array) -> Array:
        return np.ascontiguousarray(X[..., list(self.axes)])

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        left, right = self._pair(X, Z)
        return self.kernel(self._seen(left), self._seen(right))

    def x_vjp(self, X: ArrayLike, Z: ArrayLike) -> tuple[Array, Pull]:
        left, right = self._pair(X, Z)
        matrix, inner = self.kernel.x_vjp(self._seen(left), self._seen(right))

        def pull(weights: Array) -> Array:
            gradient = np.zeros_like(left)
            gradient[:, list(self.axes)] = inner(weights)
            return gradient

        return matrix, pull

    def hyper_vjp(self, X: ArrayLike, Z: ArrayLike | None = None) -> tuple[Array, Pull]:
        left, right = self._pair(X, Z)
        return self.kernel.hyper_vjp(self._seen(left), None if Z is None else self._seen(right))

    @property
    def hyperparameters(self) -> Array:
        return self.kernel.hyperparameters

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        return self.kernel.hyperparameter_names

    def with_hyperparameters(self, logs: ArrayLike) -> OnAxes:
        return OnAxes(self.kernel.with_hyperparameters(logs), self.axes)

    def _with_logs(self, logs: Array) -> OnAxes:
        return self._unchecked(kernel=self.kernel._with_logs(logs), axes=self.axes)

    def squared_modulus(self, offsets: ArrayLike) -> Array:
        return self.kernel.squared_modulus(self._seen(self._offsets(offsets)))

    def taylor_remainder(self, offsets: ArrayLike, degree: int) -> Array:
        return self.kernel.taylor_remainder(self._seen(self._offsets(offsets)), degree)

    def holder(self) -> Holder:
        """The inner kernel's pair, in the scaled distance over the axes that it sees."""
        return self.kernel.holder()

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        self.check_dimension(dimension)
        return self.kernel.information_gain_rate(len(self.axes))


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
        """Return K and its pull-back, on and above the diagonal, from `squares` of n points: see `Stationary`."""
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
