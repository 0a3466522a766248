"""Functions that stated assumptions allow, drawn before any data: does one believe in them?

Each has exactly the stated norm. "bumpy" ones spend it on a few hills, "rough" ones in every direction alike: the two
ways of `draw_rkhs_function`, half of the draws each. What they look like is what the assumptions say; where all of them
are too tame or absurdly wild, the assumptions are not what was meant. They are draws, not bounds: the ball also has
functions that change faster, up to `most`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any, Literal

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.optimizer import RunAssumptions
from quadrat.optimizer.choosing_assumptions import AssumptionChoice
from quadrat.partition.unit_cube import as_count
from quadrat.problems.rkhs import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator
from quadrat.space import Float, Space

__all__ = ["PriorCheck", "prior_check"]

_POINTS = 2048  # of the cube, at which the range of a draw is read
_LINES = 64  # through the cube, along which the largest change of a draw is read
_STREAM = 0x0C4EC  # names the stream of draws


@dataclass(frozen=True, repr=False)
class PriorCheck:
    """Draws of the assumptions, and what they have in common; printed, it is a table.

    Attributes
    ----------
    assumptions, space
        What was drawn from.
    functions
        The draws, on the unit cube, without the offset.
    lowest, highest
        The values between which each of them lies, with the offset, shape (n,).
    distances
        For each parameter the distance over which changes were read, in its units.
    changes
        The largest change of each draw within that distance, shape (n,), by parameter.
    most
        What no function of the ball exceeds there, by parameter.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> stated = RunAssumptions(
    ...     kernel=Matern(2.5), lengthscales={"x": 0.4}, norm_bound=1.0, offset=0.0, noise=0.1
    ... )
    >>> found = prior_check(stated, Space(x=Float(0, 1)), n=8)
    >>> bool((found.changes["x"] <= found.most["x"]).all()), bool((found.highest <= 1.0).all())
    (True, True)
    """

    assumptions: RunAssumptions
    space: Space
    functions: tuple[RKHSFunction, ...]
    lowest: Array
    highest: Array
    distances: dict[str, float]
    changes: dict[str, Array]
    most: dict[str, float]

    def values(self, points: Array) -> Array:
        """Return the draws with their offset at points (m, D) of the cube, shape (n, m)."""
        return np.array([function.values(points) for function in self.functions]) + self.assumptions.centre

    def __repr__(self) -> str:
        rows = [("of each draw", "smallest", "median", "largest", "most in the ball")]
        bound = self.assumptions.on(self.space).ceiling  # B s
        spread = self.highest - self.lowest
        rows.append(("highest value", *_quantiles(self.highest), f"{self.assumptions.centre + bound:.4g}"))
        rows.append(("lowest value", *_quantiles(self.lowest), f"{self.assumptions.centre - bound:.4g}"))
        rows.append(("highest - lowest", *_quantiles(spread), f"{2 * bound:.4g}"))
        for name, change in self.changes.items():
            parameter = self.space[name]
            factor = "a factor of " if isinstance(parameter, Float) and parameter.log else ""
            label = f"change within {factor}{self.distances[name]:.4g} of {name}"
            rows.append((label, *_quantiles(change), f"{self.most[name]:.4g}"))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        norm, stated = f"norm {self.assumptions.norm_bound:g}", self.assumptions.described(self.space)
        title = f"{len(self.functions)} functions of {norm}: {stated}"
        return "\n".join(
            [
                title,
                *(
                    "  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
                    for row in rows
                ),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what the table has, as plain data that JSON can hold."""
        return {
            "assumptions": self.assumptions.to_dict(),
            "lowest": self.lowest.tolist(),
            "highest": self.highest.tolist(),
            "distances": self.distances,
            "changes": {name: change.tolist() for name, change in self.changes.items()},
            "most": self.most,
        }


