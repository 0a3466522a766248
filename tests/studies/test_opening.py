"""Opening a study: what is kept with it, what is refused, and that a later process goes on as the first would have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import BaseStorage
from optuna.study import Study

import quadrat as qd
from quadrat.errors import InvalidInput, QuadratWarning
from quadrat.kernels import Matern
from quadrat.methods import LP0
from quadrat.space import Categorical, Float, Int, Space
from quadrat.studies import open_storage
from quadrat.studies.notes import METHOD, kept_space
from quadrat.studies.opening import DEFAULT_STUDY, SEED, find_study, open_study

SPACE = Space(x=Float(0, 1), n=Int(1, 9))
NOTHING: dict[str, Any] = {"space": None, "direction": None, "method": None, "seed": None}


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[BaseStorage]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield open_storage(str(tmp_path / "journal"))
    optuna.logging.set_verbosity(optuna.logging.INFO)


def asked(study: Study, space: Space = SPACE) -> dict[str, Any]:
    return qd.suggest(study.ask(), space)


def test_a_new_study_has_defaults_and_keeps_them(storage: BaseStorage) -> None:
    study = open_study(storage, None, **{**NOTHING, "space": SPACE})
    assert (study.study_name, study.direction.name) == (DEFAULT_STUDY, "MINIMIZE")
    assert (study.user_attrs[METHOD], study.user_attrs[SEED]) == ("Auto", 0)
    assert kept_space(study) == SPACE


def test_what_is_given_is_kept_and_need_not_be_given_again(storage: BaseStorage) -> None:
    open_study(storage, "wine", space=SPACE, direction="maximize", method="RandomSearch", seed=7)
    again = open_study(storage, None, **NOTHING)
    assert (again.study_name, again.direction.name) == ("wine", "MAXIMIZE")
    assert (again.user_attrs[METHOD], again.user_attrs[SEED]) == ("RandomSearch", 7)
    run = qd.Optimizer(SPACE, direction="maximize", method="RandomSearch", seed=7)
    assert [asked(again), asked(again)] == [run.ask().params, run.ask().params]


def test_a_method_is_kept_with_its_options(storage: BaseStorage) -> None:
    space, given = Space(x=Float(0, 1)), "LP0(kernel=Matern(2.5, 0.3),  norm_bound=2, noise=0.1, budget=9)"
    open_study(storage, None, space=space, direction="maximize", method=given, seed=1)
    again = open_study(storage, None, **NOTHING)
    assert again.user_attrs[METHOD] == "LP0(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=9)"
    method = LP0(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=9)
    run = qd.Optimizer(space, direction="maximize", method=method, seed=1)
    for value in (0.0, 1.0, 0.5, 0.25):
        trial, expected = again.ask(), run.ask()
        assert qd.suggest(trial, space) == expected.params
        again.tell(trial, value)
        run.tell(expected, value)
    other_words = "LP0(budget=9, noise=0.1, norm_bound=2.0, kernel=Matern(nu=2.5, lengthscales=0.3))"
    assert open_study(storage, None, **{**NOTHING, "method": other_words}).user_attrs == again.user_attrs
    for other in (given.replace("=2,", "=3,"), "Auto"):
        with pytest.raises(InvalidInput, match=r"method: expected LP0.*, which the study 'quadrat' has, got"):
            open_study(storage, None, **{**NOTHING, "method": other})


def test_every_opening_goes_on_where_the_last_one_stopped(storage: BaseStorage) -> None:
    run = qd.Optimizer(SPACE, direction="maximize", seed=3)
    open_study(storage, None, space=SPACE, direction="maximize", method=None, seed=3)
    for value in (1.0, 0.25, 0.5):
        study = open_study(storage, None, **NOTHING)
        trial = study.ask()
        expected = run.ask()
        assert qd.suggest(trial, SPACE) == expected.params
        study.tell(trial, value)
        run.tell(expected, value)


def test_without_a_space_the_parameters_are_those_that_the_objective_suggests(storage: BaseStorage) -> None:
    study = open_study(storage, None, **NOTHING)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    assert kept_space(study) is None
    assert study.trials[0].params == {"x": 0.5}


def test_a_study_of_another_maker_is_taken_over(storage: BaseStorage) -> None:
    optuna.create_study(storage=storage, study_name="theirs", direction="maximize")
    study = open_study(storage, "theirs", space=SPACE, direction=None, method=None, seed=5)
    assert (study.direction.name, study.user_attrs[SEED], kept_space(study)) == ("MAXIMIZE", 5, SPACE)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"direction": "maximize"}, "direction: expected minimize, which the study 'quadrat' has, got maximize; leave"),
        ({"method": "RandomSearch"}, "method: expected Auto, which the study 'quadrat' has, got RandomSearch"),
        ({"seed": 1}, "seed: expected 0, which the study 'quadrat' has, got 1"),
        ({"space": Space(x=Float(0, 2), n=Int(1, 9))}, "which has another"),
        ({"method": "Nonsense"}, "method: expected one of Auto, "),
        ({"direction": "up"}, "direction: expected 'maximize' or 'minimize', got 'up'"),
        ({"seed": -1}, "seed: expected non-negative integers"),
    ],
)
def test_what_differs_is_refused_and_nothing_is_written(
    storage: BaseStorage, given: dict[str, Any], message: str
) -> None:
    study = open_study(storage, None, **{**NOTHING, "space": SPACE})
    before = dict(study.user_attrs)
    with pytest.raises(InvalidInput, match=message):
        open_study(storage, None, **{**NOTHING, **given})
    assert optuna.load_study(study_name=DEFAULT_STUDY, storage=storage).user_attrs == before


@pytest.mark.parametrize("given", [{"method": "Nonsense"}, {"direction": "up"}, {"seed": -1}])
def test_nothing_is_begun_with_what_is_wrong(storage: BaseStorage, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        open_study(storage, None, **{**NOTHING, "space": SPACE, **given})
    assert storage.get_all_studies() == []


def test_a_space_that_contradicts_the_trials_is_refused(storage: BaseStorage) -> None:
    study = optuna.create_study(storage=storage, study_name="theirs")
    study.optimize(lambda trial: trial.suggest_int("x", 0, 3) + len(trial.suggest_categorical("c", "ab")), n_trials=1)
    for parameter in ({"x": Float(0, 1)}, {"c": Categorical(["a", "c"])}):
        with pytest.raises(InvalidInput, match="space: expected parameters as in the trials of the study 'theirs'"):
            open_study(storage, None, **{**NOTHING, "space": Space.from_dict({"n": Int(1, 2), **parameter})})
    assert kept_space(study) is None
    fits = Space(x=Int(0, 5), y=Float(0, 1))  # other bounds are let in
    with pytest.warns(QuadratWarning, match="without the parameter .y. of search_space"):
        assert set(asked(open_study(storage, None, **{**NOTHING, "space": fits}), fits)) == {"x", "y"}


def test_a_known_constraint_is_respected_while_it_is_given(storage: BaseStorage) -> None:
    space = SPACE.subject_to(lambda params: params["x"] < 0.2)
    study = open_study(storage, None, **{**NOTHING, "space": space})
    assert all(asked(study)["x"] < 0.2 for _ in range(4))


def test_several_objectives_are_refused(storage: BaseStorage) -> None:
    optuna.create_study(storage=storage, study_name="two", directions=["minimize", "maximize"])
    with pytest.raises(InvalidInput, match="expected one objective, got 'two', which has 2"):
        open_study(storage, "two", **NOTHING)


def test_of_several_studies_one_has_to_be_named(storage: BaseStorage) -> None:
    for name in ("a", "b"):
        open_study(storage, name, **NOTHING)
    with pytest.raises(InvalidInput, match="study: expected the name of one of a, b, got none"):
        open_study(storage, None, **NOTHING)
    found = find_study(storage, "b")
    assert found is not None
    assert found.study_name == "b"
    assert find_study(storage, "c") is None
