"""Kernels K(x, z) = s^2 kappa(h) of one scaled distance h = ||(x - z) / theta||_2, a length-scale for each axis.

A kernel of this family states its profile kappa and the facts that follow from it; everything else (matrices,
gradients, modulus, Taylor remainder) is derived here, once.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Ints, as_number, as_vector
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels.base import Kernel, Pull
from quadrat.kernels.taylor import check_degree, taylor_remainder

__all__ = ["Lengthscales", "Stationary", "squared_differences"]

Lengthscales: TypeAlias = float | Sequence[float] | Array


class Stationary(Kernel):
    """K(x, z) = s^2 kappa(h): subclasses are frozen dataclasses with fields `lengthscales` and `amplitude` (s).

    h is the Euclidean length of (x - z) / theta, theta the length-scales, kappa the `profile`.

    Attributes
    ----------
    lengthscales
        theta > 0, in the units of the points: one number for all axes, or one for each.
    amplitude
        s > 0, the prior standard deviation, in the units of the values.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> kernel = Matern(0.5, [0.2, 0.4], amplitude=2.0)
    >>> float(kernel.scaled_distance([0.2, 0.0])), kernel.profile(np.array([0.0, 1.0])).round(3).tolist()
    (1.0, [1.0, 0.368])
    """

    lengthscales: Lengthscales
    amplitude: float

    # --- the profile, which each kernel states; h >= 0 has any shape

    @abstractmethod
    def profile(self, h: Array) -> Array:
        """Return kappa(h), with kappa(0) = 1."""

    @abstractmethod
    def complement(self, h: Array) -> Array:
        """Return 1 - kappa(h) to full relative accuracy, also as h -> 0."""

    @abstractmethod
    def slope(self, h: Array) -> Array:
        """Return kappa'(h) / h; 0 at h = 0 where that limit is infinite (it is only ever multiplied by 0 there)."""

    @property
    def has_kink(self) -> bool:
        """Whether kappa'(h)/h is unbounded at 0; gradients then need differences of points, not of products."""
        return self.max_degree == 0

    def profile_and_slope(self, h: Array) -> tuple[Array, Array]:
        """Return (kappa, kappa'/h); kernels whose two formulas share an exponential compute it once."""
        return self.profile(h), self.slope(h)

    @abstractmethod
    def derivative(self, h: Array, order: int) -> Array:
        """Return the derivative of kappa of this order at h > 0, for orders up to `max_degree`."""

    @abstractmethod
    def moment(self, p: int) -> float:
        """Return m_2p = (-1)^p kappa^(2p)(0), the spectral moment of order 2p along one axis."""

    @property
    @abstractmethod
    def max_degree(self) -> int | None:
        """The largest degree k for which f in the ball has a Taylor polynomial with rho_k -> 0; None: any."""

    def remainder_bound(self, h: Array, degree: int) -> Array:
        """Return a bound on rho_k(h), k the `degree`, accurate for small h, where the exact form cancels; inf if none.

        Where the moment m_(2k+2) exists, rho_k(h) <= sqrt(m_(2k+2)) h^(k+1) / (k+1)!.
        """
        from math import factorial

        try:
            moment = self.moment(degree + 1)
        except NotAvailable:
            return np.full_like(h, np.inf)
        return np.asarray(np.sqrt(moment) * h ** (degree + 1) / factorial(degree + 1))

    def shape_gradients(self, h: Array) -> list[Array]:  # noqa: ARG002  # most kernels have no shape to learn
        """Return d kappa / d log a at h for each shape parameter in `shape_names`."""
        return []

    @property
    def shape_names(self) -> tuple[str, ...]:
        """Names of the fields beside length-scales and amplitude that are learned with them."""
        return ()

    # --- fields

    def __post_init__(self) -> None:
        """Normalise and check the shared fields."""
        try:
            scales = as_vector(np.asarray(self.lengthscales, dtype=np.float64), name="lengthscales")
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"lengthscales: expected a positive number or one for each axis, got {self.lengthscales!r}"
            ) from error
        if scales.size == 0 or not ((scales >= 1e-100) & (scales <= 1e100)).all():
            raise InvalidInput(f"lengthscales: expected positive numbers (1e-100 to 1e100), got {self.lengthscales!r}")
        isotropic = np.ndim(self.lengthscales) == 0
        value = float(scales[0]) if isotropic else tuple(float(scale) for scale in scales)
        object.__setattr__(self, "lengthscales", value)
        amplitude = as_number(self.amplitude, name="amplitude", above=0.0, at_most=1e150)
        object.__setattr__(self, "amplitude", amplitude)

    _check_fields = __post_init__  # its former name, which kernels of users may call

    @cached_property
    def _theta(self) -> Array:
        return np.atleast_1d(np.asarray(self.lengthscales, dtype=np.float64))

    @property
    def is_isotropic(self) -> bool:
        """Whether one length-scale serves every axis (and points may have any dimension)."""
        return isinstance(self.lengthscales, float)

    @property
    def variance(self) -> float:
        return self.amplitude**2

    @property
    def dimension(self) -> int | None:
        return None if self.is_isotropic else int(self._theta.size)

    def check_dimension(self, dimension: int) -> None:
        if self.dimension not in (None, dimension):
            raise InvalidInput(
                f"{type(self).__name__}: expected points with {self.dimension} columns, one for each length-scale,"
                f" got {dimension}"
            )

    # --- values and gradients

    def _distances(self, X: Array, Z: Array) -> Array:
        from scipy.spatial.distance import cdist

        # Differences are formed before squaring: |x|^2 + |z|^2 - 2 x.z would lose points that lie close together.
        return np.asarray(cdist(X / self._theta, Z / self._theta))

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        left, right = self._pair(X, Z)
        matrix = self.profile(self._distances(left, right))
        if self.variance != 1.0:
            matrix *= self.variance
        return matrix

    def x_vjp(self, X: ArrayLike, Z: ArrayLike) -> tuple[Array, Pull]:
        left, right = self._pair(X, Z)
        kappa, slope = self.profile_and_slope(self._distances(left, right))

        def pull(weights: Array) -> Array:
            # dK/dx_i = s^2 (kappa'(h)/h) (x_i - z_i) / theta_i^2, summed by matrix products
            terms = weights * slope
            if self.has_kink:
                columns = [(terms * (a[:, None] - b)).sum(1) for a, b in zip(left.T, right.T, strict=True)]
                sums = np.stack(columns, axis=1)
            else:
                sums = terms.sum(1)[:, None] * left - terms @ right
            return np.asarray(sums * (self.variance / self._theta**2))

        return self.variance * kappa, pull

    def hyper_vjp(self, X: ArrayLike, Z: ArrayLike | None = None) -> tuple[Array, Pull]:
        if Z is None:
            return self._symmetric_hyper_vjp(self._points(X, "X"))
        left, right = self._pair(X, Z)
        h = self._distances(left, right)
        kappa, slope = self.profile_and_slope(h)

        def pull(weights: Array) -> Array:
            # dK/dlog theta_i = -s^2 (kappa'(h)/h) (x_i - z_i)^2 / theta_i^2, with the square multiplied out
            terms = weights * slope
            if self.has_kink:
                pairs = zip(left.T, right.T, strict=True)
                squares = np.array([np.vdot(terms, (a[:, None] - b) ** 2) for a, b in pairs])
            else:
                squares = terms.sum(1) @ left**2 + terms.sum(0) @ right**2 - 2 * ((terms @ right) * left).sum(0)
            shapes = [np.vdot(weights, gradient) for gradient in self.shape_gradients(h)]
            return self._log_gradient(squares, np.vdot(weights, kappa), shapes)

        return self.variance * kappa, pull

    def _symmetric_hyper_vjp(self, X: Array) -> tuple[Array, Pull]:
        """The same for Z = X: each pair of points is worked out once."""
        from scipy.spatial.distance import pdist, squareform

        h = pdist(X / self._theta)
        kappa, slope = self.profile_and_slope(h)
        matrix = squareform(kappa) if len(X) > 1 else np.ones((len(X), len(X)))
        np.fill_diagonal(matrix, 1.0)
        if self.variance != 1.0:
            matrix *= self.variance

        def pull(weights: Array) -> Array:
            pairs = weights.take(_upper_triangle(len(X)))
            if self.has_kink or len(X) < 2:
                columns = (pdist(column[:, None], "sqeuclidean") for column in X.T)
                squares = np.array([2 * np.vdot(pairs * slope, column) for column in columns])
            else:
                terms = squareform(pairs * slope)
                squares = 2 * (terms.sum(1) @ X**2) - 2 * ((terms @ X) * X).sum(0)
            total = 2 * np.vdot(pairs, kappa) + weights.trace()
            shapes = [2 * np.vdot(pairs, gradient) for gradient in self.shape_gradients(h)]
            return self._log_gradient(squares, total, shapes)

        return matrix, pull

    def upper_hyper_vjp(self, squares: Array, n: int) -> tuple[Array, Pull]:
        """Return `hyper_vjp(X)` on and above the diagonal, from `squares`, the `squared_differences` of the n points.

        Fits call it many times with other hyper-parameters and the same points.
        """
        theta = np.broadcast_to(self._theta, len(squares)) if self.is_isotropic else self._theta
        h = np.sqrt(theta**-2.0 @ squares)
        kappa, slope = self.profile_and_slope(h)
        matrix = np.zeros((n, n))
        above = _upper_triangle(n)
        entries = matrix.reshape(-1)
        entries[above] = self.variance * kappa
        entries[:: n + 1] = self.variance

        def pull(weights: Array) -> Array:
            pairs = weights.take(above)
            total = 2 * np.vdot(pairs, kappa) + weights.trace()
            shapes = [2 * np.vdot(pairs, gradient) for gradient in self.shape_gradients(h)]
            return self._log_gradient(2 * (squares @ (pairs * slope)), total, shapes)

        return matrix, pull

    def _log_gradient(self, squares: Array, total: np.floating, shapes: list[np.floating]) -> Array:
        """Put together the entries for length-scales (from weighted squared differences), amplitude and shapes."""
        lengths = -squares / self._theta**2
        if self.is_isotropic:
            lengths = lengths.sum(keepdims=True)
        return np.asarray(self.variance * np.concatenate([lengths, [2 * total, *shapes]]))

    @property
    def hyperparameters(self) -> Array:
        shapes = [getattr(self, name) for name in self.shape_names]
        return np.asarray(np.log(np.concatenate([self._theta, [self.amplitude], shapes])))

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        lengths = ("lengthscale",) if self.is_isotropic else tuple(f"lengthscale[{i}]" for i in range(self._theta.size))
        return (*lengths, "amplitude", *self.shape_names)

    def with_hyperparameters(self, logs: ArrayLike) -> Stationary:
        values = np.exp(as_vector(logs, length=len(self.hyperparameter_names), name="hyperparameters"))
        return dataclasses.replace(self, **self._learned_fields(values))  # type: ignore[type-var]  # a dataclass

    def _with_logs(self, logs: Array) -> Stationary:
        values = np.exp(logs)
        fields = self._learned_fields(values)
        if self._kept_fields is None:
            return dataclasses.replace(self, **fields)  # type: ignore[type-var]  # a dataclass
        return self._unchecked(**self._kept_fields, **fields, _theta=values[: self._theta.size])

    def _learned_fields(self, values: Array) -> dict[str, object]:
        """Return the fields that hyper-parameters (p,), in the order of their names, stand for."""
        *numbers, amplitude = values[: self._theta.size + 1].tolist()
        lengths = numbers[0] if self.is_isotropic else tuple(numbers)
        shapes = values[len(numbers) + 1 :].tolist()
        return {
            "lengthscales": lengths,
            "amplitude": amplitude,
            **dict(zip(self.shape_names, shapes, strict=True)),
        }

    @cached_property
    def _kept_fields(self) -> dict[str, object] | None:
        """The fields that are not learned; None where `__post_init__` keeps more than fields, and has to run."""
        given = {field.name for field in dataclasses.fields(self) if field.init}  # type: ignore[arg-type]  # a dataclass
        state = {name: value for name, value in vars(self).items() if not _is_cached(type(self), name)}
        learned = {"lengthscales", "amplitude", *self.shape_names}
        return {name: state[name] for name in given - learned} if state.keys() == given else None

    # --- smoothness

    def scaled_distance(self, offsets: ArrayLike) -> Array:
        """Return h = ||offset / theta||_2 for `offsets` of shape (..., D)."""
        return np.asarray(np.linalg.norm(self._offsets(offsets) / self._theta, axis=-1))

    def squared_modulus(self, offsets: ArrayLike) -> Array:
        h = self.scaled_distance(offsets)
        # flat and back: profiles work in place, which single numbers do not allow
        return np.asarray(2 * self.variance * self.complement(h.reshape(-1)).reshape(h.shape))

    def taylor_remainder(self, offsets: ArrayLike, degree: int) -> Array:
        check_degree(self, degree)
        h = self.scaled_distance(offsets)
        return np.asarray(self.amplitude * taylor_remainder(self, h.reshape(-1), degree).reshape(h.shape))


def squared_differences(X: Array) -> Array:
    """Return (x_i - x_i')^2 for each axis and pair of rows of X, shape (D, n (n-1) / 2); pairs as pdist orders them."""
    first, second = np.divmod(_upper_triangle(len(X)), max(len(X), 1))
    return np.asarray(np.square(X.T[:, first] - X.T[:, second]))


def _is_cached(owner: type, name: str) -> bool:
    """Whether an attribute of an instance is the kept value of a `cached_property`."""
    return isinstance(getattr(owner, name, None), cached_property)


@lru_cache(maxsize=8)
def _upper_triangle(n: int) -> Ints:
    """Flat indices of the entries above the diagonal of an n x n matrix, row by row, as pdist orders pairs."""
    return np.flatnonzero(np.triu(np.ones((n, n), dtype=bool), 1))
