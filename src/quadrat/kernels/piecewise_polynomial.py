"""Compactly supported piecewise polynomial kernels.

[RW06]: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, section 4.2.1.
[W04]: Wendland, Scattered Data Approximation, 2004, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import comb, factorial, sqrt

import numpy as np

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels.base import Holder, InformationGainRate
from quadrat.kernels.stationary import Lengthscales, Stationary

__all__ = ["PiecewisePolynomial"]

# Below this distance differences are taken between exact coefficients instead of between rounded values.
_NEAR = 0.1
Polynomial = list[Fraction]  # coefficients, lowest first, in exact arithmetic


@dataclass(frozen=True)
class PiecewisePolynomial(Stationary):
    """kappa(h) = (1 - h)_+^(j + q) P_q(h), j = floor(D/2) + q + 1: zero beyond h = 1 [RW06, eq. 4.21].

    Positive definite up to dimension D only, so D is part of the kernel; more columns are refused.

    Parameters
    ----------
    q
        0, 1, 2 or 3: kappa has 2q continuous derivatives.
    for_dimension
        D, the largest number of columns that points may have.
    lengthscales, amplitude
        theta > 0, the radius of the support, one number for all axes or one for each, and s > 0, the prior deviation.

    Examples
    --------
    >>> kernel = PiecewisePolynomial(1, for_dimension=2, lengthscales=0.5)
    >>> kernel([[0.0, 0.0]], [[0.25, 0.0], [0.6, 0.0]]).round(4).tolist()
    [[0.1875, 0.0]]
    """

    q: int
    for_dimension: int
    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.q, int | np.integer) or isinstance(self.q, bool) or not 0 <= self.q <= 3:
            raise InvalidInput(f"q: expected 0, 1, 2 or 3, got {self.q!r}")
        if not isinstance(self.for_dimension, int | np.integer) or self.for_dimension < 1:
            raise InvalidInput(f"for_dimension: expected an integer >= 1, got {self.for_dimension!r}")
        if self.dimension is not None:
            self.check_dimension(self.dimension)

    def check_dimension(self, dimension: int) -> None:
        if dimension > self.for_dimension:
            raise InvalidInput(
                f"PiecewisePolynomial(q={self.q}): expected at most {self.for_dimension} dimensions, got {dimension};"
                f" it is not positive definite there. Build it with for_dimension={dimension}"
            )
        super().check_dimension(dimension)

    @property
    def j(self) -> int:
        """floor(D/2) + q + 1; it depends on q, which the paper's display hides."""
        return self.for_dimension // 2 + self.q + 1

    # --- exact coefficients

    @cached_property
    def _factor(self) -> Polynomial:
        """P_q of kappa = (1 - h)^(j+q) P_q(h), scaled to P_q(0) = 1."""
        j = self.j
        integers = (
            ([1], 1),
            ([1, j + 1], 1),
            ([3, 3 * j + 6, j**2 + 4 * j + 3], 3),
            ([15, 15 * j + 45, 6 * j**2 + 36 * j + 45, j**3 + 9 * j**2 + 23 * j + 15], 15),
        )[self.q]
        return [Fraction(c, integers[1]) for c in integers[0]]

    def _derivative_factor(self, order: int) -> tuple[int, Polynomial]:
        """Return (e, Q) with kappa^(order)(h) = (1 - h)^e Q(h) inside the support."""
        exponent, factor = self.j + self.q, self._factor
        for _ in range(order):
            # ((1-h)^e Q)' = (1-h)^(e-1) ((1-h) Q' - e Q)
            slope = [i * c for i, c in enumerate(factor)][1:]
            following = [Fraction(0)] * len(factor)
            for i, c in enumerate(slope):
                following[i] += c
                following[i + 1] -= c
            factor = [c - exponent * old for c, old in zip(following, factor, strict=True)]
            exponent -= 1
        return exponent, factor

    @cached_property
    def _expanded(self) -> Polynomial:
        """All coefficients of kappa on [0, 1]."""
        exponent = self.j + self.q
        power = [Fraction((-1) ** i * comb(exponent, i)) for i in range(exponent + 1)]
        product = [Fraction(0)] * (len(power) + len(self._factor) - 1)
        for i, a in enumerate(power):
            for k, b in enumerate(self._factor):
                product[i + k] += a * b
        return product

    # --- the profile

    def profile(self, h: Array) -> Array:
        return self.derivative(h, 0)

    def derivative(self, h: Array, order: int) -> Array:
        exponent, factor = self._derivative_factor(order)
        inside = np.maximum(1 - h, 0.0)
        # 0^0 = 1 would put kappa at 1 outside the support when nothing of the factor (1 - h)_+ is left
        return np.where(h < 1, inside**exponent * _evaluate(factor, np.minimum(h, 1.0)), 0.0)

    def complement(self, h: Array) -> Array:
        exact = _evaluate([Fraction(0)] + [-c for c in self._expanded[1:]], np.minimum(h, _NEAR))
        return np.where(h < _NEAR, exact, 1 - self.profile(h))

    def slope(self, h: Array) -> Array:
        exponent, factor = self._derivative_factor(1)
        inside = np.maximum(1 - h, 0.0) ** exponent
        if self.q == 0:
            safe = np.where(h > 0, h, 1.0)
            return np.where((h > 0) & (h < 1), inside * _evaluate(factor, np.minimum(h, 1.0)) / safe, 0.0)
        assert factor[0] == 0, "kappa'(0) = 0 for q >= 1, so h divides it exactly"
        return np.where(h < 1, inside * _evaluate(factor[1:], np.minimum(h, 1.0)), 0.0)

    def moment(self, p: int) -> float:
        """m_2p from the coefficient of h^2p; it exists for p <= q."""
        if p > self.q:
            raise NotAvailable(f"{self!r} has no spectral moment of order {p}: it needs order <= q")
        return float((-1) ** p * factorial(2 * p) * self._expanded[2 * p])

    @property
    def max_degree(self) -> int | None:
        return self.q

    def remainder_bound(self, h: Array, degree: int) -> Array:
        """Inside the support rho_k^2 is a polynomial whose low coefficients cancel exactly: use it for small h."""
        square = self._remainder_polynomial(degree)
        near = np.minimum(h, _NEAR)
        exact = np.sqrt(np.maximum(_evaluate(square, near), 0.0)) * (1 + 1e-12)
        return np.where(h < _NEAR, np.minimum(exact, super().remainder_bound(h, degree)), np.inf)

    def _remainder_polynomial(self, degree: int) -> Polynomial:
        coefficients = self._expanded
        square = [Fraction(0)] * max(len(coefficients), 2 * degree + 1)
        square[0] += 1
        for p in range(degree + 1):  # -2 (-h)^p kappa^(p)(h) / p!, term by term: h^p (h^i)^(p) / p! = comb(i, p) h^i
            for i, c in enumerate(coefficients):
                square[i] -= 2 * (-1) ** p * comb(i, p) * c
        for p in range(degree + 1):
            for r in range(degree + 1):
                if (p + r) % 2 == 0:
                    at_zero = factorial(p + r) * coefficients[p + r]
                    square[p + r] += (-1) ** r * at_zero / (factorial(p) * factorial(r))
        return square

    def holder(self) -> Holder:
        """For q = 0, 1 - (1-h)^j <= j h; for q >= 1, 1 - kappa <= m_2 h^2/2: exponent 1 where the paper has 1/2."""
        if self.q == 0:
            return Holder(constant=sqrt(2 * self.j), exponent=0.5)
        return Holder(constant=sqrt(self.moment(1)), exponent=1.0)

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        # The spectral density decays like |w|^-(D + 2q + 1) [W04, theorem 10.35], as Matérn's with nu = q + 1/2.
        power = dimension / (2 * self.q + 1 + dimension)
        return InformationGainRate(power, 1 - power, "Vakili et al. 2021, corollary 1, polynomial eigendecay")


def _evaluate(polynomial: Polynomial, h: Array) -> Array:
    result = np.zeros_like(h)
    for coefficient in reversed(polynomial):
        result = result * h + float(coefficient)
    return result
