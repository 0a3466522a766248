"""The nearest of some rows, against sorting; and which are equal to others."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat._core.nearest import is_among, nearest


def sorted_out(points: Array, centre: Array, sides: Array, count: int, box: bool) -> list[int]:
    """By sorting all of them, point by point: the nearest first, and of equally near ones the earliest."""
    keyed = []
    for index, point in enumerate(points.tolist()):
        steps = [abs(x - c) / s for x, c, s in zip(point, centre.tolist(), sides.tolist(), strict=True)]
        keyed.append((max(steps) if box else sum(step * step for step in steps), index))
    return sorted(index for _, index in sorted(keyed)[:count])


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("count", [1, 2, 7, 30, 59, 60, 61, 100])
def test_nearest_is_what_sorting_finds(count: int, box: bool) -> None:
    rng = np.random.default_rng(count)
    points, centre, sides = rng.random((60, 3)), rng.random(3), np.array([0.1, 1.0, 3.0])
    assert nearest(points, centre, sides, count, box=box).tolist() == sorted_out(points, centre, sides, count, box)


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("count", range(1, 26))
def test_of_equally_near_points_the_earlier_ones_are_taken(count: int, box: bool) -> None:
    """25 points of a grid in a random order, seen from its middle: all but one have others at the same distance."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 2), -1).reshape(-1, 2)
    points = np.random.default_rng(3).permutation(grid)
    centre, sides = np.full(2, 2.0), np.ones(2)
    assert nearest(points, centre, sides, count, box=box).tolist() == sorted_out(points, centre, sides, count, box)


def test_where_all_are_equally_near_the_first_are_taken() -> None:
    assert nearest(np.full((9, 2), 0.3), np.array([0.3, 0.3]), np.ones(2), 4).tolist() == [0, 1, 2, 3]


def test_all_of_a_box_come_before_what_lies_across_its_faces() -> None:
    """A hundred points close to a face, on the other side, are nearer to the centre than the corners."""
    inside, outside = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.full((100, 2), (1.1, 0.5))
    points, centre, sides = np.vstack([outside, inside]), np.full(2, 0.5), np.full(2, 0.5)
    assert set(range(100, 104)) <= set(nearest(points, centre, sides, 6, box=True).tolist())
    assert not set(range(100, 104)) & set(nearest(points, centre, sides, 6).tolist())


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (20, 30)])
def test_is_among_compares_every_pair(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    points, others = (rng.integers(0, 3, (n, 3)).astype(np.float64) for n in shape)
    wanted = [any(point.tolist() == other.tolist() for other in others) for point in points]
    got = is_among(points, others)
    assert got.tolist() == wanted
    assert got.dtype == np.bool_
    if all(shape):
        assert 0 < sum(wanted) < len(wanted)


def test_is_among_says_the_same_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a tree and by every pair, at the border of what counts as rounding too."""
    rng = np.random.default_rng(5)
    others = rng.random((300, 3))
    shifts = np.repeat([0.0, 0.99e-9, 1.01e-9, -0.99e-9, 1e-3], 60)[:, None]
    points = np.vstack([np.clip(others + shifts * rng.integers(0, 2, others.shape), 0, 1), rng.random((50, 3))])
    by_pairs = is_among(points, others)
    monkeypatch.setattr("quadrat._core.nearest._AT_ONCE", 0)
    by_tree = is_among(points, others)
    assert by_tree.tolist() == by_pairs.tolist()
    assert 0 < by_pairs.sum() < len(points)
    assert is_among(points, others[:0]).tolist() == [False] * len(points)
