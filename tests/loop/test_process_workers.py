"""Worker processes: one that dies costs one call, and none outlives whoever began it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.loop import process_workers
from quadrat.loop.loop import failure_text
from quadrat.loop.process_workers import ProcessWorkers
from quadrat.loop.workers import FailedThere, WorkerDied, with_errors_that_travel


@pytest.fixture
def workers() -> Iterator[ProcessWorkers]:
    with ProcessWorkers(2) as executor:
        yield executor


def double(x: int) -> int:
    return 2 * x


def slowly_double(x: int) -> int:
    time.sleep(0.5)
    return 2 * x


def refuse(x: int) -> int:
    raise ValueError(f"not {x}")


def die(x: int) -> int:
    os._exit(x)


def own_pid(seconds: float = 0.0) -> int:
    time.sleep(seconds)
    return os.getpid()


def interrupted_by_itself() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.01)
    return "alive"


def sleep_in_a_program(path: str) -> int:
    """Start a program, as objectives do, and end it as they do."""
    program = subprocess.Popen([sys.executable, "-c", f"open({path!r}, 'w').close(); import time; time.sleep(60)"])
    while not Path(path).exists():
        time.sleep(0.01)
    program.terminate()
    return program.wait(10)


def threads_of_linear_algebra() -> list[int]:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.linalg.inv(np.eye(3))
    return [library["num_threads"] for library in threadpool_info()]


def test_values_and_exceptions_come_back(workers: ProcessWorkers) -> None:
    assert list(workers.map(double, range(7))) == [0, 2, 4, 6, 8, 10, 12]
    with pytest.raises(ValueError, match="not 3"):
        workers.submit(refuse, 3).result()


class NeedsTwo(Exception):
    """Unpickling calls it with what Exception was given, which is too little."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(f"{what} with code {code}")


class HoldsALock(Exception):
    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.lock = threading.Lock()


class HoldsAGenerator(Exception):
    def __init__(self, what: str) -> None:
        super().__init__(what, (x for x in range(3)))

    def __str__(self) -> str:
        return str(self.args[0])


class HasNoMessage(HoldsALock):
    def __str__(self) -> str:
        raise ZeroDivisionError


ERRORS: dict[str, Callable[[], Exception]] = {
    "NeedsTwo: it broke with code 7": lambda: NeedsTwo("it broke", 7),
    "HoldsALock: it broke": lambda: HoldsALock("it broke"),
    "HoldsAGenerator: it broke": lambda: HoldsAGenerator("it broke"),
    "HasNoMessage": lambda: HasNoMessage("it broke"),
}


def raise_in_a_worker(params: dict[str, float]) -> float:
    if params["x"] > 0:
        raise ERRORS[list(ERRORS)[int(params["which"])]]()
    return params["x"]


@pytest.mark.parametrize("text", ERRORS)
def test_exceptions_that_cannot_be_sent_come_back_as_text(text: str, workers: ProcessWorkers) -> None:
    params = {"x": 1.0, "which": float(list(ERRORS).index(text))}
    with pytest.raises(FailedThere) as caught:
        workers.submit(raise_in_a_worker, params).result()
    assert failure_text(caught.value) == text
    assert "in raise_in_a_worker" in "".join(traceback.format_exception(caught.value)), "where it was raised"


def caused(params: dict[str, float]) -> float:
    try:
        return raise_in_a_worker(params)
    except Exception as error:
        raise HoldsALock("it broke") from error


def test_an_exception_is_sent_without_its_cause() -> None:
    """Dask has causes pickled too, in every process that imports it and in those that it forks."""
    with pytest.raises(FailedThere) as caught:
        with_errors_that_travel(caused, {"x": 1.0, "which": 1.0})
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "in raise_in_a_worker" not in str(caught.value)
    sent = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert "in caused" in "".join(traceback.format_exception(sent))


@pytest.mark.parametrize("kind", [ProcessWorkers, ProcessPoolExecutor])
def test_exceptions_that_cannot_be_sent_fail_their_trials_alone(
    kind: type[ProcessWorkers] | type[ProcessPoolExecutor],
) -> None:
    space = qd.Space(x=qd.Float(-1, 1), which=qd.Int(0, len(ERRORS) - 1))
    with kind(2) as executor:
        result = qd.maximize(raise_in_a_worker, space, n_trials=12, method="RandomSearch", executor=executor)
    assert result.message == "all 12 trials done"
    for record in result.trials:
        expected = list(ERRORS)[record.params["which"]] if record.params["x"] > 0 else None
        assert record.failure == expected


