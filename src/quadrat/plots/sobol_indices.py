"""How much of what a function varies by is due to each of its arguments.

With independent uniform arguments on the unit cube and m = m(x), argument i has the first-order index
S_i = Var(E[m | x_i]) / Var(m), its share alone, and the total index T_i = E[Var(m | all but x_i)] / Var(m), its share
with all interactions. From two sets of points A and B, and A_i, which is A with column i of B, the estimates are

    S_i = mean(m(B) (m(A_i) - m(A))) / Var(m),        T_i = mean((m(A) - m(A_i))^2) / (2 Var(m))

[S10, table 2, lines (b) and (f)], with the mean of m subtracted first, which changes neither and makes S_i less noisy.

[S10]: Saltelli, Annoni, Azzini, Campolongo, Ratto and Tarantola (2010). Variance based sensitivity analysis of model
       output. Computer Physics Communications 181.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput

__all__ = ["SobolIndices", "sobol_indices"]


@dataclass(frozen=True, eq=False)
class SobolIndices:
    """Estimates for each of the D arguments, shape (D,), in [0, 1]; 0 for all where the function is constant."""

    first_order: Array
    total: Array

    __repr__ = printed


def sobol_indices(function: Callable[[Array], Array], dimension: int, samples: int, seed: int = 0) -> SobolIndices:
    """Estimate the indices of a function from points (m, D) to values (m,), with `samples` (D + 2) points.

    Parameters
    ----------
    function
        Called once.
    dimension
        D.
    samples
        Points in A and in B, a power of two: they are those of a scrambled Sobol sequence in 2 D dimensions.
    seed
        Of the scrambling.

    Examples
    --------
    >>> found = sobol_indices(lambda x: 3 * x[:, 0] + x[:, 1] + 0 * x[:, 2], 3, 1024)
    >>> found.first_order.round(2).tolist(), found.total.round(2).tolist()
    ([0.9, 0.1, 0.0], [0.9, 0.1, 0.0])
    """
    if samples < 2 or samples & (samples - 1):
        raise InvalidInput(f"samples: expected a power of two, at least 2, got {samples!r}")
    from scipy.stats import qmc

    both = qmc.Sobol(2 * dimension, rng=np.random.default_rng(seed)).random(samples)
    a, b = both[:, :dimension], both[:, dimension:]
    mixed = np.repeat(a[None], dimension, axis=0)
    for i in range(dimension):
        mixed[i, :, i] = b[:, i]
    values = function(np.vstack([a, b, mixed.reshape(-1, dimension)]))
    values = values - values[: 2 * samples].mean()
    at_a, at_b, at_mixed = values[:samples], values[samples : 2 * samples], values[2 * samples :].reshape(dimension, -1)
    variance = float(values[: 2 * samples].var())
    if variance <= 1e-24 * max(float(np.abs(values).max()) ** 2, 1e-280):
        return SobolIndices(np.zeros(dimension), np.zeros(dimension))
    first = (at_b * (at_mixed - at_a)).mean(axis=1) / variance
    total = ((at_a - at_mixed) ** 2).mean(axis=1) / (2 * variance)
    return SobolIndices(np.clip(first, 0.0, 1.0), np.clip(total, 0.0, 1.0))
