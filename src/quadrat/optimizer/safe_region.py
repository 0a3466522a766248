"""Where no limit is broken, in the user's parameters: cells, what is certified of each, and what is within reach."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.printing import at_least, at_most
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.base import Method, Search
from quadrat.methods.safe.fitted import FittedSafeSearch
from quadrat.methods.safe.method import SafeMethod
from quadrat.methods.safe.region import SAFE, UNKNOWN, UNSAFE
from quadrat.methods.safe.search import SafeSearch
from quadrat.optimizer.history import History
from quadrat.optimizer.outcome import Direction
from quadrat.optimizer.reports import why_not_certified
from quadrat.space import Space

__all__ = ["SafeCell", "SafeLabel", "SafeRegionReport", "limit_warning_of", "safe_region_of"]

SafeLabel: TypeAlias = Literal["safe", "unsafe", "unknown"]
_WORDS: dict[int, SafeLabel] = {SAFE: "safe", UNSAFE: "unsafe", UNKNOWN: "unknown"}


@dataclass(frozen=True)
class SafeCell:
    """One box of the space.

    Attributes
    ----------
    ranges
        From (included) and to (excluded, but at the upper end of a parameter) by name, in the parameter's units.
    label
        "safe" where every limit is kept everywhere in the box, "unsafe" where one is broken everywhere, or "unknown".
    interval
        Bounds of the objective over the box.
    volume
        The box's share of the space, on the scales that are searched (log, for log parameters).
    reachable
        Whether some of the box may be within reach: safe, or certified by steps from what is.

    Examples
    --------
    >>> SafeCell({"x": (0.0, 0.5)}, "safe", (0.1, 0.4), 0.5, True).label
    'safe'
    """

    ranges: dict[str, tuple[float, float]]
    label: SafeLabel
    interval: tuple[float, float]
    volume: float
    reachable: bool


@dataclass(frozen=True, repr=False)
class SafeRegionReport:
    """What a safe search has certified, in the user's direction and units.

    Attributes
    ----------
    threshold
        The limit of the objective; None where it has none.
    constraints
        The names of the constraints that are guarded.
    delta
        All of it holds with probability at least 1 - delta, where `reason` is None.
    share
        How much of the space is certified to be safe, in [0, 1].
    reachable_share
        How much of the space is within reach at most: what is certified, and what steps from there could certify.
    remaining
        Nothing within reach is better than the recommended point by more than this; None where nothing is certified.
    best_reachable
        Nothing within reach is better than this, in the user's direction; None where nothing is certified.
    reason
        Why nothing is certified; None where it is.
    rejected
        How the data contradict the stated assumptions; None when they do not.
    cells
        Boxes that tile the space.
    space
        The space.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = qd.Safe(threshold=-0.5, safe=[{"x": 0.2}], kernel=qd.Matern(2.5, 0.5), norm_bound=2.0, noise=0.01)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> for _ in range(15):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, -((trial.params["x"] - 0.4) ** 2) * 4)
    >>> found = optimizer.safe_region()
    >>> found.share > 0.5, found.label_at({"x": 0.3}), found.label_at({"x": 1.0})  # at 1 the objective is -1.44
    (True, 'safe', 'unknown')
    """

    threshold: float | None
    constraints: tuple[str, ...]
    delta: float
    share: float
    reachable_share: float
    remaining: float | None
    best_reachable: float | None
    reason: str | None
    rejected: str | None
    cells: tuple[SafeCell, ...]
    space: Space = field(compare=False)

    @property
    def may_grow(self) -> bool:
        """Whether more than is certified to be safe could be reached, by at least 1 % of the space."""
        return self.reachable_share - self.share >= 0.01

    def volume(self, label: SafeLabel) -> float:
        """Return how much of the space has this label, in [0, 1]."""
        return sum((cell.volume for cell in self.cells if cell.label == label), 0.0)

    def label_at(self, params: Mapping[str, Any]) -> SafeLabel:
        """Return the label of the cell that holds `params`, parameters by name."""
        self.space.to_unit(params)  # refuses what is outside
        ends = self.space.from_unit(np.ones(self.space.dimension))
        for cell in self.cells:
            if all(
                low <= params[name] < high or (params[name] == high == ends[name])
                for name, (low, high) in cell.ranges.items()
            ):
                return cell.label
        raise InvalidInput(f"params: expected parameters in one of the cells, got {dict(params)!r:.80}")

    def slice(self, params: Mapping[str, Any], name: str) -> tuple[tuple[float, float], ...]:
        """Return the ranges of the parameter `name` that are certified to be safe where all others are as in `params`.

        Ranges (from, to) are ascending, in the parameter's units, and those that touch are one.
        """
        if name not in self.space.axes:
            raise InvalidInput(f"name: expected one of {', '.join(self.space.axes)}, got {name!r:.80}")
        self.space.to_unit(params)
        ends = self.space.from_unit(np.ones(self.space.dimension))
        found: list[tuple[float, float]] = []
        for cell in sorted(self.cells, key=lambda cell: cell.ranges[name]):
            here = all(
                low <= params[other] < high or (params[other] == high == ends[other])
                for other, (low, high) in cell.ranges.items()
                if other != name
            )
            if here and cell.label == "safe":
                low, high = cell.ranges[name]
                if found and found[-1][1] >= low:
                    found[-1] = (found[-1][0], max(high, found[-1][1]))
                else:
                    found.append((low, high))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "threshold": self.threshold,
            "constraints": list(self.constraints),
            "delta": self.delta,
            "certified": self.reason is None,
            "reason": self.reason,
            "rejected": self.rejected,
            "share": self.share,
            "reachable_share": self.reachable_share,
            "remaining": self.remaining,
            "best_reachable": self.best_reachable,
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
            writer.writerow(
                [*(f"{name}_{end}" for name in names for end in ("from", "to")), "label", "low", "high", "volume"]
            )
            for cell in self.cells:
                corners = [end for name in names for end in cell.ranges[name]]
                writer.writerow([*corners, cell.label, *cell.interval, cell.volume])

    @property
    def text(self) -> str:
        """What is certified, in a sentence."""
        if self.reason is not None:
            return f"nothing is certified: {self.reason}"
        assert self.remaining is not None
        safe, reach = f"{at_least(100 * self.share, 3)} %", f"{at_most(100 * self.reachable_share, 3)} %"
        grows = "" if self.may_grow else "; it can hardly grow: to reach what lies apart, state more safe settings"
        return (
            f"{safe} of the space certified, at most {reach} within reach{grows}; nothing within reach is better than"
            f" the recommended point by more than {at_most(self.remaining, 4)}"
        )

    def __repr__(self) -> str:
        return f"<SafeRegionReport: {self.text}>"


def limit_warning_of(search: Search, point: Array) -> str | None:
    """Return in a sentence why a recommended point (D,) may break a limit that the search keeps; None otherwise."""
    return search.limit_warning(point) if isinstance(search, SafeSearch | FittedSafeSearch) else None


def safe_region_of(
    space: Space, method: Method, history: History, direction: Direction, search: Search
) -> SafeRegionReport:
    """Return what a safe search has certified, as the user sees it."""
    if isinstance(search, FittedSafeSearch):
        raise NotAvailable(f"safe_region: {search.safe_region()}")
    if not isinstance(search, SafeSearch) or not isinstance(method, SafeMethod):
        raise NotAvailable(f"safe_region: expected a run of Safe, got one of {type(method).__name__}")
    found = search.safe_region()
    reason = found.reason or why_not_certified(space, method, history)
    corners = [space.from_units(points) for points in (found.lower, found.upper)]
    cells = tuple(
        SafeCell(
            {name: (low[name], high[name]) for name in space.axes},
            _WORDS[int(label)],
            direction.turn_interval((float(least), float(most))),
            float(volume),
            bool(reachable),
        )
        for low, high, label, least, most, volume, reachable in zip(
            *corners, found.label, found.low, found.high, found.volumes, found.reachable, strict=True
        )
    )
    best = found.best_reachable if reason is None else None
    remaining = None
    if best is not None:
        interval = search.recommend().interval
        assert interval is not None
        remaining = max(best - interval[0], 0.0)
    return SafeRegionReport(
        threshold=method.threshold,
        constraints=method.constraint_names,
        delta=found.delta,
        share=found.volume(SAFE),
        reachable_share=found.reach,
        remaining=remaining,
        best_reachable=None if best is None else direction.turn(best),
        reason=reason,
        rejected=found.rejection,
        cells=cells,
        space=space,
    )
