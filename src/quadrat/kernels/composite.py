"""Sums, products and kernels on some of the axes. Each is again a kernel; what is not known for it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_vector
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels.base import Kernel, Pull
from quadrat.kernels.facts import Holder, InformationGainRate

__all__ = ["OnAxes", "Product", "Sum"]


class _Pair(Kernel):
    """What sums and products share: two parts, their dimensions and their hyper-parameters, side by side."""

    left: Kernel
    right: Kernel

    def _check_parts(self) -> None:
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
        return type(self)(*parts)  # type: ignore[call-arg]  # both subclasses take two parts

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

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        self._check_parts()

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
        left, right = (
            self.left.taylor_remainder(offsets, degree),
            self.right.taylor_remainder(offsets, degree),
        )
        return np.hypot(left, right)

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        """det(I + A + B) <= det(I + A) det(I + B): the gains add, so the larger rate wins."""
        rates = (self.left.information_gain_rate(dimension), self.right.information_gain_rate(dimension))
        return max(rates, key=lambda rate: (rate.power, rate.log_power))


@dataclass(frozen=True)
class Product(_Pair):
    """K(x, z) = K_1(x, z) K_2(x, z): interactions between what the parts see; written `k1 * k2`.

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

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        self._check_parts()

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
