"""Importance, parallel coordinates, comparisons, active bounds and level sets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import optuna
import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop import Result
from quadrat.optimizer import FAILED, Optimizer
from quadrat.plots import RunView, active_bounds, compare, importance, level_set, parallel_coordinates
from quadrat.space import Float, Space

from .conftest import MIXED, certified, words_of


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


# --- importance


def test_the_parameter_that_matters_is_on_top() -> None:
    space = Space.from_dict({"dull": Float(0, 1), "<main>": Float(1e-3, 1, log=True), "some": Float(0, 1)})
    optimizer = Optimizer(space, direction="maximize", method="GPUCB", seed=0)
    for params in space.sample(40, np.random.default_rng(0)):
        u = space.to_unit(params)
        optimizer.add(params, float(3 * u[1] + u[2]))
    figure = importance(optimizer)
    assert list(figure.layout.yaxis.ticktext) == ["dull", "some", "&lt;main&gt;"], "drawn from the bottom up"
    total, alone = figure.data
    # Of 3 u + v, uniform and independent, the shares are 9/10 and 1/10.
    assert np.array(alone.x) == pytest.approx([0.0, 0.1, 0.9], abs=0.04)
    assert np.array(total.x) == pytest.approx([0.0, 0.1, 0.9], abs=0.04)
    assert "Sobol" in words_of(figure)
    assert "256 × 5 points" in words_of(figure)


def test_importance_of_a_mixed_space_and_of_a_study(mixed_view: RunView, study: optuna.Study) -> None:
    assert set(importance(mixed_view, samples=32).layout.yaxis.ticktext) == {
        name.replace("<", "&lt;").replace(">", "&gt;") for name in MIXED.axes
    }
    assert importance(study, samples=64).layout.yaxis.ticktext[-1] == "rate"


# --- parallel coordinates


def test_every_finished_trial_is_a_line(mixed_view: RunView) -> None:
    [lines] = parallel_coordinates(mixed_view).data
    shown = {dimension.label: dimension for dimension in lines.dimensions}
    assert list(shown) == ["lr", "kind", "depth", "n&lt;1&gt;", "drop", "value"]
    assert all(len(dimension["values"]) == 24 for dimension in shown.values())
    value = shown["value"]
    assert value.ticktext[0] == "failed"
    assert (np.array(value["values"]) == value.tickvals[0]).sum() == 2
    assert value.tickvals[0] < np.sort(np.array(value["values"]))[2], "below all values: larger is better"
    depth = shown["depth"]
    absent = sum("depth" not in record.params for record in mixed_view.records)
    assert depth.ticktext[0] == "not there"
    assert (np.array(depth["values"]) == depth.tickvals[0]).sum() == absent
    kept = [v for v in depth["values"] if v != depth.tickvals[0]]
    assert sorted(kept) == sorted(r.params["depth"] for r in mixed_view.records if "depth" in r.params)
    kind = shown["kind"]
    assert kind.ticktext == ("tree", "<b>line</b>", "None"), "plotly shows these ticks as they are"
    lr = shown["lr"]
    assert sorted(10 ** np.array(lr["values"])) == pytest.approx(sorted(r.params["lr"] for r in mixed_view.records))
    assert set(lr.ticktext) >= {"1e−05", "0.001", "1"}


def test_minimizing_puts_failures_above_and_the_best_last() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="minimize", method="RandomSearch", seed=0)
    for x, value in ((0.1, 3.0), (0.2, FAILED), (0.3, 1.0), (0.4, 2.0)):
        optimizer.add({"x": x}, value)
    [lines] = parallel_coordinates(optimizer).data
    x, value = lines.dimensions
    assert np.array(x["values"]) == pytest.approx([0.2, 0.1, 0.4, 0.3]), "drawn on top: the best"
    assert value["values"][0] > 3.0
    colours = dict(lines.line.colorscale)
    assert colours[1.0] == "#D55E00"
    assert colours[0.0] == "#0072B2"


def test_nothing_to_draw_is_said() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="minimize", method="RandomSearch", seed=0)
    with pytest.raises(NotAvailable, match="at least one finished trial"):
        parallel_coordinates(optimizer)


# --- comparisons


def run(values: list[float], direction: str = "minimize") -> Optimizer:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction=direction, method="RandomSearch", seed=0)
    for i, value in enumerate(values):
        optimizer.add({"x": i / 10}, value)
    return optimizer


def test_runs_are_compared_by_their_best_seen(result: Result, study: optuna.Study) -> None:
    figure = compare({"<one>": run([3.0, 4.0, 1.0, 2.0]), "result": result, "study": study})
    found = traces(figure)
    one = found["&lt;one&gt;"]
    assert dict(zip(one.x, one.y, strict=True)) == {1: 3.0, 2: 3.0, 3: 1.0, 4: 1.0}
    assert found["result"].y[-1] == result.best_seen.value
    assert found["study"].y[-1] == study.best_value
    assert found["&lt;one&gt;: recommended"].x[0] == 4
    assert len({found[name].line.color for name in ("&lt;one&gt;", "result", "study")}) == 3


def test_regret_is_the_distance_to_the_optimum_on_a_log_axis() -> None:
    figure = compare({"down": run([3.0, 1.5, 0.5])}, optimum=1.0)
    down = traces(figure)["down"]
    assert list(down.x) == [1, 2, 3]
    assert list(down.y[:2]) == [2.0, 0.5]
    assert np.isnan(down.y[2]), "noise passed the optimum"
    assert "A line ends where noise" in words_of(figure)
    assert figure.layout.yaxis.type == "log"
    up = traces(compare({"up": run([0.0, 0.5], "maximize")}, optimum=1.0))["up"]
    assert list(up.y) == [1.0, 0.5]


def test_runs_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(InvalidInput, match="one direction"):
        compare({"a": run([1.0]), "b": run([1.0], "maximize")})
    with pytest.raises(InvalidInput, match="one or more runs"):
        compare({})


# --- active bounds


def test_shares_of_bounds_add_up_and_splits_are_counted(certified_view: RunView) -> None:
    figure = active_bounds(certified_view, steps=4)
    areas = [trace for trace in figure.data if trace.stackgroup]
    assert np.sum([trace.y for trace in areas], axis=0) == pytest.approx(np.ones(4))
    assert list(areas[0].x) == [1, 6, 11, 16]
    partition = certified_view.partition()
    now = Counter(partition.active)
    for bound, label in (("posterior", "posterior: Gaussian process"), ("average", "average of the cell")):
        shown = traces(figure)[label].y[-1] if label in traces(figure) else 0.0
        assert shown == pytest.approx(now[bound] / len(partition))
    splits = [trace for trace in figure.data if not trace.stackgroup]
    assert sum(int(trace.y[-1]) for trace in splits) == len(partition) - 1, "every split adds a cell"


def test_other_methods_have_no_active_bounds(level_view: RunView, mixed_view: RunView) -> None:
    with pytest.raises(NotAvailable, match="several bounds"):
        active_bounds(level_view, steps=1)
    with pytest.raises(NotAvailable, match="got Auto"):
        active_bounds(mixed_view)


# --- level sets


def test_labels_are_those_of_the_report(level_view: RunView) -> None:
    figure = level_set(level_view)
    shown = figure.data[0]
    report = level_view.optimizer.level_set()
    names = ["below", "undecided", "above"]
    x, y = np.array(shown.x), np.array(shown.y)
    for j, i in np.ndindex(shown.z.shape):
        middle = {"x": float((x[i] + x[i + 1]) / 2), "y": float(np.sqrt(y[j] * y[j + 1]))}
        assert names[int(shown.z[j, i])] == report.label_at(middle)
    assert len(np.unique(shown.z)) >= 2
    assert "with probability 0.95" in words_of(figure)


def test_along_one_parameter_bounds_go_up() -> None:
    from quadrat.kernels import Matern
    from quadrat.methods import MultiScaleLevelSet

    method = MultiScaleLevelSet(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.05, threshold=0.1, accuracy=0.1)
    optimizer = Optimizer(Space(x=Float(1, 100, log=True)), direction="maximize", method=method, seed=0)
    for _ in range(15):
        trial = optimizer.ask()
        optimizer.tell(trial, 0.6 - 0.4 * float(np.log10(trial.params["x"])))
    figure = level_set(optimizer)
    report = optimizer.level_set()
    drawn = 0
    for label in ("above", "undecided", "below"):
        boxes = traces(figure).get(f"{label}: bounds of each cell")
        if boxes is not None:
            x, y = np.array(boxes.x).reshape(-1, 6), np.array(boxes.y).reshape(-1, 6)
            chosen = [cell for cell in report.cells if cell.label == label]
            assert x[:, :2] == pytest.approx(np.array([cell.ranges["x"] for cell in chosen]))
            assert y[:, 1:3] == pytest.approx(np.array([cell.interval for cell in chosen]))
            drawn += len(x)
    assert drawn == len(report.cells)
    assert figure.layout.shapes[0].y0 == pytest.approx(0.1)


def test_methods_without_a_threshold_are_refused() -> None:
    with pytest.raises(InvalidInput, match="threshold"):
        level_set(certified(2))
