"""Certified bounds on max f over the whole cube, and on how far f(z) is below it, by branch and bound over cells.

Two ways lead from points to a cell E with sides r, and each depth takes the one that loses less:

    centre:   f(x) <= upper(c) + omega(H),                      H half the diagonal
    corners:  f(x) <= max_v upper(v) + the error of multilinear interpolation between the corners v,

the second is of second order in the sides (`Assumptions.interpolation_error`), and neighbours share their corners. The
same holds for x -> f(x) - f(z). The cells with the largest bound are halved until the bound is within a tolerance of
the largest one at any point (which no refinement can go below by much), or the cells are used up. Every bound on the
way is valid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Growing, Ints, as_number
from quadrat._core.printing import printed
from quadrat.confidence.bands import Band
from quadrat.confidence.interval import Interval
from quadrat.errors import InvalidInput
from quadrat.partition.unit_cube import as_unit_point

__all__ = ["CertifiedGap", "CertifiedMaximum", "certified_gap", "certified_maximum"]

_BATCH = 32  # cells halved at a time, at least: their points are evaluated together
_SHARE = 8  # of many cells, an eighth at a time
_DEEPEST = 50  # halvings: sides stay above 2^-50
_MOST_CORNERS = 16  # above four dimensions cells are bounded from their centres alone


@dataclass(frozen=True)
class CertifiedMaximum:
    """A bound of max f over the cube, and what was seen on the way.

    Attributes
    ----------
    value
        max f is at most this, in the units of f.
    centres
        The points that were looked at, centres or corners of cells, shape (m, D).
    lowers
        Lower bounds of f there, shape (m,).
    resolved
        Whether the tolerance was reached before the cells were used up.
    contradicted
        Whether the band left no value of f at one of the points that were looked at.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05), delta=0.05)
    >>> found = certified_maximum(band, dimension=1)  # nothing observed: all that is known is |f| <= B s
    >>> round(found.value, 2), found.resolved
    (1.0, True)
    """

    value: float
    centres: Array
    lowers: Array
    resolved: bool
    contradicted: bool = False

    __repr__ = printed


@dataclass(frozen=True)
class CertifiedGap:
    """A bound of max f - f(z) over the cube, and what was seen on the way.

    Attributes
    ----------
    value
        max_x f(x) - f(z) is at most this, in the units of f.
    maximum
        max f is at most this.
    points
        The points x that were looked at, shape (m, D).
    values
        Bounds of f(x) - f(z) there, shape (m,).
    resolved, contradicted
        As of `CertifiedMaximum`.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05), delta=0.05)
    >>> round(certified_gap(band, [0.5], dimension=1).value, 2)  # nothing observed: the modulus of what is furthest
    0.98
    """

    value: float
    maximum: float
    points: Array
    values: Array
    resolved: bool
    contradicted: bool = False

    __repr__ = printed


def certified_maximum(
    band: Band, *, dimension: int, max_cells: int = 4096, tolerance: float = 0.002
) -> CertifiedMaximum:
    """Bound max f from above.

    Parameters
    ----------
    band
        Gives upper bounds at points, and how much f varies over a cell through its assumptions.
    dimension
        D.
    max_cells
        How many cells to make at most; each costs one evaluation of the band, or less.
    tolerance
        How far above the largest upper bound at a point the result may stay, in units of B s.

    Returns
    -------
    CertifiedMaximum
        Valid whatever the effort.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.01), delta=0.05)
    >>> band.add(np.linspace(0, 1, 21)[:, None], np.zeros(21))
    >>> round(certified_maximum(band, dimension=1).value, 2)
    0.07
    """

    def look(points: Array) -> tuple[Interval, Array]:
        at = band.interval(points)
        return at, at.upper

    def most(lower: Array, upper: Array) -> Array:  # noqa: ARG001
        return np.full(len(lower), band.assumptions.ceiling)

    cover = _Cover(band, dimension, look, most)
    resolved = cover.refine(max_cells, tolerance)
    return CertifiedMaximum(cover.highest, cover.points.copy(), cover.lowers.copy(), resolved, cover.contradicted)


def certified_gap(
    band: Band, point: ArrayLike, *, dimension: int, max_cells: int = 4096, tolerance: float = 0.002
) -> CertifiedGap:
    """Bound max_x f(x) - f(z) from above, for one point z: by pairs (x, z) instead of by both ends alone.

    Over the set of functions that the band leaves, f(x) - f(z) has bounds of its own (`AdaptiveBand.compare`), narrower
    than upper(x) - lower(z) where x and z are near. Over a cell, the smaller of both, and of the modulus.

    Parameters
    ----------
    band
        Gives upper bounds of f(x) and of f(x) - f(z).
    point
        z, of the unit cube, shape (D,); the data may have chosen it.
    dimension, max_cells, tolerance
        As of `certified_maximum`.

    Returns
    -------
    CertifiedGap
        Valid whatever the effort.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05), delta=0.05)
    >>> x = np.linspace(0, 1, 41)[:, None]
    >>> band.add(x, -((x[:, 0] - 0.3) ** 2))
    >>> z = np.array([0.3])
    >>> apart = certified_maximum(band, dimension=1).value - band.interval(z[None]).lower[0]
    >>> round(float(apart), 2), round(certified_gap(band, z, dimension=1).value, 2)
    (0.23, 0.15)
    """
    z = as_unit_point(point, dimension=dimension)
    given = band.assumptions
    lowest = float(band.interval(z[None]).lower[0])

    def look(points: Array) -> tuple[Interval, Array]:
        return band.compare(points, z)

    def most(lower: Array, upper: Array) -> Array:
        return np.minimum(given.variation(np.maximum(upper - z, z - lower)), given.ceiling - lowest)

    cover = _Cover(band, dimension, look, most)
    resolved = cover.refine(max_cells, tolerance)
    return CertifiedGap(
        cover.value, cover.highest, cover.points.copy(), cover.values.copy(), resolved, cover.contradicted
    )


class _Cover:
    """Cells that tile the cube, with a bound of what is maximised and one of f over each.

    Parameters
    ----------
    band, dimension
        As of `certified_maximum`.
    look
        From points (m, D) to the band's intervals there and upper bounds of what is maximised, (m,).
    most
        From cells, corners (m, D), to what is known of them without looking, (m,).
    """

    def __init__(
        self,
        band: Band,
        dimension: int,
        look: Callable[[Array], tuple[Interval, Array]],
        most: Callable[[Array, Array], Array],
    ) -> None:
        self._given = band.assumptions
        self._look, self._most = look, most
        self._rule = self._given.axis_rule()
        self._unit = np.array(list(product((0.0, 1.0), repeat=dimension))) if 2**dimension <= _MOST_CORNERS else None
        self._sides = [np.ones(dimension)]  # by depth: all cells of one depth are alike
        self._ways: list[tuple[bool, float]] = []
        self._row_of: dict[bytes, int] = {}
        self._points, self._values = Growing(np.float64, (dimension,)), Growing(np.float64)
        self._lowers, self._uppers = Growing(np.float64), Growing(np.float64)
        self.contradicted = False
        self._lower, self._depth = np.zeros((1, dimension)), np.zeros(1, dtype=np.intp)
        self._bound, self._high = self._bounds(self._lower, 0, np.inf, self._given.ceiling)

    @property
    def value(self) -> float:
        """What is maximised is at most this."""
        return float(self._bound.max())

    @property
    def highest(self) -> float:
        """Max f is at most this."""
        return float(self._high.max())

    @property
    def points(self) -> Array:
        """What was looked at, shape (m, D)."""
        return np.asarray(self._points.view)

    @property
    def values(self) -> Array:
        """Upper bounds of what is maximised there, shape (m,)."""
        return np.asarray(self._values.view)

    @property
    def lowers(self) -> Array:
        """Lower bounds of f there, shape (m,)."""
        return np.asarray(self._lowers.view)

    def refine(self, max_cells: int, tolerance: float) -> bool:
        """Halve the cells with the largest bounds; return whether the tolerance was reached."""
        if isinstance(max_cells, bool) or not isinstance(max_cells, int | np.integer) or max_cells < 1:
            raise InvalidInput(f"max_cells: expected at least 1, got {max_cells!r}")
        slack = as_number(tolerance, name="tolerance", at_least=0.0) * self._given.ceiling
        while True:
            enough = float(self._values.view.max()) + slack
            due = np.flatnonzero((self._bound > enough) & (self._depth < _DEEPEST))
            room = min(max(_BATCH, len(self._bound) // _SHARE), max_cells - len(self._bound))
            if not len(due) or room <= 0:
                return bool(self.value <= enough)
            self._halve(due[np.argsort(-self._bound[due], kind="stable")[:room]])

    def _halve(self, cells: Ints) -> None:
        """Replace cells by their halves."""
        parts = [(np.delete(self._lower, cells, 0), np.delete(self._depth, cells))]
        bounds = [(np.delete(self._bound, cells), np.delete(self._high, cells))]
        for depth in np.unique(self._depth[cells]).tolist():
            mine = cells[self._depth[cells] == depth]
            sides = self._sides_at(depth)
            axis = self._rule(sides)
            shift = np.zeros(len(sides))
            shift[axis] = sides[axis] / 2
            lower = np.concatenate([self._lower[mine], self._lower[mine] + shift])
            parts.append((lower, np.full(len(lower), depth + 1)))
            bounds.append(self._bounds(lower, depth + 1, np.tile(self._bound[mine], 2), np.tile(self._high[mine], 2)))
        self._lower, self._depth = (np.concatenate(some) for some in zip(*parts, strict=True))
        self._bound, self._high = (np.concatenate(some) for some in zip(*bounds, strict=True))

    def _bounds(self, lower: Array, depth: int, known: ArrayLike, highest: ArrayLike) -> tuple[Array, Array]:
        """Bound what is maximised, and f, over cells of one depth with lower corners (m, D): no more than is known."""
        sides = self._sides_at(depth)
        corners, lost = self._way(depth)
        unit = self._unit if corners and self._unit is not None else np.full((1, len(sides)), 0.5)
        rows = self._rows((lower[:, None] + unit * sides).reshape(-1, len(sides))).reshape(len(lower), -1)
        value, upper = (column.view[rows].max(axis=1) + lost for column in (self._values, self._uppers))
        return (
            np.minimum(np.minimum(value, known), self._most(lower, lower + sides)),
            np.minimum(upper, highest),
        )

    def _rows(self, points: Array) -> Ints:
        """Return where the points (m, D) stand among those that were looked at, after looking at the new ones."""
        new: list[Array] = []
        rows = np.empty(len(points), dtype=np.intp)
        for i, point in enumerate(points):
            rows[i] = self._row_of.setdefault(point.tobytes(), len(self._points) + len(new))
            if rows[i] == len(self._points) + len(new):
                new.append(point)
        if new:
            fresh = np.array(new)
            at, values = self._look(fresh)
            self.contradicted |= at.is_empty(self._given.ceiling)
            for column, some in zip(
                (self._points, self._values, self._lowers, self._uppers),
                (fresh, values, at.lower, at.upper),
                strict=True,
            ):
                column.extend(some)
        return rows

    def _sides_at(self, depth: int) -> Array:
        while len(self._sides) <= depth:
            sides = self._sides[-1].copy()
            sides[self._rule(sides)] /= 2
            self._sides.append(sides)
        return self._sides[depth]

    def _way(self, depth: int) -> tuple[bool, float]:
        """Whether cells of a depth are bounded from their corners, else from their centre; and what is lost."""
        while len(self._ways) <= depth:
            sides = self._sides_at(len(self._ways))
            centre = float(self._given.variation(sides / 2))
            corners = np.inf if self._unit is None else float(self._given.interpolation_error(sides))
            self._ways.append((corners < centre, min(corners, centre)))
        return self._ways[depth]
