from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.partition import Cell, PartitionTree, TooManyCells
from quadrat.randomness import generator


def grown(dimension: int, seed: int, n_splits: int, *, free: bool = False) -> PartitionTree:
    """A tree with leaves split at random, along the longest side or along random axes."""
    rng = generator(seed)
    tree = PartitionTree(dimension, axis_rule=(lambda sides: int(rng.integers(len(sides)))) if free else None)
    for _ in range(n_splits):
        tree.split(int(rng.choice(tree.leaves())))
    return tree


def awkward_points(tree: PartitionTree, rng: np.random.Generator, n: int) -> Array:
    """Random points mixed with points on faces and corners of the cells, on 0 and on 1."""
    ends = np.concatenate([tree.lower, tree.upper])
    rows = rng.integers(len(ends), size=(n, tree.dimension))
    on_faces = ends[rows, np.arange(tree.dimension)]
    return np.where(rng.random((n, tree.dimension)) < 0.5, on_faces, rng.random((n, tree.dimension)))


@given(st.integers(1, 4), st.integers(0, 10_000), st.integers(0, 40), st.booleans())
@settings(max_examples=60)
def test_every_point_is_in_exactly_one_leaf_and_locate_finds_it(dim: int, seed: int, splits: int, free: bool) -> None:
    """Leaves are disjoint and cover the cube, faces, corners and 1 included; both ways to locate equal brute force."""
    tree = grown(dim, seed, splits, free=free)
    points = np.vstack([awkward_points(tree, generator(seed, 1), 60), np.zeros(dim), np.ones(dim)])
    leaves = tree.leaves()
    inside = np.stack([tree.cell(leaf).contains(points) for leaf in leaves.tolist()])
    assert (inside.sum(axis=0) == 1).all()
    brute = leaves[np.argmax(inside, axis=0)]
    np.testing.assert_array_equal(tree.locate_many(points), brute)
    assert [tree.locate(point) for point in points] == brute.tolist()


@given(st.integers(1, 4), st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=40)
def test_children_tile_their_parent_exactly(dim: int, seed: int, splits: int) -> None:
    """Volumes are powers of two, so they add up with no rounding; children share only the cut."""
    tree = grown(dim, seed, splits, free=True)
    for node in range(tree.n_nodes):
        if tree.children(node):
            left, right = tree.children(node)
            a, b, whole = tree.cell(left), tree.cell(right), tree.cell(node)
            assert a.volume + b.volume == whole.volume == 2.0 ** -tree.depth(node)
            axis = int(np.argmax(a.upper != whole.upper))
            assert a.upper[axis] == b.lower[axis] == whole.centre[axis]
            assert tree.cell(node).halves(axis) == (a, b)
            assert tree.parent(left) == tree.parent(right) == node
    assert tree.cell(0).volume == sum(tree.cell(leaf).volume for leaf in tree.leaves().tolist())


def test_nodes_are_numbered_in_order_of_birth() -> None:
    tree = PartitionTree(2)
    assert tree.split(0) == (1, 2)
    assert tree.split(2) == (3, 4)
    assert tree.split(1) == (5, 6)
    assert (tree.n_nodes, tree.n_leaves, tree.leaves().tolist()) == (7, 4, [3, 4, 5, 6])
    assert (tree.parent(0), tree.parent(4), tree.children(0), tree.children(4)) == (None, 2, (1, 2), ())
    assert tree.depth(4) == 2


def test_the_cap_leaves_the_tree_as_it_was() -> None:
    tree = PartitionTree(3, max_cells=8)
    while tree.n_leaves < 8:
        tree.split(int(tree.leaves()[0]))
    before = tree.leaves().tolist()
    with pytest.raises(TooManyCells, match="8 cells, got 9; evaluate instead of splitting, or allow more with max_cel"):
        tree.split(before[0])
    assert (tree.n_nodes, tree.leaves().tolist()) == (15, before)


def test_halving_is_exact_to_the_last_level_and_then_refused() -> None:
    """At depth 52, next to 1, cells are still dyadic and still tile; the next cut would not be exact."""
    tree, node = PartitionTree(1), 0
    for _ in range(52):
        node = tree.split(node)[1]
    assert tree.cell(node) == Cell([1.0 - 2.0**-52], [1.0])
    assert (tree.locate([1.0]), tree.locate([np.nextafter(1.0, 0.0)])) == (node, node)
    with pytest.raises(InvalidInput, match="its middle is not exact"):
        tree.split(node)
    assert float(np.sum(2.0 ** -tree.depths[tree.leaves()])) == 1.0


@pytest.mark.parametrize("node", [-1, 3, 1.0, "0", True, None])
def test_unknown_nodes_are_refused(node: Any) -> None:
    tree = PartitionTree(1)
    tree.split(0)
    for ask in tree.cell, tree.split, tree.depth, tree.children, tree.parent, tree.count, tree.observations:
        with pytest.raises(InvalidInput, match="node: expected an integer from 0 to 2, got"):
            ask(node)


def test_splitting_needs_a_leaf() -> None:
    tree = PartitionTree(2)
    tree.split(0)
    with pytest.raises(InvalidInput, match="expected a leaf, got node 0, which is split already into nodes 1 and 2"):
        tree.split(0)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ([0.5, 1.2], r"expected points of the unit cube \[0, 1\]\^2, got 1.2 in row 0, axis 1"),
        ([-0.1, 0.5], "got -0.1"),
        ([0.5, np.nan], "expected finite numbers, got nan"),
        ([0.5], r"expected one point with 2 entries, got shape \(1,\)"),
        (0.5, r"expected one point with 2 entries, got shape \(\)"),
        ([[0.5, 0.5]], r"got shape \(1, 2\)"),
        (["a", "b"], "expected numbers"),
    ],
)
def test_points_are_checked_and_nothing_is_recorded(point: Any, message: str) -> None:
    tree = PartitionTree(2)
    with pytest.raises(InvalidInput, match=message):
        tree.locate(point)
    with pytest.raises(InvalidInput):
        tree.add_many([[0.5, 0.5], [0.5, 1.5]])
    assert (tree.count(0), len(tree.points)) == (0, 0)


def test_one_dimension_takes_plain_numbers() -> None:
    tree = PartitionTree(1)
    assert tree.locate(0.3) == 0


@pytest.mark.parametrize("dimension", [0, -1, 1.5, "2", True])
def test_dimension_is_checked(dimension: object) -> None:
    with pytest.raises(InvalidInput, match="dimension: expected an integer >= 1"):
        PartitionTree(dimension)  # type: ignore[arg-type]
