from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.partition import Cell, PartitionTree, TooManyCells, printed_partition
from quadrat.randomness import generator


def grown(dimension: int, seed: int, n_splits: int, *, free: bool = False) -> PartitionTree:
    """A tree with leaves split at random, by the rule or along random axes."""
    rng, tree = generator(seed), PartitionTree(dimension)
    for _ in range(n_splits):
        leaf = int(rng.choice(tree.leaves()))
        tree.split(leaf, int(rng.integers(dimension)) if free else None)
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
    np.testing.assert_array_equal(tree.partition().labels[tree.partition().locate_many(points)], brute)


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
    assert tree.cell(0).volume == sum(cell.volume for cell in tree.partition())


def test_nodes_are_numbered_in_order_of_birth() -> None:
    tree = PartitionTree(2)
    assert tree.split(0) == (1, 2)
    assert tree.split(2) == (3, 4)
    assert tree.split(1) == (5, 6)
    assert (tree.n_nodes, tree.n_leaves, tree.leaves().tolist()) == (7, 4, [3, 4, 5, 6])
    assert (tree.parent(0), tree.parent(4), tree.children(0), tree.children(4)) == (None, 2, (1, 2), ())
    assert (tree.is_leaf(0), tree.is_leaf(4), tree.depth(4)) == (False, True, 2)


def test_addresses_do_not_depend_on_the_way_there() -> None:
    """The same box reached by three different orders of cuts has one name; depth is J in all of them."""
    names = set()
    for order in (0, 1), (1, 0):
        tree = PartitionTree(2)
        node = tree.split(0, order[0])[1]
        node = tree.split(node, order[1])[1]
        names.add((str(tree.dyadic_address(node)), tree.depth(node)))
    printed = PartitionTree(2)
    node = int(printed.split_all_axes(0)[-1])
    names.add((str(printed.dyadic_address(node)), printed.depth(node)))
    assert names == {("1/2 x 1/2", 2)}


def test_printed_split_makes_the_leaves_of_binary_splits() -> None:
    tree = PartitionTree(3)
    tree.add_many(generator(0).random((50, 3)))
    leaves = tree.split_all_axes(0)
    assert leaves.tolist() == sorted(set(leaves.tolist())) == tree.leaves().tolist()
    assert (tree.depths[leaves] == 3).all()
    assert {tuple(cell.centre.tolist()) for cell in tree.partition()} == {
        (a, b, c) for a in (0.25, 0.75) for b in (0.25, 0.75) for c in (0.25, 0.75)
    }
    assert tree.counts[leaves].sum() == 50


def test_printed_split_stops_at_ten_dimensions_and_names_the_other() -> None:
    PartitionTree(10).split_all_axes(0)
    tree = PartitionTree(11)
    with pytest.raises(InvalidInput, match=r"at most 10 dimensions, got 11.*2\^11.*use split, which halves one axis"):
        tree.split_all_axes(0)
    assert tree.n_nodes == 1


def test_grid_splits_equal_the_printed_definition() -> None:
    tree = PartitionTree(2)
    tree.add_many(generator(3).random((100, 2)))
    leaves = tree.split_grid(0, 0.3)
    wanted = printed_partition(Cell.unit(2), 0.3)
    assert [tree.cell(leaf) for leaf in leaves.tolist()] == list(wanted)
    assert [len(tree.observations(leaf)) for leaf in leaves.tolist()] == np.bincount(
        wanted.locate_many(tree.points), minlength=len(wanted)
    ).tolist()
    with pytest.raises(NotAvailable, match="expected a dyadic cell"):
        tree.dyadic_address(int(leaves[0]))


def test_caps_leave_the_tree_as_it_was() -> None:
    tree = PartitionTree(3, max_cells=8)
    tree.split(0)
    attempts: list[Callable[[], object]] = [lambda: tree.split_all_axes(1), lambda: tree.split_grid(1, 0.25)]
    for attempt in attempts:
        with pytest.raises(TooManyCells, match=r"expected at most (7|8) cells"):
            attempt()
        assert (tree.n_nodes, tree.n_leaves, tree.leaves().tolist()) == (3, 2, [1, 2])
    while tree.n_leaves < 8:
        tree.split(int(tree.leaves()[0]))
    with pytest.raises(TooManyCells, match="evaluate instead of splitting, or allow more with max_cells"):
        tree.split(int(tree.leaves()[0]))


def test_halving_is_exact_to_the_last_level_and_then_refused() -> None:
    """At depth 52, next to 1, cells are still dyadic and still tile; the next cut would not be exact."""
    tree, node = PartitionTree(1), 0
    for _ in range(52):
        node = tree.split(node)[1]
    assert tree.dyadic_address(node).indices == (2**52 - 1,)
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


def test_splitting_needs_a_leaf_and_an_axis() -> None:
    tree = PartitionTree(2)
    tree.split(0)
    for attempt in (lambda: tree.split(0), lambda: tree.split_all_axes(0), lambda: tree.refine(0, 0.1)):
        with pytest.raises(
            InvalidInput, match="expected a leaf, got node 0, which is split already into nodes 1 and 2"
        ):
            attempt()
    with pytest.raises(InvalidInput, match="axis: expected an integer from 0 to 1, got 2"):
        tree.split(1, 2)


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
    for ask in tree.add, tree.locate:
        with pytest.raises(InvalidInput, match=message):
            ask(point)
    with pytest.raises(InvalidInput):
        tree.add_many([[0.5, 0.5], [0.5, 1.5]])
    assert (tree.count(0), len(tree.points)) == (0, 0)


def test_one_dimension_takes_plain_numbers() -> None:
    tree = PartitionTree(1)
    assert (tree.add(0.3), tree.locate(0.3), tree.count(0)) == (0, 0, 1)


@pytest.mark.parametrize("dimension", [0, -1, 1.5, "2", True])
def test_dimension_is_checked(dimension: object) -> None:
    with pytest.raises(InvalidInput, match="dimension: expected an integer >= 1"):
        PartitionTree(dimension)  # type: ignore[arg-type]
