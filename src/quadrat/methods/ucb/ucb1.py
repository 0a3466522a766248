"""UCB1: finitely many arms about which nothing is assumed but the size of the noise.

[A02]: Auer, Cesa-Bianchi and Fischer (2002). Finite-time analysis of the multiarmed bandit problem. Machine Learning
47.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, prod, sqrt
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number, as_vector
from quadrat.errors import InvalidInput
from quadrat.gp.observations import group_rows
from quadrat.methods.base import (
    PROBES,
    Domain,
    Incumbent,
    Method,
    MethodFacts,
    Observation,
    Proposal,
    Search,
    probed,
    refuse_context,
)
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["MOST_ARMS", "UCB1", "UCB1Search", "arms_of", "finite_arms"]

MOST_ARMS = 10_000
"""An index at every arm costs no more than some milliseconds to a second up to so many."""

_MOST_PRODUCTS = 200_000  # combinations looked at; where values depend on each other, many are one arm
_BASES = 64  # places from which an axis that does not exist everywhere is probed


def arms_of(domain: Domain) -> Array:
    """Return every point of a finite domain, rounded, feasible and once, shape (K, D), in lexicographic order.

    Raises
    ------
    InvalidInput
        An axis is continuous, there are more than `MOST_ARMS`, or no point is feasible.
    """
    values = [_values(domain, i) for i in range(domain.dimension)]
    for i, found in enumerate(values):
        if found is None:
            raise InvalidInput(
                f"arms: expected finitely many points (integers, steps, choices), got {domain.called(i)}, which is "
                "continuous or has values too close to list; use GPUCB or Auto, or give it a step or a list of choices"
            )
    known = [found for found in values if found is not None]
    size = prod(len(found) for found in known)
    if size > _MOST_PRODUCTS:
        raise _too_many(size)
    mesh = np.stack(np.meshgrid(*known, indexing="ij"), axis=-1).reshape(-1, domain.dimension)
    points = domain.rounded(mesh)
    points = points[group_rows(points)[0]]
    arms = points[domain.allowed(points)]
    if len(arms) > MOST_ARMS:
        raise _too_many(len(arms))
    if not len(arms):
        raise InvalidInput(f"arms: expected at least one feasible point, got none of {len(points)}; relax constraints")
    return np.ascontiguousarray(arms + 0.0)


def finite_arms(domain: Domain) -> Array | None:
    """Return what `arms_of` does, or None where the domain is not finite, or too large."""
    try:
        return arms_of(domain)
    except InvalidInput:
        return None


def _too_many(count: int) -> InvalidInput:
    return InvalidInput(
        f"arms: expected at most {MOST_ARMS} points, got {count}; use Auto, which does not list them, or fewer values"
    )


def _values(domain: Domain, axis: int) -> Array | None:
    """Return the coordinates that stand for the values of an axis, ascending; None where it is continuous.

    Axes with many values do not list them. Rounding does: every value that is met by two probes or more has a bin wider
    than their distance, so that none between such values was missed.
    """
    listed = domain.axes[axis].values
    if listed is not None:
        return np.array(listed)
    base = _where_it_exists(domain, axis)
    if domain.round is None or base is None:
        return None

    def rounded(coordinates: Array) -> Array:
        points = np.tile(base, (len(coordinates), 1))
        points[:, axis] = coordinates
        return np.asarray(domain.rounded(points)[:, axis])

    found, counts = probed(rounded)
    # Of a single value every probe is the same; the outermost bins may be cut in half.
    return found if len(found) < PROBES // 2 and (counts[1:-1] >= 2).all() else None


def _where_it_exists(domain: Domain, axis: int) -> Array | None:
    """Return a point, (D,), at which the axis counts; None where none was found."""
    anywhere = generator(0, domain.dimension).random((_BASES, domain.dimension))  # only to find a place
    bases = np.vstack([np.full((1, domain.dimension), 0.5), anywhere])
    if domain.exists is None:
        return np.asarray(bases[0])
    there = domain.exists(domain.rounded(bases))[:, axis]
    return np.asarray(bases[int(np.argmax(there))]) if there.any() else None


_LEAST_VARIANCE = 1e-12  # of the noise variance: a standard error of 0 must not outweigh everything by infinity


@dataclass(frozen=True, kw_only=True)
class UCB1(Method):
    """Pull every arm once, then the one with the largest mean_j + sigma sqrt(8 ln n / n_j) [A02, figure 1].

    n is the number of all pulls so far and n_j that of arm j. [A02] has rewards in [0, 1] and sqrt(2 ln n / n_j): that
    is sigma = 1/2, since what lies in [0, 1] is sub-Gaussian with 1/2 (Hoeffding's lemma), and their proof uses no more
    than that. The space is finite: integers, steps and choices, of which each combination is an arm. An arm says
    nothing of others; where neighbours are alike, GPUCB needs far fewer pulls. An arm that failed is not pulled again
    as long as there is another.

    The recommended arm is the one with the highest mean. There is no model, so no interval and no estimate of what is
    still to gain.

    Parameters
    ----------
    noise
        sigma, in the units of the values: rewards of every arm are sub-Gaussian with it around their mean. The default
        is right for rewards in [0, 1], whatever their distribution.

    Examples
    --------
    >>> from quadrat.methods.base import Axis
    >>> search = UCB1().start(Domain((Axis((0.25, 0.75), ordered=False),)), seed=0)
    >>> search.ask(0, np.empty((0, 1))).why
    'arm not pulled yet, one of 2'
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="UCB1, upper confidence bounds of independent arms",
        paper="Auer, Cesa-Bianchi and Fischer 2002, Finite-time analysis of the multiarmed bandit problem, Machine"
        " Learning 47",
        assumes="finitely many points, each with sub-Gaussian rewards; nothing of how they are related",
        best_for="few choices that have nothing in common",
    )

    noise: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", as_number(self.noise, name="noise", above=0.0))

    def start(self, domain: Domain, seed: int) -> UCB1Search:
        return UCB1Search(self, arms_of(domain), seed)

    def regret_bound(self, gaps: ArrayLike, n: int) -> float:
        """Return the bound on expected regret after n pulls for arms this far below the best [A02, theorem 1].

            8 sum_(gap_i > 0) ln n / gap_i + (1 + pi^2/3) sum_j gap_j,    with 32 sigma^2 in the place of 8

        Parameters
        ----------
        gaps
            max mean - mean of each arm, shape (K,), all >= 0, one of them 0.
        n
            Pulls, >= 1.

        Examples
        --------
        >>> round(UCB1().regret_bound([0.0, 0.5], 100), 2)
        75.83
        """
        below = as_vector(gaps, name="gaps")
        if (below < 0).any() or not (below == 0).any():
            raise InvalidInput(f"gaps: expected distances >= 0 from the best arm, which has 0, got {gaps!r}")
        below = below[below > 0]
        count = as_count(n, name="n", at_least=1)
        return float(32 * self.noise**2 * log(count) * (1 / below).sum() + (1 + pi**2 / 3) * below.sum())


