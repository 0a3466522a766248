"""Cells with a lower and an upper bound of f over each, for saying on which side of a threshold f lies there.

Bounds at points come from a band that holds for all points and all times at once. So they may be intersected over time,
as the regions C_t(x) of [G13] are, and what is stored only sharpens. Two ways lead from points to a cell E
with sides r, and each depth takes the one that is lost least with:

    centre:   |f(x) - f(c)| <= omega(H),                                   H half the diagonal; any kernel
    corners:  |f(x) - sum_v p_v(x) f(v)| <= B s sqrt(m_4) sum_i (r_i/theta_i)^2 / 8,   where the moment m_4 exists

with the weights p_v >= 0 of multilinear interpolation between the 2^D corners v. They add up to 1, so that the least
lower bound of the corners, less the loss, bounds f from below, and the largest upper one from above. The second line is
Taylor's formula of degree 1 about x: the linear terms cancel, since sum_v p_v(x) (v - x) = 0, the remainder at v is at
most B s sqrt(m_4) h_v^2 / 2 for the scaled distance h_v from x to v, and the sum of p_v h_v^2 over the corners is at
most that of (r_i/theta_i)^2 / 4 over the axes.
It is of second order in the sides where omega is of first, and neighbours share their corners.

A cell has the sharpest of: its parent's bounds, its own earlier ones, those from its points, and, where a share of
delta was set aside for them, those from the average of what was observed in it (`quadrat.confidence.averages`, which
hold on both sides at once).

[G13]: Gotovos, Casati, Hitz and Krause (2013). Active learning for level set estimation. IJCAI.
[SJ19]: Shekhar and Javidi (2019). Multiscale Gaussian process level set estimation. AISTATS.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from quadrat._core.arrays import Array, Growing, Ints
from quadrat.confidence import AdaptiveBand, Assumptions, Interval, average_half_width
from quadrat.confidence.bands import contradiction
from quadrat.confidence.budget import cell_share
from quadrat.errors import NotAvailable
from quadrat.kernels.stationary import Stationary
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED
from quadrat.partition import PartitionTree

__all__ = ["LevelCells"]

_MOST_CORNERS = 16  # of a cell: above four dimensions a cell is bounded from its centre alone
_NARROWEST = 2.0**-20  # side below which cells stay as they are
_FIRST, _EACH = 256, 16  # cells that may exist before any observation, and that each observation adds


class LevelCells:
    """A partition of the cube with bounds of f over every cell, and its labels.

    Parameters
    ----------
    assumptions
        Kernel, B, sigma.
    dimension
        D.
    threshold, accuracy
        What f is compared with, and how far within which either label is right.
    band_delta, average_delta
        Shares of delta: for the band, and for the averages of all cells together (0: averages are not used).
    max_cells
        A cap on the cells.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        dimension: int,
        *,
        threshold: float,
        accuracy: float,
        band_delta: float,
        average_delta: float,
        max_cells: int,
    ) -> None:
        self.assumptions = assumptions
        self.threshold = threshold
        self.accuracy = accuracy
        self.delta, self.average_delta = band_delta + average_delta, average_delta
        self.max_cells = max_cells
        self.band = AdaptiveBand(assumptions, band_delta)
        self.tree = PartitionTree(dimension, axis_rule=assumptions.axis_rule(), max_cells=max_cells)
        self.values: list[float] = []  # by observation
        self.brought_to = 0  # observations that the stored bounds have seen
        self._rejection: str | None = None  # what the bounds of points and cells have shown
        self._curvature = curvature(assumptions) if 2**dimension <= _MOST_CORNERS else None
        self._corners = np.array(list(product((0.0, 1.0), repeat=dimension))) if self._curvature is not None else None
        self._ways: dict[int, tuple[bool, float]] = {}  # by depth: whether from corners, and what is lost
        self._row_of: dict[bytes, int] = {}
        self._points = Growing(np.float64, (dimension,))
        self._point_low, self._point_high = Growing(np.float64), Growing(np.float64)
        self._point_seen = Growing(np.intp)  # observations that a point's bounds have seen; -1: not evaluated
        self._rows = Growing(np.intp, (1 if self._corners is None else len(self._corners),))  # by node
        self._low, self._high = Growing(np.float64), Growing(np.float64)  # by node
        self._append(0, -assumptions.ceiling, assumptions.ceiling)

    # --- geometry

    def way(self, depth: int) -> tuple[bool, float]:
        """Return whether cells of a depth are bounded from their corners, else their centre, and what is lost."""
        if depth not in self._ways:
            sides = np.ones(self.tree.dimension)
            for _ in range(depth):
                sides[self.tree.axis_rule(sides)] /= 2
            centre = float(self.assumptions.variation(sides / 2))
            corners = np.inf if self._curvature is None else float((self._curvature * sides**2).sum())
            self._ways[depth] = (corners < centre, min(corners, centre))
        return self._ways[depth]

    def losses(self, nodes: Ints) -> Array:
        """What is lost from the points of each node to its cell, shape (m,)."""
        depths = self.tree.depths[nodes]
        known = {depth: self.way(depth)[1] for depth in np.unique(depths).tolist()}
        return np.array([known[depth] for depth in depths.tolist()])

    def centres(self, nodes: Ints) -> Array:
        """Centres of the nodes, shape (m, D)."""
        return np.asarray((self.tree.lower[nodes] + self.tree.upper[nodes]) / 2)

    def corners(self, nodes: Ints) -> Array:
        """The points that bound these nodes, each once, shape (p, D)."""
        return np.asarray(self._points.view[np.unique(self._rows.view[nodes])])

    def _append(self, node: int, low: float, high: float) -> None:
        lower, upper = self.tree.lower[node], self.tree.upper[node]
        if self.way(self.tree.depth(node))[0]:
            assert self._corners is not None
            rows = [self._row(point) for point in np.where(self._corners > 0, upper, lower)]
        else:
            rows = [self._row((lower + upper) / 2)] * self._rows.values.shape[1]
        self._rows.append(rows)
        self._low.append(low)
        self._high.append(high)

    def _row(self, point: Array) -> int:
        row = self._row_of.setdefault(point.tobytes(), len(self._points))
        if row == len(self._points):
            self._points.append(point)
            self._point_low.append(-self.assumptions.ceiling)
            self._point_high.append(self.assumptions.ceiling)
            self._point_seen.append(-1)
        return row

    # --- what is known

    def low(self, nodes: Ints) -> Array:
        """Stored lower bounds of f over nodes, shape (m,)."""
        return np.asarray(self._low.view[nodes])

    def high(self, nodes: Ints) -> Array:
        """Stored upper bounds of f over nodes, shape (m,)."""
        return np.asarray(self._high.view[nodes])

    def labels(self, nodes: Ints) -> Ints:
        """`ABOVE` where low > threshold - accuracy, `BELOW` where high < threshold + accuracy [G13].

        Of a cell for which both hold, f stays within the accuracy of the threshold: the nearer side is its label.
        """
        low, high = self.low(nodes), self.high(nodes)
        above, below = low > self.threshold - self.accuracy, high < self.threshold + self.accuracy
        nearer = np.where(low + high >= 2 * self.threshold, ABOVE, BELOW)
        return np.where(above & below, nearer, np.where(above, ABOVE, np.where(below, BELOW, UNDECIDED)))

    def undecided(self) -> Ints:
        """The leaves whose label is not known."""
        leaves = self.tree.leaves()
        return np.asarray(leaves[self.labels(leaves) == UNDECIDED])

    def widths(self, nodes: Ints) -> Array:
        """Half-widths of the intervals at the points of nodes, averaged over each node's points; shape (m,)."""
        rows = self._rows.view[nodes]
        return np.asarray((self._point_high.view[rows] - self._point_low.view[rows]).mean(axis=1) / 2)

    # --- data

    def add(self, x: Array, values: Array) -> None:
        """Take in what was measured at x (D,), shape (r,), each value an observation of its own."""
        X = np.repeat(x[None], len(values), axis=0)
        self.band.add(X, values)
        self.tree.add_many(X)
        self.values.extend(values.tolist())
        self._average(self.tree.locate(x))

    def _average(self, node: int) -> None:
        """Sharpen an undecided cell's bounds by the average of what was observed in it."""
        if not self.average_delta or not self.tree.count(node) or self.labels(np.array([node]))[0] != UNDECIDED:
            return
        rows = self.tree.observations(node)
        X = self.tree.points[rows]
        farthest = np.maximum(X - self.tree.lower[node], self.tree.upper[node] - X)
        share = self.average_delta * cell_share(self.tree.depth(node))
        reach = average_half_width(len(rows), self.assumptions.noise, share)
        reach += float(self.assumptions.variation(farthest).mean())
        mean = sum(self.values[row] for row in rows.tolist()) / len(rows)
        self._low.values[node] = max(self._low.values[node], mean - reach)
        self._high.values[node] = min(self._high.values[node], mean + reach)
        self._check(np.array([node]))

    def _check(self, nodes: Ints) -> None:
        """Reject the assumptions where no value of f is left over a cell; the first reason stays."""
        if Interval(self.low(nodes), self.high(nodes)).is_empty(self.assumptions.ceiling):
            self._rejection = self.rejection or self.band.rejected_because(
                "no value of f is left over some cell", self.delta
            )

    @property
    def rejection(self) -> str | None:
        """Why the data reject the assumptions, or None: what bounds have shown, else what the band knows."""
        return self.band.rejection if self._rejection is None else self._rejection

    # --- bounds

    def refresh(self) -> None:
        """Bring the bounds of undecided cells up to the data; those that are decided stay as they are."""
        leaves = self.undecided()
        rows = np.unique(self._rows.view[leaves])
        stale = rows[self._point_seen.view[rows] < len(self.values)]
        if len(stale):
            interval = self.band.interval(self._points.view[stale])
            if self._rejection is None:
                self._rejection = contradiction(self.band, empty=interval.is_empty(self.assumptions.ceiling))
            self._point_low.values[stale] = np.maximum(self._point_low.view[stale], interval.lower)
            self._point_high.values[stale] = np.minimum(self._point_high.view[stale], interval.upper)
            self._point_seen.values[stale] = len(self.values)
        at, lost = self._rows.view[leaves], self.losses(leaves)
        self._low.values[leaves] = np.maximum(self.low(leaves), self._point_low.view[at].min(axis=1) - lost)
        self._high.values[leaves] = np.minimum(self.high(leaves), self._point_high.view[at].max(axis=1) + lost)
        self._check(leaves)
        self.brought_to = len(self.values)

    def split(self, node: int) -> None:
        """Halve a cell; its children begin with its bounds."""
        children = self.tree.split(node)
        for child in children:
            self._append(child, float(self._low.values[node]), float(self._high.values[node]))
            self._average(child)

    def split_to(self, depth: int) -> None:
        """Halve all cells until they have this depth."""
        for node in range(2**depth - 1):  # nodes are numbered in order of birth: all of one depth before the next
            self.split(node)

    def refine(self, share: float) -> None:
        """Bring bounds up to the data, halving undecided cells while more than a share of the width is lost in them.

        The rule of [SJ19, algorithm 1] is a share of 1: a cell is halved when the interval at its centre is narrower
        than what f can vary by within. Halving costs no evaluation, so a smaller share decides more cells from the
        same observations. The number of cells may grow with that of the observations, the largest cells first.
        """
        self.refresh()
        while True:
            room = min(self.max_cells, _FIRST + _EACH * len(self.values)) - self.tree.n_leaves
            leaves = self.undecided()
            sides = (self.tree.upper[leaves] - self.tree.lower[leaves]).max(axis=1)
            due = leaves[(self.losses(leaves) > share * self.widths(leaves)) & (sides > _NARROWEST)]
            due = due[np.argsort(self.tree.depths[due], kind="stable")[: max(room, 0)]]
            if not len(due):
                return
            for node in due.tolist():
                self.split(node)
            self.refresh()


def curvature(given: Assumptions) -> Array | None:
    """B s sqrt(m_4) / (8 theta_i^2) for each axis, shape (D,) or (1,); None where the kernel has no such moment."""
    if not isinstance(given.kernel, Stationary):
        return None
    try:
        moment = given.kernel.moment(2)
    except NotAvailable:
        return None
    return np.asarray(given.ceiling * np.sqrt(moment) / (8 * np.atleast_1d(given.kernel.lengthscales) ** 2))
