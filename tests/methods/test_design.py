from __future__ import annotations

import numpy as np

from quadrat.methods.base import Domain, Observation
from quadrat.methods.design import RandomSearch


def test_points_depend_on_seed_and_number_alone() -> None:
    one, other = RandomSearch().start(Domain.cube(3), 5), RandomSearch().start(Domain.cube(3), 5)
    backwards = [other.ask(i, np.empty((0, 3))).x for i in reversed(range(4))][::-1]
    forwards = [one.ask(i, np.empty((0, 3))).x for i in range(4)]
    assert np.array_equal(forwards, backwards)
    assert not np.array_equal(RandomSearch().start(Domain.cube(3), 6).ask(0, np.empty((0, 3))).x, forwards[0])


def test_points_are_uniform() -> None:
    """Every octile of each axis holds 500 +- 100 of 4,000 points (some five standard deviations)."""
    search = RandomSearch().start(Domain.cube(2), 0)
    points = np.array([search.ask(i, np.empty((0, 2))).x for i in range(4000)])
    for axis in points.T:
        counts = np.histogram(axis, 8, (0, 1))[0]
        assert np.abs(counts - 500).max() < 100


def test_recommends_the_highest_mean_over_all_that_was_measured_at_a_point() -> None:
    search = RandomSearch().start(Domain.cube(1), 0)
    lucky, good = np.array([0.2]), np.array([0.7])
    search.tell(Observation(0, lucky, np.array([5.0, 0.0])))
    search.tell(Observation(1, good, np.array([2.0])))
    search.tell(Observation(2, lucky, np.array([0.0])))
    search.tell(Observation(3, good, np.array([2.5])))
    incumbent = search.recommend()
    assert (incumbent.x.tolist(), incumbent.value) == ([0.7], 2.25)
    assert (incumbent.interval, incumbent.gain, incumbent.certified) == (None, None, False)
    assert search.explain() == {"trials": 4, "distinct points": 2}


def test_known_standard_errors_weigh() -> None:
    search = RandomSearch().start(Domain.cube(1), 0)
    x = np.array([0.5])
    search.tell(Observation(0, x, np.array([1.0]), variance=0.1))
    search.tell(Observation(1, x, np.array([4.0]), variance=0.2))
    assert search.recommend().value == (1.0 / 0.1 + 4.0 / 0.2) / 15
