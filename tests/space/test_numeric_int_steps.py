"""Int with steps: which integers there are, and what is refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.space import Int, Space
from quadrat.space.constraint import listed_settings


def test_the_values_are_those_of_the_steps() -> None:
    space = Space(n=Int(5, 48, step=10))
    assert [p["n"] for p in space.from_units(np.linspace(0, 1, 50)[:, None])] == sorted([5, 15, 25, 35, 45] * 10)
    assert space.to_units([{"n": n} for n in (5, 15, 25, 35, 45)]).ravel().tolist() == pytest.approx(
        [0.1, 0.3, 0.5, 0.7, 0.9]
    )
    listed = listed_settings(space)
    assert listed is not None
    assert [p["n"] for p in space.from_units(listed)] == [5, 15, 25, 35, 45]
    assert Int(5, 48, step=10).last == 45
    assert Int(-10, 12, step=11).last == 12


@pytest.mark.parametrize("value", [4, 6, 48, 46.0, 15.5, "15", True, None])
def test_what_lies_between_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="expected an integer from 5 to 45 in steps of 10, got"):
        Space(n=Int(5, 48, step=10)).to_unit({"n": value})


def test_without_steps_it_is_as_before() -> None:
    assert Int(1, 9, step=1) == Int(1, 9)
    assert repr(Int(1, 9, step=np.int64(1))) == "Int(1, 9)"  # type: ignore[arg-type]
    assert repr(Int(1, 9, step=2.0)) == "Int(1, 9, step=2)"  # type: ignore[arg-type]  # tables turn 2 into 2.0
    assert Int(1, 9, log=True, step=1).log
    assert Int(3, 3, step=7).is_single


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step": 0}, "step to be an integer from 1 to 10^12, got 0"),
        ({"step": -2}, "step to be an integer from 1"),
        ({"step": 0.5}, "step to be an integer from 1 to 10^12, got 0.5"),
        ({"step": True}, "got True"),
        ({"step": None}, "got None"),
        ({"step": float("nan")}, "got nan"),
        ({"step": 10**400}, "step to be an integer from 1"),
        ({"step": 2, "log": True}, "expected step or log=True, got both; drop one"),
        ({"step": 9}, "step to be at most high - low = 8, got step=9; make low and high equal"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message.replace("^", r"\^")):
        Int(1, 9, **arguments)


def test_a_study_with_steps_is_tuned_and_shown(tmp_path: Path) -> None:
    space = Space(n=Int(10, 95, step=20), x=qd.Float(0, 1, step=0.3))
    path = tmp_path / "space.json"
    path.write_text(json.dumps(space.to_dict()))
    assert Space.from_file(path) == space
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Optuna warns of bounds that no step reaches
        study = optuna.create_study(sampler=qd.QuadratSampler(search_space=space, seed=0))
        study.optimize(lambda trial: abs(qd.suggest(trial, space)["n"] - 50), n_trials=7)
    assert study.best_params["n"] == 50
    assert {trial.params["n"] for trial in study.trials} <= {10, 30, 50, 70, 90}
    assert qd.recommend(study).params["n"] == 50
