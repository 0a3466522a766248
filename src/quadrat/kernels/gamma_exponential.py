"""The gamma-exponential kernel. [RW06]: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import factorial, sqrt

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import NotAvailable
from quadrat.kernels.facts import Holder, InformationGainRate
from quadrat.kernels.squared_exponential import SquaredExponential
from quadrat.kernels.stationary import Lengthscales, Stationary

__all__ = ["GammaExponential"]


@dataclass(frozen=True)
class GammaExponential(Stationary):
    """kappa(h) = exp(-h^a), 0 < a <= 2: rough for a < 2, the squared exponential in h sqrt 2 at a = 2 [RW06, eq. 4.18].

    Parameters
    ----------
    a
        The exponent, in (0, 2]. A choice and not learned: it decides which functions the ball contains.
    lengthscales
        theta > 0: one number for all axes, or one for each.
    amplitude
        s > 0, the prior standard deviation.

    Examples
    --------
    >>> GammaExponential(1.5, 0.3)([[0.0], [0.3]]).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    a: float = 1.0
    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self._check_fields()
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
