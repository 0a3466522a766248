"""LP-GP-UCB on a sketched posterior: it searches as the exact one, is rebuilt, and certifies nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Matern
from quadrat.methods import LP0, LPGPUCB
from quadrat.methods.base import Domain, Observation
from quadrat.methods.lp.other_forms import SketchedSearch
from quadrat.optimizer import Optimizer
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator
from quadrat.space import Float, Space

KERNEL = Matern(2.5, 0.3)
METHOD = LP0(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=120, sketch=Sketch(q=1.0))
PLANE = Space(x=Float(0, 1), y=Float(0, 1))


def test_it_finds_the_top_of_a_function_of_the_ball_and_its_bounds_hold() -> None:
    f = draw_rkhs_function(KERNEL, 2, rng=generator(0, 95), norm=1.0)
    best = f.maximum()[1]
    search = METHOD.start(Domain.cube(2), 0)
    assert isinstance(search, SketchedSearch)
    rng = generator(0, 96)
    for number in range(120):
        x = search.ask(number, np.empty((0, 2))).x
        search.tell(Observation(number, x, np.array([float(f(x)) + 0.1 * rng.standard_normal()])))
    incumbent = search.recommend()
    assert best - float(f(incumbent.x)) < 0.1
    assert incumbent.interval is not None
    assert not incumbent.certified
    cells = search.explain()
    assert cells["dictionary"] < len(search.band.x)  # type: ignore[operator]
    for cell in cells["cells"]:  # type: ignore[attr-defined]
        inside = np.array(cell["lower"]) + rng.random((20, 2)) * (np.array(cell["upper"]) - np.array(cell["lower"]))
        assert f.values(inside).max() <= cell["bound"] + 1e-9


def test_it_is_rebuilt_bit_for_bit_and_says_why_it_does_not_certify() -> None:
    def run(optimizer: Optimizer, n: int) -> None:
        for _ in range(n):
            trial = optimizer.ask()
            optimizer.tell(trial, float(np.sin(3 * trial.params["x"]) * trial.params["y"]))

    optimizer = Optimizer(PLANE, direction="maximize", method=METHOD, seed=1)
    run(optimizer, 25)
    waiting = optimizer.ask()
    rebuilt = Optimizer.from_state(PLANE, json.loads(json.dumps(optimizer.state())), method=METHOD)
    optimizer.recommend()
    optimizer.explain()
    report = optimizer.certificate()
    assert report.value is None
    assert "sketched" in str(report.reason)
    after = optimizer.ask()
    assert rebuilt.ask() == after
    assert after.params != waiting.params
    assert rebuilt.recommend() == optimizer.recommend()


def test_what_does_not_go_with_a_sketch() -> None:
    common = {"norm_bound": 1.0, "noise": 0.1, "budget": 10, "sketch": Sketch()}
    with pytest.raises(InvalidInput, match="expected a stated kernel"):
        LPGPUCB(kernel=None, **common)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="expected Sketch"):
        LPGPUCB(kernel=KERNEL, **{**common, "sketch": 1.0})  # type: ignore[arg-type]
