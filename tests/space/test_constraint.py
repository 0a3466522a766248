"""Known constraints: what they refuse, what they change, and that every method respects them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop import maximize
from quadrat.methods.registry import names
from quadrat.optimizer import FAILED, Optimizer
from quadrat.randomness import generator
from quadrat.space import Categorical, Float, Int, Space, constraint
from quadrat.space.constraint import check_share, listed_settings

PLAIN = Space(x=Float(0, 1), y=Float(0, 1))


def below(params: Mapping[str, Any]) -> bool:
    return bool(params["x"] + params["y"] <= 0.6)


SPACE = PLAIN.subject_to(below)


def test_a_constraint_is_part_of_the_space() -> None:
    assert SPACE != PLAIN
    assert PLAIN.subject_to(below) == SPACE
    assert len({SPACE, PLAIN.subject_to(below), PLAIN}) == 2
    assert repr(SPACE) == "Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0)).subject_to(below)"
    assert not PLAIN.is_constrained
    assert copy.deepcopy(SPACE) == SPACE
    assert pickle.loads(pickle.dumps(SPACE)) == SPACE  # noqa: S301  # our own bytes


def test_it_says_what_is_feasible() -> None:
    assert SPACE.feasible({"x": 0.1, "y": 0.2})
    assert not SPACE.feasible({"x": 0.5, "y": 0.2})
    assert PLAIN.feasible({"x": 1.0, "y": 1.0})
    np.testing.assert_array_equal(SPACE.allowed([[0.1, 0.2], [0.5, 0.2]]), [True, False])


def test_samples_are_feasible_and_uniform_there() -> None:
    drawn = SPACE.sample(2000, generator(0))
    assert all(below(params) for params in drawn)
    # On the triangle x + y <= .6 the mean of x is .2, with standard deviation .6 / sqrt(18).
    assert abs(np.mean([params["x"] for params in drawn]) - 0.2) < 4 * 0.6 / np.sqrt(18 * 2000)


@pytest.mark.parametrize("answer", [1, None, "yes", np.array([True, False])])
def test_answers_must_be_true_or_false(answer: object) -> None:
    with pytest.raises(InvalidInput, match="expected True or False"):
        PLAIN.subject_to(lambda _: answer).feasible({"x": 0.5, "y": 0.5})  # type: ignore[arg-type,return-value]


def test_an_exception_in_it_is_named() -> None:
    with pytest.raises(InvalidInput, match="KeyError: 'z'"):
        PLAIN.subject_to(lambda params: bool(params["z"])).feasible({"x": 0.5, "y": 0.5})
    with pytest.raises(InvalidInput, match="expected a function"):
        PLAIN.subject_to("x < 1")  # type: ignore[arg-type]


def test_what_is_never_feasible_is_refused_with_advice() -> None:
    with pytest.raises(NotAvailable, match="narrow the bounds"):
        PLAIN.subject_to(lambda _: False).sample(1, generator(0))
    with pytest.raises(NotAvailable, match="among all 6 settings of the space, got none"):
        Space(n=Int(1, 6)).subject_to(lambda _: False).sample(1, generator(0))
    with pytest.raises(InvalidInput, match="narrow the bounds"):
        Optimizer(PLAIN.subject_to(lambda _: False), direction="maximize")


# --- how many settings must be feasible


def slab(share: float, start: float, dimension: int) -> Space:
    """A cube of which this share is feasible, between two planes."""
    axes = {f"x{i}": Float(0, 1) for i in range(dimension)}
    return Space(**axes).subject_to(lambda params: start <= params["x0"] <= start + share)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_share_that_is_refused(dimension: int) -> None:
    """Of 60 places each: the chance that one of 1/300 is refused, or one of 1/3,000 accepted, is 0.1 % in all."""
    for start in np.linspace(0.001, 0.99, 60):
        check_share(slab(1 / 300, float(start), dimension))
        with pytest.raises(InvalidInput, match=r"at least 1 in 1,000 uniform settings meets, got \d+ of 20,000; solve"):
            check_share(slab(1 / 3000, float(start), dimension))


def test_the_refusal_says_what_was_found_and_what_to_do() -> None:
    thirds = Space(a=Float(0, 1), b=Float(0, 1), c=Float(0, 1))
    with pytest.raises(InvalidInput) as refused:
        check_share(thirds.subject_to(lambda p: abs(p["a"] + p["b"] + p["c"] - 1) < 1e-6))
    said = str(refused.value)
    assert "got 0 of 20,000" in said
    assert "compute it in the objective as 1 - a - b" in said
    assert "subject_to(lambda p: p['a'] + p['b'] <= 1)" in said
    check_share(Space(a=Float(0, 1), b=Float(0, 1)).subject_to(lambda p: p["a"] + p["b"] <= 1))  # as it says


@pytest.mark.parametrize(("most", "calls"), [(0.9, 64), (0.3, 128), (0.02, 2048)])
def test_ordinary_constraints_cost_few_calls(most: float, calls: int) -> None:
    called: list[float] = []

    def feasible(params: Mapping[str, Any]) -> bool:
        called.append(params["x"])
        return bool(params["x"] <= most)

    space = PLAIN.subject_to(feasible)
    assert not called, "declaring a constraint calls nothing"
    check_share(space)
    assert len(called) <= calls
    first = called.copy()
    called.clear()
    check_share(space)
    assert called == first, "the settings tried are always the same"


def test_a_space_without_a_constraint_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraint, "generator", None)
    check_share(PLAIN)


def test_the_check_changes_no_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    def trials() -> list[Mapping[str, Any]]:
        result = maximize(lambda params: params["x"] * params["y"], SPACE, n_trials=8, seed=2)
        return [trial.params for trial in result.trials]

    checked = trials()
    monkeypatch.setattr("quadrat.optimizer.run.check_share", lambda _: None)
    assert trials() == checked


# --- finite spaces


GRID = Space(a=Int(1, 50), b=Int(1, 100))


def test_all_settings_of_a_finite_space_are_listed() -> None:
    conditional = Space(
        kind=Categorical(["a", "b"]),
        depth=Int(1, 3, when={"kind": "a"}),
        x=Float(0, 1, step=0.5),
        n=Int(1, 4, log=True),
    )
    listed = listed_settings(conditional)
    assert listed is not None
    np.testing.assert_array_equal(conditional.round(listed), listed)
    shown = conditional.from_units(listed)
    assert len(shown) == (3 + 1) * 3 * 4
    assert len({tuple(sorted(params.items())) for params in shown}) == len(shown)
    assert listed_settings(PLAIN) is None
    assert listed_settings(Space(n=Int(1, 10**9), x=Float(0, 1))) is None
    assert listed_settings(Space(a=Int(1, 100), b=Int(1, 101))) is None
    some = listed_settings(Space(a=Int(1, 100), b=Int(1, 100)))
    assert some is not None
    assert len(some) == 10_000


def test_what_does_not_exist_in_a_setting_does_not_count() -> None:
    """Six integers of ten values, of which three exist: 2,000 settings, though a million combinations of values."""
    space = Space.from_dict(
        {
            **{f"deep_{i}": Int(0, 9, when={"kind": "a"}) for i in range(3)},  # before their parent
            "kind": Categorical(["a", "b"]),
            **{f"wide_{i}": Int(0, 9, when={"kind": "b"}) for i in range(3)},
        }
    )
    listed = listed_settings(space)
    assert listed is not None
    assert len({tuple(params.items()) for params in space.from_units(listed)}) == len(listed) == 2000
    np.testing.assert_array_equal(space.round(listed), listed)
    assert listed_settings(Space(kind=Categorical(["a", "b"]), x=Float(0, 1, when={"kind": "a"}))) is None


@pytest.mark.parametrize("method", ["Auto", "RandomSearch", "GPUCB", "UCB1", "ExpectedImprovement"])
def test_one_feasible_setting_of_five_thousand_is_found(method: str) -> None:
    space = GRID.subject_to(lambda params: params["a"] == 17 and params["b"] == 93)
    result = maximize(lambda params: params["a"] + 0.5, space, n_trials=4, method=method)
    count = 3 if method == "Auto" else 4  # after three equal results there is no noise, and nothing is left to try
    assert [trial.params for trial in result.trials] == [{"a": 17, "b": 93}] * count
    assert result.params == {"a": 17, "b": 93}
    if method != "GPUCB":  # which lists the arms, and knows that there is no other
        assert result.estimated_gain_upper is None, "too few feasible settings are met to say anything"


def test_no_feasible_setting_of_five_thousand_is_counted() -> None:
    with pytest.raises(InvalidInput, match="got none of all 5,000 settings"):
        Optimizer(GRID.subject_to(lambda params: params["a"] > 50), direction="maximize")


def test_a_setting_that_failed_is_not_asked_again_while_there_is_another() -> None:
    allowed = [(1, 1), (25, 50), (50, 100), (3, 77)]
    space = GRID.subject_to(lambda params: (params["a"], params["b"]) in allowed)
    for seed in range(3):
        optimizer = Optimizer(space, direction="maximize", method="RandomSearch", seed=seed)
        asked = []
        for _ in allowed:
            trial = optimizer.ask()
            asked.append((trial.params["a"], trial.params["b"]))
            optimizer.tell(trial, FAILED)
        assert sorted(asked) == sorted(allowed)
        again = optimizer.ask().params
        assert (again["a"], again["b"]) in allowed


# --- every method


# Methods that need options or spaces of their own are in the contract suite, which has a constrained space for each.
OF_THEIR_OWN = (
    "LPGPUCB", "LP0", "LevelSet", "MultiScaleLevelSet", "StableOpt", "MFGPUCB", "UCB1", "Safe", "FittedSafe",
)  # fmt: skip


@pytest.mark.parametrize("method", [name for name in names() if name not in OF_THEIR_OWN])
def test_every_method_respects_it(method: str) -> None:
    """The maximum, .09 at x = y = .3, lies on the constraint's border."""
    result = maximize(lambda params: params["x"] * params["y"], SPACE, n_trials=12, method=method, seed=3)
    assert all(below(trial.params) for trial in result.trials)


def test_the_default_method_finds_the_border() -> None:
    result = maximize(lambda params: params["x"] * params["y"], SPACE, n_trials=25, seed=1)
    assert result.params["x"] * result.params["y"] > 0.085


def test_mixed_spaces_too() -> None:
    mixed = Space(n=Int(1, 6), kind=Categorical(["a", "b", "c"]), x=Float(0, 1)).subject_to(
        lambda params: params["kind"] != "b" and params["n"] % 2 == 0
    )
    result = maximize(lambda params: params["n"] + params["x"], mixed, n_trials=15, seed=0)
    assert all(trial.params["kind"] != "b" and trial.params["n"] % 2 == 0 for trial in result.trials)
    assert result.params["n"] == 6


def test_a_users_own_trial_must_be_feasible_but_old_results_need_not() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", seed=0)
    with pytest.raises(InvalidInput, match="constraint allows"):
        optimizer.ask({"x": 0.9, "y": 0.9})
    optimizer.add({"x": 0.9, "y": 0.9}, 0.81)
    assert len(optimizer.trials) == 1
