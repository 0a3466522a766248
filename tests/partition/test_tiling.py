from __future__ import annotations

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.partition import Cell, Partition


def test_partitions_check_what_they_are_made_of() -> None:
    lower, upper, cube = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]]), Cell.unit(1)
    with pytest.raises(InvalidInput, match=r"volumes that add up to 1, got 0.75"):
        Partition(lower, np.array([[0.25], [1.0]]), cube, np.arange(2))
    with pytest.raises(InvalidInput, match="positive sides inside"):
        Partition(lower, np.array([[0.5], [0.5]]), cube, np.arange(2))
    with pytest.raises(InvalidInput, match="one row for each label"):
        Partition(lower, upper, cube, np.arange(3))
    with pytest.raises(InvalidInput, match="cell: expected an integer from 0 to 1, got 2"):
        Partition(lower, upper, cube, np.arange(2))[2]
    assert lower.flags.writeable


def test_points_outside_the_region_are_refused() -> None:
    lower = np.array([[0.0, 0.0], [0.25, 0.0]])
    halves = Partition(lower, lower + np.array([0.25, 0.5]), Cell([0.0, 0.0], [0.5, 0.5]), np.arange(2))
    assert halves.locate_many([[0.3, 0.1], [0.0, 0.4]]).tolist() == [1, 0]
    for outside in [0.5, 0.1], [0.7, 0.7]:
        with pytest.raises(InvalidInput, match=r"expected points of \[0, 0.5\) x \[0, 0.5\), got"):
            halves.locate_many([outside])
    with pytest.raises(InvalidInput, match="unit cube"):
        halves.locate_many([[1.5, 0.0]])
