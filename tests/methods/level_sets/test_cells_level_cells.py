"""Cells with bounds on both sides: the two ways from points to cells, averages, splitting, labels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from quadrat.confidence import Assumptions, UserHolder, cell_average
from quadrat.confidence.budget import cell_share
from quadrat.kernels import Kernel, Matern, SquaredExponential
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED
from quadrat.methods.level_sets.cells import LevelCells
from quadrat.partition import Cell
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)


def make(
    dimension: int = 2,
    kernel: Kernel = KERNEL,
    *,
    threshold: float = 0.1,
    accuracy: float = 0.0,
    average_delta: float = 0.01,
    noise: float = 0.05,
    max_cells: int = 4096,
) -> LevelCells:
    given = Assumptions(kernel, 1.0, noise)
    return LevelCells(
        given, dimension,
        threshold=threshold, accuracy=accuracy, band_delta=0.04, average_delta=average_delta, max_cells=max_cells,
    )  # fmt: skip


def grown(seed: int, n: int, dimension: int = 2) -> tuple[LevelCells, RKHSFunction]:
    rng = generator(seed, 3)
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=rng)
    cells = make(dimension)
    for i, x in enumerate(rng.random((n, dimension))):
        cells.add(x, np.array([float(f(x)) + 0.05 * rng.normal()]))
        if i % 8 == 7:
            cells.refine(0.1)
    return cells, f


@pytest.mark.parametrize(
    "kernel", [KERNEL, SquaredExponential([0.2, 0.5]), Matern(3.5, [0.4, 0.2], amplitude=2.0)], ids=repr
)
def test_interpolation_between_corners_loses_no_more_than_stated(kernel: Kernel) -> None:
    """|f(x) - sum_v p_v f(v)| <= B s sqrt(m_4) sum (r_i/theta_i)^2 / 8 for the worst f of the ball, by brute force.

    The worst f at x is along K_x - sum_v p_v K_v, whose norm is what is lost per unit of B. Some x comes near.
    """
    cells = make(2, kernel)
    for depth in (2, 6, 9):
        sides = np.ones(2)
        for _ in range(depth):
            sides[cells.tree.axis_rule(sides)] /= 2
        stated = float((cells._curvature * sides**2).sum())  # type: ignore[operator]
        share = generator(depth).random((200, 2))
        share[0] = 0.5
        corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        worst = 0.0
        for p in share:
            weights = np.prod(np.where(corners > 0, p, 1 - p), axis=1)
            points = np.vstack([p, corners]) * sides
            coefficients = np.append(1.0, -weights)
            worst = max(worst, float(np.sqrt(max(coefficients @ kernel(points) @ coefficients, 0.0))))
        assert worst <= stated * (1 + 1e-9) + 1e-7
        if depth == 9:
            assert worst > 0.3 * stated, "a bound far too wide would hold for anything"


def test_each_depth_takes_the_way_that_loses_less() -> None:
    cells = make()
    assert not cells.way(0)[0]
    assert cells.way(10)[0]
    losses = [cells.way(depth)[1] for depth in range(14)]
    assert all(second <= first for first, second in pairwise(losses))
    assert cells.way(10)[1] == pytest.approx(5 / 8 * 2 * (1 / 32 / 0.3) ** 2)  # sqrt(m_4) = 5 for nu = 5/2
    rough, wide = make(2, Matern(1.5, 0.3)), make(5)
    for other in (rough, wide):  # no m_4; too many corners
        assert not other.way(10)[0]
        assert other.way(10)[1] == pytest.approx(float(other.assumptions.half_variation(_cell(other, 10))))


def _cell(cells: LevelCells, depth: int) -> Cell:
    node = 0
    for _ in range(depth):
        node = cells.tree.split(node)[0]
    return cells.tree.cell(node)


@pytest.mark.parametrize("seed", range(4))
def test_every_stored_bound_holds_and_only_sharpens(seed: int) -> None:
    cells, f = grown(seed, 48)
    leaves = cells.tree.leaves()
    for node, low, high in zip(leaves.tolist(), cells.low(leaves), cells.high(leaves), strict=True):
        values = f.values(cells.tree.cell(node).sample(generator(seed, node), 20))
        assert low <= values.min()
        assert values.max() <= high
    before = cells.low(leaves), cells.high(leaves)
    cells.add(np.array([0.3, 0.6]), np.array([0.2, 0.1]))
    cells.refresh()
    assert (cells.low(leaves) >= before[0]).all()
    assert (cells.high(leaves) <= before[1]).all()


def test_children_begin_with_their_parents_bounds() -> None:
    cells, _ = grown(1, 40)
    node = int(cells.undecided()[0])
    cells.split(node)
    children = np.array(cells.tree.children(node))
    assert (cells.low(children) >= cells.low(np.array([node]))[0]).all()
    assert (cells.high(children) <= cells.high(np.array([node]))[0]).all()


def test_the_average_is_the_checked_one_on_both_sides() -> None:
    """Much noise and much repetition in one small cell: the average decides there, and it has its cell's share."""
    cells = make(1, noise=0.5, average_delta=0.5)
    cells.split_to(6)
    x = np.array([0.51])
    y = 0.5 * generator(0).normal(size=400)
    cells.add(x, y)
    node = cells.tree.locate(x)
    share = 0.5 * cell_share(6)
    expected = cell_average(cells.tree.cell(node), np.repeat(x[None], 400, axis=0), y, cells.assumptions, share)
    assert cells.low(np.array([node]))[0] == pytest.approx(expected.lower)
    assert cells.high(np.array([node]))[0] == pytest.approx(expected.upper)
    assert expected.upper < cells.assumptions.ceiling


def test_labels_follow_the_rules_and_stay() -> None:
    cells = make(threshold=0.1, accuracy=0.05, average_delta=0.0)
    cells.split_to(2)
    leaves = cells.tree.leaves()
    cells._low.values[leaves] = [0.06, -1.0, -1.0, 0.051]
    cells._high.values[leaves] = [1.0, 0.14, 1.0, 0.149]
    cells._low.values[leaves[3]], cells._high.values[leaves[3]] = 0.06, 0.12
    assert cells.labels(leaves).tolist() == [ABOVE, BELOW, UNDECIDED, BELOW]
    assert cells.undecided().tolist() == [leaves[2]]


def test_refining_halves_where_more_than_the_share_is_lost_and_minds_the_caps() -> None:
    cells, _ = grown(2, 40)
    undecided = cells.undecided()
    fine = cells.losses(undecided) <= 0.1 * cells.widths(undecided)
    full = cells.tree.n_leaves >= 256 + 16 * 40
    assert fine.all() or full
    capped = make(max_cells=10)
    capped.refine(0.1)
    assert capped.tree.n_leaves == 10
    wide = make(8)
    wide.refine(0.1)
    assert wide.tree.n_leaves == 256


def test_averages_that_contradict_other_bounds_reject_the_assumptions() -> None:
    """f varies by at most .01 over the cell, says the user, and is near 0 at one place and near .8 at another."""
    given = Assumptions(Matern(2.5, 0.3), 2.0, 0.05, UserHolder(0.01))
    cells = LevelCells(given, 1, threshold=0.0, accuracy=0.0, band_delta=0.0375, average_delta=0.0125, max_cells=64)
    cells.add(np.array([0.5]), np.zeros(12))
    cells.refresh()
    cells.add(np.array([0.9]), np.full(300, 0.8))
    assert cells.rejection is not None
    assert "at level 0.05: no value of f is left over some cell" in cells.rejection
