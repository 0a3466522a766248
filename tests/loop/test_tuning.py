"""The loop: when it ends, what it survives, what it returns."""

from __future__ import annotations

import importlib
import logging
import math
import multiprocessing
import operator
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.loop import Result, maximize, minimize
from quadrat.methods.base import Method
from quadrat.methods.lp.method import LP0
from quadrat.optimizer import FAILED, Estimate, Measured, Optimizer, TrialRecord
from quadrat.space import Float, Int, Space

SPACE = Space(x=Float(-1, 1), n=Int(1, 3))
LINE = Space(x=Float(0, 1))
CERTIFYING = LP0(kernel=Matern(2.5, 0.3), norm_bound=1.0, noise=0.01, budget=100)


def bowl(params: dict[str, Any]) -> float:
    return float(params["x"] ** 2 + params["n"])


def one(params: dict[str, Any]) -> float:
    return 1.0


def test_the_result_of_a_run() -> None:
    result = minimize(bowl, SPACE, n_trials=12, method="RandomSearch", seed=1)
    assert result.value == bowl(result.params) == result.best_seen.value
    assert result.value == min(record.values[0] for record in result.trials)
    assert (result.n_trials, result.message, result.direction) == (12, "all 12 trials done", "minimize")
    assert (result.certificate, result.certified_interval, result.rejected) == (None, None, None)
    assert "does not certify" in str(result.certificate_reason)


def test_minimizing_is_maximizing_the_negative() -> None:
    low = minimize(bowl, SPACE, n_trials=9, method="ExpectedImprovement", seed=2)
    high = maximize(lambda params: -bowl(params), SPACE, n_trials=9, method="ExpectedImprovement", seed=2)
    assert [record.params for record in low.trials] == [record.params for record in high.trials]
    assert low.params == high.params
    assert low.value == -high.value
    assert low.credible_interval is not None
    assert high.credible_interval is not None
    assert low.credible_interval == (-high.credible_interval[1], -high.credible_interval[0])
    assert low.estimated_gain == high.estimated_gain


def test_the_same_seed_gives_the_same_run() -> None:
    first, again, other = (minimize(bowl, SPACE, n_trials=7, seed=seed) for seed in (4, 4, 5))
    assert first.trials == again.trials
    assert first == again
    assert first.trials[1].params != other.trials[1].params  # the first is the centre, whatever the seed


@pytest.mark.parametrize("outcome", [[1.0, 2.0, 3.0], Estimate(2.0, 0.5), np.float32(2.0), np.array([2.0, 2.0])])
def test_objectives_may_return_any_outcome(outcome: object) -> None:
    assert maximize(lambda _: outcome, SPACE, n_trials=2, method="RandomSearch").value == 2.0


# --- constraints


def test_an_objective_may_return_constraints() -> None:
    """The most is at x = 1, where the constraint x <= 0.3 does not hold."""
    result = maximize(lambda p: Measured(p["x"], {"limit": p["x"] - 0.3}), LINE, n_trials=12)
    assert 0.29 < result.params["x"] <= 0.3
    assert result.best_seen.feasible is True
    assert result.estimated_feasibility is not None
    assert result.estimated_feasibility >= 0.5
    assert result.trials[0].constraints == {"limit": 0.5 - 0.3}


def test_where_the_constraints_hold_nowhere_the_run_ends_as_planned_and_says_so() -> None:
    result = maximize(lambda p: Measured(p["x"], {"limit": 1.0 + p["x"]}), LINE, n_trials=9, stop_at_gain=1e3)
    assert result.message == "all 9 trials done", "without a point that counts nothing is known of the gain"
    assert result.estimated_gain is None
    assert result.best_seen.feasible is False
    assert result.best_seen.params == result.params
    assert result.why.startswith(f"In no trial did all constraints hold (trial {result.best_seen.number} violated")
    assert result.params["x"] == min(record.params["x"] for record in result.trials)


