"""Additive kernels: one part for each group of axes, and their hyper-parameters by marginal likelihood.

f = sum_j f^(j)(x^(j)) over disjoint groups of axes, f^(j) a Gaussian process with a Matérn kernel of its own: then f is
one with the sum of the kernels [K15, section 3]. Hyper-parameters are one length-scale an axis, one amplitude a group
and, where it is not given, the noise. There are many of them and little data, so they have priors: length-scales of one
problem are alike, and the groups share the variance of f.

References
----------
[K15]  Kandasamy, Schneider and Poczos (2015). High dimensional Bayesian optimisation and bandits via additive models.
       ICML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import exp, log, sqrt
from operator import add
from typing import TypeAlias

import numpy as np

from quadrat.gp import Bounds, LogNormal, Observations, Priors, fit_map
from quadrat.kernels import Kernel, Matern, OnAxes

__all__ = ["AdditiveFit", "Groups", "fit_additive", "total"]

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Disjoint groups of axes that cover all of them."""

_LENGTHSCALE = LogNormal(-0.7, 0.7)  # around half the cube, a factor of two either way, besides a shift of all
_COMMON = 0.7
_LENGTHSCALES = (0.05, 10.0)


@dataclass(frozen=True)
class AdditiveFit:
    """An additive kernel with its hyper-parameters, in the units of the values.

    Attributes
    ----------
    groups
        M groups of axes.
    lengthscales
        One an axis, D of them.
    amplitudes
        One a group, M of them.
    nu
        Smoothness of all parts.
    noise_variance
        Of one observation that came without one of its own.
    mean
        Prior mean of f.
    log_posterior
        Log evidence plus log prior, for y scaled to sd 1.
    """

    groups: Groups
    lengthscales: tuple[float, ...]
    amplitudes: tuple[float, ...]
    nu: float
    noise_variance: float
    mean: float
    log_posterior: float

    @property
    def parts(self) -> tuple[Matern, ...]:
        """The kernel of each group, on its own axes."""
        return tuple(
            Matern(self.nu, tuple(self.lengthscales[i] for i in group), amplitude=amplitude)
            for group, amplitude in zip(self.groups, self.amplitudes, strict=True)
        )

    @property
    def kernel(self) -> Kernel:
        """The kernel of f: the sum of the parts."""
        return total(self.groups, self.parts)


def total(groups: Groups, parts: Sequence[Kernel]) -> Kernel:
    """Return the sum of kernels, each on the axes of its group [K15, section 3]."""
    return reduce(add, (OnAxes(part, group) for group, part in zip(groups, parts, strict=True)))


def fit_additive(
    data: Observations,
    groups: Groups,
    *,
    nu: float,
    noise_variance: float | None,
    previous: AdditiveFit | None = None,
) -> AdditiveFit:
    """Return the hyper-parameters of highest posterior density for these groups.

    Parameters
    ----------
    data
        Merged observations, in the units of the values.
    groups
        Disjoint, covering all axes.
    nu
        Smoothness.
    noise_variance
        Of one observation; None learns it.
    previous
        A fit, perhaps for other groups, where the search starts; otherwise in the middle of the priors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((40, 2))
    >>> data = Observations.merge(x, np.sin(6 * x[:, 0]) + 0.1 * rng.standard_normal(40))
    >>> fit = fit_additive(data, ((0,), (1,)), nu=2.5, noise_variance=None)
    >>> fit.amplitudes[0] > 3 * fit.amplitudes[1]
    True
    """
    share, middle = 1 / sqrt(len(groups)), exp(_LENGTHSCALE.mean)
    shape = total(groups, [Matern(nu, (middle,) * len(group), amplitude=share) for group in groups])
    scale = float(np.std(data.y))
    scale = scale if scale > 1e-140 else 1.0  # the start is on the scale of the fit, where y has sd 1
    if previous is None:
        scales, amplitudes, noise = (middle,) * data.x.shape[1], [share] * len(groups), 0.1
    else:
        scales, noise = previous.lengthscales, previous.noise_variance / scale**2
        amplitudes = [amplitude / scale for amplitude in inherited(previous, groups)]
    start = [
        number
        for group, amplitude in zip(groups, amplitudes, strict=True)
        for number in (*(scales[i] for i in group), amplitude)
    ]
    if noise_variance is None and (data.count > 0).any():
        start.append(noise)
    fit = fit_map(
        shape,
        data,
        noise_variance=noise_variance,
        priors=Priors(_LENGTHSCALE, LogNormal(log(share), 1.0), common_lengthscale=_COMMON),
        bounds=Bounds(lengthscale=_LENGTHSCALES),
        starts=[np.log(start)],
        own_start=False,
    )
    values = np.exp(fit.kernel.hyperparameters)
    lengthscales, at = np.empty(data.x.shape[1]), 0
    for j, group in enumerate(groups):
        lengthscales[list(group)] = values[at : at + len(group)]
        amplitudes[j] = float(values[at + len(group)])
        at += len(group) + 1
    return AdditiveFit(
        groups,
        tuple(lengthscales.tolist()),
        tuple(amplitudes),
        nu,
        # Where every observation came with its own variance, that of one more is like theirs.
        fit.noise_variance if (data.count > 0).any() else float(np.median(data.known_variance)),
        fit.mean,
        fit.log_posterior,
    )


def inherited(fit: AdditiveFit, groups: Groups) -> list[float]:
    """Return amplitudes for other groups: an axis brings an equal share of its old group's variance."""
    variance = np.empty(len(fit.lengthscales))
    for group, amplitude in zip(fit.groups, fit.amplitudes, strict=True):
        variance[list(group)] = amplitude**2 / len(group)
    return [sqrt(float(variance[list(group)].sum())) for group in groups]
