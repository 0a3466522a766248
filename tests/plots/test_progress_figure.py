"""The figure of a run's progress: what stands where."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pytest

from quadrat._core.printing import at_most
from quadrat.loop import Result
from quadrat.optimizer import FAILED, Measured, Optimizer
from quadrat.plots import RunView, progress
from quadrat.space import Float, Space

from .conftest import words_of


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


def test_a_certified_run_shows_values_bounds_and_the_certificate(certified_view: RunView) -> None:
    figure = progress(certified_view, checkpoints=4)
    found = traces(figure)
    assert set(found) == {
        "trials",
        "best seen, noise included",
        "value of the recommended, estimated",
        "certified interval of the recommended",
        "certificate: the optimum is no further than this",
    }
    assert list(found["trials"].x) == list(range(1, 17))
    assert list(found["trials"].y) == [record.value for record in certified_view.records]
    checkpoints = certified_view.checkpoints(4)
    line = found["value of the recommended, estimated"]
    assert list(line.x) == [1, 6, 11, 16]
    assert list(line.y) == [one.recommendation.value for one in checkpoints]
    band = found["certified interval of the recommended"]
    assert list(band.y[:4]) == [one.interval[1] for one in checkpoints if one.interval is not None]
    assert list(band.y[4:]) == [one.interval[0] for one in reversed(checkpoints) if one.interval is not None]
    left = found["certificate: the optimum is no further than this"]
    assert list(left.y) == [one.certificate.value for one in checkpoints]
    assert left.yaxis == "y2"
    report = certified_view.certificate
    assert certified_view.recommendation is not None
    assert report.value is not None
    whose = "" if report.params == certified_view.recommendation.params else "a point next to it is "
    assert f"certificate: {whose}within {at_most(report.value, 3)} of the optimum under the stated" in words_of(figure)
    best = found["best seen, noise included"]
    assert (best.x[-1], best.y[-1]) == (16, float(certified_view.values.min()))
    assert "x = " in found["trials"].hovertext[0]


def test_a_fitted_run_shows_estimates_and_names_them_so(study: optuna.Study) -> None:
    figure = progress(study, checkpoints=3)
    found = traces(figure)
    assert {"90 % credible interval of the recommended", "estimated gain left", "at most, with 90 % (fitted)"} <= set(
        found
    )
    assert not any("certif" in str(name) for name in found)
    assert "my &lt;study&gt;" in figure.layout.title.text
    failed = found["failed trials (no value: drawn at the edge)"]
    place = [trial.number for trial in study.trials].index(2) + 1
    assert list(failed.x) == [place]
    assert "failed" in failed.hovertext[0]
    high = figure.layout.yaxis.range[1]
    worst = max(trial.value for trial in study.trials if trial.value is not None)
    assert worst < failed.y[0] < high, "minimizing, the bad side is above"


def test_a_method_without_a_model_has_one_panel(result: Result) -> None:
    figure = progress(result)
    assert "yaxis2" not in figure.layout
    assert list(traces(figure)["value of the recommended, estimated"].y)[-1] == result.value


def test_constraints_are_seen() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", seed=0)
    for i, used in enumerate((1.0, -1.0, 0.5, -0.1)):
        optimizer.add({"x": i / 4}, Measured(float(i), {"used": used}))
    found = traces(progress(optimizer, checkpoints=1))
    assert list(found["trials"].x) == [2, 4]
    assert list(found["trials that violate a constraint"].x) == [1, 3]
    assert "constraint violated: used" in found["trials that violate a constraint"].hovertext[0]


def test_a_far_outlier_does_not_flatten_the_rest() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", method="RandomSearch", seed=0)
    optimizer.add_trials([{"x": i / 20} for i in range(20)], [-1e6, *np.linspace(0, 1, 19)])
    low, high = progress(optimizer).layout.yaxis.range
    assert -1 < low < 0
    assert 1 < high < 1.2


def test_nothing_finished_is_an_empty_figure() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", method="RandomSearch", seed=0)
    assert len(progress(optimizer).data) == 0
    optimizer.tell(optimizer.ask(), FAILED)
    assert list(traces(progress(optimizer))) == ["failed trials (no value: drawn at the edge)"]


def test_five_thousand_trials_stay_small_and_are_not_replayed() -> None:
    space = Space.from_dict({f"p{i}": Float(0, 1) for i in range(12)})
    optimizer = Optimizer(space, direction="maximize", method="RandomSearch", seed=0)
    points = np.random.default_rng(0).random((5000, 12))
    optimizer.add_trials([dict(zip(space, row, strict=True)) for row in points.tolist()], points.sum(axis=1).tolist())
    figure = progress(optimizer)
    found = traces(figure)
    assert len(found["trials"].x) == 5000
    assert len(found["best seen, noise included"].x) < 50, "only where it changes"
    assert found["best seen, noise included"].y[-1] == pytest.approx(points.sum(axis=1).max())
    assert len(found["value of the recommended, estimated"].x) == 1, "a long run is not replayed unasked"
    assert len(figure.to_json()) < 3_000_000
