"""The Heuristic: LP-GP-UCB with k = 0 on the cells of a regression tree (Algorithm 3, appendix of the paper).

What the paper leaves open or contradicts, and what is done here:

- The size of the tree. scikit-learn's default puts each observation in a leaf of its own; `min_samples_leaf` and
  `max_leaf_nodes` choose another.
- Leaves are not cubes: the variation is taken over the leaf's actual diagonal, not over sqrt(D) r.
- b is given once with sigma and once without; it is sigma sqrt(2 log(n/delta)/n_E) here.
- beta_n as in the lemma on concentration, B + sigma sqrt(2 (gamma + 1 + log(3/delta))), with the gain realised so far;
  lambda, never stated, is the noise variance. The leaves are chosen by the data, so nothing is certified anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.confidence import UserHolder
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.methods.acquisition import Score, upper_bound
from quadrat.methods.base import Domain, MethodFacts, Proposal
from quadrat.methods.surrogate import ModelBased, ModelSearch, Surrogate
from quadrat.partition import Partition, from_regression_tree
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["Heuristic"]

_PAPER_HOLDER = UserHolder(sqrt(2), 1.0)  # L and alpha of section "Empirical Results"
_TREE, _CELLS = 1, 2  # streams of a trial


@dataclass(frozen=True, kw_only=True)
class Heuristic(ModelBased):
    """Evaluate a uniform point of the leaf with the highest upper bound (Algorithm 3).

    Parameters
    ----------
    norm_bound
        B, in model units.
    delta, budget
        The delta and n of beta_n and b.
    holder
        L ||x - z||^alpha, in model units: the paper's sqrt(2) ||x - z|| by default. None takes the kernel's exact
        modulus of continuity times B.
    min_samples_leaf, max_leaf_nodes
        Size of the tree, as scikit-learn means them.
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(0, 1))
    >>> method = Heuristic(noise=0.01, budget=12)
    >>> found = qd.maximize(lambda p: -((p["x"] - 0.3) ** 2), space, n_trials=12, method=method)
    >>> abs(found.params["x"] - 0.3) < 0.1
    True
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Heuristic: LP-GP-UCB on the leaves of a regression tree",
        paper="the LP-GP-UCB paper, Algorithm 3 (appendix)",
        assumes="norm of f at most B and a Hölder bound, in model units; nothing is guaranteed",
        best_for="the paper's experiments, without guarantees",
    )

    norm_bound: float = 1.0
    delta: float = 0.001
    budget: int = 100
    holder: UserHolder | None = _PAPER_HOLDER
    min_samples_leaf: int = 1
    max_leaf_nodes: int | None = None

    def check(self) -> None:
        object.__setattr__(self, "norm_bound", as_number(self.norm_bound, name="norm_bound", above=0.0))
        object.__setattr__(self, "delta", as_probability(self.delta))
        object.__setattr__(self, "budget", as_count(self.budget, name="budget", at_least=1))
        object.__setattr__(
            self, "min_samples_leaf", as_count(self.min_samples_leaf, name="min_samples_leaf", at_least=1)
        )
        if self.max_leaf_nodes is not None:
            as_count(self.max_leaf_nodes, name="max_leaf_nodes", at_least=2)
        if not isinstance(self.holder, UserHolder | None):
            raise InvalidInput(f"holder: expected UserHolder(L, alpha) or None, got {self.holder!r}")

    def start(self, domain: Domain, seed: int) -> HeuristicSearch:
        return HeuristicSearch(self, domain, seed)

    def multiplier(self, model: Surrogate) -> float:
        """Return beta_n of the `model` (paper, lemma on concentration, with its "1 +" restored)."""
        return self.norm_bound + model.noise * sqrt(2 * (model.gain + 1 + log(3 / self.delta)))

    def score(self, model: Surrogate) -> tuple[Score, str]:
        """Return mu + beta_n sigma, the part of u^(1) that depends on the point."""
        return upper_bound(self.multiplier(model)), "highest cell"

    def variation(self, model: Surrogate, sides: Array) -> Array:
        """Bound, in the units of the `model`, how much f varies over cells with these sides (m, D), shape (m,)."""
        if self.holder is None:
            return self.norm_bound * model.frame.kernel.modulus(sides)
        return np.asarray(self.holder.constant * np.linalg.norm(sides, axis=1) ** self.holder.exponent)


