"""Constraints told with a trial: what is read, what is refused, and what the optimizer makes of them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.methods.auto.method import Auto
from quadrat.methods.base import Incumbent, Method
from quadrat.methods.design import RandomSearch
from quadrat.optimizer import FAILED, Estimate, Measured, Optimizer
from quadrat.optimizer.outcome import Reading, check_names, read_measured
from quadrat.optimizer.reports import why_recommended
from quadrat.optimizer.trial import BestSeen
from quadrat.space import Float, Int, Space

PLANE = Space(x=Float(0, 1), y=Float(0, 1))
Make = Callable[..., Method]


def read(outcome: object, constraints: object = None, *, names: tuple[str, ...] = (), **options: Any) -> Reading:
    return read_measured(outcome, constraints, names=names, method=options.pop("method", Auto()), **options)


def optimizer_of(direction: str = "maximize", **options: Any) -> Optimizer:
    return Optimizer(options.pop("space", PLANE), direction=direction, **options)


def told(optimizer: Optimizer, *trials: tuple[object, dict[str, float] | None]) -> Optimizer:
    for outcome, constraints in trials:
        optimizer.tell(optimizer.ask(), outcome, constraints=constraints)  # type: ignore[arg-type]  # on purpose
    return optimizer


# --- reading


def test_measured_and_the_keyword_say_the_same_and_names_are_sorted() -> None:
    wanted = Reading((1.0, 2.0), constraints={"latency": -0.25, "memory": 1.0})
    mapping = {"memory": 1, "latency": Fraction(-1, 4)}
    for got in (read([1, 2], mapping), read(Measured([1, 2], mapping))):  # type: ignore[arg-type]  # a Fraction is one
        assert got == wanted
        assert list(got.constraints) == ["latency", "memory"]
        assert all(type(value) is float for value in got.constraints.values())


@pytest.mark.parametrize("value", [np.float32(0.5), np.array(0.5), np.int64(2), 2, -0.0])
def test_whatever_is_a_number_is_a_constraint(value: Any) -> None:
    assert read(1.0, {"c": value}).constraints == {"c": float(value)}


@pytest.mark.parametrize("nothing", [None, {}, Measured(1.0), Measured(1.0, {})])
def test_no_constraints(nothing: object) -> None:
    got = read(nothing) if isinstance(nothing, Measured) else read(1.0, nothing)
    assert got == Reading((1.0,))


def test_measured_is_a_copy_that_travels() -> None:
    mapping = {"c": 1.0}
    measured = Measured(Estimate(0.5, 0.1), MappingProxyType(mapping))
    mapping["c"] = 2.0
    again = pickle.loads(pickle.dumps(measured))  # noqa: S301  # our own bytes
    assert again == measured == Measured(Estimate(0.5, 0.1), {"c": 1.0})
    assert read(again) == Reading((0.5,), 0.1, constraints={"c": 1.0})


@pytest.mark.parametrize(
    ("value", "failure"),
    [
        (float("nan"), "told nan for the constraint 'b'"),
        (np.inf, "told inf for the constraint 'b'"),
        (-np.inf, "told -inf for the constraint 'b'"),
    ],
)
def test_a_constraint_that_is_not_finite_is_a_failure_like_a_value_that_is_not(value: float, failure: str) -> None:
    assert read(1.0, {"b": value, "a": 0.0}) == Reading(failure=failure)
    assert read(1.0, {"b": value}, reason="it crashed") == Reading(failure="it crashed")


@pytest.mark.parametrize("outcome", [FAILED, float("nan"), Measured(FAILED, {"c": 1.0})])
def test_a_failed_trial_needs_no_constraints_and_keeps_none(outcome: object) -> None:
    constraints = None if isinstance(outcome, Measured) else {"c": 1.0}
    for names in ((), ("c",)):
        got = read(outcome, constraints, names=names)
        assert got.failure is not None
        assert not got.constraints
    assert read(FAILED, names=("c",)).failure == "told FAILED"


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (1.2, r"constraints: expected a mapping from names to numbers, .* holds where its number is <= 0.*, got 1\.2"),
        ([("c", 1.0)], r"constraints: expected a mapping .* got \[\('c', 1\.0\)\]"),
        ({1: 1.0}, "constraints: expected names that are texts, such as 'memory', got 1"),
        ({"": 1.0}, "expected names that are texts"),
        ({"c": True}, r"constraints\['c'\]: expected a number, <= 0 where the constraint holds, got True"),
        ({"c": None}, "holds, got None"),
        ({"c": "1"}, "holds, got '1'"),
        ({"c": 1j}, "holds, got 1j"),
        ({"c": [1.0, 2.0]}, r"holds, got \[1\.0, 2\.0\]"),
        ({"c": np.ones(1)}, r"holds, got an array of shape \(1,\)"),
    ],
)
def test_what_is_refused(constraints: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(1.0, constraints)
    with pytest.raises(InvalidInput, match=message):
        read(Measured(1.0, constraints))


def test_constraints_are_told_once_and_measured_is_no_value() -> None:
    with pytest.raises(InvalidInput, match=r"constraints: expected them once, got Measured.* and constraints=.*leave"):
        read(Measured(1.0, {"c": 1.0}), {"c": 1.0})
    with pytest.raises(InvalidInput, match=r"expected a number, .* FAILED or Measured, got Measured"):
        read(Measured(Measured(1.0), {"c": 1.0}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "got"), [({"a": 1.0}, "'a'"), ({"a": 1.0, "c": 1.0}, "'a', 'c'"), ({}, "none"), (None, "none")]
)
def test_other_names_than_before_are_refused(told: dict[str, float] | None, got: str) -> None:
    message = f"expected values of 'a', 'b', as in the first trial that had constraints, got {got}; tell the same ones"
    with pytest.raises(InvalidInput, match=message):
        read(1.0, told, names=("a", "b"))
    with pytest.raises(InvalidInput, match=message):
        check_names(told or {}, ("a", "b"))
    if told:
        with pytest.raises(InvalidInput, match=message):
            read(FAILED, told, names=("a", "b"))
    check_names(told or {}, ())


def test_a_method_that_would_ignore_constraints_is_refused_whatever_the_outcome() -> None:
    for outcome in (1.0, FAILED):
        with pytest.raises(
            InvalidInput, match=r"a method that handles them, got RandomSearch, .* use Auto, the default"
        ):
            read(outcome, {"c": 1.0}, method=RandomSearch())
    assert read(1.0, {}, method=RandomSearch()) == Reading((1.0,))


# --- the optimizer


def test_records_keep_constraints_and_say_whether_all_hold() -> None:
    optimizer = told(
        optimizer_of(),
        (1.0, None),
        (2.0, {"b": 0.0, "a": -1.0}),
        (3.0, {"a": 1e-9, "b": -1.0}),
        (FAILED, None),
        (4.0, {"a": float("nan"), "b": 1.0}),
    )
    optimizer.ask()
    got = [(record.state, record.constraints, record.feasible) for record in optimizer.trials]
    assert got == [
        ("complete", {}, None),
        ("complete", {"a": -1.0, "b": 0.0}, True),
        ("complete", {"a": 1e-9, "b": -1.0}, False),
        ("failed", {}, None),
        ("failed", {}, None),
        ("pending", {}, None),
    ]
    optimizer.trials[1].constraints.clear()
    assert optimizer.trials[1].constraints == {"a": -1.0, "b": 0.0}, "nobody changes the history"
    log = optimizer.explain()["trials"]
    assert isinstance(log, list)
    assert log[1]["constraints"] == {"a": -1.0, "b": 0.0}


def test_a_refused_tell_changes_nothing() -> None:
    optimizer = told(optimizer_of(), (1.0, {"a": 1.0}))
    trial, events = optimizer.ask(), optimizer.state()["events"]
    for wrong in ({"b": 1.0}, None, {"a": True}):
        with pytest.raises(InvalidInput, match="constraints"):
            optimizer.tell(trial, 1.0, constraints=wrong)
        with pytest.raises(InvalidInput, match="constraints"):
            optimizer.add({"x": 0.5, "y": 0.5}, 1.0, constraints=wrong)
    assert optimizer.state()["events"] == events[:3]
    optimizer.tell(trial, 1.0, constraints={"a": 2.0})
    assert optimizer.trials[1].state == "complete"


def test_earlier_results_are_added_with_constraints_or_before_the_first() -> None:
    optimizer = optimizer_of()
    optimizer.add({"x": 0.1, "y": 0.2}, 9.0)
    assert optimizer.best_seen == BestSeen(0, {"x": 0.1, "y": 0.2}, 9.0, None)
    assert optimizer.recommend().estimated_feasibility is None
    record = optimizer.add({"x": 0.3, "y": 0.2}, [1.0, 2.0], constraints={"c": -1.0})
    assert (record.values, record.constraints) == ((1.0, 2.0), {"c": -1.0})
    optimizer.add({"x": 0.4, "y": 0.2}, Measured(1.0, {"c": 1.0}))
    assert optimizer.best_seen == BestSeen(1, {"x": 0.3, "y": 0.2}, 1.5, True), "of trial 0 nobody knows"


@pytest.mark.parametrize(("direction", "best"), [("maximize", 3), ("minimize", 1)])
def test_the_best_seen_is_one_whose_constraints_hold(direction: str, best: int) -> None:
    ok, wrong = {"a": -1.0, "b": 0.0}, {"a": -1.0, "b": 0.5}
    optimizer = told(
        optimizer_of(direction), (-9.0, wrong), (1.0, ok), (2.0, ok), (3.0, ok), (9.0, wrong), (FAILED, None)
    )
    got = optimizer.best_seen
    assert got is not None
    assert (got.number, got.feasible) == (best, True)
    assert got.params == optimizer.trials[best].params


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e300])
def test_where_none_holds_the_best_seen_violates_least_in_whatever_unit(unit: float) -> None:
    """Excesses relative to the largest of each constraint: 1.5, 1.0, 0.55 and 0.55; of equals the better value."""
    optimizer = optimizer_of("minimize")
    excesses = [(10.0, 2.0), (20.0, -3.0), (1.0, 1.0), (1.0, 1.0)]
    for value, (a, b) in zip((0.0, 1.0, 3.0, 2.0), excesses, strict=True):
        told(optimizer, (value, {"a": a, "b": unit * b}))
    best = optimizer.best_seen
    assert best is not None
    assert (best.number, best.value, best.feasible) == (3, 2.0, False)
    told(optimizer, (50.0, {"a": 0.0, "b": 0.0}))
    best = optimizer.best_seen
    assert best is not None
    assert (best.number, best.feasible) == (4, True)


def test_a_search_gets_the_values_in_the_order_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, ...]] = []
    optimizer = optimizer_of()
    monkeypatch.setattr(optimizer._search, "tell", lambda trial: seen.append(trial.constraints))
    told(
        optimizer, (1.0, None), (1.0, {"b": 2.0, "a": 1.0}), (1.0, {"a": 3.0, "b": 4.0}), (FAILED, {"a": 5.0, "b": 6.0})
    )
    assert seen == [(), (1.0, 2.0), (3.0, 4.0)]


# --- one sentence

HELD = "Trial 4 gave the highest result of the trials in which all constraints held, 3, noise included; "


@pytest.mark.parametrize(
    ("feasible", "x", "chance", "sentence"),
    [
        (
            True,
            1,
            0.935,
            "The recommended point is also the best seen, in trial 4; the model gives it a chance of 93.5 % to meet all"
            " constraints.",
        ),
        (
            True,
            2,
            0.75,
            f"{HELD}the recommended point has the highest estimate where they are believed to hold, with a chance of"
            " 75 % to meet all constraints.",
        ),
        (
            True,
            2,
            0.25,
            f"{HELD}the model believes in none, and the recommended point has the best chance: a chance of 25 % to meet"
            " all constraints.",
        ),
        (
            False,
            1,
            0.125,
            "In no trial did all constraints hold (trial 4 violated them least); the model gives the recommended point"
            " a chance of 12.5 % to meet all constraints.",
        ),
    ],
)
def test_why(feasible: bool, x: int, chance: float, sentence: str) -> None:
    best = BestSeen(4, {"x": 1}, 3.0, feasible)
    got = why_recommended({"x": x}, best, best_word="highest", certified=False, evaluated=True, feasibility=chance)
    assert got == sentence


def test_the_recommendation_carries_what_the_search_says(fitted: Make) -> None:
    method = fitted(incumbent=Incumbent(np.array([0.25, 0.5]), 2.0, feasibility=0.75))
    got = told(optimizer_of(method=method), (1.0, None)).recommend()
    assert got.estimated_feasibility == 0.75


# --- state


def run(optimizer: Optimizer, n: int) -> None:
    """With up to two pending, failures and replicates among them, two constraints from the fourth trial told on."""
    pending = [optimizer.ask()]
    for i in range(n):
        pending.append(optimizer.ask())
        trial = pending.pop(i % 2)
        x, y = trial.params["x"], trial.params["y"]
        value = (x - 0.7) ** 2 + (y - 0.6) ** 2
        constraints = None if i < 3 else {"sum": x + y - 1, "count": float(y > 0.5)}
        optimizer.tell(trial, FAILED if i % 7 == 5 else [value, value + 0.01], constraints=constraints)


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("n", [4, 14])
def test_a_run_rebuilt_from_its_state_goes_on_bit_for_bit(n: int, sort_keys: bool) -> None:
    optimizer = optimizer_of("minimize", space=Space(n=Int(1, 3), x=Float(0, 1), y=Float(0, 1)), seed=3)
    run(optimizer, n)
    state = json.loads(json.dumps(optimizer.state(), sort_keys=sort_keys, allow_nan=False))
    again = Optimizer.from_state(optimizer.space, state)
    assert again.trials == optimizer.trials
    assert again.best_seen == optimizer.best_seen
    assert again.recommend() == optimizer.recommend()
    for _ in range(3):
        assert again.ask() == optimizer.ask()
    assert again.state() == optimizer.state()


def test_states_from_before_there_were_constraints_load() -> None:
    optimizer = told(optimizer_of(), (1.0, None), (FAILED, None), ([1.0, 2.0], None))
    state = optimizer.state()
    for event in state["events"]:
        event.pop("constraints", None)
    assert Optimizer.from_state(PLANE, state).trials == optimizer.trials


def test_a_state_whose_names_do_not_fit_is_refused() -> None:
    state = told(optimizer_of(), (1.0, {"a": 1.0}), (1.0, {"a": 1.0})).state()
    state["events"][-1]["constraints"] = {"b": 1.0}
    with pytest.raises(InvalidInput, match=r"expected values of 'a', .* got 'b'"):
        Optimizer.from_state(PLANE, state)
