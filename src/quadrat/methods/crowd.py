"""Asking while very many trials run: not all of them can be believed in.

What runs is a row of the model, as if it had been observed at its mean, and the model's cost grows with the cube of its
rows. Up to `MOST` rows that is done with all of them. Beyond,

- a model near a place believes in those that are nearest to the place;
- over the whole cube, the point is asked for at which a draw of f is highest. Draws differ by themselves, so that no
  trial needs to believe in the others [K18], and the cost does not depend on how many there are.

Whatever runs is not asked for again, all the same.

References
----------
[K18]  Kandasamy, Krishnamurthy, Schneider and Poczos (2018). Parallelised Bayesian optimisation via Thompson sampling.
       AISTATS.
"""

from __future__ import annotations

import numpy as np

from quadrat.arrays import Array
from quadrat.methods.acquisition import draws, scattered
from quadrat.methods.beliefs import Beliefs
from quadrat.nearest import is_among, nearest
from quadrat.randomness import generator

__all__ = ["MOST", "highest_of_a_draw", "nearest_running"]

MOST = 128  # points that run and are believed in
BEST = 4  # evaluated points that candidates are scattered around
UNIFORM, NEAR, SCALES = 128, 30, (0.2, 0.05, 0.01)  # candidates anywhere, and around each of the best at these scales
_DRAWN = 17  # names the stream


def nearest_running(running: Array, centre: Array, sides: Array, *, box: bool = False) -> Array:
    """Return the points (p, D) that a model near a place believes in, at most `MOST`, in their order: see `nearest`."""
    return running[nearest(running, centre, sides, MOST, box=box)]


def highest_of_a_draw(beliefs: Beliefs, running: Array, seed: int, number: int) -> Array:
    """Return the candidate, shape (D,), at which a draw of f under a draw of its settings is highest.

    Of those that may be asked for and are none of the points (p, D) that run; where there are none, of those that may;
    of all, where none may.
    """
    rng, domain = generator(seed, number, _DRAWN), beliefs.domain
    _, ensemble = beliefs.model.current()
    evaluated = beliefs.points
    features = domain.features(evaluated)
    means = ensemble.predict(features).mean.mean(axis=0)
    best = evaluated[beliefs.constraints.current().order(means, features)[:BEST]]
    anywhere = rng.random((UNIFORM, domain.dimension))
    points = domain.rounded(np.vstack([anywhere, scattered(best, NEAR, SCALES, rng)]))
    fine = beliefs.may_be_asked(points, beliefs.least_log_chance(seed, number))
    for wanted in (fine & ~is_among(points, running), fine):
        if wanted.any():
            points = points[wanted]
            break
    setting = int(rng.integers(len(ensemble)))
    mean, joint = (part[setting] for part in ensemble.covariances(domain.features(points)))
    highest: Array = points[int(np.argmax(draws(mean, joint, 1, rng)[:, 0]))]
    return highest
