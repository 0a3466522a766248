"""What rows say about methods: medians, ratios of regret and ranks, with bootstrap intervals, paired over seeds.

The ratio of a method to another on a suite is the geometric mean over problems of (median regret over seeds / the
other's median over the same seeds). Its interval resamples seeds, the same for both, within each problem: problems are
a fixed list. Ranks are taken within each problem and seed and averaged; their interval resamples problems and, within
them, seeds: it says how the mean rank would vary on other problems of this kind.

Regret is counted from the best known value, or from the best that any row reached where that is better: of the same
problem and seed. The best value of a tuning is not known, but is the same for all seeds: any row of it counts, and
regret is at least `RESOLUTION`: two configurations that differ by less are as good as each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from regret.rows import Row
from regret.suite import SUITES

__all__ = ["RESOLUTION", "Comparison", "Interval", "Measure", "paired_ratio", "ratio_of_medians", "words"]

RESOLUTION = 0.002  # of skill
FEWEST = 3  # seeds of an interval
_RESAMPLES = 4000
_PERCENTILES = (2.5, 97.5)
Measure: TypeAlias = Literal["recommended", "evaluated", "observed"]


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % bootstrap interval, over so many problems with at least so many seeds each."""

    value: float
    low: float
    high: float
    problems: int
    seeds: int


def words(found: Interval | None, expected: int) -> str:
    """Return an estimate with its interval for a table; it says so where it is over fewer problems than expected."""
    if found is None:
        return ""
    # The spread of one or two seeds is no interval.
    interval = f"{found.low:.2f} to {found.high:.2f}" if found.seeds >= FEWEST else "too few seeds"
    partial = "" if found.problems == expected else f", {found.problems} of {expected} problems"
    return f"{found.value:.2f} ({interval}{partial})"


def ratio_of_medians(pairs: Sequence[tuple[Array, Array]], *, least: float = 0.0) -> Interval | None:
    """Return the geometric mean over problems of (median of the first / median of the second); None without problems.

    Parameters
    ----------
    pairs
        For each problem two arrays of shape (seeds,), in the same order of seeds.
    least
        Medians below it count as it: for counts, which may be 0.
    """
    rng = np.random.default_rng(0)
    logs, resampled = [], []
    for mine, theirs in pairs:
        logs.append(np.log(max(np.median(mine), least) / max(np.median(theirs), least)))
        drawn = rng.integers(len(mine), size=(_RESAMPLES, len(mine)))
        above, below = (np.maximum(np.median(values[drawn], axis=1), least) for values in (mine, theirs))
        resampled.append(np.log(above / below))
    if not logs:
        return None
    low, high = np.percentile(np.mean(resampled, axis=0), _PERCENTILES)
    fewest = min(len(mine) for mine, _ in pairs)
    return Interval(float(np.exp(np.mean(logs))), float(np.exp(low)), float(np.exp(high)), len(logs), fewest)


def paired_ratio(pairs: Sequence[tuple[Array, Array]], *, least: float) -> Interval | None:
    """Return the geometric mean over problems and seeds of (the first / the second); None without problems.

    Every pair of runs counts, not the middle ones alone, so that smaller differences show. Seeds are resampled within
    each problem.

    Parameters
    ----------
    pairs
        For each problem two arrays of shape (seeds,), in the same order of seeds.
    least
        Values below it count as it: a run that came very near does not outweigh all others.
    """
    rng = np.random.default_rng(0)
    means, resampled = [], []
    for mine, theirs in pairs:
        logs = np.log(np.maximum(mine, least) / np.maximum(theirs, least))
        means.append(logs.mean())
        resampled.append(logs[rng.integers(len(logs), size=(_RESAMPLES, len(logs)))].mean(axis=1))
    if not means:
        return None
    low, high = np.percentile(np.mean(resampled, axis=0), _PERCENTILES)
    fewest = min(len(mine) for mine, _ in pairs)
    return Interval(float(np.exp(np.mean(means))), float(np.exp(low)), float(np.exp(high)), len(means), fewest)


