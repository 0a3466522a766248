"""A sampler whose search space was given, and an objective that asks for something else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import Trial, create_trial

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.integrations import QuadratSampler


def said_by(search_space: Any, objective: Callable[[Trial], float], n_trials: int = 3) -> tuple[list[str], Any]:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=search_space))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", qd.QuadratWarning)
        study.optimize(objective, n_trials=n_trials)
    return [str(one.message) for one in caught if one.category is qd.QuadratWarning], study


UNUSED = [
    qd.Space(x=qd.Float(0, 1), z=qd.Float(0, 1)),
    {"x": FloatDistribution(0, 1), "z": FloatDistribution(0, 1)},
]


@pytest.mark.parametrize("space", UNUSED, ids=["space", "distributions"])
def test_a_parameter_that_the_objective_does_not_ask_for_is_named(space: Any) -> None:
    said, _ = said_by(space, lambda trial: trial.suggest_float("x", 0, 1), n_trials=12)
    assert len(said) == 2, "at the first such trial, and once ten taught nothing"
    assert said[0].startswith("suggestions do not rest on complete trials without the parameter 'z' of search_space")
    assert said[1].startswith("none of 10 complete trials counts, as the parameter 'z' of search_space is not in them")


def test_a_misspelt_parameter_is_told_beside_the_one_drawn_at_random() -> None:
    space = qd.Space(learning_rate=qd.Float(0.1, 1), depth=qd.Int(1, 9))
    said, _ = said_by(space, lambda trial: trial.suggest_int("depth", 1, 9) * trial.suggest_float("lr", 0.1, 1))
    assert [one.split(";")[0].split(",")[0] for one in said] == [
        "parameter 'lr' is drawn at random: search_space does not have it",
        "suggestions do not rest on complete trials without the parameter 'learning_rate' of search_space",
    ]


def test_a_condition_that_a_trial_meets_is_looked_at() -> None:
    """`C` is not missed where the model has none; `n` is, where it has."""
    when = {"model": "rf"}
    space = qd.Space(
        model=qd.Categorical(["svm", "rf"]), C=qd.Float(0, 1, when={"model": "svm"}), n=qd.Int(1, 9, when=when)
    )

    def objective(trial: Trial) -> float:
        kind = trial.suggest_categorical("model", ["svm", "rf"])
        return trial.suggest_float("C", 0, 1) if kind == "svm" else 2.0

    said, _ = said_by(space, objective, n_trials=6)
    assert len(said) == 1
    assert "without the parameter 'n' of search_space" in said[0]


@pytest.mark.parametrize(
    ("parameter", "asked"),
    [
        (FloatDistribution(1, 9), lambda trial: trial.suggest_int("n", 1, 9)),
        (IntDistribution(1, 9), lambda trial: trial.suggest_int("n", 1, 9, log=True)),
        (CategoricalDistribution([1, 2]), lambda trial: trial.suggest_categorical("n", [2, 1])),
        (qd.Int(1, 9), lambda trial: trial.suggest_float("n", 1, 9)),
        (qd.Float(1, 9), lambda trial: trial.suggest_float("n", 1, 9, log=True)),
    ],
)
def test_another_type_log_or_choices_than_the_objectives_are_refused_by_name(parameter: Any, asked: Any) -> None:
    space = qd.Space(n=parameter) if isinstance(parameter, qd.Int | qd.Float) else {"n": parameter}
    with pytest.raises(
        InvalidInput, match=r"^search_space: expected parameter 'n' with the type, log and choices that"
    ):
        said_by(space, asked)


def test_each_parameter_with_other_bounds_is_told_of_once() -> None:
    """Narrower ones beside one that is drawn at random, and beside wider ones."""
    space = {"x": FloatDistribution(0, 1), "y": FloatDistribution(-90, 90)}

    def objective(trial: Trial) -> float:
        return trial.suggest_float("x", -1, 2) + trial.suggest_float("y", 0, 1) + trial.suggest_float("z", 0, 1)

    said, study = said_by(space, objective, n_trials=8)
    assert sorted(one.split(" 0.0")[0].split(" where")[0].split(":")[0] for one in said) == [
        "parameter 'x' is suggested from",
        "parameter 'y' is drawn at random",
        "parameter 'z' is drawn at random",
    ]
    assert all(0 <= trial.params["x"] <= 1 for trial in study.trials)


@pytest.mark.parametrize("method", [None, "SobolSearch"])
@pytest.mark.parametrize("space", [None, qd.Space(x=qd.Float(0, 1))], ids=["learned", "given"])
def test_brackets_of_a_pruner_share_one_search(space: Any, method: str | None) -> None:
    """Hyperband shows a sampler a part of the study; a complete trial is as good in whichever bracket."""

    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for step in range(3):
            trial.report(x, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=10)
    sampler = QuadratSampler(seed=0, search_space=space, method=method)
    study = optuna.create_study(sampler=sampler, pruner=pruner, study_name="brackets")
    study.optimize(objective, n_trials=8)
    [(engine, _)] = sampler._engines.values()
    assert engine._seen >= {*range(7)}, "trials of all brackets"


def test_settings_that_no_trial_could_have_are_not_counted() -> None:
    """Six settings exist of the nine in the widest bounds."""

    def objective(trial: Trial) -> float:
        n = trial.suggest_int("n", 1, 3)
        return (n - 2) ** 2 + float(trial.suggest_int("k", 1, n))

    sampler = QuadratSampler(seed=0, noise=0)
    study = optuna.create_study(sampler=sampler)
    with pytest.warns(qd.QuadratWarning, match="all 6 settings within the bounds that the objective asks for"):
        study.optimize(objective, n_trials=40)
    assert len({(trial.params["n"], trial.params["k"]) for trial in study.trials}) == 6
    assert len(study.trials) < 40
    assert "all 6 settings" in (sampler.exhausted(study) or "")


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
@pytest.mark.parametrize("given", [True, False])
def test_choices_without_a_hash_are_searched(given: bool) -> None:
    choices: Any = [[8, 8], [16], {"deep": 4}]
    space = {"layers": CategoricalDistribution(choices), "x": FloatDistribution(0, 1)} if given else None

    def objective(trial: Trial) -> float:
        return len(trial.suggest_categorical("layers", choices)) + trial.suggest_float("x", 0, 1)

    said, study = said_by(space, objective, n_trials=8)
    assert said == []
    assert {str(trial.params["layers"]) for trial in study.trials} == {"[8, 8]", "[16]", "{'deep': 4}"}
    assert qd.recommend(study).params["layers"] in choices[1:]


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
def test_more_choices_without_a_hash_may_come_later() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    for last in (2, 3):
        choices: Any = [[code] for code in range(1, last + 1)]
        distributions: Any = {"c": CategoricalDistribution(choices), "x": FloatDistribution(0, 1)}
        params = {"c": [last], "x": 0.5}
        study.add_trial(create_trial(params=params, distributions=distributions, value=-float(last)))
    assert qd.recommend(study).params == {"c": [3], "x": 0.5}


def test_choices_that_no_trial_can_have_are_told() -> None:
    said, _ = said_by(
        None, lambda trial: float(trial.suggest_categorical("c", [None, True, 1, "1"]) is None), n_trials=4
    )
    assert said == [
        "parameter 'c': no trial can have the choice 1, because Optuna takes it for True, which Python calls equal;"
        " give choices that differ, such as texts"
    ]


def test_a_parameter_may_have_an_empty_name() -> None:
    said, study = said_by(
        None, lambda trial: trial.suggest_float("", 0, 1) + trial.suggest_float(" (no name)", 0, 1), 6
    )
    assert said == []
    assert set(qd.recommend(study).params) == {"", " (no name)"}


def test_trials_of_another_type_are_told_with_a_cure_that_helps() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    for x in (0.1, 0.4, 0.9):
        one: Any = {"x": FloatDistribution(0, 1)}
        study.add_trial(create_trial(params={"x": x}, distributions=one, value=x))
    other: Any = {"x": IntDistribution(0, 9), "c": FloatDistribution(0, 1)}
    study.add_trial(create_trial(params={"x": 5, "c": 0.5}, distributions=other, value=2.0))
    with pytest.warns(
        qd.QuadratWarning, match=r"space \(3\) do not count: they have 'x' as Float.* pass search_space="
    ):
        qd.recommend(study)
    with pytest.warns(qd.QuadratWarning, match=r"space \(1\) do not count; widen it"):
        assert qd.recommend(study, search_space={"x": FloatDistribution(0, 1)}).params["x"] < 0.5


def test_where_nothing_varies_no_search_space_is_asked_for() -> None:
    _, study = said_by(None, lambda trial: float(trial.suggest_int("one", 1, 1)))
    with pytest.raises(InvalidInput, match=r"nothing to choose between; study.best_trial has the parameters") as caught:
        qd.recommend(study)
    assert "search_space" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"^search_space: expected a parameter of more than one value"):
        qd.recommend(study, search_space={"one": IntDistribution(1, 1)})
