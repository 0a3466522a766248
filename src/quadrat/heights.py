"""A series of numbers as heights: thinned to the room that there is, on a log scale where it spans decades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Heights", "heights"]

_DECADES = 100.0  # ratio of the largest to the smallest size, from which on a linear scale shows one step and a line


@dataclass(frozen=True)
class Heights:
    """What to draw.

    Attributes
    ----------
    heights
        From 0, the smallest number, to 1, the largest; all 0.5 where all numbers are equal.
    log
        Whether equal steps are equal ratios.
    """

    heights: tuple[float, ...]
    log: bool


def heights(values: Sequence[float], columns: int) -> Heights:
    """Return numbers as heights, at most as many as there are columns.

    Of more numbers than columns, evenly spaced ones are kept, the first and the last among them. The scale is
    logarithmic where all of these have one sign and their sizes differ by a factor of 100 or more. Numbers that are not
    finite are left out.

    Parameters
    ----------
    values
        In order.
    columns
        At least 1.

    Examples
    --------
    >>> heights([4.0, 3.0, 2.0], 3)
    Heights(heights=(1.0, 0.5, 0.0), log=False)
    >>> heights([1000.0, 10.0, 10.0, 0.1], 2)
    Heights(heights=(1.0, 0.0), log=True)
    """
    finite = [float(value) for value in values if math.isfinite(value)]
    count, last = min(len(finite), columns), len(finite) - 1
    kept = [finite[round(column * last / (count - 1))] for column in range(count)] if count > 1 else finite[-1:]
    sizes = [abs(value) for value in kept]
    one_sign = all(value > 0 for value in kept) or all(value < 0 for value in kept)
    log = bool(kept) and one_sign and max(sizes) / _DECADES >= min(sizes)
    scaled = [math.copysign(1, value) * math.log(abs(value)) for value in kept] if log else kept
    if not scaled:
        return Heights((), log=False)
    low, high = min(scaled), max(scaled)
    if high == low:
        return Heights((0.5,) * count, log)
    unit = 1.0 if math.isfinite(high - low) else 0.25  # large numbers of opposite signs: their difference overflows
    span = high * unit - low * unit
    return Heights(tuple((value * unit - low * unit) / span for value in scaled), log)
