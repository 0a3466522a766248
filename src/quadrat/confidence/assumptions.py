"""What a certified statement rests on: the kernel, a bound on the norm, and the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, keep_plain
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Kernel, Matern, OnAxes, Sum, Tied
from quadrat.kernels.stationary import Stationary
from quadrat.partition import Cell, LargestVariation

__all__ = ["Assumptions", "UserHolder"]


@dataclass(frozen=True)
class UserHolder:
    """What a user knows beyond the kernel: |f(x) - f(z)| <= constant ||x - z||_2^exponent on the cube.

    Parameters
    ----------
    constant
        L > 0, in the units of the values, for distances in units of the cube's side.
    exponent
        alpha, in (0, 1]; 1 is a Lipschitz bound.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.3), norm_bound=2.0, noise=0.1)
    >>> known = Assumptions(Matern(2.5, 0.3), norm_bound=2.0, noise=0.1, holder=UserHolder(1.0))
    >>> float(given.variation([0.1]).round(3)), float(known.variation([0.1]).round(3))
    (0.819, 0.1)
    """

    constant: float
    exponent: float = 1.0

    def __post_init__(self) -> None:
        keep_plain(self)
        as_number(self.constant, name="constant", above=0.0)
        as_number(self.exponent, name="exponent", above=0.0, at_most=1.0)


@dataclass(frozen=True)
class Assumptions:
    """f lies in the ball of radius `norm_bound` of the kernel's RKHS; noise is conditionally sub-Gaussian.

    Fixed before the data: a length-scale learned from observations that are then used again voids every bound
    built on it (the paper's experiments do that). The data can reject them; they can never confirm them.

    Parameters
    ----------
    kernel
        K, hyper-parameters included.
    norm_bound
        B >= ||f||_K, > 0.
    noise
        sigma > 0: the noise of each observation, given the past and its point, is sigma-sub-Gaussian.
    holder
        The user's own Hölder bound, used wherever it is smaller than the kernel's modulus.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.3), norm_bound=2.0, noise=0.1)
    >>> float(given.variation([0.0, 0.03]).round(3))
    0.257
    """

    kernel: Kernel
    norm_bound: float
    noise: float
    holder: UserHolder | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InvalidInput(f"kernel: expected a kernel such as Matern(2.5, 0.3), got {self.kernel!r}")
        if self.holder is not None and not isinstance(self.holder, UserHolder):
            raise InvalidInput(f"holder: expected UserHolder(constant, exponent) or None, got {self.holder!r}")
        object.__setattr__(
            self, "norm_bound", as_number(self.norm_bound, name="norm_bound", at_least=1e-100, at_most=1e100)
        )
        object.__setattr__(self, "noise", as_number(self.noise, name="noise", at_least=1e-100, at_most=1e100))

    @property
    def ceiling(self) -> float:
        """B s: |f(x)| never exceeds it."""
        return self.norm_bound * float(np.sqrt(self.kernel.variance))

    def variation(self, offsets: ArrayLike) -> Array:
        """Bound |f(x) - f(z)| for `offsets` x - z of shape (..., D): omega, or the user's own bound if smaller.

        It stands wherever the paper writes L (sqrt(D) r)^alpha_1, and is never larger than the best such pair.
        """
        omega = self.norm_bound * self.kernel.modulus(offsets)
        if self.holder is None:
            return omega
        distance = np.linalg.norm(np.asarray(offsets, dtype=np.float64), axis=-1)
        return np.asarray(np.minimum(omega, self.holder.constant * distance**self.holder.exponent))

    def interpolation_error(self, sides: ArrayLike) -> Array:
        """Bound |f(x) - sum_v p_v(x) f(v)| over cells with `sides` (..., D); inf where nothing is known.

        v are the 2^D corners and p_v >= 0 the weights of multilinear interpolation, which add up to 1. So f over a cell
        is at most its largest value at a corner plus this. It is of second order in the sides where omega is of first.

        Taylor's formula of degree 1 about x: the linear terms cancel, as sum_v p_v (v - x) = 0, and the remainder at v
        is at most B s rho_1(h_v), h_v the scaled distance. Where rho_1(h) is bounded by a power of h up to h^2, it is
        concave in h^2, so that the sum over v is at most B s rho_1 at the root of sum_v p_v h_v^2, which is at most the
        scaled half-diagonal. In a sum of kernels squares add.
        """
        half = np.asarray(sides, dtype=np.float64) / 2
        return np.asarray(self.norm_bound * np.sqrt(_squared_interpolation(self.kernel, half)))

    def cell_variation(self, cell: Cell) -> float:
        """omega(diam E): how much f can vary over a cell, from corner to opposite corner."""
        return float(self.variation(cell.sides))

    def half_variation(self, cell: Cell) -> float:
        """omega(H): how much f can differ from its value at the centre of a cell."""
        return float(self.variation(cell.half_diagonal))

    def axis_rule(self) -> LargestVariation:
        """Return the rule that halves the axis along which omega is largest; it depends on the sides alone."""
        return LargestVariation(lambda sides: self.variation(np.diag(sides)))


def _squared_interpolation(kernel: Kernel, half: Array) -> Array:
    """The square of `interpolation_error` for B = 1, from half of the sides (..., D); inf where nothing is known."""
    if isinstance(kernel, Sum):
        return _squared_interpolation(kernel.left, half) + _squared_interpolation(kernel.right, half)
    if isinstance(kernel, OnAxes):  # on some of the axes, multilinear interpolation is that of those axes
        return _squared_interpolation(kernel.kernel, half[..., list(kernel.axes)])
    if isinstance(kernel, Tied):
        return _squared_interpolation(kernel.kernel, half)
    unknown = np.full(half.shape[:-1], np.inf)
    if not isinstance(kernel, Stationary) or kernel.max_degree == 0:
        return unknown
    h = kernel.scaled_distance(half)
    try:
        remainder = np.sqrt(kernel.moment(2)) * h**2 / 2
    except NotAvailable:
        if not isinstance(kernel, Matern):
            return unknown
        remainder = kernel.remainder_bound(h, 1)  # a multiple of h^nu, 1 < nu < 2
    return np.asarray(kernel.variance * remainder**2)
