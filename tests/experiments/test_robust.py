"""The experiment on robust points: truths by another brute force, tiny runs, and tables that say what rows say."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

robust = import_module("robust")


def test_the_polynomial_is_that_of_the_paper() -> None:
    """Its maximum, 20.82 at (2.82, 4.0), as Bertsimas, Nohadani and Teo print it."""
    at = np.array([[(2.82 + 0.95) / 4.15, (4.0 + 0.45) / 4.85]])
    assert 20 * robust.polynomial(at)[0] == pytest.approx(20.82, abs=0.01)


@pytest.mark.parametrize("name", list(robust.PROBLEMS))
def test_truths(name: str) -> None:
    """The best worst case is that of its point, and no other of 60 points has a better one."""
    problem = robust.PROBLEMS[name]
    point, best = robust.truth(name)
    assert robust.worst(problem, point) == pytest.approx(best, abs=5e-3)
    others = np.random.default_rng(0).random((60, problem.dimension))
    assert max(robust.worst(problem, other) for other in others) <= best + 5e-3
    assert robust.worst(problem, point) < float(problem.function(point[None, :])[0])


@pytest.mark.parametrize("method", robust.METHODS)
def test_a_short_run(method: str) -> None:
    row = robust.run(method, "bumps1", 0, 9)
    assert row == robust.run(method, "bumps1", 0, 9)
    assert row["worst"] <= row["value"]
    assert row["regret"] >= -1e-3
    assert (row["held"] is None) == (method == "GP-UCB")


def test_report() -> None:
    rows = [
        {
            "problem": "bumps1",
            "method": method,
            "seed": seed,
            "value": 0.7,
            "worst": worst,
            "broad": broad,
            "held": held,
        }
        for seed in range(2)
        for method, worst, broad, held in (("StableOpt", 0.5, True, True), ("GP-UCB", 0.1, False, None))
    ]
    lines = robust.report(rows).splitlines()
    assert lines[2] == "| bumps1 | StableOpt | 2 | 100% | 0.700 | 0.500 | 0.508 | 100% |"
    assert lines[3] == "| bumps1 | GP-UCB | 2 | 0% | 0.700 | 0.100 | 0.508 | – |"
    assert lines[-1] == "| bumps1 | StableOpt | 0.400 (0.400 to 0.400) |"


def test_the_grid() -> None:
    cells = robust.cells(20)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) == 20 * 9
