"""QuadratSampler in studies: what it is told, what it suggests, and that this depends on the history alone."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable, QuadratWarning
from quadrat.integrations import QuadratSampler, recommend
from quadrat.methods import Auto, RandomSearch
from quadrat.methods.base import Failure, Method, Observation, Pruned
from quadrat.optimizer.outcome import Reading
from quadrat.space import Categorical, Float, Int, Space
from quadrat.studies import engine as study_engine
from quadrat.studies import sampler as optuna_sampler
from quadrat.studies.engine import StudyEngine
from quadrat.studies.running_trials import RunningTrials, publish
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR, reading_of_trial

SPACE = {"x": FloatDistribution(-1, 1), "n": IntDistribution(1, 8), "kind": CategoricalDistribution(["a", "b"])}
BEGIN = datetime(2026, 1, 1)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def objective(trial: Trial) -> float:
    x, n = trial.suggest_float("x", -1, 1), trial.suggest_int("n", 1, 8)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return (x - 0.4) ** 2 + 0.1 * abs(n - 5) + 0.3 * (kind == "a")


def study_of(n: int = 0, **settings: Any) -> Study:
    study = optuna.create_study(sampler=QuadratSampler(**{"seed": 0, **settings}))
    study.optimize(objective, n_trials=n)
    return study


def params_of(study: Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def finished(
    number: int, value: float | None = 1.0, state: TrialState = TrialState.COMPLETE, **more: Any
) -> FrozenTrial:
    """A trial that finished at its own number of minutes."""
    rng = np.random.default_rng(number)
    params = more.pop("params", {"x": float(rng.uniform(-1, 1)), "n": int(rng.integers(1, 9)), "kind": "b"})
    trial = create_trial(
        state=state, value=value, params=params, distributions={name: SPACE[name] for name in params}, **more
    )
    trial.datetime_complete = BEGIN + timedelta(minutes=number)
    return trial


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Everything that any search is told."""
    seen: list[Any] = []
    original = StudyEngine.follow

    def follow(self: StudyEngine, trials: Any) -> None:
        rebuild = self.run.search.rebuild

        def noted(update: Any) -> None:
            seen.extend(update)
            rebuild(update)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.run.search, "rebuild", noted)
            original(self, trials)

    monkeypatch.setattr(StudyEngine, "follow", follow)
    return seen


# --- what it suggests


def test_it_finds_a_minimum_and_a_maximum() -> None:
    study = study_of(25)
    assert study.best_value < 0.02
    upward = optuna.create_study(direction="maximize", sampler=QuadratSampler(seed=0))
    upward.optimize(lambda trial: -objective(trial), n_trials=25)
    assert params_of(upward) == params_of(study)


def test_the_first_trial_is_the_centre_and_the_next_are_the_design() -> None:
    study = study_of(2)
    assert study.trials[0].params == {"x": 0.0, "n": 5, "kind": "b"}
    known = study_of(3, search_space=SPACE)
    assert known.trials[0].params == study.trials[0].params
    assert known.trials[1].params == study.trials[1].params, "once one trial is over its space is known"


def test_the_same_seed_gives_the_same_study_and_another_one_does_not() -> None:
    assert params_of(study_of(10)) == params_of(study_of(10))
    assert params_of(study_of(10)) != params_of(study_of(10, seed=1))
    assert params_of(study_of(4, seed=None)) != params_of(study_of(4, seed=None))


@pytest.mark.parametrize("how", ["new sampler", "pickled", "copied", "from storage"])
def test_a_resumed_study_goes_on_as_if_it_had_not_been_interrupted(how: str, tmp_path: Path) -> None:
    whole = study_of(14)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "log"))) if how == "from storage" else None
    study = optuna.create_study(sampler=QuadratSampler(seed=0), storage=storage, study_name="s")
    study.optimize(objective, n_trials=8)
    if how == "from storage":
        again = JournalStorage(JournalFileBackend(str(tmp_path / "log")))
        study = optuna.load_study(study_name="s", storage=again, sampler=QuadratSampler(seed=0))
    else:
        ways: dict[str, Callable[[Any], Any]] = {
            "new sampler": lambda _: QuadratSampler(seed=0),
            "pickled": lambda sampler: pickle.loads(pickle.dumps(sampler)),  # noqa: S301
            "copied": copy.deepcopy,
        }
        study.sampler = ways[how](study.sampler)
    study.optimize(objective, n_trials=6)
    assert params_of(study) == params_of(whole)


