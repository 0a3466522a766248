"""The order of finishing: by the clock, except where trials ran one after another and the clock was set."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from optuna.trial import FrozenTrial, TrialState, create_trial

from quadrat.studies.finish_order import OWNER, FinishOrder, owner_note

NOON = datetime(2020, 1, 1, 12)


def trial(number: int, minute: float | None, over: int | None = None) -> FrozenTrial:
    """Return a trial that finished some minutes after noon, asked for when so many were over; None is unknown."""
    made = create_trial(
        state=TrialState.COMPLETE, value=0.0, user_attrs={} if over is None else {OWNER: {"over": over}}
    )
    made.number = number
    made.datetime_complete = NOON + timedelta(minutes=minute or 0)
    if minute is None:
        made.state, made.value, made.datetime_complete = TrialState.RUNNING, None, None
    return made


def order(trials: Sequence[FrozenTrial]) -> list[int]:
    return [found.number for found in FinishOrder().sort(trials)]


def test_without_notes_it_is_that_of_the_clock() -> None:
    assert order([trial(0, 3), trial(1, 1), trial(2, None), trial(3, 2)]) == [1, 3, 0]


def test_trials_one_after_another_are_in_order_whatever_the_clock_said() -> None:
    assert order([trial(0, 1, 0), trial(1, 1441, 1), trial(2, -1440, 2), trial(3, -1439, 3)]) == [0, 1, 2, 3]


def test_trials_at_the_same_time_are_in_the_order_of_the_clock() -> None:
    """Two at once, then one when all were over, then two at once, and the clock set back in between."""
    trials = [trial(0, 5, 0), trial(1, 4, 0), trial(2, 1, 2), trial(3, 3, 2), trial(4, 2, 2)]
    assert order(trials) == [1, 0, 2, 4, 3]


def test_what_is_learned_stays() -> None:
    """As trials end one by one: what runs says where it belongs, and is placed when it is over."""
    finish = FinishOrder()
    assert [found.number for found in finish.sort([trial(0, 9, 0), trial(1, None, 1)])] == [0]
    assert finish.place(trial(0, 9)) < finish.place(trial(1, 1))


def test_what_is_noted() -> None:
    assert owner_note("me", [trial(0, 1), trial(1, None)]) == {"process": "me", "over": 1}
