"""Fences: what is absurd is seen near the rest, what is ordinary as it is."""

from __future__ import annotations

import numpy as np
import pytest

import problems
from quadrat._core.arrays import Array
from quadrat.methods.auto.output_transform import ENOUGH, OutputTransform, Winsorization, _ends

RNG = np.random.default_rng(0)
ORDINARY = RNG.normal(size=40)


def with_(*others: float) -> Array:
    return np.concatenate([ORDINARY[:20], others, ORDINARY[20:]])


@pytest.mark.parametrize("others", [[-1e6], [1e6], [1e300], [-1e300, 1e300], [-1e3, -1e6, -1e9, 1e5], [1e6, 1e6 + 1]])
def test_absurd_values_are_seen_at_the_edge_of_the_rest(others: list[float]) -> None:
    values = with_(*others)
    winsorization = Winsorization.around(values)
    assert winsorization is not None
    seen = winsorization(values)
    margin = 0.02 * np.ptp(ORDINARY)
    np.testing.assert_array_equal(seen[:20], ORDINARY[:20])
    for value, as_seen in zip(others, seen[20:], strict=False):
        edge = ORDINARY.max() + margin if value > 0 else ORDINARY.min() - margin
        assert as_seen == pytest.approx(edge)


@pytest.mark.parametrize("others", [[-200.0], [20.0], [10.0, -10.0], [1e6] * 5, [-1e6] * 15])
def test_what_is_near_or_common_is_seen_as_it_is(others: list[float]) -> None:
    """The range of the rest is about 5, and what is absurd lies 100 ranges away; 5 of 45 and 15 of 55 are too many."""
    assert Winsorization.around(with_(*others)) is None


@pytest.mark.parametrize(
    "values",
    [
        [1.0] * 20 + [5.0],
        [0.0] * 20 + [0.005, -1.0],
        [0.0] * 20 + [1e-9, 5e-10],
        [1e15 + i % 3 * 0.125 for i in range(20)] + [3e15],
        [*range(ENOUGH - 2), 1e9],
        [],
    ],
    ids=["plateau", "nearly a plateau", "rounding", "offset", "few", "none"],
)
def test_where_the_rest_says_nothing_there_is_no_fence(values: list[float]) -> None:
    assert Winsorization.around(np.array(values)) is None


def test_fences_follow_the_units_of_the_values() -> None:
    values = with_(-1e6)
    winsorization = Winsorization.around(values)
    assert winsorization is not None
    for scale, shift in ((1e-150, 0.0), (1e150, 0.0), (3.0, -7.0), (2.0, 1e3)):
        other = Winsorization.around(scale * values + shift)
        assert other is not None
        assert other.low == pytest.approx(scale * winsorization.low + shift)


@pytest.mark.parametrize(
    "name", ["branin8", "goldstein8", "hartmann6", "ackley5", "levy8", "rosenbrock4", "rastrigin3"]
)
def test_ordinary_functions_with_heavy_tails_need_none(name: str) -> None:
    """At no length of a run, with and without noise: the suggestions of such runs are what they were without fences."""
    problem = problems.get(name)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        values = problem.values(rng.random((100, problem.dimension)))
        for told in (values, values + 0.1 * rng.standard_normal(100)):
            assert all(Winsorization.around(told[:n]) is None for n in range(1, 101))


def test_units_of_fenced_values_are_those_of_the_rest() -> None:
    """Without it one value would take up all of the scale: the others would be seen within 1e-5 of each other."""
    values = with_(-1e6)
    transform = OutputTransform.of(values)
    assert transform.winsorization is not None
    assert np.ptp(transform.apply(ORDINARY)) > 3
    np.testing.assert_allclose(transform.undo(transform.apply(ORDINARY)), ORDINARY)
    assert np.ptp(OutputTransform.of(values, winsorized=False).apply(ORDINARY)) < 1e-4
    warped = OutputTransform.of(values, warped=True)
    assert np.isfinite(warped.log_slope(values)).all()
    assert np.isfinite(warped.variance(np.ones_like(values), values)).all()


def test_where_to_cut_is_sought_in_few_places_however_many_values_there_are() -> None:
    """A search that has converged: most values nearly equal, and thousands with large gaps between them."""
    rng = np.random.default_rng(0)
    values = np.sort(np.concatenate([1e-9 * rng.random(15_000), -rng.random(5_000)]))
    assert len(_ends(values, 5_000)) < 10


def test_the_smallest_numbers_there_are() -> None:
    """Their standard deviation is no number above 0."""
    values = np.array([5e-324, 0.0, 0.0, 5e-324])
    assert np.isfinite(OutputTransform.of(values).apply(values)).all()
