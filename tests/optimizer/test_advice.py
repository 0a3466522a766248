"""What to do next: each rule, their order, and how sure they are."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop.result import Result
from quadrat.methods.statements import Gain
from quadrat.optimizer import BestSeen, CertificateReport, Recommendation
from quadrat.optimizer.advice import Situation, advise, noise_of, stop_reason

MUCH = Gain(np.linspace(0.0, 1.0, 101))  # .5 on average, at most .9 with 90 %
LITTLE = Gain(np.linspace(0.0, 0.1, 101))  # at most .09 with 90 %
FOUND = Recommendation(
    params={"x": 1.0},
    value=2.0,
    certified_interval=None,
    credible_interval=(1.9, 2.1),
    gain=MUCH,
    best_seen=BestSeen(3, {"x": 1.0}, 2.2),
    why="",
)
NOW = Situation(
    recommendation=FOUND,
    certificate=CertificateReport(None, "this method does not certify"),
    noise=0.2,
    ended=40,
    failures=(),
    running=0,
    why_ended="",
    method="Auto",
    trial=7,
)


def test_much_to_gain_means_going_on() -> None:
    said = advise(NOW)
    assert (said.action, said.trial) == ("go on", None)
    assert said.chance == pytest.approx(21 / 101), "the chance that less is left than noise hides"
    assert str(said) == "Go on: 0.5 to be gained on average, at most 0.9 with 90 %."
    assert advise(replace(NOW, running=1)).text.endswith("with 90 %; 1 trial is still running.")
    assert advise(replace(NOW, why_ended="timeout")).text.endswith("with 90 % (the run ended: timeout).")
    unseen = replace(FOUND, gain=replace(MUCH, unvisited=0.6))
    assert advise(replace(NOW, recommendation=unseen)).text.endswith(
        "the upper value rests on regions that nobody has visited."
    )


def test_a_gain_below_the_noise_means_stopping() -> None:
    said = advise(replace(NOW, recommendation=replace(FOUND, gain=LITTLE)))
    assert (said.action, said.chance) == ("stop", 1.0)
    assert said.text == "Stop: with more than 99 % at most 0.2 is left, less than what noise hides in one result."


def test_a_gain_that_is_little_to_the_user_means_stopping_whatever_the_noise() -> None:
    said = advise(replace(NOW, noise=None, limit=0.92))
    assert said.action == "stop"
    assert said.chance == pytest.approx(93 / 101)
    assert said.text == "Stop: with 92 % at most 0.92 is left."
    little = replace(NOW, recommendation=replace(FOUND, gain=LITTLE, credible_interval=(1.99, 2.01)), limit=0.01)
    assert advise(little).action == "go on", "less than the noise, and more than the user wants to leave"
    assert advise(replace(little, limit=None)).action == "stop"


def test_where_less_is_left_than_noise_hides_the_trial_is_measured_again() -> None:
    wide = replace(FOUND, gain=LITTLE, credible_interval=(1.8, 2.2))
    said = advise(replace(NOW, recommendation=wide, noise=0.05))
    assert (said.action, said.trial) == ("measure again", 7)
    assert said.text == (
        "Measure trial 7 again: noise hides what it is worth (1.8 to 2.2 with 90 %), and at most 0.09 is left elsewhere"
        " (90 %)."
    )
    for noise, trial in ((0.0, 7), (None, 7), (0.05, None)):
        assert advise(replace(NOW, recommendation=wide, noise=noise, trial=trial)).action == "go on", (noise, trial)


def test_too_few_trials_promise_nothing() -> None:
    few = replace(NOW, recommendation=replace(FOUND, gain=LITTLE, too_few="3 values for 2 parameters"), limit=1.0)
    assert advise(few).action == "go on"
    assert advise(few).text == "Go on: too few trials to say what is left to gain (3 values for 2 parameters)."
    assert stop_reason(few.recommendation, 1.0) is None


def test_a_run_stops_when_nine_draws_of_ten_leave_less_than_the_limit() -> None:
    assert stop_reason(FOUND, 0.89) is None
    assert stop_reason(FOUND, 0.95) == "with 94 % at most 0.95 is left to gain, and with 90 % at most 0.9"
    assert stop_reason(replace(FOUND, gain=None), 0.95) is None
    rare = Gain(np.array([0.0] * 95 + [2.0] * 5))
    assert stop_reason(replace(FOUND, gain=rare), 0.05) is None, "the mean is above the limit, though the quantile is 0"


@pytest.mark.parametrize(("failed", "of", "many"), [(2, 4, False), (3, 12, True), (9, 40, False), (10, 40, True)])
def test_many_failures_come_first(failed: int, of: int, many: bool) -> None:
    said = advise(replace(NOW, ended=of, failures=("no memory",) * (failed - 1) + ("other",)))
    assert (said.action == "mend") == many
    assert said.text.startswith(f"Look at failures first: {failed} of {of}") == many
    assert (f"{failed - 1} times: no memory" in said.text) == many


def test_rejected_assumptions_come_before_all_else() -> None:
    certificate = CertificateReport(None, "too far", rejected="too far")
    said = advise(replace(NOW, certificate=certificate, failures=("x",) * 30))
    assert said.action == "mend"
    assert said.text.startswith("Do not rely on bounds of this run")


def test_a_certificate_is_compared_with_the_limit_or_the_noise() -> None:
    near, far = (replace(NOW, certificate=CertificateReport(value)) for value in (0.19, 0.21))
    assert advise(near).text.startswith("Stop: nothing is more than 0.19 better, which is less than the noise")
    assert advise(far).text.startswith("Stop if 0.21 is little to you, and go on if not")
    assert [advise(one).action for one in (near, far)] == ["stop", "go on"]
    assert [advise(replace(far, limit=limit)).action for limit in (0.2, 0.21)] == ["go on", "stop"]


def test_a_point_that_may_break_constraints_is_not_to_be_used() -> None:
    unlikely = replace(FOUND, estimated_feasibility=0.4)
    assert advise(replace(NOW, recommendation=unlikely)).text.startswith("Do not use it yet")
    likely = replace(FOUND, estimated_feasibility=0.9)
    assert advise(replace(NOW, recommendation=likely)).text.startswith("Go on: 0.5")
    never_met = replace(likely, best_seen=replace(FOUND.best_seen, feasible=False))
    assert advise(replace(NOW, recommendation=never_met)).text.startswith("Do not use it yet")


def test_a_method_without_a_model_says_so() -> None:
    nothing = replace(FOUND, gain=None, credible_interval=None)
    said = advise(replace(NOW, recommendation=nothing, method="RandomSearch"))
    assert (said.action, said.chance) == ("go on", None)
    assert "RandomSearch has no estimate" in said.text
    said = advise(replace(NOW, recommendation=nothing, method="Auto"))
    assert said.text == (
        "Nobody knows what is left to gain: too few settings that meet the space's constraint are known."
    )


# --- of an optimizer


def told(count: int, noise: float) -> qd.Optimizer:
    """A parabola in the middle of its space, measured with noise at `count` even points."""
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", seed=0)
    x = np.linspace(0.02, 0.98, count)
    y = (x - 0.5) ** 2 + noise * np.random.default_rng(5).standard_normal(count)
    optimizer.add_trials([{"x": float(one)} for one in x], y.tolist())
    return optimizer


def test_an_optimizer_advises_as_it_recommends() -> None:
    optimizer = told(30, 0.02)
    found = optimizer.recommend()
    assert found.gain is not None
    said = optimizer.advice(stop_at_gain=2 * found.gain.upper)
    assert said.action == "stop"
    assert said.chance == found.gain.chance_at_most(2 * found.gain.upper)
    assert optimizer.advice(stop_at_gain=0.0).action in ("go on", "measure again")
    assert noise_of(optimizer) == pytest.approx(0.02, rel=0.5)


def test_two_values_say_nothing_of_two_parameters() -> None:
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1)), direction="maximize", seed=0)
    with pytest.raises(NotAvailable, match="recommend: expected at least one complete trial"):
        optimizer.advice()
    for value in (1.0, 2.0, 1.5):
        optimizer.tell(optimizer.ask(), value)
        assert optimizer.advice(stop_at_gain=1e9).text.startswith("Go on: too few trials to say what is left to gain")
    optimizer.tell(optimizer.ask(), 1.2)
    assert "for 2 parameters" not in optimizer.advice().text
    with pytest.raises(InvalidInput, match="stop_at_gain: expected a finite number >= 0, got -1"):
        optimizer.advice(stop_at_gain=-1)


# --- how noisy one result is


def test_stated_noise_is_taken_as_it_is() -> None:
    method = qd.LPGPUCB(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.07, budget=10)
    assert noise_of(qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)) == 0.07


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_fitted_noise_is_in_the_users_units(unit: float) -> None:
    rng = np.random.default_rng(0)
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", seed=0)
    x = rng.random(80)
    values = unit * (np.sin(5 * x) + 0.1 * rng.standard_normal(80))
    optimizer.add_trials([{"x": float(one)} for one in x], values.tolist())
    found = noise_of(optimizer)
    assert found is not None
    assert 0.07 * unit < found < 0.14 * unit


def test_advice_and_results_name_trials_at_which_the_model_fits_badly() -> None:
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", seed=0)
    points = [i / 24 for i in range(24)]
    optimizer.add_trials(
        [{"x": x} for x in points],
        [float(np.sin(6 * x) + 0.05 * (-1) ** i + 5.0 * (i == 10)) for i, x in enumerate(points)],
    )
    warning = optimizer.leave_one_out().warning_of_trials
    assert warning is not None
    assert optimizer.advice().text.endswith(f" {warning}")
    found = Result.of(optimizer, "done")
    assert f"warning             {warning[:40]}" in str(found)
    assert "warning  " not in str(copy.copy(found)), "a copy has no model"
