"""GP-UCB on finite spaces: the index at every arm, by hand."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat.kernels import Matern
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.ucb.gp_ucb import GPUCB, Continuous, Finite
from quadrat.methods.ucb.gp_ucb_arms import GPUCBOnArms
from quadrat.optimizer import Optimizer
from quadrat.space import Categorical, Float, Int, Space

VALUES = tuple(((np.arange(20) + 0.5) / 20).tolist())
LINE = Domain((Axis(VALUES),))
NONE = np.empty((0, 1))
KERNEL = Matern(2.5, 0.2)


def told_line(n: int, **options: Any) -> GPUCBOnArms:
    search = GPUCB(kernel=KERNEL, noise=0.1, standardise=False, **options).start(LINE, 0)
    assert isinstance(search, GPUCBOnArms)
    for number in range(n):
        x = search.ask(number, NONE).x
        search.tell(Observation(number, x, np.array([float(np.sin(6 * x[0]))])))
    return search


def test_the_index_is_that_of_algorithm_1_with_the_number_of_arms() -> None:
    """mu + sqrt(beta_t) sigma from the matrices themselves; beta_t = 2 log(20 t^2 pi^2 / (6 delta)), theorem 1."""
    search = told_line(9, delta=0.1)
    x, y = search.model.x, search.model.y
    grid = np.array(VALUES)[:, None]
    inverse = np.linalg.inv(KERNEL(x) + 0.01 * np.eye(9))
    cross = KERNEL(grid, x)
    mean = cross @ inverse @ y
    deviation = np.sqrt(1 - np.einsum("ij,jk,ik->i", cross, inverse, cross))
    root = sqrt(2 * log(20 * 100 * pi**2 / 0.6))
    index = mean + root * deviation
    proposal = search.ask(9, NONE)
    assert proposal.x.tolist() == [VALUES[int(np.argmax(index))]]
    assert f"sqrt(beta) = {root:.3g} ({index.max():.4g})" in proposal.why


def test_a_stated_form_is_kept() -> None:
    for form in (Finite(arms=7), Continuous()):
        search = GPUCB(form=form).start(LINE, 0)
        assert isinstance(search, GPUCBOnArms)
        assert search.index.form == form
    counted = GPUCB().start(LINE, 0)
    assert isinstance(counted, GPUCBOnArms)
    assert counted.index.form == Finite(arms=20)


def test_on_the_cube_nothing_changes() -> None:
    """1,000 arms by default there, and the search is the one of the cube."""
    assert GPUCB().beta(3, 1, 0.0) == GPUCB(form=Finite(arms=1000)).beta(3, 1, 0.0)
    assert not isinstance(GPUCB().start(Domain((Axis(), Axis(VALUES))), 0), GPUCBOnArms)
    assert not isinstance(GPUCB().start(Domain((Axis(VALUES),), context=(0,)), 0), GPUCBOnArms)


def test_choices_have_no_order() -> None:
    """What is told of one choice moves all others alike; with a length-scale an axis, coordinates decide."""
    choices = Domain((Axis(VALUES, ordered=False),))
    for kernel, alike in ((Matern(2.5, 0.7), True), (Matern(2.5, (0.7,)), False)):
        search = GPUCB(kernel=kernel, n_initial=1, standardise=False).start(choices, 0)
        assert isinstance(search, GPUCBOnArms)
        search.tell(Observation(0, np.array([VALUES[3]]), np.array([1.0])))
        others = np.delete(search.model.gp.predict(search._features).mean, 3)
        assert (np.ptp(others) < 1e-12) == alike


def test_initial_arms_are_distinct_and_pending_ones_left_out() -> None:
    search = GPUCB(n_initial=15).start(LINE, 3)
    pending = NONE
    for number in range(10):
        pending = np.vstack([pending, search.ask(number, pending).x])
    assert len(np.unique(pending)) == 10
    for number, x in enumerate(pending):
        search.tell(Observation(number, x, np.array([0.1 * number])))
    later = search.ask(10, NONE).x
    assert later[0] not in pending


def test_pending_arms_differ_after_the_start() -> None:
    search = told_line(8)
    pending = NONE
    for number in range(8, 14):
        pending = np.vstack([pending, search.ask(number, pending).x])
    assert len(np.unique(pending)) >= 5
    assert search.ask(8, NONE).x.tolist() == pending[0].tolist()


def test_recommendation() -> None:
    search = told_line(40, scale=0.2)
    incumbent = search.recommend()
    assert incumbent.x.tolist() == [VALUES[int(np.argmax(np.sin(6 * np.array(VALUES))))]]
    assert incumbent.interval is not None
    assert incumbent.interval[0] < incumbent.value < incumbent.interval[1]
    assert incumbent.gain is not None
    assert 0 <= incumbent.gain.mean <= incumbent.gain.upper
    assert search.explain()["arms"] == 20


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_through_the_optimizer(direction: str) -> None:
    space = Space(n=Int(1, 60), kind=Categorical(["a", "b", "c"]))
    optimizer = Optimizer(space, direction=direction, method=GPUCB(scale=0.2), seed=1)
    sign = 1 if direction == "minimize" else -1
    for _ in range(40):
        trial = optimizer.ask()
        optimizer.tell(trial, sign * ((trial.params["n"] / 60 - 0.5) ** 2 * 4 + (trial.params["kind"] != "b")))
    got = optimizer.recommend().params
    assert got["kind"] == "b"
    assert abs(got["n"] - 30) <= 4
    assert "arms" in str(optimizer.trials[-1].why)
    continuous = Optimizer(Space(x=Float(0, 1)), direction=direction, method=GPUCB(), seed=1)
    assert "arms" not in continuous.ask().why


@pytest.mark.parametrize("kernel", [None, Matern(2.5, (0.3, 0.3))], ids=["features", "coordinates"])
def test_predictions_are_of_points_also_where_the_kernel_sees_features(kernel: Matern | None) -> None:
    """A choice of three is three columns to the model; predictions are asked for at points of the space."""
    space = Space(kind=Categorical(["a", "b", "c"]), n=Int(1, 4))
    optimizer = Optimizer(space, direction="maximize", method=GPUCB(kernel=kernel), seed=0)
    for _ in range(9):
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.params["kind"] == "b") + 0.1 * float(trial.params["n"]))
    best = optimizer.recommend()
    there, elsewhere = optimizer.predict([best.params, {"kind": "a", "n": 1}])
    assert there.value == pytest.approx(best.value)
    assert there.value > elsewhere.value
