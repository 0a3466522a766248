"""The highest index over the cells of a partitioned process, remembered cell by cell.

A cell's index m + beta_A s changes only when the cell is told something. So each cell's maximum is kept until then, and
a new one costs a few predictions of one cell. It is searched in two steps: the best of some candidates in every cell,
then L-BFGS-B with analytic gradients inside the cells whose candidates are highest.

A point of the cube may stand for another, where a parameter is an integer or a choice: only points that stand for
themselves are candidates, climbs keep to the other axes, and a cell without such a point cannot be evaluated and is
passed over. Where no cell has one, since all that was told lies where the space's constraint forbids to evaluate, every
point is a candidate, and whoever asks moves to one that may be evaluated. Candidates keep a little away from faces
between cells, since parameters and back again rounds.

Both steps draw from streams named by the cell and by how much it was told, and cells are ranked by candidates alone,
never by climbs that happen to be remembered. So the answer is a function of what was told, whenever it was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quadrat.arrays import Array, Bools
from quadrat.gp.partitioned import PartitionedProcess, ProcessCell
from quadrat.methods.domain import Domain
from quadrat.randomness import generator

__all__ = ["CellMaxima", "Peak"]

_SCATTER, _NEAR = 31, 32  # names of streams: candidates all over a cell, and around what looks best
_SPREAD = 96  # candidates all over a cell
_AROUND, _TOPS, _STEPS = 16, 2, (0.1, 0.01)  # around each of the best observed points, in sides of the cell
_CORNER_AXES = 5  # at most 2^5 corners of a cell; beyond five axes, axes share their ends
_MARGIN = 1e-6  # between candidates and faces, in sides of the cell
_SAME = 1e-9  # distance along each axis up to which two points are one
_CLIMBED = 3  # cells that are climbed in
_CLOSE = 1e-8  # relative change of the value at which a climb ends
_MOST_STEPS = 60


@dataclass(frozen=True)
class Peak:
    """A point (D,) of high index, the index there and what multiplied the deviation."""

    point: Array
    value: float
    multiplier: float


@dataclass
class _Known:
    count: int  # observations in the cell when this was found
    rough: list[Peak]  # the best of each kind of candidates, the highest first; empty where there are none
    climbed: Peak | None = None


class CellMaxima:
    """Where the index of each cell is highest.

    Parameters
    ----------
    seed
        Of the draws.
    multiplier
        beta_A of a cell; it must depend on nothing but what the cell was told.
    domain
        Which points stand for themselves.
    """

    def __init__(self, seed: int, multiplier: Callable[[ProcessCell], float], domain: Domain) -> None:
        self.seed = seed
        self.multiplier = multiplier
        self.domain = domain
        self._known: dict[int, _Known] = {}

    def highest(self, process: PartitionedProcess, pending: Array) -> Peak:
        """Return the point of the highest index over all cells, with pending points (p, D) counted as observed."""
        if not len(pending):
            return self._highest(process, {})
        with process.pending(pending):
            return self._highest(process, {cell.number: pending[rows] for cell, rows in process.by_cell(pending)})

    def _highest(self, process: PartitionedProcess, waiting: dict[int, Array]) -> Peak:
        """The same, from the pending points of each cell that has any, of which nothing is remembered."""
        known = {}
        for cell in process.cells:
            kept = self._known.get(cell.number)
            if kept is None or kept.count != cell.count or cell.number in waiting:
                kept = _Known(cell.count, self._rough(cell, waiting.get(cell.number)))
            known[cell.number] = kept
        self._known = {number: kept for number, kept in known.items() if number not in waiting}
        worth = [cell for cell in process.cells if known[cell.number].rough]
        if not worth:
            peaks = (self._rough(cell, waiting.get(cell.number), anywhere=True)[0] for cell in process.cells)
            return max(peaks, key=lambda peak: peak.value)
        ranked = sorted(worth, key=lambda cell: -known[cell.number].rough[0].value)  # of equals the oldest
        best: Peak | None = None
        for cell in ranked[:_CLIMBED]:
            kept = known[cell.number]
            if kept.climbed is None:
                kept.climbed = self._climb(cell, kept.rough, waiting.get(cell.number))
            if best is None or kept.climbed.value > best.value:
                best = kept.climbed
        assert best is not None
        return best

    def _rough(self, cell: ProcessCell, waiting: Array | None, *, anywhere: bool = False) -> list[Peak]:
        """The best of each kind of candidates, the highest first; with `anywhere` none is left out."""
        (low, high), beta = _inside(cell, waiting), self.multiplier(cell)
        spread = low + (high - low) * generator(self.seed, _SCATTER, cell.number).random((_SPREAD, len(low)))
        batches = [spread, _corners(low, high)]
        if cell.count:
            rng = generator(self.seed, _NEAR, cell.number, cell.count)
            x = cell.gp.x
            tops = x[np.argsort(-cell.gp.predict_mean(x), kind="stable")[:_TOPS]]
            around = np.repeat(tops, _AROUND, axis=0)
            steps = np.resize(_STEPS, len(around))[:, None] * (high - low) * rng.standard_normal(around.shape)
            moved = rng.random(around.shape) < max(0.5, 1 / len(low))
            batches.append(np.vstack([tops, np.clip(around + np.where(moved, steps, 0.0), low, high)]))
        standing = batches if anywhere else [self._standing(cell, batch) for batch in batches]
        if waiting is not None:
            free = [points[~_among(points, waiting)] for points in standing]
            standing = free if any(map(len, free)) else standing  # where every setting is pending, one is repeated
        peaks = []
        for points in standing:
            if not len(points):
                continue
            at = cell.gp.predict(points)
            values = at.mean + beta * at.deviation
            best = int(np.argmax(values))
            peaks.append(Peak(points[best], float(values[best]), beta))
        return sorted(peaks, key=lambda peak: -peak.value)

    def _standing(self, cell: ProcessCell, points: Array) -> Array:
        """The points that these, (m, D), stand for, without those that lie outside the cell or may not be evaluated."""
        points = self.domain.rounded(points)
        points = points[((points >= cell.lower) & (points <= cell.last)).all(axis=1)]
        return points[self.domain.allowed(points)] if len(points) else points

    def _climb(self, cell: ProcessCell, starts: list[Peak], waiting: Array | None) -> Peak:
        smooth = self.domain.smooth
        if not len(cell.gp.cholesky.diagonal) or not smooth.any():
            return starts[0]  # nothing known, so that the index is the same everywhere, or nowhere to climb to
        from scipy.optimize import minimize

        beta = starts[0].multiplier
        low, high = _inside(cell, waiting)

        def downhill(x: Array) -> tuple[float, Array]:
            at = cell.gp.predict_with_gradients(x[None, :])
            assert at.mean_gradient is not None
            assert at.deviation_gradient is not None
            return -float(at.mean[0] + beta * at.deviation[0]), -(at.mean_gradient + beta * at.deviation_gradient)[0]

        ends = [starts[0]]
        for start in starts:
            # An observed point, which is a candidate as it is, may lie nearer to a face than others.
            bounds = np.where(smooth, [np.minimum(low, start.point), np.maximum(high, start.point)], start.point)
            found = minimize(
                downhill,
                start.point,
                jac=True,
                method="L-BFGS-B",
                bounds=list(zip(*bounds, strict=True)),
                options={"ftol": _CLOSE, "maxiter": _MOST_STEPS},
            )
            if np.isfinite(found.x).all():
                points = self._standing(cell, np.clip(found.x, *bounds)[None, :])
                points = points if waiting is None else points[~_among(points, waiting)]
                ends += [Peak(point, -downhill(point)[0], beta) for point in points]
        return max(ends, key=lambda peak: peak.value)


def _inside(cell: ProcessCell, waiting: Array | None) -> tuple[Array, Array]:
    """The box of candidates: the cell less a margin at faces that it shares with other cells.

    Each pending point adds a margin at every face, since climbs end at corners and would end at the same ones again.
    """
    steps = 0 if waiting is None else len(waiting)
    margin = _MARGIN * (cell.upper - cell.lower)
    low = cell.lower + margin * (steps + (cell.lower > 0.0))
    return low, cell.upper - margin * (steps + (cell.upper < 1.0))


def _among(points: Array, waiting: Array) -> Bools:
    """Which points (m, D) are, up to rounding, among these (p, D)."""
    same = np.abs(points[:, None, :] - waiting[None, :, :]).max(axis=2) < _SAME
    return np.asarray(same.any(axis=1))


def _corners(low: Array, high: Array) -> Array:
    """Some corners of a box, (m, D): far from observations, deviations are largest there, and climbs end there."""
    d = len(low)
    ends = (np.arange(2 ** min(d, _CORNER_AXES))[:, None] >> (np.arange(d) % _CORNER_AXES)) & 1
    return np.where(ends == 1, high, low)
