"""The experiment on additive functions: its problems are what they say, its runs and tables are whole."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from quadrat.randomness import generator

additive = import_module("additive")


@pytest.mark.parametrize("name", additive.PROBLEMS)
def test_problems_are_additive_standardised_and_bounded_by_their_maximum(name: str) -> None:
    f = additive.problem_of(name, 3)
    assert sorted(axis for group in f.groups for axis in group) == list(range(f.dimension))
    assert tuple(map(len, f.groups)) == additive.SIZES[name]
    points = generator(0, 1).random((4000, f.dimension))
    values = f.values(points)
    assert values.max() < f.maximum
    for group, part in zip(f.groups, f.parts, strict=True):
        own = part.values(np.ascontiguousarray(points[:, list(group)]))
        assert abs(own.mean()) < 0.1
        assert own.std() == pytest.approx(1.0, abs=0.1)
        moved = points.copy()
        moved[:, list(group)] = points[0, list(group)]
        assert values - f.values(moved) == pytest.approx(own - own[0], abs=1e-9)
    assert additive.problem_of(name, 4).groups != f.groups


def test_agreement() -> None:
    """Of the six pairs of four axes, joining (0, 1) and (2, 3) and joining (0, 2) and (1, 3) part two alike."""
    first, second = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    assert additive.agreement(first, first) == 1.0
    assert additive.agreement(first, second) == pytest.approx(2 / 6)


def test_runs_and_tables() -> None:
    cells = [cell for cell in additive.cells(2, 11) if cell["problem"] == "rkhs10"]
    rows = [{**cell, **additive.run(**cell), "seconds": 1.0} for cell in cells]
    assert [row["method"] for row in rows] == [*additive.METHODS] * 2
    for row in rows:
        assert row["regret"] > 0
        assert row["at"] == [11]
    learned = [row for row in rows if row["method"] == "learned"]
    assert all(0 <= row["agreement"] <= 1 for row in learned)
    for row in rows:  # what is said of them is what they say
        regrets = {"GP-UCB": 4.0, "GP-UCB / 5": 3.0, "one group": 2.5, "known": 1.0, "learned": 2.0}
        row["regret"] = regrets[row["method"]]
    learned[0]["exact"], learned[1]["exact"] = True, False
    learned[0]["agreement"], learned[1]["agreement"] = 1.0, 0.5
    table = additive.report(rows)
    assert "| rkhs10 | known / GP-UCB | 0.25 (0.25 to 0.25) |" in table
    assert "| both | learned / GP-UCB | 0.50 (0.50 to 0.50) |" in table
    assert "| rkhs10 | known | 2 | 1.000 |" in table
    assert "| rkhs10 | 2 | 1 | 0.750 | 0.500 |" in table
    assert "branin20" not in table
    assert len(additive.cells(20)) == (20 * 4 + 10) * len(additive.PROBLEMS)
