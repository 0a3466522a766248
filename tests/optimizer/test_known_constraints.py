"""What a space's own constraint forbids is neither asked nor recommended, nor is a certificate about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from quadrat.kernels import Matern
from quadrat.methods import LP0, LPGPUCB, LevelSet, Method, MultiScaleLevelSet
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Context, Float, Int, Space

ASSUMED: dict[str, Any] = {"kernel": Matern(2.5, 1.0), "norm_bound": 4.0, "noise": 0.01}


def allowed(params: Mapping[str, Any]) -> bool:
    """Not where the best values are."""
    return not 0.45 < params["x"] < 0.65


def told(method: Method, space: Space) -> Optimizer:
    optimizer = Optimizer(space, direction="maximize", method=method)
    for i in range(30):
        trial = optimizer.ask(context={"z": i % 3 / 2} if space.contexts else None)
        assert allowed(trial.params)
        noise = 0.01 * generator(0, i).normal()
        optimizer.tell(trial, math.exp(-0.5 * ((trial.params["x"] - 0.55) / 0.3) ** 2) + noise)
    return optimizer


@pytest.mark.parametrize(
    "method",
    [
        LP0(**ASSUMED, budget=30),
        LPGPUCB(**ASSUMED, budget=30),
        LevelSet(**ASSUMED, threshold=0.5),
        MultiScaleLevelSet(**ASSUMED, threshold=0.5),
    ],
    ids=lambda method: type(method).__name__,
)
def test_certified_methods(method: Method) -> None:
    optimizer = told(method, Space(x=Float(0, 1)).subject_to(allowed))
    assert allowed(optimizer.recommend().params)
    report = optimizer.certificate()
    assert report.params is None or allowed(report.params)


def test_in_a_context() -> None:
    optimizer = told(LP0(**ASSUMED, budget=30), Space(x=Float(0, 1), z=Context(Float(0, 1))).subject_to(allowed))
    for z in (0.0, 0.3):
        assert allowed(optimizer.recommend({"z": z}).params)
        report = optimizer.certificate({"z": z})
        assert report.params is not None
        assert allowed(report.params)


# --- what could still be gained, where little of the space is feasible


def gain_in_tube(method: str, share: float, seed: int) -> float | None:
    """The gain after eight trials in a corner of a tube that is this share of the cube."""
    cube = Space(x=Float(0, 1), y=Float(0, 1), z=Float(0, 1))
    space = cube.subject_to(lambda params: abs(params["x"] - 0.5) < share / 2)
    optimizer = Optimizer(space, direction="maximize", method=method, seed=seed)
    for y, z in 0.3 * generator(seed).random((8, 2)):
        optimizer.add({"x": 0.5, "y": float(y), "z": float(z)}, math.sin(9 * y) * math.cos(7 * z))
    found = optimizer.recommend()
    assert (found.estimated_gain is None) == (found.estimated_gain_upper is None)
    return found.estimated_gain


@pytest.mark.parametrize("method", ["Auto", "CGPUCB", "ExpectedImprovement", "AddGPUCB"])
def test_the_gain_does_not_vanish_where_candidates_are_hardly_feasible(method: str) -> None:
    """The same function and trials: a thin tube has about as much to offer as a wide one."""
    for seed in range(3):
        wide, thin = gain_in_tube(method, 0.3, seed), gain_in_tube(method, 0.003, seed)
        assert wide is not None
        assert thin is not None
        assert thin > 0.35 * wide


def test_a_gain_that_rests_on_too_few_feasible_settings_is_not_stated() -> None:
    """Two feasible settings of 9,999: both can be listed, so the space is accepted; of a gain nothing is said."""
    space = Space(a=Int(1, 99), b=Int(1, 101)).subject_to(lambda params: params["a"] == 7 and params["b"] in (3, 90))
    optimizer = Optimizer(space, direction="maximize", seed=0)
    for _ in range(4):  # two settings and two repeats, after which nothing is left
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["b"])
    found = optimizer.recommend()
    assert found.params == {"a": 7, "b": 90}
    assert found.estimated_gain is None
    assert found.estimated_gain_upper is None
    assert found.credible_interval is not None


def test_a_constrained_run_is_rebuilt_from_its_state() -> None:
    space = Space(x=Float(0, 1)).subject_to(allowed)
    optimizer = Optimizer(space, direction="maximize", seed=4)
    for _ in range(7):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["x"])
    rebuilt = Optimizer.from_state(space, optimizer.state())
    assert rebuilt.trials == optimizer.trials
    assert rebuilt.ask().params == optimizer.ask().params


def test_a_context_with_few_feasible_settings_is_served() -> None:
    """0.2 % of each context is feasible: of 1,088 settings near a proposal and all over, often none."""
    space = Space(x=Float(0, 1), z=Context(Float(0, 1)))
    narrow = space.subject_to(lambda params: abs(params["x"] - 0.5 * params["z"] - 0.2) < 0.001)
    optimizer = Optimizer(narrow, direction="maximize", method=LP0(**ASSUMED, budget=30))
    for i in range(12):
        trial = optimizer.ask(context={"z": i / 11})
        assert narrow.feasible(trial.params)
        optimizer.tell(trial, trial.params["x"])


def beyond(params: Mapping[str, Any]) -> bool:
    return bool(params["x"] + params["y"] <= 1)


@pytest.mark.parametrize(
    "method",
    [
        "Auto",
        "RandomSearch",
        "GPUCB",
        "Heuristic",
        "AddGPUCB",
        LPGPUCB(**ASSUMED, budget=30),
        LP0(**ASSUMED, budget=30),
    ],
    ids=str,
)
def test_a_trial_that_a_user_added_elsewhere_is_not_recommended(method: Any) -> None:
    """Where some complete trial is allowed; where none is, the answer says so."""
    space = Space(x=Float(0, 1), y=Float(0, 1)).subject_to(beyond)
    optimizer = Optimizer(space, direction="maximize", method=method)
    optimizer.add({"x": 0.9, "y": 0.9}, 1.8)
    alone = optimizer.recommend()
    says = alone.why.endswith("No complete trial is at a point that the space's constraint allows.")
    assert says is not beyond(alone.params)
    optimizer.add_trials([{"x": i / 10, "y": i / 12} for i in range(5)], [i / 10 + i / 12 for i in range(5)])
    found = optimizer.recommend()
    assert beyond(found.params)
    assert beyond(found.best_seen.params)
    assert found.best_seen == optimizer.best_seen
    assert found.value < 1.5
    report = optimizer.certificate()
    assert report.params is None or beyond(report.params)


def test_of_added_trials_one_that_met_what_was_measured_is_recommended() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1), y=Float(0, 1)).subject_to(beyond), direction="maximize")
    places = [{"x": 0.9, "y": 0.9}, {"x": 0.5, "y": 0.4}, {"x": 0.2, "y": 0.2}]
    limits: list[Mapping[str, float]] = [{"load": -1.0}, {"load": 1.0}, {"load": -1.0}]
    optimizer.add_trials(places, [1.8, 0.9, 0.4], constraints=limits)
    assert optimizer.recommend().params == optimizer.recommend().best_seen.params == places[2]
