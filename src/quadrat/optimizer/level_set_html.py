"""A level-set report in a notebook: how much of the space is decided, and its largest cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from quadrat.html import Markup, Piece, bar, block, pairs, table
from quadrat.optimizer.settings_text import number_text

if TYPE_CHECKING:
    from quadrat.optimizer.level_sets import CellReport, LevelSetReport

__all__ = ["level_set_html"]

_MOST_CELLS = 8  # cells that are listed
_MOST_AXES = 8  # parameters whose ranges are listed


def level_set_html(report: LevelSetReport, holds: str) -> str:
    """Return a report as HTML; `holds` says what is guaranteed, or why nothing is."""
    from quadrat.optimizer.level_sets import Label

    shares = [(label, report.volume(label)) for label in get_args(Label)]
    text = ", ".join(f"{100 * share:.3g} % {label}" for label, share in shares)
    largest = sorted(report.cells, key=lambda cell: -cell.volume)[:_MOST_CELLS]
    rows: list[tuple[str, Piece]] = [
        ("accuracy", number_text(report.accuracy)),
        ("of the space", Markup(f"{bar(shares).html} {text}")),  # labels and numbers of our own: nothing to escape
        ("cells", f"{len(report.cells)}" + (f", the {len(largest)} largest:" if largest else "")),
    ]
    parts: list[Piece] = [pairs(rows)]
    if largest:
        names = list(largest[0].ranges)[:_MOST_AXES]
        header = ["label", "objective", "share", *names]
        parts.append(table(header, [_row(cell, names) for cell in largest]))
        left_out = len(largest[0].ranges) - len(names)
        if left_out:
            parts.append(f"... and {left_out} more parameters")
    parts.append(holds)
    return block(f"Level set: threshold {report.threshold:g}", parts)


def _row(cell: CellReport, names: list[str]) -> list[Piece]:
    ranges = [_between(*cell.ranges[name]) for name in names]
    return [cell.label, _between(*cell.interval), f"{100 * cell.volume:.3g} %", *ranges]


def _between(low: float, high: float) -> str:
    return f"{number_text(low)} to {number_text(high)}"
