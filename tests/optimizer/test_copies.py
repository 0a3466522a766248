"""Copies and pickles of an optimizer: rebuilt from its log, with the same next suggestion bit for bit."""

from __future__ import annotations

import copy
import importlib
import logging
import math
import pickle
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Search
from quadrat.optimizer import FAILED, Estimate, Optimizer, Trial
from quadrat.space import Categorical, Context, Fidelity, Float, Int, Space

Copy = Callable[[Optimizer], Optimizer]
COPIES: dict[str, Copy] = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda optimizer: pickle.loads(pickle.dumps(optimizer)),  # noqa: S301  # our own bytes
    "pickle of protocol 2": lambda optimizer: pickle.loads(pickle.dumps(optimizer, protocol=2)),  # noqa: S301
}
MIXED = Space(
    x=Float(1e-4, 1, log=True),
    n=Int(1, 4),
    kind=Categorical(["a", None, True]),
    depth=Float(0, 1, when={"kind": "a"}),
)
PLANE = Space(x=Float(0, 1), y=Float(-1, 1))
CERTIFIED = LPGPUCB(kernel=Matern(2.5, 0.4), norm_bound=2.0, noise=0.1, budget=200)
WEATHER = Space(x=Float(0, 1), heat=Context(Float(0, 30)))


def value_of(params: dict[str, Any]) -> float:
    numbers = [value for value in params.values() if isinstance(value, float | int)]
    return math.cos(sum(numbers)) + 0.1 * len(params)


class Right:
    """A constraint that is an object; it and its methods can be pickled, because its class has a name."""

    def __init__(self, least: float) -> None:
        self.least = least

    def __call__(self, params: Mapping[str, Any]) -> bool:
        return bool(params["x"] >= self.least)

    def holds(self, params: Mapping[str, Any]) -> bool:
        return self(params)


def right_of(least: float, params: Mapping[str, Any]) -> bool:
    return bool(params["x"] >= least)


def below_diagonal(params: Mapping[str, Any]) -> bool:
    return bool(params["x"] <= 0.5 * params["y"] + 0.7)


def told(optimizer: Optimizer, trial: Trial) -> None:
    """Tell an outcome that depends on the trial: a failure, replicates, an estimate or a number."""
    value = value_of(trial.params)
    plain = optimizer.method.facts.certifies
    outcomes: list[Any] = [FAILED, value] if plain else [FAILED, [value, value + 0.1], Estimate(value, 0.1), value]
    optimizer.tell(trial, outcomes[trial.number % len(outcomes) if trial.number % 3 else -1])


def mixed() -> Optimizer:
    """Auto on integers, choices and a condition; failures, and three trials pending."""
    optimizer = Optimizer(MIXED, direction="minimize", seed=3)
    for _ in range(9):
        told(optimizer, optimizer.ask())
    optimizer.ask({"x": 0.12345678901234567, "n": 2, "kind": None})
    optimizer.ask()
    optimizer.ask()
    return optimizer


def certified() -> Optimizer:
    """Of a method whose asking changes the search; two trials pending."""
    optimizer = Optimizer(PLANE, direction="maximize", method=CERTIFIED, seed=1)
    for _ in range(12):
        told(optimizer, optimizer.ask())
    optimizer.ask()
    optimizer.ask()
    return optimizer


def contextual(method: str | LPGPUCB) -> Optimizer:
    optimizer = Optimizer(WEATHER, direction="minimize", method=method, seed=2)
    for number in range(8):
        told(optimizer, optimizer.ask(context={"heat": 3.0 * number}))
    return optimizer


def imported() -> Optimizer:
    """Earlier results, in between and at the end."""
    optimizer = Optimizer(MIXED, direction="maximize", seed=4)
    optimizer.add({"x": 0.5, "n": 1, "kind": True}, 0.3)
    for at in (0.01, 0.1):
        optimizer.add_trials(
            [{"x": at * i, "n": 3, "kind": None} for i in range(1, 8)], [0.1 * i for i in range(6)] + [math.nan]
        )
        for _ in range(3):
            told(optimizer, optimizer.ask())
    optimizer.add_trials([{"x": 0.9, "n": 4, "kind": "a", "depth": 0.5}], [[0.5, 0.6]])
    return optimizer


def long() -> Optimizer:
    """Past the 256 trials from which Auto looks at some of them only; a few asked at the end."""
    optimizer = Optimizer(PLANE, direction="minimize", seed=5)
    points = [{"x": (0.37 * i) % 1.0, "y": (0.73 * i) % 2.0 - 1.0} for i in range(262)]
    optimizer.add_trials(points, [value_of(params) for params in points])
    for _ in range(3):
        told(optimizer, optimizer.ask())
    optimizer.ask()
    return optimizer


def constrained() -> Optimizer:
    """A known constraint, and one that is told."""
    space = Space(x=Float(0, 1), y=Float(0, 1)).subject_to(below_diagonal)
    optimizer = Optimizer(space, direction="maximize", seed=6)
    for _ in range(7):
        trial = optimizer.ask()
        optimizer.tell(trial, value_of(trial.params), constraints={"load": trial.params["x"] - 0.5})
    return optimizer


def at_fidelities() -> Optimizer:
    space = Space(x=Float(0, 1), epochs=Fidelity([5, 100], cost=[1, 20]))
    optimizer = Optimizer(space, direction="maximize", method="MFGPUCB", seed=7)
    for _ in range(12):
        told(optimizer, optimizer.ask())
    return optimizer


