"""What the default method maximises: expected improvement averaged over settings, times chances; and how.

References
----------
[J98]  Jones, Schonlau and Welch (1998). Efficient global optimization of expensive black-box functions. J. Global
       Optimization.
[A23]  Ament et al. (2023). Unexpected improvements to expected improvement for Bayesian optimization. NeurIPS.
[L19]  Letham, Karrer, Ottoni and Bakshy (2019). Constrained Bayesian optimization with noisy experiments. Bayesian
       Analysis 14.
[G14]  Gelbart, Snoek and Adams (2014). Bayesian optimization with unknown constraints. UAI.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from quadrat._core.arrays import Array
from quadrat._core.nearest import is_among
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction
from quadrat.methods.acquisition import Effort, SearchRegion, improvement, maximise
from quadrat.methods.auto.feasibility import Chances, Feasibility
from quadrat.methods.base import Domain

__all__ = ["AutoAcquisition", "expected_highest", "knowledge_gradients", "log_improvement"]

DEVIATION_FACTOR = (
    1.35  # times the deviations that the settings say; chosen on odd seeds of the problems of benchmarks/regret
)
UNIFORM = 300  # candidates over the whole cube, or box
NEAR = 20  # candidates around each of the best points, at each of the scales
SCALES = (0.2, 0.05, 0.01)
CLIMBS = 4
STEPS = 12  # of the climbs, all at once
ROUNDS = 6  # of moves to a better neighbour along choices and integers
LEVELS = 128  # of a choice that are tried in such a move
_REFUSED = -1e200  # the score of what is likelier to fail than may be; lower still with a smaller chance
_APART = 0.02  # in some coordinate: climbs from the same place end at the same place
_KNOWN = 1e-10  # a variance, in standardised units, below which nothing is left to learn
RIVALS = 30  # evaluated points, those of highest mean, one of which is taken to be the best
BEST_DRAWS = 64  # of f at these, under each sample
_NODES = np.asarray(ndtri((np.arange(128) + 0.5) / 128))  # of Z, equally likely; the integrand is piecewise linear


def knowledge_gradients(ensemble: Ensemble, known: Array, new: Array, noise: Array) -> Array:
    """Return what one more observation is worth at each known point and then at each new one, shape (k + m,).

    Parameters
    ----------
    ensemble
        The posterior; what is computed is averaged over its settings.
    known
        Features of evaluated points that may be recommended, shape (k, F), k >= 1.
    new
        Features of points that were not evaluated, shape (m, F); each may be recommended after its own observation.
    noise
        Noise variance of one observation under each setting, at any point, shape (M,), or at each point, (M, k + m), in
        the ensemble's units.
    """
    k = len(known)
    means, joints = ensemble.covariances(np.vstack([known, new]))
    worth = np.empty(k + len(new))
    for row in range(len(worth)):
        choice = np.arange(k) if row < k else np.append(np.arange(k), row)
        variance = np.maximum(joints[:, row, row], 0.0) + (noise if noise.ndim == 1 else noise[:, row])
        # What is known to working precision has covariances of rounding errors alone.
        scale = np.where(variance > _KNOWN, 1 / np.sqrt(np.maximum(variance, _KNOWN)), 0.0)
        steps = joints[:, row, choice] * scale[:, None]
        after = means[:, choice, None] + steps[:, :, None] * _NODES
        gained = after.max(axis=1).mean(axis=1) - means[:, :k].max(axis=1)
        worth[row] = gained.mean()
    return np.maximum(worth, 0.0)


def expected_highest(ensemble: Ensemble, known: Array, means: Array, rng: np.random.Generator) -> Array:
    """Return E max f over evaluated points under each setting, shape (M,): what is to be improved upon.

    Where values have noise, nobody knows which of the points is the best, and the best of them is likely higher than
    the highest posterior mean [L19]: an improvement on that mean alone may be none. The result is never below it.

    Parameters
    ----------
    ensemble
        The posterior.
    known
        Features of evaluated points, shape (k, F), k >= 1; f is drawn at the `RIVALS` of highest mean.
    means
        Posterior means there under each setting, shape (M, k).
    rng
        Of the draws, which come in pairs, mirrored at the mean.
    """
    rivals = known[np.argsort(-means.mean(axis=0), kind="stable")[:RIVALS]]
    drawn = ensemble.draws(rivals, BEST_DRAWS, rng, antithetic=True)
    return np.asarray(np.maximum(drawn.max(axis=1).mean(axis=1), means.max(axis=1)))


def log_improvement(at: EnsemblePrediction, target: Array) -> tuple[Array, Array | None]:
    """Return log of the mean over settings of E max(f - target, 0), (m,), and its gradient, (m, F) or None.

    Parameters
    ----------
    at
        Means and deviations under M settings; with gradients, or without.
    target
        What is to be improved upon, under each setting, shape (M,).
    """
    z = (at.mean - target[:, None]) / at.deviation
    log_h, share, density = (part.reshape(z.shape) for part in improvement(z.ravel()))
    value, relative, total = at.log_average(np.log(at.deviation), log_h)
    if at.mean_gradient is None or at.deviation_gradient is None:
        return value, None
    # d EI = Phi(z) dm + phi(z) ds for each setting; divided by the sum of EI they are slopes of its logarithm.
    weights = relative / (total * at.deviation)
    slope = np.einsum("sm,smf->mf", weights * share, at.mean_gradient)
    slope += np.einsum("sm,smf->mf", weights * density, at.deviation_gradient)
    return value, slope


@dataclass(frozen=True)
class AutoAcquisition:
    """What is maximised: the log of averaged improvement times the chances to succeed and to meet the constraints.

    Where trials were pruned, the chance to run to the end counts in the same way: a pruned trial improves nothing.

    Expected improvement uses `DEVIATION_FACTOR` times the posterior standard deviation: a model that learned its
    hyper-parameters from the same values is too sure of itself, and would look too little elsewhere. Where there is
    nothing to improve upon, the target is minus infinity and the chances alone count.
    """

    ensemble: Ensemble
    target: Array
    domain: Domain
    feasibility: Feasibility
    chances: Chances
    least: float = 0.0  # the log chance of success that a point needs
    spent: Array | None = None  # points that are not worth asking for, shape (k, D)
    completion: Feasibility | None = None  # says how likely a trial is not to be pruned
    least_completion: float = 0.0  # the log of that chance that a point needs

    @property
    def improves(self) -> bool:
        """Whether there is anything to improve upon."""
        return bool(np.isfinite(self.target).all())

    def at(self, points: Array) -> Array:
        """Scores of rounded points (m, D), shape (m,); minus infinity where they may not, or need not, be evaluated."""
        features = self.domain.features(points)
        value = self.chances.log_chance(features)
        if self.improves:
            value = value + log_improvement(self.ensemble.predict(features).wider(DEVIATION_FACTOR), self.target)[0]
        if self.feasibility.any_failed:
            value = _where_it_may_succeed(value, self.feasibility.log_chance(features)[0], self.least)
        if self.completion is not None:
            value = _where_it_may_succeed(value, self.completion.log_chance(features)[0], self.least_completion)
        if self.spent is not None:
            value = np.where(is_among(points, self.spent), -np.inf, value)
        return value if self.domain.feasible is None else np.where(self.domain.allowed(points), value, -np.inf)

    def slope(self, points: Array) -> tuple[Array, Array]:
        """Scores of points and their gradients along the smooth axes, as if these were not rounded."""
        features = self.domain.features(points)
        value, gradient = self.chances.slope(features)
        if self.improves:
            at = self.ensemble.predict_with_gradients(features).wider(DEVIATION_FACTOR)
            gained, more = log_improvement(at, self.target)
            assert more is not None
            value, gradient = value + gained, gradient + more
        if self.feasibility.any_failed:
            chance, more = self.feasibility.log_chance(features)
            value, gradient = _where_it_may_succeed(value, chance, self.least), gradient + more
        if self.completion is not None:
            chance, more = self.completion.log_chance(features)
            value, gradient = _where_it_may_succeed(value, chance, self.least_completion), gradient + more
        return value, self.domain.slopes(gradient)

    def best_of(self, points: Array) -> tuple[Array, float]:
        """Return the one of the rounded points (m, D) with the highest score, and that score."""
        scores = self.at(points)
        row = int(np.argmax(scores))
        return points[row], float(scores[row])

    def maximise(
        self, best: Array, rng: np.random.Generator, box: tuple[Array, Array] | None = None
    ) -> tuple[Array, float]:
        """Return the point of a box, the whole cube where it is None, with the highest score, and that score.

        Candidates are scored all over and around the best points told, (b, D); climbs start from the highest that lie
        apart.
        """
        return maximise(
            self.at,
            self.slope,
            rng,
            SearchRegion(self.domain, box),
            centres=best,
            effort=Effort(
                uniform=UNIFORM, near=NEAR * len(SCALES), scales=SCALES, climbs=CLIMBS, apart=_APART, by_batch=False,
                steps=STEPS, fine_steps=0, rounds=ROUNDS, levels=LEVELS,
            ),
        )  # fmt: skip


def _where_it_may_succeed(value: Array, log_chance: Array, least: float) -> Array:
    """Scores with the chance of success in them; below every other where it is too small."""
    return np.where(log_chance >= least, value + log_chance, _REFUSED * (1 - log_chance))
