"""The rows for Matérn kernels: the paper's propositions, corrected, beside earlier and later work."""

from __future__ import annotations

from math import ceil

from quadrat.errors import NotAvailable
from quadrat.kernels import Matern
from quadrat.theory import catalogue
from quadrat.theory.exponents import (
    hierarchical_gain_power,
    information_type,
    matern_lower_bound,
    partitioned_gp_ucb,
    srinivas_gain_power,
)
from quadrat.theory.kernel_rates import optimal_rows, powers, unknown_row, unoptimised_rows
from quadrat.theory.ranges import MaternRange, crossover, matern_range
from quadrat.theory.rate import Certainty, Power, Rate
from quadrat.theory.theorem import theorem_exponents

__all__ = ["matern_rates"]

_LOGARITHM = (
    "At a whole nu the Hölder class of exponent nu is missed by a logarithm, which these exponents ignore (at nu = 1"
    " the functions are Hölder for every exponent below 1, not Lipschitz)."
)


def matern_rates(nu: float, dimension: int) -> tuple[Rate, ...]:
    """Return one row for each method that says something about Matérn kernels, in the order of the catalogue."""
    gain = Matern(nu).information_gain_rate(dimension)
    lower = matern_lower_bound(nu, dimension)
    taylor, zero = _with_degree(nu, dimension), _without_degree(nu, dimension)
    return (
        Rate(catalogue.LOWER_BOUND, *powers(lower, Certainty.PROVED), "nu > 0"),
        *_earlier(nu, dimension),
        *unoptimised_rows(gain),
        _partitioned(nu, dimension),
        taylor,
        zero,
        _without_degree_newer_gain(nu, dimension, gain.power),
        _best(nu, dimension, taylor, zero),
        *optimal_rows(gain, lipschitz=nu > 1),
    )


def _earlier(nu: float, dimension: int) -> tuple[Rate, ...]:
    condition = f"nu > 1; vacuous for nu <= D(D+1)/2 = {dimension * (dimension + 1) / 2:g}"
    try:
        both = powers(information_type(srinivas_gain_power(nu, dimension)), Certainty.PROVED)
    except NotAvailable as reason:
        return unknown_row(catalogue.GP_UCB, f"{reason}.", condition), unknown_row(
            catalogue.IGP_UCB, f"{reason}.", condition
        )
    return Rate(catalogue.GP_UCB, *both, condition), Rate(catalogue.IGP_UCB, *both, condition)


def _partitioned(nu: float, dimension: int) -> Rate:
    try:
        both = powers(partitioned_gp_ucb(nu, dimension), Certainty.PROVED)
    except NotAvailable as reason:
        return unknown_row(catalogue.PI_GP_UCB, f"{reason}.", "nu > 1")
    note = (
        "Its cumulative exponent is below (D+1)/(D+2), and below all that the paper proves for k = 0, exactly when"
        f" nu > (D+2)/2 = {(dimension + 2) / 2:g}: the paper's claim to improve on it for all nu > 1 is false."
    )
    return Rate(catalogue.PI_GP_UCB, *both, "nu > 1", note)


def _with_degree(nu: float, dimension: int) -> Rate:
    """The proposition for k = ceil(nu) - 1, with the signs and the threshold D(D+1)/2 put right."""
    degree = ceil(nu) - 1
    power = srinivas_gain_power(nu, dimension) if nu > 1 else None
    result = theorem_exponents(degree, nu - degree, dimension, power)
    notes = []
    if result.simple_certainty is Certainty.SPARSE:
        notes.append(
            "rho_0 must be computed from the bound on gamma_n of Srinivas et al. 2012, which is above sqrt(n) for"
            f" nu <= D(D+1)/2 (gamma_n itself is not for nu > D/2). For every n the proof gives a simple regret of"
            f" n^{result.proved.simple:.3f} only."
        )
    if result.simple_certainty is Certainty.GAP:
        notes.append(
            f"The proof covers n^{result.proved.simple:.3f} and n^{result.proved.cumulative:.3f}; k = 0 proves what is"
            " stated here."
        )
    if degree == nu - 1:
        notes.append(_LOGARITHM)
    return Rate(
        catalogue.LP_TAYLOR,
        Power(result.best.simple, result.simple_certainty),
        Power(result.best.cumulative, result.cumulative_certainty),
        f"nu > 0; case changes at nu = D(D+1)/2 = {dimension * (dimension + 1) / 2:g}",
        " ".join(notes),
    )


def _without_degree(nu: float, dimension: int) -> Rate:
    """The proposition for k = 0 (nu > 1) and the corollary with alpha = nu (nu <= 1)."""
    power = hierarchical_gain_power(nu, dimension) if nu > 1 else None
    result = theorem_exponents(0, min(nu, 1.0), dimension, power)
    condition = f"nu > 0; n^(1/2 + c_nu) takes over above nu = (D^2+5D+12)/4 = {crossover(dimension):g}"
    return Rate(catalogue.LP_ZERO, *powers(result.best, Certainty.PROVED), condition, _LOGARITHM if nu == 1 else "")


def _without_degree_newer_gain(nu: float, dimension: int, power: float) -> Rate:
    result = theorem_exponents(0, min(nu, 1.0), dimension, power)
    assert result.information is not None
    by_information = result.information.cumulative < result.smoothness.cumulative
    condition = f"nu > 0; sqrt(n) gamma_n takes over above nu = (D+4)/2 = {(dimension + 4) / 2:g}"
    certainty = Certainty.CONDITIONAL if by_information else Certainty.PROVED
    return Rate(catalogue.LP_ZERO_VAKILI, *powers(result.best, certainty), condition, _LOGARITHM if nu == 1 else "")


def _best(nu: float, dimension: int, *rows: Rate) -> Rate:
    """The smaller of the propositions for each regret; where they tie, the one that is better proved."""
    inside = matern_range(nu, dimension)
    notes = {
        MaternRange.I0: "Both regrets match the lower bound.",
        MaternRange.I1: f"Simple regret, with k = {ceil(nu) - 1}, is optimal; cumulative regret needs k = 0.",
        MaternRange.I2: "Both need k = 0 (the paper names k = ceil(nu) - 1 for the simple regret).",
        MaternRange.I3: "Both need k = 0.",
    }
    note = notes[inside]
    if inside is MaternRange.I1 and nu > crossover(dimension):
        note += (
            f" The paper's summary states n^((D+1)/(D+2)) on all of I_1; above {crossover(dimension):g} its own"
            " n^(1/2 + c_nu) is smaller."
        )
    return Rate(
        catalogue.LP_BEST,
        min((row.simple for row in rows), key=_order),
        min((row.cumulative for row in rows), key=_order),
        f"nu in {inside.value}",
        note,
    )


def _order(power: Power) -> tuple[float, int]:
    assert power.exponent is not None
    return round(power.exponent, 12), power.certainty.rank
