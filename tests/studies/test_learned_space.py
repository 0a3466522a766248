"""The space that trials show: its conditions, what is read and shown, and the search in it."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import Trial, TrialState

import quadrat as qd
from quadrat.errors import InvalidInput, QuadratWarning
from quadrat.studies.conditions import Form, Place, Requirement
from quadrat.studies.learned_space import LearnedSpace

UNIT = FloatDistribution(0, 1)
KIND = CategoricalDistribution(["sgd", "adam", "plain"])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QuadratWarning)
        yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def space_of(*places: Place) -> LearnedSpace:
    return LearnedSpace(Form(places, tuple({place.name: place.distribution for place in places}.items())))


def by_kind(*codes: int) -> tuple[Requirement, ...]:
    return (Requirement("kind", codes),)


RATES = space_of(
    Place("device", by_kind(1), CategoricalDistribution(["gpu"])),
    Place("kind", (), KIND),
    Place("momentum", by_kind(0), UNIT),
    Place("rate", by_kind(0), FloatDistribution(0.1, 1)),
    Place("rate", by_kind(1), FloatDistribution(0, 0.01)),
)


def test_a_name_with_bounds_of_its_own_in_each_branch() -> None:
    assert RATES.space.names == ("kind", "momentum", "rate (kind = adam)", "rate (kind = sgd)")
    adam = {"kind": "adam", "rate": 0.005, "device": "gpu"}
    assert RATES.read(adam) == {"kind": 1, "rate (kind = adam)": 0.005}
    assert RATES.show(RATES.read(adam) or {}) == adam
    assert RATES.read({"kind": "adam", "rate": 0.5}) is None, "outside of the bounds of this branch"
    assert RATES.read({"kind": "sgd", "rate": 0.5}) == {"kind": 0, "momentum": 0.5, "rate (kind = sgd)": 0.5}, (
        "what is missing is in the middle"
    )
    assert RATES.read({"other": 1.0}) is None


def test_what_a_trial_was_not_asked_for_is_what_was_chosen_for_it() -> None:
    chosen = {"momentum": 0.9, "rate": 0.02}
    assert RATES.read({"kind": "sgd", "rate": 0.2}, chosen) == {
        "kind": 0, "momentum": 0.9, "rate (kind = sgd)": 0.2
    }  # fmt: skip
    assert RATES.read({"kind": "adam"}, chosen) == {"kind": 1, "rate (kind = adam)": 0.005}, "outside: the middle"


def test_what_is_not_known_of_parameters_is_said_with_a_cure() -> None:
    places = Place("x", (), UNIT), Place("kind", (), KIND), Place("odd", (), UNIT)
    form = Form(places, tuple((place.name, place.distribution) for place in places))
    assert LearnedSpace(form).caveats("see there") == {}
    said = LearnedSpace(replace(form, unexplained=("odd",), appeared=(("kind", 7),))).caveats("see there")
    assert said["unexplained"].endswith("says when: it is modelled as if all had it; see there")
    assert said["appeared"].startswith("parameter 'kind' is in no trial before 7; these count as if they had it in the")
    assert said["appeared"].endswith("'adam'; if the objective changed, begin a new study, else see there")
    gone = LearnedSpace(replace(form, unexplained=("odd",), gone=(("odd", 3),))).caveats("see there")
    assert gone["unexplained"].startswith("parameter 'odd' is in no trial after 3; if the objective changed")


def test_children_of_a_parameter_that_is_several() -> None:
    learned = space_of(
        Place("kind", (), KIND),
        Place("n", by_kind(0), IntDistribution(1, 4)),
        Place("n", by_kind(1), IntDistribution(2, 20, step=2)),
        Place("width", (Requirement("n", low=4),), UNIT),
    )
    assert learned.space.names[-2:] == ("width (n = 4 or 6 or 8 or 10 or 12 or 14 or 16 or 18 or 20)", "width (n = 4)")
    read = learned.read({"kind": "adam", "n": 6, "width": 0.25})
    assert read is not None
    assert learned.show(read) == {"kind": "adam", "n": 6, "width": 0.25}
    assert learned.show(learned.read({"kind": "adam", "n": 2}) or {}) == {"kind": "adam", "n": 2}


def test_conditions_that_a_space_does_not_have_are_left_out() -> None:
    """About floats and about integers of very many values; and those in a circle."""
    large = IntDistribution(1, 10**6)
    learned = space_of(
        Place("n", (), large), Place("x", (), UNIT), Place("y", (Requirement("n", low=9),), UNIT),
        Place("z", (Requirement("x", low=0.5),), UNIT),
    )  # fmt: skip
    assert all(parameter.when is None for parameter in learned.space.values())
    on = CategoricalDistribution([False, True])
    circle = space_of(Place("a", (Requirement("b", (1,)),), on), Place("b", (Requirement("a", (1,)),), on))
    assert circle.space.names == ("a", "b")
    assert all(parameter.when is None for parameter in circle.space.values())


def test_nothing_that_varies() -> None:
    empty = space_of(Place("one", (), IntDistribution(3, 3)))
    assert empty.is_empty
    with pytest.raises(InvalidInput, match="at least one parameter that can vary"):
        empty.space  # noqa: B018


def test_the_way_to_a_branch_that_no_trial_visited() -> None:
    booster = CategoricalDistribution(["tree", "dart"])
    learned = space_of(
        Place("kind", (), KIND),
        Place("booster", by_kind(1), booster),
        Place("drop", (Requirement("booster", (1,)),), UNIT),
        Place("x", (), UNIT),
    )
    seen = [learned.codes({"kind": kind, "x": 0.5}) for kind in ("sgd", "adam", "plain")]
    assert learned.unvisited(seen) == {"kind": 1, "booster": 0}
    seen.append(learned.codes({"kind": "adam", "booster": "tree"}))
    assert learned.unvisited(seen) == {"kind": 1, "booster": 1}
    made = learned.completed({"kind": 0, "x": 0.25}, {}, {"kind": 1, "booster": 1}, 0, 7)
    assert (made["kind"], made["booster"], made["x"]) == (1, 1, 0.25)
    assert 0 <= made["drop"] <= 1
    assert made == learned.completed({"kind": 0, "x": 0.25}, {}, {"kind": 1, "booster": 1}, 0, 7)
    fixed = learned.completed({"kind": 0, "x": 0.25}, {"kind": "adam", "x": 0.75}, {}, 0, 7)
    assert (fixed["kind"], fixed["x"]) == (1, 0.75)
    assert "booster" in fixed
    seen.append(learned.codes({"kind": "adam", "booster": "dart"}))
    assert learned.unvisited(seen) == {}


# --- studies


def models(trial: Trial) -> float:
    model = trial.suggest_categorical("model", ["a", "b", "c", "d"])
    value = {"a": 0.3, "b": 0.2, "c": 0.0, "d": 0.1}[model]
    for i in range("abcd".index(model) + 1):
        value += (trial.suggest_float(f"{model}_{i}", 0, 1) - 0.3) ** 2
    return value


def study_of(n: int = 0, objective: Any = models, seed: int = 0) -> Study:
    study = optuna.create_study(sampler=qd.QuadratSampler(seed=seed))
    study.optimize(objective, n_trials=n, catch=ValueError)
    return study


def params_of(study: Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


@pytest.mark.parametrize("seed", range(3))
def test_every_branch_is_visited_before_long_and_the_best_one_is_searched(seed: int) -> None:
    study = study_of(25, seed=seed)
    assert {trial.params["model"] for trial in study.trials[:8]} == {"a", "b", "c", "d"}
    assert study.best_params["model"] == "c"
    assert study.best_value < 0.02


def test_a_suggestion_follows_from_seed_and_history() -> None:
    """Whoever makes it: the process that ran all of it, one that comes later, and a copy of the sampler."""
    study = study_of(16)
    for n in (3, 9):
        again = optuna.create_study(sampler=qd.QuadratSampler(seed=0))
        again.add_trials(study.trials[:n])
        again.optimize(models, n_trials=16 - n)
        assert params_of(again) == params_of(study)
    sampler = copy.deepcopy(study.sampler)
    study.optimize(models, n_trials=2)
    again = optuna.create_study(sampler=sampler)
    again.add_trials(study.trials[:16])
    again.optimize(models, n_trials=2)
    assert params_of(again) == params_of(study)


@pytest.mark.parametrize("storage", ["journal", "sqlite"])
def test_a_storage_keeps_what_is_needed(storage: str, tmp_path: Path) -> None:
    where: Any = qd.journal_storage(tmp_path / "j") if storage == "journal" else f"sqlite:///{tmp_path}/study.db"
    for _ in range(3):
        study = optuna.create_study(
            study_name="s", storage=where, sampler=qd.QuadratSampler(seed=0), load_if_exists=True
        )
        study.optimize(models, n_trials=3)
    assert params_of(study) == params_of(study_of(9))


@pytest.mark.parametrize("other", [RandomSampler(seed=1), TPESampler(seed=1)], ids=["random", "TPE"])
def test_trials_of_other_samplers_show_the_space(other: Any) -> None:
    study = optuna.create_study(sampler=other)
    study.optimize(models, n_trials=20)
    study.sampler = qd.QuadratSampler(seed=0)
    study.optimize(models, n_trials=1)
    [chosen] = [json.loads(study.trials[-1].system_attrs["quadrat:params:0"])]
    asked = set(study.trials[-1].params)
    assert asked <= chosen.keys(), "all that the objective asked for was chosen together"


def test_trials_that_failed_and_were_pruned_half_way_show_the_space() -> None:
    def breaks(trial: Trial) -> float:
        value = models(trial)
        if trial.number in (1, 2, 3, 4):
            raise ValueError if trial.number % 2 else optuna.TrialPruned
        if trial.number == 5:
            trial.suggest_float("late", 0, 1)
        return value

    study = study_of(8, breaks)
    states = [trial.state for trial in study.trials[:6]]
    assert states == [TrialState.COMPLETE, *[TrialState.FAIL, TrialState.PRUNED] * 2, TrialState.COMPLETE]
    shown = {trial.params["model"] for trial in study.trials[:5]}
    assert len(shown) >= 3, "a branch that failed was visited"
    assert params_of(study_of(8, breaks)) == params_of(study)


def test_what_is_enqueued_decides_on_what_else_is_chosen() -> None:
    study = study_of(12)
    for model in "abcd":
        study.enqueue_trial({"model": model})
    study.optimize(models, n_trials=4)
    for trial in study.trials[-4:]:
        chosen = json.loads(trial.system_attrs["quadrat:params:0"])
        assert trial.params.keys() <= chosen.keys(), "chosen together, not drawn one by one"


def test_trials_that_are_asked_for_together_visit_different_branches() -> None:
    study = study_of(4)
    trials = [study.ask() for _ in range(4)]
    for trial in trials:
        models(trial)
    assert len({tuple(trial.params.items()) for trial in trials}) == 4
    assert {trial.params["model"] for trial in study.trials} == {"a", "b", "c", "d"}
    for trial in reversed(trials):
        study.tell(trial, models(trial))
    study.optimize(models, n_trials=2)


def test_fixed_distributions() -> None:
    distributions: dict[str, Any] = {"x": UNIT, "n": IntDistribution(1, 4)}
    study = study_of()
    for _ in range(7):
        trial = study.ask(distributions)
        study.tell(trial, (trial.params["x"] - 0.4) ** 2 + trial.params["n"])
    assert all(trial.params.keys() == {"x", "n"} for trial in study.trials)
    assert "quadrat:params:0" in study.trials[1].system_attrs, "known from the second trial on"


def test_bounds_that_follow_another_parameter_do_not_trap_the_search() -> None:
    """What lies outside of them cannot be observed; the search must not choose it again and again."""

    def triangle(trial: Trial) -> float:
        x = trial.suggest_float("x", 0.1, 1)
        return (x - 0.4) ** 2 + (trial.suggest_float("y", 0, x) - 0.3) ** 2

    study = study_of(22, triangle, seed=2)
    assert len({tuple(params.values()) for params in params_of(study)}) >= 20
    assert study.best_value < 0.005


@pytest.mark.parametrize("seed", range(2))
def test_a_parameter_that_exists_above_a_float_does_not_trap_the_search(seed: int) -> None:
    """Where it does not exist nothing can be learned of it; the search must not go there again and again."""

    def penalised(trial: Trial) -> float:
        strength = trial.suggest_float("strength", 0, 1)
        if strength > 0.5:
            return (strength - 0.8) ** 2 + (trial.suggest_float("ratio", 0, 1) - 0.3) ** 2
        return 0.5 + strength

    study = study_of(26, penalised, seed=seed)
    without = [trial.params["strength"] for trial in study.trials if "ratio" not in trial.params]
    assert len(without) < 12
    assert study.best_value < 0.001


def test_a_branch_beyond_a_float_is_looked_for_once() -> None:
    """It is forced where no trial visited it; the objective may not come to it."""

    def deep(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if x > 0.8 and trial.suggest_categorical("kind", ["a", "b", "c", "d"]) == "a":
            return 1 + x + trial.suggest_float("y", 0, 1)
        return x

    study = study_of(24, deep, seed=2)
    why = [trial.system_attrs.get("quadrat:params:0", "") for trial in study.trials]
    assert sum("in which no trial was yet" in one for one in why) < 8


def test_baselines_without_parameters_do_not_hinder() -> None:
    def objective(trial: Trial) -> float:
        if trial.number in (0, 4, 5):
            return 1.0
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("model", ["a", "b"]) == "a":
            return (x - 0.3) ** 2 + trial.suggest_float("y", 0, 1)
        return (x - 0.3) ** 2 + 0.3

    study = study_of(20, objective)
    with pytest.warns(QuadratWarning, match=r"^complete trials without parameters \(3\) do not count; give a baseline"):
        found = qd.recommend(study)
    assert found.params.keys() == {"x", "model", "y"}
    assert study.best_value < 0.01


def test_an_objective_that_changed_is_told_of_with_the_recommendation() -> None:
    study = study_of(7, lambda trial: trial.suggest_float("x", 0, 1) - 9)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_float("new", 0, 1), n_trials=3)
    with pytest.warns(QuadratWarning, match=r"'new' is in no trial before 7; these count as if .* middle, 0\.5"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_float("new", 0, 1), n_trials=2)
    with pytest.warns(QuadratWarning, match=r"in no trial before 7.*pass search_space="):
        found = qd.recommend(study)
    assert "Parameter 'new' is in no trial before 7" in found.why


def test_bounds_that_were_narrowed_are_kept_to_and_those_that_were_widened_used() -> None:
    def narrowed(trial: Trial) -> float:
        return -trial.suggest_float("x", 0, 2 if trial.number < 6 else 1)

    def widened(trial: Trial) -> float:
        return -trial.suggest_float("x", 0, 1 if trial.number < 6 else 2)

    study = study_of(9, narrowed)
    assert all(trial.params["x"] <= 1 for trial in study.trials[6:])
    assert qd.recommend(study).params["x"] == study.best_params["x"], "an old trial counts where it was the best"
    assert study_of(12, widened).best_params["x"] > 1.5


@pytest.mark.parametrize("change", ["log", "choices"])
def test_distributions_that_optuna_does_not_mix_are_survived(change: str) -> None:
    """Trials that were added may have other scales and choices than those that the objective asks for."""
    before: dict[str, Any] = {"p": FloatDistribution(0.1, 1), "x": UNIT}
    if change == "choices":
        before["p"] = CategoricalDistribution(["a", "b"])
    study = study_of()
    for i in range(6):
        params = {"p": "ab"[i % 2] if change == "choices" else 0.1 + 0.1 * i, "x": 0.1 * i}
        study.add_trial(optuna.trial.create_trial(params=params, distributions=before, value=float(i)))

    def objective(trial: Trial) -> float:
        if change == "choices":
            value = float("cab".index(trial.suggest_categorical("p", ["c", "a", "b"])))
        else:
            value = trial.suggest_float("p", 0.01, 2, log=True)
        return value + trial.suggest_float("x", 0, 1)

    study.optimize(objective, n_trials=5)
    assert len(study.trials) == 11
    assert qd.recommend(study).params.keys() == {"p", "x"}


def test_a_name_that_is_a_number_here_and_a_choice_there_is_no_trouble() -> None:
    """Trials that were added may disagree on what a parameter is, each in place of the other."""
    study, kind = optuna.create_study(sampler=qd.QuadratSampler(seed=0)), CategoricalDistribution(["a", "b"])
    number = IntDistribution(1, 9)
    for params in ({"x": 1, "n": "a"}, {"x": "a", "n": 3}) * 3:
        distributions: dict[str, BaseDistribution] = {
            name: kind if isinstance(value, str) else number for name, value in params.items()
        }
        study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, value=0.5))
    for _ in range(6):
        trial = study.ask()
        assert isinstance(trial.suggest_int("x", 1, 9), int)
        study.tell(trial, 0.25)
