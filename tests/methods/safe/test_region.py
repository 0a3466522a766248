"""What is said of whole cells is true of every point in them, and what is out of reach is never reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.methods.safe.region import SAFE, UNKNOWN, UNSAFE, SafeRegion
from quadrat.randomness import generator


def cell_of(region: SafeRegion, points: Array) -> Array:
    inside = (region.lower[None] <= points[:, None]) & (points[:, None] <= region.upper[None])
    return np.asarray(inside.all(axis=2).argmax(axis=1))


@pytest.mark.parametrize("dimension", [1, 2])
def test_labels_bounds_and_reach_hold(known: Callable[..., Any], dimension: int) -> None:
    labels = set[int]()
    for seed in range(4):
        one = known(seed, dimension, noise=0.01)
        search = one.search(seed)
        one.run(search, 12)
        for number, x in enumerate(generator(seed, 1).random((8, dimension)), start=12):  # a user looks elsewhere
            search.tell(one.told(number, x))
        region = search.safe_region()
        assert region.volumes.sum() == pytest.approx(1.0)
        points = generator(seed, 2).random((1000, dimension))
        values, cells = one.f.values(points), cell_of(region, points)
        assert (values[region.label[cells] == SAFE] >= one.limit).all()
        assert (values[region.label[cells] == UNSAFE] < one.limit).all()
        assert (values >= region.low[cells] - 1e-9).all()
        assert (values <= region.high[cells] + 1e-9).all()
        labels |= set(region.label.tolist())
        # The closure of the stated point, on these points, with the true f.
        reached, todo = np.zeros(len(points), dtype=bool), [one.start]
        while todo:
            source = todo.pop()
            away = one.given.variation(points - source)
            new = (float(one.f(source)) - away >= one.limit) & ~reached
            reached |= new
            todo += list(points[new][:50])
        assert region.reachable[cells[reached]].all()
        assert region.best_reachable is not None
        assert region.best_reachable >= values[reached].max(initial=-np.inf)
        assert region.volume(SAFE) <= region.reach
    assert labels == {SAFE, UNKNOWN, UNSAFE}


def test_before_anything_was_told_only_the_cell_of_the_stated_point_can_be_reached_for_sure(
    known: Callable[..., Any],
) -> None:
    region = known(1).search().safe_region()
    assert region.volume(SAFE) == 0.0
    assert region.reach == pytest.approx(1.0)  # nothing speaks against anything
    assert region.best_reachable == pytest.approx(1.0)


def test_more_values_shrink_what_remains(known: Callable[..., Any]) -> None:
    one = known(2)
    search = one.search()
    remaining = []
    for n in (5, 40):
        one.run(search, n)
        region, interval = search.safe_region(), search.recommend().interval
        assert region.best_reachable is not None
        assert interval is not None
        remaining.append(region.best_reachable - interval[0])
        assert float(one.f(search.recommend().x)) >= interval[0]
    assert remaining[1] < remaining[0]
