"""Ask, tell, recommend: the optimizer's side of a search."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from quadrat.confidence import Certificate
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.methods.base import Incumbent, Method
from quadrat.methods.lp.method import LP0
from quadrat.methods.statements import Gain
from quadrat.optimizer import FAILED, Estimate, Optimizer, Trial
from quadrat.space import Categorical, Float, Int, Space

LINE = Space(x=Float(0, 1))
MIXED = Space(x=Float(0, 10), n=Int(1, 3), kind=Categorical(["a", "b"]))
Make = Callable[..., Method]


def optimizer_of(space: Space = LINE, direction: str = "maximize", **options: Any) -> Optimizer:
    return Optimizer(space, direction=direction, method=options.pop("method", "RandomSearch"), **options)


def run(optimizer: Optimizer, outcomes: list[object]) -> Optimizer:
    for outcome in outcomes:
        optimizer.tell(optimizer.ask(), outcome)  # type: ignore[arg-type]  # what tests hand over on purpose
    return optimizer


# --- construction


def test_a_method_may_be_a_text_with_its_options() -> None:
    text = "LP0(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=9)"
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", method=text)
    assert optimizer.method == LP0(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=9)


def test_direction_has_no_default_and_two_words() -> None:
    with pytest.raises(TypeError, match="direction"):
        Optimizer(LINE)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="expected 'maximize' or 'minimize', got 'max'"):
        optimizer_of(direction="max")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {"x": (0, 1)}}, "space: expected a Space"),
        ({"seed": -1}, "seed: expected non-negative integers"),
        ({"seed": 0.5}, "seed: expected non-negative integers"),
        ({"method": "Nonsense"}, "method: expected one of"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        optimizer_of(**options)


def test_repr_says_where_the_run_stands() -> None:
    optimizer = run(optimizer_of(), [1.0, FAILED])
    optimizer.ask()
    assert repr(optimizer) == "<Optimizer: maximize with RandomSearch, 1 complete, 1 failed, 1 pending>"


# --- ask


def test_a_trial_is_frozen_and_its_params_are_the_callers_own() -> None:
    optimizer = optimizer_of(MIXED)
    trial = optimizer.ask()
    with pytest.raises(FrozenInstanceError):
        trial.number = 3  # type: ignore[misc]
    trial.params.clear()  # as an objective that pops its arguments does
    optimizer.tell(trial, 1.0)
    assert set(optimizer.trials[0].params) == {"x", "n", "kind"}
    optimizer.trials[0].params.clear()
    optimizer.recommend().params.clear()
    assert set(optimizer.recommend().params) == {"x", "n", "kind"}


def test_the_search_sees_the_rounded_point_pending_first_then_failed(scripted: Make) -> None:
    method = scripted(points=((0.1, 0.1, 0.1), (0.2, 0.5, 0.2), (0.3, 0.9, 0.9)))
    optimizer = optimizer_of(MIXED, method=method)
    first, second = optimizer.ask(), optimizer.ask()
    optimizer.tell(first, FAILED)
    third = optimizer.ask()
    optimizer.tell(third, 2.0, sem=0.5)
    assert second.params == {"x": 2.0, "n": 2, "kind": "a"}
    log = method.log  # type: ignore[attr-defined]
    assert log[0] == ("ask", [])
    assert log[1] == ("ask", [[0.1, 1 / 6, 0.25]])
    assert log[2] == ("ask", [[0.2, 0.5, 0.25], [0.1, 1 / 6, 0.25]])
    assert log[3] == ("tell", (2, MIXED.to_unit(third.params).tolist(), [2.0], 0.25))


def test_what_rounds_to_a_pending_or_failed_point_is_moved_and_a_repeat_is_labelled(scripted: Make) -> None:
    space = Space(n=Int(1, 4))
    optimizer = optimizer_of(space, method=scripted(points=((0.6,), (0.7,), (0.65,), (0.6,))))
    first = optimizer.ask()
    second = optimizer.ask()
    assert first.params == {"n": 3}
    assert second.params != first.params
    assert "moved to a neighbour" in second.why
    optimizer.tell(first, FAILED)
    third = optimizer.ask()
    assert third.params not in (first.params, second.params)
    optimizer.tell(second, 1.0)
    optimizer.tell(third, 1.0)
    fourth = optimizer.ask()
    assert fourth.params != first.params  # it failed
    assert "repeats trial" in fourth.why or fourth.params not in (second.params, third.params)


def test_when_nothing_else_is_left_a_pending_point_is_asked_again(scripted: Make) -> None:
    optimizer = optimizer_of(Space(n=Int(1, 2)), method=scripted(points=((0.1,), (0.9,), (0.1,))))
    trials = [optimizer.ask() for _ in range(3)]
    assert trials[2].params == {"n": 1}
    assert trials[2].why == "written down; repeats trial 0"


def test_a_user_may_choose_the_point() -> None:
    optimizer = optimizer_of(MIXED)
    params = {"x": 1.0, "n": 2, "kind": "b"}
    trial = optimizer.ask(params)
    assert (trial.params, trial.why) == (params, "chosen by the user")
    optimizer.tell(trial, 3.0)
    record = optimizer.add({"x": 0.123456789012345678, "n": 1, "kind": "a"}, [4.0, 6.0])
    assert (record.number, record.why, record.value) == (1, "told by the user", 5.0)
    assert optimizer.recommend().params == record.params
    with pytest.raises(InvalidInput, match="expected a value for 'kind'"):
        optimizer.ask({"x": 1.0, "n": 2})
    with pytest.raises(InvalidInput, match="outcome: expected a number"):
        optimizer.add(params, None)  # type: ignore[arg-type]
    assert len(optimizer.trials) == 2  # a refused outcome leaves no trial behind


# --- tell


def test_telling_by_number_and_numpy_integers() -> None:
    optimizer = optimizer_of()
    optimizer.ask()
    optimizer.ask()
    optimizer.tell(1, 2.0)
    optimizer.tell(np.int64(0), 1.0)  # type: ignore[arg-type]
    assert [record.values for record in optimizer.trials] == [(1.0,), (2.0,)]


def test_wrong_states_are_named() -> None:
    optimizer = run(optimizer_of(), [1.0, FAILED])
    with pytest.raises(InvalidInput, match="expected a pending trial, got trial 0, which is already complete"):
        optimizer.tell(0, 1.0)
    with pytest.raises(InvalidInput, match="trial 1, which is already failed"):
        optimizer.tell(1, FAILED)
    with pytest.raises(InvalidInput, match=r"number of a trial that was asked \(0 to 1\), got 7"):
        optimizer.tell(7, 1.0)
    with pytest.raises(InvalidInput, match=r"\(none yet\), got 0"):
        optimizer_of().tell(0, 1.0)
    with pytest.raises(InvalidInput, match="expected what ask\\(\\) returned, or its number, got '1'"):
        optimizer.tell("1", 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="expected what ask"):
        optimizer.tell(True, 1.0)
    with pytest.raises(InvalidInput, match="got -1"):
        optimizer.tell(-1, 1.0)


@pytest.mark.parametrize("other", [{"seed": 1}, {"direction": "minimize"}, {"method": "SobolSearch"}])
def test_a_trial_of_another_optimizer_is_refused(other: dict[str, Any]) -> None:
    optimizer = optimizer_of()
    optimizer.ask()
    stranger = optimizer_of(**other).ask()
    with pytest.raises(InvalidInput, match="expected a trial of this optimizer"):
        optimizer.tell(stranger, 1.0)
    with pytest.raises(InvalidInput, match="expected a trial of this optimizer"):
        optimizer.tell(Trial(5, {}, ""), 1.0)


def test_a_refused_outcome_leaves_the_trial_pending() -> None:
    optimizer = optimizer_of()
    trial = optimizer.ask()
    with pytest.raises(InvalidInput, match="got None"):
        optimizer.tell(trial, None)  # type: ignore[arg-type]
    optimizer.tell(trial, 1.0)
    assert optimizer.trials[0].state == "complete"


def test_records_and_failures_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    optimizer = optimizer_of()
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        run(optimizer, [1.5, [1.0, 2.0], Estimate(3.0, 0.1), float("nan"), FAILED])
    optimizer.ask()
    states = [(r.state, r.values, r.sem, r.value, r.failure) for r in optimizer.trials]
    assert states == [
        ("complete", (1.5,), None, 1.5, None),
        ("complete", (1.0, 2.0), None, 1.5, None),
        ("complete", (3.0,), 0.1, 3.0, None),
        ("failed", (), None, None, "told nan"),
        ("failed", (), None, None, "told FAILED"),
        ("pending", (), None, None, None),
    ]
    assert [record.getMessage() for record in caplog.records] == [
        "trial 3 failed: told nan",
        "trial 4 failed: told FAILED",
    ]
    assert optimizer.trial(2) == optimizer.trials[2]
    with pytest.raises(InvalidInput, match="number of a trial that was asked"):
        optimizer.trial(6)


# --- recommend


def test_before_any_success_there_is_no_recommendation() -> None:
    optimizer = run(optimizer_of(), [FAILED, float("nan")])
    optimizer.ask()
    assert optimizer.best_seen is None
    with pytest.raises(NotAvailable, match="at least one complete trial, got 0 complete, 2 failed, 1 pending"):
        optimizer.recommend()


@pytest.mark.parametrize(("direction", "sign"), [("maximize", 1.0), ("minimize", -1.0)])
def test_values_and_intervals_come_back_in_the_users_direction(direction: str, sign: float, fitted: Make) -> None:
    incumbent = Incumbent(np.array([0.25]), 2.0, interval=(1.0, 4.0), gain=Gain(np.array([0.5])))
    optimizer = run(optimizer_of(direction=direction, method=fitted(incumbent=incumbent)), [sign * 1.0, sign * 3.0])
    got = optimizer.recommend()
    assert (got.value, got.estimated_gain) == (sign * 2.0, 0.5)
    assert got.credible_interval == ((1.0, 4.0) if sign > 0 else (-4.0, -1.0))
    assert got.certified_interval is None
    assert (got.best_seen.number, got.best_seen.value) == (1, sign * 3.0)


def test_best_seen_is_the_luckiest_mean_and_ties_go_to_the_first() -> None:
    optimizer = run(optimizer_of(direction="minimize"), [[1.0, 3.0], FAILED, 1.5, [0.0, 3.0], 1.5])
    best = optimizer.best_seen
    assert best is not None
    assert (best.number, best.value, best.params) == (2, 1.5, optimizer.trials[2].params)


def test_one_sentence_says_why_recommended_and_best_seen_differ(scripted: Make) -> None:
    coincide = run(optimizer_of(), [1.0, 2.0]).recommend()
    assert coincide.why == "The recommended point is also the best seen, in trial 1."

    elsewhere = Incumbent(np.array([0.25]), 2.0)
    why = run(optimizer_of(method=scripted(incumbent=elsewhere)), [1.0, 3.0]).recommend().why
    assert why.startswith("Trial 1 gave the highest result, 3, noise included; ")
    assert "which was not tried itself" in why

    why = run(optimizer_of(direction="minimize", method=scripted()), [1.0, 3.0]).recommend().why
    assert why.startswith("Trial 0 gave the lowest result, 1, noise included; ")
    assert why.endswith("the recommended point has the lowest estimate given all results.")

    certificate = Certificate(0.1, np.array([0.25]), (0.0, 1.0), 1.1)
    sure = Incumbent(np.array([0.25]), 2.0, interval=(0.0, 1.0), certified=True)
    why = run(optimizer_of(method=scripted(incumbent=sure, certificate=certificate)), [1.0]).recommend().why
    assert why.endswith("the recommended point has the best guaranteed value.")


# --- certificates


def test_a_recommendation_needs_no_certificate(scripted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate is a branch and bound: `recommend` states an interval without one."""
    optimizer = run(optimizer_of(method=scripted(incumbent=SURE, certificate=CERTIFICATE)), [1.0])
    monkeypatch.setattr(optimizer._search, "certificate", lambda _: pytest.fail("a certificate was computed"))
    assert optimizer.recommend().certified_interval == (0.25, 1.0)


