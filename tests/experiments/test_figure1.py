"""The experiment of figure 1: runs are paired, variants vary what they say, tables say what the rows say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import figure1
import figure1_diagnostics
import figure1_variants
import numpy as np
import pytest
from as_printed import paper_preset
from grid import Row

import problems
from quadrat.kernels import Matern
from quadrat.methods import registry
from quadrat.methods.acquisition import log_expected_improvement, log_probability_of_improvement
from quadrat.methods.surrogate import ModelBased, Surrogate

FOLDER = Path(__file__).resolve().parents[2] / "experiments"
BRANIN = problems.get("branin8")
MEDIANS = {"LP0": 0.2, "Heuristic": 0.1, "IGPUCB": 0.3, "ExpectedImprovement": 0.2, "ProbabilityOfImprovement": 0.4}


def row(method: str, seed: int, regret: float, **more: object) -> Row:
    """A row of three checkpoints, n = 7, that ends at `regret`."""
    lists: Row = {quantity: [1.0, 0.9, regret] for quantity in figure1.QUANTITIES}
    return {"method": method, "problem": "branin8", "seed": seed, "n": 7, **lists, **more}


def made_up() -> list[Row]:
    """Three seeds a method, regrets around MEDIANS."""
    return [row(method, seed, middle + 0.01 * (seed - 1)) for method, middle in MEDIANS.items() for seed in range(3)]


# --- runs


def test_runs_are_paired() -> None:
    names = (*figure1.CLAIMED, *figure1.RIVALS)
    methods = [*(paper_preset(name, 5) for name in names), registry.get("RandomSearch")]
    tracks = [figure1.follow(method, BRANIN, seed=3, n=5, after=[5]) for method in methods]
    for track in tracks:
        assert np.array_equal(track.points, tracks[0].points)
        assert np.array_equal(track.observed, tracks[0].observed)
    assert not np.array_equal(tracks[0].points, figure1.follow(methods[-1], BRANIN, seed=4, n=5, after=[5]).points)


def test_a_run_keeps_regrets_at_the_checkpoints() -> None:
    found = figure1.run("RandomSearch", "goldstein8", seed=1, n=12)
    assert figure1.checkpoints(12) == [5, 6, 7, 8, 9, 10, 12]
    track = figure1.follow(registry.get("RandomSearch"), problems.get("goldstein8"), 1, 12, [12])
    regret = problems.regrets(problems.get("goldstein8"), track.points)
    evaluated = found["evaluated"]
    assert isinstance(evaluated, list)
    assert len(evaluated) == 7
    assert evaluated[-1] == pytest.approx(regret.min(), rel=1e-5)
    assert evaluated[0] == pytest.approx(regret[:5].min(), rel=1e-5)
    # Random search recommends the point with the highest observation.
    assert found["recommended"] == found["luckiest"]


def test_checkpoints() -> None:
    assert figure1.checkpoints(100)[:8] == [5, 6, 7, 8, 9, 10, 15, 20]
    assert figure1.checkpoints(100)[-1] == 100


@pytest.mark.parametrize("seed", [0, 3])
def test_lp0_taken_apart_is_lp0(seed: int) -> None:
    ours = figure1.follow(figure1_variants.OpenLP0(budget=100), BRANIN, seed, 30, [5, 30])
    preset = figure1.follow(paper_preset("LP0", 100), BRANIN, seed, 30, [5, 30])
    assert np.array_equal(ours.points, preset.points)
    assert np.array_equal(ours.recommended, preset.recommended)


@pytest.mark.parametrize(
    "variant",
    [
        "length-scale .5",
        "values as they are",
        "lambda the other way round",
        "B = 2",
        "b without sigma",
        "uniform point of the cell",
        "cells halved from the last axis",
        "Algorithm 1 as printed",
    ],
)
def test_a_variant_leaves_the_path_of_the_preset_after_the_same_five_points(variant: str) -> None:
    preset = figure1.follow(paper_preset("LP0", 30), BRANIN, 3, 30, [30])
    track = figure1.follow(figure1_variants.VARIANTS[variant]["LP0"](30), BRANIN, 3, 30, [30])
    assert np.array_equal(track.points[:5], preset.points[:5])
    assert not np.array_equal(track.points, preset.points)


def test_thresholds_do_nothing_in_eight_dimensions() -> None:
    """gamma_n / sqrt(n) lies far above the variation over the whole cube, halved or doubled: line 15 always decides."""
    loop = figure1_variants.OpenLP0(budget=100, threshold_scale=0.5).loop(Matern(2.5, 0.5), 0.1, 8, 0)
    assert loop.threshold > 2 * loop.cells.variation(0)


def test_printed_recommendation_is_a_point_of_the_cube_that_the_preset_would_not_choose() -> None:
    printed = figure1.follow(figure1_variants.VARIANTS["Recommend as printed"]["LP0"](30), BRANIN, 0, 30, [30])
    preset = figure1.follow(paper_preset("LP0", 30), BRANIN, 0, 30, [30])
    assert np.array_equal(printed.points, preset.points)
    assert not np.array_equal(printed.recommended, preset.recommended)


@pytest.mark.parametrize("name", ["ExpectedImprovement", "ProbabilityOfImprovement"])
def test_plain_scores_are_the_exponentials_of_the_librarys(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = paper_preset(name, 100)
    assert isinstance(method, ModelBased)
    monkeypatch.setattr(Surrogate, "best_mean", lambda _: 0.3)
    score = figure1_variants.plain_score(method, Surrogate(method, 2))
    mean, deviation, step = np.array([0.1, 0.5, -0.4]), np.array([0.2, 0.7, 1.1]), 1e-6
    log = log_expected_improvement(0.3) if name == "ExpectedImprovement" else log_probability_of_improvement(0.4)
    value, in_mean, in_deviation = score(mean, deviation)
    np.testing.assert_allclose(value, np.exp(log(mean, deviation)[0]), rtol=1e-12)
    rise = (score(mean + step, deviation)[0] - score(mean - step, deviation)[0]) / (2 * step)
    np.testing.assert_allclose(in_mean, rise, rtol=1e-6)
    rise = (score(mean, deviation + step)[0] - score(mean, deviation - step)[0]) / (2 * step)
    np.testing.assert_allclose(in_deviation, rise, rtol=1e-6)


def test_plain_averages_have_no_sigma() -> None:
    loop = figure1_variants.OpenLP0(budget=100, sigma_in_b=False).loop(Matern(2.5, 0.5), 0.1, 8, 0)
    assert loop.cells.average_width(0) == np.inf
    loop.cells.add(np.full(8, 0.5), np.array([0.0, 1.0]))
    assert loop.cells.average_width(0) == pytest.approx(np.sqrt(2 * np.log(100 / 0.001) / 2))


# --- what the rows say


def test_ordering() -> None:
    by = {(found.quantity, found.method): found for found in figure1.ordering(made_up())}
    assert set(by) == {(quantity, method) for quantity in ("evaluated", "recommended") for method in figure1.CLAIMED}
    heuristic, lp0 = by["evaluated", "Heuristic"], by["evaluated", "LP0"]
    assert heuristic.holds
    assert heuristic.ahead_of == figure1.RIVALS
    assert not lp0.holds
    assert lp0.behind == ("ExpectedImprovement",)  # equal medians are not "above"
    assert lp0.median == pytest.approx(0.2)
    assert figure1.ordering([]) == []


def test_curves() -> None:
    rows = [row("LP0", seed, regret) for seed, regret in enumerate([0.1, 0.2, 0.3, 0.4, 0.5])]
    evaluations, low, middle, high = figure1.curves(rows, "branin8", "LP0", "evaluated")
    assert evaluations.tolist() == [5, 6, 7]
    assert [curve[-1] for curve in (low, middle, high)] == pytest.approx([0.2, 0.3, 0.4])
    assert all(len(part) == 0 for part in figure1.curves(rows, "branin8", "Heuristic", "evaluated"))


def test_report() -> None:
    text = figure1.report(made_up())
    assert "| LP0 | 0.2 (0.195 to 0.205) | 0.2 (0.195 to 0.205) |  |  | -0.1 (3 of 3) | -0.1 (3 of 3) |" in text
    assert "| PI | 0.4 (0.395 to 0.405) | 0.4 (0.395 to 0.405) | -0.2 (3 of 3) |" in text
    assert "| branin8 | evaluated | LP0 | IGPUCB, PI | EI | no |" in text
    assert "| branin8 | recommended | Heuristic | IGPUCB, EI, PI | none | yes |" in text


def test_diagnostics_compare_a_changed_method_with_the_unchanged_others() -> None:
    """Of the figure's rows only the seeds of the diagnostics count: seed 2 is far off and changes nothing."""
    variant = "uniform point of the cell"
    rows = [{**row("LP0", seed, 0.05), "variant": variant} for seed in range(2)]
    figure = [entry for entry in made_up() if entry["seed"] != 2] + [row(method, 2, 9.0) for method in MEDIANS]
    found = figure1_diagnostics.diagnosed(rows, figure, "evaluated")
    assert list(found) == [figure1_diagnostics.PRESET, variant]
    assert [standing.holds for standing in found[figure1_diagnostics.PRESET]] == [False, True]
    assert [standing.holds for standing in found[variant]] == [True, True]
    table = figure1_diagnostics.diagnostic_table(rows, figure, "branin8", "evaluated")
    assert "| as in the preset | 0.195 | 0.095 | 0.295 | 0.195 | 0.395 | IGPUCB, PI | all three |" in table
    assert f"| {variant} | **0.05** | 0.095 | 0.295 | 0.195 | 0.395 | → all three | all three |" in table


def test_empty_results_give_empty_tables() -> None:
    assert figure1.report([]).count("\n") == 1
    assert figure1_diagnostics.diagnostic_report([], []) == ""


@pytest.mark.parametrize(("script", "rows"), [("figure1.py", 10), ("figure1_diagnostics.py", 55)])
def test_smoke(script: str, rows: int) -> None:
    out = subprocess.run([sys.executable, str(FOLDER / script), "--smoke"], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("| branin8"), out.stdout
    assert out.stdout.count("\n|") > rows
