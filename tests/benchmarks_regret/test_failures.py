"""Where the best tenth of a space fails: the ball is what it says, and so are the methods."""

from __future__ import annotations

import failures
import numpy as np
import pytest

import problems
import quadrat as qd
from quadrat.methods.auto.method import AutoSearch
from quadrat.randomness import generator


@pytest.mark.parametrize("name", failures.PROBLEMS)
def test_the_ball_holds_the_optimum_and_a_tenth_of_the_cube(name: str) -> None:
    for seed in failures.SEEDS:
        problem = problems.get(f"{name}{seed}")
        ball = failures.Ball.around_optimum(problem, 0.1)
        assert (ball.beyond(problem.optimizers) < 0).all()
        points = generator(seed, 1).random((20_000, problem.dimension))
        assert np.mean(ball.beyond(points) < 0) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("name", failures.PROBLEMS)
def test_nothing_outside_the_ball_is_better_than_the_best(name: str) -> None:
    task = failures.failing_task(name, 0)
    points = generator(2).random((20_000, task.space.dimension))
    points = np.vstack([points, np.clip(task.ball.pushed_out(points), 0.0, 1.0)])
    outside = points[task.ball.beyond(points) >= 0]
    problem = problems.get(f"{name}0")
    assert problem.values(outside).max() <= task.best + 1e-9
    assert problem.optimal_value is not None
    assert task.best < problem.optimal_value - 0.1


def test_failing_is_being_inside_the_ball() -> None:
    task = failures.failing_task("goldstein2~", 0)
    optimum = task.space.from_unit(task.ball.centre)
    assert task.fails(optimum)
    assert not task.fails(task.space.from_unit(np.zeros(2)))


def test_ignored_failures_are_not_learned_from() -> None:
    """All methods are told the same; only ours knows afterwards where evaluations fail."""
    for method, learned in (
        (None, True),
        (failures.DroppingFailures(), False),
        (failures.KeepingFailuresPending(), False),
    ):
        optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
        optimizer.add({"x": 0.2}, 1.0)
        optimizer.add({"x": 0.8}, qd.FAILED)
        search = optimizer._search
        assert isinstance(search, AutoSearch)
        assert search.feasibility.any_failed is learned


def test_the_table_comes_from_rows() -> None:
    rows = [
        {
            "method": method, "problem": problem, "seed": seed, "n": 50, "best": 1.0 + seed,
            "failures": 6 * factor, "regret": dict.fromkeys(("recommended", "evaluated", "observed"), factor / 10),
        }
        for problem in failures.PROBLEMS
        for seed in failures.SEEDS
        for method, factor in ((failures.OURS, 1), (failures.IGNORED, 4), (failures.PENDING, 2))
    ]  # fmt: skip
    text = failures.tables(rows, 50)
    for problem in failures.PROBLEMS:
        assert f"| {problem} | 10 | 6 | 24 | 12 | 0.1 | 0.4 | 0.2 |" in text
    assert "| ours / ignored | 0.25 (0.25 to 0.25) | 0.25 (0.25 to 0.25) |" in text
    assert "| ours / pending | 0.50 (0.50 to 0.50) | 0.50 (0.50 to 0.50) |" in text
