"""Dask as executor: what evaluations give comes back, and what ends without giving anything is told."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.loop import dask_executor
from quadrat.loop.dask_executor import DaskExecutor, SchedulerGone
from quadrat.loop.workers import OnExecutor, WorkerDied
from quadrat.studies import Coordinator

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'quadrat[dask]'")

import dask
import distributed

PATIENCE = 60.0  # seconds until a test gives up


# Functions that are made by functions travel by value: the workers cannot import this file.


def begins_and_waits(folder: Path, value: object = None) -> Callable[[], object]:
    """Write down its process, then wait until there is a file `go`, though not for ever."""

    def evaluate() -> object:
        (folder / str(os.getpid())).touch()
        deadline = time.monotonic() + 2 * PATIENCE
        while not (folder / "go").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        return value

    return evaluate


def ends_its_process(folder: Path) -> Callable[[], object]:
    """Write down its process, then end it."""

    def evaluate() -> object:
        (folder / str(os.getpid())).touch()
        os._exit(1)

    return evaluate


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def processes(folder: Path) -> list[int]:
    """The processes that evaluations have written down."""
    return [int(path.name) for path in folder.iterdir() if path.name.isdigit()]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where workers keep files, so that they leave none elsewhere."""
    with dask.config.set({"temporary-directory": str(tmp_path_factory.mktemp("dask"))}):
        yield


@pytest.fixture(scope="module")
def executor(scratch: None) -> Iterator[DaskExecutor]:
    with DaskExecutor(workers=2) as made:
        yield made


@pytest.fixture
def joined(executor: DaskExecutor) -> Iterator[DaskExecutor]:
    """A second executor on the first one's cluster."""
    with DaskExecutor(scheduler=executor._cluster.scheduler_address) as made:
        yield made


def test_values(executor: DaskExecutor) -> None:
    assert executor._max_workers == 2
    assert executor.submit(sorted, [2, 1, 3], reverse=True).result(PATIENCE) == [3, 2, 1]
    assert list(executor.map(lambda x: x**2, range(5), timeout=PATIENCE)) == [0, 1, 4, 9, 16]
    kept = executor.submit(os.getpid)
    assert kept.result(PATIENCE) != os.getpid()
    wait_for(lambda: not executor._client.who_has())  # the cluster does not keep the value as well


def test_arguments_are_nothing_to_dask(executor: DaskExecutor) -> None:
    """Neither as options of its own, nor as tasks."""
    options = {"pure": 1, "key": "a", "workers": "b", "retries": 2}
    assert executor.submit(lambda **given: given, **options).result(PATIENCE) == options
    assert executor.submit(lambda given: given, (len, [1])).result(PATIENCE) == (len, [1])


def test_the_same_arguments_are_evaluated_as_often_as_they_come(executor: DaskExecutor) -> None:
    assert executor.submit(time.time_ns).result(PATIENCE) != executor.submit(time.time_ns).result(PATIENCE)


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), SystemExit(3)], ids=repr)
def test_exceptions_come_through(error: BaseException, executor: DaskExecutor) -> None:
    def evaluate() -> None:
        raise error

    process = executor.submit(os.getpid)
    got = executor.submit(evaluate).exception(PATIENCE)
    assert type(got) is type(error)
    assert got is not error
    assert got.args == error.args
    assert is_alive(process.result(PATIENCE))


def test_a_worker_that_dies(executor: DaskExecutor, tmp_path: Path) -> None:
    """Dask does not try again by itself, and there is a new worker afterwards."""
    with pytest.raises(WorkerDied, match="went away"):
        executor.submit(ends_its_process(tmp_path)).result(PATIENCE)
    assert len(processes(tmp_path)) == 1
    (tmp_path / "go").touch()
    futures = [executor.submit(begins_and_waits(tmp_path, value)) for value in range(4)]
    assert [future.result(PATIENCE) for future in futures] == [0, 1, 2, 3]
    wait_for(lambda: len(executor._client.nthreads()) == 2)


def test_giving_up_ends_one_process(executor: DaskExecutor, tmp_path: Path) -> None:
    wait_for(lambda: len(executor._client.nthreads()) == 2)
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    given_up = executor.submit(begins_and_waits(first))
    wait_for(lambda: processes(first))
    other = executor.submit(begins_and_waits(second, "value"))
    wait_for(lambda: processes(second))
    executor.abandon(given_up)
    with pytest.raises(WorkerDied, match="given up"):
        given_up.result(PATIENCE)
    wait_for(lambda: not is_alive(processes(first)[0]))
    (second / "go").touch()
    assert other.result(PATIENCE) == "value"
    executor.abandon(other)
    assert other.result() == "value", "it had ended before"
    wait_for(lambda: len(executor._client.nthreads()) == 2)


