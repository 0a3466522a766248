"""Rows that follow from the rate of the information gain alone, for any kernel."""

from __future__ import annotations

from quadrat.errors import NotAvailable
from quadrat.kernels import InformationGainRate, Kernel
from quadrat.theory.catalogue import ADAPTED_GP_UCB, BPE, GP_THREDS, GP_UCB_VAKILI, RIPS
from quadrat.theory.exponents import Exponents, adapted_regularisation, information_type, order_optimal
from quadrat.theory.rate import Certainty, Method, Power, Rate

__all__ = ["certainty_of", "gain_of", "optimal_rows", "powers", "unknown_row", "unoptimised_rows"]


def gain_of(kernel: Kernel, dimension: int) -> InformationGainRate | str:
    """Return the rate of the kernel's information gain, or the reason why there is none."""
    try:
        return kernel.information_gain_rate(dimension)
    except NotAvailable as reason:
        return str(reason)


def certainty_of(gain: InformationGainRate) -> Certainty:
    """Return PROVED for the rate of Srinivas et al.; the eigendecay argument of Vakili et al. is CONDITIONAL."""
    return Certainty.CONDITIONAL if gain.source.startswith("Vakili") else Certainty.PROVED


def powers(exponents: Exponents, certainty: Certainty, log_power: float | None = None) -> tuple[Power, Power]:
    """Return the simple and the cumulative power with one certainty."""
    return (
        Power(exponents.simple, certainty, log_power),
        Power(exponents.cumulative, certainty, log_power),
    )


def unknown_row(method: Method, reason: str, condition: str = "") -> Rate:
    """Return the row of a method about which nothing is known here."""
    return Rate(method, Power.unknown(reason), Power.unknown(reason), condition or "none")


def unoptimised_rows(gain: InformationGainRate | str) -> tuple[Rate, ...]:
    """Return GP-UCB with this gain, and GP-UCB with a regulariser that grows."""
    if isinstance(gain, str):
        return unknown_row(GP_UCB_VAKILI, gain), unknown_row(ADAPTED_GP_UCB, gain)
    polynomial, certainty = gain.power > 0, certainty_of(gain)
    return (
        Rate(
            GP_UCB_VAKILI,
            *powers(information_type(gain.power), certainty, None if polynomial else gain.log_power),
            "sublinear when gamma_n grows less than sqrt(n)" if polynomial else "any D",
            f"gamma_n = {gain}.",
        ),
        Rate(ADAPTED_GP_UCB, *powers(adapted_regularisation(gain.power), certainty), "any D"),
    )


def optimal_rows(gain: InformationGainRate | str, *, lipschitz: bool) -> tuple[Rate, ...]:
    """Return the algorithms with regret sqrt(n gamma_n)."""
    if isinstance(gain, str):
        return tuple(unknown_row(method, gain) for method in (RIPS, GP_THREDS, BPE))
    both = powers(order_optimal(gain.power), certainty_of(gain))
    note = "Dimension-free powers of log n are not tracked."
    threds = (
        Rate(GP_THREDS, *both, "Lipschitz f", note)
        if lipschitz
        else unknown_row(
            GP_THREDS, "Its analysis assumes a Lipschitz f, which this kernel is not known to give.", "Lipschitz f"
        )
    )
    return Rate(RIPS, *both, "any D", note), threds, Rate(BPE, *both, "any D", note)
