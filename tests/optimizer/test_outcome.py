"""What may be told of a trial."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import warnings
from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, QuadratWarning
from quadrat.optimizer import Estimate, Measured, Optimizer
from quadrat.optimizer.outcome import FAILED, Reading, ReplicateWatch, read_outcome
from quadrat.space import Float, Space

SPACE = Space(x=Float(0, 1))


class Scores(NamedTuple):
    """What an evaluation function of a user's may return."""

    accuracy: float
    latency: float


class Single(NamedTuple):
    """One number, with its name."""

    accuracy: float


class Tensor:
    """An array of another library, known by nothing but `__array__`."""

    def __init__(self, values: Any) -> None:
        self._array = np.array(values)

    def __repr__(self) -> str:  # pytest names a test after it, in every process alike
        return "Tensor()"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._array if dtype is None else self._array.astype(dtype)


PAIRS: list[Any] = [
    (0.9, 12.0),
    (0.9, -12.0),
    (1, 2),
    (np.float64(1.0), np.float32(0.5)),
    Scores(0.9, 12.0),
    ([0.9, 0.8], [12.0, 13.0]),
    (0.9, None),
    (math.nan, math.nan),
    ((0.9, 0.1), (12.0, 0.1)),
    (FAILED, 1.0),
]


@pytest.mark.parametrize(
    ("outcome", "values", "sem"),
    [
        (1, (1.0,), None),
        (0.5, (0.5,), None),
        (np.float32(0.5), (0.5,), None),
        (np.int64(3), (3.0,), None),
        (np.array(2.5), (2.5,), None),
        (np.array([2.5]), (2.5,), None),
        (Fraction(1, 4), (0.25,), None),
        ([1, 2], (1.0, 2.0), None),
        ([np.float64(1), 2], (1.0, 2.0), None),
        (np.array([1, 2, 3]), (1.0, 2.0, 3.0), None),
        (Decimal("0.25"), (0.25,), None),
        (np.array([2.5], dtype=np.float32), (2.5,), None),
        (Tensor([1.0, 2.0]), (1.0, 2.0), None),
        (Tensor(3.0), (3.0,), None),
        (Estimate(1, 2), (1.0,), 2.0),
        (Estimate(np.float64(1), np.float32(0.5)), (1.0,), 0.5),  # type: ignore[arg-type]
        (Estimate(Decimal("0.25"), Fraction(1, 4)), (0.25,), 0.25),  # type: ignore[arg-type]  # float() takes them
        (Estimate(np.array(2.5), np.array(0.5)), (2.5,), 0.5),  # type: ignore[arg-type]
        (Estimate(Tensor(2.5), 0.5), (2.5,), 0.5),  # type: ignore[arg-type]
        (Estimate(1.0, 1e-150), (1.0,), 1e-150),
        (Estimate(1.0, 1e150), (1.0,), 1e150),
    ],
)
def test_what_is_a_value(outcome: object, values: tuple[float, ...], sem: float | None) -> None:
    reading = read_outcome(outcome)
    assert reading == Reading(values, sem)
    assert all(type(value) is float for value in reading.values)


def test_a_column_of_a_table_is_replicates() -> None:
    pandas = pytest.importorskip("pandas")
    assert read_outcome(pandas.Series([1.0, 2.0], index=[7, 9])) == Reading((1.0, 2.0))
    with pytest.raises(InvalidInput, match=r"an array of shape \(1, 2\); replicates go in a list"):
        read_outcome(pandas.DataFrame({"accuracy": [0.9], "latency": [12.0]}))


