"""Where a safe search looks: everywhere coarsely, and closely around what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import Assumptions
from quadrat.kernels import Matern
from quadrat.methods.safe.candidates import lattice, steps_around
from quadrat.randomness import generator

GIVEN = Assumptions(Matern(2.5, 0.3), 2.0, 0.1)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_lattice_tiles_the_cube_and_is_no_larger_than_it_may_be(dimension: int) -> None:
    points, spacing = lattice(GIVEN, dimension, 0)
    assert spacing is not None
    assert len(points) == np.prod(1 / spacing + 1) <= 1024
    assert points.min() == 0.0
    assert points.max() == 1.0
    assert len(np.unique(points, axis=0)) == len(points)


def test_the_lattice_is_finer_along_an_axis_on_which_f_varies_more() -> None:
    _, spacing = lattice(Assumptions(Matern(2.5, (0.1, 1.0)), 2.0, 0.1), 2, 0)
    assert spacing is not None
    assert spacing[0] < spacing[1]


def test_in_many_dimensions_points_are_spread_and_named_by_the_seed() -> None:
    points, spacing = lattice(GIVEN, 8, 3)
    assert spacing is None
    assert points.shape == (1024, 8)
    assert (points == lattice(GIVEN, 8, 3)[0]).all()
    assert (points != lattice(GIVEN, 8, 5)[0]).any()


def test_steps_are_as_long_as_f_may_change_and_stay_in_the_cube() -> None:
    x = np.array([0.5, 0.01])
    points = steps_around(GIVEN, x, None, generator(0))
    assert (points >= 0).all()
    assert (points <= 1).all()
    along = points[(points[:, 1] == x[1]) & (points[:, 0] > x[0])]
    shares = GIVEN.variation(along - x) / GIVEN.ceiling
    expected = 2.0 ** -np.arange(7, 0, -1)
    assert shares == pytest.approx(expected[-len(shares) :] if len(shares) < 7 else expected, rel=1e-6)


def test_beside_a_lattice_only_shorter_steps_are_taken() -> None:
    _, spacing = lattice(GIVEN, 1, 0)
    assert spacing is not None
    points = steps_around(GIVEN, np.array([0.5]), spacing, generator(0))
    assert len(points)
    assert (np.abs(points - 0.5) < spacing).all()
