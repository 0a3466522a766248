"""The experiment on level sets: tiny runs, wrong labels are counted, tables say what rows say."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import problems
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED, Classification

level_sets = import_module("level_sets")


def test_tiny_runs_make_a_report() -> None:
    rows = [{**cell, **level_sets.run(**cell)} for cell in level_sets.cells(1, 6)]
    assert len(rows) == 10
    for row in rows:
        assert row["held"]
        assert row["at"] == [6]
        assert row["needed"] == 6
        assert not row["reached"]
    table = level_sets.report(rows)
    assert "undecided, n = 6" in table
    assert "| draw | MultiScaleLevelSet | MultiScaleLevelSet, Sobol points | 1.00 (1.00 to 1.00) |" in table
    assert table.count("| branin | LSE |") == 2


def test_wrong_labels_are_counted() -> None:
    """f(x) = x_1 on the left and right half, threshold .5, accuracy .1: within the accuracy either label is right."""
    lower, upper = np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[0.5, 1.0], [1.0, 1.0]])

    def count(first: int, second: int, accuracy: float = 0.1) -> int:
        found = Classification(lower, upper, np.array([first, second]), np.zeros(2), np.ones(2), 0.5, accuracy, 0.05)
        return int(level_sets.wrong(found, lambda points: points[:, 0]))

    assert count(BELOW, ABOVE) == 0
    assert count(ABOVE, ABOVE) == 1
    assert count(ABOVE, BELOW) == 2
    assert count(UNDECIDED, BELOW) == 1
    assert count(BELOW, ABOVE, 0.0) == 2  # both touch the threshold


def test_the_stated_norm_of_branin() -> None:
    """The norm of the interpolant grows with the grid and stays below the stated bound by a tenth."""
    f = level_sets.function("branin", 0)
    norms = []
    for count in (12, 24):
        side = (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2
        points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
        matrix = level_sets.KERNEL(points) + 1e-10 * np.eye(count**2)
        values = f(points)
        norms.append(float(np.sqrt(values @ np.linalg.solve(matrix, values))))
    assert norms[0] < norms[1] == pytest.approx(10.12, abs=0.02)
    assert level_sets.NORM_BOUNDS["branin"] > 1.1 * 10.25
    assert problems.get("branin").dimension == 2
