"""The experiment on rough functions: its lattice beside the package's bands, a tiny run, what the page says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rough
from grid import Row, run_here

from quadrat.confidence import AdaptiveBand, Assumptions
from quadrat.kernels import Matern
from quadrat.randomness import generator

KERNEL = Matern(1.5, 0.1)


def observed(chooser: Any, n: int = 30) -> AdaptiveBand:
    """Tell the chooser and a band the same values at points that the chooser asks for."""
    band = AdaptiveBand(Assumptions(KERNEL, rough.NORM, rough.NOISE), rough.DELTA)
    for i in range(n):
        x = chooser.ask(i)
        y = float(np.sin(9 * x[0])) / 4 + rough.NOISE * float(generator(3, i).normal())
        chooser.tell(i, x, y)
        band.add(x[None], [y])
    return band


def test_gp_ucb_over_the_lattice_has_the_bounds_of_the_adaptive_band() -> None:
    points = rough.lattice(32, 1)
    chooser = rough.GPUCB(KERNEL, points, 0)
    band = observed(chooser)
    band._preferred = (2, 3, 4)  # of its ladder: 1, 4 and 16 times lambda
    np.testing.assert_allclose(chooser.index(), band.optimism(points), atol=1e-9)


def test_sharpened_trials_are_those_that_the_band_would_choose() -> None:
    points = rough.lattice(32, 1)
    chooser = rough.Sharpened(KERNEL, points, 0)
    band = observed(chooser, 29)
    z = points[np.argmax(band.interval(points).lower)]
    gaps = band.compare(points, z)[1]
    x = points[np.argmax(np.where((points == z).all(axis=1), -np.inf, gaps))]
    np.testing.assert_allclose(chooser.ask(29), points[np.argmax(band.sharpened(points, x, z))])


def test_a_tiny_run_of_every_method_and_the_tables() -> None:
    cells = [{**cell, "n": 8} for cell in rough.cells(1) if (cell["setting"], cell["n"]) == ("plane", 500)]
    rows = run_here(rough.run, cells)
    assert [row["method"] for row in rows] == list(rough.METHODS)
    for row in rows:
        end = rough.at_end(row)
        assert (end["n"], row["evaluations"]) == (8, 8)
        assert end["cells held"] is end["one held"] is True
    text = rough.report([{**row, "n": 500} for row in rows])
    assert "Matérn 3/2, length-scale 0.1, D = 2, many hills, n = 500" in text
    assert text.count("| GP-UCB, sharpened | 8 | 1 |") == 1


def row(method: str, seed: int, certificate: float, lost: float) -> Row:
    end = {"n": 500, "cpu": 1.0, "lost": lost, "cells regret": 0.1}
    end |= {"cells": certificate, "one": certificate, "cells held": True, "one held": True}
    return {
        "setting": "hills", "method": method, "seed": seed, "n": 500, "limit": 30.0, "evaluations": 500, "found": [end],
    }  # fmt: skip


def rows(ours: float, theirs: float) -> list[Row]:
    return [
        row(method, seed, size + 0.01 * seed, size / 2)
        for method in rough.METHODS
        for seed in range(20)
        for size in [ours if method in rough.CELLS else theirs]
    ]


@pytest.mark.parametrize(("ours", "theirs", "won"), [(0.5, 0.8, True), (0.8, 0.5, False), (0.5, 0.5, False)])
def test_it_opens_the_page_where_it_wins(ours: float, theirs: float, won: bool) -> None:
    assert rough.wins(rows(ours, theirs)) is won
    text = rough.verdict(rows(ours, theirs))
    assert ("narrower than that of GP-UCB" in text) is won
