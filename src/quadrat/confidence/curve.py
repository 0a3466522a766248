"""Certificate curves: the certificate under each norm bound, for one kernel or several, all of them at once.

Nobody knows B, and nobody knows the length-scale. With the radius of `quadrat.confidence.mixture`, which is no function
of either, every value of every curve holds in one event of probability 1 - delta: those of a kernel and B with
||f||_K <= B hold, whichever the reader picks, after looking. experiments/misstated.py shows what the data can reject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_points, as_vector
from quadrat._core.printing import printed
from quadrat.confidence.assumptions import UserHolder
from quadrat.confidence.certificate import certify
from quadrat.confidence.mixture import SimultaneousBands
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel

__all__ = ["CertificateCurve", "certificate_curve", "certificate_curves"]


@dataclass(frozen=True)
class CertificateCurve:
    """What each norm bound buys. Nobody knows B: each value stands under its own B, and all hold at once.

    Attributes
    ----------
    norm_bounds
        The values of B, shape (m,).
    values
        The certificate under each, shape (m,), in the units of f; NaN where the data reject that B.
    rejected
        Whether the data reject it, one for each.
    kernel
        The kernel that the norm is of.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 21)[:, None]
    >>> y = -((x[:, 0] - 0.3) ** 2)
    >>> curve = certificate_curve(Matern(2.5, 0.5), x, y, noise=0.01, norm_bounds=[0.1, 1.0, 4.0])
    >>> curve.rejected, curve.smallest_unrejected
    ((True, False, False), 1.0)
    """

    norm_bounds: Array
    values: Array
    rejected: tuple[bool, ...]
    kernel: Kernel | None = None

    __repr__ = printed

    @property
    def smallest_unrejected(self) -> float | None:
        """The smallest B on the curve above all that the data reject: not an estimate of B, a floor under it."""
        floor = max((float(b) for b, out in zip(self.norm_bounds, self.rejected, strict=True) if out), default=0.0)
        return min((float(b) for b in self.norm_bounds if b > floor), default=None)

    def __str__(self) -> str:
        rows = ["norm bound B   certificate"]
        for bound, value, out in zip(self.norm_bounds, self.values, self.rejected, strict=True):
            rows.append(f"{bound:12.4g}   {'rejected by the data' if out else f'{value:.4g}'}")
        return "\n".join(rows)


def certificate_curve(
    kernel: Kernel,
    X: ArrayLike,
    y: ArrayLike,
    *,
    noise: float,
    norm_bounds: Sequence[float] | Array,
    delta: float = 0.05,
    holder: UserHolder | None = None,
    point: ArrayLike | None = None,
    max_cells: int = 1024,
) -> CertificateCurve:
    """Compute the certificate for each norm bound from the same observations; all hold at once.

    Parameters
    ----------
    kernel, noise, holder
        The other assumptions, fixed before the data.
    X, y
        Observations, shapes (n, D) and (n,), replicates one by one.
    norm_bounds
        Values of B > 0, shape (m,); the data may have chosen them.
    delta
        With probability 1 - delta the certificates of all B that are right hold, at all times.
    point
        The point that is meant, shape (D,); by default the one with the highest lower bound under each B.
    max_cells
        Effort of the branch and bound (see `certified_maximum`).

    Returns
    -------
    CertificateCurve
        One certificate for each norm bound.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 21)[:, None]
    >>> y = -((x[:, 0] - 0.3) ** 2)
    >>> curve = certificate_curve(Matern(2.5, 0.5), x, y, noise=0.01, norm_bounds=[1.0, 4.0])
    >>> curve.values.round(2).tolist()
    [0.05, 0.09]
    """
    [found] = certificate_curves(
        [kernel],
        X,
        y,
        noise=noise,
        norm_bounds=norm_bounds,
        delta=delta,
        holder=holder,
        point=point,
        max_cells=max_cells,
    )
    return found


def certificate_curves(
    kernels: Sequence[Kernel],
    X: ArrayLike,
    y: ArrayLike,
    *,
    noise: float,
    norm_bounds: Sequence[float] | Array,
    delta: float = 0.05,
    holder: UserHolder | None = None,
    point: ArrayLike | None = None,
    max_cells: int = 1024,
) -> tuple[CertificateCurve, ...]:
    """Compute a certificate curve for each of several kernels; all values of all curves hold at once.

    Parameters
    ----------
    kernels
        At least one, fixed before the data: one kernel with several length-scales, say.
    X, y, noise, norm_bounds, delta, holder, point, max_cells
        As of `certificate_curve`; a norm bound is one of the norm that belongs to the kernel.

    Returns
    -------
    tuple of CertificateCurve
        One for each kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 21)[:, None]
    >>> y = -((x[:, 0] - 0.3) ** 2)
    >>> kernels = [Matern(2.5, 0.25), Matern(2.5, 0.5)]
    >>> curves = certificate_curves(kernels, x, y, noise=0.01, norm_bounds=[1.0, 4.0])
    >>> [curve.values.round(2).tolist() for curve in curves]
    [[0.09, 0.14], [0.05, 0.09]]
    """
    bands = SimultaneousBands(kernels, noise=noise, delta=delta)
    points = as_points(X, dimension=bands.kernels[0].dimension, name="X")
    values = as_vector(y, length=len(points), name="y")
    bounds = as_vector(norm_bounds, name="norm_bounds")
    if not len(bounds) or (bounds <= 0).any():
        raise InvalidInput(f"norm_bounds: expected positive numbers, at least one, got {norm_bounds!r}")
    bands.add(points, values)
    curves = []
    for kernel in bands.kernels:
        certificates = [
            certify(
                bands.band(kernel, float(bound), holder=holder),
                dimension=points.shape[1],
                point=point,
                max_cells=max_cells,
            )
            for bound in bounds
        ]
        rejected = tuple(certificate.rejection is not None for certificate in certificates)
        worth = np.array([certificate.value for certificate in certificates])
        curves.append(CertificateCurve(bounds, worth, rejected, kernel))
    return tuple(curves)
