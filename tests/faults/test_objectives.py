"""Objectives that misbehave: whatever they give, a run goes on, asks for points of the space and recommends one.

What is told of each trial is drawn from the whole bag: exceptions, NaN, infinities, numbers near the ends of what a
float can hold, outliers, heavy tails. benchmarks/misbehaviour.py measures what that costs in regret.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any, cast

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Method
from quadrat.methods.registry import all_methods
from quadrat.optimizer.outcome import read_outcome
from quadrat.space import Fidelity, Float, Space

_ASSUMED: dict[str, Any] = {"kernel": Matern(2.5, 0.3), "norm_bound": 2.0, "noise": 0.1}
OPTIONS: dict[str, dict[str, Any]] = {
    "LPGPUCB": _ASSUMED,
    "LP0": _ASSUMED,
    "LevelSet": {**_ASSUMED, "threshold": 0.2},
    "MultiScaleLevelSet": {**_ASSUMED, "threshold": 0.2},
    "StableOpt": {"perturbation": 0.1},
    "AddGPUCB": {"n_initial": 4},
    "MFGPUCB": {"n_initial": 2},
    "PiGPUCB": {"capacity": 2, "n_initial": 2},
}
CHEAP = ("Auto", "LPGPUCB", "UCB1", "RandomSearch")
CONTINUOUS, FINITE = Space(x=Float(-2, 2), y=Float(0, 1)), Space(x=Float(-2, 2, step=0.5), y=Float(0, 1, step=0.25))
WRONG: tuple[Any, ...] = (None, "0.5", True, np.True_, 1j, np.complex64(1), np.ones((2, 2)), {})
SPACES = {"UCB1": FINITE, "MFGPUCB": Space(**CONTINUOUS, level=Fidelity([1, 2], cost=[1, 3]))}


def made(name: str, budget: int) -> Method:
    build: Callable[..., Method] = all_methods()[name]
    takes_budget = any(field.name == "budget" for field in fields(cast(Any, build)))
    return build(**OPTIONS.get(name, {}), **({"budget": budget} if takes_budget else {}))


# Methods that keep limits end such runs with a sentence: tests/methods/safe.
@pytest.fixture(params=sorted(all_methods().keys() - {"Safe", "FittedSafe"}))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="quadrat")  # every failed trial is a warning


def ordinary(params: dict[str, Any]) -> float:
    return math.cos(params["x"]) / 2 + 0.2 * float(params["y"])


def run(name: str, outcome: Callable[[int, dict[str, Any]], Any], n: int, seed: int = 0) -> qd.Result:
    """Tune; check everything that was asked for, and what is recommended."""
    space = SPACES.get(name, CONTINUOUS)
    number = iter(range(10 * n))
    method = made(name, n)
    result = qd.maximize(lambda params: outcome(next(number), params), space, n_trials=n, method=method, seed=seed)
    for record in result.trials:
        assert np.isfinite(space.to_unit(record.params)).all()  # to_unit refuses what is outside
    space.to_unit(result.params)
    assert math.isfinite(result.value)
    interval = result.certified_interval or result.credible_interval
    assert interval is None or interval[0] <= result.value <= interval[1]
    assert repr(result)
    return result


# --- values


def everything(number: int, params: dict[str, Any]) -> Any:
    """The whole bag, one after another, with ordinary values between."""
    value = ordinary(params)
    match number % 14:
        case 2:
            raise ZeroDivisionError("as objectives do")
        case 3:
            return -1e300
        case 4:
            return math.nan
        case 6:
            return 1e300
        case 7:
            return -math.inf
        case 9:
            return 1e6
        case 10:
            return 1e-300
        case 12:
            return [value, 1e-300, -1e6]
        case 13:
            return qd.Estimate(value, 1e-150)
    return value


def test_the_whole_bag(name: str) -> None:
    result = run(name, everything, 14)
    assert [record.state for record in result.trials].count("failed") == 3


@pytest.mark.parametrize("size", [-1e300, 1e-300], ids=["of -1e300", "of 1e-300"])
def test_all_values_huge_or_tiny(name: str, size: float) -> None:
    run(name, lambda _, params: size * ordinary(params), 6)


def test_the_ends_of_what_a_float_can_hold(name: str) -> None:
    """The difference of the first two is no number, and neither is the third over the second."""
    run(name, lambda number, _: (1.7e308, -1.7e308, 5e-324)[number % 3], 6)


def test_heavy_tails_uneven_noise_and_drift(name: str) -> None:
    """Student's t with one and two degrees of freedom in turns, a hundred times larger at one side."""

    def outcome(number: int, params: dict[str, Any]) -> float:
        noise = float(np.random.default_rng(number).standard_t(1 + number % 2))
        return ordinary(params) + 0.01 * float(10 ** (2 * params["y"])) * noise + 0.2 * number

    run(name, outcome, 8)


