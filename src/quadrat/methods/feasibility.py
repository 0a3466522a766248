"""Where evaluations fail: the chance that one succeeds, learned from those that did and those that did not.

Least-squares classification [RW06, section 6.5]: a Gaussian process g observes +1 where an evaluation succeeded and -3
where it failed, with noise; the chance of success is Phi(g / sqrt(w^2 + var g)), the probit of g blurred by its own
uncertainty. The prior mean of g is 1: what was never tried is expected to succeed. One length-scale serves all columns,
the one of a few whose leave-one-out predictions [RW06, equations 5.10 to 5.12] have the highest likelihood.

References
----------
[RW06]  Rasmussen and Williams (2006). Gaussian Processes for Machine Learning. MIT Press.
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np

from quadrat.arrays import Array, Bools
from quadrat.gp import GaussianProcess
from quadrat.growing import Growing
from quadrat.kernels import Matern
from quadrat.nearest import nearest

__all__ = ["Feasibility"]

_LENGTHSCALES = (0.1, 0.2, 0.4, 0.8)  # times sqrt(F / 2), the growth of distances with the number F of columns
_NOISE = 0.1  # variance of a label: one failure among successes may be an accident
_FAILED = -3.0  # far below 0: a failure must outweigh the improvement that a rising f promises beyond the border
_WIDTH = 0.5  # w, of the step between failure and success


class Feasibility:
    """Outcomes go in, chances of success come out.

    Examples
    --------
    >>> feasibility = Feasibility(1)
    >>> for x in (0.1, 0.3, 0.5, 0.7, 0.9):
    ...     feasibility.add(np.array([x]), x < 0.6)
    >>> chance = np.exp(feasibility.log_chance(np.array([[0.2], [0.8]]))[0])
    >>> bool(chance[0] > 0.9), bool(chance[1] < 0.2)
    (True, True)
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._x = Growing(np.float64, (columns,))
        self._label = Growing(np.float64)
        self._failures = 0
        self._gp: GaussianProcess | None = None

    def add(self, x: Array, succeeded: bool) -> None:
        """Take in one outcome at the point x, shape (F,)."""
        self.add_many(x[None, :], np.array([succeeded]))

    def add_many(self, points: Array, succeeded: Bools) -> None:
        """Take in outcomes (n,) at points (n, F)."""
        self._x.extend(points)
        self._label.extend(np.where(succeeded, 1.0, _FAILED))
        self._failures += len(points) - int(np.count_nonzero(succeeded))
        self._gp = None

    def near(self, centre: Array, sides: Array, count: int, *, box: bool = False) -> Feasibility:
        """Return what the outcomes nearest to a place, (F,), with steps of `sides`, (F,), say: see `nearest`."""
        if len(self._x) <= count:
            return self
        rows = nearest(self._x.view, centre, sides, count, box=box)
        other = Feasibility(self.columns)
        other._x, other._label = Growing.of(self._x.view[rows]), Growing.of(self._label.view[rows])
        other._failures = int((other._label.view == _FAILED).sum())
        return other

    @property
    def any_failed(self) -> bool:
        """Whether there is anything to learn."""
        return self._failures > 0

    def least_log_chance(self, typical: Array) -> float:
        """Return the log of the chance that a point must have to be asked: more with every failure.

        Weighting an improvement by its chance is not enough where f promises to rise beyond a border that nobody can
        cross: what is left to gain on this side shrinks with every trial, what seems to be there on the other side does
        not, and the search fails for ever. With chances that are true, of at least 1 - 1/(2 + 2 k) after k failures,
        n trials end with some sqrt(n) failures.

        Parameters
        ----------
        typical
            Log chances all over the space, shape (m,). Where evaluations fail by accident, here and there, no place is
            safe: half of the space is always open.
        """
        return min(log(1 - 0.5 / (1 + self._failures)), float(np.median(typical)))

    def log_chance(self, points: Array) -> tuple[Array, Array]:
        """Return the log of the chance of success at the rows of `points` (m, F), shape (m,), and its gradient (m, F).

        All zero until something has failed.
        """
        from scipy.special import erfcx, log_ndtr

        if not self.any_failed:
            return np.zeros(len(points)), np.zeros_like(points)
        if self._gp is None:
            self._gp = self._learn()
        at = self._gp.predict_with_gradients(points)
        assert at.mean_gradient is not None
        assert at.deviation_gradient is not None
        spread = np.sqrt(_WIDTH**2 + at.deviation**2)
        z = at.mean / spread
        slope = at.mean_gradient / spread[:, None]
        slope -= (at.mean * at.deviation / spread**3)[:, None] * at.deviation_gradient
        ratio = sqrt(2 / pi) / erfcx(-z / sqrt(2))  # phi(z) / Phi(z), also where both vanish
        return np.asarray(log_ndtr(z)), ratio[:, None] * slope

    def _learn(self) -> GaussianProcess:
        X, y = self._x.view, self._label.view
        scales = sqrt(self.columns / 2) * np.array(_LENGTHSCALES)
        kernel = max((Matern(2.5, float(scale)) for scale in scales), key=lambda kernel: _left_out(kernel, X, y))
        gp = GaussianProcess(kernel, noise_variance=_NOISE, mean=1.0)
        gp.add(X, y)
        return gp


def _left_out(kernel: Matern, X: Array, y: Array) -> float:
    """Log-likelihood of each label given all others [RW06, equations 5.10 to 5.12]."""
    inverse = np.linalg.inv(kernel(X) + _NOISE * np.eye(len(X)))
    variance = 1 / np.diagonal(inverse)
    error = (inverse @ (y - 1.0)) * variance
    return float(-0.5 * np.sum(np.log(variance) + error**2 / variance))
