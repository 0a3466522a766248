from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from quadrat._core.arrays import Array, Bools
from quadrat.errors import InvalidInput
from quadrat.methods.acquisition import Acquisition, Slope
from quadrat.methods.base import Axis, Domain
from quadrat.methods.ucb.cgp_ucb import ContextSlice, require_free_axis

THIRDS = (1 / 6, 0.5, 5 / 6)
MIXED = Domain(
    (Axis(), Axis(THIRDS, ordered=False), Axis(THIRDS)),
    round=lambda points: np.column_stack(
        [points[:, 0], *(np.take(THIRDS, (3 * points[:, 1:]).astype(int).clip(0, 2).T))]
    ),
    context=(1,),
)
CONTEXT = np.array([np.nan, 0.5, np.nan])
NONE = np.empty((0, 3))
PEAK = np.array([0.3, 0.0, 1.0, 0.0, 5 / 6])


def parabola(features: Array) -> tuple[Array, Array]:
    off = features - PEAK
    return -(off**2).sum(axis=1), -2 * off


def seen(function: Slope, domain: Domain) -> Acquisition:
    """A function of features, as an acquisition on the points of a domain."""

    def slopes(points: Array) -> tuple[Array, Array]:
        value, gradient = function(domain.features(points))
        return value, domain.slopes(gradient)

    return cast(Acquisition, SimpleNamespace(values=lambda points: slopes(points)[0], slopes=slopes))


def test_points_are_placed_in_the_context_and_rounded() -> None:
    placed = ContextSlice(MIXED, CONTEXT).placed(np.array([[0.21, 0.9, 0.4], [0.7, 0.1, 1.0]]))
    np.testing.assert_array_equal(placed, [[0.21, 0.5, 0.5], [0.7, 0.5, 5 / 6]])


def test_the_highest_point_of_the_slice_is_found() -> None:
    x, value = ContextSlice(MIXED, CONTEXT).highest(
        seen(parabola, MIXED), np.random.default_rng(0), centres=NONE, avoided=NONE
    )
    np.testing.assert_allclose(x, [0.3, 0.5, 5 / 6], atol=1e-6)
    assert x[1] == 0.5
    assert value == parabola(MIXED.features(x[None]))[0][0]


def test_what_is_avoided_is_not_returned_unless_there_is_nothing_else() -> None:
    domain = Domain(
        (Axis((0.25, 0.75)), Axis()), round=lambda x: np.column_stack([np.where(x[:, 0] < 0.5, 0.25, 0.75), x[:, 1]])
    )
    within = ContextSlice(domain, np.array([np.nan, 0.4]))

    def rising(features: Array) -> tuple[Array, Array]:
        return features[:, 0], np.ones_like(features)

    def found(avoided: list[list[float]]) -> list[float]:
        x, _ = within.highest(
            seen(rising, domain),
            np.random.default_rng(0),
            centres=np.empty((0, 2)),
            avoided=np.array(avoided).reshape(-1, 2),
        )
        return list(x.tolist())

    assert found([]) == [0.75, 0.4]
    assert found([[0.75, 0.4]]) == [0.25, 0.4]
    assert found([[0.75, 0.4], [0.25, 0.4]]) == [0.75, 0.4]


def test_points_that_may_not_be_evaluated_are_passed_over() -> None:
    def left(points: Array) -> Bools:
        return np.asarray(points[:, 0] < 0.2)

    domain = Domain((Axis(), Axis()), feasible=left, context=(1,))
    within = ContextSlice(domain, np.array([np.nan, 0.4]))
    assert left(within.draw(50, np.random.default_rng(0))).all()
    x, _ = within.highest(
        seen(lambda features: (features[:, 0], np.ones_like(features)), domain),
        np.random.default_rng(0),
        centres=np.array([[0.1, 0.9]]),
        avoided=np.empty((0, 2)),
    )
    assert 0.15 < x[0] < 0.2


def test_something_must_be_left_to_choose() -> None:
    require_free_axis(MIXED)
    with pytest.raises(InvalidInput, match="at least one parameter that is not a context, got 2 of 2"):
        require_free_axis(Domain((Axis(), Axis()), context=(0, 1)))
