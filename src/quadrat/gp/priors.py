"""Priors and bounds on hyper-parameters, all in log space."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from quadrat.arrays import Array, as_number
from quadrat.errors import InvalidInput

__all__ = ["Bounds", "LogNormal", "Priors", "role_of"]


def role_of(name: str) -> str:
    """Return which prior serves a hyper-parameter: "left.lengthscale[2]" is a "lengthscale", "a" a "shape"."""
    stem = name.split(".")[-1].split("[")[0]
    return stem if stem in ("lengthscale", "amplitude", "noise_variance") else "shape"


@dataclass(frozen=True)
class LogNormal:
    """log v ~ N(mean, sd^2). Densities are taken in log v, so that the mode does not move with the coordinates.

    Parameters
    ----------
    mean
        Of log v.
    sd
        Standard deviation of log v, > 0.

    Examples
    --------
    >>> from quadrat.gp import Priors
    >>> Priors(lengthscale=LogNormal(-1.0, 0.5)).lengthscale
    LogNormal(mean=-1.0, sd=0.5)
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        as_number(self.mean, name="mean")
        as_number(self.sd, name="sd", above=0.0)


@dataclass(frozen=True)
class Priors:
    """A prior for each role; None is flat. Amplitude and noise are in units of the standard deviation of y.

    The default on length-scales is broad and centred near half the cube; the one on the noise variance favours
    small noise without excluding any.

    Length-scales of one problem are often alike. With `common_lengthscale` > 0 their logs are those of the prior plus a
    shift that they share, normal with this standard deviation: log theta ~ N(mean, sd^2 I + common^2 1 1'). One that
    the data say little of then follows the others. Where length-scales have no prior there is none on the shift.
    Those with an index in `separate_lengthscales`, such as that of a choice among numbers, are as uncertain but share
    nothing.

    Parameters
    ----------
    lengthscale
        Of each length-scale, in units of the cube's side.
    amplitude
        Of the prior standard deviation s.
    noise_variance
        Of the variance of one observation's noise.
    shape
        Of what else a kernel learns, such as the a of `RationalQuadratic`.
    common_lengthscale
        Standard deviation of the shift that length-scales share, >= 0.
    separate_lengthscales
        Indices of those that share nothing.

    Examples
    --------
    >>> Priors(common_lengthscale=0.5).parameters(("lengthscale[0]", "lengthscale[1]"))[1].round(3).tolist()
    [[0.31, -0.024], [-0.024, 0.31]]
    >>> Priors.flat().amplitude is None
    True
    """

    lengthscale: LogNormal | None = field(default=LogNormal(-0.7, sqrt(3.0)))
    amplitude: LogNormal | None = field(default=LogNormal(0.0, 1.0))
    noise_variance: LogNormal | None = field(default=LogNormal(-4.0, 1.0))
    shape: LogNormal | None = field(default=LogNormal(0.0, 1.0))
    common_lengthscale: float = field(default=0.0, kw_only=True)
    separate_lengthscales: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        as_number(self.common_lengthscale, name="common_lengthscale", at_least=0.0)

    @classmethod
    def flat(cls) -> Priors:
        """No priors: the fit is maximum likelihood."""
        return cls(None, None, None, None)

    def parameters(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """Return prior means (p,) and precisions (p, p) of the logs of these `names`; rows of zeros where flat."""
        priors: list[LogNormal | None] = [getattr(self, role_of(name)) for name in names]
        means = np.array([0.0 if prior is None else prior.mean for prior in priors])
        precision = np.diag([0.0 if prior is None else prior.sd**-2 for prior in priors])
        if self.lengthscale is not None and self.common_lengthscale > 0:
            own, shared = self.lengthscale.sd**2, self.common_lengthscale**2
            apart = {f"lengthscale[{i}]" for i in self.separate_lengthscales}
            mine = np.array([role_of(name) == "lengthscale" and name not in apart for name in names], dtype=np.float64)
            alone = [i for i, name in enumerate(names) if name in apart]
            precision[alone, alone] = 1 / (own + shared)
            # (sd^2 I + c^2 1 1')^-1 = I / sd^2 - 1 1' c^2 / (sd^2 (sd^2 + k c^2)), k length-scales: Sherman-Morrison
            precision -= np.outer(mine, mine) * (shared / (own * (own + mine.sum() * shared)))
        return means, precision


@dataclass(frozen=True)
class Bounds:
    """The box (low, high) that each role is searched in. Amplitude and noise are in units of the sd of y.

    Parameters
    ----------
    lengthscale
        In units of the cube's side.
    amplitude, noise_variance
        In units of the standard deviation of y, and of its square.
    shape
        Of what else a kernel learns; it has no unit.

    Examples
    --------
    >>> Bounds(lengthscale=(0.1, 1.0)).logs(("lengthscale", "amplitude")).round(2).tolist()
    [[-2.3, 0.0], [-4.61, 4.61]]
    """

    lengthscale: tuple[float, float] = (5e-3, 1e2)
    amplitude: tuple[float, float] = (1e-2, 1e2)
    noise_variance: tuple[float, float] = (1e-8, 1e2)
    shape: tuple[float, float] = (1e-2, 1e2)

    def __post_init__(self) -> None:
        for role in ("lengthscale", "amplitude", "noise_variance", "shape"):
            low, high = getattr(self, role)
            if not 0 < low < high < np.inf:
                raise InvalidInput(f"{role}: expected bounds 0 < low < high, got ({low!r}, {high!r})")

    def logs(self, names: tuple[str, ...]) -> Array:
        """Return log bounds of the hyper-parameters with these `names`, shape (p, 2)."""
        return np.array([[log(end) for end in getattr(self, role_of(name))] for name in names])
