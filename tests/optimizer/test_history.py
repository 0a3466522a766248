"""The history: what is taken, in which order, and answers that are kept up to date instead of looked up."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.optimizer.batch import Batch
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.history import History
from quadrat.optimizer.outcome import Reading
from quadrat.randomness import generator

FAILURE = Reading(failure="told FAILED")


def history_of(*xs: float, direction: str = "maximize") -> History:
    history = History(1, Direction(direction))
    for x in xs:
        history.begin({"x": x}, np.array([x]), "")
    return history


def test_taken_points_are_the_pending_then_the_failed_each_by_number() -> None:
    history = history_of(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert history.taken.shape == (6, 1)
    for number in (4, 1, 3):  # told in another order than asked
        history.finish(number, FAILURE)
    history.finish(2, Reading((1.0,)))
    assert history.taken.ravel().tolist() == [0.0, 0.5, 0.1, 0.3, 0.4]
    assert history.numbers("pending") == [0, 5]
    assert history.numbers("failed") == [1, 3, 4]
    for number in (5, 0):
        history.finish(number, Reading((1.0,)))
    assert history.taken.ravel().tolist() == [0.1, 0.3, 0.4]
    assert history.numbers("complete") == [0, 2, 5]
    assert History(3, Direction.MAXIMIZE).taken.shape == (0, 3)


def test_taken_is_a_copy() -> None:
    history = history_of(0.1)
    history.finish(0, FAILURE)
    history.taken[:] = 9.0
    assert history.taken.tolist() == [[0.1]]


def test_a_point_is_taken_as_long_as_any_trial_there_is_pending_or_failed() -> None:
    history, x = history_of(0.5, 0.5), np.array([0.5])
    history.finish(0, Reading((1.0,)))
    assert history.is_taken(x)
    history.finish(1, Reading((1.0,)))
    assert not history.is_taken(x)
    history.add(Batch([{"x": 0.5}, {"x": 0.0}], np.array([[0.5], [0.0]]), [FAILURE, Reading((1.0,))]), "")
    assert history.is_taken(x)
    assert not history.is_taken(np.array([0.0]))
    assert history.first_at(np.array([-0.0])) == 3


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("feasible", [True, False])
def test_the_best_seen_is_what_a_look_at_all_trials_finds(direction: str, feasible: bool) -> None:
    """After every tell, against the definition; with ties, and told in random order."""
    rng = generator(3)
    n, sign = 60, 1.0 if direction == "maximize" else -1.0
    values = rng.integers(0, 6, size=n).astype(float)
    constraints = rng.integers(-2 if feasible else 1, 4, size=(n, 2)) * np.array([1.0, 100.0])
    history = history_of(*rng.random(n), direction=direction)
    told: list[int] = []
    for number in rng.permutation(n).tolist():
        named = dict(zip("ab", constraints[number].tolist(), strict=True))
        history.finish(number, Reading((values[number],), constraints=named))
        told.append(number)
        excess = np.maximum(constraints, 0.0)
        total = (excess / np.maximum(excess[told].max(axis=0), 1e-300)).sum(axis=1)
        best = min(told, key=lambda i: (total[i], -sign * values[i], i))
        seen = history.best_seen
        assert seen is not None
        assert (seen.number, seen.feasible) == (best, bool(total[best] == 0))


def test_a_standard_error_is_remembered() -> None:
    history = history_of(0.1, 0.2)
    history.finish(0, Reading((1.0,)))
    assert not history.standard_errors
    history.finish(1, Reading((1.0,), 0.5))
    assert history.standard_errors
