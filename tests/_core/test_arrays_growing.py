"""Rows that grow: against a list of rows."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array, Growing


def rows_of(points: Array) -> Growing[np.float64]:
    rows = Growing(np.float64, points.shape[1:])
    for point in points:
        rows.append(point)
    return rows


@pytest.mark.parametrize("n", [0, 1, 16, 17, 32, 33, 500])
@pytest.mark.parametrize("columns", [1, 3])
def test_all_rows_are_one_array_in_the_order_of_appending(n: int, columns: int) -> None:
    points = np.random.default_rng(n).random((n, columns))
    rows = rows_of(points)
    assert len(rows) == n
    assert rows.view.dtype == np.float64
    np.testing.assert_array_equal(rows.view, points)
    rows.append([7.0] * columns)
    assert rows.view[-1].tolist() == [7.0] * columns
    np.testing.assert_array_equal(rows.view[:-1], points)


def test_arrays_that_were_handed_out_do_not_change_when_rows_are_appended() -> None:
    """At every length up to one beyond several doublings."""
    points = np.random.default_rng(0).random((140, 2))
    rows, seen = Growing(np.float64, (2,)), []
    for point in points:
        seen.append(rows.view)
        rows.append(point)
    for n, array in enumerate(seen):
        np.testing.assert_array_equal(array, points[:n])


def test_room_is_made_as_often_as_the_number_of_rows_doubles() -> None:
    rows, rooms = Growing(np.float64, (1,)), set()
    for _ in range(5000):
        rows.append([0.0])
        rooms.add(len(rows.values))
    assert len(rooms) <= 1 + np.ceil(np.log2(5000 / 4))


def test_a_row_that_is_changed_after_appending_is_kept_as_it_was() -> None:
    rows, row = Growing(np.float64, (2,)), np.array([1.0, 2.0])
    rows.append(row)
    row[0] = 5.0
    assert rows.view.tolist() == [[1.0, 2.0]]


def test_arrays_are_read_only_and_the_rows_go_on_growing() -> None:
    rows = rows_of(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        rows.view[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        rows.view.ravel()[0] = 1.0
    rows.append([1.0, 1.0])
    assert rows.view.sum() == 2.0


@pytest.mark.parametrize("n", [0, 1, 5, 16, 40])
def test_rows_of_a_matrix_are_a_copy_that_grows(n: int) -> None:
    points = np.random.default_rng(n).random((n, 2))
    rows, before = Growing.of(points), points.copy()
    rows.append([2.0, 3.0])
    rows.values[0] = 9.0
    np.testing.assert_array_equal(points, before)
    np.testing.assert_array_equal(rows.view[1:], np.vstack([before, [[2.0, 3.0]]])[1:])


def test_several_rows_at_once_are_as_many_one_after_another() -> None:
    points = np.random.default_rng(1).random((70, 2))
    rows = Growing(np.float64, (2,))
    for part in (points[:0], points[:3], points[3:4], points[4:70]):
        rows.extend(part)
    np.testing.assert_array_equal(rows.view, points)


def test_rows_may_be_of_any_kind_and_have_no_columns() -> None:
    counts = Growing(np.intp)
    counts.extend([3, 4])
    counts.append(5)
    assert counts.view.dtype == np.intp
    assert counts.view.tolist() == [3, 4, 5]
