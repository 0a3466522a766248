from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.partition import from_regression_tree, from_thresholds
from quadrat.randomness import generator


def around(values: Array) -> Array:
    """Each value, the doubles next to it, and the neighbourhood of the halves between single-precision numbers."""
    single = values.astype(np.float32)
    halves = 0.5 * (single.astype(np.float64) + np.nextafter(single, np.float32(2)).astype(np.float64))
    below = 0.5 * (single.astype(np.float64) + np.nextafter(single, np.float32(-1)).astype(np.float64))
    base = np.concatenate([values, single.astype(np.float64), halves, below])
    return np.asarray(np.clip(np.concatenate([base, np.nextafter(base, 2), np.nextafter(base, -1)]), 0.0, 1.0))


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("coarse", [False, True])
def test_every_point_is_in_the_leaf_that_scikit_learn_gives_it(dimension: int, coarse: bool) -> None:
    """Training points, fresh points, and doubles on both sides of every threshold in single precision: all agree."""
    rng = generator(11, dimension, int(coarse))
    points = rng.random((120, dimension))
    if coarse:
        points = np.round(points * 16) / 16  # thresholds then fall on dyadic numbers, and points on 0 and 1
    values = np.sin(9 * points[:, 0]) + points.sum(axis=1) + 0.1 * rng.normal(size=120)
    fitted = DecisionTreeRegressor(random_state=0).fit(points, values)
    partition = from_regression_tree(fitted)
    assert len(partition) == fitted.get_n_leaves()

    on_cuts = rng.random((3000, dimension))
    for axis in range(dimension):
        cuts = around(fitted.tree_.threshold[fitted.tree_.feature == axis])
        if len(cuts):
            on_cuts[:, axis] = rng.choice(cuts, size=3000)
    corners = rng.integers(0, 2, size=(50, dimension)).astype(np.float64)
    asked = np.vstack([points, rng.random((1000, dimension)), on_cuts, corners])
    np.testing.assert_array_equal(partition.labels[partition.locate_many(asked)], fitted.apply(asked))


def test_the_naive_cut_would_disagree() -> None:
    """Why the cut is not nextafter(threshold): the double after 0.375 is rounded back to it before it is compared."""
    fitted = DecisionTreeRegressor().fit([[0.25], [0.5]], [0.0, 1.0])
    (threshold,) = fitted.tree_.threshold[fitted.tree_.feature == 0]
    x = np.nextafter(threshold, 1.0)
    assert fitted.apply([[x]])[0] == from_regression_tree(fitted).labels[0]
    naive = from_thresholds([0, -2, -2], [threshold, -2, -2], [1, -1, -1], [2, -1, -1], dimension=1)
    assert naive.labels[naive.locate_many([[x]])[0]] != fitted.apply([[x]])[0]


def test_a_tree_of_one_leaf_is_the_cube() -> None:
    fitted = DecisionTreeRegressor().fit([[0.3, 0.4]], [1.0])
    assert [str(cell) for cell in from_regression_tree(fitted)] == ["[0, 1] x [0, 1]"]


def test_leaves_outside_the_cube_are_left_out() -> None:
    """X <= -1 and x <= 2 cut nothing off the cube."""
    low = from_thresholds([0, -2, -2], [-1.0, -2, -2], [1, -1, -1], [2, -1, -1], dimension=1)
    high = from_thresholds([0, -2, -2], [2.0, -2, -2], [1, -1, -1], [2, -1, -1], dimension=1, precision="single")
    assert (low.labels.tolist(), high.labels.tolist()) == ([2], [1])
    assert str(low[0]) == str(high[0]) == "[0, 1]"


def test_double_precision_keeps_the_threshold_on_the_left() -> None:
    parts = from_thresholds([1, -2, -2], [0.1, 0, 0], [1, -1, -1], [2, -1, -1], dimension=2)
    found = parts.labels[parts.locate_many([[0.5, 0.1], [0.5, float(np.nextafter(0.1, 1))]])].tolist()
    assert found == [1, 2]


def test_what_is_not_a_tree_is_refused() -> None:
    with pytest.raises(InvalidInput, match="got DecisionTreeRegressor; call fit first"):
        from_regression_tree(DecisionTreeRegressor())
    with pytest.raises(InvalidInput, match="expected four vectors of one length"):
        from_thresholds([0], [0.5, 0.2], [-1], [-1], dimension=1)
    with pytest.raises(InvalidInput, match="children that are shared or missing"):
        from_thresholds([0, -2], [0.5, -2], [0, -1], [1, -1], dimension=1)
    with pytest.raises(InvalidInput, match="children that are shared or missing"):
        from_thresholds([0, -2], [0.5, -2], [1, -1], [7, -1], dimension=1)
    with pytest.raises(InvalidInput, match="expected a feature from 0 to 0 and a number, got feature 3"):
        from_thresholds([3, -2, -2], [0.5, -2, -2], [1, -1, -1], [2, -1, -1], dimension=1)
    with pytest.raises(InvalidInput, match="precision: expected 'single' or 'double'"):
        from_thresholds([-2], [-2], [-1], [-1], dimension=1, precision="half")  # type: ignore[arg-type]


def test_anything_with_the_arrays_of_a_fitted_tree_will_do() -> None:
    arrays = SimpleNamespace(
        feature=[0, -2, -2],
        threshold=[0.5, -2, -2],
        children_left=[1, -1, -1],
        children_right=[2, -1, -1],
        n_features=1,
    )
    assert len(from_regression_tree(SimpleNamespace(tree_=arrays))) == 2
