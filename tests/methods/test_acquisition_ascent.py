"""Climbs in the cube: never down, to the top of what has one, and inside whatever the function answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from quadrat.arrays import Array
from quadrat.methods.acquisition import Slope, ascend


def quadratic(centre: Array, hessian: Array) -> Slope:
    """-(x - c)' H (x - c) / 2."""

    def function(x: Array) -> tuple[Array, Array]:
        off = x - centre
        return -0.5 * np.einsum("si,ij,sj->s", off, hessian, off), -off @ hessian

    return function


def waves(seed: int, dimension: int, frequency: float = 6.0) -> Slope:
    """A sum of waves: many local maxima, slopes everywhere."""
    rng = np.random.default_rng(seed)
    W, phase, size = frequency * rng.normal(size=(6, dimension)), 6 * rng.random(6), rng.normal(size=6)

    def function(x: Array) -> tuple[Array, Array]:
        return np.sin(x @ W.T + phase) @ size, (np.cos(x @ W.T + phase) * size) @ W

    return function


def rosenbrock(x: Array) -> tuple[Array, Array]:
    """On [-2, 2]^2, with its maximum at (1, 1), which is (3/4, 3/4) of the cube."""
    a, b = (4 * x - 2).T
    bend = b - a**2
    return -((1 - a) ** 2) - 100 * bend**2, 4 * np.stack([2 * (1 - a) + 400 * a * bend, -200 * bend], axis=1)


def peer(function: Slope, start: Array) -> tuple[Array, float]:
    """What L-BFGS-B finds from the same start."""

    def downhill(x: Array) -> tuple[float, Array]:
        value, slope = function(x[None, :])
        return -float(value[0]), -slope[0]

    found = minimize(
        downhill,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start),
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    return np.asarray(found.x), -float(found.fun)


@pytest.mark.parametrize(
    "centre",
    [(0.3, 0.6, 0.8), (0.3, 0.6, 1.4), (-0.5, 0.5, 0.2), (1.2, -0.3, 1.1), (0.0, 1.0, 0.5)],
    ids=["inside", "beyond a face", "beyond another", "beyond a corner", "on an edge"],
)
@pytest.mark.parametrize("condition", [1.0, 100.0])
def test_concave_quadratics_are_climbed_to_the_top(centre: tuple[float, ...], condition: float) -> None:
    """From corners, faces and the inside, axes oblique; the maximum in the cube is that of L-BFGS-B."""
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    function = quadratic(np.array(centre), turn @ np.diag([1.0, condition**0.5, condition]) @ turn.T)
    starts = np.array([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.5, 0.0], *rng.random((3, 3))])
    points, values = ascend(function, starts, steps=60)
    best, height = peer(function, np.full(3, 0.5))
    np.testing.assert_allclose(values, height, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(points, np.tile(best, (len(starts), 1)), atol=1e-5)


def test_rosenbrocks_valley_is_followed_to_its_end() -> None:
    """Within 60 calls for eight starts at once, to the point that L-BFGS-B finds with some 40 calls for each."""
    starts = np.random.default_rng(0).random((8, 2))
    points, values = ascend(rosenbrock, starts, steps=60)
    np.testing.assert_allclose(points, 0.75, atol=1e-4)
    np.testing.assert_allclose(values, 0.0, atol=1e-6)
    for start, point in zip(starts[:3], points, strict=False):
        np.testing.assert_allclose(point, peer(rosenbrock, start)[0], atol=1e-4)


def test_few_steps_are_worth_about_as_much_as_those_of_a_peer() -> None:
    """On waves in four dimensions 16 calls reach, on average, 90 % of what L-BFGS-B gains to its end."""
    gained, possible = 0.0, 0.0
    for seed in range(10):
        function, starts = waves(seed, 4, 2.0), np.random.default_rng(seed).random((4, 4))
        begin = function(starts)[0]
        gained += float((ascend(function, starts, steps=16)[1] - begin).sum())
        possible += sum(peer(function, start)[1] for start in starts) - float(begin.sum())
    assert gained > 0.9 * possible


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 25), st.sampled_from([0.5, 6.0, 100.0]))
def test_no_row_ends_lower_than_it_began_or_outside(seed: int, dimension: int, steps: int, frequency: float) -> None:
    """Some starts on faces; values are those of the points; rows do not know of each other; starts stay as given."""
    rng = np.random.default_rng(seed)
    function, starts = waves(seed, dimension, frequency), rng.random((6, dimension))
    starts = np.where(rng.random(starts.shape) < 0.3, np.round(starts), starts)
    given_starts = starts.copy()
    points, values = ascend(function, starts, steps=steps)
    np.testing.assert_array_equal(starts, given_starts)
    assert ((points >= 0) & (points <= 1)).all()
    assert (values >= function(starts)[0]).all()
    np.testing.assert_allclose(values, function(points)[0], rtol=1e-12, atol=1e-12)
    alone, height = ascend(function, starts[2:3], steps=steps)
    np.testing.assert_allclose(alone[0], points[2], atol=1e-6)
    assert height[0] == pytest.approx(values[2], abs=1e-6)


