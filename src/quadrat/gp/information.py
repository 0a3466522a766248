"""Information gain: how much n observations can tell about f.

For points A observed with noise variance lambda, F(A) = log det(I + K_A / lambda) / 2, and gamma_n is the largest
F over n points of the cube (the paper's definition of the maximum information gain). gamma_n itself cannot be
computed; each function here says whether its result is an upper bound (rigorous) or an estimate.

[KSG08]: Krause, Singh, Guestrin, Near-optimal sensor placements in Gaussian processes, 2008 (submodularity).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import e

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, as_points, as_whole
from quadrat.errors import InvalidInput
from quadrat.gp.posterior import GaussianProcess
from quadrat.kernels import Kernel

__all__ = ["InformationGain", "greedy_gain", "realised_gain", "set_gain"]

_MOST_CANDIDATES = 4096
_MOST_STEPS = 400  # greedy steps worked out; beyond them bounds stay bounds and lose little


@dataclass(frozen=True)
class InformationGain:
    """How much observations tell about f, and how far that number can be trusted.

    Attributes
    ----------
    value, rigorous, how
        The gain in nats, whether it is an upper bound, and how it was found.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> gain = realised_gain(Matern(2.5, 0.3), [[0.1], [0.5], [0.9]], 0.01)
    >>> round(gain.value, 2), gain.rigorous
    (6.79, True)
    """

    value: float
    rigorous: bool
    how: str


def realised_gain(kernel: Kernel, X: ArrayLike, noise_variance: float) -> InformationGain:
    """Return F(X) itself, for points that were (or could be) observed: exact.

    Parameters
    ----------
    kernel, X, noise_variance
        K, the points, shape (n, D), repeats allowed, and lambda > 0.

    Returns
    -------
    InformationGain

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> round(realised_gain(Matern(2.5, 0.3), [[0.5], [0.5]], 0.5).value, 3)  # log(1 + 2 / 0.5) / 2
    0.805
    """
    gp = GaussianProcess(kernel, noise_variance=_positive(noise_variance), jitter=False)
    points = as_points(X, dimension=kernel.dimension, name="X")
    gp.add(points, np.zeros(len(points)))
    return InformationGain(0.5 * gp.logdet, rigorous=True, how=f"log det(I + K/lambda)/2 at {len(points)} given points")


def greedy_gain(
    kernel: Kernel, n: int, noise_variance: float, *, dimension: int, candidates: ArrayLike | None = None
) -> InformationGain:
    """Bound gamma_n through the greedy design: pick the candidate of largest variance, n times.

    On a finite set G greedy reaches (1 - 1/e) of the best [KSG08], repeats allowed. The paper (remark on rho_0)
    stops there; points between candidates need a second term. With d the largest distance, in the kernel's
    metric, from a point of the cube to G, f(x) = f(g) + (f(x) - f(g)) and det(I + A + B) <= det(I + A) det(I + B)
    give

        gamma_n <= (sqrt(gamma_n(G)) + d sqrt(n / (2 lambda)))^2.

    Parameters
    ----------
    kernel, n, noise_variance, dimension
        K, the number of observations, lambda > 0, and D of the cube.
    candidates
        G, shape (m, D); by default the finest regular grid of at most 4,096 points, whose d is known. For other
        candidates the second term is unknown: without it the value is an estimate, and says so.

    Returns
    -------
    InformationGain
        In nats; rigorous with the default candidates.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> gain = greedy_gain(Matern(2.5, 0.3), 20, 0.01, dimension=1)
    >>> gain.rigorous, gain.value > realised_gain(Matern(2.5, 0.3), np.linspace(0, 1, 20)[:, None], 0.01).value
    (True, True)
    """
    n, lam, points, cover = _checked(kernel, n, noise_variance, dimension, candidates)
    variances = _greedy_variances(kernel, points, min(n, _MOST_STEPS), lam)
    gains = [0.5 * np.log1p(variance / lam) for variance in variances]
    # Greedy variances never grow: the rest are at most the last one computed.
    greedy = sum(gains) + (n - len(gains)) * (gains[-1] if gains else 0.0)
    on_set = greedy / (1 - 1 / e)
    if cover is None:
        return InformationGain(float(on_set), False, f"greedy over {len(points)} given candidates, none in between")
    between = cover * np.sqrt(n / (2 * lam))
    value = float((np.sqrt(on_set) + between) ** 2)
    return InformationGain(value, True, f"greedy over a grid of {len(points)} with its discretisation term")


def set_gain(
    kernel: Kernel, n: int, noise_variance: float, *, dimension: int, candidates: ArrayLike | None = None
) -> InformationGain:
    """Bound gamma_n by first observing a set: gamma_n <= min_m F(A_m) + (n/2) log(1 + s_m^2 / lambda).

    A_m are the first m greedy points and s_m bounds the largest posterior deviation given them: its maximum over
    the candidates plus the kernel distance to the nearest one (deviations are 1-Lipschitz in that metric). With
    the default grid this is rigorous; it says something up to about three dimensions and is nearly vacuous above.

    Parameters
    ----------
    kernel, n, noise_variance, dimension, candidates
        As of `greedy_gain`.

    Returns
    -------
    InformationGain

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> gain = set_gain(Matern(2.5, 0.3), 20, 0.01, dimension=1)
    >>> gain.rigorous, round(gain.value, 1)
    (True, 20.8)
    """
    n, lam, points, cover = _checked(kernel, n, noise_variance, dimension, candidates)
    gain, best = 0.0, np.inf
    for variance in _greedy_variances(kernel, points, min(n, _MOST_STEPS) + 1, lam):
        largest = min(np.sqrt(max(variance, 0.0)) + (cover or 0.0), np.sqrt(kernel.variance))
        best = min(best, gain + 0.5 * n * np.log1p(largest**2 / lam))
        gain += 0.5 * np.log1p(variance / lam)
    if cover is None:
        return InformationGain(float(best), False, f"set bound over {len(points)} given candidates, none in between")
    return InformationGain(float(best), True, f"set bound over a grid of {len(points)} with its covering radius")


def _greedy_variances(kernel: Kernel, points: Array, n: int, lam: float) -> list[float]:
    """Largest posterior variance over the candidates before each of n greedy observations.

    A partial Cholesky factorisation with pivoting: O(n m) numbers and O(n^2 m) work, no refactoring.
    """
    variance = np.full(len(points), kernel.variance)
    rows = np.empty((n, len(points)))
    largest: list[float] = []
    for step in range(n):
        pick = int(np.argmax(variance))
        top = float(variance[pick])
        largest.append(top)
        if top < 1e-14 * kernel.variance:  # nothing left to learn: the rest is zero to working precision
            return largest + [top] * (n - len(largest))
        row = kernel(points[pick : pick + 1], points)[0]
        row -= rows[:step, pick] @ rows[:step]
        row /= np.sqrt(top + lam)
        rows[step] = row
        variance = np.maximum(variance - row**2, 0.0)
    return largest


def _checked(
    kernel: Kernel, n: int, noise_variance: float, dimension: int, candidates: ArrayLike | None
) -> tuple[int, float, Array, float | None]:
    """Return n, lambda, the candidates (m, D), and how far the cube is from them, in the kernel's metric, if known."""
    lam = _positive(noise_variance)
    n = as_whole(n, name="n", at_least=0)
    dimension = as_whole(dimension, name="dimension")
    kernel.check_dimension(dimension)
    if candidates is not None:
        points = as_points(candidates, dimension=dimension, name="candidates")
        if len(points) == 0:
            raise InvalidInput("candidates: expected at least one point, got none")
        return n, lam, points, None
    side = int(_MOST_CANDIDATES ** (1 / dimension) + 1e-9)  # at least 1
    if side == 1:
        return n, lam, np.full((1, dimension), 0.5), float(kernel.modulus(np.full(dimension, 0.5)))
    ticks = (np.arange(side) + 0.5) / side
    grid = np.stack(np.meshgrid(*[ticks] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    return n, lam, grid, float(kernel.modulus(np.full(dimension, 0.5 / side)))


def _positive(noise_variance: float) -> float:
    return as_number(noise_variance, name="noise_variance", above=0.0)
