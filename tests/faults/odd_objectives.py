"""Objectives that misbehave in whatever way an objective can, and what must hold of a run with each of them."""

from __future__ import annotations

import json
import signal
import time

from tests.faults.bench import Bench
from tests.faults.starter import kill_group, processes_of_group, wait

CATALOGUE = '''
"""Each function misbehaves in one way; those that do not raise return a value in the end."""

import atexit
import logging
import math
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def value(params):
    return (params["x"] - 0.3) ** 2


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__(one)
        self.held = lambda: two


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class OwnBase(BaseException):
    pass


class Odd:
    def __float__(self):
        raise ZeroDivisionError("no number")

    def __repr__(self):
        return "\\x1b[31m" + "z" * 10**6


def prints(params):
    print("{\\"not\\": json", end="")
    sys.stdout.write("\\x1b[2J")
    os.write(1, b"straight to the file\\n")
    sys.stderr.write("and errors\\n")
    return value(params)


def prints_much(params):
    print("z" * 10**6)
    return value(params)


def warns(params):
    warnings.warn("\\x1b[31mred\\n\\n")
    logging.getLogger("quadrat").error("mine")
    logging.disable(logging.CRITICAL)
    return value(params)


def raises(params):
    raise ValueError("\\x1b[31mred\\nlines\\0" + "z" * 10**7)


def raises_unpicklable(params):
    raise Unpicklable("one", "two")


def raises_unprintable(params):
    raise Unprintable


def raises_base(params):
    raise OwnBase("base")


def raises_group(params):
    raise BaseExceptionGroup("many", [ValueError("one"), OwnBase("two")])


def raises_generator_exit(params):
    raise GeneratorExit


def raises_stop(params):
    raise StopIteration(1)


def raises_cancelled(params):
    import asyncio

    raise asyncio.CancelledError


def raises_os_error(params):
    raise OSError(28, "No space left on device")


def raises_broken_pipe(params):
    raise BrokenPipeError(32, "Broken pipe")


def raises_memory(params):
    raise MemoryError


def raises_surrogate(params):
    raise ValueError("\\ud800")


def exits(params):
    sys.exit("leaving")


def exits_zero(params):
    raise SystemExit(0)


def recurses(params):
    return recurses(params)


def kills_itself(params):
    os.kill(os.getpid(), signal.SIGKILL)


def aborts(params):
    os.abort()


def leaves_at_once(params):
    os._exit(0)


def forks(params):
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    os.waitpid(pid, 0)
    return value(params)


def forks_and_raises(params):
    pid = os.fork()
    if pid == 0:
        raise RuntimeError("in the child")
    os.waitpid(pid, 0)
    return value(params)


def forks_and_returns(params):
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    else:
        time.sleep(0.1)
        os._exit(0)
    return value(params)


def starts_programs(params):
    subprocess.Popen(["sleep", "600"])
    return value(params)


def starts_processes(params):
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(0.01,))
    process.start()
    process.join()
    return value(params)


def uses_a_pool(params):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(value, [params]))


def leaves_threads(params):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    return value(params)


def threads_raise(params):
    threading.Thread(target=lambda: 1 / 0).start()
    return value(params)


def changes_folder(params):
    os.chdir("/")
    return value(params)


def removes_folder(params):
    os.makedirs("gone", exist_ok=True)
    os.chdir("gone")
    os.rmdir(os.getcwd())
    return value(params)


def changes_environment(params):
    os.environ.clear()
    return value(params)


def changes_seterr(params):
    np.seterr(all="raise")
    return value(params)


def changes_warnings(params):
    warnings.simplefilter("error")
    return value(params)


def changes_handlers(params):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    return value(params)


def sets_alarm(params):
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    return value(params)


def changes_stdout(params):
    sys.stdout = open(os.devnull, "w")
    return value(params)


def closes_stdout(params):
    sys.stdout.close()
    return value(params)


def closes_stderr(params):
    sys.stderr.close()
    return value(params)


def removes_streams(params):
    sys.stdout = sys.stderr = None
    return value(params)


def closes_files(params):
    os.closerange(3, 256)
    return value(params)


def opens_files(params):
    held.extend(open(os.devnull) for _ in range(200))
    return value(params)


held = []


def changes_recursion(params):
    sys.setrecursionlimit(120)
    return value(params)


def changes_seed(params):
    random.seed(0)
    np.random.seed(0)
    return value(params)


def changes_trace(params):
    sys.settrace(lambda *_: None)
    sys.setprofile(lambda *_: None)
    return value(params)


def changes_limits(params):
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    return value(params)


def changes_umask(params):
    os.umask(0o777)
    return value(params)


def changes_clock(params):
    time.time = lambda: -1e9
    return value(params)


def changes_params(params):
    params.clear()
    return 1.0


def registers_exit(params):
    atexit.register(lambda: 1 / 0)
    return value(params)


def changes_hooks(params):
    sys.excepthook = sys.unraisablehook = None
    return value(params)


def changes_json(params):
    import json

    json.encoder.FLOAT_REPR = None
    return value(params)


def returns_none(params):
    return None


def returns_text(params):
    return "\\x1b[31m" + "z" * 10**6


def returns_nan(params):
    return math.nan


def returns_large(params):
    return 10**5000


def returns_complex(params):
    return 1j


def returns_odd(params):
    return Odd()


def returns_tuple(params):
    return 1.0, 2.0


def returns_mapping(params):
    return {"value": 1.0}


def returns_matrix(params):
    return np.zeros((2, 2))


def returns_many(params):
    return [0.5] * 10**4


def returns_generator(params):
    return (one for one in [1.0])


def returns_lambda(params):
    return lambda: 1.0


def returns_decimal(params):
    import decimal

    return decimal.Decimal("1e400")


def returns_recursive(params):
    found = []
    found.append(found)
    return found
'''
NAMES = tuple(
    line.removeprefix("def ").partition("(")[0]
    for line in CATALOGUE.splitlines()
    if line.startswith("def ") and line != "def value(params):"
)
WAYS: dict[str, tuple[str, ...]] = {
    "serial": ("--json",),
    "table": (),
    "workers": ("--json", "--workers", "2"),
    "time-out": ("--json", "--workers", "2", "--trial-timeout", "5"),
}
_ENDS_PROCESS = {"kills_itself": -signal.SIGKILL, "aborts": -signal.SIGABRT, "leaves_at_once": 0}
_LEFT = 5.0  # seconds after which nothing of a run may be left
_LONGEST = 120.0  # seconds of a run
_TRIALS = 3
_LOOKS = (("show", "--json"), ("show",), ("export",), ("export", "--csv", "-"))


