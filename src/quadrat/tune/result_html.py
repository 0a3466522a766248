"""A result in a notebook: what its repr says, with a curve of progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quadrat.html import Piece, block, pairs
from quadrat.optimizer.best_so_far import progress_of
from quadrat.optimizer.optimizer_html import progress_curve

if TYPE_CHECKING:
    from quadrat.tune.result import Result

__all__ = ["result_html"]


def result_html(result: Result, title: str, lines: Sequence[tuple[str, str]]) -> str:
    """Return a result as HTML.

    Parameters
    ----------
    result
        The result.
    title, lines
        The first line of its repr, and the others, each with its label.
    """
    rows: list[tuple[str, Piece]] = list(lines)
    progress = progress_of(result.trials, result.direction)
    # Values of different fidelities are not compared. A curve of them ends elsewhere than at the best seen.
    drawn = progress_curve(progress) if progress and progress[-1] == result.best_seen.value else None
    if drawn is not None:
        rows.append(("progress", drawn))
    return block(title, [pairs(rows)])
