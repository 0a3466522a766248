"""Paired comparisons: two methods on the same seeds, with bootstrap intervals over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from grid import Row

__all__ = ["difference", "pairs_of", "ratio", "words"]

_RESAMPLES = 4000
_PERCENTILES = (2.5, 97.5)


def pairs_of(
    rows: Sequence[Row], measure: str, first: dict[str, object], second: dict[str, object], problem: str = "problem"
) -> list[tuple[list[float], list[float]]]:
    """Return, problem by problem, the values of two groups of rows at the seeds that both have, in the same order.

    Parameters
    ----------
    rows
        All rows; each has "seed" and the key `problem`.
    measure
        The key of the value.
    first, second
        What rows of either group have in common, such as {"method": "GPBUCB"}.
    problem
        The key that tells problems apart.
    """
    found = []
    for name in dict.fromkeys(row[problem] for row in rows):
        groups = [
            {
                row["seed"]: float(str(row[measure]))
                for row in rows
                if row[problem] == name and kind.items() <= row.items()
            }
            for kind in (first, second)
        ]
        seeds = [seed for seed in groups[0] if seed in groups[1]]
        if seeds:
            found.append(([groups[0][seed] for seed in seeds], [groups[1][seed] for seed in seeds]))
    return found


def ratio(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], least: float = 1e-6) -> tuple[float, float, float]:
    """Return the geometric mean over problems and seeds of first / second, with its 95 % bootstrap interval.

    Seeds are resampled within problems, the same for both. Values below `least` count as it: a regret of 0 has no
    logarithm, and one of 1e-9 should not outweigh all others.

    Examples
    --------
    >>> ratio([([1.0, 2.0], [2.0, 4.0])])
    (0.5, 0.5, 0.5)
    """
    logs = [np.log(np.maximum(first, least)) - np.log(np.maximum(second, least)) for first, second in pairs]
    value, low, high = _resampled(logs)
    return float(np.exp(value)), float(np.exp(low)), float(np.exp(high))


def difference(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float, float]:
    """Return the mean over problems and seeds of first - second, with its 95 % bootstrap interval over seeds."""
    return _resampled([np.asarray(first) - np.asarray(second) for first, second in pairs])


def _resampled(values: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Mean of the means of the problems' vectors (seeds,), and its interval."""
    rng = np.random.default_rng(0)
    drawn = [problem[rng.integers(len(problem), size=(_RESAMPLES, len(problem)))].mean(axis=1) for problem in values]
    low, high = np.percentile(np.mean(drawn, axis=0), _PERCENTILES)
    return float(np.mean([problem.mean() for problem in values])), float(low), float(high)


def words(estimate: tuple[float, float, float], digits: int = 2) -> str:
    """Return "value (low to high)" for a table."""
    value, low, high = (f"{number:.{digits}f}" for number in estimate)
    return f"{value} ({low} to {high})"