def test_no_more_processes_than_asked_for_and_they_are_used_again(workers: ProcessWorkers) -> None:
    pids = {workers.submit(own_pid).result() for _ in range(4)}
    pids |= set(workers.map(own_pid, [0.05] * 6))
    assert len(pids) == 2
    assert os.getpid() not in pids


def drawn_here(seconds: float) -> tuple[int, float]:
    time.sleep(seconds)
    return os.getpid(), float(np.random.random())  # noqa: NPY002  # as objectives do


def test_workers_draw_different_numbers(workers: ProcessWorkers) -> None:
    """They are forked from one server: with its generator, trials that run side by side would share their noise."""
    drawn = [future.result() for future in [workers.submit(drawn_here, 0.3) for _ in range(4)]]
    assert len({pid for pid, _ in drawn}) == 2
    assert len({number for _, number in drawn}) == 4


def noise(params: dict[str, float]) -> float:
    time.sleep(0.3)
    return float(np.random.random())  # noqa: NPY002


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked here")
def test_forked_workers_of_a_pool_draw_different_numbers() -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        found = qd.minimize(noise, qd.Space(x=qd.Float(0, 1)), n_trials=4, executor=pool, seed=0)
    assert len({trial.value for trial in found.trials}) == 4


def seeded() -> None:
    np.random.seed(os.getpid())  # noqa: NPY002


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked here")
def test_the_seeds_of_a_pool_are_left_alone() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"), initializer=seeded) as pool:
        pid = pool.submit(os.getpid).result()
        found = qd.minimize(noise, qd.Space(x=qd.Float(0, 1)), n_trials=1, executor=pool, seed=0)
    assert found.trials[0].value == np.random.RandomState(pid).random()


def test_a_death_costs_the_call_that_ran_there_and_no_other(workers: ProcessWorkers) -> None:
    beside = workers.submit(slowly_double, 4)
    with pytest.raises(WorkerDied):
        workers.submit(die, 3).result()
    assert beside.result() == 8
    assert list(workers.map(double, range(5))) == [0, 2, 4, 6, 8]


def test_what_takes_too_long_is_ended(workers: ProcessWorkers) -> None:
    pid = workers.submit(own_pid).result()
    slow, beside = workers.submit(time.sleep, 60), workers.submit(slowly_double, 1)
    started = time.monotonic()
    while not slow.running():
        time.sleep(0.01)
    time.sleep(0.2)
    workers.abandon(slow)
    with pytest.raises(WorkerDied):
        slow.result(timeout=20)
    assert time.monotonic() - started < 20
    assert beside.result() == 2
    assert not _runs(pid) or workers.submit(own_pid).result() != pid


def test_a_process_that_died_while_idle_is_replaced(workers: ProcessWorkers) -> None:
    pid = workers.submit(own_pid).result()
    os.kill(pid, signal.SIGKILL)
    _until(lambda: not _runs(pid))
    answers = []
    for _ in range(3):  # the pool may notice the death only with the first of them
        try:
            answers.append(workers.submit(double, 2).result())
        except WorkerDied:
            continue
    assert answers[-2:] == [4, 4]


def test_a_call_that_is_over_before_anybody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = ProcessWorkers._begun

    def waits(self: ProcessWorkers, call: Callable[[], object]) -> tuple[object, Future[object]]:
        worker, running = begun(self, call)
        wait([running])
        return worker, running

    monkeypatch.setattr(ProcessWorkers, "_begun", waits)
    with ProcessWorkers(1) as executor:
        assert executor.submit(double, 2).result(timeout=20) == 4


def test_processes_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: ProcessWorkers, call: Callable[[], object]) -> None:
        raise OSError("no memory")

    with ProcessWorkers(1) as executor:
        monkeypatch.setattr(ProcessWorkers, "_begun", refuses)
        with pytest.raises(WorkerDied, match="no process could be started: OSError: no memory"):
            executor.submit(double, 2).result(timeout=20)
        monkeypatch.undo()
        assert executor.submit(double, 2).result(timeout=20) == 4


def test_interrupts_are_left_to_the_parent(workers: ProcessWorkers) -> None:
    assert workers.submit(interrupted_by_itself).result() == "alive"


def test_programs_that_an_objective_starts_can_be_ended(workers: ProcessWorkers, tmp_path: Path) -> None:
    assert workers.submit(sleep_in_a_program, str(tmp_path / "begun")).result() == -signal.SIGTERM


def test_each_has_its_share_of_the_threads() -> None:
    with ProcessWorkers(os.cpu_count() or 1) as executor:
        assert set(executor.submit(threads_of_linear_algebra).result()) == {1}


