"""Small finite spaces: settings that nobody has evaluated come first, and the end of them is known.

Where the objective always gives the same, an evaluated setting has nothing more to say. Where it does not, a second
look can be worth more than a new setting. From one value a setting nobody can tell: a rough function without noise
looks like a smooth one with it. So until noise was seen (`shows_noise`) a setting is not asked for again as long as
there are others, whose values say nearly as much.
"""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array
from quadrat.gp.observations import group_rows
from quadrat.methods.auto.surrogate import LearnedModel, is_exact

__all__ = ["MANY", "FiniteSpace", "agreeing_repeats", "nearest_to", "shows_exactness", "shows_noise"]

MANY = 8  # repeats in a space of which every setting was evaluated, all equal to the first: enough, also of few values
_KINDS = 3  # values: of two, such as pass and fail, equal ones say little


class FiniteSpace:
    """All settings of a space, and which of them are left.

    Parameters
    ----------
    points
        The points that stand for the settings that may be evaluated, shape (m, D).

    Examples
    --------
    >>> space = FiniteSpace(np.array([[0.25], [0.75]]))
    >>> space.without(np.array([[0.25]])).tolist(), len(space)
    ([[0.75]], 2)
    """

    def __init__(self, points: Array) -> None:
        self.points = points + 0.0  # -0.0 is the same coordinate as 0.0
        self._row = {point.tobytes(): row for row, point in enumerate(self.points)}

    def __len__(self) -> int:
        return len(self.points)

    def without(self, taken: Array) -> Array:
        """Return the settings that are none of the points (n, D), in their order, shape (k, D)."""
        left = np.ones(len(self), dtype=np.bool_)
        rows = [self._row.get(point.tobytes()) for point in taken + 0.0]
        left[[row for row in rows if row is not None]] = False
        return self.points[left]


def shows_noise(model: LearnedModel) -> bool:
    """Whether the objective was seen to have noise: values at one point differ, or a standard error was told."""
    return model.has_stated_noise or model.differing() is not None


def shows_exactness(model: LearnedModel) -> bool:
    """Whether the values told say that the objective has no noise: see `is_exact`."""
    return not model.has_stated_noise and is_exact(model.domain, model.x, model.y)


def agreeing_repeats(model: LearnedModel) -> int:
    """Return how many observations repeat an earlier one; 0 where noise was seen, or there are only two results."""
    if shows_noise(model) or len(np.unique(model.y)) < _KINDS:
        return 0
    return len(model.x) - len(group_rows(model.x)[0])


def nearest_to(point: Array, settings: Array) -> Array:
    """Return the setting, of (m, D), nearest to a point (D,)."""
    found: Array = settings[int(np.argmin(((settings - point) ** 2).sum(axis=1)))]
    return found
