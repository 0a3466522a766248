"""The modified Bessel function K_v, where SciPy's own overflows, and 1 - kappa for the general Matérn kernel.

[DLMF]: NIST Digital Library of Mathematical Functions, chapter 10.
"""

from __future__ import annotations

from functools import cache
from math import lgamma, log, pi

import numpy as np

from quadrat._core.arrays import Array

__all__ = ["log_bessel", "matern_complement"]

# Below this argument the leading term of K_v is exact in double precision.
_TINY = 1e-8


def log_bessel(order: float, u: Array) -> Array:
    """Return log K_v(u) for u > 0 of any shape and any real order v; finite also where K_v overflows."""
    from scipy.special import kve

    order = abs(order)
    with np.errstate(over="ignore", invalid="ignore"):
        logs = np.log(kve(order, u)) - u
    lost = ~np.isfinite(logs)
    if lost.any():
        at = u[lost]
        small = log(0.5) + lgamma(order) + order * np.log(2 / at) if order > 0 else np.log(-np.log(at))
        logs[lost] = np.where(at < _TINY, small, _debye(order, at))
    return np.asarray(logs)


def _debye(order: float, u: Array) -> Array:
    """Log K_v(u) from the uniform expansion for large v [DLMF 10.41.4]; it is only needed where v exceeds 30."""
    if order == 0:
        return np.full_like(u, np.nan)
    z = u / order
    root = np.sqrt(1 + z**2)
    eta = root + np.log(z / (1 + root))
    p = 1 / root
    terms = (  # the polynomials U_1 to U_4 of [DLMF 10.41.10]
        (3 * p - 5 * p**3) / 24,
        (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152,
        (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720,
        (4465125 * p**4 - 94121676 * p**6 + 349922430 * p**8 - 446185740 * p**10 + 185910725 * p**12) / 39813120,
    )
    series = 1 + sum((-1 / order) ** (k + 1) * term for k, term in enumerate(terms))
    return np.asarray(0.5 * log(pi / (2 * order)) - order * eta - 0.25 * np.log1p(z**2) + np.log(series))


def matern_complement(nu: float, u: Array) -> Array:
    """Return 1 - kappa for the Matérn kernel at u = sqrt(2 nu) h > 0, to full relative accuracy.

    1 - kappa = (2^(1-nu) / Gamma(nu)) int_0^u t^nu K_(nu-1)(t) dt, all of it positive. Gauss-Legendre quadrature
    in tau, t = u tau^m, with m so large that the power at 0 (t^(2 nu - 1), or t log t near nu = 1) does no harm;
    there is no pole to avoid near integer nu.
    """
    nodes, weights = _gauss_legendre()
    m = max(3.0, 2.0 / nu)
    t = u[..., None] * nodes**m
    logs = nu * np.log(t) + log_bessel(nu - 1, t) + (1 - nu) * log(2) - lgamma(nu)
    return np.asarray(m * u * (np.exp(logs) @ (weights * nodes ** (m - 1))))


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(48)
    return (nodes + 1) / 2, weights / 2
