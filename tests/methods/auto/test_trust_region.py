"""Whose turn it is: fixed turns first, then the rest of a round for the one that found better values."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from quadrat.methods.auto.trust_region import REST, Alternation

ROUND = 2 + REST  # turns of a round


def told(turns: Alternation, trust_regions: float, wide: float, which: int = 0) -> None:
    """Tell all trials of the two fixed turns of a round, each with its own value."""
    begin = turns.first + which * ROUND * turns.length
    for number in range(begin, begin + turns.length):
        turns.tell(number, trust_regions)
        turns.tell(number + turns.length, wide)


def whose(turns: Alternation, which: int = 0) -> list[bool]:
    """Of each turn of a round, which is the same for all trials of it."""
    begin = turns.first + which * ROUND * turns.length
    found = []
    for turn in range(ROUND):
        numbers = range(begin + turn * turns.length, begin + (turn + 1) * turns.length)
        (one,) = {turns.is_local(number) for number in numbers}
        found.append(one)
    return found


@pytest.mark.parametrize("length", [1, 4, 7])
@pytest.mark.parametrize("first", [0, 13])
def test_the_first_two_turns_are_fixed_and_the_rest_goes_to_the_better(first: int, length: int) -> None:
    for trust_regions, wide in ((1.0, 0.0), (0.0, 1.0)):
        turns = Alternation(first, length)
        told(turns, trust_regions, wide)
        assert whose(turns) == [True, False] + [trust_regions > wide] * REST


def test_of_two_that_are_as_good_it_is_the_one_that_zooms() -> None:
    turns = Alternation(0, 4)
    told(turns, 1.0, 1.0)
    assert whose(turns) == [True, False] + [True] * REST


def test_as_long_as_nothing_is_decided_they_take_turns() -> None:
    assert whose(Alternation(5, 3)) == [True, False] * (ROUND // 2)


def test_every_round_is_decided_on_its_own() -> None:
    turns, rng = Alternation(7, 5), np.random.default_rng(0)
    better = rng.random(8) < 0.5
    for which, zooms in enumerate(better):
        told(turns, float(zooms), 0.5, which)
    for which, zooms in enumerate(better):
        assert whose(turns, which) == [True, False] + [bool(zooms)] * REST
    assert list(turns.decided.values()) == better.tolist()
    assert whose(turns, len(better)) == [True, False] * (ROUND // 2)


@pytest.mark.parametrize("length", [1, 2, 4, 6, 9, 13])
def test_three_quarters_of_both_turns_have_to_be_told(length: int) -> None:
    enough = ceil(0.75 * length)
    turns = Alternation(0, length)
    for number in range(length):
        turns.tell(number, 0.0)
    for count in range(enough):
        assert turns.decided == {}
        turns.tell(length + count, 1.0)
    assert turns.decided == {0: False}


def test_later_values_do_not_change_what_was_decided() -> None:
    turns = Alternation(0, 4)
    for number in (0, 1, 2, 4, 5, 6):
        turns.tell(number, 1.0 if number < 4 else 0.0)
    assert turns.decided == {0: True}
    turns.tell(7, 1e9)
    turns.tell(3, -1e9)
    assert turns.decided == {0: True}


@pytest.mark.parametrize("length", [4, 8, 12, 20])
def test_the_mean_of_the_highest_quarter_decides(length: int) -> None:
    """Against sorting: one lucky value among many is no find, and how low the others are does not matter."""
    rng, decisions = np.random.default_rng(length), []
    for _ in range(60):
        values = rng.standard_t(2, (2, length))
        turns = Alternation(0, length)
        enough = ceil(0.75 * length)
        counted = values[0], values[1, :enough]
        for number in range(length + enough):
            turns.tell(number, float(values.ravel()[number]))
        tops = [sorted(some)[-max(1, round(0.25 * len(some))) :] for some in counted]
        decisions.append(sum(tops[0]) / len(tops[0]) >= sum(tops[1]) / len(tops[1]))
        assert turns.decided == {0: decisions[-1]}
    assert {True, False} == set(decisions)


def test_what_is_told_in_another_order_counts_for_the_turn_that_it_was_asked_in() -> None:
    """Two rounds, told in any order: a turn is a matter of the trial's number; all values of one are the same."""
    value = {0: 1.0, 1: 0.0, 6: 0.0, 7: 2.0}
    for seed in range(5):
        turns = Alternation(10, 4)
        for number in np.random.default_rng(seed).permutation(np.arange(10, 10 + 2 * ROUND * 4)).tolist():
            turns.tell(number, value.get((number - 10) // 4, 50.0))
        assert turns.decided == {0: True, 1: False}


def test_trials_before_the_first_and_those_of_the_rest_do_not_count() -> None:
    turns = Alternation(40, 4)
    for number in (*range(40), *range(48, 64)):
        turns.tell(number, 1e9 if number % 2 else -1e9)
    assert turns.decided == {}
    told(turns, 0.0, 1.0)
    assert turns.decided == {0: False}


def test_trials_that_are_never_told_leave_the_next_rounds_alone() -> None:
    turns = Alternation(0, 4)
    turns.tell(0, 5.0)
    told(turns, 0.0, 1.0, which=1)
    assert turns.decided == {1: False}
    assert whose(turns, 0) == [True, False] * (ROUND // 2)


def test_values_of_extreme_size() -> None:
    turns = Alternation(0, 4)
    told(turns, -1e200, 1e200)
    assert turns.decided == {0: False}


@pytest.mark.parametrize("length", [1, 4, 7])
@pytest.mark.parametrize("first", [0, 13])
def test_many_at_once_are_one_after_another(first: int, length: int) -> None:
    """In any order, from before the first and from all turns of several rounds; those without a value do not count."""
    decisions = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        numbers = rng.permutation(first + 5 * ROUND * length)
        values = np.where(rng.random(len(numbers)) < 0.2, -np.inf, rng.integers(0, 4, len(numbers)).astype(float))
        alone, together, some = (Alternation(first, length) for _ in range(3))
        for number, value in zip(numbers.tolist(), values.tolist(), strict=True):
            if np.isfinite(value):
                alone.tell(number, value)
        together.tell_many(numbers, values)
        for part in np.array_split(np.arange(len(numbers)), 7):
            some.tell_many(numbers[part], values[part])
        for turns in (together, some):
            assert list(turns.decided.items()) == list(alone.decided.items()), "in the same order"
            assert turns._told == alone._told
        decisions |= set(alone.decided.values())
    assert decisions == {True, False}


def test_none_at_once_is_nothing() -> None:
    turns = Alternation(0, 4)
    turns.tell_many(np.empty(0, dtype=np.intp), np.empty(0))
    assert (turns.decided, turns._told) == ({}, {})
