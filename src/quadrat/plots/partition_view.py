"""The cells of a method as figures see them: boxes of the unit cube with a bound for each, in the user's direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, Bools
from quadrat.errors import NotAvailable
from quadrat.methods.lp.method import LPGPUCB
from quadrat.optimizer import Optimizer

__all__ = ["Partition", "Round", "partition_of"]


@dataclass(frozen=True)
class Round:
    """One pass through the loop of LP-GP-UCB: in which trial, "evaluate" or "split", and why."""

    trial: int
    action: str
    condition: str


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells that tile the unit cube, after so many finished trials."""

    finished: int
    lower: Array  # corners, shape (m, D)
    upper: Array
    bound: Array  # no value in the cell is better, shape (m,), in the user's direction; NaN while nothing is known
    is_index: bool = False  # whether bounds are of standardised values under a learned kernel, and do not hold
    # For each cell, from methods that say so: the bound that counts, and its observations; and every round so far.
    active: tuple[str, ...] = ()
    points: tuple[int, ...] = ()
    rounds: tuple[Round, ...] = ()

    def __len__(self) -> int:
        return len(self.bound)

    def holding(self, point: Array, free: tuple[int, ...]) -> Bools:
        """Return which cells a plane through a point (D,) meets, shape (m,); it runs along the axes in `free`."""
        inside = (self.lower <= point) & ((point < self.upper) | (self.upper == 1.0))
        inside[:, list(free)] = True
        return np.asarray(inside.all(axis=1))


def partition_of(optimizer: Optimizer, finished: int) -> Partition:
    """Return the cells of a run as of now; a method without cells with bounds is refused."""
    explained = optimizer.explain()["search"]
    assert isinstance(explained, dict)
    cells = explained.get("cells")
    if not (isinstance(cells, list) and cells) or not {"lower", "upper"} <= cells[0].keys() or _bound(cells[0]) is None:
        raise NotAvailable(
            f"cells: expected a method that divides the space into cells with bounds and has begun to, got"
            f" {type(optimizer.method).__name__} after {finished} trials; LPGPUCB, LP0 and level-set methods have them"
        )
    sign = 1.0 if optimizer.direction == "maximize" else -1.0
    bound = sign * np.array([_bound(cell) for cell in cells], dtype=np.float64)
    rounds = explained.get("rounds")
    return Partition(
        finished,
        np.array([cell["lower"] for cell in cells], dtype=np.float64),
        np.array([cell["upper"] for cell in cells], dtype=np.float64),
        np.where(np.isfinite(bound), bound, np.nan),
        isinstance(optimizer.method, LPGPUCB) and optimizer.method.kernel is None,
        tuple(cell["active"] for cell in cells) if "active" in cells[0] else (),
        tuple(cell["points"] for cell in cells) if "points" in cells[0] else (),
        tuple(_round(one) for one in rounds) if isinstance(rounds, list) else (),
    )


def _bound(cell: Mapping[str, Any]) -> float | None:
    """The upper bound of a cell, as LP-GP-UCB or a search for a level set calls it."""
    bound = cell.get("bound", cell.get("high"))
    return None if bound is None else float(bound)


def _round(one: Mapping[str, Any]) -> Round:
    return Round(int(one["trial"]), str(one["action"]), str(one["condition"]))
