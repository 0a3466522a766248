"""Signs change in one place."""

from __future__ import annotations

import math

import pytest

from quadrat.errors import InvalidInput
from quadrat.optimizer.outcome import Direction


@pytest.mark.parametrize("word", ["max", "MAXIMIZE", None, True, 1])
def test_anything_else_is_refused_with_the_two_words(word: object) -> None:
    with pytest.raises(InvalidInput, match="expected 'maximize' or 'minimize', got"):
        Direction.read(word)


@pytest.mark.parametrize("direction", list(Direction))
def test_turning_twice_changes_nothing(direction: Direction) -> None:
    assert direction.turn(direction.turn(1.5)) == 1.5
    assert direction.turn_interval(direction.turn_interval((-1.0, 3.0))) == (-1.0, 3.0)


def test_minimizing_mirrors_and_zero_has_no_sign() -> None:
    assert Direction.MINIMIZE.turn_interval((-1.0, 3.0)) == (-3.0, 1.0)
    assert math.copysign(1, Direction.MINIMIZE.turn(0.0)) == 1
    assert math.copysign(1, Direction.MAXIMIZE.turn(-0.0)) == 1
