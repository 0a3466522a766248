"""Stored bounds, the lazy search and splitting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat.confidence import Assumptions, LocalBand, cell_average
from quadrat.kernels import Matern
from quadrat.methods.lp.cells import BOUNDS, CellBounds, Condition
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)
GIVEN = Assumptions(KERNEL, 1.0, 0.1)


def grown(
    seed: int, dimension: int, steps: int, degree: int = 0, capacity: int | None = None
) -> tuple[CellBounds, RKHSFunction]:
    """Random observations and splits, in random order."""
    rng = generator(seed, 8)
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=rng)
    cells = CellBounds(GIVEN, dimension, delta=0.05, degree=degree, capacity=capacity)
    for _ in range(steps):
        x = rng.random(dimension)
        cells.add(x, np.array([float(f(x)) + 0.1 * rng.normal() for _ in range(rng.integers(1, 3))]))
        if rng.random() < 0.6:
            leaves = cells.tree.leaves()
            polynomial = bool(degree) and rng.random() < 0.5
            cells.expand(int(rng.choice(leaves)), Condition("test", polynomial=polynomial))
        if rng.random() < 0.3:
            cells.refresh(rng.choice(cells.tree.leaves(), 1))
    return cells, f


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 25), st.integers(0, 1))
def test_lazy_search_picks_the_cell_that_evaluating_all_picks(
    seed: int, dimension: int, steps: int, degree: int
) -> None:
    """From identical stored bounds: two copies built alike, one refreshed everywhere, one searched lazily."""
    lazy, _ = grown(seed, dimension, steps, degree)
    full, _ = grown(seed, dimension, steps, degree)
    np.testing.assert_array_equal(lazy.upper, full.upper)
    leaves = full.tree.leaves()
    full.refresh(leaves)
    expected = int(leaves[np.argmax(full.upper[leaves])])
    before = lazy.posteriors
    assert lazy.highest() == expected
    assert lazy.upper[expected] == full.upper[expected]
    assert lazy.posteriors - before <= full.posteriors - before


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(2, 20))
def test_lazy_search_with_pending_points_is_the_full_one_too(seed: int, dimension: int, steps: int) -> None:
    cells, _ = grown(seed, dimension, steps)
    cells.highest()
    pending = generator(seed, 9).random((3, dimension))
    stored = cells.upper.copy()
    chosen = cells.look(pending).leaf
    np.testing.assert_array_equal(cells.upper, stored)
    leaves = cells.tree.leaves()
    with cells.band.pending(pending):
        index = np.minimum(stored[leaves], cells._posterior_bounds(leaves).bounds)
    assert chosen == int(leaves[np.argmax(index)])


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_every_stored_bound_is_above_the_function(degree: int, seed: int) -> None:
    cells, f = grown(seed, 2, 25, degree)
    cells.refresh(cells.tree.leaves())
    for node in cells.tree.leaves().tolist():
        inside = cells.tree.cell(node).sample(generator(seed, node, 1), 20)
        assert np.max(f(inside)) <= cells.upper[node]


def test_bounds_only_fall_and_children_start_from_their_parent() -> None:
    cells, _ = grown(1, 2, 20)
    cells.refresh(cells.tree.leaves())
    before = cells.upper.copy()
    node = int(cells.tree.leaves()[0])
    cells.expand(node, Condition("test"))
    children = cells.tree.children(node)
    assert (cells.upper[list(children)] <= before[node]).all()
    np.testing.assert_array_equal(cells.upper[: len(before)], before)
    cells.add(np.array([0.5, 0.5]), np.array([0.0]))
    cells.refresh(cells.tree.leaves())
    assert (cells.upper[: len(before)] <= before).all()


def test_a_polynomial_split_serves_the_descendants() -> None:
    """Flag 2: the model stays with the cell, its children are bounded by it, and refinement goes down to a depth."""
    cells = CellBounds(GIVEN, 1, delta=0.05, degree=1)
    rng = generator(3)
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=rng)
    for x in rng.random((60, 1)):
        cells.add(x, np.array([float(f(x)) + 0.1 * rng.normal()]))
    cells.expand(0, Condition("test", polynomial=True))
    left = cells.tree.children(0)[0]
    model = cells.tree.nearest_model(left)
    assert model is not None
    assert cells.target[left] == cells.target[0] >= 1
    bound = model.upper(cells.tree.cell(left))  # type: ignore[attr-defined]
    assert cells.upper[left] <= bound
    assert BOUNDS[cells.source[left]] in BOUNDS


def test_the_average_bound_is_the_checked_one() -> None:
    cells, _ = grown(5, 2, 25)
    for node in cells.tree.leaves().tolist():
        if cells.tree.count(node):
            X, y = cells.observed(node)
            share = cells.budget.average(cells.tree.depth(node))
            expected = cell_average(cells.tree.cell(node), X, y, GIVEN, share).upper
            assert cells._average(node) == pytest.approx(expected, rel=1e-12)


def test_parts_cover_the_cell_and_sharpen_its_bound() -> None:
    cells, _ = grown(2, 2, 15)
    node = int(cells.tree.leaves()[0])
    parts = cells.parts(node)
    assert len(parts) == 16
    assert cells.tree.cell(node).contains(parts).all()
    np.testing.assert_allclose(parts.mean(0), cells.tree.cell(node).centre)
    plain = cells.band.interval(cells.centres(np.array([node]))).upper[0] + cells.half_variation(node)
    assert cells._posterior_bounds(np.array([node])).bounds[0] <= plain + 1e-9
    assert len(CellBounds(GIVEN, 5, delta=0.05, degree=0).parts(0)) == 1


def test_the_cap_is_noticed() -> None:
    cells = CellBounds(GIVEN, 1, delta=0.05, degree=0, max_cells=2)
    assert not cells.is_full
    cells.expand(0, Condition("test"))
    assert cells.is_full


# --- bands of cells


@pytest.mark.parametrize(("seed", "dimension", "degree"), [(0, 1, 0), (1, 2, 1), (2, 2, 0), (3, 3, 0)])
def test_lazy_search_with_bands_of_cells_is_the_full_one(seed: int, dimension: int, degree: int) -> None:
    """Without and with pending points; from identical stored bounds."""
    lazy, _ = grown(seed, dimension, 25, degree, capacity=4)
    full, _ = grown(seed, dimension, 25, degree, capacity=4)
    assert isinstance(lazy.band, LocalBand)
    assert lazy.band.cells > 4
    leaves = full.tree.leaves()
    full.refresh(leaves)
    assert lazy.highest() == int(leaves[np.argmax(full.upper[leaves])])
    pending = generator(seed, 9).random((3, dimension))
    stored = lazy.upper.copy()
    chosen = lazy.look(pending).leaf
    np.testing.assert_array_equal(lazy.upper, stored)
    with lazy.band.pending(pending):
        index = np.minimum(stored[leaves], lazy._posterior_bounds(leaves).bounds)
    assert chosen == int(leaves[np.argmax(index)])


@pytest.mark.parametrize("seed", range(4))
def test_every_stored_bound_from_bands_of_cells_is_above_the_function(seed: int) -> None:
    """Minima over time are of bounds of different bands, before and after cells of the band were divided."""
    cells, f = grown(seed, 2, 40, capacity=6)
    assert isinstance(cells.band, LocalBand)
    assert cells.band.cells > 4
    before = cells.upper.copy()
    cells.refresh(cells.tree.leaves())
    assert (cells.upper <= before).all()
    for node in cells.tree.leaves().tolist():
        inside = cells.tree.cell(node).sample(generator(seed, node, 1), 20)
        assert np.max(f(inside)) <= cells.upper[node]
