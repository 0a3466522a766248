"""A parameter that says how accurate, and how costly, an evaluation is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from quadrat._core.arrays import as_number
from quadrat.errors import InvalidInput
from quadrat.space.parameter import Bins, Parameter

if TYPE_CHECKING:
    from quadrat._core.arrays import Array

__all__ = ["Fidelity"]


@dataclass(frozen=True, repr=False)
class Fidelity(Parameter):
    """The level at which to evaluate: epochs, grid points, a share of the data. The last level is the one that counts.

    A method that handles fidelities evaluates cheap levels to find out where costly evaluations pay, and recommends
    for the last level. Each level owns a bin of the unit axis, and its unit coordinate is the centre of the bin.

    Parameters
    ----------
    levels, cost
        Two or more numbers, from the cheapest to the target; and the cost of one evaluation at each, > 0 and ascending,
        in any unit; budgets are counted in it.
    context, when
        See `Parameter`; a fidelity takes neither.

    Examples
    --------
    >>> Fidelity([1, 10], cost=[1, 9]).cost_of(10)
    9.0
    """

    levels: Sequence[float]
    cost: Sequence[float] = ()

    kind: ClassVar[str] = "fidelity"
    may_be_context: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.when is not None:
            raise InvalidInput(f"Fidelity: expected no condition, got when={self.when!s}; every trial has a fidelity")
        levels, cost = (self._numbers(name) for name in ("levels", "cost"))
        if len(levels) < 2 or len(set(levels)) < len(levels):
            raise InvalidInput(f"Fidelity: expected two or more levels that differ, got {self.levels!r}")
        if len(cost) != len(levels):
            raise InvalidInput(
                f"Fidelity: expected cost=[...] with {len(levels)} numbers, one a level, got {self.cost!r}"
            )
        if min(cost) <= 0 or any(a >= b for a, b in pairwise(cost)):
            raise InvalidInput(
                f"Fidelity: expected costs > 0 that ascend from the cheapest level to the target, got {self.cost!r};"
                " order the levels by cost, and leave out those that cost as much as a better one"
            )
        self._set("levels", levels)
        self._set("cost", tuple(float(one) for one in cost))

    def _numbers(self, name: str) -> tuple[Any, ...]:
        given: object = getattr(self, name)
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise InvalidInput(f"Fidelity: expected {name} as a list of numbers, got {given!r:.80}")
        for number in given:
            as_number(number, name=f"Fidelity: {name}")
        return tuple(number.item() if isinstance(number, np.generic) else number for number in given)

    @property
    def target(self) -> Any:
        """The level that counts: the last."""
        return self.levels[-1]

    def level(self, value: object) -> int:
        """Return the place of a valid value among the levels."""
        return list(self.levels).index(value)  # type: ignore[arg-type]  # a value of a trial

    def cost_of(self, value: object) -> float:
        """Return the cost of one evaluation at the level `value`."""
        return self.cost[self.level(value)]

    @property
    def expected(self) -> str:
        """What values are valid, in words."""
        return "one of " + ", ".join(repr(level) for level in self.levels)

    @cached_property
    def scale(self) -> Bins:
        """The map between indices of levels and the unit interval."""
        return Bins(len(self.levels))

    def read(self, values: Sequence[object]) -> Array:
        """Return the indices of the levels `values`, shape (n,), NaN where not a level."""
        index = {level: float(i) for i, level in enumerate(self.levels)}
        return np.array([_found(index, value) for value in values], dtype=np.float64)

    def show(self, codes: Array) -> list[Any]:
        """Return the levels as they were given."""
        return [self.levels[i] for i in codes.astype(np.intp).tolist()]


def _found(index: dict[float, float], value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return math.nan
    return index.get(float(value), math.nan)
