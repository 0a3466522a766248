"""Run the tests of a source file against a changed text of it, each time in a forked process.

A change within functions is put into a process that has collected all tests: the code of the functions is replaced, so
that a trial costs its tests only. A change elsewhere (constants of a module, defaults, class bodies) has to be
imported: its process has the big imports, but not Quadrat, and finds the changed text instead of the file. Nothing is
written. Tests that start a Python of their own see the unchanged file.
"""

from __future__ import annotations

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

import gc
import importlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from mutant_code import Finder, Text, functions_by_file, put_in, within_functions

Outcome: TypeAlias = Literal["killed", "survived", "timeout"]
Suites: TypeAlias = Mapping[str, Sequence[str]]  # tests by source file

CPU_LIMIT = 20  # seconds: twice the longest suite that is allowed
WALL_LIMIT = 900.0  # seconds, for what sleeps; a busy machine must not decide
MEMORY_LIMIT = 6 << 30  # bytes of address space
_OPTIONS = ("-x", "-qq", "-s", "--no-summary", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")
_EARLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # Hypothesis is imported before pytest begins
_UNUSABLE = "the change could not be put in:"
_WARM = (
    "hypothesis.extra.numpy", "mpmath", "numpy.random", "numpy.testing", "optuna", "scipy.integrate", "scipy.linalg",
    "scipy.optimize", "scipy.spatial.distance", "scipy.special", "scipy.stats", "scipy.stats.qmc", "sklearn.tree",
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What the tests said of one text."""

    outcome: Outcome
    seconds: float  # CPU
    by: str = ""  # the first test that failed, or what else went wrong


@dataclass(frozen=True)
class _Trial:
    """A running child."""

    pid: int
    note: Path  # where it writes which test failed
    started: float


# --- the child


class _Only:
    """Keeps the chosen tests and notes the first that fails."""

    def __init__(self) -> None:
        self.chosen: frozenset[str] = frozenset()
        self.failed = ""

    def keep(self, items: list[pytest.Item], chosen: Sequence[str]) -> None:
        self.chosen = frozenset(chosen)
        items[:] = [item for item in items if item.nodeid.split("[")[0] in self.chosen]
        missing = self.chosen - {item.nodeid.split("[")[0] for item in items}
        if missing:
            self.failed = f"not found: {min(missing)}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} cannot be imported"


class _Once(_Only):
    """Runs the chosen tests, which the child has collected itself."""

    def __init__(self, chosen: Sequence[str]) -> None:
        super().__init__()
        self.wanted = chosen

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.keep(items, self.wanted)


def _confine() -> None:
    os.setpgid(0, 0)  # a child that hangs is ended with all that it started
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)


def _files(tests: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(test.split("::")[0] for test in tests))


def _run(arguments: Sequence[str], plugin: _Only) -> int:
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    return int(pytest.main([*_OPTIONS, *_EARLY, *arguments], plugins=[plugin]))


def _begin_afresh(changed: Text, chosen: Suites) -> _Trial:
    """Fork a child that imports Quadrat with a changed text and runs its tests."""
    pid, note = _fork()
    if pid == 0:
        status, only = 1, _Once(chosen[changed.file])
        try:
            _confine()
            sys.meta_path.insert(0, Finder(changed))
            status = _run(_files(chosen[changed.file]), only)
        except BaseException as error:  # the parent's stack must not go on in the child
            only.failed = f"{type(error).__name__}: {error}"
        finally:
            _leave(status, only, note)
    return _Trial(pid, note, time.monotonic())


def _fork() -> tuple[int, Path]:
    descriptor, note = tempfile.mkstemp(prefix="quadrat-mutant-")
    os.close(descriptor)
    sys.stdout.flush()
    return os.fork(), Path(note)


def _leave(status: int, only: _Only, note: Path) -> None:
    note.write_text(only.failed)
    os._exit(1 if only.failed else status)


# --- the parent


class _Collected(_Only):
    """Forks a child for each text once all tests are collected; in the child it goes on to run them."""

    def __init__(
        self, begun: Callable[[Callable[[Text], _Trial]], None], chosen: Suites, unchanged: Mapping[str, str]
    ) -> None:
        super().__init__()
        self.begun, self.suites, self.unchanged = begun, chosen, unchanged
        self.note: Path | None = None  # in a child

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        functions = functions_by_file()
        gc.freeze()  # children need not look at what they share with the parent

        def begin(changed: Text) -> _Trial:
            pid, note = _fork()
            if pid == 0:
                self.note = note
                _confine()
                self.keep(session.items, self.suites[changed.file])
                try:
                    put_in(self.unchanged[changed.file], changed, functions)
                except Exception as error:
                    self.failed = f"{_UNUSABLE} {error}"
                raise _InChild
            return _Trial(pid, note, time.monotonic())

        try:
            self.begun(begin)
        except _InChild:
            return None
        return True


class _InChild(BaseException):
    """Leaves the parent's loop in a child."""


def _warm_up() -> None:
    """Import what the tests need besides Quadrat."""
    for name in _WARM:
        importlib.import_module(name)
    loaded = [name for name in sys.modules if name.split(".")[0] == "quadrat"]
    if loaded:
        raise RuntimeError(f"expected that Quadrat is not imported before a change, got {loaded[0]}")


def _ended(trial: _Trial) -> Verdict | None:
    """Return the verdict if the child has ended, or has to be."""
    pid, status, usage = os.wait4(trial.pid, os.WNOHANG)
    late = pid == 0 and time.monotonic() - trial.started > WALL_LIMIT
    if late:
        os.killpg(trial.pid, signal.SIGKILL)
        pid, status, usage = os.wait4(trial.pid, 0)
    if pid == 0:
        return None
    by = trial.note.read_text()
    trial.note.unlink()
    seconds = round(usage.ru_utime + usage.ru_stime, 2)
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
        return Verdict("timeout", seconds, "ran past its limit")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return Verdict("survived", seconds)
    if by.startswith(_UNUSABLE):
        raise RuntimeError(by)
    return Verdict("killed", seconds, by or f"status {status}")


def judge(texts: Sequence[Text], chosen: Suites, report: Callable[[int, Verdict], None], *, workers: int = 1) -> None:
    """Judge texts of source files, several at a time; once in a process, which must not have imported Quadrat.

    Parameters
    ----------
    texts
        What to judge.
    chosen
        The tests of each file.
    report
        Is called with the place of a text in `texts` and its verdict, as trials end.
    workers
        Children at a time.
    """
    _warm_up()
    unchanged = {file: (ROOT / file).read_text() for file in {changed.file for changed in texts}}
    quick = {i for i, changed in enumerate(texts) if within_functions(unchanged[changed.file], changed.text)}

    def loop(places: Sequence[int], begin: Callable[[Text], _Trial]) -> None:
        waiting, running = list(places), dict[int, _Trial]()
        while waiting or running:
            while waiting and len(running) < workers:
                place = waiting.pop(0)
                running[place] = begin(texts[place])
            for place, trial in list(running.items()):
                verdict = _ended(trial)
                if verdict is not None:
                    del running[place]
                    report(place, verdict)
            time.sleep(0.01)

    loop([i for i in range(len(texts)) if i not in quick], lambda changed: _begin_afresh(changed, chosen))
    if not quick:
        return
    plugin = _Collected(lambda begin: loop(sorted(quick), begin), chosen, unchanged)
    tests = sorted({test for i in quick for test in chosen[texts[i].file]})
    status = 1
    try:
        status = _run(_files(tests), plugin)
    finally:
        if plugin.note is not None:
            _leave(status, plugin, plugin.note)
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"tests could not be collected or run: {plugin.failed or status}")
