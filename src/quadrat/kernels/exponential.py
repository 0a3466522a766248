"""The squared exponential kernel and two that generalise it: rational quadratic and gamma-exponential.

[RW06]: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, factorial, lgamma, log, prod, sqrt

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import NotAvailable
from quadrat.kernels.base import Holder, InformationGainRate
from quadrat.kernels.stationary import Lengthscales, Stationary

__all__ = ["GammaExponential", "RationalQuadratic", "SquaredExponential"]


@dataclass(frozen=True)
class SquaredExponential(Stationary):
    """kappa(h) = exp(-h^2 / 2): every function in its ball is analytic [RW06, eq. 4.9].

    Parameters
    ----------
    lengthscales, amplitude
        theta > 0, one number for all axes or one for each, and s > 0, the prior standard deviation.

    Examples
    --------
    >>> SquaredExponential(0.5)([[0.0]], [[0.5]]).round(4).tolist()
    [[0.6065]]
    """

    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def profile(self, h: Array) -> Array:
        exponent = h * h
        exponent *= -0.5
        return np.asarray(np.exp(exponent, out=exponent))

    def complement(self, h: Array) -> Array:
        return -np.expm1(-0.5 * h**2)

    def slope(self, h: Array) -> Array:
        return -self.profile(h)

    def profile_and_slope(self, h: Array) -> tuple[Array, Array]:
        kappa = self.profile(h)
        return kappa, -kappa

    def derivative(self, h: Array, order: int) -> Array:
        """(-1)^p He_p(h) kappa(h), He_p the Hermite polynomial: He_(p+1) = h He_p - p He_(p-1)."""
        before, hermite = np.zeros_like(h), np.ones_like(h)
        for p in range(order):
            before, hermite = hermite, h * hermite - p * before
        return np.asarray((-1) ** order * hermite * self.profile(h))

    def moment(self, p: int) -> float:
        """m_2p = (2p - 1)!!."""
        return float(prod(range(1, 2 * p, 2)))

    @property
    def max_degree(self) -> int | None:
        return None

    def holder(self) -> Holder:
        """1 - exp(-h^2/2) <= h^2/2."""
        return Holder(constant=1.0, exponent=1.0)

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        return InformationGainRate(0.0, dimension + 1.0, "Srinivas et al. 2012, theorem 5; Vakili et al. 2021")


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """kappa(h) = (1 + h^2 / 2a)^-a: a mixture of squared exponentials over length-scales [RW06, eq. 4.19].

    Parameters
    ----------
    a
        The shape, > 0; as a grows the kernel tends to the squared exponential. Learned with the length-scales.
    lengthscales, amplitude
        theta > 0, one number for all axes or one for each, and s > 0, the prior standard deviation.

    Examples
    --------
    >>> RationalQuadratic(2.0, 0.3)([[0.0], [0.3]]).round(4).tolist()
    [[1.0, 0.64], [0.64, 1.0]]
    """

    a: float = 1.0
    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", as_number(self.a, name="a", above=0.0))

    def profile(self, h: Array) -> Array:
        return np.exp(-self.a * np.log1p(h**2 / (2 * self.a)))

    def complement(self, h: Array) -> Array:
        return -np.expm1(-self.a * np.log1p(h**2 / (2 * self.a)))

    def slope(self, h: Array) -> Array:
        return -self.profile(h) / (1 + h**2 / (2 * self.a))

    def derivative(self, h: Array, order: int) -> Array:
        """From (1 + h^2/2a) kappa' = -h kappa, differentiated p times."""
        before, value = np.zeros_like(h), self.profile(h)
        for p in range(order):
            following = -((p / self.a + 1) * h * value + (p * (p - 1) / (2 * self.a) + p) * before)
            before, value = value, following / (1 + h**2 / (2 * self.a))
        return value

    def moment(self, p: int) -> float:
        """m_2p = (2p - 1)!! Gamma(a + p) / (Gamma(a) a^p)."""
        return prod(range(1, 2 * p, 2)) * exp(lgamma(self.a + p) - lgamma(self.a) - p * log(self.a))

    @property
    def max_degree(self) -> int | None:
        return None

    @property
    def shape_names(self) -> tuple[str, ...]:
        return ("a",)

    def shape_gradients(self, h: Array) -> list[Array]:
        u = h**2 / (2 * self.a)
        return [self.profile(h) * self.a * (u / (1 + u) - np.log1p(u))]

    def holder(self) -> Holder:
        """1 - kappa(h) <= h^2/2 by the tangent at 0. (The paper bounds a convex function from the wrong side.)"""
        return Holder(constant=1.0, exponent=1.0)

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        # Its spectral density decays like exp(-c |w|), so its eigenvalues decay like exp(-c m^(1/D)).
        return InformationGainRate(0.0, dimension + 1.0, "Vakili et al. 2021, corollary 1, exponential eigendecay")


@dataclass(frozen=True)
class GammaExponential(Stationary):
    """kappa(h) = exp(-h^a), 0 < a <= 2: rough for a < 2, the squared exponential in h sqrt 2 at a = 2 [RW06, eq. 4.18].

    Parameters
    ----------
    a
        The exponent, in (0, 2]. A choice and not learned: it decides which functions the ball contains.
    lengthscales, amplitude
        theta > 0, one number for all axes or one for each, and s > 0, the prior standard deviation.

    Examples
    --------
    >>> GammaExponential(1.5, 0.3)([[0.0], [0.3]]).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    a: float = 1.0
    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", as_number(self.a, name="a", above=0.0, at_most=2.0))

    def profile(self, h: Array) -> Array:
        return np.exp(-(h**self.a))

    def complement(self, h: Array) -> Array:
        return -np.expm1(-(h**self.a))

    def slope(self, h: Array) -> Array:
        if self.a == 2.0:
            return -2 * self.profile(h)
        safe = np.where(h > 0, h, 1.0)
        return np.where(h > 0, -self.a * safe ** (self.a - 2) * self.profile(safe), 0.0)

    def derivative(self, h: Array, order: int) -> Array:
        self._require_smooth(order)
        if order == 0:
            return self.profile(h)
        return np.asarray(sqrt(2) ** order * SquaredExponential().derivative(sqrt(2) * h, order))

    def moment(self, p: int) -> float:
        """m_2p = 2^p (2p - 1)!! at a = 2; infinite for p >= 1 and a < 2."""
        self._require_smooth(p)
        return float(factorial(2 * p) / factorial(p))

    def _require_smooth(self, order: int) -> None:
        if order > 0 and self.a < 2.0:
            raise NotAvailable(f"{self!r} has no derivatives or moments beyond order 0: its functions are not smooth")

    @property
    def max_degree(self) -> int | None:
        return None if self.a == 2.0 else 0

    def holder(self) -> Holder:
        """1 - exp(-h^a) <= h^a. (The paper's exponent 1/2 fails for a < 1 and is loose for a > 1.)"""
        return Holder(constant=sqrt(2), exponent=self.a / 2)

    def information_gain_rate(self, dimension: int) -> InformationGainRate:
        if self.a == 2.0:
            return SquaredExponential().information_gain_rate(dimension)
        # The spectral density decays like |w|^-(a + D), as that of the Matérn kernel with nu = a/2.
        power = dimension / (self.a + dimension)
        return InformationGainRate(power, 1 - power, "Vakili et al. 2021, corollary 1, polynomial eigendecay")
