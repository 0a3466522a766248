from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import as_number, as_points, as_vector
from quadrat.errors import InvalidInput, QuadratError


def test_points_are_read_as_rows() -> None:
    assert as_points([[1, 2], [3, 4]]).dtype == np.float64
    assert as_points([0.1, 0.2], dimension=2).shape == (1, 2)
    assert as_points([0.1, 0.2], dimension=1).shape == (2, 1)
    assert as_points(np.zeros((2, 3)).T).flags.c_contiguous


@pytest.mark.parametrize(
    ("points", "dimension", "message"),
    [
        ([0.1, 0.2], None, r"X: expected a matrix of shape \(n, D\), one row a point, got shape \(2,\)"),
        ([[0.1, 0.2]], 3, r"X: expected 3 columns, one for each dimension, got shape \(1, 2\)"),
        ([[]], None, "X: expected at least one column"),
        ([[0.1, np.inf]], None, r"X: expected finite numbers, got inf at index \(0, 1\) \(1 of 2"),
        ([["a"]], None, "X: expected numbers, got list"),
        ([[1], [1, 2]], None, "X: expected numbers"),
    ],
)
def test_bad_points(points: object, dimension: int | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        as_points(points, dimension=dimension, name="X")  # type: ignore[arg-type]


def test_vectors() -> None:
    np.testing.assert_array_equal(as_vector(2, length=3), [2.0, 2.0, 2.0])
    with pytest.raises(InvalidInput, match="y: expected 3 entries, got 2"):
        as_vector([1, 2], length=3, name="y")
    with pytest.raises(InvalidInput, match="y: expected a vector"):
        as_vector([[1, 2]], name="y")
    with pytest.raises(InvalidInput, match="got nan at index 1"):
        as_vector([1, np.nan], name="y")


def test_numbers() -> None:
    assert as_number(np.float32(0.5), name="a") == 0.5
    for value in (True, "1", None, np.nan, np.inf, 10**400, [1.0, 2.0]):
        with pytest.raises(InvalidInput, match="a: expected a finite number > 0"):
            as_number(value, name="a", above=0.0)
    with pytest.raises(InvalidInput, match="a: expected a finite number >= 0 and <= 1, got 2"):
        as_number(2, name="a", at_least=0.0, at_most=1.0)


def test_errors_can_be_caught_in_both_ways() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(InvalidInput, QuadratError)