def test_trials_that_run_count_as_pending() -> None:
    study = study_of(8)
    several = [study.ask() for _ in range(4)]
    for trial in several:
        objective(trial)  # asks for its parameters
    points = [(trial.params["x"], trial.params["n"], trial.params["kind"]) for trial in several]
    assert len(set(points)) == 4
    alone = study_of(8)
    first = alone.ask()
    objective(first)
    assert first.params == several[0].params


def test_what_was_chosen_is_seen_by_others_before_it_is_asked_for() -> None:
    """Optuna writes a parameter down when the objective asks for it; others see all of them from the first on."""
    study, other = study_of(8), study_of(8)
    first, second = study.ask(), study.ask()
    first.suggest_float("x", -1, 1)
    objective(second)
    assert study.trials[first.number].params.keys() == {"x"}
    objective(other.ask())
    objective(after := other.ask())
    assert second.params == after.params


def test_threads_share_a_sampler() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=SPACE))
    study.optimize(objective, n_trials=12, n_jobs=3)
    assert len(study.trials) == 12
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)


def test_threads_do_not_evaluate_the_same_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one has chosen is published before the next one chooses, however long that takes."""

    def slowly(*args: Any) -> None:
        time.sleep(0.02)
        publish(*args)

    monkeypatch.setattr("quadrat.studies.sampler.publish", slowly)
    study = study_of(6, search_space=SPACE)
    trials = [study.ask() for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(objective, trials))
    assert len({tuple(trial.params.values()) for trial in trials}) == 3


@pytest.mark.parametrize("is_earlier", [True, False])
def test_of_two_processes_that_choose_at_once_the_later_trial_yields(
    is_earlier: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a trial is chosen for, another process publishes the very same for its own."""
    study = study_of(6, search_space=SPACE)
    first, second = study.ask(), study.ask()
    mine, other = (second, first) if is_earlier else (first, second)
    ask = StudyEngine.ask
    published: list[dict[str, Any]] = []

    def asked(self: StudyEngine, number: int, running: dict[int, Any], fixed: Any) -> tuple[dict[str, Any], str]:
        params, why = ask(self, number, running, fixed)
        if not published:
            published.append(params)
            publish(study, study.trials[other.number], params, SPACE, why, RandomSearch())
        return params, why

    monkeypatch.setattr(StudyEngine, "ask", asked)
    objective(mine)
    assert (mine.params != published[0]) == is_earlier


def test_a_trial_that_was_begun_before_keeps_what_was_chosen() -> None:
    study = study_of(6, search_space=SPACE)
    begun = study.ask()
    chosen = dict(begun.relative_params)
    study.optimize(objective, n_trials=3)
    again = optuna.trial.Trial(study, begun._trial_id)
    objective(again)
    assert again.params == chosen


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
def test_choices_of_any_kind_are_published() -> None:
    """Also those that JSON has no word for."""
    choices: list[Any] = [(1, 2), None, "a", 2.5]
    space = {"choice": optuna.distributions.CategoricalDistribution(choices)}
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=space))
    trials = [study.ask() for _ in range(4)]
    for trial in trials:
        assert optuna_sampler.chosen_params(study.trials[trial.number], space) == {}
        assert trial.relative_params["choice"] in choices
        found = optuna_sampler.chosen_params(study.trials[trial.number], space)
        assert found == trial.relative_params
    assert len({trial.relative_params["choice"] for trial in trials}) == 4


