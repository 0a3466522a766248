"""The first screen of a report, in words; how noisy one result is, and a warning where the model fits badly."""

from __future__ import annotations

import numpy as np
import pytest

import quadrat as qd
from quadrat.report import report_html
from quadrat.report.findings import findings_of
from quadrat.report.source import report_source


def told(*values: float) -> qd.Optimizer:
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1)), direction="minimize", seed=0)
    for value in values:
        optimizer.tell(optimizer.ask(), value)
    return optimizer


def test_too_few_trials_promise_nothing() -> None:
    found = findings_of(report_source(told(1.0, 0.5, 0.7)))
    assert found.value.said == "Too few trials to say how sure that is: 3 values for 2 parameters."
    assert (found.remaining.figure, found.remaining.said) == (
        "not known",
        "Too few trials to say: 3 values for 2 parameters.",
    )
    assert found.next_step.startswith("Go on: too few trials to say what is left to gain")


def test_what_is_fitted_is_as_sure_as_the_model() -> None:
    optimizer = told()
    for i in range(25):
        x, y = (i % 5) / 4, (i // 5) / 4
        optimizer.tell(optimizer.ask({"x": x, "y": y}), (x - 0.5) ** 2 + (y - 0.5) ** 2)
    found = findings_of(report_source(optimizer))
    gain = optimizer.recommend().gain
    assert gain is not None
    assert found.value.said.startswith("90 % credible: ")
    assert found.value.said.endswith("As sure as the model is, which was fitted to the trials.")
    assert f"at most {gain.upper:.6g} with 90 %" in found.remaining.said
    assert found.remaining.said.endswith("As sure as the model is, not certified.")
    assert found.next_step == optimizer.advice().text


@pytest.mark.parametrize("outlier", [0.0, 9.0])
def test_a_page_warns_of_a_model_that_fits_badly(outlier: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'quadrat[plots]'")
    monkeypatch.setattr(
        "quadrat.report.page.figures_of", lambda *_: ()
    )  # they take their time, and are tested elsewhere
    rng = np.random.default_rng(0)
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", seed=0)
    values = [float(np.sin(i / 4) + 0.1 * rng.standard_normal() + outlier * (i == 8)) for i in range(20)]
    optimizer.add_trials([{"x": i / 20} for i in range(20)], values)
    page = report_html(optimizer)
    assert ("Before you rely on the model" in page) == (outlier > 0)
    assert ("Outliers: trial 8 gave" in page) == (outlier > 0)
