"""Problems in which some axes are contexts: given from outside in every round, while the others are chosen.

With f on actions x and contexts z, and (x_t, z_t) the pair of round t = 1, ..., n [K11, section 2]:

    instantaneous   r_t = max_x f(x, z_t) - f(x_t, z_t)
    cumulative      R_t = r_1 + ... + r_t
    average         R_t / t

Nothing is clipped at zero.

References
----------
[K11]  Krause and Ong (2011). Contextual Gaussian process bandit optimization. NIPS 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from problems.problem import Problem

from quadrat._core.arrays import Array, ArrayLike, as_points, as_vector
from quadrat.errors import InvalidInput

__all__ = ["ContextualProblem", "ContextualTrace"]

_CANDIDATES = 12  # a slice is looked at in 2^12 points of a Sobol sequence
_CLIMBS = 8


@dataclass(frozen=True, eq=False)
class ContextualProblem:
    """A problem of which some axes are contexts.

    Parameters
    ----------
    problem
        f on the joint cube.
    contexts
        Axes that are given, at least one and not all.

    Examples
    --------
    >>> import problems
    >>> branin = ContextualProblem(problems.get("branin"), (1,))
    >>> point, value = branin.best([0.5])
    >>> point.round(3).tolist(), round(value, 3)
    ([0.203, 0.5], -10.833)
    """

    problem: Problem
    contexts: Sequence[int]
    _known: dict[bytes, tuple[Array, float]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        axes = tuple(int(axis) for axis in self.contexts)
        dimension = self.problem.dimension
        if len(set(axes)) != len(axes) or not 0 < len(axes) < dimension or not all(0 <= i < dimension for i in axes):
            raise InvalidInput(
                f"contexts: expected some, but not all, of the axes 0 to {dimension - 1}, each once, got "
                f"{self.contexts!r}"
            )
        object.__setattr__(self, "contexts", axes)

    @property
    def actions(self) -> tuple[int, ...]:
        """The axes that are chosen."""
        return tuple(axis for axis in range(self.problem.dimension) if axis not in self.contexts)

    def joined(self, actions: ArrayLike, context: ArrayLike) -> Array:
        """Return the points (n, D) with these actions (n, D - C) in one context (C,)."""
        chosen = as_points(actions, dimension=len(self.actions), name="actions")
        points = np.empty((len(chosen), self.problem.dimension))
        points[:, self.actions] = chosen
        points[:, list(self.contexts)] = as_vector(context, length=len(self.contexts), name="context")
        return points

    def best(self, context: ArrayLike) -> tuple[Array, float]:
        """Search for the maximum in one context: a numerical search and not a proof; found once and remembered.

        Parameters
        ----------
        context
            Coordinates on the context axes, shape (C,).

        Returns
        -------
        point
            Shape (D,).
        value
            max_x f(x, context).
        """
        given = as_vector(context, length=len(self.contexts), name="context")
        key = given.tobytes()
        if key not in self._known:
            self._known[key] = self._search(given)
        point, value = self._known[key]
        return point.copy(), value

    def regrets(self, points: ArrayLike) -> Array:
        """Return r = max_x f(x, z) - f(x_t, z) of each of the points (n, D), z its own context; shape (n,)."""
        matrix = as_points(points, dimension=self.problem.dimension)
        best = np.array([self.best(row)[1] for row in matrix[:, list(self.contexts)]])
        return best - self.problem.values(matrix)

    def _search(self, context: Array) -> tuple[Array, float]:
        from scipy.optimize import minimize
        from scipy.stats import qmc

        def values(actions: Array) -> Array:
            return self.problem.values(self.joined(actions, context))

        def downhill(action: Array) -> float:
            return -float(values(action[None, :])[0]) / unit

        dimension = len(self.actions)
        starts = qmc.Sobol(dimension, scramble=False).random_base2(_CANDIDATES)
        starts = np.vstack([starts, 1 - starts])  # the sequence has the corner at 0 and none of the others
        found = values(starts)
        unit = float(np.abs(found).max()) or 1.0
        order = np.argsort(-found, kind="stable")
        ends = [starts[order[0]]]
        apart = 0.05 * np.sqrt(dimension)
        while order.size and len(ends) <= _CLIMBS:
            start = starts[order[0]]
            order = order[np.linalg.norm(starts[order] - start, axis=1) >= apart]
            climb = minimize(
                downhill,
                start,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * dimension,
                options={"ftol": 1e-14, "gtol": 1e-9},
            )
            ends.append(np.clip(climb.x, 0.0, 1.0))
        heights = values(np.array(ends))
        at = int(np.argmax(heights))
        return self.joined(ends[at], context)[0], float(heights[at])


@dataclass(frozen=True, eq=False)
class ContextualTrace:
    """The contextual regrets of one run, each a vector of n, entry t - 1 after round t; see the module.

    Attributes
    ----------
    instantaneous
        Regret of each round, shape (n,), in the units of the values.
    cumulative
        Their running sum, shape (n,).

    Examples
    --------
    >>> import problems
    >>> branin = ContextualProblem(problems.get("branin"), (1,))
    >>> trace = ContextualTrace.of(branin, [[0.5, 0.5], [0.203, 0.5]])
    >>> trace.average.round(2).tolist()
    [13.3, 6.65]
    """

    instantaneous: Array
    cumulative: Array

    @classmethod
    def of(cls, problem: ContextualProblem, points: ArrayLike) -> ContextualTrace:
        """Account for the points (n, D), n >= 1, of a run on `problem`, in the order of rounds."""
        instantaneous = problem.regrets(points)
        if not instantaneous.size:
            raise InvalidInput("points: expected at least one evaluated point, got none")
        return cls(instantaneous, np.cumsum(instantaneous))

    @property
    def average(self) -> Array:
        """R_t / t, shape (n,)."""
        return self.cumulative / np.arange(1, self.cumulative.size + 1)