def test_a_parameter_that_trials_have_by_turns_is_searched_and_told_of() -> None:
    def dynamic(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return x + (trial.suggest_float("extra", 1e-3, 1.0, log=True) if trial.number % 2 else 0.0)

    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    with pytest.warns(QuadratWarning) as caught:
        study.optimize(dynamic, n_trials=14)
    first, second = (str(one.message) for one in caught)
    assert first.startswith("parameter 'extra' is drawn at random: no trial had it before")
    assert second.startswith("parameter 'extra' is in some trials and not in others, and no parameter asked for before")
    extras = [trial.params["extra"] for trial in study.trials if "extra" in trial.params]
    assert len(extras) == 7
    assert all(1e-3 <= extra <= 1 for extra in extras)
    again = optuna.create_study(sampler=QuadratSampler(seed=0))
    with pytest.warns(QuadratWarning):
        again.optimize(dynamic, n_trials=14)
    assert params_of(again) == params_of(study)


NARROW: list[Any] = [{"x": FloatDistribution(0, 0.5)}, Space(x=Float(0, 0.5))]


@pytest.mark.parametrize("space", NARROW, ids=["distributions", "space"])
def test_bounds_that_are_narrower_than_the_objectives_are_told_once(space: Any) -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=space))
    with pytest.warns(QuadratWarning, match="'x' is suggested from 0.0 to 0.5 .* asks for 0.0 to 1.0; give") as seen:
        study.optimize(lambda trial: -trial.suggest_float("x", 0, 1), n_trials=5)
    assert len(seen) == 1
    assert max(trial.params["x"] for trial in study.trials) <= 0.5


@pytest.mark.parametrize("space", NARROW, ids=["distributions", "space"])
def test_complete_trials_outside_of_the_space_are_told_once(space: Any) -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=space))
    for x in (0.2, 0.7, 0.9):
        distributions: dict[str, Any] = {"x": FloatDistribution(x - 0.1, x) if x > 0.5 else FloatDistribution(0, 0.5)}
        study.add_trial(create_trial(params={"x": x}, distributions=distributions, value=x))
    with pytest.warns(QuadratWarning, match="'x' is suggested from"):
        study.ask().suggest_float("x", 0, 0.5)
    study.ask().suggest_float("x", 0, 0.5)
    with pytest.warns(QuadratWarning, match=r"^complete trials that are outside of the search space \(2\) do not"):
        qd.recommend(study, search_space=space)
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=space))
    study.add_trial(create_trial(params={"z": 0.1}, distributions={"z": FloatDistribution(0, 1)}, value=1.0))
    study.add_trial(create_trial(state=TrialState.FAIL))
    with pytest.warns(QuadratWarning, match=r"^suggestions do not rest on complete trials without the parameter 'x'"):
        study.ask().suggest_float("x", 0, 0.5)
    study.ask().suggest_float("x", 0, 0.5)


def test_distributions_of_one_value_are_part_of_every_trial() -> None:
    single = {
        "n": optuna.distributions.IntDistribution(3, 3),
        "log": optuna.distributions.IntDistribution(3, 3, log=True),
        "f": FloatDistribution(1, 1),
        "c": optuna.distributions.CategoricalDistribution(["a"]),
    }
    own = Space(x=Float(0, 1), n=Int(3, 3), log=Int(3, 3, log=True), f=Float(1, 1), c=Categorical(["a"]))

    def valued(trial: Trial) -> float:
        fixed = [trial._suggest(name, distribution) for name, distribution in single.items()]
        assert fixed == [3, 3, 1.0, "a"]
        return abs(trial.suggest_float("x", 0, 1) - 0.3)

    found = []
    for space in (None, {"x": FloatDistribution(0, 1), **single}, own):
        study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=space))
        study.optimize(valued, n_trials=8)
        found.append(params_of(study))
        best = qd.recommend(study, search_space=space)
        assert {name: best.params[name] for name in single} == {"n": 3, "log": 3, "f": 1.0, "c": "a"}
    assert found[1] == found[2], "nothing but x is searched"


def test_an_independent_sampler_of_the_users_own() -> None:
    study = optuna.create_study(
        sampler=QuadratSampler(seed=0, independent_sampler=optuna.samplers.RandomSampler(seed=7))
    )
    study.optimize(objective, n_trials=1)
    alone = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=7))
    alone.optimize(objective, n_trials=1)
    assert params_of(study) == params_of(alone)


