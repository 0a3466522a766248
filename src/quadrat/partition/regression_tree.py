"""The partition that a regression tree makes (the last line of Algorithm 3, the Heuristic), as cells.

A regression tree sends x to the left when x <= threshold; a cell is half-open the other way, [lower, upper). The two
agree when the cut is put at the first number that goes right. In double precision that is the number after the
threshold. scikit-learn compares the threshold with x rounded to single precision, so a whole interval of doubles
around each single-precision number goes the same way, and the first double that goes right lies half-way between
two single-precision numbers: `_first_right` finds it exactly. Every point of the cube, not only the training
points, is then in the leaf that `apply` gives it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from quadrat._core.arrays import Array, ArrayLike
from quadrat.errors import InvalidInput
from quadrat.partition.cell import Cell
from quadrat.partition.tiling import Partition
from quadrat.partition.unit_cube import as_count

__all__ = ["from_regression_tree", "from_thresholds"]


def from_regression_tree(fitted: Any) -> Partition:
    """Return the leaves of a fitted scikit-learn tree on points of the unit cube, labelled by leaf number.

    Parameters
    ----------
    fitted
        A fitted `DecisionTreeRegressor`, or anything with its `tree_` (feature, threshold, children_left,
        children_right, n_features). scikit-learn is not imported.

    Returns
    -------
    Partition
        The leaves that points of the cube can reach.

    Raises
    ------
    InvalidInput
        Not a fitted tree.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> fitted = DecisionTreeRegressor(max_leaf_nodes=2).fit([[0.1], [0.3], [0.7], [0.9]], [0.0, 0.0, 1.0, 1.0])
    >>> [str(cell) for cell in from_regression_tree(fitted)]
    ['[0, 0.5)', '[0.5, 1]']
    """
    tree = getattr(fitted, "tree_", None)
    if tree is None:
        raise InvalidInput(
            f"fitted: expected a fitted regression tree, with the attribute tree_, got {type(fitted).__name__}; "
            "call fit first"
        )
    return from_thresholds(
        tree.feature,
        tree.threshold,
        tree.children_left,
        tree.children_right,
        dimension=int(tree.n_features),
        precision="single",
    )


def from_thresholds(
    feature: ArrayLike,
    threshold: ArrayLike,
    children_left: ArrayLike,
    children_right: ArrayLike,
    *,
    dimension: int,
    precision: Literal["single", "double"] = "double",
) -> Partition:
    """Return the leaves of a binary tree of axis thresholds, labelled by their index in the arrays.

    Node 0 is the root; node i sends x to children_left[i] when x[feature[i]] <= threshold[i], otherwise to
    children_right[i]; a leaf has both children -1. Leaves that no point of the unit cube reaches are left out. So is,
    in double precision, one that only points with a coordinate of exactly 1 reach: it would have no width.

    Parameters
    ----------
    feature, threshold, children_left, children_right
        Vectors of one length.
    dimension
        D.
    precision
        In which the tree compares x with a threshold: "single" rounds x first.

    Returns
    -------
    Partition
        The leaves.

    Raises
    ------
    InvalidInput
        Arrays that do not describe a binary tree on D axes.

    Examples
    --------
    >>> parts = from_thresholds([0, -2, -2], [0.25, -2, -2], [1, -1, -1], [2, -1, -1], dimension=1)
    >>> [str(cell) for cell in parts], parts.labels.tolist()
    (['[0, 0.25)', '[0.25, 1]'], [1, 2])
    >>> parts.locate_many([[0.25]]).tolist()
    [0]
    """
    dimension = as_count(dimension, name="dimension", at_least=1)
    axes, left, right = (np.asarray(values).tolist() for values in (feature, children_left, children_right))
    thresholds = np.asarray(threshold, dtype=np.float64)
    if not (thresholds.ndim == 1 and len(axes) == len(left) == len(right) == len(thresholds) > 0):
        raise InvalidInput(
            "thresholds: expected four vectors of one length, at least 1, got lengths "
            f"{len(axes)}, {thresholds.shape}, {len(left)}, {len(right)}"
        )
    if precision not in ("single", "double"):
        raise InvalidInput(f"precision: expected 'single' or 'double', got {precision!r}")
    cuts = _first_right(thresholds, precision).tolist()

    lowers, uppers, labels = [], [], []
    pending: list[tuple[int, Array, Array]] = [(0, np.zeros(dimension), np.ones(dimension))]
    visits = 0
    while pending:
        node, lower, upper = pending.pop()
        visits += 1
        if not 0 <= node < len(axes) or visits > len(axes):
            raise InvalidInput(
                f"thresholds: expected a binary tree, got children that are shared or missing (node {node})"
            )
        if left[node] == -1 and right[node] == -1:
            lowers.append(lower)
            uppers.append(upper)
            labels.append(node)
            continue
        axis, cut = axes[node], cuts[node]
        if not 0 <= axis < dimension or np.isnan(cut):
            raise InvalidInput(
                f"thresholds: expected a feature from 0 to {dimension - 1} and a number, got feature {axis}, threshold "
                f"{thresholds[node]} at node {node}"
            )
        if cut < upper[axis]:
            beyond = lower.copy()
            beyond[axis] = max(cut, lower[axis])
            pending.append((right[node], beyond, upper))
        if cut > lower[axis]:
            before = upper.copy()
            before[axis] = min(cut, upper[axis])
            pending.append((left[node], lower, before))  # pushed last, so leaves come out from left to right
    return Partition(np.array(lowers), np.array(uppers), Cell.unit(dimension), np.array(labels, dtype=np.intp))


def _first_right(thresholds: Array, precision: str) -> Array:
    """Return the smallest double for which "x <= threshold" is false, for each threshold."""
    if precision == "double":
        return np.nextafter(thresholds, np.inf)
    nearest = thresholds.astype(np.float32)
    below = np.where(nearest > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)  # largest single <= t
    above = np.nextafter(below, np.float32(np.inf))
    half_way = 0.5 * (below.astype(np.float64) + above.astype(np.float64))  # exact: one bit more than a single has
    # A tie rounds to the even neighbour: half-way itself goes right only when that is the upper one.
    return np.where(half_way.astype(np.float32) == above, half_way, np.nextafter(half_way, np.inf))
