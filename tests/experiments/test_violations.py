"""The experiments on violations and certificates: closed forms equal the classes, tables say what rows say."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, Band, ChowdhuryGopalanBand, LocalPolynomial, SimpleBand
from quadrat.confidence.averages import cell_average
from quadrat.kernels import SquaredExponential
from quadrat.partition import Cell

FOLDER = Path(__file__).resolve().parents[2] / "experiments"
violations, certificates = import_module("violations"), import_module("certificates")


# --- violations


def classes(X: Array, y: Array, budget: int) -> dict[str, tuple[float, float]]:
    """What the classes say at the one point, with bounds from their own B."""
    kernel = SquaredExponential(5.0)
    small = Assumptions(kernel, 0.05, 1.0)
    bands: dict[str, Band] = {
        "adaptive band, B = 1": AdaptiveBand(Assumptions(kernel, 1.0, 1.0), violations.DELTA),
        "simple band, λ = σ², B = .05": SimpleBand(small, violations.DELTA),
        "simple band, λ = 100σ², B = .05": SimpleBand(small, violations.DELTA, regulariser=100.0),
        "Chowdhury-Gopalan, λ = 1 + 2/n, B = .05": ChowdhuryGopalanBand(small, violations.DELTA, budget=budget),
    }
    found = {}
    for name, band in bands.items():
        band.add(X, y)
        at = band.interval(X[:1])
        found[name] = float(at.lower[0]), float(at.upper[0])
    cell = Cell([0.25], [0.75])
    average = cell_average(cell, X, y, small, violations.DELTA)
    found["cell average"] = average.mean - average.half_width, average.mean + average.half_width
    constant = LocalPolynomial(cell, X, y, degree=0, assumptions=small, delta=violations.DELTA)
    middle, err = float(constant.estimate(X[:1])[0]), float(constant.error(X[:1])[0])
    found["local polynomial, k = 0, B = .05"] = middle - err, middle + err
    return found


@pytest.mark.parametrize(("run", "count"), [(0, 1), (1, 7), (2, 60)])
def test_closed_forms_of_the_sharp_case_are_those_of_the_classes(run: int, count: int) -> None:
    f, noise = violations.one_arm_walks(3, 60, 0)
    closed = violations.one_arm_bounds(f, noise, 60)
    y = (f + noise)[run, :count]
    found = classes(np.full((count, 1), 0.5), y, 60)
    assert list(found) == list(closed)
    for name, (lower, upper) in found.items():
        clip = {"adaptive": 1.0, "simple": 0.05}.get(name.split()[0], np.inf)  # these are clipped to +- B
        expected = [np.clip(side[run, count - 1], -clip, clip) for side in closed[name]]
        np.testing.assert_allclose([lower, upper], expected, rtol=1e-6, err_msg=name)


def test_sharp_case_counts_walks_that_leave() -> None:
    """100 walks: every count is possible for a bound that may fail in a tenth, and later counts are no smaller."""
    crossed = violations.one_arm(100, 1000)
    assert all(0 <= first <= last <= 25 for first, last in crossed.values())
    assert max(last for _, last in crossed.values()) >= 2


@pytest.mark.parametrize("bound", list(violations.BOUNDS))
def test_every_bound_runs_and_repeats(bound: str) -> None:
    first = violations.one_run(bound, 2, 0.1, 5, 8)
    assert first == violations.one_run(bound, 2, 0.1, 5, 8)
    assert np.isfinite(first[1])


def test_the_bound_known_to_fail_fails_and_others_do_not() -> None:
    failing = violations.run("printed β, λ = σ²", 2, 0.1, 0, 8, 25)
    holding = violations.run("adaptive band", 2, 0.1, 0, 8, 25)
    assert failing["violated"] >= 6
    assert holding["violated"] <= 1
    assert failing["half_width"] < holding["half_width"]


def test_bounds_over_a_cell_widen_away_from_the_observation() -> None:
    bound = violations.OverCell(Assumptions(violations.KERNEL, 1.0, 0.1), 2, 1)
    bound.add([[0.1, 0.2]], [0.3])
    interval = bound.interval([[0.1, 0.2], [0.4, 0.4]])
    assert (interval.lower < interval.upper).all()
    assert interval.half_width[1] > interval.half_width[0]


def test_report_adds_blocks() -> None:
    row = {"bound": "adaptive band", "D": 1, "sigma": 1.0, "runs": 100, "n": 25}
    rows = [{**row, "block": i, "violated": i, "half_width": 0.1 * i} for i in range(10)]
    assert violations.rates(rows) == [("adaptive band", 1, 1.0, 1000, 45, pytest.approx(0.45))]
    last = violations.report(rows).splitlines()[-1]
    assert last == "| adaptive band | 1 | 1 | 1000 | 4.5% (3.3% to 6.0%) | 10% | 0.450 |"
    assert violations.share(0, 1000) == "0.0% (0.0% to 0.4%)"


def test_grid_has_a_thousand_runs_of_everything() -> None:
    cells = violations.cells(1000)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) == 10 * len(violations.BOUNDS) * 4 + 1
    assert {tuple(cell) for cell in cells} == {("bound", "D", "sigma", "block", "runs", "n")}


def test_smoke() -> None:
    out = subprocess.run(
        [sys.executable, str(FOLDER / "violations.py"), "--smoke"], capture_output=True, text=True, check=True
    )
    rates, sharp = out.stdout.split("\n\n")
    assert rates.count("\n|") == 1 + 4 * len(violations.BOUNDS)
    assert sharp.count("\n|") == 1 + 6


# --- certificates

OLD = {"D": 1, "k": 0, "seed": 0, "n": 200, "held": True, "certificate": 0.1, "regret": 0.0, "active": {}}


def certificate_row(policy: str, seed: int, value: float | None) -> dict[str, object]:
    return {
        "policy": policy, "D": 1, "seed": seed, "n": 20, "held": value is not None, "rejected": value is None,
        "certificate": value, "regret": 0.01, "active": {"posterior": 3, "parent": 1} if "LP" in policy else {},
        "at": [10, 20], "certificates": [2 * value if value else None, value], "regrets": [0.02, 0.01],
        "lost": 0.05,
    }  # fmt: skip


def test_certificate_tables_ignore_rows_of_the_earlier_form() -> None:
    assert certificates.report([OLD]).count("\n") == 1
    assert certificates.widths([OLD]).count("\n") == 1
    assert certificates.curves([OLD], "LP k=0", 1) == ([], [], [], [])


def test_certificate_tables() -> None:
    values = (0.1, 0.2, 0.3, 0.4, None)
    rows = [OLD, *(certificate_row("LP k=1", seed, value) for seed, value in enumerate(values))]
    rows.append(certificate_row("GP-UCB", 0, 0.5))
    lines = certificates.report(rows).splitlines()[2:]
    assert lines == [
        "| LP-GP-UCB | 1 | 1 | 5 | 1 | 1 | 0.250 | 0.0100 | 0.050 | posterior 75.0%, parent 25.0% |",
        "| GP-UCB | 1 | – | 1 | 0 | 0 | 0.500 | 0.0100 | 0.050 | no cells |",
    ]
    assert certificates.widths(rows).splitlines()[2:] == [
        "| LP k=1 | 1 | 0.500 | 0.250 | – | – | – |",
        "| GP-UCB | 1 | 1.000 | 0.500 | – | – | – |",
    ]
    ns, low, middle, high = certificates.curves(rows, "LP k=1", 1)
    assert ns == [10, 20]
    np.testing.assert_allclose([low, middle, high], [[0.35, 0.175], [0.5, 0.25], [0.65, 0.325]])


@pytest.mark.parametrize("policy", certificates.POLICIES)
def test_a_short_run_certifies(policy: str) -> None:
    row = certificates.run(policy, 1, 0, 12)
    assert row == certificates.run(policy, 1, 0, 12)
    assert row["held"]
    assert row["at"] == [10, 12]
    assert 0 <= row["regret"] <= row["certificate"] < 2


def test_upper_bound_policy_starts_in_the_centre_and_seeks_the_largest_upper_bound() -> None:
    policy = certificates.UpperBound(1, 0)
    assert policy.ask(0).tolist() == [0.5]
    for i, (x, y) in enumerate(zip(np.linspace(0, 1, 30), np.sin(3 * np.linspace(0, 1, 30)), strict=True)):
        policy.tell(i, np.array([x]), float(0.5 * y))
    chosen = policy.ask(30)
    grid = np.linspace(0, 1, 2001)[:, None]
    assert policy.band.interval(chosen[None]).upper[0] >= policy.band.interval(grid).upper.max() - 1e-4
