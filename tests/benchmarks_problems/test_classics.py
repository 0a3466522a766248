from __future__ import annotations

from collections.abc import Callable
from math import cos, e, exp, log, log1p, pi, sin, sqrt

import numpy as np
import pytest

from problems import classics
from quadrat._core.arrays import Array
from quadrat.randomness import generator

# Written again from the literature [SB13], a point at a time, so that a slip in vectorising shows.


def _branin(x: list[float]) -> float:
    a, b, c, r, s, t = 1, 5.1 / (4 * pi**2), 5 / pi, 6, 10, 1 / (8 * pi)
    return a * (x[1] - b * x[0] ** 2 + c * x[0] - r) ** 2 + s * (1 - t) * cos(x[0]) + s


def _goldstein_price(x: list[float]) -> float:
    a, b = x
    first = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    second = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return first * second


def _hartmann6(x: list[float]) -> float:
    alpha = [1.0, 1.2, 3.0, 3.2]
    rates = [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
    centres = [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
    total = 0.0
    for i in range(4):
        total -= alpha[i] * exp(-sum(rates[i][j] * (x[j] - centres[i][j] / 10000) ** 2 for j in range(6)))
    return total


def _ackley(x: list[float]) -> float:
    d = len(x)
    return -20 * exp(-0.2 * sqrt(sum(v * v for v in x) / d)) - exp(sum(cos(2 * pi * v) for v in x) / d) + 20 + e


def _levy(x: list[float]) -> float:
    w = [1 + (v - 1) / 4 for v in x]
    total = sin(pi * w[0]) ** 2 + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2)
    for v in w[:-1]:
        total += (v - 1) ** 2 * (1 + 10 * sin(pi * v + 1) ** 2)
    return total


def _rosenbrock(x: list[float]) -> float:
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (x[i] - 1) ** 2 for i in range(len(x) - 1))


def _rastrigin(x: list[float]) -> float:
    return 10 * len(x) + sum(v * v - 10 * cos(2 * pi * v) for v in x)


CASES: dict[str, tuple[Callable[[Array], Array], Callable[[list[float]], float], int, float, float]] = {
    # vectorised, written again, dimension, half-width of the region to sample, minimum
    "branin": (classics.branin, _branin, 2, 20.0, classics.BRANIN_MINIMUM),
    "goldstein_price": (classics.goldstein_price, _goldstein_price, 2, 3.0, 3.0),
    "log_goldstein_price": (
        classics.log_goldstein_price,
        lambda x: log(_goldstein_price(x)),
        2,
        3.0,
        log(3.0),
    ),
    "hartmann6": (classics.hartmann6, _hartmann6, 6, 1.5, classics.HARTMANN6_MINIMUM),
    "ackley": (classics.ackley, _ackley, 5, 15.0, 0.0),
    "levy": (classics.levy, _levy, 8, 15.0, 0.0),
    "rosenbrock": (classics.rosenbrock, _rosenbrock, 4, 10.0, 0.0),
    "log_rosenbrock": (classics.log_rosenbrock, lambda x: log1p(_rosenbrock(x)), 4, 10.0, 0.0),
    "rastrigin": (classics.rastrigin, _rastrigin, 3, 10.0, 0.0),
}


@pytest.mark.parametrize("name", CASES)
def test_values_agree_with_the_formula_written_again(name: str) -> None:
    """Relative 1e-12 at 50 points; the two forms round differently, Goldstein-Price's two factors the most."""
    vectorised, again, dimension, half_width, _ = CASES[name]
    points = generator(1).uniform(-half_width, half_width, (50, dimension))
    np.testing.assert_allclose(vectorised(points), [again(list(x)) for x in points.tolist()], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_any_leading_shape_is_taken(name: str) -> None:
    vectorised, _, dimension, half_width, _ = CASES[name]
    points = generator(2).uniform(-half_width, half_width, (3, 4, dimension))
    np.testing.assert_allclose(vectorised(points)[1, 2], vectorised(points[1, 2]), rtol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_the_minimum_is_global_on_all_of_space(name: str) -> None:
    """Claim of each docstring: nothing lies below the minimum anywhere.

    Sampled at scales from 0.01 to 100 times the usual region, with a local search from the best points of each; margin
    1e-9 for rounding.
    """
    from scipy.optimize import minimize

    function, _, dimension, half_width, minimum = CASES[name]

    def value(x: Array) -> float:
        return float(function(x))

    rng = generator(3)
    for scale in (0.01, 0.1, 1.0, 10.0, 100.0):
        points = rng.uniform(-scale * half_width, scale * half_width, (4000, dimension))
        values = function(points)
        assert values.min() >= minimum - 1e-9
        for start in points[np.argsort(values)[:4]]:
            assert minimize(value, start, method="L-BFGS-B").fun >= minimum - 1e-9


def test_branin_reaches_its_minimum_at_every_stated_point() -> None:
    values = classics.branin(np.array(classics.BRANIN_MINIMISERS))
    np.testing.assert_allclose(values, classics.BRANIN_MINIMUM, rtol=0, atol=1e-13)


def test_hartmann_is_stationary_at_the_stated_minimiser() -> None:
    """Central differences: a slope below 1e-8 with curvatures of order 10 puts the minimiser within 1e-9."""
    point, step = np.array(classics.HARTMANN6_MINIMISER), 1e-5
    slopes = [
        float(classics.hartmann6(point + shift) - classics.hartmann6(point - shift)) / (2 * step)
        for shift in step * np.eye(6)
    ]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-8)
    assert abs(float(classics.hartmann6(point)) - classics.HARTMANN6_MINIMUM) < 1e-14
