"""Six hundred readings, and the last suggestion costs what the first did: one small process for each cell.

The function is drawn from the ball of norm 1 of a Matérn kernel. Cells halve where readings gather; each knows its own
readings alone, so that a suggestion takes milliseconds however many there are.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import quadrat as qd
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator


def search(budget: int = 600) -> None:
    """Search, and say now and then how many cells there are, what they hold and what a suggestion costs."""
    kernel, noise, seed = qd.Matern(1.5, 0.3), 0.05, 1
    f = draw_rkhs_function(kernel, dimension=2, norm=1.0, rng=generator(seed), style="rough")
    truth = f.maximum()[1]
    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
    method = qd.research.PiGPUCB(
        kernel=kernel, norm_bound=1.0, noise=noise, budget=budget, scale=0.5, standardise=False
    )
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=seed)
    print("readings  cells  largest cell  ms a reading   f recommended  maximum")
    stops = sorted({budget * share // 8 for share in (0, 1, 2, 4, 8)})
    for begin, end in pairwise(stops):
        start = time.perf_counter()
        for reading in range(begin, end):
            trial = optimizer.ask()
            point = space.to_unit(trial.params)
            optimizer.tell(trial, float(f(point)) + noise * generator(seed, reading).normal())
        spent = 1000 * (time.perf_counter() - start) / (end - begin)
        inside = optimizer.explain()["search"]
        assert isinstance(inside, dict)
        value = float(f(space.to_unit(optimizer.recommend().params)))
        cells, largest = len(inside["cells"]), inside["largest cell"]
        print(f"{end:8d}  {cells:5d}  {largest:12d}  {spent:12.1f}  {value:14.3f}  {truth:7.3f}")


if __name__ == "__main__":
    search(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