SURE = Incumbent(np.array([0.25]), 0.5, interval=(0.25, 1.0), certified=True)
CERTIFICATE = Certificate(0.125, np.array([0.25]), (0.25, 1.0), 1.5)


@pytest.mark.parametrize(
    ("direction", "interval", "bound"), [("maximize", (0.25, 1.0), 1.5), ("minimize", (-1.0, -0.25), -1.5)]
)
def test_certificate_in_the_users_direction(
    direction: str, interval: tuple[float, float], bound: float, scripted: Make
) -> None:
    method = scripted(incumbent=SURE, certificate=CERTIFICATE)
    optimizer = run(optimizer_of(direction=direction, method=method), [1.0])
    report = optimizer.certificate()
    assert (report.value, report.reason, report.rejected) == (0.125, None, None)
    assert (report.params, report.certified_interval, report.best_possible) == ({"x": 0.25}, interval, bound)
    got = optimizer.recommend()
    assert (got.certified_interval, got.credible_interval) == (interval, None)


@pytest.mark.parametrize(
    ("space", "outcomes", "certificate", "reason"),
    [
        (Space(x=Float(0, 1), n=Int(1, 3)), [1.0], CERTIFICATE, "Floats without steps or conditions, got n:"),
        (Space(x=Float(0, 1, step=0.1)), [1.0], CERTIFICATE, "got x:"),
        (LINE, [1.0, Estimate(1.0, 0.1)], CERTIFICATE, "got a standard error"),
        (LINE, [FAILED], CERTIFICATE, "no trial is complete yet"),
        (LINE, [1.0], "the moon is full", "^the moon is full$"),
    ],
)
def test_where_there_is_no_certificate_the_reason_is_given(
    space: Space, outcomes: list[object], certificate: Certificate | str, reason: str, scripted: Make
) -> None:
    x = np.full(space.dimension, 0.25)
    # A search that does not certify says so of its incumbent too.
    incumbent = Incumbent(x, 0.5, interval=(0.25, 1.0), certified=isinstance(certificate, Certificate))
    optimizer = run(optimizer_of(space, method=scripted(incumbent=incumbent, certificate=certificate)), outcomes)
    report = optimizer.certificate()
    assert report.value is None
    assert re.search(reason, str(report.reason))
    if optimizer.best_seen is not None:  # neither name is given to what is neither certified nor fitted
        got = optimizer.recommend()
        assert got.certified_interval is None
        assert got.credible_interval is None


