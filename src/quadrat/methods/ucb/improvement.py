"""Expected improvement and probability of improvement, by their logarithms.

References
----------
[K64]  Kushner (1964). A new method of locating the maximum point of an arbitrary multipeak curve in the presence of
       noise. J. Basic Engineering.
[J98]  Jones, Schonlau and Welch (1998). Efficient global optimization of expensive black-box functions. J. Global
       Optimization.
[A23]  Ament et al. (2023). Unexpected improvements to expected improvement for Bayesian optimization. NeurIPS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quadrat._core.arrays import as_number
from quadrat.methods.acquisition import Score, log_expected_improvement, log_probability_of_improvement
from quadrat.methods.base import MethodFacts
from quadrat.methods.surrogate import ModelBased, Surrogate

__all__ = ["ExpectedImprovement", "ProbabilityOfImprovement"]


@dataclass(frozen=True, kw_only=True)
class ExpectedImprovement(ModelBased):
    """Evaluate where E max(f(x) - f_best, 0) is largest [J98, equation 15], searched by its logarithm [A23].

    f_best is the highest posterior mean over the evaluated points. Under noise the highest observation would be the
    luckiest one, and improving on luck sends the search away from the optimum.

    Parameters
    ----------
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(0, 1))
    >>> method = ExpectedImprovement(noise=0.01)
    >>> found = qd.maximize(lambda p: -((p["x"] - 0.3) ** 2), space, n_trials=12, method=method)
    >>> abs(found.params["x"] - 0.3) < 0.05
    True
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Expected improvement",
        paper="Jones, Schonlau and Welch 1998; in logarithms: Ament et al. 2023",
        assumes="f is a draw of the Gaussian process",
        best_for="comparison: what most tools do",
    )

    def score(self, model: Surrogate) -> tuple[Score, str]:
        return log_expected_improvement(model.best_mean()), "largest log expected improvement"


@dataclass(frozen=True, kw_only=True)
class ProbabilityOfImprovement(ModelBased):
    """Evaluate where P(f(x) > f_best + xi) is largest [K64]; f_best as in `ExpectedImprovement`.

    Parameters
    ----------
    xi
        The improvement asked for, >= 0, in model units. At 0 the method only ever creeps ahead from where it is.
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(0, 1))
    >>> method = ProbabilityOfImprovement(noise=0.01, xi=0.05)
    >>> found = qd.maximize(lambda p: -((p["x"] - 0.3) ** 2), space, n_trials=12, method=method)
    >>> abs(found.params["x"] - 0.3) < 0.05
    True
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Probability of improvement",
        paper="Kushner 1964",
        assumes="f is a draw of the Gaussian process",
        best_for="comparison: the oldest rule",
    )

    xi: float = 0.1

    def check(self) -> None:
        object.__setattr__(self, "xi", as_number(self.xi, name="xi", at_least=0.0))

    def score(self, model: Surrogate) -> tuple[Score, str]:
        return log_probability_of_improvement(model.best_mean() + self.xi), "largest log probability of improvement"
