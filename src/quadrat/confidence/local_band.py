"""A certified band for many observations: each cell of a dyadic family has its own, from what was observed near it.

`AdaptiveBand` holds for any observations that are picked by their points alone: whether one counts is then settled
before its noise is drawn, and the supermartingale behind the band does not notice the ones that are left out. So for
every cell of the fixed dyadic family there is a band from the observations in the cell and its surroundings, and with
the share `cell_share` of delta each, all of these bands hold at once, however deep. Which of them are looked at may
depend on the data: a cell's band is replaced by those of its two halves when it has more than `capacity` points.

What that costs and what it buys. A cell that J halvings made spends log(1/delta) + J log 2 + 2 log(J + 1) + .5 where a
band of all observations spends log(1/delta); and it does not know what was observed further away. But that was of
little use to it, and its width no longer contains what all the other observations have gained: log det(I + K/lambda)
is taken over its own alone. In runs of LP-GP-UCB, which comes back to the same points, this is narrower by a tenth;
where no point repeats it is wider, near a maximum by a fifth (tests/paper/test_widths.py). Each point costs
O(capacity^2) instead of O(n^2) (benchmarks/results/local_bands.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Growing, Ints, as_number, as_vector
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.bands import AdaptiveBand, rejection_at
from quadrat.confidence.budget import as_probability, cell_share
from quadrat.confidence.interval import Interval
from quadrat.errors import InvalidInput
from quadrat.partition import PartitionTree
from quadrat.partition.unit_cube import as_count, as_unit_points

__all__ = ["CAPACITY", "LocalBand"]

CAPACITY = 128
"""Distinct points of a cell's band from which on its halves have bands of their own."""

SURROUNDINGS = 0.25
"""How far beyond a cell's faces observations count for it, in units of its sides."""

_NARROWEST = 2.0**-50  # a cell with a shorter side stays as it is: it could not be halved exactly
_DEEPEST = 300  # halvings: in many dimensions sides stay long, but a share of delta must not vanish


