"""Cells in the user's parameters: ranges, bounds and labels are those of the cube, seen from the other side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from rich.console import Console

from quadrat.cli.cell_table import CellRow, cell_rows, cell_table
from quadrat.kernels import Matern
from quadrat.methods import LPGPUCB, MultiScaleLevelSet
from quadrat.optimizer import Optimizer
from quadrat.space import Categorical, Float, Int, Space
from quadrat.studies.distributions import DistributionSpace, OwnSpace

SPACE = OwnSpace(
    Space(
        x=Float(-1, 1),
        lr=Float(1e-4, 1, log=True),
        n=Int(1, 8),
        kind=Categorical(["a", "b", "c", "d"]),
        step=Float(0, 1, step=0.25, when={"kind": "a"}),
    )
)


def cell(lower: list[float], upper: list[float], **more: Any) -> dict[str, Any]:
    return {"lower": lower, "upper": upper, "depth": 3, "bound": 0.5, "points": 2, **more}


def lines_of(rows: tuple[CellRow, ...], width: int = 80, **options: Any) -> list[str]:
    console = Console(width=width, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(cell_table(rows, width, **{"direction": "maximize", **options}))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_ranges_are_in_the_parameters_own_values() -> None:
    found = cell_rows([cell([0.25, 0.5, 0.25, 0.0, 0.0], [0.5, 0.75, 0.5, 0.5, 1.0])], SPACE, turned=False)
    assert found is not None
    ranges = found[0].ranges
    assert ranges == {"x": (-0.5, 0.0), "lr": (0.01, 0.1), "n": (3, 4), "kind": ["a", "b"]}
    assert list(map(len, ranges.values())) == [2, 2, 2, 2]


def test_what_does_not_exist_in_a_cell_has_no_range() -> None:
    low, high = [0.0] * 5, [1.0, 1.0, 1.0, 0.25, 0.5]
    [there] = cell_rows([cell(low, high)], SPACE, turned=False) or []
    assert there.ranges == {"kind": ["a"], "step": (0.0, 0.5)}
    [absent] = cell_rows([cell([0, 0, 0, 0.5, 0], [1, 1, 1, 1, 0.5])], SPACE, turned=False) or []
    assert absent.ranges == {"kind": ["c", "d"]}


def test_a_study_of_another_maker_has_its_own_values_too() -> None:
    searched = DistributionSpace(
        {"m": IntDistribution(0, 30, step=10), "q": CategoricalDistribution([1, 2.5]), "z": FloatDistribution(0, 4)}
    )
    [found] = cell_rows([cell([0.5, 0.5, 0.0], [1.0, 1.0, 0.25])], searched, turned=False) or []
    assert found.ranges == {"m": (20, 30), "q": [2.5], "z": (0.0, 1.0)}


def test_the_most_promising_come_first_whichever_way_is_better() -> None:
    cells = [cell([0.0] * 5, [1.0] * 5, bound=bound) for bound in (0.1, 3.0, -2.0)]
    assert [row.bound for row in cell_rows(cells, SPACE, turned=False) or []] == [3.0, 0.1, -2.0]
    assert [row.bound for row in cell_rows(cells, SPACE, turned=True) or []] == [-3.0, -0.1, 2.0]
    assert len(cell_rows(cells, SPACE, turned=False, most=2) or []) == 2


def test_labels_and_bounds_turn_with_the_direction() -> None:
    one = {"lower": [0.0] * 5, "upper": [0.5, 0.25, 1.0, 1.0, 1.0], "low": -1.0, "high": 2.0, "label": "above"}
    [seen] = cell_rows([one], SPACE, turned=False) or []
    assert (seen.label, seen.interval, seen.bound, seen.depth, seen.points) == ("above", (-1.0, 2.0), 2.0, 3, None)
    [turned] = cell_rows([one], SPACE, turned=True) or []
    assert (turned.label, turned.interval, turned.bound) == ("below", (-2.0, 1.0), -2.0)
    [open_] = cell_rows([{**one, "label": "undecided"}], SPACE, turned=True) or []
    assert open_.label == "undecided"


def test_cells_without_bounds_are_not_shown() -> None:
    assert cell_rows([{"lower": [0.0] * 5, "upper": [1.0] * 5, "depth": 0}], SPACE, turned=False) is None


def test_the_table_says_what_a_bound_is() -> None:
    rows = cell_rows([cell([0.25, 0.5, 0.0, 0.0, 0.0], [0.5, 0.75, 0.125, 1.0, 1.0])], SPACE, turned=False)
    assert rows is not None
    head, _, row = lines_of(rows)
    assert head.split("  ")[:3] == ["depth", "points", "upper bound"]
    assert row.split() == ["3", "2", "0.5", "-0.5", "to", "0", "0.01", "to", "0.1", "1"]
    assert "lower bound" in lines_of(rows, direction="minimize")[0]
    assert "index" in lines_of(rows, bounded=False)[0]
    labelled = (CellRow(2, 1.0, (-1.0, 1.0), "undecided", 0, {}),)
    assert lines_of(labelled)[0].split() == ["label", "depth", "points", "bounds"]
    assert lines_of(labelled)[2].split() == ["undecided", "2", "0", "-1", "to", "1"]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("dimension", [1, 3, 12])
def test_it_fits_the_screen_and_names_stand_as_they_are(width: int, dimension: int) -> None:
    names = [f"[bold]rate {i}[/bold]" for i in range(dimension)]
    searched = OwnSpace(Space.from_dict({name: Float(1.23456789e-7, 9.87654321e-3) for name in names}))
    rows = cell_rows([cell([0.25] * dimension, [0.5] * dimension)] * 5, searched, turned=False)
    assert rows is not None
    lines = lines_of(rows, width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert all(name in text for name in names)
    assert text.count("0.002469 to 0.004938") == 5 * dimension


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_run_of_lp_gp_ucb_keeps_its_data_within_its_bounds(direction: str) -> None:
    space = OwnSpace(Space(x=Float(0, 10), y=Float(0.1, 10, log=True)))
    method = LPGPUCB(kernel=Matern(2.5, 0.4), norm_bound=2, noise=0.01, budget=60)
    run = Optimizer(space.space, direction=direction, method=method)
    sign = 1 if direction == "maximize" else -1
    for _ in range(25):
        trial = run.ask()
        u = space.space.to_unit(trial.params)
        run.tell(trial, sign * float(np.exp(-8 * ((u - 0.4) ** 2).sum())))
    said: Any = run.explain()
    rows = cell_rows(said["search"]["cells"], space, turned=said["turned"])
    assert rows is not None
    assert len(rows) > 4
    assert sum(row.points or 0 for row in rows) == 25
    assert abs(sum(2.0**-row.depth for row in rows) - 1) < 1e-12
    whole = {"x": (0.0, 10.0), "y": (0.1, 10.0)}
    for record in run.trials:
        there = [
            row
            for row in rows
            if all(low <= record.params[n] <= high for n, (low, high) in {**whole, **row.ranges}.items())
        ]
        assert record.value is not None
        assert there
        assert all(sign * record.value <= sign * row.bound + 1e-9 for row in there)


def test_a_run_for_a_level_set_has_the_cells_of_its_report() -> None:
    space = OwnSpace(Space(x=Float(0, 10)))
    method = MultiScaleLevelSet(kernel=Matern(2.5, 0.4), norm_bound=2, noise=0.01, threshold=-0.5, accuracy=0.1)
    run = Optimizer(space.space, direction="minimize", method=method)
    for _ in range(15):
        trial = run.ask()
        run.tell(trial, -float(np.exp(-8 * (trial.params["x"] / 10 - 0.4) ** 2)))
    said: Any = run.explain()
    rows = cell_rows(said["search"]["cells"], space, turned=said["turned"])
    assert rows is not None
    expected = {(cell.ranges["x"], cell.label, cell.interval) for cell in run.level_set().cells}
    assert {(row.ranges["x"], row.label, row.interval) for row in rows} == expected
    assert {row.label for row in rows} >= {"above", "below"}
