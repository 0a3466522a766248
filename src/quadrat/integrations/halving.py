"""Successive halving: many candidates with few resources, the best of them with more, one in the end with all.

A bracket begins factor^d candidates with max / factor^d of the resource, goes on with the best 1/factor of them and
`factor` times as much, and so on; its last rung has the whole resource [JT16]. Brackets follow each other, as in
Hyperband [LJ18], all of the same depth d, and the candidates of a bracket are chosen from the results of those before
it [F18]: of the highest rung at which there are enough for a model.

References
----------
[JT16]  Jamieson and Talwalkar (2016). Non-stochastic best arm identification and hyperparameter optimization. AISTATS.
[LJ18]  Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar (2018). Hyperband. JMLR 18.
[F18]   Falkner, Klein and Hutter (2018). BOHB: robust and efficient hyperparameter optimization at scale. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, isfinite
from typing import Any

from quadrat.errors import SpaceExhausted
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Optimizer
from quadrat.space import Space
from quadrat.space.constraint import listed_settings

__all__ = ["Candidate", "Results", "best_of", "rungs_of"]


def rungs_of(smallest: int, largest: int, factor: int, most: int) -> tuple[int, ...]:
    """Return the resources of the rungs of a bracket, ascending, the last `largest`.

    Parameters
    ----------
    smallest, largest
        The least and the most that one fit may have.
    factor
        By how much a rung has more than the one before.
    most
        Candidates that a bracket may begin with.

    Examples
    --------
    >>> rungs_of(20, 1000, 3, 27)
    (37, 111, 333, 1000)
    >>> rungs_of(20, 1000, 3, 10)
    (111, 333, 1000)
    """
    depth = 0
    while smallest * factor ** (depth + 1) <= largest and factor ** (depth + 1) <= most:
        depth += 1
    return tuple(largest // factor ** (depth - rung) for rung in range(depth + 1))


def best_of(scores: Sequence[float], factor: int) -> list[int]:
    """Return the places of the best 1/factor of the scores, rounded up, in their order; none that is NaN.

    Examples
    --------
    >>> best_of([0.5, float("nan"), 0.9, 0.7], 3)
    [2, 3]
    """
    ranked = sorted((place for place in range(len(scores)) if isfinite(scores[place])), key=lambda at: -scores[at])
    return sorted(ranked[: ceil(len(scores) / factor)])


@dataclass
class Candidate:
    """Parameters of the space, and by rung the mean score, NaN where a fit failed, and the row in the table."""

    params: Mapping[str, Any]
    scores: dict[int, float] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)


@dataclass
class Results:
    """All candidates so far, and the runs that choose the next ones.

    Parameters
    ----------
    space, method, seed
        Of the runs.
    """

    space: Space
    method: Method | str | None
    seed: int
    candidates: list[Candidate] = field(default_factory=list)

    @cached_property
    def _settings(self) -> int | None:
        """How many candidates there are; None where they are too many to list."""
        listed = listed_settings(self.space)
        return None if listed is None else int(self.space.allowed(listed).sum())

    def at(self, rung: int) -> tuple[Optimizer, list[int]]:
        """Return a run that was told the results of a rung and no others, and the row of each of its trials."""
        optimizer = Optimizer(self.space, direction="maximize", method=self.method, seed=self.seed)
        there = [one for one in self.candidates if rung in one.scores]
        for one in there:
            score = one.scores[rung]
            optimizer.add(one.params, score if isfinite(score) else FAILED)
        return optimizer, [one.rows[rung] for one in there]

    def highest_known(self) -> int:
        """Return the highest rung at which more candidates than parameters plus one have succeeded; the lowest else."""
        rungs = {rung for one in self.candidates for rung in one.scores}
        known = [
            rung
            for rung in rungs
            if sum(isfinite(one.scores.get(rung, float("nan"))) for one in self.candidates) >= self.space.dimension + 2
        ]
        return max(known, default=0)

    def choose(self, count: int) -> list[Candidate]:
        """Return up to `count` new candidates, chosen together; fewer, or none, where the space has no more.

        Those without a result on the rung that the model sees count as pending: they are not asked for again. In a
        finite space each is begun once: the same folds would give the same again.
        """
        rung = self.highest_known()
        optimizer, _ = self.at(rung)
        for one in self.candidates:
            if rung not in one.scores:
                optimizer.ask(one.params)
        begun = {frozenset(one.params.items()) for one in self.candidates}
        chosen = []
        for _ in range(count):
            if len(begun) == self._settings:
                break
            try:
                chosen.append(Candidate(optimizer.ask().params))
            except SpaceExhausted:
                break
            begun.add(frozenset(chosen[-1].params.items()))
        self.candidates += chosen
        return chosen
