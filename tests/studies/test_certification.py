"""`qd.certify(study)`: studies of any sampler, in the study's own parameters; what a study shows is checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import optuna
import pytest

import quadrat as qd
from quadrat.confidence import AdaptiveBand
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.optimizer.importing import REPLICATES, STANDARD_ERROR
from quadrat.randomness import generator

STATED = qd.RunAssumptions(
    kernel=qd.Matern(2.5), lengthscales={"rate": 100.0, "width": 30.0}, norm_bound=2.0, offset=0.0, noise=0.05
)
SAID: dict[str, Any] = {"stated_before_data": True, "every_value_counts": True}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def measured(rate: float, width: float) -> float:
    return float((np.log10(rate) + 2) ** 2 / 8 + (width - 25) ** 2 / 900)


def objective(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    width = trial.suggest_float("width", 0.0, 40.0)
    return measured(rate, width) + 0.05 * float(generator(9, trial.number).normal())


def study_of(sampler: optuna.samplers.BaseSampler, n: int = 15) -> optuna.Study:
    study = optuna.create_study(direction="minimize", sampler=sampler)
    study.optimize(objective, n_trials=n)
    return study


@pytest.mark.parametrize(
    "sampler",
    [
        optuna.samplers.RandomSampler(seed=0),
        optuna.samplers.TPESampler(seed=0),
        optuna.samplers.NSGAIISampler(seed=0),
        qd.QuadratSampler(seed=0),
    ],
    ids=lambda sampler: type(sampler).__name__,
)
def test_studies_of_any_sampler_are_certified(sampler: optuna.samplers.BaseSampler) -> None:
    study = study_of(sampler)
    found = qd.certify(study, STATED, params={"rate": 0.01, "width": 25.0}, max_cells=512, **SAID)
    assert found.recommended is not None
    assert found.best_possible is not None
    assert found.best_possible <= 0.0  # the objective reaches 0
    assert found.recommended.params == qd.recommend(study).params
    for point in (found.recommended, *found.asked):
        low, high = point.certified_interval
        assert low <= measured(**point.params) <= high
        assert measured(**point.params) <= point.remaining_regret
    assert found.direction == "minimize"


def test_the_certificate_is_the_same_in_a_storage(tmp_path: Any) -> None:
    kept = optuna.create_study(
        storage=qd.journal_storage(tmp_path / "j"), sampler=optuna.samplers.RandomSampler(seed=0)
    )
    kept.optimize(objective, n_trials=15)
    in_memory = study_of(optuna.samplers.RandomSampler(seed=0))
    assert qd.certify(kept, STATED, max_cells=64, **SAID) == qd.certify(in_memory, STATED, max_cells=64, **SAID)


def test_it_is_about_what_recommend_returns_also_where_noise_is_stated() -> None:
    stated = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 1.0}, norm_bound=4.0, offset=0.0, noise=0.3)
    for seed in (0, 2):
        study = optuna.create_study(sampler=qd.QuadratSampler(method=qd.Auto(noise=1.5), seed=seed))
        study.optimize(
            lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2 + 0.3 * generator(3, trial.number).normal(),
            n_trials=15,
        )
        certified = qd.certify(study, stated, **SAID).recommended
        assert certified is not None
        assert certified.params == qd.recommend(study).params


def test_pruned_trials_are_refused() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 4)
    study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.PRUNED))
    with pytest.raises(NotAvailable, match="got a study of which 1 trial was pruned: a pruner goes by the values seen"):
        qd.certify(study, STATED, **SAID)


def test_failed_and_running_trials_need_a_word() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 4)
    study.tell(study.ask(), state=optuna.trial.TrialState.FAIL)
    study.ask()
    with pytest.raises(InvalidInput, match="because of the trials 1 failed and 1 not ended"):
        qd.certify(study, STATED, **SAID)
    found = qd.certify(study, STATED, failures_ignore_noise=True, max_cells=16, **SAID)
    assert "trials not ended: 1; stated not to depend on the noise" in found.notes
    assert "trials failed: 1; stated not to depend on the noise" in found.notes  # though it has no parameters
    assert found.n_values == 4
    trial = study.ask()
    objective(trial)
    study.tell(trial, state=optuna.trial.TrialState.FAIL)
    found = qd.certify(study, STATED, failures_ignore_noise=True, max_cells=16, **SAID)
    assert [note for note in found.notes if "failed" in note] == ["trials failed: 2; stated not to depend on the noise"]


def test_a_trial_that_waits_has_no_noise_yet() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 4)
    study.enqueue_trial({"rate": 0.1, "width": 3.0})
    assert qd.certify(study, STATED, max_cells=16, **SAID).n_values == 4


def test_statements_are_asked_for() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 4)
    with pytest.raises(InvalidInput, match="stated_before_data: expected True"):
        qd.certify(study, STATED)
    with pytest.raises(InvalidInput, match="every_value_counts: expected True"):
        qd.certify(study, STATED, stated_before_data=True)


def test_added_trials_are_noted() -> None:
    source = study_of(optuna.samplers.RandomSampler(seed=0), 4)
    study = optuna.create_study()
    for trial in source.trials:
        values = {name: trial.params[name] for name in trial.params}
        study.add_trial(optuna.create_trial(params=values, distributions=trial.distributions, value=trial.value))
    assert "trials that were added with their values: 4; stated to be all, and as measured" in (
        qd.certify(study, STATED, max_cells=16, **SAID).notes
    )


def test_missing_numbers_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 6)
    kept = [trial for trial in study.get_trials() if trial.number not in (1, 3)]

    def fewer(
        deepcopy: bool = True, states: tuple[optuna.trial.TrialState, ...] | None = None
    ) -> list[optuna.trial.FrozenTrial]:
        del deepcopy
        return [trial for trial in kept if states is None or trial.state in states]

    monkeypatch.setattr(study, "get_trials", fewer)
    found = qd.certify(study, STATED, max_cells=16, **SAID)
    assert "trials 1, 3 are missing from the study; stated not to have been removed for their values" in found.notes


def test_estimated_standard_errors_are_refused() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 3)
    trial = study.ask()
    trial.set_user_attr(STANDARD_ERROR, 0.1)
    study.tell(trial, objective(trial))
    with pytest.raises(NotAvailable, match="got a standard error: it is an estimate"):
        qd.certify(study, STATED, **SAID)


def test_replicates_count_one_by_one() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 3)
    trial = study.ask()
    trial.set_user_attr(REPLICATES, [0.25, 0.5, 0.75])
    objective(trial)
    study.tell(trial, 0.5)
    found = qd.certify(study, STATED, max_cells=16, **SAID)
    assert (found.n_values, found.n_trials) == (6, 4)


@pytest.mark.parametrize("kind", ["integer", "categorical", "stepped"])
def test_other_parameters_than_floats_are_refused(kind: str) -> None:
    def mixed(trial: optuna.Trial) -> float:
        trial.suggest_float("rate", 1e-4, 1.0, log=True)
        if kind == "integer":
            trial.suggest_int("width", 1, 9)
        elif kind == "stepped":
            trial.suggest_float("width", 0, 1, step=0.25)
        else:
            trial.suggest_categorical("width", ["a", "b"])
        return float(trial.number)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(mixed, n_trials=4)
    with pytest.raises(NotAvailable, match="expected Floats without steps or conditions, got width"):
        qd.certify(study, STATED, **SAID)


def test_bounds_that_changed_are_refused_until_they_are_stated() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 4)

    def wider(trial: optuna.Trial) -> float:
        return measured(trial.suggest_float("rate", 1e-4, 1.0, log=True), trial.suggest_float("width", 0.0, 80.0))

    study.optimize(wider, n_trials=4)
    with pytest.raises(NotAvailable, match="expected bounds that are the same in all trials, got 2 for 'width'"):
        qd.certify(study, STATED, **SAID)
    space = qd.Space(rate=qd.Float(1e-4, 1.0, log=True), width=qd.Float(0, 40))
    found = qd.certify(study, STATED, search_space=space, max_cells=16, **SAID)
    assert any("outside of the search space, which do not count" in note for note in found.notes)


def with_another(trial: optuna.Trial, choices: list[int]) -> float:
    kind = trial.suggest_categorical("kind", choices)
    return objective(trial) + 0.3 * (kind == 2)


def test_a_search_space_without_a_parameter_that_varies_is_refused() -> None:
    """What is left is no function: at one rate and width the objective has two values."""
    space = qd.Space(rate=qd.Float(1e-4, 1.0, log=True), width=qd.Float(0, 40))
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: with_another(trial, [1, 2]), n_trials=6)
    with pytest.raises(
        NotAvailable, match="expected a search space with all parameters that vary, got one without kind"
    ):
        qd.certify(study, STATED, search_space=space, **SAID)
    same = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    same.optimize(lambda trial: with_another(trial, [1]), n_trials=6)
    assert qd.certify(same, STATED, search_space=space, max_cells=16, **SAID).n_values == 6


def of_two(share: int) -> optuna.Study:
    """A study whose first trials have x and y, and whose later ones have x alone, with y held at 1."""

    def two(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        y = trial.suggest_float("y", 0, 1) if trial.number < share else 1.0
        return float(0.5 * ON_SQUARE.kernel(np.array([[x, y]]), np.array([[0.5, 1.0]]))[0, 0] + noise[trial.number])

    noise = (0.05 * generator(4).normal(size=20)).tolist()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(two, n_trials=20)
    return study


ON_SQUARE = qd.RunAssumptions(
    kernel=qd.Matern(2.5, 0.5), lengthscales="unit cube", norm_bound=0.6, offset=0.0, noise=0.05
)


@pytest.mark.parametrize("share", [2, 8, 14])
def test_trials_without_a_parameter_that_others_have_are_refused(share: int) -> None:
    """They would count at some value of it, and the certificate would be of no function."""
    with pytest.raises(
        NotAvailable, match=f"same parameters in all complete trials, got {20 - share} of 20 without 'y'"
    ):
        qd.certify(of_two(share), ON_SQUARE, **SAID)


def test_a_search_space_says_which_trials_count_and_the_certificate_says_how_many_do_not() -> None:
    study = of_two(14)
    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
    found = qd.certify(study, ON_SQUARE, search_space=space, params={"x": 0.5, "y": 0.5}, max_cells=64, **SAID)
    assert found.n_values == 14
    assert any(note.startswith("trials without the parameter 'y' of the search space, which do not count: 6 of 20")
               for note in found.notes)  # fmt: skip
    low, high = found.asked[0].certified_interval
    assert low <= 0.5 * float(ON_SQUARE.kernel(np.array([[0.5, 0.5]]), np.array([[0.5, 1.0]]))[0, 0]) <= high
    with pytest.raises(NotAvailable, match="expected a search space with all parameters that vary, got one without y"):
        qd.certify(study, ON_SQUARE, search_space=qd.Space(x=qd.Float(0, 1)), **SAID)


def test_a_search_space_with_one_value_of_a_parameter_takes_no_trial_with_another() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: with_another(trial, [1, 2]), n_trials=6)
    one_kind = {
        "rate": optuna.distributions.FloatDistribution(1e-4, 1.0, log=True),
        "width": optuna.distributions.FloatDistribution(0, 40),
        "kind": optuna.distributions.CategoricalDistribution([3]),
    }
    with pytest.raises(NotAvailable, match="parameters that vary, got one without kind"):
        qd.certify(study, STATED, search_space=one_kind, **SAID)
    same = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    same.optimize(lambda trial: with_another(trial, [1]), n_trials=6)
    with pytest.raises(NotAvailable, match="expected trials with kind=3, the only value in the search space, got"):
        qd.certify(same, STATED, search_space=one_kind, **SAID)


def test_a_failed_trial_without_all_parameters_changes_nothing() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 5)
    trial = study.ask()
    trial.suggest_float("rate", 1e-4, 1.0, log=True)
    study.tell(trial, state=optuna.trial.TrialState.FAIL)
    assert qd.certify(study, STATED, failures_ignore_noise=True, max_cells=16, **SAID).n_values == 5


def test_a_parameter_that_never_varies_may_be_part_of_a_setting() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: with_another(trial, [1]), n_trials=6)
    asked = {"rate": 0.1, "width": 9.0, "kind": 1}
    [point] = qd.certify(study, STATED, params=asked, max_cells=16, **SAID).asked
    assert point.params == asked
    with pytest.raises(InvalidInput, match="params: expected a setting of rate, width"):
        qd.certify(study, STATED, params={**asked, "kind": 2}, **SAID)


def test_settings_of_other_parameters_or_bounds_are_refused() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 4)
    for wrong in ({"rate": 0.1}, {"rate": 0.1, "width": 90.0}):
        with pytest.raises(InvalidInput, match="params: expected a setting of rate, width within their bounds"):
            qd.certify(study, STATED, params=wrong, **SAID)
    with pytest.raises(InvalidInput, match="params: expected a setting, or a list of them, got 3"):
        qd.certify(study, STATED, params=3, **SAID)  # type: ignore[arg-type]


def test_a_study_of_several_objectives_or_without_results_is_refused() -> None:
    with pytest.raises(InvalidInput, match="expected one objective, got 2"):
        qd.certify(optuna.create_study(directions=["minimize", "maximize"]), STATED, **SAID)
    with pytest.raises(NotAvailable, match="expected at least one complete trial"):
        qd.certify(optuna.create_study(), STATED, **SAID)


def test_a_band_is_told_where_its_function_went() -> None:
    band: Any = AdaptiveBand(qd.Assumptions(qd.Matern(2.5, 0.3), norm_bound=1.0, noise=0.1), 0.05)
    sentence = r"a band is certified by quadrat.confidence.certify\(band, dimension=...\)"
    former: Any = qd.certify  # as version 0.1 called it
    for given in ({"study": band}, {"band": band, "dimension": 2}):
        with pytest.raises(InvalidInput, match=sentence):
            former(**given)
    with pytest.raises(InvalidInput, match=sentence):
        former(band, dimension=2)


def test_other_things_are_refused() -> None:
    study = study_of(optuna.samplers.RandomSampler(seed=0), 3)
    wrong: Any
    for wrong in (None, 3, "Matern", study.trials):
        with pytest.raises(InvalidInput, match="study: expected a study of Optuna's"):
            qd.certify(wrong, STATED, **SAID)
        with pytest.raises(InvalidInput, match="assumptions: expected RunAssumptions"):
            qd.certify(study, wrong, **SAID)
