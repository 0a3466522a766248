"""Problems to study optimisers on: test functions as data, RKHS functions of known norm, noise, and regret.

Everything lives on the unit cube and is maximised.

Examples
--------
>>> from quadrat import problems
>>> problem = problems.get("hartmann6~3")  # Hartmann's function with its optimum at a place drawn with seed 3
>>> noisy = problems.NoisyProblem(problem, problems.Gaussian(0.1), seed=0)
>>> points = [[0.5] * 6, [0.2] * 6]
>>> seen = noisy.observe(points)
>>> trace = problems.RegretTrace.of(problem, points, observed=[o.value for o in seen])
>>> trace.best_evaluated.shape
(2,)
"""

from __future__ import annotations

from quadrat.problems.catalogue import get, names
from quadrat.problems.noise import Gaussian, Heteroscedastic, NoiseLaw, NoisyProblem, Observation, StudentT, Uniform
from quadrat.problems.problem import Problem
from quadrat.problems.regret import RegretTrace, regrets
from quadrat.problems.rkhs import RKHSFunction, draw_rkhs_function

__all__ = [
    "Gaussian",
    "Heteroscedastic",
    "NoiseLaw",
    "NoisyProblem",
    "Observation",
    "Problem",
    "RKHSFunction",
    "RegretTrace",
    "StudentT",
    "Uniform",
    "draw_rkhs_function",
    "get",
    "names",
    "regrets",
]
