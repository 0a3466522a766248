"""The executor that somebody asks for by name: processes of this machine, Dask, or Ray."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from quadrat.errors import InvalidInput
from quadrat.loop.process_workers import ProcessWorkers

if TYPE_CHECKING:
    from quadrat.loop.dask_executor import DaskExecutor
    from quadrat.loop.ray_executor import RayExecutor

__all__ = ["EXECUTORS", "opened_executor"]

EXECUTORS = ("process", "dask", "ray")


@contextmanager
def opened_executor(kind: str, workers: int | None, scheduler: str | None) -> Iterator[tuple[Executor, int]]:
    """Yield an executor and how many trials it runs at once; end it afterwards, after an exception without waiting.

    The kind is one of `EXECUTORS`. Without `workers` there is one process, or as many as the cluster has room for, and
    one for every processor where that is started here. A scheduler is the address of a Dask scheduler or a Ray cluster.
    """
    with _made(kind, workers, scheduler) as executor:  # all of them end at once where an exception leaves the block
        yield executor, executor._max_workers


def _made(kind: str, workers: int | None, scheduler: str | None) -> ProcessWorkers | DaskExecutor | RayExecutor:
    if kind not in EXECUTORS:
        raise InvalidInput(f"executor: expected {', '.join(EXECUTORS[:-1])} or {EXECUTORS[-1]}, got {kind}")
    if workers is not None and workers < 1:
        raise InvalidInput(f"workers: expected at least 1, got {workers}")
    if kind == "process":
        if scheduler is not None:
            raise InvalidInput(
                f"scheduler: expected none for processes of this machine, got {scheduler}; use dask or ray"
            )
        return ProcessWorkers(workers or 1)
    if kind == "dask":
        from quadrat.loop.dask_executor import DaskExecutor

        return DaskExecutor(workers, scheduler=scheduler)
    from quadrat.loop.ray_executor import RayExecutor

    return RayExecutor(workers, address=scheduler)
