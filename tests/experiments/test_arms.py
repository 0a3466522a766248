"""The experiment on arms: problems, tiny runs, the law of equal indices, and tables that say what rows say."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

arms = import_module("arms")


@pytest.mark.parametrize("problem", [*arms.NORMAL, *arms.BERNOULLI])
def test_problems(problem: str) -> None:
    domain, points, means = arms.arms(problem, 1)
    assert len(points) == len(means) == np.prod([len(axis.values) for axis in domain.axes])
    assert ((means >= 0) & (means <= 1)).all()
    if problem in ("line", "shuffled"):  # neighbours are alike, or not
        assert (np.abs(np.diff(means)).max() < 0.1) == (problem == "line")


@pytest.mark.parametrize("method", arms.METHODS)
def test_a_short_run(method: str) -> None:
    row = arms.run(method, "grid", 0, 12)
    assert row == arms.run(method, "grid", 0, 12)
    assert 0 <= row["simple"] <= 1
    assert 0 <= row["regret"] <= 12
    assert row["at"] == []


def test_balanced_pulls_make_indices_equal_and_grow_like_the_logarithm() -> None:
    means = (0.9, 0.4, 0.1)
    assert arms.balanced((0.5, 0.5), 100) == pytest.approx(0.0, abs=1e-6)
    limit = 2 * (1 / 0.5 + 1 / 0.8)
    shares = [arms.balanced(means, n) / np.log(n) / limit for n in (10**3, 10**6, 10**12)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1, abs=1e-3)


def test_report() -> None:
    regrets = (2 * np.log(arms.CHECKPOINTS)).tolist()
    growth = [{"method": "UCB1", "problem": "two", "seed": seed, "regrets": regrets} for seed in range(2)]
    compared = [
        {"method": method, "problem": "line", "seed": seed, "regret": regret, "simple": 0.1, "regrets": []}
        for seed in range(2)
        for method, regret in (("UCB1", 40.0), ("GP-UCB", 10.0))
    ]
    lines = arms.report(growth + compared).splitlines()
    assert lines[2].startswith("| two | regret / ln n | 2 | 2.00 ± 0.00 | 2.00 ± 0.00")
    assert lines[2].endswith("| 2.9 |")
    assert lines[4].startswith("| two | theorem 1 / ln n | 2 | 12.1 |")
    assert lines[-2:] == [
        "| line | UCB1 | 2 | 40.0 | 0.100 | – |",
        "| line | GP-UCB | 2 | 10.0 | 0.100 | 0.25 (0.25 to 0.25) |",
    ]


def test_the_grid() -> None:
    cells = arms.cells(20)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) == 20 * (3 + 4 * 3)
