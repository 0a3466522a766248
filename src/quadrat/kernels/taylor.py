"""rho_k: how far a function of unit norm can be from its Taylor polynomial.

Along the ray from the centre, f restricted to the ray lies in the RKHS of kappa(h |t - s|), so the largest
remainder of degree k over the unit ball is the norm of the functional f -> f(1) - sum_p f^(p)(0) / p!:

    rho_k(h)^2 = 1 - 2 sum_{p<=k} (-h)^p kappa^(p)(h) / p! + sum_{p,q<=k} (-1)^q h^(p+q) kappa^(p+q)(0) / (p! q!)

It replaces both the constants C1, C2 of the paper's first embedding proposition, which cannot be computed, and
its Assumption 2, which hopes that log n exceeds one of them.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from quadrat.errors import InvalidInput, NotAvailable

if TYPE_CHECKING:
    from quadrat._core.arrays import Array
    from quadrat.kernels.stationary import Stationary

__all__ = ["check_degree", "taylor_remainder"]

# Rounding of the profile's derivatives (Bessel functions are good to some 1e-14) in units of the terms summed.
_ROUNDING = 64 * np.finfo(np.float64).eps


def check_degree(kernel: Stationary, degree: int) -> None:
    """Raise unless functions in the kernel's ball are smooth enough for a Taylor polynomial of this degree."""
    if not isinstance(degree, int | np.integer) or isinstance(degree, bool) or degree < 0:
        raise InvalidInput(f"degree: expected an integer >= 0, got {degree!r}")
    if kernel.max_degree is not None and degree > kernel.max_degree:
        raise NotAvailable(
            f"{kernel!r} has no Taylor remainder of degree {degree}: its functions are not smooth enough;"
            f" the largest degree is {kernel.max_degree}"
        )


def taylor_remainder(kernel: Stationary, h: Array, degree: int) -> Array:
    """Return an upper bound on rho_k(h) that is exact up to rounding, for h >= 0 of any shape.

    The exact form loses all digits as h -> 0. There its rounding error is added, so that it stays an upper
    bound, and the smaller of it and the kernel's closed bound for small h is returned.
    """
    if degree == 0:  # rho_0(h)^2 = 2 (1 - kappa(h)), which the kernel gives without cancellation
        return np.asarray(np.sqrt(2 * kernel.complement(h)))
    safe = np.where(h > 0, h, 1.0)
    radicand = np.ones_like(safe)
    size = np.ones_like(safe)
    for p in range(degree + 1):
        term = -2 * (-safe) ** p * kernel.derivative(safe, p) / factorial(p)
        radicand += term
        size += np.abs(term)
    for p in range(degree + 1):
        for q in range(degree + 1):
            if (p + q) % 2 == 0:  # odd derivatives of an even function vanish at 0
                half = (p + q) // 2
                at_zero = (-1) ** half * kernel.moment(half)
                term = (-1) ** q * safe ** (p + q) * at_zero / (factorial(p) * factorial(q))
                radicand += term
                size += np.abs(term)
    exact = np.sqrt(np.maximum(radicand, 0.0) + _ROUNDING * size)
    return np.where(h > 0, np.minimum(exact, kernel.remainder_bound(safe, degree)), 0.0)
