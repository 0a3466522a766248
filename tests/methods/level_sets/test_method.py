"""LevelSet: its tiling, its options."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import UserHolder
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Domain
from quadrat.methods.level_sets.method import LevelSet
from quadrat.optimizer import Optimizer
from quadrat.space import Float, Space

KERNEL = Matern(2.5, 0.3)


def method(**changes: object) -> LevelSet:
    settings: dict[str, object] = {"threshold": 0.2, "kernel": KERNEL, "norm_bound": 1.0, "noise": 0.05}
    return LevelSet(**(settings | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("dimension", "cells"), [(1, 256), (2, 1024), (3, 4096), (8, 4096)])
def test_the_tiling_is_fixed_by_the_dimension(dimension: int, cells: int) -> None:
    found = method().start(Domain.cube(dimension), 0).level_set()
    assert len(found.label) == cells
    np.testing.assert_allclose(found.volumes, 1 / cells)


def test_the_number_of_cells_can_be_chosen_and_axes_are_halved_by_variation() -> None:
    found = method(cells=16, kernel=Matern(2.5, [0.1, 100.0])).start(Domain.cube(2), 0).level_set()
    np.testing.assert_allclose(found.upper - found.lower, [[1 / 16, 1.0]] * 16)


def test_the_whole_delta_goes_to_the_band() -> None:
    search = method(delta=0.1).start(Domain.cube(2), 0)
    assert search.cells.band.delta == 0.1
    assert search.cells.average_delta == 0.0
    assert search.level_set().delta == 0.1


def test_turned_negates_the_threshold_and_nothing_else() -> None:
    assert method(accuracy=0.1).turned() == method(threshold=-0.2, accuracy=0.1)
    assert method().turned().turned() == method()


def test_why_not_certified() -> None:
    """The method can; a standard error among the results, or a space with steps, cannot be certified with it."""
    assert method().why_not_certified() is None
    line = Space(x=Float(0, 1))
    optimizer = Optimizer(line, direction="maximize", method=method())
    optimizer.add({"x": 0.5}, 0.1)
    assert optimizer.level_set().reason is None
    optimizer.add({"x": 0.7}, 0.1, sem=0.05)
    assert "standard error" in str(optimizer.level_set().reason)
    stepped = Optimizer(Space(x=Float(0, 1, step=0.25)), direction="maximize", method=method())
    stepped.add({"x": 0.5}, 0.1)
    assert stepped.recommend().certified_interval is None
    assert "steps" in str(stepped.certificate().reason)


def test_a_holder_bound_of_the_user_sharpens_cells() -> None:
    plain = method(kernel=Matern(1.5, 0.3)).start(Domain.cube(2), 0).cells
    sharper = method(kernel=Matern(1.5, 0.3), holder=UserHolder(0.5)).start(Domain.cube(2), 0).cells
    assert sharper.way(10)[1] < plain.way(10)[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": float("nan")}, "threshold: expected"),
        ({"accuracy": -0.1}, "accuracy: expected"),
        ({"delta": 1.0}, "delta: expected"),
        ({"norm_bound": 0.0}, "norm_bound: expected"),
        ({"noise": 0.0}, "noise: expected"),
        ({"kernel": None}, "kernel: expected a kernel"),
        ({"cells": 1000}, "cells: expected a power of two, such as 1024, got 1000"),
        ({"cells": 2**20}, "cells: expected an integer from 1 to 65536"),
        ({"rule": "both"}, "rule: expected one of ambiguity, reduction, got 'both'"),
    ],
)
def test_bad_settings(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        method(**changes)


def test_a_kernel_of_another_dimension_is_refused() -> None:
    with pytest.raises(InvalidInput, match="expected points with 2 columns"):
        method(kernel=Matern(2.5, [0.3, 0.4])).start(Domain.cube(3), 0)
