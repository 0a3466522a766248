"""Known constraints: what they refuse, what they change, and that every method respects them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.registry import names
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Categorical, Float, Int, Space
from quadrat.tune import maximize

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
    with pytest.raises(NotAvailable, match="narrow the bounds"):
        Optimizer(PLAIN.subject_to(lambda _: False), direction="maximize").ask()


# Methods that need options or spaces of their own are in the contract suite, which has a constrained space for each.
OF_THEIR_OWN = ("LPGPUCB", "LP0", "LevelSet", "MultiScaleLevelSet", "StableOpt", "MFGPUCB", "UCB1")


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
