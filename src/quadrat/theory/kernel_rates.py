"""Rows that follow from the information gain alone, and the rows of every kernel but Matérn's.

[W04]: Wendland, Scattered Data Approximation, 2004.
"""

from __future__ import annotations

from quadrat.errors import NotAvailable
from quadrat.kernels import GammaExponential, InformationGainRate, Kernel, PiecewisePolynomial
from quadrat.theory import catalogue
from quadrat.theory.exponents import Exponents, adapted_regularisation, information_type, order_optimal
from quadrat.theory.rate import Algorithm, Certainty, Power, Rate
from quadrat.theory.theorem import theorem_exponents

__all__ = ["general_rates", "optimal_rows", "powers", "squared_exponential_rates", "unknown_row", "unoptimised_rows"]


def _gain_of(kernel: Kernel, dimension: int) -> InformationGainRate | str:
    """Return the rate of the kernel's information gain, or the reason why there is none."""
    try:
        return kernel.information_gain_rate(dimension)
    except NotAvailable as reason:
        return str(reason)


def _certainty_of(gain: InformationGainRate) -> Certainty:
    """Return PROVED for the rate of Srinivas et al.; the eigendecay argument of Vakili et al. is CONDITIONAL."""
    return Certainty.CONDITIONAL if gain.source.startswith("Vakili") else Certainty.PROVED


def powers(exponents: Exponents, certainty: Certainty, log_power: float | None = None) -> tuple[Power, Power]:
    """Return the simple and the cumulative power with one certainty."""
    return (
        Power(exponents.simple, certainty, log_power),
        Power(exponents.cumulative, certainty, log_power),
    )


def unknown_row(method: Algorithm, reason: str, condition: str = "") -> Rate:
    """Return the row of a method about which nothing is known here."""
    return Rate(method, Power.unknown(reason), Power.unknown(reason), condition or "none")


def unoptimised_rows(gain: InformationGainRate | str) -> tuple[Rate, ...]:
    """Return GP-UCB with this gain, and GP-UCB with a regulariser that grows."""
    if isinstance(gain, str):
        return unknown_row(catalogue.GP_UCB_VAKILI, gain), unknown_row(catalogue.ADAPTED_GP_UCB, gain)
    polynomial, certainty = gain.power > 0, _certainty_of(gain)
    return (
        Rate(
            catalogue.GP_UCB_VAKILI,
            *powers(information_type(gain.power), certainty, None if polynomial else gain.log_power),
            "sublinear when gamma_n grows less than sqrt(n)" if polynomial else "any D",
            f"gamma_n = {gain}.",
        ),
        Rate(
            catalogue.ADAPTED_GP_UCB,
            *powers(adapted_regularisation(gain.power), certainty),
            "any D",
            "" if polynomial else "Powers of log n are not tracked.",
        ),
    )


def optimal_rows(gain: InformationGainRate | str, *, lipschitz: bool) -> tuple[Rate, ...]:
    """Return the algorithms with regret sqrt(n gamma_n)."""
    if isinstance(gain, str):
        return tuple(unknown_row(method, gain) for method in (catalogue.RIPS, catalogue.GP_THREDS, catalogue.BPE))
    # sqrt(n gamma_n): where gamma_n is a power of log n alone, it counts, or the rate would beat the lower bound.
    logs = None if gain.power > 0 else gain.log_power / 2
    both = powers(order_optimal(gain.power), _certainty_of(gain), logs)
    note = "Dimension-free powers of log n are not tracked."
    threds = Rate(catalogue.GP_THREDS, *both, "Lipschitz f", note)
    if not lipschitz:
        reason = "Its analysis assumes a Lipschitz f, which this kernel is not known to give."
        threds = unknown_row(catalogue.GP_THREDS, reason, "Lipschitz f")
    return Rate(catalogue.RIPS, *both, "any D", note), threds, Rate(catalogue.BPE, *both, "any D", note)


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
        Rate(catalogue.LOWER_BOUND, *lower, "any D", "Written sqrt(n (log n)^(D/2)) in its source."),
        Rate(catalogue.GP_UCB, *powers(half, Certainty.PROVED, gain.log_power + 1.5), "any D"),
        Rate(catalogue.IGP_UCB, *powers(half, Certainty.PROVED, gain.log_power), "any D"),
        unoptimised_rows(gain)[1],
        _corollary(catalogue.LP_ZERO, kernel, dimension, gain),
        *optimal_rows(gain, lipschitz=True),
    )


def general_rates(kernel: Kernel, dimension: int) -> tuple[Rate, ...]:
    """Return the rows that follow from a Hölder pair and from a rate of the information gain, where there are any."""
    gain = _gain_of(kernel, dimension)
    return (
        unknown_row(catalogue.LOWER_BOUND, _no_lower_bound(kernel, dimension)),
        *unoptimised_rows(gain),
        _corollary(catalogue.LP_ZERO, kernel, dimension, None),
        _corollary(catalogue.LP_ZERO_VAKILI, kernel, dimension, gain),
        *optimal_rows(gain, lipschitz=_holder_exponent(kernel) == 1.0),
    )


def _corollary(method: Algorithm, kernel: Kernel, dimension: int, gain: InformationGainRate | str | None) -> Rate:
    """The corollary for k = 0: by smoothness alone when `gain` is None, else the smaller of both kinds of bound."""
    alpha = _holder_exponent(kernel)
    known = gain if isinstance(gain, InformationGainRate) else None
    if isinstance(alpha, str):
        if known is None:
            return unknown_row(method, alpha)
        return Rate(method, *powers(information_type(known.power), _certainty_of(known)), "any D", alpha)
    result = theorem_exponents(0, alpha, dimension, None if known is None else known.power)
    note = f"Hölder exponent alpha = {alpha:g}."
    if known is None or result.best == result.smoothness:
        return Rate(method, *powers(result.best, Certainty.PROVED), "any D", note)
    log_power = known.log_power if known.power == 0 else None
    return Rate(method, *powers(result.best, _certainty_of(known), log_power), "any D", f"gamma_n = {known}. {note}")


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
