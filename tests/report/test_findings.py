"""The first screen of a report, in words."""

from __future__ import annotations

import quadrat as qd
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
