"""Errata on the lemmas behind the theorem (appendix C).

Where a chain of inequalities is at stake, the largest regret that the facts of the proof allow is found by linear
programming: values of f and an estimate within its error attain it, so that no smaller bound can follow from them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, e, log, sqrt

import numpy as np
import pytest
from as_printed import deviation_sum_bound, evaluations_per_cell_bound, splits_bound, uncovered_probability
from scipy.optimize import linprog

Documented = Callable[[str, str], None]
Row = tuple[dict[str, float], float]  # coefficients by name, and what their sum is at most


def largest(objective: dict[str, float], rows: list[Row]) -> float:
    """Maximise a linear function of named quantities under rows `sum <= bound`; the first one is held at 0."""
    names = sorted({name for row, _ in rows for name in row} | set(objective))
    matrix = np.array([[row.get(name, 0.0) for name in names] for row, _ in rows])
    cost = [-objective.get(name, 0.0) for name in names]
    bounds = [(0.0, 0.0) if name == names[0] else (-100.0, 100.0) for name in names]
    found = linprog(cost, A_ub=matrix, b_ub=[bound for _, bound in rows], bounds=bounds)
    assert found.fun is not None
    return -float(found.fun)


def within(a: str, b: str, distance: float) -> list[Row]:
    return [({a: 1.0, b: -1.0}, distance), ({b: 1.0, a: -1.0}, distance)]


def test_sum_of_deviations(documented: Documented) -> None:
    """Printed: sum of sigma_t(x_t) <= sqrt(n gamma_n). Far apart points with lambda = 1, n = 25: the sum is n.

    The largest gamma_n for K <= 1 is n log(1 + 1/lambda)/2; the printed bound is below n iff lambda > 1/(e^2 - 1).
    """
    n, lam = 25, 1.0
    gain = n / 2 * log(1 + 1 / lam)
    printed = sqrt(n * gain)
    assert printed < n == pytest.approx(deviation_sum_bound(n, gain, lam))
    documented("E38", f"{printed:.1f}")
    threshold = 1 / (e**2 - 1)
    for near, fails in ((threshold * 1.001, True), (threshold * 0.999, False)):
        assert (sqrt(n * n / 2 * log(1 + 1 / near)) < n) == fails
    documented("E38", f"{threshold:.3f}")


def test_number_of_rounds(documented: Documented) -> None:
    """Printed: t_n <= (n/2)^D + n. D = 1, n = 16: 1 + 2 + ... + 16 cells of side 1/16 or more can split."""
    splits = sum(2**j for j in range(5))
    assert splits == splits_bound(16, 1)
    documented("E39", f"{splits + 16} rounds")
    documented("E39", f"{16 // 2 + 16}")


def test_evaluations_per_cell(documented: Documented) -> None:
    """Printed: m_E <= 2 log(1/delta)/(L D r^(2 alpha_1)). L = 1/2, sigma = 1, D = 1, r = 1/4: counted."""
    constant, side, failure = 0.5, 0.25, 0.01
    count = 1
    while sqrt(2 * log(1 / failure) / count) > constant * side:
        count += 1
    printed = ceil(2 * log(1 / failure) / (constant * side**2))
    bound = evaluations_per_cell_bound(side, dimension=1, exponent=1.0, constant=constant, noise=1.0, failure=failure)
    assert printed < count <= bound
    documented("E40", f"{count}")
    documented("E40", f"{printed}")


def test_covering(documented: Documented) -> None:
    """Printed: one draw misses an eps-ball with probability 1 - eps. D = 2, eps = .2, side .5: 1 - (eps/side)^2."""
    x = 0.5 * np.random.default_rng(5).uniform(size=(200_000, 2))
    missed = float((x.max(axis=1) > 0.2).mean())
    assert missed == pytest.approx(1 - (0.2 / 0.5) ** 2, abs=0.005)
    documented("E41", f"{missed:.2f}")
    documented("E41", f"{1 - 0.2:.2f}")
    assert uncovered_probability(1, side=0.5, radius=0.2, dimension=2) == 1.0


def test_four_half_widths_need_a_large_cell(documented: Documented) -> None:
    """Instantaneous regret <= 4 b: uses L (sqrt(D) r)^alpha_1 <= b, which evaluated cells with r >= rho_0 satisfy.

    Below rho_0 and with k >= 1 a cell is evaluated while b > L (sqrt(D) r)^(k + alpha): b = .2 and variation 1 occur.
    """
    b, variation = 0.2, 1.0
    rows: list[Row] = [({"best": 1.0, "mean": -1.0}, b + variation)]  # f* <= U <= u^(2)
    rows += within("mean", "average", b) + within("average", "at", variation)
    regret = largest({"best": 1.0, "at": -1.0}, rows)
    assert regret == pytest.approx(2 * b + 2 * variation)
    documented("E42", f"{regret:.1f}")
    documented("E42", f"{4 * b:.1f}")


def test_simple_regret_of_an_evaluated_point(documented: Documented) -> None:
    """Printed: f(x*) - f(x_tau) <= beta sigma. The facts give 2 beta sigma + variation, and no less: .3 and .2."""
    width, variation = 0.3, 0.2
    rows: list[Row] = [({"best": 1.0, "mean": -1.0}, width + variation), *within("mean", "at", width)]
    regret = largest({"best": 1.0, "at": -1.0}, rows)
    assert regret == pytest.approx(2 * width + variation)
    documented("E43", f"{regret:.1f}")
    documented("E43", f"{width:.1f}")


def test_simple_regret_of_the_centre_of_the_smallest_cell(documented: Documented) -> None:
    """Printed: at most the variation V(E) of the cell itself. The facts speak of its parent F: 4 V(F), both conditions.

    (The chain for the second condition, through x_s, gives 5 V(F); the average bounds f on all of F, which gives 4.)
    """
    parent = 1.0
    through_gp: list[Row] = [({"best": 1.0, "mean": -1.0}, parent + parent)]  # beta sigma < V(F) when F was split
    through_gp += within("mean", "at", parent) + within("at", "centre", parent)
    through_average: list[Row] = [({"best": 1.0, "mean": -1.0}, parent + parent)]
    through_average += within("mean", "average", parent) + within("average", "centre", parent)
    for rows in (through_gp, through_average):
        regret = largest({"best": 1.0, "centre": -1.0}, rows)
        assert regret == pytest.approx(4 * parent)
        documented("E44", f"{regret / parent:.0f} V(F)")
        documented("E44", f"{regret / (parent / 2):.0f} V(E)")  # alpha_1 = 1: half the side, half the variation


def test_the_third_case_ends_at_four_errors(documented: Documented) -> None:
    """Printed: f(x*) <= f_hat + 2 err <= f(x_E) + err <= f(x) + 2 err. But f_hat <= f(x_E) + err: three, then four."""
    err = 1.0
    rows: list[Row] = [({"best": 1.0, "estimate": -1.0}, 2 * err)]
    rows += within("estimate", "centre", err) + within("centre", "x", err)
    regret = largest({"best": 1.0, "x": -1.0}, rows)
    assert regret == pytest.approx(4 * err)
    documented("E45", f"{regret:.0f} err")


def test_the_radius_of_the_smallest_cell_has_a_negative_exponent(documented: Documented) -> None:
    """Lemma on the smallest cell, first case: 2^-j is bounded by a positive power of n, which says nothing.

    The accounting itself, C_8 = 1, D = alpha_1 = 1, n_1 = n/2, n = 10^6: the largest j with sum_(i<j) 8^i <= n_1.
    """
    n = 10**6
    j = max(j for j in range(40) if sum(8**i for i in range(j)) <= n / 2)
    meant, printed = (n / 2**4) ** (-1 / 3), (n / 2**4) ** (1 / 3)
    assert 2.0**-j <= meant < 1 < printed
    documented("E46", f"{meant:.3f}")
    documented("E46", f"{printed:.1f}")
