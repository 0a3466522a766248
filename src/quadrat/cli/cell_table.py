"""The cells of a method as a table: where they are in the user's parameters, what bounds them, what was seen there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from optuna.distributions import CategoricalDistribution
from rich.table import Table

from quadrat._core.arrays import Array
from quadrat.cli.trial_table import Line, trial_table
from quadrat.space import Float
from quadrat.studies.distributions import OwnSpace, Searched, shown_value

__all__ = ["CellRow", "cell_rows", "cell_table"]

Range: TypeAlias = tuple[Any, Any] | list[Any]

_OTHER_SIDE = {"above": "below", "below": "above"}
_JUST_BELOW = 1e-9  # a cell does not hold its upper ends: what has bins has the bin below


@dataclass(frozen=True)
class CellRow:
    """One cell, in the user's direction and units.

    Attributes
    ----------
    depth, points
        How often the space was halved to come to it, and the observations in it; None where nobody counts.
    bound, interval
        No value in the cell is better than the bound; bounds on both sides, where there are.
    label
        "above", "below" or "undecided", of methods with a threshold; else None.
    ranges
        Of the parameters that are cut: a tuple (from, to) of numbers, or a list of choices.
    """

    depth: int
    bound: float
    interval: tuple[float, float] | None
    label: str | None
    points: int | None
    ranges: dict[str, Range]


def cell_rows(
    cells: Sequence[Mapping[str, Any]], searched: Searched, *, turned: bool, most: int | None = None
) -> tuple[CellRow, ...] | None:
    """Return the cells that a search explains, the most promising first; None where they have no bounds.

    A search has them on the unit cube, larger values better; `turned` says that values are the negatives of the user's.
    """
    if not all("bound" in cell or "high" in cell for cell in cells):
        return None
    order = sorted(cells, key=lambda cell: -_bound(cell))[:most]
    ranges = _ranges(np.array([cell["lower"] for cell in order]), np.array([cell["upper"] for cell in order]), searched)
    return tuple(_row(cell, cut, turned=turned) for cell, cut in zip(order, ranges, strict=True))


def cell_table(rows: Sequence[CellRow], width: int, *, direction: str, bounded: bool = True) -> Table:
    """Return cells as a table that fits the screen; ranges that are not cut are left blank.

    Where they are not `bounded`, bounds are no bounds of f, and are called an index.
    """
    sided = any(row.interval is not None for row in rows)
    bound = "bounds" if sided else "upper bound" if direction == "maximize" else "lower bound"
    header = [
        *(["label"] if any(row.label is not None for row in rows) else []),
        "depth",
        *(["points"] if any(row.points is not None for row in rows) else []),
        bound if bounded else "index",
    ]
    return trial_table(header, [Line(_cells(row, header), _texts(row)) for row in rows], width)


def _cells(row: CellRow, header: Sequence[str]) -> list[str]:
    bound = f"{row.bound:.4g}" if row.interval is None else "{:.4g} to {:.4g}".format(*row.interval)
    texts = {"label": row.label or "", "depth": str(row.depth), "points": "" if row.points is None else str(row.points)}
    return [texts.get(name, bound) for name in header]


def _texts(row: CellRow) -> dict[str, str]:
    return {name: _range_text(ends) for name, ends in row.ranges.items()}


def _range_text(ends: Range) -> str:
    if isinstance(ends, list):
        return " or ".join(map(str, ends))
    low, high = (f"{end:.4g}" if isinstance(end, float) else str(end) for end in ends)
    return low if ends[0] == ends[1] else f"{low} to {high}"


def _bound(cell: Mapping[str, Any]) -> float:
    return float(cell["bound"] if "bound" in cell else cell["high"])


def _row(cell: Mapping[str, Any], ranges: dict[str, Range], *, turned: bool) -> CellRow:
    sign = -1.0 if turned else 1.0
    label: str | None = cell.get("label")
    if turned and label is not None:
        label = _OTHER_SIDE.get(label, label)
    interval = None
    if "low" in cell:
        low, high = sorted((sign * float(cell["low"]), sign * float(cell["high"])))
        interval = low, high
    volume = math.prod(high - low for low, high in zip(cell["lower"], cell["upper"], strict=True))
    depth = int(cell["depth"]) if "depth" in cell else round(-math.log2(volume))
    return CellRow(depth, sign * _bound(cell) + 0.0, interval, label, cell.get("points"), ranges)


def _ranges(lower: Array, upper: Array, searched: Searched) -> list[dict[str, Range]]:
    """Return from where to where each cell (n, D) goes, along axes that are cut and whose parameter exists there."""
    found: list[dict[str, Range]] = [{} for _ in lower]
    for axis, name in enumerate(searched.space.axes):
        rows = np.flatnonzero((lower[:, axis] > 0) | (upper[:, axis] < 1))
        if not len(rows):
            continue
        parameter, distribution = searched.space[name], searched.of_axis[name]
        smooth = isinstance(parameter, Float) and parameter.step is None
        first = lower[rows, axis]
        last = upper[rows, axis] if smooth else np.maximum(upper[rows, axis] - _JUST_BELOW, first)
        if isinstance(distribution, CategoricalDistribution):
            places = [parameter.decode(ends).astype(int).tolist() for ends in (first, last)]
            for row, start, end in zip(rows.tolist(), *places, strict=True):
                found[row][name] = list(distribution.choices[start : end + 1])
            continue
        centres = (lower[rows] + upper[rows]) / 2
        values = [_values(searched, name, centres, axis, ends) for ends in (first, last)]
        for row, low, high in zip(rows.tolist(), *values, strict=True):
            if low is not None and high is not None:
                found[row][name] = low, high
    return found


def _values(searched: Searched, name: str, centres: Array, axis: int, ends: Array) -> list[Any]:
    """Return a parameter's values at points (n, D) moved to `ends`, (n,), on its axis; None where it does not exist."""
    points = centres.copy()
    points[:, axis] = ends
    distribution = searched.of_axis[name]
    found = (params.get(name) for params in searched.space.from_units(points))
    if isinstance(searched, OwnSpace):
        return [*found]
    return [None if value is None else shown_value(distribution, value) for value in found]
