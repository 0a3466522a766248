"""Studies whose trials do not have the same parameters: their space is learned, and a complete setting recommended."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.samplers import RandomSampler
from optuna.study import Study
from optuna.trial import Trial, TrialState, create_trial

import quadrat as qd
from quadrat.errors import InvalidInput, QuadratWarning
from quadrat.integrations import QuadratSampler, recommend
from quadrat.plots.run_view import RunView
from quadrat.studies.recommendation import run_of

TREE = qd.Space(
    model=qd.Categorical(["lgbm", "svm"]),
    leaves=qd.Int(2, 64, when={"model": "lgbm"}),
    c=qd.Float(1e-3, 1e3, log=True, when={"model": "svm"}),
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def conditional(trial: Trial) -> float:
    if trial.suggest_categorical("model", ["lgbm", "svm"]) == "lgbm":
        return abs(trial.suggest_int("leaves", 2, 64) - 30) / 30
    return 0.5 + abs(trial.suggest_float("c", 1e-3, 1e3, log=True) - 1) / 1000


def conditional_study(n: int = 16) -> Study:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    study.optimize(conditional, n_trials=n)
    return study


def warned(run: Callable[[], object]) -> list[str]:
    """What is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    assert all(one.category is QuadratWarning for one in caught)
    return [str(one.message) for one in caught]


# --- what is recommended


@pytest.mark.parametrize("seed", range(3))
def test_a_complete_setting_is_recommended(seed: int) -> None:
    """Whoever chose the trials: what is recommended was evaluated, with all of its parameters."""
    study = optuna.create_study(sampler=RandomSampler(seed=seed))
    study.optimize(conditional, n_trials=16)
    found = recommend(study)
    assert found.params in [trial.params for trial in study.trials]
    assert set(found.params) == ({"model", "leaves"} if found.params["model"] == "lgbm" else {"model", "c"})
    assert found.best_seen.params == study.best_params
    shown = RunView.of(study).recommendation
    assert shown is not None
    assert shown.params == found.params
    assert found.why == shown.why


def test_the_recommendation_is_that_of_the_declared_space() -> None:
    """Learned or declared, the model sees the same parameters under the same conditions."""
    study = conditional_study()
    ours, theirs = recommend(study), recommend(study, search_space=TREE)
    assert ours.params == theirs.params
    assert ours.value == pytest.approx(theirs.value, abs=0.05)


def test_a_setting_that_no_trial_had_is_complete_too() -> None:
    """Methods that certify recommend any point; a parameter with one value, in one branch, comes along."""

    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("wide", [False, True]):
            trial.suggest_categorical("version", ["v2"])
            return x + trial.suggest_float("y", 0, 1)
        return x + 1

    study = optuna.create_study(sampler=RandomSampler(seed=1))
    study.optimize(objective, n_trials=14)
    run = run_of(study)
    on = {"x": 0.25, "y": 0.125, "wide": 1}
    assert run.show(on) == {"x": 0.25, "y": 0.125, "wide": True, "version": "v2"}
    assert run.show({"x": 0.25, "wide": 0}) == {"x": 0.25, "wide": False}


def test_a_space_with_conditions_is_the_cure() -> None:
    study = conditional_study()
    found = recommend(study, search_space=TREE)
    evaluated = [trial.params for trial in study.trials]
    assert found.params in evaluated
    assert found.best_seen.params == study.best_params
    assert found.params["model"] == "lgbm"
    assert "leaves" in found.params


@pytest.mark.parametrize("change", [lambda number: 1 + number % 2, lambda number: 2 if number < 4 else 1])
def test_bounds_that_changed_are_covered(change: Callable[[int], float]) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    study.optimize(lambda t: abs(t.suggest_float("x", 0, change(t.number)) - 1.2) + t.suggest_int("n", 0, 3), 8)
    found = recommend(study)
    assert sorted(found.params) == ["n", "x"]
    assert found.best_seen.number == study.best_trial.number
    assert not found.why.endswith("do not count."), "all trials count"


