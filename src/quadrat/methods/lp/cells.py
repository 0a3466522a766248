"""The cells of LP-GP-UCB with their upper bounds: what Algorithm 1 keeps between rounds, in the form that holds.

For a cell E, U_E = min(parent's U at the split, own earlier U_E, Gaussian-process bound, average bound, polynomial
bounds). Every term holds for all times at once, so minima over time are bounds again: U_E is stored and only falls.
Only told data enter it.

Stored bounds cost nothing, Gaussian-process bounds cost a posterior: `look` evaluates those in descending order of the
stored bound, only while one of them could still win. It finds the same cell as evaluating all. It stores nothing, so
that an answer can be asked for at any time; the loop of Algorithm 1 stores what it has seen (`keep`).
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from quadrat.arrays import Array, Bools, Ints
from quadrat.confidence import (
    AdaptiveBand,
    Assumptions,
    DeltaBudget,
    Interval,
    LocalBand,
    LocalPolynomial,
    average_half_width,
)
from quadrat.confidence.bands import SearchBand, contradiction
from quadrat.confidence.contextual_band import ContextualBand
from quadrat.confidence.slices import SliceAssumptions
from quadrat.partition import MAX_CELLS, PartitionTree

__all__ = ["BOUNDS", "CellBounds", "Condition", "Look", "Sharper", "parts_of"]

BOUNDS = ("norm", "parent", "posterior", "average", "polynomial")
"""Where a stored bound can come from; `CellBounds.source` holds indices into it."""

_BATCH = 8  # cells whose posterior bounds are asked for at a time
_PARTS = (4, 4, 4)  # halvings that divide a cell into parts, for D = 1, 2, 3: 16 posteriors a cell; none above


@dataclass(frozen=True)
class Condition:
    """Why a cell is split: the line of Algorithm 1, and whether its polynomial serves the children (flag 2)."""

    line: str
    polynomial: bool = False


@dataclass(frozen=True)
class Sharper:
    """Posterior bounds (m,) of nodes (m,), from the data as they are; `posteriors` were evaluated for them."""

    nodes: Ints
    bounds: Array
    posteriors: int


@dataclass(frozen=True)
class Look:
    """The leaf with the largest index, and what was evaluated to find it.

    Attributes
    ----------
    leaf
        Its node.
    index
        Its index: U_E with the data as they are, or what a context or pending points make of it.
    sharper
        The posterior bounds that were evaluated on the way and hold over whole cells: what may be stored.
    posteriors
        How many Gaussian-process bounds were evaluated in all.
    """

    leaf: int
    index: float
    sharper: tuple[Sharper, ...]
    posteriors: int


def parts_of(sides: Array, assumptions: Assumptions | SliceAssumptions) -> tuple[Array, float]:
    """Divide a box with these sides (D,) into parts, where it has few dimensions; in others it is its only part.

    Returns their centres in the box's own coordinates, shape (S, D), and omega of half a part.
    """
    sides = sides.copy()
    places, width = np.full((1, len(sides)), 0.5), np.ones(len(sides))
    rule = assumptions.axis_rule()
    for _ in range(_PARTS[len(sides) - 1] if len(sides) <= len(_PARTS) else 0):
        axis = rule(sides)
        sides[axis] /= 2
        width[axis] /= 2
        shift = np.zeros(len(sides))
        shift[axis] = width[axis] / 2
        places = np.concatenate([places - shift, places + shift])
    return places, float(assumptions.variation(sides / 2))


class CellBounds:
    """A partition of the cube, what was observed in it, and an upper bound of f over every cell.

    Parameters
    ----------
    assumptions
        Kernel, B, sigma.
    dimension
        D.
    delta
        The budget; `degree` >= 1 adds polynomials of that degree to it.
    degree
        k.
    max_cells
        A cap on the cells; when it is reached, cells are evaluated instead of split.
    capacity
        Points of a certified band, from which on its cell is divided (`LocalBand`); None is one band for all.
    fixed
        Which axes are contexts, shape (D,): where one band is for all, contexts have bands of their own too
        (`ContextualBand`). None where no axis is.
    band
        The certified one by default. With another, nothing is clipped to B s and nothing is certified.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        dimension: int,
        *,
        delta: float,
        degree: int,
        max_cells: int = MAX_CELLS,
        capacity: int | None = None,
        fixed: Bools | None = None,
        band: SearchBand | None = None,
    ) -> None:
        self.assumptions = assumptions
        self.degree = degree
        self.budget = DeltaBudget(delta, (degree,) if degree else ())
        self.band: SearchBand
        if band is not None:
            self.band = band
        elif capacity is not None:
            self.band = LocalBand(assumptions, self.budget.band, dimension, capacity=capacity)
        elif fixed is not None:
            self.band = ContextualBand(assumptions, self.budget.band, fixed)
        else:
            self.band = AdaptiveBand(assumptions, self.budget.band)
        self.tree = PartitionTree(dimension, axis_rule=assumptions.axis_rule(), max_cells=max_cells)
        self.max_cells = max_cells
        self.upper: Array = np.array([assumptions.ceiling if band is None else np.inf])  # by node
        self.source: Ints = np.zeros(1, dtype=np.intp)
        self.target: Ints = np.zeros(1, dtype=np.intp)  # depth down to which a node is refined without evaluating
        self.values: list[float] = []  # by observation
        self.posteriors = 0  # Gaussian-process bounds evaluated so far
        self._fresh: Array = np.zeros(1)  # the version of the data that a node's posterior bound was computed from
        self._version = 1
        self._next_choice = 1
        self._rejection: str | None = None  # what the loop has found at points that it looked at
        self._half: dict[int, float] = {}
        self._whole: dict[int, float] = {}
        self._divided: dict[int, tuple[Array, float]] = {}

    # --- geometry, by depth: all cells of one depth are alike

    def half_variation(self, node: int) -> float:
        """omega(H): how far f can be from its value at the centre."""
        depth = self.tree.depth(node)
        if depth not in self._half:
            self._half[depth] = self.assumptions.half_variation(self.tree.cell(node))
        return self._half[depth]

    def variation(self, node: int) -> float:
        """omega(diam E): how much f can vary over the cell."""
        depth = self.tree.depth(node)
        if depth not in self._whole:
            self._whole[depth] = self.assumptions.cell_variation(self.tree.cell(node))
        return self._whole[depth]

    def approximation(self, node: int) -> float:
        """B s rho_k(H), how far f can be from its Taylor polynomial; omega(H) for k = 0."""
        if self.degree == 0:
            return self.half_variation(node)
        given = self.assumptions
        remainder = given.kernel.taylor_remainder(self.tree.cell(node).half_diagonal, self.degree)
        return given.norm_bound * float(remainder)

    def centres(self, nodes: Ints) -> Array:
        """Centres of the nodes, shape (m, D)."""
        return np.asarray((self.tree.lower[nodes] + self.tree.upper[nodes]) / 2)

    # --- data

    def add(self, x: Array, values: Array) -> None:
        """Take in what was measured at x, shape (r,), each value an observation of its own."""
        self.add_many(np.repeat(x[None], len(values), axis=0), values)
        leaf = self.tree.locate(x)
        self._lower_to(leaf, self._average(leaf), "average")

    def add_many(self, X: Array, values: Array) -> None:
        """Take in many observations at once, shapes (r, D) and (r,); averages follow when cells are next split."""
        self.band.add(X, values)
        self.tree.add_many(X)
        self.values.extend(values.tolist())
        if len(self.values) >= self._next_choice:  # which regularisers bound best changes slowly
            self.band.prefer(X[-1:])
            self._next_choice = len(self.values) * 9 // 8 + 1
        self._version += 1

    def observed(self, node: int) -> tuple[Array, Array]:
        """Return the observations in a cell: points (N, D) and values (N,)."""
        rows = self.tree.observations(node)
        return np.asarray(self.tree.points[rows]), np.array([self.values[row] for row in rows])

    def _average(self, node: int) -> float:
        """The average bound of a cell (`cell_average`, without checking again what the tree guarantees)."""
        rows = self.tree.observations(node)
        X = self.tree.points[rows]
        farthest = np.maximum(X - self.tree.lower[node], self.tree.upper[node] - X)
        spread = float(self.assumptions.variation(farthest).mean())
        total = sum(self.values[row] for row in rows.tolist())
        return float(total / len(rows)) + self.average_width(node) + spread

    def average_width(self, node: int) -> float:
        """b(E)."""
        share = self.budget.average(self.tree.depth(node))
        return average_half_width(int(self.tree.count(node)), self.assumptions.noise, share)

    # --- rejection

    @property
    def rejection(self) -> str | None:
        """Why the data reject the assumptions, or None: what the loop has found, else what the band knows."""
        return self.band.rejection if self._rejection is None else self._rejection

    def note(self, at: Interval) -> None:
        """Record it where bounds of the band that the loop has looked at leave no value of f; the first reason stays.

        An answer does not record what it finds: what is recorded depends on what was asked for and told alone.
        """
        if self._rejection is None and at.is_empty(self.assumptions.ceiling):
            self._rejection = contradiction(self.band, empty=True)

    # --- bounds

    def _lower_to(self, node: int, bound: float, source: str) -> None:
        if bound < self.upper[node]:
            self.upper[node] = bound
            self.source[node] = BOUNDS.index(source)

    def refresh(self, nodes: Ints) -> None:
        """Bring the stored bounds of these nodes up to the data: one posterior at each centre of a part."""
        self._store(self.sharper(nodes))

    def sharper(self, nodes: Ints) -> Sharper:
        """Return the posterior bounds of those nodes whose stored bounds have not seen all data; store nothing."""
        stale = nodes[self._fresh[nodes] < self._version]
        return self._posterior_bounds(stale)

    def _store(self, found: Sharper) -> None:
        for node, bound in zip(found.nodes.tolist(), found.bounds.tolist(), strict=True):
            self._lower_to(node, bound, "posterior")
        self._fresh[found.nodes] = self._version
        self.posteriors += found.posteriors

    def _posterior_bounds(self, nodes: Ints) -> Sharper:
        """max over the parts of a cell of (upper bound at the part's centre + omega of half the part), for each node.

        One part, the cell itself, is the printed u^(1); more are sharper, and affordable in few dimensions.
        """
        if not len(nodes):
            return Sharper(nodes, np.empty(0), 0)
        reach = [self._parts(node)[1] for node in nodes.tolist()]
        points = np.concatenate([self.parts(node) for node in nodes.tolist()])
        upper = self.band.quick_upper(points).reshape(len(nodes), -1)
        return Sharper(nodes, np.asarray(upper.max(1) + reach), upper.size)

    def parts(self, node: int) -> Array:
        """Centres of the parts of a cell, shape (S, D): where it is bounded, and where it is evaluated."""
        lower, upper = self.tree.lower[node], self.tree.upper[node]
        return np.asarray(lower + self._parts(node)[0] * (upper - lower))

    def _parts(self, node: int) -> tuple[Array, float]:
        """Centres of the parts of a cell, in the cell's own coordinates (S, D), and omega of half a part; by depth."""
        depth = self.tree.depth(node)
        if depth not in self._divided:
            self._divided[depth] = parts_of(self.tree.cell(node).sides, self.assumptions)
        return self._divided[depth]

    def look(self, pending: Array | None = None) -> Look:
        """Find the leaf with the largest U_E, of several the oldest, evaluating as little as it can; store nothing.

        Where points are `pending`, (p, D), they count as observed in the posterior bounds. What comes out is then an
        index and no bound. It is at most the stored bound, so that the same descending search applies.
        """
        leaves = self.tree.leaves()
        index = self.upper[leaves].copy()
        known = np.zeros(len(leaves), dtype=np.bool_) if pending is not None else self._fresh[leaves] == self._version
        found: list[Sharper] = []
        with self.band.pending(pending) if pending is not None else nullcontext():
            while not known[top := int(np.argmax(index))]:
                stale = np.flatnonzero(~known)
                some = stale[np.argsort(-index[stale], kind="stable")[:_BATCH]]
                found.append(self._posterior_bounds(leaves[some]))
                index[some], known[some] = np.minimum(index[some], found[-1].bounds), True
        may_be_stored = tuple(found) if pending is None else ()
        return Look(int(leaves[top]), float(index[top]), may_be_stored, sum(each.posteriors for each in found))

    def keep(self, look: Look) -> int:
        """Store the bounds that a look has found, count its posteriors and return its leaf."""
        for found in look.sharper:
            self._store(found)
        self.posteriors += look.posteriors - sum(found.posteriors for found in look.sharper)
        return look.leaf

    def highest(self) -> int:
        """Return the leaf with the largest U_E, of several the oldest; what was evaluated to find it is stored."""
        return self.keep(self.look())

    def describe(self) -> list[dict[str, object]]:
        """Every cell with its box, its stored bound and where that came from, all bounds as of now, and its points."""
        leaves = self.tree.leaves()
        posterior = self._posterior_bounds(leaves).bounds
        found: list[dict[str, object]] = []
        for node, bound in zip(leaves.tolist(), posterior.tolist(), strict=True):
            model = self.tree.nearest_model(node)
            polynomial = model.upper(self.tree.cell(node)) if isinstance(model, LocalPolynomial) else None
            found.append(
                {
                    "lower": self.tree.lower[node].tolist(),
                    "upper": self.tree.upper[node].tolist(),
                    "depth": int(self.tree.depth(node)),
                    "bound": float(self.upper[node]),
                    "active": BOUNDS[self.source[node]],
                    "posterior": bound,
                    "average": self._average(node) if self.tree.count(node) else None,
                    "polynomial": polynomial,
                    "points": int(self.tree.count(node)),
                    "observations": self.tree.observations(node).tolist(),
                }
            )
        return found

    # --- splitting (Algorithm 2)

    def expand(self, node: int, condition: Condition) -> None:
        """Halve a cell. Children start from their parent's bound; with flag 2, from its polynomial too."""
        if condition.polynomial:
            X, y = self.observed(node)
            share = self.budget.polynomial(self.degree, self.tree.depth(node))
            model = LocalPolynomial(
                self.tree.cell(node), X, y, degree=self.degree, assumptions=self.assumptions, delta=share
            )
            self.tree.attach(node, model)
            self.target[node] = self._refined_depth(node, model.largest_error())
        children = self.tree.split(node)
        grown = self.tree.n_nodes - len(self.upper)
        self.upper = np.concatenate([self.upper, np.full(grown, self.upper[node])])
        self.source = np.concatenate([self.source, np.full(grown, BOUNDS.index("parent"))])
        self.target = np.concatenate([self.target, np.full(grown, self.target[node])])
        self._fresh = np.concatenate([self._fresh, np.zeros(grown)])
        inherited = self.tree.nearest_model(node)
        for child in children:
            if self.tree.count(child):
                self._lower_to(child, self._average(child), "average")
            if isinstance(inherited, LocalPolynomial):
                self._lower_to(child, inherited.upper(self.tree.cell(child)), "polynomial")

    def _refined_depth(self, node: int, error: float) -> int:
        """r tilde (Algorithm 2, line 8): halve until the variation over a cell is below the polynomial's error."""
        sides = self.tree.cell(node).sides.copy()
        rule = self.assumptions.axis_rule()
        depth = self.tree.depth(node)
        while True:
            sides[rule(sides)] /= 2
            depth += 1
            if float(self.assumptions.variation(sides)) <= error or depth >= self.tree.depth(node) + 4 * len(sides):
                return depth

    @property
    def is_full(self) -> bool:
        """Whether the cap on cells forbids another split."""
        return self.tree.n_leaves + 1 > self.max_cells
