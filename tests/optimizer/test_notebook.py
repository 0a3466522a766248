"""The best value up to each trial, as the best seen has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.optimizer import FAILED, Measured, Optimizer
from quadrat.optimizer.notebook import best_so_far, progress_of
from quadrat.space import Float, Space


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_it_is_the_best_of_every_beginning(direction: str) -> None:
    values = np.random.default_rng(0).normal(size=40).tolist()
    best = max if direction == "maximize" else min
    expected = [best(values[: i + 1]) for i in range(40)]
    assert best_so_far([(value, None) for value in values], direction) == expected


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_it_ends_at_the_best_seen_of_a_run(direction: str) -> None:
    run = Optimizer(Space(x=Float(0, 1)), direction=direction)
    held, violated = Measured(4.0, {"c": -1.0}), Measured(9.0, {"c": 1.0})
    outcomes: list[Any] = [3.0, FAILED, [1.0, 2.0], violated, held, Measured(-9.0, {"c": 2.0})]
    for place, outcome in enumerate(outcomes):
        run.add({"x": place / 10}, outcome)
        progress, best = progress_of(run.trials, direction), run.best_seen
        assert best is not None
        if best.feasible is not False:
            assert progress[-1] == best.value
        else:
            assert progress == []
    run.ask()
    assert progress_of(run.trials, direction) == [4.0]


def test_no_direction_is_refused() -> None:
    with pytest.raises(InvalidInput, match="direction"):
        best_so_far([(1.0, None)], "up")
