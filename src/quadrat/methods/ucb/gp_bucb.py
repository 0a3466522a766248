"""GP-BUCB: GP-UCB for batches and delays, with deviations that count what is pending.

The mean comes from told data alone, the deviation counts pending points as observed: where they will be observed does
not depend on what they will say. Counting them makes intervals narrower than the data allow. By how much is known: with
sigma_fb the deviation after what was told and sigma_t the one that counts pending points too, at every x

    sigma_fb(x) / sigma_t(x) = exp(I(f(x); y_pending | y_told)) <= exp(I(f; y_pending | y_told))     [D14]

so sqrt(beta) scaled by exp(C), C at least that information, gives intervals that contain those of GP-UCB.

[D14]: Desautels, Krause and Burdick (2014). Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit
optimization. JMLR 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import ClassVar, Literal

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.gp import GaussianProcess
from quadrat.methods.acquisition import Score, upper_bound
from quadrat.methods.base import Domain, MethodFacts, Proposal
from quadrat.methods.surrogate import ModelBased, ModelSearch, Surrogate
from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Continuous, Finite
from quadrat.partition.unit_cube import as_count

__all__ = ["GPBUCB", "BatchSearch", "information_of", "uncertainty"]

_MOST = 50.0  # nats; exp of more would lose the mean to rounding: with so many the widest interval decides anyway


def uncertainty(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
    """The score s: uncertainty sampling [D14]."""
    return deviation, np.zeros_like(mean), np.ones_like(mean)


def information_of(gp: GaussianProcess, pending: Array) -> float:
    """Return I(f; y_pending | y_told) = log det(I + S/lambda)/2 in nats, S the posterior covariance of the points.

    Parameters
    ----------
    gp
        The posterior after what was told.
    pending
        Points, shape (p, D); one that is there twice is observed twice.
    """
    if not len(pending):
        return 0.0
    matrix = np.eye(len(pending)) + gp.covariance(pending) / gp.noise_variance
    return max(0.5 * float(np.linalg.slogdet(matrix)[1]), 0.0)


@dataclass(frozen=True, kw_only=True)
class GPBUCB(ModelBased):
    """Evaluate where mu_told(x) + exp(C) sqrt(alpha_t) sigma_told+pending(x) is largest [D14].

    alpha_t is GP-UCB's beta after what was told, so that beta_t = exp(2 C) alpha_t in the notation of [D14]. While
    nothing is pending and C is 0 this is GP-UCB.

    Parameters
    ----------
    form, delta, scale
        alpha_t, as of `GPUCB`.
    information
        C, in nats, fixed before as in [D14]. None takes the information of the pending points, which is all that
        the intervals need, as GP-AUCB does to decide when a batch ends [D14]. 0 trusts narrowed intervals:
        they steer well, and nothing is proved for them.
    n_uncertain
        How many trials, after the first `n_initial`, go where the deviation is largest. After T of them any B - 1
        further points tell at most (B - 1)/T of what these T told, so that C can be small whatever the size of a batch
        [D14].
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> method = GPBUCB(information=0.5)
    >>> round(method.multiplier(alpha=4.0, gained=2.0), 3), round(GPBUCB(information=None).multiplier(4.0, 2.0), 3)
    (3.297, 14.778)
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="GP-BUCB, GP-UCB in batches",
        paper="Desautels, Krause and Burdick 2014, JMLR 15",
        assumes="f is a draw of the Gaussian process (finite, continuous) or of norm at most B (agnostic)",
        best_for="many evaluations at once, with the theory of GP-UCB",
    )

    form: Finite | Continuous | Agnostic | Literal["finite", "continuous", "agnostic"] = "finite"
    delta: float = 0.001
    scale: float = 1.0
    information: float | None = 0.0
    n_uncertain: int = 0

    def check(self) -> None:
        schedule = self.schedule
        for name in ("form", "delta", "scale"):
            object.__setattr__(self, name, getattr(schedule, name))
        if self.information is not None:
            information = as_number(self.information, name="information", at_least=0.0, at_most=_MOST)
            object.__setattr__(self, "information", information)
        object.__setattr__(self, "n_uncertain", as_count(self.n_uncertain, name="n_uncertain", at_least=0))

    @property
    def schedule(self) -> GPUCB:
        """GP-UCB with the same alpha_t."""
        return GPUCB(form=self.form, delta=self.delta, scale=self.scale)

    def multiplier(self, alpha: float, gained: float) -> float:
        """Return sqrt(beta_t) = exp(C) sqrt(alpha), alpha = alpha_t, while pending points tell `gained` nats."""
        return exp(min(gained, _MOST) if self.information is None else self.information) * sqrt(alpha)

    def start(self, domain: Domain, seed: int) -> BatchSearch:
        return BatchSearch(self, domain, seed)

    def score(self, model: Surrogate) -> tuple[Score, str]:
        return self.score_with(model, 0.0)

    def score_with(self, model: Surrogate, gained: float) -> tuple[Score, str]:
        """Return the `model`'s upper bound while pending points tell `gained` nats, and why it counts, in a phrase."""
        # What was told alone counts in alpha: it belongs to the mean, which is as old [D14].
        root = self.multiplier(self.schedule.beta(model.trials + 1, model.dimension, model.gain), gained)
        return upper_bound(root), f"largest upper confidence bound, sqrt(beta) = {root:.3g}"


class BatchSearch(ModelSearch):
    """GP-BUCB at work."""

    method: GPBUCB

    def __init__(self, method: GPBUCB, domain: Domain, seed: int) -> None:
        super().__init__(method, domain, seed)
        self._failed = np.empty((0, self.dimension))

    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002
        """Remember a place that is avoided like a pending one, but from which no information will come."""
        self._failed = np.vstack([self._failed, x])

    def decide(self, number: int, pending: Array) -> Proposal:
        running = pending[~(pending[:, None] == self._failed[None]).all(axis=2).any(axis=1)]
        method, begun = self.method, self.model.trials + len(running)
        first = method.n_initial + method.n_uncertain
        if begun < first:
            why = f"largest deviation: {begun} of {first} first trials begun"
            return self.maximise(number, pending, uncertainty, why)
        gained = information_of(self.model.gp, running)
        return self.maximise(number, pending, *method.score_with(self.model, gained))
