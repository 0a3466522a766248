"""What a suggestion costs: where our time goes adds up, and the table says what was measured."""

from __future__ import annotations

import time

import pytest
import suggestion
from regret import suite
from regret.adapter import Quadrat, timed_suggestion

from quadrat.methods.auto.surrogate import LearnedModel


def spend(seconds: float) -> None:
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass


def test_time_inside_another_part_counts_once() -> None:
    parts = suggestion.PartTimes()
    inner = parts.timed("inner", spend)

    def outer() -> None:
        spend(0.02)
        inner(0.04)

    parts.timed("outer", outer)()
    assert parts.seconds["inner"] == pytest.approx(0.04, abs=0.01)
    assert parts.seconds["outer"] == pytest.approx(0.02, abs=0.01)


def test_our_parts_are_timed_only_while_asked_for() -> None:
    learn = LearnedModel._learn
    parts = suggestion.PartTimes()
    task = suite.task("rastrigin3", 0)
    adapter = Quadrat(task.space, 10, 0)
    with parts.of_our_method():
        for number in range(7):
            whole = timed_suggestion(task, adapter, number)[2]
            if number == 5:
                parts.seconds.clear()
    assert set(parts.seconds) == set(suggestion.PARTS)
    assert 0 < sum(parts.seconds.values()) <= whole
    assert LearnedModel._learn is learn


def test_ratios_are_taken_within_rounds() -> None:
    shares = dict.fromkeys(suggestion.PARTS, 0.001)
    rounds = [({"quadrat": ours, "optuna_gp": 4 * ours, "botorch": 20 * ours}, shares) for ours in (0.05, 0.1, 0.06)]
    text = suggestion.tables(rounds, "a suggestion")
    assert "| Quadrat | 60 | 50 to 100 |  |" in text
    assert "| Optuna GP | 240 | 200 to 400 | 4.0 (4.0 to 4.0) |" in text
    assert "| searching the acquisition | 1.0 | 33 % |" in text
