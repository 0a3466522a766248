"""What `quadrat tune` shows while it runs: a table that grows, and in a terminal one that is drawn again."""

from __future__ import annotations

import logging
import time
import traceback
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import TextIO

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from quadrat._core.printing import at_most, between
from quadrat.cli.screen import brief, visible
from quadrat.cli.study_model import StudyModel, model_of
from quadrat.cli.trial_table import shown
from quadrat.errors import QuadratError
from quadrat.loop.workers import error_text
from quadrat.studies.notes import kept_method

__all__ = ["TuneScreen", "duration"]

_ROWS = 12  # trials that a terminal shows
_SHARE = 0.2  # of the time that goes into what is shown, at most
_ENDED = {TrialState.FAIL: "failed", TrialState.PRUNED: "pruned"}
_FITTED = {"trial": 6, "value": 13, "recommended so far": 20, "90 % interval": 22, "could gain": 12, "left": 7}
_CERTIFIED = {"trial": 6, "value": 13, "recommended so far": 20, "certified interval": 22, "within": 12, "left": 7}


class TuneScreen(logging.Handler):
    """Shows trials as they end, and what goes wrong.

    In a terminal a table of the last trials and the recommended parameters; elsewhere a line for each trial, if `rows`.
    Warnings of the package come in between, on standard error; the first failure with its traceback, later ones in a
    line.
    """

    def __init__(
        self,
        study: Study,
        n_trials: int | None,
        timeout: float | None,
        *,
        output: TextIO | None,
        errors: TextIO,
        width: int,
    ) -> None:
        super().__init__(logging.WARNING)
        self._study, self._n_trials, self._timeout, self._rows = study, n_trials, timeout, output is not None
        self._method = kept_method(study)
        certifies = self._method is not None and self._method.facts.certifies
        self._columns = _CERTIFIED if certifies else _FITTED
        self._console = Console(file=output or errors, width=width, highlight=False, markup=False, emoji=False)
        self._beside = Console(file=errors, width=width, highlight=False, markup=False, emoji=False)
        self._started = time.monotonic()
        self._before = sum(trial.state.is_finished() for trial in study.get_trials(deepcopy=False))
        self._told = 0
        self._last: deque[tuple[str, ...]] = deque(maxlen=_ROWS)
        self._model: StudyModel | None = None
        self._fresh_at, self._took = -float("inf"), 0.0
        self._failed_before = False
        self._live: Live | None = None

    def __enter__(self) -> TuneScreen:
        logging.getLogger("quadrat").addHandler(self)
        if self._rows and self._console.is_terminal:
            self._live = Live(get_renderable=self._whole, console=self._console, refresh_per_second=2)
            self._live.start()
        elif self._rows:
            self._console.print(self._line(self._columns))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        logging.getLogger("quadrat").removeHandler(self)

    def show_ended(self, number: int, state: TrialState) -> None:
        """Show a trial that ended."""
        self._told += 1
        if not self._rows:
            return
        fresh = self._refresh()
        row = self._row(self._study.get_trials(deepcopy=False)[number], state, self._model if fresh else None)
        self._last.append(row)
        if self._live is None:
            self._console.print(self._line(row))

    def emit(self, record: logging.LogRecord) -> None:
        """Show a warning of the package."""
        text = f"quadrat: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            if self._failed_before or isinstance(error, QuadratError):  # ours say all there is to say
                text += f": {error_text(error)}"
            else:
                text += "\n" + "".join(traceback.format_exception(error)).rstrip()
                self._failed_before = True
        (self._console if self._live is not None else self._beside).print(visible(brief(text)), soft_wrap=True)

    def _refresh(self) -> bool:
        """Ask the model what it recommends, unless that takes too much of the time; return whether it was asked."""
        now = time.monotonic()
        if now - self._fresh_at < self._took / _SHARE:
            return False
        try:
            self._model = model_of(self._study, self._method, most_cells=0)
        except QuadratError:  # nothing is complete yet, or trials have no parameters in common
            self._model = None
        self._fresh_at = time.monotonic()
        self._took = self._fresh_at - now
        return True

    def _row(self, trial: FrozenTrial, state: TrialState, model: StudyModel | None) -> tuple[str, ...]:
        value = f"{trial.value:.6g}" if state is TrialState.COMPLETE else _ENDED[state]
        if model is None:
            return str(trial.number), value, "", "", "", self._left()
        found = model.recommendation
        bounds, gap = found.credible_interval, found.estimated_gain
        if found.too_few is not None:  # what `best` does not say either
            bounds = gap = None
        if self._columns is _CERTIFIED:
            bounds = found.certified_interval
            gap = None if model.certificate is None else model.certificate.value
        interval = "" if bounds is None else f"{bounds[0]:.4g} to {bounds[1]:.4g}"
        shortfall = "" if gap is None else f"{gap:.3g}"
        if self._columns is _CERTIFIED:  # what is printed holds, too
            interval = "" if bounds is None else between(bounds, 4)
            shortfall = "" if gap is None else at_most(gap, 3)
        return str(trial.number), value, f"{found.value:.6g}", interval, shortfall, self._left()

    def _left(self) -> str:
        elapsed = time.monotonic() - self._started
        limits = []
        if self._timeout is not None:
            limits.append(max(0.0, self._timeout - elapsed))
        if self._n_trials is not None and self._told:
            limits.append(elapsed / self._told * max(0, self._n_trials - self._before - self._told))
        return duration(min(limits)) if limits else ""

    def _line(self, cells: Iterable[str]) -> str:
        return "".join(cell.rjust(width) for cell, width in zip(cells, self._columns.values(), strict=True)).rstrip()

    def _whole(self) -> RenderableType:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
        for name in self._columns:
            table.add_column(name, justify="right")
        for row in self._last:
            table.add_row(*row)
        parts: list[RenderableType] = [table]
        if self._model is not None:
            settings = self._model.recommendation.params.items()
            params = "  ".join(f"{shown(name)}={shown(value)}" for name, value in settings)
            parts.append(Text(f"recommended  {params}", overflow="ellipsis", no_wrap=True))
        done = self._before + self._told
        of = "" if self._n_trials is None else f" of {self._n_trials}"
        parts.append(Text(f"{done}{of} trials done after {duration(time.monotonic() - self._started)}"))
        return Group(*parts)


def duration(seconds: float) -> str:
    """Return a time as people write it.

    Examples
    --------
    >>> duration(3.2), duration(75), duration(4000)
    ('3 s', '1:15', '1:06:40')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
