"""What a method makes of a study of any maker: in the study's own parameters and trial numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import TrialState, create_trial

from quadrat.cli.study_model import model_of
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations import recommend
from quadrat.kernels import Matern
from quadrat.methods import LP0, ExpectedImprovement, LevelSet, PiGPUCB, RandomSearch


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def study_of(direction: str) -> Study:
    """With trials that do not count before and between those that do."""
    study = optuna.create_study(direction=StudyDirection[direction.upper()])
    distributions: dict[str, Any] = {
        "m": IntDistribution(0, 30, step=10),
        "kind": CategoricalDistribution(["a", 2, None]),
        "x": FloatDistribution(0, 1),
    }
    study.add_trial(create_trial(state=TrialState.FAIL))
    for i, (m, kind, x, value) in enumerate([(10, "a", 0.1, 3.0), (30, None, 0.5, 1.0), (20, 2, 0.9, 2.0)]):
        study.add_trial(create_trial(params={"m": m, "kind": kind, "x": x}, distributions=distributions, value=value))
        if i == 0:
            study.ask()
    return study


@pytest.mark.parametrize(("direction", "number", "kind"), [("maximize", 1, "a"), ("minimize", 3, None)])
def test_numbers_and_parameters_are_those_of_the_study(direction: str, number: int, kind: object) -> None:
    study = study_of(direction)
    found = model_of(study, RandomSearch()).recommendation
    assert found.best_seen.number == number
    assert found.best_seen.params == found.params == study.trials[number].params
    assert found.params["kind"] == kind
    assert found.why == f"The recommended point is also the best seen, in trial {number}."


def test_the_default_is_what_best_says() -> None:
    study = study_of("minimize")
    found = model_of(study, None)
    assert found.recommendation == recommend(study)
    assert (found.certificate, found.level_set, found.cells) == (None, None, None)


def test_an_outlier_is_warned_of_with_the_studys_numbers() -> None:
    study = optuna.create_study(direction="minimize")
    study.add_trial(create_trial(state=TrialState.FAIL))
    for i in range(20):
        value = (i / 20 - 0.3) ** 2 + 0.01 * (i * 7 % 5) + 5 * (i == 11)
        study.add_trial(create_trial(params={"x": i / 20}, distributions={"x": FloatDistribution(0, 1)}, value=value))
    warning = model_of(study, None).fit_warning
    assert warning is not None
    assert warning.startswith("Outliers: trial 12 gave 5.0")
    assert model_of(study, RandomSearch()).fit_warning is None


def test_cells_are_those_that_the_next_trial_is_chosen_from() -> None:
    study = study_of("maximize")
    method = LP0(kernel=Matern(2.5, 0.3), norm_bound=5, noise=0.1, budget=50)
    found = model_of(study, method)
    assert found.cells is not None
    assert found.n_cells == len(found.cells) > 1
    assert {name for cell in found.cells for name in cell.ranges} <= {"m", "kind", "x"}
    assert sum(cell.points or 0 for cell in found.cells) == 3
    assert found.certificate is not None
    assert found.certificate.value is None  # integers and choices
    assert not found.bounded
    few = model_of(study, method, most_cells=1)
    assert few.cells == found.cells[:1]
    assert few.n_cells == found.n_cells


@pytest.mark.parametrize("method", [ExpectedImprovement(), PiGPUCB()])
def test_methods_without_bounds_of_cells_have_none(method: ExpectedImprovement) -> None:
    assert model_of(study_of("minimize"), method).cells is None


def test_nothing_to_go_by() -> None:
    study = optuna.create_study()
    for method in (None, RandomSearch()):
        with pytest.raises(NotAvailable, match="expected at least one complete trial"):
            model_of(study, method)
    study.add_trial(create_trial(value=1.0))
    for method in (None, RandomSearch()):
        with pytest.raises(InvalidInput, match="trials with a parameter of more than one value, got none"):
            model_of(study, method)


def test_what_has_one_value_is_recommended_with_it() -> None:
    study = optuna.create_study()
    distributions: dict[str, Any] = {"x": FloatDistribution(0, 1), "kind": CategoricalDistribution(["a"])}
    study.add_trial(create_trial(params={"x": 0.5, "kind": "a"}, distributions=distributions, value=1.0))
    assert model_of(study, RandomSearch()).recommendation.params == {"x": 0.5, "kind": "a"}


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_gap_is_that_of_the_recommended_point(direction: str) -> None:
    study = optuna.create_study(direction=StudyDirection[direction.upper()])
    sign = 1 if direction == "maximize" else -1
    for x in (0.1, 0.35, 0.5, 0.62, 0.9):
        trial = create_trial(params={"x": x}, distributions={"x": FloatDistribution(0, 1)}, value=sign * x * (1 - x))
        study.add_trial(trial)
    found = model_of(study, LP0(kernel=Matern(2.5, 0.5), norm_bound=1, noise=0.01, budget=20), most_cells=0)
    assert found.cells is None  # nobody asked for them
    assert found.certificate is not None
    interval, bound = found.recommendation.certified_interval, found.certificate.best_possible
    assert interval is not None
    assert bound is not None
    worst = min(sign * interval[0], sign * interval[1])
    assert found.certificate.value is not None
    assert found.certificate.value <= sign * bound - worst + 1e-8
    assert found.certificate.value >= 0.25 - found.recommendation.params["x"] * (1 - found.recommendation.params["x"])


@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("pruned", [True, False])
def test_nothing_is_certified_of_a_study_with_pruned_trials(pruned: bool, reports: bool) -> None:
    study = optuna.create_study(direction="maximize")
    for i in range(6):
        trial = study.ask({"x": FloatDistribution(0, 1)})
        if i == 3:
            if reports:
                trial.report(0.5, step=1)
            study.tell(trial, state=TrialState.PRUNED if pruned else TrialState.FAIL)
        else:
            study.tell(trial, 0.1)
    found = model_of(study, LP0(kernel=Matern(2.5, 0.5), norm_bound=2, noise=0.1, budget=20))
    assert found.certificate is not None
    assert (found.certificate.value is None) is pruned
    assert (found.recommendation.certified_interval is None) is pruned
    assert found.bounded is not pruned
    if pruned:
        assert str(found.certificate.reason).startswith("1 trial was pruned: a pruner goes by the values seen")
    level = model_of(study, LevelSet(kernel=Matern(2.5, 0.5), norm_bound=2, noise=0.1, threshold=0.0)).level_set
    assert level is not None
    assert (level.reason is None) is not pruned
