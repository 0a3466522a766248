"""The classic test functions of global optimisation as their authors wrote them: minimised, on their own domains.

Each takes points of shape (..., D) and gives values of shape (...). The problems of `catalogue` are minus these,
on the unit cube. Every docstring says why the stated minimum is the least value on the whole of R^D and not
only on the usual box: that is what lets a problem be shifted without changing its optimal value.

References
----------
[B72]   Branin (1972). Widely convergent method for finding multiple solutions of simultaneous nonlinear
        equations. IBM Journal of Research and Development 16(5).
[GP71]  Goldstein and Price (1971). On descent from local minima. Mathematics of Computation 25(115).
[DS78]  Dixon and Szegö (1978). The global optimization problem: an introduction. In Towards Global
        Optimisation 2; Hartmann's family is there.
[A87]   Ackley (1987). A Connectionist Machine for Genetic Hillclimbing. Kluwer.
[LM85]  Levy and Montalvo (1985). The tunneling algorithm for the global minimization of functions. SIAM Journal
        on Scientific and Statistical Computing 6(1).
[R60]   Rosenbrock (1960). An automatic method for finding the greatest or least value of a function. The
        Computer Journal 3(3).
[R74]   Rastrigin (1974). Systems of Extremal Control. Nauka.
[SB13]  Surjanovic and Bingham (2013). Virtual Library of Simulation Experiments. www.sfu.ca/~ssurjano. The
        constants are in the form printed there.
"""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array

__all__ = [
    "BRANIN_MINIMISERS",
    "BRANIN_MINIMUM",
    "HARTMANN6_MINIMISER",
    "HARTMANN6_MINIMUM",
    "ackley",
    "branin",
    "goldstein_price",
    "hartmann6",
    "levy",
    "log_goldstein_price",
    "log_rosenbrock",
    "rastrigin",
    "rosenbrock",
]

BRANIN_MINIMUM = 10 / (8 * np.pi)
# x_1 = k pi for odd k and the x_2 that makes the square zero. The first three lie in the usual box; the fourth can
# come into view when the function is shifted. (Those for k = -3 and beyond 5 pi never do.)
BRANIN_MINIMISERS = (
    (np.pi, 2.275),
    (-np.pi, 12.275),
    (3 * np.pi, 2.475),
    (5 * np.pi, 12.875),
)


def branin(x: Array) -> Array:
    """Branin's function of two variables [B72], usually on [-5, 10] x [0, 15]; three minima in that box.

    A square plus 10 (1 - 1/8pi) cos(x_1) + 10, hence at least 10 / 8pi everywhere, and equal to it wherever the
    square is zero and cos(x_1) = -1.

    Examples
    --------
    >>> float(branin(np.array([np.pi, 2.275]))) - BRANIN_MINIMUM < 1e-14
    True
    """
    first, second = x[..., 0], x[..., 1]
    parabola = second - 5.1 / (4 * np.pi**2) * first**2 + 5 / np.pi * first - 6
    return np.asarray(parabola**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(first) + 10)


def goldstein_price(x: Array) -> Array:
    """Goldstein and Price's function of two variables [GP71], usually on [-2, 2]^2: from 3 to about 10^6.

    In s = x_1 + x_2 and t = 2 x_1 - 3 x_2 it is the product of 1 + (s + 1)^2 (19 - 14 s + 3 s^2), whose last
    factor has no real root, so that the least value is 1, at s = -1 only; and of 30 + t^2 (18 - 16 t + 3 t^2),
    whose derivative is 12 t (t - 1) (t - 3) and whose least value is 3, at t = 3 only. Both together are the one
    point (0, -1), so that 3 is the minimum on the whole plane.

    Examples
    --------
    >>> float(goldstein_price(np.array([0.0, -1.0])))
    3.0
    """
    s = x[..., 0] + x[..., 1]
    t = 2 * x[..., 0] - 3 * x[..., 1]
    return np.asarray((1 + (s + 1) ** 2 * (19 - 14 * s + 3 * s**2)) * (30 + t**2 * (18 - 16 * t + 3 * t**2)))


def log_goldstein_price(x: Array) -> Array:
    """Logarithm of `goldstein_price`: the same order of points on a scale that a model can follow; minimum log 3."""
    return np.asarray(np.log(goldstein_price(x)))


_HARTMANN6_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN6_RATES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN6_CENTRES = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)
# Newton's method on the gradient in 40 digits, from the six-digit minimiser of [SB13].
HARTMANN6_MINIMISER = (
    0.201689511006705424,
    0.150010691823457969,
    0.476873974221896990,
    0.275332430494056068,
    0.311651616600113242,
    0.657300534065620306,
)
HARTMANN6_MINIMUM = -3.3223680114155148


def hartmann6(x: Array) -> Array:
    """Hartmann's function of six variables [DS78]: minus four Gaussian bumps in [0, 1]^6; six local minima.

    The four centres lie in the cube. Moving a point outside to the nearest one of the cube brings it closer to
    each centre in every coordinate and deepens every bump, so that the minimum on the cube is the minimum on R^6.
    """
    squares = _HARTMANN6_RATES * (x[..., None, :] - _HARTMANN6_CENTRES) ** 2
    return np.asarray(-np.sum(_HARTMANN6_HEIGHTS * np.exp(-squares.sum(-1)), axis=-1))


def ackley(x: Array) -> Array:
    """Ackley's function [A87] of any dimension: a funnel with a lattice of dimples; minimum 0, at the origin only.

    -20 exp(-|x| / 5 sqrt(D)) is least at the origin, and so is -exp(mean of cos 2 pi x_i).
    """
    funnel = -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2, axis=-1)))
    dimples = -np.exp(np.mean(np.cos(2 * np.pi * x), axis=-1))
    return np.asarray(funnel + dimples + 20 + np.e)


def levy(x: Array) -> Array:
    """Levy and Montalvo's function [LM85] of dimension 2 or more, usually on [-10, 10]^D; a wavy bowl.

    A sum of squares in w = 1 + (x - 1) / 4; all are zero only at w = (1, ..., 1), so that the minimum is 0, at
    (1, ..., 1) only.
    """
    w = 1 + (x - 1) / 4
    body, last = w[..., :-1], w[..., -1]
    return np.asarray(
        np.sin(np.pi * w[..., 0]) ** 2
        + np.sum((body - 1) ** 2 * (1 + 10 * np.sin(np.pi * body + 1) ** 2), axis=-1)
        + (last - 1) ** 2 * (1 + np.sin(2 * np.pi * last) ** 2)
    )


def rosenbrock(x: Array) -> Array:
    """Rosenbrock's valley [R60] of dimension 2 or more; a sum of squares; minimum 0, at (1, ..., 1) only."""
    return np.asarray(np.sum(100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2, axis=-1))


def log_rosenbrock(x: Array) -> Array:
    """log(1 + `rosenbrock`): the same valley without its eight orders of magnitude; minimum 0, at (1, ..., 1) only."""
    return np.asarray(np.log1p(rosenbrock(x)))


def rastrigin(x: Array) -> Array:
    """Rastrigin's function [R74]: a paraboloid under a lattice of pits of depth 10; minimum 0, at the origin only.

    Each coordinate gives x_i^2 + 10 (1 - cos 2 pi x_i), which is zero only at x_i = 0.
    """
    return np.asarray(np.sum(x**2 + 10 * (1 - np.cos(2 * np.pi * x)), axis=-1))