TREE = qd.Space(
    kind=qd.Categorical(["linear", "tree"]),
    depth=qd.Int(1, 9, when={"kind": "tree"}),
    rate=qd.Float(1e-4, 1, log=True),
    device=qd.Fixed("cpu"),
)


def grow(trial: Trial) -> float:
    params = qd.suggest(trial, TREE)
    assert params["device"] == "cpu"
    return abs(float(np.log10(params["rate"])) + 2) + (
        abs(params["depth"] - 6) / 9 if params["kind"] == "tree" else 1.0
    )


def test_a_space_of_ours_with_its_conditions() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=TREE))
    study.optimize(grow, n_trials=20)
    assert all(("depth" in trial.params) == (trial.params["kind"] == "tree") for trial in study.trials)
    assert {trial.params["kind"] for trial in study.trials} == {"linear", "tree"}
    assert study.best_value < 0.25
    found = qd.recommend(study, search_space=TREE)
    assert found.params["kind"] == "tree"
    assert list(found.params) == ["kind", "depth", "rate", "device"]
    again = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=TREE))
    for trial in study.trials[:12]:
        again.add_trial(trial)
    again.optimize(grow, n_trials=3)
    assert params_of(again) == params_of(study)[:15]


def test_a_space_suggests_what_an_optimizer_would() -> None:
    """One trial after another: the study and the optimizer have the same history and the same numbers."""
    study = optuna.create_study(sampler=QuadratSampler(seed=3, search_space=TREE))
    study.optimize(grow, n_trials=12)
    optimizer = qd.Optimizer(TREE, direction="minimize", seed=3)
    for trial in study.trials:
        asked = optimizer.ask()
        assert asked.params == trial.params
        assert trial.value is not None
        optimizer.tell(asked, trial.value)


def test_what_a_space_forbids_is_not_suggested() -> None:
    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1)).subject_to(lambda p: p["x"] + p["y"] <= 1)
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=space))
    study.optimize(lambda trial: -sum(qd.suggest(trial, space).values()), n_trials=12)
    assert max(trial.params["x"] + trial.params["y"] for trial in study.trials) <= 1


# --- what it is told


def test_trials_are_told_once_in_the_order_of_finishing(told: list[Any]) -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=SPACE))
    for number in (2, 0, 1):
        study.add_trial(finished(number))
    objective(study.ask())
    assert [one.number for one in told] == [1, 2, 0], "the trial that finished first has the number 1"
    study.tell(3, 0.5)
    objective(study.ask())
    assert [one.number for one in told] == [1, 2, 0, 3]


def test_a_trial_that_finished_earlier_than_known_ones_takes_its_place() -> None:
    """As when clocks or storages lag: the search is that of a process which saw all in order."""
    late = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=SPACE))
    for number in range(5):
        late.add_trial(finished(2 * number, value=float(number)))
    objective(late.ask())
    late.add_trial(finished(3, value=9.0))
    objective(trial := late.ask())
    other = QuadratSampler(seed=0, search_space=SPACE)
    assert other.sample_relative(late, late.trials[trial.number], SPACE) == trial.params


def test_outcomes(told: list[Any]) -> None:
    """Values are turned for a minimum; pruned trials have no value, whatever they reported, and are no failures."""
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=SPACE))
    study.add_trial(finished(0, 2.0))
    study.add_trial(finished(1, None, TrialState.PRUNED, intermediate_values={0: 5.0, 3: 4.0}))
    study.add_trial(finished(2, None, TrialState.PRUNED))
    study.add_trial(finished(3, None, TrialState.FAIL))
    study.add_trial(finished(4, 2.0, user_attrs={REPLICATES: [1.0, 3.0]}))
    study.add_trial(finished(5, 2.0, user_attrs={STANDARD_ERROR: 0.5}))
    study.add_trial(finished(6, 2.0, params={"x": 0.5}))
    study.add_trial(finished(7, 1.5, TrialState.PRUNED, intermediate_values={0: float("nan")}))
    with pytest.warns(QuadratWarning, match="without the parameter 'kind' of search_space, such as trial 6"):
        objective(study.ask())
    assert [type(one) for one in told] == [Observation, Pruned, Pruned, Failure, Observation, Observation, Pruned]
    assert [one.values.tolist() for one in told if isinstance(one, Observation)] == [[-2.0], [-1.0, -3.0], [-2.0]]
    assert told[5].variance == 0.25
    assert told[0].variance is None


