"""Exponents of n as formulas: information gain, the regrets that follow from it, and lower bounds.

[SKKS12]: Srinivas, Krause, Kakade, Seeger, Information-theoretic regret bounds for GP optimization, 2012.
[SBC17]: Scarlett, Bogunovic, Cevher, Lower bounds on regret for noisy GP bandit optimization, 2017.
[SJ19]: Shekhar, Javidi, Multiscale Gaussian process level set estimation, 2019.
[JBG20]: Janz, Burt, González, Bandit optimisation of functions in the Matérn kernel RKHS, 2020.
[WRW23]: Whitehouse, Ramdas, Wu, On the sublinear regret of GP-UCB, 2023.

Throughout, `gain_power` is the p of gamma_n = O(n^p) up to logarithms. For the Matérn kernel p = D/(2 nu + D) is
`Matern(nu).information_gain_rate(D).power`.
"""

from __future__ import annotations

from typing import NamedTuple

from quadrat._core.arrays import as_number, as_whole
from quadrat.errors import NotAvailable

__all__ = [
    "Exponents",
    "adapted_regularisation",
    "hierarchical_gain_power",
    "information_type",
    "matern_lower_bound",
    "order_optimal",
    "partitioned_gp_ucb",
    "srinivas_gain_power",
]


class Exponents(NamedTuple):
    """Simple regret n^simple (negative when it decays) and cumulative regret n^cumulative, up to logarithms.

    Attributes
    ----------
    simple, cumulative
        The powers of n.

    Examples
    --------
    >>> Exponents.averaged(0.75)
    Exponents(simple=-0.25, cumulative=0.75)
    """

    simple: float
    cumulative: float

    @classmethod
    def averaged(cls, cumulative: float) -> Exponents:
        """Return the pair of a method whose simple regret is its cumulative regret divided by n."""
        return cls(cumulative - 1, cumulative)


def matern_lower_bound(nu: float, dimension: int) -> Exponents:
    """No algorithm does better than n^(-nu/(2nu+D)) and n^((nu+D)/(2nu+D)) [SBC17].

    Parameters
    ----------
    nu, dimension
        Smoothness of the Matérn kernel, > 0, and D >= 1.

    Returns
    -------
    Exponents

    Examples
    --------
    >>> [round(e, 3) for e in matern_lower_bound(2.5, 2)]
    [-0.357, 0.643]
    """
    nu, d = as_number(nu, name="nu", above=0.0), as_whole(dimension, name="dimension")
    return Exponents(-nu / (2 * nu + d), (nu + d) / (2 * nu + d))


def srinivas_gain_power(nu: float, dimension: int) -> float:
    """gamma_n = O(n^p), p = D(D+1)/(2nu + D(D+1)), for Matérn nu > 1 [SKKS12, theorem 5]; the paper uses this one.

    Parameters
    ----------
    nu, dimension
        Smoothness of the Matérn kernel, > 1 (`NotAvailable` otherwise), and D >= 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(srinivas_gain_power(2.5, 1), 3)
    0.286
    """
    nu, d = _above_one(nu, "The information-gain bound of Srinivas et al. 2012"), as_whole(dimension, name="dimension")
    return d * (d + 1) / (2 * nu + d * (d + 1))


def hierarchical_gain_power(nu: float, dimension: int) -> float:
    """c_nu = D(D+3)/(4nu + D(D+5)): the gain along a partition, each cell evaluated about r^-2 times.

    [SJ19, theorem 3], quoted for Matérn nu > 1 in the paper's proposition for k = 0, where one of the two copies
    of the formula has lost a parenthesis and the count of evaluations its minus sign.

    Parameters
    ----------
    nu, dimension
        Smoothness of the Matérn kernel, > 1 (`NotAvailable` otherwise), and D >= 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(hierarchical_gain_power(2.5, 1), 3)
    0.25
    """
    nu = _above_one(nu, "The information-gain bound for hierarchical sampling")
    d = as_whole(dimension, name="dimension")
    return d * (d + 3) / (4 * nu + d * (d + 5))


def partitioned_gp_ucb(nu: float, dimension: int) -> Exponents:
    """e_nu = (D(2D+3) + 2nu)/(D(2D+4) + 4nu), for Matérn nu > 1 [JBG20]; below 1/2 it would beat the lower bound.

    Parameters
    ----------
    nu, dimension
        Smoothness of the Matérn kernel, > 1 (`NotAvailable` otherwise), and D >= 1.

    Returns
    -------
    Exponents

    Examples
    --------
    >>> [round(e, 3) for e in partitioned_gp_ucb(2.5, 2)]
    [-0.269, 0.731]
    """
    nu, d = _above_one(nu, "The analysis of pi-GP-UCB"), as_whole(dimension, name="dimension")
    return Exponents.averaged((d * (2 * d + 3) + 2 * nu) / (d * (2 * d + 4) + 4 * nu))


def information_type(gain_power: float) -> Exponents:
    """gamma_n/sqrt(n) and sqrt(n) gamma_n: the bounds of GP-UCB and of the first half of the paper's theorem.

    Parameters
    ----------
    gain_power
        p, in [0, 1].

    Returns
    -------
    Exponents

    Examples
    --------
    >>> information_type(0.25)
    Exponents(simple=-0.25, cumulative=0.75)
    """
    return Exponents.averaged(_gain(gain_power) + 0.5)


def adapted_regularisation(gain_power: float) -> Exponents:
    """GP-UCB whose regulariser rho grows with n: n^((1 + 3p)/(2 + 2p)), below 1 for every p < 1 [WRW23].

    Regret is sqrt(n rho gamma) (1 + sqrt(gamma/rho)) with gamma = (n/rho)^p; rho = gamma = n^(p/(1+p)) balances it.
    For Matérn this is n^((nu + 2D)/(2nu + 2D)).

    Parameters
    ----------
    gain_power
        p, in [0, 1].

    Returns
    -------
    Exponents

    Examples
    --------
    >>> [round(e, 3) for e in adapted_regularisation(0.25)]
    [-0.3, 0.7]
    """
    p = _gain(gain_power)
    return Exponents.averaged((1 + 3 * p) / (2 + 2 * p))


def order_optimal(gain_power: float) -> Exponents:
    """sqrt(gamma_n/n) and sqrt(n gamma_n): for Matérn these are the exponents of the lower bound.

    Parameters
    ----------
    gain_power
        p, in [0, 1].

    Returns
    -------
    Exponents

    Examples
    --------
    >>> order_optimal(0.25)
    Exponents(simple=-0.375, cumulative=0.625)
    """
    return Exponents.averaged((1 + _gain(gain_power)) / 2)


def _above_one(nu: float, what: str) -> float:
    if (number := as_number(nu, name="nu", above=0.0)) <= 1:
        raise NotAvailable(f"{what} is known for nu > 1 only, got nu = {nu:g}")
    return number


def _gain(gain_power: float) -> float:
    return as_number(gain_power, name="gain_power", at_least=0.0, at_most=1.0)
