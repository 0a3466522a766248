"""The test that a point must pass: nothing unsafe passes it, whatever is told, and rounding is allowed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadrat.confidence import Assumptions, UserHolder
from quadrat.kernels import Matern
from quadrat.methods.safe.bounds import Guard, SafeBounds, float_slack
from quadrat.randomness import generator


def test_at_first_only_what_is_stated_may_be_evaluated(known: Callable[..., Any]) -> None:
    bounds = known().bounds()
    bounds.look_at(np.linspace(0, 1, 11)[:, None])
    assert bounds.safe().tolist() == [True] + [False] * (len(bounds.points) - 1)
    assert bounds.low[0, 0] == known().limit


@pytest.mark.parametrize("dimension", [1, 2])
def test_no_point_that_passes_is_unsafe_wherever_values_come_from(known: Callable[..., Any], dimension: int) -> None:
    """Twelve functions, values at random points, those where f is lowest too; delta would allow less than one miss."""
    for seed in range(12):
        one = known(seed, dimension)
        bounds, rng = one.bounds(), generator(seed, 1)
        bounds.look_at(rng.random((200, dimension)))
        for number in range(15):
            x = rng.random(dimension)
            bounds.add(x, [one.told(number, x).values])
            bounds.refresh()
            assert (one.f.values(bounds.points[bounds.safe()]) >= one.limit).all()
        assert bounds.rejection is None
        assert bounds.safe().sum() > 1


def test_what_was_safe_stays_safe_and_bounds_only_sharpen(known: Callable[..., Any]) -> None:
    one = known(3)
    bounds, rng = one.bounds(), generator(3)
    bounds.look_at(np.linspace(0, 1, 65)[:, None])
    low, high, safe = np.array(bounds.low), np.array(bounds.high), bounds.safe()
    for number in range(12):
        x = rng.random(1)
        bounds.add(x, [one.told(number, x).values])
        bounds.refresh()
        count = len(low)
        assert (bounds.low[:count] >= low).all()
        assert (bounds.high[:count] <= high).all()
        assert bounds.safe()[:count][safe].all()
        low, high, safe = np.array(bounds.low), np.array(bounds.high), bounds.safe()


def test_a_stated_point_that_is_unsafe_rejects_the_assumptions(known: Callable[..., Any]) -> None:
    one = known(4)
    guard = Guard("the objective", one.given, 0.5)
    bounds = SafeBounds((guard,), 1, delta=0.05, stated=np.array([[0.5]]))
    for _ in range(40):
        bounds.add(np.array([0.5]), [np.array([0.1])])
    bounds.refresh()
    assert bounds.rejection is not None
    assert "stated to be safe is not" in bounds.rejection
    assert "its limit is 0.5" in bounds.rejection


def test_each_function_has_its_share_of_delta_and_its_own_limit() -> None:
    given = Assumptions(Matern(2.5, 0.3), 1.0, 0.01)
    guards = (Guard("f", given, None), Guard("a", given, 0.0), Guard("b", given, 0.3))
    bounds = SafeBounds(guards, 1, delta=0.06, stated=np.array([[0.5]]))
    assert [band.delta for band in bounds.bands] == pytest.approx([0.02] * 3)
    near = np.array([[0.51]])
    bounds.look_at(near)
    bounds.add(np.array([0.5]), [np.array([-0.9]), np.array([0.5]), np.array([0.8])])
    bounds.refresh()
    assert bounds.safe().tolist() == [True, True]  # f has no limit
    bounds.look_at(np.array([[0.9]]))
    bounds.refresh()
    assert bounds.safe().tolist() == [True, True, False]


def test_a_lipschitz_bound_certifies_what_the_kernel_alone_does_not() -> None:
    safe = []
    for holder in (None, UserHolder(0.5)):
        given = Assumptions(Matern(0.5, 0.2), 1.0, 0.001, holder)
        bounds = SafeBounds((Guard("f", given, 0.0),), 1, delta=0.05, stated=np.array([[0.5]]))
        bounds.look_at(np.linspace(0, 1, 101)[:, None])
        bounds.add(np.array([0.5]), [np.array([0.2])])
        bounds.refresh()
        safe.append(int(bounds.safe().sum()))
    assert safe[0] < 20 < 70 < safe[1]


def test_the_slack_is_what_f_can_vary_by_within_the_last_bits() -> None:
    for nu in (0.5, 1.5, 2.5):
        given = Assumptions(Matern(nu, 0.05), 3.0, 0.1)
        bits = np.full(2, 2.0**-52)
        assert float_slack(given, 2) > float(given.variation(bits))
        assert float_slack(given, 2) < 1e-5
