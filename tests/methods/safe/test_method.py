"""`Safe` and `FittedSafe` as users state them: options, texts, directions, and what is refused in which words."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable, SpaceExhausted
from quadrat.methods.base import Domain
from quadrat.methods.registry import get, read_method

STATED: dict[str, Any] = {"kernel": qd.Matern(2.5, 0.4), "norm_bound": 2.0, "noise": 0.02}
LINE = qd.Space(x=qd.Float(0, 10))


def bowl(x: float) -> float:
    """At most 0, at 4; -.5 at .46 and 7.54."""
    return -4 * (x / 10 - 0.4) ** 2


def run(optimizer: qd.Optimizer, n: int, sign: float = 1.0) -> list[float]:
    tried = []
    for _ in range(n):
        trial = optimizer.ask()
        tried.append(trial.params["x"])
        optimizer.tell(trial, sign * bowl(tried[-1]))
    return tried


def test_it_never_falls_below_the_threshold_and_finds_the_top() -> None:
    optimizer = qd.Optimizer(LINE, direction="maximize", method=qd.Safe(threshold=-0.5, safe=[{"x": 2.0}], **STATED))
    tried = run(optimizer, 30)
    assert tried[0] == 2.0
    assert min(map(bowl, tried)) >= -0.5
    found = optimizer.recommend()
    assert abs(found.params["x"] - 4.0) < 0.5
    assert found.certified_interval is not None
    assert found.certified_interval[0] <= bowl(found.params["x"]) <= found.certified_interval[1]


def test_minimising_with_a_limit_above_is_maximising_the_negative_with_one_below() -> None:
    low = qd.Optimizer(LINE, direction="minimize", method=qd.Safe(threshold=0.5, safe=[{"x": 2.0}], **STATED))
    high = qd.Optimizer(LINE, direction="maximize", method=qd.Safe(threshold=-0.5, safe=[{"x": 2.0}], **STATED))
    assert run(low, 12, -1.0) == run(high, 12)
    assert low.safe_region().share == high.safe_region().share
    assert low.safe_region().threshold == 0.5
    assert low.safe_region().best_reachable == -high.safe_region().best_reachable  # type: ignore[operator]


def test_measured_constraints_are_kept() -> None:
    given = {"load": qd.Assumptions(qd.Matern(2.5, 1.0), 3.0, 0.02)}
    method = qd.Safe(safe=[{"x": 2.0}], constraints=given, **STATED)
    optimizer = qd.Optimizer(LINE, direction="maximize", method=method)
    for _ in range(20):
        trial = optimizer.ask()
        assert trial.params["x"] <= 3.5
        optimizer.tell(trial, qd.Measured(bowl(trial.params["x"]), {"load": trial.params["x"] / 10 - 0.35}))
    assert optimizer.recommend().params["x"] > 2.7
    trial = optimizer.ask()
    for wrong in ({}, {"weight": 0.1}, {"load": 0.1, "weight": 0.1}):
        with pytest.raises(InvalidInput, match="expected values of 'load', which Safe guards, got"):
            optimizer.tell(trial, qd.Measured(0.1, wrong))


def test_a_run_is_rebuilt_from_its_state_and_from_a_text() -> None:
    given = {"load": qd.Assumptions(qd.Matern(1.5, 0.4), 1.0, 0.1)}
    method = qd.Safe(threshold=-0.5, safe=[{"x": 2.0}, {"x": np.float64(3.0)}], constraints=given, **STATED)
    assert read_method(repr(method)) == method
    assert hash(method) == hash(read_method(repr(method)))
    assert read_method("Safe(threshold=0.1, safe=[{'x': 0.5}], kernel=Matern(2.5, 0.3), norm_bound=1, noise=0.1)")
    plain = qd.Safe(threshold=-0.5, safe=[{"x": 2.0}], **STATED)
    optimizer = qd.Optimizer(LINE, direction="maximize", method=plain, seed=4)
    run(optimizer, 9)
    again = qd.Optimizer.from_state(LINE, optimizer.state(), method=repr(plain))
    assert again.ask() == optimizer.ask()
    fitted = qd.FittedSafe(safe=[{"x": 1.0}], constraints=["load"], risk=0.1)
    assert read_method(repr(fitted)) == fitted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"safe": []}, "at least one setting that is known to be safe, got none"),
        ({"safe": "x"}, "expected settings that are known to be safe"),
        ({"safe": [0.5]}, "expected settings that are known to be safe"),
        ({"threshold": None}, "expected a limit of the objective, constraints, or both"),
        ({"threshold": float("nan")}, "threshold"),
        ({"threshold": 2.5}, r"within \+-2 = B s, got 2.5"),
        ({"delta": 1.0}, r"delta: expected a probability in \(0, 1\)"),
        ({"noise": 0.0}, "noise"),
        ({"constraints": {"load": 1.0}}, "expected a mapping from names to assumptions"),
        ({"constraints": ["load"]}, "expected a mapping from names to assumptions"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        qd.Safe(**{"threshold": -0.5, "safe": [{"x": 2.0}], **STATED, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": 0.0}, "risk"),
        ({"risk": 0.5}, r"risk: expected a chance below 0.5"),
        ({"constraints": "load"}, "expected names"),
        ({"noise": -1.0}, "noise"),
        ({"threshold": None}, "expected a limit"),
    ],
)
def test_options_of_the_fitted_mode_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        qd.FittedSafe(**{"threshold": -0.5, "safe": [{"x": 2.0}], **options})


@pytest.mark.parametrize(
    "method", [qd.Safe(threshold=-0.5, safe=[{"x": 2.0}], **STATED), qd.FittedSafe(threshold=-0.5, safe=[{"x": 2.0}])]
)
def test_spaces_that_it_cannot_be_safe_in_are_refused(method: qd.Method) -> None:
    for other in (qd.Int(0, 10), qd.Float(0, 10, step=0.5), qd.Categorical([1.0, 2.0])):
        with pytest.raises(InvalidInput, match=r"expected Floats without steps or conditions for .*, got 'x'"):
            qd.Optimizer(qd.Space(x=other), direction="maximize", method=method)
    with pytest.raises(InvalidInput, match="x"):  # 2 is outside
        qd.Optimizer(qd.Space(x=qd.Float(3, 10)), direction="maximize", method=method)
    with pytest.raises(InvalidInput):  # without y it is no setting
        qd.Optimizer(qd.Space(x=qd.Float(0, 10), y=qd.Float(0, 1)), direction="maximize", method=method)
    with pytest.raises(InvalidInput, match=r"expected settings that the space's constraint allows, got {'x': 2.0}"):
        qd.Optimizer(LINE.subject_to(lambda p: p["x"] > 3), direction="maximize", method=method)
    with pytest.raises(InvalidInput, match="contexts"):
        qd.Optimizer(qd.Space(x=qd.Float(0, 10), c=qd.Context(qd.Float(0, 1))), direction="maximize", method=method)
    with pytest.raises(InvalidInput, match="search_space: expected the parameters beside"):
        qd.QuadratSampler(method=method)


def test_without_names_axes_are_numbered() -> None:
    method = qd.Safe(threshold=-0.5, safe=[{"0": 0.5, "1": 0.25}], **STATED)
    assert method.stated_points(Domain.cube(2)).tolist() == [[0.5, 0.25]]
    with pytest.raises(InvalidInput, match="expected a coordinate in"):
        method.stated_points(Domain.cube(3))


def test_a_name_alone_says_what_is_missing() -> None:
    with pytest.raises(InvalidInput, match="cannot guess safe, kernel, norm_bound, noise"):
        get("Safe")


def test_a_run_ends_with_the_reason_where_the_data_reject_the_assumptions() -> None:
    """The norm is at least 40 times what is stated."""
    method = qd.Safe(threshold=-0.01, safe=[{"x": 4.0}], kernel=qd.Matern(2.5, 0.4), norm_bound=0.05, noise=0.001)
    found = qd.maximize(lambda p: bowl(p["x"]) + 0.8, LINE, n_trials=20, method=method)
    assert len(found.trials) < 20
    assert "assumptions rejected by the data" in found.message
    assert found.certified_interval is None


def test_duplicates_and_several_safe_settings() -> None:
    method = qd.Safe(threshold=-0.5, safe=[{"x": 2.0}, {"x": 2}, {"x": 6.0}], **STATED)
    optimizer = qd.Optimizer(LINE, direction="maximize", method=method)
    assert [optimizer.ask().params["x"] for _ in range(2)] == [2.0, 6.0]
    with pytest.raises(NotAvailable, match=r"no trial is complete|at least one complete trial"):
        optimizer.recommend()


def stopped(method: qd.Safe, direction: Literal["minimize", "maximize"], value: float | qd.Measured) -> str:
    """Tell one value at the stated setting, and return why nothing is asked for any more."""
    optimizer = qd.Optimizer(LINE, direction=direction, method=method)
    optimizer.tell(optimizer.ask(), value)
    with pytest.raises(SpaceExhausted) as ended:
        optimizer.ask()
    return str(ended.value)


def test_what_is_broken_is_said_in_the_users_units_and_direction() -> None:
    fixed: dict[str, Any] = {"safe": [{"x": 1.0}], "kernel": qd.Matern(2.5, 0.4), "norm_bound": 2.0, "noise": 0.02}
    said = stopped(qd.Safe(threshold=0.0, **fixed), "minimize", 0.258)
    assert re.search(r"the objective is at least 0\.1\d* there, and its limit is 0$", said), said
    said = stopped(qd.Safe(threshold=0.1, **fixed), "maximize", -0.258)
    assert re.search(r"the objective is at most -0\.1\d* there, and its limit is 0\.1$", said), said
    heat = {"heat": qd.Assumptions(qd.Matern(2.5, 1.0), norm_bound=3.0, noise=0.02)}
    said = stopped(qd.Safe(constraints=heat, **fixed), "minimize", qd.Measured(0.3, {"heat": 0.4}))
    assert re.search(r"the constraint 'heat' is at least 0\.\d* there, and its limit is 0$", said), said


@pytest.mark.parametrize("setting", [{"x": 30.0}, {"y": 3.0}, {"x": "a"}, {}])
def test_a_safe_setting_that_the_space_does_not_have_is_refused_as_one(setting: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"^safe: "):
        qd.Optimizer(LINE, direction="minimize", method=qd.FittedSafe(threshold=0.0, safe=[setting]))
