"""The rows for every kernel but Matérn's: squared exponential, rational quadratic, gamma-exponential, the rest.

[W04]: Wendland, Scattered Data Approximation, 2004.
"""

from __future__ import annotations

from quadrat.errors import NotAvailable
from quadrat.kernels import GammaExponential, InformationGainRate, Kernel, PiecewisePolynomial
from quadrat.theory.catalogue import GP_UCB, IGP_UCB, LOWER_BOUND, LP_ZERO, LP_ZERO_VAKILI
from quadrat.theory.exponents import information_type
from quadrat.theory.gain_rates import certainty_of, gain_of, optimal_rows, powers, unknown_row, unoptimised_rows
from quadrat.theory.rate import Certainty, Method, Rate
from quadrat.theory.theorem import theorem_exponents

__all__ = ["general_rates", "squared_exponential_rates"]


def squared_exponential_rates(kernel: Kernel, dimension: int) -> tuple[Rate, ...]:
    """Return the rows for the squared exponential: all exponents are -1/2 and 1/2, only logarithms differ.

    The paper and its sources write the regret of GP-UCB as sqrt(n (log n)^(2D)); that leaves out powers of log n
    that do not depend on D. sqrt(n) gamma_n, with gamma_n = O((log n)^(D+1)), has one more, and the band of
    Srinivas et al. another 3/2.
    """
    gain = kernel.information_gain_rate(dimension)
    half = information_type(gain.power)
    lower = powers(half, Certainty.PROVED, dimension / 4)
    return (
        Rate(LOWER_BOUND, *lower, "any D", "Written sqrt(n (log n)^(D/2)) in its source."),
        Rate(GP_UCB, *powers(half, Certainty.PROVED, gain.log_power + 1.5), "any D"),
        Rate(IGP_UCB, *powers(half, Certainty.PROVED, gain.log_power), "any D"),
        unoptimised_rows(gain)[1],
        _corollary(LP_ZERO, kernel, dimension, gain),
        *optimal_rows(gain, lipschitz=True),
    )


def general_rates(kernel: Kernel, dimension: int) -> tuple[Rate, ...]:
    """Return the rows that follow from a Hölder pair and from a rate of the information gain, where there are any."""
    gain = gain_of(kernel, dimension)
    return (
        unknown_row(LOWER_BOUND, _no_lower_bound(kernel, dimension)),
        *unoptimised_rows(gain),
        _corollary(LP_ZERO, kernel, dimension, None),
        _corollary(LP_ZERO_VAKILI, kernel, dimension, gain),
        *optimal_rows(gain, lipschitz=_holder_exponent(kernel) == 1.0),
    )


def _corollary(method: Method, kernel: Kernel, dimension: int, gain: InformationGainRate | str | None) -> Rate:
    """The corollary for k = 0: by smoothness alone when `gain` is None, else the smaller of both kinds of bound."""
    alpha = _holder_exponent(kernel)
    known = gain if isinstance(gain, InformationGainRate) else None
    if isinstance(alpha, str):
        if known is None:
            return unknown_row(method, alpha)
        return Rate(method, *powers(information_type(known.power), certainty_of(known)), "any D", alpha)
    result = theorem_exponents(0, alpha, dimension, None if known is None else known.power)
    note = f"Hölder exponent alpha = {alpha:g}."
    if known is None or result.best == result.smoothness:
        return Rate(method, *powers(result.best, Certainty.PROVED), "any D", note)
    log_power = known.log_power if known.power == 0 else None
    return Rate(method, *powers(result.best, certainty_of(known), log_power), "any D", f"gamma_n = {known}. {note}")


def _holder_exponent(kernel: Kernel) -> float | str:
    try:
        return kernel.holder().exponent
    except NotAvailable as reason:
        return str(reason)


def _no_lower_bound(kernel: Kernel, dimension: int) -> str:
    text = f"No lower bound is stated for {type(kernel).__name__} in the paper or its sources."
    match kernel:
        case GammaExponential(a=a):
            like = a / 2
        case PiecewisePolynomial(q=q):
            like = q + 0.5
        case _:
            return text
    return (
        f"{text} Its spectral density decays like that of the Matérn kernel with nu = {like:g}, whose lower bound is"
        f" n^{-like / (2 * like + dimension):.3f} and n^{(like + dimension) / (2 * like + dimension):.3f}."
    )