def test_giving_up_ends_a_process_that_has_just_replaced_another(tmp_path: Path) -> None:
    with DaskExecutor(1) as executor:
        for number in range(3):
            folder = tmp_path / str(number)
            folder.mkdir()
            given_up = executor.submit(begins_and_waits(folder))
            wait_for(lambda folder=folder: processes(folder))  # type: ignore[misc]  # which folder is bound now
            executor.abandon(given_up)
            with pytest.raises(WorkerDied, match="given up"):
                given_up.result(PATIENCE)
            wait_for(lambda folder=folder: not is_alive(processes(folder)[0]))  # type: ignore[misc]


def test_giving_up_on_a_cluster_of_others_leaves_its_workers(
    executor: DaskExecutor, joined: DaskExecutor, tmp_path: Path
) -> None:
    given_up = joined.submit(begins_and_waits(tmp_path))
    wait_for(lambda: processes(tmp_path))
    joined.abandon(given_up)
    with pytest.raises(WorkerDied, match="given up"):
        given_up.result(PATIENCE)
    (tmp_path / "go").touch()
    assert executor.submit(lambda: 1).result(PATIENCE) == 1
    assert all(is_alive(process) for process in processes(tmp_path))


def test_giving_up_what_waits(executor: DaskExecutor, tmp_path: Path) -> None:
    running = [executor.submit(begins_and_waits(tmp_path, value)) for value in range(2)]
    waits = executor.submit(lambda: "evaluated")
    executor.abandon(waits)
    (tmp_path / "go").touch()
    with pytest.raises(WorkerDied, match="given up"):
        waits.result(PATIENCE)
    assert [future.result(PATIENCE) for future in running] == [0, 1]


def test_giving_up_takes_futures_of_the_executor(executor: DaskExecutor) -> None:
    with ThreadPoolExecutor(1) as other, pytest.raises(InvalidInput, match="submit of this executor"):
        executor.abandon(other.submit(int))


def test_what_waits_can_be_cancelled_and_what_runs_cannot(executor: DaskExecutor, tmp_path: Path) -> None:
    running = [executor.submit(begins_and_waits(tmp_path, value)) for value in range(2)]
    waits = executor.submit(lambda: "evaluated")
    wait_for(lambda: len(processes(tmp_path)) == 2)
    assert waits.cancel()
    assert not running[0].cancel()
    (tmp_path / "go").touch()
    assert [future.result(PATIENCE) for future in running] == [0, 1]


@pytest.mark.parametrize("cancel", [False, True])
def test_a_shutdown_that_does_not_wait(cancel: bool, executor: DaskExecutor, tmp_path: Path) -> None:
    """Everything that was submitted is still evaluated, or what waits is cancelled."""
    leaving = DaskExecutor(1, scheduler=executor._cluster.scheduler_address)
    assert leaving._max_workers == 1
    runs, waits = leaving.submit(begins_and_waits(tmp_path, 1)), leaving.submit(lambda: 2)
    wait_for(lambda: processes(tmp_path))
    leaving.shutdown(wait=False, cancel_futures=cancel)
    assert not runs.done()
    with pytest.raises(RuntimeError, match="shutdown"):
        leaving.submit(lambda: 3)
    (tmp_path / "go").touch()
    leaving.shutdown()
    assert runs.result(0) == 1
    assert waits.cancelled() if cancel else waits.result(0) == 2
    assert leaving._client.status == "closed"
    assert executor.submit(lambda: 4).result(PATIENCE) == 4, "the cluster is not its own"


def test_an_exception_that_leaves_the_block_gives_up_what_runs(executor: DaskExecutor, tmp_path: Path) -> None:
    futures: list[Future[object]] = []

    def interrupted() -> None:
        with DaskExecutor(scheduler=executor._cluster.scheduler_address) as leaving:
            futures.extend(leaving.submit(begins_and_waits(tmp_path)) for _ in range(4))
            wait_for(lambda: processes(tmp_path))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [type(future.exception(0)) for future in futures] == [WorkerDied] * 4
    (tmp_path / "go").touch()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals for other processes")
