"""LP-GP-UCB as printed: it runs, splits into 2^D cells, certifies nothing, and says what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from as_printed import PrintedLPGPUCB

from quadrat._core.arrays import Array
from quadrat.confidence import UserHolder
from quadrat.errors import InvalidInput
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Matern
from quadrat.methods.base import Axis, Domain, Observation, Search
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)


def method(**changes: object) -> PrintedLPGPUCB:
    settings: dict[str, object] = {"kernel": KERNEL, "norm_bound": 1.0, "noise": 0.1, "budget": 40, "degree": 0}
    return PrintedLPGPUCB(**(settings | changes))  # type: ignore[arg-type]


def drive(search: Search, n: int) -> list[Array]:
    """Evaluate a random function of norm 1 at what a search asks for on the plane."""
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(9, 10))
    points = []
    for i in range(n):
        x = search.ask(i, np.empty((0, 2))).x
        search.tell(Observation(i, x, np.array([float(f(x)) + 0.1 * generator(0, i, 5).normal()])))
        points.append(x)
    return points


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_it_runs_and_certifies_nothing(degree: int) -> None:
    printed = method(degree=degree, holder=UserHolder(np.sqrt(2), 1.0))
    search = printed.start(Domain.cube(2), 0)
    points = drive(search, 40)
    assert all(((x >= 0) & (x <= 1)).all() for x in points)
    assert "docs/errata.md" in str(search.certificate(search.recommend().x))
    assert "docs/errata.md" in printed.why_not_certified()
    incumbent = search.recommend()
    assert incumbent.interval is None
    volume = np.prod(search.upper - search.lower, axis=1).sum()
    assert volume == pytest.approx(1.0), "cells tile the cube"


def test_it_splits_into_two_to_the_d() -> None:
    search = method(threshold=0.01, holder=UserHolder(30.0, 1.0)).start(Domain.cube(2), 0)
    search.max_cells = 100
    drive(search, 5)
    assert search.splits >= 1
    assert len(search.lower) == 1 + 3 * search.splits


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match=r"at most 10 dimensions.*got 11"):
        method().start(Domain.cube(11), 0)
    with pytest.raises(InvalidInput, match="holder: expected"):
        method(kernel=Matern(1.0, 0.3)).start(Domain.cube(1), 0)
    with pytest.raises(InvalidInput, match="kernel: expected a kernel, got None"):
        method(kernel=None)
    with pytest.raises(InvalidInput, match="sketch: expected None"):
        method(sketch=Sketch())
    with pytest.raises(InvalidInput, match="contexts: expected none"):
        method().start(Domain((Axis(), Axis()), context=(0,)), 0)
    with pytest.raises(InvalidInput, match="degree: expected 0, 1 or 2"):
        method(degree=3)