def test_constraints_that_a_method_would_ignore_end_the_run_at_once() -> None:
    with pytest.raises(InvalidInput, match=r"objective: trial 0: constraints: expected a method .* got RandomSearch"):
        maximize(lambda p: Measured(p["x"], {"limit": p["x"]}), LINE, n_trials=3, method="RandomSearch")


def test_a_trial_without_its_constraints_fails() -> None:
    outcomes = iter([Measured(1.0, {"limit": -1.0}), 2.0, FAILED, Measured(3.0, {"limit": 1.0})])
    result = maximize(lambda _: next(outcomes), LINE, n_trials=4)
    assert [record.state for record in result.trials] == ["complete", "failed", "failed", "complete"]
    assert "expected values of 'limit'" in str(result.trials[1].failure)
    assert result.best_seen.number == 0


# --- failures


def test_a_raising_objective_fails_its_trial_and_is_logged_with_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def objective(params: dict[str, Any]) -> Any:
        if params["n"] == 2:
            raise RuntimeError("no two please")
        if params["n"] == 3:
            return FAILED
        return bowl(params)

    with caplog.at_level(logging.WARNING, logger="quadrat.loop"):
        result = minimize(objective, SPACE, n_trials=12, method="RandomSearch")
    reasons = {record.params["n"]: record.failure for record in result.trials}
    assert reasons == {1: None, 2: "RuntimeError: no two please", 3: "told FAILED"}
    assert result.params["n"] == 1
    assert caplog.records[0].exc_info is not None
    assert "no two please" in caplog.text
    assert "failed" in repr(result)


def test_when_all_fail_the_last_exception_is_named_and_is_the_cause() -> None:
    def objective(params: dict[str, Any]) -> float:
        raise KeyError("gpu")

    with pytest.raises(NotAvailable, match=r"maximize: .* got 3 that failed; the last: KeyError: 'gpu'") as caught:
        maximize(objective, SPACE, n_trials=3, method="RandomSearch")
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_exit_in_the_objective_is_a_failure() -> None:
    def objective(params: dict[str, Any]) -> float:
        return sys.exit(3) if params["x"] < 0 else 1.0

    result = maximize(objective, SPACE, n_trials=8, method="RandomSearch")
    assert "SystemExit: 3" in [record.failure for record in result.trials]


def test_an_outcome_that_is_none_ends_a_run_that_has_nothing_to_lose_and_fails_a_trial_otherwise() -> None:
    with pytest.raises(InvalidInput, match=r"objective: trial 0: outcome: expected a number, .* got None"):
        maximize(lambda _: None, SPACE, n_trials=3, method="RandomSearch")
    outcomes = iter([1.0, None, 2.0])
    result = maximize(lambda _: next(outcomes), SPACE, n_trials=3, method="RandomSearch")
    assert [record.state for record in result.trials] == ["complete", "failed", "complete"]
    assert "got None" in str(result.trials[1].failure)


def test_the_objective_may_change_its_dictionary() -> None:
    result = maximize(lambda params: params.pop("x"), SPACE, n_trials=3, method="RandomSearch")
    assert all(set(record.params) == {"x", "n"} for record in result.trials)


# --- endings


def test_callbacks_see_every_trial_and_only_true_ends_the_run() -> None:
    seen: list[int] = []

    def watch(optimizer: Optimizer, record: TrialRecord) -> object:
        assert optimizer.trials[record.number] == record
        seen.append(record.number)
        return "this is not True"

    def stop(optimizer: Optimizer, record: TrialRecord) -> bool:
        return record.number == 3

    result = maximize(one, SPACE, n_trials=10, method="RandomSearch", callbacks=[watch, stop])
    assert seen == [0, 1, 2, 3]
    assert result.message == "stopped by a callback after 4 trials"


