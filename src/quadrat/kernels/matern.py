"""The Matérn kernels. [RW06]: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp, factorial, gamma, lgamma, log, pi, sin, sqrt

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels.base import Holder, InformationGainRate
from quadrat.kernels.bessel import log_bessel, matern_complement
from quadrat.kernels.stationary import Lengthscales, Stationary

__all__ = ["Matern"]

_CLOSED = (0.5, 1.5, 2.5)
_LARGEST = 1e4  # beyond it the Bessel form loses the digits that distinguish it from its limit


@dataclass(frozen=True)
class Matern(Stationary):
    """kappa(h) = 2^(1-nu) / Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) h: smoothness nu [RW06, eq. 4.14].

    Its ball is that of a Sobolev space of order nu + D/2. Closed forms serve nu = 1/2, 3/2 and 5/2; every other
    nu > 0 goes through Bessel functions.

    Parameters
    ----------
    nu
        The smoothness, > 0. A choice and not learned: it decides which functions the ball contains.
    lengthscales, amplitude
        theta > 0, one number for all axes or one for each, and s > 0, the prior standard deviation.

    Examples
    --------
    >>> Matern(2.5, 0.3)([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.0156], [0.0156, 1.0]]
    """

    nu: float = 2.5
    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nu", as_number(self.nu, name="nu", above=0.0))
        if self.nu > _LARGEST:
            raise InvalidInput(f"nu: expected at most {_LARGEST:g}, got {self.nu!r}; use SquaredExponential, its limit")

    def profile(self, h: Array) -> Array:
        u = sqrt(2 * self.nu) * h
        if self.nu not in _CLOSED:
            kappa = self._from_bessel(self.nu, self.nu, u, at_zero=1.0)
            near = (kappa > 0.9) & (u > 0)
            if self.nu >= 0.05 and near.any():  # 1 - kappa has digits that kappa, rounded, has not
                kappa[near] = 1 - matern_complement(self.nu, u[near])
            return kappa
        kappa = self._polynomial(u)
        kappa *= _exp_minus(u)
        return kappa

    def _polynomial(self, u: Array) -> Array:
        """Return kappa e^u at nu = 1/2, 3/2, 5/2: 1, 1 + u, 1 + u + u^2/3; written in place, as matrices are large."""
        if self.nu == 0.5:
            return np.ones_like(u)
        result = u / 3 if self.nu == 2.5 else u.copy()
        if self.nu == 2.5:
            result += 1
            result *= u
        result += 1
        return result

    def complement(self, h: Array) -> Array:
        from scipy.special import gammainc

        u = sqrt(2 * self.nu) * h
        if self.nu == 0.5:
            return -np.expm1(-u)
        if self.nu == 1.5:  # 1 - (1 + u) e^-u
            return np.asarray(gammainc(2, u))
        if self.nu == 2.5:  # 1 - (1 + u + u^2/2) e^-u, and the rest of the quadratic term
            return np.asarray(gammainc(3, u) + u**2 / 6 * np.exp(-u))
        value = 1 - self._from_bessel(self.nu, self.nu, u, at_zero=1.0)
        # For tiny nu, 1 - kappa ~ h^(2 nu) is never small where h is a difference of numbers.
        small = (value < 0.1) & (u > 0) & (self.nu >= 0.05)
        if small.any():
            value[small] = matern_complement(self.nu, u[small])
        return value

    def slope(self, h: Array) -> Array:
        """kappa'(h)/h = -2 nu c u^(nu-1) K_(nu-1)(u), since (u^v K_v)' = -u^v K_(v-1)."""
        if self.nu in _CLOSED:
            return self.profile_and_slope(h)[1]
        u = sqrt(2 * self.nu) * h
        limit = self.nu / (self.nu - 1) if self.nu > 1 else 0.0
        return -self._from_bessel(self.nu - 1, self.nu - 1, u, at_zero=limit / (2 * self.nu)) * 2 * self.nu

    def profile_and_slope(self, h: Array) -> tuple[Array, Array]:
        """At nu = 1/2, 3/2, 5/2 the slopes are -e^-u/h, -3 e^-u and -(5/3) (1 + u) e^-u."""
        if self.nu not in _CLOSED:
            return super().profile_and_slope(h)
        u = sqrt(2 * self.nu) * h
        if self.nu == 0.5:
            decay = _exp_minus(u)
            return decay, np.where(h > 0, -decay / np.where(h > 0, h, 1.0), 0.0)
        kappa = self._polynomial(u)
        slope = u + 1 if self.nu == 2.5 else None
        decay = _exp_minus(u)
        kappa *= decay
        decay *= -5 / 3 if self.nu == 2.5 else -3
        return kappa, decay if slope is None else np.multiply(slope, decay, out=slope)

    def derivative(self, h: Array, order: int) -> Array:
        """Apply (u^v K_v)' = -u u^(v-1) K_(v-1) `order` times: Hermite coefficients, falling orders."""
        self._require_order_below_nu(order)
        if order == 0:
            return self.profile(h)
        u = sqrt(2 * self.nu) * h
        total = np.zeros_like(u)
        for j in range(order // 2 + 1):
            hermite = factorial(order) / (2**j * factorial(j) * factorial(order - 2 * j))
            v = self.nu - order + j
            total += (-1) ** (order - j) * hermite * self._from_bessel(order - 2 * j + v, v, u, at_zero=0.0)
        return np.asarray((2 * self.nu) ** (order / 2) * total)

    def _from_bessel(self, power: float, order: float, u: Array, *, at_zero: float) -> Array:
        """Return c u^power K_order(u) with c = 2^(1-nu) / Gamma(nu), and its limit at u = 0."""
        log_c = (1 - self.nu) * log(2) - lgamma(self.nu)
        result = np.full_like(u, at_zero)
        result[np.isinf(u)] = 0.0
        positive = (u > 0) & np.isfinite(u)
        at = u[positive]
        # everything in one exponent: for large nu the factors overflow and underflow one by one
        result[positive] = np.exp(log_c + power * np.log(at) + log_bessel(order, at))
        return result

    def moment(self, p: int) -> float:
        """m_2p = (2 nu)^p Gamma(p + 1/2) Gamma(nu - p) / (sqrt(pi) Gamma(nu)), finite for p < nu."""
        self._require_order_below_nu(p)
        return (2 * self.nu) ** p * exp(lgamma(p + 0.5) + lgamma(self.nu - p) - lgamma(self.nu)) / sqrt(pi)

    def _require_order_below_nu(self, order: int) -> None:
        if order >= self.nu:
            raise NotAvailable(f"{self!r} has no spectral moment or Taylor term of order {order}: it needs order < nu")

    @property
    def max_degree(self) -> int | None:
        return ceil(self.nu) - 1

    def remainder_bound(self, h: Array, degree: int) -> Array:
        """For k < nu < k+1, rho_k <= sqrt(c_nu J) u^nu; for nu > k+1 the moment bound; neither at k+1."""
        if self.nu >= degree + 1:
            return super().remainder_bound(h, degree)
        c = exp(lgamma(self.nu + 0.5) - lgamma(self.nu)) / sqrt(pi)
        j = pi / (self.nu * factorial(degree) * abs(sin(pi * self.nu)) * gamma(2 * self.nu - degree))
        return np.asarray(sqrt(c * j) * (sqrt(2 * self.nu) * h) ** self.nu)

    def holder(self) -> Holder:
        """(sqrt(nu/(nu-1)), 1) for nu > 1, exponent nu for nu < 1; at nu = 1 a logarithm is in the way: no pair."""
        if self.nu > 1:
            return Holder(constant=sqrt(self.nu / (self.nu - 1)), exponent=1.0)
        if self.nu < 1:
            ratio = exp(lgamma(1 - self.nu) - lgamma(1 + self.nu))
            return Holder(constant=sqrt(2 * ratio) * (self.nu / 2) ** (self.nu / 2), exponent=self.nu)
        raise NotAvailable(
            f"{self!r} has no Hölder pair: at nu = 1 its functions are Hölder for every exponent below 1 but, by a"
            " logarithm, not Lipschitz; use the exact modulus"
        )

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        power = dimension / (2 * self.nu + dimension)
        return InformationGainRate(power, 1 - power, "Vakili et al. 2021, corollary 1, polynomial eigendecay")


def _exp_minus(u: Array) -> Array:
    """e^-u, in place of u."""
    np.negative(u, out=u)
    return np.asarray(np.exp(u, out=u))
