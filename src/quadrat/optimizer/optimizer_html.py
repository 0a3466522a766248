"""An optimizer in a notebook: what it does, how far it is, what is searched. Nothing is fitted to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat.html import Markup, Piece, block, curve, pairs
from quadrat.optimizer.best_so_far import progress_of
from quadrat.optimizer.settings_text import number_text, settings_text
from quadrat.space.space_html import parameter_table

if TYPE_CHECKING:
    from quadrat.optimizer.optimizer import Optimizer

__all__ = ["optimizer_html", "progress_curve"]


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