def test_parameters_of_single_trials_do_not_hinder() -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))

    def odd(trial: Trial) -> float:
        own = [trial.suggest_float(f"p{trial.number}_{i}", 0, 1) for i in range(5)]
        return trial.suggest_float("x", 0, 1 + trial.number) + sum(own)

    study.optimize(odd, n_trials=12)
    with pytest.warns(
        QuadratWarning, match="'p0_0' is in some trials and not in others, and no parameter asked for bef"
    ):
        found = recommend(study)
    assert found.params in [trial.params for trial in study.trials]
    assert set(run_of(study).optimizer.space) == {"x", *(f"p11_{i}" for i in range(5))}, "the last may be new"


def test_parameters_that_no_complete_trial_has_are_not_recommended() -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) ** 2, n_trials=6)
    for state in (TrialState.PRUNED, TrialState.FAIL):
        study.add_trial(create_trial(state=state, params={"z": 0.5}, distributions={"z": FloatDistribution(0, 1)}))
    study.ask({"w": FloatDistribution(0, 1)})
    study.enqueue_trial({"v": 1.0})
    assert list(recommend(study).params) == ["x"]


def test_a_parameter_with_one_value_is_shared() -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_int("one", 1, 1), n_trials=4)
    assert set(recommend(study).params) == {"x", "one"}


def test_a_parameter_that_cannot_be_searched_is_not_left_out_silently() -> None:
    study = optuna.create_study()
    distributions: dict[str, Any] = {"x": FloatDistribution(0, 1), "tiny": FloatDistribution(0, 5e-324)}
    for i in range(4):
        study.add_trial(create_trial(params={"x": i / 4, "tiny": 0.0}, distributions=distributions, value=float(i)))
    with pytest.raises(InvalidInput, match="parameters that can be searched, got 'tiny'"):
        recommend(study)
    assert recommend(study, search_space={"x": FloatDistribution(0, 1)}).params == {"x": 0.0}


def test_a_part_that_was_asked_for_is_called_one() -> None:
    """A search space that lacks a parameter is the user's choice; what comes out is not the best seen."""
    study = conditional_study()
    found = recommend(study, search_space={"model": CategoricalDistribution(["lgbm", "svm"])})
    best = study.best_trial.number
    assert found.why == (
        f"The search space lacks 'c', 'leaves', so this is a part of a setting; the best seen is trial {best}."
    )
    study.set_user_attr("quadrat:space", qd.Space(model=qd.Categorical(["lgbm", "svm"])).to_dict())
    shown = RunView.of(study).recommendation
    assert shown is not None
    assert shown.why == found.why


# --- what is warned of


def test_the_first_parameter_that_no_trial_had_is_warned_of_once() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    [said] = warned(lambda: study.optimize(conditional, n_trials=12))
    assert said.startswith("parameter '")
    assert "is drawn at random: no trial had it before, and so it will be with others that are new; later" in said
    assert said.endswith("QuadratSampler(search_space=qd.Space(...)), with when= for parameters that depend on another")
    assert not warned(lambda: study.optimize(conditional, n_trials=5)), "once for each study"
    other = optuna.create_study(sampler=study.sampler, study_name="other")
    assert len(warned(lambda: other.optimize(conditional, n_trials=12))) == 1


def test_where_it_stands_is_the_objective() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))

    def later(trial: Trial) -> float:
        return trial.suggest_float("x", 0, 1) + (trial.suggest_float("y", 0, 1) if trial.number else 0)

    with pytest.warns(QuadratWarning, match="parameter 'y'") as caught:
        study.optimize(later, n_trials=3)
    assert caught[0].filename == __file__


def test_the_first_trials_are_not_warned_of() -> None:
    """Also where several begin before one is complete, and where the first ones fail or are pruned."""
    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    together = Barrier(3)

    def begun_together(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number < 2:
            raise optuna.TrialPruned if trial.number else ValueError
        if trial.number < 5:
            together.wait(30)  # none is complete when the last one asks for its first parameter
        if trial.number == 4:
            while not any(one.state is TrialState.COMPLETE for one in study.trials):
                pass
        return x + trial.suggest_float("y", 0, 1)

    def run(_: int) -> None:
        study.optimize(begun_together, n_trials=1, catch=ValueError)

    def all_of_them() -> None:
        run(0)
        run(1)
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(run, range(3)))
        run(5)

    assert warned(all_of_them) == []


