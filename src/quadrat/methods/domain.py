"""What a search may know of the space behind the cube: which points are one and the same, and which are near.

A method works on the cube. Where a parameter is an integer or a choice, many points of the cube are one setting: the
model should see the point that stands for all of them, and choices have no order, so that any two are equally far
apart. `Domain` says so without naming parameters; the optimizer makes one from its space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat.randomness import generator

__all__ = ["PROBES", "THIN", "Axis", "Domain", "FidelityAxis", "probed", "sample_if_thin"]

PROBES = 4097
"""Coordinates at which an axis is rounded to find its values: some in every bin, where these are few."""

THIN = 0.01
"""The share of the cube below which the points that may be evaluated are too few for candidates to meet them."""

_SAMPLED, _FEWEST = 64, 32  # uniform feasible points to look for, and those without which nothing is said of all
_DRAWN, _BATCH = 51_200, 256  # uniform points that are drawn for them, in all and at a time
_SAMPLE_STREAM = 0xFEA5  # names the stream of the sample, which belongs to no run


def probed(rounded: Callable[[Array], Array]) -> tuple[Array, Ints]:
    """Return the coordinates that stand for values of an axis, ascending, and how many of the probes met each.

    Parameters
    ----------
    rounded
        From coordinates on the axis, shape (n,), to those that stand for them, (n,).

    Examples
    --------
    >>> probed(np.round)[0].tolist()
    [0.0, 1.0]
    """
    return np.unique(rounded(np.linspace(0.0, 1.0, PROBES)), return_counts=True)


def sample_if_thin(
    draw: Callable[[int, np.random.Generator], Array], feasible: Callable[[Array], Bools] | None
) -> Array | None:
    """Return what `Domain.thin_sample` is, for the set of rounded points from which `draw` draws so many, (n, D)."""
    rng, drawn = generator(_SAMPLE_STREAM), 0
    found = draw(0, rng)
    while feasible is not None and len(found) < _SAMPLED and drawn < _DRAWN:
        points = draw(_BATCH, rng)
        found, drawn = np.vstack([found, points[feasible(points)]]), drawn + len(points)
    if len(found) >= THIN * drawn:
        return found[:0]
    return found if len(found) >= _FEWEST else None


@dataclass(frozen=True)
class Axis:
    """One axis of the cube.

    Attributes
    ----------
    values
        The coordinates that stand for its values, ascending, where they are few; None for a continuum, or for integers
        so many that rounding moves a point little.
    ordered
        Whether neighbouring values are alike.
    """

    values: tuple[float, ...] | None = None
    ordered: bool = True

    @property
    def is_choice(self) -> bool:
        """Whether its values are choices without order."""
        return not self.ordered and self.values is not None and len(self.values) > 1

    def index(self, coordinates: Array) -> Ints:
        """Return the number of the value nearest to each coordinate."""
        values = np.array(self.values)
        return np.searchsorted((values[1:] + values[:-1]) / 2, coordinates)


@dataclass(frozen=True)
class FidelityAxis:
    """The axis whose values are levels of fidelity, from the cheapest to the target, which is the last.

    Attributes
    ----------
    axis
        Its number.
    coordinates
        Where the levels lie on it, ascending, shape (M,).
    costs
        What one evaluation at each level costs, ascending, > 0.
    """

    axis: int
    coordinates: tuple[float, ...]
    costs: tuple[float, ...]


@dataclass(frozen=True)
class Domain:
    """The cube with what is behind it.

    Parameters
    ----------
    axes
        One for each coordinate.
    round
        From points (n, D) to the points that stand for their settings, (n, D); None where every point is its own.
    exists
        From rounded points (n, D) to whether each axis counts there, (n, D); None where all do.
    feasible
        From rounded points (n, D) to whether they may be evaluated, (n,); None where all may.
    context
        Axes that are given from outside, trial by trial: a search chooses the others.
    fidelity
        The axis that says how accurate, and how costly, an evaluation is; None where all are alike.
    names
        What users call the axes; empty where they have no names.
    continuous
        Whether each axis is a continuum wherever a point lies: no steps, and no condition under which it exists. Empty
        where all smooth axes are.

    Examples
    --------
    >>> domain = Domain((Axis(), Axis((1 / 6, 0.5, 5 / 6), ordered=False)))
    >>> domain.features(np.array([[0.2, 0.5]])).round(3).tolist()
    [[0.2, 0.0, 0.707, 0.0]]
    """

    axes: Sequence[Axis]
    round: Callable[[Array], Array] | None = None
    exists: Callable[[Array], Bools] | None = None
    feasible: Callable[[Array], Bools] | None = None
    context: tuple[int, ...] = ()
    fidelity: FidelityAxis | None = None
    names: tuple[str, ...] = ()
    continuous: tuple[bool, ...] = ()

    @classmethod
    def cube(cls, dimension: int) -> Domain:
        """Return the plain cube [0, 1]^D, D = `dimension` >= 1."""
        return cls((Axis(),) * dimension)

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.axes)

    @cached_property
    def smooth(self) -> Bools:
        """Which axes may be climbed along, shape (D,)."""
        return np.array([axis.values is None for axis in self.axes])

    @cached_property
    def continua(self) -> Bools:
        """Which axes may be missed by a little, shape (D,): integers so many that they count as smooth may not."""
        return np.array(self.continuous, dtype=np.bool_) if self.continuous else self.smooth

    def called(self, axis: int) -> str:
        """Return what users call an axis: its name, or where it has none, its number."""
        return repr(self.names[axis]) if self.names else f"axis {axis}"

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The axis that each column of `features` belongs to."""
        counts = [len(axis.values) if axis.values is not None and axis.is_choice else 1 for axis in self.axes]
        return tuple(int(i) for i in np.repeat(np.arange(self.dimension), counts))

    @cached_property
    def columns(self) -> Ints:
        """The first column of `features` of each axis, shape (D,)."""
        return np.array([self.groups.index(i) for i in range(self.dimension)])

    def rounded(self, points: Array) -> Array:
        """Return the points that stand for the settings at these, shape (n, D)."""
        return points if self.round is None or not len(points) else self.round(points)

    def allowed(self, points: Array) -> Bools:
        """Return which of these rounded points may be evaluated, shape (n,)."""
        return np.ones(len(points), dtype=np.bool_) if self.feasible is None else self.feasible(points)

    def permitted(self, points: Array) -> Array:
        """Return those of the points (m, D) whose settings may be evaluated; all of them where none may."""
        if self.feasible is None:
            return points
        allowed = self.allowed(self.rounded(points))
        return points[allowed] if allowed.any() else points

    @cached_property
    def thin_sample(self) -> Array | None:
        """Feasible points to examine, beside other candidates, before anything is said of all feasible points.

        Uniform among the feasible points, (k, D), where these are less than 1 % of the cube: of 1,000 candidates a few
        would be feasible or none, and f would seem to have nothing to offer elsewhere. With 32 of them, a part that
        holds a tenth of the feasible points is missed with a chance of 3 %. Empty where the feasible share is 1 % or
        more. None where 51,200 uniform points have fewer than 32 feasible ones: then nothing can be said of all.
        """
        return sample_if_thin(lambda n, rng: self.rounded(rng.random((n, self.dimension))), self.feasible)

    def features(self, points: Array) -> Array:
        """Return what the model sees of rounded points, shape (n, F): a choice becomes one column for each value.

        Any two different choices are at distance 1, like the two ends of an axis. A choice that does not exist at a
        point is none of its values there; a number that does not exist has the same coordinate everywhere.
        """
        if not any(axis.is_choice for axis in self.axes):
            return points
        there = None if self.exists is None else self.exists(points)
        parts = []
        for i, axis in enumerate(self.axes):
            column = points[:, i : i + 1]
            if axis.is_choice:
                assert axis.values is not None
                column = (axis.index(column) == np.arange(len(axis.values))) * sqrt(0.5)
                if there is not None:
                    column = column * there[:, i : i + 1]
            parts.append(column)
        return np.concatenate(parts, axis=1)

    def slopes(self, gradients: Array) -> Array:
        """Return gradients (n, D) along the axes from those along the columns of `features`; 0 where not smooth."""
        return np.where(self.smooth, gradients[:, self.columns], 0.0)

    def neighbours(self, point: Array, rng: np.random.Generator, most: int = 12) -> Array:
        """Return rounded points that differ from `point`, (D,), on one axis that is not smooth; shape (m, D).

        Both neighbours where values are ordered, and up to `most` others, drawn with `rng`, where they are not.
        """
        found = []
        for i, axis in enumerate(self.axes):
            if axis.values is None:
                continue
            here = int(axis.index(point[i : i + 1])[0])
            others = [here - 1, here + 1] if axis.ordered else rng.permutation(len(axis.values))[:most].tolist()
            for other in others:
                if 0 <= other < len(axis.values) and other != here:
                    moved = point.copy()
                    moved[i] = axis.values[other]
                    found.append(moved)
        others = self.rounded(np.array(found).reshape(-1, self.dimension))
        return np.asarray(others[(others != point).any(axis=1)])  # what does not exist there has no neighbours
