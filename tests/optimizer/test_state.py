"""State: a run is rebuilt by replay, and its next suggestion is the same bit for bit."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Estimate, Optimizer, Trial
from quadrat.randomness import generator
from quadrat.space import Categorical, Fixed, Float, Int, Space

SPACE = Space(
    x=Float(1e-4, 1, log=True),
    n=Int(1, 4),
    kind=Categorical(["a", None, True]),
    depth=Float(0, 1, when={"kind": "a"}),
    device=Fixed("cpu"),
)


def value_of(params: dict[str, Any]) -> float:
    return float(params["x"] * params["n"] + (params["kind"] == "a"))


def rebuilt(optimizer: Optimizer, space: Space = SPACE) -> Optimizer:
    """The optimizer after a trip through a file."""
    return Optimizer.from_state(space, json.loads(json.dumps(optimizer.state())), method=optimizer.method)


@pytest.mark.parametrize("method", ["RandomSearch", "Heuristic"])
def test_rebuilding_after_every_event_gives_the_same_next_suggestion(method: str) -> None:
    """Asks and tells interleaved at random, up to four pending, a failure now and then, one outcome not asked for."""
    optimizer = Optimizer(SPACE, direction="minimize", method=method, seed=3)
    rng = generator(11)
    pending: list[Trial] = []
    for event in range(26):
        if len(pending) < 4 and (not pending or rng.random() < 0.5):
            pending.append(optimizer.ask())
        else:
            trial = pending.pop(int(rng.integers(len(pending))))
            value = value_of(trial.params)
            outcomes: list[Any] = [value, [value, value + 0.1], Estimate(value, 0.1), FAILED, float("nan")]
            optimizer.tell(trial, outcomes[int(rng.integers(len(outcomes)))])
        if event == 10:
            optimizer.add({"x": 0.12345678901234567, "n": 2, "kind": None, "device": "cpu"}, 0.5)
        again, twice = rebuilt(optimizer), rebuilt(optimizer)
        assert again.state() == optimizer.state()
        assert again.trials == optimizer.trials
        # The next suggestion of the original must not be spent here: two rebuilt runs are compared with each other,
        # and with the original at its own next ask below.
        expected = again.ask()
        assert twice.ask() == expected
        if len(pending) < 4:
            pending.append(optimizer.ask())
            assert pending[-1] == expected
        if optimizer.best_seen is not None:
            assert rebuilt(optimizer).recommend() == optimizer.recommend()


def test_a_trial_asked_before_can_be_told_to_the_rebuilt_run() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method="RandomSearch")
    trial = optimizer.ask()
    again = rebuilt(optimizer)
    again.tell(trial, 1.0)
    assert again.trials[0].value == 1.0


def test_looking_changes_nothing() -> None:
    """Recommendations, certificates and explanations do not move the next suggestion."""
    looked, blind = (Optimizer(SPACE, direction="maximize", method="ExpectedImprovement", seed=1) for _ in range(2))
    for _ in range(7):
        for optimizer in (looked, blind):
            trial = optimizer.ask()
            optimizer.tell(trial, value_of(trial.params))
        looked.recommend()
        looked.certificate()
        looked.explain()
        looked.state()
    assert looked.ask() == blind.ask()


def test_the_state_is_a_copy() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method="RandomSearch")
    optimizer.ask()
    optimizer.state()["events"][0]["params"].clear()
    optimizer.state()["events"].clear()
    assert rebuilt(optimizer).trials == optimizer.trials


def test_a_state_of_something_else_is_refused() -> None:
    state = Optimizer(SPACE, direction="maximize", method="RandomSearch").state()
    with pytest.raises(InvalidInput, match=r"expected a state of the method SobolSearch.*pass that one as method="):
        Optimizer.from_state(SPACE, state, method="SobolSearch")
    with pytest.raises(InvalidInput, match=r"expected a state of Space\(x=Float\(0.0, 2.0\)\), got one of Space"):
        Optimizer.from_state(Space(x=Float(0, 2)), state, method="RandomSearch")
    with pytest.raises(InvalidInput, match=r"expected what Optimizer\.state"):
        Optimizer.from_state(SPACE, {}, method="RandomSearch")
    with pytest.raises(InvalidInput, match="got none called seed"):
        Optimizer.from_state(SPACE, {k: v for k, v in state.items() if k != "seed"}, method="RandomSearch")
    with pytest.raises(InvalidInput, match=r"expected an event of Optimizer\.state"):
        Optimizer.from_state(SPACE, {**state, "events": [{"event": "ask"}]}, method="RandomSearch")


def test_where_another_machine_suggests_otherwise_what_was_evaluated_counts(caplog: pytest.LogCaptureFixture) -> None:
    space = Space(x=Float(0, 1))
    optimizer = Optimizer(space, direction="maximize", method="RandomSearch")
    optimizer.tell(optimizer.ask(), 1.0)
    state = optimizer.state()
    state["events"][0]["params"]["x"] = 0.125
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        again = Optimizer.from_state(space, state, method="RandomSearch")
    assert again.recommend().params == {"x": 0.125}
    assert "this machine suggests" in caplog.text


# --- states of earlier versions, and what replay costs

OLD_SPACE = Space(n=Int(1, 4), x=Float(1e-4, 1, log=True))
OLD_STATE = """
{
 "version": 1, "direction": "minimize", "seed": 3, "method": "RandomSearch()",
 "space": {"n": {"type": "int", "low": 1, "high": 4}, "x": {"type": "float", "low": 0.0001, "high": 1.0, "log": true}},
 "events": [
  {"event": "ask", "number": 0, "by": "method", "params": {"n": 3, "x": 0.003271247550211}, "why": "uniform",
   "pending": [], "failed": []},
  {"event": "ask", "number": 1, "by": "method", "params": {"n": 1, "x": 0.03388874971452}, "why": "uniform",
   "pending": [0], "failed": []},
  {"event": "tell", "number": 1, "values": [], "sem": null, "failure": "out of memory", "constraints": {}},
  {"event": "ask", "number": 2, "by": "method", "params": {"n": 1, "x": 0.0002389534018389}, "why": "uniform",
   "pending": [0], "failed": [1]},
  {"event": "tell", "number": 0, "values": [0.5, 0.25], "sem": null, "failure": null},
  {"event": "ask", "number": 3, "by": "user", "params": {"n": 2, "x": 0.12345678901234566},
   "why": "told by the user", "pending": [2], "failed": [1]},
  {"event": "tell", "number": 3, "values": [1.5], "sem": 0.1, "failure": null, "constraints": {}},
  {"event": "ask", "number": 4, "by": "method", "params": {"n": 4, "x": 0.0003441419414369}, "why": "uniform",
   "pending": [2], "failed": [1]}
 ]
}
"""


def test_a_state_of_version_1_is_read_and_goes_on_as_it_did_then(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        optimizer = Optimizer.from_state(OLD_SPACE, json.loads(OLD_STATE), method="RandomSearch")
    assert [record.state for record in optimizer.trials] == ["complete", "failed", "pending", "complete", "pending"]
    assert (optimizer.trials[0].values, optimizer.trials[1].failure) == ((0.5, 0.25), "out of memory")
    assert (optimizer.trials[3].sem, optimizer.trials[3].params["x"]) == (0.1, 0.12345678901234566)
    assert "this machine suggests" not in caplog.text
    now = optimizer.state()
    assert now["version"] == 2
    assert all("pending" not in event and "failed" not in event for event in now["events"])
    trial = optimizer.ask()
    assert (trial.number, trial.params) == (5, {"n": 4, "x": 0.4115434801235})  # what that version asked next


def asked_by_replay(optimizer: Optimizer, *, leaves_no_trace: bool, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the search is asked while the run is rebuilt."""
    state, method = optimizer.state(), optimizer.method
    log = method.log  # type: ignore[attr-defined]
    log.clear()
    kind = type(optimizer._search)
    monkeypatch.setattr(kind, "asking_changes_nothing", leaves_no_trace)
    again = Optimizer.from_state(optimizer.space, state, method=method)
    assert again.trials == optimizer.trials
    return [pending for what, pending in log if what == "ask"]