def test_rejected_assumptions(scripted: Make) -> None:
    rejected = Certificate(float("nan"), np.array([0.25]), (0.0, 1.0), 1.0, "B is too small")
    incumbent = Incumbent(np.array([0.25]), 0.5)  # then the search states no interval
    optimizer = run(optimizer_of(method=scripted(incumbent=incumbent, certificate=rejected)), [1.0])
    report = optimizer.certificate()
    assert (report.value, report.rejected) == (None, "B is too small")
    assert report.reason == "B is too small"
    assert optimizer.recommend().certified_interval is None


def test_what_a_certifying_method_does_not_certify_is_not_called_credible(scripted: Make) -> None:
    """A method that states assumptions fits nothing: an interval that it does not stand for has no name."""
    incumbent = Incumbent(np.array([0.25]), 0.5, interval=(0.25, 1.0), certified=False)
    got = run(optimizer_of(method=scripted(incumbent=incumbent, certificate=CERTIFICATE)), [1.0]).recommend()
    assert got.certified_interval is None
    assert got.credible_interval is None


def test_methods_that_do_not_certify_say_so() -> None:
    report = run(optimizer_of(MIXED), [1.0]).certificate()
    assert report.value is None
    assert "this method does not certify" in str(report.reason)


def test_the_certificate_curve_uses_what_the_method_states() -> None:
    method = LP0(kernel=Matern(2.5, 0.3), norm_bound=1.0, noise=0.1, budget=20)
    optimizer = optimizer_of(method=method, direction="minimize")
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, [(trial.params["x"] - 0.3) ** 2] * 2)
    curve = optimizer.certificate_curve([0.5, 1.0, 2.0])
    assert curve.values.shape == (3,)
    assert np.all(np.diff(curve.values[~np.isnan(curve.values)]) > 0)  # a larger ball certifies less


def test_no_curve_without_kernel_and_noise_or_without_certificates() -> None:
    with pytest.raises(NotAvailable, match="states its kernel and noise, got RandomSearch"):
        run(optimizer_of(), [1.0]).certificate_curve([1.0])
    method = LP0(kernel=Matern(2.5, 0.3), norm_bound=1.0, noise=0.1, budget=20)
    with pytest.raises(NotAvailable, match="certificate_curve: expected a space of Floats"):
        run(optimizer_of(Space(n=Int(1, 3)), method=method), [1.0]).certificate_curve([1.0])


def test_explain_has_the_search_and_the_log(scripted: Make) -> None:
    optimizer = run(optimizer_of(direction="minimize", method=scripted(), seed=5), [1.0, FAILED])
    told = optimizer.explain()
    assert told["search"] == {"seed": 5}
    assert told["turned"] is True
    trials = told["trials"]
    assert isinstance(trials, list)
    assert [trial["state"] for trial in trials] == ["complete", "failed"]
    assert trials[0] == {
        "number": 0,
        "params": optimizer.trials[0].params,
        "why": "random",
        "state": "complete",
        "values": (1.0,),
        "sem": None,
        "failure": None,
        "constraints": {},
    }
