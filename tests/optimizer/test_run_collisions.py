"""Substitutes for proposals that may not be evaluated."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.optimizer.run import free_point
from quadrat.space import Categorical, Float, Int, Space


@pytest.mark.parametrize("seed", range(20))
def test_the_last_free_setting_of_a_small_space_is_found(seed: int) -> None:
    space = Space(a=Int(0, 3), b=Categorical(["x", "y"]))
    rng = np.random.default_rng(seed)
    settings = [{"a": a, "b": b} for a in range(4) for b in "xy"]
    free = settings[seed % 8]

    def is_taken(x: Array) -> bool:
        return space.from_unit(x) != free

    found = free_point(space, rng.random(2), is_taken, rng)
    assert found is not None
    assert space.from_unit(found) == free
    assert free_point(space, rng.random(2), lambda _: True, rng) is None


def test_near_ones_come_first() -> None:
    space, x = Space(a=Float(0, 1), b=Float(0, 1)), np.array([0.5, 0.5])
    found = free_point(space, x, lambda y: bool((y == x).all()), np.random.default_rng(0))
    assert found is not None
    assert np.abs(found - x).max() <= 0.05
