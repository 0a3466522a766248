"""pi-GP-UCB: how many observations a cell holds, how many cells there are, and whether the bands of cells hold.

[JBG20]: Janz, Burt and González (2020). Bandit optimisation of functions in the Matérn kernel RKHS. AISTATS.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
import pytest

from quadrat.arrays import Array
from quadrat.gp.partitioned import PartitionedProcess
from quadrat.gp.splitting import SplittingRule
from quadrat.kernels import Matern
from quadrat.methods.ucb.pi_gp_ucb import PiGPUCB
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(1.5, 0.3)


def uniform(n: int) -> Array:
    return generator(0).random((n, 2))


def near_a_corner(n: int) -> Array:
    return generator(1).random((n, 2)) ** 3


def at_one_point(n: int) -> Array:
    return np.full((n, 2), 0.7)


def most_cells(rule: SplittingRule, n: int) -> int:
    """Cells ever made, at most: those split at depth J are disjoint, 2^J, and each had limit(J) - 1 observations."""
    total = 1
    for depth in range(0, 200, len(rule.axes(0))):
        least = max(rule.limit(depth) - 1, 1)
        if least > n:
            break
        total += 2 ** len(rule.axes(depth)) * int(min(2**depth, n / least))
    return total


@pytest.mark.parametrize("all_axes", [False, True])
@pytest.mark.parametrize("design", [uniform, near_a_corner, at_one_point])
@pytest.mark.parametrize("capacity", [1.0, 8.0])
def test_observations_in_a_cell(design: Callable[[int], Array], capacity: float, all_axes: bool) -> None:
    """[JBG20, algorithm 1]: after every round each cell has N + 1 < capacity rho^(-1/b), or nothing at all."""
    rule = SplittingRule(KERNEL, 2, 1.5, capacity, all_axes)
    process = PartitionedProcess(rule, noise_variance=1.0)
    x = design(150)
    for n in range(150):
        process.add(x[n], 0.0)
        for cell in process.cells:
            rho = float(np.prod(cell.upper - cell.lower)) ** 0.5
            assert cell.count == 0 or cell.count + 1 < capacity * rho ** -(5 / 3) * (1 + 1e-12)
    assert sum(cell.count for cell in process.cells) == 150
    made = 1 + max(cell.number for cell in process.cells)
    assert made <= most_cells(rule, 150)


@pytest.mark.parametrize(("dimension", "nu"), [(1, 1.5), (2, 1.5), (2, 2.5), (3, 2.5)])
def test_how_the_number_of_cells_grows(dimension: int, nu: float) -> None:
    """The bound above grows like n^q, q = d(d + 1)/(d(d + 2) + 2 nu), the exponent in [JBG20, theorem 1]'s proof."""
    rule = SplittingRule(Matern(nu, 0.3), dimension, nu)
    q = dimension * (dimension + 1) / (dimension * (dimension + 2) + 2 * nu)
    slope = (log(most_cells(rule, 10**14)) - log(most_cells(rule, 10**8))) / log(10**6)
    assert slope == pytest.approx(q, abs=0.03)


def share_of_failures(noise: float, multiplier: Callable[[float, int, float], float], runs: int = 30) -> float:
    """Runs of pi-GP-UCB over 101 points in which |f - mu_A| > beta_A sigma_A somewhere, at some time."""
    method = PiGPUCB(kernel=KERNEL, noise=noise, delta=0.1, budget=40, capacity=2.0)
    grid, n = np.linspace(0, 1, 101), 40
    failed = 0
    for seed in range(runs):
        f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(seed, 1), style="rough").values(grid[:, None])
        rng = generator(seed, 2)
        process = PartitionedProcess(method.rule(KERNEL, 1), noise_variance=method.regulariser(noise**2))
        held = True
        for _ in range(n):
            index = np.empty(len(grid))
            for cell, rows in process.by_cell(grid[:, None]):
                at = cell.gp.predict(grid[rows, None])
                beta = multiplier(cell.gain, cell.depth, noise)
                held &= bool((np.abs(f[rows] - at.mean) <= beta * at.deviation + 1e-9).all())
                index[rows] = at.mean + beta * at.deviation
            j = int(np.argmax(index))
            process.add([[grid[j]]], [f[j] + noise * rng.normal()])
        assert len(process.cells) >= 3
        failed += not held
    return failed / runs


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_bands_of_all_cells_hold_at_once(noise: float) -> None:
    """[CG17, theorem 2] in every cell at its share of delta = .1: at most .1 of the runs may fail (none does)."""
    method = PiGPUCB(kernel=KERNEL, noise=noise, delta=0.1, budget=40, capacity=2.0)
    assert share_of_failures(noise, method.multiplier) <= 0.1


def test_without_the_term_of_the_noise_they_do_not() -> None:
    """sigma = 1: B alone is no multiplier; so the test above can fail."""
    assert share_of_failures(1.0, lambda gain, depth, noise: 1.0, runs=20) > 0.3  # noqa: ARG005


def test_without_the_norm_they_do_not() -> None:
    """sigma = .1: the first observation of a cell tells little of f, whose norm is what bounds it."""
    method = PiGPUCB(kernel=KERNEL, norm_bound=0.05, noise=0.1, delta=0.1, budget=40, capacity=2.0)
    assert share_of_failures(0.1, method.multiplier, runs=20) > 0.3
