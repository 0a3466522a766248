"""A progress bar for people who watch; nothing at all for scripts and logs."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from quadrat.optimizer import Optimizer

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["ProgressBar"]


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A bar on standard error, if that is a terminal, full at `total` trials; None where nobody knows."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._bar: Progress | None = None

    def __enter__(self) -> ProgressBar:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, optimizer: Optimizer, finished: int) -> None:
        """Show how many trials are finished and the best value seen."""
        if self._bar is not None:
            best = optimizer.best_seen
            text = "no value yet" if best is None else f"best seen {best.value:.6g}"
            self._bar.update(self._task, completed=finished, description=text)
