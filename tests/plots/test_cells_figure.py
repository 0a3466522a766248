"""The figure of cells: boxes in the user's units, their bounds, and the slider."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from as_printed import PrintedLPGPUCB

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.methods import LPGPUCB
from quadrat.optimizer import Optimizer
from quadrat.plots import RunView, cells
from quadrat.space import Float, Space

from .conftest import PLANE, certified, words_of

WIDE = Space.from_dict({f"p{i}": Float(0, 10) for i in range(12)})


def heatmaps(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if trace.type == "heatmap"]


def test_every_rectangle_has_the_bound_of_its_cell_in_the_users_direction(certified_view: RunView) -> None:
    figure = cells(certified_view, steps=3)
    last = heatmaps(figure)[-1]
    explained = certified_view.optimizer.explain()["search"]
    assert isinstance(explained, dict)
    x, y = np.array(last.x), np.array(last.y)
    assert (x[0], x[-1]) == (0.0, 2.0)
    assert (y[0], y[-1]) == pytest.approx((1e-3, 1.0))
    # Look up the middle of every rectangle, in the parameters, in what the method says of itself.
    for j, i in np.ndindex(last.z.shape):
        middle = {"x": float((x[i] + x[i + 1]) / 2), "rate": float(np.sqrt(y[j] * y[j + 1]))}
        u = PLANE.to_unit(middle)
        [cell] = [
            c for c in explained["cells"] if (np.array(c["lower"]) <= u).all() and (u < np.array(c["upper"])).all()
        ]
        assert last.z[j, i] == pytest.approx(-cell["bound"], rel=1e-5), "minimizing turns the sign"
        assert cell["active"] in last.hovertext[j][i]
    assert "lower bound" in last.colorbar.title.text
    assert figure.layout.xaxis.title.text == "x"
    assert figure.layout.yaxis.type == "log"


def test_the_slider_goes_through_the_run(certified_view: RunView) -> None:
    figure = cells(certified_view, steps=4)
    [slider] = figure.layout.sliders
    assert [step.label for step in slider.steps] == ["1", "6", "11", "16"]
    assert slider.active == 3
    shown = [[bool(flag) for flag in step.args[0]["visible"]] for step in slider.steps]
    assert np.array(shown).sum(axis=0).tolist() == [1] * len(figure.data), "each trace in one step"
    assert [bool(trace.visible) for trace in figure.data] == shown[-1]
    for step, visible in zip(slider.steps, shown, strict=True):
        traces = [trace for trace, flag in zip(figure.data, visible, strict=True) if flag]
        [marks] = [trace for trace in traces if trace.name == "trials"]
        assert len(marks.x) == int(step.label), "trials so far"
    sizes = [len(np.unique(trace.z)) for trace in heatmaps(figure)]
    assert sizes[0] == 1
    assert sizes[-1] > 4, "cells were split"


def test_points_are_the_trials_in_their_units(certified_view: RunView) -> None:
    figure = cells(certified_view, steps=1, x="rate", y="x")
    [marks] = [trace for trace in figure.data if trace.name == "trials"]
    told = {(record.params["rate"], record.params["x"]) for record in certified_view.records}
    assert {(round(a, 9), round(b, 9)) for a, b in zip(marks.x, marks.y, strict=True)} == {
        (round(a, 9), round(b, 9)) for a, b in told
    }
    [star] = [trace for trace in figure.data if trace.name == "recommended now"]
    assert certified_view.recommendation is not None
    assert star.x[0] == pytest.approx(certified_view.recommendation.params["rate"])
    assert not figure.layout.sliders


def test_in_twelve_dimensions_the_slice_goes_through_the_recommended_point() -> None:
    view = RunView.of(certified(18, space=WIDE, direction="maximize"))
    figure = cells(view, steps=1)
    [shown] = heatmaps(figure)
    partition = view.partition()
    named = {axis.name: axis for axis in view.axes}
    axes = [named[figure.layout.xaxis.title.text], named[figure.layout.yaxis.title.text]]
    assert shown.z.size > 1, "by default the parameters along which cells are divided most"
    assert (shown.x[0], shown.x[-1], shown.y[0], shown.y[-1]) == (0.0, 10.0, 0.0, 10.0)
    for j, i in np.ndindex(shown.z.shape):
        u = view.point.copy()
        for axis, edges, place in zip(axes, (shown.x, shown.y), (i, j), strict=True):
            u[axis.index] = (edges[place] + edges[place + 1]) / 20  # the parameters go to 10
        inside = ((partition.lower <= u) & ((u < partition.upper) | (partition.upper == 1.0))).all(axis=1)
        assert shown.z[j, i] == pytest.approx(float(partition.bound[inside][0]), rel=1e-5)
    marks = {trace.name: len(trace.x) for trace in figure.data if trace.name}
    assert marks.get("trials", 0) + marks["trials in other cells"] == 18
    assert "only cells that this slice meets are drawn" in words_of(figure)


def test_one_parameter_has_steps() -> None:
    view = RunView.of(certified(10, space=Space(x=Float(1, 100, log=True)), direction="maximize"))
    figure = cells(view, steps=1)
    [steps] = [trace for trace in figure.data if trace.name == "upper bound of each cell"]
    x, y = np.array(steps.x).reshape(-1, 3), np.array(steps.y).reshape(-1, 3)
    assert (x[0, 0], x[-1, 1]) == pytest.approx((1.0, 100.0))
    assert x[1:, 0] == pytest.approx(x[:-1, 1]), "they tile the axis"
    assert sorted(y[:, 0]) == pytest.approx(sorted(view.partition().bound))


@pytest.mark.parametrize("form", [LPGPUCB, PrintedLPGPUCB])
def test_other_forms_of_the_method_are_drawn_and_promise_nothing(form: type[LPGPUCB]) -> None:
    learned = form is LPGPUCB
    method = form(kernel=None if learned else Matern(2.5, 0.5), norm_bound=2.0, noise=0.1, budget=12)
    optimizer = Optimizer(PLANE, direction="maximize", method=method, seed=0)
    for i in range(9):
        optimizer.tell(optimizer.ask(), 0.1 * i)
    figure = cells(optimizer, steps=9)
    labels = [step.label for step in figure.layout.sliders[0].steps]
    assert labels[-1] == "9"
    assert (labels[0] == "5") == learned, "the first five points teach the kernel: no cells yet"
    assert "no value there is better" not in words_of(figure)


def test_level_sets_have_cells_too(level_view: RunView) -> None:
    figure = cells(level_view, steps=2)
    report = level_view.optimizer.level_set()
    lows = np.array([cell.interval[0] for cell in report.cells])
    assert float(np.nanmin(heatmaps(figure)[-1].z)) == pytest.approx(lows.min(), rel=1e-5)


def test_what_has_no_cells_is_refused(mixed_view: RunView, certified_view: RunView) -> None:
    with pytest.raises(NotAvailable, match="got Auto"):
        cells(mixed_view)
    with pytest.raises(InvalidInput, match="did you mean 'rate'"):
        cells(certified_view, x="rates")
    with pytest.raises(InvalidInput, match="another parameter than x"):
        cells(certified_view, x="rate", y="rate")
