"""Checking counts: dimensions, degrees, budgets."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex, cast

import numpy as np

from quadrat.errors import InvalidInput

__all__ = ["as_whole"]


def as_whole(value: object, *, name: str, at_least: int) -> int:
    """Return `value` as an int no smaller than `at_least`.

    Raises
    ------
    InvalidInput
        Not a whole number, or too small.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = index(cast(SupportsIndex, value))
    except TypeError:
        raise InvalidInput(f"{name}: expected a whole number >= {at_least}, got {value!r}") from None
    if number < at_least:
        raise InvalidInput(f"{name}: expected a whole number >= {at_least}, got {value!r}")
    return number
