"""The history: what is taken, in which order, and answers that are kept up to date instead of looked up."""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.optimizer.history import History
from quadrat.optimizer.importing import Batch
from quadrat.optimizer.outcome import Direction, Reading
from quadrat.optimizer.trial import State, TrialRecord
from quadrat.randomness import generator

FAILURE = Reading(failure="told FAILED")
STATES: tuple[State, ...] = get_args(State)


def history_of(*xs: float, direction: str = "maximize") -> History:
    history = History(1, Direction(direction))
    for x in xs:
        history.begin({"x": x}, np.array([x]), "")
    return history


def test_taken_points_are_the_pending_then_the_failed_each_by_number() -> None:
    history = history_of(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert history.taken.shape == (6, 1)
    for number in (4, 1, 3):  # told in another order than asked
        history.finish(number, FAILURE)
    history.finish(2, Reading((1.0,)))
    assert history.taken.ravel().tolist() == [0.0, 0.5, 0.1, 0.3, 0.4]
    assert history.numbers("pending") == [0, 5]
    assert history.numbers("failed") == [1, 3, 4]
    for number in (5, 0):
        history.finish(number, Reading((1.0,)))
    assert history.taken.ravel().tolist() == [0.1, 0.3, 0.4]
    assert history.numbers("complete") == [0, 2, 5]
    assert History(3, Direction.MAXIMIZE).taken.shape == (0, 3)


def test_taken_is_a_copy() -> None:
    history = history_of(0.1)
    history.finish(0, FAILURE)
    history.taken[:] = 9.0
    assert history.taken.tolist() == [[0.1]]


def test_a_point_is_taken_as_long_as_any_trial_there_is_pending_or_failed() -> None:
    history, x = history_of(0.5, 0.5), np.array([0.5])
    history.finish(0, Reading((1.0,)))
    assert history.is_taken(x)
    history.finish(1, Reading((1.0,)))
    assert not history.is_taken(x)
    history.add(Batch([{"x": 0.5}, {"x": 0.0}], np.array([[0.5], [0.0]]), [FAILURE, Reading((1.0,))]), "")
    assert history.is_taken(x)
    assert not history.is_taken(np.array([0.0]))
    assert history.first_at(np.array([-0.0])) == 3


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("feasible", [True, False])
def test_the_best_seen_is_what_a_look_at_all_trials_finds(direction: str, feasible: bool) -> None:
    """After every tell, against the definition; with ties, and told in random order."""
    rng = generator(3)
    n, sign = 60, 1.0 if direction == "maximize" else -1.0
    values = rng.integers(0, 6, size=n).astype(float)
    constraints = rng.integers(-2 if feasible else 1, 4, size=(n, 2)) * np.array([1.0, 100.0])
    history = history_of(*rng.random(n), direction=direction)
    told: list[int] = []
    for number in rng.permutation(n).tolist():
        named = dict(zip("ab", constraints[number].tolist(), strict=True))
        history.finish(number, Reading((values[number],), constraints=named))
        told.append(number)
        excess = np.maximum(constraints, 0.0)
        total = (excess / np.maximum(excess[told].max(axis=0), 1e-300)).sum(axis=1)
        best = min(told, key=lambda i: (total[i], -sign * values[i], i))
        seen = history.best_seen
        assert seen is not None
        assert (seen.number, seen.feasible) == (best, bool(total[best] == 0))


def test_a_standard_error_is_remembered() -> None:
    history = history_of(0.1, 0.2)
    history.finish(0, Reading((1.0,)))
    assert not history.standard_errors
    history.finish(1, Reading((1.0,), 0.5))
    assert history.standard_errors


# --- many at once

SPOTS = np.array([[0.0, 0.5], [-0.0, 0.5], [0.25, 1.0], [0.5, 0.5], [1.0, 0.0], [1.0, -0.0], [0.75, 0.125]])
Action: TypeAlias = tuple[int, Reading | None]
"""A trial that begins, where there is no reading, or that is finished."""


def answers(history: History) -> dict[str, object]:
    """Everything that a history tells of itself, points as bytes."""
    spots = [*SPOTS, np.array([0.5, 0.501])]
    return {
        "records": history.records,
        "each": [(history.params(i), history.values(i), history.point(i).tobytes()) for i in range(len(history))],
        "best seen": history.best_seen,
        "constraint names": history.constraint_names,
        "standard errors": history.standard_errors,
        "numbers": [history.numbers(state) for state in STATES],
        "counts": [history.count(state) for state in STATES],
        "taken": (history.taken.shape, history.taken.tobytes()),
        "is taken": [history.is_taken(x) for x in spots],
        "first at": [history.first_at(x) for x in spots],
        "summary": history.summary(),
    }


def params_of(number: int) -> dict[str, Any]:
    return {"x": number / 7, "kind": "ab"[number % 2]}


def spot_of(number: int) -> Array:
    return np.asarray(SPOTS[number * 5 % 13 % len(SPOTS)])


def log_of(n: int, seed: int, constrained_from: int) -> list[Action]:
    """Trials that begin in the order of their numbers and are finished in any order, some of them never.

    Values with many ties, replicates, standard errors and failures; constraints from the so many-th outcome on.
    """
    rng, log, pending, outcomes = generator(seed), list[Action](), list[int](), 0
    begun = 0
    while begun < n:
        if not pending or rng.random() < 0.55:
            log.append((begun, None))
            pending.append(begun)
            begun += 1
            continue
        number = pending.pop(int(rng.integers(len(pending))))
        value, kind = float(rng.integers(-2, 3)), int(rng.integers(6))
        named = {"a": float(rng.integers(-1, 3)), "b": 1e3 * float(rng.integers(-2, 2))}
        constraints = named if outcomes >= constrained_from else {}
        if kind == 0:
            log.append((number, FAILURE))
        elif kind == 1:
            log.append((number, Reading((value,), 0.25 * (1 + number), constraints=constraints)))
        else:
            log.append((number, Reading((value, value + 1.0)[: 1 + kind % 2], constraints=constraints)))
        outcomes += 1
    return log


def live(history: History, log: list[Action]) -> History:
    """One after another."""
    for number, reading in log:
        if reading is None:
            assert history.begin(params_of(number), spot_of(number), f"because {number}") == number
        else:
            history.finish(number, reading)
    return history


def restore(history: History, log: list[Action]) -> History:
    """All at once."""
    begun = [number for number, reading in log if reading is None]
    points = np.array([spot_of(number) for number in begun]).reshape(-1, 2)
    finished = [(number, reading) for number, reading in log if reading is not None]
    history.restore(begun, [params_of(i) for i in begun], points, [f"because {i}" for i in begun], finished)
    return history


def empty(direction: str = "maximize") -> History:
    return History(2, Direction(direction))


def looked_up(log: list[Action], direction: str) -> dict[str, object]:
    """Some of the same answers by looking at every trial, as they are defined."""
    points = [spot_of(number) + 0.0 for number, reading in log if reading is None]
    told = {number: reading for number, reading in log if reading is not None}
    complete = sorted(number for number, reading in told.items() if reading.failure is None)
    failed = sorted(number for number, reading in told.items() if reading.failure is not None)
    pending = [number for number in range(len(points)) if number not in told]
    spots = [*SPOTS, np.array([0.5, 0.501])]
    at = [[i for i, point in enumerate(points) if (point == x).all()] for x in spots]
    sign = 1.0 if direction == "maximize" else -1.0
    means = {i: sign * sum(told[i].values) / len(told[i].values) for i in complete}
    constrained = [i for i in complete if told[i].constraints]
    excess = np.maximum([list(told[i].constraints.values()) for i in constrained], 0.0).reshape(-1, 2)
    total = dict(
        zip(constrained, (excess / np.maximum(excess.max(axis=0, initial=0.0), 1e-300)).sum(axis=1), strict=True)
    )
    best = min(constrained or complete, key=lambda i: (total.get(i, 0.0), -means[i], i), default=None)
    taken = [spot_of(i) for i in [*pending, *failed]]
    return {
        "best seen": best,
        "constraint names": ("a", "b") if constrained else (),
        "standard errors": any(told[i].sem is not None for i in complete),
        "numbers": [pending, complete, failed],
        "taken": ((len(taken), 2), np.array(taken).tobytes()),
        "is taken": [any(i in pending or i in failed for i in here) for here in at],
        "first at": [here[0] if here else None for here in at],
        "summary": f"{len(complete)} complete, {len(failed)} failed, {len(pending)} pending",
    }


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("constrained_from", [0, 6, 25, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_restored_is_what_happened_one_after_another(seed: int, constrained_from: int, direction: str) -> None:
    """Begun and finished in turn there, all begun before any is finished here; after that both go on alike."""
    log = log_of(60, seed, constrained_from)
    alone, together = live(empty(direction), log), restore(empty(direction), log)
    assert answers(together) == answers(alone)
    found, best = answers(together), together.best_seen
    found["best seen"] = None if best is None else best.number
    wanted = looked_up(log, direction)
    assert {name: found[name] for name in wanted} == wanted
    states = [record.state for record in alone.records]
    assert {state: states.count(state) > 1 for state in STATES} == dict.fromkeys(STATES, True)
    for number in alone.numbers("pending"):
        reading = Reading((9.0,), constraints={"a": -1.0, "b": 0.0} if alone.constraint_names else {})
        for history in (alone, together):
            history.finish(number, reading if number % 3 else FAILURE)
        assert answers(together) == answers(alone)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("constrained_from", [0, 12, 30, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_a_stretch_may_finish_trials_that_began_before_it(seed: int, constrained_from: int, direction: str) -> None:
    """One stretch after another, of random lengths, some without asks or without tells, some one by one."""
    log = log_of(80, seed, constrained_from)
    ends = np.sort(generator(seed, 1).integers(0, len(log), 9)).tolist()
    alone, together = empty(direction), empty(direction)
    finished_later = 0
    for i, (begin, end) in enumerate(zip([0, *ends], [*ends, len(log)], strict=True)):
        part, first = log[begin:end], len(together)
        finished_later += sum(reading is not None and number < first for number, reading in part)
        live(alone, part)
        if i % 3 == 2:
            live(together, part)
        else:
            restore(together, part)
        assert answers(together) == answers(alone)
    assert finished_later > 5


def test_constraints_that_begin_in_the_middle_leave_earlier_trials_out() -> None:
    """The best value has no constraints told: whether they hold there is not known, in either way."""
    readings = [Reading((9.0,)), Reading((1.0,), constraints={"a": -1.0}), Reading((2.0,), constraints={"a": 1.0})]
    log = [*((number, None) for number in range(3)), *enumerate(readings)]
    for history in (live(empty(), log), restore(empty(), log)):
        assert history.constraint_names == ("a",)
        best = history.best_seen
        assert best is not None
        assert (best.number, best.feasible) == (1, True)


def test_restoring_nothing_changes_nothing() -> None:
    history = live(empty(), log_of(20, 0, 5))
    before = answers(history)
    history.restore([], [], np.empty((0, 2)), [], [])
    assert answers(history) == before
    assert answers(restore(empty(), [])) == answers(empty())


def test_what_is_given_to_be_restored_stays_the_callers_own() -> None:
    """Changing it afterwards does not change the history, and points that were handed out stay as they were."""
    history = empty()
    params, points, why = [{"x": 0.0}, {"x": 1.0}], SPOTS[2:4].copy(), ["first", "second"]
    history.restore([0, 1], params, points, why, [(1, Reading((1.0,)))])
    before, point = answers(history), history.point(0)
    params[0]["x"], points[:], why[0] = 5.0, 0.0, "changed"
    params.clear()
    assert answers(history) == before
    restore(history, [(number, None) for number in range(2, 40)])
    assert point.tolist() == SPOTS[2].tolist()
    with pytest.raises(ValueError, match="read-only"):
        history.point(1)[:] = 0.0
    assert history.record(0) == TrialRecord(0, {"x": 0.0}, "first")