@pytest.mark.parametrize("given", [qd.Space(x=qd.Float(0, 1)), {"x": FloatDistribution(0, 1)}])
def test_a_parameter_that_the_search_space_lacks_is_warned_of_at_once(given: Any) -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=given))
    said = warned(lambda: study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_float("z", 0, 1), n_trials=4))
    assert said == ["parameter 'z' is drawn at random: search_space does not have it; add it there"]


def test_bounds_other_than_those_of_the_search_space_are_warned_of() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space={"x": FloatDistribution(0, 1)}))
    said = warned(lambda: study.optimize(lambda t: t.suggest_float("x", 2, 3), n_trials=2))
    assert len(said) == 1
    assert said[0].startswith(
        "parameter 'x' is drawn at random where its suggestion is outside of what the objective asks for"
    )


@pytest.mark.parametrize("known", [True, False])
def test_what_is_known_is_not_warned_of(known: bool) -> None:
    """Nor what has one value, nor what the user enqueued."""

    def fine(trial: Trial) -> float:
        params = qd.suggest(trial, TREE) if known else {"x": trial.suggest_float("x", 0, 1)}
        return float(len(str(params))) + trial.suggest_int("one", 1, 1)

    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=TREE if known else None))
    study.enqueue_trial({"x": 0.25, "model": "svm"})
    study.enqueue_trial({"model": "lgbm"})
    study.enqueue_trial({"model": "svm"})
    assert warned(lambda: study.optimize(fine, n_trials=8)) == []


@pytest.mark.parametrize("known", [True, False])
def test_a_parameter_that_no_search_could_tell_apart_is_warned_of(known: bool) -> None:
    def fine(trial: Trial) -> float:
        return trial.suggest_float("x", 0, 1) + trial.suggest_float("tiny", 0, 5e-324)

    given = {"x": FloatDistribution(0, 1), "tiny": FloatDistribution(0, 5e-324)} if known else None
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=given))
    assert warned(lambda: study.optimize(fine, n_trials=3))[0] == (
        "parameter 'tiny' is drawn at random: no number between 0 and 1 tells the values from 0.0 to 5e-324 apart;"
        " search over a multiple or a difference instead"
    )


def test_of_choices_that_python_calls_equal_one_is_searched() -> None:
    """Optuna takes 1 for True, so that no trial would ever have it, nor come to a branch behind it."""

    def objective(trial: Trial) -> float:
        choice = trial.suggest_categorical("choice", [None, True, "1", 1, 0, False])
        return 0.0 if choice is None else 1.0 + (trial.suggest_float("x", 0, 1) if choice == "1" else 0.0)

    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    warned(lambda: study.optimize(objective, n_trials=14))
    assert {repr(trial.params["choice"]) for trial in study.trials} == {"None", "True", "'1'", "0"}
    assert recommend(study).params == {"choice": None}


def test_a_sampler_for_what_is_drawn_alone_is_the_users_choice() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, independent_sampler=RandomSampler(seed=0)))
    assert warned(lambda: study.optimize(conditional, n_trials=10)) == []


def test_a_sampler_that_was_copied_to_another_process_warns_there() -> None:
    sampler = QuadratSampler(seed=0)
    assert len(warned(lambda: optuna.create_study(sampler=sampler).optimize(conditional, n_trials=12))) == 1
    copied = copy.deepcopy(sampler)  # by what a pickle is made from
    assert len(warned(lambda: optuna.create_study(sampler=copied).optimize(conditional, n_trials=12))) == 1


def test_trials_outside_of_a_given_space_are_counted() -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 1) - 0.3) ** 2, n_trials=8)
    outside = sum(trial.params["x"] < 0.6 for trial in study.trials)
    assert 0 < outside < 8
    with pytest.warns(QuadratWarning, match=rf"outside of the search space \({outside}\) do not count; widen it"):
        found = recommend(study, search_space=qd.Space(x=qd.Float(0.6, 1)))
    assert found.why.endswith(f" Complete trials outside of the search space do not count: {outside}.")
    assert "outside" not in recommend(study).why


@pytest.mark.parametrize("study", [[], None, "study"])
def test_what_is_no_study_is_refused(study: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^study: expected a study of Optuna's, got "):
        recommend(study)


def test_a_search_space_of_other_things_is_refused() -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    with pytest.raises(InvalidInput, match=r"^search_space: expected a Space, or distributions of Optuna's"):
        recommend(study, search_space={"x": (0, 1)})  # type: ignore[dict-item]
