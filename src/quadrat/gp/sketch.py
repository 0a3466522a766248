"""A Gaussian process that remembers a dictionary of points instead of all: its cost does not grow with observations.

[C19]: Calandriello, Carratino, Lazaric, Valko and Rosasco (2019). Gaussian process optimization with adaptive
sketching: scalable and no regret. COLT.
[C20]: Calandriello, Carratino, Lazaric, Valko and Rosasco (2020). Near-linear time Gaussian process optimization with
adaptive batching and resparsification. ICML. When to draw a new dictionary.

The posterior is that of `quadrat.gp.nystrom` with a dictionary S of observed points as the inducing ones. A new
dictionary is drawn from all observed points: point i is in it with probability min(1, q s_i), s_i its variance under
the dictionary before, divided by its noise variance [C19]. (Replicates are one point with the noise
variance of their mean, so that s_i counts all of them.) Points of which little is known stay; of many that say the
same, few do.

What is proven. With a new dictionary after every observation and q >= 6 alpha log(4 T/delta)/epsilon^2, with
alpha = (1 + epsilon)/(1 - epsilon), all variances are within a factor alpha of the exact ones, at all points and for
all t <= T, and S has at most 3 (1 + K(x, x)/lambda) alpha q d_eff points, with probability 1 - delta [C19];
d_eff = tr K (K + lambda I)^-1.

How it is made fast. Drawing costs most, O(n m^2). So a new point enters the dictionary as it comes, with
probability min(1, q s_i), and a new dictionary is drawn only when 1 + sum s_i over the points since the last draw that
did not enter exceeds a constant, as in [C20], or when the dictionary has grown by half. `Sketch.factor` is
the accuracy that is left then; points that entered cost nothing of it. The theorem's q keeps every point at sizes where
anything is to be gained: the default q is a practical one, far below it, and promises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_number
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.gp.cholesky import GrowingCholesky
from quadrat.gp.nystrom import NystromPosterior
from quadrat.gp.posterior import GaussianProcess
from quadrat.gp.prediction import Prediction
from quadrat.kernels import Kernel
from quadrat.randomness import generator

__all__ = ["Sketch", "SketchedProcess"]

_STREAM = 1901  # of the draws, so that a search may use its own seed
_ARRIVAL, _DRAW = 0, 1
_FEW, _GROWTH = 16, 1.5  # a dictionary that has grown by half is drawn anew; the first ones are not worth it


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """How a posterior is sketched.

    Parameters
    ----------
    epsilon
        The accuracy that is aimed at, in (0, 1).
    q
        Oversampling: a dictionary has about q d_eff points, > 0. `of_theorem` has the q of the theorem.
    ratio
        A new dictionary is drawn when 1 + the sum of s_i since the last one, over points that did not enter it,
        exceeds this number, >= 1; 1 draws one after every such point.

    Examples
    --------
    >>> round(Sketch.of_theorem(epsilon=0.5, budget=1000, delta=0.05).q)
    813
    """

    epsilon: float = 0.5
    q: float = 3.0
    ratio: float = 4.0

    def __post_init__(self) -> None:
        epsilon = as_number(self.epsilon, name="epsilon", above=0.0)
        if epsilon >= 1:
            raise InvalidInput(f"epsilon: expected a number in (0, 1), got {self.epsilon!r}")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "q", as_number(self.q, name="q", above=0.0))
        object.__setattr__(self, "ratio", as_number(self.ratio, name="ratio", at_least=1.0))

    @classmethod
    def of_theorem(cls, *, epsilon: float = 0.5, budget: int, delta: float, ratio: float = 1.0) -> Sketch:
        """Return the sketch with `epsilon`, `ratio` and the q of [C19].

        The theorem then holds with probability 1 - delta for `budget` observations.
        """
        plain = cls(epsilon=epsilon, ratio=ratio)
        return cls(epsilon=epsilon, q=6 * plain.alpha * log(4 * budget / delta) / epsilon**2, ratio=ratio)

    @property
    def alpha(self) -> float:
        """(1 + epsilon)/(1 - epsilon), the factor of [C19] after a dictionary was drawn."""
        return (1 + self.epsilon) / (1 - self.epsilon)

    def factor(self, growth: float = 1.0) -> float:
        """Return the factor between these variances and the exact ones, where the dictionary is epsilon-accurate.

        `growth` is g = 1 + the sum of exact s_i since the dictionary was drawn, over the points that did not enter it.
        With P the projection on the span, M = sum phi_i phi_i^T and A = M + lambda I, the dictionary drawn for A_0
        has I - P <= lambda A_0^-1/(1 - epsilon) [C19], and A <= g A_0 there, so that
        I - P <= (1 + w) lambda A^-1 with 1 + w = g/(1 - epsilon); hence (I - P) M (I - P) <= w lambda I. By
        (a + b)^2 <= (1 + u) a^2 + (1 + 1/u) b^2, A <= (1 + u) (P M P + lambda I), and the other way round, for the u
        with (1 + 1/u) w = u: the factor is 1 + u, u = (w + sqrt(w^2 + 4 w))/2. For g = 1 and epsilon >= .4 it is below
        alpha. A point that enters leaves this as it is: I - P <= c A^-1 says (I - P) A (I - P) <= c (I - P), which
        survives when P grows to P' with (I - P') phi = 0 and A becomes A + phi phi^T.
        """
        w = growth / (1 - self.epsilon) - 1
        return 1 + (w + sqrt(w**2 + 4 * w)) / 2


class SketchedProcess(GaussianProcess):
    """A `GaussianProcess` whose posterior is sketched: the same questions, O(m^2) an observation and a prediction.

    Parameters
    ----------
    kernel, noise_variance, mean
        As of `GaussianProcess`; noise variances must be positive.
    sketch, seed
        Accuracy and oversampling, and the seed of the draws: that after n observations depends on it and n alone.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> gp = SketchedProcess(Matern(2.5, 0.3), noise_variance=0.01)
    >>> gp.add(np.linspace(0, 1, 500)[:, None], np.linspace(0, 1, 500) ** 2)
    >>> len(gp), 10 < len(gp.dictionary) < 60, gp.predict([[0.5]]).mean.round(2).tolist()
    (500, True, [0.25])
    """

    def __init__(
        self, kernel: Kernel, *, noise_variance: float, mean: float = 0.0, sketch: Sketch | None = None, seed: int = 0
    ) -> None:
        super().__init__(kernel, noise_variance=noise_variance, mean=mean)
        self.sketch = Sketch() if sketch is None else sketch
        self.seed = seed
        self.draws = 0  # dictionaries drawn so far
        self._posterior = NystromPosterior.prior(kernel, self.prior_mean, self._points())
        self._since = 0.0  # sum of s_i since the dictionary was drawn, over the points that did not enter it
        self._drawn = _FEW  # points of the dictionary when it was drawn

    _STATE = (*GaussianProcess._STATE, "_posterior", "_since", "_drawn", "draws")

    # --- the dictionary

    @property
    def dictionary(self) -> Array:
        """The points S, shape (m, D)."""
        return self._posterior.inducing

    @property
    def posterior(self) -> NystromPosterior:
        """The arithmetic behind; it is replaced, never changed."""
        return self._posterior

    @property
    def effective_dimension(self) -> float:
        """The sum of s_i over all observations, which estimates d_eff = tr K (K + V)^-1: O(m)."""
        return self._posterior.dimension_inside + self._posterior.outside

    @property
    def outside(self) -> float:
        """Sum of (K - Q)(x_i, x_i)/v_i over all observations: 0 where the span of the dictionary holds them all."""
        return self._posterior.outside

    @property
    def jitter(self) -> Array:
        """Zeros, shape (n,): a sketch needs none."""
        return np.zeros(len(self))

    @property
    def cholesky(self) -> GrowingCholesky:
        """Refused: a sketched process has no factor of K + V."""
        raise NotAvailable("cholesky: expected an exact GaussianProcess, got a sketched one, which keeps no factor")

    # --- learning

    def add(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise_variance: ArrayLike | None = None,
        *,
        like: GaussianProcess | None = None,  # noqa: ARG002  # there is nothing to share
    ) -> None:
        """Observe y at the rows of X, one after another, as `GaussianProcess.add` does; variances are positive."""
        points, values, variances = self._as_observed(X, y, noise_variance)
        if (variances <= 0).any():
            raise InvalidInput("noise_variance: expected positive variances for a sketched process, got 0")
        saved = self.save()
        try:
            for row in range(len(points)):
                self._observe(points[row : row + 1], values[row : row + 1], variances[row : row + 1])
        except BaseException:  # after any failure, Ctrl-C included, half an observation must not stay
            self.restore(saved)
            raise

    def _observe(self, x: Array, y: Array, variance: Array) -> None:
        self._take_in(x, y, variance)
        self._told = len(self._y)
        z = self._posterior.features(x)
        # Before this observation, as in the sum that [C20] compares with its constant.
        share = float(self._posterior.variance(z)[0] / variance[0])
        self._posterior = self._posterior.after(z[0], float(y[0]), float(variance[0]))
        chance = self.sketch.q * share
        if chance >= 1 or self._generator(_ARRIVAL).random() < chance:
            self._posterior = self._posterior.with_point(x, self.x, self.y, self.noise_variances)
        else:
            self._since += share
        if 1 + self._since > self.sketch.ratio or len(self.dictionary) > _GROWTH * self._drawn:
            self._draw()

    def _generator(self, stream: int) -> np.random.Generator:
        return generator(self.seed, _STREAM, self.n_observations, stream)

    def _draw(self) -> None:
        """Draw a new dictionary [C19]."""
        X, v = self.x, self.noise_variances
        chance = self.sketch.q * self._posterior.predict(X).deviation ** 2 / v
        kept = self._generator(_DRAW).random(len(X)) < chance
        if not kept.any():
            kept[int(np.argmax(chance))] = True
        empty = NystromPosterior.prior(self.kernel, self.prior_mean, X[kept])
        self._posterior = empty.observing(X, self.y, v)
        self._since = 0.0
        self._drawn = max(int(kept.sum()), _FEW)
        self.draws += 1

    def restore(self, saved: dict[str, Any]) -> None:
        """Forget the observations since `save` returned `saved`."""
        vars(self).update(saved)
        self._rows = {key: row for key, row in self._rows.items() if row < self._told}

    def with_noise(self, factor: float) -> SketchedProcess:
        """Return the process with the same dictionary and all noise variances multiplied by `factor`: O(n m^2)."""
        other = SketchedProcess(
            self.kernel,
            noise_variance=factor * self.noise_variance,
            mean=self.prior_mean,
            sketch=self.sketch,
            seed=self.seed,
        )
        other._x, other._y, other._v = self._x, self._y, factor * self._v
        other._count, other._told, other._rows = self._count, self._told, dict(self._rows)
        other._within_quadratic = self._within_quadratic / factor
        other._within_logdet = self._within_logdet + self._densities * log(factor)
        other._densities, other._drawn = self._densities, self._drawn
        empty = NystromPosterior.prior(self.kernel, self.prior_mean, self.dictionary)
        other._posterior = empty.observing(other.x, other.y, other.noise_variances) if len(self) else empty
        return other

    @contextmanager
    def pending(self, X: ArrayLike, noise_variance: ArrayLike | None = None) -> Iterator[None]:
        """Within the block, deviations count the rows of X as observed, with `noise_variance`, at their own mean.

        Neither the mean nor the dictionary changes. Leaving the block restores the process bit for bit.
        """
        points, variances = self._distinct(X, noise_variance)
        before = self._posterior
        self._pending += 1
        try:
            self._posterior = before.believing(points, variances)
            yield
        finally:
            self._posterior = before
            self._pending -= 1

    # --- predicting

    def cross(self, X: ArrayLike) -> Array:
        """Return K between the rows of X and the dictionary, shape (p, m)."""
        return self._posterior.cross(self._as_points(X))

    def predict_from_cross(self, cross: Array) -> Prediction:
        """Predict from `cross(X)`."""
        posterior = self._posterior
        z = cross @ posterior.root
        return Prediction(self.prior_mean + z @ posterior.weights, np.sqrt(posterior.variance(z)))

    def predict(self, X: ArrayLike) -> Prediction:
        """Return the sketched mean and standard deviation of f at the rows of X, shape (p, D)."""
        return self._posterior.predict(self._as_points(X))

    def predict_mean(self, X: ArrayLike) -> Array:
        """Return the sketched mean at the rows of X alone, shape (p,): O(m) a point."""
        return self._posterior.mean(self._as_points(X))

    def predict_with_gradients(self, X: ArrayLike) -> Prediction:
        """Return mean and deviation at the rows of X with their gradients; 0 for that of a deviation of 0."""
        return self._posterior.predict_with_gradients(self._as_points(X))

    def covariance(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Return the sketched covariance between the rows of X and of Z, shape (p, q); Z defaults to X."""
        left = self._as_points(X)
        return self._posterior.covariance(left, left if Z is None else self._as_points(Z))

    # --- summaries of the evidence, all of the process with covariance Q between observations

    @property
    def logdet(self) -> float:
        """The log-determinant of I + V^-1/2 Q V^-1/2 over all observations told: at most the exact one."""
        return self._posterior.logdet

    @property
    def quadratic_form(self) -> float:
        """(y - m)^T (Q + V)^-1 (y - m) over all observations told, replicates counted."""
        told = slice(self._told)
        plain = float(((self._y[told] - self.prior_mean) ** 2 / self._v[told]).sum())
        return plain - float(self._posterior.weights @ self._posterior.projected) + self._within_quadratic

    @property
    def log_evidence(self) -> float:
        """Log density of all observations told under the sketch, replicates counted."""
        logdets = self.logdet + float(np.log(self.noise_variances).sum()) + self._within_logdet
        count = self._told + self._densities
        return -0.5 * (self.quadratic_form + logdets + count * log(2 * np.pi))
