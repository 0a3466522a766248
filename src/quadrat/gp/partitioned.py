"""Independent Gaussian processes on the cells of a partition that is refined where observations gather.

[JBG20]: Janz, Burt and González (2020). Bandit optimisation of functions in the Matérn kernel RKHS. AISTATS.

Each cell has a process of its own, which knows the observations inside it and nothing else. When a cell has as many as
the rule of `quadrat.gp.splitting` lets it hold, it is split, and its observations are passed on. An observation costs
O(m^2) for a cell of m, and a split the factors of its parts. Neighbours tell each other nothing:
the mean jumps at faces, and a new cell without observations is back at the prior.

Cells are half-open, [lower, upper), so that every point belongs to one. The outermost reach beyond the cube.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, Ints, as_number, as_points, as_vector
from quadrat.errors import InvalidInput
from quadrat.gp.observations import as_variances
from quadrat.gp.posterior import GaussianProcess
from quadrat.gp.prediction import Prediction
from quadrat.gp.splitting import SplittingRule

__all__ = ["PartitionedProcess", "ProcessCell"]


@dataclass(eq=False)
class ProcessCell:
    """One cell and the process of its observations; cells are numbered as they were made, from 0, the cube.

    `lower` and `upper` are corners, each (D,); the upper faces belong to the neighbours, those of the cube to the cell.
    `depth` counts the halvings that made it.
    """

    number: int
    lower: Array
    upper: Array
    depth: int
    gp: GaussianProcess
    _axes: tuple[int, ...] = ()  # that it was halved along; empty for a leaf
    _children: tuple[ProcessCell, ...] = ()
    # Observations one by one, in the order of telling: a split passes them on unmerged.
    _told: list[tuple[Array, float, float]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """N_A, the number of observations inside, repeats counted."""
        return len(self._told)

    @property
    def gain(self) -> float:
        """The information gained inside, log det(I + K_A/lambda)/2, in nats."""
        return 0.5 * self.gp.logdet

    @property
    def last(self) -> Array:
        """The largest point of the cell, (D,)."""
        return np.where(self.upper == 1.0, 1.0, np.nextafter(self.upper, -np.inf))

    def _parts(self, points: Array) -> Ints:
        """The number of the child that each point belongs to, shape (m,)."""
        part = np.zeros(len(points), dtype=np.intp)
        for bit, axis in enumerate(self._axes):
            part |= (points[:, axis] >= 0.5 * (self.lower[axis] + self.upper[axis])).astype(np.intp) << bit
        return part


class PartitionedProcess:
    """A posterior made of one Gaussian process for each cell of a partition [JBG20].

    It has the methods of `GaussianProcess`. Observations are taken in one by one: the same ones in the same order give
    the same bits.

    Parameters
    ----------
    rule
        The kernel of every cell, and when and how a cell is split.
    noise_variance, mean
        As of `GaussianProcess`, for every cell.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> rule = SplittingRule(Matern(1.5, 0.3), dimension=1, smoothness=1.5, capacity=4)
    >>> process = PartitionedProcess(rule, noise_variance=0.01)
    >>> process.add([[0.1], [0.2], [0.6], [0.9]], [0.0, 0.3, 1.0, 0.4])
    >>> [(cell.lower.tolist(), cell.upper.tolist(), cell.count) for cell in process.cells]
    [([0.0], [0.5], 2), ([0.5], [1.0], 2)]
    """

    def __init__(self, rule: SplittingRule, *, noise_variance: float, mean: float = 0.0) -> None:
        if not isinstance(rule, SplittingRule):
            raise InvalidInput(f"rule: expected a SplittingRule, got {rule!r}")
        self.rule = rule
        self.kernel = rule.kernel
        self.noise_variance = as_number(noise_variance, name="noise_variance", at_least=0.0)
        self.prior_mean = as_number(mean, name="mean")
        d = rule.dimension
        self._root = ProcessCell(0, np.zeros(d), np.ones(d), 0, self._empty())
        self._leaves = {0: self._root}
        self._made = 1
        self._pending = 0

    def _empty(self) -> GaussianProcess:
        return GaussianProcess(self.kernel, noise_variance=self.noise_variance, mean=self.prior_mean)

    # --- cells

    @property
    def cells(self) -> tuple[ProcessCell, ...]:
        """The cells that tile the cube now, in the order in which they were made."""
        return tuple(self._leaves.values())

    def cell(self, point: ArrayLike) -> ProcessCell:
        """Return the cell that holds a point, (D,)."""
        return self._cell_of(self._as_points(np.atleast_1d(np.asarray(point)))[0])

    def _cell_of(self, point: Array) -> ProcessCell:
        cell = self._root
        while cell._children:
            cell = cell._children[int(cell._parts(point[None, :])[0])]
        return cell

    def by_cell(self, points: Array) -> list[tuple[ProcessCell, Ints]]:
        """Return the cells that hold any of the points (m, D), each with the numbers of those it holds."""
        found: list[tuple[ProcessCell, Ints]] = []
        stack = [(self._root, np.arange(len(points)))]
        while stack:
            cell, rows = stack.pop()
            if not len(rows):
                continue
            if not cell._children:
                found.append((cell, rows))
                continue
            parts = cell._parts(points[rows])
            stack += [(child, rows[parts == i]) for i, child in enumerate(cell._children)]
        return found

    def _split(self, cell: ProcessCell) -> tuple[ProcessCell, ...]:
        """Make the children of a leaf, pass its observations on, and return them."""
        cell._axes = self.rule.axes(cell.depth)
        parts = cell._parts(np.array([x for x, _, _ in cell._told]))
        middle = 0.5 * (cell.lower + cell.upper)
        children = []
        for i in range(2 ** len(cell._axes)):
            lower, upper = cell.lower.copy(), cell.upper.copy()
            for bit, axis in enumerate(cell._axes):
                (lower if i >> bit & 1 else upper)[axis] = middle[axis]
            told = [row for row, part in zip(cell._told, parts, strict=True) if part == i]
            if len(told) == cell.count:
                gp = cell.gp  # it got everything: the factor is the same
            else:
                gp = self._empty()
                if told:
                    gp.add(*(np.array(column) for column in zip(*told, strict=True)))
            children.append(ProcessCell(self._made + i, lower, upper, cell.depth + len(cell._axes), gp, _told=told))
        cell._children = tuple(children)
        cell._told = []  # inner nodes only lead the way
        cell.gp = self._empty()
        del self._leaves[cell.number]
        self._leaves.update((child.number, child) for child in children)
        self._made += len(children)
        return cell._children

    # --- observations; cell by cell, within a cell in the order of telling

    def __len__(self) -> int:
        """Number of distinct observed points, n."""
        return sum(len(cell.gp) for cell in self._leaves.values())

    @property
    def n_observations(self) -> int:
        """Number of observations told, replicates counted one by one."""
        return sum(cell.count for cell in self._leaves.values())

    @property
    def x(self) -> Array:
        """Distinct observed points, shape (n, D)."""
        none = np.empty((0, self.rule.dimension))
        return np.concatenate([none, *(cell.gp.x for cell in self._leaves.values() if cell.count)])

    @property
    def y(self) -> Array:
        """Merged observations, shape (n,)."""
        return np.concatenate([cell.gp.y for cell in self._leaves.values()])

    @property
    def noise_variances(self) -> Array:
        """Noise variances of the merged observations, shape (n,)."""
        return np.concatenate([cell.gp.noise_variances for cell in self._leaves.values()])

    @property
    def counts(self) -> Array:
        """How many observations were merged at each point, shape (n,)."""
        return np.concatenate([cell.gp.counts for cell in self._leaves.values()])

    # --- learning

    def _as_points(self, X: ArrayLike) -> Array:
        return as_points(X, dimension=self.rule.dimension, name="X") + 0.0

    def add(self, X: ArrayLike, y: ArrayLike, noise_variance: ArrayLike | None = None) -> None:
        """Observe y (k,) at the rows of X (k, D), one after another; split cells that hold too many.

        `noise_variance` is a number or has shape (k,); the process's own is the default.
        """
        if self._pending:
            raise InvalidInput("add: expected no pending points, got some; leave the `pending` block first")
        points = self._as_points(X)
        values = as_vector(y, length=len(points), name="y")
        variances = as_variances(self.noise_variance if noise_variance is None else noise_variance, len(points))
        for point, value, variance in zip(points, values, variances, strict=True):
            cell = self._cell_of(point)
            cell.gp.add(point[None, :], [value], variance)
            cell._told.append((point, float(value), float(variance)))
            due = [cell]
            while due:
                cell = due.pop()
                if self.rule.due(cell.count, cell.depth):
                    due += self._split(cell)

    @contextmanager
    def pending(self, X: ArrayLike, noise_variance: ArrayLike | None = None) -> Iterator[None]:
        """Within the block, deviations count the rows of X as observed, with `noise_variance`, each in its cell.

        No cell is split for them. Leaving the block restores the process bit for bit.
        """
        points = self._as_points(X)
        variances = as_variances(self.noise_variance if noise_variance is None else noise_variance, len(points))
        self._pending += 1
        try:
            with ExitStack() as stack:
                for cell, rows in self.by_cell(points):
                    stack.enter_context(cell.gp.pending(points[rows], variances[rows]))
                yield
        finally:
            self._pending -= 1

    # --- predicting

    def predict(self, X: ArrayLike) -> Prediction:
        """Return the posterior mean and standard deviation of f at the rows of X, shape (m, D)."""
        points = self._as_points(X)
        mean, deviation = np.empty(len(points)), np.empty(len(points))
        for cell, rows in self.by_cell(points):
            at = cell.gp.predict(points[rows])
            mean[rows], deviation[rows] = at.mean, at.deviation
        return Prediction(mean, deviation)

    def predict_mean(self, X: ArrayLike) -> Array:
        """Return the posterior mean at the rows of X alone, shape (m,): O(N_A) a point."""
        points = self._as_points(X)
        mean = np.empty(len(points))
        for cell, rows in self.by_cell(points):
            mean[rows] = cell.gp.predict_mean(points[rows])
        return mean

    def predict_with_gradients(self, X: ArrayLike) -> Prediction:
        """Return mean and deviation at the rows of X with their gradients, those of the cell that each lies in."""
        points = self._as_points(X)
        mean, deviation = np.empty(len(points)), np.empty(len(points))
        slopes, deviation_slopes = np.empty_like(points), np.empty_like(points)
        for cell, rows in self.by_cell(points):
            at = cell.gp.predict_with_gradients(points[rows])
            mean[rows], deviation[rows] = at.mean, at.deviation
            slopes[rows], deviation_slopes[rows] = at.mean_gradient, at.deviation_gradient
        return Prediction(mean, deviation, slopes, deviation_slopes)

    def covariance(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Return the posterior covariance between the rows of X and of Z, shape (m, p): 0 between cells."""
        left = self._as_points(X)
        right = left if Z is None else self._as_points(Z)
        matrix = np.zeros((len(left), len(right)))
        of_right = {cell.number: rows for cell, rows in self.by_cell(right)}
        for cell, rows in self.by_cell(left):
            columns = of_right.get(cell.number)
            if columns is not None:
                matrix[np.ix_(rows, columns)] = cell.gp.covariance(left[rows], None if Z is None else right[columns])
        return matrix

    # --- summaries of the evidence: cells are independent, so theirs add up

    @property
    def logdet(self) -> float:
        """The log-determinant of I + V^-1/2 K V^-1/2, K block-diagonal: twice the information gained."""
        return self._total(lambda gp: gp.logdet)

    @property
    def quadratic_form(self) -> float:
        """(y - m)^T (K + V)^-1 (y - m) over all observations told, replicates counted."""
        return self._total(lambda gp: gp.quadratic_form)

    @property
    def log_evidence(self) -> float:
        """Log density of all observations told, replicates counted."""
        return self._total(lambda gp: gp.log_evidence)

    def _total(self, of: Callable[[GaussianProcess], float]) -> float:
        return sum(of(cell.gp) for cell in self._leaves.values() if cell.count)