def test_timeout_is_checked_between_trials() -> None:
    def slow(params: dict[str, Any]) -> float:
        time.sleep(0.05)
        return 1.0

    result = maximize(slow, SPACE, n_trials=1000, timeout=0.12, method="RandomSearch")
    assert 1 <= result.n_trials < 1000
    assert result.message.startswith("timeout of 0.12 s reached after")


def test_stop_rules() -> None:
    result = minimize(lambda p: p["x"] ** 2, Space(x=Float(-1, 1)), n_trials=40, stop_at_gain=1e3)
    assert result.n_trials == 5, "not before the scale of the values is known"
    upper = result.estimated_gain_upper
    assert upper is not None
    said = f"with more than 99 % at most 1000 is left to gain, and with 90 % at most {upper:.4g}"
    assert result.message == f"{said} (stop_at_gain) after 5 trials"
    result = maximize(lambda p: p["x"] * (1 - p["x"]), LINE, n_trials=100, method=CERTIFYING, stop_at_certificate=1.0)
    assert result.certificate is not None
    assert result.certificate <= 1.0
    assert result.n_trials < 100
    assert result.message.startswith("the certificate, ")
    assert "within" in repr(result)


def bumps(params: dict[str, Any]) -> float:
    x = params["x"]
    return math.sin(11 * x) * math.exp(-x) + 0.02 * math.sin(1e5 * x)


def test_a_run_stops_by_the_upper_value_of_the_gain() -> None:
    """The mean of the gain is below the threshold many trials earlier."""
    threshold, means, uppers = 0.1, [], []

    def note(optimizer: Optimizer, record: TrialRecord) -> None:
        found = optimizer.recommend()
        assert found.estimated_gain is not None
        assert found.estimated_gain_upper is not None
        means.append(found.estimated_gain)
        uppers.append(found.estimated_gain_upper)

    result = maximize(bumps, LINE, n_trials=40, stop_at_gain=threshold, callbacks=[note], seed=1)
    assert 5 < result.n_trials < 40
    assert uppers[-1] <= threshold
    assert all(upper > threshold for upper in uppers[4:-1])
    assert any(mean <= threshold for mean in means[4:-1]), "else the two rules would be the same here"


def test_a_gain_ends_no_run_before_five_values_are_known() -> None:
    """After one trial the scale of the values is not known, nor after failures."""
    result = maximize(bumps, LINE, n_trials=4, stop_at_gain=1e6)
    assert result.message == "all 4 trials done"

    def failing(params: dict[str, Any]) -> float:
        return math.nan if params["x"] > 0.3 else params["x"]

    result = maximize(failing, LINE, n_trials=30, stop_at_gain=1e6)
    assert sum(trial.state == "complete" for trial in result.trials) == 5
    assert result.n_trials > 5