@dataclass(frozen=True)
class Comparison:
    """Regrets by method, problem and seed.

    Parameters
    ----------
    rows
        Of all methods, one n, the seeds that count.
    """

    rows: Sequence[Row]
    _best: dict[tuple[str, int | None], float] = field(init=False, repr=False, default_factory=dict)
    _found: dict[tuple[str, str], list[Row]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.good:
            self._found.setdefault((row["method"], row["problem"]), []).append(row)
            reached = row["best"] - min(row["regret"].values())
            self._best[_instance(row)] = max(self._best.get(_instance(row), -np.inf), row["best"], reached)

    @property
    def good(self) -> list[Row]:
        """Rows of runs that did not fail."""
        return [row for row in self.rows if "error" not in row]

    def seeds(self, method: str, problem: str) -> set[int]:
        """Seeds that a method has a regret for."""
        return {row["seed"] for row in self._rows(method, problem)}

    def regrets(self, method: str, problem: str, measure: Measure, seeds: Iterable[int] | None = None) -> Array:
        """Regrets of a method on a problem, by seed; of all its seeds unless some are given."""
        by_seed = {
            row["seed"]: self.regret(row, measure)
            for row in self._rows(method, problem)
        }  # fmt: skip
        return np.array([by_seed[seed] for seed in sorted(by_seed if seeds is None else seeds)])

    def regret(self, row: Row, measure: Measure) -> float:
        """The regret of one row, counted from the best that is known."""
        return self._regret(row, row["regret"][measure])

    def covers(self, method: str, problems: Sequence[str]) -> bool:
        """Whether a method has rows on all of them."""
        return all(self.seeds(method, problem) for problem in problems)

    def ratio(self, method: str, other: str, problems: Sequence[str], measure: Measure) -> Interval | None:
        """The ratio of a method's regret to another's over the problems that both have seeds of in common."""
        return ratio_of_medians(self._pairs(method, other, problems, measure))

    def paired_ratio(
        self, method: str, other: str, problems: Sequence[str], measure: Measure, *, least: float
    ) -> Interval | None:
        """The same, run by run; regrets below `least` count as it."""
        return paired_ratio(self._pairs(method, other, problems, measure), least=least)

    def _pairs(self, method: str, other: str, problems: Sequence[str], measure: Measure) -> list[tuple[Array, Array]]:
        pairs = []
        for problem in problems:
            common = self.seeds(method, problem) & self.seeds(other, problem)
            if common:
                mine, theirs = (self.regrets(name, problem, measure, common) for name in (method, other))
                pairs.append((mine, theirs))
        return pairs

    def ranks(self, methods: Sequence[str], problems: Sequence[str], measure: Measure) -> dict[str, Interval]:
        """Mean ranks among methods, 1 the best, over the problems and seeds that all of them have."""
        rng = np.random.default_rng(0)
        means: list[Array] = []  # a row for each problem: mean ranks
        draws: list[Array] = []  # for each problem: (resample, method)
        seeds: list[int] = []
        for problem in problems:
            common = set.intersection(*(self.seeds(method, problem) for method in methods)) if methods else set()
            if not common:
                continue
            table = np.array([self.regrets(method, problem, measure, common) for method in methods]).T
            ranked = np.array([_ranks(row) for row in table])
            means.append(ranked.mean(axis=0))
            seeds.append(len(common))
            draws.append(ranked[rng.integers(len(ranked), size=(_RESAMPLES, len(ranked)))].mean(axis=1))
        if not means:
            return {}
        chosen = rng.integers(len(means), size=(_RESAMPLES, len(means)))
        resampled = np.array(draws)[chosen, np.arange(_RESAMPLES)[:, None]].mean(axis=1)
        low, high = np.percentile(resampled, _PERCENTILES, axis=0)
        middle = np.mean(means, axis=0)
        return {
            method: Interval(float(middle[i]), float(low[i]), float(high[i]), len(means), min(seeds))
            for i, method in enumerate(methods)
        }

    def curve(self, method: str, base: str, suite: str) -> tuple[list[int], list[float]] | None:
        """Regret against evaluations on a suite; None where a problem lacks curves.

        The geometric mean over problems of (median regret of the best evaluated point / the other's final median over
        the same seeds); on tunings, where not every point is scored, of the best observed.
        """
        kind: Measure = "observed" if suite == "tuning" else "evaluated"
        logs, at = [], []
        for problem in SUITES[suite]:
            drawn = [row for row in self._rows(method, problem) if kind in row.get("curve", {})]
            rows = [row for row in drawn if row["seed"] in self.seeds(base, problem)]
            if not rows:
                return None
            others = self.regrets(base, problem, kind, {row["seed"] for row in rows})
            at = list(rows[0]["curve"]["n"])
            heights = np.array([[self._regret(row, height) for height in row["curve"][kind]] for row in rows])
            logs.append(np.log(np.median(heights, axis=0) / np.median(others)))
        return at, [float(height) for height in np.exp(np.mean(logs, axis=0))]

    def _rows(self, method: str, problem: str) -> list[Row]:
        return self._found.get((method, problem), [])

    def _regret(self, row: Row, regret: float) -> float:
        since = float(self._best[_instance(row)] - row["best"] + regret)
        return max(since, RESOLUTION) if row["problem"] in SUITES["tuning"] else since


def _instance(row: Row) -> tuple[str, int | None]:
    """What a row shares its best value with: problem and seed, or a tuning whatever the seed."""
    return row["problem"], None if row["problem"] in SUITES["tuning"] else row["seed"]


def _ranks(values: Array) -> Array:
    """Ranks from 1, the smallest; equal values share the mean of theirs."""
    below = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    ranks: Array = below + (equal + 1) / 2
    return ranks
