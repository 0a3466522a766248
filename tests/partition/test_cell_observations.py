from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.partition import PartitionTree
from quadrat.randomness import generator

steps = st.lists(st.sampled_from(["add", "add", "add_many", "split", "split"]), max_size=40)


def drawn(rng: np.random.Generator, n: int, dimension: int) -> Array:
    """Half of the coordinates lie on a coarse grid, hence on faces of cells."""
    points = rng.random((n, dimension))
    return np.where(rng.random((n, dimension)) < 0.5, np.round(points * 8) / 8, points)


@given(st.integers(1, 3), st.integers(0, 10_000), steps)
@settings(max_examples=60)
def test_observations_of_every_node_equal_brute_force(dimension: int, seed: int, todo: list[str]) -> None:
    """N_F counts all points lying in F, those drawn before F existed included, inner nodes too."""
    rng, tree = generator(seed), PartitionTree(dimension)
    told: list[Array] = []
    for step in todo:
        leaf = int(rng.choice(tree.leaves()))
        if step == "add":
            told.append(drawn(rng, 1, dimension)[0])
            tree.add_many(told[-1:])
        elif step == "add_many":
            some = drawn(rng, int(rng.integers(0, 12)), dimension)
            tree.add_many(some)
            told += list(some)
        else:
            tree.split(leaf)
    points = np.array(told).reshape(-1, dimension)
    np.testing.assert_array_equal(tree.points, points)
    for node in range(tree.n_nodes):
        expected = np.flatnonzero(tree.cell(node).contains(points))
        np.testing.assert_array_equal(tree.observations(node), expected)
        assert tree.count(node) == len(expected)


def test_bulk_and_single_adding_agree() -> None:
    """100,000 points at once into a tree of 200 leaves, then more splits; against brute force."""
    rng, tree = generator(5), PartitionTree(4)
    for _ in range(199):
        tree.split(int(rng.choice(tree.leaves())))
    points = rng.random((100_000, 4))
    tree.add_many(points)
    for leaf in rng.choice(tree.leaves(), 50, replace=False).tolist():
        tree.split(leaf)
    assert tree.count(0) == sum(tree.count(leaf) for leaf in tree.leaves().tolist()) == 100_000
    for node in rng.choice(tree.n_nodes, 40, replace=False).tolist():
        np.testing.assert_array_equal(tree.observations(node), np.flatnonzero(tree.cell(node).contains(points)))


def test_snapshots_stay_as_they_were() -> None:
    tree = PartitionTree(1)
    tree.add_many([[0.1], [0.2]])
    before, points = tree.observations(0), tree.points
    tree.add_many(np.full((50, 1), 0.7))
    tree.split(0)
    assert before.tolist() == [0, 1]
    assert points.tolist() == [[0.1], [0.2]]
    assert not before.flags.writeable


def test_repeated_points_count_each_time() -> None:
    tree = PartitionTree(2)
    tree.add_many([[0.5, 0.5]] * 3)
    left, right = tree.split(0)
    assert (tree.count(left), tree.count(right)) == (0, 3)
    assert tree.observations(left).dtype == np.intp


def test_adding_nothing_changes_nothing() -> None:
    tree = PartitionTree(2)
    tree.add_many(np.empty((0, 2)))
    assert tree.count(0) == 0


def test_an_empty_cell_that_was_split_holds_nothing() -> None:
    tree = PartitionTree(2)
    left, right = tree.split(0)
    tree.split(left)
    for node in (0, left, right):
        assert tree.observations(node).shape == (0,)
    tree.add_many([[0.9, 0.1]])
    assert [tree.observations(node).tolist() for node in (0, left, right)] == [[0], [], [0]]
