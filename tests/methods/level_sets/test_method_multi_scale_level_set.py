"""MultiScaleLevelSet: its cells follow the level line, its shares of delta, its options."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence.budget import cell_share
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import UNDECIDED, Domain, Observation
from quadrat.methods.level_sets.method import MultiScaleLevelSet
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.4)


def method(**changes: object) -> MultiScaleLevelSet:
    settings: dict[str, object] = {"threshold": 0.2, "kernel": KERNEL, "norm_bound": 1.0, "noise": 0.01}
    return MultiScaleLevelSet(**(settings | changes))  # type: ignore[arg-type]


def test_decided_cells_are_larger_than_undecided_ones() -> None:
    """Cells divide near the threshold and stay large where f is far from it."""
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(3, 10))
    search = method().start(Domain.cube(2), 0)
    for i in range(60):
        x = search.ask(i, np.empty((0, 2))).x
        search.tell(Observation(i, x, np.array([float(f(x)) + 0.01 * generator(0, i, 5).normal()])))
    found = search.level_set()
    decided = found.label != UNDECIDED
    assert found.volumes[decided].sum() > 0.3
    assert found.volumes[~decided].mean() < found.volumes[decided].mean() / 1.5
    near = np.abs(f.values((found.lower + found.upper) / 2) - 0.2)
    assert near[~decided].mean() < near[decided].mean()


def test_the_shares_of_delta_add_up() -> None:
    cells = method(delta=0.1).start(Domain.cube(2), 0).cells
    averages = cells.average_delta * sum(2**depth * cell_share(depth) for depth in range(800))
    assert cells.band.delta + averages == pytest.approx(0.1, rel=2e-3)
    assert cells.band.delta + averages <= 0.1 + 1e-12


def test_the_cap_on_cells_is_kept() -> None:
    search = method(max_cells=40).start(Domain.cube(2), 0)
    for i in range(10):
        x = search.ask(i, np.empty((0, 2))).x
        search.tell(Observation(i, x, np.array([0.1])))
    assert len(search.level_set().label) <= 40


def test_options() -> None:
    with pytest.raises(InvalidInput, match="max_cells: expected an integer >= 1, got 0"):
        method(max_cells=0)
    assert method().turned() == method(threshold=-0.2)
    assert "level sets" in MultiScaleLevelSet.facts.handles
