"""The band that also looks at contexts one by one: an intersection, by brute force; its shares of delta."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions
from quadrat.confidence.contextual_band import CONTEXTS, ContextualBand
from quadrat.kernels import Matern

GIVEN = Assumptions(Matern(2.5, [0.3, 0.6]), 2.0, 0.1)
FIXED = np.array([False, True])
DELTA = 0.1


def data(n: int = 40, contexts: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(n), rng.choice(np.linspace(0.1, 0.9, contexts), n)])
    return X, 0.5 * np.sin(4 * X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)


def made(X: Array, y: Array) -> ContextualBand:
    band = ContextualBand(GIVEN, DELTA, FIXED)
    for x, value in zip(X, y, strict=True):
        band.add(x[None], [value])
    return band


@pytest.mark.parametrize("context", [0.1, 0.5, 0.9, 0.3])
def test_it_is_the_intersection_of_all_observations_and_those_of_one_context(context: float) -> None:
    """Half of delta for all, a sixteenth of the other half for each context; one never seen has only the former."""
    X, y = data()
    band = made(X, y)
    points = np.column_stack([np.linspace(0, 1, 30), np.full(30, context)])
    joint, own = AdaptiveBand(GIVEN, DELTA / 2), AdaptiveBand(GIVEN, DELTA / 2 / 16)
    joint.add(X, y)
    expected = joint.interval(points)
    lower, upper = expected.lower, expected.upper
    here = X[:, 1] == context
    assert here.any() == (context != 0.3)
    if here.any():
        own.add(X[here], y[here])
        lower, upper = np.maximum(lower, own.interval(points).lower), np.minimum(upper, own.interval(points).upper)
    got = band.interval(points)
    np.testing.assert_allclose(got.lower, lower, atol=1e-9)
    np.testing.assert_allclose(got.upper, upper, atol=1e-9)
    assert (band.quick_upper(points) >= upper - 1e-9).all()
    assert band.rejection is None


def test_shares_add_up_to_delta() -> None:
    band = made(*data(contexts=4))
    shares = [own.delta for _, own in band._own.values()]
    assert len(shares) == 4
    assert band.delta + CONTEXTS * shares[0] == pytest.approx(DELTA)
    assert len(set(shares)) == 1


def test_only_the_first_contexts_have_bands_of_their_own() -> None:
    X = np.column_stack([np.full(20, 0.5), np.linspace(0, 1, 20)])
    band = made(X, np.zeros(20))
    assert len(band._own) == CONTEXTS
    band.add(X, np.zeros(20))
    assert [own.counts.sum() for _, own in band._own.values()] == [2] * CONTEXTS


def test_a_context_seen_often_is_narrower_by_its_own_band() -> None:
    """60 observations in the context and 100 in another one, far away, whose gain widens the band of all."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random(160), np.repeat([0.0, 1.0], [60, 100])])
    y = 0.3 * np.sin(5 * X[:, 0]) + 0.1 * rng.standard_normal(160)
    given = Assumptions(Matern(2.5, [0.1, 0.1]), 2.0, 0.1)
    joint, band = AdaptiveBand(given, DELTA / 2), ContextualBand(given, DELTA, FIXED)
    joint.add(X, y)
    band.add(X, y)
    points = np.column_stack([np.linspace(0, 1, 50), np.zeros(50)])
    assert band.interval(points).half_width.mean() < 0.97 * joint.interval(points).half_width.mean()


def test_pending_points_narrow_within_the_block_only() -> None:
    band = made(*data())
    point = np.array([[0.33, 0.5]])
    before = band.optimism(point)
    with band.pending(point):
        assert band.is_hallucinating
        within = band.optimism(point)
    assert within[0] < before[0]
    np.testing.assert_array_equal(band.optimism(point), before)


def test_any_of_the_bands_rejects() -> None:
    X, _ = data()
    band = made(X, np.where(np.arange(len(X)) % 2, 5.0, -5.0))
    assert band.rejection is not None
    single = ContextualBand(GIVEN, DELTA, FIXED)
    single.add([[0.5, 0.5]], [0.0])
    assert single.rejection is None
    next(iter(single._own.values()))[1]._reject("for a test")
    assert single.rejection == f"assumptions rejected by the data at level {DELTA:g}: for a test"


def test_a_context_of_several_axes_is_another_one_as_soon_as_one_differs() -> None:
    """30 observations in one context and 60 in one that shares an axis with it; its own band is the narrower one."""
    given, fixed = Assumptions(Matern(2.5, 0.1), 2.0, 0.1), np.array([False, True, True])
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.random(90), np.zeros(90), np.repeat([0.0, 1.0], [30, 60])])
    y = 0.3 * np.sin(5 * X[:, 0]) + 0.1 * rng.standard_normal(90)
    band, joint, own = (
        ContextualBand(given, DELTA, fixed),
        AdaptiveBand(given, DELTA / 2),
        AdaptiveBand(given, DELTA / 2 / CONTEXTS),
    )
    band.add(X, y)
    joint.add(X, y)
    own.add(X[:30], y[:30])
    points = np.column_stack([np.linspace(0, 1, 20), np.zeros((20, 2))])
    uppers = joint.interval(points).upper, own.interval(points).upper
    assert (uppers[1] < uppers[0] - 1e-3).any()
    np.testing.assert_allclose(band.interval(points).upper, np.minimum(*uppers), atol=1e-9)