def test_interrupts_are_left_to_this_process(executor: DaskExecutor, tmp_path: Path) -> None:
    future = executor.submit(begins_and_waits(tmp_path, 1))
    wait_for(lambda: processes(tmp_path))
    os.kill(processes(tmp_path)[0], signal.SIGINT)
    time.sleep(0.2)
    (tmp_path / "go").touch()
    assert future.result(PATIENCE) == 1


def test_a_scheduler_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ran has died; when the scheduler stays away, the executor is broken. Nothing of its processes is left."""
    monkeypatch.setattr(dask_executor, "_PATIENCE", 2.0)
    owner = DaskExecutor(1)
    joined = DaskExecutor(scheduler=owner._cluster.scheduler_address)
    assert joined._max_workers == 1
    future = joined.submit(begins_and_waits(tmp_path))
    wait_for(lambda: processes(tmp_path))
    owner.shutdown()
    with pytest.raises(WorkerDied, match="went away"):
        future.result(PATIENCE)
    wait_for(lambda: joined._client.status == "closed")
    with pytest.raises(SchedulerGone, match="did not come back"):
        joined.submit(lambda: 1).result(PATIENCE)
    joined.shutdown()
    wait_for(lambda: not is_alive(processes(tmp_path)[0]))


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_executor, "_PATIENCE", 0.5)
    with pytest.raises(InvalidInput, match="scheduler: expected the address of a running Dask scheduler"):
        DaskExecutor(scheduler=f"tcp://127.0.0.1:{unused_port()}")


def event_loops() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "IO loop"}


@pytest.mark.parametrize("scheduler", ["nonsense", "wrong://127.0.0.1:1"])
def test_no_address(scheduler: str) -> None:
    """The client that fails is closed at once, not when its garbage is collected."""
    before = event_loops()
    with pytest.raises(InvalidInput, match="scheduler: expected the address of a running Dask scheduler") as caught:
        DaskExecutor(scheduler=scheduler)
    assert event_loops() == before
    del caught  # what its traceback knows was no garbage until here


def test_no_workers() -> None:
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:  # type: ignore[no-untyped-call]
        with pytest.raises(InvalidInput, match="expected a scheduler with workers"):
            DaskExecutor(scheduler=cluster.scheduler_address)
        DaskExecutor(3, scheduler=cluster.scheduler_address).shutdown()
    with pytest.raises(InvalidInput, match="workers: expected at least 1, got 0"):
        DaskExecutor(0)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r'pip install "quadrat\[dask\]"'):
        DaskExecutor(2)


# --- studies

SPACE = qd.Space(x=qd.Float(-1, 1), kind=qd.Categorical(["a", "b"]))


@pytest.fixture
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def make_value() -> Callable[[dict[str, Any]], float]:
    def evaluate(params: dict[str, Any]) -> float:
        return float((params["x"] - 0.3) ** 2 + (params["kind"] == "a"))

    return evaluate


def troubled(value: Callable[[dict[str, Any]], float], folder: Path) -> Callable[[dict[str, Any]], float]:
    """The value, except that of the first two calls one ends its process and one does not return."""

    def evaluate(params: dict[str, Any]) -> float:
        for name in ("died", "hung"):
            try:
                (folder / name).touch(exist_ok=False)
            except FileExistsError:
                continue
            if name == "died":
                os._exit(1)
            time.sleep(10 * PATIENCE)
        return value(params)

    return evaluate


@pytest.mark.usefixtures("quiet")
def test_a_study(executor: DaskExecutor, tmp_path: Path) -> None:
    """One worker dies and one hangs: their trials are evaluated again, and all is as it should be."""
    sampler = qd.QuadratSampler(seed=0, search_space=SPACE)
    study = optuna.create_study(storage=qd.journal_storage(tmp_path / "log"), sampler=sampler)
    value = make_value()
    workers = OnExecutor(troubled(value, tmp_path), executor, executor._max_workers)
    ended = Coordinator(study, SPACE, lambda: workers, n_trials=10, trial_timeout=4.0, retries=5).run()
    assert ended == "all 10 trials done"
    assert [trial.number for trial in study.trials] == list(range(10))
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 10
    assert [trial.value for trial in study.trials] == [value(trial.params) for trial in study.trials]
    assert {"died", "hung"} <= {path.name for path in tmp_path.iterdir()}
