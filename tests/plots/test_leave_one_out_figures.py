"""Predicted against observed, and calibration: what is drawn is the optimizer's answer, in the user's units."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pytest

from quadrat.errors import NotAvailable
from quadrat.optimizer import FAILED, Optimizer
from quadrat.plots import RunView, calibration, predicted_vs_observed
from quadrat.space import Float, Space

from .conftest import mixed, words_of


def noisy(n: int, *, outlier: int | None = None, direction: str = "minimize", far: float = 2.0) -> Optimizer:
    """A sine with a little noise; trial 4 failed, and one value may be far off."""
    optimizer = Optimizer(Space(x=Float(0, 1)), direction=direction, seed=0)
    rng = np.random.default_rng(1)
    values: list[Any] = [100 + np.sin(6 * i / n) + 0.1 * rng.standard_normal() + far * (i == outlier) for i in range(n)]
    values[4] = FAILED
    optimizer.add_trials([{"x": i / n} for i in range(n)], values)
    return optimizer


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


@pytest.fixture(scope="module")
def wrong() -> RunView:
    return RunView.of(noisy(24, outlier=10))


def test_marks_and_bars_are_the_leave_one_out_predictions(wrong: RunView) -> None:
    figure = predicted_vs_observed(wrong)
    found = wrong.leave_one_out
    assert len(found) == 23
    drawn = [trace for trace in figure.data if trace.mode == "markers"]
    x, y = (np.concatenate([np.array(getattr(trace, name)) for trace in drawn]) for name in ("x", "y"))
    np.testing.assert_array_equal(np.sort(x), np.sort(found.observed))
    np.testing.assert_array_equal(np.sort(y), np.sort(found.predicted))
    outside = traces(figure)["outside"]
    assert np.array(outside.x).max() == pytest.approx(max(wrong.values[~np.isnan(wrong.values)]))
    tops = np.array(outside.y) + np.array(outside.error_y.array)
    ends = found.upper[~np.isin(found.observed, drawn[0].x)]
    np.testing.assert_allclose(np.sort(tops)[:-1], np.sort(ends)[:-1])
    assert tops.max() <= ends.max(), "the bar of an outlier ends where the figure does"
    assert "trial 10: observed" in outside.hovertext[int(np.argmax(outside.x))]
    assert "trial 10 gave" in words_of(figure), "the warning is in the caption"


def test_a_far_outlier_does_not_set_the_axes() -> None:
    figure = predicted_vs_observed(noisy(24, outlier=10, far=1000.0))
    x, y = np.array(traces(figure)["outside"].x), np.array(traces(figure)["inside the 90 % interval"].x)
    assert x.max() - y.max() < 1.5 * np.ptp(y), "at the edge"
    assert "trial 10: observed 1101" in traces(figure)["outside"].hovertext[int(np.argmax(x))]


def test_calibration_is_the_share_inside_with_a_band(wrong: RunView) -> None:
    figure = calibration(wrong)
    line = traces(figure)["share of the outcomes"]
    np.testing.assert_allclose(line.y, wrong.leave_one_out.coverage(list(line.x)))
    assert (np.diff(line.y) >= 0).all()
    shape = np.array(traces(figure)["95 % band of a right model"].y)
    high, low = shape[: len(shape) // 2], shape[len(shape) // 2 :][::-1]
    assert (low <= high).all()
    assert low[49] < 0.5 < high[49]
    assert "of 23 outcomes" in line.hovertext[0]


def test_a_study_has_its_own_numbers_and_a_mixed_space_its_words(study: optuna.Study) -> None:
    view = RunView.of(study)
    assert sorted(n for some in view.leave_one_out.trials for n in some) == [n for n in range(16) if n != 2]
    assert view.fit_warning is None or "fits badly" in view.fit_warning
    [marks, *_] = [trace for trace in predicted_vs_observed(mixed()).data if trace.mode == "markers"]
    assert all("&lt;" not in text.split("<br>")[0] for text in marks.hovertext)


@pytest.mark.parametrize("figure", [predicted_vs_observed, calibration])
def test_without_a_model_of_all_trials_there_is_no_figure(figure: Any) -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="minimize", method="RandomSearch", seed=0)
    optimizer.add({"x": 0.5}, 1.0)
    with pytest.raises(NotAvailable, match=r"a run of Auto.*got RandomSearch with 1 complete"):
        figure(optimizer)
    assert RunView.of(optimizer).fit_warning is None
