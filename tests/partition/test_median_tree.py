"""Cells that follow the data: they tile the cube, hold their points, and are the same however points come."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array, Bools
from quadrat.partition.median_tree import MedianTree


def just_above(x: float, steps: int = 1) -> float:
    for _ in range(steps):
        x = float(np.nextafter(x, 2.0))
    return x


def just_below(x: float, steps: int = 1) -> float:
    for _ in range(steps):
        x = float(np.nextafter(x, -1.0))
    return x


def points_of(kind: str, n: int = 200, dimension: int = 3) -> Array:
    rng = np.random.default_rng([n, dimension])
    if kind == "uniform":
        return rng.random((n, dimension))
    if kind == "gathering":
        return np.clip(0.3 + 10.0 ** -rng.uniform(0, 6, (n, 1)) * rng.normal(size=(n, dimension)), 0, 1)
    if kind == "grid":
        return rng.integers(0, 4, (n, dimension)) / 3.0
    if kind == "faces":
        return np.round(rng.random((n, dimension)))
    if kind == "line":
        return np.column_stack([np.full((n, dimension - 1), 0.25), rng.random(n)])
    if kind == "equal":
        return np.full((n, dimension), 0.7)
    if kind == "ones":
        return rng.choice([1.0, just_below(1.0), just_below(1.0, 2), 0.5], (n, dimension), p=[0.6, 0.2, 0.1, 0.1])
    if kind == "few":
        return rng.random((5, dimension))[rng.choice(5, n, p=[0.8, 0.1, 0.05, 0.03, 0.02])]
    if kind == "equal first":
        return np.vstack([np.full((n // 2, dimension), 1.0), rng.random((n - n // 2, dimension))])
    assert kind == "equal and others"
    return np.where(rng.random((n, 1)) < 0.7, 0.7, rng.random((n, dimension)))


KINDS = ["uniform", "gathering", "grid", "faces", "line", "equal", "ones", "few", "equal first", "equal and others"]


def grown(points: Array, capacity: int = 8) -> MedianTree:
    tree = MedianTree(points.shape[1], capacity)
    tree.add(points)
    return tree


def contains(tree: MedianTree, leaf: int, points: Array) -> Bools:
    """Half-open, but closed where the cube ends."""
    lower, upper = tree.box(leaf)
    return np.asarray(((points >= lower) & ((points < upper) | ((upper == 1.0) & (points == 1.0)))).all(axis=1))


def check(tree: MedianTree, points: Array) -> None:
    """Everything that the class promises."""
    leaves = tree.leaves
    corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * tree.dimension), -1).reshape(-1, tree.dimension)
    somewhere = np.vstack([np.random.default_rng(0).random((100, tree.dimension)), corners, points])
    held = np.array([contains(tree, leaf, somewhere) for leaf in leaves])
    assert (held.sum(axis=0) == 1).all(), "in exactly one box"
    assert [tree.leaf_of(x) for x in somewhere] == [leaves[i] for i in held.argmax(axis=0)]
    assert tree.leaves_of(somewhere).tolist() == [tree.leaf_of(x) for x in somewhere], "all at once"
    assert tree.leaves_of(somewhere[:0]).shape == (0,)
    boxes = [tree.box(leaf) for leaf in leaves]
    assert all((lower < upper).all() for lower, upper in boxes)
    assert sum(float(np.prod(upper - lower)) for lower, upper in boxes) == pytest.approx(1.0, abs=1e-12)
    members = [tree.members(leaf).tolist() for leaf in leaves]
    assert sorted(number for some in members for number in some) == list(range(len(points)))
    assert tree.homes.tolist() == [tree.leaf_of(x) for x in points]
    for leaf, numbers in zip(leaves, members, strict=True):
        assert numbers == sorted(numbers), "in the order of adding"
        assert (tree.homes[numbers] == leaf).all()
        assert contains(tree, leaf, points[numbers]).all()
        alike = np.minimum(points[numbers], just_below(1.0))  # 1 and the number before it are one
        assert len(numbers) <= tree.capacity or len(np.unique(alike, axis=0)) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("capacity", [2, 8])
def test_cells_tile_the_cube_and_hold_their_points(kind: str, capacity: int) -> None:
    points = points_of(kind)
    check(grown(points, capacity), points)


def test_before_anything_is_added_there_is_one_cell() -> None:
    tree = MedianTree(2, 4)
    assert tree.leaves == [0]
    assert tree.members(0).tolist() == tree.homes.tolist() == []
    lower, upper = tree.box(0)
    assert (lower.tolist(), upper.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    tree.add(np.empty((0, 2)))
    assert tree.leaves == [0]


@pytest.mark.parametrize("kind", KINDS)
def test_adding_one_by_one_or_some_at_a_time_is_adding_all_at_once(kind: str) -> None:
    points = points_of(kind, 120)
    together, alone, some = grown(points), MedianTree(3, 8), MedianTree(3, 8)
    for n in range(1, 121):
        alone.add(points[:n])
    for n in (1, 30, 30, 97, 120):
        some.add(points[:n])
    for tree in (alone, some):
        assert tree.leaves == together.leaves
        np.testing.assert_array_equal(tree.homes, together.homes)
        for leaf in together.leaves:
            assert tree.members(leaf).tolist() == together.members(leaf).tolist()
            np.testing.assert_array_equal(np.array(tree.box(leaf)), np.array(together.box(leaf)))


def same(one: MedianTree, other: MedianTree) -> None:
    """Every node has the same number, box, cut and points."""
    assert one.leaves == other.leaves
    assert one._axis == other._axis
    assert one._cut == other._cut
    assert one._children == other._children
    assert one._members == other._members
    np.testing.assert_array_equal(np.array(one._lower), np.array(other._lower))
    np.testing.assert_array_equal(np.array(one._upper), np.array(other._upper))
    np.testing.assert_array_equal(one.homes, other.homes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("capacity", [2, 3, 8, 50])
def test_nodes_have_the_same_numbers_however_many_points_come_at_a_time(kind: str, capacity: int) -> None:
    """All at once, one by one, and in stretches of random lengths, some of which bring nothing new."""
    for dimension in (1, 2):
        points = points_of(kind, 150, dimension)
        together, alone = grown(points, capacity), MedianTree(dimension, capacity)
        for n in range(1, len(points) + 1):
            alone.add(points[:n])
        same(alone, together)
        for seed in range(3):
            some = MedianTree(dimension, capacity)
            ends = np.sort(np.random.default_rng(seed).integers(0, len(points), 2 + 6 * seed))
            for n in [*ends.tolist(), len(points)]:
                some.add(points[:n])
            same(some, together)


class Cells:
    """What the module says, written down as it is said: one point after another, looking at everything each time."""

    def __init__(self, dimension: int, capacity: int) -> None:
        self.capacity = capacity
        self.boxes: list[list[tuple[float, float]]] = [[(0.0, 1.0)] * dimension]
        self.points: list[list[list[float]]] = [[]]
        self.is_leaf = [True]

    def add(self, point: Array) -> None:
        inside = [min(x, just_below(1.0)) for x in point.tolist()]
        (leaf,) = (
            i
            for i, box in enumerate(self.boxes)
            if self.is_leaf[i] and all(low <= x < high for x, (low, high) in zip(inside, box, strict=True))
        )
        mine = self.points[leaf]
        mine.append(inside)
        if len(mine) <= self.capacity or all(other == mine[0] for other in mine):
            return
        box = self.boxes[leaf]
        differ = [axis for axis in range(len(box)) if len({other[axis] for other in mine}) > 1]
        axis = max(differ, key=lambda axis: box[axis][1] - box[axis][0])  # the first of equals
        values = sorted(other[axis] for other in mine)
        between = [k for k in range(1, len(values)) if values[k - 1] < values[k]]
        k = min(between, key=lambda k: abs(k - len(values) / 2))  # the first of equals
        cut = (values[k - 1] + values[k]) / 2
        cut = cut if cut > values[k - 1] else values[k]
        low, high = box[axis]
        self.is_leaf[leaf] = False
        for side, is_left in (((low, cut), True), ((cut, high), False)):
            self.boxes.append([*box[:axis], side, *box[axis + 1 :]])
            self.points.append([other for other in mine if (other[axis] < cut) == is_left])
            self.is_leaf.append(True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("capacity", [2, 5])
def test_nodes_are_those_of_the_definition_one_point_after_another(kind: str, capacity: int) -> None:
    """A cell is cut by the points that it has when it has one too many, and nodes are numbered in the order of cuts."""
    points = points_of(kind, 120, 2)
    tree, cells = grown(points, capacity), Cells(2, capacity)
    for point in points:
        cells.add(point)
    assert sorted(tree.leaves) == [i for i, is_leaf in enumerate(cells.is_leaf) if is_leaf]
    for node, box in enumerate(cells.boxes):
        assert np.array(tree.box(node)).T.tolist() == [list(side) for side in box]
    for leaf in tree.leaves:
        assert np.minimum(points[tree.members(leaf)], just_below(1.0)).tolist() == cells.points[leaf]


def test_a_cell_is_cut_by_its_first_points_whatever_comes_with_them() -> None:
    """One more than it holds: those that are added in the same breath have no say, however many they are."""
    first = [[0.1], [0.2], [0.3]]
    for later in ([], [[0.9]] * 50, np.linspace(0.11, 0.99, 200)[:, None].tolist()):
        tree = grown(np.array([*first, *later]), 2)
        assert tree.box(1)[1].tolist() == tree.box(2)[0].tolist() == [pytest.approx(0.15)]


@pytest.mark.parametrize("equal", [0.4, 1.0])
def test_a_cell_of_equal_points_is_cut_by_them_and_the_first_that_differs(equal: float) -> None:
    """Many at a time or one by one: right between the two, and not where later ones would have it."""
    points = np.concatenate([np.full(20, equal), [0.2], np.full(20, equal), [0.3, 0.31, 0.32, 0.33]])[:, None]
    tree, alone = grown(points, 4), MedianTree(1, 4)
    for n in range(1, len(points) + 1):
        alone.add(points[:n])
    same(alone, tree)
    assert tree.box(1)[1].tolist() == [pytest.approx((equal + 0.2) / 2)]
    check(tree, points)


def test_a_cell_is_cut_between_the_middle_points_of_its_longest_side() -> None:
    """Of four points two on either side; then the upper half, whose longest side is now the other one."""
    points = np.array([[0.1, 0.6], [0.2, 0.1], [0.5, 0.7], [0.8, 0.2], [0.9, 0.9]])
    tree = MedianTree(2, 3)
    tree.add(points[:3])
    assert tree.leaves == [0]
    tree.add(points[:4])
    left, right = tree.leaves
    assert [tree.members(leaf).tolist() for leaf in (left, right)] == [[0, 1], [2, 3]]
    assert tree.box(left)[1].tolist() == [pytest.approx(0.35), 1.0]
    assert tree.box(right)[0].tolist() == [pytest.approx(0.35), 0.0]
    tree.add(np.vstack([points, [[0.6, 0.4]]]))
    assert [tree.members(leaf).tolist() for leaf in tree.leaves] == [[0, 1], [3, 5], [2, 4]]
    assert tree.box(tree.leaves[1])[1].tolist() == [1.0, pytest.approx(0.55)]


@pytest.mark.parametrize("n", [9, 10, 100, 1000])
def test_points_that_differ_are_cut_in_halves(n: int) -> None:
    """On a line every cell gets its share, so that the depth grows like log n."""
    tree = grown(np.random.default_rng(n).permutation(n)[:, None] / n)
    sizes = [len(tree.members(leaf)) for leaf in tree.leaves]
    assert min(sizes) >= 2
    assert len(sizes) <= n / 2


def test_equal_points_stay_together_and_others_leave_them_at_once() -> None:
    """However many they are; a point that differs is cut off when it comes, and not only when there are as many."""
    equal = np.full((50, 2), 0.4)
    tree = grown(equal, 4)
    assert tree.leaves == [0]
    points = np.vstack([equal, [[0.4, 0.41]], equal, [[0.39, 0.4]]])
    for n in range(51, len(points) + 1):
        tree.add(points[:n])
        check(tree, points[:n])
    assert sorted(len(tree.members(leaf)) for leaf in tree.leaves) == [1, 1, 100]


@pytest.mark.parametrize(
    "values",
    [
        [0.0, just_above(0.0), just_above(0.0, 2)],
        [0.3, just_above(0.3), just_above(0.3, 2), just_above(0.3, 3)],
        [1 / 3, just_below(1 / 3), 0.5],
        [just_below(1.0, 3), just_below(1.0, 2), just_below(1.0)],
        [0.0, 1.0],
    ],
    ids=str,
)
def test_neighbouring_numbers_are_told_apart(values: list[float]) -> None:
    """Between two of them there is no third to cut at."""
    points = np.repeat(np.array(values)[:, None], 3, axis=0)
    tree = grown(points, 2)
    check(tree, points)
    assert len(tree.leaves) == len(values)


@pytest.mark.parametrize("below", [1, 2, 3])
def test_no_box_at_the_face_at_one_is_without_width(below: int) -> None:
    """1 and the number before it stay together: a box for 1 alone would be a face."""
    points = np.repeat([[just_below(1.0, steps)] for steps in range(below + 1)], 3, axis=0)
    tree = grown(points, 2)
    assert all((np.diff(np.array(tree.box(leaf)), axis=0) > 0).all() for leaf in tree.leaves)
    assert tree.leaf_of(np.array([1.0])) == tree.leaf_of(np.array([just_below(1.0)]))
    assert len(tree.leaves) == below
    assert tree.homes.tolist() == [tree.leaf_of(x) for x in points]


def test_what_was_handed_out_does_not_change() -> None:
    points = points_of("uniform")
    tree = grown(points[:60])
    leaf = tree.leaves[0]
    homes, members, box = tree.homes, tree.members(leaf), tuple(side.copy() for side in tree.box(leaf))
    before = homes.tolist(), members.tolist()
    tree.add(points)
    assert (homes.tolist(), members.tolist()) == before
    np.testing.assert_array_equal(np.array(tree.box(leaf)), np.array(box))