def tuned(bench: Bench, name: str, way: str) -> int:
    """Tune an objective of the catalogue, look at its study with other commands, and return the exit status."""
    (bench.folder / "odd.py").write_text(CATALOGUE)
    arguments = ["tune", f"odd.py:{name}", "--space", "space.toml", "-n", str(_TRIALS), "--method", "RandomSearch"]
    said, complained, status = _run(bench, [*arguments, *WAYS[way]], name)
    ends_process = "--workers" not in WAYS[way] and name in _ENDS_PROCESS
    if ends_process:
        assert status == _ENDS_PROCESS[name], (status, complained)
    else:
        assert status in (0, 2), (status, complained[-2000:])
    _check_said(said, complained, status, parsed=way != "table" and not ends_process)
    journal = bench.folder / bench.storage
    for look in _LOOKS if journal.exists() else ():
        said, complained, looked = _run(bench, list(look), "look")
        assert looked == 0, (look, complained[-2000:])
        assert "Traceback" not in complained, (look, complained[-2000:])
        assert "-" in look or said.replace("\n", "").isprintable(), (look, said[:500])
        if "--csv" not in look and look != ("show",):
            json.loads(said)
    return status


def _run(bench: Bench, arguments: list[str], name: str) -> tuple[str, str, int]:
    number = len(list(bench.folder.glob("*.said")))
    said, complained = bench.folder / f"{number}.said", bench.folder / f"{number}.complained"
    command = bench.starter.copy(
        [*arguments, "--storage", bench.storage], bench.folder, said, complained, faults={}, environment={}
    )
    status = wait(command, _LONGEST)
    deadline = time.monotonic() + _LEFT
    while left := processes_of_group(command.pid):
        if (
            name == "starts_programs" and "--workers" not in arguments
        ):  # in this process: nobody promised to end what an objective leaves here
            kill_group(command.pid)
            break
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.02)
    return said.read_text(errors="replace"), complained.read_text(errors="replace"), status


def _check_said(said: str, complained: str, status: int, *, parsed: bool) -> None:
    """Check that standard output is JSON alone, and that errors of the command take a line that a terminal can show."""
    own = [line for line in complained.splitlines() if line.startswith("quadrat: ")]
    assert all(line.isprintable() and len(line) < 3000 for line in own), own
    if parsed and status == 0:
        assert json.loads(said)["trials"], said
    if status == 2:
        assert own, complained[-2000:]
        assert not parsed or not said.strip(), said[:500]
