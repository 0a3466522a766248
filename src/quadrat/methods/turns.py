"""Two ways of asking take turns, and the one that finds better values gets more trials: a benefit that is measured.

Trials are counted off in rounds. In each round both ways have one turn of the same length; then the way whose turn
found the better values has the rest of the round. So neither is given up for ever, and which one serves best is found
out again and again while the run goes on: all over the cube as long as there are better places elsewhere, around the
best place once it is found.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from quadrat.arrays import Array, Ints

__all__ = ["Turns"]

REST = 4  # turns of a round that go to the better way
_TOP = 0.25  # of a turn's values, the highest, whose mean counts: one lucky value is not a find
_ENOUGH = 0.75  # of a turn's trials, told: those that run long or failed are not waited for


class Turns:
    """Trial numbers and values go in; whose turn it is comes out.

    Parameters
    ----------
    first
        The number of the first trial that is counted.
    length
        Trials of a turn.

    Examples
    --------
    >>> turns = Turns(100, 4)
    >>> [turns.is_zooming(number) for number in (100, 103, 104, 107)]
    [True, True, False, False]
    >>> for number in range(100, 108):
    ...     turns.tell(number, 1.0 if number < 104 else 0.0)
    >>> all(turns.is_zooming(number) for number in range(108, 124))
    True
    """

    def __init__(self, first: int, length: int) -> None:
        self.first, self.length = first, length
        self.decided: dict[int, bool] = {}  # round: whether zooming has the rest of it
        self._told: dict[int, tuple[list[float], list[float]]] = {}  # round: values found by zooming and not

    def is_zooming(self, number: int) -> bool:
        """Whether the trial is one of those around the best place."""
        which, turn = divmod((number - self.first) // self.length, 2 + REST)
        return turn % 2 == 0 if turn < 2 or which not in self.decided else self.decided[which]

    def tell_many(self, numbers: Ints, values: Array) -> None:
        """Take in the values (n,) of trials (n,), one after another; those without one are minus infinity."""
        turn = (numbers - self.first) // self.length % (2 + REST)
        for i in np.flatnonzero((numbers >= self.first) & (turn < 2) & np.isfinite(values)).tolist():
            self.tell(int(numbers[i]), float(values[i]))

    def tell(self, number: int, value: float) -> None:
        """Take in the value of a trial."""
        which, turn = divmod((number - self.first) // self.length, 2 + REST)
        if number < self.first or turn >= 2 or which in self.decided:
            return
        found = self._told.setdefault(which, ([], []))
        found[turn].append(value)
        if min(map(len, found)) >= ceil(_ENOUGH * self.length):
            zooming, wide = (_height(values) for values in found)
            self.decided[which] = zooming >= wide
            del self._told[which]


def _height(values: list[float]) -> float:
    """Mean of the highest."""
    count = max(1, round(_TOP * len(values)))
    return float(np.mean(np.sort(values)[-count:]))
