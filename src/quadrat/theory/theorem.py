"""The paper's theorem on the regret of LP-GP-UCB (section 3), for any Hölder class and any information gain.

Notation: f is k times differentiable with alpha-Hölder derivatives; alpha_1 = max(alpha, min(1, k)) is the exponent
of its modulus of continuity; kappa = k + alpha; gamma_n = O(n^p) is the bound on the information gain that the
algorithm is run with, since rho_0, the side below which cells are refined by polynomials, is computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from quadrat._core.arrays import as_number, as_whole
from quadrat.errors import InvalidInput
from quadrat.theory.exponents import Exponents, information_type
from quadrat.theory.rate import Certainty

__all__ = ["TheoremExponents", "theorem_exponents"]


@dataclass(frozen=True)
class TheoremExponents:
    """The two kinds of bound that hold at once; their minimum is the regret bound.

    Attributes
    ----------
    information
        gamma_n/sqrt(n) and sqrt(n) gamma_n; None when no rate of gamma_n is known.
    smoothness
        The smoothness-dependent bounds as the theorem states them.
    every_budget
        The smoothness-dependent bounds that the proof gives for every n: n^(-alpha_1/(2 kappa + D)) and
        n^(1 - alpha_1/(2 kappa + D)). The same as `smoothness` for degree 0.
    simple_certainty, cumulative_certainty
        How far the smaller of the stated bounds is proved.

    Examples
    --------
    >>> found = theorem_exponents(0, 1.0, 2, gain_power=0.2)
    >>> [round(power, 2) for power in found.best], found.simple_certainty.value
    ([-0.3, 0.7], 'proved')
    """

    information: Exponents | None
    smoothness: Exponents
    every_budget: Exponents
    simple_certainty: Certainty
    cumulative_certainty: Certainty

    @property
    def best(self) -> Exponents:
        """The smaller of the two bounds as stated, for each regret."""
        return _smaller(self.information, self.smoothness)

    @property
    def proved(self) -> Exponents:
        """The smaller of the two bounds that the proof gives for every n."""
        return _smaller(self.information, self.every_budget)


def theorem_exponents(degree: int, alpha: float, dimension: int, gain_power: float | None = None) -> TheoremExponents:
    """Return the exponents of the theorem (and, for degree 0, of its corollary).

    With kappa = k + alpha, and logarithms ignored,

        p >= 1/2:  simple n^(-kappa/(2 kappa + D)),      cumulative n^(1 - alpha_1/(2 kappa + D))
        p <  1/2:  simple n^(-alpha_1/(2 alpha_1 + D)),  cumulative n^((alpha_1 + D)/(2 alpha_1 + D))

    and always n^(p - 1/2), n^(p + 1/2). The two cases agree for degree 0. For degree >= 1 the proof says less than
    the theorem (docs/errata.md). In the first case cells shrink from side r to r^(kappa/alpha_1) at once, so that
    the simple regret is reached only for budgets near r^-(2 kappa + D) for one of those r. In the second it leaves
    out the runs that evaluate mostly in cells smaller than rho_0 = n^((p - 1/2)/alpha_1); but larger cells take no
    more than rho_0^-(2 alpha_1 + D) evaluations, which is less than n whenever the stated bound is below the
    information-type one: the case left out is then the only one.

    Parameters
    ----------
    degree, alpha, dimension
        Degree k >= 0 of the local polynomials, Hölder exponent in (0, 1] of the k-th derivatives, and D >= 1.
    gain_power
        p in [0, 1]. None when unknown, which degree 0 alone allows.

    Returns
    -------
    TheoremExponents
        Both kinds of bound, and how far they are proved.

    Examples
    --------
    >>> rough = theorem_exponents(1, 0.5, 2, gain_power=6 / 9)  # Matérn nu = 1.5
    >>> rough.best, rough.simple_certainty.value, round(rough.proved.simple, 3)
    (Exponents(simple=-0.3, cumulative=0.8), 'sparse n', -0.2)
    """
    k = as_whole(degree, name="degree", at_least=0)
    alpha = as_number(alpha, name="alpha", above=0.0, at_most=1.0)
    d = as_whole(dimension, name="dimension")
    if gain_power is None and k > 0:
        raise InvalidInput(
            f"gain_power: expected a number in [0, 1] for degree {k}, got None; only degree 0 needs none"
        )
    information = None if gain_power is None else information_type(gain_power)
    alpha_1 = max(alpha, float(min(1, k)))
    kappa = k + alpha
    every_budget = Exponents.averaged(1 - alpha_1 / (2 * kappa + d))
    if k == 0:
        return TheoremExponents(information, every_budget, every_budget, Certainty.PROVED, Certainty.PROVED)
    assert gain_power is not None
    assert information is not None
    if gain_power >= 0.5:
        stated = Exponents(-kappa / (2 * kappa + d), every_budget.cumulative)
        return TheoremExponents(information, stated, every_budget, Certainty.SPARSE, Certainty.PROVED)
    stated = Exponents.averaged(1 - alpha_1 / (2 * alpha_1 + d))
    certainty = Certainty.PROVED if information.cumulative <= stated.cumulative else Certainty.GAP
    return TheoremExponents(information, stated, every_budget, certainty, certainty)


def _smaller(information: Exponents | None, other: Exponents) -> Exponents:
    if information is None:
        return other
    return Exponents(min(information.simple, other.simple), min(information.cumulative, other.cumulative))