def test_no_library_gets_more_threads_than_it_is_told_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker may use all cores; where the environment says one thread, a second would fight with others' work."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    with ProcessWorkers(1) as executor:
        assert set(executor.submit(threads_of_linear_algebra).result()) == {1}


def test_the_environment_and_the_folder_are_those_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProcessWorkers(1) as executor:
        executor.submit(own_pid).result()
    monkeypatch.setenv("QUADRAT_TEST_NEW", "here")
    monkeypatch.chdir(tmp_path)
    with ProcessWorkers(1) as executor:
        assert executor.submit(os.getenv, "QUADRAT_TEST_NEW").result() == "here"
        assert executor.submit(os.getcwd).result() == str(tmp_path)


def doubled_in_a_pool(values: list[int]) -> list[int]:
    with multiprocessing.Pool(2) as pool:
        return pool.map(double, values)


def test_an_objective_may_have_processes_of_its_own(workers: ProcessWorkers) -> None:
    """They start as they would without workers."""
    before = multiprocessing.get_start_method(allow_none=True)
    assert workers.submit(multiprocessing.get_start_method, allow_none=True).result() == before
    assert workers.submit(doubled_in_a_pool, [1, 2]).result(timeout=60) == [2, 4]


def lost_signals(times: int) -> int:
    """Return how many of so many forked processes outlived the signal that was sent as soon as they existed."""
    lost = 0
    for _ in range(times):
        child = os.fork()
        if child == 0:
            time.sleep(0.5)
            os._exit(0)
        os.kill(child, signal.SIGTERM)
        lost += not os.WIFSIGNALED(os.waitpid(child, 0)[1])
    return lost


def test_a_signal_ends_a_process_of_an_objective_from_its_first_moment_on(workers: ProcessWorkers) -> None:
    """A pool ends its processes by signals; one that got its signal while it began waited for ever."""
    assert workers.submit(lost_signals, 30).result(timeout=60) == 0


def begin_and_sleep(begun: Connection) -> None:
    begun.send(None)
    time.sleep(60.0)


def ended_by(number: signal.Signals) -> int | None:
    """The exit status of a process of an objective that is sent a signal while it works."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=begin_and_sleep, args=(there,))
    process.start()
    here.recv()
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(30.0)
    return process.exitcode


def test_a_process_of_an_objective_ends_when_it_is_told_to(workers: ProcessWorkers) -> None:
    """A pool ends its processes by SIGTERM: where they ignored it as workers do, it would wait for ever."""
    assert workers.submit(ended_by, signal.SIGTERM).result(timeout=60) == -signal.SIGTERM


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, which Linux has")
def test_only_the_server_of_workers_ignores_sigterm(workers: ProcessWorkers) -> None:
    import quadrat.loop.process_server  # noqa: F401

    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN
    server = workers.submit(os.getppid).result()
    ignored = next(line for line in Path(f"/proc/{server}/status").read_text().split("\n") if line.startswith("SigIgn"))
    assert int(ignored.split()[1], 16) >> (signal.SIGTERM - 1) & 1


def test_what_waits_can_be_cancelled() -> None:
    executor = ProcessWorkers(1)
    first, second = executor.submit(slowly_double, 1), executor.submit(double, 2)
    assert second.cancel()
    third = executor.submit(double, 3)
    executor.shutdown(cancel_futures=True)
    assert first.result() == 2
    assert third.cancelled()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(double, 1)


def test_what_waits_at_the_shutdown_is_still_done() -> None:
    executor = ProcessWorkers(1)
    futures = [executor.submit(double, x) for x in range(4)]
    executor.shutdown()
    assert [future.result() for future in futures] == [0, 2, 4, 6]


def test_an_exception_ends_the_processes() -> None:
    started = time.monotonic()
    futures, pids = _interrupted()
    assert time.monotonic() - started < 30
    assert not _runs(pids[0])
    wait(futures, timeout=5)
    assert [future.cancelled() or isinstance(future.exception(), WorkerDied) for future in futures] == [True] * 3


def _interrupted() -> tuple[list[Future[None]], list[int]]:
    futures, pids = [], []
    try:
        with ProcessWorkers(2) as executor:
            pids.append(executor.submit(own_pid).result())
            futures = [executor.submit(time.sleep, 60) for _ in range(3)]
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        return futures, pids


def start_program_and(then: str, folder: str) -> None:
    """Start a program that would live on; then hang, also without giving other threads a turn, or die."""
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (Path(folder) / "pids").write_text(f"{os.getpid()} {program.pid}")
    if then == "die":
        os._exit(1)
    if then == "hang":
        time.sleep(600)
    ctypes.PyDLL(None).sleep(600)


def pids_in(folder: Path) -> list[int]:
    path = folder / "pids"
    _until(lambda: path.exists() and len(path.read_text().split()) == 2)
    return [int(pid) for pid in path.read_text().split()]


def members(group: int) -> list[int]:
    """The living processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_group = path.read_text().rsplit(")", 1)[1].split()[:3]
        except OSError:
            continue
        if int(of_group) == group and state != "Z":
            found.append(int(path.parent.name))
    return found


