"""A confidence band around a sketched posterior.

Notation: phi(x) = K(x, .), M = sum_i phi_i phi_i^T over N observations, A = M + lambda I; P the projection on the span
of the dictionary and A~ = P M P + lambda I. The sketched posterior has mu~ = phi.A~^-1 P sum_i phi_i y_i and
sigma~^2 = lambda phi.A~^-1 phi (`quadrat.gp.nystrom`). tau = sum_i (K - Q)(x_i, x_i) / lambda is what the span leaves
out of the observed points; the process keeps it up to date.

Two multipliers b with |f - mu~| <= b sigma~:

measured (`SketchedBand`)
    b = (sigma/sqrt lambda) sqrt(log det(I + Q/lambda) + tau + 2 log(1/delta)) + (1 + sqrt tau) B.

    With the noise eta_i, f - mu~ = phi.A~^-1 (lambda I - P M (I - P)) f - phi.A~^-1 P sum_i phi_i eta_i.
    (1) P A P <= A~, so the last term is at most |A~^-1/2 phi| times |sum_i phi_i eta_i| in the norm of A^-1, which is
    at most sigma sqrt(log det(I + K/lambda) + 2 log(1/delta)) at all times at once with probability 1 - delta
    [A11, theorem 1, in the RKHS: CG17, theorem 1]; and log det(I + K/lambda) <= log det(I + Q/lambda) + tau, because
    log det(I + C + E) <= log det(I + C) + tr E for C, E >= 0. (2) lambda |A~^-1 phi| B <= sqrt(lambda) B |A~^-1/2 phi|.
    (3) |M^1/2 P A~^-1/2| <= 1 and |M^1/2 (I - P)|^2 <= tr (K - Q) = lambda tau.
    Nothing is asked of the dictionary: the band holds for whatever was drawn, and is as wide as that deserves.

theorem (`theorem_multiplier`, for BKB)
    b = (2 sigma/sqrt lambda) sqrt(alpha log(kappa^2 t) sum_i sigma~^2(x_i)/lambda + log(1/delta)) + (1 + 1/sqrt(1 -
    epsilon)) B [C19, theorem 2], kappa^2 = K(x, x). It rests on a dictionary that is epsilon-accurate, which [C19,
    theorem 1] proves for its own q with a new dictionary after every observation.

References
----------
[A11]   Abbasi-Yadkori, Pal and Szepesvari (2011). Improved algorithms for linear stochastic bandits. NeurIPS.
[CG17]  Chowdhury and Gopalan (2017). On kernelized multi-armed bandits. ICML.
[C19]   Calandriello, Carratino, Lazaric, Valko and Rosasco (2019). Gaussian process optimization with adaptive
        sketching: scalable and no regret. COLT.
"""

from __future__ import annotations

from math import e, log, sqrt

from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.bands import OnePosterior, default_regulariser
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.kernels import Kernel

__all__ = ["SketchedBand", "theorem_multiplier"]


class SketchedBand(OnePosterior):
    """Bounds on f at all points and times around a sketched posterior; O(m^2) a point, m points in the dictionary.

    It is no certified band of the package: rounding in the sketch is not accounted for, and it can never reject
    anything, since its width does not depend on y. Bounds are clipped to +- B s.

    Parameters
    ----------
    assumptions, delta
        As of `SimpleBand`.
    sketch
        Accuracy and oversampling.
    seed
        Of the draws of dictionaries.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> band = SketchedBand(given, delta=0.05)
    >>> band.add([[i / 49] for i in range(50)], [0.3 * i / 49 for i in range(50)])
    >>> len(band.process.dictionary) < 50, bool(band.interval([[0.5]]).half_width[0] < 0.2)
    (True, True)
    """

    def __init__(
        self,
        assumptions: Assumptions,
        delta: float,
        *,
        sketch: Sketch | None = None,
        seed: int = 0,
    ) -> None:
        self._sketch, self._seed = sketch, seed
        super().__init__(assumptions, delta, default_regulariser(assumptions))

    def _posterior(self, kernel: Kernel) -> SketchedProcess:
        return SketchedProcess(kernel, noise_variance=self.regulariser, sketch=self._sketch, seed=self._seed)

    @property
    def process(self) -> SketchedProcess:
        """The sketched posterior, with lambda for noise."""
        assert isinstance(self._gp, SketchedProcess)
        return self._gp

    @property
    def beta(self) -> float:
        """The multiplier after the observations so far; pending points do not count."""
        given, gp = self.assumptions, self.process
        gained = gp.logdet + gp.outside + 2 * log(1 / self.delta)
        return given.noise / sqrt(self.regulariser) * sqrt(gained) + (1 + sqrt(gp.outside)) * given.norm_bound


def theorem_multiplier(
    gp: SketchedProcess, *, norm_bound: float, noise: float, delta: float, observations: int
) -> float:
    """Return beta~_t/sqrt(lambda) of [C19, theorem 2], for deviations that are not divided by sqrt(lambda).

    Parameters
    ----------
    gp
        The sketched posterior, its noise variance lambda; the sum of its variances stands for the gain.
    norm_bound, noise, delta
        F, xi and delta of the theorem.
    observations
        t. The logarithm counts as 1 at least: the theorem is about t with kappa^2 t > e.
    """
    sketch = gp.sketch
    gained = sketch.alpha * log(max(gp.kernel.variance * observations, e)) * gp.effective_dimension
    radius = 2 * noise / sqrt(gp.noise_variance) * sqrt(gained + log(1 / delta))
    return radius + (1 + 1 / sqrt(1 - sketch.epsilon)) * norm_bound
