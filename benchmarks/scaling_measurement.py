"""One measurement of benchmarks/scaling.py, in a process of its own: what a run with many old results costs.

    python benchmarks/scaling_measurement.py WHAT N SEED TURNS

curve     N old results are loaded at once; then one ask and tell, and TURNS more that are timed each by themselves
peers     each method is told N old results; then they take turns at suggestions: one of each peer, `OURS_IN_A_TURN` of
          ours, because ours learns only now and then. In the peers' environment
restart   N trials are asked and told, one after another; the optimizer is rebuilt from its state, as it comes back from
          JSON, and both are asked for the next trial

hartmann6, noise .1, maximised. Half of the old results are at uniform points, half around the optimum, as a long run
leaves them. Prints a row as JSON: the cell, the times in seconds, wall and CPU; resident memory in MB.
"""

from __future__ import annotations

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))  # the same sources in every environment

import json
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from regret import suite
from regret.adapter import Quadrat, timed_suggestion
from regret.roster import OURS, ROSTER, adapter_class
from regret.rows import Row, recorded, rounded
from regret.task import NOISE, Params, unit_space

import problems
import quadrat as qd
from quadrat.optimizer.trial import Trial
from quadrat.randomness import generator

PROBLEM = "hartmann6"
PEERS = ("optuna_gp", "botorch")
OURS_IN_A_TURN = 5
SPREAD = 0.1  # standard deviation, in each coordinate, of the results around the optimum
MOST_BYTES = 12 << 30  # of address space: what needs more fails, and leaves the machine alone
_RESULTS, _NEW = 46, 47  # name streams
T = TypeVar("T")


def old_results(count: int, seed: int) -> tuple[list[Params], list[float]]:
    """Return parameters and values, with noise, of earlier evaluations in a random order."""
    problem, rng = problems.get(PROBLEM), generator(seed, _RESULTS)
    points = rng.random((count, problem.dimension))
    near = rng.permutation(count)[: count // 2]
    around = problem.optimizers[0] + SPREAD * rng.normal(size=(len(near), problem.dimension))
    points[near] = np.clip(around, 0.0, 1.0)
    values = problem.values(points) + NOISE * rng.normal(size=count)
    space = unit_space(problem.dimension)
    return [space.from_unit(point) for point in points], [float(value) for value in values]


def warm_up() -> None:
    """Use all parts of an optimizer once: a few trials, a state, a restart."""
    optimizer = qd.Optimizer(unit_space(1), direction="maximize")
    for number in range(8):
        optimizer.tell(optimizer.ask(), float(number % 3))
    qd.Optimizer.from_state(optimizer.space, optimizer.state()).ask()


class Stopwatch:
    """Seconds of calls by name, wall and CPU, in the order of calling."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, list[float]]] = {}

    def time(self, name: str, call: Callable[[], T]) -> T:
        """Call and return what comes back."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        taken = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        for clock, seconds in taken.items():
            self.seconds.setdefault(name, {}).setdefault(clock, []).append(rounded(seconds))
        return result


def resident() -> dict[str, float]:
    """Return the memory of this process in MB: now, and the most since it began.

    Linux says both; elsewhere only the most is known, and stands for both.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        # macOS counts in bytes
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
        return {"now": rounded(most), "most": rounded(most)}
    # Not ru_maxrss: there a process begins with the memory of the one that started it.
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return {name: rounded(int(lines[key].split()[0]) / 1024) for name, key in (("now", "VmRSS"), ("most", "VmHWM"))}


class Run:
    """Our default method, timed.

    Parameters
    ----------
    n
        Old results.
    seed
        Of these and of the run.
    """

    def __init__(self, n: int, seed: int) -> None:
        self.problem, self.rng = problems.get(PROBLEM), generator(seed, _NEW)
        self.watch = Stopwatch()
        self.space = unit_space(self.problem.dimension)
        warm_up()  # what is imported at first use is no cost of many results
        params, values = old_results(n, seed)
        self.before = resident()  # old results are there whoever takes them
        self.optimizer = qd.Optimizer(self.space, direction="maximize", seed=seed)
        self.watch.time("load", lambda: self.optimizer.add_trials(params, values))

    def turn(self, prefix: str = "", *, timed: bool = True) -> None:
        """Ask and tell once; the names of the times begin with the prefix."""
        watch = self.watch if timed else Stopwatch()
        trial = watch.time(f"{prefix}ask", self.optimizer.ask)
        value = self.observe(trial)
        watch.time(f"{prefix}tell", lambda: self.optimizer.tell(trial, value))

    def observe(self, trial: Trial) -> float:
        """Return what an evaluation gives."""
        value = self.problem.values(self.space.to_unit(trial.params))[0]
        return float(value + NOISE * self.rng.normal())


def curve(n: int, seed: int, turns: int) -> Row:
    """Return seconds to load, of the first ask and tell, and of those that follow; and memory."""
    run = Run(n, seed)
    run.turn("first_")
    for _ in range(turns):
        run.turn()
    return {"seconds_of": run.watch.seconds, "mb": {"before": run.before["now"], **resident()}}


def restart(n: int, seed: int, turns: int) -> Row:
    """Return seconds to rebuild and of asks before and after; and whether the next suggestion is the same."""
    run = Run(0, seed)
    for number in range(n):
        run.turn(timed=number >= n - turns)
    text = run.watch.time("state", lambda: json.dumps(run.optimizer.state()))
    state = json.loads(text)
    rebuilt = run.watch.time("from_state", lambda: qd.Optimizer.from_state(run.space, state))
    kept = run.watch.time("next_ask", run.optimizer.ask)
    again = run.watch.time("next_ask_after_restart", rebuilt.ask)
    same = (kept.number, kept.params) == (again.number, again.params)
    return {"seconds_of": run.watch.seconds, "same": same, "state_mb": rounded(len(text) / (1 << 20))}


def peers(n: int, seed: int, turns: int) -> Row:
    """Return CPU seconds of suggestions, by method."""
    task = suite.task(PROBLEM, seed)
    params, values = old_results(n, seed)
    methods = {name: adapter_class(name)(task.space, n + OURS_IN_A_TURN * turns, seed) for name in (OURS, *PEERS)}
    for adapter in methods.values():
        if isinstance(adapter, Quadrat):
            adapter.optimizer.add_trials(params, values)
            continue
        for one, value in zip(params, values, strict=True):
            adapter.add(one, value)
    numbers = dict.fromkeys(methods, n)
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(turns):
        for name, adapter in methods.items():
            for _ in range(OURS_IN_A_TURN if name == OURS else 1):
                seconds[name].append(rounded(timed_suggestion(task, adapter, numbers[name])[2]))
                numbers[name] += 1
    return {"cpu": seconds}


MEASUREMENTS: Mapping[str, Callable[[int, int, int], Row]] = {"curve": curve, "peers": peers, "restart": restart}


def measured(what: str, n: int, seed: int, turns: int) -> Row:
    """Return the row of a measurement; what it raises becomes "error"."""
    distributions = tuple(dict.fromkeys(d for peer in PEERS for d in ROSTER[peer].distributions))
    return recorded(
        (what, PROBLEM, seed, n),
        lambda: {"turns": turns, **MEASUREMENTS[what](n, seed, turns)},
        distributions if what == "peers" else (),
    )


def main() -> None:
    what, *numbers = sys.argv[1:]
    n, seed, turns = map(int, numbers)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    print(json.dumps(measured(what, n, seed, turns)))


if __name__ == "__main__":
    main()
