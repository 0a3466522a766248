"""The interface of every kernel, and how kernels combine.

Notation, kept throughout the package: points live in the unit cube; K(x, z) depends on the difference x - z
only; s^2 = K(x, x) is the same everywhere; B bounds the RKHS norm of f. Hyper-parameters are handled as logs.

Gradients are given as pull-backs (vector-Jacobian products), so that sums and products of kernels compose without
building an array of size n x m x D:

    K, pull = kernel.hyper_vjp(X, Z);  pull(W)[i]    = sum_ab W_ab dK_ab / d log theta_i
    K, pull = kernel.x_vjp(X, Z);      pull(W)[a, i] = sum_b  W_ab dK(x_a, z_b) / d x_ai
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_points
from quadrat.errors import InvalidInput

if TYPE_CHECKING:
    from quadrat.kernels.composite import Product, Sum

__all__ = ["Holder", "InformationGainRate", "Kernel", "Pull"]

Pull: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True)
class Holder:
    """The pair (C, alpha) with |f(x) - f(z)| <= B s C h^alpha for all f of norm at most B, h the scaled distance.

    It replaces the constants of the paper's embedding propositions, several of which are not computable or do
    not hold.

    Attributes
    ----------
    constant, exponent
        C >= 0, without unit (h and s carry the units), and alpha in (0, 1].

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> pair = Matern(2.5).holder()
    >>> round(pair.constant, 3), pair.exponent
    (1.291, 1.0)
    """

    constant: float
    exponent: float


@dataclass(frozen=True)
class InformationGainRate:
    """gamma_n = O(n^power (log n)^log_power): how fast the maximum information gain grows with the budget n.

    Attributes
    ----------
    power, log_power, source
        The powers of n and of log n, and the source of the proof.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> rate = Matern(2.5).information_gain_rate(2)
    >>> round(rate.power, 3), round(rate.log_power, 3)
    (0.286, 0.714)
    """

    power: float
    log_power: float
    source: str

    def __str__(self) -> str:
        parts = [f"n^{self.power:.3g}"] if self.power else []
        parts += [f"(log n)^{self.log_power:.3g}"] if self.log_power else []
        return "O(" + (" ".join(parts) or "1") + ")"


class Kernel(ABC):
    """A positive-definite function K(x, z) of the difference x - z, immutable and hashable.

    Calling it with points of shapes (n, D) and (m, D) gives the matrix of values, shape (n, m); with one set of points,
    that of the set with itself. `k1 + k2` and `k1 * k2` are kernels.

    Examples
    --------
    >>> from quadrat.kernels import Matern, SquaredExponential
    >>> kernel = Matern(2.5, 0.3) + SquaredExponential(1.0, amplitude=0.5)
    >>> kernel([[0.0], [0.5]]).round(3).tolist(), kernel.variance
    ([[1.25, 0.446], [0.446, 1.25]], 1.25)
    >>> float(kernel.modulus([0.1]).round(3))  # |f(x) - f(z)| is at most B times this where |x - z| = 0.1
    0.413
    """

    # --- values

    @abstractmethod
    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Return the matrix K(x_a, z_b), shape (n, m), for X (n, D) and Z (m, D); Z defaults to X."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """s^2 = K(x, x), the prior variance at every point."""

    @property
    @abstractmethod
    def dimension(self) -> int | None:
        """The number of columns that points must have; None when any will do."""

    @abstractmethod
    def check_dimension(self, dimension: int) -> None:
        """Raise `InvalidInput` when the kernel is not a kernel on points with `dimension` columns."""

    # --- gradients

    @abstractmethod
    def x_vjp(self, X: ArrayLike, Z: ArrayLike) -> tuple[Array, Pull]:
        """Return K (n, m) between X and Z and the pull-back W (n, m) -> (n, D) of its gradient in the rows of X.

        Where K has a kink at x = z (Matérn nu <= 1/2, say), the one-sided slopes cancel and 0 is returned.
        """

    @abstractmethod
    def hyper_vjp(self, X: ArrayLike, Z: ArrayLike | None = None) -> tuple[Array, Pull]:
        """Return K (n, m) of X and Z, and the pull-back W (n, m) -> (p,) of its gradient in the log hyper-parameters.

        Without Z, W must be symmetric, and only its upper triangle is read. The caller may change K.
        """

    @property
    @abstractmethod
    def hyperparameters(self) -> Array:
        """Logs of the hyper-parameters, shape (p,), in the order of `hyperparameter_names`."""

    @property
    @abstractmethod
    def hyperparameter_names(self) -> tuple[str, ...]:
        """The name of each entry of `hyperparameters`, without the log."""

    @abstractmethod
    def with_hyperparameters(self, logs: ArrayLike) -> Kernel:
        """Return the same kernel with other hyper-parameters, given as logs, shape (p,)."""

    # --- smoothness of the functions in its ball

    @abstractmethod
    def squared_modulus(self, offsets: ArrayLike) -> Array:
        """Return K(x, x) + K(z, z) - 2 K(x, z) for `offsets` x - z of shape (..., D), free of cancellation."""

    def modulus(self, offsets: ArrayLike) -> Array:
        """Return the exact modulus of continuity of the unit ball at `offsets` x - z of shape (..., D).

        |f(x) - f(z)| <= B * modulus(x - z) for every f with norm at most B, by the reproducing property and
        Cauchy-Schwarz (the paper's appendix on embeddings, where the factor B is lost on the way), and some f
        attains it. It grows with each |offset|, so over a cell its largest value is at the cell's sides.
        """
        return np.asarray(np.sqrt(self.squared_modulus(offsets)))

    @abstractmethod
    def taylor_remainder(self, offsets: ArrayLike, degree: int) -> Array:
        """Bound the Taylor remainder of the unit ball: s rho_k at `offsets` from the centre, shape (..., D).

        |f(x) - T_k f(x)| <= B * taylor_remainder(x - c, k), T_k the Taylor polynomial of `degree` k about c.
        """

    @abstractmethod
    def holder(self) -> Holder:
        """Return (C, alpha) with modulus <= s C h^alpha at every scaled distance h."""

    @abstractmethod
    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        """Return the known growth of the maximum information gain on a `dimension`-dimensional cube."""

    # --- composition

    def __add__(self, other: Kernel) -> Sum:
        from quadrat.kernels.composite import Sum

        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Product:
        from quadrat.kernels.composite import Product

        return Product(self, other)

    # --- without checks, for values that were made inside

    @classmethod
    def _unchecked(cls, **fields: object) -> Self:
        """Return the kernel with all these fields, in the form that `__post_init__` would give them, unchecked."""
        made = object.__new__(cls)
        vars(made).update(fields)
        return made

    def _with_logs(self, logs: Array) -> Kernel:
        """Return the kernel with other logs (p,) that are known to be good: every step of a fit builds a kernel."""
        return self.with_hyperparameters(logs)

    # --- shared checks

    def _points(self, X: ArrayLike, name: str) -> Array:
        points = as_points(X, dimension=self.dimension, name=name)
        self.check_dimension(points.shape[1])
        return points

    def _pair(self, X: ArrayLike, Z: ArrayLike | None) -> tuple[Array, Array]:
        left = self._points(X, "X")
        if Z is None or Z is X:
            return left, left
        right = self._points(Z, "Z")
        if left.shape[1] != right.shape[1]:
            raise InvalidInput(f"X and Z: expected the same number of columns, got {left.shape} and {right.shape}")
        return left, right

    def _offsets(self, offsets: ArrayLike) -> Array:
        try:
            array = np.asarray(offsets, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"offsets: expected numbers, got {offsets!r:.80}") from None
        if array.ndim == 0:
            raise InvalidInput("offsets: expected shape (..., D), one entry for each dimension, got a single number")
        if np.isnan(array).any():
            raise InvalidInput("offsets: expected numbers, got NaN")
        if self.dimension is not None and array.shape[-1] != self.dimension:
            raise InvalidInput(f"offsets: expected shape (..., {self.dimension}), got {array.shape}")
        self.check_dimension(array.shape[-1])
        return array