@pytest.mark.parametrize("name", CHEAP)
def test_constant_for_a_hundred_trials(name: str) -> None:
    """Those whose runs are cheap; benchmarks/extremes.py has short constant runs of all methods."""
    result = run(name, lambda *_: 2.5, 100)
    assert result.value == pytest.approx(2.5, abs=0.1)


# --- outliers and the default method


@pytest.mark.parametrize("outlier", [-1e6, 1e300])
def test_one_outlier_does_not_blind_the_default_method(outlier: float) -> None:
    """One value in thirty: the recommended point is still near the best, and the value believed there is not absurd.

    f has range 0.9 on the space.
    """
    result = run("Auto", lambda n, params: outlier if n == 9 else ordinary(params), 30)
    assert ordinary(result.params) > 0.68  # of 0.7
    assert abs(result.value) < 1.5
    told = [value for record in result.trials for value in record.values]
    assert outlier in told  # as it was told


def test_a_region_that_diverges_is_left_alone_and_not_recommended() -> None:
    """f rises into it; the best outside is 1.6."""
    diverges = 0.8

    def outcome(_: int, params: dict[str, Any]) -> float:
        return -1e8 if (params["x"] + 2) / 4 > diverges else (params["x"] + 2) / 4 + params["y"]

    for seed in range(3):
        result = run("Auto", outcome, 30, seed)
        assert (result.params["x"] + 2) / 4 <= diverges
        assert outcome(0, result.params) > 1.55
        assert sum(min(record.values) < -1 for record in result.trials) <= 12


def test_many_diverged_trainings_do_not_blind_the_default_method() -> None:
    """One in six, in a corner of the space and elsewhere; the best is .7, and the first point has .6."""

    def outcome(n: int, params: dict[str, Any]) -> float:
        return -(10.0 ** (3 + n)) if n % 6 == 3 else ordinary(params)

    found = [ordinary(run("Auto", outcome, 30, seed).params) for seed in range(7)]
    assert np.median(found) > 0.68
    assert min(found) > 0.6


# --- types


class Scalar:
    """What works like a scalar tensor."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __float__(self) -> float:
        return self._value

    def item(self) -> float:
        return self._value

    def __repr__(self) -> str:  # the names of tests must not have addresses in them
        return f"Scalar({self._value})"


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.float16(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.uint8(3), 3.0),
        (np.array(0.5), 0.5),
        (np.array([0.5]), 0.5),
        (np.array([0.5], dtype=np.float16), 0.5),
        (Scalar(0.5), 0.5),
        (7, 7.0),
    ],
    ids=repr,
)
def test_whatever_is_one_number_is_accepted_wherever_it_comes_from(number: Any, value: float) -> None:
    assert read_outcome(number).values == (value,)
    result = qd.maximize(lambda _: number, CONTINUOUS, n_trials=2, method="RandomSearch")
    assert [record.values for record in result.trials] == [(value,)] * 2


@pytest.mark.parametrize("number", [np.float16("inf"), np.float32("nan"), np.array(np.nan), Scalar(math.nan)], ids=str)
def test_what_is_not_finite_is_a_failure_in_any_type(number: Any) -> None:
    optimizer = qd.Optimizer(CONTINUOUS, direction="maximize")
    optimizer.tell(optimizer.ask(), number)
    assert optimizer.trials[0].state == "failed"


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_is_no_number_is_refused_with_what_was_expected_and_what_came(wrong: Any) -> None:
    """A mistake in the code of the objective, which no later trial would mend; the trial can still be told."""
    optimizer = qd.Optimizer(CONTINUOUS, direction="maximize")
    trial = optimizer.ask()
    with pytest.raises(InvalidInput, match=r"outcome: expected a number, .* got"):
        optimizer.tell(trial, wrong)
    optimizer.tell(trial, 1.0)
    with pytest.raises(InvalidInput, match=r"expected a number, .* got"):
        qd.maximize(lambda _: wrong, CONTINUOUS, n_trials=2, method="RandomSearch")