class UCB1Search(Search):
    """UCB1 at work on arms (K, D)."""

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(self, method: UCB1, arms: Array, seed: int) -> None:
        self.method = method
        self.arms = arms
        self.seed = seed
        self._number = {arm.tobytes(): j for j, arm in enumerate(arms)}
        self._pulls = np.zeros(len(arms))  # what was told of each arm, in pulls of variance sigma^2
        self._sums = np.zeros(len(arms))
        self._observations = 0
        self._failed = np.zeros(len(arms), dtype=np.bool_)
        self._strangers: list[Observation] = []  # told, but no arm: a point that is not feasible

    def _arm(self, x: Array) -> int | None:
        return self._number.get((np.asarray(x, dtype=np.float64) + 0.0).tobytes())

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        # Where every arm failed, failures count as pulls, so that the arms take turns.
        left = np.ones_like(self._failed) if self._failed.all() else ~self._failed
        pulls, observations = self._pulls, self._observations
        if len(pending):  # counted as pulled, at the mean they have: the arms of a batch differ
            pulls = pulls.copy()
            for x in pending:
                arm = self._arm(x)
                if arm is None or left[arm]:  # what failed is pending for ever, and no pull
                    observations += 1
                if arm is not None and left[arm]:
                    pulls[arm] += 1
        fresh = np.flatnonzero((pulls == 0) & left)
        if len(fresh):
            arm = int(fresh[generator(self.seed, number).integers(len(fresh))])
            return Proposal(self.arms[arm].copy(), f"arm not pulled yet, one of {len(fresh)}")
        means = self._means()
        # A failed arm may have no pull at all.
        width = np.sqrt(8 * log(max(observations, 1)) / np.where(left, pulls, 1.0))
        index = np.where(left, means + self.method.noise * width, -np.inf)
        tied = np.flatnonzero(index == index.max())
        arm = int(tied[generator(self.seed, number).integers(len(tied))] if len(tied) > 1 else tied[0])
        why = f"largest mean + {index[arm] - means[arm]:.4g} after {pulls[arm]:.4g} pulls ({index[arm]:.4g})"
        return Proposal(self.arms[arm].copy(), why)

    def _means(self) -> Array:
        """Mean of each arm; 0 where only pending pulls are known, which is decided by their width alone."""
        told = np.divide(self._sums, self._pulls, out=np.zeros_like(self._sums), where=self._pulls > 0)
        if self._observations:
            told[self._pulls == 0] = self._sums.sum() / self._pulls.sum()
        return told

    def tell(self, observation: Observation) -> None:
        arm = self._arm(observation.x)
        if arm is None:
            self._strangers.append(observation)
            return
        pulls = float(len(observation.values))
        if observation.variance is not None:  # a mean of variance v says as much as sigma^2 / v pulls
            own = self.method.noise**2
            pulls = own / max(observation.variance, _LEAST_VARIANCE * own)
        self._pulls[arm] += pulls
        self._sums[arm] += pulls * float(np.mean(observation.values))
        self._observations += len(observation.values)

    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002
        arm = self._arm(x)
        if arm is not None:
            self._failed[arm] = True

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the arm with the highest mean of what was told."""
        refuse_context(self, context)
        if not self._observations:
            best = max(self._strangers, key=lambda told: float(np.mean(told.values)))
            return Incumbent(best.x.copy(), float(np.mean(best.values)))
        means = np.where(self._pulls > 0, self._means(), -np.inf)
        arm = int(np.argmax(means))
        return Incumbent(self.arms[arm].copy(), float(means[arm]))

    def explain(self) -> dict[str, object]:
        means, wide = self._means(), 8 * log(max(self._observations, 1))
        shown = np.argsort(-self._pulls, kind="stable")[:100]
        return {
            "observations": self._observations,
            "arms": len(self.arms),
            "most pulled": [
                {
                    "arm": self.arms[j].tolist(),
                    "pulls": float(self._pulls[j]),
                    "mean": float(means[j]),
                    "upper": float(means[j] + self.method.noise * sqrt(wide / self._pulls[j])),
                }
                for j in shown
                if self._pulls[j] > 0
            ],
        }
