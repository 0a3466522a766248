"""Many results added at once from lists: what is taken in, what is refused, and that nothing is half-added."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.methods.auto.surrogate import LearnedModel
from quadrat.methods.base import Method, Observation
from quadrat.optimizer import FAILED, Estimate, Measured, Optimizer
from quadrat.optimizer.importing import plain_params
from quadrat.randomness import generator
from quadrat.space import Categorical, Fixed, Float, Int, Space

LINE = Space(x=Float(0, 1))
MIXED = Space(
    x=Float(1e-4, 1, log=True),
    n=Int(1, 4),
    kind=Categorical(["a", None, True]),
    depth=Float(0, 1, step=0.1, when={"kind": "a"}),
    device=Fixed("cpu"),
)
DEEP: dict[str, Any] = {"x": 0.5, "n": 2, "kind": "a", "depth": 0.3, "device": "cpu"}
FLAT: dict[str, Any] = {"x": 0.12345678901234567, "n": 4, "kind": None, "device": "cpu"}
Make = Callable[..., Method]


def optimizer_of(space: Space = LINE, direction: str = "maximize", **options: Any) -> Optimizer:
    return Optimizer(space, direction=direction, method=options.pop("method", "RandomSearch"), **options)


def rebuilt(optimizer: Optimizer) -> Optimizer:
    """The optimizer after a trip through a file."""
    state = json.loads(json.dumps(optimizer.state()))
    return Optimizer.from_state(optimizer.space, state, method=optimizer.method)


def line(*xs: float) -> list[dict[str, float]]:
    return [{"x": x} for x in xs]


# --- what is taken in


def test_the_records_are_those_of_one_add_after_another() -> None:
    outcomes: list[Any] = [1.5, [1.0, 2.0], Estimate(3.0, 0.1), float("nan"), FAILED, np.float32(0.5), 2]
    outcomes.append(np.array([1.0, 4.0]))
    params = [DEEP, FLAT] * 4
    one_by_one, at_once = (optimizer_of(MIXED, "minimize") for _ in range(2))
    for given, outcome in zip(params, outcomes, strict=True):
        one_by_one.add(given, outcome)
    assert at_once.add_trials(params, outcomes) == range(8)
    assert at_once.trials == one_by_one.trials
    assert at_once.best_seen == one_by_one.best_seen
    assert at_once.recommend() == one_by_one.recommend()
    assert at_once.ask() == one_by_one.ask()


def test_numbers_go_on_and_pending_trials_stay() -> None:
    optimizer = optimizer_of()
    trial = optimizer.ask()
    assert optimizer.add_trials(line(0.25, 0.5), [1.0, FAILED]) == range(1, 3)
    optimizer.tell(trial, 2.0)
    assert [record.state for record in optimizer.trials] == ["complete", "complete", "failed"]
    assert optimizer.ask().number == 3
    assert optimizer.trials[1].why == "told by the user"


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, float("nan")],
        (1.0, 2.0, float("nan")),  # a tuple here is a collection; a mean with its error would be within it
        np.array([1.0, 2.0, np.nan]),
        np.array([1.0, 2.0, np.nan], dtype=np.float32),
        (value for value in (1.0, 2.0, FAILED)),
    ],
)
def test_collections_of_values(values: Any) -> None:
    optimizer = optimizer_of()
    optimizer.add_trials(({"x": x} for x in (0.1, 0.2, 0.3)), values)
    assert [record.values for record in optimizer.trials] == [(1.0,), (2.0,), ()]


def test_a_matrix_of_values_has_the_replicates_of_a_trial_in_a_row() -> None:
    optimizer = optimizer_of()
    optimizer.add_trials(line(0.1, 0.2), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]]))
    assert [record.values for record in optimizer.trials] == [(1.0, 2.0, 3.0), ()]
    assert optimizer.trials[1].failure == "told nan among 3 replicates; leave out those that failed"


def test_nothing_to_add_changes_nothing() -> None:
    optimizer = optimizer_of()
    before = optimizer.state()
    assert optimizer.add_trials([], []) == range(0)
    assert optimizer.state() == before


def test_what_the_caller_keeps_is_the_callers_own() -> None:
    optimizer, params, values = optimizer_of(), line(0.1, 0.2), [[1.0, 2.0], [3.0, 4.0]]
    optimizer.add_trials(params, values)
    params[0]["x"] = 7.0
    values[0].clear()
    assert optimizer.trials[0].params == {"x": 0.1}
    assert rebuilt(optimizer).trials == optimizer.trials


def test_a_result_may_lie_where_the_known_constraint_forbids_asking() -> None:
    optimizer = optimizer_of(LINE.subject_to(lambda params: params["x"] < 0.5))
    optimizer.add_trials(line(0.1, 0.9), [1.0, 2.0])
    assert optimizer.best_seen is not None
    assert optimizer.best_seen.params == {"x": 0.1}, "what may not be used is not the best"
    assert optimizer.ask().params["x"] < 0.5


def test_failures_are_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        optimizer_of().add_trials(line(0.1, 0.2, 0.3), [FAILED, 1.0, float("inf")])
    assert [record.getMessage() for record in caplog.records] == ["2 of the 3 trials added had failed"]


# --- plain data


def test_numpy_and_integers_that_became_floats_are_python_s_own_after_that() -> None:
    given = {"x": np.float64(0.5), "n": np.int64(2), "kind": np.str_("a"), "depth": 0.1 + 0.2, "device": "cpu"}
    (plain,) = plain_params([given], MIXED)
    assert plain == DEEP
    assert [type(value) for value in plain.values()] == [float, int, str, float, str]
    assert type(plain_params([{**FLAT, "n": 3.0, "kind": 1}], MIXED)[0]["n"]) is int
    assert plain_params([FLAT], MIXED) == [FLAT]  # every bit of a float


def test_params_of_numpy_s_types_can_be_written_to_a_file_whichever_way_they_come_in() -> None:
    optimizer = optimizer_of(Space(n=Int(1, 9)))
    optimizer.add({"n": np.int64(1)}, 1.0)
    optimizer.tell(optimizer.ask({"n": np.int64(2)}), 2.0)
    optimizer.add_trials([{"n": np.int64(3)}], [3.0])
    assert rebuilt(optimizer).trials == optimizer.trials
    assert [record.params["n"] for record in optimizer.trials] == [1, 2, 3]


# --- the search


def test_the_search_is_told_once_in_order_and_then_of_failures(scripted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = optimizer_of(direction="minimize", method=scripted())
    log: list[object] = []

    def tell_many(observations: Sequence[Observation]) -> None:
        log.append([(one.number, one.x.tolist(), one.values.tolist(), one.variance) for one in observations])

    monkeypatch.setattr(optimizer._search, "tell_many", tell_many)
    monkeypatch.setattr(optimizer._search, "fail", lambda number, x: log.append((number, x.tolist())))
    optimizer.add_trials(line(0.1, 0.2, 0.3, 0.4), [FAILED, [1.0, 2.0], float("nan"), Estimate(3.0, 0.5)])
    assert log == [[(1, [0.2], [-1.0, -2.0], None), (3, [0.4], [-3.0], 0.25)], (0, [0.1]), (2, [0.3])]
    log.clear()
    optimizer.add_trials(line(0.5), [FAILED])
    assert log == [(4, [0.5])]  # a search is not told of no trials


def test_a_search_that_does_not_say_how_is_told_one_after_another(scripted: Make) -> None:
    method = scripted()
    optimizer_of(method=method).add_trials(line(0.1, 0.2), [1.0, 2.0])
    log = method.log  # type: ignore[attr-defined]
    assert log == [("tell", (0, [0.1], [1.0], None)), ("tell", (1, [0.2], [2.0], None))]


def test_points_that_failed_before_are_not_asked_again(scripted: Make) -> None:
    space = Space(n=Int(1, 4))
    optimizer = optimizer_of(space, method=scripted(points=((0.9,),) * 4))
    optimizer.add_trials([{"n": 4}, {"n": 3}], [FAILED, 1.0])
    trial = optimizer.ask()
    assert trial.params != {"n": 4}
    assert "moved to a neighbour" in trial.why


# --- constraints


def test_constraints_one_mapping_a_trial_sorted_by_name() -> None:
    params = line(0.1, 0.2, 0.3, 0.4, 0.5)
    constraints: list[Any] = [
        None,
        {"b": 1.0, "a": -1.0},
        {"a": -2, "b": np.float32(-0.5)},
        None,
        {"b": float("nan"), "a": 0.0},
    ]
    one_by_one, at_once = (optimizer_of(method="Auto") for _ in range(2))
    values: list[Any] = [9.0, 3.0, 2.0, FAILED, 1.0]
    for given, value, told in zip(params, values, constraints, strict=True):
        one_by_one.add(given, value, constraints=told)
    at_once.add_trials(params, values, constraints=constraints)
    assert at_once.trials == one_by_one.trials
    assert at_once.best_seen == one_by_one.best_seen
    assert [list(record.constraints) for record in at_once.trials] == [[], ["a", "b"], ["a", "b"], [], []]
    assert at_once.trials[4].failure == "told nan for the constraint 'b'"
    assert at_once.best_seen is not None
    assert (at_once.best_seen.number, at_once.best_seen.feasible) == (2, True)


def test_values_may_be_measured() -> None:
    optimizer = optimizer_of(method="Auto")
    optimizer.add_trials(line(0.1, 0.2), [Measured(1.0, {"c": 0.5}), Measured([2.0, 3.0], {"c": -0.5})])
    assert [record.constraints for record in optimizer.trials] == [{"c": 0.5}, {"c": -0.5}]


# --- what is refused, and that nothing changes then


@pytest.mark.parametrize(
    ("params", "values", "options", "message"),
    [
        (line(0.1, 2.0), [1.0, 1.0], {}, r"^entry 1: params: parameter 'x': .* got 2\.0; skip_outside=True"),
        ([{"x": 0.1}, {}], [1.0, 1.0], {}, "^entry 1: params: expected a value for 'x', .* got nothing"),
        ([{"x": 0.1, "y": 1}], [1.0], {}, "^entry 0: params: unknown parameter 'y'"),
        ([{"x": 0.1}, None], [1.0, 1.0], {}, r"^params\[1\]: expected a mapping from names to values, got None"),
        (line(0.1, 0.2), [1.0], {}, "^values: expected 2, one for each trial in params, got 1; .* put FAILED"),
        (line(0.1), 1.0, {}, r"^values: expected a list of outcomes, one for each of params, got 1\.0"),
        (line(0.1), np.array(1.0), {}, "^values: expected a list of outcomes"),
        (line(0.1), None, {}, "^values: expected a list of outcomes, .* got None"),
        (line(0.1), "score", {}, "^values: expected a list of outcomes, .* got 'score'"),
        ({"x": 0.1}, 1.0, {}, r"^params: expected a list of mappings .* one trial goes through add\("),
        (line(0.1, 0.2), [1.0, None], {}, "^entry 1: outcome: expected a number.* got None"),
        (line(0.1, 0.2), [1.0, True], {}, "^entry 1: outcome: expected a number.* got True"),
        (line(0.1, 0.2), np.array([1.0, None]), {}, "^entry 1: outcome: expected a number"),
        (line(0.1, 0.2), [1.0, 1.0], {"constraints": [{"c": 1.0}]}, "^constraints: expected 2, .* put None"),
        (line(0.1, 0.2), [1.0, 1.0], {"constraints": {"c": [1.0, 1.0]}}, "^constraints: expected a list of mappings"),
        (line(0.1, 0.2), [1.0, 1.0], {"constraints": [{"c": 1.0}, 3]}, "^entry 1: constraints: expected a mapping"),
        (line(0.1, 0.2), [1.0, 1.0], {"constraints": [{"c": 1.0}, None]}, "^entry 1: .* expected values of 'c'"),
        (line(0.1, 0.2), [1.0, 1.0], {"constraints": [{"c": 1.0}, {"d": 1.0}]}, "^entry 1: .* got 'd'"),
        (line(0.1), [Measured(1.0, {"c": 1.0})], {"constraints": [{"c": 1.0}]}, "^entry 0: .* expected them once"),
    ],
)  # fmt: skip
def test_where_anything_is_refused_nothing_was_added(
    params: Any, values: Any, options: dict[str, Any], message: str
) -> None:
    optimizer = optimizer_of(method="Auto")
    optimizer.add({"x": 0.5}, 1.0)
    before, told = optimizer.state(), optimizer.explain()
    with pytest.raises(InvalidInput, match=message):
        optimizer.add_trials(params, values, **options)
    assert optimizer.state() == before
    assert optimizer.explain() == told
    assert optimizer.add_trials(line(0.1), [1.0], constraints=[{"e": 1.0}]) == range(1, 2)  # nor was a name kept


def test_a_method_that_would_ignore_constraints_is_refused() -> None:
    optimizer = optimizer_of()
    with pytest.raises(InvalidInput, match=r"^entry 1: constraints: expected a method that handles them"):
        optimizer.add_trials(line(0.1, 0.2), [1.0, 1.0], constraints=[None, {"c": 1.0}])
    assert not optimizer.trials


def test_trials_outside_the_space_can_be_left_out(caplog: pytest.LogCaptureFixture) -> None:
    optimizer = optimizer_of()
    params = [*line(0.1, 7.0, 0.2), {"y": 0.1}, *line(0.3), {}]
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        numbers = optimizer.add_trials(params, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], skip_outside=True)
    assert numbers == range(3)
    assert [(record.params["x"], record.value) for record in optimizer.trials] == [(0.1, 0.0), (0.2, 2.0), (0.3, 4.0)]
    assert "left out 3 of 6 trials, the first: entry 1: params: parameter 'x': expected" in caplog.text
    assert optimizer.add_trials(line(7.0), [1.0], skip_outside=True) == range(3, 3)
    with pytest.raises(InvalidInput, match="entry 2: outcome"):  # only parameters may be wrong
        optimizer.add_trials(line(7.0, 0.5, 0.5), [None, 1.0, None], skip_outside=True)  # type: ignore[list-item]


def test_every_way_to_be_outside_is_found() -> None:
    """Against one check at a time: wrong values, unknown names, missing ones, and ones that do not exist there."""
    rng = generator(4)
    params = MIXED.sample(200, rng)
    for given in params:
        change = int(rng.integers(10))
        if change == 0:
            given["x"] = [7.0, "0.5", None, [0.5], float("nan")][int(rng.integers(5))]
        elif change == 1:
            given["y"] = 1.0
        elif change == 2:
            del given[list(given)[int(rng.integers(len(given)))]]
        elif change == 3:
            given["depth"] = 0.5
    inside = []
    for given in params:
        try:
            MIXED.to_unit(given)
        except InvalidInput:
            continue
        inside.append(given)
    optimizer = optimizer_of(MIXED)
    optimizer.add_trials(params, [1.0] * 200, skip_outside=True)
    assert 120 < len(inside) < 160
    assert [record.params for record in optimizer.trials] == inside


# --- state


@pytest.mark.parametrize("method", ["RandomSearch", "SobolSearch", "Heuristic"])
def test_a_run_with_many_results_is_rebuilt_bit_for_bit(method: str) -> None:
    """Conditional parameters, replicates, standard errors and failures among them; asks before and after."""
    optimizer = optimizer_of(MIXED, "minimize", method=method, seed=5)
    rng = generator(1)
    pending = optimizer.ask()
    params = MIXED.sample(30, rng)
    outcomes: list[Any] = []
    for i, value in enumerate(rng.normal(size=30).tolist()):
        outcomes.append([value, [value, value + 0.1], Estimate(value, 0.1), FAILED, float("nan")][i % 5])
    optimizer.add_trials([*params, FLAT], [*outcomes, -0.0])
    optimizer.tell(optimizer.ask(), 1.0)
    optimizer.add_trials([DEEP], [2.0])
    again = rebuilt(optimizer)
    assert again.state() == optimizer.state()
    assert again.trials == optimizer.trials
    assert again.recommend() == optimizer.recommend()
    again.tell(pending, 0.5)
    optimizer.tell(pending, 0.5)
    assert again.ask() == optimizer.ask()


def test_constraints_come_back_from_a_file() -> None:
    optimizer = optimizer_of(method="Auto")
    constraints: list[Any] = [None, {"b": 1.0, "a": -1.0}, None]
    optimizer.add_trials(line(0.1, 0.2, 0.3), [1.0, 2.0, FAILED], constraints=constraints)
    optimizer.add_trials(line(0.4), [1.0], constraints=[{"a": -1.0, "b": -1.0}])
    again = rebuilt(optimizer)
    assert again.trials == optimizer.trials
    assert again.best_seen == optimizer.best_seen
    with pytest.raises(InvalidInput, match="expected values of 'a', 'b'"):
        again.add_trials(line(0.5), [1.0])
    assert again.ask() == optimizer.ask()


def test_the_log_has_one_event_with_columns() -> None:
    optimizer = optimizer_of(MIXED)
    optimizer.add_trials([DEEP, FLAT, DEEP], [1.0, [2.0, 3.0], FAILED])
    (event,) = optimizer.state()["events"]
    assert event == {
        "event": "add_many",
        "number": 0,
        "why": "told by the user",
        "params": {
            "x": [0.5, 0.12345678901234567, 0.5],
            "n": [2, 4, 2],
            "kind": ["a", None, "a"],
            "depth": {"rows": [0, 2], "values": [0.3, 0.3]},
            "device": ["cpu", "cpu", "cpu"],
        },
        "values": [1.0, [2.0, 3.0], None],
        "sem": None,
        "failure": [None, None, "told FAILED"],
        "constraints": {},
    }


@pytest.mark.parametrize(
    "change",
    [
        {"values": [1.0]},
        {"values": None},
        {"failure": [None]},
        {"params": {"x": [0.1]}},
        {"params": {"x": {"rows": [0, 5], "values": [0.1, 0.2]}}},
        {"params": {"x": [0.1, 7.0]}},
        {"params": [0.1, 0.2]},
        {"constraints": {"c": [1.0]}},
    ],
)
def test_a_damaged_event_is_refused(change: dict[str, Any]) -> None:
    optimizer = optimizer_of()
    optimizer.add_trials(line(0.1, 0.2), [1.0, 2.0])
    state = optimizer.state()
    state["events"][0].update(change)
    with pytest.raises(InvalidInput, match=r"expected an event of Optimizer|params\[1\]: "):
        Optimizer.from_state(LINE, state, method="RandomSearch")


def test_twenty_thousand_trials() -> None:
    """Loaded, answered, written and rebuilt; every sixteenth failed."""
    space = Space(**{f"x{i}": Float(1e-3, 1, log=i % 2 == 0) for i in range(6)})
    params = space.sample(20_000, generator(0))
    values = generator(1).normal(size=20_000)
    values[::16] = np.nan
    optimizer = optimizer_of(space, "minimize")
    assert optimizer.add_trials(params, values) == range(20_000)
    best = optimizer.best_seen
    assert best is not None
    assert best.number == int(np.nanargmin(values))
    assert best.params == params[best.number]
    again = rebuilt(optimizer)
    assert again.trials == optimizer.trials
    assert again.ask() == optimizer.ask()


def test_constraints_of_many_trials_are_learned_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit for the search, one for statements and one for each constraint, however many trials are added."""
    fits: list[LearnedModel] = []
    learn = LearnedModel._learn

    def counted(model: LearnedModel, *args: Any, **kind: Any) -> Any:
        fits.append(model)
        return learn(model, *args, **kind)

    monkeypatch.setattr(LearnedModel, "_learn", counted)
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", seed=0)
    places = [{"x": i / 30} for i in range(31)]
    limits = [{"load": place["x"] - 0.6, "heat": 0.1 - place["x"]} for place in places]
    optimizer.add_trials(places, [place["x"] for place in places], constraints=limits)
    found = optimizer.recommend()
    assert len(fits) == 4
    assert found.params["x"] == pytest.approx(0.6, abs=0.05)
