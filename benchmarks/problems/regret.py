"""Regret: how far below the optimum the evaluated and the recommended points are, all without noise.

With f* the optimal value and x_t the point of evaluation t = 1, ..., n:

    instantaneous   f* - f(x_t)
    cumulative      sum of the former up to t
    best evaluated  f* - max_{s <= t} f(x_s), the simple regret of somebody who sees through the noise
    best observed   f* - f(x_s) for the s <= t with the largest noisy value y_s, the simple regret of the naive choice
    recommended     f* - f(point recommended after evaluation t), the simple regret of the optimiser

Nothing is clipped at zero: a regret below zero by more than rounding says that the stated optimum is too low.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems.problem import Problem
from quadrat._core.arrays import Array, ArrayLike, as_number, as_points, as_vector
from quadrat.errors import InvalidInput, NotAvailable

__all__ = ["RegretTrace", "regrets"]


def regrets(problem: Problem, points: ArrayLike, *, optimal_value: float | None = None) -> Array:
    """Regret of each point, without noise.

    Parameters
    ----------
    problem
        What is maximised.
    points
        Shape (n, D), or one point of shape (D,).
    optimal_value
        The maximum to compare with; needed where the problem does not know its own, and preferred to it if given.

    Returns
    -------
    Array
        Shape (n,), in the units of the problem's values.

    Raises
    ------
    NotAvailable
        Neither the problem nor the caller states the optimal value.

    Examples
    --------
    >>> import problems
    >>> branin = problems.get("branin")
    >>> regrets(branin, [[0.5, 0.5], [0.0, 0.0]]).round(1)
    array([ 23.7, 307.7])
    """
    best = problem.optimal_value if optimal_value is None else as_number(optimal_value, name="optimal_value")
    if best is None:
        raise NotAvailable(
            f"{problem.name}: its optimal value is not known; give optimal_value=, for a function of an RKHS for "
            "example the value that RKHSFunction.maximum() finds"
        )
    return best - problem.values(points)


@dataclass(frozen=True, eq=False)
class RegretTrace:
    """The regrets of one run, each a vector of n, entry t - 1 after evaluation t; see the module for the terms.

    Made by `RegretTrace.of`. `best_observed` and `recommended` are None where the noisy values or the
    recommendations were not given.

    Attributes
    ----------
    instantaneous
        Regret of each evaluated point, shape (n,), in the units of the values.
    cumulative
        Their running sum, shape (n,).
    best_evaluated
        The least regret so far, shape (n,).
    best_observed
        Regret of the point with the highest noisy value so far, shape (n,), or None.
    recommended
        Regret of the recommended point, shape (n,), or None.

    Examples
    --------
    >>> import problems
    >>> trace = RegretTrace.of(problems.get("branin"), [[0.0, 0.0], [0.5, 0.5], [0.1, 0.2]])
    >>> trace.best_evaluated.round(1)
    array([307.7, 23.7, 23.7])
    >>> sorted(trace.summary())
    ['average', 'best_evaluated', 'cumulative', 'evaluations']
    """

    instantaneous: Array
    cumulative: Array
    best_evaluated: Array
    best_observed: Array | None = None
    recommended: Array | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        points: ArrayLike,
        *,
        observed: ArrayLike | None = None,
        recommended: ArrayLike | None = None,
        optimal_value: float | None = None,
    ) -> RegretTrace:
        """Account for one run.

        Parameters
        ----------
        problem
            What was maximised.
        points
            Evaluated points in order, shape (n, D), n >= 1.
        observed
            Their noisy values, shape (n,). Of equal values the first counts.
        recommended
            The point recommended after each evaluation, shape (n, D). Where there is only a last one, use `regrets`.
        optimal_value
            The maximum to compare with; needed where the problem does not know its own.

        Raises
        ------
        InvalidInput
            No points, or lengths that do not agree.
        NotAvailable
            Neither the problem nor the caller states the optimal value.
        """
        evaluated = as_points(points, dimension=problem.dimension)
        n = evaluated.shape[0]
        if n == 0:
            raise InvalidInput("points: expected at least one evaluated point, got none")
        instantaneous = regrets(problem, evaluated, optimal_value=optimal_value)
        best_observed = None
        if observed is not None:
            noisy = as_vector(observed, length=n, name="observed")
            best_observed = instantaneous[_first_argmax_so_far(noisy)]
        of_recommended = None
        if recommended is not None:
            chosen = as_points(recommended, dimension=problem.dimension, name="recommended")
            if chosen.shape[0] != n:
                raise InvalidInput(
                    f"recommended: expected {n} rows, one after each evaluation, got {chosen.shape[0]}; "
                    "for single recommendations use `regrets`"
                )
            of_recommended = regrets(problem, chosen, optimal_value=optimal_value)
        return cls(
            instantaneous=instantaneous,
            cumulative=np.cumsum(instantaneous),
            best_evaluated=np.minimum.accumulate(instantaneous),
            best_observed=best_observed,
            recommended=of_recommended,
        )

    def summary(self) -> dict[str, float]:
        """Return the state after the last evaluation: one number a term, for the terms that are there.

        `evaluations` is n, `cumulative` the cumulative regret, `average` the same divided by n; the others are simple
        regrets.
        """
        n = self.instantaneous.size
        terms = {
            "evaluations": float(n),
            "cumulative": float(self.cumulative[-1]),
            "average": float(self.cumulative[-1]) / n,
            "best_evaluated": float(self.best_evaluated[-1]),
        }
        if self.best_observed is not None:
            terms["best_observed"] = float(self.best_observed[-1])
        if self.recommended is not None:
            terms["recommended"] = float(self.recommended[-1])
        return terms


def _first_argmax_so_far(values: Array) -> Array:
    """Index of the first largest of values[: t + 1], for each t."""
    before = np.concatenate([[-np.inf], np.maximum.accumulate(values)[:-1]])
    return np.maximum.accumulate(np.where(values > before, np.arange(values.size), 0))