@pytest.mark.parametrize("method", ["RandomSearch", "SobolSearch", CERTIFYING])
def test_a_method_that_estimates_no_gain_cannot_stop_by_it(method: str | Method) -> None:
    with pytest.raises(InvalidInput, match=r"stop_at_gain: expected a method that estimates .* such as Auto, got"):
        maximize(one, LINE, n_trials=3, method=method, stop_at_gain=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trials": 0}, "n_trials: expected an integer >= 1, got 0"),
        ({"n_trials": 2.0}, "n_trials: expected an integer"),
        ({"n_trials": True}, "n_trials: expected an integer"),
        ({"timeout": 0}, "timeout: expected a finite number > 0"),
        ({"timeout": "1h"}, "timeout: expected a finite number > 0"),
        ({"stop_at_gain": -1}, "stop_at_gain: expected a finite number >= 0"),
        ({"stop_at_certificate": 0.1}, "a method that certifies, such as LPGPUCB, got RandomSearch"),
        ({"stop_at_certificate": 0.1, "method": CERTIFYING}, "Floats without steps or conditions, got n"),
        ({"callbacks": print}, "callbacks: expected a list of functions"),
        ({"callbacks": [3]}, "callbacks: expected functions of"),
        ({"executor": 4}, r"expected a concurrent\.futures\.Executor, got 4"),
        ({"workers": 4}, "workers: expected None without an executor"),
        ({"workers": 0}, "workers: expected an integer >= 1"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        maximize(one, SPACE, **{"n_trials": 3, "method": "RandomSearch", **options})


def test_the_objective_must_be_a_function() -> None:
    with pytest.raises(InvalidInput, match="objective: expected a function"):
        maximize(3.0, SPACE, n_trials=3)  # type: ignore[arg-type]


# --- executors


def test_an_executor_is_kept_full_and_no_fuller() -> None:
    lock, running, most = threading.Lock(), 0, 0
    full = threading.Barrier(3, timeout=20)

    def objective(params: dict[str, Any]) -> float:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        full.wait()  # only three at a time get past: fewer than three in parallel would time out
        with lock:
            running -= 1
        return bowl(params)

    with ThreadPoolExecutor(5) as pool:
        result = minimize(objective, SPACE, n_trials=9, method="RandomSearch", executor=pool, workers=3)
    assert most == 3
    assert [record.state for record in result.trials] == ["complete"] * 9


def test_what_is_asked_does_not_depend_on_threads_where_the_method_does_not_look_back() -> None:
    serial = minimize(bowl, LINE_AND_N, n_trials=9, method="RandomSearch", seed=3)
    with ThreadPoolExecutor(3) as pool:
        threads = minimize(bowl, LINE_AND_N, n_trials=9, method="RandomSearch", seed=3, executor=pool)
    assert [r.params for r in serial.trials] == [r.params for r in threads.trials]


LINE_AND_N = Space(x=Float(-1, 1), n=Float(1, 3))


class Backwards(Executor):
    """Finishes the last submitted first, when two are waiting: the order of telling is under control."""

    _max_workers = 2

    def __init__(self) -> None:
        self._waiting: list[tuple[Future[Any], Any, Any]] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, fn, args))
        if len(self._waiting) == 2:
            newest, function, arguments = self._waiting.pop()
            newest.set_result(function(*arguments))
        return future

    def finish(self) -> None:
        for future, function, arguments in self._waiting:
            if not future.cancelled():
                future.set_result(function(*arguments))
        self._waiting.clear()


def test_with_an_executor_the_run_depends_on_the_order_of_telling_only() -> None:
    def run() -> Result:
        executor = Backwards()
        return minimize(
            bowl,
            SPACE,
            n_trials=8,
            seed=1,
            executor=executor,
            callbacks=[lambda _, record: executor.finish() if record.number == 7 else None],
        )

    first, again = run(), run()
    assert first.trials == again.trials
    assert first.n_trials == 8


def test_processes_work() -> None:
    # Spawned, because a fork of a process with threads is a warning; and so the objective must be importable there.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        result = maximize(operator.itemgetter("x"), SPACE, n_trials=3, method="RandomSearch", executor=pool)
    assert [record.state for record in result.trials] == ["complete"] * 3


