"""Soaks: virtual time is that of a fleet, what is counted is what there is, and tables say what rows say."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soak
from regret.rows import Row
from soaking import fleet, tables
from soaking.fleet import Evaluations, repeats, simulated
from soaking.held import bytes_held, in_a_copy
from soaking.virtual_clock import VirtualExecutor, VirtualWorkers

import quadrat as qd
from quadrat.loop.plan import Plan
from quadrat.loop.tuning import carry_out
from quadrat.optimizer import Trial

ROOT = Path(__file__).resolve().parents[2]


def executor_of(workers: int, *durations: float) -> VirtualExecutor:
    return VirtualExecutor(workers, iter(durations).__next__)


# --- the virtual clock


def test_answers_come_in_the_order_in_which_they_are_due() -> None:
    executor = executor_of(3, 3.0, 1.0, 2.0)
    workers = VirtualWorkers(lambda params: params["i"], executor)
    for i in range(3):
        workers.start(Trial(i, {"i": i}, ""))
    assert workers.room == 0
    seen = []
    while workers.busy:
        (finished,) = workers.collect(None)
        seen.append((finished.trial.number, finished.outcome, executor.now))
    assert seen == [(1, 1, 1.0), (2, 2, 2.0), (0, 0, 3.0)]


def test_what_is_due_at_the_same_time_comes_together() -> None:
    workers = VirtualWorkers(lambda params: params["i"], executor_of(3, 2.0, 1.0, 2.0))
    for i in range(3):
        workers.start(Trial(i, {"i": i}, ""))
    assert [[finished.trial.number for finished in workers.collect(None)] for _ in range(2)] == [[1], [0, 2]]


def test_an_evaluation_that_raises_takes_its_time_too() -> None:
    executor = executor_of(1, 2.5)

    def fails() -> None:
        raise ValueError("no")

    future: Future[Any] = executor.submit(fails)
    assert not future.done()
    executor.advance()
    assert isinstance(future.exception(), ValueError)
    assert executor.now == 2.5


def test_more_calls_than_workers_wait() -> None:
    """Two workers and durations 4, 1, 1, 1: the second one takes three calls in turn."""
    executor = executor_of(2, 4.0, 1.0, 1.0, 1.0)
    for i in range(4):
        executor.submit(int, i)
    while len(executor.ended) < 4:
        executor.advance()
    assert executor.ended == {0: 4.0, 1: 1.0, 2: 2.0, 3: 3.0}


@pytest.mark.parametrize(("workers", "rounds"), [(1, 6), (4, 3)])
def test_equal_durations_have_a_closed_form(workers: int, rounds: int) -> None:
    """`rounds` evaluations by each worker, of 1/4 each: virtual time is rounds / 4, and nobody is ever idle."""
    executor = VirtualExecutor(workers, lambda: 0.25)
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method="RandomSearch")
    carry_out(Plan(workers * rounds), optimizer, VirtualWorkers(lambda params: params["x"], executor))
    assert executor.now == rounds / 4
    assert sorted(executor.ended.values()) == [turn / 4 for turn in range(1, rounds + 1) for _ in range(workers)]


@pytest.mark.parametrize("duration", [-1.0, float("nan"), float("inf")])
def test_durations_are_checked(duration: float) -> None:
    with pytest.raises(ValueError, match="duration"):
        executor_of(1, duration).submit(int)


# --- fleets


def test_a_fleet_repeats_by_its_seed() -> None:
    def run(seed: int) -> Row:
        row = simulated("random", 5, 15, seed)
        return {name: row[name] for name in ("virtual_time", "busy", "regret", "repeats")}

    assert run(1) == run(1)
    assert run(1)["regret"] != run(3)["regret"]


def test_both_coordinators_ask_for_the_same() -> None:
    """The one of studies and the loop of `maximize`: the order of results is the same, and nothing else may count."""
    points = []
    for kind in ("study", "maximize"):
        log = Evaluations(2, 3)
        (fleet._study if kind == "study" else fleet._loop)(kind, log, 12, 2)
        points.append(np.array(log.points))
    np.testing.assert_array_equal(points[0], points[1])


def test_a_row_accounts_for_virtual_time() -> None:
    row = simulated("random", 1, 6, 0)
    assert row["busy"] == pytest.approx(1.0), "a worker alone always has something to do"
    evaluations = Evaluations(0, 1)
    durations = [evaluations.executor._duration() for _ in range(6)]
    assert row["virtual_time"] == pytest.approx(sum(durations), rel=1e-5)
    assert simulated("random", 6, 6, 0)["virtual_time"] == pytest.approx(max(durations), rel=1e-5)


def test_durations_have_mean_one() -> None:
    duration = Evaluations(0, 1).executor._duration
    # sd of a log-normal value of sigma 1 is 1.31 times its mean: 4.5 standard errors
    assert np.mean([duration() for _ in range(4000)]) == pytest.approx(1.0, abs=4.5 * 1.31 / 4000**0.5)


def test_repeats_are_told_apart_by_whether_the_first_still_runs() -> None:
    points = np.array([[0.1], [0.2], [0.1], [0.1], [0.2]])
    assert repeats(points, np.array([0.0, 0.0, 1.0, 5.0, 2.0]), np.array([2.0, 1.0, 3.0, 6.0, 4.0])) == (1, 2)


# --- memory


def test_bytes_held_are_those_of_everything_reached_once() -> None:
    array = np.zeros(1000)
    part = array[10:20]
    held = bytes_held({"first": [part], "second": [array, part], "third": np})
    assert array.nbytes < held["first"] < array.nbytes + 500, "a part keeps the whole"
    assert held["second"] < 100, "what is shared counts once"
    assert held["third"] == 0, "modules are the program's"
    longer = bytes_held({"all": [float(i) for i in range(1000)]})["all"]
    assert longer == pytest.approx(1000 * (8 + 24), rel=0.1)


def test_a_copy_of_the_process_answers_and_changes_nothing() -> None:
    known: list[int] = []

    def measure() -> list[int]:
        known.append(7)
        return known

    assert in_a_copy(measure) == [7]
    assert known == []


# --- tables


def checkpoint(n: int, mb: float, held: int) -> Row:
    times = {"mean": 2.0, "median": 1.0, "most": 9.0}
    parts = {"log": held, "history": 0, "search": 0}
    return {"n": n, "mb": {"now": mb, "most": mb}, "bytes": parts, "ask": times, "tell": times}


def test_growth_is_of_the_second_half() -> None:
    seen = [checkpoint(n, mb, 0) for n, mb in ((0, 50.0), (10, 90.0), (50, 100.0), (100, 110.0))]
    assert tables.growth(seen, lambda row: float(row["mb"]["now"])) == pytest.approx(0.2)


def test_a_leak_would_be_seen() -> None:
    row: Row = {
        "method": "memory", "n": 100, "checkpoints": [checkpoint(50, 1.0, 500), checkpoint(100, 2.0, 1000)],
        "rebuilt_bytes": {"log": 250, "history": 150, "search": 100}, "same": False, "state_mb": 1.0,
        "seconds_of": {"state": 1.0, "from_state": 1.0},
    }  # fmt: skip
    text = tables.tables([row], {100: 3.5, 1000: 7.0})
    assert "| resident memory grows in the second half, bytes a trial | 20,972 |" in text
    assert "| what the optimizer holds grows, bytes a trial | 10 |" in text
    assert "| held at the end / by an optimizer built from its state | 2.000 |" in text
    assert "| the next suggestion after a restart is the same | no |" in text
    assert "| 100 | 2 | 10 | 0 | 0 | 1 | 2 | 9 | 2 | 4 | 1.00 | 3.5 | 0.50 |" in text


def test_what_was_not_measured_is_named() -> None:
    assert "Not measured: study 100 with 2,000 trials: RuntimeError: no." in tables.tables(
        [{"method": "study 100", "n": 2000, "error": "RuntimeError: no"}], {}
    )


def test_what_is_documented_is_the_median_over_rounds() -> None:
    def curve(seconds: float) -> Row:
        of = {call: {"cpu": [seconds, 3 * seconds]} for call in ("ask", "tell")}
        return {"method": "curve", "n": 50, "seconds_of": of}

    assert soak.documented([curve(1e-3), curve(9e-3), curve(2e-3)]) == {50: pytest.approx(8.0)}


def test_smoke() -> None:
    """All parts, tiny: each is a process of its own, and every trial of the study was evaluated exactly once."""
    command = [sys.executable, str(ROOT / "benchmarks" / "soak.py"), "--smoke"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Not measured" not in out
    for line in (
        "| the next suggestion after a restart is the same | yes |",
        "| trials, complete | 4 of 4 |",
        "| left running | 0 |",
        "| every trial evaluated exactly once | yes |",
    ):
        assert line in out
    assert "| study, 4 workers |" in out
    assert "| in series |" in out
