"""Two thousand observations, and a model that remembers a few dozen of them.

A sketched Gaussian process keeps a dictionary of points instead of all: those that tell something new stay. Its
deviations are close to the exact ones, at a fraction of the cost; BKB searches with it.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

import quadrat as qd
from quadrat.gp.sketch import SketchedProcess
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator


def show(n: int, trials: int) -> None:
    """Compare posteriors after n observations, then search for `trials` trials."""
    kernel, noise = qd.Matern(2.5, 0.3), 0.2
    f = draw_rkhs_function(kernel, 2, norm=2.0, rng=generator(0))
    rng = generator(1)
    X = rng.random((n, 2))
    y = f.values(X) + noise * rng.standard_normal(n)
    points = rng.random((2000, 2))
    deviations = []
    for name, gp in (
        ("exact", qd.gp.GaussianProcess(kernel, noise_variance=noise**2)),
        ("sketched", SketchedProcess(kernel, noise_variance=noise**2)),
    ):
        start = process_time()
        gp.add(X, y)
        added = process_time() - start
        at = gp.predict(points)
        spent = process_time() - start - added
        deviations.append(at.deviation)
        kept = len(gp.dictionary) if isinstance(gp, SketchedProcess) else n
        error = float(np.abs(at.mean - f.values(points)).mean())
        print(
            f"{name:9} remembers {kept:5} of {n} points; adding them all {added:.2f} s, 2,000 predictions"
            f" {spent:.2f} s, mean error {error:.4f}"
        )
    ratio = (deviations[1] / deviations[0]) ** 2
    print(f"sketched variances are {ratio.min():.2f} to {ratio.max():.2f} times the exact ones")

    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
    method = qd.research.BKB(kernel=kernel, noise=noise, norm_bound=2.0, standardise=False)
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=0)
    for number in range(trials):
        trial = optimizer.ask()
        optimizer.tell(trial, float(f(space.to_unit(trial.params))) + noise * generator(2, number).normal())
    found = optimizer.recommend()
    print(f"BKB after {trials} trials: regret {f.maximum()[1] - float(f(space.to_unit(found.params))):.4f}")


if __name__ == "__main__":
    show(*(map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (2000, 60)))