@pytest.mark.parametrize("seed", [32, 63])
def test_a_step_that_the_face_turns_downhill_is_not_taken(seed: int) -> None:
    """A face may cut off the part of a step that goes up; what is left points down and must not pass for an ascent.

    Values rise for three calls, so that a Hessian is learned, and are below the start from then on.
    """
    rng, calls = np.random.default_rng(seed), 0

    def function(x: Array) -> tuple[Array, Array]:
        nonlocal calls
        calls += 1
        value = 1e-3 * (calls - 1) if calls < 5 else -1e-9 * calls
        return np.full(len(x), value), rng.normal(size=x.shape) * (1 if calls < 4 else 1e4)

    _, values = ascend(function, np.array([[0.97, 0.5]]), steps=12)
    assert values[0] >= 0.0


def test_no_more_calls_than_steps_and_one_step_only_evaluates() -> None:
    calls: list[int] = []

    def function(x: Array) -> tuple[Array, Array]:
        calls.append(len(x))
        return waves(0, 3)(x)

    starts = np.random.default_rng(0).random((5, 3))
    ascend(function, starts, steps=7)
    assert len(calls) <= 7
    assert set(calls) == {5}
    calls.clear()
    points, _ = ascend(function, starts, steps=1)
    assert len(calls) == 1
    np.testing.assert_array_equal(points, starts)


def test_it_ends_early_where_nothing_moves() -> None:
    calls = 0

    def function(x: Array) -> tuple[Array, Array]:
        nonlocal calls
        calls += 1
        return x.sum(1), np.ones_like(x)

    points, _ = ascend(function, np.ones((3, 2)), steps=100)
    np.testing.assert_array_equal(points, np.ones((3, 2)))
    assert calls == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["value", "slope"])
def test_what_is_not_finite_is_infinitely_low(bad: float, where: str) -> None:
    """A bowl that is not finite beyond x_0 = 0.6: rows stop before it, and one that begins there harms no other."""
    centre = np.array([0.9, 0.2])

    def function(x: Array) -> tuple[Array, Array]:
        value, slope = quadratic(centre, np.eye(2))(x)
        beyond = x[:, 0] > 0.6
        if where == "value":
            return np.where(beyond, bad, value), slope
        return value, np.where(beyond[:, None] & np.array([True, False]), bad, slope)

    starts = np.array([[0.1, 0.9], [0.8, 0.5], [0.3, 0.3]])
    points, values = ascend(function, starts, steps=40)
    assert np.isfinite(points).all()
    np.testing.assert_array_equal(points[1], starts[1])
    assert values[1] == -np.inf
    for row in (0, 2):
        assert 0.5 < points[row, 0] <= 0.6
        assert np.isfinite(values[row])


def test_flat_and_steep_functions() -> None:
    """Slopes of 0, of 1e-200 and of 1e100: neither warnings nor anything outside the cube."""
    starts = np.random.default_rng(0).random((4, 3))
    points, _ = ascend(lambda x: (np.zeros(len(x)), np.zeros_like(x)), starts)
    np.testing.assert_array_equal(points, starts)
    for scale in (1e-200, 1e100):
        points, values = ascend(lambda x, s=scale: (s * x.sum(1), np.full_like(x, s)), starts, steps=40)  # type: ignore[misc]
        np.testing.assert_array_equal(points, np.ones((4, 3)))
        np.testing.assert_allclose(values, 3 * scale)
