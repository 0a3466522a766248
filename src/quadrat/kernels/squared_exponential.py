"""The squared exponential kernel. [RW06]: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from quadrat._core.arrays import Array
from quadrat.kernels.facts import Holder, InformationGainRate
from quadrat.kernels.stationary import Lengthscales, Stationary

__all__ = ["SquaredExponential"]


@dataclass(frozen=True)
class SquaredExponential(Stationary):
    """kappa(h) = exp(-h^2 / 2): every function in its ball is analytic [RW06, eq. 4.9].

    Parameters
    ----------
    lengthscales
        theta > 0: one number for all axes, or one for each.
    amplitude
        s > 0, the prior standard deviation.

    Examples
    --------
    >>> SquaredExponential(0.5)([[0.0]], [[0.5]]).round(4).tolist()
    [[0.6065]]
    """

    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self._check_fields()

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
