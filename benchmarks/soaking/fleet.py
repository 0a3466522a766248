"""More workers than any machine has: a coordinator feeds a fleet in virtual time.

    python benchmarks/soaking/fleet.py KIND WORKERS N SEED

study     the coordinator of `quadrat tune` (`quadrat.studies.Coordinator`) with the default method; trials are kept in
          a storage of Optuna's in memory, so that what is measured is ours and not a disk
maximize  the loop of `qd.maximize(..., executor=...)` with the default method
random    the same loop with random search

hartmann6, noise .1. Evaluations take log-normal virtual times, of mean 1 and sigma 1: some take ten times as long as
others, and results come in another order than they were asked for. One worker is a run in series.

The row has CPU seconds of a suggestion (ask, tell and all that the coordinator does) while the fleet is filled and
afterwards; repeated points; the regret of the best evaluated point at virtual times, and of the recommended one at the
end. Progress goes to standard error, the row, as JSON, to standard output.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

sys.path.insert(0, str(ROOT / "src"))

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from regret.rows import Row, recorded, rounded
from regret.task import NOISE, unit_space
from scaling_measurement import resident

import problems
import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.loop.plan import Plan
from quadrat.loop.tuning import carry_out
from quadrat.randomness import generator
from soaking.virtual_clock import VirtualExecutor, VirtualWorkers

__all__ = ["COUNTS", "KINDS", "PROBLEM", "TIMES", "Evaluations", "measured", "repeats"]

PROBLEM = "hartmann6"
KINDS = ("study", "maximize", "random")
TIMES = (1, 2, 3, 5, 10, 20)  # virtual, in mean evaluation times, at which regret is looked at
COUNTS = (20, 100, 500, 1000, 2000, 5000, 10_000, 20_000)  # evaluations after which it is looked at
SIGMA = 1.0  # of the logarithm of evaluation times
_NOISE, _DURATIONS = 62, 63  # name streams


class Evaluations:
    """The objective, and a log of its calls: points, values without noise, CPU and virtual time, by number."""

    def __init__(self, seed: int, workers: int) -> None:
        self.problem = problems.get(PROBLEM)
        self.space = unit_space(self.problem.dimension)
        self._noise, durations = generator(seed, _NOISE), generator(seed, _DURATIONS)
        self.executor = VirtualExecutor(workers, lambda: float(durations.lognormal(-0.5 * SIGMA**2, SIGMA)))
        self.points: list[Array] = []
        self.cpu: list[float] = []
        self.begun: list[float] = []

    def __call__(self, params: dict[str, Any]) -> float:
        self.cpu.append(time.process_time())
        if len(self.cpu) % 1000 == 0:
            print(f"{len(self.cpu):,} asked for, {self.cpu[-1]:.0f} s of CPU", file=sys.stderr, flush=True)
        self.begun.append(self.executor.now)
        self.points.append(self.space.to_unit(params))
        return float(self.problem.values(self.points[-1])[0] + NOISE * self._noise.normal())

    def regret(self, x: Array) -> float:
        """Of one point, shape (D,), without noise."""
        assert self.problem.optimal_value is not None
        return rounded(float(self.problem.optimal_value - self.problem.values(x)[0]))

    def regrets(self) -> dict[str, dict[str, float]]:
        """Regret of the best point whose evaluation had ended: "at" virtual times, and "after" so many evaluations.

        Left out is what is before the first end or after the last.
        """
        assert self.problem.optimal_value is not None
        values = self.problem.values(np.array(self.points))
        ended = np.array([self.executor.ended[number] for number in range(len(values))])
        order = np.argsort(ended, kind="stable")
        lowest = self.problem.optimal_value - np.maximum.accumulate(values[order])
        done = {at: int(np.searchsorted(ended[order], at, "right")) for at in TIMES if at <= ended.max()}
        return {
            "at": {str(at): rounded(float(lowest[count - 1])) for at, count in done.items() if count},
            "after": {str(count): rounded(float(lowest[count - 1])) for count in COUNTS if count <= len(lowest)},
        }


def repeats(points: Array, begun: Array, ended: Array) -> tuple[int, int]:
    """Return how many points (n, D) were asked for while the same one ran, and how many after it had ended.

    The latter are second looks, which the default method takes on purpose; the former would be wasted.

    Parameters
    ----------
    points
        In the order of asking, shape (n, D).
    begun, ended
        Virtual times, each shape (n,).
    """
    last: dict[bytes, float] = {}  # when the latest evaluation of a point ends
    running = later = 0
    for point, begin, end in zip(points, begun, ended, strict=True):
        before = last.get(point.tobytes())
        if before is not None:
            running, later = (running + 1, later) if before > begin else (running, later + 1)
        last[point.tobytes()] = end if before is None else max(before, end)
    return running, later


def simulated(kind: str, workers: int, n: int, seed: int) -> Row:
    """Run a fleet to its end."""
    log = Evaluations(seed, workers)
    begin = time.process_time()
    recommended = (_study if kind == "study" else _loop)(kind, log, n, seed)
    cpu = np.array([*log.cpu, time.process_time()]) - begin
    ended = np.array([log.executor.ended[number] for number in range(n)])
    running, later = repeats(np.array(log.points), np.array(log.begun), ended)
    full = min(workers, n)
    return {
        "workers": workers,
        "virtual_time": rounded(float(ended.max())),
        "busy": rounded(float((ended - log.begun).sum() / (workers * ended.max()))),
        "cpu": {
            "filling": rounded(float(cpu[full - 1] / full)),
            "full": rounded(float((cpu[n] - cpu[full - 1]) / (n - full))) if n > full else None,
        },
        "repeats": {"running": running, "later": later},
        "regret": {**log.regrets(), "recommended": log.regret(recommended)},
        "mb": resident(),
    }


def _loop(kind: str, log: Evaluations, n: int, seed: int) -> Array:
    method = "RandomSearch" if kind == "random" else None
    optimizer = qd.Optimizer(log.space, direction="maximize", method=method, seed=seed)
    result = carry_out(Plan(n), optimizer, VirtualWorkers(log, log.executor))
    return log.space.to_unit(result.params)


def _study(kind: str, log: Evaluations, n: int, seed: int) -> Array:  # noqa: ARG001
    import optuna

    from quadrat.integrations import recommend
    from quadrat.studies import Coordinator

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = qd.QuadratSampler(search_space=log.space, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    Coordinator(study, log.space, lambda: VirtualWorkers(log, log.executor), n_trials=n).run()
    states = [trial.state for trial in study.get_trials(deepcopy=False)]
    if len(states) != n or any(state is not optuna.trial.TrialState.COMPLETE for state in states):
        raise RuntimeError(f"expected {n} complete trials, got {len(states)}")
    params: Mapping[str, Any] = recommend(study, search_space=log.space, seed=seed).params
    return log.space.to_unit(params)


def measured(kind: str, workers: int, n: int, seed: int) -> Row:
    """Return the row of a run; what it raises becomes "error"."""
    return recorded((f"{kind} {workers}", PROBLEM, seed, n), lambda: simulated(kind, workers, n, seed))


def main() -> None:
    kind, *numbers = sys.argv[1:]
    workers, n, seed = map(int, numbers)
    print(json.dumps(measured(kind, workers, n, seed)))


if __name__ == "__main__":
    main()
