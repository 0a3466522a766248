"""The trials of a report as columns of short values, which the page's script sorts, filters and shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from quadrat.report.source import TrialRow

__all__ = ["Column", "TrialTable", "trial_table"]

Cell: TypeAlias = str | int | float | None

_LONGEST = 120  # characters of a cell
_DIGITS = 6  # as everywhere else on the page
_HELD = {None: None, True: "met", False: "violated"}


@dataclass(frozen=True)
class Column:
    """One column: its name, and a cell for each trial, None where there is nothing; plain data for JSON."""

    name: str
    cells: list[Cell]

    @property
    def is_number(self) -> bool:
        """Whether it is of numbers, which stand at the right."""
        return all(
            isinstance(cell, int | float) and not isinstance(cell, bool) for cell in self.cells if cell is not None
        )


@dataclass(frozen=True)
class TrialTable:
    """The columns, and of how many trials there are they show how many."""

    columns: tuple[Column, ...]
    shown: int
    total: int


def trial_table(rows: Sequence[TrialRow], limit: int) -> TrialTable:
    """Return the trials as columns whose JSON has at most about `limit` bytes: the last ones where all are too many."""
    while True:
        columns = _columns(rows[-_count(rows, limit) :] if rows else rows)
        size = sum(len(json.dumps(column.cells)) for column in columns)
        shown = len(columns[0].cells)
        if size <= limit or shown <= 1:
            return TrialTable(columns, shown, len(rows))
        limit = limit * limit // (size + 1)


def _count(rows: Sequence[TrialRow], limit: int) -> int:
    """How many rows are tried first: with eight characters a cell, those that fit."""
    return max(1, min(len(rows), limit // (8 * (5 + len(_names(rows))))))


def _names(rows: Sequence[TrialRow]) -> list[str]:
    return list({name: None for row in rows for name in row.params})


def _columns(rows: Sequence[TrialRow]) -> tuple[Column, ...]:
    columns = [
        Column("trial", [row.number for row in rows]),
        Column("state", [row.state for row in rows]),
        Column("value", [_cell(row.value) for row in rows]),
        Column("± error", [_cell(row.error) for row in rows]),
        Column("constraints", [_HELD[row.feasible] for row in rows]),
        *(Column(name, [_cell(row.params.get(name)) for row in rows]) for name in _names(rows)),
        Column("note", [_cell(row.note or None) for row in rows]),
    ]
    always = {"trial", "state", "value"}
    return tuple(c for i, c in enumerate(columns) if i < len(always) or any(cell is not None for cell in c.cells))


def _cell(value: Any) -> Cell:
    if isinstance(value, float):
        short = float(f"{value:.{_DIGITS}g}")
        # JSON has no other numbers than finite ones.
        return short if abs(short) <= 1.7e308 else str(value)
    if isinstance(value, bool) or value is None:
        return str(value) if value is not None else None
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
