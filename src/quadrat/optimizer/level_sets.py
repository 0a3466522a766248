"""Where the objective is above and below a threshold, in the user's parameters: cells, and what is decided of each."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED, Method, Search
from quadrat.optimizer.history import History
from quadrat.optimizer.outcome import Direction
from quadrat.optimizer.reports import why_not_certified
from quadrat.space import Space

__all__ = ["CellReport", "Label", "LevelSetReport", "level_set_of"]

Label: TypeAlias = Literal["above", "below", "undecided"]
_WORDS: dict[int, Label] = {ABOVE: "above", BELOW: "below", UNDECIDED: "undecided"}


@dataclass(frozen=True)
class CellReport:
    """One box of the space.

    Attributes
    ----------
    ranges
        From (included) and to (excluded, but at the upper end of a parameter) by name, in the parameter's units.
    label
        Whether the objective is "above" or "below" the threshold everywhere in the box, or "undecided".
    interval
        Bounds of the objective over the box.
    volume
        The box's share of the space, on the scales that are searched (log, for log parameters).

    Examples
    --------
    >>> import quadrat as qd
    >>> method = qd.LevelSet(threshold=0.2, kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.01, cells=16)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> optimizer.add_trials([{"x": i / 40} for i in range(41)], [i / 80 for i in range(41)])
    range(0, 41)
    >>> last = optimizer.level_set().cells[-1]
    >>> last.ranges, last.label, last.volume
    ({'x': (0.9375, 1.0)}, 'above', 0.0625)
    """

    ranges: dict[str, tuple[float, float]]
    label: Label
    interval: tuple[float, float]
    volume: float


@dataclass(frozen=True, repr=False)
class LevelSetReport:
    """A classification of the whole space, in the user's direction and units.

    Attributes
    ----------
    threshold
        What the objective is compared with.
    accuracy
        "above" means above threshold - accuracy, "below" means below threshold + accuracy.
    delta
        All labels are right at once with probability at least 1 - delta, where `reason` is None.
    reason
        Why nothing is guaranteed; None where the labels are certified.
    rejected
        How the data contradict the stated assumptions; None when they do not.
    cells
        Boxes that tile the space.
    space
        The space that was classified.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = qd.LevelSet(threshold=0.2, kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.01, cells=16)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> optimizer.add_trials([{"x": i / 40} for i in range(41)], [i / 80 for i in range(41)])
    range(0, 41)
    >>> found = optimizer.level_set()
    >>> found.volume("above"), found.label_at({"x": 0.9}), found.label_at({"x": 0.4})
    (0.5, 'above', 'undecided')
    """

    threshold: float
    accuracy: float
    delta: float
    reason: str | None
    rejected: str | None
    cells: tuple[CellReport, ...]
    space: Space = field(compare=False)

    def volume(self, label: Label) -> float:
        """Return how much of the space has this label, in [0, 1]."""
        return sum((cell.volume for cell in self.cells if cell.label == label), 0.0)

    def label_at(self, params: Mapping[str, Any]) -> Label:
        """Return the label of the cell that holds `params`, parameters by name."""
        self.space.to_unit(params)  # refuses what is outside
        ends = {name: self.space.from_unit(np.ones(self.space.dimension))[name] for name in self.space.axes}
        for cell in self.cells:
            if all(
                low <= params[name] < high or (params[name] == high == ends[name])
                for name, (low, high) in cell.ranges.items()
            ):
                return cell.label
        raise InvalidInput(f"params: expected parameters in one of the cells, got {dict(params)!r:.80}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "threshold": self.threshold,
            "accuracy": self.accuracy,
            "delta": self.delta,
            "certified": self.reason is None,
            "reason": self.reason,
            "rejected": self.rejected,
            "volumes": {label: self.volume(label) for label in _WORDS.values()},
            "cells": [asdict(cell) for cell in self.cells],
        }

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file at `path`."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the cells to a CSV file at `path`: NAME_from, NAME_to for each parameter, label, low, high, volume."""
        names = list(self.cells[0].ranges)
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            ends = [f"{name}_{end}" for name in names for end in ("from", "to")]
            writer.writerow([*ends, "label", "low", "high", "volume"])
            for cell in self.cells:
                corners = [end for name in names for end in cell.ranges[name]]
                writer.writerow([*corners, cell.label, *cell.interval, cell.volume])

    def __repr__(self) -> str:
        shares = ", ".join(f"{100 * self.volume(label):.3g} % {label}" for label in _WORDS.values())
        return f"<LevelSetReport: threshold {self.threshold:g}: {shares} ({len(self.cells)} cells); {self._holds()}>"

    def _repr_html_(self) -> str:
        from quadrat.optimizer.notebook import level_set_html

        return level_set_html(self, self._holds())

    def _holds(self) -> str:
        """Return what is guaranteed, or why nothing is."""
        if self.rejected is not None:
            return self.rejected
        if self.reason is not None:
            return f"nothing is guaranteed: {self.reason}"
        return f"all labels are right with probability {1 - self.delta:g} under the stated assumptions"


def level_set_of(
    space: Space, method: Method, history: History, direction: Direction, search: Search
) -> LevelSetReport:
    """Return what a search says of its threshold, as the user sees it; refuse parameters whose values are no ranges."""
    if space.discontinuous:
        raise NotAvailable(
            f"level_set: expected a space of Floats without steps or conditions, got {', '.join(space.discontinuous)}:"
            " cells are ranges of numbers"
        )
    found = search.level_set()
    if isinstance(found, str):
        raise NotAvailable(f"level_set: {found}")
    reason = found.reason or why_not_certified(space, method, history)
    corners = [space.from_units(points) for points in (found.lower, found.upper)]
    sign = 1 if direction is Direction.MAXIMIZE else -1
    cells = tuple(
        CellReport(
            {name: (low[name], high[name]) for name in space.axes},
            _WORDS[sign * int(label)],
            direction.turn_interval((float(least), float(most))),
            float(volume),
        )
        for low, high, label, least, most, volume in zip(
            *corners, found.label, found.low, found.high, found.volumes, strict=True
        )
    )
    return LevelSetReport(
        direction.turn(found.threshold), found.accuracy, found.delta, reason, found.rejection, cells, space
    )
