"""What recommendations and results state: intervals of any level, the gain, and when there are too few trials."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.statements import Gain, Mixture
from quadrat.optimizer import BestSeen, Recommendation
from quadrat.optimizer.history import History
from quadrat.optimizer.stated import too_few_trials

SEEN = BestSeen(0, {"x": 0.5}, 1.0)
BELIEF = Mixture(np.array([1.0, 1.2]), np.array([0.1, 0.2]))
FITTED = Recommendation(
    {"x": 0.5}, BELIEF.value, None, BELIEF.interval(), Gain(np.linspace(0, 1, 11)), SEEN, "", distribution=BELIEF
)
CERTIFIED = Recommendation({"x": 0.5}, 1.0, (0.8, 1.3), None, None, SEEN, "", delta=0.05)
BARE = Recommendation({"x": 0.5}, 1.0, None, None, None, SEEN, "")
SPACE = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.4) ** 2 + (params["y"] - 0.6) ** 2)


def test_a_fitted_model_has_an_interval_of_every_level() -> None:
    for level in (0.01, 0.5, 0.9, 0.999):
        assert FITTED.interval(level) == BELIEF.interval(level)
    assert FITTED.interval() == FITTED.credible_interval


def test_what_is_certified_holds_with_its_own_level_and_all_below() -> None:
    for level in (0.5, 0.9, 0.95):
        assert CERTIFIED.interval(level) == (0.8, 1.3)
    with pytest.raises(NotAvailable, match=r"level of at most 0\.95, which this method certifies, got 0\.99"):
        CERTIFIED.interval(0.99)


def test_where_there_is_no_interval_of_a_level_that_is_said() -> None:
    only = replace(BARE, credible_interval=(0.5, 1.5))
    assert only.interval(0.9) == (0.5, 1.5)
    with pytest.raises(NotAvailable, match=r"expected level 0\.9, which is all this method has, got 0\.8"):
        only.interval(0.8)
    with pytest.raises(NotAvailable, match="expected a method with a model or certified bounds"):
        BARE.interval()
    for one in (FITTED, CERTIFIED, only):
        with pytest.raises(InvalidInput, match="level: expected"):
            one.interval(-0.1)


def test_the_gain_is_stated_as_mean_and_upper_value() -> None:
    assert FITTED.estimated_gain == pytest.approx(0.5)
    assert FITTED.estimated_gain_upper == pytest.approx(0.9)
    assert (BARE.estimated_gain, BARE.estimated_gain_upper) == (None, None)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_run_states_in_the_users_direction_and_a_result_the_same(direction: str) -> None:
    sign = 1 if direction == "minimize" else -1
    run = qd.minimize if direction == "minimize" else qd.maximize
    result = run(lambda p: sign * bowl(p) + 3.0, SPACE, n_trials=12, seed=1)
    found = result._optimizer.recommend()  # type: ignore[union-attr]
    assert (result.distribution, result.gain, result.too_few) == (found.distribution, found.gain, None)
    assert result.interval(0.9) == pytest.approx(result.credible_interval, rel=1e-12)
    low, high = result.interval(0.5)
    assert result.interval(0.99)[0] < low <= result.value <= high < result.interval(0.99)[1]
    assert result.distribution is not None
    assert result.distribution.value == result.value
    for made in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):  # noqa: S301
        assert made.gain == result.gain
        assert made.interval(0.8) == result.interval(0.8)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301


def test_the_text_says_what_each_figure_is() -> None:
    text = repr(FITTED)
    assert "(90 % credible: as sure as the model is)" in text
    assert "0.5 on average, at most 0.9 with 90 %  (as sure as the model is)" in text
    assert "nobody has visited" not in text
    assert "the upper value rests on regions that nobody has visited" in repr(
        replace(FITTED, gain=replace(FITTED.gain, unvisited=0.51))  # type: ignore[type-var]
    )
    few = repr(replace(FITTED, too_few="1 value for 1 parameter"))
    assert "credible interval   too few trials to say: 1 value for 1 parameter" in few
    assert "gain" not in few
    assert "0.8 to 1.3  (under the stated assumptions)" in repr(CERTIFIED)


def test_plain_data_hold_intervals_and_quantiles_of_a_few_levels() -> None:
    said = json.loads(json.dumps(FITTED.to_dict()))
    assert said["intervals"]["0.8"] == list(BELIEF.interval(0.8))
    assert said["gain_quantiles"]["0.9"] == said["estimated_gain_upper"] == pytest.approx(0.9)
    assert (said["credible_interval"], said["too_few"]) == (list(FITTED.credible_interval or ()), None)
    assert json.loads(json.dumps(BARE.to_dict()))["intervals"] == {}
    assert json.loads(json.dumps(CERTIFIED.to_dict()))["delta"] == 0.05


# --- too few trials


def history(values: list[float]) -> History:
    optimizer = qd.Optimizer(SPACE, direction="minimize", method="RandomSearch", seed=0)
    for value in values:
        optimizer.tell(optimizer.ask(), value)
    return optimizer._history


@pytest.mark.parametrize(("count", "few"), [(1, True), (2, True), (3, True), (4, False), (5, False)])
def test_a_plane_fits_as_many_values_as_it_has_coefficients(count: int, few: bool) -> None:
    """Two parameters: three coefficients, so that the fourth value is the first by which a fit is judged."""
    said = too_few_trials(2, history([float(i) for i in range(count)]), None)
    assert said == (f"{count} value{'' if count == 1 else 's'} for 2 parameters" if few else None)


def test_an_interval_wider_than_all_values_says_nothing() -> None:
    told = history([1.0, 2.0, 1.5, 1.2])
    assert too_few_trials(2, told, (0.9, 1.8)) is None
    assert too_few_trials(2, told, (0.9, 2.0)) == "the 90 % interval is wider than the range of all values, 1"
    assert too_few_trials(2, history([1.0] * 6), (0.9, 1.1)) == "all results are the same"
    assert too_few_trials(2, history([1.0] * 6), (0.9, 1.1), noise_stated=True) is None
    assert (
        too_few_trials(2, history([1.0, 0.0] * 3), (0.9, 1.1))
        == "all results are one of two values; tell means of several"
    )
    assert too_few_trials(2, history([1.0, 0.0, 0.5] * 2), (0.9, 1.1)) is None


def test_two_values_with_standard_errors_say_how_much_noise_there_is() -> None:
    optimizer = qd.Optimizer(SPACE, direction="minimize", method="RandomSearch", seed=0)
    for value in (1.0, 0.0, 1.0, 1.0):
        optimizer.tell(optimizer.ask(), value, sem=0.1)
    assert too_few_trials(2, optimizer._history, (0.9, 1.1)) is None
    optimizer.tell(optimizer.ask(), 0.0)
    assert too_few_trials(2, optimizer._history, (0.9, 1.1)) is not None, "the noise of the last is not known"


def test_values_that_agree_but_for_rounding_say_nothing() -> None:
    near = [1e6 + 1e-9 * i for i in range(6)]
    said = too_few_trials(2, history(near), (1e6, 1e6 + 1e-9))
    assert (
        said
        == "results differ in their last digits alone, which may be rounding; tell how far they are from a fixed value"
    )
    assert too_few_trials(2, history([1e6 + 1e-3 * i for i in range(6)]), (1e6, 1e6 + 1e-3)) is None


def test_too_few_trials_stop_no_run_and_print_no_promise() -> None:
    optimizer = qd.Optimizer(SPACE, direction="minimize", seed=0)
    for _ in range(3):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.params))
    found = optimizer.recommend()
    assert found.too_few == "3 values for 2 parameters"
    assert found.credible_interval is not None, "the numbers are there for whoever wants them"
    trial = optimizer.ask()
    optimizer.tell(trial, bowl(trial.params))
    assert optimizer.recommend().too_few != found.too_few