def test_what_failed_is_not_asked_for_again() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))

    def fails(trial: Trial) -> float:
        if trial.suggest_int("n", 0, 2) == 1:
            raise ValueError
        return float(trial.params["n"])

    with pytest.warns(QuadratWarning, match="all 3 settings evaluated"):  # two repeats say that there is no noise
        study.optimize(fails, n_trials=8, catch=ValueError)
    assert [trial.params["n"] for trial in study.trials].count(1) == 1


@pytest.mark.parametrize("form", ["constraints_func", "set by the trial"])
def test_constraints_of_either_form_are_respected(form: str, told: list[Any]) -> None:
    if form == "set by the trial" and not hasattr(Trial, "set_constraint"):
        pytest.skip("this Optuna's trials set no constraints")

    def limited(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        trial.set_user_attr("excess", x - 0.5)
        if form == "set by the trial":
            trial.set_constraint("size", x - 0.5)
        return -x

    func: Callable[[FrozenTrial], list[float]] | None = None
    if form == "constraints_func":
        func = lambda trial: [trial.user_attrs["excess"]]  # noqa: E731
    study = optuna.create_study(sampler=QuadratSampler(seed=0, constraints_func=func))
    study.optimize(limited, n_trials=15)
    constrained = [one for one in told if isinstance(one, Observation)]
    assert all(one.constraints == (study.trials[one.number].params["x"] - 0.5,) for one in constrained)
    late = [trial.params["x"] for trial in study.trials[8:]]
    assert max(x for x in late if x <= 0.5) > 0.45
    assert sum(x > 0.55 for x in late) <= 2
    found = recommend(study)
    assert 0.4 < found.params["x"] <= 0.5
    assert found.estimated_feasibility is not None


def test_the_history_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No suggestion begins a new search; only new trials are read."""
    study = study_of(10)
    read: list[int] = []
    original = reading_of_trial

    def noted(trial: FrozenTrial, names: tuple[str, ...], method: Method) -> Reading:
        read.append(trial.number)
        return original(trial, names, method)

    monkeypatch.setattr(study_engine, "reading_of_trial", noted)
    study.optimize(objective, n_trials=3)
    assert read == [9, 10, 11]


# --- what is refused


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InvalidInput, match="expected a Space, or distributions of Optuna"):
        QuadratSampler(search_space={"x": (0, 1)})  # type: ignore[dict-item]
    with pytest.raises(InvalidInput):
        QuadratSampler(seed=-1)
    with pytest.raises(InvalidInput):
        QuadratSampler(method="Nothing")


def test_constraints_need_a_method_that_handles_them() -> None:
    study = optuna.create_study(
        sampler=QuadratSampler(seed=0, method="RandomSearch", constraints_func=lambda _: [0.0], search_space=SPACE)
    )
    with pytest.raises(InvalidInput, match="expected a method that handles them, got RandomSearch"):
        study.optimize(objective, n_trials=2)


def test_any_method_may_search() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, method=Auto(n_initial=2), search_space=SPACE))
    study.optimize(objective, n_trials=4)
    assert len(study.trials) == 4


# --- what it recommends


def test_the_recommended_parameters_are_those_of_an_optimizer_told_the_same() -> None:
    study = study_of(15)
    found = recommend(study)
    space = qd.Space(kind=qd.Categorical((0, 1)), n=qd.Int(1, 8), x=qd.Float(-1, 1))
    optimizer = qd.Optimizer(space, direction="minimize")
    optimizer.add_trials(
        [{**trial.params, "kind": "ab".index(trial.params["kind"])} for trial in study.trials],
        [trial.value for trial in study.trials if trial.value is not None],
    )
    expected = optimizer.recommend()
    assert found.value == expected.value
    assert found.credible_interval == expected.credible_interval
    assert {**found.params, "kind": "ab".index(found.params["kind"])} == expected.params
    assert found.best_seen.number == study.best_trial.number
    assert found.best_seen.params == study.best_params


def test_numbers_are_those_of_the_study() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0, search_space=SPACE))
    study.add_trial(finished(0, None, TrialState.PRUNED, params={"x": 0.1}))
    for number in range(1, 6):
        study.add_trial(finished(number, float(number)))
    found = recommend(study, search_space=SPACE)
    assert found.best_seen.number == 1
    assert "rial 1" in found.why


def test_a_parameter_with_one_value_is_recommended_too() -> None:
    study = optuna.create_study(sampler=QuadratSampler(seed=0))
    study.optimize(
        lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("one", 3, 3) + len(t.suggest_categorical("c", ["k"])), 6
    )
    assert recommend(study).params.items() >= {"one": 3, "c": "k"}.items()


def test_nothing_to_recommend_is_said() -> None:
    empty = optuna.create_study(sampler=QuadratSampler(seed=0))
    with pytest.raises(NotAvailable, match="at least one complete trial"):
        recommend(empty)
    several = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(InvalidInput, match="expected one objective, got 2"):
        recommend(several)
    empty.add_trial(finished(0, params={}))
    with pytest.raises(
        InvalidInput, match=r"with a parameter of more than one value, got none: .* study.best_trial has"
    ):
        recommend(empty)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_threshold_is_turned_with_the_values(direction: str) -> None:
    """A level-set method makes the suggestions in a study that it makes in an optimizer of the same direction."""
    method = qd.LevelSet(threshold=0.4, kernel=qd.Matern(2.5, 0.4), norm_bound=1.0, noise=0.05)
    space = qd.Space(x=qd.Float(0, 1))
    optimizer = qd.Optimizer(space, direction=direction, method=method, seed=1)
    sampler = QuadratSampler(search_space=space, method=method, seed=1)
    study = optuna.create_study(direction=direction, sampler=sampler)  # type: ignore[arg-type]  # a literal
    for _ in range(10):
        ours, theirs = optimizer.ask(), study.ask({"x": FloatDistribution(0, 1)})
        assert ours.params == theirs.params
        optimizer.tell(ours, 0.8 * ours.params["x"])
        study.tell(theirs, 0.8 * ours.params["x"])


def test_what_runs_is_read_again_when_it_says_something_else() -> None:
    """What was kept of a trial must not outlive what it was read from, nor the trial."""
    study = study_of(2, search_space=SPACE)
    running = RunningTrials(SPACE)
    first, second = study.ask(), study.ask()

    def seen() -> dict[int, dict[str, Any]]:
        return running.beside(second.number, study.get_trials(deepcopy=False))

    assert seen() == {}, "nothing was chosen yet"
    objective(first)
    chosen = seen()
    assert chosen == {first.number: first.params} == seen()
    other = {**first.params, "x": 0.25}
    study._storage.set_trial_param(first._trial_id, "x", 0.25, SPACE["x"])
    assert seen() == {first.number: other}, "what was asked for counts before what was chosen"
    study.tell(first, 1.0)
    assert seen() == {}


def test_stated_noise_is_that_of_the_default_method() -> None:
    samplers = [QuadratSampler(seed=0, noise=0), QuadratSampler(seed=0, method="Auto(noise=0)")]
    studies = [optuna.create_study(sampler=sampler) for sampler in samplers]
    for study in studies:
        study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=9)
    assert [trial.params for trial in studies[0].trials] == [trial.params for trial in studies[1].trials]
    for study in studies:
        found = recommend(study)
        assert (found.noise, found.noise_stated, found.value) == (0.0, True, study.best_value)
    with pytest.raises(InvalidInput, match="noise: expected None beside a method"):
        QuadratSampler(method="RandomSearch", noise=0.1)
    with pytest.raises(InvalidInput, match=r"noise: expected a finite number >= 0"):
        QuadratSampler(noise=-1)
