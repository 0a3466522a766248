"""The rational quadratic kernel. [RW06]: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, lgamma, log, prod

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.kernels.facts import Holder, InformationGainRate
from quadrat.kernels.stationary import Lengthscales, Stationary

__all__ = ["RationalQuadratic"]


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """kappa(h) = (1 + h^2 / 2a)^-a: a mixture of squared exponentials over length-scales [RW06, eq. 4.19].

    Parameters
    ----------
    a
        The shape, > 0; as a grows the kernel tends to the squared exponential. Learned with the length-scales.
    lengthscales
        theta > 0: one number for all axes, or one for each.
    amplitude
        s > 0, the prior standard deviation.

    Examples
    --------
    >>> RationalQuadratic(2.0, 0.3)([[0.0], [0.3]]).round(4).tolist()
    [[1.0, 0.64], [0.64, 1.0]]
    """

    a: float = 1.0
    lengthscales: Lengthscales = 1.0
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self._check_fields()
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
