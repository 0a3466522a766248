"""Lemmas behind the paper's theorem with their constants, in the form that holds (docs/errata.md has the printed one).

[SKKS12]: Srinivas, Krause, Kakade, Seeger, Information-theoretic regret bounds for GP optimization, 2012.
"""

from __future__ import annotations

from math import ceil, log, log1p, sqrt

from quadrat._core.arrays import as_number, as_whole

__all__ = [
    "covering_radius",
    "deviation_sum_bound",
    "evaluations_per_cell_bound",
    "splits_bound",
    "uncovered_probability",
]


def deviation_sum_bound(count: int, gain: float, noise_variance: float, *, variance: float = 1.0) -> float:
    """Bound the sum of sigma_(t-1)(x_t) over n points by s sqrt(2 n gamma_n / log(1 + s^2/lambda)).

    By Cauchy-Schwarz the sum is at most sqrt(n sum sigma^2). With u = sigma^2/lambda in [0, s^2/lambda] and log
    concave, u <= (s^2/lambda) log(1 + u)/log(1 + s^2/lambda); and the sum of log(1 + u) is log det(I + K/lambda)
    <= 2 gamma_n [SKKS12, lemmas 5.3 and 5.4]. The paper (information-type bound, step c) has sqrt(n gamma_n), which
    fails for lambda > 1/(e^2 - 1) = 0.157 when s = 1.

    Parameters
    ----------
    count
        n, the number of points.
    gain
        gamma_n, or log det(I + K/lambda)/2 at the points themselves.
    noise_variance
        lambda > 0, the regulariser in sigma.
    variance
        s^2, an upper bound of K(x, x).

    Returns
    -------
    float
        In the units of the values.

    Examples
    --------
    >>> from math import log
    >>> deviation_sum_bound(1, log(2) / 2, 1.0)  # one point: sigma = 1, attained
    1.0
    """
    n = as_whole(count, name="count", at_least=1)
    gain = as_number(gain, name="gain", at_least=0.0)
    noise = as_number(noise_variance, name="noise_variance", above=0.0)
    s2 = as_number(variance, name="variance", above=0.0)
    return sqrt(2 * n * gain * s2 / log1p(s2 / noise))


def evaluations_per_cell_bound(
    side: float, *, dimension: int, exponent: float, constant: float, noise: float, failure: float
) -> float:
    """Bound how often a cell of side r is evaluated before it splits: 1 + 2 sigma^2 log(1/delta)/(L^2 D^a r^(2a)).

    A cell is evaluated while b = sigma sqrt(2 log(1/delta)/m) > L (sqrt(D) r)^a, m its evaluations so far, and once
    when m = 0. The paper's lemma has L for L^2 and D for D^a, no sigma^2, and leaves out the first evaluation.

    Parameters
    ----------
    side
        r > 0.
    dimension
        D >= 1.
    exponent
        a > 0: alpha_1 for cells of side rho_0 or more, k + alpha for smaller ones.
    constant
        L > 0.
    noise
        sigma >= 0.
    failure
        delta in (0, 1]: the smallest delta_t that the run uses.

    Returns
    -------
    float
        A number of evaluations.

    Examples
    --------
    >>> round(evaluations_per_cell_bound(0.25, dimension=1, exponent=1.0, constant=1.0, noise=0.1, failure=0.05), 2)
    1.96
    """
    r = as_number(side, name="side", above=0.0)
    d = as_whole(dimension, name="dimension", at_least=1)
    a = as_number(exponent, name="exponent", above=0.0)
    scale = as_number(constant, name="constant", above=0.0) * (sqrt(d) * r) ** a
    sigma = as_number(noise, name="noise", at_least=0.0)
    return float(1 + 2 * (sigma / scale) ** 2 * log(1 / _probability(failure)))


def uncovered_probability(points: int, *, side: float, radius: float, dimension: int) -> float:
    """Bound the probability that some point of a cell is farther than 2 radius from all of m uniform draws.

    Distances are largest coordinate differences. The ceil(r/(2 eps))^D centres of a grid are within eps of every
    point of the cell; one draw comes within eps of a given centre with probability at least (eps/r)^D, attained at
    a corner of the cell. So the bound is ceil(r/(2 eps))^D (1 - (eps/r)^D)^m. (The paper's covering lemma has
    1 - eps for 1 - (eps/r)^D and eps^D for the number of centres, and speaks of the whole cube.)

    Parameters
    ----------
    points
        m >= 1 independent uniform draws from the cell.
    side
        r > 0.
    radius
        eps > 0.
    dimension
        D >= 1.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> round(uncovered_probability(100, side=1.0, radius=0.1, dimension=1), 5)
    0.00013
    """
    m = as_whole(points, name="points", at_least=1)
    r = as_number(side, name="side", above=0.0)
    eps = as_number(radius, name="radius", above=0.0)
    d = as_whole(dimension, name="dimension", at_least=1)
    if 2 * eps >= r:  # one draw is enough
        return 0.0
    return float(min(1.0, ceil(r / (2 * eps)) ** d * (1 - (eps / r) ** d) ** m))


def covering_radius(points: int, *, side: float, dimension: int, failure: float) -> float:
    """Return a Euclidean distance within which m uniform draws cover their cell, with probability 1 - delta.

    2 sqrt(D) eps with eps = r (log(e m/delta)/m)^(1/D), and never more than the diameter sqrt(D) r. With q = (eps/r)^D
    < 1 there are at most 1/q < m centres, and m (1 - q)^m <= m exp(-log(e m/delta)) < delta.

    Parameters
    ----------
    points
        m >= 1 independent uniform draws from the cell.
    side
        r > 0.
    dimension
        D >= 1.
    failure
        delta, in (0, 1).

    Returns
    -------
    float
        In the units of `side`.

    Examples
    --------
    >>> round(covering_radius(1000, side=0.5, dimension=1, failure=0.05), 4)
    0.0109
    """
    m = as_whole(points, name="points", at_least=1)
    r = as_number(side, name="side", above=0.0)
    d = as_whole(dimension, name="dimension", at_least=1)
    eps = r * ((1 + log(m / _probability(failure))) / m) ** (1 / d)
    return float(sqrt(d) * min(r, 2 * eps))


def splits_bound(budget: int, dimension: int) -> int:
    """Return the most cells that can split when each has side 1/n or more: the sum of 2^(jD) over 2^-j >= 1/n.

    (2^((J+1)D) - 1)/(2^D - 1) with J = floor(log2 n): more than (n/2)^D, the number in the paper's lemma on rounds,
    for every n and D. All of them can happen: with L so large that L r > beta down to r = 1/n, every such cell
    splits before the first evaluation. For D = 1 and n a power of two that is 2n - 1 splits.

    Parameters
    ----------
    budget
        n >= 1.
    dimension
        D >= 1.

    Returns
    -------
    int
        A number of splits.

    Examples
    --------
    >>> splits_bound(8, 1), splits_bound(8, 2)
    (15, 85)
    """
    n = as_whole(budget, name="budget", at_least=1)
    d = as_whole(dimension, name="dimension", at_least=1)
    levels = n.bit_length()  # 2^-j >= 1/n for j = 0, ..., floor(log2 n)
    return int((2 ** (levels * d) - 1) // (2**d - 1))


def _probability(failure: float) -> float:
    return as_number(failure, name="failure", above=0.0, at_most=1.0)
