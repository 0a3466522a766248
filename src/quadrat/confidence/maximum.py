"""A certified bound on max f over the whole cube, by branch and bound over cells.

For a cell E with centre c and half-diagonal H, max_E f <= upper(c) + omega(H). The cells with the largest bound are
halved until the bound is within a tolerance of the best upper bound at any centre (which no refinement can go
below by much), or the cells are used up. Every bound on the way is valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat._core.printing import printed
from quadrat.confidence.bands import Band
from quadrat.errors import InvalidInput
from quadrat.partition import PartitionTree

__all__ = ["CertifiedMaximum", "certified_maximum"]

_BATCH = 32  # cells halved at a time: their centres are evaluated together


@dataclass(frozen=True)
class CertifiedMaximum:
    """A bound of max f over the cube, and what was seen on the way.

    Attributes
    ----------
    value
        max f is at most this, in the units of f.
    centres
        Centres of the final cells, shape (m, D).
    lowers
        Lower bounds of f there, shape (m,).
    resolved
        Whether the tolerance was reached before the cells were used up.
    contradicted
        Whether the band left no value of f at one of the points that were looked at.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.05), delta=0.05)
    >>> found = certified_maximum(band, dimension=1)  # nothing observed: all that is known is |f| <= B s
    >>> round(found.value, 2), found.resolved
    (1.0, True)
    """

    value: float
    centres: Array
    lowers: Array
    resolved: bool
    contradicted: bool = False

    __repr__ = printed


def certified_maximum(
    band: Band, *, dimension: int, max_cells: int = 4096, tolerance: float = 0.01
) -> CertifiedMaximum:
    """Bound max f from above.

    Parameters
    ----------
    band
        Gives upper bounds at points, and omega through its assumptions.
    dimension
        D.
    max_cells
        How many cells to make at most; each costs one evaluation of the band.
    tolerance
        How far above the best upper bound at a centre the result may stay, in units of B s.

    Returns
    -------
    CertifiedMaximum
        Valid whatever the effort.

    Examples
    --------
    >>> from quadrat.confidence import AdaptiveBand, Assumptions
    >>> from quadrat.kernels import Matern
    >>> band = AdaptiveBand(Assumptions(Matern(2.5, 0.5), norm_bound=1.0, noise=0.01), delta=0.05)
    >>> band.add(np.linspace(0, 1, 21)[:, None], np.zeros(21))
    >>> round(certified_maximum(band, dimension=1).value, 2)
    0.07
    """
    if isinstance(max_cells, bool) or not isinstance(max_cells, int | np.integer) or max_cells < 1:
        raise InvalidInput(f"max_cells: expected at least 1, got {max_cells!r}")
    tolerance = as_number(tolerance, name="tolerance", at_least=0.0)
    given = band.assumptions
    tree = PartitionTree(dimension, axis_rule=given.axis_rule(), max_cells=max(max_cells, 2))
    root = band.interval(tree.cell(0).centre[None])
    bound = {0: min(float(root.upper[0]) + given.half_variation(tree.cell(0)), given.ceiling)}
    centre_upper = {0: float(root.upper[0])}
    centre_lower = {0: float(root.lower[0])}
    half: dict[int, float] = {}  # depth -> omega(H): all cells of one depth are alike
    slack = tolerance * given.ceiling
    contradicted = root.is_empty(given.ceiling)
    while True:
        order = sorted(bound, key=lambda node: -bound[node])
        best = max(centre_upper[node] for node in bound)
        split = [
            node for node in order[:_BATCH] if bound[node] > best + slack and tree.depth(node) < 50
        ]  # sides stay above 2^-50
        split = split[: max(max_cells - tree.n_leaves, 0)]
        if not split:
            break
        children = [child for node in split for child in tree.split(node)]
        lower, upper = np.asarray(tree.lower)[children], np.asarray(tree.upper)[children]
        interval = band.interval((lower + upper) / 2)
        contradicted |= interval.is_empty(given.ceiling)
        for i, child in enumerate(children):
            depth = tree.depth(child)
            if depth not in half:
                half[depth] = float(given.variation((upper[i] - lower[i]) / 2))
            parent = bound[tree.parent(child)]  # type: ignore[index]  # children have parents
            bound[child] = min(parent, float(interval.upper[i]) + half[depth])
            centre_upper[child], centre_lower[child] = float(interval.upper[i]), float(interval.lower[i])
        for node in split:
            del bound[node], centre_upper[node], centre_lower[node]
    leaves = list(bound)
    value = max(bound.values())
    centres = (np.asarray(tree.lower)[leaves] + np.asarray(tree.upper)[leaves]) / 2
    resolved = value <= max(centre_upper.values()) + slack
    return CertifiedMaximum(value, centres, np.array([centre_lower[node] for node in leaves]), resolved, contradicted)
