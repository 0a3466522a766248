"""Runs that are looked at on the way: regrets and CPU time after some numbers of evaluations."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from math import inf

import numpy as np
from regret.adapter import Adapter, timed_suggestion
from regret.rows import Row, rounded
from regret.task import Params, Task

__all__ = ["followed", "milliseconds_at", "row_at", "up_to"]


def up_to(n: int, numbers: Iterable[int]) -> tuple[int, ...]:
    """Return the numbers below n, and n."""
    return (*(number for number in numbers if number < n), n)


def followed(task: Task, adapter: Adapter, at: Sequence[int]) -> Row:
    """Run a method until the last of the numbers of evaluations.

    Parameters
    ----------
    task
        A cheap one.
    adapter
        The method; what it recommends is asked for at each number, and must leave its run as it is.
    at
        Numbers of evaluations, ascending.

    Returns
    -------
    The best value; the regrets at the end; and the curve: at each number the regrets of the recommended, the best
    evaluated and the best observed point, CPU seconds of all suggestions so far, and CPU seconds of the recommendation.
    """

    def regret(params: Params) -> float:
        return task.best - task.value(params)

    curve: dict[str, list[float]] = {"n": [*at]}
    taken, evaluated = 0.0, inf
    highest = -inf
    incumbent: Params | None = None
    for number in range(at[-1]):
        params, value, seconds = timed_suggestion(task, adapter, number)
        taken += seconds
        evaluated = min(evaluated, regret(params))
        if incumbent is None or value > highest:
            highest, incumbent = value, params
        if number + 1 in at:
            begin = time.process_time()
            recommended = adapter.recommend()
            recommending = time.process_time() - begin
            found = {"recommended": regret(recommended), "evaluated": evaluated, "observed": regret(incumbent)}
            for name, figure in {**found, "cpu": taken, "cpu_to_recommend": recommending}.items():
                curve.setdefault(name, []).append(rounded(figure))
    final = {measure: curve[measure][-1] for measure in ("recommended", "evaluated", "observed")}
    return {"best": task.best, "regret": final, "curve": curve}


def row_at(row: Row, n: int) -> Row:
    """Return a row as it would be had the run ended after n evaluations, one of the numbers it was looked at."""
    if "error" in row:
        return {**row, "n": n}
    at = row["curve"]["n"].index(n)
    return {**row, "n": n, "regret": {measure: row["curve"][measure][at] for measure in row["regret"]}}


def milliseconds_at(rows: Sequence[Row], n: int) -> float:
    """Return CPU milliseconds of a suggestion before evaluation n: means since the number before, median over runs."""
    found = []
    for row in rows:
        counts, seconds = [0, *row["curve"]["n"]], [0.0, *row["curve"]["cpu"]]
        end = counts.index(n)
        found.append(1e3 * (seconds[end] - seconds[end - 1]) / (n - counts[end - 1]))
    return float(np.median(found))