class LocalBand:
    """A band for all points and all times at once, made of the bands of cells.

    Parameters
    ----------
    assumptions
        Kernel, B and sigma.
    delta
        Probability with which any of the bands may fail, in (0, 1).
    dimension
        D, >= 1.
    capacity
        A cell with more distinct points than this has its halves' bands instead of its own.
    surroundings
        How far around a cell observations count for it, as a share of its sides.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band = LocalBand(given, delta=0.05, dimension=1, capacity=16)
    >>> band.add(np.linspace(0, 1, 60)[:, None], np.linspace(0, 0.3, 60))
    >>> band.cells > 1, bool(band.interval([[0.5]]).half_width[0] < 0.2)
    (True, True)
    """

    def __init__(
        self,
        assumptions: Assumptions,
        delta: float,
        dimension: int,
        *,
        capacity: int = CAPACITY,
        surroundings: float = SURROUNDINGS,
    ) -> None:
        self.assumptions = assumptions
        self.delta = as_probability(delta)
        self.capacity = as_count(capacity, name="capacity", at_least=2)
        self.surroundings = as_number(surroundings, name="surroundings", at_least=0.0)
        self._tree = PartitionTree(dimension, axis_rule=assumptions.axis_rule())
        assumptions.kernel.check_dimension(dimension)
        self._observed, self._values = Growing(np.float64, (dimension,)), Growing(np.float64)
        self._x = Growing(np.float64, (dimension,))
        self._known: set[bytes] = set()
        self._members: dict[int, list[int]] = {0: []}  # leaf: the distinct points that belong to it
        self._born: dict[int, int] = {0: 0}  # leaf: how many observations there were when it came to be
        self._bands: dict[int, tuple[AdaptiveBand, int]] = {}  # leaf: its band, and how many observations that has seen
        self._rejected: dict[int, tuple[int, str]] = {}  # node: after how many observations its band rejected, and why
        self._unread: list[tuple[int, int]] = []  # nodes divided before anybody asked for their band, and when
        self._pending: list[_Pending] = []

    @property
    def cells(self) -> int:
        """How many cells have a band."""
        return self._tree.n_leaves

    def _band(self, leaf: int, count: int | None = None) -> AdaptiveBand:
        """Return the band of a leaf with all that was observed near it, or with the first `count` observations.

        Bands follow when they are asked for: most observations are near cells that nobody asks about. What was there
        when the cell came to be is taken in at once, what came later one by one, so that a band is the same to the last
        bit whenever it is asked for.
        """
        if leaf in self._bands:
            band, seen = self._bands[leaf]
        else:
            band, seen = AdaptiveBand(self.assumptions, self.delta * cell_share(self._tree.depth(leaf))), 0
        count = len(self._observed) if count is None else count
        if seen < count:
            first = min(self._born[leaf], count)
            if seen < first:
                rows = self._belong(leaf, self._observed.view[:first])
                if len(rows):
                    band.add(self._observed.view[rows], self._values.view[rows])
                self._bands[leaf], seen = (band, first), first
                self._note(leaf)
            for row in (seen + self._belong(leaf, self._observed.view[seen:count])).tolist():
                band.add(self._observed.view[row : row + 1], self._values.view[row : row + 1])
                self._bands[leaf] = band, row + 1
                self._note(leaf)
        self._bands[leaf] = band, count
        return band

    def _points(self, X: ArrayLike) -> Array:
        return as_unit_points(X, dimension=self._tree.dimension, name="X")

    # --- data

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at points X of the cube, shape (k, D)."""
        if self.is_hallucinating:
            raise InvalidInput("add: expected no pending points, got some; leave the `pending` block first")
        points = self._points(X)
        values = as_vector(y, length=len(points), name="y")
        before = len(self._observed)
        self._observed.extend(points)
        self._values.extend(values)
        for count, point in enumerate(points + 0.0, before + 1):
            key = point.tobytes()
            if key not in self._known:
                self._known.add(key)
                self._x.append(point)
                near = self._near(point[None, :]).tolist()
                for leaf in near:
                    self._members[leaf].append(len(self._x) - 1)
                self._divide(near, count)

    def _divide(self, leaves: list[int], count: int) -> None:
        """Replace those of the leaves that are full after `count` observations by their halves, and so on.

        What the band of a leaf has rejected until then stays. A band that nobody has asked for is made when `rejection`
        is: so that is the same whoever looked where, and cells that nobody asks about cost nothing.
        """
        full = [leaf for leaf in leaves if self._is_full(leaf)]
        while full:
            leaf = full.pop()
            if leaf in self._bands:
                self._read(leaf, count)
            else:
                self._unread.append((leaf, count))
            members = np.array(self._members.pop(leaf))
            for child in self._tree.split(leaf):
                self._members[child] = members[self._belong(child, self._x.view[members])].tolist()
                self._born[child] = len(self._observed)
                if self._is_full(child):
                    full.append(child)

    def _is_full(self, leaf: int) -> bool:
        if len(self._members[leaf]) <= self.capacity:
            return False
        shortest = (self._tree.upper[leaf] - self._tree.lower[leaf]).min()
        return bool(shortest >= _NARROWEST and self._tree.depth(leaf) < _DEEPEST)

    def _near(self, points: Array) -> Ints:
        """Return the leaves that any of the points (k, D) belongs to."""
        leaves = self._tree.leaves()
        lower, upper = self._reach(leaves)
        inside = (points[:, None] >= lower) & (points[:, None] <= upper)
        return np.asarray(leaves[inside.all(axis=2).any(axis=0)])

    def _belong(self, leaf: int, points: Array) -> Ints:
        """Return which points (k, D) belong to a leaf: decided by the points alone."""
        lower, upper = self._reach(np.array([leaf]))
        return np.flatnonzero(((points >= lower) & (points <= upper)).all(axis=1))

    def _reach(self, leaves: Ints) -> tuple[Array, Array]:
        """Corners of the boxes (m, D) that leaves (m,) see."""
        lower, upper = self._tree.lower[leaves], self._tree.upper[leaves]
        around = self.surroundings * (upper - lower)
        return lower - around, upper + around

    @property
    def x(self) -> Array:
        """Distinct observed points, shape (n, D)."""
        return self._x.view

    # --- rejection

    @property
    def rejection(self) -> str | None:
        """Why what was added rejects the assumptions, or None: all bands are asked, and the first reason stays."""
        while self._unread:
            self._read(*self._unread[-1])
            self._unread.pop()
        for leaf in self._tree.leaves().tolist():
            self._band(leaf)
        if not self._rejected:
            return None
        return self._rejected[min(self._rejected, key=lambda node: (self._rejected[node][0], node))][1]

    def _read(self, node: int, count: int) -> None:
        """Note what the band of a node rejects with the first `count` observations, and forget the band."""
        self._band(node, count)
        del self._bands[node]

    def _note(self, leaf: int) -> None:
        """Write down when and why the band of a leaf has rejected: what it rejects once it rejects for ever."""
        band, seen = self._bands[leaf]
        if band.rejection is not None:
            self._rejected.setdefault(leaf, (seen, band.rejection))

    def rejected_because(self, why: str, level: float | None = None) -> str | None:
        """As of `AdaptiveBand`: `why`, at the delta of all bands together or another `level`."""
        return rejection_at(self.delta if level is None else level, why)

    # --- pending points

    @contextmanager
    def pending(self, X: ArrayLike) -> Iterator[None]:
        """Within the block deviations count the rows of X as observed: good for choosing, not a bound on anything."""
        with ExitStack() as stack:
            self._pending.append(_Pending(self._points(X), stack))
            try:
                yield
            finally:
                del self._pending[-1]

    @property
    def is_hallucinating(self) -> bool:
        """Whether pending points count as observed just now."""
        return bool(self._pending)

    # --- bounds

    def _by_cell(self, points: Array) -> Iterator[tuple[AdaptiveBand, Ints, Array]]:
        """Yield the band of each cell that holds some of the points (m, D), which of them, and these."""
        homes = self._tree.locate_many(points)
        for leaf in np.unique(homes).tolist():
            rows = np.flatnonzero(homes == leaf)
            band = self._band(leaf)
            for block in self._pending:
                block.enter(leaf, band, self._belong(leaf, block.points))
            yield band, rows, points[rows]

    def prefer(self, X: ArrayLike) -> None:
        """As of `AdaptiveBand`, for the cells that hold the rows of X."""
        for band, _, points in self._by_cell(self._points(X)):
            band.prefer(points)

    def quick_upper(self, X: ArrayLike) -> Array:
        """Return upper bounds at the rows of X, shape (m,); as of `AdaptiveBand`."""
        return np.minimum(self.optimism(X), self.assumptions.ceiling)

    def optimism(self, X: ArrayLike) -> Array:
        """Return upper bounds at the rows of X before they are clipped, shape (m,); as of `AdaptiveBand`."""
        points = self._points(X)
        result = np.empty(len(points))
        for band, rows, some in self._by_cell(points):
            result[rows] = band.optimism(some)
        return result

    def sharpened(self, X: ArrayLike, x: ArrayLike, z: ArrayLike) -> Array:
        """As of `AdaptiveBand` for x, by the band of the cell of z; 0 for rows of X that do not count for it."""
        points, there = self._points(X), self._points(np.asarray(z, dtype=np.float64)[None])
        home = self._tree.locate(there[0])
        result = np.zeros(len(points))
        near = self._belong(home, points)
        result[near] = next(self._by_cell(there))[0].sharpened(points[near], x, there[0])
        return result

    def mean(self, X: ArrayLike) -> Array:
        """Return the posterior mean at the rows of X, shape (m,); as of `AdaptiveBand`."""
        points = self._points(X)
        result = np.empty(len(points))
        for band, rows, some in self._by_cell(points):
            result[rows] = band.mean(some)
        return result

    def interval(self, X: ArrayLike) -> Interval:
        """Return bounds on f at the rows of X, shape (m, D)."""
        points = self._points(X)
        lower, upper = np.empty((2, len(points)))
        for band, rows, some in self._by_cell(points):
            at = band.interval(some)
            lower[rows], upper[rows] = at.lower, at.upper
        return Interval(lower, upper)

    def compare(self, X: ArrayLike, z: ArrayLike) -> tuple[Interval, Array]:
        """As of `AdaptiveBand` at the rows of X: of the bands of the cells of x and of z the smaller bound counts."""
        points = self._points(X)
        there = self._points(np.asarray(z, dtype=np.float64)[None])
        at = self.interval(points)
        apart = at.upper - float(self.interval(there).lower[0])
        home = next(self._by_cell(there))[0]
        for band, rows, some in self._by_cell(points):
            bands = (band,) if band is home else (band, home)
            for each in bands:
                apart[rows] = np.minimum(apart[rows], each.compare(some, there[0])[1])
        return at, apart


class _Pending:
    """A block in which points (k, D) are pending: a band enters it when it is first asked."""

    def __init__(self, points: Array, stack: ExitStack) -> None:
        self.points = points
        self._stack = stack
        self._entered: set[int] = set()

    def enter(self, leaf: int, band: AdaptiveBand, rows: Ints) -> None:
        """Let a leaf's band count those of the points that belong to it."""
        if leaf not in self._entered:
            self._entered.add(leaf)
            if len(rows):
                self._stack.enter_context(band.pending(self.points[rows]))
