"""The certificate: how much better than a point, such as the recommended one, anything can still be.

Valid for all times and any z, which the data may have chosen, with probability at least 1 - delta: the smaller of

    f(x*) - f(z) <= max_x D_t(x, z)    and    f(x*) - f(z) <= min_t max_E U_(t,E) - LCB_t(z),

D_t the bound of f(x) - f(z) by pairs (`certified_gap`), U_(t,E) upper bounds over the cells of a partition. The first
is about half of the second once the points near the maximum are known: what is uncertain about f(x) and f(z) alike
cancels. It is never negative, so that the second is what can reject the assumptions. A minimum over times of the first
would be about one z only, so the data as they are count there.

By default z maximises the lower bound. (The paper's Recommend can return a point with regret .75 L where .5 L is
claimed, and its second branch ignores the mean: docs/errata.md.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array, ArrayLike
from quadrat._core.printing import printed
from quadrat.confidence.bands import Band, contradiction
from quadrat.confidence.maximum import CertifiedMaximum, certified_gap, certified_maximum
from quadrat.errors import InvalidInput
from quadrat.partition.unit_cube import as_unit_point

__all__ = ["Certificate", "Thoroughness", "certificate_at", "certify", "remaining_regret"]


@dataclass(frozen=True)
class Certificate:
    """f(x*) - f(point) <= value with probability at least 1 - delta under the assumptions.

    Where the data contradict the assumptions at that level, only `rejection` means anything, and `value` is NaN.

    Attributes
    ----------
    value
        The most that can still be gained, in the units of f.
    point
        The point that it is about, shape (D,): the recommended one, unless another was asked for.
    certified_interval
        Bounds on f there.
    maximum
        f(x*) is at most this.
    rejection
        Why the data reject the assumptions; None where they do not.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05), delta=0.05)
    >>> found = certify(band, dimension=1)  # nothing observed: all that is known is how far f varies
    >>> found.certified_interval, round(found.value, 2), found.rejection
    ((-1.0, 1.0), 0.98, None)
    """

    value: float
    point: Array  # (D,), z
    certified_interval: tuple[float, float]  # bounds on f(z)
    maximum: float  # f(x*) is at most this
    rejection: str | None = None

    __repr__ = printed


def remaining_regret(upper: float, lower: float, scale: float) -> float:
    """Return max_E U - LCB(z), inflated by 1e-9 of the scale so that rounding cannot undercut what holds.

    Parameters
    ----------
    upper
        max_E U, the bound of f(x*).
    lower
        LCB(z), the bound of f at the recommended point.
    scale
        B s: what |f| is at most.

    Returns
    -------
    float
        In the units of f, >= 0.

    Examples
    --------
    >>> round(remaining_regret(upper=1.0, lower=0.75, scale=2.0), 6)
    0.25
    """
    return upper - lower + 1e-9 * max(scale, abs(upper), abs(lower))


def certify(
    band: Band,
    *,
    dimension: int,
    point: ArrayLike | None = None,
    max_cells: int = 4096,
    tolerance: float = 0.002,
) -> Certificate:
    """Bound how far a point can be from the optimum, from a band alone.

    Parameters
    ----------
    band
        With the observations told to it.
    dimension
        D.
    point
        The point of the unit cube that is meant, shape (D,); however it was chosen, with the data or without. By
        default the point with the highest lower bound, of those observed and those that the branch and bound looks at.
    max_cells, tolerance
        Thoroughness of the branch and bound (see `certified_maximum`); they change width, not validity.

    Returns
    -------
    Certificate
        Of that point.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 21)[:, None]
    >>> y = -((x[:, 0] - 0.3) ** 2)
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.01), delta=0.05)
    >>> band.add(x, y)
    >>> found = certify(band, dimension=1)
    >>> bool(abs(found.point[0] - 0.3) < 0.1), round(found.value, 2)
    (True, 0.05)
    >>> elsewhere = certify(band, dimension=1, point=[0.5])
    >>> bool(elsewhere.value > found.value), elsewhere.point.tolist()
    (True, [0.5])
    """
    if band.is_hallucinating:
        raise InvalidInput("band: expected no pending points, got some; certify outside the `pending` block")
    effort = Thoroughness(max_cells, tolerance)
    top = certified_maximum(band, dimension=dimension, max_cells=max_cells, tolerance=tolerance)
    if point is not None:
        return certificate_at(band, as_unit_point(point, dimension=dimension), effort, top=top)
    seen = band.x.reshape(-1, dimension)
    seen = seen[((seen >= 0) & (seen <= 1)).all(1)]  # f may be observed outside the cube, but is not maximised there
    candidates, lowers, rejection = np.vstack([top.centres, seen]), top.lowers, None
    if len(seen):
        tried = band.interval(seen)
        lowers = np.concatenate([lowers, tried.lower])
        rejection = contradiction(band, empty=tried.is_empty(band.assumptions.ceiling))
    return certificate_at(band, candidates[int(np.argmax(lowers))], effort, top=top, rejection=rejection)


@dataclass(frozen=True)
class Thoroughness:
    """How hard a branch and bound tries: `max_cells` and `tolerance` as of `certified_maximum`."""

    max_cells: int
    tolerance: float


def certificate_at(
    band: Band,
    z: Array,
    effort: Thoroughness,
    *,
    top: CertifiedMaximum | None = None,
    highest: float = np.inf,
    rejection: str | None = None,
    level: float | None = None,
) -> Certificate:
    """Return the certificate of a point z of the cube, shape (D,).

    Parameters
    ----------
    band, z, effort
        The band, the point, and how hard to try.
    top
        What `certified_maximum` has found, where it was asked already.
    highest
        What else bounds max f, such as bounds of earlier times.
    rejection
        What is known already of why the data reject the assumptions.
    level
        At which max U < LCB(z) rejects them, where more than the band took part in `highest`.

    Returns
    -------
    Certificate
        The smaller of both bounds; a rejection where max U lies below LCB(z).
    """
    ceiling, at = band.assumptions.ceiling, band.interval(z[None])
    how: Any = {"dimension": len(z), "max_cells": effort.max_cells, "tolerance": effort.tolerance}
    top = certified_maximum(band, **how) if top is None else top
    gap = certified_gap(band, z, **how)
    low, high = float(at.lower[0]), float(at.upper[0])
    highest = min(highest, top.value, gap.maximum)
    left = remaining_regret(highest, low, ceiling)
    if rejection is None:
        rejection = contradiction(band, empty=top.contradicted or gap.contradicted or at.is_empty(ceiling))
    if rejection is None and left < 0:
        why = f"the best value still possible lies {-left:.3g} below one that is reached"
        rejection = band.rejected_because(why, level)
    if rejection is not None:
        return Certificate(float("nan"), z, (low, high), highest, rejection)
    value = min(left, remaining_regret(gap.value, 0.0, ceiling))
    return Certificate(value, z, (low, high), min(highest, high + gap.value), None)