linux_only = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which Linux has")


@linux_only
@pytest.mark.parametrize("then", ["hang", "compute", "die"])
def test_programs_of_an_objective_end_before_it_is_tried_again(then: str, tmp_path: Path) -> None:
    with ProcessWorkers(1) as executor:
        lost = executor.submit(start_program_and, then, str(tmp_path))
        pids = pids_in(tmp_path)
        if then != "die":
            executor.abandon(lost)
        with pytest.raises(WorkerDied):
            lost.result(timeout=30)
        assert not any(_runs(pid) for pid in pids)
        assert members(pids[0]) == []
        assert executor.submit(double, 2).result(timeout=30) == 4


@linux_only
def test_programs_of_an_objective_end_with_the_executor(tmp_path: Path) -> None:
    executor = ProcessWorkers(1)
    executor.submit(start_program_and, "hang", str(tmp_path))
    pids = pids_in(tmp_path)
    executor.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not any(_runs(pid) for pid in pids)
    assert members(pids[0]) == []


@linux_only
@pytest.mark.parametrize("then", ["hang", "compute"])
def test_programs_of_an_objective_end_with_a_parent_that_is_killed(then: str, tmp_path: Path) -> None:
    command = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from quadrat.loop.process_workers import ProcessWorkers
from test_process_workers import start_program_and
if __name__ == "__main__":
    ProcessWorkers(1).submit(start_program_and, {then!r}, {str(tmp_path)!r}).result()
"""
    (tmp_path / "parent.py").write_text(command)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "parent.py")])
    try:
        pids = pids_in(tmp_path)
    finally:
        parent.kill()
        parent.wait()
    _until(lambda: not any(_runs(pid) for pid in pids) and not members(pids[0]))


def leave_a_thread() -> int:
    threading.Thread(target=time.sleep, args=(600,)).start()
    return os.getpid()


def test_a_thread_that_an_objective_left_does_not_keep_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_workers, "_GRACE", 0.1)
    with ProcessWorkers(1) as executor:
        pid = executor.submit(leave_a_thread).result()
    _until(lambda: not _runs(pid))


PARENT = """
import sys, time
sys.path.insert(0, {folder!r})
from quadrat.loop.process_workers import ProcessWorkers
from sleeper import tell_and_sleep

if __name__ == "__main__":
    executor = ProcessWorkers(2)
    futures = [executor.submit(tell_and_sleep, {folder!r}, number) for number in range(2)]
    time.sleep(60)
"""
SLEEPER = """
import os, pathlib, time

def tell_and_sleep(folder, number):
    (pathlib.Path(folder) / f"pid{number}").write_text(str(os.getpid()))
    time.sleep(60)
"""


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT.format(folder=str(tmp_path)))
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "parent.py")])
    files = [tmp_path / "pid0", tmp_path / "pid1"]
    try:
        _until(lambda: all(file.exists() and file.read_text() for file in files))
    finally:
        parent.kill()
        parent.wait()
    pids = [int(file.read_text()) for file in files]
    _until(lambda: not any(_runs(pid) for pid in pids))


def test_the_number_of_processes_by_its_former_name() -> None:
    with (
        pytest.warns(DeprecationWarning, match="n_workers= is now workers="),
        ProcessWorkers(n_workers=1) as workers,  # type: ignore[call-arg]
    ):
        assert workers.submit(abs, -2).result() == 2
    with pytest.raises(InvalidInput, match="n_workers: expected workers alone, got both"):
        ProcessWorkers(1, n_workers=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("n", [0, -1])
def test_at_least_one(n: int) -> None:
    with pytest.raises(InvalidInput, match=f"workers: expected at least 1, got {n}"):
        ProcessWorkers(n)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _until(holds: object, seconds: float = 30.0) -> None:
    assert callable(holds)
    started = time.monotonic()
    while not holds():
        assert time.monotonic() - started < seconds
        time.sleep(0.05)
