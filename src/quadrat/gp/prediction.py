"""Predictions at some points, and the interface of posteriors that make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from quadrat._core.arrays import Array, ArrayLike
from quadrat._core.printing import printed
from quadrat.kernels import Kernel

__all__ = ["Posterior", "Prediction"]


@dataclass(frozen=True)
class Prediction:
    """Posterior mean and deviation at m points, and their gradients in x where they were asked for.

    Attributes
    ----------
    mean, deviation
        Posterior mean and standard deviation of f, shape (m,), in the units of the values.
    mean_gradient, deviation_gradient
        Their derivatives in x, shape (m, D); None unless they were asked for.

    Examples
    --------
    >>> from quadrat.gp import GaussianProcess
    >>> from quadrat.kernels import Matern
    >>> gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=0.01)
    >>> gp.add([[0.2], [0.7]], [1.0, -1.0])
    >>> at = gp.predict_with_gradients([[0.2], [0.45]])
    >>> at.deviation.round(2).tolist(), at.mean_gradient.shape
    ([0.1, 0.61], (2, 1))
    """

    mean: Array  # (m,)
    deviation: Array  # (m,)
    mean_gradient: Array | None = None  # (m, D)
    deviation_gradient: Array | None = None  # (m, D)

    __repr__ = printed


class Posterior(Protocol):
    """The interface of a posterior for acquisitions: one process, a sketched one, or a process for each cell."""

    @property
    def kernel(self) -> Kernel:
        """The prior covariance."""

    @property
    def x(self) -> Array:
        """The observed points, shape (n, D)."""

    def __len__(self) -> int: ...

    def predict(self, X: ArrayLike) -> Prediction:
        """Return mean and deviation at the rows of X, shape (m, D)."""

    def predict_mean(self, X: ArrayLike) -> Array:
        """Return the mean alone, shape (m,)."""

    def predict_with_gradients(self, X: ArrayLike) -> Prediction:
        """Return mean and deviation with their gradients."""

    def covariance(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Return the posterior covariance between the rows of X, or between those of X and Z."""
