"""GP-UCB where the space is finite: the index of every arm, none missed.

[S12]: Srinivas, Krause, Kakade and Seeger (2012). Information-theoretic regret bounds for Gaussian process
optimization in the bandit setting. IEEE Transactions on Information Theory 58.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from quadrat._core.arrays import Array
from quadrat.kernels import Kernel
from quadrat.methods.acquisition import gain_at
from quadrat.methods.base import CREDIBLE, Domain, Incumbent, Observation, Proposal, refuse_context
from quadrat.methods.statements import Gain
from quadrat.methods.surrogate import ModelSearch
from quadrat.randomness import generator

if TYPE_CHECKING:
    from quadrat.methods.ucb.gp_ucb import GPUCB

__all__ = ["GPUCBOnArms"]

_TIES, _GAIN = 41, 42  # names of streams
_DRAWN, _DRAWS = 256, 256  # arms at which f is drawn jointly to estimate what is still to gain, and draws


class GPUCBOnArms(ModelSearch):
    """GP-UCB on arms (K, D): it pulls the arm with the largest mu + sqrt(beta_t) sigma [S12, algorithm 1].

    The kernel sees the domain's features: ordered values by their coordinate, any two different choices at distance 1.
    A given kernel with one length-scale for each axis sees the coordinates, choices included. Until the initial trials
    are told, arms are uniform among those not pulled yet. Ties are broken at random.
    """

    def __init__(self, method: GPUCB, domain: Domain, arms: Array, seed: int) -> None:
        kernel = method.kernel
        by_axis = isinstance(kernel, Kernel) and kernel.dimension == domain.dimension
        self.arms = arms
        self._features = arms if by_axis else domain.features(arms)
        self._to_features = (lambda points: points) if by_axis else domain.features
        super().__init__(method, domain, seed, columns=self._features.shape[1])
        self.index = method
        self._number = {features.tobytes(): j for j, features in enumerate(self._features + 0.0)}
        self._pulled = np.zeros(len(arms), dtype=np.bool_)
        self._first: dict[bytes, Array] = {}  # features -> the point told, for what is no arm

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        if self.model.settled:
            return self.decide(number, pending)
        taken = self._pulled.copy()
        for arm in map(self._arm, self._to_features(pending)):
            if arm is not None:
                taken[arm] = True
        free = np.flatnonzero(~taken) if not taken.all() else np.arange(len(self.arms))
        arm = int(free[generator(self.seed, number).integers(len(free))])
        of = f"{self.model.trials} of {self.method.n_initial} initial trials told"
        return Proposal(self.arms[arm].copy(), f"uniform among the arms: {of}")

    def decide(self, number: int, pending: Array) -> Proposal:
        root = sqrt(self.index.beta(self.model.trials + 1, self.dimension, self.model.gain))
        with self.model.pending(self._to_features(pending)) as gp:
            at = gp.predict(self._features)
        index = at.mean + root * at.deviation
        tied = np.flatnonzero(index == index.max())
        arm = int(tied[generator(self.seed, number, _TIES).integers(len(tied))] if len(tied) > 1 else tied[0])
        why = f"largest upper confidence bound of {len(index)} arms, sqrt(beta) = {root:.3g} ({index[arm]:.4g})"
        return Proposal(self.arms[arm].copy(), why)

    def _arm(self, features: Array) -> int | None:
        return self._number.get((features + 0.0).tobytes())

    def tell(self, observation: Observation) -> None:
        features = self._to_features(observation.x[None, :])[0]
        self.model.tell(replace(observation, x=features))
        arm = self._arm(features)
        if arm is not None:
            self._pulled[arm] = True
        self._first.setdefault((features + 0.0).tobytes(), observation.x.copy())

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the arm of highest posterior mean among those pulled, with a 90 % credible interval."""
        refuse_context(self, context)
        gp = self.model.posterior
        at = gp.predict(gp.x)
        best = int(np.argmax(at.mean))
        point = self._first[(gp.x[best] + 0.0).tobytes()].copy()
        mean, deviation = float(at.mean[best]), float(at.deviation[best])
        return self.model.frame.incumbent(point, mean, deviation, self._gain(gp.x[best]))

    def predict(self, points: Array) -> tuple[Array, Array, Array]:
        return super().predict(self._to_features(points))

    def _gain(self, features: Array) -> Gain:
        """Return what is believed of max f - f at an arm, over the arms that may be best."""
        gp = self.model.posterior
        at = gp.predict(self._features)
        likely = np.argsort(-(at.mean + CREDIBLE * at.deviation), kind="stable")[:_DRAWN]
        points = np.vstack([features[None, :], self._features[likely]])
        rng = generator(self.seed, self.model.trials, _GAIN)
        return gain_at(gp, points, _DRAWS, rng)

    def explain(self) -> dict[str, object]:
        return {**super().explain(), "arms": len(self.arms), "arms pulled": int(self._pulled.sum())}