def test_replay_asks_every_time_or_once_where_asking_leaves_no_trace(
    scripted: Callable[..., Method], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last ask by the method is made again in either case, with what was pending and failed then."""
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", method=scripted(), seed=1)
    first, second = optimizer.ask(), optimizer.ask()
    optimizer.tell(first, FAILED)
    optimizer.add_trials([{"x": 0.25}, {"x": 0.75}], [FAILED, 1.0])
    third = optimizer.ask()
    optimizer.tell(second, 1.0)
    optimizer.ask({"x": 0.5})
    points = [trial.params["x"] for trial in (first, second, third)]
    asked = [[], [points[:1]], [[points[1]], [points[0]], [0.25]]]
    assert asked_by_replay(optimizer, leaves_no_trace=False, monkeypatch=monkeypatch) == asked
    assert asked_by_replay(optimizer, leaves_no_trace=True, monkeypatch=monkeypatch) == asked[-1:]


@pytest.mark.parametrize("method", ["RandomSearch", "SobolSearch"])
def test_these_searches_leave_no_trace_when_asked(method: str) -> None:
    asked, silent = (Optimizer(SPACE, direction="maximize", method=method, seed=2)._search for _ in range(2))
    assert asked.asking_changes_nothing
    nothing = generator(0).random((0, SPACE.dimension))
    for number in (0, 1, 5, 3, 17):
        asked.ask(number, nothing)
    for number in (2, 40, 18):
        assert asked.ask(number, nothing).x.tobytes() == silent.ask(number, nothing).x.tobytes()


def test_the_log_does_not_grow_with_failures() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method="RandomSearch")
    sizes = []
    for _ in range(40):
        optimizer.tell(optimizer.ask(), FAILED)
        sizes.append(len(json.dumps(optimizer.state()["events"][-2:])))
    assert max(sizes) - min(sizes) < 50  # digits


def test_points_of_many_are_those_of_one_each_bit_for_bit() -> None:
    """Replay computes all points at once, an ask computes its own: what a search sees must be the same."""
    params = SPACE.sample(1000, generator(8))
    assert SPACE.to_units(params).tobytes() == b"".join(SPACE.to_unit(given).tobytes() for given in params)


@pytest.mark.parametrize(
    "event",
    [
        {"event": "dance"},
        {"event": []},
        {"number": 0},
        "ask",
        {"event": "ask", "number": 0, "by": "method", "why": ""},
        {"event": "tell", "number": "0", "values": [1.0], "sem": None, "failure": None},
    ],
)
def test_what_is_no_event_is_refused(event: object) -> None:
    state = {**Optimizer(SPACE, direction="maximize", method="RandomSearch").state(), "events": [event]}
    with pytest.raises(InvalidInput, match=r"expected an event of Optimizer\.state\(\), got "):
        Optimizer.from_state(SPACE, state, method="RandomSearch")


def test_events_that_do_not_fit_are_refused() -> None:
    state = Optimizer(SPACE, direction="maximize", method="RandomSearch").state()
    ask = {"event": "ask", "number": 0, "by": "user", "why": "", "params": {"x": 7.0}}
    with pytest.raises(InvalidInput, match=r"state: params\[0\]: "):
        Optimizer.from_state(SPACE, {**state, "events": [ask]}, method="RandomSearch")
    with pytest.raises(InvalidInput, match="state: expected a list of events, got 3"):
        Optimizer.from_state(SPACE, {**state, "events": 3}, method="RandomSearch")
    with pytest.raises(InvalidInput, match="version 1 or 2, got"):
        Optimizer.from_state(SPACE, {**state, "version": 3}, method="RandomSearch")
