"""The order in which trials finished, which is also right where somebody set the clock meanwhile.

What is suggested depends on that order in the last bits, and a resumed study makes the suggestions of one that was not
interrupted. The storage has it only as times of day. A coordinator therefore notes with each trial how many were over
when it was asked for: where that is all before it, they come first, whatever the clock said.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from optuna.trial import FrozenTrial, TrialState

__all__ = ["BEGUN", "OWNER", "FinishOrder", "owner_note"]

OWNER = "quadrat:owner"
"""The user attribute of a trial that a coordinator began; see `owner_note`."""

BEGUN = "quadrat:evaluations"
"""The system attribute of a trial: how many of its evaluations began. Without it one did if the trial has an owner."""

_OVER = "over"
_FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


def owner_note(process: str, trials: Iterable[FrozenTrial]) -> dict[str, Any]:
    """Return what is noted with a trial: which process asked for it, and how many trials were over by then."""
    return {"process": process, _OVER: sum(trial.state in _FINISHED for trial in trials)}


class FinishOrder:
    """Sorts trials of one study; it learns from all trials that it is given."""

    def __init__(self) -> None:
        self._fences: list[int] = []  # numbers of trials that were asked for when all before them were over

    def sort(self, trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
        """Return the trials that are over, in the order of finishing."""
        over = []
        for trial in trials:
            note = trial.user_attrs.get(OWNER)
            if isinstance(note, dict) and note.get(_OVER) == trial.number and not self._has(trial.number):
                insort(self._fences, trial.number)
            if trial.state in _FINISHED:
                over.append(trial)
        return sorted(over, key=self.place)

    def place(self, trial: FrozenTrial) -> tuple[int, datetime, int]:
        """Return what trials that are over are sorted by."""
        at = bisect_right(self._fences, trial.number)
        return (self._fences[at - 1] if at else -1), trial.datetime_complete or datetime.min, trial.number

    def _has(self, number: int) -> bool:
        at = bisect_right(self._fences, number)
        return at > 0 and self._fences[at - 1] == number
