"""The figure of slices: what is believed along each parameter, in the user's units."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop import Result
from quadrat.optimizer import Optimizer
from quadrat.plots import RunView, slices
from quadrat.space import Float, Space

from .conftest import MIXED, words_of


def panels(figure: Any) -> dict[str, list[Any]]:
    """The traces of each panel by the title of its axis."""
    found: dict[str, list[Any]] = {}
    for trace in figure.data:
        axis = figure.layout["xaxis" + trace.xaxis[1:]]
        found.setdefault(axis.title.text, []).append(trace)
    return found


def mean_of(traces: list[Any]) -> Any:
    [trace] = [trace for trace in traces if trace.legendgroup in ("mean", "choices")]
    return trace


def test_means_and_bands_are_what_the_optimizer_predicts(certified_view: RunView) -> None:
    figure = slices(certified_view, points=9)
    shown = panels(figure)
    assert list(shown) == ["x", "rate"]
    assert certified_view.recommendation is not None
    for name, traces in shown.items():
        line = mean_of(traces)
        points = [{**certified_view.recommendation.params, name: value} for value in np.array(line.x).tolist()]
        predicted = certified_view.optimizer.predict(points)
        assert np.array(line.y) == pytest.approx([one.value for one in predicted], abs=1e-7)
        [band] = [trace for trace in traces if trace.legendgroup == "band"]
        assert band.name == "certified interval, under the stated assumptions"
        ends = [one.certified_interval for one in predicted]
        assert np.array(band.y[:9]) == pytest.approx([end[1] for end in ends if end is not None], abs=1e-7)
        assert np.array(band.y[:8:-1]) == pytest.approx([end[0] for end in ends if end is not None], abs=1e-7)
        [marks] = [trace for trace in traces if trace.name == "trials"]
        assert np.array(marks.x) == pytest.approx([record.params[name] for record in certified_view.records])
        assert list(marks.y) == [record.value for record in certified_view.records]
    assert figure.layout.xaxis2.type == "log"


def test_mixed_spaces_show_every_kind_of_axis(mixed_view: RunView) -> None:
    figure = slices(mixed_view, points=7)
    shown = panels(figure)
    assert mixed_view.recommendation is not None
    there = [name for name in MIXED.axes if name in mixed_view.recommendation.params]
    assert list(shown) == [name.replace("<", "&lt;").replace(">", "&gt;") for name in there]
    kind = mean_of(shown["kind"])
    assert list(kind.x) == [0.0, 1.0, 2.0]
    assert kind.mode == "markers"
    assert list(figure.layout.xaxis2.ticktext) == ["tree", "&lt;b&gt;line&lt;/b&gt;", "None"]
    assert list(mean_of(shown["n&lt;1&gt;"]).x) == [1.0, 2.0, 3.0]
    assert list(mean_of(shown["drop"]).x) == pytest.approx([0.0, 0.3, 0.6, 0.9])
    assert "certified" not in str([trace.name for trace in figure.data])
    bars = kind.error_y
    ends = [mixed_view.predictions(mixed_view.point[None, :])]
    assert len(bars.array) == 3
    assert ends[0].kind == "credible 90 %"
    names = [trace.name for trace in figure.data if trace.showlegend]
    assert len(names) == len(set(names)), "each name once in the legend"


def test_parameters_that_do_not_exist_there_are_left_out_and_named() -> None:
    optimizer = Optimizer(MIXED, direction="maximize", method="GPUCB", seed=0)
    for i, params in enumerate(MIXED.sample(20, np.random.default_rng(0))):
        optimizer.add(params, float(params["kind"] != "tree") + 0.01 * i)
    figure = slices(optimizer, points=5)
    assert "depth" not in panels(figure)
    assert "Not part of the recommended point: depth" in words_of(figure)
    with pytest.raises(InvalidInput, match="which do not"):
        slices(optimizer, parameters=["depth"])


def test_a_study_is_in_its_own_units(study: optuna.Study) -> None:
    shown = panels(slices(study, points=5, parameters=["n", "kind"]))
    assert list(shown) == ["n", "kind"], "in the order asked for"
    assert list(mean_of(shown["n"]).x) == [10, 20, 30, 40, 50]


def test_trials_near_the_slice_are_stronger() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1), y=Float(0, 1)), direction="maximize", method="GPUCB", seed=0)
    for x, y in ((0.5, 0.5), (0.1, 0.5), (0.2, 0.9), (0.3, 0.0)):
        optimizer.add({"x": x, "y": y}, 1.0 - (x - 0.5) ** 2 - (y - 0.5) ** 2)
    [marks] = [trace for trace in panels(slices(optimizer, points=5))["x"] if trace.name == "trials"]
    strength = np.array(marks.marker.opacity)
    assert strength[0] == strength[1] == strength.max()
    assert strength[2] > strength[3]


def test_twelve_parameters_make_twelve_panels_of_bounded_size() -> None:
    space = Space.from_dict({f"p{i}": Float(0, 1) for i in range(12)})
    optimizer = Optimizer(space, direction="maximize", method="GPUCB", seed=0)
    for params in space.sample(25, np.random.default_rng(0)):
        optimizer.add(params, sum(params.values()))
    figure = slices(optimizer, points=9)
    assert len(panels(figure)) == 12
    assert len({trace.yaxis for trace in figure.data}) == 12
    ranges = {tuple(figure.layout[f"yaxis{i or ''}"].range) for i in (0, 2, 12)}
    assert len(ranges) == 1, "one scale for all"


def test_methods_without_a_model_say_so(result: Result, certified_view: RunView) -> None:
    with pytest.raises(NotAvailable, match="got SobolSearch"):
        slices(result)
    with pytest.raises(InvalidInput, match="did you mean 'rate'"):
        slices(certified_view, parameters=["ratee"])
    with pytest.raises(InvalidInput, match="names that differ"):
        slices(certified_view, parameters=["x", "x"])