class HeuristicSearch(ModelSearch):
    """A Heuristic at work."""

    method: Heuristic

    def __init__(self, method: Heuristic, domain: Domain, seed: int) -> None:
        super().__init__(method, domain, seed)
        self._last_round: dict[str, object] = {}

    def decide(self, number: int, pending: Array) -> Proposal:
        model, method = self.model, self.method
        cells = self._partition(number)  # Alg. 3, the last line of the round before
        points = _uniform_in(cells, generator(self.seed, number, _CELLS))  # Alg. 3, line 4
        score, _ = method.score(model)
        with model.pending(pending) as gp:
            at = gp.predict(points)
        variation = method.variation(model, cells.sides)
        posterior = score(at.mean, at.deviation)[0] + variation  # u^(1)
        average = self._averages(cells, pending) + variation  # u^(2)
        upper = np.minimum(posterior, average)  # Alg. 3, line 5
        best = int(np.argmax(upper))  # Alg. 3, line 7
        active = np.where(posterior <= average, "posterior", "average")
        self._last_round = {
            "trial": number,
            "chosen": best,
            "lower corners": cells.lower.tolist(),
            "upper corners": cells.upper.tolist(),
            "upper bounds": upper.tolist(),
            "active bounds": active.tolist(),
        }
        return Proposal(points[best], f"highest of {len(cells)} cells, by its {active[best]} bound ({upper[best]:.4g})")

    def explain(self) -> dict[str, object]:
        """Return what the model knows and, in model units, the cells and bounds of the last round."""
        return {**super().explain(), "last round": self._last_round}

    def _partition(self, number: int) -> Partition:
        """Return the leaves of a regression tree, squared-error criterion, on every observation told."""
        from sklearn.tree import DecisionTreeRegressor

        tree = DecisionTreeRegressor(
            min_samples_leaf=self.method.min_samples_leaf,
            max_leaf_nodes=self.method.max_leaf_nodes,
            random_state=int(generator(self.seed, number, _TREE).integers(2**31)),  # decides between equal cuts
        )
        return from_regression_tree(tree.fit(self.model.x, self.model.y))

    def _averages(self, cells: Partition, pending: Array) -> Array:
        """Return mean of y in E + b(E) for every cell, shape (m,); infinite where nothing was observed.

        b = sqrt(2 log(n/delta) v/n_E), v the mean noise variance of the n_E observations: the paper's b with sigma.
        Pending points in E count in its denominator, as they do in the posterior's deviations.
        """
        model, size = self.model, len(cells)
        where = cells.locate_many(model.x)
        count = np.bincount(where, minlength=size).astype(np.float64)
        told = np.maximum(count, 1.0)
        soon = told + (np.bincount(cells.locate_many(pending), minlength=size) if len(pending) else 0.0)
        noise = np.bincount(where, model.variances, size) / told
        mean = np.bincount(where, model.y, size) / told
        width = np.sqrt(2 * log(self.method.budget / self.method.delta) * noise / soon)
        return np.where(count > 0, mean + width, np.inf)


def _uniform_in(cells: Partition, rng: np.random.Generator) -> Array:
    """One uniform point of each cell, shape (m, D); the product may round up onto a face that is the neighbour's."""
    points = cells.lower + rng.random(cells.lower.shape) * cells.sides
    return np.minimum(points, np.where(cells.upper == 1.0, 1.0, np.nextafter(cells.upper, 0.0)))
