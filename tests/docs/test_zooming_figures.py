"""docs/zooming_figures.py and docs/bound_figures.py: pictures of real runs, and what they show is true of the curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import bound_figures
import numpy as np
import pytest
import zooming_figures
from charts import alike
from zooming_figures import Moment

from quadrat.problems import RKHSFunction

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
SVG = "{http://www.w3.org/2000/svg}"
Run = tuple[RKHSFunction, list[Moment]]


@pytest.fixture(scope="module")
def square() -> Run:
    return zooming_figures.square_run()


@pytest.fixture(scope="module")
def interval() -> Run:
    return zooming_figures.interval_run()


@pytest.fixture(params=["square", "interval"])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.getfixturevalue(request.param)
    return found


def test_the_committed_figure_of_the_square_is_what_the_script_writes(square: Run) -> None:
    assert zooming_figures.square_figure(*square) == (FIGURES / "zooming.svg").read_text()


def test_the_committed_figure_of_the_interval_is_what_the_script_writes(interval: Run) -> None:
    assert zooming_figures.interval_figure(*interval) == (FIGURES / "zooming_steps.svg").read_text()


def test_cells_tile_the_domain(run: Run) -> None:
    """Their volumes add up to 1, and every point is in exactly one of them."""
    f, moments = run
    points = np.random.default_rng(0).random((200, f.dimension))
    for moment in moments:
        assert sum(cell.volume for cell in moment.cells) == pytest.approx(1.0, abs=1e-12)
        holding = [((points >= cell.lower) & (points < cell.upper)).all(axis=1) for cell in moment.cells]
        assert (np.sum(holding, axis=0) == 1).all()


def test_every_bound_that_is_shown_contains_the_curve(run: Run) -> None:
    """No bound of a cell, active or not, lies below f at any of 40 random points of the cell."""
    f, moments = run
    shares = np.random.default_rng(1).random((40, f.dimension))
    shown = set()
    for moment in moments:
        for cell in moment.cells:
            highest = f.values(cell.lower + shares * np.subtract(cell.upper, cell.lower)).max()
            for name, bound in cell.bounds.items():
                assert bound >= highest - 1e-9, name
                shown.add(name)
            assert cell.bound == min(cell.bounds.values())
    assert {"posterior", "average"} <= shown


def test_what_is_said_below_the_panels_is_true(run: Run) -> None:
    """The floor is reached, no cell that holds the maximum is ruled out, and the run zooms in."""
    f, moments = run
    place, best = f.maximum()
    for moment in moments:
        assert moment.floor <= best
        assert moment.certificate is not None
        assert max(cell.bound for cell in moment.cells) >= best
        home = [cell for cell in moment.cells if (place >= cell.lower).all() and (place < cell.upper).all()]
        assert [cell.bound >= moment.floor for cell in home] == [True]
    certificates = [moment.certificate for moment in moments]
    assert certificates == sorted(certificates, key=lambda value: -(value or 0))
    assert moments[-1].ruled_out > moments[0].ruled_out
    volumes = [min(cell.volume for cell in moment.cells) for moment in moments]
    assert volumes[-1] < volumes[0] / 4


def test_moments_are_those_asked_for(interval: Run) -> None:
    f, moments = interval
    assert [len(moment.y) for moment in moments] == [1, 4, 16, 120]
    assert np.abs(moments[-1].y - f.values(moments[-1].x)).max() < 5 * 0.05
    assert (moments[-1].x[0] == moments[0].x[0]).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: zooming_figures.square_figure(*zooming_figures.square_run((2, 5))),
        lambda: zooming_figures.interval_figure(*zooming_figures.interval_run((1, 3))),
    ],
)
def test_small_figures_are_well_formed(draw: Callable[[], str]) -> None:
    svg = draw()
    assert not {"nan", "inf", "None"} & set(svg.replace('"', " ").replace(",", " ").split())
    root = ET.fromstring(svg)  # noqa: S314
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    background = next(root.iter(f"{SVG}rect"))
    assert (background.attrib["fill"], float(background.attrib["width"])) == (zooming_figures.PAPER, width)


def test_level_lines_lie_on_the_level() -> None:
    f, _ = zooming_figures.square_run((1,))
    ends = np.array([end for piece in zooming_figures.level_lines(f, 0.4) for end in piece])
    assert len(ends) > 50
    assert np.abs(f.values(ends) - 0.4).max() < 0.02


def test_bounds_of_one_cell_hold_and_cross() -> None:
    """Every bound is above the truth. The posterior is best with few values, the polynomial with many."""
    found = bound_figures.one_cell()
    assert all(value > 0 for values in found.excess.values() for value in values)
    first, last = ({name: values[i] for name, values in found.excess.items()} for i in (0, -1))
    assert min(first, key=lambda name: first[name]) == "posterior"
    assert min(last, key=lambda name: last[name]) == "local polynomial"
    whole, *three = (np.array(values) for values in found.excess.values())
    assert (np.min(three, axis=0) < 0.75 * whole).all()  # "far below the dashed line", the page says
    assert alike(bound_figures.one_cell_figure(found), (FIGURES / "one_cell.svg").read_text())


def test_certificates_against_the_norm_bound() -> None:
    """What is above the true norm is not rejected and holds; certificates grow with the bound."""
    found = bound_figures.norm_curves()
    for evaluations, curve in found.curves.items():
        valid = curve.norm_bounds >= found.norm
        assert not np.array(curve.rejected)[valid].any()
        assert (curve.values[valid] >= found.regrets[evaluations]).all()
        assert (np.diff(curve.values[valid]) > -1e-3).all()
        assert curve.rejected[0]
    assert alike(bound_figures.norm_figure(found), (FIGURES / "certificate_curve.svg").read_text())
