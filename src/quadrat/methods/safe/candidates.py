"""Where a safe search looks: a lattice over the cube, and around each measured point steps of several lengths.

Safe regions begin as specks. A lattice, however fine, may have no point inside; so every measured point is joined by
points at distances in which f can change by 1/2, 1/4, ... of B s, in several directions. Both are fixed by what was
told, so that a run is rebuilt bit for bit.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions
from quadrat.randomness import generator

__all__ = ["lattice", "steps_around"]

_LATTICE = 1024  # points at most
_LATTICE_LOSS = 1 / 64  # of B s: what f can vary by from one point of the lattice to the next, where it may be so fine
_HALVINGS = 3  # of each axis at least, where they may be so many
_REACHES = 2.0 ** -np.arange(1, 8)  # of B s
_RANDOM = 2  # directions for each axis, beside the axes themselves, in more than one dimension
_BISECTIONS = 40
_STREAM = 51  # names the stream of directions


def lattice(given: Assumptions, dimension: int, seed: int) -> tuple[Array, Array | None]:
    """Return points all over the cube, (p, D), and their spacing, (D,).

    In so many dimensions that a lattice would have three points a side, points of a scrambled Sobol sequence; then
    there is no spacing.
    """
    counts = np.zeros(dimension, dtype=np.intp)  # halvings
    sides, rule = np.ones(dimension), given.axis_rule()
    while float(given.variation(sides)) > _LATTICE_LOSS * given.ceiling or counts.min() < _HALVINGS:
        axis = rule(sides)
        finer = counts + (np.arange(dimension) == axis)
        if np.prod(2.0**finer + 1) > _LATTICE:
            break
        counts = finer
        sides[axis] /= 2
    if (counts < 2).any():
        from scipy.stats import qmc

        return np.asarray(qmc.Sobol(dimension, seed=generator(seed, _STREAM)).random(_LATTICE)), None
    axes = [np.linspace(0.0, 1.0, int(2**count) + 1) for count in counts]
    return np.array(list(product(*axes))), 2.0 ** -counts.astype(np.float64)


def steps_around(given: Assumptions, x: Array, spacing: Array | None, rng: np.random.Generator) -> Array:
    """Return points around x (D,), within the cube, shape (k, D).

    Along each axis to both sides, and along directions that `rng` draws; as far as changes f by at most 1/2, 1/4, ...
    of B s. Where there is a lattice with this `spacing`, (D,), only steps that are shorter.
    """
    dimension = len(x)
    directions = np.vstack([np.eye(dimension), -np.eye(dimension)])
    if dimension > 1:
        drawn = rng.standard_normal((_RANDOM * dimension, dimension))
        directions = np.vstack([directions, drawn / np.abs(drawn).max(axis=1, keepdims=True)])
    lengths = _lengths(given, directions)  # (d, r)
    steps = (lengths[:, :, None] * directions[:, None, :]).reshape(-1, dimension)
    if spacing is not None:
        steps = steps[(np.abs(steps) < spacing).all(axis=1)]
    points = np.clip(x + steps, 0.0, 1.0)
    return np.unique(points[(points != x).any(axis=1)], axis=0)


def _lengths(given: Assumptions, directions: Array) -> Array:
    """Return how far one may go in each direction until f can change by each share of B s; shape (d, r), at most 1."""
    low, high = np.zeros((len(directions), len(_REACHES))), np.ones((len(directions), len(_REACHES)))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        within = given.variation(middle[:, :, None] * directions[:, None, :]) <= _REACHES * given.ceiling
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return low
