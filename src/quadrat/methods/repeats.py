"""When a second look at a promising point is worth more than a new point.

What is recommended in the end is the evaluated point with the highest posterior mean. Another observation at x, of
noise variance v, moves the mean at every point i along one normal variable Z,

    m_i -> m_i + c_i Z,    c_i = Cov(f_i, f_x) / sqrt(Var f_x + v),

so that the expected best mean rises by E max_i (m_i + c_i Z) - max_i m_i, the knowledge gradient [F09, section 2.3],
here over evaluated points and x. The same number says what a new point is worth, and what a repeat.

References
----------
[F09]  Frazier, Powell and Dayanik (2009). The knowledge-gradient policy for correlated normal beliefs. INFORMS J.
       Computing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from quadrat.arrays import Array
from quadrat.gp.ensemble import Ensemble

__all__ = ["knowledge_gradients"]

_KNOWN = 1e-10  # a variance, in standardised units, below which nothing is left to learn
_NODES = np.asarray(ndtri((np.arange(128) + 0.5) / 128))  # of Z, equally likely; the integrand is piecewise linear


def knowledge_gradients(ensemble: Ensemble, known: Array, new: Array, noise: Array) -> Array:
    """Return what one more observation is worth at each known point and then at each new one, shape (k + m,).

    Parameters
    ----------
    ensemble
        The posterior; what is computed is averaged over its settings.
    known
        Features of evaluated points that may be recommended, shape (k, F), k >= 1.
    new
        Features of points that were not evaluated, shape (m, F); each may be recommended after its own observation.
    noise
        Noise variance of one observation under each setting, shape (M,), in the ensemble's units.
    """
    k = len(known)
    means, joints = ensemble.covariances(np.vstack([known, new]))
    worth = np.empty(k + len(new))
    for row in range(len(worth)):
        choice = np.arange(k) if row < k else np.append(np.arange(k), row)
        variance = np.maximum(joints[:, row, row], 0.0) + noise
        # What is known to working precision has covariances of rounding errors alone.
        scale = np.where(variance > _KNOWN, 1 / np.sqrt(np.maximum(variance, _KNOWN)), 0.0)
        steps = joints[:, row, choice] * scale[:, None]
        after = means[:, choice, None] + steps[:, :, None] * _NODES
        gained = after.max(axis=1).mean(axis=1) - means[:, :k].max(axis=1)
        worth[row] = gained.mean()
    return np.maximum(worth, 0.0)
