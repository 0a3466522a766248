from __future__ import annotations

import numpy as np
import pytest

from quadrat.methods.base import Domain
from quadrat.methods.design import SobolSearch


@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_point_i_is_a_function_of_seed_and_i(dimension: int) -> None:
    """In whatever order points are asked for, also twice, and from a search that begins in the middle."""
    search = SobolSearch().start(Domain.cube(dimension), 3)
    forwards = np.array([search.ask(i, np.empty((0, dimension))).x for i in range(9)])
    order = [8, 0, 0, 5, 4, 1, 7, 2, 3, 6, 6]
    shuffled = SobolSearch().start(Domain.cube(dimension), 3)
    for i in order:
        assert np.array_equal(shuffled.ask(i, np.empty((0, dimension))).x, forwards[i])
    assert np.array_equal(
        SobolSearch().start(Domain.cube(dimension), 3).ask(7, np.empty((0, dimension))).x, forwards[7]
    )
    assert ((forwards >= 0) & (forwards <= 1)).all()


def test_seeds_scramble() -> None:
    first = [SobolSearch().start(Domain.cube(2), seed).ask(0, np.empty((0, 2))).x.tolist() for seed in range(5)]
    assert len({tuple(point) for point in first}) == 5


def test_the_first_powers_of_two_are_balanced() -> None:
    """16 points: one in each of the 16 elementary boxes of every shape, as a (0, 4, 2)-net in base 2 has."""
    search = SobolSearch().start(Domain.cube(2), 0)
    points = np.array([search.ask(i, np.empty((0, 2))).x for i in range(16)])
    for power in range(5):
        shape = np.array([2**power, 2 ** (4 - power)])
        assert len({tuple(box) for box in (points * shape).astype(int).tolist()}) == 16
