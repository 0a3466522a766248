"""The method that is kept with a study, and with whose model the study is shown."""

from __future__ import annotations

from collections.abc import Iterator

import optuna
import pytest
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.study import Study
from optuna.trial import TrialState, create_trial

from quadrat.errors import InvalidInput, QuadratWarning
from quadrat.integrations import recommend
from quadrat.kernels import Matern
from quadrat.methods import LP0, Auto, PiGPUCB, RandomSearch
from quadrat.plots.run_view import RunView
from quadrat.report.findings import findings_of
from quadrat.report.source import report_source
from quadrat.studies.notes import METHOD, VERSION, count_pruned, keep_version, kept_method, why_uncertified
from quadrat.studies.sampler import QuadratSampler

TEXT = "LP0(kernel=Matern(2.5, 0.5), norm_bound=2, noise=0.1, budget=20)"
CERTIFYING = LP0(kernel=Matern(2.5, 0.5), norm_bound=2, noise=0.1, budget=20)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def study_of(method: str | None, *, pruned: bool = False, reports: bool = True) -> Study:
    """With five complete trials, and one that was pruned."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    if method is not None:
        study.set_user_attr(METHOD, method)
    for _ in range(5):
        trial = study.ask({"x": FloatDistribution(0, 1)})
        study.tell(trial, trial.params["x"] * (1 - trial.params["x"]))
    if pruned:
        trial = study.ask({"x": FloatDistribution(0, 1)})
        if reports:
            trial.report(0.5, step=1)
        study.tell(trial, state=TrialState.PRUNED)
    return study


def test_a_method_is_kept_with_options_or_is_the_default() -> None:
    assert kept_method(study_of(None)) is None
    assert kept_method(study_of("ExpectedImprovement")) is None
    assert kept_method(study_of("PiGPUCB(noise=0.1)")) == PiGPUCB(noise=0.1)
    assert kept_method(study_of(TEXT)) == CERTIFYING
    with pytest.raises(InvalidInput, match="method: expected one of Auto"):
        kept_method(study_of("open('secret')"))


@pytest.mark.parametrize(("text", "spoiled"), [(TEXT, True), ("PiGPUCB(noise=0.1)", False), (None, False)])
@pytest.mark.parametrize("reports", [True, False])
def test_pruned_trials_spoil_certificates_alone(text: str | None, spoiled: bool, reports: bool) -> None:
    study = study_of(text)
    assert count_pruned(study) == 0
    assert why_uncertified(study, kept_method(study)) is None
    pruned = study_of(text, pruned=True, reports=reports)
    assert count_pruned(pruned) == 1
    reason = "1 trial was pruned: a pruner goes by the values seen, and a certificate needs all of them"
    assert why_uncertified(pruned, kept_method(pruned)) == (reason if spoiled else None)


def test_nothing_is_certified_of_a_pruned_study_by_a_method_that_is_given() -> None:
    assert recommend(study_of(None), method=CERTIFYING).certified_interval is not None
    found = recommend(study_of(None, pruned=True), method=CERTIFYING)
    assert found.certified_interval is None
    assert found.credible_interval is None
    assert found.why.startswith("Nothing is certified: 1 trial was pruned")


def test_figures_and_reports_are_of_the_method_that_is_kept() -> None:
    assert RunView.of(study_of(TEXT)).optimizer.method == CERTIFYING
    said = findings_of(report_source(study_of(TEXT)))
    assert said.kind == "certified"
    assert said.remaining.said.startswith("Certified: ")
    spoiled = findings_of(report_source(study_of(TEXT, pruned=True)))
    assert spoiled.kind == "90 % credible"
    assert "not certified (1 trial was pruned: a pruner goes by the values seen" in spoiled.remaining.said
    assert spoiled.certificate.value is None
    assert str(spoiled.certificate.reason).startswith("1 trial was pruned")
    assert spoiled.subtitle.endswith("6 trials: 5 complete, 1 pruned (no result)")


# --- the version of the method

SAMPLED: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1)}


def asked(study: Study, count: int = 2) -> None:
    for _ in range(count):
        trial = study.ask(SAMPLED)
        study.tell(trial, trial.params["x"])


def test_a_study_of_an_older_version_says_so_once() -> None:
    """An old study is one that a sampler of ours has chosen trials of, without a note of the version."""
    study = optuna.create_study(sampler=QuadratSampler(search_space=SAMPLED, seed=0))
    asked(study)
    assert study.user_attrs[VERSION] == {"Auto": Auto.version}, "a new one names its version, and nothing is warned of"
    assert study.trials[1].system_attrs["quadrat:params:0"].startswith('{"quadrat:why": "')
    study = optuna.create_study(sampler=QuadratSampler(search_space=SAMPLED, seed=0))
    note = {"quadrat:params:0": '{"quadrat:why": "initial design, point 2", "x": 0.5}'}  # as version 1 wrote it
    study.add_trial(create_trial(params={"x": 0.5}, distributions=SAMPLED, value=0.5, system_attrs=note))
    with pytest.warns(
        QuadratWarning, match=f"chosen by version 1 of Auto; suggestions now come from version {Auto.version}"
    ) as caught:
        asked(study)
    assert len(caught) == 1
    assert study.user_attrs[VERSION] == {"Auto": Auto.version}
    study.sampler = QuadratSampler(search_space=SAMPLED, seed=0)
    asked(study)


def test_trials_that_were_added_say_which_version_chose_them() -> None:
    """Those of the same version are not said to be of an older one; those that name none were chosen by version 1."""
    study = optuna.create_study(sampler=QuadratSampler(search_space=SAMPLED, seed=0))
    asked(study, 4)
    other = optuna.create_study(sampler=QuadratSampler(search_space=SAMPLED, seed=0))
    other.add_trials(study.trials)
    asked(other)
    assert other.user_attrs[VERSION] == {"Auto": Auto.version}
    older = [create_trial(params={"x": 0.5}, distributions=SAMPLED, value=0.5, system_attrs={"quadrat:params:0": text})
             for text in ('{"x": 0.5}', '{"quadrat:by": ["Auto", "two"], "x": 0.5}')]  # fmt: skip
    for one in older:
        third = optuna.create_study()
        third.add_trials([*study.trials, one])
        assert "by version 1 of Auto" in str(keep_version(third, Auto()))
    fourth = optuna.create_study()
    chosen = {"quadrat:params:0": '{"quadrat:by": ["Other", 2], "x": 0.5}'}
    fourth.add_trial(create_trial(params={"x": 0.5}, distributions=SAMPLED, value=0.5, system_attrs=chosen))
    assert keep_version(fourth, Auto()) is None, "another method chose it"


def test_nothing_is_said_where_the_method_is_the_same_or_chose_nothing() -> None:
    study = optuna.create_study(sampler=QuadratSampler(search_space=SAMPLED, method="RandomSearch", seed=0))
    asked(study)
    assert VERSION not in study.user_attrs, "a method that never changed has version 1, which is not noted"
    assert keep_version(study, RandomSearch()) is None
    other = study_of(None)  # of another sampler
    assert keep_version(other, Auto()) is None
    assert other.user_attrs[VERSION] == {"Auto": Auto.version}


def test_a_note_that_somebody_else_wrote_is_read_as_none_or_kept() -> None:
    for odd in ("two", ["Auto", 2], {"Auto": "2"}, {"Auto": True}):
        study = study_of(None)
        study.set_user_attr(VERSION, odd)
        assert keep_version(study, Auto()) is None
        assert study.user_attrs[VERSION] == {"Auto": Auto.version}
    study.set_user_attr(VERSION, {"Auto": 7, "Other": 3})
    assert keep_version(study, Auto()) is None
    assert study.user_attrs[VERSION] == {"Auto": 7, "Other": 3}, "a newer version than this is not taken back"
