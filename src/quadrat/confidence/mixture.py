"""Bands for every norm bound and several kernels at once: which of them is looked at may depend on the data.

The radius of `AdaptiveBand` bounds ||y - f||^2 whatever f is; kernel and B enter only where the ball does. With a
mixture of kernels K_j and regularisers lambda_j in the supermartingale, weights w_j fixed beforehand, it becomes

    R^2 = 2 sigma^2 log(1/delta) - 2 sigma^2 log sum_j w_j det(A_j)^(-1/2) exp(-y^T A_j^-1 y / 2 sigma^2),
    A_j = I + K_j/lambda_j,

at most the radius of any single (K_j, lambda_j) plus 2 sigma^2 log(1/w_j). In one event of probability 1 - delta
||y - f|| <= R at all times, and there the band of every kernel and norm bound with ||f||_K <= B holds. So a whole curve
of certificates holds at once. The regularisers are multiples of s^2, from 16 s^2 for a norm as large as the noise to
1e-8 s^2: they are no function of B or of the data. The noise is: sigma may not be chosen afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quadrat._core.arrays import ArrayLike, as_number, as_points, as_vector
from quadrat.confidence.assumptions import Assumptions, UserHolder
from quadrat.confidence.bands import LADDER, AdaptiveBand, default_regulariser
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.kernels import Kernel

__all__ = ["SimultaneousBands"]

_STEPS = tuple(4.0**power for power in range(5, -14, -1))  # a / s^2, from 1,024 to 1.5e-8
_IN_MIXTURE = _STEPS[3::2]  # lambda / s^2: from 16, in steps of 16


class SimultaneousBands:
    """Bands from the same observations for any norm bound and each of some kernels, which all hold at once.

    Parameters
    ----------
    kernels
        At least one, fixed before the data, such as one with several length-scales.
    noise
        sigma > 0, fixed before the data: noise is conditionally sigma-sub-Gaussian.
    delta
        Probability with which any of the bands may fail whose kernel and norm bound are right, in (0, 1).
    weights
        w > 0 for each kernel, relative to each other and fixed before the data; equal by default.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> bands = SimultaneousBands([Matern(2.5, 0.25), Matern(2.5, 0.5)], noise=0.05, delta=0.05)
    >>> bands.add([[0.2], [0.8]], [0.3, -0.1])
    >>> [bands.band(Matern(2.5, 0.5), B).interval([[0.5]]).half_width.round(2).tolist() for B in (0.5, 1.0)]
    [[0.31], [0.56]]
    """

    def __init__(
        self, kernels: Sequence[Kernel], *, noise: float, delta: float, weights: ArrayLike | None = None
    ) -> None:
        self.kernels = tuple(kernels)
        if not self.kernels or not all(isinstance(kernel, Kernel) for kernel in self.kernels):
            raise InvalidInput(f"kernels: expected kernels such as [Matern(2.5, 0.3)], at least one, got {kernels!r}")
        if len(set(self.kernels)) < len(self.kernels):
            raise InvalidInput(f"kernels: expected each kernel once, got {kernels!r}")
        self.noise = as_number(noise, name="noise", at_least=1e-100, at_most=1e100)
        self.delta = as_probability(delta)
        self.band_delta = 0.9 * self.delta  # a tenth bounds the noise, as of `AdaptiveBand`
        shares = as_vector(
            np.ones(len(self.kernels)) if weights is None else weights, length=len(self.kernels), name="weights"
        )
        if not (shares > 0).all():
            raise InvalidInput(f"weights: expected positive numbers, got {weights!r}")
        self._shares = shares / shares.sum()
        self._posteriors = {
            kernel: [GaussianProcess(kernel, noise_variance=step * kernel.variance, jitter=False) for step in _STEPS]
            for kernel in self.kernels
        }

    def add(self, X: ArrayLike, y: ArrayLike) -> None:
        """Observe y, shape (k,), at the rows of X, shape (k, D); bands that were made before stay as they are."""
        points = as_points(X, name="X")
        values = as_vector(y, length=len(points), name="y")
        for kernel in self.kernels:
            kernel.check_dimension(points.shape[1])
        for posteriors in self._posteriors.values():
            for posterior in posteriors:
                posterior.add(points, values, like=posteriors[0])

    @property
    def squared_radius(self) -> float:
        """R^2, which bounds ||y - f||^2: the same for all kernels and norm bounds."""
        exponents = []
        for share, posteriors in zip(self._shares, self._posteriors.values(), strict=True):
            for step, posterior in zip(_STEPS, posteriors, strict=True):
                if step in _IN_MIXTURE:
                    fit = posterior.noise_variance * posterior.quadratic_form / (2 * self.noise**2)
                    exponents.append(np.log(share / len(_IN_MIXTURE)) - posterior.logdet / 2 - fit)
        gained = float(np.logaddexp.reduce(exponents))
        return float(2 * self.noise**2 * (np.log(1 / self.band_delta) - gained))

    def band(self, kernel: Kernel, norm_bound: float, *, holder: UserHolder | None = None) -> AdaptiveBand:
        """Return the band of one of the kernels under a norm bound, with the observations so far.

        Parameters
        ----------
        kernel
            One of those that were stated.
        norm_bound
            B > 0; the data may have chosen it.
        holder
            The user's own Hölder bound, fixed before the data.

        Returns
        -------
        AdaptiveBand
            It takes no further observations.
        """
        if kernel not in self._posteriors:
            raise InvalidInput(f"kernel: expected one of the kernels stated before the data, got {kernel!r}")
        given = Assumptions(kernel, norm_bound, self.noise, holder)
        target = default_regulariser(given) / kernel.variance
        first = int(np.argmin(np.abs(np.log(np.array(_STEPS) / (64 * target)))))
        first = min(first, len(_STEPS) - len(LADDER))
        return _OneOfMany(given, self, self._posteriors[kernel][first : first + len(LADDER)])


class _OneOfMany(AdaptiveBand):
    """The band of one kernel and norm bound, with the radius of all."""

    def __init__(self, assumptions: Assumptions, of: SimultaneousBands, posteriors: list[GaussianProcess]) -> None:
        super().__init__(assumptions, of.delta)
        self._posteriors = posteriors[::-1]  # as of the ladder, upwards
        self._base = self._posteriors[LADDER.index(1.0)]
        self.regulariser = self._base.noise_variance
        self._update_within(of.squared_radius)

    def add(self, X: ArrayLike, y: ArrayLike) -> None:  # noqa: ARG002
        """Refuse: the observations belong to all bands."""
        raise InvalidInput("add: expected an observation of all bands, got one of a single band; add it to those")
