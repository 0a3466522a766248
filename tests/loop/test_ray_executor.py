"""Ray as executor: what evaluations give comes back, and what ends without giving anything is told."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.loop import ray_executor
from quadrat.loop.ray_executor import RayExecutor, RayGone
from quadrat.loop.workers import OnExecutor, WorkerDied
from quadrat.studies import Coordinator

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'quadrat[ray]'")

PATIENCE = 60.0  # seconds until a test gives up
OBJECT_STORE = 80 * 2**20  # bytes


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


@pytest.fixture(scope="module")
def executor() -> Iterator[RayExecutor]:
    """One that starts a Ray and ends it. Its files are not in pytest's folder: names of sockets have to be short."""
    with tempfile.TemporaryDirectory(prefix="quadrat-ray-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setattr(ray, "init", partial(ray.init, object_store_memory=OBJECT_STORE))
        with RayExecutor(workers=2) as made:
            process = made.submit(os.getpid).result(PATIENCE)
            yield made
        assert not ray.is_initialized()
        wait_for(lambda: not is_alive(process))


def test_values(executor: RayExecutor) -> None:
    assert executor._max_workers == 2
    assert executor.submit(sorted, [2, 1, 3], reverse=True).result(PATIENCE) == [3, 2, 1]
    assert list(executor.map(lambda x: x**2, range(5), timeout=PATIENCE)) == [0, 1, 4, 9, 16]
    assert executor.submit(os.getpid).result(PATIENCE) != os.getpid()


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), SystemExit(3)], ids=repr)
def test_exceptions_come_through(error: BaseException, executor: RayExecutor) -> None:
    def evaluate() -> None:
        raise error

    got = executor.submit(evaluate).exception(PATIENCE)
    assert type(got) is type(error)
    assert got is not error
    assert got.args == error.args


def test_a_worker_that_dies(executor: RayExecutor, tmp_path: Path) -> None:
    """Ray does not try again by itself, and there is a new worker afterwards."""
    with pytest.raises(WorkerDied, match="went away"):
        executor.submit(ends_its_process(tmp_path)).result(PATIENCE)
    assert len(processes(tmp_path)) == 1
    (tmp_path / "go").touch()
    futures = [executor.submit(begins_and_waits(tmp_path, value)) for value in range(4)]
    assert [future.result(PATIENCE) for future in futures] == [0, 1, 2, 3]


def test_giving_up_ends_one_process(executor: RayExecutor, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    given_up = executor.submit(begins_and_waits(first))
    other = executor.submit(begins_and_waits(second, "value"))
    wait_for(lambda: processes(first) and processes(second))
    executor.abandon(given_up)
    with pytest.raises(WorkerDied, match="given up"):
        given_up.result(PATIENCE)
    wait_for(lambda: not is_alive(processes(first)[0]))
    (second / "go").touch()
    assert other.result(PATIENCE) == "value"
    executor.abandon(other)
    assert other.result() == "value", "it had ended before"


def test_giving_up_what_waits(executor: RayExecutor, tmp_path: Path) -> None:
    running = [executor.submit(begins_and_waits(tmp_path, value)) for value in range(2)]
    waits = executor.submit(lambda: "evaluated")
    executor.abandon(waits)
    (tmp_path / "go").touch()
    with pytest.raises(WorkerDied, match="given up"):
        waits.result(PATIENCE)
    assert [future.result(PATIENCE) for future in running] == [0, 1]


def test_giving_up_takes_futures_of_the_executor(executor: RayExecutor) -> None:
    with ThreadPoolExecutor(1) as other, pytest.raises(InvalidInput, match="submit of this executor"):
        executor.abandon(other.submit(int))


def test_what_waits_can_be_cancelled_and_what_runs_cannot(executor: RayExecutor, tmp_path: Path) -> None:
    running = [executor.submit(begins_and_waits(tmp_path, value)) for value in range(2)]
    waits = executor.submit(lambda: "evaluated")
    wait_for(lambda: len(processes(tmp_path)) == 2)
    assert waits.cancel()
    assert not running[0].cancel()
    (tmp_path / "go").touch()
    assert [future.result(PATIENCE) for future in running] == [0, 1]


@pytest.mark.parametrize("cancel", [False, True])
def test_a_shutdown_that_does_not_wait(cancel: bool, executor: RayExecutor, tmp_path: Path) -> None:
    """Everything that was submitted is still evaluated, or what waits is cancelled."""
    leaving = RayExecutor(1)
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
    assert ray.is_initialized(), "that Ray is not its own"
    assert executor.submit(lambda: 4).result(PATIENCE) == 4


def test_an_exception_that_leaves_the_block_gives_up_what_runs(executor: RayExecutor, tmp_path: Path) -> None:
    futures: list[Future[object]] = []

    def interrupted() -> None:
        with RayExecutor() as leaving:
            assert leaving._max_workers == 2
            futures.extend(leaving.submit(begins_and_waits(tmp_path)) for _ in range(4))
            wait_for(lambda: processes(tmp_path))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [type(future.exception(0)) for future in futures] == [WorkerDied] * 4
    assert executor.submit(lambda: 4).result(PATIENCE) == 4


def test_a_ray_that_runs_already_is_joined_and_left(executor: RayExecutor) -> None:
    address = ray.get_runtime_context().gcs_address
    code = (
        "import os; from quadrat.loop.ray_executor import RayExecutor\n"
        f"with RayExecutor(address={address!r}) as joined:\n"
        "    print(joined._max_workers, joined.submit(os.getppid).result(60))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    raylet = executor.submit(os.getppid).result(PATIENCE)
    assert out.stdout.split() == ["2", str(raylet)]


def test_no_other_ray_is_started_by_accident(executor: RayExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(RayGone, match="has left its Ray"):
        executor.submit(lambda: 1).result(PATIENCE)


def test_this_process_uses_one_ray(executor: RayExecutor) -> None:
    with pytest.raises(InvalidInput, match="this process uses a Ray already, got 'auto'"):
        RayExecutor(address="auto")


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:{port}", "ray://127.0.0.1:{port}"])
def test_no_ray(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray_executor, "_PATIENCE", 0.5)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(InvalidInput, match="address: expected the address of a running Ray"):
        RayExecutor(address=address.format(port=port))


def test_no_workers() -> None:
    with pytest.raises(InvalidInput, match="workers: expected at least 1, got 0"):
        RayExecutor(0)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InvalidInput, match=r'pip install "quadrat\[ray\]"'):
        RayExecutor(2)


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
def test_a_study(executor: RayExecutor, tmp_path: Path) -> None:
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
