"""Several gradient ascents in the unit cube at once: every step asks for all of them with one call.

A quasi-Newton ascent from each start, in lockstep. One call with s points costs little more than one with a single
point, where s calls cost s times the overhead of the arrays; acquisition functions are maximised so in a few
milliseconds.

Each row keeps its own inverse Hessian, updated by BFGS [NW06, equation 6.17]; coordinates that sit on a face of the
cube with the slope pointing outwards do not move [NW06, section 16.7].

References
----------
[NW06]  Nocedal and Wright (2006). Numerical Optimization, second edition. Springer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from quadrat.arrays import Array, Bools

__all__ = ["Slope", "ascend"]

Slope: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""From points (s, D) to values (s,) and gradients (s, D)."""

_SUFFICIENT = 1e-4  # of the increase that the slope promises [NW06, equation 3.4]
_SHRINK = 0.25
_LONGEST = 0.25  # of the cube's side, in any coordinate: the model is not trusted further


def ascend(function: Slope, starts: Array, *, steps: int = 20, first_step: float = 0.05) -> tuple[Array, Array]:
    """Climb from every start; no row ever ends lower than it began.

    Parameters
    ----------
    function
        Values and gradients. What is not finite counts as infinitely low.
    starts
        Shape (s, D), inside the cube.
    steps
        Calls of the function, the first included; all rows share them.
    first_step
        Length, in the largest coordinate, of the first step of each row.

    Returns
    -------
    points
        Shape (s, D), inside the cube.
    values
        Shape (s,).

    Examples
    --------
    >>> peak = np.array([0.3, 1.2])
    >>> points, values = ascend(lambda x: (-((x - peak) ** 2).sum(1), -2 * (x - peak)), np.full((1, 2), 0.5))
    >>> points.round(6).tolist()
    [[0.3, 1.0]]
    """
    x = np.array(starts, dtype=np.float64)
    rows, dimension = x.shape
    value, slope = _finite(*function(x))
    inverse = np.empty((rows, dimension, dimension))  # of minus the Hessian
    fresh = np.ones(rows, dtype=np.bool_)  # rows whose inverse Hessian is only a scale so far
    damping = np.ones(rows)
    inverse[:] = np.eye(dimension)
    inverse *= (first_step / np.maximum(np.abs(slope).max(axis=1), 1e-300))[:, None, None]
    for _ in range(steps - 1):
        free = ~(((x <= 0.0) & (slope < 0.0)) | ((x >= 1.0) & (slope > 0.0)))
        uphill = np.where(free, slope, 0.0)
        direction = np.where(free, np.einsum("sij,sj->si", inverse, uphill), 0.0)
        stray = np.einsum("si,si->s", direction, uphill) <= 0.0
        if stray.any():  # what the Hessian was learned from no longer describes this place
            scale = first_step / np.maximum(np.abs(uphill[stray]).max(axis=1), 1e-300)
            direction[stray] = scale[:, None] * uphill[stray]
        longest = np.abs(direction).max(axis=1)
        direction *= (damping * np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300)))[:, None]
        candidate = np.clip(x + direction, 0.0, 1.0)
        moved = candidate - x
        if not np.any(np.abs(moved) > 1e-12):
            break
        new_value, new_slope = _finite(*function(candidate))
        promised = np.maximum(np.einsum("si,si->s", slope, moved), 0.0)  # a face of the cube may turn a step downhill
        accepted = new_value >= value + _SUFFICIENT * promised
        bend = np.where(free, slope - new_slope, 0.0)
        curvature = np.einsum("si,si->s", moved, bend)
        bent = np.abs(bend).max(axis=1)
        # Squares of what is learned from must be numbers.
        learn = accepted & (curvature > 1e-12 * np.abs(moved).max(axis=1) * bent) & (bent > 1e-140) & (bent < 1e140)
        if learn.any():
            _learn(inverse, fresh, learn, moved[learn], bend[learn], curvature[learn])
        damping = np.where(accepted, 1.0, damping * _SHRINK)
        x[accepted], value[accepted], slope[accepted] = candidate[accepted], new_value[accepted], new_slope[accepted]
    return x, value


def _learn(inverse: Array, fresh: Bools, learn: Bools, s: Array, y: Array, sy: Array) -> None:
    """Update the inverse Hessians of the rows `learn` from steps s and changes of slope y [NW06, equation 6.17]."""
    first = learn & fresh
    if first.any():  # scale the identity by the curvature just seen [NW06, equation 6.20]
        scale = (sy / np.einsum("si,si->s", y, y))[fresh[learn]]
        inverse[first] = scale[:, None, None] * np.eye(s.shape[1])
        fresh[first] = False
    H = inverse[learn]
    Hy = np.einsum("sij,sj->si", H, y)
    outer = s[:, :, None] * Hy[:, None, :]
    weight = (1 + np.einsum("si,si->s", y, Hy) / sy) / sy
    H = (
        H
        - (outer + outer.transpose(0, 2, 1)) / sy[:, None, None]
        + weight[:, None, None] * s[:, :, None] * s[:, None, :]
    )
    inverse[learn] = H


def _finite(values: Array, slopes: Array) -> tuple[Array, Array]:
    good = np.isfinite(values) & np.isfinite(slopes).all(axis=1)
    return np.where(good, values, -np.inf), np.where(good[:, None], slopes, 0.0)