def prior_check(
    assumptions: RunAssumptions | AssumptionChoice,
    space: Space,
    *,
    distances: Mapping[str, float] | None = None,
    n: int = 40,
    seed: int = 0,
) -> PriorCheck:
    """Draw functions of exactly the stated norm, and say what values and changes they have.

    Parameters
    ----------
    assumptions
        What is to be believed, or what `assumptions_from` returned.
    space
        Of the run.
    distances
        Over which distances changes are of interest, in the units of the parameters, a factor above 1 for a log
        parameter. By default those that `assumptions_from` was given, or a tenth of each range.
    n, seed
        How many draws, >= 1, and their seed.

    Returns
    -------
    PriorCheck
        For `quadrat.plots.prior_functions`, or to be printed.

    Raises
    ------
    InvalidInput
        Distances of other parameters, or out of range.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> stated = RunAssumptions(
    ...     kernel=Matern(2.5), lengthscales={"x": 0.4}, norm_bound=1.0, offset=0.0, noise=0.1
    ... )
    >>> found = prior_check(stated, Space(x=Float(0, 1)), n=8, distances={"x": 0.05})
    >>> bool(found.changes["x"].max() < 0.3)
    True
    """
    if isinstance(assumptions, AssumptionChoice):
        distances = assumptions.distances if distances is None else distances
        assumptions = assumptions.assumptions
    if not isinstance(assumptions, RunAssumptions):
        raise InvalidInput(f"assumptions: expected RunAssumptions, or those chosen, got {assumptions!r:.120}")
    n = as_count(n, name="n", at_least=1)
    given = assumptions.on(space)
    dimension = space.dimension
    functions = []
    for i in range(n):
        rng = generator(seed, i, _STREAM)
        style: Literal["bumpy", "rough"] = "bumpy" if i % 2 == 0 else "rough"
        functions.append(draw_rkhs_function(given.kernel, dimension, rng=rng, norm=given.norm_bound, style=style))
    uniform = generator(seed, n, _STREAM).random((_POINTS, dimension))
    at = np.array([function.values(uniform) for function in functions]) + assumptions.centre
    named = {name: _tenth(space[name]) for name in space.axes} if distances is None else dict(distances)
    if set(named) != set(space.axes):
        raise InvalidInput(
            f"distances: expected one for each of {', '.join(space.axes)}, got {', '.join(map(str, named))}"
        )
    changes, most = {}, {}
    for axis, name in enumerate(space.axes):
        share = _share(name, space[name], named[name])
        changes[name] = np.array([_largest_change(function, axis, share, uniform[:_LINES]) for function in functions])
        offset = np.zeros(dimension)
        offset[axis] = share
        most[name] = float(given.variation(offset))
    return PriorCheck(assumptions, space, tuple(functions), at.min(1), at.max(1), named, changes, most)


def _quantiles(values: Array) -> tuple[str, str, str]:
    return f"{values.min():.4g}", f"{np.median(values):.4g}", f"{values.max():.4g}"


def _tenth(parameter: object) -> float:
    """Return a tenth of the range of a parameter, in its units."""
    if not isinstance(parameter, Float):
        return 0.1
    if parameter.log:
        return float((parameter.high / parameter.low) ** 0.1)
    return (parameter.high - parameter.low) / 10


def _share(name: str, parameter: object, distance: float) -> float:
    """Return a distance as a share of the range of its parameter."""
    distance = as_number(distance, name=f"distances: {name!r:.60}", above=0.0)
    if not isinstance(parameter, Float):
        return min(distance, 1.0)
    if parameter.log:
        if distance <= 1:
            raise InvalidInput(f"distances: expected a factor above 1 for the log parameter {name!r}, got {distance!r}")
        return min(log(distance) / log(parameter.high / parameter.low), 1.0)
    return min(distance / (parameter.high - parameter.low), 1.0)


def _largest_change(function: RKHSFunction, axis: int, share: float, through: Array) -> float:
    """Return the largest change over a distance along an axis, on lines through the points (m, D)."""
    starts = np.linspace(0.0, 1.0 - share, 33)
    ends = np.repeat(through, len(starts), axis=0)
    begins = ends.copy()
    begins[:, axis] = np.tile(starts, len(through))
    ends[:, axis] = np.minimum(begins[:, axis] + share, 1.0)
    return float(np.abs(function.values(ends) - function.values(begins)).max())
