"""State: a run is rebuilt by replay, and its next suggestion is the same bit for bit."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.optimizer import FAILED, Optimizer, Trial
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
            outcomes: list[Any] = [value, [value, value + 0.1], (value, 0.1), FAILED, float("nan")]
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
