"""Disks that are full: a small file system in memory, where one may be mounted, and a limit on the size of files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.bench import Bench, Findings, Run

_SMALL, _LARGE = "12k", "1m"


def disk_that_fills(bench: Bench, folder: Path) -> Findings:
    """The journal lies in a file system without room for it; later there is room."""
    n_trials = 14
    bench.storage = f"{folder.name}/quadrat.journal"
    run = bench.start("-n", str(n_trials))
    _check_said(run, bench, "No space left on device")
    again = bench.start("-n", str(n_trials))
    _check_said(again, bench, "No space left on device")
    subprocess.run(["mount", "-o", f"remount,size={_LARGE}", str(folder)], check=True)  # noqa: S607
    return bench.audit("a file system that is full", 2, n_trials)


def file_that_may_not_grow(bench: Bench) -> Findings:
    """As a disk that is full: while the study is begun, and in the middle."""
    n_trials, limits = 14, (100, 6_000, 9_000)
    for limit in limits:
        run = bench.start("-n", str(n_trials), faults={"file_size": str(limit)})
        _check_said(run, bench, "File too large")
    return bench.audit("a file that may not grow", len(limits), n_trials)


def _check_said(run: Run, bench: Bench, reason: str) -> None:
    status = run.wait()
    assert status == 2, f"{status}: {run.complained}"
    last = run.complained.splitlines()[-1]
    assert last.startswith(f"quadrat: storage: expected {bench.storage} to answer and to take what is told, got "), last
    assert reason in last
    assert "Traceback" not in run.complained, run.complained


@contextmanager
def small_disk(folder: Path) -> Iterator[str | None]:
    """Mount a small file system on a folder; yield why that is not possible, if it is not."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SMALL}", "tmpfs", str(folder)]
    try:
        out = subprocess.run(command, capture_output=True, text=True)
        refused = out.stderr.strip() if out.returncode else None
    except OSError as error:
        refused = str(error)
    try:
        yield refused
    finally:
        if refused is None:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607
