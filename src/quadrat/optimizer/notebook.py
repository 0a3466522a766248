"""Optimizers and level sets in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, get_args

from quadrat._core.html import Markup, Piece, bar, block, curve, pairs, table
from quadrat.optimizer.outcome import Direction
from quadrat.optimizer.trial import TrialRecord, number_text, settings_text
from quadrat.space.space_html import parameter_table

if TYPE_CHECKING:
    from quadrat.optimizer.level_sets import CellReport, LevelSetReport
    from quadrat.optimizer.optimizer import Optimizer

__all__ = ["best_so_far", "level_set_html", "optimizer_html", "progress_curve", "progress_of"]


def best_so_far(outcomes: Iterable[tuple[float, bool | None]], direction: str) -> list[float]:
    """Return the best value up to each trial; an outcome is a value, and whether its constraints held, if any.

    As of the best seen: where constraints were told, only trials in which all of them held count.

    Examples
    --------
    >>> best_so_far([(3.0, None), (1.0, False), (4.0, True)], "minimize")
    [4.0]
    """
    told = list(outcomes)
    constrained = any(held is not None for _, held in told)
    counted = (value for value, held in told if held or not constrained)
    return list(accumulate(counted, max if Direction.read(direction) is Direction.MAXIMIZE else min))


def progress_of(records: Iterable[TrialRecord], direction: str) -> list[float]:
    """Return the best value up to each complete trial, by number."""
    complete = ((record.value, record.feasible) for record in records)
    return best_so_far(((value, held) for value, held in complete if value is not None), direction)


def optimizer_html(optimizer: Optimizer, summary: str) -> str:
    """Return an optimizer as HTML; `summary` says how many trials are in each state."""
    method, space = optimizer.method, optimizer.space
    records = optimizer.trials
    if space.fidelity is not None:  # values of different fidelities are not compared
        target = space.from_unit([1.0] * space.dimension)[space.fidelity]
        records = tuple(record for record in records if record.params[space.fidelity] == target)
    rows: list[tuple[str, Piece]] = [("method", method.facts.title), ("trials", summary)]
    if space.fidelity is not None:
        rows.append(("cost", number_text(optimizer.cost)))
    best = optimizer.best_seen
    if best is not None:
        held = " (no trial met all constraints; this one violated them least)" if best.feasible is False else ""
        told = f"{number_text(best.value)} in trial {best.number}: {settings_text(best.params)}"
        rows.append(("best seen", told + held))
    drawn = progress_curve(progress_of(records, optimizer.direction))
    if drawn is not None:
        rows.append(("progress", drawn))
    title = f"Optimizer: {optimizer.direction} with {type(method).__name__}"
    return block(title, [pairs(rows), parameter_table(space)])


def progress_curve(values: list[float]) -> Markup | None:
    """Return the best seen after each trial as a curve; None where there are fewer than two."""
    if len(values) < 2:
        return None
    return curve(values, f"best seen, {number_text(values[0])} to {number_text(values[-1])}")


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