RUNS: dict[str, Callable[[], Optimizer]] = {
    "nothing": lambda: Optimizer(PLANE, direction="minimize"),
    "mixed": mixed,
    "certified": certified,
    "contextual": lambda: contextual("CGPUCB"),
    "contextual and certified": lambda: contextual(CERTIFIED),
    "imported": imported,
    "long": long,
    "constrained": constrained,
    "fidelities": at_fidelities,
    "Heuristic": lambda: after(Optimizer(MIXED, direction="minimize", method="Heuristic", seed=8), 12),
}


def after(optimizer: Optimizer, n: int) -> Optimizer:
    for _ in range(n):
        told(optimizer, optimizer.ask())
    return optimizer


def next_of(optimizer: Optimizer) -> Trial:
    return optimizer.ask(context={"heat": 11.0} if optimizer.space.contexts else None)


@pytest.mark.parametrize("run", RUNS)
def test_a_copy_goes_on_as_the_original_bit_for_bit(run: str, caplog: pytest.LogCaptureFixture) -> None:
    """Every copy is made of the original before it is asked; trials that were pending then are told to all of them."""
    original = RUNS[run]()
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        caplog.clear()
        copies = {name: made(original) for name, made in COPIES.items()}
        assert "this machine suggests" not in caplog.text
    pending = [record for record in original.trials if record.state == "pending"]
    expected = next_of(original)
    for record in pending:
        original.tell(record.number, value_of(record.params))
    expected_then = next_of(original)
    for name, made in copies.items():
        assert type(made) is Optimizer
        assert next_of(made) == expected, name  # also its mark: it is a trial of this optimizer
        assert made.trial(expected.number).params == expected.params
        for record in pending:
            made.tell(record.number, value_of(record.params))
        assert next_of(made) == expected_then, name
        assert made.state() == original.state()


def test_a_trial_asked_before_is_told_to_the_copy() -> None:
    original = mixed()
    trial = original.ask()
    for made in COPIES.values():
        again = made(original)
        again.tell(trial, 0.5)
        assert again.trial(trial.number).value == 0.5
    assert original.trial(trial.number).state == "pending"


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_shares_nothing_that_changes(kind: str) -> None:
    original, blind = mixed(), mixed()
    made = COPIES[kind](original)
    for _ in range(3):
        told(made, made.ask())
    made.add({"x": 0.5, "n": 1, "kind": True}, 7.0)
    assert original.state() == blind.state()
    assert original.ask() == blind.ask()


def test_a_pickle_holds_the_log_and_no_model() -> None:
    """So it stays small, and pickles of one version can be read by the next."""
    data = pickle.dumps(long())
    assert b"Search" not in data
    assert b"quadrat.gp" not in data
    assert len(data) < 30_000


def test_a_copy_of_what_holds_an_optimizer() -> None:
    original = mixed()
    held: dict[str, Any] = {"one": original, "two": [original]}
    for made in (copy.deepcopy(held), pickle.loads(pickle.dumps(held))):  # noqa: S301  # our own bytes
        assert made["one"] is made["two"][0]
        assert made["one"] is not original


@pytest.mark.parametrize("kind", ["lambda", "local function", "object", "bound method", "partial"])
def test_a_constraint_without_a_name_is_copied_but_not_pickled(kind: str) -> None:
    class Half:
        def __call__(self, params: Any) -> bool:
            return bool(params["x"] > 0.5)

    def right(params: Any) -> bool:
        return bool(params["x"] > 0.5)

    kinds: dict[str, Any] = {
        "lambda": lambda params: bool(params["x"] > 0.5),
        "local function": right,
        "object": Half(),
        "bound method": Half().__call__,
        "partial": partial(right),
    }
    space = PLANE.subject_to(kinds[kind])
    optimizer = after(Optimizer(space, direction="minimize", seed=9), 6)
    again = copy.deepcopy(optimizer)
    assert again.ask() == copy.copy(optimizer).ask() == optimizer.ask()
    got = {"lambda": "<lambda>", "local function": "right", "partial": "right"}.get(kind, "Half")
    for what in (optimizer, space):
        message = (
            f"^space: expected a constraint that pickle can store by its name, got [^;]*{got}; use a named function"
        )
        with pytest.raises(InvalidInput, match=message) as refused:
            pickle.dumps(what)
        assert str(refused.value).count("\n") == 0
        assert "0x" not in str(refused.value)


@pytest.mark.parametrize("feasible", [Right(0.5), Right(0.5).holds, partial(right_of, 0.5), partial(Right(0.5))])
def test_a_constraint_with_a_name_is_pickled(feasible: Callable[[Mapping[str, Any]], bool]) -> None:
    optimizer = after(Optimizer(PLANE.subject_to(feasible), direction="minimize", seed=9), 6)
    again = pickle.loads(pickle.dumps(optimizer))  # noqa: S301  # our own bytes
    assert again.ask() == optimizer.ask()


def test_dask_and_ray_still_send_constraints_without_a_name() -> None:
    """They pickle with cloudpickle, by value."""
    cloudpickle: Any = importlib.import_module("cloudpickle")
    optimizer = after(Optimizer(PLANE.subject_to(lambda params: params["x"] > 0.5), direction="minimize", seed=9), 6)
    again = pickle.loads(cloudpickle.dumps(optimizer))  # noqa: S301  # our own bytes
    assert again.ask() == optimizer.ask()


def test_a_search_is_built_again_and_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    rebuilt: list[int] = []
    optimizer = after(Optimizer(PLANE, direction="minimize", method="RandomSearch"), 3)
    monkeypatch.setattr(Search, "rebuild", lambda _, happened: rebuilt.append(len(happened)))
    copy.deepcopy(optimizer)
    assert rebuilt == [2]  # the last is asked again, and told
