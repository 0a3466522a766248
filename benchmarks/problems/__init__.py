"""Problems that benchmarks and experiments study optimisers on: test functions as data, noise, and regret.

Everything lives on the unit cube and is maximised. Functions of known RKHS norm are in `quadrat.problems`; `from_rkhs`
makes a problem of one.

Examples
--------
>>> import problems
>>> problem = problems.get("hartmann6~3")  # Hartmann's function with its optimum at a place drawn with seed 3
>>> noisy = problems.NoisyProblem(problem, problems.Gaussian(0.1), seed=0)
>>> points = [[0.5] * 6, [0.2] * 6]
>>> seen = noisy.observe(points)
>>> trace = problems.RegretTrace.of(problem, points, observed=[o.value for o in seen])
>>> trace.best_evaluated.shape
(2,)
"""

from __future__ import annotations

from problems.catalogue import get, names
from problems.noise import Gaussian, Heteroscedastic, NoiseLaw, NoisyProblem, Observation, StudentT, Uniform
from problems.problem import Problem, from_rkhs
from problems.regret import RegretTrace, regrets

__all__ = [
    "Gaussian",
    "Heteroscedastic",
    "NoiseLaw",
    "NoisyProblem",
    "Observation",
    "Problem",
    "RegretTrace",
    "StudentT",
    "Uniform",
    "from_rkhs",
    "get",
    "names",
    "regrets",
]
