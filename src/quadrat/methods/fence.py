"""Values absurdly far from all others, brought within reach before a model sees them.

A training that diverged scores -1e6 among values between 0 and 1, an instrument that lost contact 1e300. A model of
such values as they are has one thing to learn, where that one lies: to it all others are equal. So a value counts as
about the best, or the worst, of the *rest*, where it is absurd:

few       at most one value in ten lies above the rest, and at most one in four below it: many trainings may diverge,
          but where many values are absurdly good, that is what there is to find;
far out   between them and the rest is a gap of more than `FAR` times the range of the rest: of all of it, not of its
          middle. A search that converges sees most values close together, but also those that it began with;
enough    there are `ENOUGH` values at least, and the rest has a range worth its name: by more than rounding errors, and
          of values most of which differ. A plateau has none.

What was told is kept as it was told; only what a model sees is fenced. An absurdly good value is an error or a find,
and the model cannot know which. It is seen as slightly the best, so that the search looks there again, and what it
then sees decides. A few finds later these are no longer few, and are seen as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat.arrays import Array

__all__ = ["Fence"]

FAR = 100.0  # ranges of the rest: values of functions with heavy tails, such as Rosenbrock's, stay far below
ABOVE, BELOW = 0.1, 0.25  # shares of all values that may be absurd on either side
ENOUGH = 8  # values
BEYOND = 0.02  # of the range of the rest, that an absurd value is seen outside it
_LEAST_RANGE = 1e-12  # of the largest value: less is rounding


@dataclass(frozen=True)
class Fence:
    """Limits within which values are seen."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Array) -> Fence | None:
        """Return the fence that these values (N,) need; None where none is absurd, as nearly always.

        Examples
        --------
        >>> Fence.around(np.append(np.linspace(0.0, 1.0, 20), -1e6))
        Fence(low=-0.02, high=inf)
        >>> Fence.around(np.append(np.linspace(0.0, 1.0, 20), -90.0)) is None
        True
        """
        count = len(values)
        if count < ENOUGH:
            return None
        below, above = int(BELOW * count), max(int(ABOVE * count), 1)
        # Halves, so that differences of the largest numbers are numbers. What cannot be is seen without sorting.
        first, core_low, core_high, last = np.partition(0.5 * values, [0, below, count - 1 - above, count - 1])[
            [0, below, count - 1 - above, count - 1]
        ]
        if not last - first > FAR * (core_high - core_low):
            return None
        halves = np.sort(0.5 * values)
        gaps = np.diff(halves)
        differing = np.concatenate([[0], np.cumsum(gaps > 0)])  # gaps that are none, counted from the left
        # The smallest rest that will do: all of its outside is absurd.
        for stop in _ends(halves[::-1], above):
            for start in _ends(halves, below):
                low, high = halves[start], halves[count - 1 - stop]
                reach, inner = high - low, count - 1 - stop - start
                is_gap_below = start == 0 or gaps[start - 1] > FAR * reach
                is_gap_above = stop == 0 or gaps[count - 1 - stop] > FAR * reach
                distinct = 2 * (differing[count - 1 - stop] - differing[start]) >= inner
                differs = distinct and reach > _LEAST_RANGE * max(abs(low), abs(high))
                if is_gap_below and is_gap_above and differs:
                    if start == stop == 0:
                        return None
                    margin = BEYOND * reach
                    return cls(
                        low=-np.inf if start == 0 else float(2 * (low - margin)),
                        high=np.inf if stop == 0 else float(2 * (high + margin)),
                    )
        return None

    def __call__(self, values: Array) -> Array:
        """Return values, of any shape, as they are seen."""
        return np.clip(values, self.low, self.high)


def _ends(ordered: Array, most: int) -> list[int]:
    """How many of at most `most` values at the beginning of `ordered` may be absurd, most first, 0 last.

    Those behind which a gap lies of more than `FAR` times what lies between it and the value after `most`, which
    belongs to every rest. Each such gap is `FAR` times the one after it, so that they are few, however many values
    there are.
    """
    reach = np.abs(ordered[most] - ordered[1 : most + 1])
    gap = np.abs(np.diff(ordered[: most + 1]))
    return [*(np.flatnonzero(gap > FAR * reach) + 1)[::-1].tolist(), 0]
