"""The experiment on batches: short runs repeat, the grid is paired, the tables say what the rows say."""

from __future__ import annotations

from importlib import import_module

import pytest

batches = import_module("batches")


@pytest.mark.parametrize(("method", "batch"), batches.KINDS)
def test_a_short_run(method: str, batch: int) -> None:
    row = batches.run("bumpy, D = 2", method, batch, 0, 12)
    assert row["regret"] >= 0
    assert (row["held"], row["certificate"] is None) == ((True, False) if method == "LPGPUCB" else (None, True))
    if method == "GPBUCB":
        assert row == batches.run("bumpy, D = 2", method, batch, 0, 12)


@pytest.mark.parametrize("method", ["GPUCBPE", "LPGPUCB"])
def test_hartmann_learns_its_kernel_and_certifies_nothing(method: str) -> None:
    row = batches.run("hartmann6", method, 8, 0, 8)
    assert 0 < row["regret"] < 10
    assert row["held"] is None


def test_forms_as_proved() -> None:
    assert batches.configured("GPBUCB as proved", None, 8).information is None
    assert batches.configured("GPBUCB", None, 8).information == 0.0
    assert batches.configured("GPUCBPE as proved", None, 8).region_scale == 1.0
    assert batches.configured("GPUCBPE", None, 8).region_scale == batches.REGION_SCALE


def test_draws_of_a_seed_are_the_same_and_differ_by_seed() -> None:
    first, again, other = (batches.objective("rough, D = 3", seed) for seed in (0, 0, 1))
    assert first.maximum == again.maximum != other.maximum
    assert first.dimension == 3


def test_the_grid_has_every_pair() -> None:
    cells = batches.cells(20)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) == 20 * 3 * 5 + 5 * 3 * 2
    for method, other in batches.SEQUENTIAL.items():
        kinds = {(cell["method"], cell["batch"]) for cell in cells}
        assert {(method, 8), (other, 1)} <= kinds


def test_the_tables() -> None:
    """Ratio 2 on one problem and .5 on another: the mean over both is 1. A certificate that is None failed."""
    rows = []
    for problem, slower in (("hartmann6", 2.0), ("bumpy, D = 2", 0.5)):
        for seed in range(4):
            row = {"problem": problem, "seed": seed, "n": 160}
            draw = problem != "hartmann6"
            held = (seed > 0) if draw else None
            rows.append({**row, "method": "LPGPUCB", "batch": 1, "regret": 0.02, "held": held, "certificate": 0.3})
            certificate = 0.4 if held else None
            rows.append(
                {**row, "method": "LPGPUCB", "batch": 8, "regret": 0.02 * slower, "held": held,
                 "certificate": certificate}
            )  # fmt: skip
    costs, certificates = batches.report(rows).split("\n\n")
    assert costs.splitlines()[2:] == [
        "| LPGPUCB | LPGPUCB | hartmann6 | 4 | 0.0200 | 0.0400 | 2.00 (2.00 to 2.00) | no |",
        "| LPGPUCB | LPGPUCB | bumpy, D = 2 | 4 | 0.0200 | 0.0100 | 0.50 (0.50 to 0.50) | yes |",
        "| LPGPUCB | LPGPUCB | all | 8 | 0.0200 | 0.0200 | 1.00 (1.00 to 1.00) | yes |",
    ]
    assert certificates.splitlines()[2:] == [
        "| bumpy, D = 2 | 1 | 4 | 1 | 5% | 0.300 | 0.0200 |",
        "| bumpy, D = 2 | 8 | 4 | 1 | 5% | 0.400 | 0.0100 |",
    ]