def test_constraints_come_back_from_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "objective_with_constraints.py").write_text(
        "from quadrat import Measured\n\n\ndef objective(params):\n"
        "    return Measured([params['x'], params['x'] + 2.0], {'n': params['n'] - 2, 'x': -params['x']})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))  # a spawned process is told of it
    objective = importlib.import_module("objective_with_constraints").objective
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        result = maximize(objective, SPACE, n_trials=8, executor=pool)
    for record in result.trials:
        x, n = record.params["x"], record.params["n"]
        assert record.values == (x, x + 2.0)
        assert record.constraints == {"n": n - 2, "x": -x}
        assert record.feasible is (n <= 2 and x >= 0)


class Mortal(Executor):
    """Its worker dies in the third evaluation, as one that runs out of memory does."""

    _max_workers = 1

    def __init__(self) -> None:
        self._submitted = 0

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        self._submitted += 1
        if self._submitted > 3:
            raise BrokenProcessPool("not usable anymore")
        future: Future[Any] = Future()
        if self._submitted == 3:
            future.set_exception(BrokenProcessPool("a process was terminated abruptly"))
        else:
            future.set_result(fn(*args))
        return future


def test_a_dead_worker_ends_the_run_with_what_there_is() -> None:
    result = minimize(bowl, SPACE, n_trials=30, method="RandomSearch", executor=Mortal())
    assert [record.state for record in result.trials] == ["complete", "complete", "failed"]
    broken = "BrokenProcessPool: a process was terminated abruptly"
    assert result.message == f"the executor broke ({broken}) after 3 trials"
    assert result.trials[2].failure == broken


def test_an_executor_that_was_shut_down_is_named() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(NotAvailable, match=r"the executor broke .RuntimeError: cannot schedule new futures"):
        maximize(one, SPACE, n_trials=3, method="RandomSearch", executor=pool)


@pytest.mark.parametrize("run", [maximize, minimize])
def test_the_number_of_workers_by_its_former_name(run: Callable[..., Result]) -> None:
    with ThreadPoolExecutor(5) as pool:
        options = {"n_trials": 3, "method": "RandomSearch", "executor": pool}
        with pytest.warns(DeprecationWarning, match="n_parallel= is now workers="):
            former = run(bowl, SPACE, n_parallel=1, **options)
        assert former == run(bowl, SPACE, workers=1, **options)
        with pytest.raises(InvalidInput, match="n_parallel: expected workers alone, got both"):
            run(bowl, SPACE, n_parallel=1, workers=1, **options)


def test_an_executor_of_unknown_size_needs_a_number_of_workers() -> None:
    class Silent(Executor):
        pass

    with pytest.raises(InvalidInput, match="because Silent does not tell how many workers it has"):
        maximize(one, SPACE, n_trials=3, executor=Silent(), method="RandomSearch")


# --- interrupts


def test_an_interrupt_returns_what_there_is() -> None:
    def objective(params: dict[str, Any]) -> float:
        objective.calls += 1  # type: ignore[attr-defined]
        if objective.calls == 4:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return 1.0

    objective.calls = 0  # type: ignore[attr-defined]
    result = maximize(objective, SPACE, n_trials=10, method="RandomSearch")
    assert result.message == "interrupted after 3 trials"
    assert [record.state for record in result.trials] == ["complete"] * 3 + ["pending"]


def test_an_interrupt_before_any_value_stays_an_interrupt() -> None:
    def objective(params: dict[str, Any]) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        maximize(objective, SPACE, n_trials=10, method="RandomSearch")


def test_an_interrupt_drains_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes while two trials run and the loop waits; both are waited for and told, no other begins."""
    release = threading.Event()

    def interrupted_once(*args: Any, **kwargs: Any) -> Any:
        if release.is_set():
            return wait(*args, **kwargs)
        release.set()
        raise KeyboardInterrupt

    def objective(params: dict[str, Any]) -> float:
        release.wait(20)
        return 1.0

    monkeypatch.setattr("quadrat.loop.workers.wait", interrupted_once)
    with ThreadPoolExecutor(2) as pool:
        result = maximize(objective, SPACE, n_trials=10, method="RandomSearch", executor=pool)
    assert [record.state for record in result.trials] == ["complete"] * 2
    assert result.message == "interrupted after 0 trials"


def test_a_form_that_cannot_certify_is_refused_where_a_certificate_is_to_stop_the_run() -> None:
    learning = qd.LPGPUCB(kernel=None, norm_bound=1.0, noise=0.1, budget=6)
    with pytest.raises(
        InvalidInput, match=r"expected a form of the method that certifies, .* state a kernel to certify"
    ):
        maximize(lambda p: p["x"], LINE, n_trials=6, method=learning, stop_at_certificate=0.3)