def both_readings(message: str) -> bool:
    """Whether a message names what a pair may mean, and what to do in either case."""
    objectives = "several objectives yet; return one number, and tell a limit on the other as a constraint with qd.Meas"
    error = "a mean and its standard error: return qd.Estimate(value, sem), or tell(trial, value, sem=...)"
    return objectives in message and error in message


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_a_pair_is_refused_with_both_of_its_readings(pair: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_outcome(pair)
    assert both_readings(str(caught.value))
    assert f"got a tuple of 2, {pair!r:.80}" in str(caught.value)
    assert len(str(caught.value)) < 480  # failures keep so much of a message


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_a_pair_is_refused_wherever_it_is_told_and_leaves_no_trace(pair: Any) -> None:
    optimizer = Optimizer(SPACE, direction="maximize")
    trial = optimizer.ask()
    before = optimizer.state()
    for tell in (
        lambda: optimizer.tell(trial, pair),
        lambda: optimizer.tell(trial, Measured(pair)),
        lambda: optimizer.tell(trial, Measured(pair, {"memory": 1.0})),
        lambda: optimizer.tell(trial, pair, sem=0.1),
        lambda: optimizer.tell(trial, Estimate(pair, 0.1)),
        lambda: optimizer.add({"x": 0.5}, pair),
        lambda: optimizer.add_trials([{"x": 0.5}, {"x": 0.6}], [1.0, pair]),
    ):
        with pytest.raises(InvalidInput) as caught:
            tell()
        assert both_readings(str(caught.value))
        assert optimizer.state() == before
    assert str(caught.value).startswith("entry 1: outcome: ")


@pytest.mark.parametrize("optimize", [qd.maximize, qd.minimize])
def test_an_objective_that_returns_a_pair_is_told_so_at_once(optimize: Any) -> None:
    calls = []

    def objective(params: dict[str, Any]) -> tuple[float, float]:
        calls.append(params)
        return 0.9, 12.0

    with pytest.raises(
        InvalidInput, match=r"^objective: trial 0: outcome: .* got a tuple of 2, \(0.9, 12.0\)"
    ) as caught:
        optimize(objective, SPACE, n_trials=5)
    assert both_readings(str(caught.value))
    assert len(calls) == 1


@pytest.mark.parametrize("several", [(0.9, 12.0), Measured((0.9, 12.0)), {"accuracy": 0.9}], ids=repr)
def test_a_pair_after_values_ends_the_run_and_loses_nothing(several: Any) -> None:
    calls = []

    def objective(params: dict[str, Any]) -> Any:
        calls.append(params)
        return several if len(calls) == 3 else params["x"]

    result = qd.maximize(objective, SPACE, n_trials=9, method="RandomSearch")
    assert [record.state for record in result.trials] == ["complete", "complete", "failed"]
    assert result.message.startswith("stopped at trial 2 (outcome: expected ")
    assert result.message.endswith("after 3 trials")


def test_an_objective_may_return_an_estimate() -> None:
    result = qd.maximize(lambda p: Estimate(p["x"], 0.1), SPACE, n_trials=3, method="RandomSearch")
    assert [(record.value, record.sem) for record in result.trials] == [(r.params["x"], 0.1) for r in result.trials]
    with pytest.raises(InvalidInput, match=r"^objective: trial 0: sem: expected a positive"):
        qd.maximize(lambda p: Estimate(p["x"], 0.0), SPACE, n_trials=3, method="RandomSearch")


def test_a_standard_error_beside_a_number_is_an_estimate() -> None:
    one, other = (Optimizer(SPACE, direction="maximize") for _ in range(2))
    one.tell(one.ask(), 0.5, sem=0.1)
    other.tell(other.ask(), Estimate(0.5, 0.1))
    one.add({"x": 0.5}, np.float64(0.25), sem=np.float64(0.5))
    other.add({"x": 0.5}, Estimate(0.25, 0.5))
    one.tell(one.ask(), math.nan, sem=math.nan)
    other.tell(other.ask(), Estimate(math.nan, math.nan))
    one.tell(one.ask(), Measured(1.0, {"c": -1.0}), sem=0.1)
    other.tell(other.ask(), Measured(Estimate(1.0, 0.1), {"c": -1.0}))
    one.tell(one.ask(), 2.0, sem=0.1, constraints={"c": 1.0})
    other.tell(other.ask(), Estimate(2.0, 0.1), constraints={"c": 1.0})
    assert one.state() == other.state()
    assert [(r.values, r.sem) for r in one.trials] == [
        ((0.5,), 0.1),
        ((0.25,), 0.5),
        ((), None),
        ((1.0,), 0.1),
        ((2.0,), 0.1),
    ]


@pytest.mark.parametrize(
    ("value", "sem", "message"),
    [
        (
            [1.0, 2.0],
            0.1,
            r"^outcome: expected one number .* got replicates, \[1.0, 2.0\]; they carry their own spread",
        ),
        ([1.0], 0.1, "got replicates"),
        (np.array([1.0, 2.0]), 0.1, "got replicates"),
        (Tensor([1.0, 2.0]), 0.1, "got replicates"),
        (
            FAILED,
            0.1,
            "^outcome: expected one number beside a standard error, got FAILED; leave the standard error out",
        ),
        (Measured([1.0, 2.0]), 0.1, "got replicates"),
        (Measured(FAILED), 0.1, "got FAILED"),
        (Estimate(1.0, 0.1), 0.1, r"^sem: expected it once, got Estimate\(value=1.0, sem=0.1\) and sem=0.1; leave one"),
        (Measured(Estimate(1.0, 0.1)), 0.1, "^sem: expected it once"),
        ({"a": 1.0}, 0.1, "several objectives are not supported yet"),
        ("1.0", 0.1, "^outcome: expected one number beside a standard error, got '1.0'"),
        (1.0, 0.0, "^sem: expected a positive finite number, the standard error of the value, got 0.0; leave it out"),
        (1.0, -1.0, "^sem: expected a positive .* got -1.0"),
        (1.0, math.nan, "^sem: expected a positive .* got nan"),
        (1.0, math.inf, "^sem: expected a positive .* got inf"),
        (1.0, 1e-200, r"^sem: expected a positive finite .* from 1e-150 to 1e\+150, got 1e-200"),
        (1.0, 1e200, "^sem: expected a positive .* from 1e-150"),
        (1.0, "small", "^sem: expected a positive .* got 'small'"),
        (1.0, b"0.1", "^sem: expected a positive .* got b'0.1'"),
        (1.0, True, "^sem: expected a positive .* got True"),
        (1.0, (0.1, 0.2), "^sem: expected a positive"),
        (1.0, [0.1], "^sem: expected a positive"),
    ],
    ids=repr,
)
def test_where_a_standard_error_is_refused(value: Any, sem: Any, message: str) -> None:
    optimizer = Optimizer(SPACE, direction="maximize")
    trial = optimizer.ask()
    with pytest.raises(InvalidInput, match=message):
        optimizer.tell(trial, value, sem=sem)
    with pytest.raises(InvalidInput, match=message):
        optimizer.add({"x": 0.5}, value, sem=sem)
    assert [record.state for record in optimizer.trials] == ["pending"]


@pytest.mark.parametrize(
    ("value", "sem", "message"),
    [
        (1.0, None, "^sem: expected a positive finite number.* got None"),
        (1.0, -1.0, "^sem: .* got -1.0"),
        (1.0, 0.0, "^sem: .* got 0.0"),
        (1.0, math.nan, "^sem: .* got nan"),
        (1.0, math.inf, "^sem: .* got inf"),
        (1.0, "0.1", "^sem: .* got '0.1'"),
        ("1.0", 0.1, "^Estimate: value: expected one number beside a standard error, got '1.0'"),
        (None, 0.1, "^Estimate: value: .* got None"),
        ([1.0, 2.0], 0.1, "^Estimate: value: .* got replicates"),
        ((1.0, 2.0), 0.1, "^Estimate: value: expected one outcome, got a tuple of 2"),
        ((1.0, 2.0, 3.0), 0.1, "got a tuple of 3"),
        (FAILED, 0.1, "^Estimate: value: .* got FAILED; leave the standard error out"),
        (Estimate(1.0, 0.1), 0.1, "an Estimate stands alone"),
    ],
    ids=repr,
)
def test_an_estimate_that_is_none_is_refused_where_it_is_made(value: Any, sem: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Estimate(value, sem)


def test_an_estimate_is_a_value_that_travels() -> None:
    made = Estimate(1.0, 0.5)
    assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)  # noqa: S301  # our own bytes
    assert {made: 1}[Estimate(1.0, 0.5)] == 1
    assert repr(made) == "Estimate(value=1.0, sem=0.5)"
    assert qd.Estimate is Estimate
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.sem = 1.0  # type: ignore[misc]


def test_a_state_from_when_pairs_were_estimates_is_still_read() -> None:
    """Written by the version that read (0.5, 0.1) as a mean with its standard error: tell, add and add_trials."""
    ask = {"event": "ask", "by": "user"}
    tell: dict[str, Any] = {"event": "tell", "failure": None, "constraints": {}}
    state = {
        "version": 2,
        "direction": "minimize",
        "seed": 1,
        "space": {"x": {"type": "float", "low": 0.0, "high": 1.0}},
        "method": "RandomSearch()",
        "events": [
            {**ask, "number": 0, "params": {"x": 0.25}, "why": "chosen by the user"},
            {**tell, "number": 0, "values": [0.5], "sem": 0.1},
            {**ask, "number": 1, "params": {"x": 0.5}, "why": "told by the user"},
            {**tell, "number": 1, "values": [1.0, 2.0], "sem": None},
            {
                "event": "add_many",
                "number": 2,
                "why": "told by the user",
                "params": {"x": [0.75, 1.0]},
                "values": [2.0, None],
                "sem": [0.25, None],
                "failure": [None, "told nan"],
                "constraints": {},
            },
        ],
    }
    then = Optimizer.from_state(SPACE, state, method="RandomSearch")
    assert [(r.values, r.sem) for r in then.trials] == [((0.5,), 0.1), ((1.0, 2.0), None), ((2.0,), 0.25), ((), None)]
    now = Optimizer(SPACE, direction="minimize", method="RandomSearch", seed=1)
    now.tell(now.ask({"x": 0.25}), 0.5, sem=0.1)
    now.add({"x": 0.5}, [1.0, 2.0])
    now.add_trials([{"x": 0.75}, {"x": 1.0}], [Estimate(2.0, 0.25), math.nan])
    assert now.state() == {**state, "method_version": 1}, "states name the version of the method since"


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (FAILED, "told FAILED"),
        (float("nan"), "told nan"),
        (-np.inf, "told -inf"),
        (np.float32("nan"), "told nan"),
        ([1.0, np.nan, 2.0], "told nan among 3 replicates; leave out those that failed"),
        (Estimate(np.nan, np.nan), "told nan"),
        (Estimate(np.inf, 1.0), "told inf"),
        (Estimate(-np.inf, -1.0), "told -inf"),
        (Tensor([1.0, np.nan]), "told nan among 2 replicates; leave out those that failed"),
        (Decimal("nan"), "told nan"),
    ],
)
def test_what_is_a_failure(outcome: object, failure: str) -> None:
    assert read_outcome(outcome) == Reading(failure=failure)
    assert read_outcome(outcome, reason="it crashed") == Reading(failure="it crashed")


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (None, "got None"),
        (True, "got True"),
        (np.bool_(False), "got np.False_"),
        ("0.5", "got '0.5'"),
        (b"1", "got b'1'"),
        (1j, "got 1j"),
        (np.complex128(1), "got np.complex128"),
        (np.array(1j), "got np.complex128"),
        ([], "got nothing"),
        (np.array([]), "got nothing"),
        ([1.0, None], r"outcome\[1\]: expected .* got None"),
        ([True, False], r"outcome\[0\]"),
        (np.array([True, False]), r"outcome\[0\]"),
        (np.ones((2, 2)), r"shape \(2, 2\); replicates go in a list, or in an array with one axis"),
        (np.array([[1, 2]]), r"shape \(1, 2\); replicates go in a list"),
        (np.array([[1]]), r"shape \(1, 1\); replicates go in a list"),
        (Tensor([[1.0, 2.0]]), r"shape \(1, 2\); replicates go in a list"),
        ((), "got a tuple of 0, .*; tell FAILED where there is no value"),
        ((1.0,), "got a tuple of 1, .*; leave out the comma after the number; replicates go in a list"),
        (Single(1.0), "got a tuple of 1, Single"),
        ((1.0, 2.0, 3.0), "got a tuple of 3, .*; replicates go in a list; several objectives are not supported yet"),
        (
            [(1.0, 0.1)],
            r"^outcome: expected a plain number, .* got a tuple of 2, .*; several objectives are not supported",
        ),
        (
            [1.0, (2.0, 0.1)],
            r"^outcome\[1\]: expected a plain number, because the entries of a list are replicates, got a",
        ),
        ([Estimate(1.0, 0.1), 2.0], r"^outcome\[0\]: .* an Estimate stands alone"),
        ([[1.0, 2.0]], r"^outcome: expected a plain number, because the entries of a list are replicates, got \[1.0"),
        ([{"a": 1.0}], "several objectives are not supported yet"),
        ({"a": 1.0}, "several objectives are not supported yet: return one number, .* with qd.Measured"),
        ({}, "several objectives are not supported yet"),
        ({1.0, 2.0}, r"got \{1.0, 2.0\}; replicates go in a list"),
        (frozenset({1.0}), "replicates go in a list"),
        ((value for value in (1.0, 2.0)), "got <generator .*; replicates go in a list"),
        (range(2), "replicates go in a list"),
        (deque([1.0, 2.0]), "replicates go in a list"),
        (10**400, "expected a number"),
    ],
)
def test_what_is_refused(outcome: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_outcome(outcome)


def test_failed_is_one_object_wherever_it_travels() -> None:
    assert repr(FAILED) == "FAILED"
    assert pickle.loads(pickle.dumps(FAILED)) is FAILED  # noqa: S301  # our own bytes
    assert copy.deepcopy(FAILED) is FAILED


def watched(lists: Any) -> list[str]:
    """What is warned of where these lists are told."""
    watch = ReplicateWatch()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for values in lists:
            watch.see(Reading(tuple(values)))
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_honest_replicates_are_never_taken_for_objectives(noise: float, count: int) -> None:
    """2,000 runs each: a signal of deviation 1, Gaussian replicates; and positions with offsets, as folds have."""
    rng = np.random.default_rng(count)
    for _ in range(2000):
        replicates = rng.normal(size=(8, 1)) + noise * rng.normal(size=(8, count))
        assert not watched(replicates)
        assert not watched(replicates + 30 * rng.normal(size=count))


def test_objectives_in_a_list_are_told_of_once() -> None:
    rng = np.random.default_rng(0)
    told = [[rng.uniform(0.7, 0.9), rng.uniform(20, 90)] for _ in range(9)]
    [message] = watched(told)
    assert "are read as replicates of one number" in message
    assert "If they are objectives: several objectives are not supported yet: return one number" in message
    assert not watched([*told[:3], [0.5], *told])  # other lengths
    assert not watched([[0.0, 1.0]] * 6)  # no spread
    optimizer = Optimizer(SPACE, direction="maximize", method="RandomSearch", seed=0)
    for values in told[:7]:
        optimizer.tell(optimizer.ask(), values)
    with pytest.warns(QuadratWarning, match=r"^the lists told, such as \[0\."):
        optimizer.tell(optimizer.ask(), told[7])
    optimizer.tell(optimizer.ask(), told[8])
    with pytest.warns(QuadratWarning, match="replicates"):
        Optimizer(SPACE, direction="maximize").add_trials([{"x": i / 9} for i in range(9)], told)
