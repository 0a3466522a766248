"""Small values that a kernel returns about itself."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Holder", "InformationGainRate"]


@dataclass(frozen=True)
class Holder:
    """The pair (C, alpha) with |f(x) - f(z)| <= B s C h^alpha for all f of norm at most B, h the scaled distance.

    It replaces the constants of the paper's embedding propositions, several of which are not computable or do
    not hold.

    Attributes
    ----------
    constant
        C >= 0, without unit: h and s carry the units.
    exponent
        alpha, in (0, 1].

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> pair = Matern(2.5).holder()
    >>> round(pair.constant, 3), pair.exponent
    (1.291, 1.0)
    """

    constant: float
    exponent: float


@dataclass(frozen=True)
class InformationGainRate:
    """gamma_n = O(n^power (log n)^log_power): how fast the maximum information gain grows with the budget n.

    Attributes
    ----------
    power
        The power of n.
    log_power
        The power of log n.
    source
        Where it is proved.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> rate = Matern(2.5).information_gain_rate(2)
    >>> round(rate.power, 3), round(rate.log_power, 3)
    (0.286, 0.714)
    """

    power: float
    log_power: float
    source: str

    def __str__(self) -> str:
        parts = [f"n^{self.power:.3g}"] if self.power else []
        parts += [f"(log n)^{self.log_power:.3g}"] if self.log_power else []
        return "O(" + (" ".join(parts) or "1") + ")"
