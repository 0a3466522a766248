"""Results in an Optuna study: which trials are taken, as what, and what is refused."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.optimizer import Optimizer
from quadrat.space import Categorical, Float, Int, Space

SPACE = Space(x=Float(0, 1), kind=Categorical(["a", "b"]), n=Int(1, 9, when={"kind": "a"}))


class State(Enum):
    RUNNING = 0
    COMPLETE = 1
    PRUNED = 2
    FAIL = 3
    WAITING = 4


class Way(Enum):
    MINIMIZE = 1
    MAXIMIZE = 2


@dataclass
class FakeTrial:
    number: int
    state: Any
    params: dict[str, Any]
    value: float | None = None
    constraints: dict[str, float] = field(default_factory=dict)


@dataclass
class FakeStudy:
    trials: list[Any]
    directions: list[Any] = field(default_factory=lambda: [Way.MINIMIZE])


class OldTrial:
    """A trial of Optuna 4, whose constraints are a list among its attributes."""

    def __init__(self, number: int, constraints: list[float]) -> None:
        self.number, self.state, self.value = number, State.COMPLETE, 1.0
        self.params = {"x": 0.1 * number, "kind": "b"}
        self.system_attrs = {"constraints": constraints}


def deep(x: float) -> dict[str, Any]:
    return {"x": x, "kind": "a", "n": 3}


def flat(x: float) -> dict[str, Any]:
    return {"x": x, "kind": "b"}


def optimizer_of(direction: str = "minimize", method: str = "RandomSearch") -> Optimizer:
    return Optimizer(SPACE, direction=direction, method=method)


def test_finished_trials_are_taken_with_their_states(caplog: pytest.LogCaptureFixture) -> None:
    study = FakeStudy(
        [
            FakeTrial(0, State.COMPLETE, deep(0.1), 1.0),
            FakeTrial(1, State.RUNNING, deep(0.2)),
            FakeTrial(2, State.FAIL, flat(0.3)),
            FakeTrial(3, State.PRUNED, flat(0.4), 4.0),
            FakeTrial(4, State.PRUNED, flat(0.5)),
            FakeTrial(9, State.PRUNED, {}),
            FakeTrial(5, State.WAITING, {}),
            FakeTrial(6, State.COMPLETE, flat(0.6), float("inf")),
        ]
    )
    optimizer = optimizer_of()
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        assert optimizer.add_trials(study) == range(3)
    assert "left out 3 of 8 trials, which were pruned and have no result" in caplog.text
    got = [(record.params["x"], record.state, record.value, record.failure) for record in optimizer.trials]
    assert got == [
        (0.1, "complete", 1.0, None),
        (0.3, "failed", None, "failed in the study"),
        (0.6, "failed", None, "told inf"),
    ]


def test_replicates_and_standard_errors_of_a_study_come_along() -> None:
    several = FakeTrial(0, State.COMPLETE, flat(0.1), 1.5)
    estimated = FakeTrial(1, State.COMPLETE, flat(0.2), 2.0)
    for trial, noted in ((several, {"quadrat:values": [1.0, 2.0]}), (estimated, {"quadrat:sem": 0.25})):
        object.__setattr__(trial, "user_attrs", noted)
    optimizer = optimizer_of()
    optimizer.add_trials(FakeStudy([several, estimated]))
    assert [(record.values, record.sem) for record in optimizer.trials] == [((1.0, 2.0), None), ((2.0,), 0.25)]


def test_a_study_may_say_its_direction_in_words_and_alone() -> None:
    class Plain:
        trials = (FakeTrial(0, "COMPLETE", flat(0.1), 1.0),)
        direction = "maximize"

    assert optimizer_of("maximize").add_trials(Plain()) == range(1)


def test_constraints_come_along() -> None:
    study = FakeStudy([FakeTrial(i, State.COMPLETE, flat(0.1 * i), 1.0, {"b": 1.0 - i, "a": -1.0}) for i in range(3)])
    optimizer = optimizer_of(method="Auto")
    optimizer.add_trials(study)
    assert [record.constraints for record in optimizer.trials] == [{"a": -1.0, "b": 1.0 - i} for i in range(3)]
    old = FakeStudy([OldTrial(i, [-1.0, 1.0]) for i in range(2)])
    optimizer = optimizer_of(method="Auto")
    optimizer.add_trials(old)
    assert [record.constraints for record in optimizer.trials] == [{"0": -1.0, "1": 1.0}] * 2
    with pytest.raises(InvalidInput, match="trial 0: constraints: expected a method that handles them"):
        optimizer_of().add_trials(study)


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (FakeStudy([], [Way.MAXIMIZE]), "study: expected direction 'minimize', as the optimizer has, got 'maximize'"),
        (FakeStudy([], [Way.MINIMIZE, Way.MAXIMIZE]), r"one objective, got 2 \(minimize, maximize\); pass lists"),
        (FakeStudy([FakeTrial(0, "done", {})]), "expected trials in the states of Optuna, COMPLETE, .* got 'done'"),
        (
            FakeStudy([FakeTrial(3, State.COMPLETE, flat(0.1), 1.0), FakeTrial(7, State.COMPLETE, flat(2.0), 1.0)]),
            r"^trial 7: params: parameter 'x': expected a number from 0\.0 to 1\.0, got 2\.0; skip_outside=True",
        ),
        (FakeStudy([FakeTrial(7, State.COMPLETE, {"kind": "b"}, 1.0)]), "^trial 7: params: expected a value for 'x'"),
        (FakeStudy([FakeTrial(7, State.FAIL, {"kind": "c"})]), "^trial 7: params: "),
        (FakeStudy([FakeTrial(7, State.FAIL, {"z": 1.0})]), "^trial 7: params: unknown parameter 'z'"),
        (FakeStudy([FakeTrial(7, State.FAIL, {"kind": "b", "n": 3})]), "^trial 7: params: "),
        (FakeStudy([FakeTrial(7, State.COMPLETE, {**flat(0.1), "z": 1}, 1.0)]), "^trial 7: .* unknown parameter 'z'"),
        (FakeStudy([FakeTrial(7, State.COMPLETE, {**flat(0.1), "n": 1}, 1.0)]), "^trial 7: .* 'n' exists only when"),
        (FakeStudy([FakeTrial(7, State.COMPLETE, flat(0.1))]), "^trial 7: outcome: expected a number, .* got None"),
    ],
)  # fmt: skip
def test_what_is_refused(study: FakeStudy, message: str) -> None:
    optimizer = optimizer_of()
    with pytest.raises(InvalidInput, match=message):
        optimizer.add_trials(study)
    assert not optimizer.state()["events"]


def test_trials_that_failed_before_they_had_all_parameters_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    study = FakeStudy(
        [
            FakeTrial(0, State.COMPLETE, flat(0.1), 1.0),
            FakeTrial(1, State.FAIL, {}),
            FakeTrial(2, State.FAIL, {"x": 0.5, "kind": "a"}),
            FakeTrial(3, State.FAIL, deep(0.3)),
        ]
    )
    optimizer = optimizer_of()
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        assert optimizer.add_trials(study) == range(2)
    assert [(record.params, record.state) for record in optimizer.trials] == [
        (flat(0.1), "complete"),
        (deep(0.3), "failed"),
    ]
    assert "left out 2 of 4 trials, which failed before they had all parameters" in caplog.text


def test_a_study_has_its_own_values_and_constraints() -> None:
    study = FakeStudy([FakeTrial(0, State.COMPLETE, flat(0.1), 1.0)])
    with pytest.raises(InvalidInput, match="expected none beside a study"):
        optimizer_of().add_trials(study, [1.0])
    with pytest.raises(InvalidInput, match="expected none beside a study"):
        optimizer_of().add_trials(study, constraints=[{"c": 1.0}])


def test_another_optimizer_is_not_a_study() -> None:
    other = optimizer_of()
    other.add(flat(0.1), 1.0)
    with pytest.raises(InvalidInput, match=r"expected trials in the states of Optuna.*lists of params and values"):
        optimizer_of().add_trials(other)


def test_trials_outside_the_space_can_be_left_out(caplog: pytest.LogCaptureFixture) -> None:
    params = [flat(0.1), {"kind": "b"}, {**deep(0.2), "z": 1}, deep(0.3), flat(-1.0)]
    study = FakeStudy([FakeTrial(2 * i, State.COMPLETE, given, float(i)) for i, given in enumerate(params)])
    optimizer = optimizer_of()
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        assert optimizer.add_trials(study, skip_outside=True) == range(2)
    assert [record.params for record in optimizer.trials] == [flat(0.1), deep(0.3)]
    assert "left out 3 of 5 trials, the first: trial 2: params: expected a value for 'x'" in caplog.text


def test_a_study_of_optuna() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            x += trial.suggest_int("n", 1, 9)
        if trial.number % 5 == 3:
            trial.report(x, 0)
            raise optuna.TrialPruned
        if trial.number % 5 == 4:
            raise optuna.TrialPruned
        return float("nan") if trial.number % 5 == 2 else float(x)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=20)
    study.ask()
    optimizer = optimizer_of()
    assert optimizer.add_trials(study) == range(12)
    assert [record.state for record in optimizer.trials] == ["complete", "complete", "failed"] * 4
    ended = [trial.params for trial in study.trials[:20] if trial.state.name != "PRUNED"]
    assert [record.params for record in optimizer.trials] == ended
    assert optimizer.best_seen is not None
    assert optimizer.best_seen.value == study.best_value
    state = json.loads(json.dumps(optimizer.state()))
    assert Optimizer.from_state(SPACE, state, method="RandomSearch").ask() == optimizer.ask()
    with pytest.raises(InvalidInput, match=r"expected direction 'maximize', .* got 'minimize'"):
        optimizer_of("maximize").add_trials(study)
    two = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(InvalidInput, match="expected one objective, got 2"):
        optimizer_of().add_trials(two)
