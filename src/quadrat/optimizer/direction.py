"""Which way is better: the one place where signs change.

A search always maximises. Minimising f is maximising -f, so values change sign and intervals are mirrored on their way
to the search and back; differences of values (gains, certificates) are the same on both sides.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Method, Told
from quadrat.optimizer.outcome import Reading

__all__ = ["Direction"]


class Direction(Enum):
    """The user's direction.

    Examples
    --------
    >>> Direction("minimize").turn(2.0), Direction("minimize").turn_interval((-1.0, 3.0))
    (-2.0, (-3.0, 1.0))
    """

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"

    @classmethod
    def read(cls, word: object) -> Direction:
        """Return the direction that `word` names.

        Raises
        ------
        InvalidInput
            Not one of the two words.
        """
        for direction in cls:
            if word == direction.value:
                return direction
        raise InvalidInput(f"direction: expected 'maximize' or 'minimize', got {word!r}")

    @property
    def best(self) -> str:
        """The word for the best of several values."""
        return "highest" if self is Direction.MAXIMIZE else "lowest"

    def turn(self, value: float) -> float:
        """Return a value of the user's as the search sees it, or the reverse: turning twice changes nothing."""
        # + 0.0 makes -0.0 into 0.0, so that minimising f and maximising -f see the same bits.
        return (value if self is Direction.MAXIMIZE else -value) + 0.0

    def turn_interval(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval (low, high) of values on the other side."""
        low, high = sorted(self.turn(end) for end in interval)
        return low, high

    def turn_method(self, method: Method) -> Method:
        """Return the method for values as the search sees them."""
        return method if self is Direction.MAXIMIZE else method.turned()

    def told(self, number: int, x: Array, reading: Reading) -> Told:
        """Return trial `number` at x, shape (D,), which was read to be complete, as the search sees it."""
        values = np.array([self.turn(value) for value in reading.values])
        variance = None if reading.sem is None else reading.sem**2
        return Told(number, x, values, variance, tuple(reading.constraints.values()))  # in the order of their names
