"""Rows that grow: against a list of rows; and the nearest of them, against sorting."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.arrays import Array
from quadrat.growing_rows import GrowingRows, is_among, nearest


def rows_of(points: Array) -> GrowingRows:
    rows = GrowingRows(points.shape[1])
    for point in points:
        rows.append(point)
    return rows


@pytest.mark.parametrize("n", [0, 1, 16, 17, 32, 33, 500])
@pytest.mark.parametrize("columns", [1, 3])
def test_all_rows_are_one_array_in_the_order_of_appending(n: int, columns: int) -> None:
    points = np.random.default_rng(n).random((n, columns))
    rows = rows_of(points)
    assert len(rows) == n
    assert rows.array.dtype == np.float64
    np.testing.assert_array_equal(rows.array, points)
    rows.append([7.0] * columns)
    assert rows.array[-1].tolist() == [7.0] * columns
    np.testing.assert_array_equal(rows.array[:-1], points)


def test_arrays_that_were_handed_out_do_not_change_when_rows_are_appended() -> None:
    """At every length up to one beyond several doublings."""
    points = np.random.default_rng(0).random((140, 2))
    rows, seen = GrowingRows(2), []
    for point in points:
        seen.append(rows.array)
        rows.append(point)
    for n, array in enumerate(seen):
        np.testing.assert_array_equal(array, points[:n])


def test_room_is_made_as_often_as_the_number_of_rows_doubles() -> None:
    rows, rooms = GrowingRows(1), set()
    for _ in range(5000):
        rows.append([0.0])
        rooms.add(len(rows._room))
    assert len(rooms) <= 1 + np.ceil(np.log2(5000 / 16))


def test_a_row_that_is_changed_after_appending_is_kept_as_it_was() -> None:
    rows, row = GrowingRows(2), np.array([1.0, 2.0])
    rows.append(row)
    row[0] = 5.0
    assert rows.array.tolist() == [[1.0, 2.0]]


def test_arrays_are_read_only_and_the_rows_go_on_growing() -> None:
    rows = rows_of(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        rows.array[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        rows.array.ravel()[0] = 1.0
    rows.append([1.0, 1.0])
    assert rows.array.sum() == 2.0


@pytest.mark.parametrize("n", [0, 1, 5, 16, 40])
def test_rows_of_a_matrix_are_a_copy_that_grows(n: int) -> None:
    points = np.random.default_rng(n).random((n, 2))
    rows, before = GrowingRows.of(points), points.copy()
    rows.append([2.0, 3.0])
    rows.replace([n], [4.0, 5.0])
    np.testing.assert_array_equal(rows.array, np.vstack([before, [[4.0, 5.0]]]))
    if n:
        rows.replace([0], [9.0, 9.0])
    np.testing.assert_array_equal(points, before)


def test_one_row_in_the_place_of_several() -> None:
    rows = rows_of(np.arange(40.0)[:, None])
    rows.replace([3, 17, 39], [-1.0])
    rows.replace([], [-2.0])
    wanted = np.arange(40.0)
    wanted[[3, 17, 39]] = -1.0
    assert rows.array[:, 0].tolist() == wanted.tolist()


# --- the nearest


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
