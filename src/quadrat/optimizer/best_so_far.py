"""Progress: the best value seen after each trial that counts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from quadrat.optimizer.direction import Direction
from quadrat.optimizer.trial import TrialRecord

__all__ = ["best_so_far", "progress_of"]


def best_so_far(outcomes: Iterable[tuple[float, bool | None]], direction: str) -> list[float]:
    """Return the best value up to each trial, in the order given.

    As of the best seen: where constraints were told, only trials in which all of them held count.

    Parameters
    ----------
    outcomes
        Of complete trials: the value, and whether its constraints held; None where none were told.
    direction
        "maximize" or "minimize".

    Examples
    --------
    >>> best_so_far([(3.0, None), (5.0, None), (2.0, None)], "minimize")
    [3.0, 3.0, 2.0]
    >>> best_so_far([(3.0, None), (1.0, False), (4.0, True)], "minimize")
    [4.0]
    """
    told = list(outcomes)
    constrained = any(held is not None for _, held in told)
    counted = (value for value, held in told if held or not constrained)
    return list(accumulate(counted, max if Direction.read(direction) is Direction.MAXIMIZE else min))


def progress_of(records: Iterable[TrialRecord], direction: str) -> list[float]:
    """Return the best value up to each complete trial, by number."""
    complete = ((record.value, record.feasible) for record in records)
    return best_so_far(((value, held) for value, held in complete if value is not None), direction)
